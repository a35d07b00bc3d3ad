//! Damages golden files at random, raw and under repaired checksums, and reads them: `hammer --
//! SECONDS [SEED]`.
//!
//! Prints the executions per second. A read that panics, takes long or gives other data than the
//! original is shown with the bytes that were changed.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use entasis_testkit::golden::folder;
use entasis_testkit::hostile::Tally;
use entasis_testkit::mutate::{Map, edges, get, put};
use entasis_testkit::probe::{Contents, contents};

struct Target {
    name: String,
    bytes: Vec<u8>,
    map: Map,
    original: Contents,
}

/// An endless sequence of random numbers.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        entasis_testkit::frames::noise(1, self.0.wrapping_mul(0xD134_2543_DE82_EF95))[0]
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn targets() -> std::io::Result<Vec<Target>> {
    let mut targets = Vec::new();
    for entry in std::fs::read_dir(folder())? {
        let path = entry?.path();
        let bytes = std::fs::read(&path)?;
        if path.extension().is_none_or(|extension| extension != "entasis") || bytes.len() > 20_000 {
            continue;
        }
        let original = contents(&bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        targets.push(Target { name, map: Map::of(&bytes), bytes, original });
    }
    targets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(targets)
}

/// One to four changes: a bit, a byte, a run of bytes, a field.
fn damage(target: &Target, dice: &mut Dice) -> (Vec<u8>, String) {
    let mut bytes = target.bytes.clone();
    let mut told = String::new();
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len());
        match dice.below(5) {
            0 => {
                let bit = dice.below(8);
                bytes[at] ^= 1 << bit;
                told += &format!(" bit {bit} of {at}");
            }
            1 => {
                bytes[at] = dice.next() as u8;
                told += &format!(" byte {at} = {}", bytes[at]);
            }
            2 => {
                let (from, n) = (dice.below(bytes.len()), dice.below(24));
                let n = n.min(bytes.len() - from.max(at));
                bytes.copy_within(from..from + n, at);
                told += &format!(" {n} bytes from {from} to {at}");
            }
            _ => {
                let field = &target.map.fields[dice.below(target.map.fields.len())];
                let values = edges(bytes.len() as u64, get(&bytes, field));
                let value = values[dice.below(values.len())];
                put(&mut bytes, field, value);
                told += &format!(" {} at {} = {value:#x}", field.name, field.at);
            }
        }
    }
    (bytes, told)
}

fn run(seconds: u64, seed: u64) -> std::io::Result<bool> {
    let targets = targets()?;
    std::panic::set_hook(Box::new(|_| {}));
    let mut dice = Dice(seed);
    let (mut raw, mut repaired) = (Tally::default(), Tally::default());
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(seconds)
        && raw.failures.len() + repaired.failures.len() < 1000
    {
        let target = &targets[dice.below(targets.len())];
        let (mut bytes, told) = damage(target, &mut dice);
        let case = format!("{}:{told}", target.name);
        if dice.below(2) == 0 {
            raw.raw(&case, &bytes, &target.original, false);
        } else {
            target.map.repair(&mut bytes);
            let compare = dice.below(16) == 0;
            repaired.repaired(&case, &bytes, compare);
        }
    }
    let n = raw.n + repaired.n;
    let rate = n as f64 / started.elapsed().as_secs_f64();
    println!("{n} files read in {:.0} s: {rate:.0} per second, seed {seed}", started.elapsed().as_secs_f64());
    println!("  raw: {} ({} refused)", raw.n, raw.n_refused);
    println!("  repaired: {} ({} refused, {} compared)", repaired.n, repaired.n_refused, repaired.n_compared);
    for (what, notes) in [("naive decoder", &repaired.lenient), ("core", &repaired.strict)] {
        notes.iter().for_each(|(rule, case)| println!("  only the {what} refuses: {rule} ({case})"));
    }
    for failure in raw.failures.iter().chain(&repaired.failures).take(40) {
        println!("  FAILURE {failure}");
    }
    Ok(raw.failures.is_empty() && repaired.failures.is_empty())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().ok());
    let (Some(Some(seconds)), seed) = (arguments.next(), arguments.next().flatten()) else {
        eprintln!("hammer SECONDS [SEED]");
        return ExitCode::FAILURE;
    };
    match run(seconds, seed.unwrap_or(1)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
