//! Text files: any bytes under any options, whatever the chunks and threads.

use std::sync::Arc;

use entasis::{Kind, Silent};
use entasis_csv::input::Bytes;
use entasis_csv::piece::{Piece, TextLayout};
use entasis_csv::problems::{OnError, Problem};
use entasis_csv::source::Origin;
use entasis_csv::{Blanks, Dialect, Job, Options, Outcome, Plan, Table, Type, read};

use super::input::Input;
use crate::memory;

/// The most bytes that compressed bytes may become.
const DECOMPRESSED: u64 = 1 << 20;

/// Reads a text in chunks of several lengths and compares the tables. The first six bytes of an
/// input are options.
///
/// # Panics
/// When a promise is broken.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut plan = plan(&mut input);
    let chosen = usize::from(input.u8());
    let strings = input.u8();
    (plan.as_categories, plan.dates) = (strings & 1 == 1, dates(strings >> 1));
    let text = input.rest();
    // A chunk costs some time for each column.
    let least = 1 + text.len() / 100;
    let (whole, used) = memory::peak(|| result(text, &plan));
    let most = (8 << 20) + 512 * text.len();
    assert!(used <= most, "a text of {} bytes took {used} bytes", text.len());
    for (chunk_len, threads) in [(least, 1), (least + chosen, 1), (least + chosen / 4, 3)] {
        let parts = Plan { chunk_len: Some(chunk_len), threads, ..plan.clone() };
        assert_eq!(result(text, &parts), whole, "chunks of {chunk_len} bytes, {threads} threads, {plan:?}");
    }
    sniffed(text);
}

