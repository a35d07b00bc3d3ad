//! Not kept.
mod common;
use common::*;
#[test]
fn dump() {
    let d = std::path::Path::new("/tmp/clidemo"); std::fs::create_dir_all(d).unwrap();
    for (n, f) in [("every", every_type()), ("counting", counting(200_000))] {
        entasis::write(&d.join(format!("{n}.entasis")), &f, &entasis::WriteOptions::default(), &entasis::Silent).unwrap();
    }
}
