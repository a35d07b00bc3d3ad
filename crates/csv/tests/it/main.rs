//! The reader of CSV against naive models.

mod blanks;
mod common;
mod errors;
mod hostile;
mod model;
mod numbers;
mod oracle;
mod random;
mod read;
mod scan;
mod store;
