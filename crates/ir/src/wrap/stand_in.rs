//! Scripts that call the wrapper in the place of compilers.

use super::{STORE, cover, real};
use crate::Error;
use sandbox::Cover;
use std::{
    ffi::{OsStr, OsString},
    fs,
    ops::RangeInclusive,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

/// Names under which builds call compilers, and the program that must be there for each.
const STAND_INS: &[(&str, &[&str])] = &[
    ("cc", &["clang-19", "clang"]),
    ("c99", &["clang-19", "clang"]),
    ("gcc", &["clang-19", "clang"]),
    ("clang", &["clang-19", "clang"]),
    ("c++", &["clang++-19", "clang++"]),
    ("g++", &["clang++-19", "clang++"]),
    ("clang++", &["clang++-19", "clang++"]),
    ("x86_64-linux-gnu-gcc", &["clang-19", "clang"]),
    ("x86_64-linux-gnu-g++", &["clang++-19", "clang++"]),
    ("gfortran", &["flang-new-19", "flang-19", "flang"]),
    ("flang", &["flang-new-19", "flang-19", "flang"]),
    ("flang-new-19", &["flang-new-19"]),
    ("ldc2", &["ldc2"]),
    ("ldmd2", &["ldmd2"]),
    ("swiftc", &["swiftc"]),
    ("julia", &["julia"]),
    ("zig", &["zig"]),
    ("rustc", &["rustc"]),
    ("rustc-wrapper", &[]),
];

/// Compilers that are called by a name with their version in it as well, where they are there: `gcc-12`.
const VERSIONED: &[&str] =
    &["gcc", "g++", "clang", "clang++", "x86_64-linux-gnu-gcc", "x86_64-linux-gnu-g++", "gfortran"];
const VERSIONS: RangeInclusive<u32> = 9..=25;

/// Names under which compilers are called, and the programs of which one must be there for each; with a version, itself too.
struct StandIn {
    name: String,
    needs: &'static [&'static str],
    is_versioned: bool,
}

fn all() -> impl Iterator<Item = StandIn> {
    let plain = |(name, needs): &(&str, &'static [&'static str])| StandIn {
        name: (*name).to_owned(),
        needs,
        is_versioned: false,
    };
    let versioned = STAND_INS.iter().filter(|(name, _)| VERSIONED.contains(name));
    let versioned = versioned.flat_map(|(name, needs)| {
        VERSIONS.map(move |version| StandIn {
            name: format!("{name}-{version}"),
            needs,
            is_versioned: true,
        })
    });
    STAND_INS.iter().map(plain).chain(versioned)
}

/// The folder beside real compilers for the clang of Swift's own.
pub(super) const OF_SWIFT: &str = "swift";

/// How the scripts begin.
pub(crate) const STAND_IN: &str = "#!/bin/sh\n# Stands in for a compiler: stampmill ir wrap\n";

/// Put a script into the folder `bin` for each compiler that is here; with `bin` first on the
/// search path builds call them, and cargo calls `rustc-wrapper` where `RUSTC_WRAPPER` names it.
/// They keep modules in `store`, or where the environment says.
///
/// # Errors
/// When one cannot be written.
pub fn stand_ins(bin: &Path, wrapper: &[OsString], store: Option<&Path>) -> Result<(), Error> {
    let mut head = STAND_IN.to_owned();
    if let Some(store) = store {
        head.push_str(&format!("export {STORE}={}\n", quoted(store.as_os_str())));
    }
    put_all(bin, &head, wrapper, None)
}

