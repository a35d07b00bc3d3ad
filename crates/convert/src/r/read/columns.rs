//! Columns as vectors of R with their attributes.

use std::ops::Range;

use bytemuck::allocation::try_zeroed_vec;
use entasis::{ColumnInfo, Error, Logical, Result, Rows, TextLayout, Value as Node};

use super::kinds::Form;
use super::make::{self, set};
use super::table::{Table, column_number, width_of};
use super::{Reading, damage};
use crate::r::kind::Kind;
use crate::r::times;
use crate::r::vectors::{Found, Want, read_vectors, scale};
use crate::r::{Attributes, Data, Strings, Value};

/// The variant of columns whose missing doubles are the quiet NA.
const VARIANT_QUIET: u8 = 2;

/// Seconds in the units of difftime.
const UNITS: [(&str, i32); 5] =
    [("secs", 1), ("mins", 60), ("hours", 3_600), ("days", 86_400), ("weeks", 604_800)];

/// The memory of a vector of `n` zeros.
fn zeros<T: bytemuck::Zeroable>(n: usize) -> Result<Vec<T>> {
    try_zeroed_vec(n).map_err(|()| Error::out_of_memory(n.saturating_mul(size_of::<T>()), "the columns"))
}

/// Columns of equal kinds that are read into one vector.
pub(super) struct Parts<'p> {
    pub columns: &'p [u64],
    pub kind: Kind,
    pub seconds: i32,
    pub rows: Range<u64>,
}

