//! Sound records in the wrong place; small files that declare much; memory that reads must
//! overwrite.

use entasis::{Kind, Physical};
use entasis_testkit::frames::{self, Model, Table, read, small, tables};
use entasis_testkit::hostile::{Tally, is_release};
use entasis_testkit::memory;
use entasis_testkit::mutate::{Map, edges_of, get};
use entasis_testkit::probe::{contents, open};

use crate::over_small;

#[test]
fn swapped_blocks_are_survived() {
    over_small("swapped blocks", |small, tally| {
        let map = Map::of(&small.bytes);
        for (i, &a) in map.blocks.iter().enumerate() {
            for &b in &map.blocks[i + 1..] {
                for (from, to) in [(0, 64), (0, 12), (12, 16), (16, 32), (16, 56), (48, 56)] {
                    let mut bytes = small.bytes.clone();
                    for k in from..to {
                        bytes.swap(a + k, b + k);
                    }
                    let case = format!("{}: blocks at {a} and {b}, bytes {from}..{to}", small.table.name);
                    tally.repaired(&case, &bytes, true);
                    map.repair(&mut bytes);
                    tally.repaired(&format!("{case}, repaired"), &bytes, true);
                }
            }
        }
    });
}

#[test]
fn spliced_files_are_survived() {
    let files = small::all();
    let originals: Vec<_> = files.iter().map(|small| contents(&small.bytes).unwrap()).collect();
    let maps: Vec<Map> = files.iter().map(|small| Map::of(&small.bytes)).collect();
    let mut tally = Tally::default();
    for (a, of_a) in files.iter().zip(&originals) {
        for ((b, of_b), map) in
            files.iter().zip(&originals).zip(&maps).filter(|((b, _), _)| b.bytes != a.bytes)
        {
            let shorter = a.bytes.len().min(b.bytes.len());
            for at in (1..shorter).step_by(53) {
                let case = format!("{} up to {at}, then {}", a.table.name, b.table.name);
                let bytes = [&a.bytes[..at], &b.bytes[at..]].concat();
                // If both heads are equal, the spliced file equals the second file.
                let original = if a.bytes[..at] == b.bytes[..at] { of_b } else { of_a };
                tally.raw(&case, &bytes, original, false);
                if at >= 256 {
                    let mut bytes = [&b.bytes[..256], &a.bytes[256..at.max(256)], &b.bytes[at..]].concat();
                    map.repair(&mut bytes);
                    tally.repaired(&format!("{case}, repaired"), &bytes, false);
                }
            }
        }
    }
    tally.assert("splices");
}

/// Fields of index parts, which small files do not have.
#[test]
fn index_parts_take_every_edge() {
    let mut tally = Tally::default();
    for table in [tables::values(), tables::wide()] {
        let file = frames::write_at(&table, 50);
        let map = Map::of(&file);
        let wanted = |name: &str| name.starts_with("index.") || name.starts_with("section.");
        for field in map.fields.iter().filter(|field| wanted(field.name)).take(60) {
            for value in edges_of(&file, field).into_iter().step_by(2) {
                let bytes = map.changed(&file, field, value);
                let case = format!("{}: {} at {} = {value:#x}", table.name, field.name, field.at);
                let opened = std::panic::catch_unwind(|| {
                    let file = open(&bytes)?;
                    for column in [0, 1, file.n_columns_total().wrapping_sub(1)] {
                        file.column(column)?;
                        file.blocks(column)?;
                    }
                    file.find_all(&table.columns[0].name)?;
                    file.host()
                });
                match opened {
                    Ok(Ok(_)) => {}
                    Ok(Err(error)) if entasis_testkit::probe::is_fit(&error) => {}
                    Ok(Err(error)) => tally.failures.push(format!("{case}: {error}")),
                    Err(_) => tally.failures.push(format!("{case}: panic")),
                }
                tally.n += 1;
            }
        }
    }
    tally.assert("index parts");
    memory::assert_modest("index parts");
}

