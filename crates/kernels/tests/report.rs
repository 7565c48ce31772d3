//! What is reported of a data set of content files.

use dataset::{
    Builder, Dataset, Licenses, Notes,
    stage::{Context, Done, Share, Stage as _, merge, run},
};
use mine::ContentFile;
use stampmill_kernels::{KernelRow, Options, Prepare, Report};
use std::{collections::BTreeMap, path::Path};

/// A kernel long enough to have near-duplicates: those of other numbers.
fn long(name: &str, number: u32) -> String {
    format!(
        "kernel void {name}(global float* out, global const float* in, int width, int height) {{
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  float sum = 0.0f;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      sum += in[(y + dy) * width + x + dx] * (dx == 0 && dy == 0 ? {number}.0f : 1.0f);
  out[y * width + x] = sum / 9.0f;
}}
"
    )
}

fn file(package: &str, path: &str, text: &str) -> ContentFile {
    ContentFile {
        id: dataset::content_hash(text.as_bytes()),
        text: text.to_owned(),
        language: "opencl".to_owned(),
        kind: "file".to_owned(),
        package: package.to_owned(),
        path: path.to_owned(),
        license: if package == "alpha" { "MIT" } else { "" }.to_owned(),
        kernels: text.matches("kernel void").count() as u64,
        verdict: "accepted".to_owned(),
        ..ContentFile::default()
    }
}

fn files() -> Vec<ContentFile> {
    let two =
        "kernel void k(global int* a) { a[get_global_id(0)] += 2; }\nkernel void none(void) { }\n";
    vec![
        file("alpha", "1.cl", two),
        file("alpha", "2.cl", "kernel void same(global int* b) { b[get_global_id(0)] += 2; }\n"),
        file("alpha", "3.cl", &long("blur", 3)),
        file("beta", "1.cl", &long("smooth", 4)),
        file("beta", "2.cl", "kernel void s(global real* a) { a[1] = sqrt(a[0]) / 3; }\n"),
        file("beta", "3.cl", "kernel void r(global uint* a) { a[7] ^= MISSING_MASK; a[3]--; }\n"),
        file("beta", "4.cl", "int f(int x) { return x; }\n"),
        file(
            "beta",
            "5.cl",
            "kernel void p(global int* a) { a[0] = ; }\nkernel void q(int* a) { ; }\n",
        ),
        // The text of another file, and what no file is.
        file("gamma", "1.cl", two),
        ContentFile { verdict: "too-large".to_owned(), ..file("beta", "6.cl", "") },
        ContentFile { kind: "license".to_owned(), ..file("alpha", "LICENSE", "do what you want") },
    ]
}

fn raw(at: &Path) {
    raw_of(files(), at);
}

fn raw_of(files: Vec<ContentFile>, at: &Path) {
    let set = Builder::create(at, false, &());
    set.and_then(|set| set.finish(files, Notes::default())).expect("it is made");
}

fn prepared(input: &Path, out: &Path) -> Done<Report> {
    let stage = Prepare::new(&Options::new(input)).expect("the clang worker is built here");
    run(&stage, &Context { jobs: 1, ..Context::new(out) }).expect("prepared")
}

/// What is known of where a file is from.
fn known(file: ContentFile) -> ContentFile {
    let text = str::to_owned;
    ContentFile {
        source: text("folder"),
        version: text("1.2"),
        license: text("MIT"),
        license_source: text("LICENSE"),
        detail: text("9 bytes"),
        ..file
    }
}

fn rows(at: &Path) -> Vec<KernelRow> {
    let rows = Dataset::open(at).and_then(|set| set.rows()?.collect());
    rows.expect("a data set of kernels")
}

