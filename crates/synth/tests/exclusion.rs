//! The leak rule on files as they are found: isolated kernel against isolated kernel.

use lm::TrainingSet;
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

#[test]
fn what_lies_in_the_folder_of_a_file_or_below_a_folder_is_excluded() {
    let home = tempfile::tempdir().expect("a folder");
    let root = home.path().canonicalize().expect("it is there");
    for path in ["suite/a.cl", "suite/deep/b.cl", "elsewhere/c.cl", "suite/set/_dataset.json"] {
        write(&root.join(path), "");
    }
    let folder = |exclusion: &Exclusion, path: &str| {
        exclusion.folder_of(&root.join(path)).map(Path::to_owned)
    };
    let mut of_file = Exclusion::default();
    of_file.add_folder(&root.join("suite/a.cl"));
    let suite = Some(root.join("suite"));
    assert_eq!(folder(&of_file, "suite/deep/b.cl"), suite);
    assert_eq!(folder(&of_file, "suite"), suite);
    assert_eq!(folder(&of_file, "elsewhere/c.cl"), None);
    assert_eq!(folder(&of_file, "suite/set"), None, "a data set is nobody's reference");
    let mut of_set = Exclusion::default();
    of_set.add_folder(&root.join("suite/set/_dataset.json"));
    assert_eq!(folder(&of_set, "suite/set"), Some(root.join("suite/set")), "it holds the file");
    let mut of_folder = Exclusion::default();
    of_folder.add_folder(&root.join("suite"));
    assert_eq!(folder(&of_folder, "suite/set"), suite);
    assert_eq!(folder(&of_folder, "elsewhere"), None);
    assert!(of_folder.is_empty(), "no kernel is known of it");
}

#[test]
fn names_and_kernels_are_counted() {
    let mut exclusion = Exclusion::default();
    assert_eq!((exclusion.len(), exclusion.is_empty()), ((0, 0), true));
    exclusion.add_name("suite/x.cl:first");
    exclusion.add_name("suite/x.cl:second");
    assert_eq!((exclusion.len(), exclusion.is_empty()), ((2, 0), false));
    // One character says nothing, and an address is no name.
    exclusion.add_name("suite/x.cl:A");
    exclusion.add_name("a b");
    assert_eq!(exclusion.len(), (2, 0));
    exclusion.add_program(OTHER).expect("the clang worker is built with the workspace");
    assert_eq!(exclusion.len(), (2, 1));
    exclusion.add_named_program(FILE).expect("clang is there");
    let (names, kernels) = exclusion.len();
    assert_eq!((names - 2, kernels - 1), (kernel_names(FILE), kernel_names(FILE)));
}

fn kernel_names(text: &str) -> usize {
    text.matches("kernel void").count()
}

#[test]
fn a_model_that_learned_a_copy_is_refused_by_what_it_is_a_copy_of() {
    let mut exclusion = Exclusion::default();
    exclusion.add_program(OTHER).expect("the clang worker is built with the workspace");
    let said = |name: &str, text: &str| {
        let training = TrainingSet::of([(name, text)]);
        exclusion.check_model(Path::new("model"), Some(&training)).map_err(|e| e.to_string())
    };
    assert_eq!(said("mine", COPY), Ok(()));
    let unnamed = said("", OTHER).expect_err("a copy");
    assert!(unnamed.contains("(a copy of a program:A)"), "{unnamed}");
    let named = said("mine", OTHER).expect_err("a copy");
    assert!(named.contains("mine, a copy of a program:A"), "{named}");
}

#[test]
fn lines_give_names_texts_and_targets() {
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("points/targets.jsonl");
    let line = serde_json::json!({"benchmark": "b", "src": OTHER}).to_string();
    write(&file, &format!("{line}\n\n{{\"target\": \"suite/x.cl:scan\"}}\n"));
    let mut exclusion = Exclusion::default();
    exclusion.add_path(&file).expect("is read");
    assert!(exclusion.holds("scan", COPY).expect("names need no compiler"));
    assert!(exclusion.holds("x", OTHER).expect("clang is there"));
    assert!(!exclusion.holds("x", COPY).expect("clang is there"));
    let points = file.parent().and_then(|folder| folder.canonicalize().ok());
    assert_eq!(exclusion.folder_of(&file).map(Path::to_owned), points);
    write(&file, "{\"src\": ");
    let error = Exclusion::default().add_path(&file).expect_err("half a line").to_string();
    assert!(error.contains("targets.jsonl"), "{error}");
}
