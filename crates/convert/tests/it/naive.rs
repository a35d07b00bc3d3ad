//! A naive writer of RDS streams, and random values.

use entasis_convert::r::{Data, EnvironmentRef, Item, Mark, Strings, Value};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::common::{bits, read};

/// The form of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    Big,
    Little,
    Ascii,
}

/// Writes items of version 2.
pub struct Writer {
    pub bytes: Vec<u8>,
    form: Form,
    /// Symbols that were written, in the order of their numbers.
    symbols: Vec<String>,
}

impl Writer {
    /// A stream with its header.
    pub fn new(form: Form, version: i32) -> Self {
        let letter = match form {
            Form::Big => b"X\n",
            Form::Little => b"B\n",
            Form::Ascii => b"A\n",
        };
        let mut writer = Self { bytes: letter.to_vec(), form, symbols: Vec::new() };
        [version, 0x40202, 0x20300].iter().for_each(|&word| writer.int(word));
        if version == 3 {
            writer.int(5);
            writer.text(b"UTF-8");
        }
        writer
    }

    pub fn int(&mut self, value: i32) {
        match self.form {
            Form::Big => self.bytes.extend(value.to_be_bytes()),
            Form::Little => self.bytes.extend(value.to_le_bytes()),
            Form::Ascii if value == i32::MIN => self.bytes.extend(b"NA\n"),
            Form::Ascii => self.bytes.extend(format!("{value}\n").bytes()),
        }
    }

    fn double(&mut self, value: f64) {
        match self.form {
            Form::Big => self.bytes.extend(value.to_be_bytes()),
            Form::Little => self.bytes.extend(value.to_le_bytes()),
            Form::Ascii => {
                let text = match value {
                    value if value.to_bits() as u32 == 1954 && value.is_nan() => "NA".to_owned(),
                    value if value.is_nan() => "NaN".to_owned(),
                    value if value.is_infinite() => if value > 0.0 { "Inf" } else { "-Inf" }.to_owned(),
                    value => format!("{value:e}"),
                };
                self.bytes.extend(format!("{text}\n").bytes());
            }
        }
    }

    fn text(&mut self, text: &[u8]) {
        if self.form != Form::Ascii {
            self.bytes.extend(text);
            return;
        }
        for &byte in text {
            match byte {
                b'\n' => self.bytes.extend(b"\\n"),
                b'\\' => self.bytes.extend(b"\\\\"),
                0x21..=0x7e => self.bytes.push(byte),
                _ => self.bytes.extend(format!("\\{byte:03o}").bytes()),
            }
        }
        self.bytes.push(b'\n');
    }

    fn string(&mut self, text: Option<&str>) {
        let ascii = text.is_none_or(str::is_ascii);
        self.int(9 | if ascii { 64 } else { 8 } << 12);
        match text {
            None => self.int(-1),
            Some(text) => {
                self.int(text.len() as i32);
                self.text(text.as_bytes());
            }
        }
    }

    fn symbol(&mut self, name: &str) {
        match self.symbols.iter().position(|of| of == name) {
            Some(i) => self.int((i as i32 + 1) << 8 | 255),
            None => {
                self.symbols.push(name.to_owned());
                self.int(1);
                self.string(Some(name));
            }
        }
    }

    /// A value with its attributes.
    pub fn value(&mut self, value: &Value) {
        let has =
            if value.attributes().is_empty() { 0 } else { 1 << 9 } | if value.is_s4 { 1 << 16 } else { 0 };
        let n = |writer: &mut Self, kind: i32, n: usize| {
            writer.int(kind | has);
            writer.int(n as i32);
        };
        match &value.data {
            Data::Null => return self.int(254),
            Data::Symbol(name) if name.is_empty() => return self.int(251),
            Data::Symbol(name) => return self.symbol(name),
            Data::Environment(environment) => {
                return self.int(match environment {
                    EnvironmentRef::Global => 253,
                    EnvironmentRef::Base => 241,
                    _ => 242,
                });
            }
            Data::Call(items) => return self.pairs(6, items, value),
            Data::Pairlist(items) => return self.pairs(2, items, value),
            Data::Closure(parts) => {
                self.int(3 | has | 1 << 10);
                self.attributes(value);
                for i in [2, 0, 1] {
                    self.value(&parts[i]);
                }
                return;
            }
            Data::Logical(values) => {
                n(self, 10, values.len());
                values.iter().for_each(|&value| self.int(value));
            }
            Data::Integer(values) => {
                n(self, 13, values.len());
                values.iter().for_each(|&value| self.int(value));
            }
            Data::Double(values) => {
                n(self, 14, values.len());
                values.iter().for_each(|&value| self.double(value));
            }
            Data::Complex(values) => {
                n(self, 15, values.len());
                values.iter().flatten().for_each(|&value| self.double(value));
            }
            Data::Raw(values) => {
                n(self, 24, values.len());
                match self.form {
                    Form::Ascii => {
                        values.iter().for_each(|byte| self.bytes.extend(format!("{byte:02x}\n").bytes()))
                    }
                    _ => self.bytes.extend(values),
                }
            }
            Data::Strings(strings) => {
                n(self, 16, strings.len());
                strings.iter().for_each(|text| self.string(text));
            }
            Data::List(values) => {
                n(self, 19, values.len());
                values.iter().for_each(|value| self.value(value));
            }
            Data::Expression(values) => {
                n(self, 20, values.len());
                values.iter().for_each(|value| self.value(value));
            }
            Data::S4 => self.int(25 | has),
            other => panic!("{}", other.type_name()),
        }
        self.attributes(value);
    }

