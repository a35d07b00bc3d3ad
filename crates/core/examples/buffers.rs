//! Prints how fast 1, 2, ... threads compress, decompress and hash buffers, in GB/s of decoded
//! bytes.
//!
//! `cargo run --release -p entasis --example buffers [ROUNDS [FILE]]` prints the best of
//! interleaved rounds, for the bytes of a file or for generated numbers and text.

use std::hint::black_box;
use std::time::Instant;

use entasis::buffers::{Input, Options, compress, decompress, hash};
use entasis::{Buffer, Codec, HostRead, Silent, default_threads};

/// Bytes of a generated input.
const LEN: usize = 128 << 20;

fn noise(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Prices of a random walk, as f64.
fn numbers() -> Buffer {
    let mut bytes = Buffer::zeroed(LEN).expect("memory for the input");
    let (mut state, mut cents) = (1, 1_000_000);
    for value in bytes.as_chunks_mut::<8>().0 {
        cents += noise(&mut state) as i64 % 401 - 200;
        *value = (cents as f64 / 100.0).to_le_bytes();
    }
    bytes
}

/// Lines of a log.
fn text() -> Buffer {
    let words = ["orders", "shipped", "carefully", "pending", "accounts", "final", "express", "deposits"];
    let mut lines = Vec::with_capacity(LEN + 100);
    let (mut state, mut line) = (1, 0);
    while lines.len() < LEN {
        line += 1;
        let word = |n: u64| words[n as usize % words.len()];
        let (a, b, c) = (noise(&mut state), noise(&mut state), noise(&mut state));
        let added = format!(
            "{line} 2026-{:02}-{:02} {} {} {} {}\n",
            a % 12 + 1,
            b % 28 + 1,
            word(a >> 8),
            word(b >> 8),
            word(c),
            c % 9999
        );
        lines.extend_from_slice(added.as_bytes());
    }
    copied(&lines[..LEN])
}

/// A copy in memory like that of large arrays.
fn copied(bytes: &[u8]) -> Buffer {
    let mut copy = Buffer::zeroed(bytes.len()).expect("memory for the input");
    copy.copy_from_slice(bytes);
    copy
}

/// The sum of all words: a lower bound for any work on the bytes.
fn sum(bytes: &[u8]) -> u64 {
    let mut sums = [0u64; 32];
    for words in bytes.as_chunks::<256>().0 {
        for (sum, word) in sums.iter_mut().zip(words.as_chunks::<8>().0) {
            *sum = sum.wrapping_add(u64::from_le_bytes(*word));
        }
    }
    sums.iter().fold(0, |sum, other| sum.wrapping_add(*other))
}

fn sum_by(bytes: &[u8], threads: usize) {
    std::thread::scope(|scope| {
        let mut parts = bytes.chunks(bytes.len().div_ceil(threads));
        let mine = parts.next();
        for part in parts {
            scope.spawn(|| black_box(sum(part)));
        }
        black_box(mine.map(sum));
    });
}

type Work<'a> = Box<dyn Fn(usize) + 'a>;

/// Runs all works with all numbers of threads, round by round, and prints a line for each work.
fn report(len: usize, rounds: usize, works: &[(String, Work<'_>)]) {
    let counts: Vec<usize> = (1..=default_threads()).collect();
    let mut best = vec![vec![f64::INFINITY; counts.len()]; works.len()];
    for _ in 0..rounds {
        for ((_, work), best) in works.iter().zip(&mut best) {
            for (&threads, best) in counts.iter().zip(best) {
                let start = Instant::now();
                work(threads);
                *best = best.min(start.elapsed().as_secs_f64());
            }
        }
    }
    for ((name, _), best) in works.iter().zip(&best) {
        let line =
            best.iter().map(|time| format!(" {:7.2} (x {:.2})", len as f64 / 1e9 / time, best[0] / time));
        println!("  {name:<34}{}", line.collect::<String>());
    }
}

fn measure(name: &str, bytes: &[u8], rounds: usize) {
    println!("{name}, {} MB: GB/s by 1, 2, ... threads", bytes.len() / 1_000_000);
    // SAFETY: `bytes` outlives every use below, and nobody writes to it.
    let host = unsafe { HostRead::new(bytes.as_ptr(), bytes.len()) };
    let mut works: Vec<(String, Work<'_>)> = vec![
        ("sum of words".to_owned(), Box::new(|threads| sum_by(bytes, threads))),
        (
            "hash".to_owned(),
            Box::new(|threads| drop(black_box(hash(bytes.into(), 0, Some(threads), &Silent)))),
        ),
        (
            "hash of a host's memory".to_owned(),
            Box::new(move |threads| drop(black_box(hash(host.into(), 0, Some(threads), &Silent)))),
        ),
    ];
    for (codec, level) in [(Codec::Lz4, None), (Codec::Zstd, Some(1)), (Codec::Zstd, None)] {
        let options = Options { level, ..Options::new(codec) };
        let pack = move |input: Input<'_>, threads| {
            let compressed =
                compress(input, &options, Some(threads), &Silent).expect("the options are right");
            let mut out = Buffer::zeroed(compressed.len()).expect("memory for the container");
            compressed.write(&mut out, Some(threads), &Silent).expect("it is as long");
            out
        };
        let container = pack(bytes.into(), default_threads());
        let label = format!("{codec}{}", level.map_or(String::new(), |level| format!(" {level}")));
        println!("  {label}: {:.2} times smaller", bytes.len() as f64 / container.len() as f64);
        works.push((
            format!("compress {label}"),
            Box::new(move |threads| drop(black_box(pack(bytes.into(), threads)))),
        ));
        works.push((
            format!("compress {label}, host's memory"),
            Box::new(move |threads| drop(black_box(pack(host.into(), threads)))),
        ));
        works.push((
            format!("decompress {label}"),
            Box::new(move |threads| {
                let decoded = decompress((&container[..]).into(), None, Some(threads), &Silent);
                assert!(black_box(decoded).is_ok_and(|decoded| decoded.len() == bytes.len()));
            }),
        ));
    }
    report(bytes.len(), rounds, &works);
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    match arguments.next() {
        Some(path) => {
            let bytes = std::fs::read(&path).expect("a file that can be read");
            measure(&path, &copied(&bytes), rounds);
        }
        None => {
            measure("numbers", &numbers(), rounds);
            measure("text", &text(), rounds);
        }
    }
}
