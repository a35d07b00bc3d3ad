//! Files that were changed in place: core and naive decoder find the same state, whatever is torn.

use entasis::{Durable, Kind, WriteOptions};
use entasis_testkit::compare::assert_holds;
use entasis_testkit::frames::{grown, read};
use entasis_testkit::mutate::{Map, get, put};
use entasis_testkit::naive::header::{SLOTS, State};
use entasis_testkit::naive::{self, bytes::u64_at, checksum};
use entasis_testkit::probe::{contents, is_fit, verify};

fn options(durable: Durable) -> WriteOptions {
    WriteOptions { threads: Some(1), durable, ..WriteOptions::default() }
}

const SYNCED: Durable = Durable::Always;

/// A file with a generation for each of the parts of a table.
fn file(parts: &[usize], durable: Durable) -> Vec<u8> {
    grown::grown(&grown::table(300), parts, &options(durable))
}

/// The generation that core and naive decoder read, and the kind of the error if they refuse.
fn state(bytes: &[u8]) -> Result<u64, Kind> {
    let core = read::open(bytes).map(|file| file.generation()).map_err(|error| error.kind());
    let naive =
        naive::decode(bytes).map(|decoded| decoded.root.generation).map_err(|wrong| match wrong.kind {
            naive::Kind::Corrupt => Kind::Corrupt,
            kind => panic!("{kind:?}"),
        });
    assert_eq!(core, naive);
    core
}

/// The places of the current slot and of the other one.
fn slots(bytes: &[u8]) -> (usize, usize) {
    let generation = |at: usize| u64_at(bytes, at);
    let [_, a, b] = SLOTS;
    if generation(a) > generation(b) { (a, b) } else { (b, a) }
}

fn seal(bytes: &mut [u8], at: usize) {
    let sum = checksum(&bytes[at..at + 56]).to_le_bytes();
    bytes[at + 56..at + 64].copy_from_slice(&sum);
}

/// The places of the root that a slot names.
fn root_at(bytes: &[u8], slot: usize) -> usize {
    u64_at(bytes, slot + 8) as usize
}

#[test]
fn appended_rows_are_read() {
    let table = grown::table(300);
    for parts in [&[100][..], &[100, 200], &[1, 2, 3, 4], &[0, 299]] {
        for compression in [0, 50, 80] {
            let options = WriteOptions { compression: Some(compression), ..options(SYNCED) };
            let decoded = assert_holds(&grown::grown(&table, parts, &options), &table);
            assert!(decoded.header.has_slot_pages);
            assert!(decoded.root.file_id != [0; 16]);
        }
    }
    let long = grown::of_tiers();
    let decoded = assert_holds(&grown::grown(&long, &[330_000, 330_010], &options(SYNCED)), &long);
    assert!(decoded.of_blocks.tiers.len() > 1, "blocks are in several tiers");
}

#[test]
fn the_newer_of_two_slots_counts() {
    let bytes = file(&[100, 200, 250], SYNCED);
    let (current, other) = slots(&bytes);
    let newest = u64_at(&bytes, current);
    assert_eq!(state(&bytes), Ok(newest));

    let mut equal = bytes.clone();
    equal.copy_within(current..current + 64, other);
    assert_eq!(state(&equal), Err(Kind::Corrupt));

    let mut one = bytes.clone();
    one[other..other + 64].fill(0);
    assert_eq!(state(&one), Ok(newest));
    verify(&one).unwrap();

    // The generation before ends before the newest one begins.
    let mut before = bytes.clone();
    before[current..current + 64].fill(0);
    let end = u64_at(&bytes, other + 24) as usize;
    assert_eq!(state(&before[..end]), Ok(newest - 1));
    assert_eq!(state(&before), Ok(newest - 1));
    verify(&before[..end]).unwrap();
    assert_eq!(verify(&before).unwrap_err().kind(), Kind::Corrupt, "bytes past the end");

    for slot in [current, other] {
        for (at, value) in [(0, 0u8), (8, 7), (40, 1)] {
            let mut broken = bytes.clone();
            broken[slot + at..slot + at + 8].fill(value);
            seal(&mut broken, slot);
            assert_eq!(state(&broken), Err(Kind::Corrupt), "slots keep the rules: {slot} {at}");
        }
        let mut newer = bytes.clone();
        newer[slot + 20] |= 2;
        seal(&mut newer, slot);
        assert_eq!(contents(&newer).unwrap_err().kind(), Kind::Newer);
        assert_eq!(naive::decode(&newer).unwrap_err().kind, naive::Kind::Newer);
    }
}

