//! Encrypted files: what opens them, and what damage and changes by others do.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::{self, Memory, Model, by_tier, frame_of};
use entasis::{
    Change, Durable, File, Key, Kind, Limits, MemorySource, Opening, Operation, Password, Physical, Rows,
    Secret, Silent, WriteOptions,
};
use entasis_fault::FaultDisk;
use entasis_io::{Disk, NativeDisk};

/// Where the chunks of a file begin.
const START: usize = 20_480;
/// Bytes of a chunk.
const CHUNK: usize = 8_192;

struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("entasis-sealed-{}-{name}", std::process::id())))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn key(byte: u8) -> Secret {
    Secret::Key(Key::new(&[byte; 32]).unwrap())
}

fn password(text: &str) -> Secret {
    Secret::Password(Password::new(text).unwrap())
}

fn options(secret: Option<Secret>) -> WriteOptions {
    WriteOptions { threads: Some(1), secret, ..WriteOptions::default() }
}

fn rows(from: usize, n: usize) -> Vec<(&'static str, Model)> {
    let numbers: Vec<u64> = (from..from + n).map(|i| i as u64 * 977 % 65_521).collect();
    let texts: Vec<String> = (from..from + n).map(|i| format!("patient {}", i % 100)).collect();
    vec![("diagnosis", Model::words(Physical::U64, &numbers)), ("name", Model::text(&texts))]
}

fn write(path: &Path, n: usize, secret: Option<Secret>) {
    let rows = rows(0, n);
    let memory: Vec<Memory> = rows.iter().map(|(_, model)| Memory::new(model)).collect();
    entasis::write(path, &frame_of(&rows, &memory), &options(secret), &Silent).unwrap();
}

fn append(path: &Path, from: usize, n: usize, secret: Option<Secret>) {
    let options = options(secret);
    let change = Change::begin(path, &options, &Silent).unwrap();
    let rows = rows(from, n);
    let memory: Vec<Memory> = rows.iter().map(|(_, model)| Memory::new(model)).collect();
    let content = change.append(frame_of(&rows, &memory), &[]).unwrap();
    change.commit(content, Operation::Append, &options, &Silent).unwrap();
}

fn open(path: &Path, secret: Option<Secret>) -> entasis::Result<File> {
    File::open_with(path, Opening { secret, ..Opening::default() })
}

fn open_bytes(bytes: &[u8], secret: &Secret) -> entasis::Result<File> {
    let opening = Opening { secret: Some(secret.clone()), ..Opening::default() };
    File::from_source(Box::new(MemorySource::new(bytes.to_vec())), Path::new("memory"), opening)
}

fn check(file: &File, n: usize) {
    assert_eq!(file.n_rows(), n as u64);
    for (column, (name, model)) in rows(0, n).iter().enumerate() {
        assert_eq!(file.column(column as u64).unwrap().name, *name);
        common::check(file, column as u64, model, &Rows::All, 1);
    }
}

/// Whether a file opens, reads and verifies as the rows of [`rows`]; the kind of error otherwise.
fn read(bytes: &[u8], secret: &Secret, n: usize) -> Result<(), Kind> {
    let file = open_bytes(bytes, secret).map_err(|e| e.kind())?;
    file.verify(Some(1), &Silent).map_err(|e| e.kind())?;
    check(&file, n);
    Ok(())
}

#[test]
fn keys_and_passwords_open_files() {
    let path = Temp::new("open");
    for n in [0, 10, 150_000] {
        // Passwords are slow by design.
        for secret in [key(1), password("correct horse")].into_iter().take(by_tier(1 + n.min(1), 2)) {
            write(&path.0, n, Some(secret.clone()));
            let file = open(&path.0, Some(secret.clone())).unwrap();
            check(&file, n);
            assert_eq!(file.verify(Some(2), &Silent).unwrap().leftover_len, 0);
            assert_eq!(file.info().unwrap().encryption, Some(entasis::Suite::fastest().name()));
            // The key that a password gives opens the file as well.
            let derived = Secret::Key(file.unlocked().unwrap().key().clone());
            check(&open(&path.0, Some(derived)).unwrap(), n);
            for wrong in [key(2), password("correct horsf")] {
                assert_eq!(open(&path.0, Some(wrong)).unwrap_err().kind(), Kind::WrongKey);
            }
            let error = open(&path.0, None).unwrap_err();
            assert_eq!(error.kind(), Kind::WrongKey);
            assert!(error.to_string().contains("pass key= or password="), "{error}");
        }
    }
    write(&path.0, 10, None);
    let error = open(&path.0, Some(key(1))).unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::Argument, "the file is not encrypted"));
}

