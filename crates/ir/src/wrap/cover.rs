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
    /// Whether the folder is none of the search path, but that of Swift's compiler: its clang is called by its path, and no
    /// other clang is to be in its place.
    pub(super) is_of_swift: bool,
}

/// What to cover for compilers that have a stand-in, in the order of the search path. `root`: the folder that is `/` for the
/// build.
pub(super) fn plans(root: Option<&Path>, has_stand_in: &dyn Fn(&str) -> bool) -> Vec<Plan> {
    let mut folders: Vec<PathBuf> = match root {
        Some(_) => Vec::new(),
        None => std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect(),
    };
    folders.extend(["/usr/local/bin", "/usr/bin"].map(PathBuf::from));
    // Of this machine builds see the system and folders of tools: what they do not see cannot be covered.
    let seen = root.is_none().then(sandbox::tool_folders);
    let is_seen = |folder: &Path| {
        let Some(seen) = &seen else { return true };
        folder.starts_with("/usr") || seen.iter().any(|one| folder.starts_with(one))
    };
    let root = root.unwrap_or(Path::new("/"));
    let mut known = BTreeSet::new();
    let folders = folders.into_iter().filter(|folder| folder.is_absolute());
    let folders = folders.filter_map(|folder| spelled(root, &folder));
    let folders: Vec<PathBuf> = folders.filter(|folder| known.insert(folder.clone())).collect();
    let swift = folders.iter().filter_map(|folder| of_swift(root, folder));
    let swift: Vec<PathBuf> =
        swift.filter(|folder| is_seen(folder) && known.insert(folder.clone())).collect();
    let named = |folder: &Path, is_of_swift: bool| -> Vec<String> {
        let is_there = |name: &String| {
            let is_called =
                if is_of_swift { name.starts_with("clang") } else { has_stand_in(name) };
            let ways = ways(root, &folder.join(name));
            is_called && ways.last().is_some_and(|end| on_host(root, end).is_file())
        };
        names().filter(is_there).collect()
    };
    let searched = folders.into_iter().map(|folder| (folder, false));
    let all = searched.chain(swift.into_iter().map(|folder| (folder, true)));
    let plans = all.map(|(folder, is_of_swift)| Plan {
        names: named(&folder, is_of_swift),
        folder,
        is_of_swift,
        ..Plan::default()
    });
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

/// The folder in which Swift's compiler lies, for one that has it or a link to it: its package manager calls the clang there.
fn of_swift(root: &Path, folder: &Path) -> Option<PathBuf> {
    let ways = ways(root, &folder.join("swiftc"));
    let end = ways.last().filter(|end| on_host(root, end).is_file())?;
    end.parent().map(PathBuf::from)
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

    #[test]
    fn the_clang_beside_the_compiler_of_swift_is_covered_and_stays_its_own() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let place = "usr/libexec/swift/bin";
        for folder in ["usr/bin", place] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for program in ["swift-frontend", "clang-17", "ld", "cc"] {
            fs::write(at(place).join(program), "").unwrap();
        }
        fs::write(at("usr/bin/clang"), "").unwrap();
        for (link, to) in [
            ("usr/bin/swiftc", "../libexec/swift/bin/swiftc"),
            ("usr/libexec/swift/bin/swiftc", "swift-frontend"),
            ("usr/libexec/swift/bin/clang", "clang-17"),
            ("usr/libexec/swift/bin/clang++", "clang"),
        ] {
            symlink(to, at(link)).unwrap();
        }
        // Without a stand-in of its own `clang-17` is Swift's all the same.
        let plans = plans(Some(root.path()), &|name| name != "clang-17");
        let folders: Vec<&Path> = plans.iter().map(|plan| plan.folder.as_path()).collect();
        let swift = Path::new("/").join(place);
        assert_eq!(folders, [Path::new("/usr/bin"), swift.as_path()]);
        assert_eq!((plans[0].is_of_swift, plans[1].is_of_swift), (false, true));
        // What is called by name is that of the search path, and Swift's compiler behind its link.
        assert_eq!(plans[0].names, ["clang", "swiftc"]);
        assert_eq!(plans[0].compilers[1], ("swiftc".to_owned(), swift.join("swiftc")));
        assert_eq!(plans[1].names, ["clang", "clang++", "clang-17"]);
        let own = swift.join("clang-17.stampmill-own");
        assert!(plans[1].compilers.iter().all(|(_, compiler)| *compiler == own));
        let kept = ("clang-17".to_owned(), "clang-17.stampmill-own".to_owned());
        assert_eq!(plans[1].kept, [kept]);
    }
}
