//! Which files to cover so that a build that calls a compiler by its path (`/usr/bin/cc`) calls the stand-in, and where the
//! compiler itself is found then.

use super::stand_in::names;
use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

/// Links that lead from a name to a program are no more.
const LINKS: usize = 40;

/// What is covered in one folder of programs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// As the build names it, without links.
    pub(super) folder: PathBuf,
    /// Names of the compilers that are there.
    pub(super) names: Vec<String>,
    /// Those of them that are no links, and under what name each can be had.
    pub(super) kept: Vec<(String, String)>,
    /// Where the compiler of each name is, past all that is covered.
    pub(super) compilers: Vec<(String, PathBuf)>,
}

/// What to cover for compilers that have a stand-in, in the order of the search path. `root`: the folder that is `/` for the
/// build.
pub(super) fn plans(root: Option<&Path>, has_stand_in: &dyn Fn(&str) -> bool) -> Vec<Plan> {
    let mut folders: Vec<PathBuf> = match root {
        Some(_) => Vec::new(),
        None => std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect(),
    };
    folders.extend(["/usr/local/bin", "/usr/bin"].map(PathBuf::from));
    let root = root.unwrap_or(Path::new("/"));
    let mut known = BTreeSet::new();
    let folders = folders.into_iter().filter(|folder| folder.is_absolute());
    let folders = folders.filter_map(|folder| spelled(root, &folder));
    let folders: Vec<PathBuf> = folders.filter(|folder| known.insert(folder.clone())).collect();
    let named = |folder: &Path| -> Vec<String> {
        let is_there = |name: &String| {
            let ways = ways(root, &folder.join(name));
            has_stand_in(name) && ways.last().is_some_and(|end| on_host(root, end).is_file())
        };
        names().filter(is_there).collect()
    };
    let plans =
        folders.into_iter().map(|folder| Plan { names: named(&folder), folder, ..Plan::default() });
    let mut plans: Vec<Plan> = plans.filter(|plan| !plan.names.is_empty()).collect();
    let covered: BTreeSet<PathBuf> = plans
        .iter()
        .flat_map(|plan| plan.names.iter().map(|name| plan.folder.join(name)))
        .collect();
    for plan in &mut plans {
        for name in &plan.names {
            let own = plan.folder.join(name);
            let ways = ways(root, &own);
            // The first name behind which no other is covered: programs look at what they are called by.
            let last = ways.iter().rposition(|way| covered.contains(way)).unwrap_or(0);
            let compiler = match ways.get(last + 1) {
                Some(way) => way.clone(),
                None => shown(&ways[last]),
            };
            if ways.len() == 1 {
                plan.kept.push((name.clone(), file_name(&shown(&own))));
            }
            plan.compilers.push((name.clone(), compiler));
        }
    }
    plans
}

/// Under what name a covered file can be had.
fn shown(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}.stampmill-own", file_name(path)))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn on_host(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// A folder of the root by its path without links; `None` where there is none inside.
pub(super) fn spelled(root: &Path, folder: &Path) -> Option<PathBuf> {
    let found = on_host(root, folder).canonicalize().ok()?;
    let root = root.canonicalize().ok()?;
    let inside = found.strip_prefix(root).ok()?;
    found.is_dir().then(|| Path::new("/").join(inside))
}

/// A path and all that it leads to by links, the program last.
fn ways(root: &Path, path: &Path) -> Vec<PathBuf> {
    let mut ways = vec![path.to_owned()];
    while ways.len() < LINKS {
        let Some(last) = ways.last() else { break };
        let Ok(to) = fs::read_link(on_host(root, last)) else { break };
        let next = last.parent().unwrap_or(Path::new("/")).join(to);
        let mut plain = PathBuf::new();
        for part in next.components() {
            match part {
                Component::ParentDir => drop(plain.pop()),
                part => plain.push(part),
            }
        }
        let folder = plain.parent().and_then(|folder| spelled(root, folder));
        ways.push(match (folder, plain.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => plain,
        });
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn compilers_are_found_behind_what_is_covered() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in ["usr/bin", "usr/lib/llvm-19/bin", "etc/alternatives", "usr/local/bin"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        symlink("usr/bin", at("bin")).unwrap();
        for program in
            ["usr/bin/x86_64-linux-gnu-gcc-12", "usr/bin/ldc2", "usr/lib/llvm-19/bin/clang"]
        {
            fs::write(at(program), "").unwrap();
        }
        for (link, to) in [
            ("usr/bin/gcc-12", "x86_64-linux-gnu-gcc-12"),
            ("usr/bin/gcc", "gcc-12"),
            ("etc/alternatives/cc", "/bin/gcc"),
            ("usr/bin/cc", "/etc/alternatives/cc"),
            ("usr/bin/clang-19", "../lib/llvm-19/bin/clang"),
            ("usr/local/bin/clang", "clang-19"),
            ("usr/local/bin/clang-19", "/usr/bin/clang-19"),
            ("usr/local/bin/ldmd2", "/usr/bin/ldc2"),
            ("usr/bin/g++", "gone"),
        ] {
            symlink(to, at(link)).unwrap();
        }
        let plans = plans(Some(root.path()), &|name| name != "swiftc");
        let compilers = |plan: &Plan| -> Vec<(String, String)> {
            let all = plan.compilers.iter();
            all.map(|(name, path)| (name.clone(), path.display().to_string())).collect()
        };
        let told = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, path)| ((*name).to_owned(), (*path).to_owned())).collect()
        };
        assert_eq!(plans[0].folder, Path::new("/usr/local/bin"));
        let clang = "/usr/lib/llvm-19/bin/clang";
        let ldc2 = "/usr/bin/ldc2.stampmill-own";
        let local = told(&[("clang", clang), ("ldmd2", ldc2), ("clang-19", clang)]);
        assert_eq!(compilers(&plans[0]), local);
        assert_eq!(plans[0].kept, []);
        assert_eq!(plans[1].folder, Path::new("/usr/bin"));
        let named = "x86_64-linux-gnu-gcc-12";
        let gcc = "/usr/bin/x86_64-linux-gnu-gcc-12.stampmill-own";
        let system = told(&[
            ("cc", gcc),
            ("gcc", gcc),
            ("ldc2", ldc2),
            ("gcc-12", gcc),
            ("clang-19", clang),
            (named, gcc),
        ]);
        assert_eq!(compilers(&plans[1]), system);
        let kept =
            told(&[("ldc2", "ldc2.stampmill-own"), (named, &format!("{named}.stampmill-own"))]);
        assert_eq!(plans[1].kept, kept);
    }
}
