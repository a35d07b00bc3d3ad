//! Memory beyond ordinary Rust slices: large aligned buffers, short-lived vectors, and memory that
//! a host lends.

mod buffer;
mod buffers;
mod host;
mod huge_pages;
mod mapping;
pub mod reserve;
mod scratch_vec;
mod views;

pub use buffer::Buffer;
pub use buffers::Buffers;
pub use host::HostRead;
pub(crate) use huge_pages::HUGE_PAGES;
pub use huge_pages::{Prefault, ask_for_huge_pages, prefault};
pub use scratch_vec::{Refused, ScratchVec};
pub use views::HostViews;
