//! Damaged compressed buffers: every bit, every length, every field; with checksums as they were
//! and repaired.

use entasis::buffers::{self, Options};
use entasis::{Codec, Kind, Silent};
use entasis_testkit::fuzz::buffers::{repair, survive};
use entasis_testkit::memory;
use entasis_testkit::mutate::edges;

/// A container with compressed blocks and a stored one, and its content.
fn containers() -> Vec<(Vec<u8>, Vec<u8>)> {
    let noise = entasis_testkit::frames::noise(8, 7).into_iter().flat_map(u64::to_le_bytes);
    let decoded: Vec<u8> = [7; 64].into_iter().chain(noise).chain([9; 40]).collect();
    let of = |codec| {
        let options = Options { block_len: Some(64), ..Options::new(codec) };
        let compressed = buffers::compress(decoded.as_slice().into(), &options, Some(1), &Silent).unwrap();
        (compressed.into_vec(Some(1), &Silent).unwrap(), decoded.clone())
    };
    vec![of(Codec::Lz4), of(Codec::Zstd)]
}

#[test]
fn every_flipped_bit_of_a_buffer_is_found() {
    for (container, decoded) in containers() {
        assert_eq!(survive(&container).as_ref(), Some(&decoded));
        for bit in 0..container.len() * 8 {
            let mut damaged = container.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(survive(&damaged), None, "bit {bit}");
            repair(&mut damaged);
            survive(&damaged);
        }
    }
    memory::assert_modest("flipped bits of buffers");
}

#[test]
fn every_length_of_a_buffer_is_refused() {
    for (container, _) in containers() {
        for len in 0..container.len() {
            assert_eq!(survive(&container[..len]), None, "{len}");
            let mut shorter = container.clone();
            shorter.remove(len);
            assert_eq!(survive(&shorter), None, "without byte {len}");
            let mut longer = container.clone();
            longer.insert(len, container[len]);
            assert_eq!(survive(&longer), None, "byte {len} twice");
        }
        let longer = [&container[..], &[0]].concat();
        assert_eq!(survive(&longer), None);
    }
}

#[test]
fn every_field_of_a_buffer_takes_every_edge() {
    for (container, _) in containers() {
        let entries = (40..40 + 3 * 16).step_by(16).flat_map(|at| [(at, 4), (at + 4, 4), (at + 8, 8)]);
        let header = [(8, 2), (10, 1), (11, 1), (12, 4), (16, 8), (24, 8), (32, 8)];
        for (at, len) in header.into_iter().chain(entries) {
            let mut old = [0; 8];
            old[..len].copy_from_slice(&container[at..at + len]);
            for value in edges(container.len() as u64, u64::from_le_bytes(old)) {
                let mut damaged = container.clone();
                damaged[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
                survive(&damaged);
                repair(&mut damaged);
                survive(&damaged);
            }
        }
    }
    memory::assert_modest("fields of buffers");
}

/// Containers that declare far more than they hold.
#[test]
fn what_a_container_promises_is_no_more_than_its_length_can_pay_for() {
    for (codec, most) in [(1, 255), (2, 32_768)] {
        for stored_len in [1u32, 100] {
            let blocks = 50;
            for (block_len, fits) in [(most * stored_len, true), (most * stored_len + 1, false)] {
                let mut container = vec![0; 40];
                container[..8].copy_from_slice(b"\x89ENB\r\n\x1a\n");
                container[8] = 1;
                container[10] = codec;
                container[12..16].copy_from_slice(&block_len.to_le_bytes());
                container[16..24].copy_from_slice(&(u64::from(block_len) * blocks).to_le_bytes());
                for _ in 0..blocks {
                    container.extend_from_slice(&u64::from(stored_len).to_le_bytes());
                    container.extend_from_slice(&[0; 8]);
                }
                container.resize(container.len() + blocks as usize * stored_len as usize, 1);
                repair(&mut container);
                let opened = buffers::Container::open(container.as_slice().into(), None);
                assert_eq!(opened.is_ok(), fits, "codec {codec} {stored_len} {block_len}");
                let limited = buffers::Container::open(container.as_slice().into(), Some(1000));
                assert_eq!(limited.unwrap_err().kind(), Kind::Limit);
            }
        }
    }
}
