//! The stages of IR data sets: parts that are merged are the whole.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use dataset::{
    Builder, Dataset, Notes, Row,
    stage::{self, Context, Share, Stage, merge},
};
use rows::{CyclesRow, PassRow};
use stampmill_ir::{
    Build, BuildOptions, Cycles, Dedup, Extract, License, Module, ModuleItem, Optimize, Passes,
    Plan, Policy, Reader, Statistics, Stats, Stdin,
};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

fn rows<T: Row + 'static>(out: &Path) -> Vec<T> {
    Dataset::open(out).unwrap().rows().unwrap().collect::<Result<_, _>>().unwrap()
}

fn at(folder: &Path, name: &str) -> Context<'static> {
    Context { jobs: 2, ..Context::new(folder.join(name)) }
}

/// Run a stage whole and in three parts: the rows are equal.
fn whole_and_merged<S: Stage>(folder: &Path, stage: impl Fn(&Context<'static>) -> S) -> Vec<S::Row>
where
    S::Row: PartialEq + std::fmt::Debug,
    S::Summary: PartialEq + std::fmt::Debug,
{
    let context = at(folder, "whole");
    let whole = stage::run(&stage(&context), &context).unwrap();
    let part = |index| {
        let share = Some(Share { index, count: 3 });
        let context = Context { share, ..at(folder, &format!("part{index}")) };
        stage::run(&stage(&context), &context).unwrap();
        context.out
    };
    let parts: Vec<PathBuf> = (1..=3).map(part).collect();
    let merged = at(folder, "merged");
    let done = merge::<S>(&parts, &merged).unwrap();
    assert_eq!(done.summary, whole.summary);
    let of = |out: &Path| Dataset::open(out).unwrap().manifest().notes.clone();
    assert_eq!(of(&merged.out), of(&context.out));
    let found = rows::<S::Row>(&context.out);
    assert_eq!(rows::<S::Row>(&merged.out), found);
    found
}

/// A reader of the binary that is built with the workspace.
fn reader() -> Reader {
    let program = host::installed("stampmill").expect("run `cargo build --release --workspace`");
    let command: [OsString; 3] = [program.into(), "worker".into(), "ir".into()];
    Reader::new(&command, 2)
}

/// Modules without bitcode: some alike, some twice, some under a license.
fn modules(folder: &Path) -> PathBuf {
    let module = |number: u32| Module {
        content: vec![number as u8; 10],
        id: format!("{:04}", number % 14),
        kind: "module".to_owned(),
        bytes: 10,
        path: format!("{}.c", number % 10),
        structure: format!("s{}", number % 7),
        signature: (0..128).map(|at| number % 7 * 1000 + at).collect(),
        function_structures: vec![u64::from(number % 7), 1],
        license_expression: ["", "MIT", "GPL-3.0-only"][number as usize % 3].to_owned(),
        license_files: vec!["text".to_owned()],
        verdict: if number % 11 == 5 { "not-a-module" } else { "accepted" }.to_owned(),
        ..Module::default()
    };
    let text = Module {
        kind: "license-text".to_owned(),
        verdict: "license-text".to_owned(),
        id: "text".to_owned(),
        ..Module::default()
    };
    let all = (0..40).map(module).chain([module(3), module(3), text.clone(), text]);
    let out = folder.join("modules");
    let builder = Builder::<Module>::create(&out, false, &0).unwrap();
    builder.finish(all, Notes::default()).unwrap();
    out
}

#[test]
fn batches_of_modules_are_bounded_by_number_and_by_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Dedup::new(&modules(folder.path())).unwrap();
    let module = Module { content: vec![0; 1 << 20], signature: vec![0; 128], ..Module::default() };
    assert_eq!(stage.batch_size(), 16);
    assert_eq!(stage.size_bytes(&ModuleItem { occurrence: 0, module }), (1 << 20) + 4 * 128);
}

#[test]
fn parts_of_extract_merged_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let reader = reader();
    let (named, inside) = (folder.path().join("a.o"), folder.path().join("in"));
    fs::write(&named, "nothing").unwrap();
    fs::create_dir(&inside).unwrap();
    for number in 0..40 {
        fs::write(inside.join(format!("{number:02}.o")), "nothing").unwrap();
    }
    let corpus = folder.path().join("corpus_description.json");
    let description = r#"{"modules": ["../out", "gone", "../out", "/etc/passwd"]}"#;
    fs::write(&corpus, description).unwrap();
    for number in 0..5 {
        let text = format!("define i32 @f() {{ ret i32 {} }}", number % 2);
        fs::write(inside.join(format!("{number}.ll")), text).unwrap();
    }
    // What is named twice has its rows twice.
    let inputs = [named.clone(), corpus, inside, named];
    let found =
        whole_and_merged(folder.path(), |_| Extract::new(&inputs, &reader, Vec::new()).unwrap());
    let of = |verdict: &str| found.iter().filter(|row| row.verdict == verdict).count();
    assert_eq!((of("no-bitcode"), of("not-a-module")), (2, 4));
    assert_eq!(of("accepted"), 5);
    let ends = [&found[0].path, &found[found.len() - 1].path];
    assert_eq!(ends, ["a.o", "a.o"]);
}

