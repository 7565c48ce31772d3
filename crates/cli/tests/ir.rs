//! `stampmill ir` with real compilers.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

use std::{
    fs,
    io::Write,
    os::unix::{
        fs::{PermissionsExt, symlink},
        process::CommandExt,
    },
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};

fn command(folder: &Path, line: &str) -> Command {
    let words = line.split('|').flat_map(|part| match part.strip_prefix('\'') {
        Some(word) => vec![word.to_owned()],
        None => part.split_whitespace().map(str::to_owned).collect(),
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_stampmill"));
    command.args(words).current_dir(folder).env("STAMPMILL_CACHE", folder.join("cache"));
    command
}

fn stampmill(folder: &Path, line: &str) -> Output {
    command(folder, line).output().unwrap()
}

/// The same with the programs in `own` first on the search path.
fn with_own(folder: &Path, line: &str) -> Command {
    let mut command = command(folder, line);
    let inherited = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{inherited}", folder.join("own").display()));
    command
}

/// What a command says that is given this text.
fn given(mut command: Command, text: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// The file behind a program's name on the search path.
fn file_of(program: &str) -> String {
    let script = format!("readlink -f \"$(command -v {program})\"");
    let said = Command::new("sh").args(["-c", script.as_str()]).output().unwrap().stdout;
    String::from_utf8(said).unwrap().trim().to_owned()
}

fn json(output: &Output) -> serde_json::Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// The rows of a query, as JSON lines.
fn query(folder: &Path, sql: &str) -> Vec<serde_json::Value> {
    let output = stampmill(folder, &format!("query|'{sql}|m=modules --format jsonl"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A program of our own in `own`.
fn put_own(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder.join("own")).unwrap();
    trials::program(&folder.join("own").join(name), text.as_bytes());
}

const PROGRAM: &str = "#include <stdio.h>\nstatic int square(int x) { return x * x; }\n\
    int main(int argc, char **argv) { int s = 0; for (int i = 0; i < argc + 10; i++) s += square(i);\n\
    printf(\"%d\\n\", s); return 0; }\n";

fn a_wrapped_compiler_does_its_work_and_keeps_unoptimised_bitcode() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(here, "a.c", PROGRAM);
    let done = stampmill(here, "ir wrap --store kept -- clang-19 -O2 -c a.c -o a.o");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let linked = stampmill(here, "ir wrap --store kept -- gcc -O2 a.o -o a").status;
    assert!(linked.success());
    let said = Command::new(here.join("a")).output().unwrap();
    assert_eq!(said.stdout, b"385\n");
    // Compiled and linked at once, through the other compiler's name.
    assert!(stampmill(here, "ir wrap --store kept -- gcc -O2 -DX a.c -o b").status.success());
    assert_eq!(Command::new(here.join("b")).output().unwrap().stdout, b"385\n");
    let failed = stampmill(here, "ir wrap --store kept -- clang-19 -c missing.c");
    assert_eq!(failed.status.code(), Some(1));
    let report = json(&stampmill(here, "ir extract kept --out modules --json"));
    assert_eq!(report["modules"], 2, "{report}");
    let rows = query(here, "SELECT language, llvm, functions, instructions, source_hash FROM m");
    for row in &rows {
        assert_eq!((&row["language"], &row["llvm"]), (&"c".into(), &19.into()));
        // Optimised, `square` would be gone and the loop with it.
        assert_eq!(row["functions"], 2);
        assert!(row["instructions"].as_u64().unwrap() > 30, "{row}");
    }
    // What the preprocessor saw differs by a macro.
    assert_ne!(rows[0]["source_hash"], rows[1]["source_hash"]);
}

fn a_wrapper_never_calls_itself_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(here, "a.c", PROGRAM);
    for bin in ["one", "two"] {
        let made = stampmill(here, &format!("ir wrap --stand-ins {bin} --store kept"));
        assert!(made.status.success());
    }
    // Stand-ins of two makings, one before the other on the search path.
    let path = |first: &str| {
        let inherited = std::env::var("PATH").unwrap();
        format!("{first}:{}:{}:{inherited}", here.join("one").display(), here.join("two").display())
    };
    let compile = |path: String| {
        let mut command = Command::new("clang-19");
        command.args(["-c", "a.c", "-o", "a.o"]).current_dir(here).env("PATH", path);
        command.output().unwrap()
    };
    let done = compile(path("/nonexistent"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // A script of somebody's own around it.
    let own = here.join("own");
    fs::create_dir(&own).unwrap();
    let script = format!(
        "#!/bin/bash\nexec {} -q ir wrap --store {}/kept -- clang-19 \"$@\"\n",
        env!("CARGO_BIN_EXE_stampmill"),
        here.display()
    );
    fs::write(own.join("clang-19"), script).unwrap();
    fs::set_permissions(own.join("clang-19"), fs::Permissions::from_mode(0o755)).unwrap();
    let failed = compile(path(&own.display().to_string()));
    assert!(!failed.status.success());
    let said = String::from_utf8_lossy(&failed.stderr);
    assert!(said.contains("calls `ir wrap` again and again"), "{said}");
}

fn rustc_is_wrapped_with_and_without_cargo() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(
        here,
        "Cargo.toml",
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\nlicense = \"MIT\"\n[workspace]\n",
    );
    put(here, "src/main.rs", "fn main() { println!(\"{}\", std::env::args().count() * 7); }\n");
    // What is made lies in the folder that is built.
    let report = json(&stampmill(here, "ir build dir:. --out modules --json --offline"));
    assert_eq!((&report["built"], &report["modules"]), (&1.into(), &1.into()), "{report}");
    let rows = query(
        here,
        "SELECT language, license_expression, package, target FROM m WHERE kind = 'module'",
    );
    assert_eq!(rows[0]["language"], "rust");
    assert_eq!(rows[0]["license_expression"], "MIT");
    assert_eq!(rows[0]["target"], "small (bin)");
    // Where no cargo calls it, it is found by its name.
    put(
        here,
        "plain/Makefile",
        "all:\n\trustc -O --crate-type lib one.rs && test -f libone.rlib\n",
    );
    let source =
        "#[no_mangle]\npub extern \"C\" fn one(x: u32) -> u32 { (0..x).fold(1, |a, b| a ^ b) }\n";
    put(here, "plain/one.rs", source);
    let report =
        json(&stampmill(here, "ir build dir:plain --out modules --force --json --offline"));
    assert_eq!((&report["built"], &report["modules"]), (&1.into(), &1.into()), "{report}");
    let rows = query(here, "SELECT language, target, path FROM m WHERE kind = 'module'");
    assert_eq!((&rows[0]["language"], &rows[0]["path"]), (&"rust".into(), &"one.rs".into()));
    assert_eq!(rows[0]["target"], "one (lib)");
}

/// Wrap the command that compiles `source`; its module is read.
fn wrapped(name: &str, source: &str, command: &str, language: &str) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(here, name, source);
    let done = stampmill(here, &format!("ir wrap --store kept -- {command}"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    stampmill(here, "ir extract kept --out modules --json");
    let sql = format!("SELECT verdict, instructions FROM m WHERE language = '{language}'");
    let rows = query(here, &sql);
    assert_eq!(rows[0]["verdict"], "accepted");
    assert!(rows[0]["instructions"].as_u64().unwrap() >= 20, "{}", rows[0]);
}

fn flang_is_wrapped() {
    let source = "subroutine s(n,a)\ninteger :: n,i\nreal :: a(n)\ndo i=1,n\n a(i)=a(i)*2.0\nend do\nend subroutine\n";
    wrapped("s.f90", source, "flang-new-19 -O2 -c s.f90 -o s.o", "fortran");
}

fn ldc2_is_wrapped() {
    let source =
        "extern(C) int square(int x) { int s = 0; foreach (i; 0 .. x) s += i * i; return s; }\n";
    wrapped("d.d", source, "ldc2 -O2 -c d.d -of=d.o", "d");
}

fn zig_is_wrapped() {
    let source = "export fn square(x: u32) u32 { var s: u32 = 0; var i: u32 = 0; while (i < x) : (i += 1) s +%= i *% i; return s; }\n";
    wrapped("z.zig", source, "zig build-obj z.zig -O ReleaseFast", "zig");
}

fn zigs_own_build_gives_the_modules_that_it_compiles() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let build = "const std = @import(\"std\");\npub fn build(b: *std.Build) void {\n    const target = b.standardTargetOptions(.{});\n    const optimize = b.standardOptimizeOption(.{});\n    const lib = b.addStaticLibrary(.{ .name = \"sum\", .root_source_file = b.path(\"sum.zig\"), .target = target, .optimize = optimize });\n    b.installArtifact(lib);\n}\n";
    put(here, "p/build.zig", build);
    put(
        here,
        "p/sum.zig",
        "export fn sum(x: u32) u32 { var s: u32 = 0; var i: u32 = 0; while (i < x) : (i += 1) s +%= i *% i; return s; }\n",
    );
    let report = json(&stampmill(here, "ir build dir:p --out modules --json --offline"));
    assert_eq!((&report["built"], &report["modules"]), (&1.into(), &1.into()), "{report}");
    let rows = query(here, "SELECT language, target, path FROM m WHERE kind = 'module'");
    assert_eq!(
        (&rows[0]["language"], &rows[0]["target"]),
        (&"zig".into(), &"sum (build-lib)".into())
    );
}

/// Columns of the rows of modules, by target.
fn modules(folder: &Path, columns: [&str; 3]) -> Vec<[String; 3]> {
    let list = columns.join(", ");
    let sql = format!("SELECT {list} FROM m WHERE kind = 'module' ORDER BY target, path");
    let text = |value: &serde_json::Value| match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    };
    query(folder, &sql).iter().map(|row| columns.map(|name| text(&row[name]))).collect()
}

fn opencl_and_cuda_give_modules_of_devices_and_host() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(here, "k.cl", "kernel void f(global int *a) { a[get_global_id(0)] += 1; }\n");
    put(
        here,
        "k.cu",
        "__attribute__((global)) void f(int *a, int n) { for (int i = 0; i < n; i++) a[i] *= 2; }\n\
         int host(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n",
    );
    let cuda = "clang++-19 -nocudainc -nocudalib -O2";
    for line in [
        "clang-19 -O2 -c k.cl -o cl.o",
        // Without NVIDIA's assembler this much is made.
        format!("{cuda} -emit-llvm -c k.cu").as_str(),
        format!("{cuda} --cuda-device-only --offload-arch=sm_60 --offload-arch=sm_70 -S k.cu")
            .as_str(),
        format!("{cuda} --cuda-host-only -c k.cu -o host.o").as_str(),
    ] {
        let done = stampmill(here, &format!("ir wrap --store kept -- {line}"));
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    }
    // Whether CUDA's headers are here is clang's affair.
    let mut plain = Command::new("clang++-19");
    let status = plain.args(["-c", "k.cu", "-o", "own.o"]).current_dir(here).output().unwrap();
    let done = stampmill(here, "ir wrap --store other -- clang++-19 -c k.cu -o own.o");
    assert_eq!(done.status.code(), status.status.code());
    stampmill(here, "ir extract kept --out modules --json");
    let found = modules(here, ["target", "language", "verdict"]);
    let told = [
        ("cl.o", "opencl"),
        ("host.o", "cuda"),
        ("k.o", "cuda"),
        ("k.o (device)", "cuda"),
        ("k.o (sm_60)", "cuda"),
        ("k.o (sm_70)", "cuda"),
    ];
    let told = told.map(|(target, language)| [target, language, "accepted"].map(str::to_owned));
    assert_eq!(found, told);
    assert!(stampmill(here, "ir export modules --format text --out text").status.success());
    let mut grep = Command::new("grep");
    let lines = grep.args(["-rh", "^target triple", "text"]).current_dir(here).output().unwrap();
    let lines = String::from_utf8(lines.stdout).unwrap();
    assert_eq!(lines.matches("nvptx64-nvidia-cuda").count(), 3, "{lines}");
    // Both of the host are one module.
    assert_eq!(lines.lines().count(), 5, "{lines}");
}

fn what_comes_from_standard_input_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let wrap = |line: &str, text: &str| {
        given(command(here, &format!("ir wrap --store kept -- {line}")), text).status
    };
    assert!(wrap("clang-19 -O2 -x c -c - -o a.o", PROGRAM).success());
    assert!(stampmill(here, "ir wrap --store kept -- gcc a.o -o a").status.success());
    // Compiled and linked at once, through the other compiler's name.
    assert!(wrap("gcc -O2 -xc - -o b", PROGRAM).success());
    for program in ["a", "b"] {
        assert_eq!(Command::new(here.join(program)).output().unwrap().stdout, b"385\n");
    }
    // A question, and what is no program.
    assert!(wrap("clang-19 -x c -c - -o /dev/null", PROGRAM).success());
    assert_eq!(wrap("clang-19 -x c -c - -o c.o", "int f( {").code(), Some(1));
    stampmill(here, "ir extract kept --out modules --json");
    let found = modules(here, ["target", "path", "functions"]);
    assert_eq!(found, ["a.o", "b"].map(|target| [target, "<stdin>", "2"].map(str::to_owned)));
    let hashes = query(here, "SELECT source_hash FROM m");
    assert!(hashes.iter().all(|row| row["source_hash"] != ""), "{hashes:?}");
}

fn each_architecture_of_one_object_gives_a_module() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(here, "a.c", "int twice(int x) { return x * 2; }\n");
    fs::create_dir(here.join("own")).unwrap();
    symlink(file_of("llvm-lipo-19"), here.join("own/lipo")).unwrap();
    let both = "clang-19 -target x86_64-apple-macosx11 -arch x86_64 -arch arm64 -O1 -c a.c -o a.o";
    let done = with_own(here, &format!("ir wrap --store kept -- {both}")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    stampmill(here, "ir extract kept --out modules --json");
    let found = modules(here, ["target", "path", "verdict"]);
    let told = ["a.o (arm64)", "a.o (x86_64)"];
    assert_eq!(found, told.map(|target| [target, "a.c", "accepted"].map(str::to_owned)));
}

fn response_files_and_bitcode_for_a_linker_give_their_modules() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(here, "a.c", PROGRAM);
    put(here, "options", "-O2 '-DX=a b'\n@more\n");
    put(here, "more", "-c a.c\n");
    for line in [
        "clang-19 @options -o a.o",
        "gcc a.o -o a",
        "clang-19 @options -flto -o lto.o",
        "gcc -O2 -flto a.c -o b",
    ] {
        let done = stampmill(here, &format!("ir wrap --store kept -- {line}"));
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    }
    for program in ["a", "b"] {
        assert_eq!(Command::new(here.join(program)).output().unwrap().stdout, b"385\n");
    }
    assert!(fs::read(here.join("lto.o")).unwrap().starts_with(b"BC\xc0\xde"));
    stampmill(here, "ir extract kept --out modules --json");
    let found = modules(here, ["target", "path", "functions"]);
    assert_eq!(found, ["a.o", "b", "lto.o"].map(|target| [target, "a.c", "2"].map(str::to_owned)));
}

