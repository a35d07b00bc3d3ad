//! Dictionaries of strings: the distinct strings of a block, and how they are stored.

pub(crate) mod entries;
pub(crate) mod index;
