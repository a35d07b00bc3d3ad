//! Strings and bytes in NumPy arrays of fixed width: UCS-4 in dtype `U`, bytes in dtype `S`.

/// Writes one value into its slot, and zeros into the rest of the slot. Returns false if the value
/// is too long, or is text that is not UTF-8.
pub fn put(value: &[u8], is_text: bool, slot: &mut [u8]) -> bool {
    if !is_text {
        let Some((used, rest)) = slot.split_at_mut_checked(value.len()) else { return false };
        used.copy_from_slice(value);
        rest.fill(0);
        return true;
    }
    let (units, _) = slot.as_chunks_mut::<4>();
    // Most strings are short. A look at all bytes in place is cheaper than a call of `is_ascii`.
    if value.iter().fold(0, |all, byte| all | byte) < 0x80 {
        let Some((used, rest)) = units.split_at_mut_checked(value.len()) else { return false };
        used.iter_mut().zip(value).for_each(|(unit, &byte)| *unit = u32::from(byte).to_ne_bytes());
        rest.fill([0; 4]);
        return true;
    }
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let mut n = 0;
    for char in text.chars() {
        let Some(unit) = units.get_mut(n) else { return false };
        *unit = u32::from(char).to_ne_bytes();
        n += 1;
    }
    units[n..].fill([0; 4]);
    true
}
