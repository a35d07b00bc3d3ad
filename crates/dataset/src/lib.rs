//! Folders of files as one table: which files, in which order, and the keys in their paths.
//!
//! The folder `sales/year=2024/part-0.entasis` gives each row of this file the key `year` with the
//! value 2024, in the manner of Hive. [`list`](list()) finds the files, [`Keys`] has the values and
//! types of their keys, and [`encode`](encode()) writes the name of a folder for a key. A
//! [`Dataset`] is a folder with or without a manifest, and gives its rows as one file. A folder on
//! an object store is read through [`Objects`].
//! [`commit`](commit()) makes files part of a table, by a new manifest.

#![forbid(unsafe_code)]

pub mod column_labels;
mod columns;
mod commit;
mod date;
mod encode;
mod facts;
mod in_turn;
mod keys;
mod list;
mod manifest;
mod memory;
mod metadata;
mod names;
mod objects;
mod paths;
mod store;
mod table;

pub use commit::{Before, Job, Mode, Written, before, commit, newest_manifest};
pub use date::{days, text_of_days};
pub use encode::encode;
pub use keys::{KeyType, Keys, Wanted};
pub use list::list;
pub use manifest::Pin;
pub use names::is_of_job;
pub use objects::{Listed, Objects};
pub use paths::below;
pub use store::Lend;
pub use table::{Dataset, Whole};
