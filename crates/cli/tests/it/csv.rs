//! `entasis sniff` and `entasis convert`.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Folder, Said, entasis, entasis_from, verify};

const TEXT: &str = "id;name;price\n1;ann;1,50\n2;\"bob; jr\";2,25\n3;NA;NA\n";

fn rows(path: &Path) -> Vec<String> {
    let said = entasis(args!["head", "--json", "-n", "100", path]).fine();
    said.lines().map(str::to_owned).collect()
}

fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn convert(args: &[&str], text: &Path, out: &Path) -> Said {
    let args = args.iter().map(std::ffi::OsString::from);
    entasis(["convert".into(), text.into(), out.into()].into_iter().chain(args))
}

#[test]
fn the_dialect_and_the_types_are_sniffed() {
    let folder = Folder::new();
    let text = folder.bytes("in.csv", TEXT.as_bytes());
    let said = entasis(args!["sniff", text]).fine();
    for part in ["UTF-8", "separator   ;", "id     int64", "name   string", "price  float64"] {
        assert!(said.contains(part), "{said}");
    }
    let said = entasis_from(args!["sniff", "-"], Stdio::from(File::open(&text).unwrap()));
    assert!(said.fine().contains("price  float64"));
}

#[test]
fn a_text_becomes_a_file() {
    let folder = Folder::new();
    let (text, out) = (folder.bytes("in.csv", TEXT.as_bytes()), folder.path().join("out.entasis"));
    let said = convert(&[], &text, &out).fine();
    assert!(said.contains("3 rows x 3 columns"), "{said}");
    verify(&out);
    let expected = [
        r#"{"id":1,"name":"ann","price":1.5}"#,
        r#"{"id":2,"name":"bob; jr","price":2.25}"#,
        r#"{"id":3,"name":"NA","price":null}"#,
    ];
    assert_eq!(rows(&out), expected);
    // From the standard input, over a file that exists.
    let said = entasis_from(args!["convert", "-", out], Stdio::from(File::open(&text).unwrap()));
    said.fine();
    assert_eq!(rows(&out), expected);
    assert_eq!(names(&folder), ["in.csv", "out.entasis"]);
}

#[test]
fn a_file_becomes_a_text() {
    let folder = Folder::new();
    let text = folder.bytes("in.csv", TEXT.as_bytes());
    let (file, out) = (folder.path().join("t.entasis"), folder.path().join("out.csv"));
    convert(&[], &text, &file).fine();
    let said = convert(&[], &file, &out).fine();
    assert!(said.contains("out.csv: 3 rows x 3 columns"), "{said}");
    let expected = "id,name,price\n1,ann,1.5\n2,bob; jr,2.25\n3,\"NA\",\n";
    assert_eq!(std::fs::read_to_string(&out).unwrap(), expected);
    assert_eq!(entasis(args!["convert", file, "-"]).fine(), expected);
    let options = ["--sep", ";", "--decimal", ",", "--no-header", "--columns", "price,id", "--na", "-"];
    convert(&options, &file, &out).fine();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "1,5;1\n2,25;2\n-;3\n");
    convert(&["--drop", "id", "--rows", "1:2"], &file, &out).fine();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "name,price\nbob; jr,2.25\n");
    for name in ["out.csv.gz", "out.csv.zst"] {
        let (packed, back) = (folder.path().join(name), folder.path().join("back.entasis"));
        convert(&[], &file, &packed).fine();
        convert(&[], &packed, &back).fine();
        assert_eq!(rows(&back), rows(&file));
    }
    for (options, word) in [
        (&["--spec", "x.json"][..], "--spec"),
        (&["--id", "x"], "--id"),
        (&["--columns", "x"], "\"x\""),
        (&["--sep", "a"], "separator"),
    ] {
        let said = convert(options, &file, &out).failed();
        assert!(said.contains(word), "{said}");
    }
    let said = convert(&[], &file, &file).failed();
    assert!(said.contains("the same file"), "{said}");
}

#[test]
fn nested_values_are_json_in_a_text() {
    let folder = Folder::new();
    let nested = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/v0.3/nested.entasis");
    let said = entasis(args!["convert", nested, "-"]).failed();
    assert!(said.contains("a text has no values of type"), "{said}");
    let whole = entasis(args!["convert", "--nested", "json", nested, "-"]).fine();
    let selected = entasis(args!["select", nested, "--to", "csv", "--nested", "json"]).fine();
    assert_eq!(selected, whole);
    assert!(whole.contains("[") && whole.contains("{"), "{whole}");
    for to in [&["--to", "table"][..], &["--json"], &[]] {
        let mut words = args!["select", nested, "--nested", "json"].to_vec();
        words.extend(to.iter().map(std::ffi::OsString::from));
        assert!(entasis(words).failed().contains("--nested is for --to csv"));
    }
    let text = folder.bytes("in.csv", TEXT.as_bytes());
    let out = folder.path().join("t.entasis");
    let said = convert(&["--nested", "json"], &text, &out).failed();
    assert!(said.contains("--nested"), "{said}");
}

