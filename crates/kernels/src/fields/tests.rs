use proptest::prelude::*;

use super::*;
use crate::dispatch::on_every_isa;

const MARKS: Marks = Marks { separator: b',', quote: Some(b'"') };

/// The survey and the index of a text, byte by byte.
fn naive(text: &[u8], marks: Marks) -> (Survey, Vec<u32>, usize) {
    let (mut inside, mut regular, mut last_end) = (false, true, 0);
    let (mut ends, mut n_rows) = (Vec::new(), 0);
    for (i, &byte) in text.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| text[i]);
        let next = text.get(i + 1).copied();
        if Some(byte) == marks.quote {
            if inside {
                inside = false;
                regular &= next.is_none_or(|next| [b'\n', b'\r', marks.separator, byte].contains(&next));
            } else {
                // Before an opening quote, a quote is the closing one of a pair.
                inside = true;
                let begins = |before| [b'\n', marks.separator, byte].contains(&before);
                regular &= before.is_none_or(begins);
            }
        } else if !inside {
            regular &= byte != b'\r' || next == Some(b'\n');
            if byte == marks.separator || byte == b'\n' {
                ends.push(i as u32 + 1);
            }
            if byte == b'\n' {
                n_rows += 1;
                last_end = i + 1;
            }
        }
    }
    (Survey { is_regular: regular, last_end, is_open: inside }, ends, n_rows)
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => Just(b'a'),
        2 => Just(b','),
        1 => Just(b'"'),
        1 => Just(b'\n'),
        1 => Just(b'\r'),
        1 => any::<u8>(),
    ];
    let field = prop::sample::select(&["7", "abc def", "\"x,y\"", "\"\"", "\"a\"\"b\n\"", ""][..]);
    let end = prop::sample::select(&[",", ",", ",", "\n", "\r\n"][..]);
    let regular = prop::collection::vec((field, end), 0..60).prop_map(|parts| {
        parts.into_iter().flat_map(|(field, end)| [field, end].concat().into_bytes()).collect()
    });
    prop_oneof![prop::collection::vec(byte, 0..300), regular]
}

proptest! {
    #[test]
    fn every_level_finds_the_digits(text in prop::collection::vec(any::<u8>(), 0..300)) {
        on_every_isa(|_| {
            let mut bits = vec![7];
            digits(&text, &mut bits);
            let found = |i: usize| bits[i / 64] >> (i % 64) & 1 == 1;
            for (i, byte) in text.iter().enumerate() {
                assert_eq!(found(i), byte.is_ascii_digit(), "byte {i}, {byte}");
            }
            assert!((text.len()..64 * bits.len()).all(|i| !found(i)) && text.len() < 64 * bits.len());
        });
    }
}

proptest! {
    #[test]
    fn every_level_finds_what_a_loop_finds(text in text(), has_quote in any::<bool>()) {
        let marks = if has_quote { MARKS } else { Marks { quote: None, ..MARKS } };
        let (expected, ends, n_rows) = naive(&text, marks);
        on_every_isa(|_| {
            assert_eq!(survey(&text, marks), expected);
            let mut found = vec![0];
            assert_eq!(index(&text, marks, &mut found), n_rows);
            assert_eq!(found[1..], ends);
        });
    }
}

#[test]
fn a_mask_of_ones_fills_the_room() {
    on_every_isa(|_| {
        let mut found = Vec::new();
        assert_eq!(index(&[b','; 200], MARKS, &mut found), 0);
        assert_eq!(found, (1..=200).collect::<Vec<u32>>());
    });
}
