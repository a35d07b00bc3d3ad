//! Every combination of packing, transform, codec, filter, flags and validity that the page allows
//! is decoded, even if the encoder never chooses it.

use std::collections::BTreeMap;

use entasis::Physical;
use entasis_testkit::compare::assert_holds;
use entasis_testkit::forge::{Plan, forge, naive_type};
use entasis_testkit::frames::{self, Model, Table, noise};
use entasis_testkit::hostile::by_tier;

/// Values with few distinct ones, so that every transform can express them.
fn model(physical: Physical, n: usize) -> Model {
    let r = noise(n, 1);
    let width = physical.width().unwrap_or(LEN as usize);
    let cell = |i: usize| {
        let v = r[i / 3] >> 7;
        match physical {
            Physical::Utf8 | Physical::Binary => format!("\u{e9}{}", v % 40).into_bytes(),
            Physical::I128 | Physical::U128 | Physical::I256 => {
                let value = ((v % 30) as i64 - 12) * 0x0706_0504_0302_0107;
                let sign = if value < 0 { 0xFF } else { 0 };
                let mut bytes = value.to_le_bytes().to_vec();
                bytes.resize(width, sign);
                bytes
            }
            Physical::FixedBytes => vec![(v % 30) as u8; width],
            Physical::Complex128 | Physical::LongDouble => {
                (u128::from(v % 30) << 64 | 5).to_le_bytes().to_vec()
            }
            // Far apart, also as signed numbers.
            _ => (v % 40).wrapping_mul(0x0706_0504_0302_0107).to_le_bytes()[..width].to_vec(),
        }
    };
    let cells = (0..n).map(|i| Some(cell(i))).collect();
    match physical {
        Physical::FixedBytes => Model::fixed(physical.name(), LEN, cells),
        _ => Model::new(physical.name(), physical, cells),
    }
}

/// Bytes of a value of fixed bytes.
const LEN: u32 = 11;

/// Floats that ALP makes from integers on both sides of zero.
fn decimals(physical: Physical, n: usize, (e, f): (u8, u8)) -> Model {
    let cell = |v: u64| {
        let d = (v >> 7) as i64 % 50 * 25 - 300;
        if physical == Physical::F64 {
            let power = |text: String| text.parse::<f64>().unwrap();
            (d as f64 * power(format!("1e{f}")) * power(format!("1e-{e}"))).to_le_bytes().to_vec()
        } else {
            let power = |text: String| text.parse::<f32>().unwrap();
            (d as f32 * power(format!("1e{f}")) * power(format!("1e-{e}"))).to_le_bytes().to_vec()
        }
    };
    let r = noise(n, 1);
    Model::new(physical.name(), physical, (0..n).map(|i| Some(cell(r[i / 3] & 0xFFFF_FFFF))).collect())
}

/// Decimals on both sides of zero, and NaN. The decimals are off by as many units in the last place
/// as the residual has room for, at most.
fn sums(physical: Physical, n: usize, (e, bits): (u8, u8)) -> Model {
    let off = |v: u64| (v >> 20) % (1 << bits);
    let half = 1 << (bits - 1);
    let cell = |v: u64| {
        let d = (v >> 7) as i64 % 50 * 25 - 310;
        if physical == Physical::F64 {
            let near = d as f64 * format!("1e-{e}").parse::<f64>().unwrap();
            if off(v) == 0 {
                return f64::NAN.to_le_bytes().to_vec();
            }
            near.to_bits().wrapping_add(off(v)).wrapping_sub(half).to_le_bytes().to_vec()
        } else {
            let near = d as f32 * format!("1e-{e}").parse::<f32>().unwrap();
            if off(v) == 0 {
                return f32::NAN.to_le_bytes().to_vec();
            }
            let off = (off(v) as u32).wrapping_sub(half as u32);
            near.to_bits().wrapping_add(off).to_le_bytes().to_vec()
        }
    };
    let r = noise(n, 1);
    Model::new(physical.name(), physical, (0..n).map(|i| Some(cell(r[i / 3] & 0xFFFF_FFFF))).collect())
}

