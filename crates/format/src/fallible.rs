//! Vectors whose size a file decides. Without memory they are an error and never abort the process.
//!
//! `what` names the use of the memory in messages, in the plural ("the columns").

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use crate::error::{Error, Result};

/// Reserves room for `additional` more elements.
///
/// # Errors
/// *Out of memory*.
pub fn reserve<T>(vector: &mut Vec<T>, additional: usize, what: &'static str) -> Result<()> {
    vector.try_reserve(additional).map_err(|_| refused::<T>(vector.len().saturating_add(additional), what))
}

/// Appends an element.
///
/// # Errors
/// *Out of memory*.
#[inline]
pub fn push<T>(vector: &mut Vec<T>, element: T, what: &'static str) -> Result<()> {
    reserve(vector, 1, what)?;
    vector.push(element);
    Ok(())
}

/// Appends the elements of an iterator that knows their number.
///
/// # Errors
/// *Out of memory*.
pub fn extend<T>(
    vector: &mut Vec<T>,
    elements: impl ExactSizeIterator<Item = T>,
    what: &'static str,
) -> Result<()> {
    reserve(vector, elements.len(), what)?;
    vector.extend(elements);
    Ok(())
}

/// Sets the length; new elements are `value`.
///
/// # Errors
/// *Out of memory*.
pub fn resize<T: Clone>(vector: &mut Vec<T>, len: usize, value: T, what: &'static str) -> Result<()> {
    reserve(vector, len.saturating_sub(vector.len()), what)?;
    vector.resize(len, value);
    Ok(())
}

/// An empty vector with room for `n` elements.
///
/// # Errors
/// *Out of memory*.
pub fn with_capacity<T>(n: usize, what: &'static str) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(n).map_err(|_| refused::<T>(n, what))?;
    Ok(vector)
}

/// `n` elements with the default value.
///
/// # Errors
/// *Out of memory*.
pub fn defaults<T: Clone + Default>(n: usize, what: &'static str) -> Result<Vec<T>> {
    let mut vector = with_capacity(n, what)?;
    vector.resize(n, T::default());
    Ok(vector)
}

/// A copy of some elements.
///
/// # Errors
/// *Out of memory*.
pub fn copied<T: Copy>(elements: &[T], what: &'static str) -> Result<Vec<T>> {
    let mut vector = with_capacity(elements.len(), what)?;
    vector.extend_from_slice(elements);
    Ok(vector)
}

/// A copy of a text.
///
/// # Errors
/// *Out of memory*.
pub fn owned(text: &str, what: &'static str) -> Result<String> {
    let mut owned = String::new();
    owned.try_reserve_exact(text.len()).map_err(|_| Error::out_of_memory(text.len(), what))?;
    owned.push_str(text);
    Ok(owned)
}

/// The elements of an iterator that knows their number.
///
/// # Errors
/// *Out of memory*.
pub fn collect<T>(elements: impl ExactSizeIterator<Item = T>, what: &'static str) -> Result<Vec<T>> {
    let mut vector = with_capacity(elements.len(), what)?;
    vector.extend(elements);
    Ok(vector)
}

/// As [`collect`], up to the first error.
///
/// # Errors
/// *Out of memory*, and those of the elements.
pub fn try_collect<T>(
    elements: impl ExactSizeIterator<Item = Result<T>>,
    what: &'static str,
) -> Result<Vec<T>> {
    let mut vector = with_capacity(elements.len(), what)?;
    for element in elements {
        vector.push(element?);
    }
    Ok(vector)
}

/// Inserts a value into a map.
///
/// # Errors
/// *Out of memory*.
pub fn insert<K: Eq + Hash, V, S: BuildHasher>(
    map: &mut HashMap<K, V, S>,
    key: K,
    value: V,
    what: &'static str,
) -> Result<()> {
    reserve_map(map, what)?;
    map.insert(key, value);
    Ok(())
}

/// Reserves room for one more key of a map.
///
/// # Errors
/// *Out of memory*.
pub fn reserve_map<K: Eq + Hash, V, S: BuildHasher>(
    map: &mut HashMap<K, V, S>,
    what: &'static str,
) -> Result<()> {
    map.try_reserve(1).map_err(|_| refused::<(K, V)>(map.len().saturating_mul(2), what))
}

/// The error for `n` elements without memory.
#[cold]
pub fn refused<T>(n: usize, what: &'static str) -> Error {
    Error::out_of_memory(n.saturating_mul(size_of::<T>()), what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn impossible_sizes_are_errors_and_leave_the_vector() {
        const HUGE: usize = usize::MAX / 16;
        let mut vector = vec![1u64, 2];
        for error in [
            reserve(&mut vector, HUGE, "numbers").unwrap_err(),
            resize(&mut vector, HUGE, 0, "numbers").unwrap_err(),
            with_capacity::<u64>(HUGE, "numbers").unwrap_err(),
            defaults::<u64>(HUGE, "numbers").unwrap_err(),
            collect((0..HUGE).map(|n| n as u64), "numbers").unwrap_err(),
        ] {
            assert_eq!(error.kind(), Kind::OutOfMemory, "{error}");
        }
        assert_eq!(vector, [1, 2]);
        let message = "numbers need more bytes than this machine has addresses";
        assert_eq!(refused::<u64>(HUGE * 8, "numbers").message(), message);
    }

    #[test]
    fn possible_sizes_are_vectors() {
        let mut vector = defaults::<u8>(3, "bytes").unwrap();
        push(&mut vector, 4, "bytes").unwrap();
        extend(&mut vector, [5, 6].into_iter(), "bytes").unwrap();
        resize(&mut vector, 7, 9, "bytes").unwrap();
        assert_eq!(vector, [0, 0, 0, 4, 5, 6, 9]);
        assert_eq!(copied(&vector[3..], "bytes").unwrap(), [4, 5, 6, 9]);
        assert_eq!(owned("text", "texts").unwrap(), "text");
        let all = try_collect([Ok(1), Err(Error::corrupt("x"))].into_iter(), "numbers");
        assert_eq!(all.unwrap_err().kind(), Kind::Corrupt);
    }
}
