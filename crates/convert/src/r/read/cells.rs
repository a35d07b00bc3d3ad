//! Trees of values in cells (`docs/format/values.md`).

use std::ops::Range;
use std::sync::Arc;

use entasis::cells::{Cell, Children, Loaded};
use entasis::{CellKind, ColumnInfo, Error, Result, Value as Node};

use super::make::{self, is_missing};
use super::{Reading, damage};
use crate::path::{Step, text_of};
use crate::r::digits::as_character;
use crate::r::{Data, Value};

/// The greatest depth of values. References make it exceed the depth of cells.
const DEEPEST: usize = 1000;

/// The memory of a value that a cell becomes, at least.
const CELL_LEN: u64 = 48;

/// Makes values of cells that are in memory.
pub(super) struct Maker<'m, 'a> {
    pub reading: &'m Reading<'a>,
    loaded: Loaded,
    /// Whether R wrote the cells.
    pub is_own: bool,
    /// The steps to the value that is being made.
    path: Vec<Step>,
    /// The number of values around it, without those of the path.
    depth: usize,
}

impl Reading<'_> {
    /// The value of a cell.
    pub(super) fn cell(&self, cell: u64) -> Result<Value> {
        let end = cell.checked_add(1).ok_or_else(|| damage("a reference to a cell that does not exist"))?;
        let mut maker = self.maker(cell..end)?;
        maker.cell(cell)
    }

    fn maker(&self, cells: Range<u64>) -> Result<Maker<'_, '_>> {
        let found = self.whole.cells()?.ok_or_else(|| damage("the file refers to cells and has none"))?;
        let mut loaded = Loaded::new(Arc::new(found), self.threads);
        loaded.close(vec![cells], self.monitor)?;
        let is_own = self.file.value().get("host").and_then(Node::as_str) == Some("r");
        Ok(Maker { reading: self, loaded, is_own, path: Vec::new(), depth: 0 })
    }

    /// The values of a column of objects. `is_record`: the cell is a list of the fields of a
    /// record.
    pub(super) fn objects(&self, info: &ColumnInfo, rows: Range<u64>, is_record: bool) -> Result<Vec<Value>> {
        let cell = info.detail.as_ref().and_then(Node::as_cell);
        let cell = cell.ok_or_else(|| damage("a list without its values"))?;
        let cells = self.whole.cells()?.ok_or_else(|| damage("the file refers to cells and has none"))?;
        let end = cell.checked_add(1).ok_or_else(|| damage("a list without its values"))?;
        let slice = cells.load(cell..end, Some(1), self.monitor)?;
        let Cell::Parent(CellKind::List, of) = slice.cell(cell)? else {
            return Err(damage("a list without its values"));
        };
        if !is_record && (of.count != info.record.n_values || rows.end > of.count) {
            return Err(damage("a column of lists has the wrong number of values"));
        }
        let rows = if is_record { 0..of.count } else { rows };
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let range = of.first.saturating_add(rows.start)..of.first.saturating_add(rows.end);
        let mut maker = self.maker(range.clone())?;
        maker.path.push(Step::Name(info.name.clone()));
        range.enumerate().map(|(i, number)| maker.at(Step::Index(i), number)).collect()
    }

    /// A column of objects of another host. Only dates, or only times of day, become a vector.
    pub(super) fn object_column(&self, info: &ColumnInfo, rows: Range<u64>) -> Result<Value> {
        let values = self.objects(info, rows, false)?;
        let is_absent =
            |value: &&Value| value.data == Data::Null || (value.len() == 1 && is_missing(&value.data, 0));
        let present = || values.iter().filter(|value| !is_absent(value));
        let class = ["Date", "hms"].into_iter().find(|class| present().all(|value| value.inherits(class)));
        let Some(class) = class.filter(|_| present().next().is_some()) else {
            return Ok(Data::List(values).into());
        };
        let number = |value: &Value| match &value.data {
            Data::Double(numbers) if value.inherits(class) => numbers.first().copied(),
            Data::Integer(numbers) if value.inherits(class) => numbers.first().map(|&n| f64::from(n)),
            _ => None,
        };
        let na = f64::from_bits(crate::r::missing::NA_REAL);
        let numbers: Vec<f64> = values.iter().map(|value| number(value).unwrap_or(na)).collect();
        Ok(match class {
            "Date" => Value::from(Data::Double(numbers)).with("class", make::text("Date")),
            _ => make::time_of_day(numbers),
        })
    }
}

