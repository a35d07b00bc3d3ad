//! Files of trees: cells of every kind, several tables, arrays, references.

use entasis::cells::CellWriter;
use entasis::{
    Array, CellKind, Chunk, Column, ColumnType, Document, HostRead, HostValidity, HostValues, Logical,
    MemorySink, Physical, Result, Silent, Value, WriteOptions,
};

use super::host::Memory;
use super::{Model, Table};

/// A file of trees.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The name.
    pub name: &'static str,
    /// Its content: a line per cell, in the form of [`describe`].
    pub cells: Vec<String>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Tree {
    /// The file's name.
    pub fn file_name(&self) -> String {
        format!("{}.entasis", self.name)
    }
}

/// A line of text for a cell: its kind and its fields.
pub fn describe(kind: u8, value: &str) -> String {
    format!("{kind} {value}")
}

/// A cell of a model.
#[derive(Clone, Copy, Debug)]
pub enum Cell {
    /// A kind without a value.
    Unit(CellKind),
    /// An integer.
    Int(CellKind, i64),
    /// A float.
    Float(CellKind, f64),
    /// Text.
    Text(CellKind, &'static str),
    /// Bytes.
    Bytes(CellKind, &'static [u8]),
    /// A parent, with the numbers of its children: first, end, count, keys.
    Parent(CellKind, [u64; 4]),
    /// An array: pool, first value, number of values, shape.
    Array(CellKind, [u64; 4]),
    /// Not a cell: puts the given number of preceding cells, all keys, into the key index.
    IndexKeys(usize),
}

impl Cell {
    fn describe(&self) -> String {
        match *self {
            Self::Unit(kind) => describe(kind.code(), ""),
            Self::IndexKeys(_) => String::new(),
            Self::Int(kind, value) => describe(kind.code(), &value.to_string()),
            Self::Float(kind, value) => describe(kind.code(), &format!("{:#x}", value.to_bits())),
            Self::Text(kind, value) => describe(kind.code(), &format!("{:?}", value.as_bytes())),
            Self::Bytes(kind, value) => describe(kind.code(), &format!("{value:?}")),
            Self::Parent(kind, numbers) | Self::Array(kind, numbers) => {
                describe(kind.code(), &format!("{numbers:?}"))
            }
        }
    }
}

/// The model gives the ends of parents, which may be wrong.
fn writer(cells: &[Cell]) -> CellWriter {
    let mut writer = CellWriter::new();
    for cell in cells {
        match *cell {
            Cell::Unit(kind) => writer.unit(kind),
            Cell::Int(kind, value) => writer.int(kind, value),
            Cell::Float(kind, value) => writer.float(kind, value),
            Cell::Text(kind, value) => writer.text(kind, value),
            Cell::Bytes(kind, value) => writer.bytes(kind, value),
            Cell::Parent(kind, [first, end, count, keys]) => {
                let parent = writer.parent(kind);
                writer.set_children(parent, first, count, keys);
                writer.set_end(parent, end);
            }
            Cell::IndexKeys(n) => writer.index_keys(n),
            Cell::Array(kind, [pool, at, len, shape]) => {
                let array = writer.array(kind, pool, at, len);
                writer.set_shape(array, shape);
            }
        }
    }
    writer
}

/// Every kind of cell: first those without parts.
fn kinds() -> Vec<Cell> {
    use {Cell as C, CellKind as K};
    let mut scalars: Vec<Cell> = Vec::new();
    for &kind in K::ALL {
        match kind.code() {
            0..16 => scalars.push(C::Unit(kind)),
            29 | 30 => {}
            16..32 => scalars.push(C::Int(kind, i64::from(kind.code()) - 10)),
            32..40 => scalars.push(C::Float(kind, -0.5)),
            40..48 => scalars.push(C::Text(kind, "1.5")),
            48..64 => scalars.push(C::Bytes(kind, b"0123456789abcdef")),
            _ => {}
        }
    }
    let n = scalars.len() as u64;
    let mut cells = vec![C::Parent(K::List, [1, 1 + n, n, 0])];
    cells.extend(scalars);
    cells
}

/// Lists in maps in lists, shared keys, references, arrays and their shapes, tables.
fn nested() -> Vec<Cell> {
    use {Cell as C, CellKind as K};
    vec![
        C::Parent(K::Map, [1, 40, 9, 10]),
        // The values.
        C::Parent(K::List, [19, 28, 3, 0]),
        C::Parent(K::Tuple, [0, 0, 0, 0]),
        C::Parent(K::Set, [28, 30, 2, 0]),
        C::Int(K::Reference, 1),
        C::Array(K::Array, [0, 0, 3, 0]),
        C::Array(K::FortranArray, [0, 3, 4, 40]),
        C::Int(K::Table, 0),
        C::Parent(K::ObjectArray, [30, 32, 2, 43]),
        C::Parent(K::Object, [32, 40, 4, 0]),
        // The keys.
        C::Text(K::Str, "list"),
        C::Text(K::Str, "tuple"),
        C::Int(K::Int, 7),
        C::Unit(K::Null),
        C::Text(K::Str, ""),
        C::Text(K::Str, "b"),
        C::Text(K::Str, "c"),
        C::Text(K::Str, "d"),
        C::Text(K::Str, "e"),
        // Two maps with the same keys. The second one has only values of its own.
        C::Parent(K::Map, [22, 26, 2, 24]),
        C::Parent(K::Map, [26, 28, 2, 24]),
        C::Float(K::Float, f64::NAN),
        C::Int(K::Int, 1),
        C::Unit(K::True),
        C::Text(K::Str, "x"),
        C::Text(K::Str, "y"),
        C::Int(K::Int, 2),
        C::Unit(K::False),
        // The set.
        C::Int(K::Int, 5),
        C::Text(K::Str, "five"),
        // The array of objects.
        C::Unit(K::Null),
        C::Int(K::Table, 1),
        // The object: a complex number, a fraction, a range.
        C::Text(K::Str, "deque"),
        C::Parent(K::Complex, [36, 38, 2, 0]),
        C::Parent(K::Fraction, [38, 40, 2, 0]),
        C::Int(K::Reference, 5),
        C::Float(K::Float, 0.0),
        C::Float(K::Float, -0.0),
        C::Int(K::Int, 1),
        C::Int(K::Int, 3),
        // Shapes.
        C::Parent(K::Tuple, [41, 43, 2, 0]),
        C::Int(K::Int, 2),
        C::Int(K::Int, 2),
        C::Parent(K::Tuple, [44, 45, 1, 0]),
        C::Int(K::Int, 2),
        // Metadata, and the list of a column of objects.
        C::Parent(K::List, [46, 47, 1, 0]),
        C::Int(K::Int, 0),
        C::Parent(K::List, [48, 52, 3, 0]),
        C::Text(K::Str, "a cell"),
        C::Unit(K::NaT),
        C::Parent(K::List, [51, 52, 1, 0]),
        C::Unit(K::Null),
    ]
}

/// Lists of rows: maps with keys of their own and with those of another, tuples; a string and bytes
/// that are named.
fn rows() -> Vec<Cell> {
    use {Cell as C, CellKind as K};
    vec![
        C::Parent(K::List, [1, 34, 6, 0]),
        C::Parent(K::Records, [7, 19, 2, 9]),
        C::Parent(K::Rows, [19, 27, 2, 0]),
        C::Parent(K::Records, [27, 31, 2, 9]),
        C::Bytes(K::ByteArray, b"bytes that are met twice"),
        C::Int(K::Reference, 4),
        C::Parent(K::Tuple, [31, 34, 3, 0]),
        // Four maps: the lists of their values, the keys, the values.
        C::Parent(K::List, [11, 15, 4, 0]),
        C::Parent(K::List, [15, 19, 4, 0]),
        C::Text(K::Str, "n"),
        C::Text(K::Str, "t"),
        C::Int(K::Int, 1),
        C::Int(K::Int, 2),
        C::Unit(K::Null),
        C::Int(K::Int, 4),
        C::Text(K::Str, "one"),
        C::Float(K::Float, 2.5),
        C::Int(K::Date, 3),
        C::Bytes(K::Uuid, b"0123456789abcdef"),
        // Three tuples of two.
        C::Parent(K::List, [21, 24, 3, 0]),
        C::Parent(K::List, [24, 27, 3, 0]),
        C::Unit(K::True),
        C::Unit(K::False),
        C::Unit(K::True),
        C::Float(K::Float32, 0.5),
        C::Float(K::Float, -1.0),
        C::Float(K::Float, 1e300),
        // One map.
        C::Parent(K::List, [29, 30, 1, 0]),
        C::Parent(K::List, [30, 31, 1, 0]),
        C::Int(K::Int, 5),
        C::Text(K::Str, "five"),
        // The list of rows, a text and the bytes again.
        C::Int(K::Reference, 1),
        C::Int(K::Reference, 15),
        C::Int(K::Reference, 4),
    ]
}

/// Maps with enough keys for a key index: strings, and integers.
fn indexed() -> Vec<Cell> {
    use {Cell as C, CellKind as K};
    let n = 4200u64;
    let mut cells = vec![C::Parent(K::List, [1, 3 + 4 * n, 2, 0])];
    cells.push(C::Parent(K::Map, [3, 3 + 2 * n, n, 3 + n]));
    cells.push(C::Parent(K::Map, [3 + 2 * n, 3 + 4 * n, n, 3 + 3 * n]));
    cells.extend((0..n).map(|i| C::Int(K::Int, i as i64)));
    cells.extend((0..n).map(|i| C::Text(K::Str, Box::leak(format!("key {i}").into_boxed_str()))));
    cells.push(C::IndexKeys(n as usize));
    cells.extend((0..n).map(|i| C::Int(K::Int, -(i as i64))));
    cells.extend((0..n).map(|i| C::Int(K::Int, 7 * i as i64 - 900)));
    cells.push(C::IndexKeys(n as usize));
    cells
}

/// More cells than one entry of `ranks` covers.
fn many() -> Vec<Cell> {
    use {Cell as C, CellKind as K};
    let n = 6000u64;
    let mut cells = vec![C::Parent(K::List, [1, 1 + 3 * n, n, 0])];
    cells.extend((0..n).map(|i| C::Parent(K::Tuple, [1 + n + 2 * i, 3 + n + 2 * i, 2, 0])));
    for i in 0..n {
        cells.push(C::Int(K::Int, i as i64));
        cells.push(if i % 7 == 0 { C::Unit(K::Null) } else { C::Float(K::Float, i as f64 / 4.0) });
    }
    cells
}

fn write(
    name: &'static str,
    cells: Vec<Cell>,
    tables: Vec<Table>,
    value: Vec<(Value, Value)>,
    compression: u8,
) -> Tree {
    let document = document(&writer(&cells), &tables, value, compression);
    let bytes = document.unwrap_or_else(|error| panic!("{name}: {error}"));
    let cells = cells.iter().filter(|cell| !matches!(cell, Cell::IndexKeys(_))).map(Cell::describe).collect();
    Tree { name, cells, bytes }
}

/// A file of these cells and one pool of seven integers. Its value is the first cell.
///
/// # Errors
/// As the core.
pub fn of_cells(cells: &CellWriter, compression: u8) -> Result<Vec<u8>> {
    document(cells, &[], vec![(Value::from("value"), Value::Cell(0))], compression)
}

fn document(
    cells: &CellWriter,
    tables: &[Table],
    mut value: Vec<(Value, Value)>,
    compression: u8,
) -> Result<Vec<u8>> {
    let memories: Vec<Memory> = tables.iter().map(Memory::of).collect();
    let frames = memories.iter().zip(tables).map(|(memory, table)| memory.frame(table)).collect();
    let pool: Vec<u8> = (0..7u32).flat_map(|i| (10 * i).to_le_bytes()).collect();
    // SAFETY: the memory outlives the document, and is not changed.
    let lend = |bytes: &[u8]| unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) };
    let (of_cells, mut names) = cells.columns(1, &lend);
    let mut columns = vec![Column {
        run: None,
        name: String::new(),
        column_type: ColumnType::plain(Physical::U32),
        detail: None,
        host_detail: None,
        dictionary: None,
        array: Array::new(Chunk {
            n: 7,
            values: HostValues::Words { memory: lend(&pool), stride: 4 },
            validity: HostValidity::AllValid,
        }),
        children: Vec::new(),
    }];
    columns.extend(of_cells);
    names.push(("pools".into(), Value::Column(0)));
    names.push(("n_pools".into(), Value::UInt(1)));
    value.push(("cells".into(), Value::Map(names)));
    let document = Document { frames, columns, value: Value::Map(value) };
    let sink = MemorySink::new();
    let options =
        WriteOptions { compression: Some(compression), threads: Some(1), ..WriteOptions::default() };
    entasis::write_document_to(&sink, &document, &options, &Silent)?;
    Ok(sink.into_bytes())
}

