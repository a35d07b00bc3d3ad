//! Encrypted files: their keys, and the verbs on them.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::{Folder, counting, entasis};

/// A command with variables of the environment.
fn with_variable(name: &str, value: &str, args: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_entasis"));
    let out = command.args(args).env(name, value).stdin(Stdio::null()).output().unwrap();
    (out.status.success(), String::from_utf8(out.stdout).unwrap() + &String::from_utf8(out.stderr).unwrap())
}

#[test]
fn every_verb_opens_encrypted_files() {
    let folder = Folder::new();
    let plain = folder.write("plain.entasis", &counting(2000));
    let sealed = folder.path().join("sealed.entasis");
    let key = folder.bytes("key", &[7; 32]);
    let other = folder.bytes("other", "ab".repeat(32).as_bytes());
    let password = folder.bytes("password", b"correct horse\nsecond line\n");
    let said = entasis(args!["encrypt", "--key-file", key, plain, sealed]).fine();
    assert_eq!(said, format!("{}: encrypted\n", sealed.display()));
    assert!(!fs::read(&sealed).unwrap().windows(4).any(|window| window == b"name"));
    let both = |words: &[&str]| {
        let of = |path: &std::path::Path, given: &[&str]| {
            let words = words.iter().copied().chain(given.iter().copied());
            entasis(words.chain([path.to_str().unwrap()])).fine()
        };
        let (a, b) = (of(&plain, &[]), of(&sealed, &["--key-file", key.to_str().unwrap()]));
        assert_eq!(b.replace("sealed.entasis", "plain.entasis"), a, "{words:?}");
    };
    for words in [
        &["cat"][..],
        &["schema"],
        &["head", "-n", "3"],
        &["tail"],
        &["count", "--where", "id > 5"],
        &["select", "--where", "id = 77"],
        &["tree"],
    ] {
        both(words);
    }
    assert!(entasis(args!["info", "--key-file", key, sealed]).fine().contains("AES-256-GCM"));
    assert!(entasis(args!["verify", "--key-file", key, sealed]).fine().contains("sound"));
    // Without a key, with another one, and a key for a plain file.
    let error = entasis(args!["head", sealed]).failed();
    assert!(error.contains("wrong key: the file is encrypted") && error.contains("--key-file"), "{error}");
    assert!(entasis(args!["head", "--key-file", other, sealed]).failed().contains("does not open"));
    assert!(entasis(args!["head", "--key-file", key, plain]).failed().contains("not encrypted"));
    let short = folder.bytes("short", &[7; 31]);
    let error = entasis(args!["head", "--key-file", short, sealed]).failed();
    assert!(error.contains("neither 32 bytes nor 64 hexadecimal digits"), "{error}");
    // Changes in place. The rows come from a plain file.
    entasis(args!["append", "--key-file", key, sealed, plain]).fine();
    entasis(args!["rename", "--key-file", key, sealed, "name", "text"]).fine();
    assert_eq!(entasis(args!["count", "--key-file", key, sealed]).fine(), "4000\n");
    entasis(args!["rollback", "--key-file", key, sealed, "1"]).fine();
    entasis(args!["compact", "--key-file", key, sealed]).fine();
    both(&["cat"]);
    // Keys and passwords.
    let said = entasis(args!["keys", "--key-file", key, "--add-password-file", password, sealed]).fine();
    assert!(said.contains("AES-256-GCM, 2 keys\n0  key\n1  password (Argon2id, 64 MiB"), "{said}");
    let json = entasis(args!["keys", "--json", sealed]).fine();
    assert!(json.contains(r#""keys":["key","password"]"#), "{json}");
    assert_eq!(entasis(args!["count", "--password-file", password, sealed]).fine(), "2000\n");
    entasis(args!["keys", "--password-file", password, "--remove", "0", sealed]).fine();
    assert!(entasis(args!["count", "--key-file", key, sealed]).failed().contains("does not open"));
    assert!(
        entasis(args!["keys", "--password-file", password, "--remove", "0", sealed])
            .failed()
            .contains("last key")
    );
    entasis(args!["compact", "--rekey", "--password-file", password, sealed]).fine();
    entasis(args!["decrypt", "--password-file", password, sealed]).fine();
    assert_eq!(entasis(args!["cat", sealed]).fine(), entasis(args!["cat", plain]).fine());
    assert!(entasis(args!["decrypt", sealed]).failed().contains("not encrypted"));
    assert!(entasis(args!["keys", sealed]).failed().contains("not encrypted"));
    entasis(args!["encrypt", "--key-file", key, sealed]).fine();
    assert!(entasis(args!["encrypt", "--key-file", key, sealed]).failed().contains("encrypted already"));
    assert!(entasis(args!["encrypt", plain]).failed().contains("--password-file"));
}

#[test]
fn converted_files_are_encrypted() {
    let folder = Folder::new();
    let text = folder.bytes("a.csv", b"id,city\n1,Oslo\n2,Rome\n");
    let password = folder.bytes("password", b"correct horse");
    let (file, back) = (folder.path().join("a.entasis"), folder.path().join("b.csv"));
    entasis(args!["convert", "--password-file", password, text, file]).fine();
    assert!(entasis(args!["count", file]).failed().contains("encrypted"));
    entasis(args!["convert", "--password-file", password, file, back]).fine();
    assert_eq!(fs::read(&back).unwrap(), fs::read(&text).unwrap());
}

#[test]
fn selected_rows_stay_encrypted() {
    let folder = Folder::new();
    let key = folder.bytes("key", &[7; 32]);
    let files = folder.path().join("files");
    fs::create_dir(&files).unwrap();
    for name in ["a.entasis", "b.entasis"] {
        fs::copy(folder.write("plain.entasis", &counting(100)), files.join(name)).unwrap();
        entasis(args!["encrypt", "--key-file", key, files.join(name)]).fine();
    }
    let out = folder.path().join("out.entasis");
    // A file, and files that are one table.
    for (source, n) in [(files.join("a.entasis"), "50\n"), (files, "100\n")] {
        entasis(args![
            "select",
            "--key-file",
            key,
            "--where",
            "id < 50",
            "--to",
            "entasis",
            "--output",
            out,
            source
        ])
        .fine();
        assert!(entasis(args!["count", out]).failed().contains("encrypted"));
        assert_eq!(entasis(args!["count", "--key-file", key, out]).fine(), n);
    }
}

#[test]
fn encrypted_files_come_from_pipes() {
    let folder = Folder::new();
    let file = folder.write("a.entasis", &counting(3));
    let key = folder.bytes("key", &[7; 32]);
    let plain = entasis(args!["convert", file, "-", "--to", "csv"]).fine();
    entasis(args!["encrypt", "--key-file", key, file]).fine();
    let mut command = Command::new(env!("CARGO_BIN_EXE_entasis"));
    command.args([
        "convert",
        "--key-file",
        key.to_str().unwrap(),
        "--from",
        "entasis",
        "--to",
        "csv",
        "-",
        "-",
    ]);
    let out = command.stdin(fs::File::open(&file).unwrap()).output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), plain, "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn the_environment_has_keys() {
    let folder = Folder::new();
    let file = folder.write("a.entasis", &counting(10));
    let key = folder.bytes("key", &[7; 32]);
    let password = folder.bytes("password", b"correct horse");
    let (key_text, name) = (key.to_str().unwrap(), file.to_str().unwrap());
    entasis(args!["encrypt", "--key-file", key, file]).fine();
    assert_eq!(with_variable("ENTASIS_KEY_FILE", key_text, &["count", name]), (true, "10\n".to_owned()));
    let (is_fine, said) = with_variable("ENTASIS_KEY_FILE", name, &["count", name]);
    assert!(!is_fine && said.contains("neither 32 bytes"), "{said}");
    entasis(args!["keys", "--key-file", key, "--add-password-file", password, file]).fine();
    let of = |password| with_variable("ENTASIS_PASSWORD", password, &["count", name]);
    assert_eq!(of("correct horse"), (true, "10\n".to_owned()));
    assert!(!of("wrong").0);
    // It encrypts no file.
    let other = folder.write("c.entasis", &counting(3));
    let (is_fine, said) = with_variable("ENTASIS_KEY_FILE", key_text, &["encrypt", other.to_str().unwrap()]);
    assert!(!is_fine && said.contains("--key-file"), "{said}");
    // Plain files need none of these.
    let plain = folder.write("b.entasis", &counting(3));
    let plain = plain.to_str().unwrap();
    assert_eq!(with_variable("ENTASIS_KEY_FILE", key_text, &["count", plain]), (true, "3\n".to_owned()));
}
