//! Stores vectors exactly, as columns of the kinds that were chosen.

use entasis::Result;

use super::attributes;
use super::choose::{Chosen, Implied};
use super::facts::{Facts, na_of};
use super::memory::{Memory, Planned};
use super::pools::memory_of;
use crate::r::kind::Kind;
use crate::r::missing::{NA_INTEGER, NA_INTEGER64, first_na_of};
use crate::r::times::{Scale, exact_unit, from_doubles};
use crate::r::{Data, Value};

/// Whether it is an atomic vector.
pub(super) fn is_atomic(data: &Data) -> bool {
    matches!(
        data,
        Data::Logical(_)
            | Data::Integer(_)
            | Data::Double(_)
            | Data::Complex(_)
            | Data::Raw(_)
            | Data::Strings(_)
    )
}

/// A vector as a column, and whether the kind implies all its attributes. `facts` are those of all
/// values of the column if the vector has a part of them.
pub(super) fn column<'a>(
    value: &'a Value,
    chosen: &Chosen<'a>,
    facts: Option<&Facts>,
) -> Result<(Planned<'a>, bool)> {
    let n = value.len();
    let mut planned = Planned {
        unit: chosen.unit,
        zone: chosen.zone.map(str::to_owned),
        variant: chosen.variant,
        is_ordered: chosen.is_ordered,
        ..Planned::plain(chosen.kind, n, memory_of(&value.data))
    };
    let mut implied = chosen.implied;
    match (&value.data, chosen.kind) {
        (Data::Double(values), Kind::Double) => planned = planned.with_na(first_na(values, facts)),
        (Data::Double(values), _) => {
            if let Some(scale) = chosen.scale {
                let code = first_na(values, facts);
                let na = na_of(code);
                let unit = facts.map_or_else(|| exact_unit(values, scale, na), Facts::unit);
                match unit {
                    Some(unit) => {
                        let counts = from_doubles(values, unit, scale, na)?;
                        planned.memory = match scale {
                            Scale::Days => Memory::Days(
                                counts.iter().map(|&n| i32::try_from(n).unwrap_or(NA_INTEGER)).collect(),
                            ),
                            _ => Memory::Counts(counts),
                        };
                        planned.unit = unit;
                        planned.variant = if code == 2 { super::memory::VARIANT_QUIET } else { 0 };
                    }
                    None => {
                        planned = Planned::plain(Kind::Double, n, memory_of(&value.data)).with_na(code);
                        implied = None;
                    }
                }
            }
        }
        (Data::Strings(_), _) => planned.keeps_codes = facts.is_some_and(Facts::has_codes),
        (Data::Integer(values), Kind::InstantInteger | Kind::SpanInteger) => {
            let wide = |&n: &i32| if n == NA_INTEGER { NA_INTEGER64 } else { i64::from(n) };
            planned.memory = Memory::Counts(values.iter().map(wide).collect());
        }
        _ => (),
    }
    let is_implied = is_same(value, implied);
    Ok((planned, is_implied))
}

/// The code of the first NA of a column.
fn first_na(values: &[f64], facts: Option<&Facts>) -> i32 {
    facts.map_or_else(|| first_na_of(values), Facts::na)
}

/// Whether the attributes of a value are those that a kind implies, in R's order.
fn is_same(value: &Value, implied: Option<Implied<'_>>) -> bool {
    let is = |value: &Value, texts: &[&str]| {
        value.attributes().is_empty()
            && !value.is_s4
            && value.strings().is_some_and(|strings| {
                strings.are_plain() && strings.iter().eq(texts.iter().map(|&text| Some(text)))
            })
    };
    let all: Vec<(&str, &Value)> = attributes(value).collect();
    match (implied, &all[..]) {
        (None, all) => all.is_empty(),
        (Some(Implied::Factor { is_ordered }), [("levels", _), ("class", class)]) => {
            is(class, if is_ordered { &["ordered", "factor"] } else { &["factor"] })
        }
        (Some(Implied::Class(name)), [("class", class)]) => is(class, &[name]),
        (Some(Implied::Instant { zone }), [("class", class), ("tzone", tzone)]) => {
            is(class, &["POSIXct", "POSIXt"]) && is(tzone, &[zone])
        }
        (Some(Implied::Span), [("class", class), ("units", units)]) => {
            is(class, &["difftime"]) && is(units, &["secs"])
        }
        _ => false,
    }
}
