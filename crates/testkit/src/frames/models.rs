//! Models of tables and columns, independent of memory and file.

use entasis::{ColumnType, Logical, Missing, Physical, Unit, Value, type_name};

use crate::naive::Cell;

/// A table, and the columns of its host map.
#[derive(Clone, Debug)]
pub struct Table {
    /// The name in messages of tests.
    pub name: String,
    /// Rows.
    pub n_rows: usize,
    /// The columns.
    pub columns: Vec<Model>,
    /// Labels and dictionaries.
    pub extra: Vec<Model>,
    /// The host map.
    pub host: Value,
    /// Whether to write neighbours of equal type as column runs if possible.
    pub in_runs: bool,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Model {
    /// The name.
    pub name: String,
    /// The type.
    pub of: ColumnType,
    /// The parameters of the type, for example the time zone.
    pub detail: Option<Value>,
    /// The host's own description.
    pub host_detail: Option<Value>,
    /// The number of its dictionary among the extra columns.
    pub dictionary: Option<usize>,
    /// The types of the children of a nested column; they have no cells.
    pub children: Vec<Model>,
    /// The values; none for missing ones.
    pub cells: Vec<Option<Cell>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(name: impl Into<String>, columns: Vec<Model>) -> Self {
        let n_rows = columns.first().map_or(0, |column| column.cells.len());
        let host = Value::map([("host", Value::Str("testkit".into()))]);
        Self { name: name.into(), n_rows, columns, extra: Vec::new(), host, in_runs: false }
    }
}

impl Model {
    /// A column of cells.
    pub fn new(name: impl Into<String>, physical: Physical, cells: Vec<Option<Cell>>) -> Self {
        let of = ColumnType { missing: Missing::Null, ..ColumnType::plain(physical) };
        let (name, dictionary, children) = (name.into(), None, Vec::new());
        Self { name, of, detail: None, host_detail: None, dictionary, children, cells }
    }

    /// A nested column.
    pub fn nested(
        name: impl Into<String>,
        physical: Physical,
        children: Vec<Model>,
        cells: Vec<Option<Cell>>,
    ) -> Self {
        Self { children, ..Self::new(name, physical, cells) }
    }

    /// Sets value_len: the values of a fixed-size list, or 1 for a sparse union.
    #[must_use]
    pub fn of_len(mut self, len: u32) -> Self {
        self.of.value_len = len;
        self
    }

    /// A column of words.
    pub fn words<T: bytemuck::Pod>(name: impl Into<String>, physical: Physical, values: &[T]) -> Self {
        let cells = values.iter().map(|value| Some(bytemuck::bytes_of(value).to_vec())).collect();
        Self::new(name, physical, cells)
    }

    /// A column of fixed bytes, `len` each.
    pub fn fixed(name: impl Into<String>, len: u32, cells: Vec<Option<Cell>>) -> Self {
        let column = Self::new(name, Physical::FixedBytes, cells);
        Self { of: ColumnType { missing: column.of.missing, ..ColumnType::fixed(len) }, ..column }
    }

    /// A column of strings.
    pub fn text<S: AsRef<str>>(name: impl Into<String>, values: &[S]) -> Self {
        let cells = values.iter().map(|value| Some(value.as_ref().as_bytes().to_vec())).collect();
        Self::new(name, Physical::Utf8, cells)
    }

    /// A column of booleans.
    pub fn bools(name: impl Into<String>, values: &[bool]) -> Self {
        let cells = values.iter().map(|&value| Some(vec![u8::from(value)])).collect();
        Self::new(name, Physical::Bool, cells)
    }

    /// The column with the values missing for which `valid` returns false.
    #[must_use]
    pub fn with_missing(mut self, valid: impl Fn(usize) -> bool) -> Self {
        for (i, cell) in self.cells.iter_mut().enumerate() {
            if !valid(i) {
                *cell = None;
            }
        }
        self
    }

    /// The column with a logical type.
    #[must_use]
    pub fn logical(mut self, logical: Logical, unit: Unit) -> Self {
        self.of.logical = logical;
        self.of.unit = unit;
        self
    }

    /// A column of decimals. Values beyond the physical type are cut to its bytes.
    ///
    /// # Panics
    /// When the precision is beyond 76 digits.
    pub fn decimals(name: impl Into<String>, precision: u8, scale: i8, values: &[i128]) -> Self {
        let of = ColumnType::decimal(precision, scale).expect("decimals of so many digits");
        let width = of.physical.width().unwrap_or(1);
        let cell = |value: &i128| {
            let mut bytes = value.to_le_bytes().to_vec();
            bytes.resize(width, if *value < 0 && width > 16 { 0xFF } else { 0 });
            Some(bytes)
        };
        let cells = values.iter().map(cell).collect();
        let mut column = Self::new(name, of.physical, cells);
        column.of = ColumnType { missing: column.of.missing, ..of };
        column
    }

    /// The column as codes of the categories in an extra column.
    #[must_use]
    pub fn codes_of(mut self, dictionary: usize, ordered: bool) -> Self {
        self.of.logical = Logical::Categorical;
        self.of.ordered = ordered;
        self.dictionary = Some(dictionary);
        self
    }

    /// Sets the host detail.
    #[must_use]
    pub fn with_host_detail(mut self, detail: Value) -> Self {
        self.host_detail = Some(detail);
        self
    }

    /// The name of the type, as the core gives it.
    pub fn type_name(&self) -> String {
        if !self.of.physical.is_nested() {
            return type_name(&self.of, self.detail.as_ref());
        }
        let of = |model: &Self, is_named: bool| match is_named {
            true => format!("{}: {}", model.name, model.type_name()),
            false => model.type_name(),
        };
        let (parts, is_named) = match self.of.physical {
            Physical::Map => (&self.children[0].children, true),
            Physical::Struct | Physical::Union => (&self.children, true),
            _ => (&self.children, false),
        };
        let mut inside: Vec<String> = parts.iter().map(|child| of(child, is_named)).collect();
        if self.of.physical == Physical::FixedSizeList {
            inside.push(self.of.value_len.to_string());
        }
        if self.of.physical == Physical::Map && self.of.ordered {
            inside.push("sorted".into());
        }
        let name = format!("{}[{}]", self.of.physical.name(), inside.join(", "));
        match self.detail.as_ref().and_then(|detail| detail.get("name")).and_then(Value::as_str) {
            Some(extension) => format!("extension[{extension}, {name}]"),
            None => name,
        }
    }

    /// The number of missing values.
    pub fn n_missing(&self) -> u64 {
        // The missing values of a run-end column are in its child.
        if self.of.physical == Physical::RunEnd {
            return 0;
        }
        self.cells.iter().filter(|cell| cell.is_none()).count() as u64
    }
}

/// Reproducible noise.
pub fn noise(n: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    (0..n).map(|_| next()).collect()
}
