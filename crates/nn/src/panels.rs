//! Products of some rows with a large matrix, over and over: what decoding is made of.
//!
//! A general product packs its operands anew each time. Here the matrix is laid out once, in panels as
//! wide as the processor's registers hold, and only the few rows are packed.

use crate::{
    Precision, Result,
    lanes::{Lanes, Work, fused},
};
use candle_core::{DType, Tensor};
use rayon::prelude::*;

/// Columns of half a panel of the processors with sixteen lanes; of a panel of the others.
const WIDE: usize = 16;

/// Rows that are worked on at a time: with two registers of eight numbers each they leave some of
/// sixteen registers for the panel.
const HIGH: usize = 6;

/// Numbers of the right operand that make a piece of work for a thread.
const GRAIN: usize = 1 << 15;

impl Lanes {
    /// Columns of a panel.
    pub(crate) const fn columns(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Lanes::Sixteen => 2 * WIDE,
            _ => WIDE,
        }
    }

    /// Rows that are worked on at a time.
    pub(crate) const fn rows(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Lanes::Sixteen => 2 * HIGH,
            _ => HIGH,
        }
    }
}

/// A matrix `[into, out]` in panels.
///
/// Each number of a product is summed in the order of the matrix's rows, however many rows there are
/// on the left.
#[derive(Debug)]
pub(crate) struct Panels {
    lanes: Lanes,
    into: usize,
    out: usize,
    numbers: Numbers,
}

/// `[panel][into][columns]`, zeros behind the last column.
#[derive(Debug)]
enum Numbers {
    Whole(Vec<f32>),
    /// The upper halves, where the lower ones are zeros: weights that come from bf16. With few rows a product takes
    /// as long as reading the matrix does.
    #[cfg(target_arch = "x86_64")]
    Upper(Vec<u16>),
    /// Rounded to bf16, those of two rows side by side, `[panel][into / 2][columns]`: the left operand is rounded too.
    #[cfg(target_arch = "x86_64")]
    Pairs(Vec<Pair>),
}

impl Panels {
    /// Of a matrix `[into, out]`.
    pub(crate) fn new(matrix: &Tensor, precision: Precision) -> Result<Panels> {
        match precision {
            #[cfg(target_arch = "x86_64")]
            Precision::Half if Precision::Half.is_here() => Panels::paired(matrix),
            _ => Panels::of(matrix, Lanes::here()),
        }
    }

    /// With both operands of products rounded to bf16. The processor must have products of these.
    #[cfg(target_arch = "x86_64")]
    fn paired(matrix: &Tensor) -> Result<Panels> {
        let whole = Panels::of(&matrix.to_dtype(DType::F32)?, Lanes::Sixteen)?;
        let (into, wide) = (whole.into, whole.lanes.columns());
        let rows: Vec<f32> = match whole.numbers {
            Numbers::Upper(upper) => {
                upper.iter().map(|half| f32::from_bits(u32::from(*half) << 16)).collect()
            }
            Numbers::Whole(rows) => rows,
            Numbers::Pairs(_) => Vec::new(),
        };
        let pairs = rows.chunks_exact(into * wide).flat_map(|panel| {
            panel.chunks(2 * wide).flat_map(|two| {
                let (one, two) = two.split_at(wide);
                let two = two.iter().copied().chain(std::iter::repeat(0.0));
                one.iter().zip(two).map(|(one, two)| Pair::of(*one, two))
            })
        });
        Ok(Panels { numbers: Numbers::Pairs(pairs.collect()), ..whole })
    }

    fn of(matrix: &Tensor, lanes: Lanes) -> Result<Panels> {
        let (into, out) = matrix.dims2()?;
        let rows: Vec<f32> = matrix.flatten_all()?.to_vec1()?;
        let wide = lanes.columns();
        let mut numbers = vec![0.0; out.div_ceil(wide) * into * wide];
        for (at, row) in rows.chunks_exact(out).enumerate() {
            for (panel, part) in row.chunks(wide).enumerate() {
                numbers[(panel * into + at) * wide..][..part.len()].copy_from_slice(part);
            }
        }
        #[cfg(target_arch = "x86_64")]
        if lanes == Lanes::Sixteen && numbers.iter().all(|number| number.to_bits() << 16 == 0) {
            let upper = numbers.iter().map(|number| (number.to_bits() >> 16) as u16).collect();
            return Ok(Panels { lanes, into, out, numbers: Numbers::Upper(upper) });
        }
        Ok(Panels { lanes, into, out, numbers: Numbers::Whole(numbers) })
    }