#[test]
fn files_kernels_and_packages_are_counted() {
    let home = tempfile::tempdir().expect("there is room");
    let (input, out) = (home.path().join("raw"), home.path().join("kernels"));
    raw(&input);
    let stage = Prepare::new(&Options::new(&input)).expect("the clang worker is built here");
    let context = Context { jobs: 1, ..Context::new(&out) };
    let done = run(&stage, &context).expect("prepared");
    let mut report = serde_json::to_value(&done.summary).expect("plain data");
    let rejected = serde_json::json!({
        "does-not-compile": 2, "no-kernel": 1, "too-large": 1, "too-small": 1,
    });
    let texts: Vec<String> = rows(&out).into_iter().map(|row| row.text).collect();
    let lines = |text: &String| text.lines().count();
    let wanted = serde_json::json!({
        "files": 9,
        "unique_files": 8,
        "compiled_plain": 4,
        "compiled_shim": 1,
        "compiled_repaired": 1,
        "kernels": 6,
        "unique_kernels": 5,
        "same_ir": {
            "plain": {"kernels": 4, "proved": 4},
            "shim": {"kernels": 1, "proved": 1},
            "repaired": {"kernels": 1, "proved": 1},
        },
        "rejected": rejected,
        "rejected_before": 1,
        "lines_before": 2 + 1 + 9 + 9 + 1 + 1,
        "lines_after": texts.iter().map(lines).sum::<usize>(),
        "textual_kernels": 9,
        "families": 4,
        "packages": [
            {
                "package": "alpha", "files": 3, "textual_kernels": 4, "kernels": 3, "unique": 2,
                "families": 2, "rejected": {"too-small": 1},
            },
            {
                "package": "beta", "files": 5, "textual_kernels": 5, "kernels": 3, "unique": 3,
                "families": 3, "rejected": {"does-not-compile": 2, "no-kernel": 1},
            },
        ],
        "licenses": {"": 3, "MIT": 2},
    });
    let words = ["vocabulary_before", "vocabulary_after"]
        .map(|key| report.as_object_mut().and_then(|all| all.remove(key)).and_then(|n| n.as_u64()));
    assert_eq!(report, wanted);
    let different = |texts: Vec<&str>| {
        let tokens = texts.into_iter().flat_map(|text| lexer::tokens(text).map(|token| token.text));
        Some(tokens.collect::<std::collections::BTreeSet<_>>().len() as u64)
    };
    let (files, kernels) = (files(), texts.iter().map(String::as_str).collect());
    let before = files[..6].iter().map(|file| file.text.as_str()).collect();
    assert_eq!(words, [different(before), different(kernels)]);
}

#[test]
fn rows_say_what_they_are_equal_and_similar_to() {
    let home = tempfile::tempdir().expect("there is room");
    let (input, out) = (home.path().join("raw"), home.path().join("kernels"));
    raw(&input);
    let stage = Prepare::new(&Options::new(&input)).expect("the clang worker is built here");
    run(&stage, &Context { jobs: 1, ..Context::new(&out) }).expect("prepared");
    let rows = rows(&out);
    let by_name: BTreeMap<&str, &KernelRow> =
        rows.iter().map(|row| (row.original_name.as_str(), row)).collect();
    let (k, same) = (by_name["k"], by_name["same"]);
    assert_eq!((k.duplicates, k.verdict.as_str(), k.family == k.id), (1, "accepted", true));
    assert_eq!((same.verdict.as_str(), same.text.as_str()), ("duplicate", ""));
    assert_eq!((same.detail.as_str(), &same.id, &same.family), ("of k in 1.cl", &k.id, &k.id));
    assert_eq!(k.content_id, files()[0].id);
    let (blur, smooth) = (by_name["blur"], by_name["smooth"]);
    assert_eq!((&blur.family, &smooth.family), (&blur.id, &blur.id));
    assert_eq!((blur.duplicates, smooth.duplicates), (0, 0));
    assert_eq!(by_name["s"].family, by_name["s"].id);
    // What was rejected before stands last.
    let last = rows.last().expect("there are some");
    assert_eq!((last.path.as_str(), last.verdict.as_str()), ("6.cl", "too-large"));
    let manifest = Dataset::open(&out).expect("a data set").manifest().clone();
    let notes = manifest.notes;
    assert_eq!(notes.inputs.len(), 1);
    assert_eq!(notes.inputs[0].name, input.display().to_string());
    assert_eq!(notes.configuration["licenses"], "all");
    assert!(notes.tools["clang"].contains("19"), "{:?}", notes.tools);
    let accepted = rows.iter().filter(|row| row.verdict == "accepted").count() as u64;
    let counts = ["accepted", "duplicate", "too-large"].map(|verdict| notes.verdicts[verdict]);
    assert_eq!(counts, [accepted, 1, 1]);
    // Prepared again, what was rejected is left out by its verdict.
    let again = Prepare::new(&Options::new(&out)).expect("the clang worker is built here");
    let context = Context { jobs: 1, ..Context::new(home.path().join("again")) };
    let done = run(&again, &context).expect("prepared");
    let left_out = [
        ("does-not-compile", 2),
        ("duplicate", 1),
        ("no-kernel", 1),
        ("too-large", 1),
        ("too-small", 1),
    ];
    assert_eq!(done.left_out, left_out.map(|(name, count)| (name.to_owned(), count)).into());
    assert_eq!(done.summary.unique_kernels, accepted);
}

