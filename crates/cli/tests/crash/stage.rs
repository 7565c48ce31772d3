//! The stages: a command on a small input that is made here, and the rows of its result that must be equal.

use crate::home::{Home, put};
use std::fmt::Write;

/// What is compared of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows {
    /// The rows of a query; measured times are not among its columns.
    Query(&'static str),
    /// All files under `made`, but those of that name.
    Files { but: &'static [&'static str] },
}

/// One command.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    /// Makes its input in the folder.
    pub(crate) input: fn(&Home),
    /// Its arguments; the output goes to `made/out`.
    pub(crate) command: &'static str,
    /// What else it leaves under `made`.
    pub(crate) beside: &'static [&'static str],
    pub(crate) rows: Rows,
    /// The folder of its input whose files may vanish.
    pub(crate) reads: &'static str,
}

const ALL: Rows = Rows::Query("SELECT * FROM d");
const MODULES: Rows = Rows::Query("SELECT * EXCLUDE (log) FROM d");
const JUDGED: Rows = Rows::Query("SELECT * EXCLUDE (src_peak_bytes, peak_bytes) FROM d");

pub(crate) const STAGES: &[Stage] = &[
    Stage {
        name: "mine",
        input: sources,
        command: "mine sources --json --out made/out",
        beside: &[],
        rows: ALL,
        reads: "sources",
    },
    Stage {
        name: "prepare",
        input: programs,
        command: "prepare programs --json --out made/out",
        beside: &[],
        rows: ALL,
        reads: "programs",
    },
    Stage {
        name: "features",
        input: programs,
        command: "features programs --space grewe,instcount --json --out made/out",
        beside: &[],
        rows: ALL,
        reads: "programs",
    },
    Stage {
        name: "run",
        input: small_kernels,
        command: "run programs --devices cpu --global-sizes 128 --budget 1ms --json --out made/out",
        beside: &[],
        rows: Rows::Query(
            "SELECT path, kernel, device, global_size, local_size, payload, outcome, about, detail FROM d",
        ),
        reads: "programs",
    },
    Stage {
        name: "label",
        input: runs_of_two_devices,
        command: "label runs --features programs --json --out made/out",
        beside: &[],
        rows: ALL,
        reads: "programs",
    },
    Stage {
        name: "label-size",
        input: programs,
        command: "label --task size programs --json --out made/out",
        beside: &[],
        rows: ALL,
        reads: "programs",
    },
    Stage {
        name: "steer",
        input: |_| {},
        command: "steer --space instcount --target Load=3 --target Load=9,Store=2 --target Alloca=2,Load=4 \
                  --budget 600 --trajectory --json --out made/out",
        beside: &[],
        rows: Rows::Query("SELECT * EXCLUDE (seconds) FROM d"),
        reads: "",
    },
    Stage {
        name: "sample",
        input: checkpoint,
        command: "sample infill --n 6 --longest 120 --batch 2 --json --out made/out",
        beside: &[],
        rows: ALL,
        reads: "infill",
    },
    Stage {
        name: "time",
        input: suite,
        command: "time --suite suite --json --out made/out",
        beside: &[],
        rows: ALL,
        reads: "suite",
    },
    Stage {
        name: "ir-build",
        input: project,
        command: "ir build dir:project dir:other --json --out made/out",
        beside: &[],
        rows: MODULES,
        reads: "project",
    },
    Stage {
        name: "ir-extract",
        input: store,
        command: "ir extract kept --json --out made/out",
        beside: &[],
        rows: MODULES,
        reads: "kept",
    },
    Stage {
        name: "ir-dedup",
        input: modules,
        command: "ir dedup modules --json --out made/out",
        beside: &[],
        rows: MODULES,
        reads: "modules",
    },
    Stage {
        name: "ir-optimize",
        input: modules,
        command: "ir optimize modules --stop-after sroa --json --out made/out",
        beside: &[],
        rows: MODULES,
        reads: "modules",
    },
    Stage {
        name: "ir-passes",
        input: modules,
        command: "ir optimize modules --after-each --no-times --json --out made/out",
        beside: &[],
        rows: ALL,
        reads: "modules",
    },
    Stage {
        name: "ir-run",
        input: modules_with_main,
        command: "ir run modules --json --out made/out",
        beside: &[],
        rows: ALL,
        reads: "modules",
    },
    Stage {
        name: "ir-stats",
        input: modules,
        command: "ir stats modules --json --out made/out",
        beside: &[],
        rows: ALL,
        reads: "modules",
    },
    Stage {
        name: "edits-pairs",
        input: edits,
        command: "edits pairs pairs.jsonl --tests tests --rejected --json --out made/out",
        beside: &[],
        rows: ALL,
        reads: "tests",
    },
    Stage {
        name: "edits-tests",
        input: edits,
        command: "edits tests problems.jsonl --pairs pairs.jsonl --draws 6 --per-problem 2 --json \
                  --out made/out",
        beside: &[],
        rows: ALL,
        reads: "",
    },
    Stage {
        name: "edits-certify",
        input: edits,
        command: "edits certify pairs.jsonl --problems problems.jsonl --inputs 20 --draws 20 --json \
                  --out made/out",
        beside: &[],
        rows: ALL,
        reads: "",
    },
    Stage {
        name: "edits-judge",
        input: edits,
        command: "edits judge pairs.jsonl --candidates answers.jsonl --tests tests --limit 4s --json \
                  --out made/out",
        beside: &[],
        rows: JUDGED,
        reads: "tests",
    },
    Stage {
        name: "train",
        input: programs,
        command: "train programs --model lstm --recipe small.toml --prepare-only --quiet --out made/out",
        beside: &[],
        rows: Rows::Files { but: &[] },
        reads: "programs",
    },
    Stage {
        name: "learn",
        input: two_kinds,
        command: "learn --task local-size:8,256 --train train --test test --committee knn:3,tree:3 --rounds 1 \
                  --batch 1 --candidates 100 --global-size 1024 --measuring 1ms --json --out made/out",
        beside: &["out.runs"],
        // What is made in a round hangs on measured times.
        rows: Rows::Query(
            "SELECT role, path, text, vector FROM d WHERE round = 0 AND role <> 'test'",
        ),
        reads: "train",
    },
];

