//! One test per rule, and tables with random dialects.

use proptest::prelude::*;

use super::*;

fn sniffed(text: &str) -> Sniffed {
    sniff(&[text.as_bytes()], true, &Given::default())
}

#[track_caller]
fn check_separator(text: &str, separator: u8, n_columns: usize) {
    let sniffed = sniffed(text);
    assert_eq!((sniffed.dialect.separator, sniffed.n_columns), (separator, n_columns), "{sniffed:?}");
}

#[test]
fn one_column_stays_one_column() {
    let texts = [
        "c0\nv0\na;b\n",
        "x\n1\n2\n3\n",
        "time\n2024-01-01 12:00:00\n2024-01-02 13:30:00\n2024-01-03 14:45:10\n",
        "when\n12:00\n13:30\n14:45\n",
        "text\nhello, world\nno comma\nnor here\nnor there\n",
        "url\nhttps://a.org/x?a=1&b=2\nhttps://a.org/y?a=3&b=4\n",
        "name\nAnn Lee\nBob Ray\nCy Young\n",
    ];
    for text in texts {
        let sniffed = sniffed(text);
        assert_eq!(sniffed.n_columns, 1, "{text:?}: {sniffed:?}");
        let rows = Table::read(&sample::segments(text.as_bytes(), &[], true), sniffed.dialect);
        assert!(rows.rows().all(|row| row.len() == 1), "{text:?}: {sniffed:?}");
        assert_eq!((sniffed.skip, sniffed.header.is_header), (0, true), "{text:?}: {sniffed:?}");
    }
}

#[test]
fn separators() {
    check_separator("a,b\n1,2\n3,4\n", b',', 2);
    check_separator("a;b\n1,5;2\n3,25;4\n", b';', 2);
    check_separator("a\tb c\n1\tx y\n2\tz w\n", b'\t', 2);
    check_separator("a|b|c\n1|x,y|2\n2|z|3\n", b'|', 3);
    check_separator("a b c\n1 x 2.5\n2 y 3.5\n", b' ', 3);
    check_separator("a^b\n1^x\n2^y\n", b'^', 2);
    check_separator("a\x01b\n1\x01x\n2\x01y\n", 1, 2);
    check_separator("time,level\n2024-01-01 12:00:00,1\n2024-01-01 12:00:01,2\n", b',', 2);
    check_separator("", b',', 0);
    check_separator("a,b", b',', 2);
}

#[test]
fn a_first_line_may_declare_the_separator() {
    let sniffed = sniffed("sep=;\r\na,b;c\r\n1,2;3\r\n");
    assert_eq!((sniffed.dialect.separator, sniffed.skip, sniffed.n_columns), (b';', 1, 2));
    assert_eq!(sniffed.reasons[0].reason, "the first line declares it");
}

#[test]
fn quotes_and_escapes() {
    let quote_and_escape = |text: &str| (sniffed(text).dialect.quote, sniffed(text).dialect.escape);
    assert_eq!(quote_and_escape("a,b\n1,2\n"), (Some(b'"'), None));
    assert_eq!(quote_and_escape("a,b\n\"x,\"\"y\",2\n\"z\n\",3\n"), (Some(b'"'), None));
    assert_eq!(quote_and_escape("a,b\n'x,y',2\n'z, w',3\n"), (Some(b'\''), None));
    assert_eq!(quote_and_escape("a,b\n\"x \\\"y\\\", z\",2\n\"w\",3\n"), (Some(b'"'), Some(b'\\')));
    assert_eq!(quote_and_escape("a,b\nx\\,y,2\nz,3\nw,4\n"), (Some(b'"'), Some(b'\\')));
    assert_eq!(quote_and_escape("a,b\n\"C:\\dir\\\",2\n\"D:\\\",3\n"), (Some(b'"'), None));
    assert_eq!(quote_and_escape("a,b\nit's,2\n5\" pipe,3\n"), (Some(b'"'), None));
}

