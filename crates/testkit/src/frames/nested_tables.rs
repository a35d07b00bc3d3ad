//! Tables of nested columns.

use entasis::{Logical, Physical, Unit, Value};

use super::models::{Model, Table, noise};
use super::nested::{list, record, typed};
use crate::naive::Cell;

fn int(v: u64) -> Option<Cell> {
    (!v.is_multiple_of(11)).then(|| ((v % 1000) as i32 - 500).to_le_bytes().to_vec())
}

fn text(v: u64) -> Option<Cell> {
    (!v.is_multiple_of(7)).then(|| format!("text{}", "-".repeat(v as usize % 20)).into_bytes())
}

fn flag(v: u64) -> Option<Cell> {
    Some(vec![(v & 1) as u8])
}

/// The type of a child.
fn of(name: &str, physical: Physical) -> Model {
    Model::new(name, physical, Vec::new())
}

fn ints() -> Model {
    of("item", Physical::I32)
}

fn texts() -> Model {
    of("item", Physical::Utf8)
}

/// Cells made of noise, every `gap`-th of them missing.
fn cells(r: &[u64], gap: u64, make: impl Fn(u64) -> Option<Cell>) -> Vec<Option<Cell>> {
    r.iter().map(|&v| if gap > 0 && (v >> 8).is_multiple_of(gap) { None } else { make(v >> 16) }).collect()
}

/// The items of a list, from the bits of a number.
fn some(v: u64, most: u64, item: impl Fn(u64) -> Option<Cell>) -> Vec<Option<Cell>> {
    (0..v % (most + 1)).map(|k| item(v.rotate_right(8 * k as u32) ^ k)).collect()
}

fn list_of(item: impl Fn(u64) -> Option<Cell>, most: u64) -> impl Fn(u64) -> Option<Cell> {
    move |v| list(&some(v, most, &item))
}

/// Nested columns of every type, also inside each other, with `n` values each.
pub fn every_type(n: usize) -> Table {
    let r = noise(n, 60);
    let nested = |name: &str, physical, children, cells| Model::nested(name, physical, children, cells);
    let codes = of("code", Physical::I8).codes_of(0, false);
    let pair = |v: u64| record(&[int(v), text(v >> 5)]);
    let one_of = |v: u64| match v % 3 {
        0 => typed(0, &int(v >> 2)),
        1 => typed(1, &text(v >> 2)),
        _ => typed(2, &list(&some(v >> 2, 2, flag))),
    };
    let types = || {
        let list = Model::nested("l", Physical::List, vec![of("b", Physical::Bool)], Vec::new());
        vec![of("i", Physical::I32), of("s", Physical::Utf8), list]
    };
    let entry = |v: u64| record(&[Some(format!("key {}", v % 9).into_bytes()), int(v)]);
    let entries = Model::nested(
        "entries",
        Physical::Struct,
        vec![of("key", Physical::Utf8), of("value", Physical::I32)],
        Vec::new(),
    );
    let runs: Vec<Option<Cell>> = (0..n).map(|i| int((i / 13) as u64)).collect();
    let list_runs: Vec<Option<Cell>> =
        (0..n).map(|i| if i / 40 % 5 == 0 { None } else { list(&some(i as u64 / 40, 3, text)) }).collect();
    let run = Model::nested("run", Physical::RunEnd, vec![texts()], Vec::new());
    let mut sorted =
        nested("sorted map", Physical::Map, vec![entries.clone()], cells(&r, 0, list_of(entry, 2)));
    sorted.of.ordered = true;
    let mut extension = nested("extension", Physical::List, vec![ints()], cells(&r, 4, list_of(int, 3)))
        .logical(Logical::Extension, Unit::None);
    extension.detail = Some(Value::map([("name", Value::Str("a.b".into()))]));
    let columns = vec![
        nested("lists", Physical::List, vec![ints()], cells(&r, 9, list_of(int, 5))),
        nested("all lists", Physical::List, vec![texts()], cells(&r, 0, list_of(text, 3))),
        nested("views", Physical::List, vec![texts()], cells(&r, 5, list_of(text, 3))),
        nested(
            "fixed",
            Physical::FixedSizeList,
            vec![ints()],
            cells(&r, 6, |v| record(&[int(v), int(v >> 9), int(v >> 18)])),
        )
        .of_len(3),
        nested("of none", Physical::FixedSizeList, vec![ints()], cells(&r, 6, |_| record(&[]))),
        nested(
            "structs",
            Physical::Struct,
            vec![of("i", Physical::I32), of("t", Physical::Utf8)],
            cells(&r, 8, pair),
        ),
        nested("empty structs", Physical::Struct, Vec::new(), cells(&r, 8, |_| record(&[]))),
        nested("map", Physical::Map, vec![entries], cells(&r, 7, list_of(entry, 4))),
        sorted,
        nested("dense", Physical::Union, types(), cells(&r, 0, one_of)),
        nested("sparse", Physical::Union, types(), cells(&r, 0, one_of)).of_len(1),
        nested("values", Physical::ValueColumn, types(), cells(&r, 5, one_of)),
        nested("runs", Physical::RunEnd, vec![ints()], runs),
        nested(
            "runs of lists",
            Physical::RunEnd,
            vec![Model::nested("v", Physical::List, vec![texts()], Vec::new())],
            list_runs,
        ),
        nested(
            "lists of lists",
            Physical::List,
            vec![Model::nested("item", Physical::List, vec![ints()], Vec::new())],
            cells(&r, 9, list_of(|v| if v % 5 == 0 { None } else { list(&some(v, 3, int)) }, 3)),
        ),
        nested(
            "lists of unions",
            Physical::List,
            vec![Model::nested("item", Physical::Union, types(), Vec::new())],
            cells(&r, 9, list_of(one_of, 3)),
        ),
        nested("lists of runs", Physical::List, vec![run], cells(&r, 6, list_of(|v| text(v % 4), 6))),
        nested(
            "lists of codes",
            Physical::List,
            vec![codes],
            cells(&r, 6, list_of(|v| Some(vec![(v % 3) as u8]), 4)),
        ),
        nested(
            "lists of nulls",
            Physical::List,
            vec![of("item", Physical::Null)],
            cells(&r, 6, list_of(|_| None, 4)),
        ),
        extension,
    ];
    let mut table = Table::new(format!("nested {n}"), columns);
    table.extra.push(Model::text("", &["one", "two", "three"]));
    table
}