    /// `x [rows, into] · matrix`, `[rows, out]`.
    pub(crate) fn product(&self, x: &[f32], rows: usize) -> Vec<f32> {
        let mut whole = vec![0.0; rows * self.out];
        self.product_into(x, rows, &mut Buffers::default(), &mut whole);
        whole
    }

    /// The same, written to `whole`.
    pub(crate) fn product_into(
        &self,
        x: &[f32],
        rows: usize,
        buffers: &mut Buffers,
        whole: &mut [f32],
    ) {
        let (into, wide) = (self.into, self.lanes.columns());
        let together = buffers.together();
        let Buffers { packed, pairs, parts, .. } = buffers;
        packed.clear();
        pairs.clear();
        match &self.numbers {
            #[cfg(target_arch = "x86_64")]
            Numbers::Pairs(_) => pack_pairs(self.lanes, &x[..rows * into], into, pairs),
            _ => pack(self.lanes, &x[..rows * into], into, packed),
        }
        let (panels, size) = (self.out.div_ceil(wide), into * wide);
        if parts.len() < panels * rows * wide {
            parts.resize(panels * rows * wide, 0.0);
        }
        let parts = &mut parts[..panels * rows * wide];
        let parallel =
            parts.par_chunks_exact_mut(rows * wide).with_min_len((GRAIN / size).max(together));
        match &self.numbers {
            Numbers::Whole(numbers) => parallel
                .zip(numbers.par_chunks_exact(size))
                .for_each(|(part, panel)| multiply(self.lanes, packed, into, panel, part)),
            #[cfg(target_arch = "x86_64")]
            Numbers::Upper(numbers) => parallel
                .zip(numbers.par_chunks_exact(size))
                .for_each(|(part, panel)| sixteen::multiply(packed, into, panel, part)),
            #[cfg(target_arch = "x86_64")]
            Numbers::Pairs(numbers) => parallel
                .zip(numbers.par_chunks_exact(into.div_ceil(2) * wide))
                .for_each(|(part, panel)| {
                    sixteen::multiply_pairs(pairs, into.div_ceil(2), panel, part);
                }),
        }
        for (at, part) in parts.chunks_exact(rows * wide).enumerate() {
            let from = at * wide;
            let width = wide.min(self.out - from);
            for (row, sums) in part.chunks_exact(wide).enumerate() {
                let place = &mut whole[row * self.out + from..][..width];
                // With its size known, a copy is a few instructions.
                match (place.as_chunks_mut::<WIDE>(), sums.as_chunks::<WIDE>()) {
                    ((place, []), (sums, _)) => {
                        for (place, sums) in place.iter_mut().zip(sums) {
                            *place = *sums;
                        }
                    }
                    _ => place.copy_from_slice(&sums[..width]),
                }
            }
        }
    }
}

/// What products write to on their way, kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    packed: Vec<f32>,
    pairs: Vec<Pair>,
    /// `[panel][row][columns]`.
    parts: Vec<f32>,
    /// Whether the thread that has them does all by itself. Threads that all have rows of their own would only wait for
    /// each other, on a busy machine for one that does not run.
    pub(crate) is_alone: bool,
}

impl Buffers {
    /// Pieces of work that are not parted among threads.
    pub(crate) fn together(&self) -> usize {
        if self.is_alone { usize::MAX } else { 1 }
    }
}

/// Two numbers of 16 bits, the first in the lower half.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub(crate) struct Pair(u32);

#[cfg(target_arch = "x86_64")]
impl Pair {
    /// The nearest numbers of bf16, of two equally near the even one.
    fn of(one: f32, two: f32) -> Pair {
        let round = |number: f32| {
            let bits = number.to_bits();
            bits.wrapping_add(0x7fff + (bits >> 16 & 1))
        };
        Pair(round(one) >> 16 | round(two) & 0xffff_0000)
    }
}

/// As [`pack`], `[block][into / 2][row]`.
#[cfg(target_arch = "x86_64")]
fn pack_pairs(lanes: Lanes, x: &[f32], into: usize, packed: &mut Vec<Pair>) {
    let half = into.div_ceil(2);
    for block in x.chunks(lanes.rows() * into) {
        let (from, high) = (packed.len(), block.len() / into);
        packed.resize(from + half * high, Pair::default());
        for (at, row) in block.chunks_exact(into).enumerate() {
            let (twos, rest) = row.as_chunks::<2>();
            let mut columns = packed[from..].chunks_exact_mut(high);
            for ([one, two], column) in twos.iter().zip(columns.by_ref()) {
                column[at] = Pair::of(*one, *two);
            }
            for (column, one) in columns.zip(rest) {
                column[at] = Pair::of(*one, 0.0);
            }
        }
    }
}