#[test]
fn wrong_keys_are_arguments_without_their_bytes() {
    for bytes in [&b""[..], &[77; 31], &[77; 33]] {
        let error = Key::new(bytes).unwrap_err();
        assert_eq!(error.kind(), Kind::Argument);
        assert!(!error.to_string().contains("77") && !error.to_string().contains('M'), "{error}");
    }
    assert_eq!(Password::new("").unwrap_err().kind(), Kind::Argument);
    let shown = format!("{:?} {:?}", key(77), password("hunter2"));
    assert_eq!(shown, "Key(Key(...)) Password(Password(...))");
}

#[test]
fn no_name_or_value_is_in_the_bytes() {
    let path = Temp::new("bytes");
    for compression in [0, 50] {
        let rows = rows(0, 5000);
        let memory: Vec<Memory> = rows.iter().map(|(_, model)| Memory::new(model)).collect();
        let options = WriteOptions { compression: Some(compression), ..options(Some(key(1))) };
        entasis::write(&path.0, &frame_of(&rows, &memory), &options, &Silent).unwrap();
        append(&path.0, 5000, 100, Some(key(1)));
        let bytes = std::fs::read(&path.0).unwrap();
        let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        assert!(!has(b"patient") && !has(b"diagnosis") && !has(b"name") && !has(b"entasis "));
        assert!(has(b"ENT\nkeys"));
    }
}

#[test]
fn each_bit_of_the_chunks_is_covered() {
    let path = Temp::new("bits");
    write(&path.0, 40, Some(key(1)));
    let bytes = std::fs::read(&path.0).unwrap();
    assert_eq!((bytes.len() - START) % CHUNK, 0);
    for at in (START..bytes.len()).step_by(7).chain(START..START + 32).chain(bytes.len() - 32..bytes.len()) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert_eq!(read(&changed, &key(1), 40), Err(Kind::Corrupt), "{at}");
        repair_checksum(&mut changed, at);
        let expected = if (at - START) % CHUNK >= CHUNK - 8 { Ok(()) } else { Err(Kind::Tampered) };
        assert_eq!(read(&changed, &key(1), 40), expected, "{at}");
    }
}

#[test]
fn each_bit_before_the_chunks_is_covered() {
    let path = Temp::new("head");
    let n = if std::env::var_os("ENTASIS_TEST_LONG").is_some() { 1 } else { 13 };
    write(&path.0, 40, Some(key(1)));
    append(&path.0, 40, 5, Some(key(1)));
    let bytes = std::fs::read(&path.0).unwrap();
    for at in (0..256).chain((4096..4160).step_by(1)).chain((12_288..START).step_by(n)) {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let found = read(&changed, &key(1), 45);
            assert!(found.is_err(), "{at} {bit}");
        }
    }
    // The same with checksums that hold, by someone without the key.
    for at in (64..120).chain(4096..4152).chain((12_288..12_288 + 4088).step_by(n)) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        repair_checksum(&mut changed, at);
        assert!(read(&changed, &key(1), 45).is_err(), "{at}");
    }
}

/// Makes the checksum hold that covers a byte.
fn repair_checksum(bytes: &mut [u8], at: usize) {
    let (from, to) = match at {
        64..128 => (64, 120),
        4096..4160 => (4096, 4152),
        12_288..16_384 => (12_288, 12_288 + 4088),
        START.. => {
            let from = START + (at - START) / CHUNK * CHUNK;
            (from, from + CHUNK - 8)
        }
        _ => return,
    };
    let sum = entasis::checksum(&bytes[from..to]).to_le_bytes();
    bytes[to..to + 8].copy_from_slice(&sum);
}

