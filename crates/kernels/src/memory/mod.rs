//! Memory that is not an ordinary Rust slice: a host's arrays and large aligned buffers.

mod buffer;
mod host;

pub use buffer::Buffer;
pub use host::HostRead;
