//! Describes a file: sizes and encodings of each column, read from the footer alone.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use entasis_format::{
    ColumnType, Error, Keep, Kind, Logical, MAX_COLUMN_DEPTH, Physical, Result, TRAILER_LEN, Unit, Value,
    Version, fallible, visit_part_entries,
};

use crate::column_owners::is_blank;
use crate::file::{ColumnInfo, File};

/// The layout of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Info {
    /// Major and minor version of the format.
    pub format_version: Version,
    /// The highest edition whose codes the generation may have; 0 for a file of 0.2.
    pub edition: u8,
    /// The program that wrote the file, for example `entasis 0.2.0`.
    pub program: String,
    /// The number of the current generation.
    pub generation: u64,
    /// Bytes of the file.
    pub file_len: u64,
    /// Bytes of all segments.
    pub segments_len: u64,
    /// All other bytes of the generation: header, footer, padding.
    pub footer_len: u64,
    /// Bytes that the current generation does not use.
    /// [`Change::compact`](crate::Change::compact) drops them.
    pub dead_len: u64,
    /// The cipher of an encrypted file.
    pub encryption: Option<&'static str>,
    /// The kind of the file's value: `table` or `tree`.
    pub value: &'static str,
    /// The number of tables, including those inside of a tree.
    pub n_tables: u64,
    /// The number of cells: parts of trees, of metadata and of object columns.
    pub n_cells: u64,
    /// The number of rows of the table.
    pub n_rows: u64,
    /// The number of columns of the table.
    pub n_columns: u64,
    /// The host that wrote the file: `pandas`, `polars` ...
    pub host: Option<String>,
    /// The earlier generations that changes keep, as a change asked for.
    pub keep: Keep,
    /// The table's columns, then labels and dictionaries, children, and bundles.
    pub columns: Vec<ColumnLayout>,
}

/// How a column is stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ColumnLayout {
    /// The name.
    pub name: String,
    /// The role of the column in the file.
    pub role: Role,
    /// The name of the type.
    pub type_name: String,
    /// The number of values.
    pub n_values: u64,
    /// The number of missing values.
    pub n_missing: u64,
    /// The number of blocks. A bundled column has 0, because its bundle has the blocks.
    pub n_blocks: u64,
    /// Bytes of pages and directories in the file. A bundled column counts its share of the bundle.
    pub stored_len: u64,
    /// Bytes of the decoded values.
    pub decoded_len: u64,
    /// The encodings, each with the number of blocks that use it.
    pub encodings: Vec<(String, u64)>,
}

/// The role of a column in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A column of the table.
    Table,
    /// A label, or the dictionary of a categorical.
    Extra,
    /// A child of a nested column.
    Child,
    /// Values of arrays in a tree.
    Array,
    /// A part of the cells: of trees, metadata and object columns.
    Cells,
    /// The storage column of a bundle.
    Bundle,
    /// Nothing: it keeps the number of a column that was dropped.
    Free,
}

/// The name of a type that this release does not know.
pub(crate) const UNKNOWN: &str = "unknown";
/// The use of the memory, in messages.
const LAYOUT: &str = "the layout of the file";

impl Role {
    /// The role as one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "column",
            Self::Extra => "extra",
            Self::Child => "child",
            Self::Array => "array",
            Self::Cells => "cells",
            Self::Bundle => "bundle",
            Self::Free => "free",
        }
    }
}

impl File {
    /// The layout of the file. Reads the footer, but no values.
    ///
    /// # Errors
    /// *Corrupt*, *unsupported*, *io*.
    pub fn info(&self) -> Result<Info> {
        let whole = self.whole();
        whole.info_of(self).map_err(|e| e.in_file(self.path()))
    }

