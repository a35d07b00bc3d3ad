//! Reads columns: allocates memory for all of them, then decodes them in one call of the core.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use entasis::{
    Buffer, Buffers, ColumnInfo, ColumnType, Error, File, Held, Logical, MissingTo, Monitor, Nested, Output,
    Physical, Request, Rows, Shared, Text, TextLayout, keep_bits, keep_values,
};
use entasis_query::NanIsNull;
use pyo3::prelude::*;

use crate::array;
use crate::arrow::export::Dictionaries;
use crate::arrow::format;
use crate::read::nested;
use crate::read::plan::{self, Host, Narrow, Target, Unit};
use crate::row_sets::KeptRows;
use crate::{errors, monitor};

/// A two-dimensional array that columns of one dtype share.
pub struct Block<'py> {
    pub dtype: String,
    pub zone: Option<String>,
    /// The number of the only unit in the block; `None` if units may share it.
    pub apart: Option<usize>,
    /// The number and the first row of each unit.
    pub units: Vec<(usize, usize)>,
    pub n_columns: usize,
    pub array: Option<Bound<'py, PyAny>>,
    /// Whether the array already has its values.
    pub is_filled: bool,
}

/// The memory that a unit is decoded into.
pub enum Memory<'py> {
    /// Its block, or nothing.
    None,
    /// NumPy arrays with a row for each member of the unit.
    Arrays { values: Bound<'py, PyAny>, mask: Option<Bound<'py, PyAny>> },
    /// Buffers in Arrow's layout.
    Arrow { words: Buffer, validity: Option<Buffer>, text: Text },
    /// Arrays in Arrow's layout with children, once they are decoded.
    Nested(Option<Nested>),
    /// Buffers in Arrow's layout that a held table has.
    Shared(Shared),
}

/// Decoded columns.
pub struct Decoded<'py> {
    pub infos: Vec<ColumnInfo>,
    pub units: Vec<Unit>,
    pub blocks: Vec<Block<'py>>,
    /// The memory of each unit.
    pub memory: Vec<Memory<'py>>,
    pub n_rows: usize,
    /// Dictionaries of Arrow targets.
    pub dictionaries: Vec<(u64, Decoded<'py>)>,
    /// Categories of pandas categoricals, by their column.
    pub categories: Vec<(u64, Decoded<'py>)>,
}

fn no_memory(py: Python<'_>, n: usize) -> PyErr {
    errors::out_of_memory(py, n, 1, "the columns")
}

/// The library that reads columns, and how it takes them.
#[derive(Clone, Copy)]
pub struct Reader {
    pub host: Host,
    /// Whether the library wrote the file.
    pub own: bool,
    /// For Arrow: the columns in which NaN is null.
    pub nan_is_null: NanIsNull,
    /// For Arrow: the narrow types.
    pub narrow: Narrow,
}

/// Columns that are read together.
pub struct Selected<'a> {
    pub file: &'a Arc<File>,
    /// The table whose values are read, if `file` lacks them.
    pub held: Option<&'a Held>,
    /// Memory of columns that [share no array](Self::alone), which becomes that of their arrays.
    pub taken: HashMap<u64, Buffer>,
    pub infos: Vec<ColumnInfo>,
    /// The number of values of each column.
    pub n_values: u64,
    pub rows: &'a Rows,
    /// The number of columns that may share arrays. They are the first ones.
    pub n_shared: usize,
    /// Dictionaries of Arrow targets that are not read again.
    pub known: &'a Dictionaries,
}

/// Reads columns for a host.
pub fn read<'py>(
    py: Python<'py>,
    selected: Selected<'_>,
    by: Reader,
    threads: Option<usize>,
) -> PyResult<Decoded<'py>> {
    let (file, held) = (selected.file, selected.held);
    read_from(py, selected, by, threads, |requests, monitor| match held {
        Some(held) => held.read(requests, threads, monitor),
        None => file.read(requests, threads, monitor),
    })
}

/// Reads columns for a host, with a function that fulfils the requests for those without children.
pub fn read_from<'py>(
    py: Python<'py>,
    selected: Selected<'_>,
    by: Reader,
    threads: Option<usize>,
    fulfil: impl FnOnce(Vec<Request<'_>>, &dyn Monitor) -> entasis::Result<()> + Send,
) -> PyResult<Decoded<'py>> {
    let (file, rows) = (selected.file, selected.rows);
    let mut decoded = prepare(py, selected, by, threads)?;
    let mut requests = Vec::new();
    decoded.requests(rows, &mut requests)?;
    monitor::run(py, |monitor| fulfil(requests, monitor))?;
    decoded.read_nested(py, file, rows, by.own, threads)?;
    Ok(decoded)
}

