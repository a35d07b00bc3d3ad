//! The codes of authentication in slots.

use entasis_format::{Error, Result, SLOT_LEN, SLOT_OFFSETS, checksum};
use ring::hmac;

use crate::unlock::Unlocked;

/// The offsets of the first slot and of slots A and B.
const PLACES: [u64; 3] = [64, SLOT_OFFSETS[0], SLOT_OFFSETS[1]];
/// Bytes of a code.
const CODE_LEN: usize = 16;
/// Where the code is.
const CODE_AT: usize = 40;
const CHECKSUM_AT: usize = 56;

/// The stored form of a slot of the inner file.
pub(crate) fn sealed(unlocked: &Unlocked, at: u64, slot: &[u8; SLOT_LEN]) -> [u8; SLOT_LEN] {
    let mut out = *slot;
    if slot != &[0; SLOT_LEN] {
        out[CODE_AT..CHECKSUM_AT].copy_from_slice(&code(unlocked, at, slot));
        set_checksum(&mut out);
    }
    out
}

/// Gives the slots among stored bytes the form of the inner file. `bytes` begin at `at`. Slots that
/// are empty or damaged stay as they are.
///
/// # Errors
/// *Tampered*.
pub(crate) fn open_all(unlocked: &Unlocked, at: u64, bytes: &mut [u8]) -> Result<()> {
    for place in PLACES {
        let Some(from) = place.checked_sub(at).and_then(|from| usize::try_from(from).ok()) else { continue };
        let Some(slot) = bytes.get_mut(from..).and_then(|rest| rest.first_chunk_mut::<SLOT_LEN>()) else {
            continue;
        };
        if slot[CHECKSUM_AT..] != checksum(&slot[..CHECKSUM_AT]).to_le_bytes() {
            continue;
        }
        if !is_equal(&code(unlocked, place, slot), &slot[CODE_AT..CHECKSUM_AT]) {
            return Err(Error::tampered("a slot was changed by someone without the key").at(place));
        }
        slot[CODE_AT..CHECKSUM_AT].fill(0);
        set_checksum(slot);
    }
    Ok(())
}

fn code(unlocked: &Unlocked, at: u64, slot: &[u8; SLOT_LEN]) -> [u8; CODE_LEN] {
    let mut context = hmac::Context::with_key(&unlocked.slot_key);
    context.update(&at.to_le_bytes());
    context.update(&slot[..CODE_AT]);
    let tag = context.sign();
    tag.as_ref().first_chunk().map_or([0; CODE_LEN], |code| *code)
}

fn set_checksum(slot: &mut [u8; SLOT_LEN]) {
    let sum = checksum(&slot[..CHECKSUM_AT]);
    slot[CHECKSUM_AT..].copy_from_slice(&sum.to_le_bytes());
}

/// Whether bytes are equal, in a time that does not depend on them.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}
