//! Values of R in memory.

mod strings;
mod value;

pub use strings::{Mark, Strings};
pub use value::{Attributes, Binding, Data, Environment, Item, Place, Value, Values};
