//! Chunks that are written in any order and read in any ranges are those of a plain file.

use std::sync::Arc;

use entasis_format::{HEADER_LEN, KEY_PAGES_END, Kind, Limits};
use entasis_io::{MemorySink, MemorySource, Sink, Source};
use entasis_seal::{
    CHUNK_LEN, Key, KeyChange, Password, SealedSource, Sealer, Secret, Suite, Unlocked, change_keys, entries,
    next_start,
};

fn key(byte: u8) -> Secret {
    Secret::Key(Key::new(&[byte; 32]).unwrap())
}

fn password(text: &str) -> Secret {
    Secret::Password(Password::new(text).unwrap())
}

fn unlocked(secret: &Secret) -> Unlocked {
    Unlocked::new(secret, Suite::default(), &Limits::default()).unwrap()
}

/// Pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

#[test]
fn writes_in_any_order_are_read_in_any_ranges() {
    let mut dice = Dice(1);
    for len in [1, 100, 8135, 8136, 8137, 50_000, 300_001] {
        let sink = MemorySink::new();
        let unlocked = Arc::new(unlocked(&key(1)));
        let sealer = Sealer::new(Arc::clone(&unlocked)).unwrap();
        sealer.write_key_pages(&sink).unwrap();
        let bytes: Vec<u8> = (0..len).map(|_| dice.below(256) as u8).collect();
        let mut cuts: Vec<usize> = (0..dice.below(20)).map(|_| dice.below(len)).chain([0, len]).collect();
        cuts.sort_unstable();
        let mut parts: Vec<_> = cuts.windows(2).map(|pair| pair[0]..pair[1]).collect();
        for i in (1..parts.len()).rev() {
            parts.swap(i, dice.below(i + 1));
        }
        for part in parts {
            sealer.write_all_at(&sink, KEY_PAGES_END + part.start as u64, &bytes[part]).unwrap();
        }
        sealer.flush(&sink).unwrap();
        let stored = sink.into_bytes();
        assert_eq!(stored.len() as u64, sealer.stored_len(KEY_PAGES_END + len as u64));
        let source = SealedSource::new(Box::new(MemorySource::new(stored)), unlocked).unwrap();
        assert_eq!(source.len(), KEY_PAGES_END + len as u64);
        for _ in 0..50 {
            let start = dice.below(len);
            let end = start + dice.below(len - start + 1);
            let mut out = vec![0; end - start];
            source.read_exact_at(KEY_PAGES_END + start as u64, &mut out).unwrap();
            assert_eq!(out, bytes[start..end]);
        }
        let mut rest = vec![7; len];
        assert_eq!(source.read_at(source.len() - 1, &mut rest).unwrap(), 1);
        assert_eq!(source.read_at(source.len(), &mut rest).unwrap(), 0);
    }
}

#[test]
fn a_chunk_is_written_once() {
    let sink = MemorySink::new();
    let sealer = Sealer::new(Arc::new(unlocked(&key(1)))).unwrap();
    sealer.write_all_at(&sink, KEY_PAGES_END, &[1; 10_000]).unwrap();
    assert!(sealer.write_all_at(&sink, KEY_PAGES_END + 5, &[1]).is_err());
    sealer.flush(&sink).unwrap();
    assert!(sealer.write_all_at(&sink, KEY_PAGES_END + 10_000, &[1]).is_err());
    sealer.write_all_at(&sink, next_start(KEY_PAGES_END + 10_000), &[2; 3]).unwrap();
    for at in [1, HEADER_LEN as u64, KEY_PAGES_END - 1] {
        assert!(sealer.write_all_at(&sink, at, &[0; 10]).is_err());
    }
}

/// The key pages of a file.
fn pages(secret: &Secret) -> Vec<u8> {
    let sink = MemorySink::new();
    let sealer = Sealer::new(Arc::new(unlocked(secret))).unwrap();
    sealer.write_key_pages(&sink).unwrap();
    sealer.write_all_at(&sink, KEY_PAGES_END, &[1]).unwrap();
    sealer.flush(&sink).unwrap();
    sink.into_bytes()
}

fn opens(bytes: &[u8], secret: &Secret) -> Result<(), Kind> {
    let source = MemorySource::new(bytes.to_vec());
    Unlocked::of_source(&source, Some(secret), &Limits::default()).map(|_| ()).map_err(|e| e.kind())
}

