//! The one place that decides which instruction set a kernel runs on.
//!
//! Detection runs once and is cached in an atomic. The variable `ENTASIS_ISA` (`baseline`, `avx2`
//! or `avx512`), read at that time, lowers the choice; it can never raise it above the CPU.

use std::sync::atomic::{AtomicU8, Ordering};

/// An instruction-set level that kernels are compiled for, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Isa {
    /// The guarantee of the compilation target (SSE2 on x86-64, NEON on AArch64).
    Baseline = 1,
    /// AVX2 with BMI1, BMI2, LZCNT and POPCNT.
    Avx2 = 2,
    /// AVX-512 F, BW, DQ, VL, CD and VBMI, over AVX2.
    Avx512 = 3,
}

/// Every level, lowest first.
const LEVELS: [Isa; 3] = [Isa::Baseline, Isa::Avx2, Isa::Avx512];

/// The level in use; 0 until the first kernel asks.
///
/// Invariant: it holds 0 or a level of at most `supported()`. The `unsafe` calls of
/// [`multiversion`] rely on this.
static IN_USE: AtomicU8 = AtomicU8::new(0);

/// The level kernels run on now.
#[inline(always)]
pub fn isa() -> Isa {
    match IN_USE.load(Ordering::Relaxed) {
        1 => Isa::Baseline,
        2 => Isa::Avx2,
        3 => Isa::Avx512,
        _ => first_use(),
    }
}

#[cold]
fn first_use() -> Isa {
    let wanted = match std::env::var("ENTASIS_ISA").as_deref() {
        Ok("baseline") => Isa::Baseline,
        Ok("avx2") => Isa::Avx2,
        _ => Isa::Avx512,
    };
    let chosen = wanted.min(supported());
    IN_USE.store(chosen as u8, Ordering::Relaxed);
    chosen
}

/// The highest level that this CPU has.
pub fn supported() -> Isa {
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512vbmi");
        if avx512 {
            return Isa::Avx512;
        }
        if avx2 {
            return Isa::Avx2;
        }
    }
    Isa::Baseline
}

/// Runs `body` once on each level that this CPU has, for tests and measurements.
///
/// The level is global: callers are serialised. Kernels on other threads use it too, which changes
/// their speed and never their results.
#[doc(hidden)]
pub fn on_every_isa(mut body: impl FnMut(Isa)) {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    struct Restore(Isa);
    impl Drop for Restore {
        fn drop(&mut self) {
            IN_USE.store(self.0 as u8, Ordering::Relaxed);
        }
    }

    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let _restore = Restore(isa());
    for level in LEVELS.into_iter().filter(|&level| level <= supported()) {
        IN_USE.store(level as u8, Ordering::Relaxed);
        body(level);
    }
}

/// Defines `fn name` that runs the `#[inline(always)]` function `body` compiled for the level in
/// use. The generics are given twice: as declared and as passed on.
macro_rules! multiversion {
    ($(#[$meta:meta])* $vis:vis fn $name:ident [$($declare:tt)*] [$($pass:tt)*]
     ($($arg:ident : $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:ident;) => {
        $(#[$meta])*
        $vis fn $name<$($declare)*>($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vbmi")]
                fn avx512<$($declare)*>($($arg: $ty),*) $(-> $ret)? {
                    $body::<$($pass)*>($($arg),*)
                }
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn avx2<$($declare)*>($($arg: $ty),*) $(-> $ret)? {
                    $body::<$($pass)*>($($arg),*)
                }
                match $crate::dispatch::isa() {
                    // SAFETY: `isa()` only returns levels that `supported()` found on this CPU.
                    $crate::dispatch::Isa::Avx512 => return unsafe { avx512::<$($pass)*>($($arg),*) },
                    // SAFETY: as above.
                    $crate::dispatch::Isa::Avx2 => return unsafe { avx2::<$($pass)*>($($arg),*) },
                    $crate::dispatch::Isa::Baseline => {}
                }
            }
            $body::<$($pass)*>($($arg),*)
        }
    };
}
pub(crate) use multiversion;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_up_to_the_supported_one_is_visited() {
        let mut seen = Vec::new();
        on_every_isa(|level| {
            assert_eq!(isa(), level);
            seen.push(level);
        });
        assert_eq!(seen.first(), Some(&Isa::Baseline));
        assert_eq!(seen.last(), Some(&supported()));
    }
}