#[test]
fn a_file_that_changed_is_told_when_extract_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let reader = reader();
    let files = ["a.o", "b.o"].map(|name| folder.path().join(name));
    files.iter().for_each(|file| fs::write(file, "nothing").unwrap());
    let context = at(folder.path(), "out");
    context.cancel.cancel();
    let extract = || Extract::new(&files, &reader, Vec::new()).unwrap();
    stage::run(&extract(), &context).unwrap_err();
    fs::write(&files[1], "another").unwrap();
    let context = at(folder.path(), "out");
    let error = stage::run(&extract(), &context).unwrap_err().to_string();
    assert!(error.contains("b.o") && !error.contains("a.o"), "{error}");
}

#[test]
fn parts_of_license_and_dedup_merged_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let modules = modules(folder.path());
    let (licensed, unique) = (folder.path().join("licensed"), folder.path().join("unique"));
    let found = whole_and_merged(&licensed, |_| License::new(&modules, Policy::Compile).unwrap());
    let of = |verdict: &str| found.iter().filter(|row| row.verdict == verdict).count();
    assert_eq!((found.len(), of("not-a-module"), of("license-text")), (44, 4, 2));
    assert!(of("accepted") > 0 && of("license-not-admitted") > 0);
    let policy = License::new(&modules, Policy::Compile).unwrap();
    let context = at(folder.path(), "again");
    let report = policy.report(context.progress).unwrap();
    assert_eq!(stage::run(&policy, &context).unwrap().summary, report);
    let found = whole_and_merged(&unique, |_| Dedup::new(&modules).unwrap());
    let of = |verdict: &str| found.iter().filter(|row| row.verdict == verdict).count();
    assert_eq!((found.len(), of("accepted")), (44, 7));
}

#[test]
fn parts_of_stats_merged_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let reader = reader();
    let inside = folder.path().join("in");
    fs::create_dir(&inside).unwrap();
    for number in 0..6 {
        let text = format!("define i32 @f(i32 %a) {{ %b = add i32 %a, {number}\n ret i32 %b }}");
        fs::write(inside.join(format!("{number}.ll")), text).unwrap();
    }
    let modules = at(folder.path(), "modules");
    stage::run(&Extract::new(&[inside], &reader, Vec::new()).unwrap(), &modules).unwrap();
    let found: Vec<Statistics> = whole_and_merged(folder.path(), |context| {
        Stats::new(&modules.out, &reader, true, true, context).unwrap()
    });
    assert!(found.len() == 6 && found.iter().all(|row| row.tokens_10k > 0 && row.functions == 1));
}

#[test]
fn parts_of_passes_and_of_the_modules_after_them_merged_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let reader = reader();
    let inside = folder.path().join("in");
    fs::create_dir(&inside).unwrap();
    for number in 0..6 {
        let text = format!(
            "define i32 @f(i32 %a) {{ %p = alloca i32\n store i32 %a, ptr %p\n %b = load i32, ptr %p
             %c = add i32 %b, {number}\n ret i32 %c }}"
        );
        fs::write(inside.join(format!("{number}.ll")), text).unwrap();
    }
    let modules = at(folder.path(), "modules");
    stage::run(&Extract::new(&[inside], &reader, Vec::new()).unwrap(), &modules).unwrap();
    let plan = || Plan { pipeline: "function(sroa,instsimplify)".to_owned(), stop: None };
    let limit = Duration::from_secs(60);
    let (passes, after) = (folder.path().join("passes"), folder.path().join("after"));
    let found: Vec<PassRow> = whole_and_merged(&passes, |_| {
        Passes::new(&modules.out, &reader, plan(), limit, false).unwrap()
    });
    assert_eq!(found.len(), 12);
    let changed = found.iter().filter(|row| row.effect == "changed");
    assert_eq!(changed.filter(|row| row.pass == "sroa").count(), 6);
    let found: Vec<Module> =
        whole_and_merged(&after, |_| Optimize::new(&modules.out, &reader, plan(), limit).unwrap());
    assert!(found.iter().all(|row| row.instructions <= 2), "{found:?}");
}