#[test]
fn options_change_what_a_text_means() {
    let folder = Folder::new();
    let text = folder.bytes("in.csv", b"#note\na,b,c\n1,x,7\n2,NA,1 234\n");
    let out = folder.path().join("out.entasis");
    let common = ["--comment", "#", "--sep", ",", "--thousands", " "];
    for (more, expected) in [
        (&[][..], [r#"{"a":1,"b":"x","c":7}"#, r#"{"a":2,"b":"NA","c":1234}"#]),
        (&["--na", "NA"], [r#"{"a":1,"b":"x","c":7}"#, r#"{"a":2,"b":null,"c":1234}"#]),
        (&["--columns", "c,a"], [r#"{"c":7,"a":1}"#, r#"{"c":1234,"a":2}"#]),
        (&["--drop", "b"], [r#"{"a":1,"c":7}"#, r#"{"a":2,"c":1234}"#]),
        (&["--names", "x,y,z", "--columns", "x"], [r#"{"x":1}"#, r#"{"x":2}"#]),
        (&["--type", "a=string", "--columns", "a"], [r#"{"a":"1"}"#, r#"{"a":"2"}"#]),
        (
            &["--type", "a=float64", "--threads", "1", "-c", "80", "--columns", "a"],
            [r#"{"a":1.0}"#, r#"{"a":2.0}"#],
        ),
    ] {
        convert(&[&common[..], more].concat(), &text, &out).fine();
        assert_eq!(rows(&out), expected, "{more:?}");
    }
    let args = ["--comment", "#", "--sep", ",", "--no-header", "--columns", "column_1"];
    convert(&args, &text, &out).fine();
    assert_eq!(rows(&out), [r#"{"column_1":"a"}"#, r#"{"column_1":"1"}"#, r#"{"column_1":"2"}"#]);
    let tabs = folder.bytes("tabs.csv", b"a\tb\n'x\ty'\t2\n");
    convert(&["--sep", "\\t", "--quote", "'"], &tabs, &out).fine();
    assert_eq!(rows(&out), [r#"{"a":"x\ty","b":2}"#]);
    let escaped = folder.bytes("escaped.csv", b"a,b\nx\\,y,2\n");
    convert(&["--escape", "\\"], &escaped, &out).fine();
    assert_eq!(rows(&out), [r#"{"a":"x,y","b":2}"#]);
    let latin = folder.bytes("latin.csv", b"a,b\ncaf\xe9,2\n");
    convert(&["--encoding", "latin1", "--skip", "0", "--header"], &latin, &out).fine();
    assert_eq!(rows(&out), [r#"{"a":"café","b":2}"#]);
    let aligned = folder.bytes("aligned.txt", b"  a   b\n  1   x\n 20   y  \n");
    for more in [&[][..], &["--sep", "blanks"]] {
        convert(more, &aligned, &out).fine();
        assert_eq!(rows(&out), [r#"{"a":1,"b":"x"}"#, r#"{"a":20,"b":"y"}"#]);
    }
    assert!(entasis(args!["sniff", aligned]).fine().contains("separator   blanks"));
    let spaced = folder.bytes("spaced.csv", b"a, b\n1, \"x, y\"\n");
    convert(&["--sep", ", "], &spaced, &out).fine();
    assert_eq!(rows(&out), [r#"{"a":1,"b":"x, y"}"#]);
    let prices = folder.bytes("prices.csv", b"price\n1.5\n10\n");
    convert(&["--type", "price=decimal(10,2)"], &prices, &out).fine();
    assert!(entasis(args!["schema", out]).fine().contains("decimal(10, 2)"));
    assert!(rows(&out)[1].contains("10.00"), "{:?}", rows(&out));
}

#[test]
fn places_that_do_not_fit_are_listed() {
    let folder = Folder::new();
    let text = folder.bytes("in.csv", b"a,b\n1,2\n3\n\"x\",5\n6,7,8\n");
    let (out, list) = (folder.path().join("out.entasis"), folder.path().join("bad.csv"));
    let list_name = list.to_string_lossy().into_owned();
    let types = ["--type", "a=int64"];
    let failed = convert(&[&types[..], &["--problems", &list_name]].concat(), &text, &out).failed();
    for part in ["in.csv", "3 places do not fit", "line 3: '3', expected 2 fields", "line 4, column 'a'"] {
        assert!(failed.contains(part), "{failed}");
    }
    assert_eq!(names(&folder), ["bad.csv", "in.csv"]);
    let expected = "row,line,byte,column,text,expected\n1,3,8,,\"3\",\"2 fields, not 1\"\n\
                    2,4,10,\"a\",\"\"\"x\"\"\",\"int64\"\n3,5,16,,\"6,7,8\",\"2 fields, not 3\"\n";
    assert_eq!(std::fs::read_to_string(&list).unwrap(), expected);
    for (how, rows_of) in [
        ("missing", &[r#"{"a":1,"b":2}"#, r#"{"a":3,"b":null}"#, r#"{"a":null,"b":5}"#][..]),
        ("skip", &[r#"{"a":1,"b":2}"#]),
    ] {
        std::fs::remove_file(&list).unwrap();
        let said =
            convert(&[&types[..], &["--on-error", how, "--problems", &list_name]].concat(), &text, &out);
        assert_eq!((said.code, said.err.as_str()), (0, "entasis: warning: 3 places did not fit\n"));
        assert_eq!(rows(&out), rows_of);
        assert_eq!(std::fs::read_to_string(&list).unwrap(), expected);
    }
    let said = convert(&["--on-error", "skip"], &text, &out);
    assert!(said.code == 0 && said.err.contains("--problems FILE lists them"), "{}", said.err);
    let short = folder.bytes("short.csv", b"a,b\n1,2\n3\n");
    convert(&["--fill"], &short, &out).fine();
    assert_eq!(rows(&out)[1], r#"{"a":3,"b":null}"#);
}

#[test]
fn a_spec_reads_a_text_the_same_way_again() {
    let folder = Folder::new();
    let text = folder.bytes("in.csv", TEXT.as_bytes());
    let spec = folder.bytes("spec.json", entasis(args!["sniff", "--json", text]).fine().as_bytes());
    let (first, second) = (folder.path().join("1.entasis"), folder.path().join("2.entasis"));
    convert(&[], &text, &first).fine();
    convert(&["--spec", spec.to_str().unwrap()], &text, &second).fine();
    assert_eq!(rows(&first), rows(&second));
    let again = entasis(args!["sniff", "--json", "--spec", spec, text]).fine();
    assert_eq!(again, std::fs::read_to_string(&spec).unwrap());
    let other = folder.bytes("other.csv", b"id;name;price\n1;ann;oops\n");
    let failed = convert(&["--spec", spec.to_str().unwrap()], &other, &second).failed();
    assert!(failed.contains("line 2, column 'price': 'oops', expected float64"), "{failed}");
    let wrong = folder.bytes("wrong.json", b"{\"separator\": 5}");
    let failed = convert(&["--spec", wrong.to_str().unwrap()], &text, &second).failed();
    assert!(failed.contains("wrong.json") && failed.contains("separator"), "{failed}");
    // The types of all rows, not only of the first ones.
    let mut late = "a\n".to_owned() + &"1\n".repeat(10_000);
    late.push_str("x\n");
    let late = folder.bytes("late.csv", late.as_bytes());
    assert!(entasis(args!["sniff", late]).fine().contains("a  int64"));
    assert!(entasis(args!["sniff", "--all-rows", late]).fine().contains("a  string"));
}

#[test]
fn a_refusal_leaves_no_file() {
    let folder = Folder::new();
    let out = folder.path().join("out.entasis");
    for (name, text, part) in [
        ("open.csv", &b"a,b\n1,\"x\n"[..], "line 2"),
        ("uneven.csv", b"a,b\n1,2\n3\n", "line 3"),
        ("empty.csv", b"", "empty"),
        ("binary.csv", b"PAR1\0\0\0\0", "(parquet) needs Python"),
    ] {
        let path = folder.bytes(name, text);
        let failed = convert(&[], &path, &out).failed();
        assert!(failed.contains(name) && failed.contains(part), "{failed}");
        std::fs::remove_file(path).unwrap();
    }
    let missing = folder.path().join("missing.csv");
    assert!(convert(&[], &missing, &out).failed().contains("missing.csv"));
    assert!(convert(&[], folder.path(), &out).code == 1);
    let text = folder.bytes("in.csv", TEXT.as_bytes());
    let failed = convert(&["--columns", "nothing"], &text, &out).failed();
    assert!(failed.contains("no column 'nothing', only 'id'"), "{failed}");
    let nowhere = folder.path().join("no folder/out.entasis");
    convert(&[], &text, &nowhere).failed();
    for wrong in [&["--sep", "ab"][..], &["--type", "a=complex"], &["--on-error", "raise"], &["--type", "a"]]
    {
        assert_eq!(convert(wrong, &text, &out).code, 2, "{wrong:?}");
    }
    assert_eq!(names(&folder), ["in.csv"]);
}

#[test]
fn a_text_is_not_replaced_by_its_file() {
    let folder = Folder::new();
    let text = folder.bytes("in.csv", TEXT.as_bytes());
    let other = folder.path().join("./in.csv");
    let out = folder.path().join("out.entasis");
    let problems = text.to_string_lossy().into_owned();
    let mut tries = vec![convert(&[], &text, &text), convert(&[], &text, &other)];
    tries.push(convert(&["--problems", &problems], &text, &out));
    tries.push(convert(&["--problems", out.to_str().unwrap()], &text, &out));
    #[cfg(unix)]
    {
        let link = folder.path().join("link.csv");
        std::fs::hard_link(&text, &link).unwrap();
        tries.push(convert(&[], &text, &link));
        std::fs::remove_file(link).unwrap();
    }
    for said in tries {
        let failed = said.failed();
        assert!(failed.contains("the same file"), "{failed}");
    }
    assert_eq!(std::fs::read(&text).unwrap(), TEXT.as_bytes());
    assert_eq!(names(&folder), ["in.csv"]);
}

#[test]
fn the_help_has_examples() {
    for (verb, parts) in [
        (
            "convert",
            &[
                "--problems",
                "--on-error",
                "--spec",
                "--id",
                "--dates",
                "--spill-limit",
                "entasis convert --sep ';'",
            ][..],
        ),
        ("sniff", &["--json", "--all-rows", "entasis sniff --json"]),
    ] {
        let said = entasis([verb, "--help"]).fine();
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
}

/// Two days of sales, and the rows that they are.
fn sales(folder: &Folder) -> [String; 4] {
    for day in 1..=2 {
        let text = format!("day,shop,price\n{day}.2.2026,Oslo,3.5\n{day}.2.2026,Rome,4\n");
        folder.bytes(&format!("sales-{day}.csv"), text.as_bytes());
    }
    let row = |day, shop, price| format!(r#"{{"day":"{day}","shop":"{shop}","price":{price}}}"#);
    [
        row("1.2.2026", "Oslo", "3.5"),
        row("1.2.2026", "Rome", "4.0"),
        row("2.2.2026", "Oslo", "3.5"),
        row("2.2.2026", "Rome", "4.0"),
    ]
}

#[test]
fn several_texts_are_one_table() {
    let folder = Folder::new();
    let expected = sales(&folder);
    let out = folder.path().join("out.entasis");
    let (one, two) = (folder.path().join("sales-1.csv"), folder.path().join("sales-2.csv"));
    let pattern = folder.path().join("sales-*.csv");
    for inputs in [&args![one, two][..], &args![pattern], &args![folder.path().join("sales-[12].csv")]] {
        let args = ["convert".into()].into_iter().chain(inputs.iter().cloned()).chain(args![out]);
        let said = entasis(args).fine();
        assert!(said.contains("4 rows x 3 columns"), "{said}");
        assert_eq!(rows(&out), expected);
    }
    entasis(args!["convert", pattern, out, "--id", "file", "--columns", "price"]).fine();
    let shown = [&one, &two].map(|path| path.display().to_string());
    let row = |file: &str, price| format!("{{\"file\":\"{file}\",\"price\":{price}}}");
    let expected = [(0, "3.5"), (0, "4.0"), (1, "3.5"), (1, "4.0")].map(|(i, price)| row(&shown[i], price));
    assert_eq!(rows(&out), expected);
    // A file whose name is a pattern is taken as it is.
    let odd = folder.bytes("odd[1].csv", b"a\n1\n");
    convert(&[], &odd, &out).fine();
    assert_eq!(rows(&out), [r#"{"a":1}"#]);
    let standard = entasis_from(args!["convert", one, "-", out], Stdio::from(File::open(&two).unwrap()));
    assert!(standard.fine().contains("4 rows"));
}

#[test]
fn several_texts_are_refused_with_the_name_of_one() {
    let folder = Folder::new();
    sales(&folder);
    let out = folder.path().join("out.entasis");
    let one = folder.path().join("sales-1.csv");
    let other = folder.bytes("other.csv", b"day,store,price\n1,2,3\n");
    let failed = entasis(args!["convert", one, other, out]).failed();
    assert!(failed.contains("other.csv") && failed.contains("lacks 'shop'"), "{failed}");
    let failed = entasis(args!["convert", folder.path().join("none-*.csv"), out]).failed();
    assert!(failed.contains("no file matches the pattern"), "{failed}");
    let failed = entasis(args!["convert", "-", "-", out]).failed();
    assert!(failed.contains("only once"), "{failed}");
    let failed = entasis(args!["convert", one, out, "--id", "shop"]).failed();
    assert!(failed.contains("has a column 'shop'"), "{failed}");
    assert_eq!(entasis(args!["convert", one]).code, 2);
    // Without its last word a command would replace a text.
    let failed = entasis(args!["convert", one, folder.path().join("sales-2.csv")]).failed();
    assert!(failed.contains("sales-2.csv exists and has the format of IN"), "{failed}");
    let failed = entasis(args!["convert", folder.path().join("sales-*.csv"), one]).failed();
    assert!(failed.contains("the same file"), "{failed}");
    assert_eq!(names(&folder), ["other.csv", "sales-1.csv", "sales-2.csv"]);
    let (list, empty) = (folder.path().join("bad.csv"), folder.bytes("empty.entasis", b""));
    let short = folder.bytes("sales-3.csv", b"day,shop,price\n3.2.2026\n");
    let args = args!["convert", one, short, empty, "--problems", list];
    let failed = entasis(args.clone()).failed();
    assert!(failed.contains("line 2 of '") && failed.contains("sales-3.csv"), "{failed}");
    let skipped = entasis(args.into_iter().chain(args!["--on-error", "skip"]));
    assert_eq!((skipped.code, skipped.err.as_str()), (0, "entasis: warning: 1 place did not fit\n"));
    let expected = format!(
        "row,line,byte,column,text,expected,file\n0,2,15,,\"3.2.2026\",\"3 fields, not 1\",\"{}\"\n",
        short.display()
    );
    assert_eq!(std::fs::read_to_string(&list).unwrap(), expected);
}

#[test]
fn formats_of_dates_rows_and_categoricals_are_chosen() {
    let folder = Folder::new();
    let text = folder.bytes("in.csv", b"day,n,city\n1.2.2026,20260201,Oslo\n2.2.2026,20260202,Rome\n");
    let out = folder.path().join("out.entasis");
    let schema = |more: &[&str]| {
        convert(more, &text, &out).fine();
        entasis(args!["schema", out]).fine()
    };
    let said = schema(&[]);
    assert!(!said.contains("date") && !said.contains("categorical"), "{said}");
    for dates in [&["--dates", "%d.%m.%Y"][..], &["--dates", "%d/%m/%Y", "--dates", "%d.%m.%Y"]] {
        let said = schema(dates);
        assert!(said.lines().any(|line| line.contains("day") && line.contains("date")), "{said}");
        assert!(rows(&out)[1].contains(r#""day":"2026-02-02","n":20260202"#));
    }
    let named = ["--dates", "n=%Y%m%d", "--dates", "day=%d/%m/%Y", "--dates", "day=%d.%m.%Y"];
    schema(&[&named[..], &["--strings", "categorical", "--rows", "1:"]].concat());
    assert_eq!(rows(&out), [r#"{"day":"2026-02-02","n":"2026-02-02","city":"Rome"}"#]);
    assert!(entasis(args!["schema", out]).fine().contains("categorical"));
    schema(&["--type", "city=categorical", "--rows", ":1"]);
    assert_eq!(rows(&out), [r#"{"day":"1.2.2026","n":20260201,"city":"Oslo"}"#]);
    schema(&["-c", "0", "-c", "city=100", "--wait", "1", "--no-sync", "--spill-limit", "1MiB"]);
    for (wrong, part) in [
        (&["--dates", "%d.%m.%Y", "--dates", "none=%d"][..], "no column 'none'"),
        (&["--dates", "%Q"], "%Q"),
        (&["-c", "none=5"], "none"),
        (&["--rows", "1:", "--on-error", "skip"], "--rows counts all rows"),
    ] {
        let failed = convert(wrong, &text, &out).failed();
        assert!(failed.contains(part), "{failed}");
    }
    for wrong in [
        ["--rows=-1:"],
        ["--rows=5"],
        ["--rows=3:2"],
        ["--strings=codes"],
        ["--spill-limit=1XB"],
        ["--max-field=0"],
        ["-c=101"],
        ["-c=a=x"],
    ] {
        assert_eq!(convert(&wrong, &text, &out).code, 2, "{wrong:?}");
    }
    // The spec of a text has the formats too.
    let spec = entasis(args!["sniff", "--json", "--dates", "%d.%m.%Y", text]).fine();
    assert!(spec.contains("%d.%m.%Y") && spec.contains("\"date\""), "{spec}");
}
