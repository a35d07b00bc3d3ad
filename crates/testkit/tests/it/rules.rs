//! Rules of `docs/format/` that are easily misread: what core and naive decoder do at the edges of
//! each.

use entasis::buffers::{self, Input, Options};
use entasis::{Codec, ColumnBlocks, Kind, Logical, Physical, Rows, Silent, Unit, Value};
use entasis_testkit::compare::assert_holds;
use entasis_testkit::frames::{self, Model, Table, nested, noise, read};
use entasis_testkit::golden;
use entasis_testkit::mutate::{Map, get, put};
use entasis_testkit::naive::{self, bytes::u32_at, bytes::u64_at, checksum};
use entasis_testkit::probe::{contents, verify};

fn golden_file(name: &str) -> Vec<u8> {
    std::fs::read(golden::folder().join(format!("{name}.entasis"))).unwrap()
}

/// The core's kinds of error from reading and from `verify`, and the naive decoder's from both.
type Outcome = ([Option<Kind>; 2], [Option<naive::Kind>; 2]);

fn outcome(bytes: &[u8]) -> Outcome {
    let core = [contents(bytes).err(), verify(bytes).err()].map(|error| error.map(|error| error.kind()));
    let naive = [naive::decode(bytes).err(), naive::verify(bytes).err()];
    (core, naive.map(|wrong| wrong.map(|wrong| wrong.kind)))
}

const FINE: Outcome = ([None; 2], [None; 2]);
const DAMAGED: Outcome = ([Some(Kind::Corrupt); 2], [Some(naive::Kind::Corrupt); 2]);
const UNSUPPORTED: Outcome = ([Some(Kind::Unsupported); 2], [Some(naive::Kind::Unsupported); 2]);

/// A file with the fields of these names and numbers changed.
fn changed(file: &[u8], changes: &[(&str, usize, u64)]) -> Vec<u8> {
    let map = Map::of(file);
    let mut bytes = file.to_vec();
    for &(name, which, value) in changes {
        let field = map.named(name).nth(which).unwrap_or_else(|| panic!("{name} {which}"));
        put(&mut bytes, field, value);
    }
    map.repair(&mut bytes);
    bytes
}

/// Where the pages of a block begin.
fn pages_at(file: &[u8], block: usize) -> usize {
    u64_at(file, Map::of(file).blocks[block] + 24) as usize
}

fn with_byte(file: &[u8], at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = file.to_vec();
    assert_ne!(bytes[at], byte);
    bytes[at] = byte;
    Map::of(file).repair(&mut bytes);
    bytes
}

fn one_column(model: Model, compression: u8) -> (Table, Vec<u8>) {
    let table = Table::new("rules", vec![model]);
    let bytes = frames::write_at(&table, compression);
    (table, bytes)
}

/// The lengths of two pages are wrong, but their sum is right. Dictionary codes do not show
/// lengths.
#[test]
fn decoded_lengths_of_pages_are_those_of_their_strings() {
    let texts: Vec<String> = (0..9000).map(|i| format!("{} of a few texts", i * i % 7)).collect();
    let (table, file) = one_column(Model::text("texts", &texts), 50);
    assert_holds(&file, &table);
    let map = Map::of(&file);
    let lens: Vec<u64> = map.named("page.decoded_len").map(|field| get(&file, field)).collect();
    assert_eq!((lens.len(), map.named("directory.transform").map(|field| get(&file, field)).sum()), (2, 1));
    let [first, second] = [lens[0] + 1, lens[1] - 1];
    let bytes = changed(&file, &[("page.decoded_len", 0, first), ("page.decoded_len", 1, second)]);
    assert_eq!(outcome(&bytes), DAMAGED);
}

