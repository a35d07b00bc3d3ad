//! The option `--compression` of `entasis convert`.

use entasis::WriteOptions;
use entasis_convert::Packing;
use serde_json::Value;

use crate::failure::{Failure, Outcome};

/// A compression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// From 0 (raw) to 100 (smallest), of all columns or of one.
    Number(Option<String>, u8),
    /// The name of a codec of another format.
    Codec(String),
}

const CODECS: [&str; 7] = ["none", "snappy", "gzip", "brotli", "lz4", "zstd", "xz"];

/// A number, after the name of a column or alone; or a codec.
pub(crate) fn parse(text: &str) -> Result<Level, String> {
    if CODECS.contains(&text) {
        return Ok(Level::Codec(text.to_owned()));
    }
    let (name, number) = match text.rsplit_once('=') {
        Some((name, number)) => (Some(name.to_owned()), number),
        None => (None, text),
    };
    match number.parse() {
        Ok(compression @ 0..=100) => Ok(Level::Number(name, compression)),
        _ => Err(format!("{number:?} is not an integer from 0 to 100, and none of {}", CODECS.join(", "))),
    }
}

/// Sets the compression of an Entasis file.
///
/// # Errors
/// For the codec of another format.
pub(crate) fn set(given: &[Level], options: &mut WriteOptions) -> Outcome {
    for level in given {
        match level {
            Level::Number(None, number) => options.compression = Some(*number),
            Level::Number(Some(name), number) => options.column_compression.push((name.clone(), *number)),
            Level::Codec(codec) => {
                let message = format!("--compression {codec}: an Entasis file has a number from 0 to 100");
                return Err(Failure::Other(message));
            }
        }
    }
    Ok(())
}

/// The compression of an RDS file.
///
/// # Errors
/// For others than `gzip`, `none` and `xz`.
pub(crate) fn of_rds(given: &[Level]) -> Outcome<Packing> {
    match given.last() {
        None => Ok(Packing::Gzip),
        Some(Level::Codec(codec)) => Ok(Packing::named(codec)?),
        Some(Level::Number(..)) => {
            let message = "--compression: an RDS file has gzip, none or xz, and not a number";
            Err(Failure::Other(message.to_owned()))
        }
    }
}

/// The compression as a host takes it: a number or a codec, or pairs of a column and a number.
pub(crate) fn of_host(given: &[Level]) -> Option<Value> {
    match given {
        [] => None,
        [.., Level::Codec(codec)] => Some(codec.clone().into()),
        [Level::Number(None, number)] => Some((*number).into()),
        _ => {
            let pair = |level: &Level| match level {
                Level::Number(name, number) => {
                    Some(Value::from(vec![name.clone().into(), Value::from(*number)]))
                }
                Level::Codec(_) => None,
            };
            Some(given.iter().filter_map(pair).collect::<Vec<_>>().into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_columns_and_codecs_have_names() {
        assert_eq!(parse("a=b=7"), Ok(Level::Number(Some("a=b".to_owned()), 7)));
        assert_eq!(parse("zstd"), Ok(Level::Codec("zstd".to_owned())));
        for wrong in ["101", "x", "a=", "zip"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        let numbers = ["5", "a=7"].map(|text| parse(text).unwrap());
        let mut options = WriteOptions::default();
        assert!(set(&numbers, &mut options).is_ok());
        assert_eq!((options.compression, options.column_compression), (Some(5), vec![("a".to_owned(), 7)]));
        assert_eq!(of_host(&numbers).map(|value| value.to_string()).as_deref(), Some("[[null,5],[\"a\",7]]"));
        assert!(set(&[Level::Codec("lz4".to_owned())], &mut WriteOptions::default()).is_err());
    }
}
