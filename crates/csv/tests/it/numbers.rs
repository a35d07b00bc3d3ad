//! Decimal numbers are the nearest doubles.

use entasis_csv::values::PADDING;
use entasis_csv::values::floats::{Number, number, single};

use crate::common::{Dice, by_tier};

/// Compares with the standard library. Texts that are not numbers here are counted.
fn check(field: &str) -> bool {
    // The bytes after a field are those of the next ones.
    for next in ["0", "9", ".", ","] {
        let text = [field.as_bytes(), next.repeat(PADDING).as_bytes()].concat();
        let value: f64 = field.parse().unwrap();
        let found = match number(&text, 0, field.len(), b'.') {
            Some(Number::Float(found) | Number::Integer(found)) => found,
            Some(Number::Word(_)) => panic!("{field} is not a word"),
            None => return false,
        };
        assert_eq!(found.to_bits(), value.to_bits(), "{field}");
        if let Some(found) = single(&text, 0, field.len(), b'.') {
            assert_eq!(found.to_bits(), field.parse::<f32>().unwrap().to_bits(), "{field} of 32 bits");
        }
        let comma = String::from_utf8(text).unwrap().replace('.', ",");
        let Some(Number::Float(found) | Number::Integer(found)) =
            number(comma.as_bytes(), 0, field.len(), b',')
        else {
            panic!("{comma}")
        };
        assert_eq!(found.to_bits(), value.to_bits(), "{comma}");
    }
    true
}

/// `digits * 2^exponent` in all its decimal digits.
fn exact(digits: u64, exponent: i32) -> String {
    // Decimal digits, the last one first, and how many of them are a fraction.
    let mut decimal: Vec<u8> = digits.to_string().bytes().rev().map(|byte| byte - b'0').collect();
    let times = |decimal: &mut Vec<u8>, factor: u8| {
        let mut carry = 0;
        for digit in decimal.iter_mut() {
            let value = *digit * factor + carry;
            (*digit, carry) = (value % 10, value / 10);
        }
        if carry > 0 {
            decimal.push(carry);
        }
    };
    for _ in 0..exponent.unsigned_abs() {
        times(&mut decimal, if exponent > 0 { 2 } else { 5 });
    }
    let n_fraction = if exponent < 0 { -exponent as usize } else { 0 };
    while decimal.len() <= n_fraction {
        decimal.push(0);
    }
    let mut text: String = decimal.iter().rev().map(|digit| char::from(b'0' + digit)).collect();
    if n_fraction > 0 {
        text.insert(text.len() - n_fraction, '.');
    }
    text
}

/// Halfway between two doubles, exactly, and one digit above.
#[test]
fn ties_are_even() {
    let mut dice = Dice(1);
    for i in 0..by_tier(600, 1500, 1500) {
        let mantissa = 1 << 52 | dice.number() >> 12;
        let exponent = match i % 3 {
            0 => -(dice.below(70) as i32),
            1 => -1074 + dice.below(60) as i32,
            _ => -(dice.below(1000) as i32),
        };
        // A bit below the last one.
        let tie = exact(2 * mantissa + 1, exponent - 1);
        check(&tie);
        check(&format!("-{tie}1"));
        let mut below = exact(2 * (2 * mantissa + 1), exponent - 2).into_bytes();
        let last = below.iter().rposition(|byte| (b'1'..=b'9').contains(byte)).unwrap();
        below[last] -= 1;
        below.extend(b"9999");
        check(std::str::from_utf8(&below).unwrap());
    }
}

#[test]
fn edges_are_exact() {
    for field in [
        "4.9e-324",
        "4.9406564584124654e-324",
        "2.4703282292062328e-324",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.225073858507201136057409796709131975934819546351645648023426109724822222021076945516529523908135087914149158913039621106870086438694594645527657207407820621743379988141063267329253552286881372149012981122451451889849057222307285255133155755015914397476397983411801999323962548289017107081850690630666655994938275772572015763062690663332647565300009245888316433037779791869612049497390377829704905051080609940730262937128958950003583799967207254304360284078895771796150945516748243471030702609144621572289880258182545180325707018860872113128079512233426288368622321503775666622503982534335974568884423900265498198385487948292206894721689831099698365846814022854243330660339850886445804001034933970427567186443383770486037861622771738545623065874679014086723327636718751234567890123456789012345678901e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "179769313486231570000000000000000000000.5e270",
        "9007199254740993.0",
        "9007199254740992.999999999999",
        "0.000000000000000000000000000000000000000000000000001",
        "123456789012345678901234567890.12345678901234567890",
        "0.1e1",
        "1e23",
        "8.5e22",
        "1e-400000000000000000000000000000000000000000000000000000000000000000000000000000000",
        "0e999999999999999999999999",
        "-0",
        "-0.0e5",
    ] {
        check(field);
    }
    for field in
        ["1e309", "1e-325", "1.7976931348623159e308", "9007199254740993", "00.5", "1e999999999999999999"]
    {
        assert!(!check(field), "{field}");
    }
}

#[test]
fn random_bits_come_back_with_any_number_of_digits() {
    let n = by_tier(50_000, 100_000, 1_000_000);
    let mut dice = Dice(2);
    for _ in 0..n {
        let value = f64::from_bits(dice.number());
        if !value.is_finite() {
            continue;
        }
        let digits = dice.below(25);
        check(&format!("{value:.digits$e}"));
        check(&format!("{value:e}"));
        if (1e-10..1e18).contains(&value.abs()) {
            check(&format!("{value:.digits$}"));
        }
        // Most values of texts have few digits.
        let usual = dice.number() as i64 as f64 / 10f64.powi(dice.below(20) as i32);
        check(&format!("{usual:.*}", dice.below(12) + 1));
        check(&usual.to_string());
    }
}
