//! Failures give typed errors, leave the old file unchanged and no other file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{self, Memory, Model, check, file_of, frame_of, open};
use entasis::{
    Column, File, Frame, Kind, Limits, MemorySink, MemorySource, Monitor, Physical, Rows, Silent,
    WriteOptions, write, write_to,
};
use entasis_fault::{Faults, Faulty};

fn columns(n: usize) -> Vec<(&'static str, Model)> {
    let numbers: Vec<i64> = (0..n as i64).map(|i| i * 7919 % 100_003).collect();
    let texts: Vec<String> = (0..n).map(|i| format!("text {}", i * i % 977)).collect();
    vec![
        ("numbers", Model::words(Physical::I64, &numbers).with_missing(|i| i % 11 != 0)),
        ("texts", Model::text(&texts)),
    ]
}

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("entasis-failures-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn an_error_of_the_sink_at_any_call_is_told() {
    let columns = columns(200_000);
    let memory: Vec<Memory> = columns.iter().map(|(_, model)| Memory::new(model)).collect();
    let frame = frame_of(&columns, &memory);
    let options = WriteOptions { threads: Some(2), ..WriteOptions::default() };
    let mut call = 0;
    loop {
        let faults = Faults::once(call, ErrorKind::StorageFull);
        let sink = Faulty::new(MemorySink::new()).failing(faults.clone());
        let result = write_to(&sink, &frame, &options, &Silent);
        if !faults.reached() {
            result.unwrap();
            break;
        }
        assert_eq!(result.unwrap_err().kind(), Kind::Io(ErrorKind::StorageFull));
        call += 1;
    }
    assert!(call >= 3, "segments, footer and header are written apart");
}

#[test]
fn short_reads_and_writes_change_nothing() {
    let columns = columns(30_000);
    let memory: Vec<Memory> = columns.iter().map(|(_, model)| Memory::new(model)).collect();
    let sink = Faulty::new(MemorySink::new()).short(3);
    write_to(&sink, &frame_of(&columns, &memory), &WriteOptions::default(), &Silent).unwrap();
    let bytes = sink.into_inner().into_bytes();
    assert!(bytes == file_of(&columns, &WriteOptions::default()));
    let source = Faulty::new(MemorySource::new(bytes)).short(5);
    let file = File::from_source(Box::new(source), Path::new("short"), Limits::default()).unwrap();
    check(&file, 0, &columns[0].1, &Rows::All, 2);
    check(&file, 1, &columns[1].1, &Rows::Range(100..29_000), 1);
}

#[test]
fn an_error_of_the_source_at_any_call_is_told() {
    let columns = columns(100_000);
    let bytes = file_of(&columns, &WriteOptions::default());
    let mut call = 0;
    loop {
        let faults = Faults::once(call, ErrorKind::Other);
        let source = Faulty::new(MemorySource::new(bytes.clone())).failing(faults.clone());
        let read =
            File::from_source(Box::new(source), Path::new("failing"), Limits::default()).and_then(|file| {
                Ok((common::read(&file, 0, &Rows::All, 1)?, common::read(&file, 1, &Rows::All, 1)?))
            });
        if !faults.reached() {
            read.unwrap();
            break;
        }
        let error = read.unwrap_err();
        assert_eq!(error.kind(), Kind::Io(ErrorKind::Other));
        assert!(error.to_string().contains("failing"), "{error}");
        call += 1;
    }
    assert!(call >= 3, "{call}");
}

#[test]
fn a_file_that_shrinks_under_its_reader_is_damaged() {
    let folder = Folder::new();
    let path = folder.0.join("a.entasis");
    let columns = columns(100_000);
    std::fs::write(&path, file_of(&columns, &WriteOptions::default())).unwrap();
    let file = File::open(&path).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1000).unwrap();
    let error = common::read(&file, 0, &Rows::All, 2).unwrap_err();
    assert_eq!(error.kind(), Kind::Corrupt);
}

