//! Items of pairs: pairlists, calls, functions and promises.

use entasis::Result;

use super::flags::{Flags, kind};
use super::reader::Reader;
use super::refusal::Step;
use crate::r::{Data, EnvironmentRef, Item, Value};

impl Reader<'_> {
    /// A pairlist, a call, or the value of `...`.
    #[inline(never)]
    pub(super) fn pairs(&mut self, first: Flags) -> Result<Value> {
        let attributes = self.attributes_of(first)?;
        let mut items = Vec::new();
        let mut flags = first;
        loop {
            let tag = if flags.has_tag() { self.symbol()? } else { String::new() };
            let was_refused = self.is_refused();
            let value = self.item()?;
            if self.is_refused() && !was_refused {
                let step = if tag.is_empty() { Step::Index(items.len()) } else { Step::Name(tag.clone()) };
                self.step(step);
            }
            items.push(Item { tag, value });
            flags = self.stream.flags()?;
            // Some functions of R, such as `substitute`, make later pairs of a call calls as well.
            if !matches!(flags.kind(), kind::PAIRLIST | kind::CALL | kind::DOTS) {
                break;
            }
            if flags.has_attributes() {
                self.attributes()?;
                self.refuse("a pairlist with attributes in its middle");
            }
            self.stream.input.poll()?;
        }
        if !flags.is_null() {
            self.item_of(flags)?;
            self.refuse("a pairlist that ends in another value");
        }
        let data = match first.kind() {
            kind::CALL => Data::Call(items),
            kind::DOTS => Data::Dots(items),
            _ => Data::Pairlist(items),
        };
        Ok(Value { data, attributes, is_s4: first.is_s4() })
    }

    /// A function: attributes, environment, arguments, body.
    #[inline(never)]
    pub(super) fn closure(&mut self, flags: Flags) -> Result<Value> {
        let attributes = self.attributes_of(flags)?;
        let environment = self.part(Step::Of("environment"), |reader| reader.environment_ref(flags))?;
        let arguments = self.part(Step::Of("formals"), Self::item)?;
        let body = self.part(Step::Of("body"), Self::expression)?;
        let data = Data::Closure(Box::new([arguments, body, Data::Environment(environment).into()]));
        Ok(Value { data, attributes, is_s4: flags.is_s4() })
    }

    /// A promise: attributes, environment, value, expression. One that was evaluated is its value.
    #[inline(never)]
    pub(super) fn promise(&mut self, flags: Flags) -> Result<Value> {
        self.attributes_of(flags)?;
        let environment = self.environment_ref(flags)?;
        let value = self.stream.flags()?;
        let value = if value.kind() == kind::UNBOUND { None } else { Some(self.item_of(value)?) };
        let expression = self.expression()?;
        Ok(match value {
            Some(value) => value,
            None => Data::Promise(Box::new([expression, Data::Environment(environment).into()])).into(),
        })
    }

    /// The environment of a function or promise.
    fn environment_ref(&mut self, flags: Flags) -> Result<EnvironmentRef> {
        if !flags.has_tag() {
            return Ok(EnvironmentRef::Base);
        }
        let value = self.item()?;
        self.environment_of(value)
    }

    /// An expression, which may be stored as byte code.
    fn expression(&mut self) -> Result<Value> {
        let flags = self.stream.flags()?;
        if flags.kind() != kind::BYTE_CODE {
            return self.item_of(flags);
        }
        let expression = self.byte_code()?;
        self.attributes_of(flags)?;
        Ok(expression)
    }
}
