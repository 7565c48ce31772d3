//! Programs that mean harm, or only do it: a verdict each, and the others are prepared.

use dataset::{
    Dataset,
    stage::{Cancel, Context, Share, merge, run},
};
use stampmill_kernels::{KernelRow, Options, Prepare, Report, Result};
use std::{collections::BTreeMap, fs, path::Path, time::Duration};

fn prepare(options: &Options, out: &Path) -> Result<Report> {
    let context = Context { jobs: 2, force: true, ..Context::new(out) };
    Ok(run(&Prepare::new(options)?, &context)?.summary)
}

#[test]
fn hostile_programs_are_verdicts_and_the_rest_is_prepared() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("programs");
    fs::create_dir(&folder).expect("a folder");
    let mut bomb = String::from("#define X0 a[0]++;\n");
    for level in 1..40 {
        bomb.push_str(&format!("#define X{level} X{0} X{0}\n", level - 1));
    }
    bomb.push_str("kernel void bomb(global int *a) { X39 }\n");
    let nested = format!(
        "kernel void nested(global int *a) {{ a[0] = {}1{}; }}\n",
        "(".repeat(300_000),
        ")".repeat(300_000)
    );
    let good = "kernel void good(global int *a) { a[get_global_id(0)] += 2; }\n";
    let files: [(&str, Vec<u8>); 9] = [
        ("a-good.cl", good.into()),
        ("bomb.cl", bomb.into()),
        ("bytes.cl", b"kernel void \xff\0(global int *a) {}".to_vec()),
        ("crash.cl", b"#pragma clang __debug crash\nkernel void crash(global int *a) { a[0] = 1; }\n".to_vec()),
        ("empty.cl", Vec::new()),
        ("nested.cl", nested.into()),
        ("passwd.cl", b"#include \"/etc/passwd\"\nkernel void p(global int *a) { a[get_global_id(0)] += 3; }\n".to_vec()),
        ("self.cl", b"#include \"self.cl\"\nkernel void s(global int *a) { a[get_global_id(0)] += 4; }\n".to_vec()),
        ("z-good.cl", good.replace("+= 2", "*= 5").into()),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a file");
    }
    fs::write(folder.join("huge.cl"), vec![b'x'; 100 << 20]).expect("a file");
    std::os::unix::fs::symlink("..", folder.join("loop")).expect("a link");

    let out = home.path().join("kernels");
    let options = Options { limit: Duration::from_secs(5), ..Options::new(&folder) };
    let report = prepare(&options, &out).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.unique_kernels, 4);
    let rows = Dataset::open(&out).expect("a data set").rows::<KernelRow>().expect("kernels");
    let verdicts: BTreeMap<String, String> =
        rows.map(|row| row.expect("a row")).map(|row| (row.path, row.verdict)).collect();
    let of = |name: &str| verdicts.get(name).map_or("", String::as_str);
    for name in ["a-good.cl", "z-good.cl", "passwd.cl", "self.cl"] {
        assert_eq!(of(name), "accepted", "{name}");
    }
    assert_eq!(of("bytes.cl"), "not-utf8");
    assert_eq!(of("empty.cl"), "empty");
    assert_eq!(of("huge.cl"), "too-large");
    for name in ["bomb.cl", "nested.cl", "crash.cl"] {
        assert!(!matches!(of(name), "" | "accepted"), "{name}: {}", of(name));
    }
}

/// The verdicts of programs by their names.
fn verdicts(programs: &[(&str, &str)]) -> BTreeMap<String, Vec<(String, String)>> {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("programs");
    fs::create_dir(&folder).expect("a folder");
    for (name, text) in programs {
        fs::write(folder.join(format!("{name}.cl")), text).expect("a file");
    }
    let out = home.path().join("kernels");
    prepare(&Options::new(&folder), &out).unwrap_or_else(|error| panic!("{error}"));
    let mut found: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for row in Dataset::open(&out).expect("a data set").rows::<KernelRow>().expect("kernels") {
        let row = row.expect("a row");
        let name = row.path.trim_end_matches(".cl").to_owned();
        found.entry(name).or_default().push((row.verdict, row.detail));
    }
    found
}

