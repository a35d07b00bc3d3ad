use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::emit::emit_parts;
use super::walk::{read_shaped, visit_shaped};
use super::*;
use crate::bytes::len64;
use crate::error::Kind;
use crate::limits::{HEADER_LEN, Limits};
use crate::testing::{exact, flips};

const RECORD: u32 = 8;
/// Ten records of 8 bytes in a leaf, three parts under an index part.
const SMALL: Geometry = Geometry { part_len: 85, fan_out: 3 };
/// A kind without rules of its own.
const KIND: u16 = 1000;

fn records(n: u64) -> Vec<u8> {
    (0..n).flat_map(|record| (record * 7 + 1).to_le_bytes()).collect()
}

fn some(bytes: &[u8]) -> SectionRecords<'_> {
    SectionRecords { record_len: RECORD, ..SectionRecords::new(SectionKind::Runs, 0, bytes) }
}

/// A file of a header and the section.
fn file_of(geometry: Geometry, n: u64) -> (Section, Vec<u8>) {
    let mut file = vec![0; HEADER_LEN];
    let bytes = records(n);
    let section = emit_parts(geometry, KIND, some(&bytes), HEADER_LEN as u64, None, &mut file);
    (section, file)
}

/// Stands for LZ4: keeps the low half of each record, unless a record of the leaf is 8 (mod 70).
fn halve(leaf: &[u8], out: &mut Vec<u8>) -> bool {
    let records = leaf.as_chunks::<8>().0;
    let is_halved = !records.iter().any(|record| u64::from_le_bytes(*record) % 70 == 8);
    if is_halved {
        out.extend(records.iter().flat_map(|record| &record[..4]));
    }
    is_halved
}

fn expand(stored: &[u8]) -> Vec<u8> {
    stored.as_chunks::<4>().0.iter().flat_map(|low| [*low, [0; 4]].concat()).collect()
}

/// The same file with leaves that are halved if they have no record that is 8 (mod 70).
fn halved_file_of(geometry: Geometry, n: u64) -> (Section, Vec<u8>) {
    let mut file = vec![0; HEADER_LEN];
    let bytes = records(n);
    let compress = Some(Compress { filter: Filter::Shuffle, store: &mut halve });
    let section = emit_parts(geometry, KIND, some(&bytes), HEADER_LEN as u64, compress, &mut file);
    (section, file)
}

fn fetch(file: &[u8], part: &Part) -> Result<Arc<Vec<u8>>> {
    let at = usize::try_from(part.at).unwrap();
    let stored = file.get(at..at + part.stored_len as usize).unwrap_or(&[]);
    part.check(stored)?;
    Ok(Arc::new(if part.is_compressed() { expand(stored) } else { stored.to_vec() }))
}

fn room(file: &[u8]) -> Room {
    Room { start: HEADER_LEN as u64, end: len64(file.len()) }
}

fn read(geometry: Geometry, section: &Section, file: &[u8], range: Range<u64>) -> Result<Vec<u8>> {
    let limits = Limits::default();
    read_shaped(geometry, section, 8, range, room(file), &limits, &mut |part| fetch(file, part))
}

#[test]
fn section_records_are_exact() {
    let section = Section {
        kind: 6,
        tier: 2,
        record_len: 64,
        n_records: 9,
        part_at: 256,
        part_len: 5,
        height: 1,
        checksum: 3,
        codec: 1,
        filter: 1,
        stored_len: 4,
        flags: 5,
    };
    exact(&section, Section::emit, Section::parse);
}

#[test]
fn sizes_around_every_level() {
    // Leaves hold 10, so levels end at 10, 30, 90 and 270.
    for n in [0, 1, 9, 10, 11, 20, 29, 30, 31, 59, 60, 61, 89, 90, 91, 269, 270, 271, 300] {
        let (section, file) = file_of(SMALL, n);
        let height = [10, 30, 90, 270].iter().filter(|most| n > **most).count();
        assert_eq!((section.n_records, usize::from(section.height)), (n, height));
        assert_eq!(read(SMALL, &section, &file, 0..n).unwrap(), records(n));
        for (from, to) in
            [(0, 0), (n, n), (0, n.min(1)), (n / 2, n), (n / 3, n / 2), (n.saturating_sub(1), n)]
        {
            let expected = &records(n)[usize::try_from(from * 8).unwrap()..usize::try_from(to * 8).unwrap()];
            assert_eq!(read(SMALL, &section, &file, from..to).unwrap(), expected);
        }
        for range in [0..n + 1, n + 1..n + 1, u64::MAX..u64::MAX, Range { start: 1, end: 0 }] {
            assert_eq!(read(SMALL, &section, &file, range).unwrap_err().kind(), Kind::Corrupt);
        }
    }
}