struct Impatient;

impl Monitor for Impatient {
    fn interrupted(&self) -> bool {
        true
    }
}

#[test]
fn an_interrupted_write_leaves_the_old_file() {
    let folder = Folder::new();
    let path = folder.0.join("a.entasis");
    let old = columns(10);
    let memory: Vec<Memory> = old.iter().map(|(_, model)| Memory::new(model)).collect();
    write(&path, &frame_of(&old, &memory), &WriteOptions::default(), &Silent).unwrap();
    let before = std::fs::read(&path).unwrap();
    // The monitor is called after 50 ms. Texts of the same words in any order take seconds at this
    // setting.
    let word =
        |n: u64| ["lake", "street", "mountain", "river", "valley", "house", "bridge", "wood"][n as usize % 8];
    let text = |i: u64| {
        let mixed = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("{} {} {} {}", word(mixed >> 40), word(mixed >> 47), mixed >> 54, word(mixed >> 33))
    };
    let texts: Vec<String> = (0..1_000_000).map(text).collect();
    let new = [("texts", Model::text(&texts))];
    let memory: Vec<Memory> = new.iter().map(|(_, model)| Memory::new(model)).collect();
    let options = WriteOptions { compression: Some(100), ..WriteOptions::default() };
    let error = write(&path, &frame_of(&new, &memory), &options, &Impatient).unwrap_err();
    assert_eq!(error.kind(), Kind::Interrupted);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(folder.names(), ["a.entasis"]);
}

