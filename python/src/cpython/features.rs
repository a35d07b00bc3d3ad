//! The features that depend on CPython, and their switches.

use std::sync::OnceLock;

use pyo3::prelude::*;

use super::{arenas, keyword_dict};

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
    const ALL: [Self; 3] = [Self::Arenas, Self::KeywordDicts, Self::SharedKeys];

    /// The name that `show_versions` prints.
    fn name(self) -> &'static str {
        match self {
            Self::Arenas => "arenas",
            Self::KeywordDicts => "keyword dicts",
            Self::SharedKeys => "shared keys",
        }
    }

    /// The environment variable that switches the feature off.
    fn variable(self) -> &'static str {
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

    /// Whether this interpreter has what the feature needs.
    fn is_available(self, py: Python<'_>) -> bool {
        match self {
            Self::Arenas => arenas::are_available(py),
            Self::KeywordDicts => keyword_dict::is_available(),
            Self::SharedKeys => true,
        }
    }

    fn state(self, py: Python<'_>) -> String {
        if !self.is_enabled() {
            off(self.variable())
        } else if self.is_available(py) {
            "on".to_owned()
        } else {
            "not available".to_owned()
        }
    }
}

/// The state of a feature that a variable switched off.
pub fn off(variable: &str) -> String {
    format!("off ({variable})")
}

/// The name and state of each feature that depends on CPython.
#[pyfunction]
pub fn cpython_features(py: Python<'_>) -> Vec<(&'static str, String)> {
    Feature::ALL.iter().map(|feature| (feature.name(), feature.state(py))).collect()
}