/// The cells of all models, sound and broken, in no order.
pub fn models() -> Vec<Vec<Cell>> {
    let sound = [kinds(), nested(), rows(), indexed(), many()];
    sound.into_iter().chain(wrong_cells().into_iter().map(|(_, cells)| cells)).collect()
}

/// All of them.
pub fn all() -> Vec<Tree> {
    let value = |cell: u64| (Value::from("value"), Value::Cell(cell));
    let mut objects = Model::new("objects", Physical::Null, vec![None; 3]);
    objects.of = ColumnType { logical: Logical::Object, ..ColumnType::plain(Physical::Null) };
    objects.detail = Some(Value::Cell(47));
    let first = Table::new("first", vec![Model::words("n", Physical::U8, &[3u8, 1, 2]), objects]);
    let mut second =
        Table::new("second", vec![Model::words("code", Physical::I8, &[1i8, 0]).codes_of(0, false)]);
    second.extra = vec![Model::text("", &["x", "y"])];
    second.host = Value::map([("host", Value::from("testkit")), ("labels", Value::Column(1))]);
    let metadata = (Value::from("metadata"), Value::Cell(45));
    let tables = vec![first.clone(), second];
    let table = vec![(Value::from("value"), Value::Table(0)), metadata.clone()];
    let beside = nested();
    vec![
        write("kinds", kinds(), Vec::new(), vec![value(0)], 50),
        write("nested", nested(), tables.clone(), vec![value(0), metadata], 50),
        write("table-and-metadata", beside, tables, table, 0),
        write("many", many(), Vec::new(), vec![value(0)], 50),
        write("rows", rows(), Vec::new(), vec![value(0)], 50),
        write("indexed", indexed(), Vec::new(), vec![value(0)], 50),
    ]
}