    /// The layout of this view of the whole file. `of` is the view of the file's value.
    fn info_of(&self, of: &File) -> Result<Info> {
        let mut tables = Vec::new();
        for number in 0..self.n_tables() {
            fallible::extend(&mut tables, self.table(number)?.columns_in_file().into_iter(), LAYOUT)?;
        }
        tables.sort_unstable_by_key(|columns: &Range<u64>| columns.start);
        let all = self.all_columns(0..self.n_columns_total())?;
        let mut dictionaries = HashSet::new();
        for dictionary in all.iter().filter_map(|column| column.record.dictionary) {
            dictionaries.try_reserve(1).map_err(|_| Error::out_of_memory(size_of::<u64>(), LAYOUT))?;
            dictionaries.insert(dictionary);
        }
        let columns = all.iter().map(|column| self.layout(column, &tables, &dictionaries));
        let mut columns = fallible::try_collect(columns, LAYOUT)?;
        let segments_len = columns.iter().map(|c| c.stored_len).sum();
        for (i, column) in all.iter().enumerate() {
            if let Some(bundle) =
                column.record.storage.and_then(|s| columns.get(usize::try_from(s).ok()?)).cloned()
            {
                let share = |len: u64| {
                    let part = u128::from(len) * u128::from(column.record.n_values);
                    u64::try_from(part / u128::from(bundle.n_values.max(1))).unwrap_or(0)
                };
                columns[i].stored_len = share(bundle.stored_len);
                columns[i].decoded_len = share(bundle.decoded_len);
                columns[i].encodings.clone_from(&bundle.encodings);
            }
        }
        let dead_len = self.dead_len(segments_len)?;
        Ok(Info {
            format_version: self.format_version(),
            edition: self.edition(),
            program: self.program().to_owned(),
            generation: self.generation(),
            file_len: self.stored_len(),
            segments_len,
            footer_len: self.file_len().saturating_sub(segments_len).saturating_sub(dead_len),
            dead_len,
            encryption: self.unlocked().map(|unlocked| unlocked.suite().name()),
            value: if of.is_table() { "table" } else { "tree" },
            n_tables: self.n_tables(),
            n_cells: self.cells()?.map_or(0, |cells| cells.n_cells()),
            n_rows: of.n_rows(),
            n_columns: of.n_columns(),
            host: of.host()?.get("host").and_then(Value::as_str).map(str::to_owned),
            keep: self.root().keep,
            columns,
        })
    }

    /// Bytes that the current generation does not use.
    fn dead_len(&self, segments_len: u64) -> Result<u64> {
        if self.root().previous.is_none() {
            return Ok(0);
        }
        let root_len = u64::from(self.slot().root_len);
        let mut live = self.room().start + segments_len + root_len + TRAILER_LEN as u64;
        // Nothing says how a later version stores a section of an unknown kind.
        for section in self.sections().iter().filter(|section| section.is_known()) {
            let visited =
                visit_part_entries(section, self.room(), &mut |part| self.fetch(part), &mut |part| {
                    live = live.saturating_add(u64::from(part.stored_len));
                    Ok(())
                });
            visited?;
        }
        Ok(self.file_len().saturating_sub(live))
    }

    fn layout(
        &self,
        column: &ColumnInfo,
        tables: &[Range<u64>],
        dictionaries: &HashSet<u64>,
    ) -> Result<ColumnLayout> {
        let blocks = self.read_blocks(column)?;
        let mut encodings: BTreeMap<String, u64> = BTreeMap::new();
        for block in blocks.iter() {
            *encodings.entry(block.encoding.to_string()).or_default() += 1;
        }
        let mut encodings = fallible::collect(encodings.into_iter(), LAYOUT)?;
        encodings.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let role = match column.record.is_bundle {
            true => Role::Bundle,
            false if is_inside(tables, column.index) => Role::Table,
            false if column.record.parent.is_some() => Role::Child,
            false if self.cell_columns().is_some_and(|cells| cells.contain(column.index)) => Role::Cells,
            false if self.cell_columns().is_some_and(|cells| cells.is_pool(column.index)) => Role::Array,
            false if is_blank(column) && !dictionaries.contains(&column.index) => Role::Free,
            false => Role::Extra,
        };
        Ok(ColumnLayout {
            name: fallible::owned(&column.name, LAYOUT)?,
            role,
            type_name: self.type_name(column, &|c| type_name(&c.record.column_type, c.detail.as_ref()))?,
            n_values: column.record.n_values,
            n_missing: column.record.n_missing,
            n_blocks: blocks.len() as u64,
            stored_len: blocks.iter().map(|b| u64::from(b.pages_len) + u64::from(b.directory_len)).sum(),
            decoded_len: blocks.iter().fold(0, |len, block| len.saturating_add(block.decoded_len)),
            encodings,
        })
    }
}