#[test]
fn a_trailer_finishes_a_torn_commit() {
    let bytes = file(&[100, 200, 250], SYNCED);
    let (current, other) = slots(&bytes);
    let newest = u64_at(&bytes, current);
    let root = root_at(&bytes, current);
    let torn = |slots: &[usize]| {
        let mut torn = bytes.clone();
        slots.iter().for_each(|slot| torn[slot + 3] ^= 1);
        torn
    };

    let torn_current = torn(&[current]);
    assert_eq!(state(&torn_current), Ok(newest));
    assert_eq!(verify(&torn_current).unwrap_err().kind(), Kind::Corrupt);
    // Without the trailer, or without its root, the generation before counts.
    for at in [bytes.len() - 1, root + 50] {
        let mut bytes = torn_current.clone();
        bytes[at] ^= 1;
        assert_eq!(state(&bytes), Ok(newest - 1), "{at}");
    }
    assert_eq!(state(&[&torn_current[..], &[0; 64]].concat()), Ok(newest - 1), "a trailer is at the end");

    let torn_other = torn(&[other]);
    assert_eq!(state(&torn_other), Ok(newest));
    assert_eq!(verify(&torn_other).unwrap_err().kind(), Kind::Corrupt);

    let torn_both = torn(&[current, other]);
    assert_eq!(state(&torn_both), Ok(newest));
    for at in [bytes.len() - 1, root + 50] {
        let mut bytes = torn_both.clone();
        bytes[at] ^= 1;
        assert_eq!(state(&bytes), Err(Kind::Corrupt), "{at}");
    }
    let mut alone = torn_current.clone();
    alone[other..other + 64].fill(0);
    assert_eq!(state(&alone), Ok(newest));
    let last = alone.len() - 1;
    alone[last] ^= 1;
    assert_eq!(state(&alone), Err(Kind::Corrupt), "the first slot may be older than lost rows");
}

#[test]
fn a_damaged_root_is_damage_if_its_slot_was_synced() {
    let bytes = file(&[100, 200, 250], SYNCED);
    let (current, _) = slots(&bytes);
    let mut damaged = bytes.clone();
    damaged[root_at(&bytes, current) + 50] ^= 1;
    assert_eq!(state(&damaged), Err(Kind::Corrupt));
    for len in [bytes.len() - 1, bytes.len() - 64, root_at(&bytes, current)] {
        assert_eq!(state(&bytes[..len]), Err(Kind::Corrupt), "{len}");
    }
}

#[test]
fn a_slot_that_was_not_synced_may_be_passed_over() {
    let bytes = file(&[100, 200, 250], Durable::Never);
    let (current, other) = slots(&bytes);
    let newest = u64_at(&bytes, current);
    assert_eq!((bytes[current + 20], bytes[other + 20]), (1, 1));
    assert_eq!(state(&bytes), Ok(newest));
    verify(&bytes).unwrap();
    let root = root_at(&bytes, current);

    let mut damaged = bytes.clone();
    damaged[root + 50] ^= 1;
    assert_eq!(state(&damaged), Ok(newest - 1));
    assert_eq!(naive::verify(&damaged).unwrap_err().kind, naive::Kind::Corrupt);
    assert_eq!(verify(&damaged).unwrap_err().kind(), Kind::Corrupt);
    for len in [bytes.len() - 1, root, u64_at(&bytes, other + 24) as usize] {
        assert_eq!(state(&bytes[..len]), Ok(newest - 1), "{len}");
    }

    // At most one slot is passed over.
    let mut both = damaged.clone();
    both[root_at(&bytes, other) + 50] ^= 1;
    assert_eq!(state(&both), Err(Kind::Corrupt));
    let mut torn = damaged.clone();
    torn[other] ^= 1;
    assert_eq!(state(&torn), Err(Kind::Corrupt));
    let mut alone = damaged.clone();
    alone[other..other + 64].fill(0);
    assert_eq!(state(&alone), Ok(u64_at(&bytes, 64)), "the first slot");
}

