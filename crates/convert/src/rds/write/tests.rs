//! The reader of this crate and R read the values that were written.

use std::process::Command;
use std::sync::Arc;

use entasis::{Error, Kind, Monitor, Result, Silent};
use entasis_csv::source::Decompressed;
use proptest::prelude::*;

use super::items::{Writer, string_len};
use super::packed::Packing;
use crate::input::Input;
use crate::r::missing::{NA_REAL, NA_REAL_QUIET};
use crate::r::{Data, EnvironmentRef, Item, Mark, Strings, Value};

fn written_as(value: &Value, packing: Packing) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut put = |part: &[u8]| {
        bytes.extend_from_slice(part);
        Ok(())
    };
    let mut writer = Writer::new(packing, 2, &mut put, &Silent)?;
    writer.value(value)?;
    writer.end()?;
    Ok(bytes)
}

fn written(value: &Value) -> Vec<u8> {
    written_as(value, Packing::None).unwrap()
}

fn read(bytes: &[u8]) -> Value {
    let plain = decompressed(bytes);
    super::super::read(Input::of_bytes(&plain, &Silent), false, None).unwrap().value
}

fn decompressed(bytes: &[u8]) -> Vec<u8> {
    let Some(mut content) = Decompressed::open(Arc::new(bytes.to_vec()), None, 1).unwrap() else {
        return bytes.to_vec();
    };
    let (mut all, mut part) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        match content.read(&mut part).unwrap() {
            0 => return all,
            n => all.extend_from_slice(&part[..n]),
        }
    }
}

fn strings(all: &[Option<(&[u8], Mark)>]) -> Value {
    let mut out = Strings::default();
    for string in all {
        match string {
            Some((bytes, mark)) => out.push(bytes, *mark),
            None => out.push_missing(),
        }
    }
    Data::Strings(Box::new(out)).into()
}

fn text(one: &str) -> Value {
    strings(&[Some((one.as_bytes(), Mark::Utf8))])
}

/// One value of each kind, with odd elements.
fn values() -> Vec<Value> {
    let nan = [NA_REAL, NA_REAL_QUIET, 0x7ff8_0000_0000_0001, 0xfff0_0000_dead_beef].map(f64::from_bits);
    let item = |tag: &str, value: Value| Item { tag: tag.to_owned(), value };
    let symbol = |name: &str| Value::from(Data::Symbol(name.to_owned()));
    let frame = Value::from(Data::List(vec![Data::Integer(vec![1, i32::MIN]).into(), text("a")]))
        .with("names", strings(&[Some((b"i", Mark::Native)), None]))
        .with("class", text("data.frame"))
        .with("row.names", Data::Integer(vec![i32::MIN, -2]));
    let odd_rows = Value::from(Data::List(vec![])).with("names", strings(&[])).with("row.names", text("r"));
    vec![
        Value::default(),
        Data::Logical(vec![0, 1, i32::MIN]).into(),
        Data::Integer(vec![]).into(),
        Data::Double([-0.0, 1.5, f64::INFINITY].into_iter().chain(nan).collect()).into(),
        Data::Complex(vec![[nan[0], -0.0], [1.0, nan[3]]]).into(),
        Data::Raw(vec![0, 255]).into(),
        strings(&[
            Some((b"plain", Mark::Native)),
            Some(("gr\u{fc}n".as_bytes(), Mark::Utf8)),
            Some((b"gr\xfcn", Mark::Latin1)),
            None,
            Some((b"NA", Mark::Native)),
            Some((b"", Mark::Native)),
            Some(("gr\u{fc}n".as_bytes(), Mark::Native)),
            Some((b"\xff", Mark::Bytes)),
            Some((b"\xff", Mark::Native)),
            Some((b"\xff", Mark::Utf8)),
        ]),
        text(&"long \u{e9} ".repeat(100_000)),
        frame,
        odd_rows,
        Data::Expression(vec![symbol("a"), Data::Integer(vec![1]).into()]).into(),
        Value::from(Data::Call(vec![
            item("", symbol("~")),
            item("", symbol("y")),
            item("x", Data::Pairlist(vec![item("t", symbol("")), item("", symbol("y"))]).into()),
        ]))
        .with("class", text("formula"))
        .with(".Environment", Data::Environment(EnvironmentRef::Global)),
        Data::List(
            [
                EnvironmentRef::Base,
                EnvironmentRef::Empty,
                EnvironmentRef::Namespace("stats".to_owned()),
                EnvironmentRef::Package("stats".to_owned()),
                EnvironmentRef::Namespace("stats".to_owned()),
            ]
            .into_iter()
            .map(|environment| Data::Environment(environment).into())
            .collect(),
        )
        .into(),
        Value { is_s4: true, ..Value::from(Data::S4).with("class", text("own")).with("x", text("slot")) },
        Value { is_s4: true, ..Value::from(Data::Double(vec![1.0])).with("class", text("own")) },
    ]
}