fn plans(physical: Physical) -> Vec<Plan> {
    let is_var = physical.is_var();
    let is_narrow = matches!(physical, Physical::I128 | Physical::U128 | Physical::I256);
    let is_raw = matches!(physical, Physical::Complex128 | Physical::LongDouble | Physical::FixedBytes);
    let is_float = matches!(physical, Physical::F32 | Physical::F64);
    let mut plans = Vec::new();
    for transform in 0..4u8 {
        for packing in 0..5u8 {
            let allowed = match transform {
                0 => !is_var && (!is_raw || packing == 0),
                1 => true,
                _ => is_float,
            };
            if !allowed {
                continue;
            }
            let exponents = match transform {
                2 => [(2, 0), (9, 7)][usize::from(packing % 2)],
                3 => [(2, 3), (1, 8)][usize::from(packing % 2)],
                _ => (0, 0),
            };
            for codec in 0..3u8 {
                let plain = Plan { packing, transform, codec, exponents, ..Plan::default() };
                plans.push(plain);
                let word = if transform == 1 { 4 } else { physical.width().unwrap_or(LEN as usize) };
                if packing == 0 && word > 1 {
                    plans.push(Plan { filter: 1, ..plain });
                }
                if packing == 2 {
                    plans.push(Plan { per_vector: true, ..plain });
                    if transform != 1 && !is_narrow {
                        plans.push(Plan { patches: true, ..plain });
                        plans.push(Plan { patches: true, per_vector: true, ..plain });
                    }
                }
            }
        }
    }
    plans
}

/// A table of one column, and a file of it whose block is forged.
fn written(model: Model) -> (Table, Vec<u8>) {
    let table = Table::new("", vec![model]);
    let file = frames::write_at(&table, 40);
    (table, file)
}

fn check((table, file): &mut (Table, Vec<u8>), plan: &Plan) -> bool {
    let model = &table.columns[0];
    table.name = format!("{} {plan:?} n = {}", model.name, table.n_rows);
    let Some(forged) = forge(file, &model.cells, &naive_type(&model.of), plan) else { return false };
    assert_holds(&forged, table);
    true
}

fn check_all(physical: Physical, sizes: &[usize]) {
    let mut n_plans = 0;
    for &n in sizes {
        // Plans share the files that they forge.
        let mut files = BTreeMap::new();
        for plan in plans(physical) {
            for kind in [None, Some(0), Some(1), Some(2), Some(3)] {
                let plan = Plan { validity: kind, ..plan };
                let of = if plan.transform < 2 { 0 } else { plan.transform };
                let file = files.entry((of, plan.exponents, plan.packing == 1, kind)).or_insert_with(|| {
                    let mut whole = match plan.transform {
                        2 => decimals(physical, n, plan.exponents),
                        3 => sums(physical, n, plan.exponents),
                        _ => model(physical, n),
                    };
                    if plan.packing == 1 {
                        whole.cells = vec![whole.cells[n - 1].clone(); n];
                    }
                    // The words of missing values are zero. So a constant block can only have
                    // missing values if its constant is zero.
                    written(match kind {
                        Some(1) => whole.with_missing(|i| i % 3 != 0),
                        Some(2) => whole.with_missing(|_| false),
                        Some(3) => whole.with_missing(|i| i % 1000 != 0),
                        _ => whole,
                    })
                });
                n_plans += u32::from(check(file, &plan));
            }
        }
    }
    println!("{}: {n_plans} files", physical.name());
    assert!(n_plans > 30, "{}: {n_plans} files", physical.name());
}

#[test]
fn integers() {
    for physical in [Physical::I8, Physical::U16, Physical::I32, Physical::U64] {
        check_all(physical, by_tier(&[1, 2100], &[1, 1000, 2100], &[1, 1000, 2100]));
    }
}

#[test]
fn floats() {
    for physical in [Physical::F16, Physical::F32, Physical::F64, Physical::Complex64] {
        check_all(physical, &[1, 2100]);
    }
}

#[test]
fn many_pages() {
    check_all(Physical::F32, &[by_tier(8_400, 17_000, 17_000)]);
}

#[test]
fn dictionaries_of_the_rest() {
    for physical in
        [Physical::Utf8, Physical::Binary, Physical::Complex128, Physical::LongDouble, Physical::FixedBytes]
    {
        check_all(physical, by_tier(&[1, 2100], &[1, 1000, 2100], &[1, 1000, 2100]));
    }
}

#[test]
fn long_integers() {
    for physical in [Physical::I128, Physical::U128, Physical::I256] {
        check_all(physical, by_tier(&[1, 2100], &[1, 1000, 2100], &[1, 1000, 2100]));
    }
}