impl Maker<'_, '_> {
    /// The error of a value that plain data of R can't be.
    #[cold]
    pub(super) fn refused(&self, what: &str) -> Error {
        let at =
            if self.path.is_empty() { String::new() } else { format!(" at {}", text_of("x", &self.path)) };
        Error::unsupported(format!("{what}{at} has no counterpart in plain data of R"))
            .advise("open the file and write its other parts")
    }

    /// The same for code, which R keeps.
    #[cold]
    pub(super) fn refused_code(&self, what: &str) -> Error {
        self.refused(what)
            .advise("saveRDS(entasis::read_entasis(path, functions = TRUE), \"x.rds\") in R writes it")
    }

    /// The value of a part.
    pub(super) fn at(&mut self, step: Step, number: u64) -> Result<Value> {
        self.path.push(step);
        let value = self.cell(number);
        // An error has the path already.
        self.path.pop();
        value
    }

    /// The value of a cell.
    pub(super) fn cell(&mut self, number: u64) -> Result<Value> {
        if self.depth >= DEEPEST {
            return Err(Error::limit("values are nested more than 1,000 deep"));
        }
        let n = self.reading.n_made.get() + 1;
        self.reading.n_made.set(n);
        if n & 0xffff == 0 {
            self.reading.check()?;
            self.reading.whole.check_decoded_len(n.saturating_mul(CELL_LEN))?;
        }
        self.depth += 1;
        let value = self.made(number);
        self.depth -= 1;
        value
    }

    fn made(&mut self, number: u64) -> Result<Value> {
        let mut number = number;
        if let Cell::Int(CellKind::Reference, target) = self.loaded.cell(number)? {
            let target = u64::try_from(target).ok().filter(|&target| target < number);
            number = target.ok_or_else(|| damage("an invalid reference"))?;
            if matches!(self.loaded.cell(number)?, Cell::Int(CellKind::Reference, _)) {
                return Err(damage("an invalid reference"));
            }
        }
        match self.loaded.cell(number)? {
            Cell::Unit(kind) => self.unit(kind),
            Cell::Int(CellKind::Table, table) => {
                let table = u64::try_from(table).map_err(|_| damage("a table that does not exist"))?;
                self.reading.table(table)
            }
            Cell::Int(kind, n) => self.int(kind, n),
            Cell::Float(_, number) => Ok(make::double(number)),
            Cell::Str(CellKind::Decimal, _) => Err(self.refused("a Decimal")),
            Cell::Str(_, text) => {
                if text.contains('\0') {
                    return Err(self.refused("a string with a zero character"));
                }
                Ok(make::text(text))
            }
            Cell::Bytes(kind, bytes) => match kind {
                CellKind::BigInt => Err(self.refused("an integer beyond 64 bits")),
                CellKind::Surrogates => Err(self.refused("a string with lone surrogates")),
                CellKind::Uuid => Ok(make::text(&uuid(bytes))),
                _ => Ok(Data::Raw(bytes.to_vec()).into()),
            },
            Cell::Array { kind, pool, at, len, shape } => {
                let dim = if shape == 0 { None } else { Some(self.shape(shape, len)?) };
                self.array(kind, pool, at..at.saturating_add(len), dim)
            }
            Cell::Parent(kind, children) => self.parent(number, kind, &children),
        }
    }

    /// The column of a pool, among all columns of the file.
    pub(super) fn pool_column(&self, pool: u64) -> Result<u64> {
        self.loaded.cells().pool(pool)
    }

    fn shape(&self, number: u64, n: u64) -> Result<Vec<u64>> {
        let (shape, product) = entasis::cells::shape(number, &|number| self.loaded.cell(number))?;
        if product == Some(n) {
            Ok(shape)
        } else {
            Err(damage("the shape of an array does not match its values"))
        }
    }