impl File {
    /// The name of a column's type, including the types of its children: `list[i64]`, `struct[x:
    /// f64, y: list[utf8]]`.
    ///
    /// `name` returns the name of a type without children, as [`type_name`] does. A type that this
    /// release does not know has the name "unknown".
    ///
    /// # Errors
    /// As [`children`](Self::children).
    pub fn type_name(&self, column: &ColumnInfo, name: &dyn Fn(&ColumnInfo) -> String) -> Result<String> {
        self.nested_type_name(column, name, 1)
    }

    fn nested_type_name(
        &self,
        column: &ColumnInfo,
        name: &dyn Fn(&ColumnInfo) -> String,
        depth: u32,
    ) -> Result<String> {
        let of = &column.record.column_type;
        if column.unknown.is_some() {
            return Ok(UNKNOWN.to_owned());
        }
        if !of.physical.is_nested() {
            return Ok(name(column));
        }
        if depth > MAX_COLUMN_DEPTH {
            return Err(Error::corrupt("a column is nested too deep").in_column(&column.name));
        }
        let mut children = match self.children(column) {
            Err(error) if error.kind() == Kind::Unsupported => {
                return Ok(format!("{}[{UNKNOWN}]", of.physical.name()));
            }
            children => children?,
        };
        if of.has_child_offsets() {
            children.pop();
        }
        let mut inside = fallible::with_capacity(children.len(), LAYOUT)?;
        for child in &children {
            let type_name = self.nested_type_name(child, name, depth + 1)?;
            let is_named = matches!(of.physical, Physical::Struct | Physical::Union);
            inside.push(if is_named { format!("{}: {type_name}", child.name) } else { type_name });
        }
        if of.physical == Physical::FixedSizeList {
            inside.push(of.value_len.to_string());
        }
        if of.physical == Physical::Map {
            // Without the struct of the entries.
            inside =
                inside.iter().map(|entries| entries["struct[".len()..entries.len() - 1].to_owned()).collect();
            inside.extend(of.ordered.then(|| "sorted".to_owned()));
        }
        let type_name = format!("{}[{}]", of.physical.name(), inside.join(", "));
        let extension = column.detail.as_ref().and_then(|detail| detail.get("name")).and_then(Value::as_str);
        Ok(match (of.logical, extension) {
            (Logical::Extension, Some(extension)) => format!("extension[{extension}, {type_name}]"),
            _ => type_name,
        })
    }
}

/// Whether a number is in one of these ranges. They ascend in files of this writer, but maybe not
/// in others.
fn is_inside(ranges: &[Range<u64>], number: u64) -> bool {
    match ranges.is_sorted_by_key(|range| range.start) {
        true => ranges[..ranges.partition_point(|range| range.start <= number)]
            .iter()
            .rev()
            .find(|range| !range.is_empty())
            .is_some_and(|range| range.contains(&number)),
        false => ranges.iter().any(|range| range.contains(&number)),
    }
}

