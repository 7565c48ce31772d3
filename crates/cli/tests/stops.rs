//! Runs that end before their time: Ctrl-C, a full disk. Nothing that looks whole is left, and what
//! was done is not lost.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

fn stampmill() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    command.stdin(Stdio::null());
    command
}

/// A folder of `count` files of one kernel each.
fn programs(home: &Path, count: usize) -> PathBuf {
    let folder = home.join("programs");
    fs::create_dir(&folder).expect("a folder");
    for at in 0..count {
        let mut text = format!("kernel void k(global int *a, int n) {{ int s = {at};\n");
        for line in 0..200 {
            writeln!(text, "  s = s * {line} + a[(s + {line}) % n];").expect("text grows");
        }
        text.push_str("  a[get_global_id(0)] = s; }\n");
        fs::write(folder.join(format!("{at:04}.cl")), text).expect("a file");
    }
    folder
}

fn prepare(folder: &Path, out: &Path) -> Command {
    let mut command = stampmill();
    command.args(["prepare", "--json", "--out"]).arg(out).arg(folder);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn ctrl_c_leaves_nothing_that_looks_whole_and_the_next_run_goes_on() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = programs(home.path(), 300);
    let (out, partial) = (home.path().join("kernels"), home.path().join("kernels.partial"));
    let parts = || fs::read_dir(&partial).map_or(0, Iterator::count);
    stop(&mut prepare(&folder, &out), "-INT", || parts() >= SOME_PARTS);
    assert!(!out.exists());
    assert!(parts() >= SOME_PARTS);

    let output = prepare(&folder, &out).output().expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
    assert!(!partial.exists());
    let straight = home.path().join("straight");
    assert!(prepare(&folder, &straight).status().expect("it starts").success());
    assert_eq!(identity(&out), identity(&straight));
}

/// The lock, the settings and a few parts.
const SOME_PARTS: usize = 6;

/// Start `command` and send it the signal once it has come so `far`; how it then ends is what users
/// rely on.
fn stop(command: &mut Command, signal: &str, far: impl Fn() -> bool) {
    let begun = Instant::now();
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    while !far() {
        assert!(begun.elapsed() < Duration::from_secs(120), "nothing was written");
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it was stopped");
        thread::sleep(Duration::from_millis(5));
    }
    // The shell's own `kill`: a small machine has no other.
    let kill = format!("kill {signal} {}", child.id());
    let sent = Command::new("sh").args(["-c", &kill]).status();
    assert!(sent.expect("a shell").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let told =
        ["the same command", "repeat the command"].map(|words| said(&output).contains(words));
    assert!(told.contains(&true), "says how to resume: {}", said(&output));
}

/// Processes whose environment names `folder`: workers and what they started.
fn processes_of(folder: &Path) -> usize {
    let folder = folder.display().to_string();
    let environments = fs::read_dir("/proc").expect("Linux").flatten();
    environments
        .filter_map(|entry| fs::read(entry.path().join("environ")).ok())
        .filter(|environment| String::from_utf8_lossy(environment).contains(&folder))
        .count()
}

fn a_stopped_run_leaves_no_folder_and_no_worker_and_the_next_goes_on() {
    let home = tempfile::tempdir().expect("a folder");
    let (folder, scratch) = (home.path().join("programs"), home.path().join("scratch"));
    for new in [&folder, &scratch] {
        fs::create_dir(new).expect("a folder");
    }
    for at in 0..12 {
        let text = format!("kernel void k(global int *a) {{ a[get_global_id(0)] += {at}; }}");
        fs::write(folder.join(format!("{at:02}.cl")), text).expect("a file");
    }
    // It is being executed when the signal comes, or soon after.
    let endless = "kernel void k(global volatile int *a) { while (a[0] != 12345) a[0] = 1; }";
    fs::write(folder.join("08.cl"), endless).expect("a file");
    let (out, partial) = (home.path().join("runs"), home.path().join("runs.partial"));
    let run = || {
        let mut command = stampmill();
        command.args(["run", "--devices", "cpu", "--global-sizes", "128", "--budget", "1ms"]);
        command.args(["--limit", "4s", "--jobs", "1", "--json", "--out"]).arg(&out).arg(&folder);
        command.env("TMPDIR", &scratch);
        command
    };
    let parts = || fs::read_dir(&partial).map_or(0, Iterator::count);
    let left = || fs::read_dir(&scratch).expect("a folder").count();
    for signal in ["-INT", "-TERM"] {
        let before = parts().max(SOME_PARTS - 1);
        stop(&mut run(), signal, || parts() > before);
        assert!(!out.exists());
        assert_eq!((left(), processes_of(&scratch)), (0, 0));
    }
    let output = run().output().expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["rows"], &report["outcomes"]["timeout"]), (&12.into(), &1.into()));
    assert_eq!((left(), partial.exists()), (0, false));
}