#[test]
fn what_reaches_out_of_a_kernel_is_a_verdict() {
    let call = |head: &str, call: &str| {
        format!("{head}\nkernel void k(global int* a) {{ a[get_global_id(0)] += {call}; }}\n")
    };
    let within = |statement: &str| {
        format!(
            "kernel void k(global int* a) {{ int x = a[0]; {statement} a[get_global_id(0)] += x; }}\n"
        )
    };
    let assembly = "inline-assembly";
    let programs = [
        ("plain", within("__asm__ volatile(\"nop\");"), assembly),
        (
            "x86",
            within("long r; asm volatile(\"syscall\" : \"=a\"(r) : \"a\"(39L)); x += r;"),
            assembly,
        ),
        ("macro", format!("#define DO(x) __asm(x)\n{}", within("DO(\"nop\");")), assembly),
        ("pasted", format!("#define CAT(a, b) a##b\n{}", within("CAT(as, m)(\"nop\");")), assembly),
        ("spliced", within("__as\\\nm__(\"nop\");"), assembly),
        ("helper", call("int f(int x) { asm(\"nop\"); return x; }", "f(3)"), assembly),
        ("file", call("__asm__(\".globl evil\");", "3"), assembly),
        ("bytes", call("__asm__(\".incbin \\\"/etc/passwd\\\"\");", "3"), assembly),
        ("label", call("int f(int x) __asm__(\"abs\");", "f(3)"), assembly),
        ("called", call("extern int system(const char* x);", "system(0)"), "not-defined"),
        ("exit", call("void exit(int x);", "(exit(3), 1)"), "not-defined"),
        ("variable", call("extern constant int environment;", "environment"), "not-defined"),
        ("address", within("x = ((int (*)(int))0x1234)(x);"), "does-not-compile"),
        (
            "section",
            call(
                "__attribute__((section(\".init_array\"))) int f(int x) { return x * 3; }",
                "f(3)",
            ),
            "linker-attribute",
        ),
        (
            "first",
            call("__attribute__((constructor)) int f(int x) { return x * 3; }", "f(3)"),
            "linker-attribute",
        ),
        // What looks alike and is none.
        ("words", within("/* asm */ printf(\"asm %d\", x);"), "accepted"),
        ("builtin", call("", "abs(a[1]) + (int)native_sin((float)a[2])"), "accepted"),
        (
            "block",
            within("int (^twice)(int) = ^(int y) { return y * 2; }; x = twice(x);"),
            "accepted",
        ),
        ("declared", call("int f(int x);\nint f(int x) { return x * 3; }", "f(3)"), "accepted"),
    ];
    let texts: Vec<(&str, &str)> =
        programs.iter().map(|(name, text, _)| (*name, text.as_str())).collect();
    let found = verdicts(&texts);
    let wrong: Vec<String> = programs
        .iter()
        .filter(|(name, _, expected)| found[*name].iter().any(|(verdict, _)| verdict != expected))
        .map(|(name, _, expected)| format!("{name}: {expected}, not {:?}", found[*name]))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_was_rejected_before_keeps_its_row_and_nothing_is_lost() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("project");
    fs::create_dir(&folder).expect("a folder");
    let good = "kernel void good(global int *a) { a[get_global_id(0)] += 2; }\n";
    fs::write(folder.join("a.cl"), good).expect("a file");
    fs::write(folder.join("LICENSE"), include_str!("../../../LICENSE-MIT")).expect("a file");
    fs::write(folder.join("bytes.cl"), b"\xff\0").expect("a file");
    for name in ["x.cl", "y.cl"] {
        let huge = fs::File::create(folder.join(name)).expect("a file");
        huge.set_len(dataset::LARGEST_PROGRAM + 1).expect("a sparse file");
    }
    std::os::unix::fs::symlink("/etc/passwd", folder.join("z.cl")).expect("a link");
    let raw = home.path().join("raw");
    let mining = mine::Options {
        sources: vec![folder.display().to_string()],
        licenses: dataset::Licenses::All,
        language: dataset::Language::OpenCl,
        cache: Some(home.path().join("cache")),
        offline: true,
        suite: None,
    };
    let context = Context::new(&raw);
    run(&mine::Mine::new(mining, &context).expect("a folder"), &context).expect("it is mined");
    for input in [&raw, &folder] {
        let out = home.path().join("kernels");
        let report = match prepare(&Options::new(input), &out) {
            Ok(report) => report,
            Err(stampmill_kernels::Error::Clang(error)) => {
                panic!("the clang worker is built here: {error}")
            }
            Err(error) => panic!("{error}"),
        };
        let rows = Dataset::open(&out).expect("a data set").rows::<KernelRow>().expect("kernels");
        let verdicts: BTreeMap<String, String> =
            rows.map(|row| row.expect("a row")).map(|row| (row.path, row.verdict)).collect();
        let wanted = [
            ("a.cl", "accepted"),
            ("bytes.cl", "not-utf8"),
            ("x.cl", "too-large"),
            ("y.cl", "too-large"),
            ("z.cl", "unsafe-path"),
        ];
        let wanted = wanted.map(|(path, verdict)| (path.to_owned(), verdict.to_owned()));
        assert_eq!(verdicts, BTreeMap::from(wanted), "{}", input.display());
        assert_eq!(report.rejected["too-large"], 2);
        assert!(dataset::check(&out).expect("a data set").is_whole());
    }
}

