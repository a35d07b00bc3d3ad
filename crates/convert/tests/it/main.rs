//! Files that R wrote, streams of a naive writer, and damaged bytes.

mod common;
mod damage;
mod fixtures;
mod fst;
mod held;
mod installed;
mod naive;
mod streams;
mod table;
mod windows;