/// Allocates the memory of all columns.
fn prepare<'py>(
    py: Python<'py>,
    mut selected: Selected<'_>,
    by: Reader,
    threads: Option<usize>,
) -> PyResult<Decoded<'py>> {
    let n_rows = selected.n_rows(py)?;
    let units = selected.units(py, by)?;
    let mut allocator = Allocator {
        py,
        selected: &selected,
        host: by.host,
        threads,
        n_rows,
        blocks: Vec::new(),
        buffers: Buffers::default(),
        dictionaries: BTreeSet::new(),
        categories: BTreeSet::new(),
    };
    let mut memory = Vec::with_capacity(units.len());
    for (number, unit) in units.iter().enumerate() {
        check_bundle(py, selected.file, unit)?;
        memory.push(allocator.memory(number, unit)?);
    }
    let Allocator { mut blocks, dictionaries, categories, .. } = allocator;
    let mut taken = std::mem::take(&mut selected.taken);
    for block in &mut blocks {
        let shape = (block.n_columns, n_rows);
        let column = match block.units[..] {
            [(unit, _)] if block.n_columns == 1 => taken.remove(&units[unit].column),
            _ => None,
        };
        block.is_filled = column.is_some();
        block.array = Some(match column {
            Some(buffer) => array::of_buffer(py, buffer, shape, &block.dtype)?,
            None => array::empty(py, shape, &block.dtype)?,
        });
    }
    let unknown = dictionaries.into_iter().filter(|index| !selected.known.contains_key(index));
    let dictionaries =
        unknown.map(|index| selected.dictionary(py, by, index)).collect::<PyResult<Vec<_>>>()?;
    let categories = categories.into_iter().map(|index| selected.categories(py, by, index));
    let categories = categories.collect::<PyResult<Vec<_>>>()?;
    Ok(Decoded { infos: selected.infos, units, blocks, memory, n_rows, dictionaries, categories })
}

impl Selected<'_> {
    /// The number of selected rows. Checks the length of the columns, and the limit of memory.
    fn n_rows(&self, py: Python<'_>) -> PyResult<usize> {
        if let Some(info) = self.infos.iter().find(|info| info.record.n_values != self.n_values) {
            let (name, n, n_values) = (&info.name, info.record.n_values, self.n_values);
            let error = Error::corrupt(format!("column \"{name}\" has {n} values instead of {n_values}"));
            return Err(errors::raise(py, &error.in_file(self.file.path())));
        }
        let n_rows = self.rows.n(self.n_values);
        let lens = self.infos.iter().map(|info| info.record.column_type.memory_len(n_rows));
        let len = lens.fold(0, u64::saturating_add);
        let checked = match self.held {
            Some(held) => held.check_decoded_len(len),
            None => self.file.check_decoded_len(len),
        };
        checked.map_err(|error| errors::raise(py, &error))?;
        usize::try_from(n_rows).map_err(|_| no_memory(py, usize::MAX))
    }

    /// Groups the columns into units, each with a target.
    fn units(&self, py: Python<'_>, by: Reader) -> PyResult<Vec<Unit>> {
        let target = |info| {
            let target = plan::target(info, by.host, by.own, by.nan_is_null.holds(info));
            by.narrow.target(info, target, || Ok(self.held.is_none() && self.file.has_repeats(info.index)?))
        };
        let targets = self.infos.iter().map(target).collect::<entasis::Result<_>>();
        let targets = targets.map_err(|error| errors::raise(py, &error))?;
        // In several pieces, the values of a bundle are not those of its members one after the
        // other.
        let is_one_piece = self.file.pieces().map_err(|error| errors::raise(py, &error))?.is_none();
        let whole = is_one_piece && matches!(self.rows, Rows::All);
        Ok(plan::units(&self.infos, targets, whole, self.n_values))
    }

    /// The columns that share no array with others, and whose values are those of the array.
    pub fn alone(&self, py: Python<'_>, by: Reader) -> PyResult<Vec<u64>> {
        let units = self.units(py, by)?;
        let key = |unit: &Unit| match &unit.target {
            Target::Block { dtype, zone, .. } => Some((dtype.clone(), zone.clone())),
            _ => None,
        };
        let (mut counts, mut n_reads) = (HashMap::new(), HashMap::new());
        units.iter().for_each(|unit| *n_reads.entry(unit.column).or_insert(0) += 1);
        for unit in units.iter().filter(|unit| unit.first < self.n_shared) {
            *counts.entry(key(unit)).or_insert(0) += unit.members.len();
        }
        let is_alone = |unit: &&Unit| {
            let key = key(unit);
            let is_apart = unit.first >= self.n_shared && unit.members.len() == 1;
            let is_once = n_reads.get(&unit.column) == Some(&1);
            key.is_some() && is_once && !unit.has_missing && (is_apart || counts.get(&key) == Some(&1))
        };
        Ok(units.iter().filter(is_alone).map(|unit| unit.column).collect())
    }

    /// Allocates the memory of a dictionary of Arrow targets. Returns it with its number.
    fn dictionary<'py>(&self, py: Python<'py>, by: Reader, index: u64) -> PyResult<(u64, Decoded<'py>)> {
        let info = self.file.column(index).map_err(|error| errors::raise(py, &error))?;
        if info.record.column_type.logical == Logical::Categorical {
            return Err(errors::unsupported(py, "categories that are categorical are not supported"));
        }
        self.all_values(py, by, &info)
    }

    /// Allocates the memory of the categories of pandas categoricals. Returns it with their number.
    fn categories<'py>(&self, py: Python<'py>, by: Reader, index: u64) -> PyResult<(u64, Decoded<'py>)> {
        let info = self.file.column(index).map_err(|error| errors::raise(py, &error))?;
        if info.record.column_type.logical == Logical::Categorical {
            let error = Error::corrupt("the categories of a categorical are categorical");
            return Err(errors::raise(py, &error.in_file(self.file.path())));
        }
        self.all_values(py, by, &info)
    }

    fn all_values<'py>(
        &self,
        py: Python<'py>,
        by: Reader,
        info: &ColumnInfo,
    ) -> PyResult<(u64, Decoded<'py>)> {
        let of = Reader { nan_is_null: NanIsNull::Nowhere, narrow: Narrow::default(), ..by };
        let selected = Selected {
            file: self.file,
            held: None,
            infos: vec![info.clone()],
            taken: HashMap::new(),
            n_values: info.record.n_values,
            rows: &Rows::All,
            n_shared: 0,
            known: self.known,
        };
        Ok((info.index, prepare(py, selected, of, None)?))
    }
}