impl Reading<'_> {
    /// A vector of a table, with its attributes.
    pub(super) fn column_of(&self, table: &Table, i: usize) -> Result<Value> {
        let column = table.columns.get(i).ok_or_else(|| damage("a column that is not there"))?;
        let named = |error: Error| match &column.info {
            Some(info) if error.location().column.is_none() => error.in_column(&info.name),
            _ => error,
        };
        self.described(table, column.first, column.description.as_ref()).map_err(named)
    }

    /// All values of a column of the file that is not in the table.
    pub(super) fn extra(&self, table: &Table, number: u64, description: Option<&Node>) -> Result<Value> {
        self.described(table, number, description)
    }

    /// The vector that begins at a column of the file.
    fn described(&self, table: &Table, first: u64, description: Option<&Node>) -> Result<Value> {
        let of = |key: &str| description.and_then(|node| node.get(key)).filter(|node| !node.is_null());
        if let Some(parts) = description.and_then(|node| node.get("parts")) {
            return self.parts(table, first, parts, of("attributes"));
        }
        let attributes = of("attributes").map(|pairs| self.pairs(table, pairs)).transpose()?;
        let mut width = 1;
        if let Some(matrix) = of("matrix") {
            width = column_number(matrix)?;
            if width == 0 {
                let empty = empty(of("of").and_then(Node::as_str))?;
                return self.decorated(table, None, empty, attributes, of("s4"));
            }
        }
        if first.checked_add(width).is_none_or(|end| end > table.file.n_columns_total()) {
            return Err(damage("a matrix of columns that do not exist"));
        }
        let info = table.info(first)?;
        let rows = 0..info.record.n_values;
        if !table.is_own {
            return self.of_other_host(table, &info, rows, 1);
        }
        let Form::Vector(kind) = self.form(table, &info, false)? else {
            return Err(damage("a nested column of R"));
        };
        let columns: Vec<u64> = (first..first + width).collect();
        for &number in &columns[1..] {
            if self.form(table, &*table.info(number)?, false)? != Form::Vector(kind) {
                return Err(damage("a matrix whose columns differ in type"));
            }
        }
        if kind == Kind::List {
            return self.lists(table, &columns, attributes, of("s4"));
        }
        let seconds = if kind == Kind::Span { seconds_of(attributes.as_ref())? } else { 1 };
        let data = self.vector(table, &Parts { columns: &columns, kind, seconds, rows })?;
        self.decorated(table, Some((kind, &info)), data, attributes, of("s4"))
    }

    /// A column of lists, or of records, whose fields version 0.1.0 stored in one cell.
    fn lists(
        &self,
        table: &Table,
        columns: &[u64],
        attributes: Option<Vec<(String, Value)>>,
        s4: Option<&Node>,
    ) -> Result<Value> {
        let mut values = Vec::new();
        let class = attributes.iter().flatten().find(|(name, _)| name == "class");
        let is_record = class
            .and_then(|(_, class)| class.strings())
            .is_some_and(|classes| classes.iter().any(|class| class == Some("vctrs_rcrd")));
        for &number in columns {
            let info = table.info(number)?;
            values.append(&mut self.objects(&info, 0..info.record.n_values, is_record)?);
        }
        self.decorated(table, None, Data::List(values), attributes, s4)
    }

    /// A list of vectors: a data frame in a data frame, the parts of a `POSIXlt`, a record.
    fn parts(&self, table: &Table, first: u64, parts: &Node, pairs: Option<&Node>) -> Result<Value> {
        let mut at = first;
        let mut values = Vec::new();
        for part in parts.as_list().ok_or_else(|| damage("parts that are not a list"))? {
            let part = Some(part).filter(|part| !part.is_null());
            values.push(self.described(table, at, part)?);
            at = at.saturating_add(part.map_or(Ok(1), width_of)?);
        }
        let mut value = Value::from(Data::List(values));
        for (name, attribute) in pairs.map(|pairs| self.pairs(table, pairs)).transpose()?.unwrap_or_default()
        {
            set(&mut value, &name, attribute);
        }
        checked_frame(value, table.file.n_rows())
    }

    /// A vector with its attributes: those that are given, or those that its kind implies.
    fn decorated(
        &self,
        table: &Table,
        of: Option<(Kind, &ColumnInfo)>,
        data: Data,
        attributes: Option<Vec<(String, Value)>>,
        s4: Option<&Node>,
    ) -> Result<Value> {
        let levels = || {
            let info = of.map(|(_, info)| info);
            let dictionary = info.and_then(|info| info.record.dictionary);
            self.extra(table, dictionary.ok_or_else(|| damage("a factor without levels"))?, None)
        };
        let mut value = Value { data, attributes: None, is_s4: s4 == Some(&Node::Bool(true)) };
        match attributes {
            Some(all) => {
                for (name, attribute) in all {
                    let lacks = name == "levels" && attribute.data == Data::Null;
                    set(&mut value, &name, if lacks { levels()? } else { attribute });
                }
            }
            None => {
                if let Some((kind, info)) = of {
                    let is_nanotime =
                        kind == Kind::Integer64 && info.record.column_type.logical == Logical::Timestamp;
                    if kind == Kind::Codes {
                        let levels = levels()?;
                        if levels.strings().is_none() {
                            return Err(damage("levels that are not strings"));
                        }
                        set(&mut value, "levels", levels);
                    }
                    let zone = info.detail.as_ref().and_then(Node::as_str).unwrap_or_default();
                    if !is_nanotime {
                        implied(&mut value, kind, info.record.column_type.ordered, zone);
                    }
                }
            }
        }
        let is_list = matches!(value.data, Data::List(_));
        if !is_list && (value.inherits("data.frame") || value.inherits("POSIXlt")) {
            return Err(damage("a vector whose class requires a list"));
        }
        Ok(value)
    }

    /// Attributes from pairs. NULL stands for one that the column records.
    pub(super) fn pairs(&self, table: &Table, pairs: &Node) -> Result<Vec<(String, Value)>> {
        let pairs = pairs.as_list().ok_or_else(|| damage("attributes that are not a list"))?;
        let pair = |pair: &Node| {
            let [name, value] = pair.as_list().unwrap_or_default() else {
                return Err(damage("an attribute that is not a pair"));
            };
            let name = name.as_str().filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| damage("an attribute has no name"))?;
            let value = if value.is_null() { Value::default() } else { self.decode(table, value)? };
            Ok((name.to_owned(), value))
        };
        pairs.iter().map(pair).collect()
    }

    /// All attributes of a data frame of R.
    pub(super) fn own_attributes(&self, table: &Table, n_rows: i32) -> Result<Attributes> {
        let host = &table.host;
        let mut all = match host.get("attributes").filter(|node| !node.is_null()) {
            Some(pairs) => self.pairs(table, pairs)?,
            None => ["names", "class", "row.names"]
                .map(|name| (name.to_owned(), Value::default()))
                .into_iter()
                .collect(),
        };
        if host.get("attributes").is_none() {
            all[1].1 = make::text("data.frame");
        }
        for (name, value) in &mut all {
            if name == "names" {
                *value = match host.get("names") {
                    Some(node) => self.decode(table, node)?,
                    None => make::texts(table.names()),
                };
            } else if name == "row.names" {
                *value = self.own_row_names(table, n_rows)?;
            }
        }
        let mut value = Value::from(Data::List(Vec::new()));
        for (name, attribute) in all {
            set(&mut value, &name, attribute);
        }
        let names = value.attribute("names");
        let n = u64::try_from(n_rows).unwrap_or(0);
        if names.is_some_and(|names| names.strings().is_none() || names.len() != table.columns.len()) {
            return Err(damage("a data frame with the wrong number of names"));
        }
        if value.inherits("data.frame") && make::n_rows(&value).unwrap_or(0) != n {
            return Err(damage("a data frame with the wrong number of rows"));
        }
        Ok(value.attributes)
    }

    fn own_row_names(&self, table: &Table, n_rows: i32) -> Result<Value> {
        let Some(index) = table.host.get("index").filter(|node| !node.is_null()) else {
            let are_numbers = table.host.get("row_names").and_then(Node::as_str) == Some("numbers");
            return Ok(make::compact_rows(if are_numbers { n_rows } else { -n_rows }));
        };
        let number = index.get("column").and_then(Node::as_column);
        let number = number.ok_or_else(|| damage("an index without a column"))?;
        let mut labels = self.extra(table, number, None)?;
        let description = table.host.get("row_names").filter(|node| node.as_map().is_some());
        if let Some(pairs) = description.and_then(|node| node.get("attributes")) {
            for (name, attribute) in self.pairs(table, pairs)? {
                set(&mut labels, &name, attribute);
            }
        }
        Ok(make::row_names(labels))
    }

    /// The values of columns of one kind, one after the other.
    pub(super) fn vector(&self, table: &Table, parts: &Parts<'_>) -> Result<Data> {
        let (kind, rows) = (parts.kind, &parts.rows);
        let n = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
        let total = n.saturating_mul(parts.columns.len());
        table.file.check_decoded_len((total as u64).saturating_mul(kind.width().unwrap_or(0) as u64))?;
        Ok(match kind {
            Kind::Logical => Data::Logical(self.words(table, parts, n)?),
            Kind::Integer
            | Kind::Codes
            | Kind::Words
            | Kind::DaysInteger
            | Kind::InstantInteger
            | Kind::SpanInteger => Data::Integer(self.words(table, parts, n)?),
            Kind::Double | Kind::Integer64 | Kind::Days | Kind::Instant | Kind::Span | Kind::Whole => {
                Data::Double(self.words(table, parts, n)?)
            }
            Kind::Complex => Data::Complex(self.words(table, parts, n)?),
            Kind::Raw => Data::Raw(self.words(table, parts, n)?),
            Kind::String => {
                let mut all = Strings::default();
                for (i, found) in self.found(table, parts, n)?.into_iter().enumerate() {
                    let strings =
                        found.strings.map_or_else(|| Ok(Strings::default()), |it| it.into_strings())?;
                    let strings = self.encoded(table, parts.columns[i], strings)?;
                    if i == 0 { all = strings } else { all.extend(&strings) }
                }
                Data::Strings(Box::new(all))
            }
            Kind::Bytes => {
                let raw = |bytes: Option<&[u8]>| bytes.map_or(Data::Null, |bytes| Data::Raw(bytes.to_vec()));
                let mut all = Vec::new();
                for found in self.found(table, parts, n)? {
                    all.extend(found.strings.iter().flat_map(|it| it.iter()).map(|bytes| raw(bytes).into()));
                }
                Data::List(all)
            }
            Kind::List => return Err(Error::argument("a column of lists is not a vector")),
        })
    }

    /// Strings with the encodings that they have in R.
    fn encoded(&self, table: &Table, column: u64, strings: Strings) -> Result<Strings> {
        let Some(&by) = table.encodings.get(&column) else { return Ok(strings) };
        let info = table.info(by)?;
        let (rows, columns) = (0..info.record.n_values, [by]);
        let codes = Parts { columns: &columns, kind: Kind::Raw, seconds: 1, rows };
        match self.vector(table, &codes)? {
            Data::Raw(codes) => strings.with_codes(&codes),
            _ => Ok(strings),
        }
    }

    /// The values of columns of strings or bytes.
    fn found(&self, table: &Table, parts: &Parts<'_>, n: usize) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        for &column in parts.columns {
            found.append(&mut self.read(table, parts, vec![(column, &mut [])], n)?);
        }
        Ok(found)
    }

    /// The values of columns with a width.
    fn words<T: bytemuck::Pod>(&self, table: &Table, parts: &Parts<'_>, n: usize) -> Result<Vec<T>> {
        let mut values: Vec<T> = zeros(n * parts.columns.len())?;
        if n > 0 {
            let memory = values.chunks_exact_mut(n).map(bytemuck::cast_slice_mut);
            self.read(table, parts, parts.columns.iter().copied().zip(memory).collect(), n)?;
        }
        Ok(values)
    }

    fn read(
        &self,
        table: &Table,
        parts: &Parts<'_>,
        memory: Vec<(u64, &mut [u8])>,
        n: usize,
    ) -> Result<Vec<Found>> {
        let mut wants = Vec::with_capacity(memory.len());
        let mut names = Vec::with_capacity(memory.len());
        for (column, memory) in memory {
            let info = table.info(column)?;
            let is_quiet = table.is_own && info.record.column_type.host_variant & VARIANT_QUIET != 0;
            names.push(info.name.clone());
            wants.push(Want {
                column,
                kind: parts.kind,
                memory,
                n,
                seconds: parts.seconds,
                is_quiet,
                is_foreign: !table.is_own,
                layout: TextLayout::Large,
            });
        }
        let found = read_vectors(
            &table.file,
            wants,
            |_| Rows::Range(parts.rows.clone()),
            self.threads,
            self.monitor,
        )?;
        for (name, found) in names.iter().zip(&found) {
            if let Some((row, value)) = found.rounded {
                let reason =
                    format!("integers beyond 2^53 become doubles, the first is {value} in row {}", row + 1);
                self.lose(name, reason);
            }
        }
        Ok(found)
    }

    /// A column of another host as a value of R, in some rows.
    pub(super) fn of_other_host(
        &self,
        table: &Table,
        info: &ColumnInfo,
        rows: Range<u64>,
        depth: usize,
    ) -> Result<Value> {
        let of = &info.record.column_type;
        let kind = match self.form(table, info, false)? {
            Form::Nested => return self.nested(table, info, rows, depth),
            Form::Vector(Kind::List) => return self.object_column(info, rows),
            Form::Vector(kind) => kind,
        };
        let columns = [info.index];
        let mut value =
            Value::from(self.vector(table, &Parts { columns: &columns, kind, seconds: 1, rows })?);
        match kind {
            Kind::Codes => return self.factor(table, info, value),
            Kind::Instant => {
                let zone = info.detail.as_ref().and_then(Node::as_str).unwrap_or_default();
                let shown = self.zone_shown(zone, &info.name);
                implied(&mut value, kind, false, &shown);
            }
            Kind::Span if of.logical == Logical::Time => {
                set(&mut value, "class", make::texts(["hms", "difftime"]));
                set(&mut value, "units", make::text("secs"));
            }
            kind => implied(&mut value, kind, of.ordered, ""),
        }
        if matches!(kind, Kind::Instant | Kind::Span) {
            self.note_rounded_times(table, info, kind)?;
        }
        Ok(value)
    }

    /// Records that times are between the doubles of R.
    fn note_rounded_times(&self, table: &Table, info: &ColumnInfo, kind: Kind) -> Result<()> {
        let of = &info.record.column_type;
        if times::are_exact(of.unit, scale(kind, 1)) {
            return Ok(());
        }
        let columns = [info.index];
        let rows = 0..info.record.n_values;
        let counts =
            self.vector(table, &Parts { columns: &columns, kind: Kind::Integer64, seconds: 1, rows });
        let Ok(Data::Double(counts)) = counts else { return Ok(()) };
        if times::first_rounded(bytemuck::cast_slice(&counts), of.unit, scale(kind, 1)).is_some() {
            self.lose(&info.name, format!("times in {} are rounded to doubles", of.unit.name()));
        }
        Ok(())
    }

    /// An integer64 whose values are all integers of R as these.
    pub(super) fn fitting(value: Value) -> Value {
        let Data::Double(doubles) = &value.data else { return value };
        if !value.inherits("integer64") {
            return value;
        }
        match crate::r::integers::narrowed(bytemuck::cast_slice(doubles)) {
            Some(integers) => Data::Integer(integers).into(),
            None => value,
        }
    }
}

