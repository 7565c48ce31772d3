//! Operations of kernels: what counts them, and how many a device comes to at most.

use crate::{Error, Result, payload::KernelLaunch};
use std::collections::BTreeMap;

/// A kernel that multiplies and adds as often as a device can: 8 vectors of 8 numbers, none of which waits for another.
pub(super) const MULTIPLY_ADDS: &str = "kernel void A(global const float* a, global float* b) {
  size_t i = get_global_id(0);
  float8 x = (float8)(a[i]), h = (float8)(0.5f);
  float8 p = x + 1.0f, q = x + 2.0f, r = x + 3.0f, s = x + 4.0f, t = x + 5.0f, u = x + 6.0f, v = x + 7.0f, w = x + 8.0f;
  for (int k = 0; k < 128; k++) {
    p = mad(p, h, x); q = mad(q, h, x); r = mad(r, h, x); s = mad(s, h, x);
    t = mad(t, h, x); u = mad(u, h, x); v = mad(v, h, x); w = mad(w, h, x);
  }
  p = p + q + r + s + t + u + v + w;
  b[i] = p.s0 + p.s1 + p.s2 + p.s3 + p.s4 + p.s5 + p.s6 + p.s7;
}";
/// Work-items of it.
pub(super) const ITEMS: u64 = 1 << 18;
/// Multiplications and additions in its loop, of all work-items.
pub(super) const OPERATIONS: f64 = (ITEMS * 128 * 8 * 8 * 2) as f64;

/// Counts floating-point operations of launches of a program's kernels, taken together; `None` where they cannot be counted.
type Count =
    dyn Fn(&str, &[KernelLaunch]) -> std::result::Result<Option<f64>, String> + Send + Sync;

/// What counts the floating-point operations of candidates.
pub struct OperationCounter {
    /// Counts those of launches of a program's kernels, taken together; `None` where they cannot be counted. An error says how the
    /// machine failed.
    pub count: Box<Count>,
    /// What it is made of, as a manifest names tools.
    pub tools: BTreeMap<String, String>,
}

impl OperationCounter {
    /// Operations of these launches.
    ///
    /// # Errors
    /// When the machine fails.
    pub(super) fn of(&self, text: &str, launches: &[KernelLaunch]) -> Result<Option<f64>> {
        (self.count)(text, launches).map_err(Error::Operations)
    }
}
