//! Cells: reads all of them and checks every rule.

use super::bytes::{Kind, Wrong, checksum, rule, u32_at, u64_at, wrong};
use super::column::Column;
use super::file::Decoded;
use super::types::physical;
use super::value::Tree;

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The kind.
    pub kind: u8,
    /// Of classes 1 to 4: the bytes of the value.
    pub bytes: Vec<u8>,
    /// Of classes 5 and 6: first, end, count, keys; pool, at, len, shape.
    pub numbers: [u64; 4],
}

/// Names and physical types of the columns of each class.
const CLASSES: [(&[&str], u8); 7] = [
    (&[], 0),
    (&["ints"], physical::I64),
    (&["floats"], physical::F64),
    (&["strings"], physical::UTF8),
    (&["bytes"], physical::BINARY),
    (&["first", "end", "count", "keys"], physical::U64),
    (&["pool", "at", "len", "shape"], physical::U64),
];
const U8: u8 = 6;

/// The class of a kind.
pub fn class(kind: u8) -> Result<usize, Wrong> {
    let class = match kind {
        0..=7 => 0,
        16..=30 => 1,
        32..=35 => 2,
        40..=46 => 3,
        48..=53 => 4,
        64..=79 => 5,
        96 | 97 => 6,
        _ => return wrong(Kind::Unsupported, "a kind of cell"),
    };
    Ok(class)
}

fn get<'a>(map: &'a Tree, key: &str) -> Option<&'a Tree> {
    let Tree::Map(pairs) = map else { return None };
    pairs.iter().find(|(name, _)| *name == Tree::Str(key.into())).map(|(_, value)| value)
}

struct Cells<'a> {
    decoded: &'a Decoded,
    map: &'a Tree,
    all: Vec<Cell>,
}

/// All cells of a file, checked.
///
/// # Errors
/// *Corrupt*, *unsupported*.
pub fn cells(decoded: &Decoded) -> Result<Vec<Cell>, Wrong> {
    let none = Tree::Map(Vec::new());
    let map = get(&decoded.value, "cells").unwrap_or(&none);
    let mut cells = Cells { decoded, map, all: Vec::new() };
    cells.read()?;
    cells.value()?;
    let mut depths = vec![1; cells.all.len()];
    for number in 0..cells.all.len() {
        cells.check(number as u64)?;
        let cell = &cells.all[number];
        let [first, _, count, keys] = cell.numbers;
        if class(cell.kind)? == 5 && count > 0 {
            let n = if matches!(cell.kind, 68 | 78) && keys == first + count { 2 * count } else { count };
            let depth = depths[number] + 1;
            rule(depth <= 1000, "depth is at most 1,000")?;
            depths[first as usize..(first + n) as usize].fill(depth);
        }
    }
    let mut done = vec![0; cells.all.len()];
    for number in 0..cells.all.len() {
        cells.follow(number as u64, &mut done)?;
    }
    cells.index()?;
    Ok(cells.all)
}