#[test]
fn an_escape_after_the_scored_subset_is_found() {
    let mut text = "a,b\n".to_owned() + &"1,\"x, y\"\n".repeat(20_000);
    text += "2,\"x \\\"y\\\", z\"\n3,\"w\"\n";
    assert_eq!(sniffed(&text).dialect.escape, Some(b'\\'));
}

#[test]
fn comments_are_left_out_unless_they_fit_the_table() {
    let comment = |text: &str| (sniffed(text).dialect.comment, sniffed(text).skip, sniffed(text).n_columns);
    assert_eq!(comment("# made by x\n# on a day\na,b\n1,2\n3,4\n"), (Some(b'#'), 0, 2));
    assert_eq!(comment("a,b\n1,2\n# 3 is left out\n3,4\n"), (Some(b'#'), 0, 2));
    assert_eq!(comment("#a,b\n1,2\n3,4\n"), (None, 0, 2));
    assert_eq!(comment("##x\n##y\n#a\tb\tc\n1\t2\t3\n3\t4\t5\n"), (None, 2, 3));
    assert_eq!(comment("a,b\n#1,2\n#3,4\n5,6\n"), (None, 0, 2));
}

#[test]
fn banners_and_blank_lines_are_skipped() {
    let skip = |text: &str| (sniffed(text).skip, sniffed(text).n_columns, sniffed(text).header.is_header);
    assert_eq!(skip("Report of May\n\na,b,c\n1,2,3\n4,5,6\n7,8,9\n"), (2, 3, true));
    assert_eq!(skip("\n\na,b\n1,2\n3,4\n"), (2, 2, true));
    assert_eq!(skip("Report,,\n,,\na,b,c\n1,2,3\n4,5,6\n"), (2, 3, true));
    assert_eq!(skip("a,b,c,d\n1,2,3,4\n5,6,7,8\n\n9,0,1,2\n"), (0, 4, true));
}

#[test]
fn rows_that_grow_are_no_banner() {
    let mut text = "a,b\n".to_owned();
    for row in 1..3000 {
        text += &if row < 100 { format!("{row},x\n") } else { format!("{row},x,y\n") };
    }
    let sniffed = sniffed(&text);
    assert_eq!((sniffed.skip, sniffed.n_columns, sniffed.dialect.separator), (0, 3, b','));
}

#[test]
fn names_that_are_too_few_are_not_skipped() {
    let sniffed = sniffed("a,b,c\n1,2,3,4,5,6\n1,2,3,4,5,6\n1,2,3,4,5,6\n1,2,3,4,5,6\n");
    assert_eq!((sniffed.skip, sniffed.n_columns, sniffed.header.is_header), (0, 6, true));
}

#[test]
fn headers() {
    let is_header = |text: &str| sniffed(text).header.is_header;
    assert!(is_header("a,b\n1,2\n"));
    // No integer of 64 bits comes after the greatest one.
    assert!(!is_header("18446744073709551615,0\n1,2\n3,4\n"));
    assert!(is_header("country,2019,2020\nFrance,1.5,2.5\nPeru,3.5,4\n"));
    assert!(is_header("country,2019,2020\nFrance,15,25\nPeru,35,40\n"));
    assert!(is_header("NA,b\n1,2\n3,4\n"));
    assert!(is_header("name,city\nAnn,Paris\nBob,Rome\n"));
    assert!(is_header("name,2024-01-01,2024-02-01\nAnn,1,2\nBob,3,4\n"));
    assert!(is_header("0,1\nAnn,Paris\nBob,Rome\n"));
    assert!(!is_header("1,2\n3,4\n"));
    assert!(!is_header("France,1.5,2.5\nPeru,3.5,4\n"));
    assert!(!is_header("Paris,Ann\nRome,Bob\nParis,Cy\n"));
    assert!(!is_header("2024-01-01,x\n2024-01-02,y\n"));
    let sniffed = sniffed("a,b\nr1,1,2\nr2,3,4\n");
    assert_eq!((sniffed.skip, sniffed.n_columns, sniffed.header.is_header), (0, 3, true));
}

