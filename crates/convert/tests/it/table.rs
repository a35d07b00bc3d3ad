//! One table in all formats, and as text.

use entasis::{Kind, Silent};
use entasis_convert::fst::{Selection, Table};
use entasis_convert::r::{Data, Mark, Strings, Value};
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

fn cell(vector: &Value, levels: Option<&Strings>, i: usize) -> Option<String> {
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

const FST: [&str; 5] =
    ["table_000.fst.xz", "table_030.fst.xz", "table_050.fst.xz", "table_080.fst.xz", "table_100.fst.xz"];

#[test]
fn fst_has_the_table() {
    let expected = read_file("table.qs2").value;
    for name in FST {
        let bytes = file(name);
        assert_eq!(recognise(&bytes), Some(Format::Fst));
        let value = crate::common::read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}")).value;
        check(&value, name);
        assert_eq!(element(&value, "raw").len(), 5000);
        for of in expected.attribute("names").unwrap().strings().unwrap().iter().flatten() {
            let (found, expected) = (bits(element(&value, of)), bits(element(&expected, of)));
            assert!(found.data == expected.data, "{name}, {of}");
            assert!(found.attributes == expected.attributes, "{name}, {of}: {found:?}\n{expected:?}");
        }
    }
}

#[test]
fn fst_reads_some_rows_and_columns() {
    for name in FST {
        let bytes = file(name);
        let table = Table::open(&bytes).unwrap();
        assert_eq!((table.n_rows(), table.names().len(), table.keys()), (5000, 13, &[][..]));
        let whole = table.read(&Selection::default(), 2, &Silent).unwrap();
        for (start, end) in
            [(0, 5000), (0, 0), (5000, 5000), (1, 2), (2040, 2055), (4095, 4097), (4999, 5000), (31, 4500)]
        {
            let selection = Selection { rows: Some(start..end), ..Selection::default() };
            let part = table.read(&selection, 3, &Silent).unwrap();
            let Data::List(columns) = &part.data else { panic!() };
            let Data::List(of) = &whole.data else { panic!() };
            for (column, of) in columns.iter().zip(of) {
                assert_eq!(
                    bits(column),
                    bits(&rows(of, start as usize..end as usize)),
                    "{name}, {start}..{end}"
                );
            }
        }
        let columns = Some(vec!["txt".to_owned(), "lgl".to_owned()]);
        let some =
            table.read(&Selection { columns, rows: Some(7..9), max_bytes: Some(1000) }, 1, &Silent).unwrap();
        assert_eq!(
            some.attribute("names").unwrap().strings().unwrap().iter().flatten().collect::<Vec<_>>(),
            ["txt", "lgl"]
        );
        assert_eq!(some.attribute("row.names").unwrap().data, Data::Integer(vec![i32::MIN, -2]));
        let kind = |selection: &Selection| table.read(selection, 1, &Silent).unwrap_err().kind();
        let columns = Some(vec!["none".to_owned()]);
        assert_eq!(kind(&Selection { columns, ..Selection::default() }), Kind::NoColumn);
        assert_eq!(kind(&Selection { rows: Some(0..5001), ..Selection::default() }), Kind::Argument);
        assert_eq!(kind(&Selection { max_bytes: Some(100_000), ..Selection::default() }), Kind::Limit);
        let columns = Some(vec!["uniq".to_owned()]);
        assert_eq!(
            kind(&Selection { columns, max_bytes: Some(41_000), ..Selection::default() }),
            Kind::Limit
        );
    }
}

/// Rows of a vector.
pub fn rows(vector: &Value, rows: std::ops::Range<usize>) -> Value {
    let data = match &vector.data {
        Data::Integer(values) => Data::Integer(values[rows].to_vec()),
        Data::Logical(values) => Data::Logical(values[rows].to_vec()),
        Data::Double(values) => Data::Double(values[rows].to_vec()),
        Data::Raw(values) => Data::Raw(values[rows].to_vec()),
        Data::Strings(strings) => {
            let mut part = Strings::default();
            for i in rows {
                match strings.get(i) {
                    Some(text) => part.push(text.as_bytes(), Mark::Utf8),
                    None => part.push_missing(),
                }
            }
            // Without a missing string, there is nothing to record.
            Data::Strings(Box::new(part))
        }
        other => panic!("{}", other.type_name()),
    };
    Value { data, ..vector.clone() }
}
