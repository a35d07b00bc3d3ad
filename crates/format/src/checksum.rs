//! The one checksum of the format.

/// XXH3-64 with seed 0 of these bytes.
#[inline]
pub fn checksum(bytes: &[u8]) -> u64 {
    entasis_kernels::hash::of_slice(bytes, 0)
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn known_values() {
        // From the reference implementation's own test vectors.
        assert_eq!(checksum(b""), 0x2D06_8005_38D3_94C2);
        assert_eq!(checksum(b"a"), 0xE6C6_32B6_1E96_4E1F);
        assert_eq!(checksum(b"abc"), 0x78AF_5F94_892F_3950);
    }
}
