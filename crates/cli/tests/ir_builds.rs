//! `stampmill ir build` with scripts in the place of compilers and build systems that are not on every machine: they answer as the
//! real ones do, and know nothing else of them.

#![expect(clippy::unwrap_used, reason = "what fails in set-up fails the test")]

mod stand_ins;

use stand_ins::{build, clang, put, put_own};
use std::os::unix::fs::symlink;

#[test]
fn a_compiler_that_leaves_no_bitcode_is_a_row_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // It takes the flag that keeps bitcode, and makes an object without.
    let script = format!(
        "for word do\n    shift\n    case \"$word\" in -fembed-bitcode=all) word=-disable-free ;; esac\n    \
         set -- \"$@\" \"$word\"\ndone\nexec {} \"$@\"\n",
        clang()
    );
    put_own(here, "clang-19", &script);
    put(here, "p/Makefile", "all:\n\tclang-19 -O1 -c a.c\n\ttest -f a.o\n");
    put(here, "p/a.c", "int twice(int x) { return x * 2; }\n");
    let (report, rows) = build(here, &["dir:p"], ["kind", "path", "verdict", "detail"]);
    assert_eq!((&report["built"], &report["modules"]), (&0.into(), &0.into()), "{report}");
    let told = [
        ["module", "a.c", "no-bitcode", "the compiler left no bitcode"],
        [
            "package",
            "dir:p",
            "no-modules",
            "it was built, but of 1 files its compilers left no module that can be read",
        ],
    ];
    assert_eq!(rows, told.map(|row| row.map(str::to_owned)));
}

#[test]
fn packages_of_swift_are_built() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put(
        here,
        "own/shapes.ll",
        "source_filename = \"<swift-imported-modules>\"\n\
         define i32 @area(i32 %a) {\n  %b = mul i32 %a, %a\n  ret i32 %b\n}\n",
    );
    symlink(clang(), here.join("own/clang")).unwrap();
    put_own(
        here,
        "swiftc",
        "out=; ir=\nwhile [ $# -gt 0 ]; do\n    case \"$1\" in -o) shift; out=$1 ;; -emit-irgen) ir=yes ;; esac\n    \
         shift\ndone\nif [ -n \"$ir\" ]; then cp OWN/shapes.ll \"$out\"; else echo made > \"$out\"; fi\n",
    );
    // The package manager compiles its manifest as well, and calls the compiler that it is told of.
    put_own(
        here,
        "swift",
        "\"$SWIFT_EXEC\" Package.swift -o manifest\n\"$SWIFT_EXEC\" -module-name Shapes -emit-module \
         -emit-module-path Shapes.swiftmodule -whole-module-optimization -parse-as-library \
         -c Sources/Shapes/a.swift -o Shapes.o\ntest -f Shapes.o\n",
    );
    put(here, "p/Package.swift", "// swift-tools-version:5.9\n");
    put(here, "p/Sources/Shapes/a.swift", "func area(_ a: Int32) -> Int32 { a * a }\n");
    let (report, rows) = build(here, &["dir:p"], ["path", "target", "language", "verdict"]);
    assert_eq!((&report["built"], &report["modules"]), (&1.into(), &1.into()), "{rows:?}");
    let module = ["Sources/Shapes/a.swift", "Shapes.o", "swift", "accepted"].map(str::to_owned);
    assert_eq!(rows[0], module);
}

#[test]
fn packages_of_a_spack_environment_have_the_names_that_spack_gives_them() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    put_own(
        here,
        "spack",
        "case \"$*\" in *' install '*) ;; *) exit 3 ;; esac\n\
         export SPACK_SHORT_SPEC='small@1.0~shared platform=linux/abc'\ncc -O1 -c small.c || exit 1\n\
         export SPACK_SHORT_SPEC='tall@2-13 build_system=generic'\ncc -O1 -c tall.c\n",
    );
    put(here, "environment/spack.yaml", "spack:\n  specs: [small, tall]\n");
    put(here, "environment/small.c", "int small(int x) { return x - 1; }\n");
    put(here, "environment/tall.c", "int tall(int x) { return x + 1; }\n");
    let (report, rows) =
        build(here, &["dir:environment"], ["path", "package", "version", "verdict"]);
    assert_eq!((&report["built"], &report["modules"]), (&1.into(), &2.into()), "{rows:?}");
    let told = [
        ["small.c", "small", "1.0", "accepted"],
        ["tall.c", "tall", "2-13", "accepted"],
        ["dir:environment", "environment", "", "built"],
    ];
    assert_eq!(rows, told.map(|row| row.map(str::to_owned)));
}
