//! How a folder is built, by what it holds.

use std::path::Path;

/// One way to build a folder.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// The build system's name.
    pub name: &'static str,
    /// A file that folders of its kind hold.
    pub file: &'static str,
    /// The commands, for a shell.
    pub command: &'static str,
    /// Languages whose modules it gives.
    pub languages: &'static str,
    /// A program that must be there.
    pub needs: &'static str,
    /// Debian's packages of it, blanks between; none where Debian has none.
    pub debian: &'static str,
    /// Whether it has been run with a real toolchain; the others are documented and nothing more is
    /// claimed of them.
    pub tried: bool,
}

/// Its settings are in either of two files.
const DUB: &str = "dub build --build=release --compiler=ldc2 --skip-registry=all";

/// The recipes, in the order in which they are looked for.
pub const RECIPES: &[Recipe] = &[
    Recipe {
        name: "cargo",
        file: "Cargo.toml",
        command: "cargo build --release --offline",
        languages: "rust",
        needs: "cargo",
        debian: "cargo",
        tried: true,
    },
    Recipe {
        name: "cmake",
        file: "CMakeLists.txt",
        command: "cmake -S . -B ir-build -DCMAKE_BUILD_TYPE=Release && cmake --build ir-build",
        languages: "c, c++, fortran",
        needs: "cmake",
        debian: "cmake make",
        tried: true,
    },
    Recipe {
        name: "meson",
        file: "meson.build",
        command: "meson setup ir-build --buildtype=release && ninja -C ir-build",
        languages: "c, c++, fortran",
        needs: "meson",
        debian: "meson ninja-build",
        tried: true,
    },
    Recipe {
        name: "autoconf",
        file: "configure",
        command: "sh ./configure && make",
        languages: "c, c++, fortran",
        needs: "make",
        debian: "make",
        tried: true,
    },
    Recipe {
        name: "make",
        file: "Makefile",
        command: "make",
        languages: "c, c++, fortran, d",
        needs: "make",
        debian: "make",
        tried: true,
    },
    Recipe {
        name: "zig",
        file: "build.zig",
        command: "zig build -Doptimize=ReleaseFast",
        languages: "zig",
        needs: "zig",
        debian: "",
        tried: true,
    },
    Recipe {
        name: "dub",
        file: "dub.json",
        command: DUB,
        languages: "d",
        needs: "dub",
        debian: "dub ldc",
        tried: true,
    },
    Recipe {
        name: "dub",
        file: "dub.sdl",
        command: DUB,
        languages: "d",
        needs: "dub",
        debian: "dub ldc",
        tried: true,
    },
    Recipe {
        name: "swift",
        file: "Package.swift",
        command: "swift build -c release",
        languages: "swift",
        needs: "swift",
        debian: "swiftlang git",
        tried: true,
    },
    Recipe {
        name: "julia",
        file: "Project.toml",
        // The julia of each package that it starts is the wrapped one, where its path is covered.
        command: "julia --project=. --startup-file=no -e 'using Pkg; Pkg.precompile()'",
        languages: "julia",
        needs: "julia",
        debian: "",
        tried: false,
    },
    Recipe {
        name: "spack",
        file: "spack.yaml",
        command: "spack -e . -c config:install_tree:root:/tmp/spack -c config:build_stage:$PWD/ir-build -c config:source_cache:$HOME/sources install --keep-stage",
        languages: "c, c++, fortran",
        needs: "spack",
        debian: "",
        tried: true,
    },
];

/// The recipe for a folder. Packages of Swift have files for CMake as well, which are for the build of Swift itself.
pub(super) fn of(folder: &Path) -> Option<&'static Recipe> {
    let holds = |recipe: &&Recipe| folder.join(recipe.file).is_file();
    let swift = RECIPES.iter().find(|recipe| recipe.name == "swift");
    swift
        .filter(|recipe| holds(recipe) && folder.join("Sources").is_dir())
        .or_else(|| RECIPES.iter().find(holds))
}
