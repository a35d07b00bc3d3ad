//! Keys from passwords: Argon2id (RFC 9106).

use argon2::{Algorithm, Argon2, Block, Params, Version};
use entasis_format::{Error, Limits, Result, Thousands, fallible};
use zeroize::Zeroize;

use crate::suite::{Bytes32, KEY_LEN, SALT_LEN, random};

/// The most lanes.
const MAX_LANES: u32 = 64;

/// The costs of deriving a key from a password.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    /// Passes over the memory.
    pub passes: u32,
    /// Memory in KiB.
    pub memory: u32,
    /// Lanes.
    pub lanes: u32,
}

impl Default for Costs {
    /// The second recommended option of RFC 9106.
    fn default() -> Self {
        Self { passes: 3, memory: 64 << 10, lanes: 4 }
    }
}

/// Costs, and the salt of all passwords of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Derivation {
    pub costs: Costs,
    pub salt: [u8; SALT_LEN],
}

impl Derivation {
    pub(crate) fn new(costs: Costs) -> Result<Self> {
        Ok(Self { costs, salt: random()? })
    }

    /// Whether Argon2id takes the costs.
    pub(crate) fn is_valid(&self) -> bool {
        let Costs { passes, memory, lanes } = self.costs;
        passes >= 1 && (1..=MAX_LANES).contains(&lanes) && memory >= 8 * lanes
    }

    /// The key of a password. Costs as much time as the file says, within the limits.
    ///
    /// # Errors
    /// *Limit*, before any work; *out of memory*.
    pub(crate) fn key(&self, password: &[u8], limits: &Limits) -> Result<Bytes32> {
        let Costs { passes, memory, lanes } = self.costs;
        let cost = (u64::from(memory) << 10).saturating_mul(passes.into());
        if cost > limits.derivation_len {
            let asked = format!("the password needs {} bytes of memory, times passes", Thousands(cost));
            return Err(Error::over_limit("derivation_len", limits.derivation_len, asked));
        }
        let refused = |_| Error::corrupt("the costs of the password are impossible");
        let params = Params::new(memory, passes, lanes, Some(KEY_LEN)).map_err(refused)?;
        let n_blocks = params.block_count();
        let mut blocks = fallible::with_capacity(n_blocks, "the derivation of a key")?;
        blocks.resize(n_blocks, Block::default());
        let mut key = Bytes32::default();
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let done = argon2.hash_password_into_with_memory(password, &self.salt, &mut key[..], &mut blocks);
        for block in &mut blocks {
            block.zeroize();
        }
        done.map_err(refused)?;
        Ok(key)
    }
}
