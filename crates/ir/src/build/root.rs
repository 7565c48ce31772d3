//! Throw-away Debians, one a suite: what packages need to be built is installed there, never on the host.

use super::site::Site;
use crate::Error;
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Mutex,
};

/// What every package needs here besides what `buildd` holds.
const INCLUDED: &str = "clang-19,fakeroot,ca-certificates";

/// Folders of roots begin so.
const ROOT: &str = "root";

/// The root of a small Debian of one suite, for one run.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) folder: PathBuf,
}

/// One root a suite and run: packages of several threads install into it one at a time.
static BUSY: Mutex<()> = Mutex::new(());

impl Root {
    /// The run's root of a suite (the machine's own without one), made when it is first needed: from a tarball in the cache,
    /// which mmdebstrap makes of the machine's own archive.
    ///
    /// # Errors
    /// Inside: why there can be none.
    pub(super) fn ready(
        site: &Site<'_>,
        work: &Path,
        suite: Option<&str>,
    ) -> Result<Result<Root, String>, Error> {
        let _one = BUSY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let folder = match suite {
            Some(suite) => work.join(format!("{ROOT}-{suite}")),
            None => work.join(ROOT),
        };
        let root = Root { folder };
        if root.folder.join("ready").is_file() {
            return Ok(Ok(root));
        }
        let roots = crate::cache_folder(site.options.cache.as_deref()).join("roots");
        fs::create_dir_all(&roots).map_err(Error::file("create", &roots))?;
        let (suite, archives) = mine::debian_archives(suite);
        if archives.is_empty() {
            return Ok(Err(
                "no Debian archive is configured in /etc/apt on this machine".to_owned()
            ));
        }
        let tarball = roots.join(format!("{suite}.tar"));
        if !tarball.is_file() {
            if site.options.offline {
                return Ok(Err("no root in the cache, and this run is offline".to_owned()));
            }
            let list = roots.join("sources.list");
            fs::write(&list, archives).map_err(Error::file("write", &list))?;
            let partial = roots.join(format!("{suite}.partial.tar"));
            let output = Command::new("mmdebstrap")
                .args(["--quiet", "--variant=buildd", "--include", INCLUDED, &suite])
                .args([&partial, &list])
                .output()
                .map_err(|error| Error::Start {
                    program: "mmdebstrap".into(),
                    reason: error.to_string(),
                })?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                let line =
                    said.lines().find(|line| line.starts_with("E:")).unwrap_or("mmdebstrap failed");
                return Ok(Err(line.to_owned()));
            }
            fs::rename(&partial, &tarball).map_err(Error::file("write", &tarball))?;
        }
        let root = match root.unpack(&tarball, &site.options.wrapper)? {
            Ok(root) => root,
            Err(reason) => return Ok(Err(reason)),
        };
        // The tarball has no lists of packages: they would be older than the archive.
        if !site.options.offline {
            root.connect();
            let output = root.apt(&["update"])?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                return Ok(Err(last_error(&said, "apt-get update failed")));
            }
        }
        let ready = root.folder.join("ready");
        fs::write(&ready, "").map_err(Error::file("write", &ready))?;
        Ok(Ok(root))
    }

    fn unpack(self, tarball: &Path, wrapper: &[OsString]) -> Result<Result<Root, String>, Error> {
        self.unmount();
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).map_err(Error::file("remove", &self.folder))?;
        }
        fs::create_dir_all(&self.folder).map_err(Error::file("create", &self.folder))?;
        let status =
            Command::new("tar").arg("-xf").arg(tarball).arg("-C").arg(&self.folder).status();
        if !status.is_ok_and(|status| status.success()) {
            return Ok(Err(format!("cannot unpack {} (root is needed)", tarball.display())));
        }
        let ours = self.folder.join("usr/lib/stampmill");
        let stand_ins = ours.join("bin");
        fs::create_dir_all(&stand_ins).map_err(Error::file("create", &stand_ins))?;
        let program = PathBuf::from(wrapper.first().cloned().unwrap_or_default());
        let copied = ours.join("stampmill");
        fs::copy(&program, &copied).map_err(Error::file("copy", &program))?;
        let proc = self.folder.join("proc");
        // Not every machine lets us; builds that need it then say so themselves.
        let _ = Command::new("mount").args(["-t", "proc", "proc"]).arg(&proc).status();
        let answers = Command::new("chroot")
            .arg(&self.folder)
            .args(["/usr/lib/stampmill/stampmill", "--version"])
            .output()
            .is_ok_and(|output| output.status.success());
        if !answers {
            return Ok(Err(
                "this program does not start in the root (another C library?)".to_owned()
            ));
        }
        Ok(Ok(self))
    }

    /// Install what a source package needs to be built; its last words where that fails.
    ///
    /// # Errors
    /// When apt cannot be started.
    pub(super) fn install_needs(&self, dsc: &str) -> Result<Result<(), (String, String)>, Error> {
        let _one = BUSY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.connect();
        let output = self.apt(&["--no-install-recommends", "build-dep", "--arch-only", dsc])?;
        Ok(installed(&output, "apt-get build-dep failed"))
    }

    /// Install packages; apt's last words where that fails.
    ///
    /// # Errors
    /// When apt cannot be started.
    pub(super) fn install(&self, packages: &str) -> Result<Result<(), (String, String)>, Error> {
        let _one = BUSY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.connect();
        let mut arguments = vec!["--no-install-recommends", "install"];
        arguments.extend(packages.split_whitespace());
        let output = self.apt(&arguments)?;
        Ok(installed(&output, "apt-get install failed"))
    }

    /// Install LLVM's compiler of Fortran where there is another one, as a package needs it: without flang no Fortran gives modules.
    /// A suite without flang builds the package all the same.
    ///
    /// # Errors
    /// When apt cannot be started.
    pub(super) fn install_flang(&self) -> Result<(), Error> {
        let programs = self.folder.join("usr/bin");
        let is_there = |name: &&str| fs::symlink_metadata(programs.join(name)).is_ok();
        let flangs = ["flang-new-19", "flang-19"];
        if is_there(&"gfortran") && !flangs.iter().any(is_there) {
            let _ = self.install("flang-19")?;
        }
        Ok(())
    }

    /// The folder, as the root's own programs name it, where a source package's upstream tarballs are unpacked, once a run.
    ///
    /// # Errors
    /// When a folder cannot be made. Inside: why a tarball cannot be unpacked.
    pub(super) fn unpacked(
        &self,
        source: &mine::DebianSource,
        name: &str,
    ) -> Result<Result<PathBuf, String>, Error> {
        let _one = BUSY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let inside = Path::new("/usr/src/stampmill").join(format!("{name}-{}", source.version));
        let outside = self.folder.join(inside.strip_prefix("/").unwrap_or(&inside));
        if outside.is_dir() {
            return Ok(Ok(inside));
        }
        let partial = outside.with_extension("partial");
        let upstream = source.files.iter().filter(|name| {
            name.contains(".orig") && name.contains(".tar.") && !name.ends_with(".asc")
        });
        for file in upstream {
            let folder = partial.join(mine::upstream_component(file));
            fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
            let mut tar = Command::new("tar");
            tar.arg("-xf").arg(source.folder.join(file)).arg("-C").arg(&folder);
            tar.args(["--strip-components=1", "--no-same-owner"]);
            if !tar.status().is_ok_and(|status| status.success()) {
                return Ok(Err(format!("cannot unpack {file}")));
            }
        }
        if !partial.is_dir() {
            return Ok(Err("it has no upstream tarball".to_owned()));
        }
        fs::rename(&partial, &outside).map_err(Error::file("move", &partial))?;
        Ok(Ok(inside))
    }

    /// `apt-get` with these arguments, inside. It changes owners and calls chroot itself: more than a
    /// sandbox of ours allows. What it installs is the archive's, checked against its signatures.
    fn apt(&self, arguments: &[&str]) -> Result<Output, Error> {
        let proxies = ["http_proxy", "https_proxy", "no_proxy"];
        Command::new("chroot")
            .arg(&self.folder)
            .args(["apt-get", "-y", "-q"])
            .args(arguments)
            .env_clear()
            .envs(proxies.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LC_ALL", "C")
            .output()
            .map_err(|error| Error::Start { program: "chroot".into(), reason: error.to_string() })
    }

    /// Let names be resolved inside.
    fn connect(&self) {
        // Where that fails, apt says what it cannot reach.
        let _ = fs::copy("/etc/resolv.conf", self.folder.join("etc/resolv.conf"));
    }

    fn unmount(&self) {
        let proc = self.folder.join("proc");
        if proc.join("self").exists() {
            let _ = Command::new("umount").arg("-l").arg(&proc).status();
        }
    }

    /// Give back what a run's root holds outside of its folder.
    pub(super) fn close(work: &Path) {
        for entry in fs::read_dir(work).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(ROOT) {
                Root { folder: entry.path() }.unmount();
            }
        }
    }
}

/// What came of installing: where it failed, why, and all that was said.
fn installed(output: &Output, otherwise: &str) -> Result<(), (String, String)> {
    if output.status.success() {
        return Ok(());
    }
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    Err((last_error(&said, otherwise), said))
}

/// What apt complains of at last.
fn last_error(said: &str, otherwise: &str) -> String {
    said.lines().rev().find(|line| line.starts_with("E:")).unwrap_or(otherwise).to_owned()
}
