//! Core and naive decoder read the trees of the models, and refuse files that break a rule.

use entasis::cells::{Cell, Found, Key};
use entasis::{Change, Kind, Operation, Silent, WriteOptions};
use entasis_testkit::frames::documents::{self, describe};
use entasis_testkit::golden::{old_tree_folder, tree_folder};
use entasis_testkit::hostile::by_tier;
use entasis_testkit::mutate::Map;
use entasis_testkit::naive;
use entasis_testkit::probe::{contents, open, verify};

fn in_words(cell: &Cell<'_>) -> String {
    match *cell {
        Cell::Unit(kind) => describe(kind.code(), ""),
        Cell::Int(kind, value) => describe(kind.code(), &value.to_string()),
        Cell::Float(kind, value) => describe(kind.code(), &format!("{:#x}", value.to_bits())),
        Cell::Str(kind, value) => describe(kind.code(), &format!("{:?}", value.as_bytes())),
        Cell::Bytes(kind, value) => describe(kind.code(), &format!("{value:?}")),
        Cell::Parent(kind, of) => {
            describe(kind.code(), &format!("{:?}", [of.first, of.end, of.count, of.keys]))
        }
        Cell::Array { kind, pool, at, len, shape } => {
            describe(kind.code(), &format!("{:?}", [pool, at, len, shape]))
        }
    }
}

fn naive_in_words(cell: &naive::cells::Cell) -> String {
    let word = || u64::from_le_bytes(cell.bytes[..8].try_into().unwrap());
    let value = match naive::cells::class(cell.kind).unwrap() {
        0 => String::new(),
        1 => (word() as i64).to_string(),
        2 => format!("{:#x}", word()),
        3 | 4 => format!("{:?}", cell.bytes),
        _ => format!("{:?}", cell.numbers),
    };
    describe(cell.kind, &value)
}

fn holds(name: &str, bytes: &[u8], wanted: &[String]) {
    verify(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    contents(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let cells = open(bytes).unwrap().cells().unwrap().unwrap();
    let all = cells.load(0..cells.n_cells(), Some(1), &Silent).unwrap();
    let got: Vec<String> = (0..cells.n_cells()).map(|number| in_words(&all.cell(number).unwrap())).collect();
    assert_eq!(got, wanted, "{name}: by the core");
    let decoded = naive::verify(bytes).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    let got: Vec<String> = naive::cells::cells(&decoded).unwrap().iter().map(naive_in_words).collect();
    assert_eq!(got, wanted, "{name}: by the naive decoder");
}

#[test]
fn trees_hold_what_was_written() {
    for tree in documents::all() {
        holds(tree.name, &tree.bytes, &tree.cells);
    }
}

#[test]
fn trees_can_be_kept() {
    let path = std::env::temp_dir().join(format!("entasis-kept-{}.entasis", std::process::id()));
    for tree in documents::all() {
        std::fs::write(&path, &tree.bytes).unwrap();
        for generation in 2..4 {
            let options = WriteOptions::default();
            let change = Change::begin(&path, &options, &Silent).unwrap();
            let content = change.kept().unwrap_or_else(|error| panic!("{}: {error}", tree.name));
            change.commit(content, Operation::Update, &options, &Silent).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(open(&bytes).unwrap().generation(), generation);
            holds(tree.name, &bytes, &tree.cells);
        }
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn golden_trees_hold_what_they_held() {
    let trees = documents::all();
    for tree in &trees {
        for folder in [tree_folder(), old_tree_folder()] {
            let bytes = std::fs::read(folder.join(tree.file_name())).unwrap();
            holds(tree.name, &bytes, &tree.cells);
        }
    }
    for folder in [tree_folder(), old_tree_folder()] {
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), trees.len(), "a model for every file");
    }
}

#[test]
fn tables_of_a_tree_are_files_of_their_own() {
    let trees = documents::all();
    let file = open(&trees[1].bytes).unwrap();
    assert!(!file.is_table() && file.n_tables() == 2 && file.n_columns() == 0);
    let (first, second) = (file.table(0).unwrap(), file.table(1).unwrap());
    assert_eq!((first.n_rows(), first.n_columns()), (3, 2));
    assert_eq!((second.n_rows(), second.n_columns()), (2, 1));
    // Column numbers are those of the view.
    let code = second.column(second.find("code").unwrap()).unwrap();
    assert_eq!((code.index, code.record.dictionary), (0, Some(1)));
    assert_eq!(second.host().unwrap().get("labels").unwrap().as_column(), Some(1));
    assert_eq!(second.column(1).unwrap().record.n_values, 2);
    assert!(file.table(2).is_err());
    let file = open(&trees[2].bytes).unwrap();
    assert!(file.is_table() && file.n_columns() == 2);
    assert_eq!(file.cells().unwrap().unwrap().roots().unwrap(), (None, Some(45)));
}

#[test]
fn keys_are_found_by_their_index() {
    let trees = documents::all();
    let tree = trees.iter().find(|tree| tree.name == "indexed").unwrap();
    let cells = open(&tree.bytes).unwrap().cells().unwrap().unwrap();
    let map = |number: u64| match cells.load(number..number + 1, Some(1), &Silent).unwrap().cell(number) {
        Ok(Cell::Parent(kind, children)) => (kind, children),
        other => panic!("{other:?}"),
    };
    let ((kind, texts), (_, numbers)) = (map(1), map(2));
    // The steps reach the first and the last key.
    for i in (0..4200u64).step_by(by_tier(13, 1, 1)) {
        let text = format!("key {i}");
        assert_eq!(cells.find_key(kind, &texts, Key::Str(&text)).unwrap(), Found::At(i));
        let number = Key::Int(7 * i as i64 - 900);
        assert_eq!(cells.find_key(kind, &numbers, number).unwrap(), Found::At(i));
    }
    assert_eq!(cells.find_key(kind, &texts, Key::Str("key")).unwrap(), Found::Absent);
    assert_eq!(cells.find_key(kind, &texts, Key::Int(3)).unwrap(), Found::Absent);
    assert_eq!(cells.find_key(kind, &numbers, Key::Int(1)).unwrap(), Found::Absent);
    let (kind, list) = map(0);
    assert_eq!(cells.find_key(kind, &list, Key::Int(1)).unwrap(), Found::NotIndexed);
}

/// Each of these files breaks one rule of cells, under checksums that hold.
#[test]
fn what_breaks_a_rule_is_refused() {
    for (rule, bytes) in documents::broken() {
        let error = verify(&bytes).expect_err(rule);
        assert!(matches!(error.kind(), Kind::Corrupt | Kind::Unsupported), "{rule}: {error}");
        println!("{rule}: {error}");
        let wrong = naive::verify(&bytes).map(|_| ()).expect_err(rule);
        println!("    {wrong}");
    }
}

#[test]
fn every_number_of_a_node_of_cells_is_checked() {
    let tree = &documents::all()[1];
    let map = Map::of(&tree.bytes);
    for name in ["node.a", "column.n_values", "table.first_column", "column.detail", "column.dictionary"] {
        for field in map.named(name) {
            for value in [0, 1, 60, 1 << 40, u64::MAX] {
                let bytes = map.changed(&tree.bytes, field, value);
                let (read, verified) = (contents(&bytes), verify(&bytes));
                for error in [read.err(), verified.err()].into_iter().flatten() {
                    assert!(entasis_testkit::probe::is_fit(&error), "{name} = {value}: {error}");
                }
            }
        }
    }
}