#[test]
fn statistics_are_needed_by_verify_alone() {
    let file = golden_file("delta");
    let none = [("n_records", 0), ("part_at", 0), ("part_len", 0), ("height", 0), ("checksum", 0)];
    let map = Map::of(&file);
    let section = map.named("section.kind").position(|field| get(&file, field) == 7).unwrap();
    let mut bytes = file.clone();
    for (name, value) in none {
        let name = format!("section.{name}");
        let field = map.named(&name).nth(section).unwrap();
        put(&mut bytes, field, value);
    }
    reseal_root(&mut bytes);
    let (opened, sound) = (read::open(&bytes).unwrap(), read::open(&file).unwrap());
    for column in 0..2 {
        assert_eq!(read::column(&opened, column).unwrap(), read::column(&sound, column).unwrap());
    }
    assert_eq!(opened.statistics(0).unwrap_err().kind(), Kind::Corrupt);
    assert_eq!(verify(&bytes).unwrap_err().kind(), Kind::Corrupt);
    assert!(naive::decode(&bytes).is_ok());
    assert_eq!(naive::verify(&bytes).unwrap_err().kind, naive::Kind::Corrupt);
}

/// Repairs the checksums above the root, whose sections the map of the file no longer describes.
fn reseal_root(bytes: &mut [u8]) {
    let end = bytes.len();
    let (at, len) = (u64_at(bytes, 72) as usize, u32_at(bytes, 80) as usize);
    let root = checksum(&bytes[at..at + len]).to_le_bytes();
    bytes[96..104].copy_from_slice(&root);
    bytes[end - 24..end - 16].copy_from_slice(&root);
    for (from, to) in [(64, 120), (end - 64, end - 8), (0, 56)] {
        let sum = checksum(&bytes[from..to]).to_le_bytes();
        bytes[to..to + 8].copy_from_slice(&sum);
    }
}

#[test]
fn a_later_generation_is_read() {
    let file = golden_file("constant");
    let generations = [("slot.generation", 0, 2), ("trailer.generation", 0, 2), ("root.generation", 0, 2)];
    assert_eq!(outcome(&changed(&file, &generations)), FINE);
    // The root before this one is not intact: the chain ends there, and `verify` notices it.
    let previous =
        [("root.previous_at", 0, 256), ("root.previous_len", 0, 160), ("root.previous_checksum", 0, 1)];
    let verified = ([None, Some(Kind::Corrupt)], [None, Some(naive::Kind::Corrupt)]);
    assert_eq!(outcome(&changed(&file, &[&generations[..], &previous].concat())), verified);
    assert_eq!(outcome(&changed(&file, &previous)), DAMAGED);
}

#[test]
fn blocks_and_statistics_alone_have_tiers() {
    let file = golden_file("constant");
    let map = Map::of(&file);
    let kinds: Vec<u64> = map.named("section.kind").map(|field| get(&file, field)).collect();
    for (section, kind) in kinds.into_iter().enumerate() {
        assert_eq!(outcome(&changed(&file, &[("section.tier", section, 24)])), DAMAGED, "{kind}");
        if kind == 7 {
            // Readers need no statistics.
            let verified = outcome(&changed(&file, &[("section.tier", section, 1)]));
            assert_eq!(verified.1, [None, Some(naive::Kind::Corrupt)]);
            assert_eq!(verified.0[1], Some(Kind::Corrupt));
        } else {
            assert_eq!(outcome(&changed(&file, &[("section.tier", section, 1)])), DAMAGED, "{kind}");
        }
    }
}

#[test]
fn a_streamed_file_has_its_slot_in_the_trailer() {
    let mut file = golden_file("delta");
    golden::stream(&mut file);
    assert_eq!(outcome(&file), FINE);
    file[16] &= !1;
    golden::seal(&mut file, 0);
    assert_eq!(outcome(&file), DAMAGED);
}

#[test]
fn unknown_codes_come_before_contradictions() {
    let delta = golden_file("delta");
    assert_eq!(outcome(&changed(&delta, &[("block.packing", 0, 77), ("block.n_values", 0, 0)])), UNSUPPORTED);
    assert_eq!(
        outcome(&changed(&delta, &[("column.physical", 0, 99), ("column.flags", 0, 64)])),
        UNSUPPORTED
    );
    let values = golden_file("values");
    assert_eq!(outcome(&changed(&values, &[("node.kind", 2, 99), ("node.b", 2, 1)])).1, UNSUPPORTED.1);
    let error = verify(&changed(&values, &[("node.kind", 2, 99), ("node.b", 2, 1)])).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
}