#[test]
fn three_parts_merged_are_the_whole() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("programs");
    fs::create_dir(&folder).expect("a folder");
    for index in 0..9 {
        // Every third is equal to another but for its names, and two are the same file.
        let (name, value) = (index % 8, index % 3 + 2);
        let text =
            format!("kernel void k{name}(global int *a) {{ a[get_global_id(0)] += {value}; }}\n");
        fs::write(folder.join(format!("{index}.cl")), text).expect("a file");
    }
    fs::write(folder.join("broken.cl"), "kernel void k( {").expect("a file");
    fs::write(folder.join("host.c"), "int main(void) { return 0; }").expect("a file");
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link.cl")).expect("a link");
    let stage = Prepare::new(&Options::new(&folder)).expect("the clang worker is built here");
    let whole = Context::new(home.path().join("whole"));
    let done = run(&stage, &whole).expect("prepared");
    let shares = [3, 1, 2].map(|index| {
        let share = Some(Share { index, count: 3 });
        let context = Context { share, ..Context::new(home.path().join(format!("{index}"))) };
        run(&stage, &context).expect("prepared");
        context.out
    });
    let merged = Context::new(home.path().join("merged"));
    let joined = merge::<Prepare>(&shares, &merged).expect("merged");
    assert_eq!(joined.summary, done.summary);
    assert_eq!((done.summary.files, done.summary.unique_kernels), (10, 3));
    let of =
        |context: &Context<'_>| Dataset::open(&context.out).expect("a data set").manifest().clone();
    let (merged, whole) = (of(&merged), of(&whole));
    assert_eq!((merged.identity, merged.notes), (whole.identity, whole.notes));
}

#[test]
fn an_input_that_changed_since_the_run_was_stopped_is_named() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("programs");
    fs::create_dir(&folder).expect("a folder");
    for name in ["a", "b", "c"] {
        let text = format!("kernel void {name}(global int *a) {{ a[get_global_id(0)] += 2; }}\n");
        fs::write(folder.join(format!("{name}.cl")), text).expect("a file");
    }
    let context = Context { jobs: 1, ..Context::new(home.path().join("kernels")) };
    let stage = Prepare::new(&Options::new(&folder)).expect("the clang worker is built here");
    context.cancel.cancel();
    let stopped = run(&stage, &context).expect_err("it was cancelled");
    assert!(stopped.to_string().contains("stopped before any of the files"), "{stopped}");
    fs::remove_file(folder.join("b.cl")).expect("it was there");
    fs::write(folder.join("c.cl"), "kernel void d() {}").expect("a file");
    let stage = Prepare::new(&Options::new(&folder)).expect("the clang worker is built here");
    let context = Context { cancel: Cancel::default(), ..context };
    let error = run(&stage, &context).expect_err("it was changed");
    let said = error.to_string();
    assert!(said.contains("b.cl is gone, c.cl has changed"), "{said}");
    assert!(!said.contains("settings"), "{said}");
}
