//! Tests of sources as a whole.

use std::io::Write;
use std::sync::mpsc::channel;
use std::thread::ThreadId;
use std::time::Duration;
use std::{env, process, thread};

use entasis::Kind;
use flate2::write::{DeflateEncoder, GzEncoder};
use proptest::prelude::*;

use super::*;

/// A text of at least `len` bytes, with characters of Latin-1 beyond ASCII.
fn sample_text(len: usize) -> String {
    let mut text = String::from("id,name,pr\u{ef}x\n");
    let mut state = 1_u64;
    while text.len() < len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = state >> 40;
        text.push_str(&format!("{number},caf\u{e9} {},{}.{:02}\n", number % 97, number % 1000, number % 89));
    }
    text
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// One member of gzip with this extra field, name and comment.
fn gzip_with_all_fields(text: &[u8]) -> Vec<u8> {
    let mut header = vec![0x1F, 0x8B, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3];
    header.extend_from_slice(&5000_u16.to_le_bytes());
    header.extend_from_slice(&[7; 5000]);
    header.extend_from_slice(b"x.csv\0a comment\0");
    let mut crc = flate2::Crc::new();
    crc.update(&header);
    header.extend_from_slice(&(crc.sum() as u16).to_le_bytes());
    header.extend_from_slice(&gzip(text)[10..]);
    header
}

fn bgzf_member(text: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(text).unwrap();
    let packed = encoder.finish().unwrap();
    let mut crc = flate2::Crc::new();
    crc.update(text);
    let mut member = vec![0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF, 6, 0, b'B', b'C', 2, 0];
    member.extend_from_slice(&(packed.len() as u16 + 25).to_le_bytes());
    member.extend_from_slice(&packed);
    member.extend_from_slice(&crc.sum().to_le_bytes());
    member.extend_from_slice(&(text.len() as u32).to_le_bytes());
    member
}

fn bgzf_of(text: &[u8], len: usize) -> Vec<u8> {
    let mut packed: Vec<u8> = text.chunks(len).flat_map(bgzf_member).collect();
    packed.extend_from_slice(&super::gzip::BGZF_END);
    packed
}

fn bgzf(text: &[u8]) -> Vec<u8> {
    bgzf_of(text, 30_000)
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::new(1));
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn xz(text: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    let mut context = zstd_safe::CCtx::create();
    context.set_parameter(zstd_safe::CParameter::ChecksumFlag(true)).unwrap();
    let mut packed = vec![0; zstd_safe::compress_bound(text.len())];
    let n = context.compress2(&mut packed[..], text).unwrap();
    packed.truncate(n);
    packed
}

fn plain(text: &[u8]) -> Vec<u8> {
    text.to_vec()
}

type Pack = fn(&[u8]) -> Vec<u8>;

const PACKED: [(&str, Pack); 5] =
    [("gzip", gzip), ("BGZF", bgzf), ("bzip2", bzip2), ("xz", xz), ("zstd", zstd)];

fn with_threads(threads: usize) -> SourceOptions {
    SourceOptions { threads, ..SourceOptions::default() }
}

fn of_bytes(bytes: &[u8]) -> Origin {
    Origin::Bytes(Arc::new(bytes.to_vec()))
}

fn of_stream(bytes: &[u8], len: usize) -> Origin {
    Origin::Stream { name: "standard input".into(), reader: Box::new(Short::new(bytes, len)) }
}

/// Gives few bytes at a time, to the thread that made it alone.
struct Short {
    bytes: Vec<u8>,
    at: usize,
    len: usize,
    thread: ThreadId,
}

impl Short {
    fn new(bytes: &[u8], len: usize) -> Self {
        Self { bytes: bytes.to_vec(), at: 0, len, thread: thread::current().id() }
    }
}