#[test]
fn an_unknown_type_concerns_its_column_alone() {
    let file = golden_file("delta");
    let bytes = changed(&file, &[("column.physical", 1, 77)]);
    let opened = read::open(&bytes).unwrap();
    assert_eq!(read::column(&opened, 0).unwrap(), read::column(&read::open(&file).unwrap(), 0).unwrap());
    assert_eq!(opened.column(1).unwrap_err().kind(), Kind::Unsupported);
    let error = verify(&bytes).unwrap_err();
    let column = opened.all_columns(1..2).unwrap().remove(0);
    assert_eq!((error.kind(), error.location().column.as_ref()), (Kind::Unsupported, Some(&column.name)));
    assert_eq!(opened.find_all(&column.name).unwrap(), [1]);
    let columns = opened.info().unwrap().columns;
    assert_eq!((columns.len(), &*columns[1].type_name), (opened.n_columns_total() as usize, "unknown"));
    // Damage elsewhere comes first.
    let damaged = changed(&file, &[("column.physical", 1, 77), ("column.id", 0, 5), ("column.id", 1, 5)]);
    assert_eq!(verify(&damaged).unwrap_err().kind(), Kind::Corrupt);
    let bytes = changed(&file, &[("block.packing", 1, 77)]);
    let opened = read::open(&bytes).unwrap();
    assert!(opened.column(1).is_ok());
    assert!(read::column(&opened, 0).is_ok());
    assert_eq!(read::column(&opened, 1).unwrap_err().kind(), Kind::Unsupported);
}

#[test]
fn the_offset_of_an_empty_range_has_no_meaning() {
    let file = golden_file("names");
    let map = Map::of(&file);
    let empty: Vec<usize> = map
        .named("column.name_len")
        .enumerate()
        .filter_map(|(i, field)| (get(&file, field) == 0).then_some(i))
        .collect();
    assert!(empty.len() >= 2);
    let heap = u64::from(u32_at(&file, 0)) << 20;
    for at in [heap, 40] {
        for &column in &empty {
            let bytes = changed(&file, &[("column.name_at", column, at)]);
            assert_eq!(outcome(&bytes), FINE, "{column} {at}");
        }
    }
}

#[test]
fn starts_of_strings_are_the_sums_of_lengths() {
    let texts: Vec<String> = noise(3000, 4).iter().map(|v| format!("text {}", v % 1_000_000)).collect();
    let (table, file) = one_column(Model::text("a", &texts), 0);
    assert_holds(&file, &table);
    let at = pages_at(&file, 0);
    for vector in 0..3 {
        let bytes = with_byte(&file, at + 4 * vector, file[at + 4 * vector] ^ 1);
        assert_eq!(outcome(&bytes), DAMAGED, "{vector}");
        // Reading a part of the page also fails.
        let opened = read::open(&bytes).unwrap();
        let from = 1024 * vector as u64;
        let mut target = read::Target::new(Physical::Utf8, 6, 0);
        let part = target.request(0, Rows::Range(from..from + 6));
        assert_eq!(opened.read(vec![part], Some(1), &Silent).unwrap_err().kind(), Kind::Corrupt);
    }
}

#[test]
fn unused_bits_are_zero() {
    // 13 values of 3 bits take 39 of 40 bits; 13 booleans 13 of 16.
    let small: Vec<u32> = noise(13, 5).iter().map(|v| 1000 + (v % 8) as u32).collect();
    let bools: Vec<bool> = noise(13, 6).iter().map(|v| v % 2 == 0).collect();
    for (model, compression, last) in
        [(Model::words("a", Physical::U32, &small), 40, 4), (Model::bools("a", &bools), 0, 1)]
    {
        let (table, file) = one_column(model, compression);
        let decoded = assert_holds(&file, &table);
        let block = &decoded.columns[0].blocks[0];
        assert_eq!(block.pages_len as usize, last + 1, "{:?}", block.encoding);
        let at = pages_at(&file, 0) + last;
        assert_eq!(outcome(&with_byte(&file, at, file[at] | 0x80)), DAMAGED);
    }
    let runs: Vec<u16> = (0..9000u32).map(|i| (i / 3000) as u16 * 3).collect();
    let (table, file) = one_column(Model::words("a", Physical::U16, &runs), 40);
    let decoded = assert_holds(&file, &table);
    assert_eq!(decoded.columns[0].blocks[0].encoding[0], 4, "run-length");
    // The first page has three runs of three bits.
    let at = pages_at(&file, 0) + 2 + 3 * 2 + 1;
    assert_eq!(outcome(&with_byte(&file, at, file[at] | 0x80)), DAMAGED);
}