/// Rows in blocks, `[block][into][row]`: what a step of the sum reads lies together.
pub(crate) fn pack(lanes: Lanes, x: &[f32], into: usize, packed: &mut Vec<f32>) {
    if x.len() == into {
        return packed.extend_from_slice(x);
    }
    for block in x.chunks(lanes.rows() * into) {
        let (from, high) = (packed.len(), block.len() / into);
        packed.resize(from + block.len(), 0.0);
        for (at, row) in block.chunks_exact(into).enumerate() {
            for (column, number) in packed[from..].chunks_exact_mut(high).zip(row) {
                column[at] = *number;
            }
        }
    }
}

/// The product of packed rows with a panel `[into][columns]`, `[row][columns]`. The processor must have these
/// lanes.
pub(crate) fn multiply(lanes: Lanes, packed: &[f32], into: usize, panel: &[f32], part: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if lanes == Lanes::Sixteen {
        return sixteen::multiply(packed, into, panel, part);
    }
    lanes.run(Product { packed, into, panel, part });
}

/// Arguments of [`multiply`].
struct Product<'a> {
    packed: &'a [f32],
    into: usize,
    panel: &'a [f32],
    part: &'a mut [f32],
}

impl Work for Product<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Product { packed, into, panel, part } = self;
        for (block, sums) in packed.chunks(HIGH * into).zip(part.chunks_mut(HIGH * WIDE)) {
            match block.len() / into {
                1 => rows::<1, FUSED>(block, panel, sums),
                2 => rows::<2, FUSED>(block, panel, sums),
                3 => rows::<3, FUSED>(block, panel, sums),
                4 => rows::<4, FUSED>(block, panel, sums),
                5 => rows::<5, FUSED>(block, panel, sums),
                _ => rows::<HIGH, FUSED>(block, panel, sums),
            }
        }
    }
}

#[inline(always)]
fn rows<const ROWS: usize, const FUSED: bool>(block: &[f32], panel: &[f32], out: &mut [f32]) {
    let mut sums = [[0.0_f32; WIDE]; ROWS];
    let (left, _) = block.as_chunks::<ROWS>();
    let (right, _) = panel.as_chunks::<WIDE>();
    for (left, right) in left.iter().zip(right) {
        for (sums, left) in sums.iter_mut().zip(left) {
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum = fused::<FUSED>(*left, *right, *sum);
            }
        }
    }
    out.copy_from_slice(sums.as_flattened());
}

/// The same for sixteen lanes, of which the compiler makes no good use by itself.
#[cfg(target_arch = "x86_64")]
mod sixteen {
    #![expect(unsafe_code, reason = "a function for processors that have what it is compiled for")]

    use super::{HIGH, Pair, WIDE};
    use std::arch::x86_64::{
        __m256i, __m512, __m512bh, __m512i, _mm256_loadu_si256, _mm512_castsi512_ps,
        _mm512_cvtepu16_epi32, _mm512_dpbf16_ps, _mm512_fmadd_ps, _mm512_loadu_ps,
        _mm512_loadu_si512, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
        _mm512_slli_epi32, _mm512_storeu_ps,
    };

    /// A number of a panel, or two. What uses it is inlined where the processor's features are known, and the
    /// processor must have them.
    trait Number: Sized {
        /// What it is multiplied with.
        type Left: Copy;
        /// Sixteen of either.
        type Wide: Copy;
        fn load(from: &[Self; WIDE]) -> Self::Wide;
        fn spread(left: Self::Left) -> Self::Wide;
        fn add(left: Self::Wide, right: Self::Wide, sum: __m512) -> __m512;
    }

    impl Number for f32 {
        type Left = f32;
        type Wide = __m512;

        #[inline(always)]
        fn load(from: &[f32; WIDE]) -> __m512 {
            // SAFETY: sixteen numbers are read, at any alignment.
            unsafe { _mm512_loadu_ps(from.as_ptr()) }
        }

        #[inline(always)]
        fn spread(left: f32) -> __m512 {
            // SAFETY: the processor has AVX-512.
            unsafe { _mm512_set1_ps(left) }
        }

        #[inline(always)]
        fn add(left: __m512, right: __m512, sum: __m512) -> __m512 {
            // SAFETY: the processor has AVX-512.
            unsafe { _mm512_fmadd_ps(left, right, sum) }
        }
    }

    impl Number for u16 {
        type Left = f32;
        type Wide = __m512;

