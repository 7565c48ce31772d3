//! Loops compiled for what the processor can do, chosen when the program runs.

use serde::Serialize;

/// How many numbers the processor works on at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// What every processor of its kind has.
    Plain,
    /// Eight, with fused products (AVX2 and FMA).
    Eight,
    /// Sixteen, with fused products (AVX-512).
    #[cfg(target_arch = "x86_64")]
    Sixteen,
}

/// What a decoder's products of weights are made in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Numbers of 32 bits.
    #[default]
    Single,
    /// Both operands rounded to bf16, sums of 32 bits: twice as fast where the processor has such products, and
    /// elsewhere as [`Precision::Single`]. Logits are some hundredths apart.
    Half,
}

impl Precision {
    /// Whether this processor makes products in it.
    #[must_use]
    pub fn is_here(self) -> bool {
        match self {
            Precision::Single => true,
            #[cfg(target_arch = "x86_64")]
            Precision::Half => {
                is_x86_feature_detected!("avx512bf16") && Lanes::here() == Lanes::Sixteen
            }
            #[cfg(not(target_arch = "x86_64"))]
            Precision::Half => false,
        }
    }
}

/// A piece of work whose loops are compiled for each kind of [`Lanes`]. Its functions are to be inlined.
pub(crate) trait Work {
    /// Do it; `FUSED`: products and sums are rounded once.
    fn run<const FUSED: bool>(self);
}

impl Lanes {
    /// The most that this processor has.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn here() -> Lanes {
        let fused = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        match fused {
            true if is_x86_feature_detected!("avx512f") => Lanes::Sixteen,
            true => Lanes::Eight,
            false => Lanes::Plain,
        }
    }

    /// The most that this processor has.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn here() -> Lanes {
        if cfg!(target_arch = "aarch64") { Lanes::Eight } else { Lanes::Plain }
    }

    /// Do a piece of work; the processor must have these lanes.
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "functions for processors that have what they are compiled for")]
    pub(crate) fn run(self, work: impl Work) {
        #[target_feature(enable = "avx2,fma")]
        fn eight(work: impl Work) {
            work.run::<true>();
        }
        #[target_feature(enable = "avx512f,avx2,fma")]
        fn sixteen(work: impl Work) {
            work.run::<true>();
        }
        match self {
            Lanes::Plain => work.run::<false>(),
            // SAFETY: the processor was found to have AVX2 and FMA.
            Lanes::Eight => unsafe { eight(work) },
            // SAFETY: the processor was found to have AVX-512, AVX2 and FMA.
            Lanes::Sixteen => unsafe { sixteen(work) },
        }
    }

    /// Do a piece of work; the processor must have these lanes.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn run(self, work: impl Work) {
        match self {
            Lanes::Plain => work.run::<false>(),
            Lanes::Eight => work.run::<true>(),
        }
    }
}

/// `a · b + c`, rounded once if `FUSED`.
#[inline(always)]
pub(crate) fn fused<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    match FUSED {
        true => a.mul_add(b, c),
        false => a * b + c,
    }
}

/// e to this power, to about one part in ten million, between 2^-125 and 2^126: a loop of these is compiled to
/// vectors. (The polynomial of Moshier's Cephes library.)
#[inline(always)]
pub(crate) fn exp<const FUSED: bool>(x: f32) -> f32 {
    // Added to a number it leaves the nearest integer in the last bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 87.0);
    let shifted = fused::<FUSED>(x, std::f32::consts::LOG2_E, ROUND);
    let whole = shifted - ROUND;
    let rest = fused::<FUSED>(whole, -0.693_359_4, x);
    let rest = fused::<FUSED>(whole, 2.121_944_4e-4, rest);
    let mut sum = 1.987_569_2e-4;
    for factor in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5, 1.0, 1.0] {
        sum = fused::<FUSED>(sum, rest, factor);
    }
    sum * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// All that this processor has.
    pub(crate) fn all() -> Vec<Lanes> {
        match Lanes::here() {
            Lanes::Plain => vec![Lanes::Plain],
            Lanes::Eight => vec![Lanes::Plain, Lanes::Eight],
            #[cfg(target_arch = "x86_64")]
            Lanes::Sixteen => vec![Lanes::Plain, Lanes::Eight, Lanes::Sixteen],
        }
    }

    struct Powers<'a>(&'a mut [f32]);

    impl Work for Powers<'_> {
        #[inline(always)]
        fn run<const FUSED: bool>(self) {
            for x in self.0 {
                *x = exp::<FUSED>(*x);
            }
        }
    }

    #[test]
    fn powers_of_e_are_those_of_the_library() {
        let powers: Vec<f32> = (-8_600..=8_600).map(|at| at as f32 / 100.0).collect();
        for lanes in all() {
            let mut ours = powers.clone();
            lanes.run(Powers(&mut ours));
            for (ours, power) in ours.iter().zip(&powers) {
                let theirs = power.exp();
                assert!((ours / theirs - 1.0).abs() < 3e-7, "e to {power}: {ours}, {theirs}");
            }
        }
        let mut ends = [f32::NEG_INFINITY, -200.0, 200.0, 0.0];
        Lanes::here().run(Powers(&mut ends));
        assert!(ends[0] < 1e-37 && ends[1] < 1e-37 && ends[2] > 1e37 && ends[3] == 1.0, "{ends:?}");
    }
}
