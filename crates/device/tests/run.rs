//! Runs on a real device: PoCL's.

use dataset::{
    Builder, Dataset, Notes, Progress,
    stage::{self, Cancel, Context, Share},
};
use rows::KernelRow;
use stampmill_device::{Error, Options, Report, Run, RunRow, Verify};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The device under test.
fn pocl() -> String {
    let mut devices = stampmill_device::devices().expect("devices can be listed").into_iter();
    let found = devices.find(|device| device.platform == "Portable Computing Language");
    found.expect("scripts/setup.sh installs PoCL").name
}

fn options(input: &Path, device: String) -> Options {
    Options {
        devices: device,
        global_sizes: vec![128, 1024],
        budget: Duration::from_millis(2),
        ..Options::new(input)
    }
}

fn run(options: &Options, context: &Context<'_>) -> Result<Report, Error> {
    Ok(stage::run(&Run::new(options.clone(), &context.cancel)?, context)?.summary)
}

fn at(out: &Path) -> Context<'static> {
    Context { jobs: 2, ..Context::new(out) }
}

fn rows(out: &Path) -> Vec<RunRow> {
    let dataset = Dataset::open(out).expect("a data set");
    dataset.rows().expect("of runs").collect::<Result<_, _>>().expect("readable")
}

/// Run programs by name and give the rows.
fn run_programs(
    programs: &[(&str, &str)],
    change: impl FnOnce(&mut Options),
) -> BTreeMap<String, Vec<RunRow>> {
    let device = pocl();
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("programs");
    std::fs::create_dir(&input).expect("a folder");
    for (name, text) in programs {
        std::fs::write(input.join(format!("{name}.cl")), text).expect("written");
    }
    let out = folder.path().join("runs");
    let mut options = options(&input, device);
    change(&mut options);
    run(&options, &at(&out)).expect("a run");
    let mut by_name: BTreeMap<String, Vec<RunRow>> = BTreeMap::new();
    for row in rows(&out) {
        by_name.entry(row.path.trim_end_matches(".cl").to_owned()).or_default().push(row);
    }
    by_name
}

const GOOD: &str = "kernel void A(global const float* a, global float* b, const int n) {
    int i = get_global_id(0); if (i < n) b[i] = a[i] * 2.0f + 1.0f; }";

#[test]
fn a_good_kernel_passes_and_is_measured_at_every_size() {
    let found = run_programs(&[("good", GOOD)], |_| {});
    let rows = &found["good"];
    assert_eq!(rows.iter().map(|row| row.global_size).collect::<Vec<_>>(), [128, 1024]);
    for row in rows {
        assert_eq!((row.outcome.as_str(), row.kernel.as_str()), ("pass", "A"), "{}", row.detail);
        assert!(row.kernel_time_ns.is_some_and(|time| time > 0));
        assert!(row.repeats.is_some_and(|repeats| repeats >= 3));
        assert!(row.transferred_bytes.is_some_and(|bytes| bytes >= row.global_size * 8));
        assert_eq!(row.payload, "size");
    }
}