    fn parent(&mut self, number: u64, kind: CellKind, children: &Children) -> Result<Value> {
        let numbers = children.first..children.first.saturating_add(children.count);
        if children.count > 0 {
            let slice = self.loaded.slice(&(children.first..children.end.max(children.first)));
            let slice = slice.ok_or_else(|| damage("a cell has children that do not exist"))?;
            slice.check_children(number, kind, children)?;
        } else if kind.n_children().is_some() || kind == CellKind::Object {
            return Err(damage("a cell has the wrong number of children for its kind"));
        }
        match kind {
            CellKind::List | CellKind::Tuple | CellKind::Set | CellKind::FrozenSet => {
                Ok(Data::List(self.items(numbers, None)?).into())
            }
            CellKind::Map => {
                let keys = self.keys(kind, children)?;
                let items = self.items(numbers, Some(&keys))?;
                Ok(make::named_list(items, make::texts(keys.iter().map(String::as_str))))
            }
            CellKind::Records | CellKind::Rows => {
                let names = if kind == CellKind::Records { Some(self.keys(kind, children)?) } else { None };
                let columns = self.items(numbers, None)?;
                rows_of(columns, names.as_deref())
            }
            CellKind::ObjectArray => Ok(Data::List(self.items(numbers, None)?).into()),
            CellKind::Object => self.object(numbers),
            kind => self.other_parent(kind, numbers),
        }
    }

    /// The values of neighbouring cells.
    pub(super) fn items(&mut self, numbers: Range<u64>, names: Option<&[String]>) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for (i, number) in numbers.enumerate() {
            let step = match names.and_then(|names| names.get(i)) {
                Some(name) if !name.is_empty() => Step::Name(name.clone()),
                _ => Step::Index(i),
            };
            values.push(self.at(step, number)?);
        }
        Ok(values)
    }

    /// A child that must be text.
    pub(super) fn name(&mut self, number: u64) -> Result<String> {
        let value = self.cell(number)?;
        let strings = value.strings().filter(|strings| strings.len() == 1);
        let name = strings.and_then(|strings| strings.get(0));
        name.map(str::to_owned).ok_or_else(|| damage("a name that is not a string"))
    }

    fn keys(&mut self, kind: CellKind, children: &Children) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        let has_own = children.has_own_keys(kind);
        for number in children.keys..children.keys.saturating_add(children.count) {
            if let Cell::Str(CellKind::Str, text) = self.loaded.cell(number)?
                && !text.contains('\0')
            {
                keys.push(text.to_owned());
                continue;
            }
            if !has_own || kind == CellKind::Records {
                return Err(damage("maps share keys that are not strings"));
            }
            let key = self.cell(number)?;
            let text = text_of_key(&key);
            keys.push(
                text.ok_or_else(|| self.refused("a dict with a key that is neither a string nor a number"))?,
            );
        }
        Ok(keys)
    }
}

/// The text of a key that is not a string. Integers keep all digits.
fn text_of_key(key: &Value) -> Option<String> {
    if key.len() != 1 {
        return None;
    }
    match &key.data {
        Data::Strings(strings) => Some(strings.get(0).unwrap_or("NA").to_owned()),
        Data::Logical(values) => Some(match values[0] {
            i32::MIN => "NA".to_owned(),
            0 => "FALSE".to_owned(),
            _ => "TRUE".to_owned(),
        }),
        Data::Integer(values) => Some(values[0].to_string()),
        Data::Double(values) if key.inherits("integer64") => {
            Some(values[0].to_bits().cast_signed().to_string())
        }
        Data::Double(values) => {
            let number = values[0];
            let is_long = number.fract() == 0.0 && (2f64.powi(31)..=2f64.powi(63)).contains(&number.abs());
            if is_long { Some(format!("{number:.0}")) } else { as_character(number, 0) }
        }
        _ => None,
    }
}

/// A list of rows, from lists of values by key or position.
fn rows_of(columns: Vec<Value>, names: Option<&[String]>) -> Result<Value> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for (j, column) in columns.into_iter().enumerate() {
        let Data::List(values) = column.data else { return Err(damage("rows that are not lists")) };
        if j == 0 {
            rows.resize_with(values.len(), Vec::new);
        } else if values.len() != rows.len() {
            return Err(damage("rows of different lengths"));
        }
        rows.iter_mut().zip(values).for_each(|(row, value)| row.push(value));
    }
    let row = |row: Vec<Value>| match names {
        Some(names) => make::named_list(row, make::texts(names.iter().map(String::as_str))),
        None => Data::List(row).into(),
    };
    Ok(Data::List(rows.into_iter().map(row).collect()).into())
}

/// A UUID as text.
fn uuid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
