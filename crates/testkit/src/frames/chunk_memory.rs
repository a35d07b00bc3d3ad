//! Memory of one chunk, in every form that the core accepts.

use entasis::{Chunk, HostRead, HostValidity, HostValues, Logical, Physical};

use super::models::Model;

/// Memory of one chunk.
#[derive(Debug)]
pub(super) struct ChunkMemory {
    n: usize,
    /// The number of the form. Its remainders choose how booleans, validity, strings and strides
    /// are stored, so that consecutive numbers meet all of them.
    form: usize,
    physical: Physical,
    /// Bytes of a value of fixed width.
    width: usize,
    /// Whether `width` is more than the width of the type.
    is_extended: bool,
    values: Vec<u8>,
    offsets: Vec<u8>,
    buffers: Vec<Vec<u8>>,
    validity: Option<Vec<u8>>,
}

/// The byte that fills the memory of missing values.
const JUNK: u8 = 0x5A;

pub(super) fn lend(bytes: &[u8]) -> HostRead {
    // SAFETY: the caller of `Memory::frame` keeps the memory while it has the frame.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}

impl ChunkMemory {
    pub(super) fn new(model: &Model, range: std::ops::Range<usize>, form: usize) -> Self {
        let physical = model.of.physical;
        let cells = &model.cells[range];
        let mut chunk = Self {
            n: cells.len(),
            form,
            physical,
            width: width(model, form),
            is_extended: width(model, form) > model.of.layout().width().unwrap_or(1),
            values: Vec::new(),
            offsets: Vec::new(),
            buffers: vec![Vec::new()],
            validity: None,
        };
        match physical {
            Physical::Null => return chunk,
            Physical::Bool if form.is_multiple_of(2) => {
                chunk.values = bits(cells.iter().map(|cell| cell.as_ref().is_none_or(|cell| cell[0] != 0)));
            }
            _ if physical.is_var() && form % 3 == 2 => chunk.views(cells),
            _ if physical.is_var() => chunk.strings(cells),
            _ => chunk.words(cells),
        }
        if cells.iter().any(Option::is_none) {
            chunk.validity = Some(match form % 2 {
                0 => cells.iter().map(|cell| 3 * u8::from(cell.is_none())).collect(),
                _ => bits(cells.iter().map(Option::is_some)),
            });
        }
        chunk
    }

    /// The stride in bytes. Every fourth column has gaps.
    fn stride(&self) -> usize {
        if self.form % 4 == 3 { 2 * self.width } else { self.width }
    }

    fn words(&mut self, cells: &[Option<Vec<u8>>]) {
        let (width, stride) = (self.width, self.stride());
        self.values = vec![JUNK; cells.len() * stride];
        for (i, cell) in cells.iter().enumerate() {
            if let Some(cell) = cell {
                let sign = if cell.last().is_some_and(|&byte| byte >= 128) { 0xFF } else { 0 };
                let slot = &mut self.values[i * stride..i * stride + width];
                slot.fill(sign);
                slot[..cell.len()].copy_from_slice(cell);
            }
        }
    }

    fn strings(&mut self, cells: &[Option<Vec<u8>>]) {
        // The bytes of strings need not begin at offset 0.
        self.values = vec![JUNK; 3];
        let push = |offsets: &mut Vec<u8>, at: usize| match self.form % 3 {
            0 => offsets.extend((at as i32).to_le_bytes()),
            _ => offsets.extend((at as i64).to_le_bytes()),
        };
        push(&mut self.offsets, 3);
        for cell in cells {
            self.values.extend(cell.as_deref().unwrap_or_default());
            push(&mut self.offsets, self.values.len());
        }
    }

    fn views(&mut self, cells: &[Option<Vec<u8>>]) {
        for cell in cells {
            let bytes = cell.as_deref().unwrap_or_default();
            let mut view = [0; 16];
            view[..4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
            if bytes.len() <= 12 {
                view[4..4 + bytes.len()].copy_from_slice(bytes);
            } else {
                view[4..8].copy_from_slice(&bytes[..4]);
                view[12..].copy_from_slice(&(self.buffers[0].len() as u32).to_le_bytes());
                self.buffers[0].extend(bytes);
            }
            self.values.extend(view);
        }
    }

    pub(super) fn chunk(&self) -> Chunk {
        let memory = lend(&self.values);
        let values = match self.physical {
            Physical::Null => HostValues::Null,
            Physical::Bool if self.form.is_multiple_of(2) => HostValues::Bits { memory, first_bit: 5 },
            Physical::Bool => HostValues::Bools { memory, stride: self.stride() as isize },
            _ if self.physical.is_var() => match self.form % 3 {
                0 => HostValues::Offsets32 { offsets: lend(&self.offsets), bytes: memory },
                1 => HostValues::Offsets64 { offsets: lend(&self.offsets), bytes: memory },
                _ => HostValues::Views {
                    views: memory,
                    buffers: self.buffers.iter().map(|b| lend(b)).collect(),
                },
            },
            _ if self.is_extended => {
                HostValues::Wide { memory, width: self.width, stride: self.stride() as isize }
            }
            _ => HostValues::Words { memory, stride: self.stride() as isize },
        };
        let validity = match &self.validity {
            None => HostValidity::AllValid,
            Some(bytes) if self.form.is_multiple_of(2) => {
                HostValidity::Mask { memory: lend(bytes), stride: 1 }
            }
            Some(bytes) => HostValidity::Bits { memory: lend(bytes), first_bit: 5 },
        };
        Chunk { n: self.n, values, validity }
    }
}

/// Bytes of a value in memory: decimals are as wide as their type, or wider.
fn width(model: &Model, form: usize) -> usize {
    let width = model.of.layout().width().unwrap_or(1);
    match model.of.logical {
        Logical::Decimal => [width, 2 * width, 16, 32][form % 4].clamp(width, 32),
        _ => width,
    }
}

/// One bit per value, from bit 5 on.
fn bits(values: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut out = vec![0b10101];
    for (i, value) in values.enumerate() {
        if (i + 5) / 8 == out.len() {
            out.push(0);
        }
        out[(i + 5) / 8] |= u8::from(value) << ((i + 5) % 8);
    }
    out
}
