//! Streams of RDS with special forms.

use entasis::{Kind, Monitor, Silent};
use entasis_convert::r::{Data, Value};
use entasis_convert::{Format, ReadOptions, read_r, recognise};

use crate::common::read;
use crate::naive::{Form, Writer, written};

fn words(words: &[i32]) -> Vec<u8> {
    let mut writer = Writer::new(Form::Big, 2);
    words.iter().for_each(|&word| writer.int(word));
    writer.bytes
}

/// A symbol whose name is ASCII.
fn symbol(writer: &mut Writer, name: &str) {
    writer.int(1);
    writer.int(9 | 64 << 12);
    writer.int(name.len() as i32);
    writer.bytes.extend(name.bytes());
}

/// A vector in a compact form.
fn compact(class: &str, state: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::new(Form::Big, 3);
    writer.int(238);
    writer.int(2);
    symbol(&mut writer, class);
    writer.int(2);
    symbol(&mut writer, "base");
    writer.int(2);
    [13, 1, 13, 254].iter().for_each(|&word| writer.int(word));
    state(&mut writer);
    writer.int(254);
    writer.bytes
}

fn sequence(n: f64, first: f64, step: f64) -> impl FnOnce(&mut Writer) {
    move |writer| writer.value(&Data::Double(vec![n, first, step]).into())
}

