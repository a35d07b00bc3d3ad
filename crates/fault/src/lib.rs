//! Test doubles: sources, sinks and disks that fail, cut short or damage the bytes.

#![forbid(unsafe_code)]

mod disk;
mod plan;
mod short;
mod sink;
mod source;

pub use disk::FaultDisk;
pub use plan::Faults;
pub use sink::FaultSink;
pub use source::FaultSource;
