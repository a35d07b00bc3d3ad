//! Values of R in memory.

pub mod kind;
pub mod missing;
pub mod parallel;
mod strings;
pub mod times;
mod value;
mod write;

pub use strings::{Mark, Strings};
pub use value::{Attributes, Binding, Data, Environment, Item, Place, Value, Values};
pub use write::{Facts, Plan, PlanOptions};
