//! Columns of long strings have short blocks, unless the strings repeat.

use crate::common::{Model, by_tier, check, file_of, open};
use entasis::{Profile, Rows, WriteOptions};

const SHORT: u64 = 1 << 20;
const LONG: u64 = 4 << 20;

/// A text of about `len` bytes that is different for each number.
fn text(number: usize, len: usize) -> String {
    let mut text = String::with_capacity(len + 20);
    let mut state = number as u64;
    while text.len() < len {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        text.push_str(&format!("{:x} ", state >> 24));
    }
    text
}

/// The number of values and of bytes of each block of a column.
fn blocks(model: &Model) -> Vec<(u32, u64)> {
    blocks_at(Profile::DEFAULT, model)
}

fn blocks_at(compression: u8, model: &Model) -> Vec<(u32, u64)> {
    let columns = [("texts", model.clone())];
    let options = |threads| WriteOptions {
        compression: Some(compression),
        threads: Some(threads),
        ..WriteOptions::default()
    };
    let bytes = file_of(&columns, &options(1));
    assert!(bytes == file_of(&columns, &options(2)), "bytes depend on the number of threads");
    let file = open(&bytes).unwrap();
    check(&file, 0, model, &Rows::All, 2);
    let n = model.n() as u64;
    check(&file, 0, model, &Rows::Range(n / 3..n / 3 * 2), 1);
    file.blocks(0).unwrap().iter().map(|block| (block.n_values, block.decoded_len)).collect()
}

#[test]
fn each_has_at_most_so_many_bytes() {
    let mut texts: Vec<String> = (0..30_000).map(|i| text(i, 200 + i % 400)).collect();
    // One string is longer than a block.
    texts[20_000] = text(1, 5 << 20);
    let all = Model::text(&texts);
    // Missing strings that have bytes in memory.
    let some = all.clone().with_missing(|i| i % 3 != 1);
    for model in [all, some] {
        let blocks = blocks(&model);
        assert!(blocks.iter().all(|&(n, len)| len <= SHORT || n == 1), "{blocks:?}");
        assert!(blocks.len() < 24, "{blocks:?}");
    }
}

#[test]
fn runs_of_a_long_column_come_back_whatever_follows_in_it() {
    // Ten runs. Shared symbols help no run, or only the last three, whose texts are of another
    // kind.
    for n_other in [0, 30_000] {
        let other = |i| "the quick brown fox jumps over the lazy dog ".repeat(10) + &text(i, 40);
        let of = |i| if i < 90_000 - n_other { text(i, 440) } else { other(i) };
        let model = Model::text(&(0..90_000).map(of).collect::<Vec<String>>());
        let some: &[u8] = if n_other == 0 { &[0, 30] } else { &[50, 80] };
        for &compression in by_tier(some, &[0, 30, 50, 80]) {
            let blocks = blocks_at(compression, &model);
            assert!(blocks.len() > 36 && blocks.iter().all(|&(_, len)| len <= SHORT), "{blocks:?}");
        }
    }
}

#[test]
fn texts_that_repeat_share_a_dictionary() {
    let texts: Vec<String> = (0..60_000).map(|i| text(i * i % 101, 200)).collect();
    let blocks = blocks(&Model::text(&texts));
    assert!(blocks.len() == 1 && blocks[0].1 > 2 * SHORT, "{blocks:?}");
}

#[test]
fn texts_that_repeat_now_and_then_make_blocks_in_between() {
    // In order and shuffled. Views are copied a few at a time.
    for order in [|i: usize| i, |i| i * 7919 + i / 3 * 31] {
        let texts: Vec<String> = (0..50_000).map(|i| text(order(i) % 8000, 300)).collect();
        let blocks = blocks(&Model::text(&texts));
        assert!(blocks.iter().all(|&(_, len)| len <= LONG), "{blocks:?}");
        assert!(blocks.iter().any(|&(_, len)| len > 2 * SHORT), "{blocks:?}");
    }
}

#[test]
fn missing_ones_are_looked_past() {
    // Repeated strings, in one of eight places.
    let texts: Vec<String> =
        (0..320_000).map(|i| if i % 8 == 3 { text(i / 8 % 8000, 600) } else { String::new() }).collect();
    for model in [Model::text(&texts), Model::text(&texts).with_missing(|i| i % 8 == 3)] {
        let blocks = blocks(&model);
        assert!(blocks.iter().any(|&(_, len)| len > 2 * SHORT), "{blocks:?}");
    }
}

#[test]
fn short_texts_make_full_blocks() {
    let texts: Vec<String> = (0..150_000).map(|i| text(i, 30)).collect();
    assert_eq!(
        blocks(&Model::text(&texts)).iter().map(|block| block.0).collect::<Vec<_>>(),
        [65_536, 65_536, 18_928]
    );
}
