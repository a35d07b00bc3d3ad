//! Reads columns into the memory of a host.

pub mod columns;
pub mod finished;
pub mod nested;
pub mod plan;
pub mod results;
pub mod row_selection;