#[test]
fn chunks_stay_where_they_are() {
    let (path, other) = (Temp::new("move"), Temp::new("other"));
    write(&path.0, 20_000, Some(key(1)));
    write(&other.0, 20_000, Some(key(1)));
    let (bytes, others) = (std::fs::read(&path.0).unwrap(), std::fs::read(&other.0).unwrap());
    let n = (bytes.len() - START) / CHUNK;
    assert!(n >= 3 && bytes.len() == others.len());
    let place = |i: usize| START + i * CHUNK..START + (i + 1) * CHUNK;
    for i in 0..n {
        let mut swapped = bytes.clone();
        let (a, b) = (place(i), place((i + 1) % n));
        swapped.copy_within(b.clone(), a.start);
        swapped[b].copy_from_slice(&bytes[a]);
        assert_eq!(read(&swapped, &key(1), 20_000), Err(Kind::Tampered));
        // The same chunk of another file with the same key and equal values.
        let mut spliced = bytes.clone();
        spliced[place(i)].copy_from_slice(&others[place(i)]);
        assert_eq!(read(&spliced, &key(1), 20_000), Err(Kind::Tampered));
        let cut = &bytes[..place(i).start];
        assert_eq!(read(cut, &key(1), 20_000), Err(Kind::Corrupt));
    }
    // The key pages of another file.
    let mut spliced = bytes.clone();
    spliced[12_288..START].copy_from_slice(&others[12_288..START]);
    assert_eq!(read(&spliced, &key(1), 20_000), Err(Kind::Tampered));
    for len in (0..START).step_by(997) {
        assert_eq!(read(&bytes[..len], &key(1), 20_000), Err(Kind::Corrupt), "{len}");
    }
}

#[test]
fn a_replaced_file_has_another_seal() {
    let path = Temp::new("renewed");
    write(&path.0, 20_000, Some(key(1)));
    append(&path.0, 20_000, 10, Some(key(1)));
    let old = std::fs::read(&path.0).unwrap();
    let change = Change::begin(&path.0, &options(Some(key(1))), &Silent).unwrap();
    change.compact(&options(None), &Silent).unwrap();
    let new = std::fs::read(&path.0).unwrap();
    read(&new, &key(1), 20_010).unwrap();
    let mut spliced = new.clone();
    spliced[START..START + CHUNK].copy_from_slice(&old[START..START + CHUNK]);
    assert_eq!(read(&spliced, &key(1), 20_010), Err(Kind::Tampered));
    spliced[12_288..START].copy_from_slice(&old[12_288..START]);
    assert_eq!(read(&spliced, &key(1), 20_010), Err(Kind::Tampered));
}

#[test]
fn old_slots_are_of_their_place() {
    let path = Temp::new("slots");
    write(&path.0, 1000, Some(key(1)));
    append(&path.0, 1000, 10, Some(key(1)));
    append(&path.0, 1010, 10, Some(key(1)));
    let bytes = std::fs::read(&path.0).unwrap();
    read(&bytes, &key(1), 1020).unwrap();
    for (from, to) in [(64, 8192), (4096, 8192), (8192, 4096)] {
        let mut replayed = bytes.clone();
        replayed.copy_within(from..from + 64, to);
        assert_eq!(read(&replayed, &key(1), 1020), Err(Kind::Tampered), "{from}");
    }
}

/// Someone without the key damages slots A and B and cuts the file.
#[test]
fn no_trailer_makes_an_older_generation_the_current_one() {
    let path = Temp::new("trailers");
    write(&path.0, 1000, Some(key(1)));
    let mut lens = vec![std::fs::metadata(&path.0).unwrap().len() as usize];
    for i in 0..4 {
        append(&path.0, 1000 + 10 * i, 10, Some(key(1)));
        lens.push(std::fs::metadata(&path.0).unwrap().len() as usize);
    }
    let bytes = std::fs::read(&path.0).unwrap();
    let with = |a: u8, b: u8, len: usize| {
        let mut changed = bytes[..len].to_vec();
        changed[4096..4160].fill(a);
        changed[8192..8256].fill(b);
        open_bytes(&changed, &key(1)).map(|file| file.n_rows()).map_err(|e| e.kind())
    };
    for (i, &len) in lens.iter().enumerate() {
        assert_eq!(with(0xFF, 0xFF, len), Err(Kind::Corrupt), "{i}");
        for (a, b) in [(0xFF, 0), (0, 0xFF)] {
            // A torn commit of the second generation looks like that.
            let expected = if i == 1 { Ok(1010) } else { Err(Kind::Corrupt) };
            assert_eq!(with(a, b, len), expected, "{i}");
        }
        // As the security page says, the first generation can be restored.
        assert_eq!(with(0, 0, len), Ok(1000), "{i}");
    }
    // The generations are whole, and are read by their numbers.
    let mut changed = bytes;
    changed[4096] ^= 1;
    changed[8192] ^= 1;
    let error = open_bytes(&changed, &key(1)).unwrap_err();
    assert!(error.to_string().contains("is whole"), "{error}");
}

/// Bytes of a chunk that are wrong at the first read.
struct Torn {
    inner: MemorySource,
    at: u64,
    n_left: std::sync::atomic::AtomicU32,
}

