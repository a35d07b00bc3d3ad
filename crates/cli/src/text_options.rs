//! Options of texts as a host takes them: named as those of `read_csv` and `write_csv` in Python.

use entasis_csv::Dialect;
use serde_json::{Map, Value};

use crate::csv::{CsvArgs, MAX_FIELD, formats};

impl CsvArgs {
    /// The options of a text that is read, without those that are not given.
    pub(crate) fn reading(&self) -> Map<String, Value> {
        let character =
            |byte: &Option<u8>| byte.map_or(Value::Null, |byte| char::from(byte).to_string().into());
        let separator = self.sep.map(|(separator, blanks)| {
            Value::from(Dialect { separator, blanks, ..Dialect::default() }.separator_text())
        });
        let header = if self.no_header { Some(false) } else { self.header.then_some(true) };
        let types = self.types.iter().map(|(name, of)| (name.clone(), Value::from(of.name().into_owned())));
        // JSON lacks null as a name, so formats of dates are a list of pairs.
        let dates: Vec<Value> = formats(&self.dates)
            .into_iter()
            .map(|(name, formats)| vec![name.into(), Value::from(formats)].into())
            .collect();
        let given = [
            ("sep", separator),
            ("quote", self.quote.as_ref().map(character)),
            ("escape", self.escape.as_ref().map(character)),
            ("comment", self.comment.as_ref().map(character)),
            ("skip", self.skip.map(Value::from)),
            ("header", header.map(Value::from)),
            ("names", self.names.clone().map(Value::from)),
            ("dtypes", (!self.types.is_empty()).then(|| Value::Object(types.collect()))),
            ("dates", (!dates.is_empty()).then(|| dates.into())),
            ("strings", (self.strings != "plain").then(|| self.strings.clone().into())),
            ("na", self.na.clone().map(Value::from)),
            ("decimal", self.decimal.as_ref().map(|&byte| character(&Some(byte)))),
            ("thousands", self.thousands.as_ref().map(|&byte| character(&Some(byte)))),
            ("encoding", self.encoding.clone().map(Value::from)),
            ("spec", self.spec.as_ref().map(|path| path.to_string_lossy().into())),
            ("drop", self.drop.clone().map(Value::from)),
            ("fill", self.fill.then_some(Value::Bool(true))),
            ("on_error", (self.on_error != "error").then(|| self.on_error.clone().into())),
            ("max_field", (self.max_field != MAX_FIELD).then(|| self.max_field.into())),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// The options of a text that is written, without those that are not given.
    pub(crate) fn writing(&self) -> Map<String, Value> {
        let text = |byte: u8| Value::from(char::from(byte).to_string());
        let given = [
            ("sep", self.sep.map(|(separator, _)| text(separator))),
            ("na", self.na.iter().flatten().next().cloned().map(Value::from)),
            ("decimal", self.decimal.map(text)),
            ("header", self.no_header.then_some(Value::Bool(false))),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// The first option for texts that is given, if neither side is a text.
    pub(crate) fn of_text(&self) -> Option<&'static str> {
        let given = [
            (self.sep.is_some(), "--sep"),
            (self.na.is_some(), "--na"),
            (self.decimal.is_some(), "--decimal"),
            (self.no_header, "--no-header"),
            (self.header, "--header"),
            (self.nested.is_some(), "--nested"),
        ];
        given.iter().find(|(is_given, _)| *is_given).map(|(_, option)| *option)
    }
}