/// The name of a type without children: `i64`, `bytes[12]`, `timestamp[ns, UTC]`, `categorical[i8,
/// ordered]`.
pub fn type_name(column_type: &ColumnType, detail: Option<&Value>) -> String {
    let unit =
        if column_type.unit == Unit::None { String::new() } else { format!("[{}]", column_type.unit.name()) };
    match column_type.logical {
        Logical::Plain if column_type.physical == Physical::FixedBytes => {
            format!("bytes[{}]", column_type.value_len)
        }
        Logical::Plain => column_type.physical.name().to_owned(),
        Logical::Date => "date".to_owned() + if column_type.physical == Physical::I32 { "" } else { &unit },
        Logical::Time => format!("time{unit}"),
        Logical::Duration => format!("duration{unit}"),
        Logical::Timestamp => match detail.and_then(Value::as_str) {
            Some(zone) => format!("timestamp[{}, {zone}]", column_type.unit.name()),
            None => format!("timestamp{unit}"),
        },
        Logical::Period => match detail.and_then(Value::as_str) {
            Some(frequency) => format!("period[{frequency}]"),
            None => "period".to_owned(),
        },
        Logical::Interval => match column_type.layout().width() {
            Some(4) => "interval[months]".to_owned(),
            Some(8) => "interval[days, ms]".to_owned(),
            _ => "interval[months, days, ns]".to_owned(),
        },
        Logical::Uuid | Logical::Json | Logical::Object => column_type.logical.name().to_owned(),
        Logical::Extension => match detail.and_then(|detail| detail.get("name")).and_then(Value::as_str) {
            Some(name) => format!("extension[{name}]"),
            None => "extension".to_owned(),
        },
        Logical::Decimal => format!("decimal({}, {})", column_type.precision, column_type.scale),
        Logical::Categorical => {
            let ordered = if column_type.ordered { ", ordered" } else { "" };
            format!("categorical[{}{ordered}]", column_type.physical.name())
        }
    }
}

impl Info {
    /// The layout as a JSON object.
    pub fn to_json(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(ColumnLayout::to_json).collect();
        let keep = match self.keep.kind {
            Keep::GENERATIONS => format!("\"keep\":{{\"generations\":{}}},", self.keep.value),
            Keep::NANOSECONDS => format!("\"keep\":{{\"nanoseconds\":{}}},", self.keep.value),
            _ => String::new(),
        };
        format!(
            "{{\"format_version\":\"{}\",\"edition\":{},\"program\":{},\"generation\":{},\"host\":{},\"encryption\":{},\"value\":\"{}\",\"n_tables\":{},\"n_cells\":{},\"n_rows\":{},\
             \"n_columns\":{},\"file_len\":{},\"segments_len\":{},\"footer_len\":{},\"dead_len\":{},{keep}\"columns\":[{}]}}",
            self.format_version,
            self.edition,
            json_string(&self.program),
            self.generation,
            self.host.as_deref().map_or("null".to_owned(), json_string),
            self.encryption.map_or("null".to_owned(), json_string),
            self.value,
            self.n_tables,
            self.n_cells,
            self.n_rows,
            self.n_columns,
            self.file_len,
            self.segments_len,
            self.footer_len,
            self.dead_len,
            columns.join(",")
        )
    }
}

impl ColumnLayout {
    fn to_json(&self) -> String {
        let encodings: Vec<String> =
            self.encodings.iter().map(|(name, n)| format!("{}:{n}", json_string(name))).collect();
        format!(
            "{{\"name\":{},\"role\":\"{}\",\"type\":{},\"n_values\":{},\"n_missing\":{},\"n_blocks\":{},\"stored_len\":{},\
             \"decoded_len\":{},\"encodings\":{{{}}}}}",
            json_string(&self.name),
            self.role.name(),
            json_string(&self.type_name),
            self.n_values,
            self.n_missing,
            self.n_blocks,
            self.stored_len,
            self.decoded_len,
            encodings.join(",")
        )
    }
}

/// A string as a JSON string, with its quotes.
pub fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if u32::from(c) < 0x20 || c == '\u{7f}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
