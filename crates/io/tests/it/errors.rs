//! An error at every call of a replacement.

use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;

use crate::common::{ALL, Folder, replace_on, version};
use entasis_fault::{FaultDisk, Faults};
use entasis_io::{Durable, Replacement, Sink};

const KINDS: [ErrorKind; 3] = [ErrorKind::StorageFull, ErrorKind::Other, ErrorKind::PermissionDenied];
const STALE: &str = ".file.0123456789abcdef.entasis-tmp";

#[test]
fn once() {
    every_call(Faults::once);
}

#[test]
fn from_then_on() {
    every_call(Faults::lasting);
}

/// Fails at the first call, then at the second, and so on, until a replacement ends before it
/// reaches the failing call.
fn every_call(faults: fn(u64, ErrorKind) -> Faults) {
    for kind in KINDS {
        for durable in ALL {
            for old in [None, Some(version(5000))] {
                for stale in [false, true] {
                    let mut call = 0;
                    while fails_at(call, faults(call, kind), kind, durable, old.as_deref(), stale) {
                        call += 1;
                    }
                    assert!(call > 8, "only {call} calls");
                }
            }
        }
    }
}

fn fails_at(
    call: u64,
    faults: Faults,
    kind: ErrorKind,
    durable: Durable,
    old: Option<&[u8]>,
    stale: bool,
) -> bool {
    let folder = Folder::new();
    let target = folder.path("file");
    if let Some(old) = old {
        fs::write(&target, old).unwrap();
    }
    if stale {
        fs::write(folder.path(STALE), "left behind").unwrap();
    }
    let new = version(7001);
    let disk = Arc::new(FaultDisk::failing(faults.clone()));
    let result = replace_on(disk.clone(), &target, durable, &new);
    let log = disk.log();
    let context = format!("{kind:?} at call {call}, {durable:?}, {log:?}");
    let expected = match &result {
        Ok(()) => Some(&new[..]),
        Err(error) => {
            assert_eq!(error.kind(), kind, "{context}");
            if log.contains(&"sync_directory") { Some(&new[..]) } else { old }
        }
    };
    assert_eq!(fs::read(&target).ok().as_deref(), expected, "{context}");
    let temps = folder.temps();
    assert!(temps.is_empty() || stale && temps == [STALE], "{temps:?}, {context}");
    if !faults.reached() {
        result.unwrap();
        assert!(temps.is_empty(), "{context}");
        return false;
    }
    let failed = log[call as usize];
    if result.is_ok() {
        let tidying = log.iter().position(|&c| c == "list").unwrap()
            ..log.iter().position(|&c| c == "create_new").unwrap();
        assert!(failed == "remove" || tidying.contains(&(call as usize)), "{failed} swallowed, {context}");
    }
    true
}

#[test]
fn calls_come_in_the_right_order() {
    for durable in ALL {
        for old in [false, true] {
            let folder = Folder::new();
            let target = folder.path("file");
            if old {
                fs::write(&target, "old").unwrap();
            }
            let disk = Arc::new(FaultDisk::failing(Faults::none()));
            replace_on(disk.clone(), &target, durable, b"new").unwrap();
            let log = disk.log();
            let end = &log[log.iter().rposition(|&call| call == "write_at").unwrap() + 1..];
            let expected: &[&str] = match (old, durable) {
                (false, Durable::Auto | Durable::Never) => &["set_len", "rename"],
                (false, Durable::Always) => &["set_len", "sync", "rename", "sync_directory"],
                (true, Durable::Never) => &["set_len", "adopt", "rename"],
                (true, _) => &["set_len", "adopt", "sync", "rename", "sync_directory"],
            };
            assert_eq!(end, expected, "{durable:?} {old}");
        }
    }
}

