//! The commit for `--version`: what `STAMPMILL_COMMIT` says, else what is checked out, read from `.git` itself, so that
//! no git is needed. Only this crate is built anew at a commit.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Characters of a commit that are shown.
const SHOWN: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=STAMPMILL_COMMIT");
    let given = env::var("STAMPMILL_COMMIT").ok().filter(|commit| !commit.is_empty());
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
    let commit = given.or_else(|| checked_out(&root.join(".git")));
    let commit = commit.filter(|commit| commit.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let commit = commit.unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=STAMPMILL_COMMIT={}", &commit[..commit.len().min(SHOWN)]);
}

/// The commit that is checked out; `git` is a repository's folder, or a worktree's file that names it.
fn checked_out(git: &Path) -> Option<String> {
    let folder = match fs::read_to_string(git) {
        Ok(link) => git.parent()?.join(link.strip_prefix("gitdir:")?.trim()),
        Err(_) => git.to_owned(),
    };
    let head = watched(&folder.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else { return Some(head) };
    let common = fs::read_to_string(folder.join("commondir"));
    let common = common.map_or_else(|_| folder.clone(), |to| folder.join(to.trim()));
    let loose = common.join(name);
    if let Some(commit) = watched(&loose) {
        return Some(commit);
    }
    // The next commit makes a file there.
    println!("cargo::rerun-if-changed={}", loose.parent()?.display());
    let packed = watched(&common.join("packed-refs"))?;
    let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(name))?;
    line.split(' ').next().map(str::to_owned)
}

/// What a file holds; it is looked at again when it changes.
fn watched(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    println!("cargo::rerun-if-changed={}", path.display());
    Some(text.trim().to_owned())
}