/// A file with a list of `n` equal integers.
pub fn long_list(n: u64) -> Vec<u8> {
    use {Cell as C, CellKind as K};
    let mut cells = vec![C::Parent(K::List, [1, 1 + n, n, 0])];
    cells.extend((0..n).map(|_| C::Int(K::Int, 7)));
    write("long-list", cells, Vec::new(), vec![(Value::from("value"), Value::Cell(0))], 50).bytes
}

/// Cells that break one rule each.
fn wrong_cells() -> Vec<(&'static str, Vec<Cell>)> {
    use {Cell as C, CellKind as K};
    let one = C::Int(K::Int, 1);
    let text = C::Text(K::Str, "x");
    vec![
        ("children before their parent", vec![one, C::Parent(K::List, [0, 2, 1, 0])]),
        ("children that are not there", vec![C::Parent(K::List, [1, 2, 9, 0]), one]),
        ("an end before the children", vec![C::Parent(K::List, [1, 0, 1, 0]), one]),
        ("an end that nothing has", vec![C::Parent(K::List, [1, 3, 1, 0]), one, one]),
        (
            "children of two parents",
            vec![
                C::Parent(K::List, [1, 4, 2, 0]),
                C::Parent(K::List, [3, 4, 1, 0]),
                C::Parent(K::List, [3, 4, 1, 0]),
                one,
            ],
        ),
        ("a list with keys", vec![C::Parent(K::List, [1, 2, 1, 1]), one]),
        ("a map without keys", vec![C::Parent(K::Map, [1, 2, 1, 0]), one]),
        (
            "shared keys that are no strings",
            vec![
                C::Parent(K::List, [1, 5, 2, 0]),
                C::Parent(K::Map, [3, 4, 1, 4]),
                C::Parent(K::Map, [4, 5, 1, 3]),
                text,
                one,
            ],
        ),
        ("a complex number of one part", vec![C::Parent(K::Complex, [1, 2, 1, 0]), one]),
        ("an object without a name", vec![C::Parent(K::Object, [0, 0, 0, 0])]),
        ("a reference to what follows", vec![C::Int(K::Reference, 1), C::Parent(K::List, [0, 0, 0, 0])]),
        ("a reference to a number", vec![C::Parent(K::List, [1, 3, 2, 0]), one, C::Int(K::Reference, 1)]),
        ("a list of itself", vec![C::Parent(K::List, [1, 2, 1, 0]), C::Int(K::Reference, 0)]),
        (
            "lists of one another",
            vec![
                C::Parent(K::List, [1, 5, 2, 0]),
                C::Parent(K::List, [3, 4, 1, 0]),
                C::Parent(K::List, [4, 5, 1, 0]),
                C::Int(K::Reference, 2),
                C::Int(K::Reference, 1),
            ],
        ),
        (
            "rows of unequal lists",
            vec![
                C::Parent(K::Rows, [1, 6, 2, 0]),
                C::Parent(K::List, [3, 5, 2, 0]),
                C::Parent(K::List, [5, 6, 1, 0]),
                one,
                one,
                one,
            ],
        ),
        ("rows of no lists", vec![C::Parent(K::Rows, [1, 3, 1, 0]), C::Parent(K::Tuple, [2, 3, 1, 0]), one]),
        ("no rows", vec![C::Parent(K::Rows, [1, 2, 1, 0]), C::Parent(K::List, [0, 0, 0, 0])]),
        ("rows of nothing", vec![C::Parent(K::Rows, [0, 0, 0, 0])]),
        ("tuples with keys", vec![C::Parent(K::Rows, [1, 3, 1, 1]), C::Parent(K::List, [2, 3, 1, 0]), one]),
        (
            "records without keys",
            vec![C::Parent(K::Records, [1, 3, 1, 0]), C::Parent(K::List, [2, 3, 1, 0]), one],
        ),
        (
            "records with keys that are no strings",
            vec![C::Parent(K::Records, [1, 4, 1, 2]), C::Parent(K::List, [3, 4, 1, 0]), one, one],
        ),
        (
            "rows with values that have parts",
            vec![
                C::Parent(K::Rows, [1, 3, 1, 0]),
                C::Parent(K::List, [2, 3, 1, 0]),
                C::Parent(K::Tuple, [0, 0, 0, 0]),
            ],
        ),
        (
            "rows with values that are references",
            vec![
                C::Parent(K::List, [1, 5, 2, 0]),
                C::Parent(K::List, [0, 0, 0, 0]),
                C::Parent(K::Rows, [3, 5, 1, 0]),
                C::Parent(K::List, [4, 5, 1, 0]),
                C::Int(K::Reference, 1),
            ],
        ),
        ("a table that is not there", vec![C::Int(K::Table, 0)]),
        ("an array outside of its pool", vec![C::Array(K::Array, [0, 5, 3, 0])]),
        ("an array of no pool", vec![C::Array(K::Array, [1, 0, 3, 0])]),
        (
            "a shape that is a list",
            vec![
                C::Parent(K::List, [1, 3, 2, 0]),
                C::Array(K::Array, [0, 0, 2, 3]),
                one,
                C::Parent(K::List, [4, 5, 1, 0]),
                one,
            ],
        ),
        (
            "a shape of another product",
            vec![C::Array(K::Array, [0, 0, 2, 1]), C::Parent(K::Tuple, [2, 3, 1, 0]), C::Int(K::Int, 3)],
        ),
        (
            "a shape of less than nothing",
            vec![
                C::Array(K::Array, [0, 0, 2, 1]),
                C::Parent(K::Tuple, [2, 4, 2, 0]),
                C::Int(K::Int, -1),
                C::Int(K::Int, -2),
            ],
        ),
    ]
}

