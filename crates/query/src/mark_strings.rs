//! Tests many strings at once.
//!
//! The strings are tested where they lie, one after the other. An interval compares the first eight
//! bytes of each string as one integer. A search for a text runs over all strings together: matches
//! are rarer than strings, and starting a search in each short string would dominate.

use memchr::memmem::Finder;

use crate::string_set::{Interval, StringSet};
use crate::test::{Matcher, Test};

/// Writes 1 to the mark of each string that passes, and 0 to all other marks. `bytes` has all
/// strings without gaps.
pub(crate) fn mark(test: &Test, lengths: &[u32], bytes: &[u8], marks: &mut [u8]) {
    debug_assert!(lengths.len() == marks.len(), "a mark per string");
    match test {
        Test::Constant(answer) => marks.fill(u8::from(*answer)),
        // Keys are those of words.
        Test::Keys(_) => marks.fill(0),
        Test::Strings(set) => mark_set(set, lengths, bytes, marks),
        Test::Matches(Matcher::Contains(finder), wanted) => {
            find(finder, lengths, bytes, marks, |_| true);
            invert_unless(*wanted, marks);
        }
        Test::Matches(matcher @ Matcher::Like(like), wanted) => {
            match like.longest() {
                Some(text) => find(&Finder::new(text), lengths, bytes, marks, |s| matcher.matches(s)),
                None => each(lengths, bytes, marks, |string| matcher.matches(string)),
            }
            invert_unless(*wanted, marks);
        }
        Test::Matches(..) | Test::Wide(_) => each(lengths, bytes, marks, |s| test.passes(s)),
    }
}

fn each(lengths: &[u32], bytes: &[u8], marks: &mut [u8], passes: impl Fn(&[u8]) -> bool) {
    let mut rest = bytes;
    for (mark, &length) in marks.iter_mut().zip(lengths) {
        let (string, after) = rest.split_at(length as usize);
        *mark = u8::from(passes(string));
        rest = after;
    }
}

fn invert_unless(wanted: bool, marks: &mut [u8]) {
    if !wanted {
        marks.iter_mut().for_each(|mark| *mark ^= 1);
    }
}

/// Marks the strings that contain a text and pass.
fn find(text: &Finder<'_>, lengths: &[u32], bytes: &[u8], marks: &mut [u8], passes: impl Fn(&[u8]) -> bool) {
    marks.fill(0);
    let (mut i, mut start, mut from) = (0, 0, 0);
    while let Some(found) = text.find(&bytes[from..]) {
        let hit = from + found;
        // An empty text also matches at the end, after the last string.
        while i < lengths.len() && start + lengths[i] as usize <= hit && !text.needle().is_empty() {
            start += lengths[i] as usize;
            i += 1;
        }
        let Some(&length) = lengths.get(i) else { return };
        let end = start + length as usize;
        if hit + text.needle().len() <= end {
            marks[i] = u8::from(passes(&bytes[start..end]));
        }
        // A match that begins later in this string would also cross its end.
        (from, start, i) = (end, end, i + 1);
    }
}

fn mark_set(set: &StringSet, lengths: &[u32], bytes: &[u8], marks: &mut [u8]) {
    match set.intervals() {
        [] => marks.fill(0),
        [one] => mark_interval(one, lengths, bytes, marks),
        _ => each(lengths, bytes, marks, |string| set.contains(string)),
    }
}

fn mark_interval(interval: &Interval, lengths: &[u32], bytes: &[u8], marks: &mut [u8]) {
    /// The mark of a string whose head equals the head of a bound. The bytes after the head decide.
    const UNSURE: u8 = 2;
    let low = head(&interval.start, 0, interval.start.len());
    let high = interval.end.as_ref().map_or(u64::MAX, |end| head(end, 0, end.len()));
    // Without branches, as no processor predicts which strings pass.
    let (mut at, mut seen) = (0, 0);
    for (mark, &length) in marks.iter_mut().zip(lengths) {
        let head = head(bytes, at, length as usize);
        // Strings with different heads have the order of their heads.
        let is_between = u8::from(head > low) & u8::from(head < high);
        let is_unsure = u8::from(head == low) | u8::from(head == high);
        *mark = is_between | (UNSURE * is_unsure);
        seen |= *mark;
        at += length as usize;
    }
    if seen & UNSURE == 0 {
        return;
    }
    let mut at = 0;
    for (mark, &length) in marks.iter_mut().zip(lengths) {
        let end = at + length as usize;
        if *mark & UNSURE != 0 {
            *mark = u8::from(interval.contains(&bytes[at..end]));
        }
        at = end;
    }
}

/// The first eight bytes of the string at `at` as a number, with zeros after a shorter one.
fn head(bytes: &[u8], at: usize, length: usize) -> u64 {
    const SIZE: usize = size_of::<u64>();
    let head = match bytes.get(at..at + SIZE) {
        Some(bytes) => u64::from_be_bytes(bytes.try_into().unwrap_or_default()),
        None => {
            let mut padded = [0; SIZE];
            let there = bytes.get(at..).unwrap_or_default();
            padded[..there.len()].copy_from_slice(there);
            u64::from_be_bytes(padded)
        }
    };
    if length >= SIZE { head } else { head & !(u64::MAX >> (8 * length)) }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::like::Like;

    fn string(most: usize) -> impl Strategy<Value = Vec<u8>> {
        vec(prop_oneof![Just(0u8), Just(b'a'), Just(b'b'), Just(0xFF)], 0..most)
    }

    fn test() -> impl Strategy<Value = Test> {
        let set = vec((string(10), proptest::option::of(string(10))), 0..3).prop_map(|intervals| {
            Test::Strings(StringSet::of(
                intervals.into_iter().map(|(start, end)| Interval { start, end }).collect(),
            ))
        });
        let pattern = vec(prop_oneof![Just(b'a'), Just(b'b'), Just(b'%'), Just(b'_')], 0..6);
        let matcher = prop_oneof![
            string(4).prop_map(Matcher::EndsWith),
            string(4).prop_map(|text| Matcher::Contains(Box::new(Finder::new(&text).into_owned()))),
            pattern.prop_map(|pattern| Matcher::Like(Like::new(&pattern))),
        ];
        prop_oneof![
            any::<bool>().prop_map(Test::Constant),
            string(10).prop_map(|prefix| Test::Strings(StringSet::prefixed(&prefix))),
            string(10).prop_map(|string| Test::Strings(StringSet::one(&string))),
            set,
            (matcher, any::<bool>()).prop_map(|(matcher, wanted)| Test::Matches(matcher, wanted)),
        ]
    }

    proptest! {
        #[test]
        fn marks_are_those_of_single_strings(test in test(), strings in vec(string(12), 0..40)) {
            let lengths: Vec<u32> = strings.iter().map(|string| string.len() as u32).collect();
            let mut marks = vec![7; strings.len()];
            mark(&test, &lengths, &strings.concat(), &mut marks);
            let expected: Vec<u8> = strings.iter().map(|string| u8::from(test.passes(string))).collect();
            prop_assert_eq!(marks, expected, "{:?} of {:?}", test, strings);
        }
    }
}
