//! Scripts that call the wrapper in the place of compilers.

use super::{STORE, real};
use crate::Error;
use std::{ffi::OsString, fs, os::unix::fs::PermissionsExt, path::Path};

/// Names under which builds call compilers, and the program that must be there for each.
const STAND_INS: &[(&str, &[&str])] = &[
    ("cc", &["clang-19", "clang"]),
    ("c99", &["clang-19", "clang"]),
    ("gcc", &["clang-19", "clang"]),
    ("clang", &["clang-19", "clang"]),
    ("clang-19", &["clang-19"]),
    ("c++", &["clang++-19", "clang++"]),
    ("g++", &["clang++-19", "clang++"]),
    ("clang++", &["clang++-19", "clang++"]),
    ("clang++-19", &["clang++-19"]),
    ("x86_64-linux-gnu-gcc", &["clang-19", "clang"]),
    ("x86_64-linux-gnu-g++", &["clang++-19", "clang++"]),
    ("gfortran", &["flang-new-19", "flang-19", "flang"]),
    ("flang", &["flang-new-19", "flang-19", "flang"]),
    ("flang-new-19", &["flang-new-19"]),
    ("ldc2", &["ldc2"]),
    ("ldmd2", &["ldmd2"]),
    ("swiftc", &["swiftc"]),
    ("rustc-wrapper", &[]),
];

/// How the scripts begin.
pub(super) const STAND_IN: &str = "#!/bin/sh\n# Stands in for a compiler: stampmill ir wrap\n";

/// Put a script into the folder `bin` for each compiler that is here; with `bin` first on the
/// search path builds call them, and cargo calls `rustc-wrapper` where `RUSTC_WRAPPER` names it.
/// They keep modules in `store`, or where the environment says. `root`: the folder that is `/` where they will run.
///
/// # Errors
/// When one cannot be written.
pub fn stand_ins(
    bin: &Path,
    wrapper: &[OsString],
    store: Option<&Path>,
    root: Option<&Path>,
) -> Result<(), Error> {
    fs::create_dir_all(bin).map_err(Error::file("create", bin))?;
    let quote = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
    let quoted: Vec<String> = wrapper.iter().map(|word| quote(&word.to_string_lossy())).collect();
    let mut head = STAND_IN.to_owned();
    if let Some(store) = store {
        head.push_str(&format!("export {STORE}={}\n", quote(&store.to_string_lossy())));
    }
    for (name, needs) in STAND_INS {
        let is_there = |needs: &[&str]| match root {
            Some(root) => needs
                .iter()
                .any(|need| fs::symlink_metadata(root.join("usr/bin").join(need)).is_ok()),
            None => real(needs).is_some(),
        };
        if !needs.is_empty() && !is_there(needs) {
            continue;
        }
        // What cargo calls gets the compiler's name as its first argument.
        let compiler = if *name == "rustc-wrapper" { String::new() } else { format!(" {name}") };
        let text = format!("{head}exec {}{compiler} \"$@\"\n", quoted.join(" "));
        let path = bin.join(name);
        if path.exists() && !super::command::is_stand_in(&path) {
            return Err(Error::Foreign { path, what: "stand-in" });
        }
        fs::write(&path, text).map_err(Error::file("write", &path))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .map_err(Error::file("write", &path))?;
    }
    Ok(())
}
