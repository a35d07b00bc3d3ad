//! Vectors in compact forms (ALTREP): sequences, strings made from numbers, and wrappers.

use entasis::Result;

use super::flags::{Flags, kind};
use super::numbers::NA_DOUBLE;
use super::reader::Reader;
use super::refusal::shortened;
use crate::r::digits::as_character;
use crate::r::{Data, Mark, Strings, Value};

/// About the memory of a short string with its offset.
const STRING_LEN: u64 = 24;

impl Reader<'_> {
    /// Class, state, attributes.
    #[inline(never)]
    pub(super) fn altrep(&mut self, flags: Flags) -> Result<Value> {
        let class = match self.item()?.data {
            Data::Pairlist(items) => items.into_iter().next().map(|item| item.value.data),
            _ => None,
        };
        let Some(Data::Symbol(class)) = class else {
            return Err(self.stream.damaged("a compact vector lacks a class"));
        };
        let state = self.state()?;
        let data = self.expanded(&class, state)?;
        let attributes = self.stream.flags()?;
        let attributes = self.attributes_after(attributes)?;
        Ok(Value { data, attributes, is_s4: flags.is_s4() })
    }

    /// A value, or a pair of values: its first and its rest.
    fn state(&mut self) -> Result<(Value, Value)> {
        let flags = self.stream.flags()?;
        if flags.kind() != kind::PAIRLIST {
            return Ok((self.item_of(flags)?, Value::default()));
        }
        self.attributes_of(flags)?;
        if flags.has_tag() {
            self.symbol()?;
        }
        Ok((self.item()?, self.item()?))
    }

    fn expanded(&mut self, class: &str, (first, rest): (Value, Value)) -> Result<Data> {
        match (class, first.data) {
            ("compact_intseq", Data::Double(state)) => self.integers(&state),
            ("compact_realseq", Data::Double(state)) => {
                let [n, first, step] = self.sequence(&state)?;
                let n = self.expand(n as u64, 8)?;
                Ok(Data::Double((0..n).map(|i| first + i as f64 * step).collect()))
            }
            ("deferred_string", data @ (Data::Integer(_) | Data::Double(_))) => {
                let scipen = match &rest.data {
                    Data::Integer(values) => values.first().copied().unwrap_or(0),
                    _ => 0,
                };
                self.texts(&data, scipen)
            }
            (
                "wrap_integer" | "wrap_logical" | "wrap_real" | "wrap_complex" | "wrap_raw" | "wrap_string"
                | "wrap_list",
                data,
            ) => Ok(data),
            _ => {
                let class = shortened(class);
                Ok(self.refuse(format!("a compact vector of class {class}")).data)
            }
        }
    }

    /// Length, first value and step of a sequence.
    fn sequence(&self, state: &[f64]) -> Result<[f64; 3]> {
        match *state {
            [n, first, step]
                if (0.0..=9e15).contains(&n) && n.fract() == 0.0 && (step == 1.0 || step == -1.0) =>
            {
                Ok([n, first, step])
            }
            _ => Err(self.stream.damaged("a compact sequence is not valid")),
        }
    }

    fn integers(&mut self, state: &[f64]) -> Result<Data> {
        let [n, first, step] = self.sequence(state)?;
        let last = first + (n - 1.0).max(0.0) * step;
        let is_integer = |value: f64| value.fract() == 0.0 && value.abs() <= f64::from(i32::MAX);
        if !is_integer(first) || !is_integer(last) {
            return Err(self.stream.damaged("a compact sequence leaves the range of integers"));
        }
        let n = self.expand(n as u64, 4)?;
        let (first, step) = (first as i32, step as i32);
        Ok(Data::Integer((0..n).map(|i| first.wrapping_add(step.wrapping_mul(i as i32))).collect()))
    }

    /// The numbers as strings.
    fn texts(&mut self, numbers: &Data, scipen: i32) -> Result<Data> {
        self.expand(numbers.len() as u64, STRING_LEN)?;
        let mut strings = Strings::with_room(numbers.len())?;
        match numbers {
            Data::Integer(values) => {
                for &value in values {
                    match value {
                        i32::MIN => strings.push_missing(),
                        value => strings.push(value.to_string().as_bytes(), Mark::Native),
                    }
                }
            }
            Data::Double(values) => {
                for &value in values {
                    if value.is_nan() && value.to_bits() as u32 == NA_DOUBLE as u32 {
                        strings.push_missing();
                    } else if let Some(text) = as_character(value, scipen) {
                        strings.push(text.as_bytes(), Mark::Native);
                    } else {
                        let what =
                            format!("the number {value:e} as a string, whose last digit is not certain,");
                        return Ok(self.refuse(what).data);
                    }
                }
            }
            _ => {}
        }
        Ok(Data::Strings(Box::new(strings)))
    }
}
