//! Rows by a condition, and at random.

mod common;

use common::{Folder, counting, entasis, every_type, lines, pandas};
use entasis::Frame;
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
        ("city >= 'Berlin'", 2),
        ("city is null or city = 'Atlanta'", 2),
        ("nothing is null", 4),
        ("\"a,b\" in (1, 4)", 2),
    ] {
        let found = entasis(args!["count", file, "--where", condition]);
        assert_eq!((found.code, found.out.trim()), (0, n.to_string().as_str()), "{condition}: {}", found.err);
    }
    for (condition, wanted) in [
        ("zoned > '2020-01-01'", "2020-01-01T00:00Z"),
        ("zoned > 'soon'", "2024-01-31"),
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
