//! Kernels on every instruction set: each gives what the baseline gives.

use entasis_kernels::alp::{self, residual};
use entasis_kernels::dispatch::on_every_isa;
use entasis_kernels::string_hash::Hashing;
use entasis_kernels::{
    VECTOR, Word, bitpack, bits, column_stats, delta, gather, hash, sentinel, shuffle, sign_extend,
};

use super::input::Input;
use crate::naive::checksum;

/// The most values of an input.
const MOST: usize = 3_000;

/// A piece of work whose result is the same on every instruction set.
type Kernel = fn(Input<'_>) -> Vec<u8>;

/// The kernels. The first byte of an input is an index here.
const KERNELS: &[Kernel] = &[
    packed::<u8>,
    packed::<u16>,
    packed::<u32>,
    packed::<u64>,
    deltas::<u8>,
    deltas::<u16>,
    deltas::<u32>,
    deltas::<u64>,
    statistics::<u8>,
    statistics::<u16>,
    statistics::<u32>,
    statistics::<u64>,
    gathered::<u8, u8>,
    gathered::<u16, u8>,
    gathered::<u32, u16>,
    gathered::<u64, u32>,
    gathered::<u128, u32>,
    marked::<u8>,
    marked::<u32>,
    marked::<u64>,
    decimals,
    single_decimals,
    some_bits,
    shuffled,
    extended,
    hashed,
    strings,
];

/// Runs the kernel that the first byte names on every instruction set.
///
/// # Panics
/// When two instruction sets differ.
pub fn run(bytes: &[u8]) {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    let kernel = KERNELS[usize::from(which) % KERNELS.len()];
    let mut wanted: Option<Vec<u8>> = None;
    on_every_isa(|isa| {
        let made = kernel(Input::new(bytes));
        let is_same = wanted.as_ref().is_none_or(|wanted| *wanted == made);
        assert!(is_same, "kernel {which} differs on {isa:?}");
        wanted.get_or_insert(made);
    });
}

/// The words of all bytes that are left; at most [`MOST`].
fn words<T: Word>(input: Input<'_>) -> Vec<T> {
    let words = input.rest().chunks(size_of::<T>()).take(MOST);
    let word = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        T::from_u64(u64::from_le_bytes(wide))
    };
    words.map(word).collect()
}

fn bytes_of<T: bytemuck::NoUninit>(words: &[T]) -> &[u8] {
    bytemuck::cast_slice(words)
}

/// Packs the words, then unpacks these and arbitrary bytes. Full and partial vectors use different
/// kernels.
fn packed<T: Word>(mut input: Input<'_>) -> Vec<u8> {
    let (width, n) = (u32::from(input.u8()) % (T::BITS + 2), usize::from(input.u16()) % (VECTOR + 2));
    let (base, i) = (T::from_u64(input.u64()), usize::from(input.u16()));
    let rest = input.rest();
    let mut out = vec![T::from_u64(0xA5); n];
    let done = bitpack::unpack(rest, width, base, &mut out);
    let mut made = vec![u8::from(done)];
    if done {
        made.extend(bytes_of(&out));
        let one = bitpack::unpack_one(rest, n, width, base, i);
        assert_eq!(one, out.get(i).copied(), "one value of a vector");
    }
    if width > T::BITS || n == 0 || n > VECTOR {
        return made;
    }
    let mut values = words::<T>(Input::new(rest));
    values.resize(n, base);
    let mut packed = Vec::new();
    bitpack::pack(&values, base, width, &mut packed);
    assert_eq!(packed.len(), bitpack::packed_len(n, width), "the length of packed words");
    let mut back = vec![T::from_u64(0x5A); n];
    assert!(bitpack::unpack(&packed, width, base, &mut back), "packed words are unpacked");
    if column_stats::max_bits(&values, base) <= width {
        assert!(back == values, "packed words come back");
    }
    made.extend(packed);
    made
}

fn deltas<T: Word>(mut input: Input<'_>) -> Vec<u8> {
    let least = T::from_u64(input.u64());
    let values = words::<T>(input);
    let mut deltas = vec![T::ZERO; values.len()];
    assert!(delta::deltas(&values, &mut deltas), "lengths are equal");
    let mut made = bytes_of(&deltas).to_vec();
    let Some(&first) = values.first() else { return made };
    let mut sums: Vec<T> = deltas.iter().map(|delta| delta.wrapping_sub(least)).collect();
    delta::prefix_sum(first, least, &mut sums);
    assert!(sums == values, "deltas add up to the values");
    let mut sums = values.clone();
    delta::prefix_sum(first, least, &mut sums);
    made.extend(bytes_of(&sums));
    made
}

