//! Memory that is not an ordinary Rust slice: a host's arrays and large aligned buffers.

mod brief;
mod buffer;
mod buffers;
mod host;
mod mapping;
mod matrix;
mod pages;
mod views;

pub use brief::BriefVec;
pub use buffer::Buffer;
pub use buffers::Buffers;
pub use host::HostRead;
pub use matrix::MatrixMut;
pub use pages::{Ahead, ask_for_huge_pages, get_pages};
pub use views::HostViews;
