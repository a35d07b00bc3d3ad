//! qdata: the headers of all objects, then the data of all vectors by type.

use entasis::{Error, Result};

use crate::input::Input;
use crate::r::{Attributes, Data, Mark, Strings, Value, Values};

/// The most levels of values in values.
const MOST_DEPTH: usize = 1_000;
/// Lists grow to their lengths, which may be wrong.
const FIRST_ROOM: usize = 1 << 10;
/// An attribute of data.table: an address, without meaning in a file.
const SELF_REFERENCE: &str = ".internal.selfref";

/// The types of vectors, in the order of their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Strings,
    Complex,
    Doubles,
    /// Integers and logicals.
    Integers,
    Raw,
}

const GROUPS: [Group; 5] = [Group::Strings, Group::Complex, Group::Doubles, Group::Integers, Group::Raw];

/// Reads the value.
pub(super) fn read(input: Input<'_>) -> Result<Values> {
    let mut reader = Reader { input, lens: Vec::new() };
    let mut value = reader.object(0)?;
    let lens = std::mem::take(&mut reader.lens);
    for group in GROUPS {
        reader.fill(&mut value, group, &mut lens.iter().copied())?;
    }
    drop_addresses(&mut value);
    Ok(Values { value, environments: Vec::new() })
}

struct Reader<'a> {
    input: Input<'a>,
    /// The length of each vector other than lists, in the order of headers.
    lens: Vec<u64>,
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.input.array()?))
    }

    fn int(&mut self, width: u8) -> Result<u64> {
        Ok(match width {
            0 => u64::from(self.byte()?),
            1 => u64::from(u16::from_le_bytes(self.input.array()?)),
            2 => u64::from(u32::from_le_bytes(self.input.array()?)),
            _ => u64::from_le_bytes(self.input.array()?),
        })
    }

    /// An object with empty vectors.
    fn object(&mut self, depth: usize) -> Result<Value> {
        if depth == MOST_DEPTH {
            return Err(Error::limit("values are nested more than 1,000 deep")
                .advise("save it with R in flatter parts"));
        }
        let mut head = self.byte()?;
        let n_attributes = match head {
            0xE0.. => u64::from(head & 0x1F),
            30 => self.int(0)?,
            31 => self.int(2)?,
            _ => 0,
        };
        if matches!(head, 0xE0..|30| 31) {
            head = self.byte()?;
        }
        let (mut data, n) = self.header(head)?;
        let attributes = self.attributes(n_attributes, depth)?;
        if let Data::List(values) = &mut data {
            let n = self.input.check(n, 1)?;
            values.reserve(n.min(FIRST_ROOM));
            while values.len() < n {
                let value = self.object(depth + 1)?;
                values.push(value);
            }
            self.input.poll()?;
        }
        Ok(Value { data, attributes, is_s4: false })
    }

    /// The type and the length of an object.
    fn header(&mut self, head: u8) -> Result<(Data, u64)> {
        let short = u64::from(head & 0x1F);
        let (of, len) = match head {
            0 => return Ok((Data::Null, 0)),
            1..=20 => ((head - 1) / 4, self.int((head - 1) % 4)?),
            21..=24 => (5 + (head - 21) / 2, self.int(2 + (head - 21) % 2)?),
            0x20..0xC0 => (head / 0x20 - 1, short),
            _ => return Err(self.input.damaged("the header of an object is not valid")),
        };
        if of > 0 {
            self.lens.push(len);
        }
        let data = match of {
            0 => Data::List(Vec::new()),
            1 => Data::Double(Vec::new()),
            2 => Data::Integer(Vec::new()),
            3 => Data::Logical(Vec::new()),
            4 => Data::Strings(Box::default()),
            5 => Data::Complex(Vec::new()),
            _ => Data::Raw(Vec::new()),
        };
        Ok((data, len))
    }

    fn attributes(&mut self, n: u64, depth: usize) -> Result<Attributes> {
        let n = self.input.check(n, 2)?;
        let mut attributes = Vec::new();
        for _ in 0..n {
            let mut name = Vec::new();
            if !self.text(&mut name)? {
                return Err(self.input.damaged("an attribute lacks a name"));
            }
            let name = String::from_utf8(name);
            let name = name.map_err(|_| self.input.damaged("the name of an attribute is not valid text"))?;
            attributes.push((name, self.object(depth + 1)?));
        }
        let mut names: Vec<&str> = attributes.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self.input.damaged("a value has two attributes of one name"));
        }
        Ok(if attributes.is_empty() { None } else { Some(Box::new(attributes)) })
    }

    /// Appends a text; false if it is missing.
    fn text(&mut self, into: &mut Vec<u8>) -> Result<bool> {
        let len = match self.byte()? {
            255 => return Ok(false),
            254 => self.int(2)?,
            253 => self.int(1)?,
            len => u64::from(len),
        };
        let len = self.input.check(len, 1)?;
        self.input.append(len, into)?;
        Ok(true)
    }

    /// Reads the vectors of a group, in the order of headers.
    fn fill(&mut self, value: &mut Value, group: Group, lens: &mut impl Iterator<Item = u64>) -> Result<()> {
        let is_list = matches!(value.data, Data::List(_));
        if !is_list && value.data != Data::Null {
            let n = lens.next().unwrap_or(0);
            self.fill_data(&mut value.data, group, n)?;
        }
        for (_, attribute) in value.attributes.iter_mut().flat_map(|attributes| attributes.iter_mut()) {
            self.fill(attribute, group, lens)?;
        }
        if let Data::List(values) = &mut value.data {
            for value in values {
                self.fill(value, group, lens)?;
            }
        }
        Ok(())
    }

    fn fill_data(&mut self, data: &mut Data, group: Group, n: u64) -> Result<()> {
        match (group, data) {
            (Group::Strings, Data::Strings(strings)) => **strings = self.strings(n)?,
            (Group::Complex, Data::Complex(values)) => {
                *values = self.input.vector(n, |bytes: [u8; 16]| {
                    let (words, _) = bytes.as_chunks::<8>();
                    [f64::from_le_bytes(words[0]), f64::from_le_bytes(words[1])]
                })?;
            }
            (Group::Doubles, Data::Double(values)) => *values = self.input.vector(n, f64::from_le_bytes)?,
            (Group::Integers, Data::Integer(values) | Data::Logical(values)) => {
                *values = self.input.vector(n, i32::from_le_bytes)?;
            }
            (Group::Raw, Data::Raw(values)) => *values = self.input.vector(n, |[byte]: [u8; 1]| byte)?,
            _ => {}
        }
        Ok(())
    }

    fn strings(&mut self, n: u64) -> Result<Strings> {
        let n = self.input.check(n, 1)?;
        let mut strings = Strings::with_room(self.input.room(n, 8))?;
        let mut long = Vec::new();
        while strings.len() < n {
            // Strings of up to 252 bytes that are in the buffer.
            let bytes = self.input.fill(1)?;
            let mut rest = bytes;
            while strings.len() < n
                && let Some((&head, tail)) = rest.split_first()
            {
                match head {
                    255 => {
                        strings.push_missing();
                        rest = tail;
                    }
                    0..253 => {
                        let Some((text, after)) = tail.split_at_checked(usize::from(head)) else { break };
                        strings.push(text, Mark::Utf8);
                        rest = after;
                    }
                    _ => break,
                }
            }
            let n_read = bytes.len() - rest.len();
            self.input.consume(n_read);
            if n_read == 0 {
                long.clear();
                self.text(&mut long)?;
                strings.push(&long, Mark::Utf8);
            }
            self.input.poll()?;
        }
        if strings.bytes().contains(&0) {
            return Err(self.input.damaged("a string has a zero byte"));
        }
        Ok(strings)
    }
}

/// Drops the attribute of data.table that is an address.
fn drop_addresses(value: &mut Value) {
    if let Some(attributes) = &mut value.attributes {
        attributes.retain(|(name, _)| name != SELF_REFERENCE);
        attributes.iter_mut().for_each(|(_, value)| drop_addresses(value));
    }
    if value.attributes().is_empty() {
        value.attributes = None;
    }
    if let Data::List(values) = &mut value.data {
        values.iter_mut().for_each(drop_addresses);
    }
}