#[test]
fn the_structure_value_of_a_missing_list_is_not_looked_at() {
    let item = Model::new("item", Physical::I32, Vec::new());
    let ints = |n: i32| nested::list(&(0..n).map(|i| Some(i.to_le_bytes().to_vec())).collect::<Vec<_>>());
    let cells = (0..16).map(|i| if i % 4 == 1 { None } else { ints(i) }).collect();
    let (table, file) = one_column(Model::nested("a", Physical::List, vec![item], cells), 0);
    let decoded = assert_holds(&file, &table);
    assert_eq!(decoded.columns[0].blocks[0].encoding, [0; 4], "raw");
    // Validity is a byte of kind and two bytes of bits; then come the lengths, u32.
    let at = pages_at(&file, 0);
    assert_eq!(file[at], 1);
    let bytes = with_byte(&file, at + 3 + 4 * 5, 200);
    assert_holds(&bytes, &table);
    // The length of a present list matters.
    assert_eq!(outcome(&with_byte(&file, at + 3 + 4 * 6, 200)), DAMAGED);
}

#[test]
fn a_constant_block_may_have_pages() {
    let (table, file) = one_column(Model::words("a", Physical::U8, &[7u8; 100]).with_missing(|i| i > 3), 40);
    let decoded = assert_holds(&file, &table);
    let block = &decoded.columns[0].blocks[0];
    assert_eq!((block.encoding[0], block.directory_len), (1, 64), "constant, with a page for its validity");
    let bytes = golden_file("constant");
    assert_eq!(naive::decode(&bytes).unwrap().columns[0].blocks[0].directory_len, 40);
}

#[test]
fn a_payload_is_one_zstandard_frame() {
    let text = b"column of numbers, ".repeat(20);
    let frame = |bytes: &[u8]| {
        let mut out = vec![0; zstd_safe::compress_bound(bytes.len())];
        let n = zstd_safe::compress(&mut out[..], bytes, 3).unwrap();
        out.truncate(n);
        out
    };
    let skippable = [&0x184D_2A50u32.to_le_bytes()[..], &4u32.to_le_bytes(), b"skip"].concat();
    let (half, whole) = (text.len() / 2, frame(&text));
    let two = [frame(&text[..half]), frame(&text[half..])].concat();
    let options = Options::new(Codec::Zstd);
    let compressed = buffers::compress(Input::Slice(&text), &options, Some(1), &Silent).unwrap();
    let container = compressed.into_vec(Some(1), &Silent).unwrap();
    let cases = [
        (whole.clone(), true),
        (two, false),
        ([whole.clone(), skippable.clone()].concat(), false),
        ([skippable, whole.clone()].concat(), false),
        ([&whole[..], b"\0"].concat(), false),
    ];
    for (stored, is_sound) in cases {
        let payload = naive::payload::payload(&stored, text.len() as u32, checksum(&stored), 2);
        assert_eq!(payload.is_ok_and(|payload| payload == text), is_sound);
        let mut bytes = container[..56].to_vec();
        bytes[40..44].copy_from_slice(&(stored.len() as u32).to_le_bytes());
        bytes[48..56].copy_from_slice(&checksum(&stored).to_le_bytes());
        let table = checksum(&bytes[40..56]).to_le_bytes();
        bytes[24..32].copy_from_slice(&table);
        let header = checksum(&bytes[..32]).to_le_bytes();
        bytes[32..40].copy_from_slice(&header);
        bytes.extend(&stored);
        let core = buffers::decompress(Input::Slice(&bytes), None, Some(1), &Silent);
        assert_eq!(core.is_ok_and(|decoded| decoded.to_vec() == text), is_sound);
        assert_eq!(naive::buffer::decompress(&bytes).is_ok_and(|decoded| decoded == text), is_sound);
    }
}