#[test]
fn files_of_other_licenses_are_not_read() {
    let home = tempfile::tempdir().expect("there is room");
    let (input, out) = (home.path().join("raw"), home.path().join("kernels"));
    raw(&input);
    let licenses = Licenses::Permissive;
    let options = Options { licenses, ..Options::new(&input) };
    let stage = Prepare::new(&options).expect("the clang worker is built here");
    run(&stage, &Context { jobs: 1, ..Context::new(&out) }).expect("prepared");
    for row in rows(&out).iter().filter(|row| row.path != "6.cl") {
        let rejected = row.verdict == "license-not-admitted";
        assert_eq!(rejected, row.package != "alpha", "{} {}", row.package, row.path);
    }
}

#[test]
fn what_is_not_proved_equal_counts_as_tried() {
    let home = tempfile::tempdir().expect("there is room");
    let done = prepared(Path::new("cases/unproved.cl"), &home.path().join("kernels"));
    let same_ir = &done.summary.same_ir["plain"];
    assert_eq!((same_ir.kernels, same_ir.proved), (4, 1));
}

#[test]
fn where_a_program_is_from_goes_with_its_kernels() {
    let home = tempfile::tempdir().expect("there is room");
    let at = |name: &str| home.path().join(name);
    let text = "kernel void k(global int* a) { a[get_global_id(0)] += N; }\n";
    // Macros of its package make more kernels of it than its text says.
    let (defines, kernels) = (vec!["-DN=7".to_owned()], 5);
    let rejected = ContentFile { verdict: "too-large".to_owned(), ..file("alpha", "2.cl", "") };
    let known =
        [ContentFile { defines, kernels, ..file("alpha", "1.cl", text) }, rejected].map(known);
    raw_of(known.to_vec(), &at("raw"));
    assert_eq!(prepared(&at("raw"), &at("once")).summary.textual_kernels, 5);
    prepared(&at("once"), &at("again"));
    for name in ["once", "again"] {
        let rows = rows(&at(name));
        let row = &rows[0];
        let from = [&row.source, &row.package, &row.version, &row.path];
        assert_eq!(from, ["folder", "alpha", "1.2", "1.cl"], "{name}");
        let named = [&row.license, &row.license_source, &row.name, &row.original_name];
        assert_eq!(named, ["MIT", "LICENSE", "A", "k"], "{name}");
        assert!(row.text.contains("+= 7"), "{}", row.text);
    }
    let rows = rows(&at("once"));
    assert_eq!((rows[1].verdict.as_str(), rows[1].detail.as_str()), ("too-large", "9 bytes"));
}

#[test]
fn parts_of_a_data_set_merged_are_the_whole() {
    let home = tempfile::tempdir().expect("there is room");
    let at = |name: &str| home.path().join(name);
    // What stands in one part may be the same file, or the same news, as what stands in another.
    let news = known(ContentFile { verdict: "too-large".to_owned(), ..file("beta", "7.cl", "") });
    let text = long("licensed", 7);
    let license = ContentFile { kind: "license".to_owned(), ..file("alpha", "LICENSE", &text) };
    let last = known(file("gamma", "2.cl", &text));
    let all = [vec![license, news.clone()], files(), vec![last, news]].concat();
    let many = all.len() as u64;
    raw_of(all, &at("raw"));
    let stage = Prepare::new(&Options::new(at("raw"))).expect("the clang worker is built here");
    assert_eq!(stage.items().expect("they are read").total, Some(many));
    for (input, name) in [("raw", "once"), ("once", "again")] {
        let done = prepared(&at(input), &at(name));
        let stage = Prepare::new(&Options::new(at(input))).expect("the clang worker is built here");
        let parts = [2, 1, 3].map(|index| {
            let share = Some(Share { index, count: 3 });
            let out = at(&format!("{name}-{index}"));
            run(&stage, &Context { share, jobs: 1, ..Context::new(&out) }).expect("prepared");
            out
        });
        let merged = at(&format!("{name}-merged"));
        let joined = merge::<Prepare>(&parts, &Context::new(&merged)).expect("merged");
        assert_eq!(joined.summary, done.summary, "{name}");
        assert_eq!(rows(&merged), rows(&at(name)), "{name}");
    }
}