#[test]
fn one_record_takes_one_part_of_each_level() {
    let (section, file) = file_of(SMALL, 271);
    let mut fetched = Vec::new();
    let mut get = |part: &Part| {
        fetched.push(part.len);
        fetch(&file, part)
    };
    let one = read_shaped(SMALL, &section, 8, 95..96, room(&file), &Limits::default(), &mut get).unwrap();
    assert_eq!(one, (95u64 * 7 + 1).to_le_bytes());
    assert_eq!(fetched, [48, 72, 72, 72, 80]);
}

#[test]
fn every_flipped_bit_is_seen() {
    let (section, file) = file_of(SMALL, 95);
    for (bit, broken) in flips(&file).enumerate().skip(HEADER_LEN * 8) {
        let error = read(SMALL, &section, &broken, 0..95).unwrap_err();
        assert_eq!(error.kind(), Kind::Corrupt);
        assert_eq!(error.location().section, Some("unknown"));
        assert!(error.location().at.unwrap() <= len64(bit / 8));
    }
    for len in 0..file.len() {
        assert!(read(SMALL, &section, &file[..len], 0..95).is_err());
    }
}

#[test]
fn every_flipped_bit_of_the_section_record_is_seen() {
    let (section, file) = file_of(SMALL, 95);
    let mut bytes = Vec::new();
    section.emit(&mut bytes);
    for (bit, flipped) in flips(&bytes).enumerate().skip(32) {
        let broken = Section::parse(&flipped).and_then(|section| read(SMALL, &section, &file, 0..95));
        // The first flip permits compressed leaves in a section that has none, which is valid.
        // Flags are for programs that do not know the kind, except for the fourth one.
        let is_flag = (31 * 8..32 * 8).contains(&bit) && bit != 31 * 8 + 3;
        let is_same = bit == 29 * 8 || is_flag;
        assert_eq!(broken.is_ok_and(|bytes| bytes == records(95)), is_same, "bit {bit}");
    }
}

#[test]
fn damage_under_checksums_that_hold() {
    // Index entries are changed, and the checksum above them is repaired.
    let (section, file) = file_of(SMALL, 25);
    assert_eq!((section.height, section.part_len), (1, 72));
    let top = usize::try_from(section.part_at).unwrap();
    let change = |offset: usize, to: u64| {
        let mut file = file.clone();
        file[top + offset..top + offset + 8].copy_from_slice(&to.to_le_bytes());
        let section = Section { checksum: checksum(&file[top..]), ..section };
        read(SMALL, &section, &file, 0..25).map_err(|error| error.kind())
    };
    assert!(change(0, 256).is_ok());
    assert_eq!(change(0, 255), Err(Kind::Corrupt));
    assert_eq!(change(0, u64::MAX), Err(Kind::Corrupt));
    assert_eq!(change(8, 79), Err(Kind::Corrupt));
    assert_eq!(change(8, 80 | 1 << 32), Err(Kind::Corrupt));
    // An index that names itself is not a leaf.
    assert_eq!(change(0, section.part_at), Err(Kind::Corrupt));
}

#[test]
fn compressed_leaves() {
    // Leaves of 10 records: every record 1 (mod 10) is 8 (mod 70), so no leaf is halved ...
    let (section, file) = halved_file_of(SMALL, 95);
    assert_eq!((section.codec, section.filter), (0, 0));
    assert_eq!((section, file), file_of(SMALL, 95));
    // ... and of those of 7 records, one of ten holds none.
    for n in [3, 7, 70, 95, 300] {
        let geometry = Geometry { part_len: 60, fan_out: 3 };
        let (section, file) = halved_file_of(geometry, n);
        let (plain, whole) = file_of(geometry, n);
        assert_eq!(read(geometry, &section, &file, 0..n).unwrap(), records(n));
        assert_eq!(
            read(geometry, &section, &file, n / 2..n / 2 + 1).unwrap(),
            read(geometry, &plain, &whole, n / 2..n / 2 + 1).unwrap()
        );
        assert_eq!(
            (section.codec == 1, section.filter == 1),
            (file.len() < whole.len(), file.len() < whole.len())
        );
        for (bit, broken) in flips(&file).enumerate().skip(HEADER_LEN * 8) {
            // A flip of padding is left to `verify`.
            let bytes = read(geometry, &section, &broken, 0..n);
            assert!(!bytes.is_ok_and(|bytes| bytes != records(n)), "bit {bit}");
        }
    }
}

