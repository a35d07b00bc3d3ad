//! Replacements of all kinds of targets.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use crate::common::{ALL, Folder, number_of, replace, version};
use entasis_fault::{FaultDisk, Faults};
use entasis_io::{Durable, Replacement, Sink};

fn kind_of_refusal(target: &Path) -> ErrorKind {
    Replacement::create(target, Durable::Auto).unwrap_err().kind()
}

#[test]
fn new_and_old_files() {
    let folder = Folder::new();
    let target = folder.path("file");
    for durable in ALL {
        for number in [3, 2000, 1] {
            replace(&target, durable, &version(number)).unwrap();
            assert_eq!(fs::read(&target).unwrap(), version(number));
        }
        replace(&target, durable, b"").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"");
        fs::remove_file(&target).unwrap();
        replace(&target, durable, b"").unwrap();
        assert_eq!(folder.names(), ["file"]);
    }
}

#[test]
fn giving_up_leaves_no_trace() {
    let folder = Folder::new();
    let target = folder.path("file");
    for old in [false, true] {
        if old {
            fs::write(&target, "old").unwrap();
        }
        let new = Replacement::create(&target, Durable::Auto).unwrap();
        assert_eq!(new.replaces(), old);
        assert_eq!(new.target(), target);
        new.write_all_at(0, b"new").unwrap();
        assert_eq!(folder.temps().len(), 1);
        drop(new);
        assert_eq!(folder.names(), if old { vec!["file"] } else { vec![] });
    }
    assert_eq!(fs::read(&target).unwrap(), b"old");
}

#[test]
fn directories_are_refused() {
    let folder = Folder::new();
    fs::create_dir(folder.path("sub")).unwrap();
    assert_eq!(kind_of_refusal(&folder.path("sub")), ErrorKind::IsADirectory);
    assert_eq!(kind_of_refusal(&folder.path("sub/")), ErrorKind::IsADirectory);
    assert_eq!(kind_of_refusal(&folder.path("new/")), ErrorKind::IsADirectory);
    assert_eq!(kind_of_refusal(&folder.path("sub/..")), ErrorKind::IsADirectory);
    assert_eq!(kind_of_refusal(Path::new("/")), ErrorKind::IsADirectory);
    assert_eq!(kind_of_refusal(Path::new("")), ErrorKind::InvalidInput);
    assert_eq!(folder.names(), ["sub"]);
}

#[test]
fn a_missing_directory_is_named() {
    let folder = Folder::new();
    let error = Replacement::create(&folder.path("missing/file"), Durable::Auto).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("missing does not exist"), "{error}");
    fs::write(folder.path("file"), "").unwrap();
    assert_eq!(kind_of_refusal(&folder.path("file/file")), ErrorKind::NotADirectory);
}

#[test]
fn a_directory_that_vanishes_is_an_error() {
    let folder = Folder::new();
    fs::create_dir(folder.path("sub")).unwrap();
    let new = Replacement::create(&folder.path("sub/file"), Durable::Auto).unwrap();
    fs::remove_dir_all(folder.path("sub")).unwrap();
    assert_eq!(new.commit().unwrap_err().kind(), ErrorKind::NotFound);
    assert!(folder.names().is_empty());
}

#[test]
fn long_names() {
    let folder = Folder::new();
    for name in ["x".repeat(255), "ä".repeat(127)] {
        for number in 1..3 {
            replace(&folder.path(&name), Durable::Auto, &version(number)).unwrap();
            assert_eq!(fs::read(folder.path(&name)).unwrap(), version(number));
        }
    }
    assert!(Replacement::create(&folder.path(&"x".repeat(256)), Durable::Auto).is_err());
    assert_eq!(folder.names().len(), 2);
}

