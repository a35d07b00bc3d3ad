//! Texts and sources that cannot be read: the error has the place and an advice.

use std::io::Write;
use std::sync::Arc;

use entasis::{Kind, Silent};
use entasis_csv::problems::OnError;
use entasis_csv::source::Origin;
use entasis_csv::{Dialect, Given, Job, Options, Outcome, Plan, Selection, Type};
use tempfile::TempDir;

use crate::common::{error, read_text, values};

fn job(bytes: &[u8], options: &Options) -> entasis::Result<Outcome> {
    Job::open(Origin::Bytes(Arc::new(bytes.to_vec())), options)?.read(&Silent)
}

fn job_error(bytes: &[u8], options: &Options) -> String {
    match job(bytes, options) {
        Ok(outcome) => panic!("{outcome:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_open_quote_has_the_line_where_it_opens() {
    let text = "a,b\n1,2\n3,\"x\n4,5\n".to_owned() + &"6,7\n".repeat(100);
    for (chunk_len, threads) in [(1, 1), (7, 3), (1 << 20, 2)] {
        let plan = Plan { chunk_len: Some(chunk_len), threads, ..Plan::default() };
        let message = error(text.as_bytes(), &plan).to_string();
        assert!(message.contains("opens in line 3, byte 10, does not end"), "{message}");
        assert!(message.contains("quote=None") && message.contains("max_field"), "{message}");
        let long = Plan { max_field: 50, ..plan };
        let message = error(text.as_bytes(), &long).to_string();
        assert!(message.contains("opens in line 3, byte 10, has more than 50 bytes"), "{message}");
        assert!(message.contains("quote=None") && message.contains("max_field"), "{message}");
    }
}

/// A problem in an earlier row is found first, whatever the chunks.
#[test]
fn rows_before_an_open_quote_are_read() {
    for text in ["a,b\n1\n3,\"x\n", "a,b\n1\n3,long field\n4\n", "a,b\n1\nlong field\n4,5\n6\n"] {
        for (chunk_len, threads) in [(1, 1), (4, 3), (1 << 20, 1)] {
            let plan = Plan { chunk_len: Some(chunk_len), threads, max_field: 9, ..Plan::default() };
            for _ in 0..20 {
                let Ok(Outcome::Refused(refused)) = read_text(text.as_bytes(), &plan) else { panic!() };
                assert_eq!((refused.problems.n, refused.problems.kept[0].line), (1, 2));
            }
        }
    }
}

/// The rows of a text with one long field, which begins at byte 19 in line 3, and the dialect.
fn long_fields(len: usize) -> Vec<(String, Dialect)> {
    let (usual, field) = (Dialect::default(), "x".repeat(len));
    let quoted = format!("\"{}\n\"", "y,".repeat((len - 3) / 2));
    let odd = format!("\"{}\"{}", "\n".repeat(len - 20), "z".repeat(18));
    let mut texts = Vec::new();
    for end in ["\n", "\r\n", "\r"] {
        // The rows before the long field have 19 bytes for each line end.
        let start = format!("a,b{end}12345,123456{}{end}", if end.len() == 2 { "" } else { "78" });
        for field in [&field, &quoted, &odd] {
            texts.push((format!("{start}{field},1{end}3,4{end}"), usual));
            texts.push((format!("{start}{field},1{end}3"), usual));
            texts.push((format!("{start}{field}"), usual));
            texts.push((format!("{start}{field}{end}1,2{end}"), usual));
        }
        // Read byte by byte.
        texts.push((format!("{start}{field},1{end}3,4{end}"), Dialect { escape: Some(b'\\'), ..usual }));
        texts.push((format!("{start}{field},q\"{end}3,4{end}"), usual));
    }
    texts
}

#[test]
fn each_field_may_be_as_long_as_max_field() {
    let len = 99;
    for (text, dialect) in long_fields(len) {
        for chunk_len in [1, 2, 3, 17, 18, 19, 64, 98, 99, 100, 101, 102, 116, 117, 118, 1 << 20] {
            for threads in [1, 2] {
                let plan = |max_field| Plan {
                    chunk_len: Some(chunk_len),
                    max_field,
                    dialect,
                    threads,
                    fill: true,
                    ..Plan::default()
                };
                let columns = values(text.as_bytes(), &plan(len));
                assert!(columns[0].2.len() >= 2, "{text:?} {chunk_len}");
                let message = error(text.as_bytes(), &plan(len - 1)).to_string();
                assert!(message.contains("line 3, byte 19, has more than 98 bytes"), "{text:?}: {message}");
                assert!(message.contains("raise max_field"), "{message}");
            }
        }
    }
}

#[test]
fn rows_names_and_comments_may_be_longer_than_max_field() {
    for chunk_len in [1, 8, 30, 1 << 20] {
        let plan = |max_field| Plan { chunk_len: Some(chunk_len), max_field, ..Plan::default() };
        let long_row = "1,".repeat(30) + "22";
        let text = "a,".repeat(30) + "b\n" + &long_row + "\n";
        assert_eq!(values(text.as_bytes(), &plan(4)).len(), 31);
        assert!(error(text.as_bytes(), &plan(1)).to_string().contains("line 2, byte 122, has more than 1"));
        let message = error(b"id,name\n1,2\n", &plan(3)).to_string();
        assert!(message.contains("line 1, byte 3, has more than 3 bytes"), "{message}");
        let comments = Plan { dialect: Dialect { comment: Some(b'#'), ..Dialect::default() }, ..plan(3) };
        assert_eq!(values(b"# a long comment\na,b\n1,2\n# another, comment\n3,4\n", &comments)[0].2.len(), 2);
    }
}

#[test]
fn fields_after_the_rows_to_read_may_be_longer_than_max_field() {
    let text = b"a,b\n1,2\n3,4\n5,123456789\n";
    for chunk_len in [1, 5, 100] {
        let plan =
            |rows| Plan { chunk_len: Some(chunk_len), max_field: 3, rows: Some(rows), ..Plan::default() };
        assert_eq!(values(text, &plan(0..2))[0].2.len(), 2);
        assert!(error(text, &plan(0..3)).to_string().contains("line 4, byte 14"));
        assert!(error(text, &plan(1..9)).to_string().contains("line 4, byte 14"));
        // Rows that are left out between those that are read.
        let skip = |rows| Plan { on_error: OnError::Skip, ..plan(rows) };
        let uneven = b"a,b\n1,2\n3456\n5,6\n7\n8901\n";
        assert_eq!(values(uneven, &skip(0..1))[0].2.len(), 1);
        for rows in [0..2, 1..2, 2..9] {
            assert!(error(uneven, &skip(rows)).to_string().contains("line 3, byte 8"));
        }
        assert_eq!(values(&uneven[..4 + 4], &skip(1..9))[0].2.len(), 0);
        assert!(error(b"a,b\n1,2\n3\n4567\n", &skip(5..9)).to_string().contains("line 4, byte 10"));
    }
}

#[test]
fn a_header_longer_than_a_chunk_is_compared_with_all_rows() {
    let names: Vec<String> = (0..20_000).map(|i| format!("name_{i}")).collect();
    let row = "1,".repeat(20_000) + "2\n";
    let text = names.join(",") + "\n" + &row + &row;
    for chunk_len in [10, 1000, 1 << 20] {
        let plan = Plan { chunk_len: Some(chunk_len), ..Plan::default() };
        let message = error(text.as_bytes(), &plan).to_string();
        assert!(message.contains("20000 names, and all rows have 20001 fields"), "{message}");
        assert!(message.contains("index_col=0"), "{message}");
        let plan = Plan { first_is_unnamed: true, ..plan };
        let columns = values(text.as_bytes(), &plan);
        assert_eq!((columns.len(), columns[0].0.as_str(), columns[1].0.as_str()), (20_001, "", "name_0"));
    }
}

#[test]
fn errors_have_little_of_the_text() {
    let name = "\u{7}".repeat(5000);
    let text = format!("{name}x,{name}y\n") + &format!("{}\n", "\u{1b}".repeat(5000)).repeat(50);
    let message = error(text.as_bytes(), &Plan::default()).to_string();
    assert!(message.len() < 1500 && !message.chars().any(char::is_control), "{message}");
    for columns in [
        Selection::Names(vec!["z".repeat(1000)]),
        Selection::Names(vec![format!("{name}x"), format!("{name}x")]),
    ] {
        let message = error(format!("{name}x,{name}y\n").as_bytes(), &Plan { columns, ..Plan::default() });
        let message = message.to_string();
        assert!(message.len() < 500 && !message.chars().any(char::is_control), "{message}");
    }
}

#[test]
fn texts_without_rows_are_errors() {
    for (text, expected) in [("", "is empty"), ("\n\r\n\n", "no rows")] {
        for chunk_len in [1, 100] {
            let plan = Plan { chunk_len: Some(chunk_len), ..Plan::default() };
            let message = error(text.as_bytes(), &plan).to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
    let comments = Plan { dialect: Dialect { comment: Some(b'#'), ..Dialect::default() }, ..Plan::default() };
    assert!(error(b"#a\n#b\n", &comments).to_string().contains("no rows"));
}

#[test]
fn sources_that_cannot_be_read_are_named() {
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("missing.csv");
    let open = |path: &std::path::Path| match Job::open(Origin::Path(path.to_owned()), &Options::default()) {
        Ok(_) => panic!("{}", path.display()),
        Err(error) => error,
    };
    let failed = open(&missing);
    assert!(matches!(failed.kind(), Kind::Io(_)) && failed.to_string().contains("missing.csv"), "{failed}");
    let failed = open(folder.path());
    let name = folder.path().file_name().unwrap().to_string_lossy().into_owned();
    assert!(matches!(failed.kind(), Kind::Io(_)) && failed.to_string().contains(&name), "{failed}");
}

#[test]
fn other_formats_are_refused_by_name() {
    for (bytes, name) in [
        (&b"PAR1\0\0\0\0"[..], "Parquet"),
        (b"PK\x03\x04\x14\0\0\0\x08\0", "zip"),
        (b"ARROW1\0\0\0\0\0\0", "Arrow"),
        (b"%PDF-1.7\n", "PDF"),
    ] {
        let message = job_error(bytes, &Options::default());
        assert!(message.to_lowercase().contains(&name.to_lowercase()), "{message}");
    }
}

#[test]
fn a_truncated_gzip_is_an_error() {
    let text: String = (0..50_000u64).map(|i| format!("{i},{}\n", i.wrapping_mul(0x9e37_79b9))).collect();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(b"a,b\n").unwrap();
    encoder.write_all(text.as_bytes()).unwrap();
    let whole = encoder.finish().unwrap();
    assert!(matches!(job(&whole, &Options::default()), Ok(Outcome::Table(table)) if table.n_rows == 50_000));
    for len in [20, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        for threads in [1, 2] {
            let options = Options { threads: Some(threads), ..Options::default() };
            let message = job_error(&whole[..len], &options);
            assert!(message.contains("gzip"), "{len}: {message}");
        }
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let given = |given: Given| Options { given, ..Options::default() };
    let byte = |byte| Some(Some(byte));
    for (options, expected) in [
        (given(Given { separator: Some(b'"'), quote: byte(b'"'), ..Given::default() }), "two meanings"),
        (given(Given { separator: Some(b'\n'), ..Given::default() }), "line end"),
        (given(Given { separator: Some(0xe9), ..Given::default() }), "\u{e9}"),
        (given(Given { escape: byte(b'\n'), ..Given::default() }), "cannot be the escape"),
        (
            given(Given { escape: byte(b'#'), comment: byte(b'#'), ..Given::default() }),
            "cannot be the escape",
        ),
        (given(Given { decimal: Some(b'e'), ..Given::default() }), "decimal mark"),
        (given(Given { decimal: Some(b','), separator: Some(b','), ..Given::default() }), "separator"),
        (Options { thousands: Some(b'5'), ..Options::default() }, "groups of digits"),
        (Options { thousands: Some(b'.'), ..Options::default() }, "groups of digits"),
        (Options { types: vec![("z".to_owned(), Type::INT)], ..Options::default() }, "no column 'z'"),
        (Options { names: Some(vec!["x".to_owned()]), ..Options::default() }, "1 names for 2 columns"),
    ] {
        let message = job_error(b"a,b\n1,2\n3,4\n", &options);
        assert!(message.contains(expected), "{message}");
    }
}

/// Bytes that are not UTF-8 after the part from which the encoding is found.
#[test]
fn a_later_byte_of_another_encoding_is_a_problem() {
    let mut text = "a,b\n".to_owned() + &"1,x\n".repeat(300_000);
    let at = text.len() as u64 + 2;
    text.push_str("2,");
    let mut text = text.into_bytes();
    text.extend(b"caf\xe9\n");
    let Ok(Outcome::Refused(refused)) = job(&text, &Options::default()) else { panic!() };
    let problem = &refused.problems.kept[0];
    assert_eq!((problem.line, problem.byte, problem.column), (300_002, at, Some(1)));
    assert_eq!(problem.expected, "UTF-8");
    let options = Options { on_error: OnError::Skip, ..Options::default() };
    let Ok(Outcome::Table(table)) = job(&text, &options) else { panic!() };
    assert_eq!((table.n_rows, table.problems.n), (300_000, 1));
}