fn sources(home: &Home) {
    for folder in 0..40 {
        put(home, &format!("sources/{folder}/types.h"), "typedef float real;\n");
        for at in 0..60 {
            let text = format!(
                "#include \"types.h\"\nkernel void k{at}(global real *a) {{ a[get_global_id(0)] *= {folder}{at}; }}\n"
            );
            put(home, &format!("sources/{folder}/{at}.cl"), &text);
        }
    }
}

fn programs(home: &Home) {
    for at in 0..60 {
        let mut text = format!("kernel void k(global int *a, int n) {{ int s = {at};\n");
        for line in 0..40 {
            writeln!(text, "  s = s * {line} + a[(s + {line}) % n];").expect("text grows");
        }
        text.push_str("  a[get_global_id(0)] = s; }\n");
        put(home, &format!("programs/{at:02}.cl"), &text);
    }
    put(home, "small.toml", "[training]\nvalidation_share = 0.0\n");
}

fn small_kernels(home: &Home) {
    for at in 0..8 {
        let text =
            format!("kernel void k(global int *a) {{ a[get_global_id(0)] += {at} * 3 + 1; }}\n");
        put(home, &format!("programs/{at}.cl"), &text);
    }
}

/// Runs on a processor, and the same again as if a GPU had made them.
fn runs_of_two_devices(home: &Home) {
    small_kernels(home);
    home.must(
        "run programs --devices cpu --global-sizes 128 --budget 1ms --json --out runs-of-one",
    );
    let both = "SELECT * FROM r WHERE outcome = 'pass' UNION ALL \
        SELECT * REPLACE ('gpu' AS device_type, 'other' AS device) FROM r WHERE outcome = 'pass'";
    home.must_words(&["query", both, "r=runs-of-one", "--out", "runs"]);
}

fn checkpoint(home: &Home) {
    // Asked for when it runs: a build folder may serve several checkouts.
    let here = std::env::current_dir().expect("tests run in their crate's folder");
    home.copy(&here.join("../../models/infill"), "infill");
}

fn suite(home: &Home) {
    for at in 1..=4 {
        let text = format!(
            "#include <stdio.h>\nint main(void) {{ int n = 0, s = {at}; scanf(\"%d\", &n);\n  \
             for (int i = 0; i < n * 100; i++) s = s * 31 + i;\n  printf(\"%d\\n\", s); }}\n"
        );
        put(home, &format!("suite/p{at}.c"), &text);
        put(home, &format!("suite/p{at}.a.in"), "7\n");
        put(home, &format!("suite/p{at}.b.in"), "9\n");
    }
}

fn project(home: &Home) {
    for (folder, first) in [("project", 1), ("other", 20)] {
        let objects: Vec<String> = (first..first + 8).map(|at| format!("f{at}.o")).collect();
        let make = format!("all: {}\n%.o: %.c\n\tclang-19 -O2 -c $< -o $@\n", objects.join(" "));
        put(home, &format!("{folder}/Makefile"), &make);
        for at in first..first + 8 {
            let text = format!(
                "int f{at}(int x) {{ int s = 0; for (int i = 0; i < x; i++) s += i * {at}; return s; }}\n"
            );
            put(home, &format!("{folder}/f{at}.c"), &text);
        }
    }
}

