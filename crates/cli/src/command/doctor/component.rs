use host::Helper;
use std::process::Command;

/// Something that a command of ours uses if it is there.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Component {
    /// Its name.
    pub(super) name: String,
    /// Whether it works here.
    pub(super) found: bool,
    /// Its version as it says itself; why not, where it is missing.
    pub(super) version: String,
    /// The commands that need it.
    pub(super) needed_for: String,
    /// The command that installs it.
    pub(super) install: String,
    /// Whether `mine` and `prepare` cannot do without.
    #[serde(skip)]
    pub(super) required: bool,
}

/// A program asked for its version.
struct Tool {
    name: &'static str,
    programs: &'static [&'static str],
    argument: &'static str,
    needed_for: &'static str,
    install: &'static str,
    required: bool,
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "apt-get",
        programs: &["apt-get"],
        argument: "--version",
        needed_for: "mine deb:",
        install: "a Debian machine",
        required: false,
    },
    Tool {
        name: "pip",
        programs: &["pip3", "pip"],
        argument: "--version",
        needed_for: "mine pypi:",
        install: "apt-get install python3-pip",
        required: false,
    },
    Tool {
        name: "cargo",
        programs: &["cargo"],
        argument: "--version",
        needed_for: "mine crate:, ir build crate:",
        install: "the Rust toolchain (rustup)",
        required: false,
    },
    Tool {
        name: "rustc",
        programs: &["rustc"],
        argument: "--version",
        needed_for: "ir (Rust)",
        install: "the Rust toolchain (rustup)",
        required: false,
    },
    Tool {
        name: "clang 19",
        programs: &["clang-19"],
        argument: "--version",
        needed_for: "ir (C, C++); benches against a process per kernel",
        install: "apt-get install clang-19",
        required: false,
    },
    Tool {
        name: "flang 19",
        programs: &["flang-new-19", "flang-19"],
        argument: "--version",
        needed_for: "ir (Fortran)",
        install: "apt-get install flang-19",
        required: false,
    },
    Tool {
        name: "ldc2",
        programs: &["ldc2"],
        argument: "--version",
        needed_for: "ir (D)",
        install: "apt-get install ldc",
        required: false,
    },
    Tool {
        name: "zig",
        programs: &["zig"],
        argument: "version",
        needed_for: "ir (Zig)",
        install: "pip install ziglang==0.14.1, and its folder on the PATH (0.14 has LLVM 19)",
        required: false,
    },
    Tool {
        name: "mmdebstrap",
        programs: &["mmdebstrap"],
        argument: "--version",
        needed_for: "ir build deb:",
        install: "apt-get install mmdebstrap (and root)",
        required: false,
    },
    Tool {
        name: "swiftc",
        programs: &["swiftc"],
        argument: "--version",
        needed_for: "ir (Swift): a recipe that was not run here",
        install: "a Swift toolchain; Debian has no package",
        required: false,
    },
    Tool {
        name: "julia",
        programs: &["julia"],
        argument: "--version",
        needed_for: "ir (Julia): a recipe that was not run here",
        install: "a Julia toolchain; Debian has no package",
        required: false,
    },
    Tool {
        name: "spack",
        programs: &["spack"],
        argument: "--version",
        needed_for: "ir (Spack): a recipe that was not run here",
        install: "a checkout of Spack",
        required: false,
    },
    Tool {
        name: "g++",
        programs: &["g++"],
        argument: "--version",
        needed_for: "time, edits",
        install: "apt-get install g++",
        required: false,
    },
    Tool {
        name: "QEMU user mode",
        programs: &["qemu-x86_64"],
        argument: "--version",
        needed_for: "time, edits",
        install: "apt-get install qemu-user",
        required: false,
    },
    Tool {
        name: "Oclgrind",
        programs: &["oclgrind"],
        argument: "--version",
        needed_for: "run --verify oclgrind",
        install: "apt-get install oclgrind",
        required: false,
    },
    Tool {
        name: "cachegrind",
        programs: &["valgrind"],
        argument: "--version",
        needed_for: "time --source cachegrind",
        install: "apt-get install valgrind",
        required: false,
    },
    Tool {
        name: "gem5",
        programs: &["gem5", "gem5.opt"],
        argument: "--build-info",
        needed_for: "time --source gem5",
        install: "build it from its sources; Debian has no package",
        required: false,
    },
];

/// Everything, found or not, in the order of a first day's work.
pub(super) fn all() -> Vec<Component> {
    let mut components = vec![clang_worker(), launcher(), protections(), llvm_library(), opencl()];
    components.extend(TOOLS.iter().map(Tool::ask));
    components.extend([sql(), timing_model(), clock(), training_engine()]);
    components
}

