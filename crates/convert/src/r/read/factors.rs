//! Categories of other hosts as factors. Levels of R are distinct strings.

use std::collections::HashMap;

use entasis::{ColumnInfo, Error, Physical, Result};

use super::make::set;
use super::table::Table;
use super::{Reading, columns, damage};
use crate::r::digits::as_character;
use crate::r::kind::Kind;
use crate::r::missing::{NA_INTEGER, NA_INTEGER64};
use crate::r::{Data, Strings, Value};

impl Reading<'_> {
    /// A factor of these codes.
    pub(super) fn factor(&self, table: &Table, info: &ColumnInfo, codes: Value) -> Result<Value> {
        let number = info.record.dictionary.ok_or_else(|| damage("a categorical without categories"))?;
        let values = self.extra(table, number, None)?;
        let named = |error: Error| error.in_column(&info.name);
        if let Data::Double(doubles) = &values.data
            && values.attributes.is_none()
            && doubles.iter().any(|value| value.abs() > 2f64.powi(53))
            && matches!(table.info(number)?.record.column_type.physical, Physical::I64 | Physical::U64)
        {
            let error = Error::unsupported("categories are integers beyond the range of bit64");
            return Err(named(error.advise("choose other columns")));
        }
        if values.strings().is_none() {
            self.lose(&info.name, "its categories become text".to_owned());
        }
        let mut levels = as_texts(&values).map_err(named)?;
        let mut codes = codes;
        if let Data::Integer(codes) = &mut codes.data {
            make_distinct(&mut levels, codes);
        }
        set(&mut codes, "levels", Data::Strings(Box::new(levels)).into());
        columns::implied(&mut codes, Kind::Codes, info.record.column_type.ordered, "");
        Ok(codes)
    }
}

/// Joins equal levels, and makes codes of missing levels missing.
fn make_distinct(levels: &mut Strings, codes: &mut [i32]) {
    let mut known: HashMap<&str, i32> = HashMap::with_capacity(levels.len());
    let mut kept = Vec::new();
    let places: Vec<i32> = levels
        .iter()
        .enumerate()
        .map(|(i, level)| {
            level.map_or(NA_INTEGER, |level| {
                *known.entry(level).or_insert_with(|| {
                    kept.push(i);
                    i32::try_from(kept.len()).unwrap_or(NA_INTEGER)
                })
            })
        })
        .collect();
    if kept.len() == levels.len() {
        return;
    }
    for code in codes {
        let at = usize::try_from(*code).ok().and_then(|code| code.checked_sub(1));
        *code = at.and_then(|at| places.get(at).copied()).unwrap_or(NA_INTEGER);
    }
    let mut distinct = Strings::default();
    kept.iter().for_each(|&i| distinct.push_from(levels, i));
    *levels = distinct;
}

/// A vector as strings, as `as.character()` of R gives them.
fn as_texts(value: &Value) -> Result<Strings> {
    let refused = || {
        let class = value.attribute("class").and_then(Value::strings).and_then(|class| class.get(0));
        let of = class.unwrap_or_else(|| value.data.type_name());
        Error::unsupported(format!("categories of the class {of} as text"))
            .advise("convert it in R with convert_entasis(), or choose other columns")
    };
    let mut texts = Strings::default();
    let mut push = |text: Option<&str>| match text {
        Some(text) => texts.push_plain(text),
        None => texts.push_missing(),
    };
    let class = value.attribute("class").and_then(Value::strings).and_then(|class| class.get(0));
    match (&value.data, class) {
        (Data::Strings(strings), None) => return Ok((**strings).clone()),
        (Data::Logical(values), None) => {
            for &value in values {
                push(if value == NA_INTEGER {
                    None
                } else {
                    Some(["FALSE", "TRUE"][usize::from(value != 0)])
                });
            }
        }
        (Data::Integer(values), None) => {
            values.iter().for_each(|n| push(Some(&n.to_string()).filter(|_| *n != NA_INTEGER).map(|n| &**n)));
        }
        (Data::Integer(codes), Some("factor" | "ordered")) => {
            let levels = value.attribute("levels").and_then(Value::strings).ok_or_else(refused)?;
            for &code in codes {
                let at = usize::try_from(code).ok().and_then(|code| code.checked_sub(1));
                push(at.and_then(|at| levels.get(at)));
            }
        }
        (Data::Double(values), None) => {
            for &value in values {
                let is_na = value.is_nan() && value.to_bits() as u32 == 1954;
                let text = if is_na { None } else { Some(as_character(value, 0).ok_or_else(refused)?) };
                push(text.as_deref());
            }
        }
        (Data::Double(values), Some("integer64")) => {
            for value in values {
                let n = value.to_bits().cast_signed();
                push(Some(&n.to_string()).filter(|_| n != NA_INTEGER64).map(|n| &**n));
            }
        }
        (Data::Double(values), Some("Date")) => {
            for &value in values {
                let text = if value.is_nan() { None } else { Some(date(value).ok_or_else(refused)?) };
                push(text.as_deref());
            }
        }
        _ => return Err(refused()),
    }
    Ok(texts)
}

/// A day since 1970 as text; `None` for years other than 1 to 9999.
fn date(day: f64) -> Option<String> {
    // Days from March 1st of year 0, in eras of 400 years.
    let days = (-719_162.0..2_932_897.0).contains(&day).then_some(day.floor() as i64 + 719_468)?;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (day, text) in
            [(0.0, "1970-01-01"), (-1.0, "1969-12-31"), (19_782.0, "2024-02-29"), (-719_162.0, "0001-01-01")]
        {
            assert_eq!(date(day).as_deref(), Some(text));
        }
        assert_eq!(date(2_932_896.0).as_deref(), Some("9999-12-31"));
        assert_eq!(date(2_932_897.0), None);
    }

    #[test]
    fn equal_and_missing_levels_are_joined() {
        let mut levels: Strings = ["a", "b", "a"].into_iter().collect();
        levels.push_missing();
        let mut codes = [3, 1, 2, 4, NA_INTEGER];
        make_distinct(&mut levels, &mut codes);
        assert_eq!(codes, [1, 1, 2, NA_INTEGER, NA_INTEGER]);
        assert_eq!(levels.iter().flatten().collect::<Vec<_>>(), ["a", "b"]);
    }
}
