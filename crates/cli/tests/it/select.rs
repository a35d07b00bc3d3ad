//! Rows by a condition, and at random.

use std::path::Path;

use crate::common::{Folder, by_tier, counting, entasis, every_type, lines, pandas, rows, verify};
use entasis::{Frame, Value};
use serde_json::Value as Json;

/// The values of column `column` in the rows that `args` print as JSON.
fn values(text: &str, column: &str) -> Vec<Json> {
    lines(text).into_iter().map(|row| row[column].clone()).collect()
}

#[test]
fn conditions_choose_rows() {
    let folder = Folder::new();
    let n = 200_000;
    let file = folder.write("file.entasis", &Frame { host: pandas(n as u64), ..counting(n) });
    let ids = |of: &dyn Fn(i64) -> bool| (0..n as i64).filter(|&id| of(id)).collect::<Vec<_>>();
    for (condition, wanted) in [
        ("id < 5", ids(&|id| id < 5)),
        ("id >= 199_990".replace('_', "").as_str(), ids(&|id| id >= 199_990)),
        ("id between 7 and 9 or id = 100000", ids(&|id| (7..10).contains(&id) || id == 100_000)),
        ("not (id > 2.5) and not id <> 1", vec![1]),
        ("id in (3, 5, 199999, 1e300, -1)", vec![3, 5, 199_999]),
        ("name = 'name 12'", vec![12]),
        ("name = 'name 13'", vec![]),
        (
            "name like 'name 1999%' and name not in ('name 1999')",
            ids(&|id| (id / 100 == 1999 || id / 10 == 1999) && id % 7 != 6),
        ),
        ("name is null and id < 30", ids(&|id| id % 7 == 6 && id < 30)),
        ("NAME is missing AND id < 10", vec![]),
        ("\"name\" IS NOT NULL AND id < 4", ids(&|id| id < 4)),
        ("5 > id", ids(&|id| id < 5)),
        ("-1 < id and 3 >= id", ids(&|id| id < 4)),
        ("'name 12' = name or 2 = id", vec![2, 12]),
        ("not 3 <= id", ids(&|id| id < 3)),
    ] {
        if condition.starts_with("NAME") {
            let said = entasis(args!["count", file, "--where", condition]).failed();
            assert!(said.contains("NAME"), "{said}");
            continue;
        }
        let found = entasis(args!["select", file, "--json", "--where", condition]).fine();
        assert_eq!(values(&found, "id"), wanted, "{condition}");
        let labels: Vec<Json> = values(&found, "index");
        assert!(labels.is_empty() || labels[0].is_null() || labels == wanted, "{condition}");
        let count = entasis(args!["count", file, "--where", condition]).fine();
        assert_eq!(count.trim().parse(), Ok(wanted.len()), "{condition}");
    }
    assert_eq!(entasis(args!["count", file]).fine().trim(), "200000");
    let some =
        entasis(args!["select", file, "--json", "-n", "2", "--where", "id > 99", "--columns", "id"]).fine();
    assert_eq!(values(&some, "id"), [100, 101]);
    let table = entasis(args!["select", file, "--where", "id > 99"]).fine();
    assert!(table.contains("100 of 199,900 that pass, of 200,000 rows; show more with -n"), "{table}");
    let table = entasis(args!["select", file, "--where", "id > 199997"]).fine();
    assert!(table.contains("199,998") || table.contains("199998"), "{table}");
    assert!(table.contains("2 of 200,000 rows"), "{table}");
    let explained = entasis(args!["select", file, "--explain", "--where", "id < 65536"]).fine();
    assert_eq!(explained, "200000 rows: 134464 pruned, 65536 passed by statistics, 0 tested\n");
}

