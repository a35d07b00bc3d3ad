//! Compares the sniffer with public sets of annotated files.
//!
//! `ENTASIS_CSV_SETS` is the folder `python` of <https://github.com/ws-garcia/CSVsniffer>. Without it
//! the test does nothing. The rule is that of its runner: separator and quote must be equal, and no
//! quote counts as a double quote. Absent files do not count.

use std::fs;
use std::path::Path;

use entasis_csv::{Given, sniff};

/// The annotations, the folder, and the least share of files that must be right.
const SETS: [(&str, &str, f64); 3] = [
    ("POLLOCK-dialect_annotations.txt", "CSV", 0.93),
    ("W3C-CSVW-dialect_annotations.txt", "W3C-CSVW", 0.98),
    ("CCSV-manual_Dialect_Annotation.txt", "CSV_Wrangling", 0.88),
];

#[test]
fn dialects_of_public_sets_are_right() {
    let Some(root) = std::env::var_os("ENTASIS_CSV_SETS") else {
        return;
    };
    let mut low = Vec::new();
    for (annotations, folder, least) in SETS {
        let (right, total) = measure(Path::new(&root), annotations, folder);
        let share = right as f64 / total as f64;
        println!("{folder}: {right} of {total} are right, {:.1} %", share * 100.0);
        if share < least {
            low.push(folder);
        }
    }
    assert!(low.is_empty(), "{low:?}");
}

fn measure(root: &Path, annotations: &str, folder: &str) -> (usize, usize) {
    let list = fs::read_to_string(root.join("ground truth").join(annotations)).unwrap();
    let (mut right, mut total) = (0, 0);
    for line in list.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let parts: Vec<&str> = line.split('|').collect();
        let Ok(bytes) = fs::read(root.join(folder).join(parts[0])) else {
            continue;
        };
        let bytes = utf8(bytes);
        total += 1;
        let piece = &bytes[..bytes.len().min(1 << 20)];
        let sniffed = sniff(&[piece], piece.len() == bytes.len(), &Given::default());
        let dialect = sniffed.dialect;
        let fits = dialect.separator == byte(parts[2]) && dialect.quote.unwrap_or(b'"') == byte(parts[3]);
        right += usize::from(fits);
        if !fits {
            let [separator, quote, ..] = &sniffed.reasons[..] else { unreachable!() };
            println!(
                "{folder}/{}: {} {} instead of {} {}; {} ({:.2})",
                parts[0],
                separator.value,
                quote.value,
                parts[2],
                parts[3],
                separator.reason,
                separator.confidence
            );
        }
    }
    (right, total)
}

/// The byte of a name in the annotations.
fn byte(name: &str) -> u8 {
    match name {
        "comma" => b',',
        "semicolon" => b';',
        "tab" => b'\t',
        "space" => b' ',
        "vslash" => b'|',
        "nsign" => b'#',
        "doublequote" => b'"',
        "singlequote" => b'\'',
        _ => panic!("{name}"),
    }
}

/// The text in UTF-8. Bytes that are neither UTF-8 nor UTF-16 with a mark are read as Latin-1.
fn utf8(bytes: Vec<u8>) -> Vec<u8> {
    let unit: fn([u8; 2]) -> u16 = match bytes[..] {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ if std::str::from_utf8(&bytes).is_ok() => return bytes,
        _ => return bytes.into_iter().map(char::from).collect::<String>().into_bytes(),
    };
    let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    String::from_utf16_lossy(&units).into_bytes()
}
