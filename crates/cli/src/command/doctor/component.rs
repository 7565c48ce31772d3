use host::Helper;
use std::process::Command;

/// Something that a command of ours uses if it is there.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Component {
    /// Its name.
    pub(super) name: &'static str,
    /// Whether it works here.
    pub(super) found: bool,
    /// Its version as it says itself; why not, where it is missing.
    pub(super) version: String,
    /// The commands that need it.
    pub(super) needed_for: &'static str,
    /// The command that installs it.
    pub(super) install: &'static str,
    /// Whether `mine` and `prepare` cannot do without.
    #[serde(skip)]
    pub(super) required: bool,
}

/// Everything, in the order of a first day's work, one a line: the name, the commands that may print its version (or
/// how else it is found out, see `look`), what needs it, how to get it. `mine` and `prepare` cannot do without the first three.
const ALL: &str = "
clang worker;;prepare, features, sample, steer;apt-get install libclang-cpp19 libllvm19, and in a checkout make build
sandbox launcher;;mine pypi: (source archives), time, edits, ir build;make build
sandbox protections;;whatever runs or compiles foreign programs;\
Linux 5.13 or later with Landlock, seccomp and user namespaces \
(sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces>0)
LLVM library;;features (instcount, autophase), ir;apt-get install libllvm19, rustc's own is used too
OpenCL device;;devices, run, label, learn;apt-get install ocl-icd-libopencl1 pocl-opencl-icd, or a GPU's driver
apt-get;apt-get --version;mine deb:;a Debian machine
pip;pip3 --version|pip --version;mine pypi:;apt-get install python3-pip
cargo;cargo --version;mine crate:, ir build crate:;the Rust toolchain (rustup)
rustc;rustc --version;ir, features, label, opt (Rust);the Rust toolchain (rustup)
clang 19;clang-19 --version;ir (C, C++), benches against a process per kernel;apt-get install clang-19
flang 19;flang-new-19 --version|flang-19 --version;ir (Fortran);apt-get install flang-19
ldc2;ldc2 --version;ir (D);apt-get install ldc
zig;zig version;ir (Zig);pip install ziglang==0.14.1, and its folder on the PATH (0.14 has LLVM 19)
mmdebstrap;mmdebstrap --version;ir build deb:;apt-get install mmdebstrap (and root)
swiftc;swiftc --version;ir (Swift);apt-get install swiftlang (Debian 13), or let ir build deb:...@trixie#FOLDER install it in a root
julia;julia --version;ir (Julia): a recipe that was not run here;a Julia toolchain (Debian has no package)
spack;spack --version;ir (Spack);a checkout of Spack, its `bin` on the search path
g++;g++ --version;time, edits;apt-get install g++
QEMU user mode;qemu-x86_64 --version;time, edits;apt-get install qemu-user
AArch64 g++;aarch64-linux-gnu-g++ --version;time, edits --cpu neoverse-n1;apt-get install g++-aarch64-linux-gnu
AArch64 QEMU;qemu-aarch64 --version;time, edits --cpu neoverse-n1;apt-get install qemu-user
RISC-V g++;riscv64-linux-gnu-g++ --version;time, edits --cpu sifive-p550;apt-get install g++-riscv64-linux-gnu
RISC-V QEMU;qemu-riscv64 --version;time, edits --cpu sifive-p550;apt-get install qemu-user
Oclgrind;oclgrind --version;run --verify oclgrind;apt-get install oclgrind
cachegrind;valgrind --version;time --source cachegrind;apt-get install valgrind
gem5;gem5 --build-info|gem5.opt --build-info;time --source gem5;build it from its sources (Debian has no package)
SQL engine;;query;make build, or cargo build --release -p stampmill-query-worker
timing model;;time, edits;apt-get install qemu-user (7.2 or later), and in a checkout make build
wall clock;;time --source wall, time validate;make build
object store client;;data sets at s3://;make objects
cluster engine;;--cluster, cluster;make cluster
trainer;;train;a python3 on the path with torch and transformers, or in a checkout make torch (0.6 GB)
";

/// How who has the Python wheel gets what a checkout builds, by the component's name.
const OF_WHEEL: &[(&str, &str)] = &[
    ("clang worker", "apt-get install libclang-cpp19 libllvm19"),
    ("sandbox launcher", AGAIN),
    ("SQL engine", AGAIN),
    ("timing model", "apt-get install qemu-user (7.2 or later)"),
    ("wall clock", AGAIN),
    ("object store client", AGAIN),
    ("cluster engine", "the wheel has none: a checkout builds it (make cluster)"),
    (
        "trainer",
        "pip install torch transformers, into the python3 on the path or the one that STAMPMILL_PYTHON names",
    ),
];

/// The wheel brings it.
const AGAIN: &str = "it comes with the wheel: pip install --force-reinstall stampmill-*.whl";