fn a_compiler_that_crashes_costs_what_it_was_to_compile() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // A script in the place of a compiler, which crashes on files of these names, or with flags of ours.
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*segv.c*) kill -SEGV $$ ;;\n*abrt.c*) kill -ABRT $$ ;;\n\
         *flags.c*-fembed-bitcode*) kill -SEGV $$ ;;\n*-disable-llvm-passes*second.c*) kill -SEGV $$ ;;\nesac\n\
         exec {} \"$@\"\n",
        file_of("clang-19")
    );
    put_own(here, "clang-19", &script);
    for (name, options) in
        [("segv", "-O1 -c"), ("abrt", "-O1 -c"), ("flags", "-O1 -c"), ("second", "-O1 -S")]
    {
        let text = format!("int {name}(int x) {{ return x + 1; }}\n");
        put(here, &format!("{name}/{name}.c"), &text);
        put(here, &format!("{name}/good.c"), &text);
        let makefile = format!("all:\n\tclang-19 -c good.c\n\tclang-19 {options} {name}.c\n");
        put(here, &format!("{name}/Makefile"), &makefile);
    }
    let line = "ir wrap --store kept -- clang-19 -c segv/segv.c -o segv.o";
    assert_eq!(with_own(here, line).output().unwrap().status.code(), Some(128 + 11));
    let line = "ir build dir:segv dir:abrt dir:flags dir:second --out modules --json --offline";
    let report = json(&with_own(here, line).output().unwrap());
    let packages = query(
        here,
        "SELECT path, verdict, detail, log FROM m WHERE kind = 'package' ORDER BY path",
    );
    assert_eq!((&report["packages"], &report["built"]), (&4.into(), &2.into()), "{packages:#?}");
    let verdicts: Vec<&str> = packages.iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["does-not-build", "built", "built", "does-not-build"]);
    for (row, status) in [(&packages[0], "134"), (&packages[3], "139")] {
        assert!(row["detail"].as_str().unwrap().contains(status), "{row}");
    }
    let lost = query(
        here,
        "SELECT path, detail FROM m WHERE kind = 'module' AND verdict = 'no-bitcode' ORDER BY path",
    );
    let lost: Vec<(&str, &str)> = lost
        .iter()
        .map(|row| (row["path"].as_str().unwrap(), row["detail"].as_str().unwrap()))
        .collect();
    assert_eq!(
        lost,
        [
            ("flags.c", "clang-19 fails on this command with the flags that keep bitcode"),
            ("second.c", "the pass for bitcode failed: no message"),
        ]
    );
    let kept = query(here, "SELECT path FROM m WHERE verdict = 'accepted'");
    assert_eq!(kept.len(), 4, "{kept:?}");
}