#[test]
fn slot_pages_are_needed_and_otherwise_zero() {
    let bytes = file(&[100, 200], SYNCED);
    for len in [256, 4_096, 12_287] {
        assert_eq!(state(&bytes[..len]), Err(Kind::Corrupt), "{len}");
    }
    for at in [256, 4_095, 4_160, 8_191, 8_256, 12_287] {
        let mut changed = bytes.clone();
        changed[at] = 1;
        assert!(state(&changed).is_ok());
        assert_eq!(verify(&changed).unwrap_err().kind(), Kind::Corrupt, "{at}");
        assert_eq!(naive::verify(&changed).unwrap_err().kind, naive::Kind::Corrupt, "{at}");
    }
}

/// No damage of a single bit gives other values, such as those of an earlier generation.
#[test]
fn every_flipped_bit_gives_the_values_or_an_error() {
    let mut bytes = file(&[100, 200], SYNCED);
    let original = contents(&bytes).unwrap();
    let decoded = naive::verify(&bytes).unwrap();
    let earlier = decoded.root.previous.map_or(0, |root| (root.at + u64::from(root.len) + 64) as usize);
    for bit in 0..8 * bytes.len() {
        // The zeros between the slots are all alike.
        if (8 * 256..8 * 12_288).contains(&bit) && (bit / 8) % 4_096 >= 64 && bit % 97 != 0 {
            continue;
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
        match contents(&bytes) {
            Ok(read) => assert!(read == original, "bit {bit}: other data was read"),
            Err(error) => assert!(is_fit(&error), "bit {bit}: {error}"),
        }
        let is_found = verify(&bytes).is_err();
        assert!(is_found || (12_288..earlier).contains(&(bit / 8)), "bit {bit}: verify finds nothing");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn fields_of_all_generations_take_every_edge() {
    let bytes = file(&[100, 200, 250], Durable::Never);
    let map = Map::of(&bytes);
    let of_slots: Vec<_> = map.fields.iter().filter(|field| field.name.starts_with("slot.")).collect();
    let of_roots: Vec<_> = map.fields.iter().filter(|field| field.name.starts_with("root.")).collect();
    assert_eq!((of_slots.len(), of_roots.len()), (3 * 7, 3 * 12), "all fields of all slots and roots");
    let mut same = bytes.clone();
    map.repair(&mut same);
    assert!(same == bytes, "a repair of a sound file changes nothing");
    let decoded = naive::verify(&bytes).unwrap();
    assert!(matches!(decoded.header.slots, [State::Valid(_), State::Valid(_), State::Valid(_)]));
    for field in &map.fields {
        let now = get(&bytes, field);
        for value in [0, 1, now.wrapping_add(1), now.wrapping_sub(1), u64::MAX, bytes.len() as u64] {
            let mut changed = bytes.clone();
            put(&mut changed, field, value);
            map.repair(&mut changed);
            let case = format!("{} at {} = {value:#x}", field.name, field.at);
            let read = contents(&changed).map(|_| ()).and_then(|()| verify(&changed));
            if let Err(error) = &read {
                assert!(is_fit(error), "{case}: {error}");
            }
            let verdict = entasis_testkit::hostile::compare(&changed, read.err().map(|e| e.to_string()));
            verdict.unwrap_or_else(|difference| panic!("{case}: {difference}"));
        }
    }
}
