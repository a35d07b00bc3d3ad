//! The examples and links of `docs/format/` are right.

use std::path::{Path, PathBuf};

use entasis_testkit::golden;
use entasis_testkit::naive::body::{self, Shape};
use entasis_testkit::naive::bytes::Cursor;
use entasis_testkit::naive::directory::Directory;

fn pages() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs", "format"].iter().collect()
}

/// The lines of the code blocks of a language.
fn code(text: &str, language: &str) -> Vec<Vec<String>> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == format!("```{language}") {
            blocks.push(lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect());
        }
    }
    blocks
}

fn examples() -> String {
    std::fs::read_to_string(pages().join("examples.md")).unwrap()
}

/// The bytes at the start of a line: pairs of hexadecimal digits, up to two spaces.
fn hex(line: &str) -> Vec<u8> {
    let digits = line.split("  ").next().unwrap_or_default();
    digits.split(' ').map(|pair| u8::from_str_radix(pair, 16).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[test]
fn the_dump_is_the_golden_file() {
    let mut bytes = Vec::new();
    for line in code(&examples(), "dump").concat() {
        let (at, rest) = line.trim_start().split_once("  ").unwrap_or_else(|| panic!("{line}"));
        assert_eq!(at.parse(), Ok(bytes.len()), "{line}");
        match rest.strip_prefix("00 x ") {
            Some(n) => bytes.resize(bytes.len() + n.split(' ').next().unwrap().parse::<usize>().unwrap(), 0),
            None => bytes.extend(hex(rest)),
        }
    }
    let file = std::fs::read(golden::folder().join("constant.entasis")).unwrap();
    assert!(bytes == file, "docs/format/examples.md is not the golden file");
}

#[test]
fn the_bodies_decode_to_their_values() {
    let examples = code(&examples(), "body");
    assert_eq!(examples.len(), 7, "an example for each packing and flag");
    for example in examples {
        let number = |name: &str| -> u32 {
            let part = example[0].split(", ").find_map(|part| part.strip_prefix(name));
            part.map_or(0, |number| number.trim().parse().unwrap_or_else(|_| panic!("{}", example[0])))
        };
        let parts: Vec<&str> = example[0].split(", ").collect();
        let word = match parts[1] {
            "u8" => 1,
            "u16" => 2,
            _ => 4,
        };
        let n: usize = parts[2].strip_suffix(" values").unwrap().parse().unwrap();
        let directory = Directory::of_example(
            number("packing") as u8,
            number("width"),
            number("base").into(),
            (parts.contains(&"patches"), parts.contains(&"per vector")),
        );
        let (values, lines) = example[1..].split_last().unwrap();
        let bytes: Vec<u8> = lines.iter().flat_map(|line| hex(line)).collect();
        let mut rest = Cursor { rest: &bytes };
        let decoded: Vec<String> = if parts[1] == "utf8" {
            let strings = body::strings(&mut rest, &directory, n).unwrap();
            strings.into_iter().map(|bytes| format!("{:?}", String::from_utf8(bytes).unwrap())).collect()
        } else {
            let (mut words, patches) =
                body::words(&mut rest, &directory, Shape { word, value: word, n }).unwrap();
            patches.into_iter().for_each(|(position, value)| words[position] = value);
            words.iter().map(u128::to_string).collect()
        };
        assert_eq!(format!("= {}", decoded.join(" ")), *values, "{}", example[0]);
    }
}

/// The anchor that Markdown gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-' || *c == '_');
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn markdown(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension() {
            _ if path.is_dir() => files.extend(markdown(&path)),
            Some(extension) if extension == "md" => files.push(path),
            _ => {}
        }
    }
    files
}

#[test]
fn links_between_the_pages_hold() {
    let files = markdown(&pages());
    assert!(files.len() > 15, "{}", files.len());
    let mut n_links = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap_or_default()) {
            if link.starts_with("http") {
                continue;
            }
            n_links += 1;
            let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            let text = std::fs::read_to_string(&target)
                .unwrap_or_else(|error| panic!("{}: {link}: {error}", file.display()));
            let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
            let mut anchors = headings.map(|line| anchor(line.trim_start_matches('#').trim()));
            assert!(
                fragment.is_empty() || anchors.any(|anchor| anchor == fragment),
                "{}: {link}",
                file.display()
            );
        }
    }
    assert!(n_links > 60, "{n_links}");
}