/// Put a script in the place of julia, which is not on this machine: it answers these options as the real command line does,
/// and knows nothing else of it. The bitcode that it leaves is of clang's making, in an archive as julia's is.
fn put_julia(here: &Path) {
    put(here, "own/a.c", PROGRAM);
    let own = here.join("own");
    let script =
        "clang-19 -O0 -emit-llvm -c a.c -o 'text_unopt#0.bc' && ar rcs unopt.a 'text_unopt#0.bc'";
    let made = Command::new("sh").args(["-c", script]).current_dir(&own).status();
    assert!(made.unwrap().success());
    let text = "#!/bin/sh\ncase \"$*\" in\n*--version*) echo 'julia version 1.10.4'; exit ;;\n\
        *Pkg.precompile*)\n    mkdir -p depot/Small\n    echo 'include(\"src/Small.jl\")' | OWN/julia --output-o \
        depot/Small/jl_1.o --output-ji depot/Small/jl_2.ji --output-incremental=yes -\n    exit ;;\nesac\n\
        while [ $# -gt 0 ]; do\n    case \"$1\" in\n    --output-unopt-bc=*) cp OWN/unopt.a \"${1#*=}\" ;;\n    \
        --output-unopt-bc) shift; cp OWN/unopt.a \"$1\" ;;\n    --output-o | --output-ji) shift; echo made > \"$1\" ;;\n    \
        -) cat > program ;;\n    esac\n    shift\ndone\n";
    put_own(here, "julia", &text.replace("OWN", &own.display().to_string()));
}

