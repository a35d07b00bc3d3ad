//! The numbers of environments in a file.

use std::collections::HashMap;

use entasis::{Error, Result};

use super::path::Path;
use crate::r::{Environment, EnvironmentRef};

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

    /// The reference in the file. An environment that is met for the first time gets a number.
    pub(super) fn environment_ref(
        &mut self,
        environment: &EnvironmentRef,
        path: Path,
    ) -> Result<EnvironmentRef> {
        let EnvironmentRef::Number(number) = environment else { return Ok(environment.clone()) };
        if *number >= self.all.len() {
            return Err(Error::argument("an environment that is not there"));
        }
        let found = &mut self.found;
        let number = *self.numbers.entry(*number).or_insert_with(|| {
            found.push((*number, path));
            found.len() - 1
        });
        Ok(EnvironmentRef::Number(number))
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
pub(super) fn parts(environment: &EnvironmentRef) -> (&str, Option<&str>) {
    match environment {
        EnvironmentRef::Global => ("global", None),
        EnvironmentRef::Base => ("base", None),
        EnvironmentRef::Empty | EnvironmentRef::Number(_) => ("empty", None),
        EnvironmentRef::Namespace(package) => ("namespace", Some(package)),
        EnvironmentRef::Package(package) => ("package", Some(package)),
    }
}