#[test]
fn each_bad_kernel_gets_its_outcome_and_harms_no_other() {
    let large = format!("{GOOD}\n/*{}*/", "x".repeat(10 << 20));
    let programs = [
        ("good", GOOD),
        ("nothing-built", "kernel void A(global float* a) { a[0] = undeclared; }"),
        ("nothing-there", "float f(float x) { return x; }"),
        ("nothing-taken", "kernel void A(void) { }"),
        ("nothing-given", "kernel void A(global float* a) { float x = a[get_global_id(0)]; }"),
        ("constant", "kernel void A(global float* a) { a[get_global_id(0)] = 1.0f; }"),
        ("nan", "kernel void A(global float* a) { a[get_global_id(0)] = NAN; }"),
        (
            "outside",
            "kernel void A(global float* a) { a[(int)get_global_id(0) - 2 * (int)get_global_size(0)] *= 2.0f; }",
        ),
        (
            "reads-outside",
            "kernel void A(global float* a, global float* b) {
            int i = get_global_id(0); b[i] = a[i] + a[i - 2 * (int)get_global_size(0)]; }",
        ),
        (
            "crash",
            "kernel void A(global int* a, long n) { a[get_global_id(0) + n * 1000000000000L] = a[0]; }",
        ),
        ("pointers", "kernel void A(global float* a, pipe int p) { a[get_global_id(0)] *= 2.0f; }"),
        ("large", &large),
        (
            "clamps",
            "kernel void A(global const int* a, global int* b, int lo, int hi) {
            int i = get_global_id(0); int v = a[i]; b[i] = v < lo ? lo : (v > hi ? hi : v); }",
        ),
        (
            "prints",
            "kernel void A(global float* a) {
            int i = get_global_id(0); if (i == 0) printf(\"%f\\n\", a[0]); a[i] += 1.0f; }",
        ),
    ];
    let found = run_programs(&programs, |_| {});
    for (name, expected) in [
        ("good", "pass"),
        ("nothing-built", "build-failure"),
        ("nothing-there", "no-kernel"),
        ("nothing-taken", "no-arguments"),
        ("nothing-given", "no-output"),
        ("constant", "input-insensitive"),
        ("nan", "input-insensitive"),
        ("outside", "out-of-bounds"),
        ("reads-outside", "out-of-bounds"),
        ("crash", "crash"),
        ("large", "pass"),
        ("clamps", "pass"),
        ("prints", "pass"),
    ] {
        for row in &found[name] {
            assert_eq!(row.outcome, expected, "{name} at {}: {}", row.global_size, row.detail);
        }
    }
    let refused = ["unsupported-argument", "build-failure"];
    assert!(found["pointers"].iter().all(|row| refused.contains(&row.outcome.as_str())));
}

#[test]
fn what_reaches_out_of_a_kernel_is_refused_before_a_driver_sees_it() {
    let kernel = |call: &str| {
        format!("kernel void A(global int* a) {{ int x = a[0]; {call} a[get_global_id(0)] += x; }}")
    };
    let programs = [
        ("good", GOOD.to_owned(), "pass", ""),
        ("assembly", kernel("__asm__ volatile(\"nop\");"), "refused", "inline-assembly"),
        (
            "hidden",
            format!("#ifdef SOME_DRIVER\n#define N asm(\"nop\")\n#endif\n{}", kernel("")),
            "refused",
            "inline-assembly",
        ),
        (
            "label",
            format!("int f(int x) __asm__(\"abs\");\n{}", kernel("x = f(x);")),
            "refused",
            "inline-assembly",
        ),
        (
            "called",
            format!("extern int system(const char* x);\n{}", kernel("x = system(0);")),
            "refused",
            "not-defined: system",
        ),
        (
            "address",
            format!(
                "#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable\n{}",
                kernel("x = ((int (*)(int))0x1234)(x);")
            ),
            "refused",
            "indirect-call",
        ),
        (
            "alias",
            format!(
                "int f(int x) {{ return x; }} int g(int x) __attribute__((alias(\"f\")));\n{}",
                kernel("x = g(x);")
            ),
            "refused",
            "linker-attribute",
        ),
        (
            "first",
            format!("__attribute__((constructor)) void f(void) {{ }}\n{}", kernel("")),
            "refused",
            "linker-attribute",
        ),
        ("included", format!("#include \"/etc/passwd\"\n{}", kernel("")), "refused", "#include"),
    ];
    let texts: Vec<(&str, &str)> =
        programs.iter().map(|(name, text, ..)| (*name, text.as_str())).collect();
    let found = run_programs(&texts, |_| {});
    for (name, _, outcome, detail) in &programs {
        for row in &found[*name] {
            assert_eq!(row.outcome, *outcome, "{name}: {}", row.detail);
            assert!(row.detail.starts_with(detail), "{name}: {}", row.detail);
        }
    }
}

