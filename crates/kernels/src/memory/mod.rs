//! Memory that is not an ordinary Rust slice: a host's arrays and large aligned buffers.

mod buffer;
mod host;
mod matrix;

pub use buffer::{Buffer, ask_for_huge_pages, reserve_on_huge_pages};
pub use host::HostRead;
pub use matrix::MatrixMut;
