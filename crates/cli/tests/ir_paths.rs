//! `stampmill ir build` where compilers are called by a path: those of this machine, and scripts in the place of Swift's, which
//! answer as the real ones do, and know nothing else of them.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

mod stand_ins;

use stand_ins::{build, clang, put, put_own, said};
use std::{fs, os::unix::fs::symlink, path::PathBuf};

fn compilers_that_are_called_by_a_path_are_stood_in_for() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // By the name with a version that is behind all links.
    let versioned = fs::canonicalize("/usr/bin/gcc").unwrap();
    let makefile = format!(
        "all:\n\t/usr/bin/cc -O1 -c a.c\n\t/bin/clang-19 -O1 -c b.c\n\tenv -i /usr/bin/gcc -c c.c\n\
         \t{} -c d.c\n\t/usr/bin/g++ -v 2> version\n\tcc a.o b.o c.o d.o -o program && ./program\n",
        versioned.display()
    );
    put(here, "p/Makefile", &makefile);
    put(
        here,
        "p/a.c",
        "int f(void); int g(void); int h(void); int main(void) { return f() + g() + h(); }\n",
    );
    for (file, name) in [("b", "f"), ("c", "g"), ("d", "h")] {
        put(here, &format!("p/{file}.c"), &format!("int {name}(void) {{ return 0; }}\n"));
    }
    let (report, rows) = build(here, &["dir:p"], ["path", "verdict", "detail"]);
    let paths: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(
        (&report["built"], &paths[..]),
        (&1.into(), &["a.c", "b.c", "c.c", "d.c", "dir:p"][..])
    );
    // What is not wrapped is said where nothing else is.
    put(here, "q/Makefile", "all:\n\ttrue\n");
    let (_, rows) = build(here, &["dir:q"], ["path", "verdict", "detail"]);
    let detail = "it was built, but called no compiler by a name or path that is wrapped";
    assert_eq!(rows, [["dir:q", "no-modules", detail].map(str::to_owned)]);
}

fn rustc_is_wrapped_once_by_a_path_by_name_and_by_cargo() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let rustc = PathBuf::from(said("command -v rustc"));
    assert!(rustc.is_absolute(), "{}", rustc.display());
    let makefile = format!(
        "all:\n\t{} -O --crate-type lib one.rs\n\trustc -O --crate-type lib two.rs\n\
         \tcargo build --release --offline --manifest-path crate/Cargo.toml\n\
         \ttest -f libone.rlib -a -f libtwo.rlib -a -f crate/target/release/libthree.rlib\n",
        rustc.display()
    );
    put(here, "p/Makefile", &makefile);
    put(
        here,
        "p/crate/Cargo.toml",
        "[package]\nname = \"three\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\npath = \"three.rs\"\n[workspace]\n",
    );
    for (file, name) in [("one", "one"), ("two", "two"), ("crate/three", "three")] {
        let text = format!(
            "#[no_mangle]\npub extern \"C\" fn {name}(x: u32) -> u32 {{ (0..x).fold(1, |a, b| a ^ b) }}\n"
        );
        put(here, &format!("p/{file}.rs"), &text);
    }
    let (report, rows) = build(here, &["dir:p"], ["path", "target", "verdict"]);
    let told = [
        ["crate/three.rs", "three (lib)", "accepted"],
        ["one.rs", "one (lib)", "accepted"],
        ["two.rs", "two (lib)", "accepted"],
        ["dir:p", "", "built"],
    ];
    assert_eq!(
        (&report["built"], rows),
        (&1.into(), told.map(|row| row.map(str::to_owned)).to_vec())
    );
}

fn c_targets_of_swift_packages_are_compiled_by_the_clang_of_swift() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(
        here,
        "own/shapes.ll",
        "source_filename = \"<swift-imported-modules>\"\n\
         define i32 @area(i32 %a) {\n  %b = mul i32 %a, %a\n  ret i32 %b\n}\n",
    );
    // The search path has a link; what it leads to has a clang of its own beside it, which is told from all others.
    let clang = clang();
    put_own(here, "toolchain/bin/clang", &format!("exec {clang} -DOF_SWIFT \"$@\"\n"));
    put_own(
        here,
        "toolchain/bin/swiftc",
        "out=; ir=\nwhile [ $# -gt 0 ]; do\n    case \"$1\" in -o) shift; out=$1 ;; -emit-irgen) ir=yes ;; esac\n    \
         shift\ndone\nif [ -n \"$ir\" ]; then cp OWN/shapes.ll \"$out\"; else echo made > \"$out\"; fi\n",
    );
    symlink("toolchain/bin/swiftc", here.join("own/swiftc")).unwrap();
    put_own(
        here,
        "swift",
        "\"$SWIFT_EXEC\" -module-name Shapes -parse-as-library -c Sources/Shapes/a.swift -o Shapes.o\n\
         OWN/toolchain/bin/clang -O1 -c Sources/CShapes/c.c -o c.o\ntest -f Shapes.o -a -f c.o\n",
    );
    put(here, "p/Package.swift", "// swift-tools-version:5.9\n");
    put(here, "p/Sources/Shapes/a.swift", "func area(_ a: Int32) -> Int32 { a * a }\n");
    put(
        here,
        "p/Sources/CShapes/c.c",
        "#ifndef OF_SWIFT\n#error another clang\n#endif\nint twice(int x) { return x * 2; }\n",
    );
    let (report, rows) = build(here, &["dir:p"], ["path", "language", "verdict"]);
    let told = [
        ["Sources/CShapes/c.c", "c", "accepted"],
        ["Sources/Shapes/a.swift", "swift", "accepted"],
        ["dir:p", "", "built"],
    ];
    assert_eq!(
        (&report["built"], rows),
        (&1.into(), told.map(|row| row.map(str::to_owned)).to_vec())
    );
}

trials::main! {
    compilers_that_are_called_by_a_path_are_stood_in_for: trials::lacks::overlay(),
    rustc_is_wrapped_once_by_a_path_by_name_and_by_cargo: trials::lacks::overlay(),
    c_targets_of_swift_packages_are_compiled_by_the_clang_of_swift: trials::lacks::overlay(),
}
