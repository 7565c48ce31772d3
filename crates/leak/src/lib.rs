//! The leak rule: whether a kernel is a copy of one that must not be started from or learned from.
//!
//! Two isolated kernels are compared by what is left of them when everything is gone that a copyist changes without
//! thought: names, layout, declarations, types and their widths, macros. Two views are taken of each, and a kernel is
//! a copy where either says so:
//!
//! - its *text*: runs of eight lexemes, every name one symbol, no number of it (as MOSS fingerprints programs:
//!   Schleimer, Wilkerson, Aiken, SIGMOD'03, with k-grams of normalised text);
//! - its *optimised IR*: for every instruction the tree of what it is computed from, three levels deep, no order and no
//!   widths (labels as in Weisfeiler and Lehman's test; Shervashidze et al., JMLR 12, 2011). The optimiser has removed
//!   dead code, inlined helpers and made loops of one form.
//!
//! Both are multisets, [`Shingles`]; two are compared by Jaccard similarity and by containment of the smaller in the
//! larger (Broder, 1997), because a kernel that was split is contained in its source and a merged one contains it.
//! The thresholds, what they were tuned on, recall and false alarms are in `docs/design/leaks.md`.
//!
//! - [`Print`] is what is compared; [`likeness`] compares two, [`Likeness::is_copy`] is the rule;
//! - [`Known`] holds prints and names of kernels that are excluded, and finds the one that a kernel is a copy of;
//! - [`suite_kernels`] are the names of the kernels of the published suites.
//!
//! ```
//! use stampmill_leak::{Print, likeness};
//!
//! let scale = "kernel void scale(global float* out, global const float* in, float by) {
//!     size_t at = get_global_id(0); out[at] = in[at] * by + in[at + 1] / by; }";
//! let copy = "typedef double real; kernel void A(int n, global real* a, real b, global real* c) {
//!     int i = get_global_id(0); int spare; a[i] = c[i] * b + c[i + 1] / b; }";
//! assert!(likeness(&Print::of_text(scale), &Print::of_text(copy)).is_copy());
//! ```

mod ir;
mod known;
mod print;
mod shingles;
mod suite;
mod text;

/// Prints of another version of the rule are not compared.
pub const VERSION: u32 = 1;

pub use known::{Known, Match};
pub use print::{Likeness, Print, likeness};
pub use shingles::{Overlap, Shingles};
pub use suite::{suite_kernels, suite_of};
