//! A source whose bytes come by requests: an object of a store, or bytes that a function gives.

mod ahead;
mod pieces;

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::Arc;

use crate::{Announced, Source};
use ahead::{Ahead, Ticket};

/// Requests for ranges of an object. Its bytes stay the same while it is open, or requests fail.
pub trait Ranges: Send + Sync + 'static {
    /// Fills `out` with the bytes from offset `at`, which exist. Threads call it at the same time.
    ///
    /// # Errors
    /// Errors of the medium.
    fn fetch(&self, at: u64, out: &mut [u8]) -> io::Result<()>;

    /// The most requests that are worth making at the same time. With 0, each thread makes its own
    /// requests when it needs the bytes, and none are made ahead.
    fn n_parallel(&self) -> usize;

    /// Whether only the thread that opened the source may make requests. It then makes those that
    /// are announced at once, and `n_parallel` is ignored.
    fn is_of_one_thread(&self) -> bool {
        false
    }

    /// Runs `work`, which waits for requests. A host with a global lock releases it meanwhile, so
    /// that other threads can make these requests.
    fn while_waiting(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
}

/// Bytes that are requested by ranges. Ranges that are announced are fetched ahead of their use:
/// several at once, and neighbours together.
pub struct RemoteSource<R> {
    len: u64,
    /// Ranges that were fetched at opening.
    kept: Vec<(u64, Vec<u8>)>,
    ahead: Arc<Ahead<R>>,
}

impl<R: Ranges> RemoteSource<R> {
    /// The source with `len` bytes. `kept` are ranges that are known already.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if a known range is outside of the source.
    pub fn new(ranges: R, len: u64, kept: Vec<(u64, Vec<u8>)>) -> io::Result<Self> {
        let is_outside =
            |(at, bytes): &(u64, Vec<u8>)| at.checked_add(bytes.len() as u64).is_none_or(|end| end > len);
        if kept.iter().any(is_outside) {
            return Err(ErrorKind::InvalidInput.into());
        }
        Ok(Self { len, kept, ahead: Arc::new(Ahead::new(ranges)) })
    }

    /// Copies known bytes from `at` on, and returns how many.
    fn copy_kept(&self, at: u64, out: &mut [u8]) -> usize {
        let found = self.kept.iter().find_map(|(start, bytes)| {
            let skip = usize::try_from(at.checked_sub(*start)?).ok()?;
            bytes.get(skip..).filter(|rest| !rest.is_empty())
        });
        let rest = found.unwrap_or_default();
        let n = rest.len().min(out.len());
        out[..n].copy_from_slice(&rest[..n]);
        n
    }

    /// The first known range after `at`.
    fn next_kept(&self, at: u64) -> u64 {
        let starts = self.kept.iter().filter(|(_, bytes)| !bytes.is_empty()).map(|(start, _)| *start);
        starts.filter(|start| *start > at).min().unwrap_or(u64::MAX)
    }

    fn fill(&self, mut at: u64, out: &mut [u8]) -> io::Result<()> {
        let mut n_done = 0;
        while n_done < out.len() {
            let left = &mut out[n_done..];
            let mut n = self.copy_kept(at, left);
            if n == 0 {
                let to_kept = usize::try_from(self.next_kept(at) - at).unwrap_or(usize::MAX);
                let len = left.len().min(to_kept);
                n = self.ahead.read(at, &mut left[..len])?;
            }
            n_done += n;
            at += n as u64;
        }
        Ok(())
    }
}

impl<R: Ranges> Source for RemoteSource<R> {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let n = rest.min(out.len());
        self.read_exact_at(at, &mut out[..n])?;
        Ok(n)
    }

    fn read_exact_at(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        if at.checked_add(out.len() as u64).is_none_or(|end| end > self.len) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.fill(at, out)
    }

    fn read_many(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        let ranges = parts.iter().map(|(at, out)| *at..at.saturating_add(out.len() as u64));
        let _announced = self.announce(&Vec::from_iter(ranges));
        parts.iter_mut().try_for_each(|(at, out)| self.read_exact_at(*at, out))
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn is_of_one_thread(&self) -> bool {
        self.ahead.ranges.is_of_one_thread()
    }

    fn announce(&self, ranges: &[Range<u64>]) -> Option<Announced> {
        let is_of_one_thread = self.is_of_one_thread();
        if self.ahead.ranges.n_parallel() == 0 && !is_of_one_thread {
            return None;
        }
        let known = self.kept.iter().map(|(at, bytes)| *at..at + bytes.len() as u64);
        let wanted = pieces::without(pieces::sorted(ranges, self.len), pieces::sorted_all(known));
        let ticket = Ahead::announce(&self.ahead, &wanted)?;
        if is_of_one_thread {
            self.ahead.make_all();
        }
        Some(Box::new(ticket))
    }
}