fn images_of_julia_give_their_bitcode() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put_julia(here);
    let wrap = |line: &str| with_own(here, &format!("ir wrap --store kept -- julia {line}"));
    let said = wrap("--version").output().unwrap().stdout;
    assert_eq!(said, b"julia version 1.10.4\n");
    fs::create_dir(here.join("Small")).unwrap();
    let image = "--output-o Small/a.o --output-ji Small/a.ji --output-incremental=yes -";
    assert!(given(wrap(image), "1 + 1\n").status.success());
    assert_eq!(fs::read_to_string(here.join("program")).unwrap(), "1 + 1\n");
    assert!(wrap("--output-unopt-bc mine.a b.jl").output().unwrap().status.success());
    assert!(here.join("mine.a").exists(), "what the build asks for stays");
    stampmill(here, "ir extract kept --out modules --json");
    let found = modules(here, ["target", "path", "language"]);
    let told = [["Small (package image)", "Small", "julia"], ["mine.a", "b.jl", "julia"]];
    assert_eq!(found, told.map(|row| row.map(str::to_owned)));
}

fn packages_of_julia_are_built() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put_julia(here);
    put(here, "p/Project.toml", "name = \"Small\"\n");
    put(here, "p/src/Small.jl", "module Small\nend\n");
    let line = "ir build dir:p --out modules --json --offline";
    let report = json(&with_own(here, line).output().unwrap());
    let rows = query(here, "SELECT path, verdict, detail, log FROM m");
    assert_eq!((&report["built"], &report["modules"]), (&1.into(), &1.into()), "{rows:#?}");
    assert_eq!(modules(here, ["package", "path", "language"]), [["p", "Small", "julia"]]);
}

