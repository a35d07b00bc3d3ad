//! Keys in the paths of files.

use entasis::{Error, Result};

use crate::date::days;
use crate::encode::{decode, shown};
use crate::names::MISSING;

/// The type of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    /// Signed integers of 64 bits.
    Int64,
    /// Days since 1970-01-01.
    Date,
    /// Text.
    Text,
}

impl KeyType {
    /// The type with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "int64" => Some(Self::Int64),
            "date" => Some(Self::Date),
            "string" => Some(Self::Text),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int64 => "int64",
            Self::Date => "date",
            Self::Text => "string",
        }
    }
}

/// Which types keys get.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The names of keys with their types. Other keys get the type that fits all their values.
    pub types: Vec<(String, KeyType)>,
}

/// The keys in the paths of files: names, types, and the text of each value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// The names, in the order of the folders.
    pub names: Vec<String>,
    /// The types of the keys.
    pub types: Vec<KeyType>,
    /// The values of each key by file; `None` is missing.
    pub values: Vec<Vec<Option<String>>>,
}

impl Keys {
    /// Checks that each value is of the type of its key.
    ///
    /// # Errors
    /// *Corrupt*.
    pub(crate) fn check(&self) -> Result<()> {
        for ((name, &kind), values) in self.names.iter().zip(&self.types).zip(&self.values) {
            if let Some(text) = values.iter().flatten().find(|text| !is_of(text, kind)) {
                let message = format!("a key has the value '{}', which is not of its type", shown(text));
                return Err(Error::corrupt(message).in_column(name));
            }
        }
        Ok(())
    }

    /// Finds the keys in relative paths with `/`.
    ///
    /// A folder `name=value` is a key, and other folders have no meaning. A key is an integer if
    /// each of its values is one in its shortest form (`7`, not `07`), a date if each value is one
    /// as `2024-01-31`, else text. Missing values fit each type.
    ///
    /// # Errors
    /// *Argument* if files have different keys, a key occurs twice in a path, a value does not fit
    /// a wanted type, or a name is not UTF-8.
    pub fn of<S: AsRef<str>>(paths: &[S], wanted: &Wanted) -> Result<Self> {
        let mut found = Self::default();
        for (number, path) in paths.iter().enumerate() {
            let path = path.as_ref();
            let keys = of_path(path)?;
            if number == 0 {
                found.names = keys.iter().map(|(name, _)| name.clone()).collect();
                found.values = vec![Vec::with_capacity(paths.len()); keys.len()];
            }
            let is_same =
                keys.len() == found.names.len() && keys.iter().zip(&found.names).all(|((a, _), b)| a == b);
            if !is_same {
                return Err(Error::argument(format!(
                    "files have different keys: '{}' has {}, and '{}' has {}: pass hive=False to ignore the names of \
                     folders",
                    shown(paths[0].as_ref()),
                    listed(&found.names),
                    shown(path),
                    listed(&keys.into_iter().map(|(name, _)| name).collect::<Vec<_>>()),
                )));
            }
            for (values, (_, value)) in found.values.iter_mut().zip(keys) {
                values.push(value);
            }
        }
        for (name, _) in &wanted.types {
            if !found.names.contains(name) {
                return Err(Error::argument(format!(
                    "hive names a key '{}', and the keys are {}",
                    shown(name),
                    listed(&found.names)
                )));
            }
        }
        found.types = found
            .names
            .iter()
            .zip(&found.values)
            .map(|(name, values)| type_of(name, values, wanted))
            .collect::<Result<_>>()?;
        Ok(found)
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("'{}'", shown(name))).collect::<Vec<_>>().join(", ")
}

/// The keys of one path.
fn of_path(path: &str) -> Result<Vec<(String, Option<String>)>> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    let mut parts: Vec<&str> = path.split('/').collect();
    // The name of the file.
    parts.pop();
    for part in parts {
        let Some((name, value)) = part.split_once('=') else { continue };
        if name.is_empty() {
            continue;
        }
        let (Some(name), Some(text)) = (decode(name), decode(value)) else {
            return Err(Error::argument(format!(
                "the folder '{}' has bytes that are not UTF-8",
                shown(part)
            )));
        };
        if found.iter().any(|(known, _)| *known == name) {
            return Err(Error::argument(format!(
                "the key '{}' occurs twice in '{}'",
                shown(&name),
                shown(path)
            )));
        }
        found.push((name, (value != MISSING).then_some(text)));
    }
    Ok(found)
}

