//! Names of temporary files: `.NAME.RANDOM.entasis-tmp`.

use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

const SUFFIX: &str = ".entasis-tmp";
const DIGITS: usize = 16;
/// The bytes around the target's name: two dots, the digits and the suffix.
const AROUND: usize = 2 + DIGITS + SUFFIX.len();
/// Any file system accepts names of this length. Longer ones are used only for targets of the same
/// length.
const ALWAYS_ALLOWED: usize = 100;
const LONGEST: usize = 255;

/// The common prefix of all temporary names of one target.
#[derive(Debug)]
pub(crate) struct TempNames {
    prefix: String,
}

impl TempNames {
    /// The names for a target called `name`. Long names are shortened, so that the result is no
    /// longer than the target's own name or 100 bytes.
    pub(crate) fn of(name: &OsStr) -> TempNames {
        let limit = name.len().clamp(ALWAYS_ALLOWED, LONGEST) - AROUND;
        let name = name.to_string_lossy();
        TempNames { prefix: format!(".{}.", cut(&name, limit)) }
    }

    /// A new name, different each time.
    pub(crate) fn fresh(&self) -> String {
        format!("{}{:016x}{SUFFIX}", self.prefix, random())
    }

    /// Whether `name` is a temporary name of this target.
    pub(crate) fn contain(&self, name: &OsStr) -> bool {
        name.to_str()
            .and_then(|name| name.strip_prefix(self.prefix.as_str()))
            .and_then(|rest| rest.strip_suffix(SUFFIX))
            .is_some_and(|random| {
                random.len() == DIGITS && random.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            })
    }
}

/// A number that neither this process nor another one draws again.
pub(crate) fn random() -> u64 {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    RandomState::new().hash_one((SystemTime::now(), process::id(), count))
}

/// The start of `text`, at most `limit` bytes, cut between characters.
fn cut(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_are_recognised() {
        let names = TempNames::of(OsStr::new("a.ent"));
        let (one, other) = (names.fresh(), names.fresh());
        assert_ne!(one, other);
        assert!(one.starts_with(".a.ent.") && one.ends_with(".entasis-tmp"), "{one}");
        assert!(names.contain(OsStr::new(&one)));
    }

    #[test]
    fn other_names_are_not_recognised() {
        let names = TempNames::of(OsStr::new("a"));
        let foreign = TempNames::of(OsStr::new("a.b")).fresh();
        for name in [&foreign, "a", ".a.entasis-tmp", ".a.0.entasis-tmp", ".a.00000000000000zz.entasis-tmp"] {
            assert!(!names.contain(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        for name in ["x".repeat(255), "ä".repeat(127), "€".repeat(85), "😀".repeat(60), "y".repeat(99)] {
            let names = TempNames::of(OsStr::new(&name));
            let fresh = names.fresh();
            assert!(fresh.len() <= name.len().max(ALWAYS_ALLOWED), "{} {}", name.len(), fresh.len());
            assert!(names.contain(OsStr::new(&fresh)));
        }
    }
}
