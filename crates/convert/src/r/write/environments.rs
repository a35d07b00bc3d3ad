//! The numbers of environments in a file.

use std::collections::HashMap;

use entasis::{Error, Result};

use super::path::Path;
use crate::r::{Environment, Place};

/// The environments that were found, in order.
pub(super) struct Numbers<'a> {
    all: &'a [Environment],
    /// The number in the file of each environment that was found.
    numbers: HashMap<usize, usize>,
    /// Which ones were found, and where.
    found: Vec<(usize, Path)>,
    /// How many of these were walked.
    n_done: usize,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(all: &'a [Environment]) -> Self {
        Self { all, numbers: HashMap::new(), found: Vec::new(), n_done: 0 }
    }

    /// The place in the file. An environment that is met for the first time gets a number.
    pub(super) fn place(&mut self, place: &Place, path: Path) -> Result<Place> {
        let Place::Number(number) = place else { return Ok(place.clone()) };
        if *number >= self.all.len() {
            return Err(Error::argument("an environment that is not there"));
        }
        let found = &mut self.found;
        let number = *self.numbers.entry(*number).or_insert_with(|| {
            found.push((*number, path));
            found.len() - 1
        });
        Ok(Place::Number(number))
    }

    /// The next environment to walk.
    pub(super) fn next(&mut self) -> Result<Option<(&'a Environment, Path)>> {
        let Some(&(number, path)) = self.found.get(self.n_done) else { return Ok(None) };
        self.n_done += 1;
        let environment = self.all.get(number);
        Ok(Some((environment.ok_or_else(|| Error::argument("an environment that is not there"))?, path)))
    }
}

/// The name of an environment that exists in every session, and of its package.
pub(super) fn parts(place: &Place) -> (&str, Option<&str>) {
    match place {
        Place::Global => ("global", None),
        Place::Base => ("base", None),
        Place::Empty | Place::Number(_) => ("empty", None),
        Place::Namespace(package) => ("namespace", Some(package)),
        Place::Package(package) => ("package", Some(package)),
    }
}
