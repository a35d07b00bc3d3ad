//! Columns whose values suit one encoding each.

use entasis::Physical;

use super::models::{Model, noise};

/// Columns that lead to every encoding, with `n` values each.
pub fn columns(n: usize) -> Vec<Model> {
    let mut all = integers(n);
    all.extend(floats(n));
    all.extend(texts(n));
    all.extend(others(n));
    all
}

fn integers(n: usize) -> Vec<Model> {
    let r = noise(n, 1);
    let map =
        |f: &dyn Fn(usize, u64) -> i64| -> Vec<i64> { r.iter().enumerate().map(|(i, &v)| f(i, v)).collect() };
    let small: Vec<i32> = r.iter().map(|v| (v % 100) as i32 + 1).collect();
    let runs: Vec<i16> = (0..n).map(|i| (i / 300 % 7) as i16 - 3).collect();
    let outliers: Vec<u32> = r.iter().map(|v| (if v % 997 == 0 { *v } else { v % 30 }) as u32).collect();
    let steps: Vec<u64> = r.iter().enumerate().map(|(i, v)| ((i / 1024) as u64) << 40 | (v & 0xFF)).collect();
    let far: Vec<u64> =
        r.iter().map(|v| [3, u64::MAX, 1 << 50, 0x1234_5678_9ABC_DEF0][(v % 4) as usize]).collect();
    let narrow: Vec<i64> = r.iter().map(|v| i64::MIN + (v % 9) as i64).collect();
    let bytes: Vec<u8> = r.iter().map(|v| *v as u8).collect();
    let signed: Vec<i8> = r.iter().map(|v| (v % 9) as i8 - 4).collect();
    let shorts: Vec<u16> = r.iter().map(|v| (v % 5000) as u16).collect();
    vec![
        Model::words("small", Physical::I32, &small),
        Model::words("small, some missing", Physical::I32, &small).with_missing(|i| i % 7 != 3),
        Model::words("times", Physical::I64, &map(&|i, v| i as i64 * 1_000_000 + (v % 1000) as i64)),
        Model::words(
            "times, few missing",
            Physical::I64,
            &map(&|i, v| i as i64 * 1_000_000 + (v % 1000) as i64),
        )
        .with_missing(|i| i % 5000 != 77),
        Model::words("count", Physical::I64, &map(&|i, _| 5 - 3 * i as i64)),
        Model::words("runs", Physical::I16, &runs),
        Model::words("outliers", Physical::U32, &outliers),
        Model::words("steps", Physical::U64, &steps),
        Model::words("far apart", Physical::U64, &far),
        Model::words("narrow", Physical::I64, &narrow),
        Model::words("noise", Physical::U64, &r),
        Model::words("bytes", Physical::U8, &bytes),
        Model::words("signed bytes", Physical::I8, &signed),
        Model::words("shorts", Physical::U16, &shorts),
        Model::words("constant", Physical::I64, &vec![-42i64; n]),
        Model::words("constant, half missing", Physical::I64, &vec![42i64; n]).with_missing(|i| i % 2 == 0),
        Model::words("all missing", Physical::I64, &vec![42i64; n]).with_missing(|_| false),
        Model::words("missing at first", Physical::U32, &outliers).with_missing(|i| i >= 8192),
    ]
}