/// Files of cells. Each breaks one rule.
pub fn broken() -> Vec<(&'static str, Vec<u8>)> {
    use {Cell as C, CellKind as K};
    let one = C::Int(K::Int, 1);
    let value = || vec![(Value::from("value"), Value::Cell(0))];
    let mut broken: Vec<(&'static str, Vec<u8>)> = Vec::new();
    for (rule, cells) in wrong_cells() {
        broken.push((rule, write(rule, cells, Vec::new(), value(), 50).bytes));
    }
    let mut listed = vec![C::Parent(K::List, [1, 4201, 4200, 0])];
    listed.extend((0..4200).map(|i| C::Int(K::Int, i)));
    listed.push(C::IndexKeys(4200));
    broken.push(("an index of what are no keys", write("listed", listed, Vec::new(), value(), 50).bytes));
    let mut twice = indexed();
    twice.push(C::IndexKeys(4200));
    broken.push(("an index of the same keys twice", write("twice", twice, Vec::new(), value(), 50).bytes));
    let deep: Vec<Cell> =
        (0..1001u64).map(|i| if i < 1000 { C::Parent(K::List, [i + 1, 1001, 1, 0]) } else { one }).collect();
    broken.push(("cells that are nested too deep", write("deep", deep, Vec::new(), value(), 50).bytes));
    let value = vec![(Value::from("value"), Value::Cell(7))];
    broken.push(("a value that is not there", write("value", vec![one], Vec::new(), value, 50).bytes));
    broken
}
