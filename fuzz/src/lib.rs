//! Shared parts of the fuzz targets: the allocator that counts, and mutations that know files.

pub use entasis_testkit;
use entasis_testkit::fuzz::{filter, footer};
use entasis_testkit::memory::Counting;
use entasis_testkit::mutate::{Dice, Map, damage};
pub use libfuzzer_sys::{fuzz_mutator, fuzz_target};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Makes a body of `entasis_testkit::fuzz` a fuzz target.
#[macro_export]
macro_rules! target {
    ($($body:tt)+) => {
        $crate::fuzz_target!(|data: &[u8]| $crate::entasis_testkit::fuzz::$($body)+(data));
    };
}

/// Makes a function the mutator of a fuzz target.
#[macro_export]
macro_rules! mutator {
    ($change:path) => {
        $crate::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $change(data, size, max_size, seed)
        });
    };
}

/// The bytes of a file that the general mutations of the fuzzer change at once, at most.
const WINDOW: usize = 64;

/// Changes fields or some bytes of a file, whose length stays, and repairs its checksums.
pub fn change_file(data: &mut [u8], size: usize, _: usize, seed: u32) -> usize {
    let file = &mut data[..size];
    let mut dice = Dice(seed.into());
    if dice.below(2) == 0 && size > 0 {
        let at = dice.below(size);
        let len = (1 + dice.below(WINDOW)).min(size - at);
        libfuzzer_sys::fuzzer_mutate(&mut file[at..at + len], len, len);
        Map::of(file).repair(file);
    } else {
        damage(file, &mut dice);
    }
    size
}

/// Changes the program of an input of the target `filter`, or its file.
pub fn change_filter(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let len = size.saturating_sub(filter::PROGRAM);
    if len > 0 && seed % 4 == 0 {
        change_file(data, len, max_size, seed / 4);
    } else {
        let program = &mut data[len..size];
        let n = program.len();
        libfuzzer_sys::fuzzer_mutate(program, n, n);
    }
    size
}

/// Changes one section of an input of the target `footer`, which may grow.
pub fn change_section(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut dice = Dice(seed.into());
    let changed = footer::mutate(&data[..size], &mut dice, |section| {
        let len = section.len();
        let room = (len + WINDOW).min(usize::from(u16::MAX));
        section.resize(room, 0);
        let len = libfuzzer_sys::fuzzer_mutate(section, len, room);
        section.truncate(len);
    });
    let len = changed.len().min(max_size).min(data.len());
    data[..len].copy_from_slice(&changed[..len]);
    len
}