    fn pairs(&mut self, kind: i32, items: &[Item], value: &Value) {
        for (i, item) in items.iter().enumerate() {
            let has = if i == 0 && !value.attributes().is_empty() { 1 << 9 } else { 0 };
            let tag = if item.tag.is_empty() { 0 } else { 1 << 10 };
            let s4 = if i == 0 && value.is_s4 { 1 << 16 } else { 0 };
            self.int(if i == 0 { kind } else { 2 } | has | tag | s4);
            if has != 0 {
                self.attributes(value);
            }
            if tag != 0 {
                self.symbol(&item.tag);
            }
            self.value(&item.value);
        }
        self.int(254);
    }

    fn attributes(&mut self, value: &Value) {
        for (name, value) in value.attributes() {
            self.int(2 | 1 << 10);
            self.symbol(name);
            self.value(value);
        }
        if !value.attributes().is_empty() {
            self.int(254);
        }
    }
}

/// The bytes of a value.
pub fn written(value: &Value, form: Form, version: i32) -> Vec<u8> {
    let mut writer = Writer::new(form, version);
    writer.value(value);
    writer.bytes
}

fn int() -> impl Strategy<Value = i32> {
    prop_oneof![Just(i32::MIN), any::<i32>()]
}

fn double() -> impl Strategy<Value = f64> {
    let na = f64::from_bits(0x7FF0_0000_0000_07A2);
    prop_oneof![Just(na), Just(f64::NAN), Just(f64::INFINITY), Just(-0.0), proptest::num::f64::NORMAL]
}

fn strings() -> impl Strategy<Value = Strings> {
    vec(option::weighted(0.9, "[a-z \\\\\"\né☃]{0,300}"), 0..6).prop_map(|texts| {
        let mut strings = Strings::default();
        for text in texts {
            match text {
                Some(text) => strings.push(text.as_bytes(), Mark::Utf8),
                None => strings.push_missing(),
            }
        }
        strings
    })
}

fn leaf() -> impl Strategy<Value = Data> {
    prop_oneof![
        Just(Data::Null),
        vec(prop_oneof![Just(0), Just(1), Just(i32::MIN)], 0..5).prop_map(Data::Logical),
        vec(int(), 0..5).prop_map(Data::Integer),
        vec(double(), 0..5).prop_map(Data::Double),
        vec([double(), double()], 0..3).prop_map(Data::Complex),
        vec(any::<u8>(), 0..5).prop_map(Data::Raw),
        strings().prop_map(|strings| Data::Strings(Box::new(strings))),
        "[a-zé.]{0,12}".prop_map(Data::Symbol),
        prop_oneof![Just(EnvironmentRef::Global), Just(EnvironmentRef::Base), Just(EnvironmentRef::Empty)]
            .prop_map(Data::Environment),
        Just(Data::S4),
    ]
}

/// Values that can have attributes have some.
fn with_attributes(data: impl Strategy<Value = Data>) -> impl Strategy<Value = Value> {
    let names = proptest::collection::btree_map("[a-z.]{1,8}", leaf(), 0..3);
    (data, names, any::<bool>()).prop_map(|(data, names, is_s4)| {
        if matches!(data, Data::Null | Data::Symbol(_) | Data::Environment(_)) {
            return data.into();
        }
        let value = Value { data, attributes: None, is_s4 };
        names.into_iter().fold(value, |value, (name, of)| value.with(&name, of))
    })
}

fn value() -> impl Strategy<Value = Value> {
    with_attributes(leaf()).prop_recursive(4, 24, 4, |inner| {
        let items = vec(("[a-z]{0,3}", inner.clone()), 1..4)
            .prop_map(|items| items.into_iter().map(|(tag, value)| Item { tag, value }).collect::<Vec<_>>());
        with_attributes(prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Data::List),
            vec(inner.clone(), 0..3).prop_map(Data::Expression),
            items.clone().prop_map(Data::Call),
            items.prop_map(Data::Pairlist),
            (inner.clone(), inner).prop_map(|(arguments, body)| {
                let environment = Data::Environment(EnvironmentRef::Global).into();
                Data::Closure(Box::new([arguments, body, environment]))
            }),
        ])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn streams_of_a_naive_writer_are_read(value in value()) {
        for form in [Form::Big, Form::Little, Form::Ascii] {
            for version in [2, 3] {
                let bytes = written(&value, form, version);
                let found = read(&bytes).unwrap_or_else(|error| panic!("{form:?}: {error}: {value:?}"));
                prop_assert_eq!(bits(&found.value), bits(&value), "{:?}", form);
            }
        }
    }
}