fn stopped_features_are_kept_and_gone_on_with() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = programs(home.path(), 700);
    let (out, partial) = (home.path().join("vectors"), home.path().join("vectors.partial"));
    let features = || {
        let mut command = stampmill();
        command.args(["features", "--space", "grewe", "--json", "--out"]).arg(&out).arg(&folder);
        command
    };
    let parts = || fs::read_dir(&partial).map_or(0, Iterator::count);
    // The lock, the settings and a part.
    stop(&mut features(), "-TERM", || parts() >= 3);
    assert!(!out.exists() && parts() >= 3);
    let output = features().output().expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["programs"], 700);
    assert!(!partial.exists());
}

fn stopped_samples_are_kept_by_small_chunks_where_they_may_be_drawn_anew() {
    let home = tempfile::tempdir().expect("a folder");
    let sample = |name: &str| {
        let mut command = stampmill();
        command.args(["sample", "../../models/infill", "--n", "24", "--json", "--prompt"]);
        // What changes nothing of it is drawn anew.
        command.arg("kernel void A(global float* a, int b) { int c = get_global_id(0); if (c < b) { [HOLE] a[c] += 1.0f; } }");
        command.arg("--out").arg(home.path().join(name));
        command
    };
    let partial = home.path().join("stopped.partial");
    let parts = || fs::read_dir(&partial).map_or(0, Iterator::count);
    // The lock, the settings and the first of three chunks.
    stop(&mut sample("stopped"), "-INT", || parts() >= 3);
    assert!(!home.path().join("stopped").exists() && parts() >= 3);
    for name in ["stopped", "straight"] {
        let output = sample(name).output().expect("it starts");
        assert!(output.status.success(), "{}", said(&output));
    }
    let of = |name: &str| identity(&home.path().join(name));
    assert_eq!(of("stopped"), of("straight"));
}

fn what_one_seed_found_is_not_resumed_by_another() {
    let home = tempfile::tempdir().expect("a folder");
    let (out, partial) = (home.path().join("found"), home.path().join("found.partial"));
    let steer = |seed: &str| {
        let mut command = stampmill();
        command.args(["steer", "--budget", "10000000", "--json", "--seed", seed, "--out"]);
        command.arg(&out);
        // The first is hit at once, the others never: what no store fills is no array.
        for target in ["Load=1", "Alloca=5,Store=0,Load=0", "Alloca=6,Store=0,Load=0"] {
            command.args(["--target", target]);
        }
        command
    };
    let parts = || fs::read_dir(&partial).map_or(0, Iterator::count);
    // The lock, the settings and a part.
    stop(&mut steer("0"), "-INT", || parts() >= 3);
    let output = steer("1").output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("other settings"), "{}", said(&output));
}

fn a_search_that_was_stopped_before_it_found_anything_is_begun_again() {
    let home = tempfile::tempdir().expect("a folder");
    let (out, partial) = (home.path().join("found"), home.path().join("found.partial"));
    let steer = || {
        let mut command = stampmill();
        command.args(["steer", "--target", "Load=1", "--budget", "10000000", "--json", "--out"]);
        command.arg(&out);
        command
    };
    let parts = || fs::read_dir(&partial).map_or(0, Iterator::count);
    // The lock and the settings: all edits are being tried, which takes a second or more.
    stop(&mut steer(), "-INT", || parts() >= 2);
    assert!(!out.exists());
    let output = steer().output().expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["exact"], 1);
}

