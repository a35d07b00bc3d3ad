//! Reading files, also while they are replaced.

use std::fs;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::{ALL, Folder, number_of, replace, version};
use entasis_io::{Durable, FileSource, Source};

fn read(source: &dyn Source) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(source.len()).unwrap()];
    source.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn eight_readers_see_whole_versions_only() {
    let folder = Folder::new();
    let target = folder.path("file");
    replace(&target, Durable::Auto, &version(1)).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let (mut reads, mut last) = (0, 0);
                    while !done.load(Ordering::Acquire) || reads == 0 {
                        let number = number_of(&read(&FileSource::open(&target).unwrap()));
                        assert!(number >= last);
                        (reads, last) = (reads + 1, number);
                    }
                })
            })
            .collect();
        for number in 2..302 {
            replace(&target, ALL[number as usize % 3], &version(number * 13)).unwrap();
        }
        done.store(true, Ordering::Release);
        for reader in readers {
            reader.join().unwrap();
        }
    });
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn an_open_file_stays_the_old_one() {
    let folder = Folder::new();
    let target = folder.path("file");
    replace(&target, Durable::Auto, &version(700)).unwrap();
    let source = FileSource::open(&target).unwrap();
    replace(&target, Durable::Auto, &version(900)).unwrap();
    assert_eq!(read(&source), version(700));
    fs::remove_file(&target).unwrap();
    assert_eq!(read(&source), version(700));
}

#[test]
fn reads_beyond_the_end() {
    let folder = Folder::new();
    fs::write(folder.path("file"), b"abcd").unwrap();
    let source = FileSource::open(folder.path("file")).unwrap();
    let mut out = [0; 3];
    assert_eq!((source.len(), source.is_empty()), (4, false));
    assert_eq!(source.read_at(3, &mut out).unwrap(), 1);
    assert_eq!(source.read_at(4, &mut out).unwrap(), 0);
    for at in [2, 4, 1 << 40, i64::MAX as u64, u64::MAX - 1, u64::MAX] {
        assert_eq!(source.read_exact_at(at, &mut out).unwrap_err().kind(), ErrorKind::UnexpectedEof, "{at}");
    }
    fs::OpenOptions::new().write(true).open(folder.path("file")).unwrap().set_len(1).unwrap();
    assert_eq!(source.read_exact_at(0, &mut out).unwrap_err().kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn only_files_are_opened() {
    let folder = Folder::new();
    assert_eq!(FileSource::open(&folder.0).unwrap_err().kind(), ErrorKind::IsADirectory);
    assert_eq!(FileSource::open(folder.path("missing")).unwrap_err().kind(), ErrorKind::NotFound);
    #[cfg(unix)]
    {
        let pipe = folder.path("pipe");
        if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
            assert_eq!(FileSource::open(&pipe).unwrap_err().kind(), ErrorKind::InvalidInput);
            assert_eq!(replace(&pipe, Durable::Auto, b"new").unwrap_err().kind(), ErrorKind::InvalidInput);
        }
    }
}
