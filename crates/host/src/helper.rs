use std::{
    env,
    path::{Path, PathBuf},
};

/// The variable that names the folder of the helper binaries.
pub const LIBEXEC_VARIABLE: &str = "STAMPMILL_LIBEXEC";

/// A helper binary: a program, or a library for another's program, that is installed with the main binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Helper {
    /// Its file's name.
    pub name: &'static str,
    /// The commands that build it.
    pub install: &'static str,
}

macro_rules! helper {
    ($name:literal, cargo install $folder:literal) => {
        Helper {
            name: $name,
            install: concat!(
                "`make build` in a checkout builds it, or `cargo install --path crates/",
                $folder,
                "`; STAMPMILL_LIBEXEC names its folder where it is not beside this program"
            ),
        }
    };
    ($name:literal, $command:literal) => {
        Helper {
            name: $name,
            install: concat!(
                $command,
                "; STAMPMILL_LIBEXEC names its folder where it is not beside this program"
            ),
        }
    };
}

impl Helper {
    /// The clang worker.
    pub const CLANG: Helper = helper!("stampmill-clang", cargo install "clang-worker");
    /// The engine that runs stages on several machines; it has a workspace of its own.
    pub const CLUSTER: Helper =
        helper!("stampmill-cluster", "`make cluster` in a checkout builds it");
    /// The clock, which times native programs.
    pub const CLOCK: Helper = helper!("stampmill-clock", cargo install "timing");
    /// The OpenCL worker.
    pub const DEVICE: Helper = helper!("stampmill-device", cargo install "device");
    /// The sandbox's launcher.
    pub const LAUNCH: Helper = helper!("stampmill-launch", cargo install "sandbox");
    /// The client of object stores.
    pub const OBJECTS: Helper =
        helper!("stampmill-objects", "`make objects` in a checkout builds it");
    /// The SQL engine.
    pub const QUERY: Helper = helper!("stampmill-query", cargo install "query-worker");
    /// QEMU's plugin, a library: `cargo install` knows programs only.
    pub const TIMING_PLUGIN: Helper = helper!(
        "libstampmill_timing.so",
        "`make build` in a checkout builds it, or `cargo build --release --package stampmill-timing-plugin`"
    );

    /// All that `make build` makes.
    pub const ALL: [Helper; 6] = [
        Helper::CLANG,
        Helper::CLOCK,
        Helper::DEVICE,
        Helper::LAUNCH,
        Helper::QUERY,
        Helper::TIMING_PLUGIN,
    ];

    /// Where it is.
    ///
    /// # Errors
    /// [`Missing`], which says how to build it.
    pub fn find(self) -> Result<PathBuf, Missing> {
        let found = installed(self.name).ok_or(Missing { helper: self })?;
        tracing::trace!(helper = self.name, path = %found.display(), "found");
        Ok(found)
    }
}

/// A helper binary that is nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {} beside this program: {}", helper.name, helper.install)]
pub struct Missing {
    /// Which one.
    pub helper: Helper,
}

/// A file that is installed with this program: in the folder that `STAMPMILL_LIBEXEC` names, beside the running
/// program, or one folder up, where test and example programs find it.
#[must_use]
pub fn installed(name: &str) -> Option<PathBuf> {
    let named = env::var_os(LIBEXEC_VARIABLE).filter(|folder| !folder.is_empty());
    let own = env::current_exe().unwrap_or_default();
    let near = own.ancestors().skip(1).take(2).map(PathBuf::from);
    named
        .map(PathBuf::from)
        .into_iter()
        .chain(near)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Whether this program came with the Python wheel: then it stands in the folder `bin` of the module that starts it.
#[must_use]
pub fn is_of_wheel() -> bool {
    env::current_exe().is_ok_and(|own| is_in_module(&own))
}

pub(crate) fn is_in_module(program: &Path) -> bool {
    let folder = program.parent().filter(|folder| folder.ends_with("bin"));
    folder.and_then(Path::parent).is_some_and(|module| module.join("_binary.py").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wheels_program_stands_in_its_module() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("stampmill/bin/stampmill");
        assert!(!is_in_module(&program) && !is_in_module(Path::new("stampmill")));
        std::fs::create_dir(home.path().join("stampmill")).unwrap();
        std::fs::write(home.path().join("stampmill/_binary.py"), "").unwrap();
        assert!(is_in_module(&program));
        assert!(!is_in_module(&home.path().join("stampmill/release/stampmill")));
        assert!(!is_of_wheel());
    }

    #[test]
    fn a_missing_helper_says_which_command_builds_it() {
        let text = Missing { helper: Helper::CLANG }.to_string();
        assert!(
            text.contains("make build")
                && text.contains("cargo install --path crates/clang-worker")
        );
        assert_eq!(installed("no-such-helper"), None);
    }
}