fn type_of(name: &str, values: &[Option<String>], wanted: &Wanted) -> Result<KeyType> {
    let fits = |kind: KeyType| values.iter().flatten().find(|text| !is_of(text, kind));
    if let Some((_, kind)) = wanted.types.iter().find(|(known, _)| known == name) {
        return match fits(*kind) {
            None => Ok(*kind),
            Some(text) => Err(Error::argument(format!(
                "the key '{}' has the value '{}', which is not {}",
                shown(name),
                shown(text),
                if *kind == KeyType::Int64 { "an integer of 64 bits" } else { "a date" }
            ))),
        };
    }
    let has_values = values.iter().any(Option::is_some);
    let first = [KeyType::Int64, KeyType::Date].into_iter().find(|&kind| has_values && fits(kind).is_none());
    Ok(first.unwrap_or(KeyType::Text))
}

fn is_of(text: &str, kind: KeyType) -> bool {
    match kind {
        // The shortest form is the one that the number prints.
        KeyType::Int64 => text.parse::<i64>().is_ok_and(|number| number.to_string() == text),
        KeyType::Date => days(text).is_some(),
        KeyType::Text => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(paths: &[&str]) -> Keys {
        Keys::of(paths, &Wanted::default()).unwrap()
    }

    fn kind(values: &[&str]) -> KeyType {
        let paths: Vec<String> = values.iter().map(|value| format!("k={value}/x.entasis")).collect();
        Keys::of(&paths, &Wanted::default()).unwrap().types[0]
    }

    #[test]
    fn types_hold_for_all_values() {
        assert_eq!(kind(&["1", "-7", "9223372036854775807", "__HIVE_DEFAULT_PARTITION__"]), KeyType::Int64);
        assert_eq!(kind(&["1", "07"]), KeyType::Text);
        for text in ["+7", "-0", "1.0", "9223372036854775808", "", "1e3", " 1"] {
            assert_eq!(kind(&[text]), KeyType::Text, "{text}");
        }
        assert_eq!(kind(&["2024-02-29", "1999-12-31"]), KeyType::Date);
        assert_eq!(kind(&["2024-02-30"]), KeyType::Text);
        assert_eq!(kind(&["__HIVE_DEFAULT_PARTITION__"]), KeyType::Text);
    }

    #[test]
    fn values_are_decoded() {
        let found =
            keys(&["x/a%2Fb=1/c=%C3%A9%3D/f.entasis", "x/a%2Fb=2/c=__HIVE_DEFAULT_PARTITION__/f.entasis"]);
        assert_eq!(found.names, ["a/b", "c"]);
        assert_eq!(found.values[1], [Some("\u{e9}=".to_owned()), None]);
        // A writer that does not encode.
        assert_eq!(keys(&["k=100%/f"]).values[0], [Some("100%".to_owned())]);
        assert_eq!(keys(&["k=/f"]).values[0], [Some(String::new())]);
        assert_eq!(keys(&["k=a=b/f"]).values[0], [Some("a=b".to_owned())]);
        // The word for missing values itself, encoded.
        assert_eq!(keys(&["k=%5F_HIVE_DEFAULT_PARTITION__/f"]).values[0], [Some(MISSING.to_owned())]);
    }

    #[test]
    fn different_keys_are_refused() {
        let error = |paths: &[&str]| Keys::of(paths, &Wanted::default()).unwrap_err().to_string();
        assert!(error(&["a=1/x", "b=1/x"]).contains("'a=1/x' has 'a', and 'b=1/x' has 'b'"));
        assert!(error(&["a=1/x", "x"]).contains("has none"));
        assert!(error(&["a=1/a=2/x"]).contains("occurs twice"));
        assert!(error(&["a=%FF/x"]).contains("not UTF-8"));
        assert!(keys(&["x", "y"]).names.is_empty());
    }

    #[test]
    fn wanted_types_are_checked() {
        let wanted = |kind| Wanted { types: vec![("zip".to_owned(), kind)] };
        let found = Keys::of(&["zip=8001/x"], &wanted(KeyType::Text)).unwrap();
        assert_eq!(found.types, [KeyType::Text]);
        let error = Keys::of(&["zip=a/x"], &wanted(KeyType::Int64)).unwrap_err().to_string();
        assert!(error.contains("'a', which is not an integer"), "{error}");
        let error = Keys::of(&["other=a/x"], &wanted(KeyType::Int64)).unwrap_err().to_string();
        assert!(error.contains("hive names a key 'zip', and the keys are 'other'"), "{error}");
    }
}
