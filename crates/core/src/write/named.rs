//! Names for errors in unnamed columns: dictionaries and bundles.

use entasis_encodings::Encoder;
use entasis_format::Error;

use super::input::Scratch;
use super::{Plan, Stored};

impl Plan<'_> {
    /// Adds the name of the column with the refused values.
    #[cold]
    pub(super) fn named(&self, column: &Stored<'_>, error: Error) -> Error {
        let name = match column.name {
            "" => self.user_of(column.column).or_else(|| self.refused_member(column)),
            name => Some(name),
        };
        match name {
            Some(name) => error.in_column(name),
            None => error,
        }
    }

    /// The name of a column whose dictionary is column number `dictionary`.
    fn user_of(&self, dictionary: usize) -> Option<&str> {
        let is_user = |first: usize, of: Option<usize>| of.is_some_and(|of| first + of == dictionary);
        let columns: Vec<_> = self.parts.columns().collect();
        let own = columns.iter().find(|of| is_user(of.first_extra, of.column.dictionary));
        let first_of = |top: usize| columns.get(top).map_or(0, |of| of.first_extra);
        let of_child =
            || self.nested.children.iter().find(|child| is_user(first_of(child.top), child.dictionary));
        own.map(|of| of.column.name.as_str()).or_else(|| Some(&of_child()?.path))
    }

    /// The name of the bundle's first member whose values are refused when encoded alone.
    fn refused_member(&self, storage: &Stored<'_>) -> Option<&str> {
        let number = storage.column.checked_sub(self.parts.n_columns + self.nested.children.len())?;
        let bundle = self.bundles.get(number)?;
        let (_, frame) = self.parts.frames.get(bundle.frame)?;
        let (mut scratch, mut encoder) = (Scratch::default(), Encoder::new(self.profile.clone()));
        let mut members = bundle.members.iter().filter_map(|&i| frame.columns.get(i));
        let refused = members.find(|member| {
            let mut at = 0;
            while at < member.array.n_values() {
                let found = scratch.load(&member.array, storage.of, at..member.array.n_values());
                let encoded = found.and_then(|n| {
                    at += n as u64;
                    let (values, validity) = scratch.values(storage.of, n);
                    encoder.encode(storage.of, values, validity, &|| Ok(()), &mut Vec::new())
                });
                if encoded.is_err() {
                    return true;
                }
            }
            false
        });
        refused.and_then(|member| member.names().next())
    }
}