#[test]
fn compact_forms_are_expanded() {
    let data = |bytes: &[u8]| read(bytes).unwrap().value.data;
    assert_eq!(data(&compact("compact_intseq", sequence(3.0, 5.0, -1.0))), Data::Integer(vec![5, 4, 3]));
    assert_eq!(data(&compact("compact_realseq", sequence(2.0, 0.5, 1.0))), Data::Double(vec![0.5, 1.5]));
    let pair = |first: Data, rest: Data| {
        move |writer: &mut Writer| {
            writer.int(2);
            writer.value(&first.into());
            writer.value(&rest.into());
        }
    };
    let bytes = compact("wrap_real", pair(Data::Double(vec![1.0]), Data::Integer(vec![0, 0])));
    assert_eq!(data(&bytes), Data::Double(vec![1.0]));
    let texts = |bytes: &[u8]| {
        read(bytes)
            .unwrap()
            .value
            .strings()
            .unwrap()
            .iter()
            .map(|text| text.map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let numbers = Data::Integer(vec![100_000, i32::MIN, -1]);
    let bytes = compact("deferred_string", pair(numbers, Data::Integer(vec![0])));
    assert_eq!(texts(&bytes), [Some("100000".into()), None, Some("-1".into())]);
    let bytes = compact("deferred_string", pair(Data::Double(vec![100_000.0, 2.5]), Data::Integer(vec![9])));
    assert_eq!(texts(&bytes), [Some("100000".into()), Some("2.5".into())]);
}

#[test]
fn long_sequences_are_limited() {
    let kind = |bytes: &[u8], max_bytes: Option<u64>| {
        let options = ReadOptions { max_bytes, ..ReadOptions::default() };
        read_r(bytes, &options, &Silent).unwrap_err().kind()
    };
    for class in ["compact_intseq", "compact_realseq"] {
        let bytes = compact(class, sequence(2e9, 1.0, 1.0));
        assert_eq!(kind(&bytes, None), Kind::Limit, "{class}");
        assert_eq!(kind(&compact(class, sequence(1000.0, 1.0, 1.0)), Some(3999)), Kind::Limit, "{class}");
    }
    assert_eq!(kind(&compact("compact_intseq", sequence(5.0, 2e9, 2.0)), None), Kind::Corrupt);
    assert_eq!(kind(&compact("compact_intseq", sequence(2e9, 2e9, 1.0)), None), Kind::Corrupt);
    assert_eq!(kind(&compact("compact_intseq", sequence(f64::NAN, 1.0, 1.0)), None), Kind::Corrupt);
}

#[test]
fn refused_values_are_named_with_their_paths() {
    // list(a = list(1L, <persistent name>), b = 2L)
    let mut writer = Writer::new(Form::Big, 2);
    for word in [19 | 1 << 9, 2, 19, 2, 13, 1, 7, 247, 0, 1] {
        writer.int(word);
    }
    writer.int(9 | 64 << 12);
    writer.int(1);
    writer.bytes.push(b'k');
    for word in [13, 1, 2, 2 | 1 << 10] {
        writer.int(word);
    }
    symbol(&mut writer, "names");
    writer.value(&Data::Strings(Box::new(["a", "b c"].into_iter().collect())).into());
    writer.int(254);
    let error = read(&writer.bytes).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.message().ends_with(" at x$a[[2]]"), "{error}");

    let bytes = compact("mmap_real", sequence(1.0, 1.0, 1.0));
    let error = read(&bytes).unwrap_err();
    assert_eq!(error.message(), "a compact vector of class mmap_real at x");

    let mut writer = Writer::new(Form::Big, 2);
    let value = Value::from(Data::Integer(vec![1]));
    for word in [19, 1, 13 | 1 << 9, 1, 1, 2 | 1 << 10] {
        writer.int(word);
    }
    symbol(&mut writer, "odd one");
    [252, 254].iter().for_each(|&word| writer.int(word));
    let error = read(&writer.bytes).unwrap_err();
    assert_eq!(error.message(), "a value of type unbound at attr(x[[1]], \"odd one\")");
    drop(value);
}

#[test]
fn strings_of_the_session_are_converted() {
    let with_encoding = |name: &[u8], text: &[u8]| {
        let mut bytes = b"X\n\0\0\0\x03\0\x04\x02\x02\0\x03\x05\0".to_vec();
        bytes.extend((name.len() as u32).to_be_bytes());
        bytes.extend(name);
        for word in [16, 3, 9, text.len() as i32] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend(text);
        [9 | 64 << 12, 1].iter().for_each(|word: &i32| bytes.extend(word.to_be_bytes()));
        bytes.push(b'z');
        [9, -1].iter().for_each(|word: &i32| bytes.extend(word.to_be_bytes()));
        read(&bytes)
    };
    for (name, text, mark) in [
        (&b"latin1"[..], &b"\xe9"[..], 0),
        (b"CP1252", b"\xe9", 0),
        (b"ISO-8859-1", b"\xe9", 0),
        (b"UTF-8", "\u{e9}".as_bytes(), 3),
    ] {
        let value = with_encoding(name, text).unwrap().value;
        let strings = value.strings().unwrap();
        assert_eq!(strings.iter().collect::<Vec<_>>(), [Some("\u{e9}"), Some("z"), None]);
        assert_eq!(strings.codes().map_or(0, |codes| codes[0]), mark);
    }
    let error = with_encoding(b"X-MARS", b"\xe9").unwrap_err();
    assert_eq!(error.message(), "a string in the encoding X-MARS at x");
    assert!(with_encoding(b"X-MARS", b"plain").is_ok());
}

#[test]
fn nesting_is_limited() {
    let nested = |n: usize| (1..n).fold(Value::default(), |value, _| Data::List(vec![value]).into());
    let bytes = written(&nested(1000), Form::Big, 2);
    // The stack of a thread is small in some hosts.
    let deep = std::thread::Builder::new().stack_size(1 << 20);
    let result = deep.spawn(move || read(&bytes).map(drop)).unwrap().join().unwrap();
    assert!(result.is_ok());
    let error = read(&written(&nested(1001), Form::Big, 2)).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit);
    // Attributes in attributes, calls in calls, functions in functions, and so on.
    for unit in [&[13i32 | 1 << 9, 0, 2 | 1 << 10, 1, 9, 0][..], &[6], &[3], &[4, 0], &[238], &[22], &[5]] {
        let mut bytes = words(&[]);
        for _ in 0..100_000 {
            unit.iter().for_each(|word| bytes.extend(word.to_be_bytes()));
        }
        let deep = std::thread::Builder::new().stack_size(1 << 20);
        let result = deep.spawn(move || read(&bytes).map(drop)).unwrap().join().unwrap();
        assert!(result.is_err(), "{unit:?}");
    }
}

#[test]
fn pairlists_may_be_long() {
    let items =
        vec![entasis_convert::r::Item { tag: String::new(), value: Data::Integer(vec![1]).into() }; 200_000];
    let value = Value::from(Data::Pairlist(items));
    assert!(read(&written(&value, Form::Little, 2)).unwrap().value == value);
}

#[test]
fn long_vectors_are_read() {
    let n = 1_000_000;
    let value = Value::from(Data::List(vec![
        Data::Double((0..n).map(f64::from).collect()).into(),
        Data::Integer((0..n).collect()).into(),
        Data::Strings(Box::new((0..n).map(|i| ["a", "", "été"][i as usize % 3]).collect())).into(),
        Data::Raw(vec![7; n as usize]).into(),
    ]));
    for form in [Form::Big, Form::Little, Form::Ascii] {
        assert!(read(&written(&value, form, 3)).unwrap().value == value, "{form:?}");
    }
}

