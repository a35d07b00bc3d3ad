//! Prints the throughput of the kernels in GB/s of output, on every instruction set of the CPU.
//!
//! `cargo run --release -p entasis-kernels --example throughput [name]` runs only kernels whose
//! name contains `name`.

use entasis_kernels::alp::{self, residual};
use entasis_kernels::dispatch::on_every_isa;
use entasis_kernels::fsst::{SymbolIndex, SymbolTable};
use entasis_kernels::{VECTOR, Word, bitpack, bits, column_stats, delta, gather, hash, shuffle};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Reports the best of several rounds. One call of `body` moves `bytes`.
fn report(name: &str, bytes: usize, mut body: impl FnMut()) {
    if std::env::args().nth(1).is_some_and(|wanted| !name.contains(&wanted)) {
        return;
    }
    let calls = (1 << 22) / bytes + 1;
    let mut best = Duration::MAX;
    for _ in 0..12 {
        let start = Instant::now();
        for _ in 0..calls {
            body();
        }
        best = best.min(start.elapsed());
    }
    println!("  {name:<34} {:7.1} GB/s", (bytes * calls) as f64 / best.as_secs_f64() / 1e9);
}

fn packing<T: Word>(widths: &[u32]) {
    let values: Vec<T> =
        (0..VECTOR as u64).map(|i| T::from_u64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7)).collect();
    let bytes = size_of_val(&values[..]);
    let mut out = vec![T::ZERO; VECTOR];
    for &width in widths {
        let mut packed = Vec::new();
        bitpack::pack(&values, T::ZERO, width, &mut packed);
        report(&format!("unpack u{} width {width}", T::BITS), bytes, || {
            assert!(bitpack::unpack(black_box(&packed), width, T::ZERO, black_box(&mut out)));
        });
        report(&format!("pack u{} width {width}", T::BITS), bytes, || {
            packed.clear();
            bitpack::pack(black_box(&values), T::ZERO, width, black_box(&mut packed));
        });
    }
}

fn sequential<T: Word>(width: u32) {
    let values: Vec<T> =
        (0..8192u64).map(|i| T::from_u64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7)).collect();
    let mut packed = Vec::new();
    bitpack::pack_sequential(&values, T::ZERO, width, &mut packed);
    let mut out = vec![T::ZERO; values.len()];
    report(&format!("unpack_sequential u{} width {width}", T::BITS), size_of_val(&values[..]), || {
        assert!(bitpack::unpack_sequential(black_box(&packed), width, T::ZERO, black_box(&mut out)));
    });
}

fn gathering<T: Word, C: Word>(entries: u64, n: u64) {
    let dictionary: Vec<T> = (0..entries).map(|i| T::from_u64(i * 31)).collect();
    let codes: Vec<C> = (0..n).map(|i| C::from_u64(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33)).collect();
    let codes: Vec<C> = codes.iter().map(|c| C::from_u64(c.to_u64() % entries)).collect();
    let mut out = vec![T::ZERO; codes.len()];
    let name = format!("gather u{} by u{} of {entries}, n {n}", T::BITS, C::BITS);
    report(&name, size_of_val(&out[..]), || {
        assert!(gather::gather(black_box(&dictionary), black_box(&codes), black_box(&mut out)));
    });
}

fn summing<T: Word>() {
    let mut values = vec![T::from_u64(3); 8192 / size_of::<T>()];
    report(&format!("prefix_sum u{}", T::BITS), size_of_val(&values[..]), || {
        delta::prefix_sum(T::ZERO, T::from_u64(1), black_box(&mut values));
    });
}

fn bitmaps() {
    let packed: Vec<u8> = (0..1025u32).map(|i| ((i * 37) >> 2) as u8).collect();
    let mut bytes = vec![0u8; 8192];
    let mut copied = packed.clone();
    report("expand_bits", 8192, || {
        assert!(bits::expand_bits(black_box(&packed), 0, black_box(&mut bytes)));
    });
    report("expand_bits from bit 3", 8192, || {
        assert!(bits::expand_bits(black_box(&packed), 3, black_box(&mut bytes)));
    });
    report("pack_bytes (input)", 8192, || {
        copied.clear();
        bits::pack_bytes(black_box(&bytes), black_box(&mut copied));
    });
    let mut target = vec![0; 1026];
    report("copy_bits 3 to 5 (bitmap)", 1024, || {
        assert!(bits::copy_bits(black_box(&packed), 3, black_box(&mut target), 5, 8192));
    });
    report("count_ones (bitmap)", 1024, || {
        black_box(bits::count_ones(black_box(&packed), 3, 8192));
    });
}

