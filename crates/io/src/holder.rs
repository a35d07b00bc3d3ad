//! Finds the process that holds the lock of a file.

use std::fs::Metadata;

/// The id of a process that holds the lock of this file; `None` if the system does not report it.
///
/// Linux lists all locks in `/proc/locks` (proc(5)), with the device and the inode of each file.
#[cfg(target_os = "linux")]
pub(crate) fn holder(file: &Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;

    let (device, inode) = (file.dev(), file.ino());
    // The bits of a device number, as in makedev(3) of glibc and musl.
    let major = (device >> 8 & 0xfff) | (device >> 32 & !0xfff);
    let minor = (device & 0xff) | (device >> 12 & !0xff);
    let id = format!("{major:02x}:{minor:02x}:{inode}");
    holder_in(&std::fs::read_to_string("/proc/locks").ok()?, &id)
}

/// The id of a process that holds the lock of this file; `None`, as the system does not report it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn holder(_file: &Metadata) -> Option<u32> {
    None
}

/// Lines are `1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF`; waiting locks have `->` after the
/// number.
#[cfg(target_os = "linux")]
fn holder_in(locks: &str, file_id: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, "WRITE", process, at, ..] if at == file_id => {
                // Processes of other namespaces have no id here.
                process.parse().ok().filter(|&id| id > 0)
            }
            _ => None,
        }
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_among_all_locks() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 fe:00:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 12 fe:00:77 0 EOF\n\
                     3: FLOCK  ADVISORY  READ  13 fe:00:77 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 14 fe:00:77 0 EOF\n\
                     5: FLOCK  ADVISORY  WRITE -1 fe:00:78 0 EOF\n";
        assert_eq!(holder_in(locks, "fe:00:77"), Some(14));
        assert_eq!(holder_in(locks, "fe:00:78"), None);
        assert_eq!(holder_in(locks, "fe:01:77"), None);
    }
}
