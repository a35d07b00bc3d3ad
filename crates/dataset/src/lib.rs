//! Folders of files as one table: which files, in which order, and the keys in their paths.
//!
//! The folder `sales/year=2024/part-0.entasis` gives each row of this file the key `year` with the
//! value 2024, in the manner of Hive. [`list`](list()) finds the files, [`Keys`] has the values and
//! types of their keys, and [`encode`](encode()) writes the name of a folder for a key.

#![forbid(unsafe_code)]

mod date;
mod encode;
mod keys;
mod list;
mod names;

pub use date::{days, text_of_days};
pub use encode::encode;
pub use keys::{KeyType, Keys, Wanted};
pub use list::list;