fn floats() {
    let values: Vec<f64> = (0..1024).map(|i| f64::from(i * 7) / 100.0).collect();
    let (mut ints, mut exceptions) = (vec![0i64; 1024], Vec::new());
    for (name, e, f) in [("alp_encode_f64", 14, 12), ("alp_encode_f64, many exceptions", 2, 0)] {
        let (exp10, inv_factor) = (10f64.powi(e), 10f64.powi(-f));
        let (factor, inverse) = (10f64.powi(f), 10f64.powi(-e));
        report(name, 8192, || {
            exceptions.clear();
            let (values, ints) = (black_box(&values), black_box(&mut ints));
            assert!(alp::alp_encode_f64(values, exp10, inv_factor, factor, inverse, ints, &mut exceptions));
        });
        println!("    {} exceptions of 1024", exceptions.len());
    }
    let unsigned: Vec<u64> = ints.iter().map(|&i| i as u64).collect();
    let mut out = vec![0.0; 1024];
    report("alp_decode_f64", 8192, || {
        assert!(alp::alp_decode_f64(black_box(&unsigned), 1.0, 0.01, black_box(&mut out)));
    });
    let singles: Vec<u32> = unsigned.iter().map(|&i| i as u32).collect();
    let mut out = vec![0.0; 1024];
    report("alp_decode_f32", 4096, || {
        assert!(alp::alp_decode_f32(black_box(&singles), 1.0, 0.01, black_box(&mut out)));
    });
    report("float_range_f64", 8192, || {
        black_box(column_stats::float_range_f64(black_box(&values)));
    });
}

fn scans<T: Word>() {
    let values: Vec<T> = (0..8192 / size_of::<T>() as u64).map(|i| T::from_u64(i / 3)).collect();
    let bytes = size_of_val(&values[..]);
    report(&format!("min_max_signed u{}", T::BITS), bytes, || {
        black_box(column_stats::min_max_signed(black_box(&values)));
    });
    report(&format!("count_runs u{}", T::BITS), bytes, || {
        black_box(column_stats::count_runs(black_box(&values)));
    });
    report(&format!("width_histogram u{}", T::BITS), bytes, || {
        black_box(&mut [0; 65]);
        column_stats::width_histogram([black_box(values.as_slice())], T::ZERO, black_box(&mut [0; 65]));
    });
}

fn shuffles() {
    let values: Vec<u8> = (0..16384u32).map(|i| ((i * 37) >> 3) as u8).collect();
    let (mut planes, mut back) = (Vec::new(), values.clone());
    for width in [2, 4, 8, 16] {
        report(&format!("shuffle {width}"), values.len(), || {
            planes.clear();
            assert!(shuffle::shuffle(black_box(&values), width, black_box(&mut planes)));
        });
        report(&format!("unshuffle {width}"), values.len(), || {
            assert!(shuffle::unshuffle(black_box(&values), width, black_box(&mut back)));
        });
    }
}

fn hashes() {
    for len in [1000, 25_000, 262_144] {
        let bytes: Vec<u8> = (0..len).map(|i| ((i * 37) >> 3) as u8).collect();
        report(&format!("XXH3-64 of {len}"), len, || {
            black_box(hash::of_slice(black_box(&bytes), 0));
        });
    }
}

fn sums_of_decimals() {
    let values: Vec<f64> = (0..VECTOR).map(|i| (i * 7919 % 30_000) as f64 / 1000.0 + 0.117).collect();
    let bytes = size_of_val(&values[..]);
    let (mut words, mut exceptions) = (vec![0u64; VECTOR], Vec::new());
    let mut out = vec![0.0; VECTOR];
    report("residual encode f64", bytes, || {
        exceptions.clear();
        assert!(residual::residual_encode_f64(black_box(&values), 4, 1e3, 1e-3, &mut words, &mut exceptions));
    });
    report("residual decode f64", bytes, || {
        assert!(residual::residual_decode_f64(black_box(&words), 4, 1e-3, black_box(&mut out)));
    });
}