/// Allocates the memory of units, except for the arrays of blocks, whose size depends on all units.
struct Allocator<'a, 'py> {
    py: Python<'py>,
    selected: &'a Selected<'a>,
    host: Host,
    threads: Option<usize>,
    n_rows: usize,
    blocks: Vec<Block<'py>>,
    buffers: Buffers,
    /// The dictionaries of Arrow targets so far.
    dictionaries: BTreeSet<u64>,
    /// The columns with categories of pandas categoricals so far.
    categories: BTreeSet<u64>,
}

impl<'py> Allocator<'_, 'py> {
    fn memory(&mut self, number: usize, unit: &Unit) -> PyResult<Memory<'py>> {
        let py = self.py;
        let info = &self.selected.infos[unit.first];
        let n = self.n_rows.checked_mul(unit.members.len()).ok_or_else(|| no_memory(py, usize::MAX))?;
        match &unit.target {
            Target::Block { dtype, zone, .. } => {
                let apart = (unit.first >= self.selected.n_shared).then_some(number);
                let block = self.block(dtype, zone.as_deref(), apart);
                block.units.push((number, block.n_columns));
                block.n_columns += unit.members.len();
                Ok(Memory::None)
            }
            Target::Null => Ok(Memory::None),
            Target::Refused => Err(refused(py, info, self.host)),
            Target::Array { dtype, mask, .. } => {
                if self.host == Host::Pandas {
                    self.categories.extend(info.record.dictionary);
                }
                let shape = (unit.members.len(), self.n_rows);
                let mask = if *mask { Some(array::empty(py, shape, "b1")?) } else { None };
                Ok(Memory::Arrays { values: array::empty(py, shape, dtype)?, mask })
            }
            Target::NullableFloats => {
                let width = unit.column_type.layout().width().unwrap_or(8);
                arrow_memory(&unit.column_type, 0, true, n, &mut self.buffers)
                    .ok_or_else(|| no_memory(py, n.saturating_mul(width)))
            }
            Target::Codes => {
                let words = Buffer::default();
                let n_bytes = n.div_ceil(8);
                let bits = unit
                    .has_missing
                    .then(|| self.buffers.zeroed(n_bytes).ok_or_else(|| no_memory(py, n_bytes)));
                Ok(Memory::Arrow { words, validity: bits.transpose()?, text: Text::new(TextLayout::Codes) })
            }
            Target::Nested(_) => {
                nested::dictionaries(self.selected.file, info, 1, &mut self.dictionaries)
                    .map_err(|error| errors::raise(py, &error))?;
                Ok(Memory::Nested(None))
            }
            &Target::Arrow(layout) => {
                self.dictionaries.extend(info.record.dictionary);
                if let Some(held) = self.selected.held {
                    let (column, layout) = (unit.column, format::text_layout(layout));
                    let shared =
                        monitor::run(py, |monitor| held.shared(column, layout, self.threads, monitor))?;
                    if let Some(shared) = shared {
                        return Ok(Memory::Shared(shared));
                    }
                }
                let width = unit.column_type.layout().width().unwrap_or(16);
                arrow_memory(&unit.column_type, layout, unit.has_missing, n, &mut self.buffers)
                    .ok_or_else(|| no_memory(py, n.saturating_mul(width)))
            }
        }
    }

    /// The block that units of this kind share.
    fn block(&mut self, dtype: &str, zone: Option<&str>, apart: Option<usize>) -> &mut Block<'py> {
        let same = |block: &Block<'_>| {
            block.apart.is_none() && block.dtype == dtype && block.zone.as_deref() == zone
        };
        // A block of its own is not searched for, so that many columns take linear time.
        let found = if apart.is_none() { self.blocks.iter().rposition(same) } else { None };
        let at = found.unwrap_or_else(|| {
            let (dtype, zone) = (dtype.to_owned(), zone.map(str::to_owned));
            self.blocks.push(Block {
                dtype,
                zone,
                apart,
                units: Vec::new(),
                n_columns: 0,
                array: None,
                is_filled: false,
            });
            self.blocks.len() - 1
        });
        &mut self.blocks[at]
    }
}