#[test]
fn every_type_has_values() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &every_type());
    for (condition, n) in [
        ("flag", 2),
        ("not flag", 1),
        ("flag = true", 2),
        ("flag is null", 1),
        ("small > 1.5", 2),
        ("big = -9223372036854775808 or big = 9223372036854775807", 2),
        ("real is nan", 1),
        ("real < 1.5", 1),
        ("not real < 1.5", 3),
        ("single = 0.1", 1),
        ("single = 0", 1),
        ("text like '%red'", 1),
        ("bytes = 'abc'", 1),
        ("day = '2024-02-29'", 1),
        ("\"when\" > '1970-01-01T00:00:00.0005'", 2),
        ("zoned > '2020-01-01T00:00Z'", 2),
        ("zoned <= '1970-01-01T01:00+01:00'", 2),
        ("clock >= '01:00'", 2),
        ("clock >= time '01:00'", 2),
        ("day = date '2024-02-29'", 1),
        ("DATE '2024-02-29' = day", 1),
        ("\"when\" > timestamp '1970-01-01T00:00:00.0005'", 2),
        ("day in (date '2024-02-29', '1970-01-01')", 2),
        ("day between date '1960-01-01' and date '1970-01-01'", 2),
        ("city >= 'Berlin'", 2),
        ("city is null or city = 'Atlanta'", 2),
        ("nothing is null", 4),
        ("\"a,b\" in (1, 4)", 2),
    ] {
        let found = entasis(args!["count", file, "--where", condition]);
        assert_eq!((found.code, found.out.trim()), (0, n.to_string().as_str()), "{condition}: {}", found.err);
    }
    for (condition, wanted) in [
        ("zoned > '2020-01-01'", "no time zone, and the column has one: write T00:00 and the offset"),
        ("zoned > '2020-01-01 12:00'", "the offset that its zone has then after it, such as +01:00"),
        ("text = date '2024-01-01'", "is a time, and the column has none"),
        ("day = date '2024-01-01 12:00'", "write timestamp before it"),
        ("clock = date '2024-01-01'", "is another kind of time"),
        ("day > time '12:00'", "is another kind of time"),
        ("1 between flag and 2", "a comparison"),
        ("3 < 4", "a column"),
        ("date 3", "date"),
        ("len(text) = 1", "only lists and maps"),
        ("zoned > 'soon'", "\"soon\" is not a time with a zone: write 2024-01-31T12:30:00Z"),
        ("zoned in ('2024-01-31T12:30:00Z', 'soon')", "column \"zoned\""),
        ("day > '2024-02-30'", "\"2024-02-30\" is not a time: write 2024-01-31"),
        ("clock = 'noon'", "\"noon\" is not a time of day: write 12:30:00"),
        ("span > '1 day'", "give a duration"),
        ("flag > 'x'", "True or False"),
        ("flag is", "'null', 'missing' or 'nan'"),
        ("flag = null", "is null"),
        ("flag and", "a column"),
        ("(flag", "')'"),
        ("flag)", "'and' or 'or'"),
        ("flag = 'x", "without an end"),
        ("flag = 1x", "1x"),
        ("nowhere = 1", "nowhere"),
        ("flag not 3", "'in', 'between' or 'like'"),
        ("", "a column"),
        ("$", "a column"),
    ] {
        let said = entasis(args!["count", file, "--where", condition]).failed();
        assert!(said.contains(wanted), "{condition}: {said}");
    }
    let deep = format!("{}flag", "not ".repeat(10_000));
    assert!(entasis(args!["count", file, "--where", deep]).failed().contains("deeper"));
}

#[test]
fn samples_keep_the_order_of_the_file() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &counting(10_000));
    let sample = |seed: &str| {
        let found = entasis(args!["sample", file, "--json", "-n", "100", "--seed", seed]).fine();
        values(&found, "id").into_iter().map(|id| id.as_i64().unwrap()).collect::<Vec<_>>()
    };
    let ids = sample("1");
    assert!(ids.len() == 100 && ids.is_sorted_by(|a, b| a < b));
    assert_eq!(sample("1"), ids);
    assert_ne!(sample("2"), ids);
    let all = entasis(args!["sample", file, "-n", "20000", "--json"]).fine();
    assert_eq!(all.lines().count(), 10_000);
    let table = entasis(args!["sample", file, "-n", "3"]).fine();
    assert!(table.contains("3 at random of 10,000 rows"), "{table}");
}

/// The rows that a condition finds, and the rows of the file written from them.
fn copied(file: &Path, out: &Path, condition: &str, more: &[&str]) -> (Vec<Json>, Vec<Json>) {
    let run = |last: &[&str]| {
        let mut all = args!["select", file, "--where", condition].to_vec();
        all.extend(more.iter().chain(last).map(std::ffi::OsString::from));
        entasis(all).fine()
    };
    let wanted = lines(&run(&["--json"]));
    let said = run(&["--to", "entasis", "--output", &out.to_string_lossy()]);
    assert!(said.replace(',', "").contains(&format!("out.entasis: {} row", wanted.len())), "{said}");
    verify(out);
    (wanted, rows(out))
}