/// Identity of a data set's rows.
fn identity(folder: &Path) -> String {
    let text = fs::read(folder.join("_dataset.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    manifest["identity"].as_str().expect("an identity").to_owned()
}

fn a_steer_killed_at_any_moment_makes_the_same_rows() {
    let home = tempfile::tempdir().expect("a folder");
    let steer = |name: &str| {
        let mut command = stampmill();
        command.args(["steer", "--budget", "400", "--n", "2", "--seed", "3", "--quiet", "--json"]);
        for target in ["Load=3", "Store=2,FMul=4", "Load=5,Br=2,Add=3", "ICmp=2,Mul=2,Load=4"] {
            command.args(["--target", target]);
        }
        command.arg("--trajectory").arg("--out").arg(home.path().join(name));
        command
    };
    let of = |name: &str| identity(&home.path().join(name));
    assert!(steer("straight").output().expect("it starts").status.success());
    let partial = home.path().join("killed.partial");
    let parts = || fs::read_dir(&partial).map_or(0, Iterator::count);
    // The lock, the settings, then one part after the other, and some time into the next.
    for (far, milliseconds) in [(0, 0), (2, 30), (3, 0), (4, 120), (5, 300), (6, 0)] {
        let mut child = steer("killed").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.as_mut().expect("it starts");
        while parts() < far && child.try_wait().expect("a child").is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(milliseconds));
        // It may have come to its end by now, which is as good.
        let _ = child.kill();
        child.wait().expect("it ends");
    }
    if !home.path().join("killed").exists() {
        let output = steer("killed").output().expect("it starts");
        assert!(output.status.success(), "{}", said(&output));
    }
    assert_eq!(of("killed"), of("straight"));
}

fn stopped_labels_are_kept_and_resumed() {
    let home = tempfile::tempdir().expect("a folder");
    for (name, statement) in [
        ("train", "for (int j = 0; j < i % 99; j++) x[i] = x[i] * 3 +"),
        ("test", "if (x[i] > i) x[i + 1 - 1] ^="),
    ] {
        let folder = home.path().join(name);
        fs::create_dir(&folder).expect("a folder");
        for at in 0..40 {
            let text = format!(
                "kernel void k(global int *x) {{ int i = get_global_id(0); {statement} {at}; }}"
            );
            fs::write(folder.join(format!("{at:02}.cl")), text).expect("a file");
        }
    }
    let learn = || {
        let mut command = stampmill();
        command.current_dir(home.path()).args(["learn", "--task", "local-size:8,256"]);
        command.args(["--train", "train", "--test", "test", "--committee", "knn:3,tree:3"]);
        command.args(["--rounds", "1", "--batch", "1", "--candidates", "100"]);
        command.args(["--global-size", "1024", "--measuring", "1ms", "--out", "learned", "--json"]);
        command
    };
    let partial = home.path().join("learned.partial");
    let parts = || fs::read_dir(&partial).map_or(0, Iterator::count);
    stop(&mut learn(), "-INT", || parts() >= SOME_PARTS);
    // The kernels to train on are not all labelled; what was run of them is kept.
    assert!(parts() >= SOME_PARTS);
    let output = learn().output().expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["history"][0]["labelled"], 40);
    assert!(home.path().join("learned/_dataset.json").exists() && !partial.exists());
}

fn a_full_disk_is_a_message_and_no_data_set() {
    let home = tempfile::tempdir().expect("a folder");
    let small = home.path().join("small");
    fs::create_dir(&small).expect("a folder");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=16k", "tmpfs"])
        .arg(&small)
        .stderr(Stdio::null())
        .status();
    assert!(mounted.expect("util-linux is installed").success());
    let folder = programs(home.path(), 60);
    let output = stampmill().arg("mine").arg(&folder).arg("--out").arg(small.join("raw")).output();
    let whole = small.join("raw").exists();
    let _ = Command::new("umount").arg(&small).status();
    let output = output.expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).to_lowercase().contains("no space left"), "{}", said(&output));
    assert!(!whole);
}

/// A file system of its own at `folder`.
struct Mounted(PathBuf);

impl Mounted {
    fn new(folder: &Path, options: &str) -> Mounted {
        fs::create_dir(folder).expect("a folder");
        let mounted = Mounted(folder.to_owned());
        assert!(mounted.mount(options), "{options}");
        mounted
    }

    fn mount(&self, options: &str) -> bool {
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&self.0).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).stderr(Stdio::null()).status();
    }
}

