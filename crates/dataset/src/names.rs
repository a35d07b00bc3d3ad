//! Names in paths that mean something: of missing values, and of devices.

/// The name of a missing value, as Hive writes it.
pub(crate) const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// Whether Windows takes a name for a device, whatever its suffix.
pub(crate) fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    match stem.as_bytes() {
        b"CON" | b"PRN" | b"AUX" | b"NUL" => true,
        [b'C', b'O', b'M', digit] | [b'L', b'P', b'T', digit] => digit.is_ascii_digit() && *digit != b'0',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_are_known_in_any_case() {
        for name in ["con", "CON", "nul.txt", "Com1", "lpt9", "aux "] {
            assert!(is_device(name), "{name}");
        }
        for name in ["console", "com0", "com10", "", "lpt", "null"] {
            assert!(!is_device(name), "{name}");
        }
    }
}