/// The number after the largest one does not exist.
#[test]
fn the_largest_number_ends_a_series() {
    let sniffed = sniffed("18446744073709551615,0\n1,2\n3,4\n");
    assert!(!sniffed.header.is_header, "{sniffed:?}");
}

#[test]
fn names_for_fields_that_rows_leave_out_count() {
    let sniffed = sniffed("a,b,c\n1,2\n3,4\n");
    assert_eq!((sniffed.skip, sniffed.n_columns, sniffed.header.is_header), (0, 3, true));
}

#[test]
fn decimal_marks() {
    let decimal = |text: &str| sniffed(text).decimal;
    assert_eq!(decimal("a;b\n1,5;x\n2,25;y\n"), b',');
    assert_eq!(decimal("a;b\n1,500;x\n2,250;y\n"), b'.');
    assert_eq!(decimal("a;b\n1,500;x\n2,25;y\n"), b',');
    assert_eq!(decimal("a;b\n1.234,56;x\n2,5;y\n"), b',');
    assert_eq!(decimal("a;b\n1.5;x\n2.5;y\n"), b'.');
    assert_eq!(decimal("a,b\n\"1,5\",x\n\"2,5\",y\n"), b'.');
}

#[test]
fn all_quoted() {
    assert!(sniffed("\"a\",\"b\"\n\"1\",\"x\"\n\"2\",\"\"\n").all_quoted);
    assert!(sniffed("\"a\",\"b\"\n\"1\",\n").all_quoted);
    assert!(!sniffed("a,b\n\"1\",\"x\"\n").all_quoted);
    assert!(!sniffed("a,b\n1,2\n").all_quoted);
}

#[test]
fn line_ends() {
    assert_eq!(sniffed("a,b\n1,\"x\r\ny\"\n").line_end, LineEnd::Lf);
    assert_eq!(sniffed("a,b\r\n1,2\r\n").line_end, LineEnd::CrLf);
    assert_eq!(sniffed("a,b\r1,2\r").line_end, LineEnd::Cr);
    assert_eq!(sniffed("a,b\r\n1,2\n").line_end, LineEnd::Mixed);
}

#[test]
fn given_parts_stay() {
    let text: &[u8] = b"x\na;b,c\n1;2,3\n4;5,6\n";
    let given = Given {
        separator: Some(b';'),
        quote: Some(None),
        escape: Some(Some(b'\\')),
        comment: Some(Some(b'%')),
        skip: Some(2),
        header: Some(true),
        decimal: Some(b','),
        blanks: None,
    };
    let sniffed = sniff(&[text], true, &given);
    let dialect = Dialect {
        separator: b';',
        quote: None,
        escape: Some(b'\\'),
        comment: Some(b'%'),
        ..Dialect::default()
    };
    assert_eq!(sniffed.dialect, dialect);
    assert_eq!((sniffed.skip, sniffed.header.is_header, sniffed.decimal), (2, true, b','));
    assert_eq!(sniffed.reasons.len(), 8);
}

#[test]
fn later_pieces_count() {
    let first: &[u8] = b"a,b\n1,2\n3,4\n5,";
    let sniffed = sniff(&[first, b"9,9\n\"x\ny\",7\r\n8,9\n"], false, &Given::default());
    assert_eq!((sniffed.n_columns, sniffed.line_end), (2, LineEnd::Mixed));
}

/// The text of a field in a dialect.
fn written(field: &str, separator: u8, quote: u8, always: bool) -> String {
    let (separator, quote) = (char::from(separator), char::from(quote));
    if !always && !field.contains([separator, quote, '\n', '\r']) && field.trim() == field {
        return field.to_owned();
    }
    format!("{quote}{}{quote}", field.replace(quote, &format!("{quote}{quote}")))
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{3,8}",
        2 => "[A-Z][a-z]{2,6} [a-z]{2,5}",
        1 => "[a-z]{2,5}, [a-z]{2,5}",
        1 => "[a-z]{2,5}; [a-z]{2,5}\n[a-z]{2,5}",
        1 => "[a-z]{2,4} \"[a-z]{2,4}\" [a-z]{2,4}",
    ]
}

