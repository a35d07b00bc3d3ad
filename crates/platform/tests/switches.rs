//! `ENTASIS_HUGE_PAGES=off` and `ENTASIS_THREAD_POOL=off`. Each runs in a process of its own,
//! because the variables are read once.
#![cfg(target_os = "linux")]

use std::collections::HashSet;
use std::process::Command;
use std::sync::Mutex;
use std::thread::{self, ThreadId};

use entasis_platform::memory::{Buffer, ask_for_huge_pages, prefault};
use entasis_platform::thread_pool;

/// Runs a test of this file in a new process with one variable set, or unset.
fn run_alone(test: &str, variable: &str, value: Option<&str>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--test-threads=1"]).env_remove(variable);
    command.envs(value.map(|value| (variable, value)));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{variable}={value:?}: {text}");
}

/// Whether the memory at an address is advised to be on huge pages (the flag `hg` of its mapping).
fn is_advised(address: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut is_here = false;
    for line in maps.lines() {
        let range = line.split_whitespace().next().and_then(|range| range.split_once('-'));
        if let Some((start, end)) = range
            && let (Ok(start), Ok(end)) = (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16))
        {
            is_here = (start..end).contains(&address);
        } else if is_here && let Some(flags) = line.strip_prefix("VmFlags:") {
            return flags.split_whitespace().any(|flag| flag == "hg");
        }
    }
    panic!("no mapping has the address");
}

/// Whether a large buffer and a large vector are advised to be on huge pages.
fn advised() -> [bool; 2] {
    let mut buffer = Buffer::zeroed(64 << 20).unwrap();
    prefault(&mut buffer);
    let mut vector = vec![0u8; 64 << 20];
    ask_for_huge_pages(&mut vector);
    [buffer.as_ptr().addr(), vector.as_ptr().addr()].map(|start| is_advised(start + (32 << 20)))
}

#[test]
#[ignore = "needs a process of its own"]
fn huge_pages_are_advised() {
    // Kernels without transparent huge pages refuse the advice.
    let is_supported = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
    assert_eq!(advised(), [is_supported; 2]);
}

#[test]
#[ignore = "needs a process of its own"]
fn huge_pages_are_not_advised() {
    assert_eq!(advised(), [false; 2]);
}

/// The number of different helpers in as many calls that each need one.
fn n_helpers(n_calls: usize) -> usize {
    let helpers = Mutex::new(HashSet::<ThreadId>::new());
    for _ in 0..n_calls {
        thread_pool::run(1, &|_| _ = helpers.lock().unwrap().insert(thread::current().id()), |_| ());
    }
    helpers.into_inner().unwrap().len()
}

#[test]
#[ignore = "needs a process of its own"]
fn helpers_wait_for_more_work() {
    assert!(n_helpers(100) < 100);
}

#[test]
#[ignore = "needs a process of its own"]
fn helpers_end_with_their_work() {
    assert_eq!(n_helpers(100), 100);
}

#[test]
fn huge_pages_can_be_switched_off() {
    run_alone("huge_pages_are_advised", "ENTASIS_HUGE_PAGES", None);
    run_alone("huge_pages_are_advised", "ENTASIS_HUGE_PAGES", Some("on"));
    run_alone("huge_pages_are_not_advised", "ENTASIS_HUGE_PAGES", Some("off"));
    run_alone("huge_pages_are_not_advised", "ENTASIS_HUGE_PAGES", Some("0"));
}

#[test]
fn waiting_threads_can_be_switched_off() {
    run_alone("helpers_wait_for_more_work", "ENTASIS_THREAD_POOL", None);
    run_alone("helpers_end_with_their_work", "ENTASIS_THREAD_POOL", Some("off"));
}