fn what_happens_to_a_package_is_a_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(here, "good/Makefile", "all:\n\tcc -O1 -c a.c\n");
    put(here, "good/a.c", "/* SPDX-License-Identifier: ISC */\nint f(int x) { return x + 1; }\n");
    put(here, "broken/Makefile", "all:\n\tcc -c a.c\n");
    put(here, "broken/a.c", "int f( { }\n");
    put(here, "forever/Makefile", "all:\n\twhile :; do :; done\n");
    put(
        here,
        "network/Makefile",
        "all:\n\tpython3 -c 'import socket; socket.socket()'\n\tcc -c a.c\n",
    );
    put(here, "network/a.c", "int f;\n");
    put(here, "large/Makefile", "all:\n\thead -c 40000000 /dev/zero > x; sleep 20\n");
    put(here, "nothing/Makefile", "all:\n\ttrue\n");
    let sources = "dir:good dir:broken dir:network dir:large dir:nothing";
    let report =
        json(&stampmill(here, &format!("ir build {sources} --disk 16 --out modules --json")));
    assert_eq!((&report["packages"], &report["built"]), (&5.into(), &1.into()), "{report}");
    let report =
        json(&stampmill(here, "ir build dir:forever --limit 2s --out forever-modules --json"));
    assert_eq!(report["verdicts"]["timeout"], 1, "{report}");
    let rows = query(
        here,
        "SELECT path, verdict, detail, log FROM m WHERE kind = 'package' ORDER BY path",
    );
    let found: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row["path"].as_str().unwrap(), row["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(
        found,
        [
            ("dir:broken", "does-not-build"),
            ("dir:good", "built"),
            ("dir:large", "disk-limit"),
            ("dir:network", "does-not-build"),
            ("dir:nothing", "no-modules"),
        ]
    );
    assert!(rows[0]["detail"].as_str().unwrap().contains("error"), "{}", rows[0]);
    assert!(rows[3]["detail"].as_str().unwrap().contains("not permitted"), "{}", rows[3]);
    let modules = query(
        here,
        "SELECT path, license_expression, license_source FROM m WHERE verdict = 'accepted'",
    );
    assert_eq!(modules[0]["license_expression"], "ISC");
    assert!(!here.join("good/a.o").exists(), "builds leave the folder as it is");
}

