//! Landlock: which files may be read and written, no signals and sockets across its border.

use crate::{
    Calls, Profile,
    isolate::{LINKS, NODES, SETTINGS, SYSTEM},
};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope,
};
use std::path::Path;

/// The newest version whose rights are named here.
const NEWEST: ABI = ABI::V6;

/// Restrict this process to the files of `profile`, with the system's own where `with_system`; the
/// version of Landlock that is in force, 0 where there is none.
pub(crate) fn restrict(profile: &Profile, with_system: bool) -> Result<u32, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if !profile.network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut rules = rules.create()?;
    let read = AccessFs::from_read(NEWEST);
    let all = AccessFs::from_all(NEWEST);
    let node = read | AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::Truncate;
    if with_system {
        for path in SYSTEM.iter().chain(&LINKS) {
            rules = allow(rules, Path::new(path), read)?;
        }
        for path in SETTINGS.iter().filter(|_| profile.settings) {
            rules = allow(rules, Path::new(path), read)?;
        }
        for path in NODES {
            rules = allow(rules, Path::new(path), node)?;
        }
        if profile.proc {
            rules = allow(rules, Path::new("/proc"), read)?;
            rules = allow(rules, Path::new("/dev"), AccessFs::ReadDir.into())?;
        }
        if profile.root.is_some() {
            rules = allow(rules, Path::new("/"), read)?;
        }
        if profile.scratch > 0 {
            rules = allow(rules, Path::new("/tmp"), all)?;
            rules = allow(rules, Path::new("/dev/shm"), all)?;
        }
    }
    for path in &profile.readable {
        rules = allow(rules, path, read)?;
    }
    for path in &profile.devices {
        rules = allow(rules, path, node)?;
    }
    if profile.calls != Calls::Compute {
        for path in &profile.writable {
            rules = allow(rules, path, all)?;
        }
    }
    let status = rules.restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => 0,
        (_, LandlockStatus::Available { effective_abi, .. }) => effective_abi as u32,
        (_, _) => 0,
    })
}

/// Paths that do not exist need no rule.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(file) = PathFd::new(path) else { return Ok(rules) };
    // Rights that only folders have are no rights of a file.
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    rules.add_rule(PathBeneath::new(file, access))
}
