//! Options as arguments of clang's compiler proper (`-cc1`).
//!
//! They are what the `clang-19` driver passes for the same target, language and level (`clang-19
//! -###` prints it), so that a program compiled here has, bit for bit, the IR that the driver's
//! users published.

use crate::headers::HostHeaders;
use clang::{Language, Options, Triple};

/// Where virtual headers lie in the in-memory file system.
const HEADERS: &str = "/headers";
/// Where clang's own headers lie in the in-memory file system.
const BUILTIN: &str = "/builtin";

/// The host's triple, as LLVM was configured.
pub(crate) const HOST: &str = env!("STAMPMILL_HOST_TRIPLE");

/// The name a program is compiled under: it is what `__FILE__` and the IR's module name say.
pub(crate) fn path(language: Language) -> &'static str {
    match language {
        Language::OpenCl => "program.cl",
        Language::C => "program.c",
        Language::Cxx => "program.cpp",
        Language::Cuda => "program.cu",
    }
}

/// The arguments for `options`; `host` are headers it may include as well.
pub(crate) fn arguments(options: &Options, host: &HostHeaders) -> Vec<String> {
    let mut list = List(Vec::with_capacity(64));
    target(&mut list, options);
    list.pair("-resource-dir", BUILTIN);
    list.pair("-I", HEADERS);
    list.0.extend(host.arguments(options.language));
    language(&mut list, options);
    list.add(&format!("-O{}", options.optimisation.min(3)));
    if options.front_end {
        list.add("-disable-llvm-passes");
    }
    if options.effect {
        list.add("-ffinite-loops");
    }
    if options.optimisation >= 2 {
        list.add("-vectorize-loops");
        list.add("-vectorize-slp");
    }
    list.pair("-ferror-limit", &options.diagnostics.to_string());
    // Its guesses cost time, and an unknown name should be reported in one way.
    list.add("-fno-spell-checking");
    for define in &options.defines {
        list.pair("-D", define);
    }
    for header in &options.prelude {
        list.pair("-include", header);
    }
    list.0
}

/// The arguments for canonical IR: nothing optimised, nothing that marks functions as such.
pub(crate) fn canonical_arguments(options: &Options, host: &HostHeaders) -> Vec<String> {
    let options = Options { optimisation: 0, front_end: false, ..options.clone() };
    let mut list = arguments(&options, host);
    list.push("-disable-O0-optnone".into());
    list
}

fn target(list: &mut List, options: &Options) {
    list.add("-discard-value-names");
    list.add("-emit-llvm-uselists");
    list.add("-fmath-errno");
    list.add("-ffp-contract=on");
    list.add("-fno-rounding-math");
    match options.triple {
        Triple::Nvptx64 => {
            list.pair(
                "-triple",
                match options.language {
                    Language::Cuda => "nvptx64-nvidia-cuda",
                    _ => "nvptx64-nvidia-nvcl",
                },
            );
            list.pair("-mrelocation-model", "static");
            list.add("-mframe-pointer=all");
            list.add("-no-integrated-as");
            match options.language {
                Language::Cuda => {
                    list.pair("-target-cpu", "sm_70");
                    list.pair("-target-feature", "+ptx63");
                }
                _ => list.pair("-target-feature", "+ptx42"),
            }
        }
        Triple::Spir64 => {
            list.pair("-triple", "spir64-unknown-unknown");
            list.add("-Wspir-compat");
            list.pair("-mrelocation-model", "static");
            list.add("-mframe-pointer=all");
            list.add("-mconstructor-aliases");
        }
        Triple::Host => {
            list.pair("-triple", HOST);
            list.pair("-mrelocation-model", "pic");
            list.pair("-pic-level", "2");
            list.add("-pic-is-pie");
            list.add(if options.optimisation == 0 {
                "-mframe-pointer=all"
            } else {
                "-mframe-pointer=none"
            });
            list.add("-mconstructor-aliases");
            list.add("-funwind-tables=2");
            if HOST.starts_with("x86_64") {
                list.pair("-target-cpu", "x86-64");
                list.pair("-tune-cpu", "generic");
            }
            list.pair("-D", "__GCC_HAVE_DWARF2_CFI_ASM=1");
        }
    }
}

fn language(list: &mut List, options: &Options) {
    list.add("-fgnuc-version=4.2.1");
    list.add("-fskip-odr-check-in-gmf");
    match options.language {
        Language::OpenCl => {
            list.pair("-x", "cl");
            list.add("-finclude-default-header");
            list.add("-fdeclare-opencl-builtins");
            list.add("-fno-threadsafe-statics");
            if !options.standard.is_empty() {
                list.add(&format!("-cl-std={}", options.standard));
            }
            list.pair("-D", &format!("__OPENCL_VERSION__={}", device_version(&options.standard)));
        }
        Language::C => {
            list.pair("-x", "c");
            list.standard(&options.standard);
        }
        Language::Cxx => {
            list.pair("-x", "c++");
            list.add("-fdeprecated-macro");
            list.add("-fcxx-exceptions");
            list.add("-fexceptions");
            list.standard(&options.standard);
        }
        Language::Cuda => {
            list.pair("-x", "cuda");
            list.add("-fcuda-is-device");
            // What `clang --cuda-device-only` calls the host: fixed, so that programs say the same everywhere.
            list.pair("-aux-triple", "x86_64-unknown-linux-gnu");
            list.add("-fcuda-allow-variadic-functions");
            list.standard(&options.standard);
        }
    }
}

/// What a device of a standard says its version is: clang leaves it to the OpenCL driver, which always says it
/// (OpenCL C 3.0, section 6.10), and headers for both sides know the device by it.
fn device_version(standard: &str) -> String {
    let digits: String = standard.chars().filter(char::is_ascii_digit).collect();
    if digits.is_empty() { "120".to_owned() } else { digits + "0" }
}

struct List(Vec<String>);

impl List {
    fn add(&mut self, argument: &str) {
        self.0.push(argument.to_owned());
    }

    fn pair(&mut self, flag: &str, value: &str) {
        self.add(flag);
        self.add(value);
    }

    fn standard(&mut self, standard: &str) {
        if !standard.is_empty() {
            self.add(&format!("-std={standard}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_define_and_prelude_is_passed_in_order() {
        let options = Options {
            defines: vec!["A".into(), "B=1".into()],
            prelude: vec!["shim.h".into()],
            ..Options::opencl()
        };
        let list = arguments(&options, &HostHeaders::default());
        let at = |text: &str| list.iter().position(|argument| argument == text);
        assert!(at("A") < at("B=1"));
        assert!(at("B=1") < at("shim.h"));
        assert!(list.contains(&"-cl-std=CL2.0".to_owned()));
        assert!(list.contains(&"__OPENCL_VERSION__=200".to_owned()));
    }

    #[test]
    fn passes_are_off_where_the_front_end_is_asked_for() {
        let list = |front_end| {
            let options = Options { optimisation: 2, front_end, ..Options::opencl() };
            arguments(&options, &HostHeaders::default())
        };
        let off = "-disable-llvm-passes".to_owned();
        assert!(list(true).contains(&off) && !list(false).contains(&off));
    }

    #[test]
    fn canonical_ir_ignores_the_level_asked_for() {
        let options = Options { optimisation: 3, ..Options::opencl() };
        let list = canonical_arguments(&options, &HostHeaders::default());
        assert!(list.contains(&"-O0".to_owned()));
        assert!(!list.contains(&"-O3".to_owned()));
    }
}