fn archives_and_repositories_are_built_as_folders_are_and_lists_name_them() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(here, "p-1/Makefile", "all:\n\tcc -O1 -c a.c\n\t./check\n");
    put(here, "p-1/a.c", "/* SPDX-License-Identifier: ISC */\nint f(int x) { return x + 1; }\n");
    put(here, "p-1/check", "#!/bin/sh\ntest -f a.o\n");
    put(here, "p-1/below/deep/Makefile", "all:\n\tcc -O1 -c ../../a.c\n");
    fs::set_permissions(here.join("p-1/check"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = |line: &str, at: &str| {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap());
        let done = command.args(words).current_dir(here.join(at)).output().unwrap();
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    };
    run("tar -czf p-1.tar.gz p-1", ".");
    run("git -c init.defaultBranch=main init -q", "p-1");
    run("git add .", "p-1");
    run("git -c user.name=a -c user.email=a@b commit -qm one", "p-1");
    let commit = run("git rev-parse HEAD", "p-1");
    fs::write(here.join("broken.tar.gz"), &fs::read(here.join("p-1.tar.gz")).unwrap()[..60])
        .unwrap();
    put(
        here,
        "list.toml",
        "[c]\nabout = \"two\"\nsources = [\"p-1.tar.gz\", \"git+p-1#below/deep\"]\n[d]\nsources = [\"git+p-1#gone\", \"broken.tar.gz\"]\n",
    );
    let report = json(&stampmill(here, "ir build @list.toml --out modules --json --offline"));
    let rows = query(
        here,
        "SELECT kind, path, package, package_source, version, verdict, license_expression, detail, log FROM m \
         WHERE kind <> 'license-text' ORDER BY kind, package_source",
    );
    assert_eq!((&report["packages"], &report["built"]), (&4.into(), &2.into()), "{rows:#?}");
    let told = |row: &serde_json::Value| -> Vec<String> {
        let columns = ["kind", "path", "package", "verdict"];
        columns.map(|name| row[name].as_str().unwrap().to_owned()).to_vec()
    };
    let all: Vec<Vec<String>> = rows.iter().map(told).collect();
    assert_eq!(
        all,
        [
            ["module", "below/deep/../../a.c", "p-1/below/deep", "accepted"],
            ["module", "a.c", "p-1", "accepted"],
            ["package", "broken.tar.gz", "broken", "source-unavailable"],
            ["package", "git+p-1#below/deep", "p-1/below/deep", "built"],
            ["package", "git+p-1#gone", "p-1/gone", "source-unavailable"],
            ["package", "p-1.tar.gz", "p-1", "built"],
        ]
    );
    assert_eq!(rows[0]["package_source"], format!("git+p-1@{commit}#below/deep"));
    assert_eq!(
        (&rows[0]["version"], &rows[1]["license_expression"]),
        (&commit.into(), &"ISC".into())
    );
    assert!(rows[1]["package_source"].as_str().unwrap().starts_with("p-1.tar.gz#"), "{}", rows[1]);
    assert_eq!(rows[4]["detail"], "it has no folder gone");
}