/// Lists in lists, `depth` levels deep, each of one item.
pub fn deep(depth: usize, n: usize) -> Table {
    let mut of = ints();
    for _ in 1..depth {
        of = Model::nested("item", Physical::List, vec![of], Vec::new());
    }
    let cell = |i: usize| {
        let mut cell = int(i as u64);
        for level in 1..depth {
            cell = if (i + level).is_multiple_of(97) { None } else { list(&[cell]) };
        }
        cell
    };
    Table::new(format!("deep {depth}"), vec![Model { cells: (0..n).map(cell).collect(), ..of }])
}

/// Unions and value columns with the most types that they can have.
pub fn many_types(n: usize) -> Table {
    let r = noise(n, 61);
    let types = |most: u64| (0..most).map(|k| of(&format!("t{k}"), Physical::I32)).collect();
    let pick = |most: u64| cells(&r, 0, move |v| typed((v % most) as u8, &int(v >> 9)));
    let columns = vec![
        Model::nested("union", Physical::Union, types(128), pick(128)),
        Model::nested("sparse", Physical::Union, types(128), pick(128)).of_len(1),
        Model::nested("values", Physical::ValueColumn, types(255), pick(255)),
        Model::nested("no value", Physical::ValueColumn, Vec::new(), vec![None; n]),
    ];
    Table::new("many types", columns)
}

/// Unions and value columns of one type, alone and inside columns of every kind, with `n` values
/// each.
pub fn one_type(n: usize) -> Table {
    let r = noise(n, 62);
    let one = |v: u64| typed(0, &int(v));
    let union = |name: &str, item: Model| Model::nested(name, Physical::Union, vec![item], Vec::new());
    let nested = |name: &str, physical, child, cells| Model::nested(name, physical, vec![child], cells);
    let column = |physical, item, cells| nested("one type", physical, item, cells);
    let columns = vec![
        column(Physical::Union, ints(), cells(&r, 0, one)),
        column(Physical::Union, ints(), cells(&r, 0, one)).of_len(1),
        column(Physical::Union, texts(), cells(&r, 0, |v| typed(0, &text(v)))),
        column(Physical::Union, of("item", Physical::Null), cells(&r, 0, |_| typed(0, &None))),
        column(Physical::Union, union("u", ints()), cells(&r, 0, |v| typed(0, &one(v)))),
        column(Physical::ValueColumn, ints(), cells(&r, 0, one)),
        column(Physical::ValueColumn, texts(), cells(&r, 5, |v| typed(0, &text(v)))),
        nested("structs", Physical::Struct, union("u", ints()), cells(&r, 0, |v| record(&[one(v)]))),
        nested("lists", Physical::List, union("u", ints()), cells(&r, 9, list_of(one, 3))),
        nested(
            "fixed",
            Physical::FixedSizeList,
            union("u", ints()),
            cells(&r, 0, |v| record(&[one(v), one(v >> 7)])),
        )
        .of_len(2),
    ];
    Table::new(format!("one type {n}"), columns)
}
