//! Encrypted files are opened by the naive decoder from the page alone, and by the core.

use std::path::{Path, PathBuf};

use entasis::{File, Key, Kind, MemorySource, Opening, Password, Secret, Silent, Suite, WriteOptions};
use entasis_testkit::compare::{core_holds, naive_holds};
use entasis_testkit::frames::{Table, grown, write};
use entasis_testkit::golden;
use entasis_testkit::hostile::is_release;
use entasis_testkit::naive;

const KEY: [u8; 32] = *b"32 bytes of a key, all of them. ";
const PASSWORD: &str = "Correct Horse \u{fc}";

fn secrets() -> [(Secret, naive::Secret<'static>); 2] {
    [
        (Secret::Key(Key::new(&KEY).unwrap()), naive::Secret::Key(&KEY)),
        (Secret::Password(Password::new(PASSWORD).unwrap()), naive::Secret::Password(PASSWORD)),
    ]
}

fn open(bytes: &[u8], secret: Option<Secret>) -> entasis::Result<File> {
    let opening = Opening { secret, ..Opening::default() };
    File::from_source(Box::new(MemorySource::new(bytes.to_vec())), Path::new("memory"), opening)
}

/// Both decoders find the table, and refuse another key.
fn holds(bytes: &[u8], table: &Table, (secret, of_page): (Secret, naive::Secret<'_>)) {
    let file = open(bytes, Some(secret)).unwrap();
    file.verify(Some(1), &Silent).unwrap();
    core_holds(&file, table);
    let inner = naive::unseal(bytes, of_page, true).unwrap();
    naive_holds(&naive::verify(&inner).unwrap(), table);
    let wrong = Secret::Key(Key::new(&[1; 32]).unwrap());
    assert_eq!(open(bytes, Some(wrong)).unwrap_err().kind(), Kind::WrongKey);
    let wrong = naive::unseal(bytes, naive::Secret::Key(&[1; 32]), true).unwrap_err();
    assert_eq!(wrong.kind, naive::Kind::WrongKey);
}

#[test]
fn the_page_opens_encrypted_files() {
    let tables = [grown::of_tiers(), grown::table(200), grown::table(3000)];
    for cipher in [Suite::Aes256Gcm, Suite::ChaCha20Poly1305] {
        for (secret, of_page) in secrets() {
            // Passwords are slow by design.
            let is_short = !is_release() && matches!(secret, Secret::Password(_));
            for table in if is_short { &tables[1..2] } else { &tables } {
                let options = WriteOptions {
                    threads: Some(1),
                    secret: Some(secret.clone()),
                    cipher: Some(cipher),
                    ..WriteOptions::default()
                };
                holds(&write(table, &options), table, (secret.clone(), of_page));
            }
            let options = WriteOptions {
                threads: Some(1),
                secret: Some(secret.clone()),
                cipher: Some(cipher),
                ..WriteOptions::default()
            };
            let table = grown::table(600);
            let bytes = grown::grown(&table, &[100, 150, 151], &options);
            holds(&bytes, &table, (secret.clone(), of_page));
        }
    }
}

/// The decoders agree on each damaged file, with and without checksums that hold.
#[test]
fn the_decoders_agree_on_damage() {
    let options =
        WriteOptions { threads: Some(1), secret: Some(secrets()[0].0.clone()), ..WriteOptions::default() };
    let table = grown::table(300);
    let bytes = grown::grown(&table, &[100], &options);
    for at in (0..bytes.len()).step_by(37) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        let core = open(&changed, Some(secrets()[0].0.clone())).and_then(|file| {
            file.verify(Some(1), &Silent)?;
            Ok(())
        });
        let naive = naive::unseal(&changed, secrets()[0].1, true).and_then(|inner| naive::verify(&inner));
        assert_eq!(core.is_ok(), naive.is_ok(), "{at}: {core:?}");
    }
}

fn golden_files() -> [(PathBuf, Suite, (Secret, naive::Secret<'static>)); 3] {
    let folder = golden::folder().with_file_name("sealed");
    let [key, password] = secrets();
    let path = |name: &str| folder.join(name);
    [
        (path("sealed-aes.entasis"), Suite::Aes256Gcm, key.clone()),
        (path("sealed-chacha.entasis"), Suite::ChaCha20Poly1305, key),
        (path("sealed-password.entasis"), Suite::Aes256Gcm, password),
    ]
}

/// Files that a release wrote stay readable. `ENTASIS_WRITE_GOLDEN` makes those that are missing.
#[test]
fn golden_files_open() {
    let table = grown::table(300);
    for (path, cipher, (secret, of_page)) in golden_files() {
        if std::env::var_os("ENTASIS_WRITE_GOLDEN").is_some() && !path.exists() {
            let options = WriteOptions {
                threads: Some(1),
                secret: Some(secret.clone()),
                cipher: Some(cipher),
                ..WriteOptions::default()
            };
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, grown::grown(&table, &[100], &options)).unwrap();
        }
        let bytes = std::fs::read(&path).unwrap();
        let suite = entasis::keys(&MemorySource::new(bytes.clone())).unwrap().unwrap().suite;
        assert_eq!(suite, cipher);
        holds(&bytes, &table, (secret, of_page));
    }
}
