//! Certificates of edits whose right certificate is known beforehand.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use dataset::stage::{Context, run};
use rows::EditCertificate;
use stampmill_edits::{
    Bench, Candidates, Certify, CertifyOptions, Limits, Pair, Problem, Sample, Store,
};
use std::path::Path;

/// Rows of edits of one slow program, in their order.
fn certified(
    folder: &Path,
    samples: &[(&str, &str)],
    slow: &str,
    edits: &[&str],
    options: CertifyOptions,
) -> Vec<EditCertificate> {
    let timing = timing::Options { max_instructions: 50_000_000, ..timing::Options::default() };
    let store = Store::at(&folder.join("cache"));
    let bench = Bench::open(&timing, Limits::default(), &store).unwrap();
    let code = |body: &str| format!("#include <cstdio>\n#include <cstdlib>\n{body}\n");
    let pair = Pair {
        problem_id: "p".into(),
        src_id: "s".into(),
        src_code: code(slow),
        ..Pair::default()
    };
    let programs = edits.iter().map(|edit| code(edit)).collect();
    let candidates = Candidates { src_id: "s".into(), programs, ..Candidates::default() };
    let samples = samples
        .iter()
        .map(|(input, output)| Sample { input: (*input).into(), output: (*output).into() });
    let samples = samples.collect();
    let problem = Problem { id: "p".into(), samples, ..Problem::default() };
    let stage = Certify::new(&[pair], &[candidates], &[problem], &bench, options);
    let context = Context { jobs: 2, force: true, ..Context::new(folder.join("certified")) };
    run(&stage, &context).unwrap();
    let set = dataset::Dataset::open(&context.out).unwrap();
    set.rows().unwrap().collect::<Result<_, _>>().unwrap()
}

fn few(inputs: usize) -> CertifyOptions {
    CertifyOptions { inputs, draws: 100, patience: 60, ..CertifyOptions::default() }
}

/// Numbers up to 10, of which some are special.
const SUM: &str = "int main() { int n; if (scanf(\"%d\", &n) != 1) return 1; long s = 0; \
                   for (int i = 1; i <= n; i++) s += i; printf(\"%ld\\n\", s); }";

#[test]
fn a_single_value_is_found_by_enumeration_and_equal_edits_are_exhaustive() {
    let folder = tempfile::tempdir().unwrap();
    let of = |special: &str| {
        format!(
            "int main() {{ int n; if (scanf(\"%d\", &n) != 1) return 1; {special} \
             printf(\"%ld\\n\", (long)n * (n + 1) / 2); }}"
        )
    };
    let edits = [
        of(""),
        of("if (n == 7) n++;"),
        of("if (n == 7) abort();"),
        of("if (n == 7) for (volatile int i = 0;; i = 1);"),
        // Beyond what the samples have.
        of("if (n == 12) n++;"),
        "int main() { return x; }".into(),
        "int main() { puts(\"1\"); }".into(),
        // It reads before its server could.
        "int n, s = scanf(\"%d\", &n); int main() { printf(\"%ld\\n\", (long)n * (n + 1) / 2); }"
            .into(),
        of("if (n > 100000000) printf(\"large\\n\"); if (n < 0) printf(\"negative\\n\");"),
    ];
    let edits: Vec<&str> = edits.iter().map(String::as_str).collect();
    let samples = [("10\n", "55\n"), ("4\n", "10\n")];
    let rows = certified(folder.path(), &samples, SUM, &edits, few(60));
    let found: Vec<(&str, &str, &[u8])> = rows
        .iter()
        .map(|row| (row.certificate.as_str(), row.verdict.as_str(), row.counterexample.as_slice()))
        .collect();
    let due: [(&str, &str, &[u8]); 9] = [
        ("exhaustive", "accepted", b""),
        ("counterexample", "fails-hidden-tests", b"7\n"),
        ("counterexample", "fails-hidden-tests", b"7\n"),
        ("counterexample", "fails-hidden-tests", b"7\n"),
        ("doubtful", "accepted", b"12\n"),
        ("none", "does-not-compile", b""),
        ("none", "wrong-output", b""),
        ("exhaustive", "accepted", b""),
        ("exhaustive", "accepted", b""),
    ];
    assert_eq!(found, due, "{rows:#?}");
    let equal = &rows[0];
    assert!(equal.bound >= 40 && equal.enumerated >= 40, "{equal:?}");
    assert!(equal.blocks > 0 && equal.reached <= equal.blocks, "{equal:?}");
    assert_eq!((equal.grammar.as_str(), rows[1].found_by.as_str()), ("line of 1", "enumeration"));
    assert_eq!(
        (rows[1].detail.as_str(), rows[1].wanted.as_slice()),
        ("line 1: wanted `28`, found `36`", &b"28\n"[..])
    );
    assert!(rows[2].detail.contains("signal 6"), "{}", rows[2].detail);
    assert!(rows[8].blocks > rows[0].blocks && rows[8].reached < rows[8].blocks);
}