#[test]
fn more_local_memory_than_there_is_is_a_lack_and_no_crash() {
    let large = "kernel void A(global float* a) { local float t[4194304]; int i = get_global_id(0);
        t[get_local_id(0)] = a[i]; barrier(CLK_LOCAL_MEM_FENCE); a[i] = t[get_local_id(0)] * 2; }";
    let many = "typedef struct { float x[60000]; } S;
        kernel void A(global float* a, local S* t) { int i = get_global_id(0);
        t[get_local_id(0)].x[3] = a[i]; barrier(CLK_LOCAL_MEM_FENCE); a[i] = t[get_local_id(0)].x[3] * 2; }";
    let found = run_programs(&[("large", large), ("many", many)], |_| {});
    for row in found.values().flatten() {
        assert_eq!(
            (row.outcome.as_str(), row.about.as_str()),
            ("out-of-resources", "us"),
            "{}",
            row.detail
        );
        assert!(row.detail.contains("bytes of local memory"), "{}", row.detail);
    }
}

#[test]
fn details_hold_no_names_that_chance_gave() {
    let programs = [
        ("undeclared", "kernel void A(global float* a) { a[0] = undeclared; }"),
        ("error", "#error no\nkernel void A(global float* a) { a[0] = 1; }"),
    ];
    let details = || -> Vec<String> {
        let found = run_programs(&programs, |_| {});
        found.into_values().flatten().map(|row| row.detail).collect()
    };
    let first = details();
    assert!(first.iter().any(|detail| detail.contains("undeclared")), "{first:?}");
    assert_eq!(first, details());
}

#[test]
fn an_endless_loop_is_a_timeout_and_the_next_kernel_runs() {
    let endless = "kernel void A(global volatile int* a) {
        while (a[get_global_id(0)] != 12345) { a[get_global_id(0)] = 1; } }";
    let programs = [("endless", endless), ("good", GOOD)];
    let limit = |options: &mut Options| options.limit = Duration::from_secs(12);
    let found = run_programs(&programs, limit);
    assert!(found["endless"].iter().all(|row| row.outcome == "timeout"), "{:?}", found["endless"]);
    assert!(found["endless"].iter().all(|row| row.about == "kernel"));
    assert!(found["good"].iter().all(|row| row.outcome == "pass"));
}

#[test]
fn sizes_of_zero_or_beyond_the_device_are_invalid_and_the_others_run() {
    let sizes = |options: &mut Options| options.global_sizes = vec![0, 128, 1 << 40];
    let found = run_programs(&[("good", GOOD)], sizes);
    let outcomes: Vec<&str> = found["good"].iter().map(|row| row.outcome.as_str()).collect();
    assert_eq!(outcomes, ["invalid-size", "pass", "invalid-size"]);
    assert!(found["good"][2].detail.contains(&(4_u64 << 40).to_string()));
    assert!(found["good"].iter().all(|row| row.about != "kernel" || row.outcome == "pass"));
}

#[test]
fn two_runs_with_one_seed_have_the_same_outcomes() {
    let programs = [
        ("good", GOOD),
        (
            "stencil",
            "kernel void A(global float* a, global float* b, int w) {
            int x = get_global_id(0), y = get_global_id(1); b[y * w + x] = a[y * w + x] + a[x]; }",
        ),
        ("constant", "kernel void A(global float* a) { a[get_global_id(0)] = 1.0f; }"),
    ];
    let told = |found: BTreeMap<String, Vec<RunRow>>| -> Vec<_> {
        let row = |row: RunRow| (row.path, row.global_size, row.outcome, row.payload, row.detail);
        found.into_values().flatten().map(row).collect()
    };
    let first = run_programs(&programs, |options| options.seed = 7);
    let second = run_programs(&programs, |options| options.seed = 7);
    assert_eq!(told(first), told(second));
}

