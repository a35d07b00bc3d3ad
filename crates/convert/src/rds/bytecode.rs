//! Byte code. Only the expression that it was compiled from is kept.

use std::collections::HashMap;

use entasis::Result;

use super::flags::kind;
use super::reader::Reader;
use crate::r::{Attributes, Data, Item, Value};

/// Types of expressions in byte code.
mod code {
    /// A pair with attributes.
    pub const CALL_WITH_ATTRIBUTES: i32 = 240;
    pub const LIST_WITH_ATTRIBUTES: i32 = 239;
    /// A pair that later items refer to.
    pub const SHARED: i32 = 244;
    /// A reference to it.
    pub const REFERENCE: i32 = 243;
    pub const BYTE_CODE: i32 = 21;
    pub const CALL: i32 = 6;
    pub const LIST: i32 = 2;
}

/// The shared pairs of byte code that are complete.
type Shared = HashMap<usize, Value>;

impl Reader<'_> {
    /// The expression of byte code.
    #[inline(never)]
    pub(super) fn byte_code(&mut self) -> Result<Value> {
        let _n_shared = self.stream.count()?;
        self.code(&mut Shared::new())
    }

    /// Instructions, which are dropped, and constants. The first constant is the expression.
    fn code(&mut self, shared: &mut Shared) -> Result<Value> {
        self.item()?;
        let n = self.stream.count()?;
        let mut expression = None;
        for _ in 0..n {
            let of = self.stream.int()?;
            if expression.is_none() {
                expression = Some(self.constant(of, shared)?);
            } else {
                self.dropped(|reader| reader.constant(of, shared).map(drop))?;
            }
        }
        Ok(expression.unwrap_or_default())
    }

    fn constant(&mut self, of: i32, shared: &mut Shared) -> Result<Value> {
        self.nested(|reader| match of {
            code::BYTE_CODE => reader.code(shared),
            code::CALL
            | code::LIST
            | code::SHARED
            | code::REFERENCE
            | code::CALL_WITH_ATTRIBUTES
            | code::LIST_WITH_ATTRIBUTES => reader.language(of, shared),
            _ => reader.item(),
        })
    }

    /// An expression. Pairs follow each other in a loop, and nest in their values.
    fn language(&mut self, of: i32, shared: &mut Shared) -> Result<Value> {
        let mut first = None;
        let mut items: Vec<Item> = Vec::new();
        let mut places: Vec<(usize, usize, bool, Attributes)> = Vec::new();
        let mut of = of;
        let rest = loop {
            let mut place = None;
            let mut pair = of;
            if of == code::SHARED {
                place = Some(self.stream.count()?);
                pair = self.stream.int()?;
            }
            let has_attributes = matches!(pair, code::CALL_WITH_ATTRIBUTES | code::LIST_WITH_ATTRIBUTES);
            let is_call = matches!(pair, code::CALL_WITH_ATTRIBUTES | code::CALL);
            if !has_attributes && !matches!(pair, code::CALL | code::LIST) {
                break self.leaf(of, shared)?;
            }
            let attributes = if has_attributes { self.attributes()? } else { None };
            if !items.is_empty() && attributes.is_some() {
                self.refuse("a pairlist with attributes in its middle");
            }
            if let Some(i) = place {
                places.push((i, items.len(), is_call, attributes.clone()));
            }
            if first.is_none() {
                first = Some((is_call, attributes));
            }
            let tag = self.symbol()?;
            let value = self.stream.int()?;
            let value = self.nested(|reader| reader.language(value, shared))?;
            items.push(Item { tag, value });
            of = self.stream.int()?;
        };
        let Some((is_call, attributes)) = first else { return Ok(rest) };
        match rest.data {
            Data::Null => {}
            // The rest of a pairlist is shared with another one.
            Data::Pairlist(more) | Data::Call(more) if rest.attributes.is_none() => items.extend(more),
            _ => drop(self.refuse("a pairlist that ends in another value")),
        }
        for (i, from, is_call, attributes) in places {
            let parts: Result<Vec<Item>> = items[from..].iter().map(|item| self.copy_of_item(item)).collect();
            shared.insert(i, pair_value(is_call, parts?, attributes));
        }
        Ok(pair_value(is_call, items, attributes))
    }

    /// A value that is not a new pair.
    fn leaf(&mut self, of: i32, shared: &Shared) -> Result<Value> {
        match of {
            code::REFERENCE => {
                let i = self.stream.count()?;
                match shared.get(&i) {
                    Some(value) => self.copy_of(value),
                    None => Err(self.stream.damaged("a reference in byte code leads nowhere")),
                }
            }
            code::SHARED => Err(self.stream.damaged("a shared pair of byte code is not a pair")),
            _ => self.item(),
        }
    }

    fn copy_of_item(&mut self, item: &Item) -> Result<Item> {
        self.copy(item.tag.len())?;
        Ok(Item { tag: item.tag.clone(), value: self.copy_of(&item.value)? })
    }

    /// Reads one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.deeper()?;
        let result = read(self);
        self.depth -= 1;
        result
    }
}

fn pair_value(is_call: bool, items: Vec<Item>, attributes: Attributes) -> Value {
    let data = if is_call { Data::Call(items) } else { Data::Pairlist(items) };
    Value { data, attributes, is_s4: false }
}

// Kinds of items and of expressions share their numbers.
const _: () = assert!(kind::CALL as i32 == code::CALL && kind::PAIRLIST as i32 == code::LIST);
