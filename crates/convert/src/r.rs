//! Values of R in memory.

pub(crate) mod digits;
pub mod integers;
pub mod kind;
pub mod missing;
pub mod parallel;
mod read;
mod stored_text;
mod strings;
pub mod times;
mod value;
pub mod vectors;
mod write;
mod zones;

pub use read::{Frame, Loss, Reading, Root};
pub use stored_text::StoredText;
pub use strings::{Mark, Strings};
pub use value::{Attributes, Binding, Data, Environment, EnvironmentRef, Item, Value, Values};
pub use write::{Facts, Plan, PlanOptions};
