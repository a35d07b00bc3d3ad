//! Test doubles: sources, sinks and disks that fail, move too few bytes, or damage them.

#![forbid(unsafe_code)]

mod disk;
mod faulty;
mod plan;
mod short;

pub use disk::FaultDisk;
pub use faulty::Faulty;
pub use plan::Faults;
