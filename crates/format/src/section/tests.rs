use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::error::Kind;
use crate::limits::HEADER_LEN;
use crate::testing::{exact, flips};

const RECORD: u32 = 8;
/// Ten records of 8 bytes in a leaf, three parts under an index part.
const SMALL: Geometry = Geometry { part_len: 85, fan_out: 3 };
/// A kind without rules of its own.
const KIND: u16 = 1000;

fn records(n: u64) -> Vec<u8> {
    (0..n).flat_map(|record| (record * 7 + 1).to_le_bytes()).collect()
}

/// A file of a header and the section.
fn file_of(geometry: Geometry, n: u64) -> (Section, Vec<u8>) {
    let mut file = vec![0; HEADER_LEN];
    let section = emit_parts(geometry, KIND, 0, RECORD, &records(n), HEADER_LEN as u64, &mut file);
    (section, file)
}

fn fetch(file: &[u8], at: u64, len: usize) -> Result<Arc<Vec<u8>>> {
    let at = usize::try_from(at).unwrap();
    Ok(Arc::new(file.get(at..at + len).unwrap_or(&[]).to_vec()))
}

fn room(file: &[u8]) -> Room {
    Room { start: HEADER_LEN as u64, end: len64(file.len()) }
}

fn read(geometry: Geometry, section: &Section, file: &[u8], range: Range<u64>) -> Result<Vec<u8>> {
    let limits = Limits::default();
    read_shaped(geometry, section, range, room(file), &limits, &mut |at, len| fetch(file, at, len))
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
    let mut get = |at, len| {
        fetched.push(len);
        fetch(&file, at, len)
    };
    let one = read_shaped(SMALL, &section, 95..96, room(&file), &Limits::default(), &mut get).unwrap();
    assert_eq!(one, (95u64 * 7 + 1).to_le_bytes());
    assert_eq!(fetched, [48, 72, 72, 72, 80]);
}

#[test]
fn every_flipped_bit_is_seen() {
    let (section, file) = file_of(SMALL, 95);
    for (bit, broken) in flips(&file).enumerate().skip(HEADER_LEN * 8) {
        let error = read(SMALL, &section, &broken, 0..95).unwrap_err();
        assert_eq!(error.kind(), Kind::Corrupt);
        assert_eq!(error.place().section, Some("unknown"));
        assert!(error.place().at.unwrap() <= len64(bit / 8));
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
        assert!(broken.is_err(), "bit {bit}");
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
fn visits_every_part_once() {
    let (section, file) = file_of(SMALL, 95);
    let mut parts = Vec::new();
    let mut get = |at, len| fetch(&file, at, len);
    visit_shaped(SMALL, &section, room(&file), &mut get, &mut |at, len| {
        parts.push((at, len));
        Ok(())
    })
    .unwrap();
    assert_eq!(parts[0], (section.part_at, section.part_len));
    parts.sort_unstable();
    let mut at = HEADER_LEN as u64;
    for (part_at, len) in parts {
        assert_eq!(part_at, at);
        at += u64::from(len);
    }
    assert_eq!(at, len64(file.len()));
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
    let mut get = |at, len| fetch(&file, at, len);
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
    let section = emit_section(SectionKind::Columns, 0, 104, &[1; 1040], HEADER_LEN as u64, &mut file);
    let room = room(&file);
    assert!(section.check(room).is_ok());
    assert!(section.check(Room { end: room.end - 1, ..room }).is_err());
    assert!(section.check(Room { start: 257, ..room }).is_err());
    for kind in SectionKind::ALL {
        let later = |tier| Section { kind: kind.code(), tier, record_len: kind.record_len(), ..section };
        // The length of the part does not fit other kinds, which is noticed later.
        let is_tier = |tier| !later(tier).check(room).is_err_and(|e| e.to_string().contains("tier"));
        assert_eq!((is_tier(0), is_tier(1), is_tier(23)), (true, kind.has_tiers(), kind.has_tiers()));
        assert!(!is_tier(24), "{kind}");
    }
    assert!(Section { kind: SectionKind::Tables.code(), record_len: 64, ..section }.check(room).is_err());
    assert!(Section { part_at: 255, ..section }.check(room).is_err());
    let nothing = Room { start: 0, end: 0 };
    assert_eq!(section.check(nothing).unwrap_err().place().section, Some("columns"));
    let empty = emit_section(SectionKind::Blocks, 0, 64, &[], 5000, &mut file);
    assert_eq!((empty.part_at, empty.part_len, empty.height, empty.checksum), (0, 0, 0, 0));
    assert!(empty.check(nothing).is_ok());
    assert!(Section { part_at: 256, ..empty }.check(room).is_err());
}

#[test]
fn longer_records_are_cut() {
    let mut file = vec![0; HEADER_LEN];
    let long: Vec<u8> = (0..800).map(|i| (i / 80) as u8).collect();
    let section = emit_section(SectionKind::Tables, 0, 80, &long, HEADER_LEN as u64, &mut file);
    let bytes = read(FORMAT, &section, &file, 2..4).unwrap();
    assert_eq!((bytes.len(), bytes[0], bytes[63], bytes[64], bytes[127]), (128, 2, 2, 3, 3));
    for record_len in [63, 4097] {
        assert!(Section { record_len, ..section }.check(room(&file)).is_err());
    }
}

#[test]
fn parts_are_aligned() {
    let mut file = vec![0; HEADER_LEN];
    let place = |file: &Vec<u8>| len64(file.len());
    let names = emit_section(SectionKind::Names, 0, 1, b"abc", place(&file), &mut file);
    let runs = emit_section(SectionKind::Runs, 0, 8, &[1; 8], place(&file), &mut file);
    assert_eq!((names.part_at, runs.part_at, file.len()), (256, 264, 272));
}

#[test]
fn emitting_never_panics() {
    let mut out = Vec::new();
    assert_eq!(emit_section(SectionKind::Nodes, 0, 0, &[1; 100], 0, &mut out).n_records, 0);
    assert_eq!(emit_section(SectionKind::Nodes, 0, 70_000, &[1; 100], 0, &mut out).n_records, 0);
    assert_eq!(emit_section(SectionKind::Nodes, 0, 32, &[1; 100], u64::MAX, &mut out).n_records, 3);
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