fn store(home: &Home) {
    project(home);
    for at in 1..9 {
        let line = format!("-q ir wrap --store kept -- clang-19 -c project/f{at}.c -o f{at}.o");
        home.must(&line);
    }
}

fn modules(home: &Home) {
    store(home);
    home.must("ir extract kept --json --out modules");
}

fn modules_with_main(home: &Home) {
    for at in 0..8 {
        let text = format!(
            "target triple = \"x86_64-unknown-linux-gnu\"\ndefine i32 @main() {{\n  ret i32 {at}\n}}\n"
        );
        put(home, &format!("mains/p{at}.ll"), &text);
    }
    home.must("ir extract mains --json --out modules");
}

fn edits(home: &Home) {
    let slow = |rounds: u32| {
        format!(
            "#include <cstdio>\\nint main() {{ int n; scanf(\\\"%d\\\", &n); volatile long s = 0; \
             for (int k = 0; k < {rounds}; k++) {{ s = 0; for (int i = 1; i <= n; i++) s += i; }} \
             printf(\\\"%ld\\\\n\\\", s); }}\\n"
        )
    };
    let fast = "#include <cstdio>\\nint main() { int n; scanf(\\\"%d\\\", &n); \
        printf(\\\"%ld\\\\n\\\", (long)n * (n + 1) / 2); }\\n";
    let wrong = "#include <cstdio>\\nint main() { puts(\\\"1\\\"); }\\n";
    let (mut pairs, mut answers, mut problems) = (String::new(), String::new(), String::new());
    for at in 1..4 {
        let source = slow(100 * at);
        writeln!(
            pairs,
            "{{\"problem_id\": \"p{at}\", \"src_id\": \"s{at}\", \"tgt_id\": \"t{at}\", \"src_code\": \"{source}\", \
             \"tgt_code\": \"{fast}\", \"src_agg_runtime\": 2.0, \"tgt_agg_runtime\": 1.0, \"speedup\": 2.0}}"
        )
        .expect("text grows");
        writeln!(
            answers,
            "{{\"src_id\": \"s{at}\", \"generated_answers\": [\"{fast}\", \"{wrong}\", \"int main() {{ return x; }}\"]}}"
        )
        .expect("text grows");
        writeln!(
            problems,
            "{{\"problem_id\": \"p{at}\", \"statement\": \"Constraints: 1 <= N <= 2000. Input: N\", \
             \"samples\": [{{\"input\": \"10\\n\", \"output\": \"55\\n\"}}, {{\"input\": \"4\\n\", \"output\": \"10\\n\"}}]}}"
        )
        .expect("text grows");
        for (test, n) in [(0, 100 + at), (1, 200 + at)] {
            put(home, &format!("tests/p{at}/input.{test}.txt"), &format!("{n}\n"));
            put(home, &format!("tests/p{at}/output.{test}.txt"), &format!("{}\n", n * (n + 1) / 2));
        }
    }
    put(home, "pairs.jsonl", &pairs);
    put(home, "answers.jsonl", &answers);
    put(home, "problems.jsonl", &problems);
}

/// Kernels to train on and to test on, of which none resembles another too closely.
fn two_kinds(home: &Home) {
    for number in 1..=8 {
        let floats = [
            format!("s = s * {number}.5f + x[i];"),
            format!("s += sqrt(fabs(s) + {number}.0f);"),
            format!("for (int j = 0; j < {number}; j++) {{ s = s * 0.5f + j; }}"),
            format!("if (s > {number}.0f) {{ s -= {number}.25f; }}"),
            format!("s = fmax(s, x[i] * {number}.0f);"),
        ];
        let integers = [
            format!("s ^= i + {number};"),
            format!("s |= x[i] << {number};"),
            format!("while (s > {number}00) {{ s /= 2; }}"),
            format!("s -= (s & 1) ? {number} : 2;"),
            format!("s = abs(s) % {number}1;"),
        ];
        for (folder, element, statements) in [("train", "float", floats), ("test", "int", integers)]
        {
            let body: Vec<&str> =
                (0..4).map(|at| statements[(number + at * 2) % 5].as_str()).collect();
            let text = format!(
                "kernel void k(global {element} *x) {{\n  int i = get_global_id(0);\n  \
                 {element} s = x[i];\n  {}\n  x[i] = s + x[i];\n}}\n",
                body.join("\n  ")
            );
            put(home, &format!("{folder}/{number}.cl"), &text);
        }
    }
}