/// Put scripts for one build into `bin` of the folder `outside`, which programs of the build call `inside`; what to cover so
/// that compilers are stood in for when they are called by a path as well. `root`: the folder that is `/` for the build.
///
/// The scripts find the compilers themselves in `real`, beside `bin`: what they are called by is covered.
///
/// # Errors
/// When a script or a link cannot be written.
pub(crate) fn stand_ins_of_build(
    outside: &Path,
    inside: &Path,
    wrapper: &[OsString],
    root: Option<&Path>,
) -> Result<Vec<Cover>, Error> {
    let (bin, real, covers) = (outside.join("bin"), outside.join("real"), outside.join("covers"));
    fs::create_dir_all(&real).map_err(Error::file("create", &real))?;
    let store = quoted(inside.join("store").as_os_str());
    let path = quoted(inside.join("real").as_os_str());
    let first = quoted(inside.join("real").join(OF_SWIFT).as_os_str());
    // A build may call a compiler with an environment of its own.
    let head =
        format!("{STAND_IN}export {STORE}={store}\nexport PATH=\"${{PATH:+$PATH:}}\"{path}\n");
    let head_of_swift = format!(
        "{STAND_IN}export {STORE}={store}\nexport PATH={first}:\"${{PATH:+$PATH:}}\"{path}\n"
    );
    put_all(&bin, &head, wrapper, root)?;
    let plans = cover::plans(root, &|name| bin.join(name).exists());
    let mut all = Vec::new();
    for (number, plan) in plans.into_iter().enumerate() {
        let files = covers.join(number.to_string());
        fs::create_dir_all(&files).map_err(Error::file("create", &files))?;
        for name in &plan.names {
            let to = files.join(name);
            if plan.is_of_swift {
                put(&to, &script(&head_of_swift, wrapper, Some(name)))?;
            } else {
                fs::copy(bin.join(name), &to).map_err(Error::file("write", &to))?;
            }
        }
        for (_, shown) in &plan.kept {
            let to = files.join(shown);
            fs::write(&to, "").map_err(Error::file("write", &to))?;
        }
        let real = if plan.is_of_swift { real.join(OF_SWIFT) } else { real.clone() };
        fs::create_dir_all(&real).map_err(Error::file("create", &real))?;
        for (name, compiler) in plan.compilers {
            let link = real.join(name);
            // The first folder of the search path has it.
            if fs::symlink_metadata(&link).is_err() {
                symlink(&compiler, &link).map_err(Error::file("create", &link))?;
            }
        }
        all.push(Cover { folder: plan.folder, files, kept: plan.kept });
    }
    all.extend(without_plugins(&covers.join("plugins"), root)?);
    Ok(all)
}

/// Where `ar`, `nm` and `ld` find plugins.
const PLUGINS: &str = "/usr/lib/bfd-plugins";

/// A cover of LLVM's plugins there: to them an object with bitcode in it is bitcode, and one older than the clang that made it
/// lists no symbols of it. In their place are empty files, which are passed over.
fn without_plugins(files: &Path, root: Option<&Path>) -> Result<Option<Cover>, Error> {
    let root = root.unwrap_or(Path::new("/"));
    let Some(folder) = cover::spelled(root, Path::new(PLUGINS)) else { return Ok(None) };
    let there = fs::read_dir(cover::on_host(root, &folder)).into_iter().flatten().flatten();
    let names = there.map(|entry| entry.file_name());
    let names: Vec<_> =
        names.filter(|name| name.to_string_lossy().starts_with("LLVMgold")).collect();
    if names.is_empty() {
        return Ok(None);
    }
    fs::create_dir_all(files).map_err(Error::file("create", files))?;
    for name in names {
        let to = files.join(name);
        fs::write(&to, "").map_err(Error::file("write", &to))?;
    }
    Ok(Some(Cover { folder, files: files.to_owned(), kept: Vec::new() }))
}

fn quoted(word: &OsStr) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"))
}

fn put_all(bin: &Path, head: &str, wrapper: &[OsString], root: Option<&Path>) -> Result<(), Error> {
    fs::create_dir_all(bin).map_err(Error::file("create", bin))?;
    for StandIn { name, needs, is_versioned } in all() {
        let is_there = |needs: &[&str]| match root {
            Some(root) => needs
                .iter()
                .any(|need| fs::symlink_metadata(root.join("usr/bin").join(need)).is_ok()),
            None => real(needs).is_some(),
        };
        if !needs.is_empty() && !is_there(needs) || is_versioned && !is_there(&[&name]) {
            continue;
        }
        // What cargo calls gets the compiler's name as its first argument.
        let compiler = (name != "rustc-wrapper").then_some(name.as_str());
        let text = script(head, wrapper, compiler);
        let path = bin.join(&name);
        if path.exists() && !super::command::is_stand_in(&path) {
            return Err(Error::Foreign { path, what: "stand-in" });
        }
        put(&path, &text)?;
    }
    Ok(())
}

