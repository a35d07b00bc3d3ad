//! Copies values of fixed width from every form that hosts use.

use std::ops::Range;

use bytemuck::Pod;
use entasis_format::{Error, Layout, Physical, Result};
use entasis_kernels::sign_extend::{self, Narrow};
use entasis_kernels::{VECTOR, bits, sentinel, transpose};
use entasis_platform::HostRead;

use super::chunk_slices::byte_offset;
use super::{nested, too_short};
use crate::frame::{Chunk, HostValues};

/// Scratch memory for narrowing wide integers.
#[derive(Default)]
pub(super) struct WideScratch {
    limbs: Vec<u64>,
    /// Indices of values that do not fit their type.
    pub outside: Vec<usize>,
}

impl WideScratch {
    /// Copies values of `width` bytes as the narrower type, to the block from index `at` on.
    pub fn copy(
        &mut self,
        from: (&HostRead, usize, isize),
        (physical, width): (Physical, usize),
        at: usize,
        out: &mut [u8],
    ) -> Result<()> {
        match physical.width() {
            Some(4) if width > 4 => self.cut::<u32>(from, width, at, out),
            Some(8) if width > 8 => self.cut::<u64>(from, width, at, out),
            Some(16) if width > 16 => self.cut::<u128>(from, width, at, out),
            _ => Err(other_form()),
        }
    }

    fn cut<T: Narrow>(
        &mut self,
        (memory, mut from, stride): (&HostRead, usize, isize),
        width: usize,
        at: usize,
        out: &mut [u8],
    ) -> Result<()> {
        let out: &mut [T] = bytemuck::cast_slice_mut(out);
        for (i, out) in out.chunks_mut(VECTOR).enumerate() {
            self.limbs.resize(out.len() * width / 8, 0);
            let limbs = &mut self.limbs;
            let copied = match width {
                8 => memory.copy_strided::<u64>(from, stride, limbs),
                16 => memory.copy_strided::<[u64; 2]>(from, stride, bytemuck::cast_slice_mut(limbs)),
                32 => memory.copy_strided::<[u64; 4]>(from, stride, bytemuck::cast_slice_mut(limbs)),
                _ => false,
            };
            if !copied {
                return Err(too_short());
            }
            if !sign_extend::cut(limbs, width, out).ok_or_else(too_short)? {
                let of_value = limbs.chunks_exact(width / 8).enumerate();
                let outside = of_value
                    .filter(|(_, limbs)| sign_extend::cut(limbs, width, &mut [T::default()]) != Some(true));
                self.outside.extend(outside.map(|(k, _)| at + i * VECTOR + k));
            }
            from = from.wrapping_add_signed((out.len() as isize).wrapping_mul(stride));
        }
        Ok(())
    }
}

/// Integers that are narrowed together. They fit the L1 cache.
const TOGETHER: usize = 4 * VECTOR;

/// Scratch memory for narrowing integers of 32 bits.
#[derive(Default)]
pub(super) struct IntScratch {
    ints: Vec<i32>,
    /// One byte per value of the block, 1 = present.
    pub valid: Vec<u8>,
    pub any_missing: bool,
}

impl IntScratch {
    /// Copies integers as a narrower type, to the block from index `at` on. Returns the index of
    /// the first value outside of `first .. first + n`.
    pub fn narrow(
        &mut self,
        (memory, mut from): (&HostRead, usize),
        values: (i32, u32),
        sentinel: Option<i32>,
        of: Layout,
        mut at: usize,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        let width = of.width().unwrap_or(1);
        for out in out.chunks_mut(TOGETHER * width) {
            let n = out.len() / width;
            self.ints.resize(n, 0);
            if !memory.copy_to(from, bytemuck::cast_slice_mut(&mut self.ints)) {
                return Err(too_short());
            }
            let valid = self.valid.get_mut(at..at + n).ok_or_else(too_short)?;
            let ints = &self.ints;
            let found = match of.width() {
                None if of.physical == Physical::Bool => {
                    let found = sentinel::narrow::<u8>(ints, values, sentinel, out, valid);
                    out.iter_mut().for_each(|byte| *byte &= 1);
                    found
                }
                Some(1) if of.physical.is_integer() => {
                    sentinel::narrow::<u8>(ints, values, sentinel, out, valid)
                }
                Some(2) if of.physical.is_integer() => {
                    sentinel::narrow::<u16>(ints, values, sentinel, bytemuck::cast_slice_mut(out), valid)
                }
                Some(4) if of.physical.is_integer() => {
                    sentinel::narrow::<u32>(ints, values, sentinel, bytemuck::cast_slice_mut(out), valid)
                }
                _ => return Err(other_form()),
            };
            let found = found.ok_or_else(too_short)?;
            self.any_missing |= found.any_missing;
            if found.any_outside {
                let (first, n) = values;
                let is_outside = |&int: &i32| Some(int) != sentinel && int.wrapping_sub(first) as u32 >= n;
                return Ok(ints.iter().position(is_outside).map(|i| at + i));
            }
            at += n;
            from += 4 * n;
        }
        Ok(None)
    }
}

fn other_form() -> Error {
    Error::argument("the memory of a column does not have the form of its type")
}