        #[inline(always)]
        fn load(from: &[u16; WIDE]) -> __m512 {
            #[inline]
            #[target_feature(enable = "avx512f")]
            fn widen(half: __m256i) -> __m512 {
                _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(half)))
            }
            // SAFETY: sixteen numbers are read, at any alignment.
            let half = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
            // SAFETY: the processor has AVX-512.
            unsafe { widen(half) }
        }

        #[inline(always)]
        fn spread(left: f32) -> __m512 {
            f32::spread(left)
        }

        #[inline(always)]
        fn add(left: __m512, right: __m512, sum: __m512) -> __m512 {
            f32::add(left, right, sum)
        }
    }

    impl Number for Pair {
        type Left = Pair;
        type Wide = __m512i;

        #[inline(always)]
        fn load(from: &[Pair; WIDE]) -> __m512i {
            // SAFETY: sixteen pairs, which are numbers of 32 bits, are read, at any alignment.
            unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
        }

        #[inline(always)]
        fn spread(left: Pair) -> __m512i {
            // SAFETY: the processor has AVX-512.
            unsafe { _mm512_set1_epi32(left.0.cast_signed()) }
        }

        #[inline(always)]
        fn add(left: __m512i, right: __m512i, sum: __m512) -> __m512 {
            // SAFETY: both types are 512 bits of any value.
            let halves = |wide| unsafe { std::mem::transmute::<__m512i, __m512bh>(wide) };
            // SAFETY: the processor has products of bf16.
            unsafe { _mm512_dpbf16_ps(sum, halves(left), halves(right)) }
        }
    }

    /// Numbers of a panel that are multiplied with numbers of 32 bits.
    pub(super) trait Single {
        fn multiply(packed: &[f32], into: usize, panel: &[Self], part: &mut [f32])
        where
            Self: Sized;
    }

    impl<N: Number<Left = f32>> Single for N {
        fn multiply(packed: &[f32], into: usize, panel: &[N], part: &mut [f32]) {
            #[target_feature(enable = "avx512f")]
            fn inner<N: Number>(packed: &[N::Left], into: usize, panel: &[N], part: &mut [f32]) {
                blocks(packed, into, panel, part);
            }
            // SAFETY: the processor was found to have AVX-512.
            unsafe { inner(packed, into, panel, part) }
        }
    }

    /// As the function above of that name, for panels of either kind. The processor must have AVX-512.
    pub(super) fn multiply<N: Single>(packed: &[f32], into: usize, panel: &[N], part: &mut [f32]) {
        N::multiply(packed, into, panel, part);
    }

    /// The same of pairs, of which there are `into` in a row. The processor must have products of bf16.
    pub(super) fn multiply_pairs(packed: &[Pair], into: usize, panel: &[Pair], part: &mut [f32]) {
        #[target_feature(enable = "avx512f,avx512bf16")]
        fn inner(packed: &[Pair], into: usize, panel: &[Pair], part: &mut [f32]) {
            blocks(packed, into, panel, part);
        }
        // SAFETY: the processor was found to have them.
        unsafe { inner(packed, into, panel, part) }
    }

    #[inline(always)]
    fn blocks<N: Number>(packed: &[N::Left], into: usize, panel: &[N], part: &mut [f32]) {
        let blocks = packed.chunks(2 * HIGH * into).zip(part.chunks_mut(4 * HIGH * WIDE));
        for (block, sums) in blocks {
            match block.len() / into {
                1 => rows::<1, N>(block, panel, sums),
                2 => rows::<2, N>(block, panel, sums),
                3 => rows::<3, N>(block, panel, sums),
                4 => rows::<4, N>(block, panel, sums),
                5 => rows::<5, N>(block, panel, sums),
                6 => rows::<6, N>(block, panel, sums),
                7 => rows::<7, N>(block, panel, sums),
                8 => rows::<8, N>(block, panel, sums),
                9 => rows::<9, N>(block, panel, sums),
                10 => rows::<10, N>(block, panel, sums),
                11 => rows::<11, N>(block, panel, sums),
                _ => rows::<{ 2 * HIGH }, N>(block, panel, sums),
            }
        }
    }

    #[inline(always)]
    fn rows<const ROWS: usize, N: Number>(block: &[N::Left], panel: &[N], out: &mut [f32]) {
        // SAFETY: the processor has AVX-512.
        let mut sums = [[unsafe { _mm512_setzero_ps() }; 2]; ROWS];
        let (left, _) = block.as_chunks::<ROWS>();
        let (right, _) = panel.as_chunks::<WIDE>();
        let (right, _) = right.as_chunks::<2>();
        for (left, [one, two]) in left.iter().zip(right) {
            let (one, two) = (N::load(one), N::load(two));
            for (sums, left) in sums.iter_mut().zip(left) {
                let left = N::spread(*left);
                sums[0] = N::add(left, one, sums[0]);
                sums[1] = N::add(left, two, sums[1]);
            }
        }
        let (out, _) = out.as_chunks_mut::<WIDE>();
        for (out, sum) in out.iter_mut().zip(sums.as_flattened()) {
            // SAFETY: sixteen numbers are written, at any alignment.
            unsafe { _mm512_storeu_ps(out.as_mut_ptr(), *sum) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::tests::all;
    use candle_core::Device;

    #[test]
    fn products_are_those_of_the_general_way_for_every_number_of_rows() {
        let number = |at: usize| ((at * 37 % 101) as f32 - 50.0) / 50.0;
        let (into, out) = (37, 45);
        let matrix: Vec<f32> = (0..into * out).map(number).collect();
        let matrix = Tensor::from_vec(matrix, (into, out), &Device::Cpu).expect("it fits");
        for rows in 1..27 {
            let x: Vec<f32> = (0..rows * into).map(|at| number(at * at)).collect();
            let left = Tensor::from_slice(&x, (rows, into), &Device::Cpu).expect("it fits");
            let whole = left.matmul(&matrix).and_then(|y| y.flatten_all()).expect("it fits");
            let whole: Vec<f32> = whole.to_vec1().expect("numbers");
            for lanes in all() {
                let panels = Panels::of(&matrix, lanes).expect("a matrix");
                for (ours, theirs) in panels.product(&x, rows).iter().zip(&whole) {
                    assert!((ours - theirs).abs() < 1e-4, "{rows} rows, {lanes:?}");
                }
            }
        }
    }

    #[test]
    fn halves_of_numbers_give_the_same_products() {
        let upper = |at: usize| f32::from_bits((at as f32 * 0.37).sin().to_bits() >> 16 << 16);
        let numbers: Vec<f32> = (0..40 * 50).map(upper).collect();
        let matrix = Tensor::from_slice(&numbers, (40, 50), &Device::Cpu).expect("it fits");
        let mut other = numbers.clone();
        other[0] = 0.3;
        let other = Tensor::from_vec(other, (40, 50), &Device::Cpu).expect("it fits");
        // Only the first column differs.
        for lanes in all() {
            let whole = Panels::of(&other, lanes).expect("a matrix").product(&numbers, 14);
            let upper = Panels::of(&matrix, lanes).expect("a matrix").product(&numbers, 14);
            for (upper, whole) in upper.chunks(50).zip(whole.chunks(50)) {
                assert_eq!(upper[1..], whole[1..], "{lanes:?}");
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn halves_on_both_sides_give_about_the_same_products() {
        let number = |at: usize| (at as f32 * 0.37).sin();
        for (into, out) in [(64, 50), (37, 45)] {
            let matrix: Vec<f32> = (0..into * out).map(number).collect();
            let matrix = Tensor::from_vec(matrix, (into, out), &Device::Cpu).expect("it fits");
            let halves = Panels::new(&matrix, Precision::Half).expect("a matrix");
            let whole = Panels::new(&matrix, Precision::Single).expect("a matrix");
            let x: Vec<f32> = (0..29 * into).map(|at| number(at * 3)).collect();
            let (ours, theirs) = (halves.product(&x, 29), whole.product(&x, 29));
            let largest = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            // Each of `into` products is off by up to 2^-8 of itself; they cancel in part. A processor without
            // products of bf16 makes those of whole numbers.
            assert_eq!(largest > 0.0, Precision::Half.is_here(), "{into}: {largest}");
            assert!(largest < 0.1, "{into}: {largest}");
            for row in 0..29 {
                let alone = halves.product(&x[row * into..(row + 1) * into], 1);
                assert_eq!(alone, ours[row * out..(row + 1) * out]);
            }
        }
    }

    #[test]
    fn a_row_has_the_same_sums_alone_and_among_others() {
        let numbers: Vec<f32> = (0..64 * 50).map(|at| (at as f32 * 0.37).sin()).collect();
        let matrix = Tensor::from_slice(&numbers, (64, 50), &Device::Cpu).expect("it fits");
        for lanes in all() {
            let panels = Panels::of(&matrix, lanes).expect("a matrix");
            let together = panels.product(&numbers[..64 * 29], 29);
            for row in 0..29 {
                let alone = panels.product(&numbers[row * 64..(row + 1) * 64], 1);
                assert_eq!(alone, together[row * 50..(row + 1) * 50], "{lanes:?}");
            }
        }
    }
}
