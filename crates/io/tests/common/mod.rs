//! Helpers of the tests.
#![allow(dead_code)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use entasis_fault::{FaultDisk, Faults};
use entasis_io::{Disk, Durable, Replacement, Sink};

/// A folder of its own for one test, removed afterwards.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("entasis-io-{}-{count}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The names of the temporary files.
    pub fn temps(&self) -> Vec<String> {
        self.names().into_iter().filter(|name| name.ends_with(".entasis-tmp")).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub const ALL: [Durable; 3] = [Durable::Auto, Durable::Always, Durable::Never];

/// Replaces `target` by `bytes`, written in two pieces, the later one first.
pub fn replace_on(disk: Arc<dyn Disk>, target: &Path, durable: Durable, bytes: &[u8]) -> io::Result<()> {
    let new = Replacement::create_on(disk, target, durable)?;
    new.reserve(bytes.len() as u64 + 100)?;
    let half = bytes.len() / 2;
    new.write_all_at(half as u64, &bytes[half..])?;
    new.write_all_at(0, &bytes[..half])?;
    new.commit()
}

/// As [`replace_on`], on a disk without faults that always looks for files of dead writers.
pub fn replace(target: &Path, durable: Durable, bytes: &[u8]) -> io::Result<()> {
    replace_on(Arc::new(FaultDisk::failing(Faults::none())), target, durable, bytes)
}

/// The content of version `number`: the number, repeated once more than its remainder modulo 4000.
pub fn version(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(1 + number as usize % 4000)
}

/// The version number of `bytes`. Panics unless they are one whole version.
pub fn number_of(bytes: &[u8]) -> u64 {
    let number = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert!(bytes == version(number), "not a whole version: {} bytes, starts with {number}", bytes.len());
    number
}