fn a_killed_run_goes_on_and_ends_with_the_same_data() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for name in ["a", "b", "c"] {
        put(here, &format!("{name}/Makefile"), "all:\n\tsleep 1\n\tcc -O1 -c x.c\n");
        put(
            here,
            &format!("{name}/x.c"),
            &format!("int f_{name}(int x) {{ return x + {}; }}\n", name.len()),
        );
    }
    let line = "ir build dir:a dir:b dir:c --jobs 1 --json --out";
    let whole = json(&stampmill(here, &format!("{line} whole")));
    let mut killed = Command::new(env!("CARGO_BIN_EXE_stampmill"))
        .args(line.split_whitespace())
        .arg("modules")
        .current_dir(here)
        .process_group(0)
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(!here.join("modules").exists());
    let resumed = json(&stampmill(here, &format!("{line} modules")));
    assert_eq!(whole["modules"], resumed["modules"]);
    let identity = |name: &str| {
        let text = fs::read(here.join(name).join("_dataset.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&text).unwrap()["identity"].clone()
    };
    assert_eq!(identity("whole"), identity("modules"));
}

/// A folder with a module in `in/whole.bc`.
fn whole_module() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(here, "a.c", PROGRAM);
    fs::create_dir(here.join("in")).unwrap();
    let made = Command::new("clang-19")
        .args(["-O0", "-emit-llvm", "-c", "a.c", "-o", "in/whole.bc"])
        .current_dir(here)
        .status();
    assert!(made.unwrap().success());
    folder
}

fn bitcode_that_is_cut_short_is_a_verdict() {
    let folder = whole_module();
    let here = folder.path();
    let whole = fs::read(here.join("in/whole.bc")).unwrap();
    fs::write(here.join("in/cut.bc"), &whole[..whole.len() / 2]).unwrap();
    let report = json(&stampmill(here, "ir extract in --out modules --json"));
    assert_eq!(report["modules"], 1, "{report}");
    let rows = query(here, "SELECT path, verdict FROM m ORDER BY path");
    assert_eq!(rows[0]["verdict"], "not-a-module", "{}", rows[0]);
    assert_eq!(rows[1]["verdict"], "accepted");
}

/// Where LLVM 14 may be.
const OLD: [&str; 2] =
    ["/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/usr/lib/llvm-14/lib/libLLVM-14.so.1"];

