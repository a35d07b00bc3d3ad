//! Replays the seeds of all fuzz targets and every input that once broke a promise.

use std::panic::catch_unwind;
use std::path::PathBuf;

use entasis_testkit::fuzz::{TARGETS, Target, regressions};
use entasis_testkit::memory::Counting;

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

/// The input of one target is an input of the others too: a body accepts any bytes.
#[test]
fn regressions_keep_all_promises() {
    let mut failures = Vec::new();
    for folder in entries(regressions()) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        assert!(TARGETS.iter().any(|target| target.name == name), "{name} is no target");
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