/// The script that calls the wrapper in the place of a compiler; without one the compiler is named by who calls.
fn script(head: &str, wrapper: &[OsString], compiler: Option<&str>) -> String {
    let mut words: Vec<String> = wrapper.iter().map(|word| quoted(word)).collect();
    words.extend(compiler.map(str::to_owned));
    format!("{head}exec {} \"$@\"\n", words.join(" "))
}

fn put(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::file("write", path))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(Error::file("write", path))
}

/// Names of compilers that are called by a path.
pub(super) fn names() -> impl Iterator<Item = String> {
    all().filter(|one| !one.needs.is_empty()).map(|one| one.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugins_of_llvm_alone_are_covered() {
        let root = tempfile::tempdir().unwrap();
        let files = root.path().join("files");
        assert_eq!(without_plugins(&files, Some(root.path())).unwrap(), None);
        let folder = root.path().join("usr/lib/bfd-plugins");
        fs::create_dir_all(&folder).unwrap();
        symlink("../llvm-14/lib/LLVMgold.so", folder.join("LLVMgold-14.so")).unwrap();
        fs::write(folder.join("liblto_plugin.so"), "").unwrap();
        let cover = without_plugins(&files, Some(root.path())).unwrap().unwrap();
        assert_eq!(cover.folder, Path::new(PLUGINS));
        let names = fs::read_dir(&files).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["LLVMgold-14.so"]);
    }

    #[test]
    fn compilers_of_a_root_have_their_scripts() {
        let (root, site) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = root.path().join("usr/libexec/swift/bin");
        for folder in [&root.path().join("usr/bin"), &place] {
            fs::create_dir_all(folder).unwrap();
        }
        for program in ["usr/bin/rustc", "usr/libexec/swift/bin/swiftc"] {
            fs::write(root.path().join(program), "").unwrap();
        }
        symlink("../libexec/swift/bin/swiftc", root.path().join("usr/bin/swiftc")).unwrap();
        fs::write(place.join("clang"), "").unwrap();
        let wrapper = ["/w", "ir", "wrap", "--"].map(OsString::from);
        let inside = Path::new("/build/p");
        let covers = stand_ins_of_build(site.path(), inside, &wrapper, Some(root.path())).unwrap();
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        let real = |name: &str| fs::read_link(site.path().join("real").join(name)).unwrap();
        let folders: Vec<&Path> = covers.iter().map(|cover| cover.folder.as_path()).collect();
        let [searched, swift] = ["/usr/bin", "/usr/libexec/swift/bin"].map(Path::new);
        assert_eq!(folders, [searched, swift]);
        // By name and by path rustc is stood in for, and found beside its stand-in.
        let rustc = read(&covers[0].files.join("rustc"));
        assert_eq!(rustc, read(&site.path().join("bin/rustc")));
        assert!(rustc.ends_with("exec '/w' 'ir' 'wrap' '--' rustc \"$@\"\n"), "{rustc}");
        assert!(read(&site.path().join("bin/rustc-wrapper")).ends_with(" '--' \"$@\"\n"));
        assert_eq!(real("rustc"), searched.join("rustc.stampmill-own"));
        // Swift's clang is called by its path alone, and its stand-in finds it before any other.
        assert!(
            !site.path().join("bin/clang").exists() && !site.path().join("real/clang").exists()
        );
        let clang = read(&covers[1].files.join("clang"));
        let path = "\nexport PATH='/build/p/real/swift':\"${PATH:+$PATH:}\"'/build/p/real'\nexec ";
        assert!(clang.starts_with(STAND_IN) && clang.contains(path), "{clang}");
        assert_eq!(real("swift/clang"), swift.join("clang.stampmill-own"));
    }
}
