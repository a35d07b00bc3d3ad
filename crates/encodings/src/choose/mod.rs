//! The choice of an encoding: what each would store, and how long it would take to decode.

pub(crate) mod bools;
pub(crate) mod floats;
pub(crate) mod integers;
pub(crate) mod strings;
