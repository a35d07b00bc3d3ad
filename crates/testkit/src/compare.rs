//! Compares core, naive decoder and model.

use entasis::{File, Silent, Value, type_name};

use crate::frames::{Model, Table, read};
use crate::naive::{self, Decoded, Tree};

/// A value of the core in the naive decoder's form.
pub fn tree(value: &Value) -> Tree {
    match value {
        Value::Null => Tree::Null,
        Value::Bool(v) => Tree::Bool(*v),
        Value::Int(v) => Tree::Int(*v),
        Value::UInt(v) => Tree::UInt(*v),
        Value::Float(v) => Tree::Float(v.to_bits()),
        Value::Str(v) => Tree::Str(v.clone()),
        Value::Bytes(v) => Tree::Bytes(v.clone()),
        Value::List(v) => Tree::List(v.iter().map(tree).collect()),
        Value::Map(v) => Tree::Map(v.iter().map(|(key, value)| (tree(key), tree(value))).collect()),
        Value::Column(v) => Tree::Column(*v),
        Value::Table(v) => Tree::Table(*v),
        Value::Cell(v) => Tree::Cell(*v),
    }
}

/// Asserts that the bytes of a file hold `table`, by the core and by the naive decoder.
///
/// # Panics
/// When one of them reads other values.
pub fn assert_holds(bytes: &[u8], table: &Table) -> Decoded {
    let name = &table.name;
    let file = read::open(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let verified = file.verify(Some(1), &Silent);
    verified.unwrap_or_else(|error| panic!("{name}: verify: {error}"));
    core_holds(&file, table);
    let decoded = naive::verify(bytes).unwrap_or_else(|wrong| panic!("{name}: naive: {wrong}"));
    naive_holds(&decoded, table);
    decoded
}

/// Asserts that a file holds `table`, by the core.
///
/// # Panics
/// When it reads other values.
pub fn core_holds(file: &File, table: &Table) {
    let name = &table.name;
    let n_columns = table.columns.len() as u64;
    assert_eq!((file.n_rows(), file.n_columns()), (table.n_rows as u64, n_columns), "{name}");
    assert_eq!(tree(&file.host().unwrap()), tree(&table.host), "{name}: host");
    for (i, model) in models(table).enumerate() {
        let at = format!("{name}: column {i} ({})", model.name);
        let info = file.column(i as u64).unwrap_or_else(|error| panic!("{at}: {error}"));
        assert_eq!(
            (&info.name, info.record.column_type, &info.detail, &info.host_detail),
            (&model.name, model.of, &model.detail, &model.host_detail),
            "{at}"
        );
        let type_name = file.type_name(&info, &|c| type_name(&c.record.column_type, c.detail.as_ref()));
        assert_eq!(type_name.unwrap(), model.type_name(), "{at}: type");
        assert_eq!(info.record.n_missing, model.n_missing(), "{at}: n_missing");
        assert_eq!(
            info.record.dictionary,
            model.dictionary.map(|d| n_columns + d as u64),
            "{at}: dictionary"
        );
        let cells = read::column(file, i as u64).unwrap_or_else(|error| panic!("{at}: {error}"));
        assert_same(&at, &cells, &model.cells);
        if (i as u64) < n_columns {
            let found = file.find_all(&model.name).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert!(found.contains(&(i as u64)) && found.is_sorted(), "{at}: the name is found");
        }
    }
}

/// Asserts that a decoded file holds `table`.
///
/// # Panics
/// When it has other values.
pub fn naive_holds(decoded: &Decoded, table: &Table) {
    let name = &table.name;
    let n_columns = table.columns.len() as u64;
    assert_eq!(decoded.value, Tree::Table(0), "{name}: the file's value");
    let record = decoded.tables[0].record;
    assert_eq!((record.n_rows, record.n_columns), (table.n_rows as u64, n_columns), "{name}");
    assert_eq!(decoded.tables[0].host, tree(&table.host), "{name}: host");
    for (i, model) in models(table).enumerate() {
        let at = format!("{name}: naive column {i} ({})", model.name);
        let own = decoded.tables[0].columns.iter().cloned().flatten().nth(i);
        // Extra columns follow those of the table.
        let number = own.map_or(i, |number| number as usize);
        let column = &decoded.columns[number];
        assert_eq!(column.name, model.name, "{at}");
        let (of, wanted) = (&column.record.of, &model.of);
        let codes = [of.physical, of.logical, of.unit, of.missing, of.host_variant];
        let (physical, logical, unit) = (wanted.physical.code(), wanted.logical.code(), wanted.unit.code());
        assert_eq!(
            codes,
            [physical, logical, unit, wanted.missing.code(), wanted.host_variant],
            "{at}: type"
        );
        assert_eq!(of.ordered, wanted.ordered, "{at}: ordered");
        assert_eq!(of.value_len, wanted.value_len, "{at}: value_len");
        assert_eq!((of.precision, of.scale as i8), (wanted.precision, wanted.scale), "{at}: decimal");
        assert_eq!(column.detail, model.detail.as_ref().map(tree), "{at}: detail");
        assert_eq!(column.host_detail, model.host_detail.as_ref().map(tree), "{at}: host detail");
        let cells = naive::nested::values(&decoded.columns, number);
        assert_same(&at, &cells.unwrap_or_else(|wrong| panic!("{at}: naive: {wrong}")), &model.cells);
    }
}

fn models(table: &Table) -> impl Iterator<Item = &Model> {
    table.columns.iter().chain(&table.extra)
}

/// Asserts that two columns are equal; the message names the first cell that differs.
///
/// # Panics
/// When a cell differs.
pub fn assert_same(at: &str, got: &[Option<Vec<u8>>], wanted: &[Option<Vec<u8>>]) {
    assert_eq!(got.len(), wanted.len(), "{at}: the number of values");
    if let Some(i) = (0..got.len()).find(|&i| got[i] != wanted[i]) {
        panic!("{at}: value {i} is {:?}, not {:?}", got[i], wanted[i]);
    }
}