#[test]
fn rows_become_a_file_of_the_same_types() {
    let folder = Folder::new();
    let out = folder.path().join("out.entasis");
    for host in [Value::Null, pandas(4), Value::map([("host", Value::from("polars"))])] {
        let has_index = host.get("index").is_some();
        let file = folder.write("file.entasis", &Frame { host, ..every_type() });
        let types = |path: &Path| {
            let columns = entasis(args!["schema", path, "--json"]).fine();
            let mut schema: Json = serde_json::from_str(&columns).unwrap();
            for column in schema["columns"].as_array_mut().unwrap() {
                column.as_object_mut().unwrap().remove("n_missing");
            }
            schema["columns"].take()
        };
        for (condition, ids) in
            [("\"a,b\" in (1, 4)", vec![0, 3]), ("\"a,b\" in (2, 3)", vec![1, 2]), ("\"a,b\" > 9", vec![])]
        {
            let (wanted, mut found) = copied(&file, &out, condition, &[]);
            let labels: Vec<Json> = found
                .iter_mut()
                .filter_map(|row| row.as_object_mut().and_then(|row| row.remove("index")))
                .collect();
            assert_eq!(found, wanted, "{condition}");
            assert_eq!(labels, if has_index { ids } else { vec![] }, "{condition}");
            assert_eq!(types(&out), types(&file));
        }
        let (wanted, mut found) = copied(&file, &out, "small > 1", &["--columns", "city,text"]);
        found.iter_mut().for_each(|row| drop(row.as_object_mut().map(|row| row.remove("index"))));
        assert_eq!(found, wanted);
        assert_eq!(found.len(), 2);
        let (wanted, found) = copied(&file, &out, "small > 1", &["--columns", "twice", "-n", "1"]);
        assert_eq!((wanted.len(), found.len()), (1, 1));
    }
    let n = by_tier(70_000, 200_000);
    let long = folder.write("long.entasis", &counting(n));
    let (wanted, found) = copied(&long, &out, "name like '%7' or name is null", &[]);
    assert!(wanted.len() > n / 5 && wanted == found);
    assert_eq!(entasis(args!["select", long, "--to", "json", "-n", "2"]).fine().lines().count(), 2);
    let all = entasis(args!["select", long, "--to", "entasis", "--output", out]).fine();
    assert!(all.contains(&format!("{},000 rows, 2 columns", n / 1000)), "{all}");
    assert_eq!(rows(&out).len(), n);
}

#[test]
fn rows_are_written_as_text() {
    let folder = Folder::new();
    let text = "id,name,price\n1,ann,1.5\n2,\"bob, jr\",\n3,,2.25\n4,dan,4.0\n";
    let (from, file) = (folder.bytes("in.csv", text.as_bytes()), folder.path().join("in.entasis"));
    entasis(args!["convert", from, file]).fine();
    let csv = |more: &[&str]| {
        let mut all = args!["select", file, "--to", "csv"].to_vec();
        all.extend(more.iter().map(std::ffi::OsString::from));
        entasis(all).fine()
    };
    assert_eq!(csv(&[]), text);
    assert_eq!(csv(&["--where", "price > 2 or id = 1"]), "id,name,price\n1,ann,1.5\n3,,2.25\n4,dan,4.0\n");
    assert_eq!(csv(&["--where", "id > 1", "-n", "2", "--columns", "name"]), "name\n\"bob, jr\"\n\n\n");
    assert_eq!(csv(&["--where", "id > 9"]), "id,name,price\n");
    let out = folder.path().join("out.csv.gz");
    let said = csv(&["--where", "id < 3", "--output", &out.to_string_lossy()]);
    assert!(said.contains("2 rows, 3 columns"), "{said}");
    let again = folder.path().join("again.entasis");
    entasis(args!["convert", out, again]).fine();
    assert_eq!(rows(&again).len(), 2);
    // Rows in several parts.
    let long = folder.write("long.entasis", &counting(600_000));
    let some = entasis(args!["select", long, "--to", "csv", "--where", "id <> 7"]).fine();
    let numbers = some.lines().skip(1).map(|line| line.split(',').next().unwrap().parse::<u64>().unwrap());
    assert!(numbers.eq((0..600_000).filter(|&id| id != 7)));
}

#[test]
fn rows_that_cannot_be_copied_are_refused() {
    let folder = Folder::new();
    let file = folder.write("file.entasis", &counting(10));
    let out = folder.path().join("out.entasis");
    let unknown = folder.write("unknown.entasis", &every_type());
    let said = entasis(args!["select", unknown, "--to", "entasis", "--output", out]).failed();
    assert!(said.contains("\"test\" are not copied"), "{said}");
    for (more, wanted) in [
        (vec!["--to", "entasis"], "--output"),
        (vec!["--output", "x"], "--to entasis"),
        (vec!["--to", "csv", "--output", "x", "--columns", "nowhere"], "nowhere"),
        (vec!["--to", "csv", "--output", &*file.to_string_lossy()], "another file"),
        (vec!["--to", "table", "--output", "x"], "--to entasis"),
        (vec!["--to", "entasis", "--no-index", "--output", "x"], "--no-index"),
        (vec!["--to", "entasis", "--output", "x", "--columns", "nowhere"], "nowhere"),
        (vec!["--to", "entasis", "--output", &*file.to_string_lossy()], "another file"),
    ] {
        let mut all = args!["select", file].to_vec();
        all.extend(more.iter().map(std::ffi::OsString::from));
        let said = entasis(all).failed();
        assert!(said.contains(wanted), "{more:?}: {said}");
    }
    assert_eq!(entasis(args!["select", file, "--to", "xml"]).code, 2);
    assert!(!out.exists());
    assert_eq!(rows(&file).len(), 10);
}