fn changed(bytes: &[u8], with: &Secret, change: &KeyChange) -> entasis_format::Result<Vec<u8>> {
    let source = MemorySource::new(bytes.to_vec());
    let mut out = bytes.to_vec();
    for (at, page) in change_keys(&source, Some(with), change, &Limits::default())? {
        // Every state in between opens by the key that changes it.
        out[at as usize..][..page.len()].copy_from_slice(&page);
        let is_removed = matches!(change, KeyChange::Remove(None));
        assert!(is_removed || opens(&out, with).is_ok());
    }
    Ok(out)
}

#[test]
fn several_keys_and_passwords_open_a_file() {
    let mut bytes = pages(&key(1));
    let secrets = [key(2), password("one"), password("two"), key(3)];
    for secret in &secrets {
        assert_eq!(opens(&bytes, secret), Err(Kind::WrongKey));
        bytes = changed(&bytes, &key(1), &KeyChange::Add(secret.clone())).unwrap();
        assert!(opens(&bytes, secret).is_ok() && opens(&bytes, &key(1)).is_ok());
        let again = changed(&bytes, &key(1), &KeyChange::Add(secret.clone())).unwrap_err();
        assert_eq!(again.kind(), Kind::Argument);
    }
    let found = entries(&MemorySource::new(bytes.clone())).unwrap();
    assert_eq!(found.kinds, ["key", "key", "password", "password", "key"]);
    bytes = changed(&bytes, &password("two"), &KeyChange::Remove(None)).unwrap();
    assert_eq!(opens(&bytes, &password("two")), Err(Kind::WrongKey));
    bytes = changed(&bytes, &key(3), &KeyChange::Remove(Some(2))).unwrap();
    assert_eq!(opens(&bytes, &password("one")), Err(Kind::WrongKey));
    assert_eq!(entries(&MemorySource::new(bytes.clone())).unwrap().costs, None);
    for secret in [key(1), key(2), key(3)] {
        opens(&bytes, &secret).unwrap();
    }
    assert_eq!(changed(&bytes, &key(1), &KeyChange::Remove(Some(3))).unwrap_err().kind(), Kind::Argument);
    for _ in 0..2 {
        bytes = changed(&bytes, &key(3), &KeyChange::Remove(Some(0))).unwrap();
    }
    assert_eq!(changed(&bytes, &key(3), &KeyChange::Remove(Some(0))).unwrap_err().kind(), Kind::Argument);
    for byte in 10..17 {
        bytes = changed(&bytes, &key(3), &KeyChange::Add(key(byte))).unwrap();
    }
    assert_eq!(changed(&bytes, &key(3), &KeyChange::Add(key(99))).unwrap_err().kind(), Kind::Argument);
}

/// A change of keys that was torn between or in its two writes leaves a file that opens.
#[test]
fn a_torn_change_of_keys() {
    let bytes = pages(&key(1));
    let source = MemorySource::new(bytes.clone());
    let writes = change_keys(&source, Some(&key(1)), &KeyChange::Add(key(2)), &Limits::default()).unwrap();
    let mut torn = bytes;
    for (at, page) in &writes {
        for n in (0..=page.len()).step_by(64) {
            torn[*at as usize..][..n].copy_from_slice(&page[..n]);
            opens(&torn, &key(1)).unwrap();
        }
    }
    opens(&torn, &key(2)).unwrap();
}

/// Each bit of the key pages is found to be changed, by readers or by the check of both pages.
#[test]
fn each_bit_of_the_key_pages() {
    let bytes = pages(&password("one"));
    let derived = Secret::Key(
        Unlocked::of_source(&MemorySource::new(bytes.clone()), Some(&password("one")), &Limits::default())
            .unwrap()
            .key()
            .clone(),
    );
    for at in 12_288..KEY_PAGES_END as usize {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            // The other page is taken.
            opens(&changed, &derived).unwrap();
            let unlocked =
                Unlocked::of_source(&MemorySource::new(changed.clone()), Some(&derived), &Limits::default());
            let source =
                SealedSource::new(Box::new(MemorySource::new(changed)), Arc::new(unlocked.unwrap())).unwrap();
            assert_eq!(source.verify(0, &|| false).unwrap_err().kind(), Kind::Corrupt);
        }
    }
    // The same bit of both pages.
    for at in 12_288..16_384 {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        changed[at + 4096] ^= 1;
        assert!(opens(&changed, &derived).is_err(), "{at}");
    }
    assert_eq!(bytes.len(), KEY_PAGES_END as usize + CHUNK_LEN);
    let sink = MemorySink::new();
    sink.write_all_at(0, &bytes[..12_288 + 100]).unwrap();
    assert_eq!(opens(&sink.into_bytes(), &derived), Err(Kind::Corrupt));
}
