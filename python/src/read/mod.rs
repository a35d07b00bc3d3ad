//! Reads columns into the memory of a host.

pub mod blocks;
pub mod columns;
pub mod fixed_width;
pub mod nested;
pub mod plan;
pub mod results;
pub mod row_selection;
