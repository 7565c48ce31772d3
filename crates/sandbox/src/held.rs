use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

/// Which of the protections a machine's kernel really enforces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Processes, files, System V objects, network and users of its own.
    pub namespaces: bool,
    /// The version of Landlock's interface that is enforced (6 scopes signals, too); 0: none.
    pub landlock: u32,
    /// The list of allowed system calls.
    pub seccomp: bool,
}

impl Held {
    /// The protections that do not hold, by name.
    #[must_use]
    pub fn missing(self) -> Vec<&'static str> {
        let all = [
            (self.namespaces, "namespaces"),
            (self.landlock > 0, "Landlock"),
            (self.seccomp, "seccomp"),
        ];
        all.into_iter().filter(|(held, _)| !held).map(|(_, name)| name).collect()
    }

    /// What holds in both.
    #[must_use]
    pub fn and(self, other: Held) -> Held {
        Held {
            namespaces: self.namespaces && other.namespaces,
            landlock: self.landlock.min(other.landlock),
            seccomp: self.seccomp && other.seccomp,
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let landlock = format!("Landlock {}", self.landlock);
        let all = [
            (self.namespaces, "namespaces"),
            (self.landlock > 0, landlock.as_str()),
            (self.seccomp, "seccomp"),
        ];
        let held: Vec<&str> = all.iter().filter(|(held, _)| *held).map(|(_, name)| *name).collect();
        match held.is_empty() {
            true => f.write_str("none"),
            false => f.write_str(&held.join(", ")),
        }
    }
}

static WEAK: AtomicBool = AtomicBool::new(false);
static SEEN: Mutex<BTreeMap<String, Held>> = Mutex::new(BTreeMap::new());

/// Accept, from now on and in this process, a sandbox in which a protection is missing
/// (`--allow-weak-sandbox`). Without it what cannot be protected is not started.
pub fn allow_weak(accepted: bool) {
    WEAK.store(accepted, Ordering::Relaxed);
}

/// Whether that is so. What comes of foreign programs is kept apart then: a run that does not accept it is not to
/// trust their results.
#[must_use]
pub fn is_weak_allowed() -> bool {
    WEAK.load(Ordering::Relaxed)
}

/// What held so far for every profile under which this process started anything, by the profile's
/// name: the weakest of each.
#[must_use]
pub fn protections() -> BTreeMap<String, Held> {
    SEEN.lock().map(|seen| seen.clone()).unwrap_or_default()
}

pub(crate) fn remember(profile: &str, held: Held) {
    if let Ok(mut seen) = SEEN.lock() {
        seen.entry(profile.to_owned()).and_modify(|old| *old = old.and(held)).or_insert(held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_holds_and_what_is_missing() {
        let held = Held { namespaces: true, landlock: 7, seccomp: false };
        assert_eq!(held.to_string(), "namespaces, Landlock 7");
        assert_eq!(held.missing(), ["seccomp"]);
        let weaker = held.and(Held { namespaces: true, landlock: 2, seccomp: true });
        assert_eq!(weaker.to_string(), "namespaces, Landlock 2");
        assert_eq!(Held::default().to_string(), "none");
    }
}