#[test]
fn values_are_read_back() {
    for value in values() {
        for packing in [Packing::None, Packing::Gzip, Packing::Xz] {
            assert!(read(&written_as(&value, packing).unwrap()) == value, "{packing:?} {value:?}");
        }
    }
}

/// Parts of a gzip member that are compressed apart.
#[test]
fn long_streams_are_one_member() {
    let noise = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let value = Value::from(Data::Double((0..1_200_000).map(|i| noise(i) as f64).collect()));
    let bytes = written_as(&value, Packing::Gzip).unwrap();
    assert_eq!(bytes.windows(3).filter(|part| *part == [0x1f, 0x8b, 8]).take(2).count(), 1);
    assert!(read(&bytes) == value);
}

#[test]
fn other_values_are_refused_with_their_path() {
    let inner = Value::from(Data::List(vec![Data::Null.into(), Data::Primitive("sum".to_owned()).into()]));
    let outer = Value::from(Data::List(vec![inner])).with("names", text("a"));
    let error = written_as(&outer, Packing::None).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert_eq!(error.message(), "a function at x$a[[2]] is not plain data");
    assert!(error.advice().unwrap().contains("saveRDS"));
    for data in [
        Data::Environment(EnvironmentRef::Number(0)),
        Data::WeakReference,
        Data::Closure(Box::default()),
        Data::Pointer(Box::default()),
        Data::Promise(Box::default()),
        Data::Dots(Vec::new()),
    ] {
        assert_eq!(written_as(&data.into(), Packing::None).unwrap_err().kind(), Kind::Unsupported);
    }
    let mut deep = Value::default();
    for _ in 0..1001 {
        deep = Data::List(vec![deep]).into();
    }
    assert_eq!(written_as(&deep, Packing::None).unwrap_err().kind(), Kind::Limit);
}

#[test]
fn lengths_beyond_31_bits() {
    assert_eq!(string_len((1 << 31) - 1).unwrap(), i32::MAX);
    let error = string_len(1 << 31).unwrap_err();
    assert!(error.message().contains("2147483648 bytes"), "{error}");
    let mut bytes = Vec::new();
    let mut put = |part: &[u8]| {
        bytes.extend_from_slice(part);
        Ok(())
    };
    let mut writer = Writer::new(Packing::None, 1, &mut put, &Silent).unwrap();
    writer.len(i32::MAX as usize).unwrap();
    writer.len((5 << 32) + 7).unwrap();
    writer.end().unwrap();
    let words: Vec<i32> = bytes[23..].as_chunks().0.iter().map(|&word| i32::from_be_bytes(word)).collect();
    assert_eq!(words, [i32::MAX, -1, 5, 7]);
}

/// Stops at once.
struct Stops;

impl Monitor for Stops {
    fn interrupted(&self) -> bool {
        true
    }
}

