//! Files that were changed in place: core and naive decoder find the same state, whatever is torn.

use std::path::Path;

use entasis::{Change, Durable, Kind, Operation, Silent, WriteOptions};
use entasis_testkit::compare::assert_holds;
use entasis_testkit::frames::{grown, read};
use entasis_testkit::golden::seal;
use entasis_testkit::hostile::{by_tier, is_long};
use entasis_testkit::mutate::{Map, get, put};
use entasis_testkit::naive::header::{SLOTS, State};
use entasis_testkit::naive::{self, bytes::u64_at};
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
            naive::Kind::Unsupported => Kind::Unsupported,
            kind => panic!("{kind:?}"),
        });
    assert_eq!(core, naive);
    core
}

/// The offsets of the current slot and of the other one.
fn slots(bytes: &[u8]) -> (usize, usize) {
    let generation = |at: usize| u64_at(bytes, at);
    let [_, a, b] = SLOTS;
    if generation(a) > generation(b) { (a, b) } else { (b, a) }
}

/// The offset of the root that a slot names.
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
    let report = read::open(&before).unwrap().verify(Some(1), &Silent).unwrap();
    assert_eq!(report.leftover_len, (before.len() - end) as u64, "bytes past the end are no damage");
    naive::verify(&before).unwrap();

    for slot in [current, other] {
        for (at, value, kind) in [(0, 0u8, Kind::Corrupt), (8, 7, Kind::Corrupt), (40, 1, Kind::Unsupported)]
        {
            let mut broken = bytes.clone();
            broken[slot + at..slot + at + 8].fill(value);
            seal(&mut broken, slot);
            assert_eq!(state(&broken), Err(kind), "slots keep the rules: {slot} {at}");
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
    // Readers of a file with slots do not look at the trailer's copy of the header.
    let mut other_flags = torn_current.clone();
    let trailer = other_flags.len() - 64;
    other_flags[trailer + 48] = 1;
    seal(&mut other_flags, trailer);
    assert_eq!(state(&other_flags), Ok(newest));

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

/// In a file of four generations, a flipped bit never gives other values, such as those of an
/// earlier generation. `verify` finds each flipped bit. The short tier flips every bit of header
/// and slots, and one bit of each other byte.
#[test]
fn every_flipped_bit_gives_the_values_or_an_error() {
    let options = WriteOptions { compression: Some(80), ..options(SYNCED) };
    let mut bytes = grown::grown(&grown::table(40), &[10, 15, 20, 30], &options);
    let original = contents(&bytes).unwrap();
    naive::verify(&bytes).unwrap();
    assert_eq!(read::open(&bytes).unwrap().verify(Some(1), &Silent).unwrap().n_generations, 4);
    // Reading all values in each way takes long.
    let reads_each = 7;
    for bit in 0..8 * bytes.len() {
        // The zeros between the slots are all alike.
        if (8 * 256..8 * 12_288).contains(&bit) && (bit / 8) % 4_096 >= 64 && bit % 97 != 0 {
            continue;
        }
        if !is_long() && bit >= 8 * 12_288 && bit % 8 != bit / 8 % 8 {
            continue;
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
        if bit % reads_each == 0 {
            match contents(&bytes) {
                Ok(read) => assert!(read == original, "bit {bit}: other data was read"),
                Err(error) => assert!(is_fit(&error), "bit {bit}: {error}"),
            }
        }
        assert!(verify(&bytes).is_err(), "bit {bit}: verify finds nothing");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// If older generations are damaged, the error lists them and says that the newest one is sound. A
/// rollback to a damaged one fails.
#[test]
fn damage_of_earlier_generations() {
    let dropped = grown::changed(&grown::table(300), Operation::DropColumns, &options(SYNCED));
    naive::verify(&dropped).unwrap();
    let newest = read::open(&dropped).unwrap();
    let n = newest.generation();
    // A block of the dropped column.
    let before = newest.at_generation(n - 1).unwrap().whole();
    let last = (0..before.n_columns_total()).rev().find(|&c| !before.blocks(c).unwrap().is_empty()).unwrap();
    let mut damaged = dropped.clone();
    damaged[before.blocks(last).unwrap()[0].directory_at as usize] ^= 1;
    assert_eq!(contents(&damaged).unwrap(), contents(&dropped).unwrap());
    assert_eq!(naive::verify(&damaged).unwrap_err().kind, naive::Kind::Corrupt);
    let opened = read::open(&damaged).unwrap();
    let survey = opened.survey(Some(1), &Silent).unwrap();
    assert!(survey.is_newest_sound && survey.generations.contains(&(n - 1)), "{survey:?}");
    assert!(!survey.generations.contains(&n) && survey.damages[0].generation.is_some());
    let error = survey.into_result().unwrap_err();
    assert!(error.generations().contains(&(n - 1)));
    assert!(error.to_string().contains("the newest is sound"), "{error}");
    opened.survey_generation(Some(1), &Silent).unwrap().into_result().unwrap();
    let earlier = opened.at_generation(n - 1).unwrap();
    assert!(earlier.survey_generation(Some(1), &Silent).unwrap().into_result().is_err());

    let path = std::env::temp_dir().join(format!("entasis-rollback-{}", std::process::id()));
    std::fs::write(&path, &damaged).unwrap();
    let change = || Change::begin(&path, &options(SYNCED), &Silent).unwrap();
    let error = change().rollback(n - 1, &options(SYNCED), &Silent).unwrap_err();
    assert_eq!(error.kind(), Kind::Corrupt);
    assert_eq!(std::fs::read(&path).unwrap(), damaged, "a refused rollback changes nothing");
    std::fs::write(&path, &dropped).unwrap();
    change().rollback(n - 1, &options(SYNCED), &Silent).unwrap();
    assert_eq!(entasis::File::open(&path).unwrap().generation(), n + 1);
    std::fs::remove_file(&path).unwrap();

    // Without the root of an earlier generation, slots may still name others.
    let mut broken = grown::grown(&grown::table(300), &[100, 150, 200, 250], &options(SYNCED));
    let newest = read::open(&broken).unwrap();
    let n = newest.generation();
    let end = newest.at_generation(n - 2).unwrap().file_len() as usize;
    broken[end - 70] ^= 1;
    let newest = read::open(&broken).unwrap();
    assert_eq!(newest.at_generation(n - 2).unwrap_err().kind(), Kind::Corrupt);
    assert_eq!(newest.at_generation(n - 3).unwrap().n_rows(), 150);
    let survey = newest.survey(Some(1), &Silent).unwrap();
    assert_eq!((survey.is_newest_sound, survey.generations), (true, vec![n - 2]));
    assert_eq!(naive::verify(&broken).unwrap_err().kind, naive::Kind::Corrupt);
}

/// A block that several generations use is checked once, and damages all of them.
#[test]
fn damage_of_a_shared_block() {
    let table = grown::of_tiers();
    let mut bytes = grown::grown(&table, &[330_000, 330_010], &options(SYNCED));
    let file = read::open(&bytes).unwrap();
    let once = file.survey_generation(Some(1), &Silent).unwrap().into_result().unwrap();
    assert_eq!(file.verify(Some(1), &Silent).unwrap().n_values, once.n_values);
    bytes[file.blocks(0).unwrap()[0].directory_at as usize] ^= 1;
    let survey = read::open(&bytes).unwrap().survey(Some(1), &Silent).unwrap();
    assert_eq!((survey.n_damages, survey.is_newest_sound), (1, false));
    assert_eq!(survey.generations, [2, 3], "the first append wrote the file anew");
}

/// A cut file opens at the newest whole generation on request.
#[test]
fn a_cut_file_has_its_newest_whole_generation() {
    for durable in [SYNCED, Durable::Never] {
        let bytes = file(&[100, 200, 250], durable);
        let (current, other) = slots(&bytes);
        let (newest, end) = (u64_at(&bytes, current), u64_at(&bytes, other + 24) as usize);
        let first_end = u64_at(&bytes, 64 + 24) as usize;
        let whole = |bytes: &[u8]| {
            let source = Box::new(entasis::MemorySource::new(bytes.to_vec()));
            entasis::File::whole_from_source(source, Path::new("cut"), entasis::Limits::default())
        };
        assert!(whole(&bytes).unwrap().lost().is_none());
        for len in [bytes.len() - 1, bytes.len() - 64, bytes.len() - 300, end] {
            let file = whole(&bytes[..len]).unwrap();
            assert_eq!(file.generation(), newest - 1, "{len}");
            assert_eq!(file.n_rows(), 250);
            let is_opened = read::open(&bytes[..len]);
            assert_eq!(is_opened.is_ok(), durable == Durable::Never, "a synced slot is not passed over");
            let survey = file.survey(Some(1), &Silent).unwrap();
            if let Err(error) = is_opened {
                assert!(error.to_string().contains("generation 3 is whole"), "{error}");
                assert_eq!(file.lost().unwrap().generations(), [newest]);
                assert_eq!((survey.generations.clone(), survey.last_sound), (vec![newest], Some(newest - 1)));
                assert_eq!(file.at_generation(newest).unwrap_err().kind(), Kind::Corrupt);
            }
            assert!(survey.into_result().is_err());
            file.at_generation(newest - 1)
                .unwrap()
                .survey_generation(Some(1), &Silent)
                .unwrap()
                .into_result()
                .unwrap();
        }
        // Only the first slot names a whole generation.
        let file = whole(&bytes[..first_end]).unwrap();
        assert_eq!((file.generation(), file.n_rows()), (2, 200));
        // A torn root, with nothing cut.
        let mut torn = bytes.clone();
        torn[root_at(&bytes, current)..].fill(0);
        assert_eq!(whole(&torn).unwrap().generation(), newest - 1);
        // No generation is left.
        assert_eq!(whole(&bytes[..first_end - 1]).unwrap_err().kind(), Kind::Corrupt);
    }
}

#[test]
fn fields_of_all_generations_take_every_edge() {
    fields_take_every_edge(&file(&[100, 200, 250], Durable::Never));
}

#[test]
fn fields_of_tables_in_pieces_take_every_edge() {
    let bytes = grown::grown(&grown::of_pieces(41), &[20, 24, 40], &options(Durable::Never));
    assert!(naive::decode(&bytes).unwrap().tables[0].pieces == [24, 16, 1]);
    fields_take_every_edge(&bytes);
}

fn fields_take_every_edge(bytes: &[u8]) {
    let bytes = bytes.to_vec();
    let map = Map::of(&bytes);
    let of_slots: Vec<_> = map.fields.iter().filter(|field| field.name.starts_with("slot.")).collect();
    let of_roots: Vec<_> = map.fields.iter().filter(|field| field.name.starts_with("root.")).collect();
    assert_eq!((of_slots.len(), of_roots.len()), (3 * 7, 3 * 21), "all fields of all slots and roots");
    let mut same = bytes.clone();
    map.repair(&mut same);
    assert!(same == bytes, "a repair of a sound file changes nothing");
    let decoded = naive::verify(&bytes).unwrap();
    assert!(matches!(decoded.header.slots, [State::Valid(_), State::Valid(_), State::Valid(_)]));
    for (i, field) in map.fields.iter().enumerate() {
        let now = get(&bytes, field);
        let edges = [0, 1, now.wrapping_add(1), now.wrapping_sub(1), u64::MAX, bytes.len() as u64];
        // A kind has many fields, but those of slots and roots are few.
        let is_rare = field.name.starts_with("slot.") || field.name.starts_with("root.");
        let step = by_tier(if is_rare { 3 } else { 6 }, 1, 1);
        for (_, value) in edges.into_iter().enumerate().filter(|(k, _)| (i + k) % step == 0) {
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
