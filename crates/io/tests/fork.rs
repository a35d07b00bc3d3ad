//! Forked children of a process that is changing a file.
#![cfg(unix)]

mod common;

use std::fs;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};

use common::Folder;
use entasis_io::{Durable, InPlace, Replacement, Sink};

/// Runs `act` in a forked child. A panic of the child fails the test.
fn in_child(act: impl FnOnce()) {
    // SAFETY: the child calls `act`, whose locks no other thread of this test holds, and ends
    // without running anything of its parent.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", io::Error::last_os_error());
    if child == 0 {
        let failed = catch_unwind(AssertUnwindSafe(act)).is_err();
        // SAFETY: the call has no conditions.
        unsafe { libc::_exit(failed.into()) };
    }
    let mut status = 0;
    // SAFETY: `status` is valid for the result.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((waited, status), (child, 0), "the child failed");
}

/// The refusal of a call in a child.
fn refused<T>(result: io::Result<T>) {
    let error = result.err().expect("the file is not the child's").to_string();
    assert!(error.contains("fork of process"), "{error}");
}

/// One test, because a child must not inherit a lock that the other one waits for.
#[test]
fn a_child_leaves_the_files_of_its_parent_alone() {
    let folder = Folder::new();
    let target = folder.path("file");
    for old in [false, true] {
        let mut new = Some(Replacement::create(&target, Durable::Auto).unwrap());
        new.as_ref().unwrap().write_all_at(0, b"a new ").unwrap();
        in_child(|| {
            let new = new.take().unwrap();
            refused(new.check_process());
            refused(new.write_at(0, b"other"));
            refused(new.reserve(1 << 20));
            refused(new.sync());
            refused(new.commit());
            assert_eq!(folder.temps().len(), 1, "the temporary file of the parent is there");
            if old {
                // The lock is still that of the parent.
                let error = Replacement::create(&target, Durable::Auto).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
            }
        });
        if old {
            assert_eq!(
                Replacement::create(&target, Durable::Auto).unwrap_err().kind(),
                ErrorKind::WouldBlock
            );
        }
        let new = new.unwrap();
        new.write_all_at(6, b"file").unwrap();
        new.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"a new file");
    }

    let mut place = Some(InPlace::open(&target, true).unwrap());
    place.as_ref().unwrap().write_all_at(10, b", longer").unwrap();
    in_child(|| {
        let place = place.take().unwrap();
        refused(place.check_process());
        refused(place.write_at(10, b"other"));
        refused(place.commit(0, b"A", false));
    });
    in_child(|| refused(place.take().unwrap().replace(Durable::Auto)));
    in_child(|| drop(place.take()));
    assert_eq!(InPlace::open(&target, true).unwrap_err().kind(), ErrorKind::WouldBlock);
    place.unwrap().commit(0, b"A", false).unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"A new file, longer");
    in_child(|| Replacement::create(&target, Durable::Auto).unwrap().commit().unwrap());
    assert_eq!(fs::read(&target).unwrap(), b"");
}

/// The lock is free as soon as the parent lets go of it, also while a child has the file open.
#[test]
fn a_child_does_not_keep_the_lock() {
    let folder = Folder::new();
    let target = folder.path("file");
    fs::write(&target, "old").unwrap();
    let new = Replacement::create(&target, Durable::Auto).unwrap();
    // SAFETY: the child only waits to be ended.
    let child = unsafe { libc::fork() };
    if child == 0 {
        loop {
            // SAFETY: the call has no conditions.
            unsafe { libc::pause() };
        }
    }
    new.commit().unwrap();
    Replacement::create(&target, Durable::Auto).unwrap();
    // SAFETY: the child is ours.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
}
