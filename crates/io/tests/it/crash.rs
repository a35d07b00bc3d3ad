//! Writers that are killed.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{ALL, Folder, number_of, replace, replace_on, version};
use entasis_fault::FaultDisk;
use entasis_io::Durable;

#[test]
fn at_every_call() {
    for durable in ALL {
        for old in [None, Some(version(5000))] {
            let mut call = 0;
            while dies_at(call, durable, old.as_deref()) {
                call += 1;
            }
            assert!(call > 8, "only {call} calls");
        }
    }
}

fn dies_at(call: u64, durable: Durable, old: Option<&[u8]>) -> bool {
    let folder = Folder::new();
    let target = folder.path("file");
    if let Some(old) = old {
        fs::write(&target, old).unwrap();
    }
    let new = version(7001);
    let disk = Arc::new(FaultDisk::crashing(call).short(call));
    let small = version(3); // few calls, although they are short
    let dead = replace_on(disk.clone(), &target, durable, &small).is_err();
    let log = disk.log();
    let renamed = log.iter().position(|&c| c == "rename").is_some_and(|at| (at as u64) < call);
    let expected = if renamed { Some(&small[..]) } else { old };
    assert_eq!(fs::read(&target).ok().as_deref(), expected, "call {call}, {durable:?}, {log:?}");

    replace(&target, durable, &new).unwrap();
    assert_eq!(fs::read(&target).unwrap(), new);
    assert_eq!(folder.names(), ["file"], "call {call}, {durable:?}, {log:?}");
    dead
}

const TARGET: &str = "ENTASIS_IO_TEST_TARGET";

/// Not a test by itself: the process that the next test starts and kills.
#[test]
fn endless_writer() {
    let Some(target) = env::var_os(TARGET).map(PathBuf::from) else { return };
    let first = fs::read(&target).map_or(0, |bytes| number_of(&bytes));
    for number in first + 1.. {
        replace(&target, ALL[number as usize % 3], &version(number)).unwrap();
    }
}

#[test]
fn killed_at_any_time() {
    let folder = Folder::new();
    let target = folder.path("file");
    let mut last = 0;
    let mut left_behind = 0;
    for round in 0..50u64 {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["crash::endless_writer", "--exact"])
            .env(TARGET, &target)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_for_progress(&target, last);
        thread::sleep(Duration::from_micros(round * 7919 % 10_000));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(!status.success());
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&status),
            Some(9),
            "round {round}: {status}"
        );
        let number = number_of(&fs::read(&target).unwrap());
        assert!(number >= last, "{number} after {last}");
        last = number;
        left_behind += folder.temps().len();
        assert!(folder.temps().len() <= 1, "{:?}", folder.temps());
    }
    assert!(left_behind > 0, "never killed in the midst of a replacement");
    replace(&target, Durable::Auto, &version(1)).unwrap();
    assert_eq!(folder.names(), ["file"]);
}

fn wait_for_progress(target: &PathBuf, last: u64) {
    let start = Instant::now();
    while fs::read(target).map_or(0, |bytes| number_of(&bytes)) <= last {
        assert!(start.elapsed() < Duration::from_secs(60), "the writer does not write");
        thread::sleep(Duration::from_micros(200));
    }
}