/// A value of the type of a column.
fn value(kind: u8) -> BoxedStrategy<String> {
    match kind {
        0 => (-10_000..10_000_i32).prop_map(|value| value.to_string()).boxed(),
        1 => (-10_000..10_000_i32)
            .prop_map(|value| format!("{}.{:02}", value / 100, value.abs() % 100))
            .boxed(),
        2 => (1..13_u8, 1..29_u8).prop_map(|(month, day)| format!("2024-{month:02}-{day:02}")).boxed(),
        3 => (0..24_u8, 0..60_u8).prop_map(|(hour, minute)| format!("{hour:02}:{minute:02}:00")).boxed(),
        _ => words().boxed(),
    }
}

/// Rows below names. The first column holds numbers, so that there are values other than text.
fn tables() -> impl Strategy<Value = Vec<Vec<String>>> {
    prop::collection::vec(0..6_u8, 1..6).prop_flat_map(|mut kinds| {
        kinds.insert(0, 0);
        let row: Vec<_> = kinds.iter().map(|&kind| value(kind)).collect();
        prop::collection::vec(row, 3..30).prop_map(|mut rows| {
            let names = (0..rows[0].len()).map(|n| format!("name_{n}")).collect();
            rows.insert(0, names);
            rows
        })
    })
}

proptest! {
    #[test]
    fn tables_of_random_dialects_are_sniffed(
        rows in tables(),
        separator in prop::sample::select(&b",;\t|"[..]),
        quote in prop::sample::select(&b"\"'"[..]),
        always in any::<bool>(),
        line_end in prop::sample::select(vec![("\n", LineEnd::Lf), ("\r\n", LineEnd::CrLf), ("\r", LineEnd::Cr)]),
    ) {
        let field = |field: &String| written(field, separator, quote, always);
        let lines: Vec<String> = rows.iter().map(|row| {
            row.iter().map(field).collect::<Vec<_>>().join(&char::from(separator).to_string())
        }).collect();
        let text = lines.join(line_end.0) + line_end.0;
        let sniffed = sniffed(&text);
        prop_assert_eq!(sniffed.dialect.separator, separator, "{}", text);
        prop_assert_eq!(sniffed.n_columns, rows[0].len(), "{}", text);
        if always {
            prop_assert_eq!(sniffed.dialect.quote, Some(quote), "{}", text);
            prop_assert!(sniffed.all_quoted);
        }
        prop_assert_eq!(sniffed.line_end, line_end.1);
        prop_assert_eq!((sniffed.skip, sniffed.decimal), (0, b'.'), "{}", text);
        prop_assert!(sniffed.header.is_header, "{}", text);
    }

    #[test]
    fn random_bytes_are_sniffed_in_bounded_time(
        bytes in prop::collection::vec(prop::sample::select(&b"a1,;\t|\"'\\#\n\r \x00\xFF.:"[..]), 0..2000),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let started = std::time::Instant::now();
        let (first, second) = bytes.split_at(cut.index(bytes.len() + 1));
        let one = sniff(&[first, second], whole, &Given::default());
        prop_assert_eq!(one, sniff(&[first, second], whole, &Given::default()));
        prop_assert!(started.elapsed() < std::time::Duration::from_secs(5));
    }
}

#[test]
fn a_mebibyte_of_any_byte_is_sniffed_in_bounded_time() {
    for bytes in [&b","[..], b"\"", b"\n", b"a", b"\",\"\n", b"a b;c,d\t'e'|#f:\"g\"\\\"\n", b"\0", b"'\r"] {
        let text: Vec<u8> = bytes.iter().copied().cycle().take(1 << 20).collect();
        let started = std::time::Instant::now();
        sniff(&[&text], true, &Given::default());
        assert!(started.elapsed() < std::time::Duration::from_secs(10), "{bytes:?}: {:?}", started.elapsed());
    }
}