impl<R> std::fmt::Debug for RemoteSource<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteSource").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Ends an announcement when it is dropped.
impl<R: Ranges> crate::source::Announcement for Ticket<R> {}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of ranges")]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    /// An object in memory. It counts requests, and how many are made at once.
    #[derive(Default)]
    struct Object {
        bytes: Vec<u8>,
        n_parallel: usize,
        /// The only thread that may make requests.
        thread: Option<std::thread::ThreadId>,
        requests: Mutex<Vec<Range<u64>>>,
        n_now: AtomicUsize,
        n_most: AtomicUsize,
        fails: AtomicBool,
    }

    impl Ranges for Arc<Object> {
        fn fetch(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
            assert!(self.thread.is_none_or(|thread| thread == std::thread::current().id()));
            let now = self.n_now.fetch_add(1, Ordering::SeqCst) + 1;
            self.n_most.fetch_max(now, Ordering::SeqCst);
            self.requests.lock().unwrap().push(at..at + out.len() as u64);
            std::thread::sleep(Duration::from_millis(5));
            self.n_now.fetch_sub(1, Ordering::SeqCst);
            if self.fails.load(Ordering::SeqCst) {
                return Err(io::Error::new(ErrorKind::PermissionDenied, "refused"));
            }
            out.copy_from_slice(&self.bytes[at as usize..][..out.len()]);
            Ok(())
        }

        fn n_parallel(&self) -> usize {
            self.n_parallel
        }

        fn is_of_one_thread(&self) -> bool {
            self.thread.is_some()
        }
    }

    fn object(len: usize, n_parallel: usize) -> Arc<Object> {
        let bytes = (0..len).map(|i| (i * 7 + i / 251) as u8).collect();
        Arc::new(Object { bytes, n_parallel, ..Object::default() })
    }

    fn source(object: &Arc<Object>, kept: &[Range<usize>]) -> RemoteSource<Arc<Object>> {
        let kept = kept.iter().map(|range| (range.start as u64, object.bytes[range.clone()].to_vec()));
        RemoteSource::new(Arc::clone(object), object.bytes.len() as u64, kept.collect()).unwrap()
    }

    fn check(source: &impl Source, object: &Object, range: Range<u64>) {
        let mut out = vec![0; (range.end - range.start) as usize];
        source.read_exact_at(range.start, &mut out).unwrap();
        assert!(out == object.bytes[range.start as usize..range.end as usize], "{range:?}");
    }

    #[test]
    fn one_thread_makes_announced_requests_at_once() {
        let bytes = (0..40_000_000).map(|i| (i * 7 + i / 251) as u8).collect();
        let object =
            Arc::new(Object { bytes, thread: Some(std::thread::current().id()), ..Object::default() });
        let source = source(&object, &[0..100]);
        assert!(source.is_of_one_thread());
        let announced = source.announce(&[0..1_000, 5_000..6_000, 30_000_000..30_001_000]);
        // Neighbours are joined.
        assert_eq!(*object.requests.lock().unwrap(), [100..6_000, 30_000_000..30_001_000]);
        check(&source, &object, 50..900);
        check(&source, &object, 30_000_000..30_001_000);
        assert_eq!(object.requests.lock().unwrap().len(), 2);
        drop(announced);
        // The error of a request is that of its reader.
        object.fails.store(true, Ordering::SeqCst);
        let announced = source.announce(&[7_000_000..8_000_000]);
        let error = source.read_exact_at(7_000_000, &mut [0; 10]).unwrap_err();
        assert_eq!(error.to_string(), "refused");
        object.fails.store(false, Ordering::SeqCst);
        check(&source, &object, 7_000_000..8_000_000);
        drop(announced);
    }

    #[test]
    fn bytes_known_from_opening_cost_no_request() {
        let object = object(10_000, 4);
        let source = source(&object, &[0..100, 9_000..10_000]);
        check(&source, &object, 0..100);
        check(&source, &object, 9_500..10_000);
        assert!(object.requests.lock().unwrap().is_empty());
        check(&source, &object, 50..9_100);
        assert_eq!(*object.requests.lock().unwrap(), [100..9_000]);
        assert!(RemoteSource::new(Arc::clone(&object), 10, vec![(5, vec![0; 6])]).is_err());
    }

    #[test]
    fn announced_neighbours_are_one_request() {
        let object = object(8 << 20, 4);
        let source = source(&object, &[]);
        let (near, far) = (1_000..2_000, 5_000_000..5_000_010);
        let announced = source.announce(&[far.clone(), 0..10, near.clone()]);
        check(&source, &object, near);
        check(&source, &object, far.clone());
        check(&source, &object, 0..10);
        let mut requests = object.requests.lock().unwrap().clone();
        requests.sort_by_key(|range| range.start);
        assert_eq!(requests, [0..2_000, far.clone()]);
        // They are forgotten with the announcement.
        drop(announced);
        check(&source, &object, far);
        assert_eq!(object.requests.lock().unwrap().len(), 3);
    }

    #[test]
    fn long_ranges_are_cut_and_fetched_side_by_side() {
        let object = object(24 << 20, 4);
        let source = source(&object, &[]);
        let announced = source.announce(&[0..24 << 20]);
        let steps = (0..24u64).rev().map(|i| i << 20..(i + 1) << 20);
        steps.for_each(|range| check(&source, &object, range));
        drop(announced);
        let n = object.requests.lock().unwrap().len();
        assert_eq!(n, 4, "requests of 6 MiB");
        assert!((2..=5).contains(&object.n_most.load(Ordering::SeqCst)), "side by side");
    }

    #[test]
    fn parts_are_read_in_one_round() {
        let object = object(20 << 20, 8);
        let source = source(&object, &[]);
        let (mut a, mut b, mut c) = (vec![0; 100], vec![0; 100], vec![0; 100]);
        source.read_many(&mut [(0, &mut a), (9 << 20, &mut b), (19 << 20, &mut c)]).unwrap();
        assert!(b == object.bytes[9 << 20..][..100] && c == object.bytes[19 << 20..][..100]);
        assert_eq!(object.requests.lock().unwrap().len(), 3);
        assert!(source.read_many(&mut [(20 << 20, &mut a)]).is_err());
    }

    #[test]
    fn failures_reach_the_reader() {
        let object = object(4 << 20, 4);
        let source = source(&object, &[]);
        object.fails.store(true, Ordering::SeqCst);
        let announced = source.announce(&[0..100]);
        for _ in 0..2 {
            let error = source.read_exact_at(0, &mut [0; 10]).unwrap_err();
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::PermissionDenied, "refused"));
        }
        drop(announced);
        object.fails.store(false, Ordering::SeqCst);
        check(&source, &object, 0..10);
        let beyond = source.read_exact_at((4 << 20) - 1, &mut [0; 2]).unwrap_err();
        assert_eq!(beyond.kind(), ErrorKind::UnexpectedEof);
        assert_eq!(source.read_at((4 << 20) - 1, &mut [0; 2]).unwrap(), 1);
    }

    #[test]
    fn without_parallel_requests_nothing_is_fetched_ahead() {
        let object = object(1_000, 0);
        let source = source(&object, &[]);
        assert!(source.announce(&[0..100]).is_none());
        check(&source, &object, 0..100);
        assert_eq!(object.requests.lock().unwrap().len(), 1);
    }

    #[test]
    fn many_readers_get_the_right_bytes() {
        let object = object(3 << 20, 6);
        let source = source(&object, &[0..1_000, (3 << 20) - 5_000..3 << 20]);
        std::thread::scope(|scope| {
            for thread in 0..6u64 {
                let (source, object) = (&source, &object);
                scope.spawn(move || {
                    let mut seed = thread + 1;
                    for _ in 0..20 {
                        let ranges: Vec<Range<u64>> = (0..5)
                            .map(|_| {
                                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                                let start = (seed >> 33) % ((3 << 20) - 2_000);
                                start..start + (seed >> 20) % 2_000
                            })
                            .collect();
                        let _announced = source.announce(&ranges);
                        ranges.into_iter().for_each(|range| check(source, object, range));
                    }
                });
            }
        });
    }
}