fn statistics<T: Word>(mut input: Input<'_>) -> Vec<u8> {
    let base = T::from_u64(input.u64());
    let values = words::<T>(input);
    let (mut ends, mut histogram) = (vec![0; values.len()], [0; 65]);
    let n_runs = column_stats::run_ends(&values, &mut ends);
    assert_eq!(n_runs, column_stats::count_runs(&values), "the number of runs");
    column_stats::width_histogram([&values[..]], base, &mut histogram);
    let bounds = [column_stats::min_max_unsigned(&values), column_stats::min_max_signed(&values)];
    let are_sorted = [column_stats::is_sorted_unsigned(&values), column_stats::is_sorted_signed(&values)];
    assert_eq!(are_sorted[0], values.is_sorted(), "sorted words");
    let mut made = bytes_of(&ends[..n_runs]).to_vec();
    made.extend(bytes_of(&histogram));
    made.extend(
        bounds.iter().flat_map(|(least, most)| [least.to_u64(), most.to_u64()]).flat_map(u64::to_le_bytes),
    );
    made.extend(are_sorted.map(u8::from));
    made.extend(column_stats::max_bits(&values, base).to_le_bytes());
    made
}

fn gathered<T: bytemuck::Pod, C: Word>(mut input: Input<'_>) -> Vec<u8> {
    let n = usize::from(input.u16()) % 700;
    let mut dictionary = vec![T::zeroed(); n];
    let bytes = input.take(size_of_val(&dictionary[..]));
    bytemuck::cast_slice_mut::<T, u8>(&mut dictionary)[..bytes.len()].copy_from_slice(bytes);
    let codes = words::<C>(input);
    let mut out = vec![T::zeroed(); codes.len()];
    let are_inside = codes.iter().all(|code| code.to_u64() < n as u64);
    assert_eq!(gather::check_codes(&codes, n), are_inside || n as u64 > C::MAX.to_u64(), "codes inside");
    let done = gather::gather(&dictionary, &codes, &mut out);
    assert_eq!(done, are_inside, "codes inside are looked up");
    if done { bytemuck::cast_slice(&out).to_vec() } else { Vec::new() }
}

fn marked<T: Word>(mut input: Input<'_>) -> Vec<u8> {
    let mark = T::from_u64(input.u64());
    let (first, n, has_mark) = (input.u32() as i32, input.u32(), input.u8() & 1 == 1);
    let ints: Vec<i32> = words::<u32>(input.clone()).iter().map(|&word| word as i32).collect();
    let values = words::<T>(input);
    let mut valid = vec![7; values.len()];
    let found = sentinel::compare(&values, mark, &mut valid);
    assert_eq!(found, Some(values.contains(&mark)), "the sentinel is found");
    let mut made = valid;
    let (mut narrow, mut valid) = (vec![T::ZERO; ints.len()], vec![7; ints.len()]);
    let mark = has_mark.then_some(mark.to_u64() as u32 as i32);
    let narrowed = sentinel::narrow(&ints, (first, n), mark, &mut narrow, &mut valid);
    made.extend(format!("{narrowed:?}").into_bytes());
    made.extend(bytes_of(&narrow));
    made.extend(valid);
    made
}

/// The bytes of floats. All NaN count as equal: no machine promises which one an operation gives.
fn float_bytes(values: &[f64]) -> Vec<u8> {
    let bits = values.iter().map(|value| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() });
    bits.flat_map(u64::to_le_bytes).collect()
}

