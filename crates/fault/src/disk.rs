//! A disk with faults.

use std::fmt;
use std::fs::{File, Metadata, ReadDir};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use entasis_io::{Disk, Lock, NativeDisk};

use super::Faults;
use super::short::Short;

/// The real file system, with failures at chosen calls.
#[derive(Debug)]
pub struct FaultDisk {
    faults: Faults,
    crashing: bool,
    only: Option<&'static str>,
    short: Option<Short>,
    meanwhile: Option<Meanwhile>,
    log: Mutex<Vec<&'static str>>,
}

/// An action just before the first call of a given name.
struct Meanwhile {
    call: &'static str,
    act: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meanwhile").field("call", &self.call).finish_non_exhaustive()
    }
}

impl FaultDisk {
    /// Fails according to `faults`, which count each call. Removing a file always works.
    #[must_use]
    pub fn failing(faults: Faults) -> FaultDisk {
        FaultDisk { faults, crashing: false, only: None, short: None, meanwhile: None, log: Mutex::default() }
    }

    /// Acts like a process killed at call `number`: later calls, even cleaning up, have no effect.
    #[must_use]
    pub fn crashing(number: u64) -> FaultDisk {
        FaultDisk { crashing: true, ..FaultDisk::failing(Faults::lasting(number, io::ErrorKind::Other)) }
    }

    /// Only calls of this name count, and so only they can fail.
    #[must_use]
    pub fn only(mut self, call: &'static str) -> FaultDisk {
        self.only = Some(call);
        self
    }

    /// Writes 1 to 7 bytes at a time, with occasional interruptions.
    #[must_use]
    pub fn short(mut self, seed: u64) -> FaultDisk {
        self.short = Some(Short::new(seed));
        self
    }

    /// Performs an action, like another process, just before the first call of this name.
    #[must_use]
    pub fn before(mut self, call: &'static str, act: impl Fn() + Send + Sync + 'static) -> FaultDisk {
        self.meanwhile = Some(Meanwhile { call, act: Box::new(act) });
        self
    }

    /// The names of the calls so far, which are the methods of [`Disk`].
    #[must_use]
    pub fn log(&self) -> Vec<&'static str> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn step(&self, call: &'static str) -> io::Result<()> {
        let first = !self.log().contains(&call);
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        if let Some(meanwhile) = self.meanwhile.as_ref().filter(|m| first && m.call == call) {
            (meanwhile.act)();
        }
        if self.only.is_some_and(|only| only != call) {
            return Ok(());
        }
        let result = self.faults.step();
        if call == "remove" && !self.crashing { Ok(()) } else { result }
    }
}

impl Disk for FaultDisk {
    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.step("metadata")?;
        NativeDisk.metadata(path)
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        self.step("link")?;
        NativeDisk.link(path)
    }

    fn list(&self, directory: &Path) -> io::Result<ReadDir> {
        self.step("list")?;
        NativeDisk.list(directory)
    }

    /// Every write searches for files of dead writers, so that tests need not wait.
    fn recheck_after(&self) -> Duration {
        Duration::ZERO
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        self.step("open")?;
        NativeDisk.open(path)
    }

    fn create_new(&self, path: &Path, private: bool) -> io::Result<File> {
        self.step("create_new")?;
        NativeDisk.create_new(path, private)
    }

    fn try_lock(&self, file: &File) -> io::Result<Lock> {
        self.step("try_lock")?;
        NativeDisk.try_lock(file)
    }

    fn write_at(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<usize> {
        self.step("write_at")?;
        let len = self.short.as_ref().map_or(Ok(bytes.len()), |short| short.take(bytes.len()))?;
        NativeDisk.write_at(file, at, &bytes[..len])
    }

    fn allocate(&self, file: &File, at: u64, len: u64) -> io::Result<()> {
        self.step("allocate")?;
        NativeDisk.allocate(file, at, len)
    }

    fn set_len(&self, file: &File, len: u64) -> io::Result<()> {
        self.step("set_len")?;
        NativeDisk.set_len(file, len)
    }

    fn adopt(&self, file: &File, old: &File) -> io::Result<()> {
        self.step("adopt")?;
        NativeDisk.adopt(file, old)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.step("sync")?;
        NativeDisk.sync(file)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.step("sync_directory")?;
        NativeDisk.sync_directory(directory)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step("rename")?;
        NativeDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step("remove")?;
        NativeDisk.remove(path)
    }
}