/// Stored bytes of compressed leaves under checksums that hold: LZ4 fails, or gives other records.
#[test]
fn compressed_leaves_take_any_bytes() {
    let columns = (0..100u32).map(|i| match i % 2 {
        0 => Model::words(format!("a{i}"), Physical::U16, &[i as u16, 7]),
        _ => Model::text(format!("b{i}"), &[i.to_string(), "x".into()]),
    });
    let file = frames::write_at(&Table::new("many", columns.collect()), 50);
    let map = Map::of(&file);
    let leaves: Vec<_> = map.named("section.stored_len").filter(|field| get(&file, field) > 0).collect();
    assert_eq!(leaves.len(), 1);
    let mut tally = Tally::default();
    for stored_len in leaves {
        let at = map.named("section.part_at").find(|at| at.at + 24 == stored_len.at).unwrap();
        let (at, len) = (get(&file, at) as usize, get(&file, stored_len) as usize);
        for offset in at..at + len {
            for (k, flip) in [1, 0x10, 0x80, 0xff].into_iter().enumerate() {
                if !is_release() && (offset + k) % 2 == 1 {
                    continue;
                }
                let mut bytes = file.clone();
                bytes[offset] ^= flip;
                map.repair(&mut bytes);
                tally.repaired(&format!("byte {offset} ^ {flip:#x}"), &bytes, offset % 7 == 0);
            }
        }
    }
    tally.assert("compressed leaves");
    memory::assert_modest("compressed leaves");
}

/// Small files whose records declare huge tables.
#[test]
fn memory_bombs_stay_small() {
    let n = 65_536;
    let table = Table::new(
        "bomb",
        vec![Model::words("a", Physical::I64, &vec![1i64; n]), Model::text("b", &vec!["x"; n])],
    );
    let file = frames::write_at(&table, 50);
    assert!(file.len() < 4096, "{}", file.len());
    let map = Map::of(&file);
    for value in [1u64 << 33, 1 << 40, 1 << 62, u64::MAX - 1] {
        let mut bytes = file.clone();
        for name in ["table.n_rows", "column.n_values"] {
            map.named(name).for_each(|field| entasis_testkit::mutate::put(&mut bytes, field, value));
        }
        map.repair(&mut bytes);
        let error = contents(&bytes).unwrap_err();
        assert_eq!(error.kind(), Kind::Corrupt, "{error}");
    }
    for name in
        ["page.payload_len", "directory.dictionary_payload_len", "block.decoded_len", "section.n_records"]
    {
        let mut tally = Tally::default();
        for small in small::all() {
            let map = Map::of(&small.bytes);
            for field in map.named(name) {
                for value in [1 << 28, 1 << 29, 1 << 30, u64::from(u32::MAX), 1 << 40] {
                    let bytes = map.changed(&small.bytes, field, value);
                    tally.repaired(
                        &format!("{}: {name} at {} = {value:#x}", small.table.name, field.at),
                        &bytes,
                        false,
                    );
                }
            }
        }
        tally.assert(name);
    }
    memory::assert_modest("bombs");
}

/// Reads overwrite all of the memory, also when it was not zero before.
#[test]
fn every_byte_of_the_output_is_written() {
    let mut files: Vec<Vec<u8>> = small::all().into_iter().map(|small| small.bytes).collect();
    for compression in [0, 50, 80] {
        let table = Table::new("shapes", frames::shapes::columns(10_000));
        files.push(frames::write_at(&table, compression));
    }
    for bytes in files {
        let file = read::open(&bytes).unwrap();
        for column in 0..file.n_columns_total() {
            let zeros = read::target(&file, column, 0x00).unwrap().bytes();
            let ones = read::target(&file, column, 0xFF).unwrap().bytes();
            assert!(
                zeros == ones,
                "column {column} ({}) depends on old memory",
                file.column(column).unwrap().name
            );
        }
    }
}

/// A tree in which every node is the child of two others: 2^30 values if a reader followed every
/// path.
#[test]
fn a_value_tree_that_folds_in_on_itself_is_refused() {
    let mut table = Table::new("folds", vec![Model::words("a", Physical::U8, &[1u8])]);
    table.host = entasis::Value::List((0..62).map(entasis::Value::Int).collect());
    let file = frames::write_at(&table, 50);
    let map = Map::of(&file);
    // Nodes 0 and 1 are the table and the list. Each later pair becomes two lists of the next pair.
    let field = |name: &str, node: usize| map.named(name).nth(node).unwrap().at;
    let mut bytes = file.clone();
    for node in 2..62 {
        bytes[field("node.kind", node)] = 7;
        bytes[field("node.n_children", node)..][..4].copy_from_slice(&2u32.to_le_bytes());
        let next = (node as u64 & !1) + 2;
        bytes[field("node.a", node)..][..8].copy_from_slice(&next.to_le_bytes());
    }
    map.repair(&mut bytes);
    let started = std::time::Instant::now();
    let error = contents(&bytes).unwrap_err();
    assert!(matches!(error.kind(), Kind::Corrupt | Kind::Limit | Kind::OutOfMemory), "{error}");
    assert!(started.elapsed().as_secs() < 2, "took {:?}", started.elapsed());
    memory::assert_modest("folded tree");
}