fn floats(n: usize) -> Vec<Model> {
    let r = noise(n, 2);
    let prices: Vec<f64> = r.iter().map(|v| ((v >> 9) % 20 * 37 + 5) as f64 / 100.0).collect();
    let decimals: Vec<f64> = r.iter().map(|v| (v % 1_000_000) as f64 / 1000.0).collect();
    let sums: Vec<f64> = (0..n)
        .map(|i| if i / 50 % 3 == 1 { f64::NAN } else { decimals[i] + (r[i] >> 30) as f64 % 5000.0 / 1000.0 })
        .collect();
    let mut mixed = decimals.clone();
    for (i, value) in mixed.iter_mut().enumerate() {
        *value = match i % 97 {
            0 => f64::NAN,
            1 => -0.0,
            2 => f64::INFINITY,
            3 => f64::from_bits(0x7FF8_0000_0000_07A2),
            4 => 1e300 / 3.0,
            5 => f64::from_bits(1),
            _ => *value,
        };
    }
    let real: Vec<f64> = r.iter().map(|&v| f64::from_bits(v >> 2 | 0x3000_0000_0000_0000)).collect();
    let smooth: Vec<f64> = (0..n).map(|i| (i as f64 / 700.0).sin()).collect();
    let singles: Vec<f32> = r.iter().map(|v| (v % 1000) as f32 / 10.0).collect();
    let mut odd = singles.clone();
    odd.iter_mut().step_by(61).for_each(|value| *value = f32::from_bits(0x7FC0_1234));
    odd.iter_mut().step_by(67).for_each(|value| *value = 1.0 / 3.0);
    let rough: Vec<f32> = r.iter().map(|v| f32::from_bits((*v as u32) >> 2 | 0x3000_0000)).collect();
    let prices_exact: Vec<i128> = r.iter().map(|v| i128::from(v % 10_000_000) - 5000).collect();
    let long: Vec<i128> = r.iter().map(|v| i128::from(*v as i64) << 40).collect();
    let few = |len: usize| r.iter().map(|v| Some(vec![(v % 5) as u8; len])).collect::<Vec<_>>();
    let tokens = |len: usize| {
        let token = |v: &u64| Some((0..len).map(|i| (v.rotate_left(i as u32 * 7)) as u8).collect());
        r.iter().map(token).collect::<Vec<_>>()
    };
    let records = r.iter().enumerate().map(|(i, v)| {
        Some([&(i as u32).to_le_bytes()[..], &((v % 100) as f64).to_le_bytes(), b"ab\0"].concat())
    });
    let halves: Vec<u16> = r.iter().map(|v| (v % 5000) as u16).collect();
    let pairs: Vec<[f64; 2]> = r.iter().map(|v| [(v % 7) as f64, (v % 3) as f64]).collect();
    let rare: Vec<[f64; 2]> = r.iter().map(|v| [f64::from_bits(v >> 2), 7.0]).collect();
    let complex: Vec<[f32; 2]> = r.iter().map(|v| [(v % 70) as f32, f32::NAN]).collect();
    vec![
        Model::words("prices", Physical::F64, &prices),
        Model::words("decimals", Physical::F64, &decimals),
        Model::words("sums", Physical::F64, &sums),
        Model::words("decimals, some missing", Physical::F64, &decimals).with_missing(|i| i % 3 != 0),
        Model::words("decimals, some not", Physical::F64, &mixed),
        Model::words("real", Physical::F64, &real),
        Model::words("real, few missing", Physical::F64, &real).with_missing(|i| i % 1000 != 3),
        Model::words("smooth", Physical::F64, &smooth),
        Model::words("singles", Physical::F32, &singles),
        Model::words("singles, some not", Physical::F32, &odd),
        Model::words("rough singles", Physical::F32, &rough),
        Model::words("NaN", Physical::F64, &vec![f64::NAN; n]),
        Model::decimals("exact prices", 15, 2, &prices_exact),
        Model::decimals("exact prices, some missing", 9, 2, &prices_exact).with_missing(|i| i % 6 != 0),
        Model::decimals("long decimals", 38, 10, &long),
        Model::decimals("long decimals, some missing", 38, 10, &long).with_missing(|i| i % 40 != 7),
        Model::decimals("far decimals", 70, 10, &long),
        Model::decimals("near decimals", 70, 10, &prices_exact),
        Model::decimals("near decimals of 38 digits", 38, 10, &prices_exact).with_missing(|i| i % 12 != 5),
        Model::decimals("one long decimal", 38, 2, &vec![-7; n]),
        Model::fixed("few rows", 12, few(12)),
        Model::fixed("few rows, some missing", 3, few(3)).with_missing(|i| i % 8 != 1),
        Model::fixed("tokens of bytes", 20, tokens(20)),
        Model::fixed("no bytes", 0, few(0)).with_missing(|i| i % 5 != 1),
        Model::fixed("records", 15, records.collect()).with_missing(|i| i % 900 != 1),
        Model::fixed("no records", 15, few(15)).with_missing(|_| false),
        Model::words("halves", Physical::F16, &halves),
        Model::words("complex128, few", Physical::Complex128, &pairs),
        Model::words("complex128", Physical::Complex128, &rare),
        Model::words("complex64", Physical::Complex64, &complex),
        Model::words("complex64, missing", Physical::Complex64, &complex).with_missing(|i| i % 10 != 0),
    ]
}

fn texts(n: usize) -> Vec<Model> {
    let r = noise(n, 3);
    let words: Vec<String> = r.iter().map(|v| format!("word {}", v % 300)).collect();
    let texts: Vec<String> =
        r.iter().map(|v| format!("text {v:x} \u{e9} {}", "lorem ipsum ".repeat((v % 9) as usize))).collect();
    let tokens: Vec<String> = r.iter().map(|v| format!("{v:016x}{:016x}", v.wrapping_mul(*v))).collect();
    let runs: Vec<String> = (0..n).map(|i| format!("run {}", i / 500)).collect();
    let lengths: Vec<String> = r.iter().map(|v| "x".repeat((v % 40) as usize)).collect();
    let bytes = r.iter().map(|v| Some(v.to_be_bytes()[..(v % 9) as usize].to_vec())).collect();
    vec![
        Model::text("words", &words),
        Model::text("words, some missing", &words).with_missing(|i| i % 3 != 0),
        Model::text("texts", &texts),
        Model::text("texts, some missing", &texts).with_missing(|i| i % 5 != 0),
        Model::text("texts, all missing", &texts).with_missing(|_| false),
        Model::text("tokens", &tokens),
        Model::text("runs of texts", &runs),
        Model::text("lengths", &lengths),
        Model::text("one text", &vec!["the same \u{1F600}"; n]),
        Model::text("one text, some missing", &vec!["the same"; n]).with_missing(|i| i % 4 != 0),
        Model::text("empty texts", &vec![""; n]),
        Model::new("binary", Physical::Binary, bytes),
    ]
}

fn others(n: usize) -> Vec<Model> {
    let r = noise(n, 4);
    let bools: Vec<bool> = r.iter().map(|v| v % 10 != 0).collect();
    vec![
        Model::bools("bools", &bools),
        Model::bools("bools, some missing", &bools).with_missing(|i| i % 20 != 9),
        Model::bools("bools, all missing", &bools).with_missing(|_| false),
        Model::bools("true", &vec![true; n]),
        Model::bools("false", &vec![false; n]),
        Model::new("null", Physical::Null, vec![None; n]),
    ]
}
