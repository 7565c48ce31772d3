//! The leak rule finds a kernel again however it was changed: one kernel in the thirteen ways of docs/results/leak-rule.md.

use stampmill_synth::Exclusion;

const ORIGINAL: &str = "__kernel void blur(__global const float* in, __global float* out, const int width, const int height, const float weight) {
  int x = get_global_id(0);
  int y = get_global_id(1);
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  float sum = 0.0f;
  for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
      float value = in[(y + dy) * width + x + dx];
      sum += value * (dx == 0 && dy == 0 ? weight : 1.0f);
    }
  }
  out[y * width + x] = sum / (weight + 8.0f);
}
";

/// Kernels of the same size that have nothing to do with it.
const OTHERS: [(&str, &str); 2] = [
    (
        "sum of a group",
        "__kernel void total(__global const uint* data, __global uint* sums, __local uint* part, uint n) {
  uint id = get_global_id(0), at = get_local_id(0);
  part[at] = id < n ? data[id] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = get_local_size(0) / 2; step > 0; step >>= 1) {
    if (at < step) part[at] += part[at + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (at == 0) atomic_add(&sums[get_group_id(0) & 7], part[0]);
}
",
    ),
    (
        "random numbers",
        "__kernel void draw(__global ulong* states, __global float* uniform, int rounds) {
  ulong state = states[get_global_id(0)];
  uint word = 0;
  while (rounds-- > 0) {
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    uint shifted = (uint)(((state >> 18) ^ state) >> 27);
    uint turn = (uint)(state >> 59);
    word ^= (shifted >> turn) | (shifted << ((32 - turn) & 31));
  }
  uniform[get_global_id(0)] = convert_float(word) * 0x1p-32f;
  states[get_global_id(0)] = state;
}
",
    ),
];

/// The original with each `to` in the place of its `from`.
fn with(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(ORIGINAL.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "the original has no `{from}`");
        text.replace(from, to)
    })
}

fn variants() -> Vec<(&'static str, String)> {
    let parameters = "__global const float* in, __global float* out, const int width, const int height, const float weight";
    let inner = "      float value = in[(y + dy) * width + x + dx];\n      sum += value * (dx == 0 && dy == 0 ? weight : 1.0f);\n";
    let split =
        with(&[("out[y * width + x] = sum / (weight + 8.0f);", "out[y * width + x] = sum;")])
            + "__kernel void scale(__global float* out, const int width, const float weight) {
  int at = get_global_id(1) * width + get_global_id(0);
  out[at] = out[at] / (weight + 8.0f);
}
";
    let merged = with(&[
        (parameters, &format!("{parameters}, __global ulong* states, int rounds")),
        (
            "  int x = ",
            "  ulong state = states[get_global_id(0)];\n  while (rounds-- > 0) state = state * 6364136223846793005UL + 1UL;\n  states[get_global_id(0)] = state;\n  int x = ",
        ),
    ]);
    vec![
        (
            "renamed",
            with(&[
                ("blur", "f"),
                ("in[", "a["),
                ("* in,", "* a,"),
                ("width", "w"),
                ("weight", "c"),
                ("sum", "total"),
                ("value", "v"),
            ]),
        ),
        (
            "reordered",
            with(&[(
                parameters,
                "const float weight, const int height, const int width, __global float* out, __global const float* in",
            )]),
        ),
        ("parameter added", with(&[(parameters, &format!("{parameters}, const int unused"))])),
        (
            "local added",
            with(&[(
                "  float sum",
                "  __local float tile[64];\n  tile[get_local_id(0) & 63] = weight;\n  float sum",
            )]),
        ),
        ("typedef", format!("typedef float real;\n{}", with(&[("float", "real")]))),
        (
            "inlined helper",
            "float tap(__global const float* in, int at, float by) { return in[at] * by; }\n"
                .to_owned()
                + &with(&[(
                    inner,
                    "      sum += tap(in, (y + dy) * width + x + dx, dx == 0 && dy == 0 ? weight : 1.0f);\n",
                )]),
        ),
        (
            "loop form",
            with(&[
                ("  for (int dy = -1; dy <= 1; dy++) {", "  int dy = -1;\n  while (dy <= 1) {"),
                (
                    "    for (int dx = -1; dx <= 1; dx++) {",
                    "    int dx = -1;\n    while (dx <= 1) {",
                ),
                (inner, &format!("{inner}      dx++;\n")),
                ("    }\n  }\n", "    }\n    dy++;\n  }\n"),
            ]),
        ),
        ("type width", with(&[("int", "long"), ("float", "double"), ("0f", "0")])),
        (
            "dead code",
            with(&[(
                "  float sum",
                "  if (width < 0) {\n    for (int i = 0; i < height; i++) out[i] = weight * i;\n  }\n  float sum",
            )]),
        ),
        (
            "macro",
            "#define AT(x, y) ((y) * width + (x))\n".to_owned()
                + &with(&[
                    ("in[(y + dy) * width + x + dx]", "in[AT(x + dx, y + dy)]"),
                    ("out[y * width + x]", "out[AT(x, y)]"),
                ]),
        ),
        (
            "vector width",
            with(&[
                ("float*", "float4*"),
                ("float sum = 0.0f", "float4 sum = (float4)(0.0f)"),
                ("float value", "float4 value"),
            ]),
        ),
        ("split", split),
        ("merged", merged),
    ]
}

#[test]
fn a_kernel_is_found_again_in_each_of_thirteen_ways_to_change_it() {
    let mut exclusion = Exclusion::default();
    exclusion.add_program(ORIGINAL).expect("the clang worker is built with the workspace");
    let variants = variants();
    let texts: Vec<(&str, &str)> = variants.iter().map(|(_, text)| ("", text.as_str())).collect();
    let found = exclusion.matches(&texts).expect("clang is there");
    let missed: Vec<&str> = variants
        .iter()
        .zip(&found)
        .filter(|(_, found)| found.is_none())
        .map(|((name, _), _)| *name)
        .collect();
    assert_eq!((variants.len(), missed.as_slice()), (13, [].as_slice()));
    let others: Vec<(&str, &str)> = OTHERS.iter().map(|(_, text)| ("", *text)).collect();
    let alarms = exclusion.matches(&others).expect("clang is there");
    assert!(alarms.iter().all(Option::is_none), "{alarms:?}");
}