#[test]
fn files_shorter_than_the_header() {
    for len in [0, 1, 7, 8, 100, 255] {
        assert_eq!(outcome(&golden_file("constant")[..len]), DAMAGED, "{len}");
    }
    assert_eq!(outcome(b"\x89ENX"), ([Some(Kind::NotEntasis); 2], [Some(naive::Kind::NotEntasis); 2]));
}

#[test]
fn pages_of_wide_values_have_as_many_as_fit() {
    // Values of no bytes have pages of 8,192, and a value of 256 KiB a page of its own.
    for (len, n, per_page) in
        [(0u32, 20_000, 8_192), (32, 10_000, 8_192), (33, 10_000, 7_943), (262_144, 3, 1)]
    {
        let cells = noise(n, len.into()).iter().map(|v| Some(vec![(v % 251) as u8; len as usize])).collect();
        let (table, file) = one_column(Model::fixed("a", len, cells), 0);
        let decoded = assert_holds(&file, &table);
        for block in decoded.columns[0].blocks.iter().filter(|block| block.directory_len > 40) {
            let n_pages = (block.directory_len as usize - 40) / 24;
            assert_eq!(n_pages, (block.n_values as usize).div_ceil(per_page), "values of {len} bytes");
        }
        assert_eq!(outcome(&file), FINE);
    }
}

#[test]
fn integers_of_alp_round_to_even() {
    let values: Vec<f64> = noise(64, 7).iter().map(|v| (v % 8) as f64).collect();
    let (table, file) = one_column(Model::words("a", Physical::F64, &values), 40);
    let decoded = assert_holds(&file, &table);
    assert_eq!(decoded.columns[0].blocks[0].encoding[1], 2, "ALP");
    let base = 1u64 << 53;
    let bytes = changed(&file, &[("directory.base", 0, base)]);
    // From 2^53 on floats are even: odd integers are halfway between two of them.
    let expected: Vec<f64> =
        values.iter().map(|v| [0., 0., 2., 4., 4., 4., 6., 8.][*v as usize] + base as f64).collect();
    let expected = Model::words("a", Physical::F64, &expected).cells;
    // The statistics are those of other values, which only `verify` notices.
    assert_eq!(naive::decode(&bytes).unwrap().columns[0].cells, expected);
    assert_eq!(read::column(&read::open(&bytes).unwrap(), 0).unwrap(), expected);
}

/// Filters use nothing of statistics that a later version may have written, except n_missing.
#[test]
fn unknown_statistics_rule_out_no_block() {
    let words: Vec<u64> = (0..9000).collect();
    let (table, file) = one_column(Model::words("a", Physical::I64, &words), 50);
    let bounds = |bytes: &[u8]| {
        let file = read::open(bytes).unwrap();
        let blocks = ColumnBlocks::open(&file, 0).unwrap();
        blocks.blocks(0..9000).map(|block| block.statistics.has_min_max).collect::<Vec<_>>()
    };
    assert_eq!(bounds(&file), [true]);
    let flags = Map::of(&file).named("statistics.flags").map(|field| get(&file, field)).next().unwrap();
    for change in [("statistics.flags", 0, flags | 0x8000), ("statistics.reserved", 0, 1)] {
        let bytes = changed(&file, &[change]);
        assert_eq!(bounds(&bytes), [false], "{change:?}");
        let cells = read::column(&read::open(&bytes).unwrap(), 0).unwrap();
        assert!(cells == table.columns[0].cells, "{change:?}");
        assert_eq!(verify(&bytes).unwrap_err().kind(), Kind::Unsupported, "{change:?}");
        assert_eq!(naive::verify(&bytes).unwrap_err().kind, naive::Kind::Unsupported, "{change:?}");
    }
}