fn decimals(mut input: Input<'_>) -> Vec<u8> {
    let (e, f) = (i32::from(input.u8() % 19), i32::from(input.u8() % 19));
    let (width, bits, base) = (u32::from(input.u8()), u32::from(input.u8()), input.u64());
    let (exp10, factor) = (10f64.powi(e), 10f64.powi(f));
    let (inverse, inv_factor) = (1.0 / exp10, 1.0 / factor);
    let ints = words::<u64>(input.clone());
    let mut floats = vec![0.0; ints.len()];
    assert!(alp::alp_decode_f64(&ints, factor, inverse, &mut floats), "lengths are equal");
    let mut made = float_bytes(&floats);
    if residual::residual_decode_f64(&ints, bits, inverse, &mut floats) {
        made.extend(bytes_of(&floats));
    }
    let mut vector = [0.0; VECTOR];
    if alp::alp_unpack_f64(input.rest(), width, base, factor, inverse, &mut vector) {
        made.extend(bytes_of(&vector));
    }
    let values: Vec<f64> = ints.iter().map(|&bits| f64::from_bits(bits)).collect();
    let (mut words, mut exceptions) = (vec![0; values.len()], Vec::new());
    if alp::alp_encode_f64(&values, exp10, inv_factor, factor, inverse, &mut words, &mut exceptions) {
        made.extend(bytes_of(&words));
        made.extend(bytes_of(&exceptions));
    }
    let (mut words, mut exceptions) = (vec![0; values.len()], Vec::new());
    if residual::residual_encode_f64(&values, bits, exp10, inverse, &mut words, &mut exceptions) {
        made.extend(bytes_of(&words));
        made.extend(bytes_of(&exceptions));
    }
    let range = column_stats::float_range_f64(&values);
    // Either zero may stand for both.
    made.extend(float_bytes(&[range.min + 0.0, range.max + 0.0]));
    made
}

fn single_decimals(mut input: Input<'_>) -> Vec<u8> {
    let (e, f) = (i32::from(input.u8() % 11), i32::from(input.u8() % 11));
    let (width, bits, base) = (u32::from(input.u8()), u32::from(input.u8()), input.u32());
    let (exp10, factor) = (10f32.powi(e), 10f32.powi(f));
    let (inverse, inv_factor) = (1.0 / exp10, 1.0 / factor);
    let ints = words::<u32>(input.clone());
    let mut floats = vec![0.0; ints.len()];
    assert!(alp::alp_decode_f32(&ints, factor, inverse, &mut floats), "lengths are equal");
    let mut made = bytes_of(&floats).to_vec();
    if residual::residual_decode_f32(&ints, bits, inverse, &mut floats) {
        made.extend(bytes_of(&floats));
    }
    let mut vector = [0.0; VECTOR];
    if alp::alp_unpack_f32(input.rest(), width, base, factor, inverse, &mut vector) {
        made.extend(bytes_of(&vector));
    }
    let values: Vec<f32> = ints.iter().map(|&bits| f32::from_bits(bits)).collect();
    let (mut words, mut exceptions) = (vec![0; values.len()], Vec::new());
    if alp::alp_encode_f32(&values, exp10, inv_factor, factor, inverse, &mut words, &mut exceptions) {
        made.extend(bytes_of(&words));
        made.extend(bytes_of(&exceptions));
    }
    let (mut words, mut exceptions) = (vec![0; values.len()], Vec::new());
    if residual::residual_encode_f32(&values, bits, exp10, inverse, &mut words, &mut exceptions) {
        made.extend(bytes_of(&words));
        made.extend(bytes_of(&exceptions));
    }
    let range = column_stats::float_range_f32(&values);
    made.extend(bytes_of(&[range.min + 0.0, range.max + 0.0]));
    made
}

fn some_bits(mut input: Input<'_>) -> Vec<u8> {
    let (from, to, n) = (usize::from(input.u16()), usize::from(input.u16()), usize::from(input.u16()));
    let source = input.rest();
    let mut made = Vec::new();
    let mut out = vec![0x5A; n];
    if bits::expand_bits(source, from, &mut out) {
        let bit = |i: usize| source[(from + i) / 8] >> ((from + i) % 8) & 1;
        assert!((0..n).all(|i| out[i] == bit(i)), "expanded bits");
        let mut packed = Vec::new();
        bits::pack_bytes(&out, &mut packed);
        made.extend(&packed);
        made.extend(&out);
    }
    if bits::expand_bits_inverted(source, from, &mut out) {
        made.extend(&out);
    }
    let mut copy = vec![0xC3; source.len()];
    made.push(bits::copy_bits(source, from, &mut copy, to, n).into());
    made.push(bits::set_bits(&mut copy, from, n / 2, n % 2 == 1).into());
    made.extend(&copy);
    made.extend(bits::count_ones(source, from, n).to_le_bytes());
    let mut packed = Vec::new();
    bits::pack_bytes(source, &mut packed);
    made.extend(packed);
    made
}

fn shuffled(mut input: Input<'_>) -> Vec<u8> {
    let width = usize::from(input.u8() % 34);
    let source = input.rest();
    let (mut out, mut back) = (vec![1, 2, 3], vec![0; source.len()]);
    if shuffle::shuffle(source, width, &mut out) {
        assert!(shuffle::unshuffle(&out[3..], width, &mut back) && back == source, "bytes come back");
    }
    if shuffle::unshuffle(source, width, &mut back) {
        out.extend(back);
    }
    out
}

