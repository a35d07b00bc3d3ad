//! The ranges of pools that vectors need, and the values of pools that several vectors share.

use std::collections::BTreeMap;
use std::os::raw::c_void;
use std::ptr::null;

use entasis::cells::threads_for;
use entasis::{Buffer, ColumnType, Error, Logical, Physical, Result, Rows};

use super::{Loaded, is_own};
use crate::build::VARIANT_QUIET;
use crate::column::Kind;
use crate::guard::Interrupted;
use crate::read::{self, Want};

/// The needed range of a pool.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PoolUse {
    pub(super) pool: u64,
    /// Its column, among all columns of the file.
    pub(super) column: u64,
    /// The first needed value, and one past the last.
    pub(super) start: u64,
    pub(super) end: u64,
    /// The number of arrays in it.
    pub(super) n: u64,
    /// The needed values, as vectors of this kind have them in memory. Null if C makes a vector of
    /// the values, which may be the result.
    values: *const c_void,
    kind: i32,
}

/// The needed range of each pool, and the sum of the lengths of its arrays.
#[derive(Default)]
pub(super) struct Uses {
    all: BTreeMap<u64, (PoolUse, u64)>,
    /// Neighbouring arrays mostly have the same pool.
    last: Option<(PoolUse, u64)>,
}

impl Uses {
    /// Adds neighbouring arrays. An end that overflows saturates, which is past the end of any
    /// pool.
    pub(super) fn add(&mut self, mut pools: &[u64], mut starts: &[u64], mut lens: &[u64]) {
        while let (Some(&pool), Some(&at)) = (pools.first(), starts.first()) {
            let n = pools.iter().take_while(|&&other| other == pool).count();
            let starts_of_pool;
            (starts_of_pool, starts) = starts.split_at(n);
            let lens_of_pool;
            (lens_of_pool, lens) = lens.split_at(n);
            pools = &pools[n..];
            if self.last.as_ref().is_none_or(|(last, _)| last.pool != pool) {
                self.all.extend(self.last.take().map(|last| (last.0.pool, last)));
                let fresh = PoolUse { pool, column: 0, start: at, end: at, n: 0, values: null(), kind: 0 };
                self.last = Some(self.all.get(&pool).copied().unwrap_or((fresh, 0)));
            }
            if let Some((last, sum)) = &mut self.last {
                for (&at, &len) in starts_of_pool.iter().zip(lens_of_pool) {
                    last.start = last.start.min(at);
                    last.end = last.end.max(at.saturating_add(len));
                    *sum = sum.saturating_add(len);
                }
                last.n += n as u64;
            }
        }
    }

    pub(super) fn end(mut self) -> impl Iterator<Item = (PoolUse, u64)> {
        self.all.extend(self.last.map(|last| (last.0.pool, last)));
        self.all.into_values()
    }
}

impl Loaded {
    /// Reads the pools of numbers that R wrote and that several arrays share. They are not read
    /// into vectors of R, which would be garbage as soon as the arrays are built.
    pub(super) fn read_pools(&mut self, interrupted: Option<Interrupted>) -> Result<()> {
        let file = self.cells.cells().file();
        let (mut memory, mut found) = (Vec::new(), Vec::new());
        if is_own(file) {
            for (i, pool) in self.pools.iter().enumerate().filter(|(_, pool)| pool.n > 1) {
                let of = file.column(pool.column)?.record.column_type;
                let Some((kind, width)) = pooled_kind(&of).and_then(|kind| Some((kind, kind.width()?)))
                else {
                    continue;
                };
                let len = usize::try_from(pool.end - pool.start).ok().and_then(|n| n.checked_mul(width));
                let buffer = len.and_then(Buffer::scratch);
                let no_memory = || Error::out_of_memory(len.unwrap_or(usize::MAX), "the vectors");
                memory.push(buffer.ok_or_else(no_memory)?);
                found.push((i, kind, width, i32::from(of.host_variant) & VARIANT_QUIET != 0));
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        let len = memory.iter().map(|memory| memory.len() as u64).sum();
        let wants = found.iter().zip(&mut memory).map(|(&(i, kind, width, quiet), memory)| {
            let n = memory.len() / width;
            Want::own(self.pools[i].column, kind, memory, n, quiet)
        });
        let wants: Vec<Want> = wants.collect();
        let rows = |i: usize| {
            let pool = &self.pools[found[i].0];
            Rows::Range(pool.start..pool.end)
        };
        // SAFETY: the buffers are as long as the values, aligned for any of them, and used by
        // nothing else.
        unsafe { read::read(file, &wants, rows, threads_for(len, None), interrupted) }?;
        for (&(i, kind, ..), memory) in found.iter().zip(&memory) {
            (self.pools[i].values, self.pools[i].kind) = (memory.as_ptr().cast(), kind.code());
        }
        self.memory = memory;
        Ok(())
    }
}

/// The kind of vectors in a pool of numbers that R wrote; `None` for other columns.
fn pooled_kind(of: &ColumnType) -> Option<Kind> {
    match of.physical {
        _ if of.logical != Logical::Plain => None,
        Physical::Bool => Some(Kind::Logical),
        Physical::I8 | Physical::I16 | Physical::I32 => Some(Kind::Integer),
        Physical::U8 => Some(Kind::Raw),
        Physical::F64 => Some(Kind::Double),
        Physical::Complex128 => Some(Kind::Complex),
        _ => None,
    }
}
