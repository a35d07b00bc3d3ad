//! Helpers for the tests of the command: example files, and the command itself.
#![allow(dead_code, missing_docs, reason = "each test program uses a part")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use entasis::{
    Array, Chunk, Column, ColumnType, Frame, HostRead, HostValidity, HostValues, Logical, Missing, Physical,
    Silent, Unit, Value, WriteOptions,
};
use tempfile::TempDir;

/// The arguments in the form that the command takes.
macro_rules! args {
    ($($arg:expr),* $(,)?) => { [$(std::ffi::OsString::from(&$arg)),*] };
}

/// The first value in the tests of a change, the second in those of a release, which the long tests
/// include.
pub fn by_tier<T>(change: T, release: T) -> T {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| value != "0");
    if is_set("ENTASIS_TEST_RELEASE") || is_set("ENTASIS_TEST_LONG") { release } else { change }
}

/// The output of the command.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs the command.
pub fn entasis<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Said {
    entasis_from(args, Stdio::null())
}

/// Runs the command with this standard input.
pub fn entasis_from<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>, input: Stdio) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_entasis"));
    let output: Output = command.args(args).stdin(input).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

impl Said {
    /// The output of a successful command.
    pub fn fine(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// The single line on standard error of a failed command.
    pub fn failed(self) -> String {
        assert_eq!(self.code, 1, "{}{}", self.out, self.err);
        assert!(self.err.starts_with("entasis: ") && self.err.lines().count() == 1, "{:?}", self.err);
        self.err
    }
}

/// Memory that lives as long as the tests.
fn lend(bytes: Vec<u8>) -> HostRead {
    let bytes: &'static [u8] = bytes.leak();
    // SAFETY: the bytes are never freed and never written to.
    unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) }
}

fn column(name: &str, column_type: ColumnType, n: usize, values: HostValues) -> Column {
    let array = Array::new(Chunk { n, values, validity: HostValidity::AllValid });
    Column {
        run: None,
        name: name.to_owned(),
        column_type,
        detail: None,
        host_detail: None,
        dictionary: None,
        children: Vec::new(),
        array,
    }
}

/// A column of words, given as bytes each.
pub fn words<const W: usize>(name: &str, column_type: ColumnType, values: &[[u8; W]]) -> Column {
    let memory = lend(values.concat());
    column(name, column_type, values.len(), HostValues::Words { memory, stride: W as isize })
}

/// A column of strings or bytes.
pub fn strings<T: AsRef<[u8]>>(name: &str, physical: Physical, values: &[T]) -> Column {
    let mut offsets = 0i32.to_le_bytes().to_vec();
    let mut bytes = Vec::new();
    for value in values {
        bytes.extend_from_slice(value.as_ref());
        offsets.extend(i32::try_from(bytes.len()).unwrap().to_le_bytes());
    }
    let values_of = HostValues::Offsets32 { offsets: lend(offsets), bytes: lend(bytes) };
    column(name, ColumnType::plain(physical), values.len(), values_of)
}

/// The same column with some values missing.
pub fn missing(mut column: Column, mask: &[u8], kind: Missing) -> Column {
    column.column_type.missing = kind;
    column.array.chunks[0].validity = HostValidity::Mask { memory: lend(mask.to_vec()), stride: 1 };
    column
}

fn time(physical: Physical, logical: Logical, unit: Unit) -> ColumnType {
    ColumnType { logical, unit, ..ColumnType::plain(physical) }
}

fn i64s(values: [i64; 4]) -> [[u8; 8]; 4] {
    values.map(i64::to_le_bytes)
}

