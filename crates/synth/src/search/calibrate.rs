//! What edits do, tried once before the first search.

use super::{Run, Search};
use crate::{Error, judge::Location};
use std::sync::atomic::{AtomicBool, Ordering};

/// Candidates that are judged before the clock is looked at, while edits are first tried.
const AT_ONCE: usize = 32;
/// What edits are first tried on.
const BASES: [&str; 2] = [
    "float B(float a) { return a * 2.5f; }
__kernel void A(__global float* a, __global int* b, __global float4* c, int d, float e, long f) {
  size_t g = get_global_id(0);
  __global float* k = a;
  int h = get_local_id(0);
  float i = e;
  for (int j = 0; j < d; j++) { i += a[j + h] * e; }
  if (d < 7) { b[g] = (d * 3) ^ h; a[g + f] = i / e; } else { a[f] = sqrt(i); }
  c[g] = c[f] * 2.5f;
  b[h] = (int)i + (h << 3);
  a[g] = i - e;
  k[h] = e;
}
",
    "static int B(int a) { return a * 3; }
__kernel void A(__global int* a, __global float* b, uint c, int d, float e, float f) {
  uint g = get_global_id(0);
  uint h = 0;
  while (h < c) {
    if (a[h] > d) { b[g + h] = e * f; a[h] = d - (int)h; }
    h += 2;
  }
  if (g >= c) { return; }
  float i = (d > 3) ? e : f;
  if (e < f && d > 5) { b[g] = -i; }
  int j = max(d, 3);
  do { a[h + g] = max(j, d); h++; } while (h < 9000);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  a[g] = d + (int)h;
  b[c] = i + e;
}
",
];

impl Search<'_> {
    /// Every edit made once in each of two programs that have a place for most: so that the first plans
    /// know something. Done once, it takes two or three seconds of a processor and counts as the first
    /// target's; a budget of fewer candidates than three times as many goes without, one of time
    /// spends a third on it at most.
    pub(super) fn calibrate(&mut self, run: &mut Run, stop: &AtomicBool) -> Result<u64, Error> {
        let plans = ["guided", "construct"];
        let is_planned = self.proposers.iter().any(|proposer| plans.contains(&proposer.name()));
        let wanted = 2 * self.effects.edits.len();
        if !is_planned
            || std::mem::replace(&mut self.calibrated, true)
            || run.clock.allows(0, 3 * wanted) < 3 * wanted
        {
            return Ok(0);
        }
        let bases = self.judge.read(&BASES);
        let vectors = self.judge.locate(&BASES)?;
        let mut candidates = BASES.len() as u64;
        for (base, vector) in bases.into_iter().zip(vectors) {
            let (Some(base), Location::At(vector)) = (base, vector) else { continue };
            let mut edits = Vec::new();
            let mut texts = Vec::new();
            for edit in 0..self.effects.edits.len() {
                let mut program = base.clone();
                if self.effects.edits[edit].apply(&mut program, &mut run.rng).is_some() {
                    edits.push(edit);
                    texts.push(program.to_string());
                }
            }
            for (edits, texts) in edits.chunks(AT_ONCE).zip(texts.chunks(AT_ONCE)) {
                if run.clock.share() > 1.0 / 3.0 || stop.load(Ordering::Relaxed) {
                    return Ok(candidates);
                }
                candidates += texts.len() as u64;
                for (edit, after) in edits.iter().zip(self.judge.locate(texts)?) {
                    match after {
                        Location::At(after) => self.effects.learn(*edit, &vector, Some(&after)),
                        Location::Nowhere => self.effects.learn(*edit, &vector, None),
                        Location::Unknown => {}
                    }
                }
            }
        }
        Ok(candidates)
    }
}