#[test]
fn a_length_of_two_words_is_read() {
    let mut bytes = words(&[13, -1, 0, 2, 5, 6]);
    assert_eq!(read(&bytes).unwrap().value.data, Data::Integer(vec![5, 6]));
    bytes = words(&[13, -1, 1, 0, 5, 6]);
    assert_eq!(read(&bytes).unwrap_err().kind(), Kind::Corrupt);
    for kind in [10, 13, 14, 15, 16, 19, 20, 24] {
        for len in [-2, i32::MAX, 3] {
            let error = read(&words(&[kind, len])).unwrap_err();
            assert_eq!(error.kind(), Kind::Corrupt, "{kind} {len}: {error}");
        }
    }
}

#[test]
fn repeated_symbols_are_limited() {
    // A list of calls to a function with a long name.
    let mut writer = Writer::new(Form::Big, 2);
    let n = 400_000;
    [19, n + 1].iter().for_each(|&word| writer.int(word));
    symbol(&mut writer, &"a".repeat(10_000));
    (0..n).for_each(|_| writer.int(1 << 8 | 255));
    assert_eq!(read(&writer.bytes).unwrap_err().kind(), Kind::Limit);
}

#[test]
fn compressed_streams_are_read_up_to_a_limit() {
    let value = Value::from(Data::Integer((0..300_000).collect()));
    let bytes = written(&value, Form::Big, 3);
    let mut packed = vec![0; zstd_safe::compress_bound(bytes.len())];
    let n = zstd_safe::compress(&mut packed[..], &bytes, 3).unwrap();
    packed.truncate(n);
    assert_eq!(recognise(&packed), Some(Format::Rds));
    for threads in [1, 2] {
        let with = |max_bytes| {
            read_r(&packed, &ReadOptions { threads, max_bytes, ..ReadOptions::default() }, &Silent)
        };
        assert!(with(None).unwrap().value == value);
        assert!(with(Some(bytes.len() as u64)).unwrap().value == value);
        assert_eq!(with(Some(bytes.len() as u64 - 1)).unwrap_err().kind(), Kind::Limit);
    }
    packed.truncate(n / 2);
    assert_eq!(read(&packed).unwrap_err().kind(), Kind::Corrupt);
}

/// Stops at the first question.
struct Impatient;

impl Monitor for Impatient {
    fn interrupted(&self) -> bool {
        true
    }
}

#[test]
fn a_monitor_stops_the_work() {
    let bytes = written(&Data::List(vec![Value::default(); 3_000_000]).into(), Form::Ascii, 2);
    let result = read_r(&bytes, &ReadOptions::default(), &Impatient);
    assert_eq!(result.unwrap_err().kind(), Kind::Interrupted);
}

#[test]
fn other_formats_are_refused_by_name() {
    let error = |bytes: &[u8]| read(bytes).unwrap_err();
    assert_eq!(error(b"x,y\n1,2\n").kind(), Kind::Argument);
    assert_eq!(error(b"").kind(), Kind::Argument);
    assert!(error(b"\x0b\x0e\x0a\x0c\0\0\0\0\x03").message().contains("old format of the package qs"));
    assert!(error(&0xA91C_12F8_B245_A71D_u64.to_le_bytes()).message().contains("fst before version 0.8"));
    assert!(error(b"RDX1\nX\n").message().contains("version of RData"));
    assert!(error(b"X\n\0\0\0\x01\0\0\0\0\0\0\0\0").message().contains("version of RDS"));
}

/// Measures how fast vectors are read:
/// `cargo test --release -p entasis-convert -- --ignored speed`.
#[test]
#[ignore = "a measurement"]
fn speed_of_rds() {
    let n = 4_000_000;
    let names: Vec<String> = (0..1000).map(|i| format!("row-{i}")).collect();
    let values = [
        ("doubles", 8.0, Data::Double((0..n).map(f64::from).collect())),
        ("integers", 4.0, Data::Integer((0..n).collect())),
        (
            "strings",
            15.0,
            Data::Strings(Box::new((0..n).map(|i| names[i as usize % 1000].as_str()).collect())),
        ),
    ];
    for (what, width, data) in values {
        for form in [Form::Big, Form::Little] {
            let bytes = written(&data.clone().into(), form, 3);
            let best = (0..5).map(|_| {
                let start = std::time::Instant::now();
                let values = read(&bytes).unwrap();
                (start.elapsed(), values).0
            });
            let seconds = best.min().unwrap().as_secs_f64();
            println!("{what}, {form:?}: {:.0} MB/s", f64::from(n) * width / seconds / 1e6);
        }
    }
}