#[test]
fn a_column_of_times_is_one_column() {
    let texts = [
        &b"a\n2020-01-02T03:04:05.123456789\n9999-01-01T00:00:00\n"[..],
        b"t\r\n2020-01-02 03:04:05\r\n2020-01-02 03:04:06\r\n",
        b"t\n10:30:00\n",
    ];
    for text in texts {
        let sniffed = sniff(&[text], true, &Given::default());
        assert_eq!(sniffed.n_columns, 1, "{:?}", sniffed.dialect);
    }
}

#[test]
fn columns_that_look_like_numbers_with_a_comma_are_found() {
    assert_eq!(sniffed("a;b;c\n1,234;2;x\n5,678;3;1,5 m\n;;\n").comma_columns, [0]);
    assert_eq!(sniffed("a;b\n1,5;2\n2,25;3\n").comma_columns, [], "the comma is the decimal mark");
    assert_eq!(sniffed("a;b\n1,2;0.5\n3,4;1.5\n5,6;2.5\n").comma_columns, [0]);
    assert_eq!(sniffed("a,b\n\"1,234\",2\n\"5,678\",3\n").comma_columns, []);
    assert_eq!(sniffed("a;b\n\"1,234\";2\n\"5,678\";3\n").comma_columns, []);
    assert_eq!(sniffed("\"a\";\"b\"\n\"1,234\";\"2\"\n\"5,678\";\"3\"\n").comma_columns, [0]);
    let given = Given { decimal: Some(b'.'), ..Given::default() };
    assert_eq!(sniff(&[b"a;b\n1,234;2\n5,678;3\n"], true, &given).comma_columns, []);
}

fn check_blanks(text: &str, separator: &str, n_columns: usize) {
    let sniffed = sniffed(text);
    let found = (sniffed.dialect.separator_text(), sniffed.n_columns);
    assert_eq!(found, (separator.to_owned(), n_columns), "{text:?}: {sniffed:?}");
}

#[test]
fn columns_that_blanks_align_are_found() {
    check_blanks("name    age   city\nAnn      12   Oslo\nRob       7   Rome\n", "blanks", 3);
    check_blanks("  id value\n   1   2.5\n  10  13.5\n 100   0.5\n", "blanks", 2);
    check_blanks("x y z\n1 2 3\n4 5 6  \n7  8 9\n10 11 12\n", "blanks", 3);
    check_blanks("1 2 3\n4 5 6\n", " ", 3);
    // Blanks within fields, and texts.
    check_blanks("a,b\n1,x  y\n2,z  u\n", ",", 2);
    check_blanks("a,   b\n1,   2\n3,   4\n", ",", 2);
    check_blanks("a;b\nNew  York;12\nLos  Angeles;7\n", ";", 2);
    let prose = "It was late.  Nobody came.\nThen 3 men did.  One of them sang\nfor an hour.\nThe end.\n";
    assert_eq!(sniffed(prose).n_columns, 1);
}

#[test]
fn quotes_after_blanks_are_found() {
    check_blanks("\"a\", \"b\"\n\"1, 2\", \"x\"\n\"3, 4\", \"y, z\"\n", ", ", 2);
    check_blanks("a; b\n1; \"x; y\"\n2;   \"z\"\n", "; ", 2);
    // Not every quoted field has the blank, or text follows the closing quote.
    check_blanks("a, b,c\n1, \"x\",\"y\"\n2, \"z\",\"u\"\n", ",", 3);
    check_blanks("a, b\n1, \"q\" x\n2, \"r\" y\n", ",", 2);
    check_blanks("a, b\n1, 2\n3, 4\n", ",", 2);
    let given = Given { separator: Some(b','), ..Given::default() };
    let text = b"\"a\", \"b\"\n\"1\", \"x\"\n";
    assert_eq!(sniff(&[text], true, &given).dialect.blanks, Blanks::Kept);
}