#[test]
fn a_failed_sync_is_never_retried() {
    let folder = Folder::new();
    let target = folder.path("file");
    fs::write(&target, "old").unwrap();
    let disk = Arc::new(FaultDisk::failing(Faults::once(0, ErrorKind::Other)).only("sync"));
    let new = Replacement::create_on(disk.clone(), &target, Durable::Always).unwrap();
    new.write_all_at(0, b"new").unwrap();
    assert_eq!(new.sync().unwrap_err().kind(), ErrorKind::Other);
    assert!(new.sync().is_err());
    assert!(new.write_at(0, b"x").is_err());
    assert!(new.reserve(100).is_err());
    assert!(new.commit().is_err());
    assert_eq!(disk.log().iter().filter(|&&call| call == "sync").count(), 1);
    assert_eq!(fs::read(&target).unwrap(), b"old");
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn short_and_interrupted_writes_change_nothing() {
    for seed in 0..20 {
        let folder = Folder::new();
        let target = folder.path("file");
        let disk = FaultDisk::failing(Faults::none()).short(seed);
        replace_on(Arc::new(disk), &target, Durable::Auto, &version(800 + seed)).unwrap();
        assert_eq!(fs::read(&target).unwrap(), version(800 + seed));
    }
}

#[test]
fn room_that_is_not_to_be_had_changes_nothing() {
    let new: Vec<u8> = (0..5_000_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    for number in [0, 1, u64::MAX] {
        for len in [4 << 10, 1 << 20, (1 << 20) + 1, new.len()] {
            let folder = Folder::new();
            let target = folder.path("file");
            let faults = Faults::lasting(number, ErrorKind::Unsupported);
            let disk = Arc::new(FaultDisk::failing(faults).only("allocate"));
            let file = Replacement::create_on(disk.clone(), &target, Durable::Auto).unwrap();
            for (i, piece) in new[..len].chunks(400_000).enumerate() {
                file.write_all_at(400_000 * i as u64, piece).unwrap();
            }
            file.commit().unwrap();
            assert!(fs::read(&target).unwrap() == new[..len], "{number} {len}");
            // Space is reserved again when it is used up. That is seldom, because steps grow. After
            // a failure, no more is reserved.
            let asked = disk.log().iter().filter(|&&call| call == "allocate").count();
            let most = match number {
                _ if len <= 1 << 20 => 0,
                0 => 1,
                _ => 3,
            };
            assert!((most.min(1)..=most).contains(&asked), "{number} {len}: {asked}");
        }
    }
}

#[test]
fn space_is_reserved_up_to_the_expected_length() {
    let new: Vec<u8> = (0..3_000_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
    let (len, none) = (new.len() as u64, Faults::none);
    // Expected lengths: less than is written, almost all, all, and more.
    for (expected, given_back) in
        [(1, false), (1 << 20, false), (len - 10, false), (len, false), (len + 1, true)]
    {
        let folder = Folder::new();
        let target = folder.path("file");
        let disk = Arc::new(FaultDisk::failing(none()));
        let file = Replacement::create_on(disk.clone(), &target, Durable::Auto).unwrap();
        for (i, piece) in new.chunks(60_000).enumerate() {
            file.expect(expected);
            file.write_all_at(60_000 * i as u64, piece).unwrap();
        }
        file.commit().unwrap();
        assert!(fs::read(&target).unwrap() == new, "{expected}");
        let calls = |name| disk.log().iter().filter(|&&call| call == name).count();
        assert_eq!(calls("set_len") > 0, given_back, "{expected}");
        assert!((usize::from(expected > 2 << 20)..=2).contains(&calls("allocate")), "{expected}");
    }
}

#[test]
#[cfg(unix)]
fn no_more_room_is_kept_than_the_bytes_take() {
    use std::os::unix::fs::MetadataExt;

    let folder = Folder::new();
    let target = folder.path("file");
    let new = Replacement::create(&target, Durable::Always).unwrap();
    new.write_all_at(0, &vec![7; 9 << 20]).unwrap();
    new.write_all_at(9 << 20, &[7; 100]).unwrap();
    new.commit().unwrap();
    let metadata = fs::metadata(&target).unwrap();
    assert_eq!(metadata.len(), (9 << 20) + 100);
    assert!(metadata.blocks() * 512 < 10 << 20);
}
