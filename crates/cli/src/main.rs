//! The `entasis` command.
#![forbid(unsafe_code)]

fn main() {
    std::process::exit(entasis_cli::run(std::env::args_os().skip(1)));
}