impl Read for Short {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        assert_eq!(thread::current().id(), self.thread);
        let n = into.len().min(self.len).min(self.bytes.len() - self.at);
        into[..n].copy_from_slice(&self.bytes[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// A file that is removed at the end.
struct TestFile(PathBuf);

impl TestFile {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = env::temp_dir().join(format!("entasis-source-{}-{name}", process::id()));
        fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn origin(&self) -> Origin {
        Origin::Path(self.0.clone())
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The rest of a text, in reads of this length. All but the last fill their buffers.
fn rest_of(source: &mut Source, len: usize) -> Result<Vec<u8>> {
    let (mut text, mut buffer) = (Vec::new(), vec![0; len]);
    loop {
        let n = source.read(&mut buffer)?;
        text.extend_from_slice(&buffer[..n]);
        if n < len {
            assert_eq!(source.read(&mut buffer)?, 0);
            return Ok(text);
        }
    }
}

fn read_all(origin: Origin, options: &SourceOptions) -> Result<Vec<u8>> {
    rest_of(&mut Source::open(origin, options)?, 1 << 20)
}

fn error_of(bytes: &[u8]) -> Error {
    read_all(of_bytes(bytes), &with_threads(1)).unwrap_err()
}

fn assert_text(found: &[u8], expected: &[u8], what: &str) {
    // A failed comparison of long texts prints only where they differ.
    let differs = found.iter().zip(expected).position(|(a, b)| a != b);
    assert!(found == expected, "{what}: {} and {} bytes, {differs:?}", found.len(), expected.len());
}

#[test]
fn every_compression_encoding_and_read_size_gives_the_same_text() {
    let text = sample_text(70_000);
    let utf_16 = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let latin_1: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let encodings: Vec<(Option<&str>, &str, Vec<u8>)> = vec![
        (None, "UTF-8", text.clone().into_bytes()),
        (None, "UTF-8", [b"\xEF\xBB\xBF", text.as_bytes()].concat()),
        (Some("utf_8_sig"), "UTF-8", [b"\xEF\xBB\xBF", text.as_bytes()].concat()),
        (None, "UTF-16LE", [vec![0xFF, 0xFE], utf_16(u16::to_le_bytes)].concat()),
        (None, "UTF-16BE", [vec![0xFE, 0xFF], utf_16(u16::to_be_bytes)].concat()),
        (Some("utf-16be"), "UTF-16BE", utf_16(u16::to_be_bytes)),
        (Some("latin-1"), "ISO-8859-1", latin_1.clone()),
        (Some("cp1252"), "windows-1252", latin_1.clone()),
        (None, "windows-1252", latin_1),
    ];
    let ways =
        [("plain", plain as Pack)].into_iter().chain(PACKED).chain([("gzip", gzip_with_all_fields as Pack)]);
    for (compression, pack) in ways {
        for (given, name, stored) in &encodings {
            let packed = pack(stored);
            let options =
                |threads| SourceOptions { encoding: given.map(Into::into), ..with_threads(threads) };
            for (len, threads) in [(1, 1), (7, 2), (4096, 3), (1 << 20, 2)] {
                let what = format!("{compression} {name} {len}");
                for origin in [of_bytes(&packed), of_stream(&packed, 1000)] {
                    let mut source = Source::open(origin, &options(threads)).unwrap();
                    assert_text(&rest_of(&mut source, len).unwrap(), text.as_bytes(), &what);
                    assert_eq!(
                        (source.encoding(), source.compression().unwrap_or("plain")),
                        (*name, compression)
                    );
                    assert_eq!(
                        source.warnings().len(),
                        usize::from(given.is_none() && *name == "windows-1252")
                    );
                    assert_eq!(source.consumed(), packed.len() as u64);
                }
            }
        }
    }
}

#[test]
fn windows_1252_is_that_of_the_standard() {
    let mut stored: Vec<u8> = (0..=255).flat_map(|a| (0..=255).flat_map(move |b| [b'-', a, b])).collect();
    stored.extend((0..=255_u8).flat_map(|byte| [&[b'x'; 61][..], &[byte]].concat()));
    stored.push(b'\n');
    let options = SourceOptions { encoding: Some("cp1252".into()), ..with_threads(1) };
    let expected = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&stored).0;
    for len in [1, 63, 65, 1 << 20] {
        let mut source = Source::open(of_bytes(&stored), &options).unwrap();
        assert_text(&rest_of(&mut source, len).unwrap(), expected.as_bytes(), "windows-1252");
    }
}

#[test]
fn a_source_can_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Source>();
}

#[test]
fn long_texts_pass_all_buffers() {
    let long = sample_text(6 << 20);
    for (name, pack) in [("plain", plain as Pack)].into_iter().chain(PACKED) {
        // These decoders are slow without optimisation.
        let len = if matches!(name, "bzip2" | "xz") { 2 << 20 } else { long.len() };
        let text = long.get(..len).unwrap_or(&long);
        let packed = pack(text.as_bytes());
        let file = TestFile::new(&format!("long-{name}"), &packed);
        for threads in [1, 2, 5] {
            for origin in [file.origin(), of_bytes(&packed), of_stream(&packed, usize::MAX)] {
                let found = read_all(origin, &with_threads(threads)).unwrap();
                assert_text(&found, text.as_bytes(), name);
            }
        }
    }
}

#[test]
fn members_frames_and_streams_follow_each_other() {
    let (a, b) = (sample_text(70_000), sample_text(3_000));
    let expected = [a.as_bytes(), b.as_bytes(), a.as_bytes()].concat();
    for (name, pack) in PACKED {
        let mut packed = [pack(a.as_bytes()), pack(b.as_bytes()), pack(b""), pack(a.as_bytes())].concat();
        for threads in [1, 4] {
            let found = read_all(of_bytes(&packed), &with_threads(threads)).unwrap();
            assert_text(&found, &expected, name);
        }
        if name != "zstd" {
            packed.extend_from_slice(&[0; 1000]);
            assert_text(&read_all(of_bytes(&packed), &with_threads(2)).unwrap(), &expected, name);
        }
        packed.extend_from_slice(b"x,y\n");
        let error = error_of(&packed);
        assert!(error.kind() == Kind::Corrupt && error.location().at.is_some(), "{error}");
    }
    // Skippable frames, as pzstd writes them.
    let skipped =
        [b"\x50\x2A\x4D\x18\x03\0\0\0abc".to_vec(), zstd(b"x\n"), b"\x5F\x2A\x4D\x18\0\0\0\0".to_vec()];
    assert_eq!(read_all(of_bytes(&skipped.concat()), &with_threads(1)).unwrap(), b"x\n");
    // BGZF, then another kind of member, and the other way round.
    for packed in [[bgzf(a.as_bytes()), gzip(b.as_bytes())], [gzip(a.as_bytes()), bgzf(b.as_bytes())]] {
        for threads in [1, 3] {
            let found = read_all(of_bytes(&packed.concat()), &with_threads(threads)).unwrap();
            assert_text(&found, &[a.as_bytes(), b.as_bytes()].concat(), "mixed");
        }
    }
}

#[test]
fn a_truncated_source_never_succeeds() {
    let text = sample_text(500);
    for (name, pack) in [("BGZF", (|text| bgzf_of(text, 100)) as Pack)].into_iter().chain(PACKED) {
        let packed = pack(text.as_bytes());
        // Shorter starts of these are texts of a few letters.
        let shortest = match name {
            "gzip" | "BGZF" => 1,
            "bzip2" => 5,
            "xz" => 6,
            _ => 4,
        };
        for len in shortest..packed.len() {
            let error = error_of(&packed[..len]);
            assert_eq!(error.kind(), Kind::Corrupt, "{name} {len}: {error}");
            assert!(error.to_string().contains("truncated"), "{name} {len}: {error}");
        }
        assert_text(&read_all(of_bytes(&packed), &with_threads(1)).unwrap(), text.as_bytes(), name);
    }
}

#[test]
fn a_truncated_long_source_fails_in_every_thread() {
    let text = sample_text(3 << 20);
    for (name, pack) in PACKED {
        let packed = pack(text.as_bytes());
        let file = TestFile::new(&format!("cut-{name}"), &packed[..packed.len() / 2]);
        for origin in [file.origin(), of_stream(&packed[..packed.len() - 1], 5000)] {
            let error = read_all(origin, &with_threads(4)).unwrap_err();
            assert!(error.to_string().contains("truncated"), "{error}");
            assert!(error.location().file.is_some(), "{error}");
        }
    }
}

#[test]
fn changed_bytes_are_an_error_or_change_nothing() {
    let text = sample_text(600);
    for (name, pack) in [("BGZF", (|text| bgzf_of(text, 100)) as Pack)].into_iter().chain(PACKED) {
        let packed = pack(text.as_bytes());
        for at in 0..packed.len() {
            for flip in [1, 0x80, 0xFF] {
                let mut changed = packed.clone();
                changed[at] ^= flip;
                match read_all(of_bytes(&changed), &with_threads(1)) {
                    Ok(found) => {
                        // Without its magic number it is another text or binary data.
                        let is_other = found.len() == changed.len() || at < 10;
                        assert!(
                            is_other || found == text.as_bytes(),
                            "{name}: byte {at} of {}",
                            packed.len()
                        );
                    }
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
        }
    }
}

#[test]
fn bombs_end_at_the_limit_and_need_no_memory() {
    let line = [vec![b'7'; 99], vec![b'\n']].concat();
    let text = line.repeat(300_000);
    for (name, pack) in PACKED {
        let packed = pack(&text);
        for threads in [1, 2] {
            let options = SourceOptions { max_bytes: Some(20_000_000), ..with_threads(threads) };
            let error = read_all(of_bytes(&packed), &options).unwrap_err();
            assert_eq!(error.kind(), Kind::Limit, "{name}: {error}");
            let options = SourceOptions { max_bytes: Some(text.len() as u64), ..with_threads(threads) };
            assert_eq!(read_all(of_bytes(&packed), &options).unwrap().len(), text.len());
        }
    }
    let options = SourceOptions { max_bytes: Some(3), ..SourceOptions::default() };
    assert_eq!(read_all(of_bytes(b"a,b\n"), &options).unwrap(), b"a,b\n");
}

#[test]
fn a_dropped_source_ends_its_threads() {
    let text = sample_text(6 << 20);
    let (done, is_done) = channel();
    let worker = thread::spawn(move || {
        for (_, pack) in PACKED {
            let packed = pack(text.as_bytes());
            for n in [0, 1, 1 << 20] {
                for origin in [of_bytes(&packed), of_stream(&packed, 100_000)] {
                    let mut source = Source::open(origin, &with_threads(3)).unwrap();
                    assert_eq!(source.read(&mut vec![0; n]).unwrap(), n);
                }
            }
        }
        done.send(()).unwrap();
    });
    is_done.recv_timeout(Duration::from_secs(60)).unwrap();
    worker.join().unwrap();
}

#[test]
fn a_thread_that_panics_is_an_error() {
    struct Panics;
    impl Stage for Panics {
        fn read(&mut self, _: &mut [u8]) -> Result<usize> {
            panic!("as the test wants it");
        }
    }
    let mut ahead = Ahead::start(Box::new(Panics)).ok().unwrap();
    assert!(ahead.read(&mut [0]).unwrap_err().to_string().contains("panicked"));
    assert_eq!(ahead.read(&mut [0]).unwrap(), 0);
}

#[test]
fn errors_of_a_stream_arrive() {
    struct Fails(usize);
    impl Read for Fails {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            if self.0 == 0 {
                return Err(std::io::Error::other(Error::interrupted()));
            }
            self.0 -= 1;
            let packed = gzip(sample_text(1 << 20).as_bytes());
            let n = into.len().min(1000);
            into[..n].copy_from_slice(&packed[..n]);
            Ok(n)
        }
    }
    for threads in [1, 2] {
        for n in [0, 1] {
            let origin = Origin::Stream { name: "a pipe".into(), reader: Box::new(Fails(n)) };
            let error = read_all(origin, &with_threads(threads)).unwrap_err();
            assert_eq!(error.kind(), Kind::Interrupted, "{error}");
            assert!(error.to_string().contains("a pipe"), "{error}");
        }
    }
}

#[test]
fn each_kind_of_source_is_read_again() {
    let text = sample_text(1_700_000);
    for (name, pack) in [("plain", plain as Pack)].into_iter().chain(PACKED) {
        let packed = pack(&[b"\xEF\xBB\xBF", text.as_bytes()].concat());
        let file = TestFile::new(&format!("again-{name}"), &packed);
        let options = SourceOptions { spill_limit: 1 << 30, ..with_threads(2) };
        for origin in [file.origin(), of_bytes(&packed), of_stream(&packed, 70_000)] {
            let mut source = Source::open(origin, &options).unwrap();
            // Part of the text, all of it, and all of it once more.
            let mut start = vec![0; 1_500_000];
            assert_eq!(source.read(&mut start).unwrap(), start.len());
            assert_text(&start, &text.as_bytes()[..start.len()], name);
            for len in [99_999, 1 << 22] {
                source.rewind().unwrap();
                assert_text(&rest_of(&mut source, len).unwrap(), text.as_bytes(), name);
            }
            source.rewind().unwrap();
            assert!(source.sample(1000, 0, 0).unwrap().pieces[0] == text.as_bytes()[..1000]);
            source.rewind().unwrap();
            assert_text(&rest_of(&mut source, 1 << 22).unwrap(), text.as_bytes(), name);
        }
        let mut source = Source::open(of_stream(&packed, 1000), &with_threads(2)).unwrap();
        let error = source.rewind().unwrap_err().to_string();
        assert!(error.contains("only once") && error.contains("spill_limit"), "{error}");
    }
}

#[test]
fn a_changed_file_is_not_read_again() {
    for (name, pack) in [("plain", plain as Pack), ("gzip", gzip)] {
        let packed = pack(sample_text(100_000).as_bytes());
        let file = TestFile::new(&format!("changed-{name}"), &packed);
        let mut source = Source::open(file.origin(), &with_threads(2)).unwrap();
        rest_of(&mut source, 4096).unwrap();
        fs::OpenOptions::new().append(true).open(&file.0).unwrap().write_all(b"1,2\n").unwrap();
        let error = source.rewind().unwrap_err().to_string();
        assert!(error.contains("changed"), "{error}");
    }
    let file = TestFile::new("shorter", sample_text(3 << 20).as_bytes());
    let mut source = Source::open(file.origin(), &with_threads(2)).unwrap();
    fs::OpenOptions::new().write(true).open(&file.0).unwrap().set_len(2 << 20).unwrap();
    let error = rest_of(&mut source, 4096).unwrap_err().to_string();
    assert!(error.contains("shorter"), "{error}");
}

#[test]
fn a_copy_goes_to_a_file_and_stops_at_its_limit() {
    // Bytes that LZ4 does not shorten, so that the copy exceeds its part in memory.
    let mut state = 7_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b' ' + (state >> 57) as u8 % 95
    };
    let text: Vec<u8> = (0..20 << 20).map(|_| random()).collect();
    let options = SourceOptions { spill_limit: 1 << 30, ..with_threads(2) };
    let mut source = Source::open(of_stream(&text, usize::MAX), &options).unwrap();
    // The copy is read again before the stream has ended.
    source.read(&mut vec![0; 19 << 20]).unwrap();
    source.rewind().unwrap();
    for _ in 0..2 {
        assert_text(&rest_of(&mut source, 3_000_000).unwrap(), &text, "copy");
        source.rewind().unwrap();
    }
    let options = SourceOptions { spill_limit: 1 << 20, ..with_threads(2) };
    let mut source = Source::open(of_stream(&text, usize::MAX), &options).unwrap();
    assert_text(&rest_of(&mut source, 3_000_000).unwrap(), &text, "first pass");
    for _ in 0..2 {
        let error = source.rewind().unwrap_err();
        assert_eq!(error.kind(), Kind::Limit);
    }
    assert_eq!(source.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_sample_is_read_again_and_covers_the_text() {
    let text = sample_text(2 << 20);
    let marked = [b"\xEF\xBB\xBF", text.as_bytes(), b"\x1A"].concat();
    let file = TestFile::new("sample", &marked);
    for origin in [file.origin(), of_bytes(&marked)] {
        let mut source = Source::open(origin, &with_threads(2)).unwrap();
        let sample = source.sample(10_000, 10, 500).unwrap();
        assert!(!sample.whole && sample.pieces.len() == 11);
        assert!(sample.pieces[0] == text.as_bytes()[..10_000]);
        assert!(
            sample.pieces[1..].iter().all(|piece| text.as_bytes().windows(piece.len()).any(|w| w == piece))
        );
        assert!(text.as_bytes().ends_with(&sample.pieces[10]));
        // A longer sample, a shorter one after a read, and the rest.
        assert!(source.sample(50_000, 0, 0).unwrap().pieces == [text.as_bytes()[..50_000].to_vec()]);
        let mut start = [0; 100];
        source.read(&mut start).unwrap();
        assert!(source.sample(20, 0, 0).unwrap().pieces == [text.as_bytes()[100..120].to_vec()]);
        assert_text(&rest_of(&mut source, 4096).unwrap(), &text.as_bytes()[100..], "rest");
    }
    for pack in [plain, gzip] {
        let mut source = Source::open(of_bytes(&pack(b"a,b\n1,2\n")), &with_threads(2)).unwrap();
        for first in [8, 9, 1000] {
            let sample = source.sample(first, 100, 100).unwrap();
            assert_eq!(sample, Sample { pieces: vec![b"a,b\n1,2\n".to_vec()], whole: true });
        }
        let sample = source.sample(7, 3, 100).unwrap();
        let parts: &[&[u8]] = if pack(b"") == b"" { &[b"a,b\n1,2", b"\n"] } else { &[b"a,b\n1,2"] };
        assert_eq!(
            (&sample.pieces[..], sample.whole),
            (&parts.iter().map(|p| p.to_vec()).collect::<Vec<_>>()[..], false)
        );
        assert_eq!(rest_of(&mut source, 3).unwrap(), b"a,b\n1,2\n");
    }
    let mut stream = Source::open(of_stream(text.as_bytes(), 1000), &with_threads(2)).unwrap();
    assert_eq!(stream.sample(100, 5, 10).unwrap().pieces.len(), 1);
}

#[test]
fn the_mark_of_dos_is_dropped_at_the_very_end() {
    for (stored, text) in [
        (&b"a,b\n\x1A"[..], &b"a,b\n"[..]),
        (b"a\x1Ab\n", b"a\x1Ab\n"),
        (b"\x1A", b""),
        (b"a\x1A\x1A", b"a\x1A"),
        (b"a\n\0\0", b"a\n\0\0"),
        (b"a\x1A\0", b"a\x1A\0"),
        (b"", b""),
    ] {
        for pack in [plain, gzip, bzip2] {
            let mut source = Source::open(of_bytes(&pack(stored)), &with_threads(1)).unwrap();
            for len in [1, 2, 3, 100] {
                assert_eq!(rest_of(&mut source, len).unwrap(), text, "{stored:?} {len}");
                source.rewind().unwrap();
            }
            let direct = (pack(stored) == stored).then_some(text);
            assert_eq!(source.as_bytes(), direct);
        }
    }
    assert_eq!(
        Source::open(of_bytes(b"\xEF\xBB\xBFa"), &with_threads(1)).unwrap().as_bytes(),
        Some(&b"a"[..])
    );
}

#[test]
fn sequences_that_do_not_fit_become_one_byte() {
    for (encoding, stored, text) in [
        ("utf-16le", &b"a\0\0\xD8b\0"[..], &b"a\xFFb"[..]),
        ("utf-16le", b"a\0b", b"a\xFF"),
        ("shift_jis", b"a\x82\xA0\xFF,", "a\u{3042}\u{fffd},".as_bytes()),
        ("utf-8", b"a\xE9,", b"a\xE9,"),
        ("latin1", b"\x80\x9F\xFF", "\u{80}\u{9f}\u{ff}".as_bytes()),
        ("cp1252", b"\x80\xFF\x81", "\u{20ac}\u{ff}\u{81}".as_bytes()),
    ] {
        let options = SourceOptions { encoding: Some(encoding.into()), ..with_threads(1) };
        let text: Vec<u8> = String::from_utf8(text.to_vec()).map_or_else(
            |_| text.to_vec(),
            |text| {
                text.split('\u{fffd}').map(|part| part.as_bytes().to_vec()).collect::<Vec<_>>().join(&0xFF)
            },
        );
        for len in [1, 100] {
            let mut source = Source::open(of_bytes(stored), &options).unwrap();
            assert_eq!(rest_of(&mut source, len).unwrap(), text, "{encoding} {len}");
        }
    }
}

#[test]
fn other_things_than_texts_are_refused() {
    let open = |path: &Path| Source::open(Origin::Path(path.into()), &with_threads(1)).unwrap_err();
    let missing = open(Path::new("/nowhere/x.csv"));
    assert_eq!(missing.kind(), Kind::Io(std::io::ErrorKind::NotFound));
    assert!(missing.to_string().contains("/nowhere/x.csv"), "{missing}");
    let folder = open(&env::temp_dir());
    assert_eq!(folder.kind(), Kind::Io(std::io::ErrorKind::IsADirectory));
    assert!(folder.to_string().contains("name a file"), "{folder}");
    let twice = error_of(&gzip(&gzip(b"a,b\n")));
    assert!(twice.to_string().contains("compressed twice"), "{twice}");
    let parquet = error_of(&gzip(b"PAR1\x15\x04\x15\x10"));
    assert!(parquet.to_string().contains("a Parquet file"), "{parquet}");
    let utf_32 = error_of(b"\xFF\xFE\0\0a\0\0\0");
    assert!(utf_32.to_string().contains("iconv"), "{utf_32}");
    let options = SourceOptions { encoding: Some("klingon".into()), ..with_threads(1) };
    let unknown = read_all(of_bytes(b"a"), &options).unwrap_err();
    assert!(unknown.to_string().contains("klingon"), "{unknown}");
}

#[cfg(unix)]
#[test]
fn pipes_and_files_without_length_are_streams() {
    let path = env::temp_dir().join(format!("entasis-source-{}-fifo", process::id()));
    let made = process::Command::new("mkfifo").arg(&path).status();
    if made.is_ok_and(|status| status.success()) {
        let text = sample_text(1 << 20);
        let packed = gzip(text.as_bytes());
        let writer = thread::spawn({
            let path = path.clone();
            move || fs::write(path, packed)
        });
        let mut source = Source::open(Origin::Path(path.clone()), &with_threads(2)).unwrap();
        assert_text(&rest_of(&mut source, 1000).unwrap(), text.as_bytes(), "pipe");
        assert_eq!(source.total(), None);
        writer.join().unwrap().unwrap();
        fs::remove_file(path).unwrap();
    }
    if cfg!(target_os = "linux") {
        let text = read_all(Origin::Path("/proc/version".into()), &with_threads(1)).unwrap();
        assert!(text.starts_with(b"Linux"));
    }
    let empty = TestFile::new("empty", b"");
    for (origin, text) in [(empty.origin(), &b""[..]), (of_stream(b"a,b\n", 1), b"a,b\n")] {
        let mut source = Source::open(origin, &with_threads(1)).unwrap();
        for _ in 0..2 {
            assert_eq!(source.as_bytes(), Some(text));
            assert_eq!(rest_of(&mut source, 3).unwrap(), text);
            source.rewind().unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 200 }))]

    #[test]
    fn random_bytes_in_random_reads(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        lens in prop::collection::vec(1_usize..90, 1..20),
        encoding in prop::sample::select(vec!["utf-8", "utf-16le", "gb18030", "euc-jp", "iso-2022-jp", "cp1252"]),
    ) {
        // Byte order marks and the end of DOS have tests of their own.
        prop_assume!(encoding_rs::Encoding::for_bom(&bytes).is_none() && bytes.last() != Some(&0x1A));
        let options = SourceOptions { encoding: Some(encoding.into()), ..with_threads(1) };
        let Ok(mut source) = Source::open(of_bytes(&bytes), &options) else { return Ok(()) };
        prop_assume!(source.compression().is_none());
        let mut found = Vec::new();
        for len in lens.iter().cycle() {
            let mut part = vec![0; *len];
            let n = source.read(&mut part).unwrap();
            found.extend_from_slice(&part[..n]);
            if n < *len {
                break;
            }
        }
        if encoding == "utf-8" {
            prop_assert_eq!(found, bytes);
        } else {
            let charset = encoding_rs::Encoding::for_label(encoding.as_bytes()).unwrap();
            let expected = charset.decode_without_bom_handling(&bytes).0;
            let found: String = String::from_utf8_lossy(&found).into_owned();
            let shown = found.strip_suffix('\u{1a}').unwrap_or(&found);
            prop_assert_eq!(shown, expected.strip_suffix('\u{1a}').unwrap_or(&expected));
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), kind in 0_usize..5) {
        let magic: [&[u8]; 5] =
            [&[0x1F, 0x8B, 8, 0], &super::gzip::BGZF_END[..18], b"BZh11AY&SY", b"\xFD7zXZ\0", b"\x28\xB5\x2F\xFD"];
        let _ = read_all(of_bytes(&[magic[kind], &bytes].concat()), &with_threads(1));
    }
}
