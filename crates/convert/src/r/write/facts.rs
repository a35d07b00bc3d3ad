//! Facts of values that decide how their column is stored.
//!
//! A table that is written window by window has one form of each column. The facts of all windows
//! together give the form that the whole column would have.

use entasis::Unit;

use super::choose::choose;
use crate::r::kind::Kind;
use crate::r::missing::{NA_REAL, NA_REAL_QUIET, first_na_of};
use crate::r::times::{Scale, exact_unit, from_doubles};
use crate::r::{Data, Value};

/// The facts of a column's values so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Which NA of doubles comes first: 0 none, 1 `NA_real_`, 2 the quiet NA.
    na: i32,
    times: Times,
    /// Whether some strings have an encoding other than UTF-8.
    has_codes: bool,
}

/// How times that are doubles are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Times {
    /// No values were seen.
    #[default]
    Unknown,
    /// As counts of a unit.
    In(Unit),
    /// As doubles: no unit is exact.
    Inexact,
}

/// The bits of an NA by its code.
pub(super) fn na_of(code: i32) -> Option<u64> {
    match code {
        0 => None,
        2 => Some(NA_REAL_QUIET),
        _ => Some(NA_REAL),
    }
}

impl Facts {
    /// Whether values of a column decide about its type.
    pub fn decide_type(value: &Value) -> bool {
        choose(value).is_some_and(|chosen| chosen.scale.is_some())
    }

    /// These facts, and those of the next values.
    #[must_use]
    pub fn with(mut self, next: &Value) -> Self {
        match &next.data {
            Data::Double(values) => {
                let Some(chosen) = choose(next) else { return self };
                if self.na == 0 && (chosen.kind == Kind::Double || chosen.scale.is_some()) {
                    self.na = first_na_of(values);
                }
                if let Some(scale) = chosen.scale {
                    self.times = self.times.with(values, scale, na_of(self.na));
                }
            }
            Data::Strings(strings) => {
                self.has_codes |= strings.codes().is_some_and(|codes| codes.iter().any(|&code| code > 0));
            }
            _ => {}
        }
        self
    }

    /// Whether columns with both facts have the same form.
    pub fn has_form_of(&self, other: &Self) -> bool {
        let form = |facts: &Self| (facts.na == 2, facts.times, facts.has_codes);
        form(self) == form(other)
    }

    /// Whether the codes of encodings are stored.
    pub fn has_codes(&self) -> bool {
        self.has_codes
    }

    /// The code of the NA that marks missing doubles.
    pub(super) fn na(&self) -> i32 {
        self.na
    }

    /// The unit of times; `None` if none is exact.
    pub(super) fn unit(&self) -> Option<Unit> {
        match self.times {
            Times::In(unit) => Some(unit),
            Times::Unknown | Times::Inexact => None,
        }
    }
}

impl Times {
    fn with(self, values: &[f64], scale: Scale, na: Option<u64>) -> Self {
        if self == Self::Inexact {
            return self;
        }
        let Some(own) = exact_unit(values, scale, na) else { return Self::Inexact };
        let unit = match self {
            Self::In(known) => finer(known, own),
            _ => own,
        };
        // A finer unit has a shorter range than the own one.
        if unit == own || from_doubles(values, unit, scale, na).is_ok() {
            Self::In(unit)
        } else {
            Self::Inexact
        }
    }
}

/// The finer of two units in which times are stored.
fn finer(a: Unit, b: Unit) -> Unit {
    let level = |unit| match unit {
        Unit::Millisecond => 1,
        Unit::Microsecond => 2,
        Unit::Nanosecond => 3,
        _ => 0,
    };
    if level(a) > level(b) { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(values: &[f64]) -> Value {
        let class = ["POSIXct", "POSIXt"].into_iter().collect();
        Value::from(Data::Double(values.to_vec())).with("class", Data::Strings(Box::new(class)))
    }

    #[test]
    fn windows_have_the_unit_of_the_whole() {
        let (na, quiet) = (f64::from_bits(NA_REAL), f64::from_bits(NA_REAL_QUIET));
        for values in [
            &[1.7e9, 1.5, 3.0][..],
            &[1.5, 1763744436.123457, 2.0],
            &[9e15, 0.000_001],
            &[0.000_001, 9e15],
            &[1.0, f64::INFINITY, 2.0],
            &[1.0, na, 2.5],
            &[quiet, na, 1.0],
            &[1.0, 1.0 / 3.0],
        ] {
            let whole = Facts::default().with(&times(values));
            // A second pass checks the values before the unit became finer.
            let pass = |facts: Facts| values.iter().fold(facts, |facts, &value| facts.with(&times(&[value])));
            let windows = pass(pass(Facts::default()));
            assert!(windows.has_form_of(&whole), "{values:?}: {windows:?}, not {whole:?}");
            assert_eq!(windows, pass(windows), "{values:?}");
        }
    }
}
