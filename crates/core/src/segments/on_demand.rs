//! Files that are opened when they are read, so that many of them need few descriptors.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use entasis_io::{FileSource, Source};
use entasis_seal::{SealedSource, Unlocked};

use crate::file::File;

/// How many of the files are open at the same time.
const MOST_OPEN: usize = 128;

/// The files that were opened last.
#[derive(Default)]
pub(super) struct Recent(Mutex<VecDeque<Arc<OnDemand>>>);

/// A file that is open only while it is read often.
pub(super) struct OnDemand {
    path: PathBuf,
    /// Bytes that show whether the path still has the file ([`File::fingerprint`]).
    fingerprint: (u64, Vec<u8>),
    /// The keys of the file, if it is encrypted.
    unlocked: Option<Arc<Unlocked>>,
    open: Mutex<Option<Arc<dyn Source>>>,
}

impl OnDemand {
    pub(super) fn new(file: &File) -> Self {
        let path = std::path::absolute(file.path()).unwrap_or_else(|_| file.path().to_path_buf());
        let unlocked = file.unlocked().cloned();
        Self { path, fingerprint: file.fingerprint(), unlocked, open: Mutex::default() }
    }

    pub(super) fn unlocked(&self) -> Option<&Arc<Unlocked>> {
        self.unlocked.as_ref()
    }

    /// Reads some bytes.
    ///
    /// # Errors
    /// Errors of the system, and one for a file that was replaced.
    pub(super) fn read_at(self: &Arc<Self>, recent: &Recent, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let known = lock(&self.open).clone();
        let source = match known {
            Some(source) => source,
            None => self.open_again(recent)?,
        };
        source.read_at(at, out)
    }

    fn open_again(self: &Arc<Self>, recent: &Recent) -> io::Result<Arc<dyn Source>> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display()));
        let stored = FileSource::open(&self.path).map_err(named)?;
        let source: Arc<dyn Source> = match &self.unlocked {
            None => Arc::new(stored),
            Some(unlocked) => {
                let sealed = SealedSource::new(Box::new(stored), Arc::clone(unlocked));
                Arc::new(sealed.map_err(io::Error::other)?)
            }
        };
        let (at, expected) = &self.fingerprint;
        let mut found = vec![0; expected.len()];
        if source.read_exact_at(*at, &mut found).is_err() || found != *expected {
            let message = "the file was replaced after it was opened: open the whole again";
            return Err(named(io::Error::other(message)));
        }
        *lock(&self.open) = Some(Arc::clone(&source));
        let mut files = lock(&recent.0);
        files.push_back(Arc::clone(self));
        let oldest = if files.len() > MOST_OPEN { files.pop_front() } else { None };
        drop(files);
        if let Some(oldest) = oldest {
            *lock(&oldest.open) = None;
        }
        Ok(source)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