fn clang_worker() -> Component {
    let asked = clang::Clang::start(1);
    let (found, version) = match &asked {
        Ok(clang) => (true, format!("libclang 19 in {}", clang.worker().display())),
        Err(error) => (false, error.to_string()),
    };
    Component {
        name: "clang worker".into(),
        found,
        version,
        needed_for: "prepare, features, sample, steer".into(),
        install: "apt-get install libclang-19-dev llvm-19-dev, then make build".into(),
        required: true,
    }
}

fn launcher() -> Component {
    let found = Helper::LAUNCH.find();
    Component {
        name: "sandbox launcher".into(),
        found: found.is_ok(),
        version: found.map_or("not beside this program".into(), |path| path.display().to_string()),
        needed_for: "mine pypi: (source archives), time, edits, ir build".into(),
        install: "make build".into(),
        required: true,
    }
}

/// What the kernel protects us by, tried out.
fn protections() -> Component {
    let program = sandbox::Program {
        command: vec!["/bin/true".into()],
        wall: std::time::Duration::from_secs(20),
        ..sandbox::Program::default()
    };
    let tried = sandbox::run(&program, &sandbox::Profile::native());
    let (found, version) = match tried {
        Ok(finished) => (finished.held.missing().is_empty(), finished.held.to_string()),
        Err(death) => (false, death.to_string()),
    };
    Component {
        name: "sandbox protections".into(),
        found,
        version,
        needed_for: "whatever runs or compiles foreign programs".into(),
        install: "Linux 5.13 or later with Landlock, seccomp and user namespaces \
                  (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces>0)"
            .into(),
        required: true,
    }
}

fn llvm_library() -> Component {
    let newest = llvm::Library::newest();
    let (found, version) = match &newest {
        Ok(library) => (true, format!("{} ({})", library.version(), library.path().display())),
        Err(error) => (false, error.to_string()),
    };
    Component {
        name: "LLVM library".into(),
        found,
        version,
        needed_for: "features (instcount, autophase), ir".into(),
        install: "apt-get install libllvm19; rustc's own is used too".into(),
        required: false,
    }
}

fn opencl() -> Component {
    let asked = device::devices();
    let devices = asked.as_deref().unwrap_or_default();
    let usable: Vec<&str> =
        devices.iter().filter(|device| device.usable).map(|device| device.name.as_str()).collect();
    let why = match &asked {
        Ok(devices) => devices.iter().map(|device| device.why.clone()).find(|why| !why.is_empty()),
        Err(error) => Some(error.to_string()),
    };
    Component {
        name: "OpenCL device".into(),
        found: !usable.is_empty(),
        version: match usable.is_empty() {
            false => usable.join(", "),
            true => why.unwrap_or_else(|| "no OpenCL platform".into()),
        },
        needed_for: "devices, run, label, learn".into(),
        install: "apt-get install ocl-icd-libopencl1 pocl-opencl-icd, or a GPU's driver".into(),
        required: false,
    }
}

fn sql() -> Component {
    let found = Helper::QUERY.find();
    Component {
        name: "SQL engine".into(),
        found: found.is_ok(),
        version: found.map_or("not beside this program".into(), |path| path.display().to_string()),
        needed_for: "query".into(),
        install: "make build, or cargo build --release -p stampmill-query-worker".into(),
        required: false,
    }
}

fn timing_model() -> Component {
    let opened = timing::Timer::open(&timing::Options::default());
    let plugin = Helper::TIMING_PLUGIN.find();
    Component {
        name: "timing model".into(),
        found: opened.is_ok(),
        version: match opened {
            Ok(_) => plugin.map_or(String::new(), |path| path.display().to_string()),
            Err(error) => error.to_string(),
        },
        needed_for: "time, edits".into(),
        install: "apt-get install qemu-user (7.2 or later), then make build".into(),
        required: false,
    }
}

fn clock() -> Component {
    let found = Helper::CLOCK.find();
    Component {
        name: "wall clock".into(),
        found: found.is_ok(),
        version: found.map_or("not beside this program".into(), |path| path.display().to_string()),
        needed_for: "time --source wall, time validate".into(),
        install: "make build".into(),
        required: false,
    }
}

fn training_engine() -> Component {
    let asked = lm::check_engine("auto");
    let found = lm::find_engine().map(|path| path.display().to_string()).unwrap_or_default();
    Component {
        name: "training engine".into(),
        found: asked.is_ok(),
        version: asked.err().map_or(found, |error| error.to_string()),
        needed_for: "train".into(),
        install: "make torch (fetches libtorch, 0.5 GB)".into(),
        required: false,
    }
}

impl Tool {
    fn ask(&self) -> Component {
        let answer = self.programs.iter().find_map(|program| {
            let output = Command::new(program).arg(self.argument).output().ok()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let line = text.lines().find(|line| !line.trim().is_empty())?.trim().to_owned();
            output.status.success().then_some(line)
        });
        Component {
            name: self.name.into(),
            found: answer.is_some(),
            version: answer.unwrap_or_else(|| "not on the path".into()),
            needed_for: self.needed_for.into(),
            install: self.install.into(),
            required: self.required,
        }
    }
}
