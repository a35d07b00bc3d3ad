//! Features that depend on CPython, and the environment variables that switch them off.

use std::sync::OnceLock;

/// A way of making objects that depends on CPython.
#[derive(Clone, Copy)]
pub enum Feature {
    /// Arenas of many small objects lie on huge pages.
    Arenas,
    /// Large dicts are made from the keywords of a call.
    KeywordDicts,
    /// Dicts of rows share one table of keys.
    SharedKeys,
}

/// The values of an environment variable that switch its feature off.
const OFF: [&str; 2] = ["off", "0"];

impl Feature {
    pub(super) const ALL: [Self; 3] = [Self::Arenas, Self::KeywordDicts, Self::SharedKeys];

    /// The name that `show_versions` prints.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Arenas => "arenas",
            Self::KeywordDicts => "keyword dicts",
            Self::SharedKeys => "shared keys",
        }
    }

    /// The environment variable that switches the feature off.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Self::Arenas => "ENTASIS_ARENAS",
            Self::KeywordDicts => "ENTASIS_KEYWORD_DICTS",
            Self::SharedKeys => "ENTASIS_SHARED_KEYS",
        }
    }

    /// Whether the feature is not switched off. The environment is read once per process.
    pub fn is_enabled(self) -> bool {
        static ENABLED: OnceLock<[bool; Feature::ALL.len()]> = OnceLock::new();
        let is_enabled = |feature: Self| {
            std::env::var_os(feature.variable()).is_none_or(|value| OFF.iter().all(|off| value != *off))
        };
        ENABLED.get_or_init(|| Self::ALL.map(is_enabled))[self as usize]
    }
}