fn a_disk_that_is_full_at_the_end_is_a_message_and_the_same_command_goes_on() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = programs(home.path(), 2);
    // Something that does not compress, so that its size on disk is known well enough.
    let mut state = 1_u64;
    let noise: String = (0..40_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'A' + (state >> 33) as u8 % 26)
        })
        .collect();
    fs::write(folder.join("noise.cl"), format!("kernel void k() {{}} // {noise}\n"))
        .expect("a file");
    let mine = |out: &Path| {
        let mut command = stampmill();
        command.arg("mine").arg(&folder).arg("--out").arg(out).output().expect("it starts")
    };
    let straight = home.path().join("straight");
    assert!(mine(&straight).status.success());
    let part = fs::metadata(straight.join("part-00000.parquet")).expect("a part").len();
    // Room for the part of the unfinished data set, and not for the shard that is made of it.
    let size = |share: u64| format!("size={}", part * share / 10);
    let mounted = Mounted::new(&home.path().join("small"), &size(15));
    let out = mounted.0.join("raw");
    let output = mine(&out);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("No space left"), "{}", said(&output));
    assert!(said(&output).contains("repeat the command"), "{}", said(&output));
    assert!(!out.exists());
    assert!(mounted.0.join("raw.partial").is_dir(), "what was done is kept");
    assert!(mounted.mount(&format!("remount,{}", size(40))), "it can be made larger");
    let output = mine(&out);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(identity(&out), identity(&straight));
    assert_eq!(fs::read_dir(&mounted.0).expect("a folder").count(), 1);
}

fn a_folder_that_cannot_be_written_is_a_message() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = programs(home.path(), 2);
    let mounted = Mounted::new(&home.path().join("small"), "ro");
    let mut command = stampmill();
    command.arg("mine").arg(&folder).arg("--out").arg(mounted.0.join("raw"));
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("Read-only file system"), "{}", said(&output));
    assert!(said(&output).contains("with --out"), "{}", said(&output));
}

fn a_file_beyond_the_limit_on_their_size_is_a_message_and_the_same_command_goes_on() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = programs(home.path(), 60);
    let out = home.path().join("raw");
    let limited = Command::new("sh")
        .args(["-c", "ulimit -f 8; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_stampmill"), "mine"])
        .arg(&folder)
        .arg("--out")
        .arg(&out)
        .output()
        .expect("it starts");
    assert_eq!(limited.status.code(), Some(2), "{limited:?}");
    assert!(said(&limited).contains("File too large"), "{}", said(&limited));
    assert!(said(&limited).contains("ulimit -f"), "{}", said(&limited));
    assert!(!out.exists());
    let output = stampmill().arg("mine").arg(&folder).arg("--out").arg(&out).output();
    let output = output.expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
}

fn two_runs_have_the_same_bytes() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = programs(home.path(), 30);
    let bytes = |name: &str| {
        let out = home.path().join(name);
        let mut command = stampmill();
        let output = command.arg("mine").arg(&folder).arg("--out").arg(&out).output();
        assert!(output.expect("it starts").status.success());
        fs::read(out.join("part-00000.parquet")).expect("a part")
    };
    assert_eq!(bytes("one"), bytes("two"));
}

/// A mount for all to see, which only root may make.
fn mounts() -> Option<String> {
    trials::lacks::mounts(&["-m"])
}

trials::main! {
    ctrl_c_leaves_nothing_that_looks_whole_and_the_next_run_goes_on,
    a_stopped_run_leaves_no_folder_and_no_worker_and_the_next_goes_on,
    stopped_features_are_kept_and_gone_on_with,
    stopped_samples_are_kept_by_small_chunks_where_they_may_be_drawn_anew,
    what_one_seed_found_is_not_resumed_by_another,
    a_search_that_was_stopped_before_it_found_anything_is_begun_again,
    a_steer_killed_at_any_moment_makes_the_same_rows,
    stopped_labels_are_kept_and_resumed,
    a_full_disk_is_a_message_and_no_data_set: mounts(),
    a_disk_that_is_full_at_the_end_is_a_message_and_the_same_command_goes_on: mounts(),
    a_folder_that_cannot_be_written_is_a_message: mounts(),
    a_file_beyond_the_limit_on_their_size_is_a_message_and_the_same_command_goes_on,
    two_runs_have_the_same_bytes,
}