/// Reads bytes with all options found out.
fn sniffed(bytes: &[u8]) {
    let mut options = Options { threads: Some(1), on_error: OnError::Missing, ..Options::default() };
    (options.source.max_bytes, options.source.spill_limit) = (Some(DECOMPRESSED), 0);
    let read = || Job::open(Origin::Bytes(Arc::new(bytes.to_vec())), &options)?.read(&Silent);
    if let Err(error) = read() {
        let is_fit = !matches!(error.kind(), Kind::Io(_) | Kind::OutOfMemory | Kind::Interrupted);
        assert!(is_fit, "{:?}: {error}", error.kind());
        let message = error.to_string();
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
}

fn plan(input: &mut Input<'_>) -> Plan {
    let (flags, marks, rows, of) = (input.u8(), input.u8(), input.u8(), input.u8());
    let flag = |bit: u8| flags >> bit & 1 == 1;
    let types = [
        Type::INT,
        Type::FLOAT,
        Type::Text,
        Type::Date,
        Type::Bool,
        Type::Int { bytes: 1, is_signed: true },
        Type::Decimal { precision: 9, scale: 2 },
    ];
    let given = types.get(usize::from(of)).map(|of| ("a".to_owned(), *of));
    let blanks = [Blanks::Kept, Blanks::Kept, Blanks::Skipped, Blanks::Separate][usize::from(flags >> 3 & 3)];
    Plan {
        dialect: Dialect {
            separator: match blanks {
                Blanks::Separate => b' ',
                _ => [b',', b';', b'\t', b'a'][usize::from(marks & 3)],
            },
            quote: [Some(b'"'), Some(b'"'), Some(b'\''), None][usize::from(marks >> 2 & 3)],
            escape: [None, None, Some(b'\\'), Some(b'"')][usize::from(marks >> 4 & 3)],
            comment: [None, None, None, Some(b'#')][usize::from(marks >> 6)],
            blanks,
        },
        has_header: !flag(0),
        first_is_unnamed: flag(1),
        types: given.into_iter().collect(),
        misses_in_text: flag(2),
        quotes_mean_text: !flag(3),
        fill: flag(4),
        on_error: [OnError::Error, OnError::Missing, OnError::Skip, OnError::Skip]
            [usize::from(flags >> 5 & 3)],
        layout: if flag(7) { TextLayout::Views } else { TextLayout::Offsets },
        skip: usize::from(rows >> 6),
        rows: (rows & 3 == 3).then(|| u64::from(rows >> 2 & 3)..u64::from(rows >> 2 & 15)),
        decimal: if of & 64 == 0 { b'.' } else { b',' },
        thousands: (of & 128 != 0).then_some(b'_'),
        max_field: if of & 32 == 0 { 64 << 20 } else { 20 },
        ..Plan::default()
    }
}

/// Formats of dates for all columns or for one; none for most choices.
fn dates(choice: u8) -> Vec<(Option<String>, Vec<String>)> {
    let (column, formats): (Option<&str>, &[&str]) = match choice {
        1 => (None, &["%d/%m/%Y"]),
        2 => (None, &["%d/%m/%Y", "%m/%d/%Y"]),
        3 => (Some("a"), &["%Y%m%d", "%y%j"]),
        4 => (None, &["%d.%m.%Y %H:%M:%S.%f", "%d.%m.%Y %H:%M"]),
        5 => (Some("b"), &["%b %d %Y %I:%M %p", "%Y-%m-%dT%H:%M:%S%z"]),
        6 => (Some("a"), &["%Y", "%H%M%S%f %d%m%y"]),
        _ => return Vec::new(),
    };
    let formats = formats.iter().map(ToString::to_string).collect();
    vec![(column.map(str::to_owned), formats)]
}

/// The values of a column; `None` where they are missing.
type Values = Vec<Option<Vec<u8>>>;

/// The table of a text, or the reason why there is none.
#[derive(Debug, PartialEq)]
enum Found {
    Table {
        columns: Vec<(String, Type, Values)>,
        categories: Vec<Values>,
        problems: Vec<Problem>,
        warnings: Vec<String>,
    },
    /// How many problems are found depends on the chunks.
    Refused(Problem),
    Error(String),
}

fn result(text: &[u8], plan: &Plan) -> Found {
    match read(&mut Bytes::new(text), plan, &Silent) {
        Ok(Outcome::Table(Table { columns, n_rows, problems, warnings, .. })) => {
            assert_eq!(problems.n, problems.kept.len() as u64, "few problems are all kept");
            let categories = columns.iter().map(|column| {
                let pieces = column.categories.iter();
                let cells =
                    pieces.flat_map(|piece| (0..piece.n).map(|i| Some(cell(piece, i, TextLayout::Offsets))));
                cells.collect()
            });
            let categories = categories.collect();
            let columns = columns.iter().map(|column| {
                assert_eq!(column.pieces.iter().map(|piece| piece.n as u64).sum::<u64>(), n_rows);
                let cells = column.pieces.iter().flat_map(|piece| {
                    assert_eq!(piece.of, column.of, "the type of a piece");
                    (0..piece.n).map(|i| piece.is_present(i).then(|| cell(piece, i, plan.layout)))
                });
                (column.name.clone(), column.of, cells.collect())
            });
            Found::Table { columns: columns.collect(), categories, problems: problems.kept, warnings }
        }
        Ok(Outcome::Refused(mut refused)) => Found::Refused(refused.problems.kept.swap_remove(0)),
        Err(error) => Found::Error(error.to_string()),
    }
}

fn cell(piece: &Piece, i: usize, layout: TextLayout) -> Vec<u8> {
    let word = |at: usize, len: usize| &piece.values[at * len..(at + 1) * len];
    match piece.of {
        Type::Bool => vec![piece.values[i / 8] >> (i % 8) & 1],
        Type::Text if layout == TextLayout::Offsets => {
            let offset = |i| usize::from_le_bytes(word(i, 8).try_into().unwrap_or_default());
            let text = &piece.bytes[offset(i)..offset(i + 1)];
            assert!(std::str::from_utf8(text).is_ok(), "texts are UTF-8");
            text.to_vec()
        }
        Type::Text => {
            let view = word(i, 16);
            let part =
                |at: usize| u32::from_le_bytes(view[at..at + 4].try_into().unwrap_or_default()) as usize;
            let len = part(0);
            let text = if len <= 12 { &view[4..4 + len] } else { &piece.bytes[part(12)..part(12) + len] };
            assert!(len <= 12 || view[4..8] == text[..4], "a view has the first bytes");
            text.to_vec()
        }
        of => word(i, of.width().unwrap_or(0)).to_vec(),
    }
}

/// Texts of several kinds, each under several options.
pub fn seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 20] = [
        b"a,b\n1,2\n3,4\n",
        b"a,b\r\n\"x,\"\"y\",2.5\r\n\r\nNA,-0\r\n",
        b"a\r1\r\r2\r",
        b"a,b\n1,2,3\n4\n5,6\n",
        b"a,b\n9223372036854775807,18446744073709551615\n-1,1.5\n9007199254740993,NaN\n",
        b"a,b\n2020-01-02,2020-01-02T03:04:05.123456789\n1969-12-31,2020-01-02T03:04:05Z\n",
        b"a,b\ntrue,\"\"\n,\" \"\nfalse,\"z\"\n",
        b"a;b\n1_000;1,5\n2;2,25\n",
        b"#c\na,b\n#d\n\\,x,y\n'q',\"r\n",
        b"a,b\n\xff,1\n\xc3\xa9,2\n",
        b"x,a,a,\n1,2,3,4\n",
        b"a\n1,2\n3,4\n",
        b"a,b\n0x1F,1e400\n1e-400,.5\n5.,1E5\n",
        b"\xef\xbb\xbfa,b\n\0,\x1a\n",
        b" a  b \n 1\t 2  \r\n\"x y\"  \"\" \n \n 3\n",
        b"\"a\", b\n 1,  \"2, 3\"\n ,\"\" \n\n  \n4, 5",
        b"a,b\n01/02/2020,13/02/2020\n3/4/1999,\n,29/2/2021\n",
        b"a,b\n20200131,Jan 5 2020 01:30 PM\n20201399,Feb 29 2021 12:00 AM\n",
        b"a,b\n31.12.1999 23:59:59.123456789,2020-01-02T03:04:05+0130\n1.1.1970 00:00,x\n",
        b"a,b\nx,y\nz,x\n,\"\"\nx,NA\ny,y\n",
    ];
    let options: [[u8; 6]; 16] = [
        [0, 0, 0, 255, 0, 0],
        [0x20, 0, 0, 255, 3, 1],
        [0xc0, 0, 0, 0, 7, 0],
        [0xb8, 0, 0, 1, 1, 1],
        [1, 0xe1, 0, 255, 20, 0],
        [0x46, 8, 0x1f, 2, 5, 1],
        [0x20, 0x30, 0x40, 0xc9, 9, 0],
        [2, 0xc0, 0, 0x29, 0, 0],
        [0x54, 0xc, 0x0b, 3, 2, 2],
        [0, 0, 0, 255, 1, 4],
        [0xa0, 0, 0, 3, 1, 6],
        [0x20, 0, 0, 255, 2, 9],
        [0, 0, 0, 255, 4, 11],
        [0x30, 0, 0, 255, 1, 0],
        [0x38, 0, 0, 0x2f, 3, 0],
        [0x58, 0x10, 0, 255, 8, 0],
    ];
    texts.iter().flat_map(|text| options.iter().map(|options| [&options[..], text].concat())).collect()
}
