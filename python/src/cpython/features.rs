//! The state of the features that depend on CPython.

use pyo3::prelude::*;

use super::feature::Feature;
use super::{arenas, keyword_dict};

/// Whether this interpreter has what the feature needs.
fn is_available(feature: Feature, py: Python<'_>) -> bool {
    match feature {
        Feature::Arenas => arenas::are_available(py),
        Feature::KeywordDicts => keyword_dict::is_available(),
        Feature::SharedKeys => true,
    }
}

fn state(feature: Feature, py: Python<'_>) -> String {
    if !feature.is_enabled() {
        off(feature.variable())
    } else if is_available(feature, py) {
        "on".to_owned()
    } else {
        "not available".to_owned()
    }
}

/// The state of a feature that a variable switched off.
pub fn off(variable: &str) -> String {
    format!("off ({variable})")
}

/// The name and state of each feature that depends on CPython.
#[pyfunction]
pub fn cpython_features(py: Python<'_>) -> Vec<(&'static str, String)> {
    Feature::ALL.iter().map(|&feature| (feature.name(), state(feature, py))).collect()
}