fn extended(mut input: Input<'_>) -> Vec<u8> {
    let width = [8, 16, 32, 5][usize::from(input.u8() % 4)];
    let values = words::<u32>(input.clone());
    let limbs = words::<u64>(input);
    let mut made = Vec::new();
    let mut wide = vec![0; values.len() * width / 8];
    if sign_extend::extend(&values, width, &mut wide) {
        let mut back = vec![0u32; values.len()];
        assert_eq!(sign_extend::cut(&wide, width, &mut back), Some(true), "extended words are cut");
        assert!(back == values, "extended words come back");
        made.extend(bytes_of(&wide));
    }
    let mut cut = vec![0u64; limbs.len() / (width / 8).max(1)];
    let limbs = &limbs[..cut.len() * width / 8];
    made.extend(format!("{:?}", sign_extend::cut(limbs, width, &mut cut)).into_bytes());
    made.extend(bytes_of(&cut));
    made
}

fn hashed(mut input: Input<'_>) -> Vec<u8> {
    let (seed, repeat) = (input.u64(), usize::from(input.u8() % 16));
    let bytes = input.rest().repeat(repeat);
    let made = hash::of_slice(&bytes, seed);
    assert_eq!(made, twox_hash::XxHash3_64::oneshot_with_seed(seed, &bytes), "the hash");
    assert_eq!(entasis::checksum(&bytes), checksum(&bytes), "the checksum");
    made.to_le_bytes().to_vec()
}

/// Strings of lengths from the input. Those with equal hashes are compared.
fn strings(mut input: Input<'_>) -> Vec<u8> {
    let n = usize::from(input.u8());
    let lens = input.take(n).to_vec();
    let all = input.rest();
    let mut made = Vec::new();
    made.push(string_codes::<{ entasis_kernels::string_hash::TINY }>(all, &lens).into());
    made.push(string_codes::<{ entasis_kernels::string_hash::MIDDLE }>(all, &lens).into());
    made.push(string_codes::<{ entasis_kernels::string_hash::LONG }>(all, &lens).into());
    made.push(string_codes::<{ entasis_kernels::string_hash::ANY }>(all, &lens).into());
    made
}

/// Whether all strings equal the first one of their hash; equal strings must have equal hashes.
fn string_codes<const MOST_LEN: usize>(all: &[u8], lens: &[u8]) -> bool {
    let mut ends = vec![0u32];
    for &len in lens {
        let len = usize::from(len).min(MOST_LEN);
        let last = ends[ends.len() - 1];
        ends.push((last as usize + len).min(all.len()) as u32);
    }
    let string = |i: usize| &all[ends[i] as usize..ends[i + 1] as usize];
    let mut hashes = vec![0; lens.len()];
    let hashing = Hashing::here();
    hashing.hash_all::<MOST_LEN>(all, &ends, false, &mut hashes);
    let mut firsts: Vec<usize> = Vec::new();
    let mut codes = Vec::new();
    for i in 0..lens.len() {
        let known = firsts.iter().position(|&first| string(first) == string(i));
        if let Some(known) = known {
            assert_eq!(hashes[firsts[known]], hashes[i], "equal strings have equal hashes");
        }
        let by_hash = firsts.iter().position(|&first| hashes[first] == hashes[i]);
        codes.push(by_hash.unwrap_or(firsts.len()) as u32);
        if by_hash.is_none() {
            firsts.push(i);
        }
    }
    let ranges: Vec<[u32; 2]> = firsts.iter().map(|&first| [ends[first], ends[first + 1]]).collect();
    let are_equal = hashing.are_equal::<MOST_LEN>(all, &ends, false, &codes, &ranges);
    let expected = (0..lens.len()).all(|i| string(firsts[codes[i] as usize]) == string(i));
    assert_eq!(are_equal, expected, "strings equal the first of their code");
    are_equal
}

/// One input per kernel: bytes without a pattern.
pub fn seeds() -> Vec<Vec<u8>> {
    let seed = |which: usize| {
        let noise = crate::frames::noise(300 + 37 * which, which as u64);
        std::iter::once(which as u8).chain(noise.into_iter().flat_map(u64::to_le_bytes)).collect()
    };
    (0..KERNELS.len()).map(seed).collect()
}
