//! RDS and RData: the streams that R's `serialize` writes. Those in XDR, little-endian and ASCII
//! form are read, and RDS in XDR form is written.
//!
//! Nothing is evaluated. Functions, environments, promises and S4 objects become data. The form of
//! the stream is in "R Internals", section "Serialization Formats".

mod altrep;
mod ascii;
mod bytecode;
mod encoding;
mod environments;
mod flags;
mod items;
mod numbers;
mod pairs;
mod reader;
mod refusal;
mod stream;
mod write;

use entasis::{Error, Result};

pub use self::write::{Packing, RdsOptions, RdsWritten, write_rds, write_rds_to};

use self::encoding::Native;
use self::reader::Reader;
use self::stream::{Coding, Stream};
use crate::input::Input;
use crate::r::{Data, Strings, Value, Values};

/// The most bytes that values take which a few bytes describe, unless the caller sets a limit.
pub(crate) const MOST_EXPANDED: u64 = 1 << 30;

/// Reads the value of a stream. `is_workspace`: of RData, whose value is a list of named objects.
pub(crate) fn read(mut input: Input<'_>, is_workspace: bool, max_bytes: Option<u64>) -> Result<Values> {
    if is_workspace {
        let line: [u8; 5] = input.array()?;
        if !matches!(&line, b"RDX2\n" | b"RDX3\n" | b"RDA2\n" | b"RDA3\n" | b"RDB2\n" | b"RDB3\n") {
            return Err(unknown_version("RData"));
        }
    }
    let coding = match &input.array()? {
        b"X\n" => Coding::Big,
        b"B\n" => Coding::Little,
        b"A\n" => Coding::Ascii,
        _ => return Err(input.damaged("the first letter is not that of an RDS stream")),
    };
    let mut stream = Stream::new(input, coding);
    let version = stream.int()?;
    let (_written_by, _least) = (stream.int()?, stream.int()?);
    let native = match version {
        2 => Native::Unknown,
        3 => {
            let len = stream.int()?;
            let len = usize::try_from(len).ok().filter(|&len| len <= 64);
            let len = len.ok_or_else(|| stream.damaged("the name of the encoding is too long"))?;
            let mut name = Vec::new();
            stream.text(len, &mut name)?;
            Native::of_name(&String::from_utf8_lossy(&name))
        }
        _ => return Err(unknown_version("RDS")),
    };
    let mut values = Reader::new(stream, native, max_bytes.unwrap_or(MOST_EXPANDED)).read(is_workspace)?;
    if is_workspace {
        values.value = objects(std::mem::take(&mut values.value))?;
    }
    Ok(values)
}

/// A list of the objects of a workspace.
fn objects(value: Value) -> Result<Value> {
    let items = match value.data {
        Data::Pairlist(items) => items,
        Data::Null => Vec::new(),
        _ => return Err(Error::corrupt("the workspace is not a list of objects")),
    };
    let names: Strings = items.iter().map(|item| item.tag.as_str()).collect();
    let list = Data::List(items.into_iter().map(|item| item.value).collect());
    Ok(Value::from(list).with("names", Data::Strings(Box::new(names))))
}

#[cold]
fn unknown_version(of: &str) -> Error {
    Error::unsupported(format!("this version of {of} (2 and 3 are read)")).advise("save it again with R")
}
