//! Versions, and the features that a program must know to use a generation
//! (`docs/format/container.md`).

use std::fmt;

use crate::bytes::{Reader, put};
use crate::error::{Error, Result};

/// A version of the format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Version {
    /// The major version.
    pub major: u16,
    /// The minor version.
    pub minor: u16,
}

impl Version {
    /// The version of plain files that this release writes.
    pub const CURRENT: Self = Self { major: 0, minor: 3 };
    /// The version of encrypted files that this release writes, the latest one that it knows.
    pub const SEALED: Self = Self { major: 0, minor: 4 };
    /// The oldest version that this release reads.
    pub const OLDEST: Self = Self { major: 0, minor: 2 };
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The newest edition, a named set of encodings, that this release writes.
pub const EDITION: u8 = 1;

/// The features of a generation that no field of its records names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Features {
    /// A reader refuses a generation with an unknown bit.
    pub readers: u64,
    /// A writer refuses to change a generation with an unknown bit.
    pub writers: u64,
    /// Bits that every program may ignore.
    pub may_ignore: u64,
    /// The smallest version whose programs know all bits of `readers` and `writers`; 0.2 for a
    /// generation written by the rules of 0.2.
    pub needed: Version,
}

/// The bits of [`Features::readers`] and of [`Features::writers`] that this release knows.
const KNOWN: (u64, u64) = (0, 0);

impl Features {
    /// A generation of the current version without special features.
    pub const CURRENT: Self = Self { readers: 0, writers: 0, may_ignore: 0, needed: Version::CURRENT };
    /// A generation written by the rules of 0.2.
    pub const OF_0_2: Self = Self { needed: Version::OLDEST, ..Self::CURRENT };

    /// Checks that this release can read the generation.
    ///
    /// # Errors
    /// *Newer*.
    pub fn check_reader(&self) -> Result<()> {
        self.check("reads", "readers must know", self.readers & !KNOWN.0)
    }

    /// Checks that this release can change the generation.
    ///
    /// # Errors
    /// *Newer*.
    pub fn check_writer(&self) -> Result<()> {
        self.check("changes", "writers must know", self.writers & !KNOWN.1)
    }

    fn check(&self, verb: &str, word: &str, unknown: u64) -> Result<()> {
        if unknown == 0 {
            return Ok(());
        }
        let needed = self.needed;
        let current = Version::SEALED;
        Err(Error::newer(format!(
            "the file has features that {word} ({unknown:#x}): it needs format version {needed}, \
             this release {verb} files up to {current}"
        ))
        .advise("update Entasis"))
    }

    /// Appends the 32 bytes of the root.
    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        if *self == Self::OF_0_2 {
            out.extend_from_slice(&[0; Self::LEN]);
            return;
        }
        put!(out, self.readers, self.writers, self.may_ignore, self.needed.major, self.needed.minor, 0u32);
    }

    pub(crate) const LEN: usize = 32;

    /// Parses the fields at the start of `reader`. The caller checks that a root of 0.2 has zeros
    /// after them.
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Self> {
        let (readers, writers, may_ignore) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let needed = Version { major: reader.u16()?, minor: reader.u16()? };
        let features = Self { readers, writers, may_ignore, needed };
        features.check_reader()?;
        reader.reserved::<4>()?;
        if needed == Version::default() && (readers, writers, may_ignore) == (0, 0, 0) {
            return Ok(Self::OF_0_2);
        }
        if needed < (Version { major: 0, minor: 3 }) {
            return Err(Error::corrupt("the root has feature words of a version without them"));
        }
        Ok(features)
    }
}

/// How many earlier generations writers keep, as the last writer asked for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keep {
    /// The code of the unit: 0 nothing is asked for, 1 a number of generations, 2 nanoseconds.
    /// A writer that meets another code removes no generation.
    pub kind: u8,
    /// The number.
    pub value: u64,
}

impl Keep {
    /// The code of no wish.
    pub const NONE: u8 = 0;
    /// The code of a number of generations.
    pub const GENERATIONS: u8 = 1;
    /// The code of a number of nanoseconds.
    pub const NANOSECONDS: u8 = 2;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn parsed(features: Features) -> Result<Features> {
        let mut bytes = Vec::new();
        features.emit(&mut bytes);
        Features::parse(&mut Reader::exact(&bytes, Features::LEN, "the root")?)
    }

    #[test]
    fn round_trip() {
        for features in [
            Features::CURRENT,
            Features::OF_0_2,
            Features {
                writers: 1,
                may_ignore: 7,
                needed: Version { major: 1, minor: 4 },
                ..Features::CURRENT
            },
        ] {
            assert_eq!(parsed(features).unwrap(), features);
        }
    }

    #[test]
    fn unknown_bits_are_newer() {
        let needed = Version { major: 0, minor: 4 };
        let error = parsed(Features { readers: 2, needed, ..Features::CURRENT }).unwrap_err();
        assert_eq!(error.kind(), Kind::Newer);
        assert!(error.to_string().contains("0.4"), "{error}");
        let writers = Features { writers: 1 << 60, needed, ..Features::CURRENT };
        assert_eq!(parsed(writers).unwrap().check_writer().unwrap_err().kind(), Kind::Newer);
        assert!(Features { may_ignore: u64::MAX, ..Features::CURRENT }.check_writer().is_ok());
    }

    #[test]
    fn words_need_a_version_that_has_them() {
        for features in [
            Features { may_ignore: 1, needed: Version::default(), ..Features::CURRENT },
            Features { needed: Version { major: 0, minor: 2 }, writers: 1, ..Features::CURRENT },
        ] {
            assert_eq!(parsed(features).unwrap_err().kind(), Kind::Corrupt);
        }
    }
}