impl Cells<'_> {
    /// The values of a column that the map names; no values if the column is absent.
    fn column(&self, name: &str, of: u8) -> Result<Vec<Vec<u8>>, Wrong> {
        let column: &Column = match get(self.map, name) {
            None => return Ok(Vec::new()),
            Some(Tree::Column(number)) => &self.decoded.columns[*number as usize],
            Some(_) => return wrong(Kind::Corrupt, "columns of cells are column nodes"),
        };
        let is_plain = column.record.of.physical == of && column.record.of.logical == 0;
        rule(is_plain && column.record.n_missing == 0, "columns of cells are plain, none missing")?;
        rule(!column.record.is_bundled, "columns of cells belong to no table")?;
        column
            .cells
            .iter()
            .map(|value| match value {
                Some(bytes) => Ok(bytes.clone()),
                None => wrong(Kind::Corrupt, "columns of cells are plain, none missing"),
            })
            .collect()
    }

    fn read(&mut self) -> Result<(), Wrong> {
        let kinds = self.column("kinds", U8)?;
        let ranks = self.column("ranks", physical::U64)?;
        rule(ranks.len() == 6 * kinds.len().div_ceil(4096), "six ranks for each 4,096 cells")?;
        let mut values = Vec::new();
        for (names, of) in CLASSES {
            let columns: Vec<Vec<Vec<u8>>> =
                names.iter().map(|name| self.column(name, of)).collect::<Result<_, _>>()?;
            let n = columns.first().map_or(0, Vec::len);
            rule(columns.iter().all(|column| column.len() == n), "columns of a class are of one length")?;
            values.push(columns);
        }
        let mut at = [0usize; 7];
        for (number, kind) in kinds.iter().map(|kind| kind[0]).enumerate() {
            if number % 4096 == 0 {
                let rank = &ranks[number / 4096 * 6..][..6];
                let recorded = rank.iter().map(|rank| u64_at(rank, 0));
                rule(recorded.eq(at[1..].iter().map(|&n| n as u64)), "ranks are the cells before")?;
            }
            let class = class(kind)?;
            let i = at[class];
            at[class] += 1;
            let mut cell = Cell { kind, bytes: Vec::new(), numbers: [0; 4] };
            if class > 0 {
                rule(i < values[class][0].len(), "a value for each cell")?;
            }
            match class {
                0 => {}
                5 | 6 => cell.numbers = std::array::from_fn(|k| u64_at(&values[class][k][i], 0)),
                _ => cell.bytes = values[class][0][i].clone(),
            }
            self.all.push(cell);
        }
        for class in 1..7 {
            rule(values[class][0].len() == at[class], "a cell for each value")?;
        }
        Ok(())
    }

    fn named(&self, tree: &Tree) -> Result<(), Wrong> {
        match tree {
            Tree::Cell(number) => rule(*number < self.all.len() as u64, "a cell that is not there"),
            Tree::List(items) => items.iter().try_for_each(|item| self.named(item)),
            Tree::Map(pairs) => {
                pairs.iter().try_for_each(|(key, value)| self.named(key).and_then(|()| self.named(value)))
            }
            _ => Ok(()),
        }
    }

    /// The file's value, and all values that name cells.
    fn value(&self) -> Result<(), Wrong> {
        let value = &self.decoded.value;
        if matches!(value, Tree::Map(_)) {
            let metadata = get(value, "metadata");
            rule(matches!(metadata, None | Some(Tree::Cell(_))), "metadata are a cell")?;
        }
        self.named(value)?;
        for table in &self.decoded.tables {
            self.named(&table.host)?;
            self.named(&table.sort_order)?;
        }
        for column in &self.decoded.columns {
            for value in [&column.detail, &column.host_detail, &column.metadata].into_iter().flatten() {
                self.named(value)?;
            }
            if column.record.of.logical != 12 {
                continue;
            }
            let list = match column.detail {
                Some(Tree::Cell(number)) => &self.all[number as usize],
                _ => return wrong(Kind::Corrupt, "a column of objects has a list"),
            };
            let is_list = list.kind == 64 && list.numbers[2] == column.record.n_values;
            rule(is_list, "a column of objects has a list")?;
        }
        Ok(())
    }

    fn shape(&self, number: u64, n: u64) -> Result<(), Wrong> {
        let Some(tuple) = self.all.get(number as usize).filter(|cell| cell.kind == 65) else {
            return wrong(Kind::Corrupt, "a shape is a tuple of integers");
        };
        let [first, _, count, _] = tuple.numbers;
        rule(count <= 64, "a shape has at most 64 integers")?;
        let mut lengths = Vec::new();
        for i in 0..count {
            let length = first.checked_add(i).and_then(|child| self.all.get(child as usize));
            let Some(length) = length.filter(|cell| cell.kind == 16) else {
                return wrong(Kind::Corrupt, "a shape is a tuple of integers");
            };
            let length = u64_at(&length.bytes, 0);
            rule(length <= i64::MAX as u64, "a shape is a tuple of integers")?;
            lengths.push(u128::from(length));
        }
        let product = match lengths.contains(&0) {
            true => Some(0),
            false => lengths.iter().try_fold(1u128, |product, &length| product.checked_mul(length)),
        };
        rule(product == Some(u128::from(n)), "the product of a shape is the number of values")
    }

    fn check(&self, number: u64) -> Result<(), Wrong> {
        let cell = &self.all[number as usize];
        let n_cells = self.all.len() as u64;
        let [first, end, count, keys] = cell.numbers;
        match cell.kind {
            30 => {
                let table = u64_at(&cell.bytes, 0);
                rule(table < self.decoded.tables.len() as u64, "a table that is not there")?;
            }
            64..=79 => {
                let wanted = match cell.kind {
                    69 | 72 => Some(2),
                    70 | 71 | 73..=75 => Some(3),
                    _ => None,
                };
                rule(wanted.is_none_or(|n| n == count), "the number of parts of a kind")?;
                rule(cell.kind < 77 || count > 0, "an object has a name, rows have values")?;
                if cell.kind == 76 {
                    self.shape(keys, count)?;
                }
                rule(keys == 0 || matches!(cell.kind, 68 | 76 | 78), "keys where there are none")?;
                if count == 0 {
                    rule(first == 0 && end == 0, "a cell without children")?;
                    return rule(keys == 0 || cell.kind == 76, "a cell without children");
                }
                rule(first > number && end <= n_cells, "children are after their parent")?;
                let Some(mut next) = first.checked_add(count) else {
                    return wrong(Kind::Corrupt, "children are after their parent");
                };
                let are_own = matches!(cell.kind, 68 | 78) && keys == next;
                if are_own {
                    next = next.saturating_add(count);
                }
                rule(next <= end, "children are after their parent")?;
                if cell.kind == 78 || (cell.kind == 68 && !are_own) {
                    let after = keys.checked_add(count).filter(|&after| after <= n_cells);
                    let Some(after) = after else { return wrong(Kind::Corrupt, "keys that are not there") };
                    let are_text = self.all[keys as usize..after as usize].iter().all(|key| key.kind == 40);
                    rule(are_text, "keys that maps share are strings")?;
                }
                if cell.kind >= 78 {
                    self.rows(first..first + count, next..end)?;
                }
                for child in &self.all[first as usize..next as usize] {
                    if (64..=79).contains(&child.kind) && child.numbers[2] > 0 {
                        rule(child.numbers[0] == next, "what is below follows without a gap")?;
                        rule(child.numbers[1] >= next, "what is below follows without a gap")?;
                        next = child.numbers[1];
                    }
                }
                rule(next == end, "the end of what is below")?;
            }
            96 | 97 => {
                let [pool, at, len, shape] = cell.numbers;
                let first = match (get(self.map, "pools"), get(self.map, "n_pools")) {
                    (Some(Tree::Column(first)), Some(Tree::UInt(n))) if pool < *n => first + pool,
                    (Some(Tree::Column(first)), Some(Tree::Int(n))) if (pool as i64) < *n => first + pool,
                    _ => return wrong(Kind::Corrupt, "a pool that is not there"),
                };
                let Some(column) = self.decoded.columns.get(first as usize) else {
                    return wrong(Kind::Corrupt, "a pool that is not there");
                };
                let inside = at.checked_add(len).is_some_and(|end| end <= column.record.n_values);
                rule(inside, "an array is inside of its pool")?;
                if shape != 0 {
                    self.shape(shape, len)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks the key index.
    fn index(&self) -> Result<(), Wrong> {
        let indexed = self.column("indexed", physical::U64)?;
        let small = |name: &str| -> Result<Vec<u64>, Wrong> {
            let column = self.column(name, physical::U32)?;
            Ok(column.iter().map(|bytes| u64::from(u32_at(bytes, 0))).collect())
        };
        let (buckets, places) = (small("buckets")?, small("places")?);
        rule(indexed.len() % 3 == 0, "three numbers for each map of the key index")?;
        let (mut bucket_at, mut place_at, mut before) = (0, 0, 0);
        for entry in indexed.chunks(3) {
            let [first, bucket, place] = [0, 1, 2].map(|i| u64_at(&entry[i], 0));
            rule(first > before, "the maps of the key index ascend")?;
            before = first;
            let is_map = |cell: &&Cell| {
                let [children, _, count, keys] = cell.numbers;
                cell.kind == 68 && keys == first && children + count == keys && count > 0
            };
            let Some(map) = self.all.iter().find(is_map) else {
                return wrong(Kind::Corrupt, "the key index has maps with keys of their own");
            };
            let n = map.numbers[2];
            let keys = &self.all[first as usize..(first + n) as usize];
            let kind = keys[0].kind;
            rule(kind == 40 || kind == 16, "keys in the index are strings or integers")?;
            rule(keys.iter().all(|key| key.kind == kind), "keys in the index are of one kind")?;
            let n_buckets = n.div_ceil(4);
            let mut wanted: Vec<Vec<u64>> = vec![Vec::new(); n_buckets as usize];
            for (place, key) in (0..n).zip(keys) {
                let bucket = (u128::from(checksum(&key.bytes)) * u128::from(n_buckets)) >> 64;
                wanted[bucket as usize].push(place);
            }
            rule((bucket, place) == (bucket_at, place_at), "parts of the key index follow one another")?;
            let mut starts = vec![0];
            for bucket in &wanted {
                starts.push(starts[starts.len() - 1] + bucket.len() as u64);
            }
            bucket_at += n_buckets + 1;
            place_at += n;
            let found = buckets.get(bucket as usize..bucket_at as usize);
            rule(found == Some(starts.as_slice()), "where the buckets of the key index begin")?;
            let found = places.get(place as usize..place_at as usize);
            rule(found == Some(wanted.concat().as_slice()), "the places of the key index")?;
        }
        let is_all = buckets.len() as u64 == bucket_at && places.len() as u64 == place_at;
        rule(is_all, "the key index has nothing more")
    }

    /// Checks a list of rows: its lists and their values.
    fn rows(&self, lists: std::ops::Range<u64>, values: std::ops::Range<u64>) -> Result<(), Wrong> {
        let lists = &self.all[lists.start as usize..lists.end as usize];
        let n = lists[0].numbers[2];
        rule(n > 0 && lists.iter().all(|list| list.kind == 64), "a list of rows has lists")?;
        rule(lists.iter().all(|list| list.numbers[2] == n), "the lists of rows are equally long")?;
        let values = &self.all[values.start as usize..values.end as usize];
        let is_whole = |value: &Cell| value.kind < 64 && value.kind != 29 && value.kind != 30;
        rule(values.iter().all(is_whole), "values of rows have no parts")
    }

    /// Follows a reference. The states of targets: 0 new, 1 being followed, 2 done.
    fn follow(&self, number: u64, done: &mut Vec<u8>) -> Result<(), Wrong> {
        if self.all[number as usize].kind != 29 {
            return Ok(());
        }
        let target = u64_at(&self.all[number as usize].bytes, 0);
        rule(target < number, "a reference names a cell before it")?;
        let cell = &self.all[target as usize];
        rule(cell.kind == 30 || cell.kind >= 40, "a reference names no number")?;
        rule(done[target as usize] != 1, "a reference leads back")?;
        if done[target as usize] == 2 || cell.kind < 64 || cell.kind >= 96 {
            return Ok(());
        }
        let [first, end, ..] = cell.numbers;
        rule(!(first..end).contains(&number), "a reference leads back")?;
        done[target as usize] = 1;
        for below in first..end {
            self.follow(below, done)?;
        }
        done[target as usize] = 2;
        Ok(())
    }
}
