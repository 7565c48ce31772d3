//! A throw-away Debian: what packages need to be built is installed there, never on the host.

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

/// The root of a small Debian, for one run.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) folder: PathBuf,
}

/// One root a run: packages of several threads install into it one at a time.
static BUSY: Mutex<()> = Mutex::new(());

impl Root {
    /// The run's root, made when it is first needed: from a tarball in the cache, which mmdebstrap
    /// makes of the machine's own archive.
    ///
    /// # Errors
    /// Inside: why there can be none.
    pub(super) fn ready(site: &Site<'_>, work: &Path) -> Result<Result<Root, String>, Error> {
        let _one = BUSY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let folder = work.join("root");
        let root = Root { folder };
        if root.folder.join("ready").is_file() {
            return Ok(Ok(root));
        }
        let roots = crate::cache_folder(site.options.cache.as_deref()).join("roots");
        fs::create_dir_all(&roots).map_err(Error::file("create", &roots))?;
        let (suite, archives) = mine::debian_archives();
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
        if output.status.success() {
            return Ok(Ok(()));
        }
        let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok(Err((last_error(&said, "apt-get build-dep failed"), said)))
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
        Root { folder: work.join("root") }.unmount();
    }
}

/// What apt complains of at last.
fn last_error(said: &str, otherwise: &str) -> String {
    said.lines().rev().find(|line| line.starts_with("E:")).unwrap_or(otherwise).to_owned()
}
