//! The parts of a text that are scored.

use memchr::{memchr, memchr2_iter};

/// The most bytes of the first part of a subset.
const FIRST_LEN: usize = 32 << 10;
/// The most bytes of each other part of a subset.
const WINDOW_LEN: usize = 4 << 10;
/// The most other parts of a subset.
const MAX_WINDOWS: usize = 8;

/// A part of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a> {
    pub(super) text: &'a [u8],
    /// Whether it begins at the start of a row. Else it begins at the start of a line, which may be
    /// inside of quotes.
    pub(super) at_row: bool,
    /// Whether it ends before the text, so that its last row may be incomplete.
    pub(super) cut: bool,
}

/// The parts of the text: `first`, which begins at the start of a row, and `others` without their
/// first partial lines.
pub(super) fn segments<'a>(first: &'a [u8], others: &[&'a [u8]], whole: bool) -> Vec<Segment<'a>> {
    let mut segments = vec![Segment { text: first, at_row: true, cut: !whole }];
    segments.extend(others.iter().filter_map(|text| window(text)));
    segments
}

/// A smaller part of the segments: the start, and windows evenly spread over the rest.
pub(super) fn subset<'a>(segments: &[Segment<'a>]) -> Vec<Segment<'a>> {
    let first = segments[0];
    if segments.len() == 1 && first.text.len() <= FIRST_LEN + WINDOW_LEN {
        return segments.to_vec();
    }
    let (head, rest) = first.text.split_at(first.text.len().min(FIRST_LEN));
    let mut subset = vec![Segment { text: head, cut: first.cut || !rest.is_empty(), ..first }];
    let rests: Vec<&[u8]> =
        std::iter::once(rest).chain(segments[1..].iter().map(|other| other.text)).collect();
    let step = (rests.iter().map(|rest| rest.len()).sum::<usize>() / MAX_WINDOWS).max(WINDOW_LEN);
    // The distance of the next window from the start of the rest at hand.
    let mut skip = step / 2;
    for rest in rests {
        while let Some(text) = rest.get(skip..).filter(|text| !text.is_empty()) {
            subset.extend(window(&text[..text.len().min(WINDOW_LEN)]));
            skip += step;
        }
        skip -= rest.len();
    }
    subset
}

/// A part that begins anywhere, from its first whole line on.
fn window(text: &[u8]) -> Option<Segment<'_>> {
    let start = match memchr(b'\n', text) {
        Some(at) => at + 1,
        None => memchr(b'\r', text)? + 1,
    };
    let text = &text[start..];
    (!text.is_empty()).then_some(Segment { text, at_row: false, cut: true })
}

/// The number of lines that end in `text`.
pub(super) fn count_lines(text: &[u8]) -> usize {
    memchr2_iter(b'\n', b'\r', text)
        .filter(|&at| text[at] == b'\r' || at == 0 || text[at - 1] != b'\r')
        .count()
}

/// The text after its first `n` lines.
pub(super) fn after_lines(text: &[u8], n: usize) -> &[u8] {
    let mut at = 0;
    for _ in 0..n {
        let Some(end) = memchr2_iter(b'\n', b'\r', &text[at..]).next() else {
            return &text[text.len()..];
        };
        at += end + 1;
        if text[at - 1] == b'\r' && text.get(at) == Some(&b'\n') {
            at += 1;
        }
    }
    &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_pieces_begin_at_their_first_whole_line() {
        let segments = segments(b"a\nb\n", &[b"rtial\nc\nd", b"no line end", b"x\ry\r"], false);
        let texts: Vec<&[u8]> = segments.iter().map(|segment| segment.text).collect();
        assert_eq!(texts, [&b"a\nb\n"[..], b"c\nd", b"y\r"]);
    }

    #[test]
    fn a_subset_is_bounded_and_reaches_the_end() {
        let text: Vec<u8> = (0..200_000).flat_map(|row| format!("{row}\n").into_bytes()).collect();
        let (first, rest) = text.split_at(300_000);
        let others: Vec<&[u8]> = rest.chunks(100_000).collect();
        let subset = subset(&segments(first, &others, false));
        let len: usize = subset.iter().map(|segment| segment.text.len()).sum();
        assert!(len <= FIRST_LEN + (MAX_WINDOWS + 1) * WINDOW_LEN);
        assert!(subset.len() >= MAX_WINDOWS);
        let last = subset.last().unwrap().text;
        assert!(last.as_ptr() as usize + last.len() + 200_000 > text.as_ptr() as usize + text.len());
    }

    #[test]
    fn lines_are_counted_with_every_line_end() {
        assert_eq!(count_lines(b"a\nb\r\nc\rd"), 3);
        assert_eq!(after_lines(b"a\nb\r\nc\rd", 2), b"c\rd");
        assert_eq!(after_lines(b"a\nb\r\nc\rd", 3), b"d");
        assert_eq!(after_lines(b"a\n", 5), b"");
    }
}