/// The error for a column of a type that the host does not have.
fn refused(py: Python<'_>, info: &ColumnInfo, host: Host) -> PyErr {
    let type_name = crate::column::type_name(info);
    let library = match host {
        Host::Pandas => "pandas",
        Host::Numpy => "NumPy",
        Host::Arrow(_) => "Arrow",
    };
    errors::unsupported(py, format!("column '{}': {type_name} has no counterpart in {library}", info.name))
}

/// Checks that a storage column has the type of its members. The core compares the types only when
/// it reads a member, and not when it reads the whole storage column.
fn check_bundle(py: Python<'_>, file: &File, unit: &Unit) -> PyResult<()> {
    if unit.members.len() == 1 {
        return Ok(());
    }
    let storage = file.column(unit.column).map_err(|error| errors::raise(py, &error))?;
    let (of, kind) = (&storage.record.column_type, &unit.column_type);
    if storage.record.is_bundle && (of.physical, of.logical) == (kind.physical, kind.logical) {
        return Ok(());
    }
    let error = Error::corrupt("a bundled column is not where its record says").in_file(file.path());
    Err(errors::raise(py, &error))
}

fn arrow_memory<'py>(
    column_type: &ColumnType,
    layout: u8,
    has_missing: bool,
    n: usize,
    buffers: &mut Buffers,
) -> Option<Memory<'py>> {
    let words = match column_type.physical {
        Physical::Bool => n.div_ceil(8),
        _ => n.checked_mul(format::width(column_type, layout).unwrap_or(0))?,
    };
    let is_null = column_type.physical == Physical::Null;
    let validity = if has_missing && !is_null { Some(buffers.zeroed(n.div_ceil(8))?) } else { None };
    Some(Memory::Arrow {
        words: buffers.zeroed(words)?,
        validity,
        text: Text::new(format::text_layout(layout)),
    })
}

