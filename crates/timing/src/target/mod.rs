//! What programs of an instruction set are built and run with: one file per instruction set.

mod aarch64;
mod riscv64;
mod x86_64;

use crate::{Compiler, Error};
use std::path::PathBuf;
use timing_model::Architecture;

/// Compilers, flags and the emulator of an instruction set.
#[derive(Debug)]
pub struct Target {
    /// The instruction set.
    pub architecture: Architecture,
    /// Flags of every build, in order.
    pub flags: &'static [&'static str],
    /// GCC's `g++` and `gcc`.
    gcc: [Tool; 2],
    /// Clang's `clang++` and `clang`, by the names it may have.
    clang: [&'static [&'static str]; 2],
    /// What clang is told besides.
    clang_flags: &'static [&'static str],
    /// QEMU's user mode.
    pub(crate) emulator: &'static str,
    /// The processor that programs see.
    pub(crate) guest: &'static str,
    /// Variables that programs see.
    pub(crate) environment: &'static [&'static str],
    /// The architecture of its ELF files.
    pub(crate) elf: object::Architecture,
    /// Instructions that read the clock, and those that draw random numbers, as messages name them.
    pub(crate) refused: [&'static str; 2],
}

/// A program on the search path, and how to get it.
#[derive(Debug)]
struct Tool {
    name: &'static str,
    install: &'static str,
}

const INSTALL_CLANG: &str = "install clang (Debian: apt install clang)";

impl Target {
    /// That of an instruction set.
    #[must_use]
    pub fn of(architecture: Architecture) -> &'static Target {
        match architecture {
            Architecture::X86_64 => &x86_64::TARGET,
            Architecture::Aarch64 => &aarch64::TARGET,
            Architecture::Riscv64 => &riscv64::TARGET,
        }
    }

    /// The compiler of C, or of C++, on the search path.
    ///
    /// # Errors
    /// [`Error::Missing`], which says how to install it.
    pub fn compiler(&self, kind: Compiler, c: bool) -> Result<PathBuf, Error> {
        let which = usize::from(c);
        match kind {
            Compiler::Gcc => {
                let Tool { name, install } = &self.gcc[which];
                host::on_path(name).ok_or(Error::Missing { tool: name, install })
            }
            Compiler::Clang => {
                let names = self.clang[which];
                let found = names.iter().find_map(|name| host::on_path(name));
                found.ok_or(Error::Missing { tool: names[0], install: INSTALL_CLANG })
            }
        }
    }

    /// Flags of a build by a compiler, in order.
    pub(crate) fn flags_of(&self, kind: Compiler) -> impl Iterator<Item = &'static str> {
        let told = if kind == Compiler::Clang { self.clang_flags } else { &[] };
        told.iter().chain(self.flags).copied()
    }

    /// The compiler of sources of these languages, and its version.
    ///
    /// # Errors
    /// As [`Target::compiler`].
    pub fn compiler_version(&self, kind: Compiler, c: bool) -> Result<(String, String), Error> {
        let path = self.compiler(kind, c)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, crate::recipe::version(path.as_os_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_build_is_static_and_for_a_pinned_instruction_set() {
        for architecture in Architecture::ALL {
            let target = Target::of(architecture);
            assert_eq!(target.architecture, architecture);
            assert!(target.flags.contains(&"-static"));
            assert_eq!(target.flags.iter().filter(|flag| flag.starts_with("-march=")).count(), 1);
        }
    }
}