#[test]
fn planes_cubes_vectors_images_and_required_groups_have_payloads() {
    let programs = [
        (
            "plane",
            "kernel void A(global float* a, global float* b, int w, int h) {
            int x = get_global_id(0), y = get_global_id(1);
            if (x < w && y < h) b[y * w + x] = 2.0f * a[y * w + x]; }",
        ),
        (
            "cube",
            "kernel void A(global float* a, int w, int h) {
            int i = (get_global_id(2) * h + get_global_id(1)) * w + get_global_id(0);
            a[i] += 1.0f; }",
        ),
        (
            "vector",
            "kernel void A(global float4* a, constant float* c, local float4* t, float2 s) {
            int i = get_global_id(0), l = get_local_id(0); t[l] = a[i] * c[i] * s.x;
            barrier(CLK_LOCAL_MEM_FENCE); a[i] = t[get_local_size(0) - 1 - l] + s.y; }",
        ),
        (
            "image",
            "kernel void A(read_only image2d_t p, sampler_t s, write_only image2d_t q) {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            write_imagef(q, at, 2.0f * read_imagef(p, s, at)); }",
        ),
        (
            "group",
            "__attribute__((reqd_work_group_size(32, 2, 1)))
            kernel void A(global int* a) {
            int i = get_global_id(1) * get_global_size(0) + get_global_id(0); a[i] ^= 5; }",
        ),
        (
            "double",
            "kernel void A(global double* a, ulong n, uchar small) {
            size_t i = get_global_id(0); if (i < n) a[i] *= 3.0; }",
        ),
        (
            "row-major",
            "kernel void A(global float* a, global float* b, int n) {
            int i = get_global_id(0); float s = 0; if (i < n) { for (int j = 0; j < n; j++)
            s += a[i * n + j]; b[i] = s; } }",
        ),
    ];
    let found = run_programs(&programs, |_| {});
    for (name, rows) in &found {
        for row in rows {
            assert_eq!(row.outcome, "pass", "{name} at {}: {}", row.global_size, row.detail);
        }
    }
    assert_eq!(found["plane"][0].global_shape, "16x8");
    assert_eq!(found["group"][1].local_shape, "32x2");
    assert_eq!(found["row-major"][0].payload, "side");
}

#[test]
fn kernels_of_a_program_run_in_order_as_one_benchmark() {
    let program = "kernel void first(global const float* a, global float* t) {
        t[get_global_id(0)] = a[get_global_id(0)] + 1.0f; }
        kernel void second(global const float* t, global float* c) {
        c[get_global_id(0)] = t[get_global_id(0)] * 2.0f; }";
    let found = run_programs(&[("two", program)], |_| {});
    let row = &found["two"][0];
    assert_eq!(
        (row.kernel.as_str(), row.outcome.as_str()),
        ("first+second", "pass"),
        "{}",
        row.detail
    );
}

#[test]
fn a_schedule_shares_buffers_between_arguments_of_other_names() {
    let device = pocl();
    let folder = tempfile::tempdir().expect("a folder");
    let program = "kernel void make(global const float* a, global float* out) {
        out[get_global_id(0)] = a[get_global_id(0)] + 1.0f; }
        kernel void use(global float* in) { in[get_global_id(0)] *= 2.0f; }";
    std::fs::write(folder.path().join("p.cl"), program).expect("written");
    let schedule = folder.path().join("s.toml");
    let text = "program = 'p.cl'\nkernels = ['make', 'use', 'use']\n\
        [buffers]\nshared = ['make.out', 'use.in']\n";
    std::fs::write(&schedule, text).expect("written");
    let out = folder.path().join("runs");
    run(&options(&schedule, device), &at(&out)).expect("a run");
    let rows = rows(&out);
    assert_eq!((rows[0].kernel.as_str(), rows[0].outcome.as_str()), ("make+use+use", "pass"));
    // `a` goes in; the shared buffer goes both ways, for `use` reads what the host may have sent.
    assert!(rows[0].transferred_bytes.is_some_and(|bytes| bytes <= 3 * 128 * 4));
}

