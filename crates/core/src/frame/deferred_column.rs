//! Columns of numbers that are computed when the writer needs them. Other threads encode the other
//! columns meanwhile.

use std::fmt::{Debug, Formatter};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use entasis_platform::memory::ScratchVec;

/// Computes the numbers of two columns; `None` if lent memory is too short.
type Find = Box<dyn FnOnce() -> Option<[ScratchVec<u32>; 2]> + Send>;

/// Numbers of 32 bits. The first thread that asks for some computes them.
#[derive(Clone)]
pub struct DeferredColumn {
    both: Arc<LazyLock<Option<[ScratchVec<u32>; 2]>, Find>>,
    which: usize,
}

impl DeferredColumn {
    /// Two columns whose numbers are computed together.
    pub(crate) fn both(find: impl FnOnce() -> Option<[ScratchVec<u32>; 2]> + Send + 'static) -> [Self; 2] {
        let find: Find = Box::new(find);
        let both = Arc::new(LazyLock::new(find));
        [0, 1].map(|which| Self { both: both.clone(), which })
    }

    /// The numbers in this range; `None` if it is out of range or the computation failed.
    pub(crate) fn get(&self, inside: Range<usize>) -> Option<&[u32]> {
        self.both.as_ref().as_ref()?[self.which].get(inside)
    }
}

impl Debug for DeferredColumn {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.write_str("DeferredColumn")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn numbers(of: &[u32]) -> ScratchVec<u32> {
        let mut numbers = ScratchVec::new();
        numbers.extend_from_slice(of);
        numbers
    }

    #[test]
    fn numbers_are_found_once_and_only_when_they_are_asked_for() {
        static FOUND: AtomicU32 = AtomicU32::new(0);
        let [some, others] = DeferredColumn::both(|| {
            FOUND.fetch_add(1, Ordering::Relaxed);
            Some([&[1, 2, 3][..], &[4]].map(numbers))
        });
        assert_eq!(FOUND.load(Ordering::Relaxed), 0);
        assert_eq!(others.get(0..1), Some(&[4][..]));
        assert_eq!(some.clone().get(1..3), Some(&[2, 3][..]));
        assert_eq!(FOUND.load(Ordering::Relaxed), 1);
        assert_eq!(others.get(0..2), None);
        assert_eq!(DeferredColumn::both(|| None)[1].get(0..0), None);
    }
}
