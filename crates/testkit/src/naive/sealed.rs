//! Encryption: the bytes of the inner file.

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::ChaCha20Poly1305;
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::bytes::{Kind, Wrong, checksum, is_zero, known, rule, u16_at, u32_at, u64_at, wrong};
use super::header::SLOTS;

/// Where the key pages are.
const PAGES: [usize; 2] = [12_288, 16_384];
/// Where the chunks begin.
const START: usize = 20_480;
/// Bytes of a stored chunk, and its bytes of the inner file.
const CHUNK: usize = 8_192;
const DATA: usize = 8_136;

/// A key or a password.
#[derive(Clone, Copy, Debug)]
pub enum Secret<'a> {
    /// A key of 32 bytes.
    Key(&'a [u8; 32]),
    /// A password.
    Password(&'a str),
}

/// The inner file of a sealed file. Its bytes of the key pages are zeros. With `strict`, the rules
/// that readers need not notice are checked too.
///
/// # Errors
/// *Wrong key*, *tampered* and the kinds of the other pages.
pub fn unseal(file: &[u8], secret: Secret<'_>, strict: bool) -> Result<Vec<u8>, Wrong> {
    rule(file.len() >= START, "the file is truncated")?;
    rule(u64_at(file, 56) == checksum(&file[..56]), "the checksum of the header")?;
    rule(u64_at(file, 16) & 7 == 6, "sealed goes with slot pages, and not with streamed")?;
    let page = key_page(file, strict)?;
    let (suite, id) = (page[32], &page[16..32]);
    let file_key = file_key(page, secret)?;
    let code = hmac(&hkdf(&file_key, id, b"entasis key page"), &page[..4056]);
    tampered(code == page[4056..4088], "the HMAC of the key page")?;
    let mut inner = file[..START].to_vec();
    inner[PAGES[0]..START].fill(0);
    let slot_key = hkdf(&file_key, id, b"entasis slot");
    for at in SLOTS {
        let slot = &mut inner[at..at + 64];
        if is_zero(slot) || u64_at(slot, 56) != checksum(&slot[..56]) {
            continue;
        }
        let code = hmac(&slot_key, &[&(at as u64).to_le_bytes(), &slot[..40]].concat());
        tampered(code[..16] == slot[40..56], "the HMAC of a slot")?;
        slot[40..56].fill(0);
        let sum = checksum(&slot[..56]).to_le_bytes();
        slot[56..].copy_from_slice(&sum);
    }
    let n = (file.len() - START) / CHUNK;
    for i in 0..n {
        let chunk = &file[START + CHUNK * i..][..CHUNK];
        let holds = u64_at(chunk, 8184) == checksum(&chunk[..8184]);
        rule(holds || !strict, "the checksum of a chunk")?;
        let key = hkdf(&file_key, &[&chunk[..16], id].concat(), &[b"entasis chunk", &[suite][..]].concat());
        let nonce = [&chunk[16..24], &[0; 4]].concat();
        let Some(body) = open(suite, &key, &nonce, &(i as u64).to_le_bytes(), &chunk[24..8184])? else {
            rule(holds, "the tag and the checksum of a chunk")?;
            return wrong(Kind::Tampered, "the tag of a chunk");
        };
        let used = usize::from(u16_at(&body, DATA));
        rule(used <= DATA && is_zero(&body[used..DATA]) && is_zero(&body[DATA + 2..]), "used")?;
        inner.extend_from_slice(&body[..if i + 1 == n { used } else { DATA }]);
    }
    Ok(inner)
}

/// The bytes of the key page that readers take.
fn key_page(file: &[u8], strict: bool) -> Result<&[u8], Wrong> {
    let [first, second] = PAGES.map(|at| &file[at..at + 4096]);
    let valid = |page: &[u8]| -> Result<(), Wrong> {
        rule(page[..8] == *b"ENT\nkeys", "the magic of a key page")?;
        rule(u64_at(page, 4088) == checksum(&page[..4088]), "the checksum of a key page")?;
        rule(u64_at(page, 8) >= 1 && (1..=8).contains(&page[33]), "a key page")?;
        known((1..=2).contains(&page[32]), "the suite")?;
        let end = 64 + 128 * usize::from(page[33]);
        known(is_zero(&page[34..36]) && is_zero(&page[end..4056]), "reserved bytes of a key page")
    };
    if strict {
        valid(first)?;
        valid(second)?;
        rule(first == second, "the key pages are equal")?;
    }
    match (valid(first), valid(second)) {
        (Ok(()), Ok(())) if u64_at(second, 8) > u64_at(first, 8) => Ok(second),
        (Ok(()), _) => Ok(first),
        (_, Ok(())) => Ok(second),
        (Err(wrong), _) => Err(wrong),
    }
}

/// The file key, from the first entry that opens.
fn file_key(page: &[u8], secret: Secret<'_>) -> Result<Vec<u8>, Wrong> {
    let outer = match secret {
        Secret::Key(key) => key.to_vec(),
        Secret::Password(password) => {
            let [passes, memory, lanes] = [36, 40, 44].map(|at| u32_at(page, at));
            if passes == 0 {
                return wrong(Kind::WrongKey, "no entry is a password");
            }
            let config = argon2::Config {
                ad: &[],
                hash_length: 32,
                lanes,
                mem_cost: memory,
                secret: &[],
                time_cost: passes,
                variant: argon2::Variant::Argon2id,
                version: argon2::Version::Version13,
                ..argon2::Config::default()
            };
            let derived = argon2::hash_raw(password.as_bytes(), &page[48..64], &config);
            derived.map_err(|error| Wrong { kind: Kind::Corrupt, rule: error.to_string() })?
        }
    };
    for i in 0..usize::from(page[33]) {
        let entry = &page[64 + 128 * i..][..128];
        known((1..=2).contains(&entry[0]), "the kind of an entry")?;
        known(is_zero(&entry[1..8]) && is_zero(&entry[72..]), "reserved bytes of an entry")?;
        let info = [b"entasis file key", &[page[32], entry[0]][..]].concat();
        let key = hkdf(&outer, &entry[8..24], &info);
        let with = if entry[0] == 2 { &page[36..64] } else { &[] };
        if let Some(file_key) = open(page[32], &key, &[0; 12], with, &entry[24..72])? {
            return Ok(file_key);
        }
    }
    wrong(Kind::WrongKey, "no entry opens")
}

/// The bytes that were encrypted, if the tag at the end holds.
fn open(suite: u8, key: &[u8], nonce: &[u8], aad: &[u8], msg: &[u8]) -> Result<Option<Vec<u8>>, Wrong> {
    let (payload, length) =
        (Payload { msg, aad }, || Wrong { kind: Kind::Corrupt, rule: "a length".to_owned() });
    let nonce = nonce.try_into().map_err(|_| length())?;
    let opened = match suite {
        1 => Aes256Gcm::new_from_slice(key).map_err(|_| length())?.decrypt(nonce, payload),
        2 => ChaCha20Poly1305::new_from_slice(key).map_err(|_| length())?.decrypt(nonce, payload),
        _ => return wrong(Kind::Unsupported, "the suite"),
    };
    Ok(opened.ok())
}

fn hkdf(secret: &[u8], salt: &[u8], info: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 32];
    // 32 bytes are never too many.
    let _ = Hkdf::<Sha256>::new(Some(salt), secret).expand(info, &mut out);
    out
}

fn hmac(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    // A key of any length will do.
    let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(key) else { return Vec::new() };
    mac.update(bytes);
    mac.finalize().into_bytes().to_vec()
}

fn tampered(holds: bool, rule: &str) -> Result<(), Wrong> {
    if holds { Ok(()) } else { wrong(Kind::Tampered, rule) }
}