/// A type without an order may get one later.
#[test]
fn bounds_of_a_type_without_order_rule_out_no_block() {
    let words: Vec<u64> = (0..100).collect();
    let (_, file) = one_column(Model::words("a", Physical::Complex64, &words), 50);
    let bytes = changed(&file, &[("statistics.flags", 0, 1), ("statistics.max", 0, 5)]);
    let opened = read::open(&bytes).unwrap();
    let blocks = ColumnBlocks::open(&opened, 0).unwrap();
    assert!(blocks.blocks(0..100).all(|block| !block.statistics.has_min_max));
    assert_eq!(verify(&bytes).unwrap_err().kind(), Kind::Unsupported);
    assert_eq!(naive::verify(&bytes).unwrap_err().kind, naive::Kind::Unsupported);
}

/// A detail has the form that the type gives. A host detail has any form.
#[test]
fn details_fit_their_types() {
    let name = || ("name", Value::from("a.b"));
    let long = |logical, unit| Model::words("column", Physical::I64, &[1i64, 2]).logical(logical, unit);
    let zoned = || long(Logical::Timestamp, Unit::Second);
    let period = || long(Logical::Period, Unit::None);
    let extension = || long(Logical::Extension, Unit::None);
    let union = || {
        let children = vec![Model::new("i", Physical::I32, Vec::new())];
        Model::nested("column", Physical::Union, children, vec![nested::typed(0, &Some(vec![0; 4])); 2])
    };
    let extension_of_union = || union().logical(Logical::Extension, Unit::None);
    let codes = |codes: Value| Value::map([("codes", codes)]);
    let list = |n: i64| Value::List((0..n).map(Value::Int).collect());
    let more = ("metadata", Value::Int(1));
    for (model, detail, is_fine) in [
        (zoned(), Value::from("UTC"), true),
        (zoned(), Value::map([("kind", Value::from("block"))]), false),
        (period(), Value::from("M"), true),
        (period(), Value::Int(1), false),
        (long(Logical::Plain, Unit::None), Value::Int(1), false),
        (long(Logical::Duration, Unit::Second), Value::from("UTC"), false),
        (extension(), Value::map([name()]), true),
        (extension(), Value::map([name(), ("codes", Value::Int(1))]), true),
        (extension(), Value::map([name(), ("metadata", Value::Bytes(vec![1]))]), true),
        (extension(), Value::map([name(), more]), false),
        (extension(), Value::map([("name", Value::Int(1))]), false),
        (extension(), Value::from("a.b"), false),
        (union(), codes(list(1)), true),
        (union(), codes(Value::Null), false),
        (union(), codes(list(2)), false),
        (union(), Value::map([("other", Value::Null)]), true),
        (union(), list(1), false),
        (extension_of_union(), Value::map([name(), ("codes", list(1))]), true),
        (extension_of_union(), Value::map([name(), ("codes", list(2))]), false),
    ] {
        let at = format!("{:?} {detail:?}", model.of);
        let of_host = model.clone().with_host_detail(detail.clone());
        let of_type = Model { detail: Some(detail), ..model };
        let (table, bytes) = one_column(of_host, 50);
        assert_holds(&bytes, &table);
        let (_, bytes) = one_column(of_type, 50);
        let expected =
            if is_fine { FINE } else { ([None, Some(Kind::Corrupt)], [None, Some(naive::Kind::Corrupt)]) };
        assert_eq!(outcome(&bytes), expected, "{at}");
    }
}

/// Columns of one type with different host details do not share a bundle.
#[test]
fn bundles_have_one_host_detail() {
    let text = |name: &str| Model::text(name, &["a", "b"]);
    let width = |name: &str, width| text(name).with_host_detail(Value::Int(width));
    let map = |name: &str| text(name).with_host_detail(Value::map([("coerce", Value::Bool(true))]));
    let columns = vec![width("a", 3), width("b", 4), text("c"), width("d", 3), text("e"), map("f"), map("g")];
    let table = Table::new("rules", columns);
    let bytes = frames::write_at(&table, 50);
    assert_holds(&bytes, &table);
    assert_eq!(outcome(&bytes), FINE);
    let columns = naive::decode(&bytes).unwrap().columns;
    let storage: Vec<_> = columns.iter().take(7).map(|column| column.record.storage).collect();
    assert_eq!(storage, [Some(7), None, Some(8), Some(7), Some(8), None, None]);
    assert_eq!(columns[7].host_detail, columns[0].host_detail);
}