#[test]
fn files_of_dead_writers_are_removed() {
    let folder = Folder::new();
    let stale = ".file.0123456789abcdef.entasis-tmp";
    let foreign = [".file.01.entasis-tmp", ".file.txt.0123456789abcdef.entasis-tmp", "file.entasis-tmp"];
    for name in foreign.iter().chain([&stale]) {
        fs::write(folder.path(name), "").unwrap();
    }
    let living = File::create(folder.path(".file.fedcba9876543210.entasis-tmp")).unwrap();
    living.lock().unwrap();
    replace(&folder.path("file"), Durable::Auto, b"new").unwrap();
    let names = folder.names();
    assert!(!names.contains(&stale.to_owned()), "{names:?}");
    assert_eq!(names.len(), 5, "{names:?}");
    drop(living);
    replace(&folder.path("file"), Durable::Auto, b"newer").unwrap();
    assert_eq!(folder.names().len(), 4);
}

#[test]
fn two_writers_of_a_new_file_do_not_disturb_each_other() {
    let folder = Folder::new();
    let target = folder.path("file");
    let one = Replacement::create(&target, Durable::Auto).unwrap();
    let other = Replacement::create(&target, Durable::Auto).unwrap();
    assert_eq!(folder.temps().len(), 2);
    one.write_all_at(0, b"one").unwrap();
    other.write_all_at(0, b"other").unwrap();
    other.commit().unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"other");
    one.commit().unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"one");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_second_writer_is_refused() {
        let folder = Folder::new();
        let target = folder.path("file");
        fs::write(&target, "old").unwrap();
        let first = Replacement::create(&target, Durable::Auto).unwrap();
        let error = Replacement::create(&target, Durable::Auto).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        assert!(error.to_string().contains("another writer"), "{error}");
        first.commit().unwrap();
        let second = Replacement::create(&target, Durable::Auto).unwrap();
        drop(second);
        let foreign = File::open(&target).unwrap();
        foreign.lock().unwrap();
        assert_eq!(kind_of_refusal(&target), ErrorKind::WouldBlock);
        assert_eq!(folder.names(), ["file"]);
    }

    #[test]
    fn the_lock_is_that_of_the_file_now_there() {
        for (call, change) in [
            ("open", (|target| replace(target, Durable::Never, b"newer").unwrap()) as fn(&Path)),
            ("open", |target| fs::remove_file(target).unwrap()),
            ("try_lock", |target| replace(target, Durable::Never, b"newer").unwrap()),
            ("try_lock", |target| fs::remove_file(target).unwrap()),
        ] {
            let folder = Folder::new();
            let target = folder.path("file");
            fs::write(&target, "old").unwrap();
            let there = target.clone();
            let disk = FaultDisk::failing(Faults::none()).before(call, move || change(&there));
            let new = Replacement::create_on(Arc::new(disk), &target, Durable::Auto).unwrap();
            assert_eq!(new.replaces(), target.exists());
            if new.replaces() {
                assert!(File::open(&target).unwrap().try_lock().is_err());
            }
            new.commit().unwrap();
            assert_eq!(folder.names(), ["file"]);
        }
    }

    #[test]
    fn symbolic_links_are_followed() {
        let folder = Folder::new();
        fs::create_dir(folder.path("sub")).unwrap();
        symlink("sub/link", folder.path("link")).unwrap();
        symlink("../file", folder.path("sub/link")).unwrap();
        for number in 1..4 {
            // In the first round the links lead to nothing yet.
            replace(&folder.path("link"), Durable::Auto, &version(number)).unwrap();
            assert_eq!(fs::read(folder.path("file")).unwrap(), version(number));
            assert_eq!(fs::read_link(folder.path("link")).unwrap(), Path::new("sub/link"));
            assert_eq!(folder.names(), ["file", "link", "sub"]);
        }
        symlink("missing/file", folder.path("lost")).unwrap();
        assert_eq!(kind_of_refusal(&folder.path("lost")), ErrorKind::NotFound);
        symlink("sub", folder.path("to_sub")).unwrap();
        assert_eq!(kind_of_refusal(&folder.path("to_sub")), ErrorKind::IsADirectory);
        symlink("round", folder.path("round")).unwrap();
        assert_eq!(kind_of_refusal(&folder.path("round")), ErrorKind::InvalidInput);
    }

    #[test]
    fn other_hard_links_keep_the_old_content() {
        let folder = Folder::new();
        fs::write(folder.path("file"), "old").unwrap();
        fs::hard_link(folder.path("file"), folder.path("twin")).unwrap();
        replace(&folder.path("file"), Durable::Auto, b"new").unwrap();
        assert_eq!(fs::read(folder.path("file")).unwrap(), b"new");
        assert_eq!(fs::read(folder.path("twin")).unwrap(), b"old");
    }

    #[test]
    fn the_mode_is_kept() {
        let folder = Folder::new();
        let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().mode() & 0o7777;
        File::create(folder.path("plain")).unwrap();
        replace(&folder.path("file"), Durable::Auto, b"new").unwrap();
        assert_eq!(mode("file"), mode("plain"));
        for wanted in [0o600, 0o640, 0o666, 0o604, 0o777, 0o200] {
            fs::set_permissions(folder.path("file"), fs::Permissions::from_mode(wanted)).unwrap();
            let new = Replacement::create(&folder.path("file"), Durable::Never).unwrap();
            new.write_all_at(0, b"secret").unwrap();
            assert_eq!(mode(&folder.temps()[0]), 0o600, "nobody else reads it in between");
            new.commit().unwrap();
            assert_eq!(mode("file"), wanted);
        }
    }

    #[test]
    fn the_owner_is_kept_where_allowed() {
        let folder = Folder::new();
        let target = folder.path("file");
        fs::write(&target, "old").unwrap();
        if std::os::unix::fs::chown(&target, Some(12345), Some(54321)).is_err() {
            return; // only the administrator may
        }
        replace(&target, Durable::Auto, b"new").unwrap();
        let found = fs::metadata(&target).unwrap();
        assert_eq!((found.uid(), found.gid()), (12345, 54321));
    }

    #[test]
    fn special_files_are_refused() {
        let folder = Folder::new();
        let _socket = UnixListener::bind(folder.path("socket")).unwrap();
        assert_eq!(kind_of_refusal(&folder.path("socket")), ErrorKind::InvalidInput);
        assert_eq!(kind_of_refusal(Path::new("/dev/null")), ErrorKind::InvalidInput);
        assert!(folder.temps().is_empty());
    }

    #[test]
    fn links_that_look_like_temporary_files_are_left_alone() {
        let folder = Folder::new();
        fs::write(folder.path("precious"), "precious").unwrap();
        symlink("precious", folder.path(".file.0123456789abcdef.entasis-tmp")).unwrap();
        replace(&folder.path("file"), Durable::Auto, b"new").unwrap();
        assert_eq!(fs::read(folder.path("precious")).unwrap(), b"precious");
        assert_eq!(folder.temps().len(), 1);
    }

    #[test]
    fn a_directory_without_write_permission_is_refused() {
        let folder = Folder::new();
        fs::create_dir(folder.path("sub")).unwrap();
        fs::set_permissions(folder.path("sub"), fs::Permissions::from_mode(0o555)).unwrap();
        if File::create(folder.path("sub/probe")).is_ok() {
            return; // the administrator may do everything
        }
        assert_eq!(kind_of_refusal(&folder.path("sub/file")), ErrorKind::PermissionDenied);
    }

    #[test]
    fn names_that_are_not_unicode() {
        use std::os::unix::ffi::OsStrExt;
        let folder = Folder::new();
        let target = folder.0.join(std::ffi::OsStr::from_bytes(b"\xff\xfe.file"));
        if File::create(&target).is_err() {
            return; // this file system has unicode names only
        }
        replace(&target, Durable::Auto, b"new").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    }
}

/// Also tests the race between a writer's new temporary file and another writer's cleanup.
#[test]
fn many_writers_of_one_file() {
    let folder = Folder::new();
    let target = folder.path("file");
    let committed: u64 = thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let target = &target;
                scope.spawn(move || {
                    let mut committed = 0;
                    for round in 0..200 {
                        match replace(target, Durable::Never, &version(1 + writer * 200 + round)) {
                            Ok(()) => committed += 1,
                            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
                        }
                        if round % 10 == 0 {
                            let _ = fs::remove_file(target); // so that some targets are missing
                        }
                    }
                    committed
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert!(committed >= 8, "{committed}");
    replace(&target, Durable::Never, &version(1)).unwrap();
    assert_eq!(number_of(&fs::read(&target).unwrap()), 1);
    assert_eq!(folder.names(), ["file"]);
}