#[test]
fn a_prepared_data_set_brings_structs_indices_and_directions() {
    let device = pocl();
    let scalar =
        |kind: &str, size: u32| serde_json::json!({"Scalar": {"scalar": kind, "size_bytes": size}});
    let point = serde_json::json!({"Struct": {"name": "P", "size_bytes": 8, "align_bytes": 4, "fields": [
        {"name": "x", "offset_bytes": 0, "type": scalar("Float", 4)},
        {"name": "n", "offset_bytes": 4, "type": scalar("Signed", 4)}]}});
    let global = |pointee: &serde_json::Value| serde_json::json!({"Pointer": {"space": "Global", "pointee": pointee}});
    let argument =
        |name: &str, r#type: serde_json::Value, indexes: bool, read: bool, written: bool| {
            serde_json::json!({"name": name, "type_name": "t", "type": r#type, "constant": false,
            "indexes": indexes, "read": read, "written": written})
        };
    let arguments = serde_json::json!([
        argument("p", global(&point), false, true, false),
        argument("at", global(&scalar("Signed", 4)), true, true, false),
        argument("out", global(&scalar("Float", 4)), false, false, true),
        argument("one", point.clone(), false, false, false),
    ]);
    let kernel = |verdict: &str| KernelRow {
        id: "k".into(),
        path: "p.cl".into(),
        name: "A".into(),
        text: "typedef struct { float x; int n; } P; kernel void A(global P* p, global int* at, \
            global float* out, P one) { int i = get_global_id(0); out[i] = p[at[i]].x + one.x; }"
            .into(),
        arguments: arguments.to_string(),
        dimensions: 1,
        verdict: verdict.into(),
        ..KernelRow::default()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let (input, out) = (folder.path().join("kernels"), folder.path().join("runs"));
    let builder = Builder::<KernelRow>::create(&input, false, &"").expect("a builder");
    builder
        .finish([kernel("accepted"), kernel("too-small")], Notes::default())
        .expect("a data set");
    let report = run(&options(&input, device), &at(&out)).expect("a run");
    assert_eq!((report.kernels, report.rows, report.kernels_passing), (1, 2, 1));
    let rows = rows(&out);
    assert_eq!(rows[0].outcome, "pass", "{}", rows[0].detail);
    assert_eq!(rows[0].transferred_bytes, Some(128 * 8 + 128 * 4 + 128 * 4));
}

#[test]
fn oclgrind_finds_races_that_four_executions_do_not() {
    // What it reads has been written, either before or behind the barrier.
    let race = "kernel void A(global float* a, local float* t) {
        int i = get_global_id(0), l = get_local_id(0); t[l] = 0; barrier(CLK_LOCAL_MEM_FENCE);
        t[l] = a[i]; a[i] = t[(l + 1) % get_local_size(0)]; }";
    let verify = |options: &mut Options| options.verify = Verify::Oclgrind;
    let found = run_programs(&[("good", GOOD), ("race", race)], verify);
    assert!(found["good"].iter().all(|row| row.outcome == "pass"), "{:?}", found["good"]);
    let outcomes: Vec<&str> = found["race"].iter().map(|row| row.outcome.as_str()).collect();
    assert!(
        outcomes.iter().all(|name| ["race", "non-deterministic"].contains(name)),
        "{outcomes:?}"
    );
}