#[test]
fn what_stands_behind_branches_is_found_by_growth() {
    let folder = tempfile::tempdir().unwrap();
    let read = "int a[1000]; int main() { int n, s = 0; if (scanf(\"%d\", &n) != 1) return 1; \
                for (int i = 0; i < n; i++) if (scanf(\"%d\", a + i) != 1) return 1; \
                for (int i = 0; i < n; i++) s += a[i];";
    let slow = format!("{read} printf(\"%d\\n\", s); }}");
    let deep = format!(
        "{read} if (n > 4 && a[0] % 5 == 1) {{ putchar(' '); if (a[1] % 5 == 2) {{ putchar(' '); \
         if (a[2] % 3 == 0) s++; }} }} printf(\"%d\\n\", s); }}"
    );
    let samples = [("6\n3 14 15 9 26 5\n", "72\n"), ("5\n1 8 2 8 30\n", "49\n")];
    let options =
        CertifyOptions { inputs: 200, draws: 3000, patience: 1000, ..CertifyOptions::default() };
    let rows = certified(folder.path(), &samples, &slow, &[&deep, &slow], options.clone());
    assert_eq!(rows[0].certificate, "counterexample", "{rows:#?}");
    assert_eq!(
        (rows[0].found_by.as_str(), rows[0].verdict.as_str()),
        ("growth", "fails-hidden-tests")
    );
    assert_eq!(rows[1].certificate, "exhaustive", "{:#?}", rows[1]);
    assert!(rows[0].kept >= 2 && rows[1].inputs > rows[1].enumerated);
    // Without a bound that is large enough, growth alone.
    let rows = certified(
        folder.path(),
        &samples,
        &slow,
        &[&slow],
        CertifyOptions { inputs: 1, ..options.clone() },
    );
    assert_eq!((rows[0].certificate.as_str(), rows[0].bound), ("covered", 1), "{rows:#?}");
    let again = |seed| {
        let options = CertifyOptions { seed, inputs: 1, ..options.clone() };
        certified(folder.path(), &samples, &slow, &[&deep], options)
    };
    assert_eq!(again(3), again(3));
    assert_ne!(again(3)[0].counterexample, again(4)[0].counterexample);
}

#[test]
fn a_difference_where_the_slow_program_is_undefined_is_none() {
    let folder = tempfile::tempdir().unwrap();
    // It divides by 3 - n, reads behind its array from 8 on, does not end at 5 and prints nothing at 6.
    let body = |zero: u32, behind: &str| {
        format!(
            "int a[8] = {{1, 2, 3, 4, 5, 6, 7, 8}}; int b[64]; \
             int main() {{ int n; if (scanf(\"%d\", &n) != 1) return 1; b[0] = {zero}; \
             if (n == 5) for (volatile int i = 0;; i = 1); if (n == 6) return 0; \
             printf(\"%d %d\\n\", 12 / (3 - n + (n == 4)), n < 8 ? a[n] : {behind}); }}"
        )
    };
    let (slow, fast) = (body(0, "a[n]"), body(0, "n + 100"));
    let samples = [("1\n", "6 2\n"), ("2\n", "12 3\n"), ("9\n", "-2 0\n")];
    // The third sample's output is what happens to be there: it is left out.
    let rows = certified(folder.path(), &samples[..2], &slow, &[&fast], few(16));
    // 3 and 4 divide by zero.
    assert!(rows[0].left_out >= 4, "{rows:#?}");
    assert_eq!(
        (rows[0].verdict.as_str(), rows[0].counterexample.len()),
        ("accepted", 0),
        "{rows:#?}"
    );
    let broken = certified(folder.path(), &[("1\n", "7\n")], &slow, &[&fast], few(16));
    assert_eq!(
        (broken[0].verdict.as_str(), broken[0].certificate.as_str()),
        ("source-fails", "none")
    );
    let none = certified(folder.path(), &[], &slow, &[&fast], few(16));
    assert_eq!((none[0].verdict.as_str(), none[0].certificate.as_str()), ("no-tests", "none"));
}
