//! Environments with their names and values.

use entasis::Result;

use super::flags::{Flags, kind};
use super::reader::{Reader, Reference};
use super::refusal::Step;
use crate::r::{Binding, Environment, EnvironmentRef};

impl Reader<'_> {
    /// An environment: whether it is locked, enclosure, frame, hash table, attributes.
    #[inline(never)]
    pub(super) fn environment(&mut self) -> Result<EnvironmentRef> {
        let number = self.environments.len();
        let environment = EnvironmentRef::Number(number);
        self.environments.push(Environment::default());
        // Its parts may refer to it.
        self.references.push(Reference::Environment(environment.clone()));
        let is_locked = self.stream.int()? != 0;
        let parent = self.part(Step::Of("parent.env"), |reader| {
            let value = reader.item()?;
            reader.environment_of(value)
        })?;
        let mut bindings = Vec::new();
        let frame = self.stream.flags()?;
        self.bindings(frame, &mut bindings)?;
        self.table(&mut bindings)?;
        let flags = self.stream.flags()?;
        let attributes = self.attributes_after(flags)?;
        let parent = Some(parent).filter(|parent| *parent != EnvironmentRef::Empty);
        self.environments[number] = Environment { parent, bindings, attributes, is_locked, is_s4: false };
        Ok(environment)
    }

    /// The hash table: a list of pairlists, or NULL.
    fn table(&mut self, bindings: &mut Vec<Binding>) -> Result<()> {
        let flags = self.stream.flags()?;
        if flags.is_null() {
            return Ok(());
        }
        if flags.kind() != kind::LIST {
            return Err(self.stream.damaged("the hash table of an environment is not a list"));
        }
        let n = self.stream.vector_len()?;
        for _ in 0..self.stream.check(n, 1)? {
            let flags = self.stream.flags()?;
            self.bindings(flags, bindings)?;
        }
        self.attributes_of(flags)?;
        Ok(())
    }

    /// A pairlist of names and values.
    fn bindings(&mut self, first: Flags, bindings: &mut Vec<Binding>) -> Result<()> {
        let mut flags = first;
        while flags.kind() == kind::PAIRLIST {
            self.attributes_of(flags)?;
            let name = if flags.has_tag() { self.symbol()? } else { String::new() };
            let value = self.stream.flags()?;
            if value.kind() != kind::UNBOUND {
                let value = self.part(Step::Name(name.clone()), |reader| reader.item_of(value))?;
                let (is_locked, is_active) = (flags.is_locked_binding(), flags.is_active_binding());
                bindings.push(Binding { name, value, is_locked, is_active });
            }
            flags = self.stream.flags()?;
            self.stream.input.poll()?;
        }
        if flags.is_null() {
            Ok(())
        } else {
            Err(self.stream.damaged("the names of an environment are not a pairlist"))
        }
    }
}