#[test]
fn local_memory_that_nothing_writes_is_not_read() {
    let add = "int i = get_global_id(0), l = get_local_id(0); a[i] += t[l]; }";
    let unset = format!("kernel void A(global float* a, local float* t) {{ {add}");
    // Written by the hardware's copy, a built-in function, another function, through another name.
    let set = [
        "event_t e = async_work_group_copy(t, a, get_local_size(0), 0); wait_group_events(1, &e);",
        "vstore2((float2)(1, 2), get_local_id(0), t);",
        "put(t);",
        "local float* u = t + get_local_id(0); *u = 1;",
    ]
    .map(|write| {
        format!(
            "void put(local float* t) {{ t[get_local_id(0)] = 1; }}
            kernel void A(global float* a, local float* t) {{ {write} barrier(CLK_LOCAL_MEM_FENCE); {add}"
        )
    });
    let named = |(at, text): (usize, &String)| (["a", "b", "c", "d"][at], text.clone());
    let programs: Vec<(&str, String)> = set.iter().enumerate().map(named).collect();
    let mut texts: Vec<(&str, &str)> =
        programs.iter().map(|(name, text)| (*name, text.as_str())).collect();
    texts.push(("unset", &unset));
    for (name, rows) in run_programs(&texts, |_| {}) {
        for row in rows {
            let expected = if name == "unset" { "reads-unset" } else { "pass" };
            assert_eq!(row.outcome, expected, "{name}: {}", row.detail);
        }
    }
}

#[test]
fn a_finished_run_is_not_overwritten() {
    let device = pocl();
    let folder = tempfile::tempdir().expect("a folder");
    let (input, out) = (folder.path().join("a.cl"), folder.path().join("runs"));
    std::fs::write(&input, GOOD).expect("written");
    let options = options(&input, device);
    run(&options, &at(&out)).expect("a run");
    let error = run(&options, &at(&out)).expect_err("it is there");
    assert!(error.to_string().contains("--force"), "{error}");
}

/// Cancels once so many kernels are done.
struct StopAfter(AtomicU64, Cancel);

impl Progress for StopAfter {
    fn begin(&self, _: &str, _: u64) {}

    fn advance(&self, units: u64) {
        if self.0.fetch_sub(units, Ordering::SeqCst) == units {
            self.1.cancel();
        }
    }

    fn message(&self, _: &str) {}
}

/// A folder of five kernels.
fn five(folder: &Path) -> PathBuf {
    let input = folder.join("programs");
    std::fs::create_dir(&input).expect("a folder");
    for number in 0..5 {
        let text =
            format!("kernel void A(global int* a) {{ a[get_global_id(0)] += {number} + 1; }}");
        std::fs::write(input.join(format!("{number}.cl")), text).expect("written");
    }
    input
}

#[test]
fn a_cancelled_run_says_what_is_kept_and_the_same_options_resume_it() {
    let device = pocl();
    let folder = tempfile::tempdir().expect("a folder");
    let (input, out) = (five(folder.path()), folder.path().join("runs"));
    let options = options(&input, device);
    let cancel = Cancel::default();
    let progress = &StopAfter(AtomicU64::new(2), cancel.clone());
    let context = Context { jobs: 1, progress, cancel, ..Context::new(&out) };
    let error = run(&options, &context).expect_err("it was cancelled");
    let kept = matches!(error, Error::Dataset(dataset::Error::Cancelled { done: 2, .. }));
    assert!(kept, "{error}");
    assert!(!out.exists());
    let report = run(&options, &at(&out)).expect("a run");
    assert_eq!((report.kernels, report.outcomes["pass"]), (5, 10));
}

#[test]
fn kernels_left_when_the_time_is_up_are_counted() {
    let device = pocl();
    let folder = tempfile::tempdir().expect("a folder");
    let options = options(&five(folder.path()), device);
    let context = Context { time: Some(Duration::ZERO), ..at(&folder.path().join("runs")) };
    let report = run(&options, &context).expect("a run");
    assert_eq!((report.kernels, report.kernels_left, report.rows), (0, 5, 0));
}

#[test]
fn three_parts_merged_are_the_whole() {
    let device = pocl();
    let folder = tempfile::tempdir().expect("a folder");
    // What is measured differs from run to run.
    let options = Options { budget: Duration::ZERO, ..options(&five(folder.path()), device) };
    let whole = at(&folder.path().join("whole"));
    let report = run(&options, &whole).expect("a run");
    let part = |index: u32| {
        let out = folder.path().join(index.to_string());
        let share = Some(Share { index, count: 3 });
        run(&options, &Context { share, ..at(&out) }).expect("a part");
        out
    };
    let parts: Vec<PathBuf> = (1..=3).map(part).collect();
    let merged = at(&folder.path().join("merged"));
    let joined = stage::merge::<Run>(&parts, &merged).expect("merged");
    assert_eq!(joined.summary, report);
    assert_eq!(rows(&merged.out), rows(&whole.out));
}