#[test]
fn errors_of_the_target_and_the_monitor_end_the_work() {
    let value = Value::from(Data::Raw(vec![7; 1 << 20]));
    for packing in [Packing::None, Packing::Gzip, Packing::Xz] {
        let mut put = |_: &[u8]| Err(Error::io(std::io::ErrorKind::StorageFull.into(), "write"));
        let mut writer = Writer::new(packing, 1, &mut put, &Silent).unwrap();
        let done = writer.value(&value).and_then(|()| writer.end());
        assert!(matches!(done.unwrap_err().kind(), Kind::Io(_)), "{packing:?}");
    }
    let mut put = |_: &[u8]| {
        std::thread::sleep(std::time::Duration::from_millis(60));
        Ok(())
    };
    let mut writer = Writer::new(Packing::None, 1, &mut put, &Stops).unwrap();
    let long = Value::from(Data::Integer(vec![7; 1 << 20]));
    assert_eq!(writer.value(&long).unwrap_err().kind(), Kind::Interrupted);
}

/// The streams of R have no other bytes, except for its version and for sequences.
#[test]
fn streams_are_those_of_r() {
    let script = "x <- list(iris, mtcars[1:3, ], c(a = 1.5, b = NA), letters, TRUE, NULL, factor(c('x', NA)),
            as.Date('2020-01-02'), .POSIXct(1e9, 'UTC'), complex(real = 1, imaginary = -0), as.raw(0:3),
            matrix(c(1.5, 2, 3, NA), 2L, dimnames = list(NULL, c('a', 'b'))), quote(f(x, y = 2) + g()),
            list(a = 1, b = list(c = '\\u00e9', d = NaN)), as.name('s'), pairlist(a = 1, 2), -0.0, y ~ x)
        attr(x[[18]], '.Environment') <- globalenv()
        saveRDS(x, commandArgs(TRUE)[1], compress = FALSE)";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.rds");
    let mut command = Command::new("Rscript");
    let Ok(done) = command.args(["--vanilla", "-e", script]).arg(&path).output() else {
        println!("skipped: Rscript is not installed");
        return;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let of_r = std::fs::read(&path).unwrap();
    let ours = written(&read(&of_r));
    // After the versions.
    assert!(ours[14..] == of_r[14..]);
    assert_eq!(ours[..6], of_r[..6]);
}

fn any_strings() -> impl Strategy<Value = Data> {
    let mark = prop_oneof![Just(Mark::Native), Just(Mark::Utf8), Just(Mark::Latin1), Just(Mark::Bytes)];
    let one = prop::option::of((prop::collection::vec(1u8.., 0..6), mark));
    prop::collection::vec(one, 0..5).prop_map(|all| {
        let parts: Vec<_> =
            all.iter().map(|one| one.as_ref().map(|(bytes, mark)| (&bytes[..], *mark))).collect();
        strings(&parts).data
    })
}

fn any_value() -> impl Strategy<Value = Value> {
    let doubles = |bits: Vec<u64>| Data::Double(bits.into_iter().map(f64::from_bits).collect());
    let data = prop_oneof![
        Just(Data::Null),
        prop::collection::vec(any::<i32>(), 0..6).prop_map(Data::Integer),
        prop::collection::vec(prop_oneof![Just(0), Just(1), Just(i32::MIN)], 0..6).prop_map(Data::Logical),
        prop::collection::vec(any::<u64>(), 0..6).prop_map(doubles),
        prop::collection::vec(any::<u8>(), 0..6).prop_map(Data::Raw),
        any_strings(),
    ];
    let names = ["names", "class", "dim", "levels", "own"];
    data.prop_map(Value::from).prop_recursive(4, 40, 5, move |inner| {
        let attribute = (prop::sample::select(names.to_vec()), inner.clone());
        let attributes = prop::collection::vec(attribute, 0..3);
        (prop::collection::vec(inner, 0..4), attributes, any::<bool>()).prop_map(
            |(items, attributes, is_s4)| {
                let mut value = Value { data: Data::List(items), attributes: None, is_s4 };
                for (name, attribute) in attributes {
                    if value.attribute(name).is_none() {
                        value = value.with(name, attribute);
                    }
                }
                value
            },
        )
    })
}

proptest! {
    #[test]
    fn any_value_is_read_back(value in any_value()) {
        prop_assert!(read(&written(&value)) == value);
        prop_assert!(read(&written_as(&value, Packing::Gzip).unwrap()) == value);
    }
}