impl Decoded<'_> {
    /// Drops the values of other rows than these.
    pub fn keep(&mut self, py: Python<'_>, kept: &KeptRows) -> PyResult<()> {
        let (n_rows, runs) = (self.n_rows, &kept.runs);
        for (unit, memory) in self.units.iter().zip(&mut self.memory) {
            let Memory::Arrow { words, validity, text } = memory else { continue };
            let (physical, width) = (unit.column_type.physical, words.len() / n_rows.max(1));
            let done = py.detach(|| {
                match physical {
                    Physical::Bool => keep_bits(words, runs)?,
                    physical if physical.is_var() => text.keep(runs)?,
                    _ => keep_values(words, width, runs)?,
                }
                validity.as_mut().map_or(Ok(()), |bits| keep_bits(bits, runs))
            });
            done.map_err(|error| errors::raise(py, &error))?;
        }
        self.n_rows = kept.n;
        Ok(())
    }

    /// Reads the nested columns, including nested dictionaries.
    fn read_nested(
        &mut self,
        py: Python<'_>,
        file: &File,
        rows: &Rows,
        own: bool,
        threads: Option<usize>,
    ) -> PyResult<()> {
        for (_, dictionary) in self.dictionaries.iter_mut().chain(&mut self.categories) {
            dictionary.read_nested(py, file, &Rows::All, own, threads)?;
        }
        let of = |unit: &Unit| match unit.target {
            Target::Nested(layout) => Some((unit.column, layout)),
            _ => None,
        };
        let Some((_, layout)) = self.units.iter().find_map(of) else { return Ok(()) };
        let columns: Vec<_> =
            self.units.iter().filter_map(of).map(|(column, _)| (column, rows.clone())).collect();
        let form = |info: &ColumnInfo| nested::form(&info.record.column_type, own, layout);
        let read = monitor::run(py, |monitor| file.read_nested(&columns, &form, threads, monitor))?;
        let nested = self.memory.iter_mut().filter(|memory| matches!(memory, Memory::Nested(_)));
        nested.zip(read).for_each(|(memory, values)| *memory = Memory::Nested(Some(values)));
        Ok(())
    }

    /// Adds a request for each unit.
    fn requests<'a>(&'a mut self, rows: &Rows, requests: &mut Vec<Request<'a>>) -> PyResult<()> {
        let mut of_blocks: Vec<Option<&mut [u8]>> = Vec::new();
        of_blocks.resize_with(self.units.len(), || None);
        for block in &self.blocks {
            let Some(array) = block.array.as_ref().filter(|_| !block.is_filled) else { continue };
            // SAFETY: nothing else knows the new array, and each unit gets a part of its own.
            let mut rest = unsafe { array::memory(array) }?;
            let row = rest.len() / block.n_columns.max(1);
            for &(unit, _) in &block.units {
                let (part, tail) = rest.split_at_mut(row * self.units[unit].members.len());
                of_blocks[unit] = Some(part);
                rest = tail;
            }
        }
        for ((unit, memory), of_block) in self.units.iter().zip(&mut self.memory).zip(of_blocks) {
            let physical = unit.column_type.physical;
            let numpy =
                |bytes| if physical == Physical::Bool { Output::Bools(bytes) } else { Output::Words(bytes) };
            let (output, missing) = match (memory, &unit.target) {
                (_, Target::Block { sentinel, .. }) => {
                    let Some(of_block) = of_block else { continue };
                    let missing = match sentinel {
                        Some(sentinel) if unit.has_missing => MissingTo::Sentinel(*sentinel),
                        _ => MissingTo::Ignore,
                    };
                    (numpy(of_block), missing)
                }
                (Memory::Arrays { values, mask }, Target::Array { sentinel, .. }) => {
                    // SAFETY: as above.
                    let values = unsafe { array::memory(values) }?;
                    let missing = match (mask, sentinel) {
                        // SAFETY: as above.
                        (Some(mask), _) => MissingTo::Mask(unsafe { array::memory(mask) }?),
                        (None, Some(sentinel)) if unit.has_missing => MissingTo::Sentinel(*sentinel),
                        (None, _) => MissingTo::Ignore,
                    };
                    (numpy(values), missing)
                }
                (Memory::Arrow { words, validity, text }, &Target::Arrow(layout)) => {
                    let width = format::width(&unit.column_type, layout);
                    let output = match physical {
                        Physical::Null => continue,
                        Physical::Bool => Output::Bits(words),
                        Physical::Utf8 | Physical::Binary => Output::Text(text),
                        physical => match width {
                            Some(width) if physical.width().is_some_and(|narrow| narrow != width) => {
                                Output::Wide { memory: words, width }
                            }
                            _ => Output::Words(words),
                        },
                    };
                    (output, validity.as_deref_mut().map_or(MissingTo::Ignore, MissingTo::Bits))
                }
                (Memory::Arrow { validity, text, .. }, Target::Codes) => {
                    (Output::Text(text), validity.as_deref_mut().map_or(MissingTo::Ignore, MissingTo::Bits))
                }
                (Memory::Arrow { words, validity: Some(bits), .. }, Target::NullableFloats) => {
                    (Output::Words(words), MissingTo::BitsWithNan(bits))
                }
                _ => continue,
            };
            let rows = match unit.members.len() {
                1 => rows.clone(),
                members => Rows::Range(0..members as u64 * self.n_rows as u64),
            };
            requests.push(Request { column: unit.column, rows, output, missing });
        }
        for (_, dictionary) in self.dictionaries.iter_mut().chain(&mut self.categories) {
            dictionary.requests(&Rows::All, requests)?;
        }
        Ok(())
    }
}
