//! The encoder chooses each encoding for the values that suit it, and its choice is within 10 % of
//! the best one.

use entasis::{Codec, Filter, Packing, Physical, Transform};
use entasis_testkit::frames::{self, Model, Table, noise, read};
use entasis_testkit::naive::{self, segment::features};
use entasis_testkit::sizes::{self, Words};

/// One block.
const N: usize = 60_000;

/// A compression without codecs.
const LIGHT: u8 = 40;

/// The encoder's choice for a column of one block.
struct Chosen {
    packing: Packing,
    transform: Transform,
    codec: Codec,
    filter: Filter,
    features: Vec<String>,
    len: usize,
}

fn choose(model: &Model, compression: u8) -> Chosen {
    let table = Table::new(model.name.clone(), vec![model.clone()]);
    let bytes = frames::write_at(&table, compression);
    let file = read::open(&bytes).unwrap();
    let blocks = file.blocks(0).unwrap();
    assert_eq!(blocks.len(), 1, "{}", model.name);
    let decoded = naive::decode(&bytes).unwrap();
    let column = &decoded.columns[0];
    assert!(column.cells == model.cells, "{}", model.name);
    let encoding = blocks[0].encoding;
    Chosen {
        packing: encoding.packing,
        transform: encoding.transform,
        codec: encoding.codec,
        filter: encoding.filter,
        features: features(&bytes, &column.blocks[0], &column.record.of).unwrap(),
        len: blocks[0].pages_len as usize,
    }
}

