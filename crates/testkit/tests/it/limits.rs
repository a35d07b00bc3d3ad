//! Each limit, set to exactly what a file needs, and to one less and one more.

use std::path::Path;
use std::sync::Arc;

use entasis::{
    File, Kind, Limits, MemorySource, MissingTo, Output, Physical, Request, Rows, Silent, Text, Value,
};
use entasis_testkit::frames::documents;
use entasis_testkit::frames::read::Target;
use entasis_testkit::frames::{self, Model, Table};
use entasis_testkit::mutate::{Map, get};

fn open_with(bytes: &[u8], name: &str, value: u64) -> entasis::Result<File> {
    let mut limits = Limits::default();
    limits.set(name, value)?;
    File::from_source(Box::new(MemorySource::new(bytes.to_vec())), Path::new("limits"), limits)
}

/// Checks that reading needs exactly `asked` of the limit `name`.
fn exactly(name: &str, asked: u64, bytes: &[u8], read: impl Fn(&File) -> entasis::Result<()>) {
    let with = |value| open_with(bytes, name, value).and_then(|file| read(&file));
    with(asked).unwrap_or_else(|error| panic!("{name} = {asked}: {error}"));
    with(asked + 1).unwrap_or_else(|error| panic!("{name} = {}: {error}", asked + 1));
    let error = with(asked - 1).expect_err(name);
    assert_eq!((error.kind(), error.exceeded_limit()), (Kind::Limit, Some(name)), "{error}");
    let allowed = format!("and {name} allows {}", shown(asked - 1));
    assert!(error.to_string().contains(&allowed), "{error}: {allowed}");
    assert!(error.to_string().contains(&shown(asked)), "{error}: {asked}");
    assert_eq!(error.location().file.as_deref(), Some(Path::new("limits")), "{error}");
}