impl entasis::Source for Torn {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, at: u64, out: &mut [u8]) -> std::io::Result<usize> {
        use std::sync::atomic::Ordering::SeqCst;
        let n = self.inner.read_at(at, out)?;
        let byte = self.at.checked_sub(at).filter(|byte| *byte < n as u64);
        if let Some(byte) = byte
            && self.n_left.fetch_update(SeqCst, SeqCst, |n| n.checked_sub(1)).is_ok()
        {
            out[byte as usize] ^= 1;
        }
        Ok(n)
    }
}

#[test]
fn a_chunk_that_is_read_torn_is_read_again() {
    let path = Temp::new("torn");
    write(&path.0, 20_000, Some(key(1)));
    let bytes = std::fs::read(&path.0).unwrap();
    for at in (START..bytes.len()).step_by(CHUNK / 2 + 31) {
        for n in [1, u32::MAX] {
            let torn = Torn { inner: MemorySource::new(bytes.clone()), at: at as u64, n_left: n.into() };
            let opening = Opening { secret: Some(key(1)), ..Opening::default() };
            let file = File::from_source(Box::new(torn), Path::new("torn"), opening);
            let checked = file.and_then(|file| {
                file.verify(Some(1), &Silent)?;
                Ok(file)
            });
            match checked {
                Ok(file) => check(&file, 20_000),
                Err(error) => assert!(n > 1 && error.kind() == Kind::Corrupt, "{at}: {error}"),
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_new_file_has_the_access_rights_of_the_old_one() {
    use std::os::unix::fs::PermissionsExt;
    let (path, out) = (Temp::new("private"), Temp::new("private-copy"));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    write(&path.0, 100, Some(key(1)));
    std::fs::set_permissions(&path.0, std::fs::Permissions::from_mode(0o600)).unwrap();
    entasis::decrypt(&path.0, Some(&out.0), &options(Some(key(1))), &Silent).unwrap();
    assert_eq!(mode(&out.0), 0o600);
    std::fs::remove_file(&path.0).unwrap();
    entasis::encrypt(&out.0, Some(&path.0), &options(Some(key(1))), &Silent).unwrap();
    assert_eq!(mode(&path.0), 0o600);
    let new = WriteOptions { must_be_new: true, ..options(Some(key(1))) };
    let error = entasis::decrypt(&path.0, Some(&out.0), &new, &Silent).unwrap_err();
    assert_eq!(error.kind(), Kind::Io(std::io::ErrorKind::AlreadyExists));
}

#[test]
fn a_key_that_was_removed_opens_no_repaired_file() {
    let (path, out) = (Temp::new("removed"), Temp::new("removed-out"));
    write(&path.0, 100, Some(key(1)));
    let change = |change| entasis::change_keys(&path.0, &change, &options(Some(key(1))), &Silent).unwrap();
    change(entasis::KeyChange::Add(key(2)));
    let (first, second) = (open(&path.0, Some(key(1))).unwrap(), open(&path.0, Some(key(2))).unwrap());
    change(entasis::KeyChange::Remove(Some(1)));
    let repair = |file: &File| file.repair(&out.0, &options(None), &Silent).map_err(|e| e.kind());
    assert_eq!(repair(&second).unwrap_err(), Kind::WrongKey);
    repair(&first).unwrap();
    check(&open(&out.0, Some(key(1))).unwrap(), 100);
    assert_eq!(open(&out.0, Some(key(2))).unwrap_err().kind(), Kind::WrongKey);
}

#[test]
fn keys_of_newer_files_stay() {
    let path = Temp::new("newer");
    write(&path.0, 100, Some(key(1)));
    let mut bytes = std::fs::read(&path.0).unwrap();
    bytes[17] |= 1;
    let sum = entasis::checksum(&bytes[..56]).to_le_bytes();
    bytes[56..64].copy_from_slice(&sum);
    std::fs::write(&path.0, &bytes).unwrap();
    let change = entasis::KeyChange::Add(key(2));
    let error = entasis::change_keys(&path.0, &change, &options(Some(key(1))), &Silent).unwrap_err();
    assert_eq!(error.kind(), Kind::Newer);
    assert!(std::fs::read(&path.0).unwrap() == bytes);
}

/// Chunks of a file by salt and counter. Equal chunks are the same one in a copy of the file.
#[derive(Default)]
struct Chunks(HashMap<Vec<u8>, u64>);

impl Chunks {
    fn look(&mut self, path: &Path, from: usize) {
        let bytes = std::fs::read(path).unwrap();
        let first = from.saturating_sub(START) / CHUNK;
        for chunk in bytes[START..].chunks_exact(CHUNK).skip(first) {
            let sum = entasis::checksum(chunk);
            let known = *self.0.entry(chunk[..24].to_vec()).or_insert(sum);
            assert_eq!(known, sum, "a nonce was used twice");
        }
    }
}

/// Appends with crashes, retries and rollbacks, of a file and a copy of it that grow apart.
#[test]
fn no_salt_and_counter_come_twice() {
    let (path, copy) = (Temp::new("nonces"), Temp::new("copy"));
    let n: u64 = if std::env::var_os("ENTASIS_TEST_LONG").is_some() { 10_000 } else { 60 };
    let options = WriteOptions { durable: Durable::Never, ..options(Some(key(1))) };
    write(&path.0, 3000, Some(key(1)));
    let mut chunks = Chunks::default();
    let more = rows(3000, 10);
    let memory: Vec<Memory> = more.iter().map(|(_, model)| Memory::new(model)).collect();
    let append = |path: &Path, disk: Arc<dyn Disk>| {
        let change = Change::begin_on(disk, path, &options, &Silent)?;
        let content = change.append(frame_of(&more, &memory), &[])?;
        change.commit(content, Operation::Append, &options, &Silent)
    };
    for i in 0..n {
        // Old chunks are in place, unless the file was replaced.
        let len = std::fs::metadata(&path.0).unwrap().len() as usize;
        let from = if len < 1 << 20 { 0 } else { len - 4 * CHUNK };
        if i % 20 == 0 {
            std::fs::copy(&path.0, &copy.0).unwrap();
            append(&copy.0, Arc::new(NativeDisk)).unwrap();
            chunks.look(&copy.0, from);
        }
        if i % 3 == 0 {
            let _ = append(&path.0, Arc::new(FaultDisk::crashing(i / 3 % 12)));
            chunks.look(&path.0, from);
        }
        append(&path.0, Arc::new(NativeDisk)).unwrap();
        chunks.look(&path.0, from);
        if i % 50 == 49 {
            let change = Change::begin(&path.0, &options, &Silent).unwrap();
            let generation = change.file().generation();
            change.rollback(generation, &options, &Silent).unwrap();
            chunks.look(&path.0, 0);
        }
    }
    open(&path.0, Some(key(1))).unwrap().verify(Some(1), &Silent).unwrap();
}

#[test]
fn costly_passwords_are_refused_before_any_work() {
    let path = Temp::new("bomb");
    write(&path.0, 10, Some(password("a")));
    let mut bytes = std::fs::read(&path.0).unwrap();
    bytes[12_288 + 40..12_288 + 44].copy_from_slice(&(4u32 << 20).to_le_bytes());
    repair_checksum(&mut bytes, 12_288);
    let started = std::time::Instant::now();
    let error = open_bytes(&bytes, &password("a")).unwrap_err();
    assert_eq!((error.kind(), error.exceeded_limit()), (Kind::Limit, Some("derivation_len")));
    assert!(started.elapsed().as_millis() < 1000);
    let mut limits = Limits::default();
    limits.derivation_len = 1 << 20;
    let opening = Opening { limits, secret: Some(password("a")) };
    assert_eq!(File::open_with(&path.0, opening).unwrap_err().kind(), Kind::Limit);
}

#[test]
fn another_file_key_shuts_out_old_key_pages() {
    let path = Temp::new("rekey");
    write(&path.0, 1000, Some(key(1)));
    let old = std::fs::read(&path.0).unwrap();
    let change = Change::begin(&path.0, &options(Some(key(1))), &Silent).unwrap();
    change.rekey(&options(None), &Silent).unwrap();
    let mut bytes = std::fs::read(&path.0).unwrap();
    read(&bytes, &key(1), 1000).unwrap();
    bytes[12_288..START].copy_from_slice(&old[12_288..START]);
    assert_eq!(read(&bytes, &key(1), 1000), Err(Kind::Tampered));
}

#[test]
fn repair_saves_intact_values_under_the_same_key() {
    let (path, out) = (Temp::new("broken"), Temp::new("saved"));
    write(&path.0, 150_000, Some(key(1)));
    let mut bytes = std::fs::read(&path.0).unwrap();
    bytes[START + 100] ^= 1;
    std::fs::write(&path.0, &bytes).unwrap();
    let survey = entasis::repair(&path.0, &out.0, &options(Some(key(1))), &Silent).unwrap();
    assert!(!survey.damages.is_empty());
    let saved = open(&out.0, Some(key(1))).unwrap();
    assert!(saved.n_rows() > 0 && open(&out.0, None).is_err());
    saved.verify(Some(1), &Silent).unwrap();
}
