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
            .for_each(|(panel, part)| run(fused, Blocks { packed: &packed, into, panel, part }));
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

/// The processor's fused products of eight numbers, where it has them.
#[cfg(target_arch = "x86_64")]
pub(crate) type Fused = Option<pulp::x86::V3>;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) type Fused = Option<()>;

pub(crate) fn fused() -> Fused {
    #[cfg(target_arch = "x86_64")]
    return pulp::x86::V3::try_new();
    #[cfg(not(target_arch = "x86_64"))]
    return None;
}

fn run(fused: Fused, blocks: Blocks<'_>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(fused) = fused {
        return pulp::Simd::vectorize(fused, blocks);
    }
    let _ = fused;
    blocks.each::<false>();
}

/// The product of packed rows with a panel.
struct Blocks<'a> {
    packed: &'a [f32],
    into: usize,
    panel: &'a [f32],
    part: &'a mut [f32],
}

impl pulp::NullaryFnOnce for Blocks<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.each::<true>();
    }
}

impl Blocks<'_> {
    #[inline(always)]
    fn each<const FUSED: bool>(self) {
        let blocks = self.packed.chunks(HIGH * self.into);
        for (block, sums) in blocks.zip(self.part.chunks_mut(HIGH * WIDE)) {
            match block.len() / self.into {
                1 => rows::<1, FUSED>(block, self.panel, sums),
                2 => rows::<2, FUSED>(block, self.panel, sums),
                3 => rows::<3, FUSED>(block, self.panel, sums),
                4 => rows::<4, FUSED>(block, self.panel, sums),
                5 => rows::<5, FUSED>(block, self.panel, sums),
                _ => rows::<HIGH, FUSED>(block, self.panel, sums),
            }
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
        for row in 0..ROWS {
            for column in 0..WIDE {
                let sum = &mut sums[row][column];
                *sum = match FUSED {
                    true => left[row].mul_add(right[column], *sum),
                    false => left[row] * right[column] + *sum,
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
            run(None, Blocks { packed: &pack(&x, rows, into), into, panel, part: &mut plain });
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