/// The command that installs a component, where a checkout's is `install`.
fn advice(name: &str, install: &'static str, is_of_wheel: bool) -> &'static str {
    let of_wheel = OF_WHEEL.iter().find(|(known, _)| is_of_wheel && *known == name);
    of_wheel.map_or(install, |(_, advice)| *advice)
}

/// Why a program is missing, where nothing more is known.
pub(super) const NOT_ON_PATH: &str = "not on the path";
/// The same of one of ours.
pub(super) const NOT_BESIDE: &str = "not beside this program";

/// Everything, found or not.
pub(super) fn all() -> Vec<Component> {
    let is_of_wheel = host::is_of_wheel();
    let lines = ALL.lines().filter(|line| !line.is_empty());
    let components = lines.map(|line| {
        let [name, commands, needed_for, install] = line.split(';').collect::<Vec<_>>()[..] else {
            unreachable!("a line has four parts: {line}");
        };
        let version = look(name, commands);
        let found = version.is_ok();
        let version = version.unwrap_or_else(|why| why);
        let install = advice(name, install, is_of_wheel);
        let required = matches!(name, "clang worker" | "sandbox launcher" | "sandbox protections");
        Component { name, found, version, needed_for, install, required }
    });
    components.collect()
}

/// The version of what is there, or why it is not.
type Version = Result<String, String>;

fn look(name: &str, commands: &str) -> Version {
    match name {
        "clang worker" => clang_worker(),
        "sandbox launcher" => helper(Helper::LAUNCH),
        "sandbox protections" => protections(),
        "LLVM library" => llvm_library(),
        "OpenCL device" => opencl(),
        "SQL engine" => helper(Helper::QUERY),
        "timing model" => timing_model(),
        "wall clock" => helper(Helper::CLOCK),
        "trainer" => trainer(),
        "object store client" => helper(Helper::OBJECTS),
        "cluster engine" => helper(Helper::CLUSTER),
        _ => version_of(commands),
    }
}

/// The version of a tool whose version shapes rows, by the name that [`cluster::STAGES`] has for it.
pub(crate) fn tool(name: &str) -> Option<String> {
    match name {
        "clang" => clang::Clang::start(1).ok()?.version(),
        "llvm" => Some(llvm::Library::newest().ok()?.version().to_string()),
        "opencl" => opencl().ok(),
        "g++" => version_of("g++ --version").ok(),
        "qemu" => version_of("qemu-x86_64 --version").ok(),
        _ => None,
    }
}

/// The first line that one of some commands, with `|` between them, prints.
fn version_of(commands: &str) -> Version {
    let asked = commands.split('|').find_map(|command| {
        let mut words = command.split(' ');
        let output = Command::new(words.next()?).args(words).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        output.status.success().then(|| line.to_owned())
    });
    asked.ok_or_else(|| NOT_ON_PATH.to_owned())
}

fn helper(helper: Helper) -> Version {
    let found = helper.find().map(|path| path.display().to_string());
    found.map_err(|_| NOT_BESIDE.to_owned())
}

fn clang_worker() -> Version {
    let clang = clang::Clang::start(1).map_err(|error| error.to_string())?;
    Ok(format!("libclang 19 in {}", clang.worker().display()))
}

/// What the kernel protects us by, tried out.
fn protections() -> Version {
    let program = sandbox::Program {
        command: vec!["/bin/true".into()],
        wall: std::time::Duration::from_secs(20),
        ..sandbox::Program::default()
    };
    match sandbox::run(&program, &sandbox::Profile::native()) {
        Ok(finished) if finished.held.missing().is_empty() => Ok(finished.held.to_string()),
        Ok(finished) => Err(format!("missing: {}", finished.held.missing().join(", "))),
        Err(death) => Err(death.to_string()),
    }
}

fn llvm_library() -> Version {
    llvm::Library::as_new_as(llvm::Version::OF_CLANG).map_err(|error| error.to_string())?;
    let library = llvm::Library::newest().map_err(|error| error.to_string())?;
    Ok(format!("{} ({})", library.version(), library.path().display()))
}

fn opencl() -> Version {
    let devices = device::devices().map_err(|error| error.to_string())?;
    let usable: Vec<&str> =
        devices.iter().filter(|device| device.usable).map(|device| device.name.as_str()).collect();
    if !usable.is_empty() {
        return Ok(usable.join(", "));
    }
    let why = devices.into_iter().map(|device| device.why).find(|why| !why.is_empty());
    Err(why.unwrap_or_else(|| "no OpenCL platform".to_owned()))
}

fn timing_model() -> Version {
    timing::Timer::open(&timing::Options::default()).map_err(|error| error.to_string())?;
    Ok(helper(Helper::TIMING_PLUGIN).unwrap_or_default())
}

fn trainer() -> Version {
    let python = lm::find_python().map(|path| path.display().to_string());
    python.ok_or_else(|| "no Python with torch and transformers".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{ALL, OF_WHEEL, advice};

    #[test]
    fn every_line_has_its_four_parts() {
        for line in ALL.lines().filter(|line| !line.is_empty()) {
            assert_eq!(line.split(';').count(), 4, "{line}");
        }
    }

    #[test]
    fn the_wheels_advice_needs_no_checkout() {
        let parts = |line: &'static str| {
            let parts: Vec<&'static str> = line.split(';').collect();
            (parts[0], parts[3])
        };
        let lines = || ALL.lines().filter(|line| !line.is_empty()).map(parts);
        for (name, install) in lines() {
            assert_eq!(advice(name, install, false), install);
            let said = advice(name, install, true);
            // The wheel does not bring it, and nothing else installs it.
            let is_only_there = name == "cluster engine";
            assert_eq!(
                said.contains("make ") || said.contains("cargo build"),
                is_only_there,
                "{said}"
            );
        }
        for (name, _) in OF_WHEEL {
            assert!(lines().any(|(known, _)| known == *name), "{name}");
        }
    }
}
