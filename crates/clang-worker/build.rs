//! Compiles the C++ shim against LLVM 19 and links it, with libclang-cpp, into the worker.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, exit},
};

/// The C++ files of the shim, in `cpp/`.
const SOURCES: [&str; 21] = [
    "canonical.cc",
    "compile.cc",
    "cuda_names.cc",
    "diagnostics.cc",
    "diagnostic_names.cc",
    "facts.cc",
    "flow.cc",
    "format.cc",
    "host_files.cc",
    "instance.cc",
    "invocation.cc",
    "kernels.cc",
    "machine.cc",
    "prelude.cc",
    "neutral.cc",
    "preprocess.cc",
    "shim.cc",
    "tokens.cc",
    "translate.cc",
    "translate_types.cc",
    "tree.cc",
];

/// clang's own headers that OpenCL, C and C++ programs may include without the host's.
const HEADERS: [&str; 12] = [
    "float.h",
    "inttypes.h",
    "iso646.h",
    "limits.h",
    "opencl-c-base.h",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdnoreturn.h",
];

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-changed=src/bridge.rs");

    let config = Config::find();
    let include = config.ask("--includedir");
    let library = PathBuf::from(config.ask("--libdir"));

    let mut build = cxx_build::bridge("src/bridge.rs");
    for source in SOURCES {
        build.file(Path::new("cpp").join(source));
    }
    build
        .std("c++17")
        // The work is clang's; more would only make the build slower.
        .opt_level(1)
        .flag("-isystem")
        .flag(&include)
        // As LLVM itself is built: classes that derive from its own must agree with it.
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .define("_GNU_SOURCE", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        .flag_if_supported("-Wno-unused-parameter")
        .compile("stampmill-clang-shim");

    // Debian ships the versioned names alone; the linker takes a file by its path.
    for name in ["libclang-cpp.so.19.1", "libLLVM.so.19.1"] {
        let file = library.join(name);
        if !file.exists() {
            fail(&format!("{} is missing", file.display()));
        }
        println!("cargo:rustc-link-arg={}", file.display());
    }
    // A bundle for a bare machine lays the libraries beside the worker.
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", library.display());

    println!("cargo:rustc-env=STAMPMILL_HOST_TRIPLE={}", config.ask("--host-target"));
    let resources = library.join("clang/19");
    println!("cargo:rustc-env=STAMPMILL_CLANG_RESOURCES={}", resources.display());
    embed(&resources.join("include"));
}

/// Writes the list of embedded headers for `src/headers.rs` to include.
fn embed(folder: &Path) {
    let mut names: Vec<String> = HEADERS.map(String::from).to_vec();
    for entry in fs::read_dir(folder)
        .unwrap_or_else(|error| fail(&format!("{}: {error}", folder.display())))
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("__stddef_") || name.starts_with("__stdarg_") {
            names.push(name);
        }
    }
    names.sort();
    let mut list = String::from("[\n");
    for name in names {
        let path = folder.join(&name);
        list += &format!("    ({name:?}, include_str!({:?})),\n", path.display().to_string());
    }
    list += "]\n";
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    fs::write(Path::new(&out).join("headers.rs"), list).expect("OUT_DIR is writable");
}

/// The `llvm-config` of LLVM 19.
struct Config(String);

impl Config {
    fn find() -> Config {
        let candidates = env::var("LLVM_CONFIG").into_iter().chain(
            ["llvm-config-19", "/usr/lib/llvm-19/bin/llvm-config", "llvm-config"].map(String::from),
        );
        for candidate in candidates {
            let config = Config(candidate);
            if config.run("--version").is_some_and(|version| version.starts_with("19.")) {
                return config;
            }
        }
        fail("no llvm-config of LLVM 19 found")
    }

    fn run(&self, question: &str) -> Option<String> {
        let output = Command::new(&self.0).arg(question).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn ask(&self, question: &str) -> String {
        self.run(question).unwrap_or_else(|| fail(&format!("`{} {question}` failed", self.0)))
    }
}

fn fail(what: &str) -> ! {
    eprintln!(
        "error: {what}\n\
         The clang worker needs clang 19's libraries: on Debian `apt-get install clang-19 libclang-19-dev llvm-19-dev`,\n\
         elsewhere set LLVM_CONFIG to the llvm-config of an LLVM 19 built with libclang-cpp.\n\
         The other crates build without it."
    );
    exit(1)
}
