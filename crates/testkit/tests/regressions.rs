//! Replays the seeds of all fuzz targets and every input that once broke a promise.

use std::panic::catch_unwind;
use std::path::PathBuf;
use std::time::Instant;

use entasis_testkit::fuzz::{TARGETS, Target, regressions};
use entasis_testkit::hostile::by_tier;
use entasis_testkit::memory::Counting;
use entasis_testkit::mutate::{Dice, damage};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs a target; returns a line if it panics.
fn failure(target: &Target, case: &str, input: &[u8]) -> Option<String> {
    let result = catch_unwind(|| (target.run)(input));
    result.is_err().then(|| format!("{} on {case}", target.name))
}

fn entries(folder: PathBuf) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn seeds_keep_all_promises() {
    let mut failures = Vec::new();
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        let tried = seeds.iter().enumerate();
        failures.extend(tried.filter_map(|(i, seed)| failure(target, &format!("seed {i}"), seed)));
        println!("{}: {} seeds", target.name, seeds.len());
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Without a fuzzer: random changes of the seeds, half of them with repaired checksums.
#[test]
fn changed_seeds_keep_all_promises() {
    let n = by_tier(250, 500, 20_000);
    let mut failures = Vec::new();
    for target in TARGETS {
        let seeds = (target.seeds)();
        let (mut dice, started) = (Dice(1), Instant::now());
        for i in 0..n {
            let mut input = seeds[dice.below(seeds.len())].clone();
            if i % 2 == 0 {
                damage(&mut input, &mut dice);
            } else {
                change(&mut input, &mut dice);
            }
            if let Some(failure) = failure(target, &format!("change {i}"), &input) {
                keep(&failure, &input);
                failures.push(failure);
            }
        }
        println!("{}: {n} inputs in {:.2} s", target.name, started.elapsed().as_secs_f64());
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Writes an input that fails to the folder of temporary files, for a look at it.
fn keep(name: &str, input: &[u8]) {
    let path = std::env::temp_dir().join(format!("entasis {name}"));
    if std::fs::write(&path, input).is_ok() {
        println!("kept {}", path.display());
    }
}

/// Makes one to three changes: bytes that are set, copied, inserted or removed.
fn change(input: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        let (at, from) = (dice.below(input.len()), dice.below(input.len()));
        let n = dice.below(20).min(input.len() - at.max(from));
        match dice.below(4) {
            _ if input.is_empty() => {}
            0 => input[at] = [0, 1, 0x7F, 0x80, 0xFF, dice.below(256) as u8][dice.below(6)],
            1 => input.copy_within(from..from + n, at),
            2 => {
                let piece = input[from..from + n].to_vec();
                input.splice(at..at, piece);
            }
            _ => drop(input.drain(at..at + n)),
        }
    }
}

/// The input of one target is also an input of every other one: a body accepts any bytes.
#[test]
fn regressions_keep_all_promises() {
    let mut failures = Vec::new();
    for folder in entries(regressions()) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        // The tests of Python and R replay theirs.
        if name == "r" || name.starts_with("python-") {
            continue;
        }
        assert!(TARGETS.iter().any(|target| target.name == name), "{name} is not a target");
        for path in entries(folder) {
            let input = std::fs::read(&path).unwrap();
            let case = path.display().to_string();
            failures.extend(TARGETS.iter().filter_map(|target| failure(target, &case, &input)));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn every_target_has_a_binary() {
    let folder = regressions().parent().unwrap().join("fuzz_targets");
    let found: Vec<String> =
        entries(folder).iter().map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    let mut names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    names.sort_unstable();
    assert_eq!(found, names);
}
