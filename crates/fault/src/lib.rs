//! Test doubles: sources, sinks and disks that fail, cut short or damage the bytes.

#![forbid(unsafe_code)]

mod disk;
mod faulty;
mod plan;
mod short;

pub use disk::FaultDisk;
pub use faulty::Faulty;
pub use plan::Faults;