/// Copies values whose memory has the stored form or a similar one.
pub(super) fn copy_fixed(chunk: &Chunk, inside: Range<usize>, of: Layout, out: &mut [u8]) -> Result<()> {
    let copied = match (&chunk.values, of.width()) {
        (HostValues::Words { memory, stride }, Some(width)) => {
            let at = byte_offset(inside.start, chunk.n, *stride).ok_or_else(too_short)?;
            match width {
                1 => strided::<u8>(memory, at, *stride, out),
                2 if of.is_word() => strided::<u16>(memory, at, *stride, out),
                4 if of.is_word() => strided::<u32>(memory, at, *stride, out),
                8 if of.is_word() => strided::<u64>(memory, at, *stride, out),
                16 if of.is_word() => strided::<u128>(memory, at, *stride, out),
                _ => rows(memory, at, *stride, width, out),
            }
        }
        (&HostValues::Matrix { memory, first, row_stride, column_stride, n_rows }, width) => {
            let is_bool = width.is_none();
            let copied = matrix(
                (&memory, first),
                (row_stride, column_stride),
                n_rows,
                inside,
                width.unwrap_or(1),
                out,
            );
            if is_bool {
                out.iter_mut().for_each(|b| *b = u8::from(*b != 0));
            }
            copied
        }
        (values, _) if nested::is_nested(values) => return nested::words(chunk, inside, out),
        (HostValues::Deferred(numbers), Some(4)) => {
            out.copy_from_slice(bytemuck::cast_slice(numbers.get(inside).ok_or_else(too_short)?));
            true
        }
        (HostValues::Bools { memory, stride }, None) => {
            let at = byte_offset(inside.start, chunk.n, *stride).ok_or_else(too_short)?;
            let copied = memory.copy_strided::<u8>(at, *stride, out);
            out.iter_mut().for_each(|b| *b = u8::from(*b != 0));
            copied
        }
        (HostValues::Bits { memory, first_bit }, None) => {
            let first = first_bit + inside.start;
            let mut bytes = vec![0; (first + inside.len()).div_ceil(8) - first / 8];
            memory.copy_to(first / 8, &mut bytes) && bits::expand_bits(&bytes, first % 8, out)
        }
        _ => return Err(other_form()),
    };
    if copied { Ok(()) } else { Err(too_short()) }
}

/// Copies values of a range that spans several columns of equal length.
fn matrix(
    (memory, first): (&HostRead, usize),
    (row_stride, column_stride): (isize, isize),
    n_rows: usize,
    inside: Range<usize>,
    width: usize,
    out: &mut [u8],
) -> bool {
    if n_rows == 0 {
        return inside.is_empty();
    }
    let offset = |value: usize| {
        let along = isize::try_from(value / n_rows).ok()?.checked_mul(column_stride)?;
        first.checked_add_signed(along.checked_add((value % n_rows) as isize * row_stride)?)
    };
    // Contiguous columns are one copy.
    if row_stride == width as isize && column_stride == row_stride * n_rows as isize {
        return offset(inside.start).is_some_and(|at| memory.copy_to(at, out));
    }
    let mut rest = out;
    let mut value = inside.start;
    while value < inside.end {
        // Whole columns that are adjacent in each row are copied together.
        let whole = if value.is_multiple_of(n_rows) { (inside.end - value) / n_rows } else { 0 };
        if whole > 1
            && column_stride == width as isize
            && row_stride >= column_stride
            && matches!(width, 1 | 2 | 4 | 8)
        {
            let (head, tail) = rest.split_at_mut(whole * n_rows * width);
            rest = tail;
            let Some(at) = offset(value) else { return false };
            let (stride, shape) = (row_stride.unsigned_abs(), (n_rows, whole));
            let copied = match width {
                1 => side_by_side::<u8>(memory, at, stride, shape, head),
                2 => side_by_side::<u16>(memory, at, stride, shape, head),
                4 => side_by_side::<u32>(memory, at, stride, shape, head),
                _ => side_by_side::<u64>(memory, at, stride, shape, head),
            };
            if !copied {
                return false;
            }
            value += whole * n_rows;
            continue;
        }
        let n = (n_rows - value % n_rows).min(inside.end - value);
        let (head, tail) = rest.split_at_mut(n * width);
        rest = tail;
        let Some(at) = offset(value) else { return false };
        let copied = match width {
            1 => strided::<u8>(memory, at, row_stride, head),
            2 => strided::<u16>(memory, at, row_stride, head),
            4 => strided::<u32>(memory, at, row_stride, head),
            8 => strided::<u64>(memory, at, row_stride, head),
            _ => rows(memory, at, row_stride, width, head),
        };
        if !copied {
            return false;
        }
        value += n;
    }
    true
}

/// Copies rows of `width` bytes.
fn rows(memory: &HostRead, mut at: usize, stride: isize, width: usize, out: &mut [u8]) -> bool {
    if stride == width as isize || width == 0 {
        return memory.copy_to(at.min(memory.len()), out);
    }
    out.chunks_exact_mut(width).all(|out| {
        let copied = memory.copy_to(at, out);
        at = at.wrapping_add_signed(stride);
        copied
    })
}

fn side_by_side<T: Pod>(
    memory: &HostRead,
    at: usize,
    stride: usize,
    (n_rows, n_columns): (usize, usize),
    out: &mut [u8],
) -> bool {
    transpose::copy_columns::<T>(
        *memory,
        at,
        stride,
        (n_rows, n_columns),
        bytemuck::cast_slice_mut(out),
        n_rows,
    )
}

fn strided<T: Pod>(memory: &HostRead, at: usize, stride: isize, out: &mut [u8]) -> bool {
    memory.copy_strided::<T>(at, stride, bytemuck::cast_slice_mut(out))
}