/// Encodes text: with pairs and triples of letters and the longest words as symbols, then with
/// pairs alone.
fn finding() {
    let words =
        ["the ", "of ", "carefully ", "product", "is ", "was not ", "and ", "I ", "would ", "taste, "];
    let text: Vec<u8> = (0..20_000u32)
        .flat_map(|i| words[(i.wrapping_mul(0x9e37_79b9) >> 24) as usize % words.len()].bytes())
        .collect();
    for (name, lens) in [("symbols", [1, 2, 3, 2, 3, 4]), ("digrams", [1, 2, 2, 1, 2, 2])] {
        let mut symbols: Vec<(u64, usize)> = Vec::new();
        for (i, len) in (0..700).zip(lens.into_iter().cycle()) {
            let mut word = [0; 8];
            word[..len].copy_from_slice(&text[i..i + len]);
            let symbol = (u64::from_le_bytes(word), len);
            if !symbols.contains(&symbol) && symbols.len() < 255 {
                symbols.push(symbol);
            }
        }
        let mut index = SymbolIndex::default();
        let all = symbols.iter().copied();
        assert!(if name == "digrams" { index.set_digrams(all) } else { index.set(all) });
        let piece = text.len() / 8;
        let mut out = vec![0; 16 * piece];
        let mut shrink = || {
            let mut parts = out.chunks_exact_mut(2 * piece);
            let parts = std::array::from_fn(|_| parts.next().expect("eight parts"));
            let pieces = std::array::from_fn(|i| &text[i * piece..(i + 1) * piece]);
            let lens = index.encode(black_box(pieces), parts).expect("enough room");
            lens.iter().sum::<usize>()
        };
        let of_code = (8 * piece) as f64 / shrink() as f64;
        report(&format!("{name} found, {of_code:.2} a code"), 8 * piece, || {
            black_box(shrink());
        });
    }
}

/// Decodes symbols of 1 to 8 bytes, 3 on average, and digrams. Needs AVX-512 VBMI2.
fn symbols() {
    let stream: Vec<u8> = (0..16_384u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8 % 255).collect();
    let mut out = vec![0; 64 << 10];
    let mut expand = |name: &str, len_of: &dyn Fn(u64) -> usize| {
        let symbols = (0..255u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15), len_of(i)));
        let table = SymbolTable::new(symbols).expect("255 symbols of 1 to 8 bytes");
        let (_, written) = table.decode(&stream, &mut out);
        if written > 0 {
            report(name, written, || {
                black_box(table.decode(black_box(&stream), &mut out));
            });
        }
    };
    let lens = [1, 2, 2, 2, 3, 3, 4, 8];
    expand("symbols", &|i| lens[i as usize % 8]);
    expand("digrams", &|i| 1 + usize::from(i >= 50));
}

fn main() {
    on_every_isa(|isa| {
        println!("{isa:?}");
        packing::<u8>(&[1, 3, 7, 8]);
        packing::<u16>(&[3, 11, 16]);
        packing::<u32>(&[5, 11, 20, 31]);
        packing::<u64>(&[1, 7, 12, 20, 33, 47, 63, 64]);
        sequential::<u8>(3);
        sequential::<u32>(17);
        sequential::<u64>(33);
        sequential::<u64>(63);
        for n in [1024, 65536] {
            gathering::<u8, u8>(100, n);
            gathering::<u8, u8>(200, n);
            gathering::<u16, u8>(200, n);
            gathering::<u32, u8>(200, n);
            gathering::<u64, u8>(12, n);
            gathering::<u64, u8>(200, n);
            gathering::<u64, u16>(5000, n);
            gathering::<u64, u32>(5000, n);
        }
        bitmaps();
        summing::<u8>();
        summing::<u16>();
        summing::<u32>();
        summing::<u64>();
        floats();
        sums_of_decimals();
        symbols();
        finding();
        scans::<u8>();
        scans::<u16>();
        scans::<u32>();
        scans::<u64>();
        shuffles();
        hashes();
    });
}
