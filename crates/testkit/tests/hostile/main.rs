//! Damaged files: every bit, every length, every field; with checksums as they were and repaired.

mod buffers;
mod random;
mod records;

use entasis_testkit::frames::small::{self, Small};
use entasis_testkit::hostile::{Tally, by_tier, is_long};
use entasis_testkit::memory::{self, Counting};
use entasis_testkit::mutate::{Map, edges_of};
use entasis_testkit::naive::{self, segment::features};
use entasis_testkit::probe::contents;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `check` over all small files, on two threads, and adds up the tallies.
fn over_small(what: &str, check: impl Fn(&Small, &mut Tally) + Sync) {
    let files = small::all();
    let run = |mine: Vec<&Small>| {
        let mut tally = Tally::default();
        mine.into_iter().for_each(|small| check(small, &mut tally));
        tally
    };
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let halves = [0, 1].map(|k| files.iter().skip(k).step_by(2).collect::<Vec<_>>());
        let run = &run;
        let threads = halves.map(|half| scope.spawn(move || run(half)));
        threads.into_iter().for_each(|thread| tally.add(thread.join().unwrap()));
    });
    tally.assert(what);
    memory::assert_modest(what);
}

#[test]
fn small_files_have_everything() {
    let mut seen = std::collections::BTreeSet::new();
    for small in small::all() {
        let decoded = naive::verify(&small.bytes).unwrap();
        for column in &decoded.columns {
            let kind = &column.record.of;
            let of = |block| features(&small.bytes, block, kind).unwrap();
            seen.extend(column.blocks.iter().flat_map(of));
        }
    }
    let wanted = [
        "raw",
        "constant",
        "bit-packed",
        "delta",
        "run-length",
        "strings",
        "fsst",
        "bit-packed dictionary",
        "constant dictionary",
        "bit-packed alp",
        "bit-packed residual",
        "strings lz4",
        "strings zstd",
        "raw lz4 shuffle",
        "patches",
        "per vector",
        "no pages",
        "validity 1",
        "validity 3",
    ];
    let unreached: Vec<_> = wanted.into_iter().filter(|wanted| !seen.contains(*wanted)).collect();
    assert!(unreached.is_empty(), "{unreached:?} not in {seen:?}");
}

#[test]
fn every_flipped_bit_is_found() {
    over_small("bits", |small, tally| {
        let original = contents(&small.bytes).unwrap();
        let mut bytes = small.bytes.clone();
        // Of each byte, the tests of a change flip one or two bits.
        for bit in (0..8 * bytes.len()).step_by(by_tier(5, 1, 1)) {
            bytes[bit / 8] ^= 1 << (bit % 8);
            tally.raw(&format!("{}: bit {bit}", small.table.name), &bytes, &original, true);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    });
}

#[test]
fn every_flipped_bit_under_repaired_checksums_is_survived() {
    over_small("repaired bits", |small, tally| {
        let map = Map::of(&small.bytes);
        // In the tests of a release each byte changes in one or two ways.
        let step = by_tier(13, 5, 1);
        for bit in (0..8 * small.bytes.len()).step_by(step) {
            let mut bytes = small.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            map.repair(&mut bytes);
            // The naive decoder is slow, so it reads a seventh of the files, or all of them in the
            // long tests.
            let compare = is_long() || bit % (7 * step) == 0;
            tally.repaired(&format!("{}: repaired bit {bit}", small.table.name), &bytes, compare);
        }
    });
}

#[test]
fn every_length_is_survived() {
    over_small("lengths", |small, tally| {
        let original = contents(&small.bytes).unwrap();
        let (name, file) = (&small.table.name, &small.bytes);
        for at in 0..file.len() {
            tally.raw(&format!("{name}: cut at {at}"), &file[..at], &original, true);
            let inserted = [&file[..at], &[file[at]], &file[at..]].concat();
            // Repeating the last bytes only appends a byte, which `verify` need not notice.
            tally.raw(&format!("{name}: byte {at} twice"), &inserted, &original, false);
            let removed = [&file[..at], &file[at + 1..]].concat();
            tally.raw(&format!("{name}: without byte {at}"), &removed, &original, true);
        }
        let longer = [file.as_slice(), b"past the end"].concat();
        tally.raw(&format!("{name}: longer"), &longer, &original, false);
    });
}

#[test]
fn every_field_takes_every_edge() {
    over_small("fields", |small, tally| {
        let map = Map::of(&small.bytes);
        let step = by_tier(5, 2, 1);
        for (i, field) in map.fields.iter().enumerate() {
            let all = edges_of(&small.bytes, field).into_iter().enumerate();
            // A kind has many fields, so some of the edges per field cover all edges.
            for (k, value) in all.filter(|(k, _)| (i + k) % step == 0) {
                let bytes = map.changed(&small.bytes, field, value);
                let case = format!("{}: {} at {} = {value:#x}", small.table.name, field.name, field.at);
                tally.repaired(&case, &bytes, is_long() || (i + k) % (7 * step) == 0);
            }
        }
    });
}
