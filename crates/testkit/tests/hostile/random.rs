//! Damage of many bytes at random.

use entasis_testkit::frames::small;
use entasis_testkit::hostile::{Tally, by_tier};
use entasis_testkit::mutate::Map;
use entasis_testkit::probe::contents;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Damage: an offset, and the bytes that are written there.
type Damage = (prop::sample::Index, Vec<u8>);

fn apply(file: &[u8], damage: &[Damage]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for (at, new) in damage {
        let at = at.index(bytes.len());
        let n = new.len().min(bytes.len() - at);
        bytes[at..at + n].copy_from_slice(&new[..n]);
    }
    bytes
}

#[test]
fn random_damage_is_survived() {
    let files = small::all();
    let originals: Vec<_> = files.iter().map(|small| contents(&small.bytes).unwrap()).collect();
    let maps: Vec<Map> = files.iter().map(|small| Map::of(&small.bytes)).collect();
    let cases = by_tier(3000, 8000, 200_000);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let byte = prop_oneof![Just(0u8), Just(255), Just(1), any::<u8>()];
    let damage = vec((any::<prop::sample::Index>(), vec(byte, 1..9)), 1..6);
    let which = 0..files.len();
    TestRunner::new(config)
        .run(&(which, damage, any::<bool>()), |(which, damage, repair)| {
            let mut tally = Tally::default();
            let mut bytes = apply(&files[which].bytes, &damage);
            let case = &files[which].table.name;
            if repair {
                maps[which].repair(&mut bytes);
                tally.repaired(case, &bytes, false);
            } else {
                tally.raw(case, &bytes, &originals[which], false);
            }
            prop_assert!(tally.failures.is_empty(), "{:?}", tally.failures);
            Ok(())
        })
        .unwrap();
}
