//! Files in `tests/data`, and values for comparisons.

use std::path::PathBuf;
use std::sync::Arc;

use entasis::{Result, Silent};
use entasis_convert::r::{Data, Item, Value, Values};
use entasis_convert::{ReadOptions, read_r};
use entasis_csv::source::Decompressed;

/// The first value in the tests of a change, the second in those of a release, which the long tests
/// include.
pub fn by_tier<T>(change: T, release: T) -> T {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| value != "0");
    if is_set("ENTASIS_TEST_RELEASE") || is_set("ENTASIS_TEST_LONG") { release } else { change }
}

/// The bytes of a file. One with the suffix `.xz` is decompressed.
pub fn file(name: &str) -> Vec<u8> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "data", name].iter().collect();
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if name.ends_with(".xz") { decompressed(bytes) } else { bytes }
}

/// The content of compressed bytes, or the bytes.
pub fn decompressed(bytes: Vec<u8>) -> Vec<u8> {
    let bytes = Arc::new(bytes);
    let shared: entasis_csv::source::SharedBytes = bytes.clone();
    let Some(mut content) = Decompressed::open(shared, None, 1).unwrap() else { return bytes.to_vec() };
    let (mut all, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        match content.read(&mut buffer).unwrap() {
            0 => return all,
            n => all.extend_from_slice(&buffer[..n]),
        }
    }
}

/// The value of bytes.
pub fn read(bytes: &[u8]) -> Result<Values> {
    read_r(bytes, &ReadOptions { threads: 2, ..ReadOptions::default() }, &Silent)
}

/// The value of a file.
pub fn read_file(name: &str) -> Values {
    read(&file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Values with doubles as their bits, so that NaN are equal to themselves.
pub fn bits(value: &Value) -> Value {
    with_doubles(value, |value| Data::Raw(value.to_bits().to_be_bytes().to_vec()))
}

/// Values with doubles as texts of 12 digits.
pub fn rounded(value: &Value) -> Value {
    with_doubles(value, |value| Data::Symbol(format!("{value:.11e}")))
}

fn with_doubles(value: &Value, of: fn(&f64) -> Data) -> Value {
    let deep = |value: &Value| with_doubles(value, of);
    let items = |items: &[Item]| {
        let item = |item: &Item| Item { tag: item.tag.clone(), value: deep(&item.value) };
        items.iter().map(item).collect()
    };
    let data = match &value.data {
        Data::Double(values) => Data::List(values.iter().map(|value| of(value).into()).collect()),
        Data::Complex(values) => Data::List(values.iter().flatten().map(|value| of(value).into()).collect()),
        Data::List(values) => Data::List(values.iter().map(deep).collect()),
        Data::Expression(values) => Data::Expression(values.iter().map(deep).collect()),
        Data::Call(of) => Data::Call(items(of)),
        Data::Pairlist(of) => Data::Pairlist(items(of)),
        Data::Closure(parts) => Data::Closure(Box::new([0, 1, 2].map(|i| deep(&parts[i])))),
        other => other.clone(),
    };
    let attributes: Vec<_> =
        value.attributes().iter().map(|(name, value)| (name.clone(), deep(value))).collect();
    let attributes = (!attributes.is_empty()).then(|| Box::new(attributes));
    Value { data, attributes, is_s4: value.is_s4 }
}

/// An element of a list by its name.
pub fn element<'v>(list: &'v Value, name: &str) -> &'v Value {
    let Data::List(values) = &list.data else { panic!("{} is not a list", list.data.type_name()) };
    let names = list.attribute("names").and_then(Value::strings).expect("names");
    let i = names.iter().position(|of| of == Some(name)).unwrap_or_else(|| panic!("no element {name}"));
    &values[i]
}
