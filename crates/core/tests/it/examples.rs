//! The example of this crate runs, and fails if a value is wrong.

#[allow(dead_code, reason = "the example is a program")]
#[path = "../../examples/write_and_read.rs"]
mod write_and_read;

#[test]
fn write_and_read_returns_what_was_written() {
    let path = std::env::temp_dir().join(format!("entasis-examples-{}.entasis", std::process::id()));
    write_and_read::write_and_read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
}