fn bitcode_of_a_later_llvm_is_a_verdict() {
    let folder = whole_module();
    let here = folder.path();
    // An older LLVM stands in for the newest: for it, this module is of the future.
    let old = OLD.iter().find(|path| Path::new(path).exists()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_stampmill"))
        .args(["ir", "extract", "in/whole.bc", "--out", "future", "--json"])
        .env("STAMPMILL_LIBLLVM", old)
        .current_dir(here)
        .output()
        .unwrap();
    let report = json(&output);
    assert_eq!(report["verdicts"]["llvm-too-new"], 1, "{report}");
}

fn objects_archives_and_databases_give_their_modules() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(here, "a.c", PROGRAM);
    put(here, "b.c", "int g(int x) { return x / 3; }\n");
    fs::create_dir(here.join("in")).unwrap();
    let run = |line: &str| {
        let mut words = line.split_whitespace();
        let program = words.next().unwrap();
        assert!(Command::new(program).args(words).current_dir(here).status().unwrap().success());
    };
    run("clang-19 -O2 -Xclang -fembed-bitcode=all -c a.c -o a.o");
    run("clang-19 -O2 -Xclang -fembed-bitcode=all -c b.c -o b.o");
    run("ld -r a.o b.o -o in/joined.o");
    run("ar rcs in/lib.a a.o b.o");
    run("clang-19 -O2 -c b.c -o in/plain.o");
    let report = json(&stampmill(here, "ir extract in --out modules --json"));
    assert_eq!(report["modules"], 4, "{report}");
    let rows = query(here, "SELECT path, array_length(command) AS words FROM m ORDER BY path");
    assert!(rows.iter().any(|row| row["path"] == "lib.a(b.o)"), "{rows:?}");
    assert!(rows.iter().all(|row| row["words"].as_u64().unwrap_or(0) > 10), "{rows:?}");
    let database = serde_json::json!([
        { "directory": here, "file": "b.c", "command": "clang-19 -O2 -DY=\\\"q\\\" -c b.c -o b2.o" },
        { "directory": here, "file": "gone.c", "arguments": ["clang-19", "-c", "gone.c"] },
    ]);
    put(here, "db/compile_commands.json", &database.to_string());
    let report = json(&stampmill(here, "ir extract db/compile_commands.json --out again --json"));
    assert_eq!(
        (&report["modules"], &report["verdicts"]["does-not-compile"]),
        (&1.into(), &1.into()),
        "{report}"
    );
    assert!(!here.join("b2.o").exists(), "the object is thrown away");
}

fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::create_dir(here.join("in")).unwrap();
    fs::create_dir(here.join("small")).unwrap();
    for number in 0..40_u32 {
        // Constant data that does not compress.
        let mut state = u64::from(number) + 1;
        let text: String = (0..4000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                format!("i64 {}, ", state >> 1)
            })
            .collect();
        let text = text.trim_end_matches(", ");
        put(here, &format!("in/m{number:02}.ll"), &format!("@t = global [4000 x i64] [{text}]\n"));
    }
    let exe = env!("CARGO_BIN_EXE_stampmill");
    // Parts of 16, 16 and 8 modules. One job, so that the first is whole before the disk is full: a
    // run that has made no part leaves no folder.
    put(
        here,
        "run.sh",
        &format!(
            "mount -t tmpfs -o size=1200k none small || exit 77\n\
         {exe} ir extract in --out small/modules --jobs 1 --json; echo \"status $?\"; ls small\n\
         mount -o remount,size=64m small\n\
         {exe} ir extract in --out small/modules --json > /dev/null && cp -r small/modules modules\n"
        ),
    );
    fs::set_permissions(here.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let output =
        Command::new("unshare").args(["-m", "sh", "run.sh"]).current_dir(here).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("status 2\nmodules.partial"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let whole = json(&stampmill(here, "ir extract in --out whole --json"));
    assert_eq!(whole["modules"], 40);
    let read = |name: &str| fs::read(here.join(name).join("part-00000.parquet")).unwrap();
    assert_eq!(read("whole"), read("modules"));
}

trials::main! {
    a_wrapped_compiler_does_its_work_and_keeps_unoptimised_bitcode,
    a_wrapper_never_calls_itself_without_end,
    rustc_is_wrapped_with_and_without_cargo,
    flang_is_wrapped: trials::lacks::program("flang-new-19"),
    ldc2_is_wrapped: trials::lacks::program("ldc2"),
    zig_is_wrapped: trials::lacks::program("zig"),
    zigs_own_build_gives_the_modules_that_it_compiles: trials::lacks::program("zig"),
    opencl_and_cuda_give_modules_of_devices_and_host,
    what_comes_from_standard_input_is_kept,
    each_architecture_of_one_object_gives_a_module,
    response_files_and_bitcode_for_a_linker_give_their_modules,
    a_compiler_that_crashes_costs_what_it_was_to_compile,
    images_of_julia_give_their_bitcode,
    packages_of_julia_are_built: trials::lacks::overlay(),
    what_happens_to_a_package_is_a_verdict,
    archives_and_repositories_are_built_as_folders_are_and_lists_name_them: trials::lacks::program("git"),
    a_killed_run_goes_on_and_ends_with_the_same_data,
    bitcode_that_is_cut_short_is_a_verdict,
    bitcode_of_a_later_llvm_is_a_verdict: trials::lacks::any_file("LLVM 14", &OLD),
    objects_archives_and_databases_give_their_modules,
    a_full_disk_loses_nothing: trials::lacks::mounts(&["-m"]),
}
