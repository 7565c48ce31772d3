//! Products of some rows with a large matrix, over and over: what decoding is made of.
//!
//! A general product packs its operands anew each time. Here the matrix is laid out once, in panels as
//! wide as the processor's registers hold, and only the few rows are packed.

use crate::Result;
use candle_core::Tensor;
use rayon::prelude::*;

/// Rows that are worked on at a time: with two registers of eight numbers each they leave some of
/// sixteen registers for the panel.
const HIGH: usize = 6;

/// Columns of a panel.
const WIDE: usize = 16;

/// Panels that make a piece of work for a thread.
const GRAIN: usize = 4;

/// A matrix `[into, out]` in panels.
///
/// Each number of a product is summed in the order of the matrix's rows, however many rows there are
/// on the left.
#[derive(Debug)]
pub(crate) struct Panels {
    into: usize,
    out: usize,
    /// `[panel][into][WIDE]`, zeros behind the last column.
    numbers: Vec<f32>,
}

impl Panels {
    /// Of a matrix `[into, out]`.
    pub(crate) fn new(matrix: &Tensor) -> Result<Panels> {
        let (into, out) = matrix.dims2()?;
        let rows: Vec<f32> = matrix.flatten_all()?.to_vec1()?;
        let mut numbers = vec![0.0; out.div_ceil(WIDE) * into * WIDE];
        for (at, row) in rows.chunks_exact(out).enumerate() {
            for (panel, part) in row.chunks(WIDE).enumerate() {
                numbers[(panel * into + at) * WIDE..][..part.len()].copy_from_slice(part);
            }
        }
        Ok(Panels { into, out, numbers })
    }

    /// `x [rows, into] · matrix`, `[rows, out]`.
    pub(crate) fn product(&self, x: &[f32], rows: usize) -> Vec<f32> {
        let into = self.into;
        let packed = pack(x, rows, into);
        let mut parts = vec![0.0; self.out.div_ceil(WIDE) * rows * WIDE];
        let fused = fused();
        self.numbers
            .par_chunks_exact(into * WIDE)
            .zip(parts.par_chunks_exact_mut(rows * WIDE))
            .with_min_len(GRAIN)
            .for_each(|(panel, part)| run(fused, &packed, into, panel, part));
        let mut whole = vec![0.0; rows * self.out];
        for (at, part) in parts.chunks_exact(rows * WIDE).enumerate() {
            let from = at * WIDE;
            let width = WIDE.min(self.out - from);
            for (row, sums) in part.chunks_exact(WIDE).enumerate() {
                whole[row * self.out + from..][..width].copy_from_slice(&sums[..width]);
            }
        }
        whole
    }
}

/// Whether the processor has fused products of eight numbers.
fn fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    let fused = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let fused = cfg!(target_arch = "aarch64");
    fused
}

/// The product of packed rows with a panel; `fused` is what [`fused`] says, or false.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "a function for processors that have what it is compiled for")]
fn run(fused: bool, packed: &[f32], into: usize, panel: &[f32], part: &mut [f32]) {
    #[target_feature(enable = "avx2,fma")]
    fn blocks_fused(packed: &[f32], into: usize, panel: &[f32], part: &mut [f32]) {
        blocks::<true>(packed, into, panel, part);
    }
    if fused {
        // SAFETY: the processor was found to have AVX2 and FMA.
        unsafe { blocks_fused(packed, into, panel, part) }
    } else {
        blocks::<false>(packed, into, panel, part);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn run(fused: bool, packed: &[f32], into: usize, panel: &[f32], part: &mut [f32]) {
    match fused {
        true => blocks::<true>(packed, into, panel, part),
        false => blocks::<false>(packed, into, panel, part),
    }
}

#[inline(always)]
fn blocks<const FUSED: bool>(packed: &[f32], into: usize, panel: &[f32], part: &mut [f32]) {
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

/// Rows in blocks of [`HIGH`], `[block][into][row]`: what a step of the sum reads lies together.
fn pack(x: &[f32], rows: usize, into: usize) -> Vec<f32> {
    let mut packed = Vec::with_capacity(rows * into);
    for block in x[..rows * into].chunks(HIGH * into) {
        for at in 0..into {
            packed.extend(block[at..].iter().step_by(into));
        }
    }
    packed
}

#[inline(always)]
fn rows<const ROWS: usize, const FUSED: bool>(block: &[f32], panel: &[f32], out: &mut [f32]) {
    let mut sums = [[0.0_f32; WIDE]; ROWS];
    let (left, _) = block.as_chunks::<ROWS>();
    let (right, _) = panel.as_chunks::<WIDE>();
    for (left, right) in left.iter().zip(right) {
        for (sums, left) in sums.iter_mut().zip(left) {
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum = match FUSED {
                    true => left.mul_add(*right, *sum),
                    false => left * right + *sum,
                };
            }
        }
    }
    out.copy_from_slice(sums.as_flattened());
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    #[test]
    fn products_are_those_of_the_general_way_for_every_number_of_rows() {
        let number = |at: usize| ((at * 37 % 101) as f32 - 50.0) / 50.0;
        let (into, out) = (37, 45);
        let matrix: Vec<f32> = (0..into * out).map(number).collect();
        let matrix = Tensor::from_vec(matrix, (into, out), &Device::Cpu).expect("it fits");
        for rows in [1, 2, 5, 6, 7, 12, 17] {
            let x: Vec<f32> = (0..rows * into).map(|at| number(at * at)).collect();
            let left = Tensor::from_slice(&x, (rows, into), &Device::Cpu).expect("it fits");
            let whole = left.matmul(&matrix).and_then(|y| y.flatten_all()).expect("it fits");
            let whole: Vec<f32> = whole.to_vec1().expect("numbers");
            let panels = Panels::new(&matrix).expect("a matrix");
            let mut plain = vec![0.0; rows * WIDE];
            let panel = &panels.numbers[..into * WIDE];
            run(false, &pack(&x, rows, into), into, panel, &mut plain);
            for (at, (ours, theirs)) in panels.product(&x, rows).iter().zip(&whole).enumerate() {
                assert!((ours - theirs).abs() < 1e-4, "{rows} rows");
                let (row, column) = (at / out, at % out);
                let plain = plain.get(row * WIDE + column).filter(|_| column < WIDE);
                assert!(plain.is_none_or(|plain| (plain - theirs).abs() < 1e-4), "{rows} rows");
            }
        }
    }

    #[test]
    fn a_row_has_the_same_sums_alone_and_among_others() {
        let numbers: Vec<f32> = (0..64 * 50).map(|at| (at as f32 * 0.37).sin()).collect();
        let matrix = Tensor::from_slice(&numbers, (64, 50), &Device::Cpu).expect("it fits");
        let panels = Panels::new(&matrix).expect("a matrix");
        let together = panels.product(&numbers[..64 * 9], 9);
        for row in 0..9 {
            let alone = panels.product(&numbers[row * 64..(row + 1) * 64], 1);
            assert_eq!(alone, together[row * 50..(row + 1) * 50]);
        }
    }
}