/// Sets the attributes that a kind implies, in R's order; not the levels.
pub(super) fn implied(value: &mut Value, kind: Kind, is_ordered: bool, zone: &str) {
    match kind {
        Kind::Codes if is_ordered => set(value, "class", make::texts(["ordered", "factor"])),
        Kind::Codes => set(value, "class", make::text("factor")),
        Kind::Days | Kind::DaysInteger => set(value, "class", make::text("Date")),
        Kind::Instant | Kind::InstantInteger => {
            set(value, "class", make::texts(["POSIXct", "POSIXt"]));
            set(value, "tzone", make::text(zone));
        }
        Kind::Span | Kind::SpanInteger => {
            set(value, "class", make::text("difftime"));
            set(value, "units", make::text("secs"));
        }
        Kind::Integer64 => set(value, "class", make::text("integer64")),
        _ => (),
    }
}

/// The seconds in the unit of a difftime; 1 for other classes.
fn seconds_of(attributes: Option<&Vec<(String, Value)>>) -> Result<i32> {
    let units = attributes.and_then(|all| all.iter().find(|(name, _)| name == "units"));
    let Some(units) = units.and_then(|(_, units)| units.strings()) else { return Ok(1) };
    let known = units.get(0).filter(|_| units.len() == 1);
    let found = known.and_then(|unit| UNITS.iter().find(|(name, _)| *name == unit));
    found.map(|(_, seconds)| *seconds).ok_or_else(|| damage("a difftime of an unknown unit"))
}

/// A vector without values of a type of R.
fn empty(of: Option<&str>) -> Result<Data> {
    Ok(match of {
        Some("logical") => Data::Logical(Vec::new()),
        Some("integer") => Data::Integer(Vec::new()),
        Some("double") => Data::Double(Vec::new()),
        Some("complex") => Data::Complex(Vec::new()),
        Some("raw") => Data::Raw(Vec::new()),
        Some("character") => Data::Strings(Box::default()),
        Some("list") => Data::List(Vec::new()),
        _ => return Err(damage("a matrix of an unknown type")),
    })
}

/// A value, if it is a data frame of `n` rows or none.
pub(super) fn checked_frame(value: Value, n: u64) -> Result<Value> {
    if value.inherits("data.frame") {
        if !matches!(value.data, Data::List(_)) || make::n_rows(&value).unwrap_or(0) != n {
            return Err(damage("a data frame with the wrong number of rows"));
        }
        if value.attribute("names").is_some_and(|names| names.len() != value.len()) {
            return Err(damage("a data frame with the wrong number of names"));
        }
    }
    Ok(value)
}
