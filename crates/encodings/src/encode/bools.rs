//! Encodes booleans: one bit each, or a constant.

use entasis_format::{Encoding, Packing, Result, Transform};
use entasis_kernels::bits;

use super::page_writer::{Context, PageWriter, fixed_pages};
use super::{Encoded, Encoder, statistics};
use crate::choose::bools;

impl Encoder {
    pub(super) fn encode_bools(
        &mut self,
        values: &mut [u8],
        context: Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Encoded> {
        if let Some(bits) = context.bits {
            clear_missing(bits, values);
        }
        let (packing, base, codec) = bools::plan(
            values,
            &self.choices.profile,
            &mut self.choices.codecs,
            &mut self.choices.hints.bools,
        );
        let encoding =
            Encoding { packing, transform: Transform::None, codec: codec.0, filter: bools::FILTER };
        let mut pages = PageWriter::new(&mut self.choices.codecs, codec, context, out);
        if pages.needs_pages(packing) {
            for page in fixed_pages(values.len(), 1) {
                let values = &values[page.0.clone()];
                pages.page(page, |body| {
                    if packing == Packing::Raw {
                        bits::pack_bytes(values, body);
                    }
                })?;
            }
        }
        Ok(Encoded {
            directory: pages.directory(encoding, 0, base),
            decoded_len: values.len() as u64,
            statistics: statistics::of_bools(values, context.n_missing),
        })
    }
}

/// Sets missing values to false.
fn clear_missing(bits: &[u8], values: &mut [u8]) {
    const TOGETHER: usize = 1024;
    let mut valid = [0; TOGETHER];
    for (i, values) in values.chunks_mut(TOGETHER).enumerate() {
        let valid = &mut valid[..values.len()];
        let expanded = bits::expand_bits(bits, i * TOGETHER, valid);
        debug_assert!(expanded, "the bits of a block cover its values");
        values.iter_mut().zip(valid).for_each(|(value, valid)| *value &= *valid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_booleans_are_false() {
        for n in [1, 7, 1024, 2500] {
            let bits: Vec<u8> = (0..n).step_by(8).map(|i| (i / 3) as u8).collect();
            let mut values: Vec<u8> = (0..n).map(|i| u8::from(i % 5 != 0)).collect();
            let expected: Vec<u8> =
                values.iter().enumerate().map(|(i, value)| value & bits[i / 8] >> (i % 8) & 1).collect();
            clear_missing(&bits, &mut values);
            assert_eq!(values, expected);
        }
    }
}
