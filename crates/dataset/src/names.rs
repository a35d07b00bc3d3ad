//! Names in paths that mean something: of missing values, and of devices.

/// The name of a missing value, as Hive writes it.
pub(crate) const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// Whether a name is that of a file that a job writes: `part-<job>-<number>.entasis`.
pub fn is_of_job(name: &str) -> bool {
    let parts = name.strip_prefix("part-").and_then(|rest| rest.strip_suffix(".entasis")?.split_once('-'));
    let is_hex =
        |job: &str| job.len() == 16 && job.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_number = |number: &str| number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit());
    parts.is_some_and(|(job, number)| is_hex(job) && is_number(number))
}

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
    fn files_of_jobs_are_known_by_their_names() {
        assert!(is_of_job("part-0123456789abcdef-00000.entasis"));
        assert!(is_of_job("part-0123456789abcdef-123456.entasis"));
        for name in
            ["part-0.entasis", "part-0123456789abcdef-0000.entasis", "part-0123456789ABCDEF-00000.entasis"]
        {
            assert!(!is_of_job(name), "{name}");
        }
    }

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