/// Four rows of every type, and hostile names.
pub fn every_type() -> Frame {
    use {Logical as L, Physical as P};
    let bools = HostValues::Bools { memory: lend(vec![1, 0, 1, 0]), stride: 1 };
    let stamp = i64s([0, 1_700_000_000_123_456_789, -1, 1_582_934_400_000_000_000]);
    let mut zoned = words("zoned", time(P::I64, L::Timestamp, Unit::Nanosecond), &stamp);
    zoned.detail = Some(Value::from("Europe/Berlin"));
    let city_type = ColumnType { logical: L::Categorical, ordered: true, ..ColumnType::plain(P::I8) };
    let mut city = words("city", city_type, &[[2], [0], [1], [2]]);
    city.dictionary = Some(0);
    let columns = vec![
        missing(column("flag", ColumnType::plain(P::Bool), 4, bools), &[0, 0, 0, 1], Missing::NA),
        words("small", ColumnType::plain(P::U8), &[[0], [1], [254], [255]]),
        missing(
            words("big", ColumnType::plain(P::I64), &i64s([i64::MIN, 0, 1, i64::MAX])),
            &[0, 1, 0, 0],
            Missing::Null,
        ),
        words(
            "real",
            ColumnType::plain(P::F64),
            &[1.5, f64::NAN, f64::NEG_INFINITY, 1e300].map(f64::to_le_bytes),
        ),
        words("half", ColumnType::plain(P::F16), &[0x3c00u16, 0xc000, 0x7e00, 0].map(u16::to_le_bytes)),
        words("single", ColumnType::plain(P::F32), &[0.1f32, -0.0, 3.0, f32::INFINITY].map(f32::to_le_bytes)),
        words(
            "complex",
            ColumnType::plain(P::Complex64),
            &[1.0f32, -2.0, 0.5, 0.0].map(|x| {
                let mut both = [0; 8];
                both[..4].copy_from_slice(&x.to_le_bytes());
                both[4..].copy_from_slice(&(-x).to_le_bytes());
                both
            }),
        ),
        strings("text", P::Utf8, &["plain", "a\nb\t\x1b[31mred", "日本 \"x\"", ""]),
        strings("bytes", P::Binary, &[&b""[..], b"\x00\xff", b"abc", &[7; 100]]),
        words("day", time(P::I32, L::Date, Unit::Day), &[0, 19_782, -1, 2_932_897].map(i32::to_le_bytes)),
        words("when", time(P::I64, L::Timestamp, Unit::Millisecond), &i64s([0, 1, 1_000, -1])),
        zoned,
        words("span", time(P::I64, L::Duration, Unit::Second), &i64s([0, 61, 90_061, -1])),
        words(
            "clock",
            time(P::I64, L::Time, Unit::Microsecond),
            &i64s([0, 1, 86_399_000_000, 3_600_000_000]),
        ),
        missing(city, &[0, 0, 0, 1], Missing::NaN),
        column("nothing", ColumnType::plain(P::Null), 4, HostValues::Null),
        words("evil\n\x1b]0;title", ColumnType::plain(P::I32), &[1i32, 2, 3, 4].map(i32::to_le_bytes)),
        words("a,b", ColumnType::plain(P::I32), &[1i32, 2, 3, 4].map(i32::to_le_bytes)),
        words("twice", ColumnType::plain(P::I32), &[1i32, 2, 3, 4].map(i32::to_le_bytes)),
        words("twice", ColumnType::plain(P::I32), &[5i32, 6, 7, 8].map(i32::to_le_bytes)),
    ];
    let extra = vec![strings("", P::Utf8, &["Atlanta", "Berlin", "Chicago"])];
    Frame { n_rows: 4, columns, extra, host: Value::map([("host", Value::from("test"))]) }
}

/// Rows of two columns: `id` counts from 0, `name` is "name 0" and so on, every seventh missing.
pub fn counting(n: usize) -> Frame {
    let ids: Vec<[u8; 8]> = (0..n as i64).map(i64::to_le_bytes).collect();
    let names: Vec<String> = (0..n).map(|i| format!("name {i}")).collect();
    let mask: Vec<u8> = (0..n).map(|i| u8::from(i % 7 == 6)).collect();
    let columns = vec![
        words("id", ColumnType::plain(Physical::I64), &ids),
        missing(strings("name", Physical::Utf8, &names), &mask, Missing::None),
    ];
    Frame { n_rows: n as u64, columns, extra: Vec::new(), host: Value::Null }
}

/// The output of `head` with all rows, as JSON.
pub fn rows(path: &Path) -> Vec<serde_json::Value> {
    lines(&entasis(args!["head", "--json", "-n", "10000000", path]).fine())
}

/// Checks every byte of a file.
pub fn verify(path: &Path) {
    entasis(args!["verify", path]).fine();
}

/// A column of categories: codes of one byte, and their dictionary in `Frame::extra`.
pub fn categorical(name: &str, codes: &[i8], dictionary: usize, ordered: bool) -> Column {
    let of = ColumnType { logical: Logical::Categorical, ordered, ..ColumnType::plain(Physical::I8) };
    let codes: Vec<[u8; 1]> = codes.iter().map(|code| code.to_le_bytes()).collect();
    Column { dictionary: Some(dictionary), ..words(name, of, &codes) }
}

/// A host map of pandas, with a range as index and labels of columns that are names.
pub fn pandas(n_rows: u64) -> Value {
    Value::map([("host", Value::from("pandas")), ("index", range(n_rows)), ("columns", labels(&[]))])
}

/// The index 0, 1, 2 ...
pub fn range(n_rows: u64) -> Value {
    Value::map([
        ("kind", Value::from("range")),
        ("start", Value::Int(0)),
        ("stop", Value::Int(n_rows as i64)),
        ("step", Value::Int(1)),
        ("name", Value::Null),
    ])
}

/// Labels of columns that are the names of the columns.
pub fn labels(more: &[(&str, Value)]) -> Value {
    let pairs = [("kind", Value::from("names")), ("dtype", Value::from("str")), ("name", Value::Null)];
    Value::map(pairs.into_iter().chain(more.iter().cloned()))
}

/// A folder that is removed after the test.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a frame to a file of this name.
    pub fn write(&self, name: &str, frame: &Frame) -> PathBuf {
        let path = self.path().join(name);
        entasis::write(&path, frame, &WriteOptions::default(), &Silent).unwrap();
        path
    }

    /// Writes bytes to a file of this name.
    pub fn bytes(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// The value of each JSON line.
pub fn lines(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
