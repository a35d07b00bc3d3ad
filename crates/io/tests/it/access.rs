//! The access of a file that is replaced.
#![cfg(target_os = "linux")]

use std::ffi::CStr;
use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::common::{Folder, replace};
use entasis_io::{Durable, Replacement, Sink};
use entasis_platform::xattr;

const DEFAULT_ACL: &CStr = c"system.posix_acl_default";

/// A list with the given permissions of user 1, the owning group, the mask and others.
fn acl(named: u8, group: u8, mask: u8, others: u8) -> Vec<u8> {
    const NONE: [u8; 4] = [0xFF; 4];
    let entry = |tag: u8, permissions: u8, id: [u8; 4]| [&[tag, 0, permissions, 0], &id[..]].concat();
    [
        vec![2, 0, 0, 0],
        entry(0x01, 6, NONE),
        entry(0x02, named, [1, 0, 0, 0]),
        entry(0x04, group, NONE),
        entry(0x10, mask, NONE),
        entry(0x20, others, NONE),
    ]
    .concat()
}

/// Sets an attribute. Returns false on a file system without attributes.
fn set(path: &Path, name: &CStr, value: &[u8]) -> bool {
    match xattr::set(&File::open(path).unwrap(), name, value) {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            false
        }
    }
}

fn get(path: &Path, name: &CStr) -> Option<Vec<u8>> {
    xattr::value(&File::open(path).unwrap(), name).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn lists_and_attributes_are_kept() {
    let folder = Folder::new();
    let target = folder.path("file");
    fs::write(&target, "old").unwrap();
    for list in [acl(6, 0, 6, 0), acl(0, 4, 4, 4), acl(7, 7, 7, 7)] {
        if !(set(&target, xattr::ACL, &list) && set(&target, c"user.origin", b"a sensor")) {
            return;
        }
        let before = mode(&target);
        let new = Replacement::create(&target, Durable::Never).unwrap();
        new.write_all_at(0, b"secret").unwrap();
        assert_eq!(mode(&folder.path(&folder.temps()[0])), 0o600);
        new.commit().unwrap();
        assert_eq!(get(&target, xattr::ACL), Some(list));
        assert_eq!(get(&target, c"user.origin").as_deref(), Some(&b"a sensor"[..]));
        assert_eq!(mode(&target), before);
    }
}

/// The list that a directory gives to new files does not apply to a file that replaces an old one.
#[test]
fn the_list_of_the_directory_does_not_apply() {
    let folder = Folder::new();
    let target = folder.path("file");
    fs::write(&target, "old").unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
    if !set(&folder.0, DEFAULT_ACL, &acl(6, 6, 6, 0)) {
        return;
    }
    replace(&target, Durable::Never, b"new").unwrap();
    assert_eq!((get(&target, xattr::ACL), mode(&target)), (None, 0o640));
    // An old file keeps its own list. The list of the directory adds nobody.
    let list = acl(0, 4, 4, 4);
    assert!(set(&target, xattr::ACL, &list));
    let new = Replacement::create(&target, Durable::Never).unwrap();
    new.commit().unwrap();
    assert_eq!(get(&target, xattr::ACL), Some(list));
    // The list of the directory applies to a new file that replaces nothing.
    replace(&folder.path("other"), Durable::Never, b"new").unwrap();
    assert!(get(&folder.path("other"), xattr::ACL).is_some());
}

#[test]
fn a_new_file_can_have_the_access_of_another() {
    let folder = Folder::new();
    let (source, target) = (folder.path("source"), folder.path("target"));
    fs::write(&source, "secret").unwrap();
    fs::set_permissions(&source, Permissions::from_mode(0o600)).unwrap();
    let new = Replacement::create_like(&target, &source, Durable::Auto).unwrap();
    assert_eq!(mode(&folder.path(&folder.temps()[0])), 0o600);
    assert!(!new.replaces());
    new.commit().unwrap();
    assert_eq!(mode(&target), 0o600);
    // An old file keeps its own.
    fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
    Replacement::create_like(&target, &source, Durable::Auto).unwrap().commit().unwrap();
    assert_eq!(mode(&target), 0o640);
}
