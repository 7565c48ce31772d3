//! Products of some rows with a large matrix, over and over: what decoding is made of.
//!
//! A general product packs its operands anew each time. Here the matrix is laid out once, in panels as
//! wide as the processor's registers hold, and only the few rows are packed.

use crate::{
    Result,
    lanes::{Lanes, Work, fused},
};
use candle_core::Tensor;
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
}

impl Panels {
    /// Of a matrix `[into, out]`.
    pub(crate) fn new(matrix: &Tensor) -> Result<Panels> {
        Panels::of(matrix, Lanes::here())
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
        let Buffers { packed, parts } = buffers;
        packed.clear();
        pack(self.lanes, &x[..rows * into], into, packed);
        let (panels, size) = (self.out.div_ceil(wide), into * wide);
        if parts.len() < panels * rows * wide {
            parts.resize(panels * rows * wide, 0.0);
        }
        let parts = &mut parts[..panels * rows * wide];
        let parallel = parts.par_chunks_exact_mut(rows * wide).with_min_len((GRAIN / size).max(1));
        match &self.numbers {
            Numbers::Whole(numbers) => parallel
                .zip(numbers.par_chunks_exact(size))
                .for_each(|(part, panel)| multiply(self.lanes, packed, into, panel, part)),
            #[cfg(target_arch = "x86_64")]
            Numbers::Upper(numbers) => parallel
                .zip(numbers.par_chunks_exact(size))
                .for_each(|(part, panel)| sixteen::multiply(packed, into, panel, part)),
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
    /// `[panel][row][columns]`.
    parts: Vec<f32>,
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

    use super::{HIGH, WIDE};
    use std::arch::x86_64::{
        __m256i, __m512, _mm256_loadu_si256, _mm512_castsi512_ps, _mm512_cvtepu16_epi32,
        _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_slli_epi32,
        _mm512_storeu_ps,
    };

    /// A number of a panel.
    pub(super) trait Number: Sized {
        /// Sixteen of them. The processor must have AVX-512.
        fn load(from: &[Self; WIDE]) -> __m512;
    }

    impl Number for f32 {
        #[inline(always)]
        fn load(from: &[f32; WIDE]) -> __m512 {
            // SAFETY: sixteen numbers are read, at any alignment.
            unsafe { _mm512_loadu_ps(from.as_ptr()) }
        }
    }

    impl Number for u16 {
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
    }

    /// As the function above of that name, for panels of either kind. The processor must have AVX-512.
    pub(super) fn multiply<N: Number>(packed: &[f32], into: usize, panel: &[N], part: &mut [f32]) {
        // SAFETY: the processor was found to have AVX-512.
        unsafe { blocks(packed, into, panel, part) }
    }

    #[target_feature(enable = "avx512f")]
    fn blocks<N: Number>(packed: &[f32], into: usize, panel: &[N], part: &mut [f32]) {
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

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn rows<const ROWS: usize, N: Number>(block: &[f32], panel: &[N], out: &mut [f32]) {
        let mut sums = [[_mm512_setzero_ps(); 2]; ROWS];
        let (left, _) = block.as_chunks::<ROWS>();
        let (right, _) = panel.as_chunks::<WIDE>();
        let (right, _) = right.as_chunks::<2>();
        for (left, [one, two]) in left.iter().zip(right) {
            let (one, two) = (N::load(one), N::load(two));
            for (sums, left) in sums.iter_mut().zip(left) {
                let left = _mm512_set1_ps(*left);
                sums[0] = _mm512_fmadd_ps(left, one, sums[0]);
                sums[1] = _mm512_fmadd_ps(left, two, sums[1]);
            }
        }
        let (out, _) = out.as_chunks_mut::<WIDE>();
        for (out, sum) in out.iter_mut().zip(sums.as_flattened()) {
            store(*sum, out);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(numbers: __m512, to: &mut [f32; WIDE]) {
        // SAFETY: sixteen numbers are written, at any alignment.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), numbers) }
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