#[test]
fn parts_of_cycles_merged_are_the_whole_and_functions_come_behind_their_program() {
    let folder = tempfile::tempdir().unwrap();
    let reader = reader();
    let (inside, stdin) = (folder.path().join("in"), folder.path().join("inputs"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&stdin).unwrap();
    for number in 0..4 {
        let name = if number == 3 { "other" } else { "main" };
        let text = format!(
            "target triple = \"x86_64-unknown-linux-gnu\"
             define internal i32 @f(i32 %a) noinline {{ %b = mul i32 %a, 3\n ret i32 %b }}
             define i32 @{name}() {{ %a = call i32 @f(i32 {number})\n %b = call i32 @f(i32 %a)\n ret i32 0 }}"
        );
        fs::write(inside.join(format!("{number}.ll")), text).unwrap();
    }
    for name in ["1.in", "1.second.in"] {
        fs::write(stdin.join(name), name).unwrap();
    }
    let modules = at(folder.path(), "modules");
    stage::run(&Extract::new(&[inside], &reader, Vec::new()).unwrap(), &modules).unwrap();
    let cycles = folder.path().join("cycles");
    let found: Vec<CyclesRow> = whole_and_merged(&cycles, |_| {
        let inputs = Stdin::Folder(stdin.clone());
        Cycles::new(&modules.out, &reader, inputs, &timing::Options::default()).unwrap()
    });
    let told: Vec<_> = found
        .iter()
        .map(|row| (&row.path[..], &row.input[..], &row.function[..], row.calls))
        .collect();
    let program = |path, input| {
        [(path, input, "", None), (path, input, "f", Some(2)), (path, input, "main", Some(1))]
    };
    let wanted = [
        program("0.ll", ""),
        program("1.ll", "in"),
        program("1.ll", "second"),
        program("2.ll", ""),
    ];
    let (last, programs) = told.split_last().unwrap();
    assert_eq!(programs, wanted.concat());
    assert_eq!((last.0, found.last().unwrap().verdict.as_str()), ("3.ll", "no-main"));
    for rows in found.chunks_exact(3) {
        let [all, one, main] = rows else { unreachable!() };
        let inside = one.cycles.unwrap() + main.cycles.unwrap();
        assert!(
            inside > 0 && inside + all.startup_cycles.unwrap() <= all.cycles.unwrap(),
            "{rows:?}"
        );
    }
}

#[test]
fn parts_of_build_merged_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let reader = reader();
    let name = |number: u32| folder.path().join(format!("p{number}"));
    for number in 0..4 {
        fs::create_dir(name(number)).unwrap();
        fs::write(name(number).join("a.c"), format!("int f = {number};")).unwrap();
    }
    let program = host::installed("stampmill").unwrap().into_os_string();
    let stage = |context: &Context<'static>| {
        Build::new(BuildOptions {
            sources: (0..4).map(|number| format!("dir:{}", name(number).display())).collect(),
            out: context.out.clone(),
            reader: &reader,
            wrapper: vec![program.clone(), "-q".into(), "ir".into(), "wrap".into(), "--".into()],
            wall: std::time::Duration::from_secs(60),
            disk_bytes: 1 << 30,
            command: Some("clang-19 -c a.c || exit 3".to_owned()),
            all_targets: false,
            codegen_units: 1,
            cache: Some(folder.path().join("cache")),
            popcon: None,
            offline: true,
            keep: false,
            progress: context.progress,
            cancel: context.cancel.clone(),
        })
        .unwrap()
    };
    let found: Vec<Module> = whole_and_merged(folder.path(), stage);
    let packages: Vec<&str> =
        found.iter().filter(|row| row.is_package()).map(|row| row.package.as_str()).collect();
    assert_eq!(packages, ["p0", "p1", "p2", "p3"]);
    assert!(!folder.path().join("whole.work").exists());
}