#[test]
fn rules_of_compressed_leaves() {
    let mut file = vec![0; HEADER_LEN];
    let bytes: Vec<u8> = (0..5u64).flat_map(u64::to_le_bytes).collect();
    let records = SectionRecords::new(SectionKind::Runs, 0, &bytes);
    let compress = Some(Compress { filter: Filter::Shuffle, store: &mut halve });
    let section = emit_section(records, HEADER_LEN as u64, compress, &mut file);
    assert_eq!((section.codec, section.filter, section.part_len, section.stored_len), (1, 1, 40, 20));
    assert_eq!(read(FORMAT, &section, &file, 0..5).unwrap(), bytes);
    let kind = |section: Section| section.check(room(&file)).map_err(|error| error.kind());
    assert_eq!(kind(section), Ok(()));
    // The claim fits the file only because LZ4 may give 32 times as much.
    let n_records = |n_records: u64| {
        let part_len = u32::try_from(n_records * 8).unwrap();
        kind(Section { n_records, part_len, ..section })
    };
    assert_eq!(n_records(1000), Ok(()));
    assert_eq!(n_records(1200), Err(Kind::Corrupt));
    let far = Section { n_records: 1 << 20, ..section };
    assert!(far.check(room(&file)).unwrap_err().to_string().contains("more records than"));
    for stored_len in [40, 41, u32::MAX] {
        assert_eq!(kind(Section { stored_len, ..section }), Err(Kind::Corrupt));
    }
    assert_eq!(kind(Section { codec: 0, filter: 0, ..section }), Err(Kind::Corrupt));
    assert_eq!(kind(Section { codec: 0, filter: 1, stored_len: 0, ..section }), Err(Kind::Corrupt));
    for (codec, filter) in [(2, 0), (2, 1), (1, 2), (0, 2), (9, 0)] {
        assert_eq!(kind(Section { codec, filter, ..section }), Err(Kind::Unsupported));
    }
    // Records of one byte cannot be shuffled.
    let names = Section { kind: SectionKind::Names.code(), record_len: 1, n_records: 40, ..section };
    assert_eq!(kind(names), Err(Kind::Corrupt));
    assert_eq!(kind(Section { filter: 0, ..names }), Ok(()));
    // Index parts are stored as they are.
    let (section, file) = file_of(FORMAT, 8_193);
    assert!(section.check(room(&file)).is_ok());
    let problem = Section { codec: 1, stored_len: 40, ..section }.check(room(&file)).unwrap_err();
    assert_eq!(problem.kind(), Kind::Corrupt);
    for changed in
        [Section { codec: 1, ..Section::default() }, Section { stored_len: 1, ..Section::default() }]
    {
        assert!(Section { kind: 1, record_len: 64, ..changed }.check(room(&file)).is_err());
    }
}