/// Asserts that a block is at most 10 % and 64 bytes larger than the best size.
fn near(name: &str, chosen: &Chosen, mut sizes: Vec<(&'static str, usize)>) {
    sizes.sort_by_key(|size| size.1);
    println!(
        "{name}: {} bytes as {:?}; best by formula: {:?}",
        chosen.len,
        chosen.features[0],
        &sizes[..2.min(sizes.len())]
    );
    let best = sizes[0].1;
    assert!(
        chosen.len <= best + best / 10 + 64,
        "{name}: {} bytes, where {:?} takes {best}",
        chosen.len,
        sizes[0].0
    );
}

fn integers(model: Model, packing: Packing, feature: Option<&str>) {
    let chosen = choose(&model, LIGHT);
    let name = &model.name;
    assert_eq!(
        (chosen.packing, chosen.transform),
        (packing, Transform::None),
        "{name}: {:?}",
        chosen.features
    );
    if let Some(feature) = feature {
        assert!(
            chosen.features.iter().any(|has| has == feature),
            "{name}: {feature} in {:?}",
            chosen.features
        );
    }
    let width = model.of.physical.width().unwrap();
    near(name, &chosen, Words::of(&model.cells, width, model.of.physical.is_signed()).sizes());
}

#[test]
fn packings_of_integers() {
    let r = noise(N, 1);
    integers(Model::words("noise", Physical::U64, &r), Packing::Raw, None);
    integers(Model::words("constant", Physical::I32, &[-7i32; N]), Packing::Constant, Some("no pages"));
    let small: Vec<i32> = r.iter().map(|v| (v % 100) as i32 - 1_000_000).collect();
    integers(Model::words("small", Physical::I32, &small), Packing::BitPacked, None);
    let steps: Vec<u64> = (0..N).map(|i| ((i / 1024) as u64) << 40 | (r[i] & 0xFFFF)).collect();
    integers(Model::words("steps", Physical::U64, &steps), Packing::BitPacked, Some("per vector"));
    let outliers: Vec<u32> = r.iter().map(|v| (if v % 500 == 0 { v >> 9 } else { v % 30 }) as u32).collect();
    integers(Model::words("outliers", Physical::U32, &outliers), Packing::BitPacked, Some("patches"));
    let times: Vec<i64> = (0..N).map(|i| i as i64 * 1_000_000 + (r[i] % 1000) as i64).collect();
    integers(Model::words("times", Physical::I64, &times), Packing::Delta, None);
    let count: Vec<i16> = (0..N).map(|i| i as i16).collect();
    integers(Model::words("count", Physical::I16, &count), Packing::Delta, None);
    let runs: Vec<i64> = (0..N).map(|i| (r[i / 150] >> 30) as i64).collect();
    integers(Model::words("runs", Physical::I64, &runs), Packing::RunLength, None);
}

#[test]
fn dictionaries() {
    let r = noise(N, 2);
    let pick = |i: usize| (r[i] >> 20) as usize;
    let keys = noise(300, 3);
    let words: Vec<u64> = (0..N).map(|i| keys[pick(i) % 300]).collect();
    let floats: Vec<f64> = (0..N).map(|i| f64::from_bits(keys[pick(i) % 200] >> 2 | 1 << 61)).collect();
    let singles: Vec<u32> = (0..N).map(|i| (keys[pick(i) % 50] as u32) >> 2).collect();
    let wide: Vec<[u64; 2]> = (0..N).map(|i| [keys[pick(i) % 30], 5]).collect();
    let texts: Vec<String> =
        (0..N).map(|i| format!("a text with the number {:x}", keys[pick(i) % 300])).collect();
    let runs: Vec<String> = (0..N).map(|i| format!("a text with the number {:x}", keys[i / 250])).collect();
    for (model, extra) in [
        (Model::words("words", Physical::U64, &words), 0),
        (Model::words("floats", Physical::F64, &floats), 0),
        (Model::words("singles", Physical::F32, &singles), 0),
        (Model::words("16-byte", Physical::Complex128, &wide), 0),
        (Model::text("texts", &texts), 4),
        (Model::text("runs of texts", &runs), 4),
    ] {
        let best = vec![("dictionary", sizes::dictionary(&model.cells, extra))];
        // With codecs there are more choices, so the chosen one is not larger.
        near(&model.name, &choose(&model, 50), best.clone());
        let chosen = choose(&model, LIGHT);
        near(&model.name, &chosen, best);
        assert_eq!(chosen.transform, Transform::Dictionary, "{}: {:?}", model.name, chosen.features);
    }
}

#[test]
fn alp() {
    let r = noise(N, 4);
    let prices: Vec<f64> = r.iter().map(|v| (v % 1_000_000) as f64 / 100.0).collect();
    let mut odd = prices.clone();
    odd.iter_mut().step_by(300).for_each(|value| *value = (*value).sqrt() / 3.0);
    odd.iter_mut().step_by(301).for_each(|value| *value = f64::NAN);
    let singles: Vec<f32> = r.iter().map(|v| (v % 10_000) as f32 / 10.0).collect();
    let mut rough = singles.clone();
    rough.iter_mut().step_by(300).for_each(|value| *value = (*value).sqrt() / 3.0);
    let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();
    for (model, values, transform, patches) in [
        (Model::words("prices", Physical::F64, &prices), prices.clone(), Transform::Alp, false),
        (Model::words("prices, some not", Physical::F64, &odd), odd.clone(), Transform::Alp, true),
        // Some of these are not an exact multiple of the float 0.1.
        (Model::words("singles", Physical::F32, &singles), wide(&singles), Transform::Residual, false),
        (Model::words("singles, some not", Physical::F32, &rough), wide(&rough), Transform::Residual, true),
    ] {
        let chosen = choose(&model, LIGHT);
        assert_eq!(chosen.transform, transform, "{}: {:?}", model.name, chosen.features);
        assert_eq!(chosen.features.iter().any(|has| has == "patches"), patches, "{}", model.name);
        let sizes = vec![("alp", sizes::alp(&values, model.of.physical == Physical::F32))];
        near(&model.name, &chosen, sizes);
    }
}

#[test]
fn nan_among_decimals() {
    let r = noise(N, 24);
    let shares: Vec<f64> = r.iter().map(|v| (v % 16_384) as f64 / 100.0).collect();
    let rare = |i: usize| r[i].wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let holes = |every| {
        let some = |(i, &value): (usize, &f64)| if rare(i) % every == 0 { f64::NAN } else { value };
        shares.iter().enumerate().map(some).collect::<Vec<f64>>()
    };
    // Few exceptions cost a position of two bytes each; many of them cost two bits of residual per
    // value.
    for (every, transform) in [(100, Transform::Alp), (30, Transform::Alp), (4, Transform::Residual)] {
        let values = holes(every);
        let n_nan = values.iter().filter(|value| value.is_nan()).count();
        let model = Model::words(format!("one in {every} NaN"), Physical::F64, &values);
        let chosen = choose(&model, 50);
        assert_eq!(chosen.transform, transform, "{}: {:?}", model.name, chosen.features);
        let best = if transform == Transform::Alp { N * 14 / 8 + n_nan * 2 } else { N * 16 / 8 };
        assert!(chosen.len < best + best / 40, "{}: {} bytes, not {best}", model.name, chosen.len);
    }
    // LZ4 finds the many zeros in the integers.
    let mut zeros = holes(50);
    for (i, value) in zeros.iter_mut().enumerate().filter(|(i, _)| i / 60 % 3 > 0) {
        *value = if value.is_nan() { *value } else { (i % 2) as f64 };
    }
    let model = Model::words("zeros and NaN", Physical::F64, &zeros);
    let chosen = choose(&model, 50);
    assert!(chosen.codec == Codec::Lz4 && chosen.len < N, "{} {:?}", chosen.len, chosen.features);
}

/// Each day lists the same groups. A period is longer than the trials of codecs, and shorter than a
/// page.
#[test]
fn groups_that_repeat() {
    const GROUPS: usize = 2900;
    let r = noise(GROUPS, 34);
    let ids: Vec<i32> = (0..N).map(|i| (1001 + 2 * (i % GROUPS) + i % GROUPS / 60 * 900) as i32).collect();
    let counts: Vec<i32> = (0..N)
        .map(|i| (r[i % GROUPS] % 300 + i as u64 / GROUPS as u64 * (r[i % GROUPS] % 40 / 39)) as i32)
        .collect();
    for (name, values, bits) in [("ids", ids, 16), ("counts", counts, 9)] {
        let is_there = |i: usize| !(i % GROUPS).is_multiple_of(97);
        let long: Vec<i64> = values.iter().map(|&value| value.into()).collect();
        let floats = |(i, &value): (usize, &i32)| if is_there(i) { f64::from(value) } else { f64::NAN };
        let floats: Vec<f64> = values.iter().enumerate().map(floats).collect();
        let models = [
            Model::words(format!("{name}, 32 bits"), Physical::I32, &values).with_missing(is_there),
            Model::words(format!("{name}, 64 bits"), Physical::I64, &long).with_missing(is_there),
            Model::words(format!("{name}, floats"), Physical::F64, &floats),
        ];
        let chosen = models.map(|model| choose(&model, 50));
        let first = chosen[0].len;
        for chosen in &chosen {
            assert_eq!(chosen.codec, Codec::Lz4, "{name}: {:?}", chosen.features);
            assert!(chosen.len < N * bits / 8 * 8 / 10, "{name}: {} bytes", chosen.len);
            assert!(chosen.len * 10 < first * 11, "{name}: {} bytes", chosen.len);
        }
    }
}

#[test]
fn alp_with_residual() {
    let r = noise(N, 14);
    let sum = |v: u64| (v % 30_000) as f64 / 1000.0 + (v >> 40) as f64 % 5000.0 / 1000.0;
    let sums: Vec<f64> = r.iter().map(|&v| sum(v)).collect();
    let mut odd = sums.clone();
    odd.iter_mut().step_by(300).for_each(|value| *value = (*value).sqrt() / 3.0);
    for (name, values) in [("sums", sums), ("sums, some not", odd)] {
        let model = Model::words(name, Physical::F64, &values);
        let chosen = choose(&model, LIGHT);
        assert_eq!(chosen.transform, Transform::Residual, "{name}: {:?}", chosen.features);
        near(name, &chosen, vec![("residual", sizes::residual(&values))]);
    }
}

#[test]
fn strings_and_codecs() {
    let r = noise(8000, 5);
    let tokens: Vec<String> =
        r.iter().map(|v| String::from_utf8_lossy(&v.to_be_bytes().map(|b| b & 0x7F)).into()).collect();
    let tokens = Model::text("tokens", &tokens);
    let chosen = choose(&tokens, LIGHT);
    assert_eq!((chosen.packing, chosen.codec), (Packing::Strings, Codec::None), "{:?}", chosen.features);
    near("tokens", &chosen, vec![("strings", sizes::strings(&tokens.cells))]);

    let texts: Vec<String> =
        r.iter().map(|v| format!("the customer with the number {v:x} came by")).collect();
    let texts = Model::text("texts", &texts);
    let chosen = choose(&texts, LIGHT);
    assert_eq!((chosen.packing, chosen.codec), (Packing::Fsst, Codec::None), "{:?}", chosen.features);
    near("texts as symbols", &chosen, vec![("a third of strings", sizes::strings(&texts.cells) / 3)]);
    // Repeats at distances that FSST symbols cannot use.
    let same = "the same again for most of its length ".repeat(5);
    let alike = Model::text("alike", &r[..4000].iter().map(|v| format!("{same}{v:x}")).collect::<Vec<_>>());
    for (compression, codec, texts) in [(50, Codec::Lz4, &alike), (80, Codec::Zstd, &texts)] {
        let plain: Vec<u8> = texts.cells.iter().flatten().flatten().copied().collect();
        let chosen = choose(texts, compression);
        assert_eq!((chosen.packing, chosen.codec), (Packing::Strings, codec), "{:?}", chosen.features);
        let pages = plain.chunks(256 << 10);
        let len = match codec {
            Codec::Lz4 => pages.map(|page| lz4_flex::block::compress(page).len()).sum(),
            _ => pages.map(|page| zstd_len(page, 3)).sum(),
        };
        near("texts", &chosen, vec![("strings", sizes::strings(&texts.cells)), ("strings with codec", len)]);
    }

    // Too small for decimals.
    let smooth: Vec<f64> = (0..N).map(|i| (1000.0 + (i as f64 / 5000.0).sin()) * 1e-30).collect();
    let smooth = Model::words("smooth", Physical::F64, &smooth);
    let chosen = choose(&smooth, 100);
    assert_eq!((chosen.codec, chosen.filter), (Codec::Zstd, Filter::Shuffle), "{:?}", chosen.features);
    let bytes: Vec<u8> = smooth.cells.iter().flatten().flatten().copied().collect();
    let pages = bytes.chunks(65_536);
    let shuffled = pages.map(|page| zstd_len(&shuffle(page), 3)).sum();
    near("smooth", &chosen, vec![("raw", bytes.len()), ("shuffled", shuffled)]);
}

fn zstd_len(bytes: &[u8], level: i32) -> usize {
    let mut out = vec![0; zstd_safe::compress_bound(bytes.len())];
    zstd_safe::compress(out.as_mut_slice(), bytes, level).unwrap()
}

fn shuffle(bytes: &[u8]) -> Vec<u8> {
    (0..8).flat_map(|k| bytes.iter().skip(k).step_by(8).copied()).collect()
}

#[test]
fn bools_and_validity() {
    let constant = choose(&Model::bools("true", &[true; N]), 50);
    assert_eq!((constant.packing, constant.len), (Packing::Constant, 0));
    let bits = choose(&Model::bools("bits", &noise(N, 6).iter().map(|v| v % 2 == 0).collect::<Vec<_>>()), 50);
    assert_eq!(bits.packing, Packing::Raw);
    near("bits", &bits, vec![("raw", N.div_ceil(8))]);
    let few = Model::words("few missing", Physical::I32, &[1i32; N]).with_missing(|i| i % 3000 != 5);
    let few = choose(&few, 50);
    assert!(few.features.iter().any(|has| has == "validity 3"), "{:?}", few.features);
    near("few missing", &few, vec![("sparse", 8 * 3 + 2 * N.div_ceil(3000))]);
    let none = choose(&Model::words("none there", Physical::I32, &[1i32; N]).with_missing(|_| false), 50);
    assert!(none.features.iter().any(|has| has == "validity 2"), "{:?}", none.features);
    near("none there", &none, vec![("all missing", 8)]);
}
