//! Reads a file several times: `read FILE [THREADS [ROUNDS]]`.

use std::fs::File;
use std::io::{Read, Seek};
use std::time::Instant;

use entasis::{Error, Result, Silent};
use entasis_csv::input::Input;
use entasis_csv::{Outcome, Plan, read};

struct Plain(File);

impl Input for Plain {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        self.0.read(into).map_err(|error| Error::io(error, "read"))
    }

    fn rewind(&mut self) -> Result<()> {
        self.0.rewind().map_err(|error| Error::io(error, "read"))
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |i: usize, default| arguments.get(i).and_then(|n| n.parse().ok()).unwrap_or(default);
    let (threads, rounds) = (number(2, 2), number(3, 5));
    let path = arguments.get(1).ok_or_else(|| Error::argument("a file is missing"))?;
    for _ in 0..rounds {
        let file = File::open(path).map_err(|error| Error::io(error, "open"))?;
        let len = file.metadata().map_err(|error| Error::io(error, "open"))?.len();
        let chunk_len = std::env::var("CHUNK").ok().and_then(|n| n.parse().ok());
        let plan = Plan { threads, chunk_len, ..Plan::default() };
        let begun = Instant::now();
        let table = match read(&mut Plain(file), &plan, &Silent)? {
            Outcome::Table(table) => table,
            Outcome::Refused(refused) => return Err(refused.error()),
        };
        let seconds = begun.elapsed().as_secs_f64();
        let types: Vec<_> = table.columns.iter().take(12).map(|column| column.of.name()).collect();
        println!(
            "{:.1} ms, {:.0} MB/s, {} rows of {types:?}",
            1e3 * seconds,
            len as f64 / 1e6 / seconds,
            table.n_rows
        );
    }
    Ok(())
}