fn shown(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn column(name: &str) -> Model {
    Model::words(name, Physical::I64, &(0..1000i64).collect::<Vec<_>>())
}

fn read_all(file: &File) -> entasis::Result<()> {
    for info in file.columns(0..file.n_columns())? {
        let mut target = Target::new(info.record.column_type.layout(), info.record.n_values as usize, 0);
        file.read(vec![target.request(info.index, Rows::All)], Some(1), &Silent)?;
    }
    Ok(())
}

#[test]
fn records_of_one_read() {
    let columns = (0..100).map(|c| column(&format!("c{c}"))).collect();
    let bytes = frames::write_at(&Table::new("columns", columns), 50);
    // All column records are read together.
    exactly("metadata_len", 100 * 120, &bytes, |file| file.columns(0..100).map(|_| ()));
}

#[test]
fn columns_of_a_file() {
    let columns = |n: i32| (0..n).map(|c| Model::words(format!("c{c}"), Physical::I32, &[c, 7])).collect();
    for in_runs in [false, true] {
        let table = Table { in_runs, ..Table::new("columns", columns(300)) };
        let bytes = frames::write_at(&table, 50);
        let n = frames::read::open(&bytes).unwrap().whole().n_columns_total();
        assert!(n >= 300, "{n}");
        exactly("n_columns", n, &bytes, |_| Ok(()));
    }
}

#[test]
fn depth_of_a_value() {
    let mut table = Table::new("depth", vec![column("a")]);
    table.host = Value::map([("a", Value::List(vec![Value::List(vec![Value::List(vec![Value::Int(3)])])]))]);
    exactly("depth", 5, &frames::write_at(&table, 50), |file| file.host().map(|_| ()));
}

#[test]
fn bytes_of_a_name() {
    let long = "n\u{e9}".repeat(1000);
    let bytes = frames::write_at(&Table::new("names", vec![column("a"), column(&long)]), 50);
    exactly("name_len", 3000, &bytes, |file| file.column(1).map(|_| ()));
    exactly("name_len", 3000, &bytes, |file| file.columns(0..2).map(|_| ()));
    exactly("name_len", 3000, &bytes, |file| file.find(&long).map(|_| ()));
    let columns = (0..40).map(|c| {
        let name = if c == 20 { long.clone() } else { format!("c{c}") };
        Model::words(name, Physical::I32, &[c, 7])
    });
    let table = Table { in_runs: true, ..Table::new("runs", columns.collect()) };
    let bytes = frames::write_at(&table, 50);
    exactly("name_len", 3000, &bytes, |file| file.column(20).map(|_| ()));
    exactly("name_len", 3000, &bytes, |file| file.columns(0..40).map(|_| ()));
    exactly("name_len", 3000, &bytes, |file| {
        let schema = file.schema(&entasis::type_name)?;
        file.visit_names(&schema.names, |_| Ok(()))
    });
}

#[test]
fn bytes_of_a_page() {
    let texts: Vec<String> = (0..3000).map(|i| format!("customer number {i}, and some more text")).collect();
    for (column, compression) in [(Model::text("a", &texts), 80), (column("a"), 0)] {
        let bytes = frames::write_at(&Table::new("pages", vec![column]), compression);
        let map = Map::of(&bytes);
        let lens = ["page.payload_len", "directory.dictionary_payload_len"];
        let longest = lens.iter().flat_map(|name| map.named(name)).map(|field| get(&bytes, field)).max();
        exactly("page_payload_len", longest.unwrap(), &bytes, read_all);
    }
}

#[test]
fn nodes_and_bytes_of_a_value() {
    let mut table = Table::new("nodes", vec![column("a")]);
    let texts = (0..50).map(|i| Value::Str(format!("text {i:05}")));
    table.host = Value::map([("texts", Value::List(texts.collect())), ("n", Value::Bytes(vec![1; 500]))]);
    let bytes = frames::write_at(&table, 50);
    // The map, two keys, two values, and the items of the list.
    exactly("n_nodes", 5 + 50, &bytes, |file| file.host().map(|_| ()));
    exactly("value_len", 5 + 1 + 50 * 10 + 500, &bytes, |file| file.host().map(|_| ()));
}

fn read_into(file: &File, column: u64, rows: Rows, output: Output<'_>) -> entasis::Result<()> {
    let request = Request { column, rows, output, missing: MissingTo::Ignore };
    file.read(vec![request], Some(2), &Silent)
}

#[test]
fn bytes_of_decoded_values() {
    let words = frames::write_at(&Table::new("words", vec![column("a")]), 50);
    let rows = [Rows::All, Rows::Range(0..1000), Rows::Indices(Arc::new((0..1000).rev().collect()))];
    for rows in rows {
        exactly("decoded_len", 8000, &words, |file| {
            read_into(file, 0, rows.clone(), Output::Words(bytemuck::cast_slice_mut(&mut [0u64; 1000])))
        });
    }
    // Strings count with their bytes and 8 more each, whether they are in dictionaries or not.
    for texts in [["ab", "cde"].repeat(500), vec!["abcde"; 1000], vec![""; 1000]] {
        let len = 8 * 1000 + texts.iter().map(|text| text.len() as u64).sum::<u64>();
        let bytes = frames::write_at(&Table::new("texts", vec![Model::text("a", &texts)]), 50);
        for rows in [Rows::All, Rows::Indices(Arc::new((0..1000).rev().collect()))] {
            exactly("decoded_len", len, &bytes, |file| {
                read_into(file, 0, rows.clone(), Output::Text(&mut Text::default()))
            });
        }
    }
    // All columns of one read together.
    let two = frames::write_at(&Table::new("two", vec![column("a"), column("b")]), 50);
    exactly("decoded_len", 16_000, &two, |file| {
        let (mut a, mut b) = ([0u64; 1000], [0u64; 1000]);
        let outputs = [(0, &mut a), (1, &mut b)].map(|(column, memory)| Request {
            column,
            rows: Rows::All,
            output: Output::Words(bytemuck::cast_slice_mut(memory)),
            missing: MissingTo::Ignore,
        });
        file.read(outputs.into(), Some(1), &Silent)
    });
    exactly("decoded_len", 16_000, &two, |file| {
        let mut out = [0u64; 2000];
        let columns = entasis::Side::Each(vec![0, 1]);
        let out = bytemuck::cast_slice_mut(&mut out);
        file.read_matrices(vec![entasis::Matrix { columns, out, sentinel: None }], Some(1), &Silent)
    });
    exactly("decoded_len", 12_345, &two, |file| file.check_decoded_len(12_345));
}

#[test]
fn cells_count_as_objects() {
    let tree = documents::all().into_iter().find(|tree| tree.name == "indexed").unwrap();
    let n = frames::read::open(&tree.bytes).unwrap().cells().unwrap().unwrap().n_cells();
    exactly("decoded_len", 32 * n, &tree.bytes, |file| {
        let cells = file.cells()?.expect("the file has cells");
        cells.load(0..n, Some(1), &Silent).map(|_| ())
    });
}
