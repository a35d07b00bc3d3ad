//! One table in all formats, and as text.

use entasis_convert::r::{Data, Value};
use entasis_convert::{Format, recognise};

use crate::common::{bits, element, file, read_file};

/// The columns of `table.csv`: fields without quotes, `None` for missing ones.
fn columns() -> Vec<(String, Vec<Option<String>>)> {
    let text = String::from_utf8(file("table.csv.xz")).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').map(|field| field.trim_matches('"').to_owned()));
    let mut columns: Vec<_> = rows.next().unwrap().map(|name| (name, Vec::new())).collect();
    for row in rows {
        for ((_, fields), field) in columns.iter_mut().zip(row) {
            fields.push(Some(field).filter(|field| field != "<NA>"));
        }
    }
    assert_eq!((columns.len(), columns[0].1.len()), (13, 5000));
    columns
}

/// Compares the columns of a frame with the text.
fn check(frame: &Value, name: &str) {
    for (column, fields) in columns() {
        let names: Vec<_> = frame.attribute("names").unwrap().strings().unwrap().iter().flatten().collect();
        if !names.contains(&column.as_str()) {
            continue;
        }
        let vector = element(frame, &column);
        let levels = vector.attribute("levels").and_then(Value::strings);
        for (i, field) in fields.iter().enumerate() {
            let found = cell(vector, levels, i);
            let expected = field.as_deref();
            let is_equal = match (&found, expected) {
                (Some(found), Some(expected)) if found != expected => {
                    found.parse::<f64>().is_ok_and(|found| Ok(found) == expected.parse())
                        && vector.attribute("class").is_none_or(|_| !vector.inherits("integer64"))
                }
                (found, expected) => found.as_deref() == expected,
            };
            // R writes a missing double as `NA`.
            let is_missing = found.is_none() && expected == Some("NA");
            assert!(is_equal || is_missing, "{name}, {column}, row {i}: {found:?}, not {expected:?}");
        }
    }
}

fn cell(vector: &Value, levels: Option<&entasis_convert::r::Strings>, i: usize) -> Option<String> {
    match &vector.data {
        Data::Integer(values) | Data::Logical(values) => {
            let value = Some(values[i]).filter(|&value| value != i32::MIN)?;
            Some(match levels {
                Some(levels) => levels.get(value as usize - 1)?.to_owned(),
                None => value.to_string(),
            })
        }
        Data::Double(values) if vector.inherits("integer64") => {
            Some(values[i].to_bits() as i64).filter(|&value| value != i64::MIN).map(|value| value.to_string())
        }
        Data::Double(values) if values[i].is_nan() => {
            (values[i].to_bits() as u32 != 1954).then(|| "NaN".to_owned())
        }
        Data::Double(values) => Some(values[i].to_string()).map(|text| text.replace("inf", "Inf")),
        Data::Strings(strings) => strings.get(i).map(str::to_owned),
        Data::Raw(bytes) => Some(bytes[i].to_string()),
        other => panic!("{}", other.type_name()),
    }
}

#[test]
fn qs2_and_qdata_have_the_table() {
    assert_eq!(recognise(&file("table.qs2")), Some(Format::Qs2));
    assert_eq!(recognise(&file("table.qdata")), Some(Format::Qdata));
    let value = read_file("table.qs2").value;
    check(&value, "qs2");
    let of = read_file("table.qdata").value;
    check(&of, "qdata");
    for (i, name) in of.attribute("names").unwrap().strings().unwrap().iter().flatten().enumerate() {
        let Data::List(values) = &of.data else { panic!() };
        assert!(bits(&values[i]) == bits(element(&value, name)), "{name}");
    }
}

#[test]
fn qs2_has_the_values_of_rds() {
    assert!(bits(&read_file("values.qs2").value) == bits(&read_file("values_v3_none.rds").value));
}