#[test]
fn what_is_no_file_of_ours_is_told_apart() {
    let folder = Folder::new();
    let kind = |name: &str| File::open(&folder.0.join(name)).unwrap_err().kind();
    assert_eq!(kind("missing"), Kind::Io(ErrorKind::NotFound));
    std::fs::create_dir(folder.0.join("folder")).unwrap();
    assert_eq!(kind("folder"), Kind::Io(ErrorKind::IsADirectory));
    std::fs::write(folder.0.join("empty"), b"").unwrap();
    assert_eq!(kind("empty"), Kind::Corrupt);
    std::fs::write(folder.0.join("text"), "a,b,c\n".repeat(100)).unwrap();
    assert_eq!(kind("text"), Kind::NotEntasis);
    let error = File::open(&folder.0.join("text")).unwrap_err().to_string();
    assert!(error.contains("looks like a table of text"), "{error}");
    let mut bytes = file_of(&columns(100), &WriteOptions::default());
    std::fs::write(folder.0.join("truncated"), &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(kind("truncated"), Kind::Corrupt);
    bytes[16] |= 8;
    let sum = entasis::checksum(&bytes[..56]);
    bytes[56..64].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(folder.0.join("newer"), &bytes).unwrap();
    assert_eq!(kind("newer"), Kind::Newer);
}

#[test]
fn bytes_after_the_end_are_ignored_by_reading_and_found_by_verify() {
    let folder = Folder::new();
    let path = folder.0.join("a.entasis");
    let mut bytes = file_of(&columns(100), &WriteOptions::default());
    let len = bytes.len() as u64;
    for n in [1, 9] {
        bytes.resize(len as usize + n, 7);
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(File::open(&path).unwrap().n_rows(), 100);
        let error = entasis::verify(&path, None, &Silent).unwrap_err();
        assert_eq!((error.kind(), error.location().at), (Kind::Corrupt, Some(len)), "{error}");
        assert!(error.message().starts_with(&format!("{n} byte")), "{error}");
    }
}

#[test]
fn a_target_that_cannot_be_written_is_told() {
    let folder = Folder::new();
    let columns = columns(10);
    let memory: Vec<Memory> = columns.iter().map(|(_, model)| Memory::new(model)).collect();
    let frame = frame_of(&columns, &memory);
    let kind = |path: &Path| write(path, &frame, &WriteOptions::default(), &Silent).unwrap_err().kind();
    assert_eq!(kind(&folder.0), Kind::Io(ErrorKind::IsADirectory));
    assert_eq!(kind(&folder.0.join("no/such/folder/a")), Kind::Io(ErrorKind::NotFound));
    assert!(folder.names().is_empty());
}

#[test]
fn frames_that_contradict_themselves_are_refused() {
    let columns = columns(10);
    let memory: Vec<Memory> = columns.iter().map(|(_, model)| Memory::new(model)).collect();
    let refused = |frame: &Frame, options: &WriteOptions| {
        let sink = MemorySink::new();
        let error = write_to(&sink, frame, options, &Silent).unwrap_err();
        assert_eq!(error.kind(), Kind::Argument, "{error}");
        error.to_string()
    };
    let mut frame = frame_of(&columns, &memory);
    frame.n_rows = 11;
    assert!(refused(&frame, &WriteOptions::default()).contains("numbers"));
    let frame = frame_of(&columns, &memory);
    let options = WriteOptions { compression: Some(101), ..WriteOptions::default() };
    assert!(refused(&frame, &options).contains("0 to 100"));
    let options = WriteOptions { column_compression: vec![("none".into(), 5)], ..WriteOptions::default() };
    assert!(refused(&frame, &options).contains("none"));
    for edition in [0, 2, 255] {
        let options = WriteOptions { edition: Some(edition), ..WriteOptions::default() };
        let message = format!("edition {edition} is not known: this release writes edition 1");
        assert!(refused(&frame, &options).contains(&message));
    }
    let mut frame = frame_of(&columns, &memory);
    let column: &mut Column = &mut frame.columns[0];
    column.dictionary = Some(3);
    assert!(refused(&frame, &WriteOptions::default()).contains("dictionary"));
}

#[test]
fn columns_may_have_a_compression_of_their_own() {
    let columns = columns(50_000);
    let options = WriteOptions { column_compression: vec![("texts".into(), 0)], ..WriteOptions::default() };
    let file = open(&file_of(&columns, &options)).unwrap();
    check(&file, 1, &columns[1].1, &Rows::All, 1);
    let packing = |column| file.blocks(column).unwrap()[0].encoding.packing;
    assert_eq!((packing(0), packing(1)), (entasis::Packing::BitPacked, entasis::Packing::Strings));
}

#[test]
fn files_have_the_edition_that_was_asked_for() {
    let columns = columns(10);
    let of = |edition| file_of(&columns, &WriteOptions { edition, ..WriteOptions::default() });
    assert!(of(None) == of(Some(1)));
    let file = open(&of(None)).unwrap();
    assert_eq!((file.edition(), file.info().unwrap().edition), (1, 1));
    assert!(file.info().unwrap().to_json().contains(r#""edition":1,"#));
}

#[test]
fn what_a_reader_would_refuse_is_not_written() {
    let refused = |columns: &[(&str, Model)]| {
        let memory: Vec<Memory> = columns.iter().map(|(_, model)| Memory::new(model)).collect();
        let frame = frame_of(columns, &memory);
        write_to(&MemorySink::new(), &frame, &WriteOptions::default(), &Silent).unwrap_err()
    };
    let broken = Model::text(&[&b"fine"[..], &b"\xff\xfe"[..]]);
    let error = refused(&[("broken", broken)]);
    assert!(error.kind() == Kind::Argument && error.to_string().contains("broken"), "{error}");
    // The halves of a character are not valid strings, although they are valid when joined.
    let halves = Model::text(&[&b"\xc3"[..], &b"\xa9"[..]]);
    assert_eq!(refused(&[("halves", halves)]).kind(), Kind::Argument);
    let name = "n".repeat(70_000);
    let error = refused(&[(&name, Model::words(Physical::I32, &[1i32]))]);
    assert_eq!(error.kind(), Kind::Unsupported);
}
