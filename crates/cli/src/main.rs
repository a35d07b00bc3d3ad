//! The `entasis` command.
#![forbid(unsafe_code)]

/// Reports a lack of memory as an error, where vectors would abort ([`entasis::reserve`]).
#[global_allocator]
static ALLOCATOR: entasis::reserve::WithReserve = entasis::reserve::WithReserve;

fn main() {
    std::process::exit(entasis_cli::run(std::env::args_os().skip(1)));
}
