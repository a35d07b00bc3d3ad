//! New files replace none, whatever happens meanwhile.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Barrier};

use crate::common::{ALL, Folder, version};
use entasis_fault::{FaultDisk, Faults};
use entasis_io::{Disk, Durable, NativeDisk, Replacement, Sink, check_new};

fn create_on(disk: Arc<dyn Disk>, target: &Path, durable: Durable, bytes: &[u8]) -> io::Result<()> {
    let new = Replacement::create_new_on(disk, target, durable)?;
    new.write_all_at(0, bytes)?;
    new.commit()
}

/// The disk with hard links, and one without them.
fn disks() -> [Arc<dyn Disk>; 2] {
    [Arc::new(NativeDisk), Arc::new(FaultDisk::failing(Faults::none()))]
}

#[test]
fn a_new_file_is_written_once() {
    for disk in disks() {
        for durable in ALL {
            let folder = Folder::new();
            let target = folder.path("file");
            check_new(&target).unwrap();
            create_on(Arc::clone(&disk), &target, durable, &version(3)).unwrap();
            let error = create_on(Arc::clone(&disk), &target, durable, &version(4)).unwrap_err();
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (ErrorKind::AlreadyExists, "the file exists")
            );
            assert_eq!(check_new(&target).unwrap_err().kind(), ErrorKind::AlreadyExists);
            assert!(fs::read(&target).unwrap() == version(3));
            assert_eq!(folder.names(), ["file"]);
        }
    }
}

/// Another process makes the file between each two calls.
#[test]
fn a_file_that_appears_meanwhile_stays() {
    let calls = ["list", "create_new", "try_lock", "write_at", "sync", "rename"];
    for call in calls {
        let folder = Folder::new();
        let target = folder.path("file");
        let other = target.clone();
        let is_claimed = call == "rename";
        let appear = move || {
            // Without hard links, the rename follows a claim of the name.
            let made = NativeDisk.create_new(&other, false);
            assert_eq!(made.is_err(), is_claimed);
            if made.is_ok() {
                fs::write(&other, "of another process").unwrap();
            }
        };
        let disk = Arc::new(FaultDisk::failing(Faults::none()).before(call, appear));
        let result = create_on(disk, &target, Durable::Always, &version(5));
        if is_claimed {
            result.unwrap();
            assert!(fs::read(&target).unwrap() == version(5));
        } else {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::AlreadyExists, "{call}");
            assert_eq!(fs::read(&target).unwrap(), b"of another process");
        }
        assert_eq!(folder.names(), ["file"], "{call}");
    }
}

#[test]
fn a_file_that_appears_before_the_commit_stays() {
    for disk in disks() {
        let folder = Folder::new();
        let target = folder.path("file");
        let new = Replacement::create_new_on(disk, &target, Durable::Auto).unwrap();
        new.write_all_at(0, &version(5)).unwrap();
        fs::write(&target, "of another process").unwrap();
        assert_eq!(new.commit().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&target).unwrap(), b"of another process");
        assert_eq!(folder.names(), ["file"]);
    }
}

#[test]
fn of_many_writers_one_succeeds() {
    const WRITERS: u64 = 8;
    for round in 0..50 {
        for disk in disks() {
            let folder = Folder::new();
            let target = folder.path("file");
            let barrier = Barrier::new(WRITERS as usize);
            let results: Vec<io::Result<()>> = std::thread::scope(|scope| {
                let write = |number| {
                    let (disk, target, barrier) = (Arc::clone(&disk), &target, &barrier);
                    scope.spawn(move || {
                        let new = Replacement::create_new_on(disk, target, Durable::Never)?;
                        new.write_all_at(0, &version(number))?;
                        barrier.wait();
                        new.commit()
                    })
                };
                let threads: Vec<_> = (0..WRITERS).map(|n| write(round * WRITERS + n)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let winners: Vec<usize> = (0..results.len()).filter(|&i| results[i].is_ok()).collect();
            assert_eq!(winners.len(), 1, "{results:?}");
            assert!(
                results
                    .iter()
                    .flat_map(|result| result.as_ref().err())
                    .all(|error| error.kind() == ErrorKind::AlreadyExists)
            );
            assert!(fs::read(&target).unwrap() == version(round * WRITERS + winners[0] as u64));
            assert_eq!(folder.names(), ["file"]);
        }
    }
}

#[test]
fn an_error_of_any_call_leaves_nothing() {
    for call in 0.. {
        let folder = Folder::new();
        let target = folder.path("file");
        let faults = Faults::once(call, ErrorKind::StorageFull);
        let disk = Arc::new(FaultDisk::failing(faults.clone()));
        match create_on(disk, &target, Durable::Always, &version(9)) {
            Ok(()) => assert!(fs::read(&target).unwrap() == version(9)),
            // Syncing the directory is the only call after the rename.
            Err(_) if target.exists() => assert!(fs::read(&target).unwrap() == version(9)),
            Err(_) => assert!(folder.names().is_empty(), "{call}: {:?}", folder.names()),
        }
        if !faults.reached() {
            assert!(call > 10, "only {call} calls");
            break;
        }
    }
}

#[test]
#[cfg(unix)]
fn links_stand_for_their_files() {
    use std::os::unix::fs::symlink;

    for disk in disks() {
        let folder = Folder::new();
        let (link, file) = (folder.path("link"), folder.path("file"));
        symlink("file", &link).unwrap();
        // The file that the link leads to is new.
        create_on(Arc::clone(&disk), &link, Durable::Auto, &version(1)).unwrap();
        assert!(fs::read(&file).unwrap() == version(1) && link.is_symlink());
        let error = create_on(Arc::clone(&disk), &link, Durable::Auto, &version(2)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert!(fs::read(&file).unwrap() == version(1));

        // A link that appears meanwhile is not replaced either, even if it leads nowhere.
        let target = folder.path("target");
        let new = Replacement::create_new_on(disk, &target, Durable::Auto).unwrap();
        symlink("nowhere", &target).unwrap();
        assert_eq!(new.commit().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert!(target.is_symlink() && !target.exists());
        assert_eq!(folder.names(), ["file", "link", "target"]);
    }
}

#[test]
fn a_file_that_another_writer_holds_exists() {
    let folder = Folder::new();
    let target = folder.path("file");
    fs::write(&target, "old").unwrap();
    let _other = Replacement::create(&target, Durable::Auto).unwrap();
    let error = Replacement::create_new(&target, Durable::Auto).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(check_new(&folder.0).unwrap_err().kind(), ErrorKind::IsADirectory);
}