#[test]
fn visits_every_part_once() {
    let (section, file) = file_of(SMALL, 95);
    let mut parts = Vec::new();
    let mut get = |part: &Part| fetch(&file, part);
    visit_shaped(SMALL, &section, room(&file), true, &mut get, &mut |part| {
        parts.push((part.at, part.len));
        Ok(())
    })
    .unwrap();
    assert_eq!(parts[0], (section.part_at, section.part_len));
    let parts_of_file = parts.len();
    parts.sort_unstable();
    let mut at = HEADER_LEN as u64;
    for (part_at, len) in parts {
        assert_eq!(part_at, at);
        at += u64::from(len);
    }
    assert_eq!(at, len64(file.len()));
    // Without leaves, only index parts are fetched.
    let (mut n_fetched, mut n_visited) = (0, 0);
    let mut get = |part: &Part| {
        n_fetched += 1;
        fetch(&file, part)
    };
    visit_shaped(SMALL, &section, room(&file), false, &mut get, &mut |_| {
        n_visited += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!((n_fetched, n_visited), (parts_of_file - 10, parts_of_file));
}

#[test]
fn claims_beyond_the_file_fail_at_once() {
    let start = Instant::now();
    let (section, file) = file_of(FORMAT, 5);
    for n_records in [6, 1 << 20, 1 << 40, u64::MAX / 8, u64::MAX] {
        for height in 0..=u8::MAX {
            let claim = Section { n_records, height, ..section };
            assert!(read(FORMAT, &claim, &file, 0..1).is_err());
        }
    }
    for record_len in [0, 7, 9, 65_536, 65_537, u32::MAX] {
        assert!(read(FORMAT, &Section { record_len, ..section }, &file, 0..1).is_err());
    }
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn limit_of_a_read() {
    let (section, file) = file_of(FORMAT, 100);
    let mut limits = Limits { metadata_len: 80, ..Limits::default() };
    let mut get = |part: &Part| fetch(&file, part);
    assert_eq!(read_records(&section, 5..15, room(&file), &limits, &mut get).unwrap().len(), 80);
    limits.metadata_len = 79;
    assert_eq!(
        read_records(&section, 5..15, room(&file), &limits, &mut get).unwrap_err().kind(),
        Kind::Limit
    );
}

#[test]
fn rules_of_known_kinds() {
    let mut file = vec![0; HEADER_LEN];
    let section = emit_section(
        SectionRecords::new(SectionKind::Columns, 0, &[1; 1040]),
        HEADER_LEN as u64,
        None,
        &mut file,
    );
    let room = room(&file);
    assert!(section.check(room).is_ok());
    assert!(section.check(Room { end: room.end - 1, ..room }).is_err());
    assert!(section.check(Room { start: 257, ..room }).is_err());
    for kind in SectionKind::ALL {
        let later = |tier| Section { kind: kind.code(), tier, record_len: kind.record_len(), ..section };
        // The length of the part is wrong for other kinds, but the check of tiers comes first.
        let is_tier = |tier| !later(tier).check(room).is_err_and(|e| e.to_string().contains("tier"));
        assert_eq!((is_tier(0), is_tier(1), is_tier(23)), (true, kind.has_tiers(), kind.has_tiers()));
        assert!(!is_tier(24), "{kind}");
    }
    assert!(Section { kind: SectionKind::Tables.code(), record_len: 64, ..section }.check(room).is_err());
    assert!(Section { part_at: 255, ..section }.check(room).is_err());
    let nothing = Room { start: 0, end: 0 };
    assert_eq!(section.check(nothing).unwrap_err().location().section, Some("columns"));
    let empty = emit_section(SectionRecords::new(SectionKind::Blocks, 0, &[]), 5000, None, &mut file);
    assert_eq!((empty.part_at, empty.part_len, empty.height, empty.checksum), (0, 0, 0, 0));
    assert!(empty.check(nothing).is_ok());
    assert!(Section { part_at: 256, ..empty }.check(room).is_err());
}

#[test]
fn longer_records_are_cut() {
    let mut file = vec![0; HEADER_LEN];
    let long: Vec<u8> = (0..800).map(|i| (i / 80) as u8).collect();
    let section = emit_section(
        SectionRecords { record_len: 80, ..SectionRecords::new(SectionKind::Blocks, 0, &long) },
        HEADER_LEN as u64,
        None,
        &mut file,
    );
    let (limits, mut get) = (Limits::default(), |part: &Part| fetch(&file, part));
    let bytes = read_records(&section, 2..4, room(&file), &limits, &mut get).unwrap();
    assert_eq!((bytes.len(), bytes[0], bytes[63], bytes[64], bytes[127]), (128, 2, 2, 3, 3));
    let bytes = read_whole_records(&section, 2..4, room(&file), &limits, &mut get).unwrap();
    assert_eq!((bytes.len(), bytes[79], bytes[80]), (160, 2, 3));
    for record_len in [63, 4097] {
        assert!(Section { record_len, ..section }.check(room(&file)).is_err());
    }
}

#[test]
fn fields_that_a_record_lacks_are_none() {
    let mut file = vec![0; HEADER_LEN];
    let records = [[1; 104], [2; 104]].concat();
    let columns =
        SectionRecords { record_len: 104, ..SectionRecords::new(SectionKind::Columns, 0, &records) };
    let section = emit_section(columns, HEADER_LEN as u64, None, &mut file);
    let (limits, mut get) = (Limits::default(), |part: &Part| fetch(&file, part));
    let bytes = read_records(&section, 0..2, room(&file), &limits, &mut get).unwrap();
    assert_eq!(bytes, [[1; 104].as_slice(), &[255; 16], &[2; 104], &[255; 16]].concat());
    assert!(section.check_version(Version::OLDEST).is_ok());
    assert_eq!(section.check_version(Version::CURRENT).unwrap_err().kind(), Kind::Corrupt);
}

#[test]
fn flags_are_for_programs_that_do_not_know_the_kind() {
    let kind = |result: Result<()>| result.map_err(|error| error.kind());
    let of = |kind, flags| Section { kind, flags, ..Section::default() };
    for flags in 0..8 {
        assert!(of(1, flags).check_flags(Version::CURRENT).is_ok());
        assert!(of(1, flags).check_writer(Version::CURRENT).is_ok());
        let unknown = of(77, flags);
        let expected = if flags & READERS_MUST_KNOW != 0 { Err(Kind::Newer) } else { Ok(()) };
        assert_eq!(kind(unknown.check_flags(Version::CURRENT)), expected);
        let expected = if flags & WRITERS_MUST_KNOW != 0 { Err(Kind::Newer) } else { Ok(()) };
        assert_eq!(kind(unknown.check_writer(Version::CURRENT)), expected);
    }
    assert_eq!(kind(of(1, 16).check_flags(Version::CURRENT)), Err(Kind::Unsupported));
    assert_eq!(kind(of(77, 4).check_flags(Version::OLDEST)), Err(Kind::Unsupported));
}

#[test]
fn parts_are_aligned() {
    let mut file = vec![0; HEADER_LEN];
    let end = |file: &Vec<u8>| len64(file.len());
    let names = emit_section(SectionRecords::new(SectionKind::Names, 0, b"abc"), end(&file), None, &mut file);
    let runs = emit_section(SectionRecords::new(SectionKind::Runs, 0, &[1; 8]), end(&file), None, &mut file);
    assert_eq!((names.part_at, runs.part_at, file.len()), (256, 264, 272));
}

/// Levels come in descending order of their bytes: leaves of sections, then index parts.
#[test]
fn levels_of_sections_are_sorted_by_length() {
    let mut emitter = SectionEmitter::with(SMALL);
    let all = [records(3), records(300), Vec::new(), records(95), records(10)];
    all.iter().for_each(|bytes| emitter.add_kind(KIND, some(bytes), None));
    let mut file = vec![0; HEADER_LEN];
    let sections = emitter.finish(HEADER_LEN as u64, &mut file);
    let (mut heights, mut at) = (Vec::new(), Vec::new());
    for (section, bytes) in sections.iter().zip(&all) {
        assert_eq!(read(SMALL, section, &file, 0..section.n_records).unwrap(), *bytes);
        heights.push(section.height);
        at.push(section.part_at);
    }
    assert_eq!(heights, [0, 4, 0, 3, 0]);
    // Leaves take 2,400, 760, 80 and 24 bytes. The index parts of the second section take 720, 240,
    // 96 and 48 bytes, those of the fourth 240, 96 and 48.
    let len = 2400 + 760 + 80 + 24 + 720 + 240 + 96 + 48 + 240 + 96 + 48;
    assert_eq!(file.len(), HEADER_LEN + len);
    let from_end = at.into_iter().map(|at| len64(file.len()) - at);
    assert_eq!(from_end.collect::<Vec<_>>(), [24, 120, len64(file.len()), 72, 200]);
}

/// Leaves that are shorter than their index part come before it all the same.
#[test]
fn leaves_come_before_their_index() {
    let mut file = vec![0; HEADER_LEN];
    let mut store = |_: &[u8], out: &mut Vec<u8>| {
        out.push(1);
        true
    };
    let bytes = records(95);
    let compress = Some(Compress { filter: Filter::None, store: &mut store });
    let section = emit_parts(SMALL, KIND, some(&bytes), HEADER_LEN as u64, compress, &mut file);
    assert_eq!((section.height, section.part_at), (3, len64(file.len()) - 48));
}

#[test]
fn known_parts_lead_to_the_next_ones() {
    let (section, file) = file_of(FORMAT, 20_000);
    let (mut known, mut missing): (Vec<Part>, Vec<Part>) = Default::default();
    let mut rounds = Vec::new();
    loop {
        visit_known_parts(&section, 8_190..8_194, room(&file), &mut |part| {
            if known.contains(part) {
                return fetch(&file, part).map(Some);
            }
            missing.push(*part);
            Ok(None)
        })
        .unwrap();
        if missing.is_empty() {
            break;
        }
        rounds.push(missing.len());
        known.append(&mut missing);
    }
    assert_eq!(rounds, [1, 2]);
    let mut nothing = |_: &Part| panic!("no part has such records");
    for range in [5..5, 19_999..20_001, u64::MAX..u64::MAX] {
        visit_known_parts(&section, range, room(&file), &mut nothing).unwrap();
    }
    let n_leaves = |range: Range<u64>| section.n_leaves(&range);
    assert_eq!([n_leaves(0..8_192), n_leaves(8_191..8_193), n_leaves(8_192..8_193)], [1, 2, 1]);
    assert_eq!([n_leaves(7..7), n_leaves(0..u64::MAX)], [0, u64::MAX / 8_192 + 1]);
    assert_eq!(Section { record_len: u32::MAX, ..section }.n_leaves(&(0..2)), 2);
}

#[test]
fn emitting_never_panics() {
    let mut out = Vec::new();
    assert_eq!(
        emit_section(
            SectionRecords { record_len: 0, ..SectionRecords::new(SectionKind::Nodes, 0, &[1; 100]) },
            0,
            None,
            &mut out
        )
        .n_records,
        0
    );
    assert_eq!(
        emit_section(
            SectionRecords { record_len: 70_000, ..SectionRecords::new(SectionKind::Nodes, 0, &[1; 100]) },
            0,
            None,
            &mut out
        )
        .n_records,
        0
    );
    assert_eq!(
        emit_section(SectionRecords::new(SectionKind::Nodes, 0, &[1; 100]), u64::MAX, None, &mut out)
            .n_records,
        3
    );
    assert_eq!(out.len(), 97);
}

#[test]
fn parts_of_the_format() {
    // 8,192 records of 8 bytes in a leaf; a heap with a second index level would be 170 MB.
    let (section, file) = file_of(FORMAT, 8_193);
    assert_eq!((section.height, section.part_len), (1, 48));
    assert_eq!(section.part_at, 256 + 8_193 * 8);
    assert_eq!(read(FORMAT, &section, &file, 8_191..8_193).unwrap(), records(8_193)[8_191 * 8..]);
    let shape = Shape::new(FORMAT, 64).unwrap();
    assert_eq!(shape.leaf_records, 1_024);
    assert_eq!(shape.height(1_024 * 2_730), 1);
    assert_eq!(shape.height(1_024 * 2_730 + 1), 2);
    assert_eq!(shape.height(u64::MAX), 5);
    assert_eq!(Shape::new(FORMAT, 104).unwrap().leaf_records, 630);
}

proptest! {
    #[test]
    fn round_trip(n in 0u64..400, part_len in 8u64..100, fan_out in 2u64..6, from: u64, len: u64) {
        let geometry = Geometry { part_len, fan_out };
        let (section, file) = file_of(geometry, n);
        let from = from % (n + 1);
        let to = from + len % (n - from + 1);
        let bytes = read(geometry, &section, &file, from..to).unwrap();
        prop_assert_eq!(bytes, &records(n)[usize::try_from(from * 8).unwrap()..usize::try_from(to * 8).unwrap()]);
    }
}

/// A section whose leaves are all in the file has index parts alone to write.
#[test]
fn leaves_that_are_all_kept() {
    for n in [1, 2, 30] {
        let (old, mut file) = file_of(FORMAT, n * 8_192);
        let mut parts = Vec::new();
        let mut get = |part: &Part| fetch(&file, part);
        let visit = &mut |part: &Part, _: &[u8]| {
            parts.push(LeafSource::Kept(*part));
            Ok(())
        };
        visit_leaves(&old, room(&file), &mut get, visit).unwrap();
        let bytes = records(n * 8_192);
        let mut emitter = SectionEmitter::new();
        emitter.add_counted(SectionRecords::new(SectionKind::Runs, 0, &bytes), &parts, None, None);
        let sections = emitter.finish(len64(file.len()), &mut file);
        let section = sections[0];
        assert_eq!(read(FORMAT, &section, &file, 0..section.n_records).unwrap(), bytes, "{n} leaves");
    }
}
