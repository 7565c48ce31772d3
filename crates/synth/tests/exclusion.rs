//! The leak rule on files as they are found: isolated kernel against isolated kernel.

use stampmill_synth::{Corpus, Exclusion, Judge, Target};
use std::path::Path;

/// Three kernels, a helper and macros; the second is copied below.
const FILE: &str = "#define TILE 16
#define AT(m, y, x) m[(y) * width + (x)]
typedef float real;
inline real clip(real x) { return x < 0.0f ? 0.0f : x; }
__kernel void fill(__global real* out, int width) {
  for (int at = get_global_id(0); at < width; at += get_global_size(0)) out[at] = at % TILE;
}
__kernel void blur(__global real* out, __global const real* in, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  real sum = 0.0f;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) sum += AT(in, y + dy, x + dx);
  AT(out, y, x) = clip(sum / 9.0f);
}
__kernel void count(__global int* bins, __global const real* in, int n) {
  int at = get_global_id(0);
  if (at < n) atomic_add(&bins[(int)in[at] & 255], 1);
}
";

/// `blur` by itself: names, order of parameters, macros and the helper are not as they were, and more is declared.
const COPY: &str =
    "__kernel void A(int a, int b, const int unused, __global const float* c, __global float* d) {
  const int e = get_global_id(1);
  const int f = get_global_id(0);
  int spare;
  if (f < 1 || e < 1 || f >= a - 1 || e >= b - 1)
    return;
  float g = 0.0f;
  for (int h = -1; h <= 1; h++) {
    for (int i = -1; i <= 1; i++) {
      g += c[(e + h) * a + (f + i)];
    }
  }
  float k = g / 9.0f;
  d[e * a + f] = k < 0.0f ? 0.0f : k;
}
";

const OTHER: &str = "__kernel void A(__global uint* a, uint b, uint c) {
  uint d = get_global_id(0);
  for (uint e = 1; e < c; e <<= 1) {
    uint f = a[d ^ e];
    a[d] = (a[d] & b) > (f & b) ? f : a[d] + (f >> 3);
  }
}
";

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("is made");
    std::fs::write(path, text).expect("is written");
}

#[test]
fn a_kernel_cut_out_of_a_file_and_changed_is_no_seed() {
    let space = features::space("instcount").expect("registered");
    let judge = Judge::new(space, 2).expect("the clang worker is built with the workspace");
    let home = tempfile::tempdir().expect("a folder");
    write(&home.path().join("suite/image.cl"), FILE);
    write(&home.path().join("mined/copy.cl"), COPY);
    write(&home.path().join("mined/other.cl"), OTHER);
    let mut exclusion = Exclusion::default();
    exclusion.add_path(&home.path().join("suite")).expect("is read");
    assert_eq!(exclusion.len(), (3, 3));
    assert!(exclusion.holds("x", COPY).expect("clang is there"));
    assert!(!exclusion.holds("x", OTHER).expect("clang is there"));
    assert!(exclusion.holds("count", OTHER).expect("names need no compiler"));
    let cache = home.path().join("cache");
    for _ in 0..2 {
        let corpus =
            Corpus::open(&home.path().join("mined"), &exclusion, &judge, None, Some(&cache));
        let corpus = corpus.expect("is read");
        assert_eq!((corpus.len(), corpus.excluded()), (1, 1));
    }
    // The same for one target, whatever was excluded before.
    let all = Corpus::open(&home.path().join("mined"), &Exclusion::default(), &judge, None, None);
    let target = Target { program: Some(FILE.to_owned()), ..Target::point("any", &[]) };
    let corpus = all.expect("is read").for_target(&target).expect("clang is there");
    assert_eq!((corpus.len(), corpus.excluded()), (1, 1));
}
