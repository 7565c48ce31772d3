//! The leak rule applied to mined texts: what is a copy of what is excluded, or of a family with one.

use crate::{Error, clock::Clock, corpus::Origin, exclusion::Exclusion, kept::Kept};
use dataset::Dataset;
use leak::Print;
use rayon::prelude::*;
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

/// What the manifest of a data set says where the rule was off.
pub(crate) const OFF: &str = "off: seeds and models may hold the targets themselves";

/// Whether what lies at `path` is a data set that was made with the rule off, or of one that was.
pub(crate) fn was_off(path: &Path) -> Result<bool, Error> {
    if !Dataset::is_at(path) {
        return Ok(false);
    }
    // Where it was on, the manifest says which one.
    Ok(Dataset::open(path)?.manifest().notes.configuration["leak_rule"].is_string())
}

/// What the leak rule needs to look at kernels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    /// Nothing; with workers.
    pub(crate) exclusion: Exclusion,
    /// The folder where prints are kept between runs.
    pub(crate) cache: Option<PathBuf>,
}

/// What the leak rule makes of a text: the worst of what is said of it and of its families.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    Free,
    /// There was no time to look at it.
    Unseen,
    Excluded,
}

impl Rule {
    /// What becomes of each text; those at `started`, and their families, are looked at first.
    pub(crate) fn fates(
        &self,
        origins: &[Origin],
        started: &HashSet<usize>,
        exclusion: &Exclusion,
        clock: &Clock,
    ) -> Result<Vec<Fate>, Error> {
        if exclusion.has_prints() {
            self.look_at(origins, started, clock)?;
        }
        let own = |origin: &Origin| {
            if exclusion.named(origin.names.iter().map(String::as_str)).is_some() {
                return Fate::Excluded;
            }
            if exclusion.is_incomplete() {
                return Fate::Unseen;
            }
            match origin.prints.get() {
                Some(prints) if exclusion.copied(prints).is_some() => Fate::Excluded,
                None if exclusion.has_prints() => Fate::Unseen,
                _ => Fate::Free,
            }
        };
        let own: Vec<Fate> = origins.par_iter().map(own).collect();
        let mut families: HashMap<&str, Fate> = HashMap::new();
        for (origin, own) in origins.iter().zip(&own) {
            for family in &origin.families {
                let worst = families.entry(family.as_str()).or_insert(*own);
                *worst = (*own).max(*worst);
            }
        }
        let fate = |(origin, own): (&Origin, &Fate)| {
            let of_families = origin.families.iter().map(|family| families[family.as_str()]);
            of_families.fold(*own, Fate::max)
        };
        Ok(origins.iter().zip(&own).map(fate).collect())
    }

    /// Have the prints of texts, of those at `started` and their families first, and of all where there is time; those that a
    /// run before this one made are read.
    fn look_at(
        &self,
        origins: &[Origin],
        started: &HashSet<usize>,
        clock: &Clock,
    ) -> Result<(), Error> {
        if origins.iter().all(|origin| origin.prints.get().is_some()) {
            return Ok(());
        }
        let versions = dataset::content_hash(self.exclusion.versions()?.as_bytes());
        let name = format!("{versions}-prints.bin");
        let mut kept: Kept<Vec<Print>> = Kept::open(self.cache.as_deref(), &name);
        let unknown = origins.iter().enumerate().filter(|(_, one)| one.prints.get().is_none());
        let unknown: Vec<(usize, &Origin, String)> = unknown
            .map(|(at, one)| (at, one, dataset::content_hash(one.text.as_bytes())))
            .collect();
        let of_started: HashSet<&String> =
            started.iter().flat_map(|at| &origins[*at].families).collect();
        let mut fresh: Vec<(bool, &str, &str, &Origin)> = Vec::new();
        for (at, origin, key) in &unknown {
            if kept.known.contains_key(key) {
                continue;
            }
            let is_later = !started.contains(at)
                && !origin.families.iter().any(|family| of_started.contains(family));
            // A family counts once all of it was looked at.
            let family = origin.families.first().map(String::as_str).unwrap_or_default();
            fresh.push((is_later, family, key.as_str(), *origin));
        }
        fresh.sort_by(|a, b| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)));
        let made = fresh
            .into_iter()
            .par_bridge()
            .filter(|_| !clock.is_up())
            .map(|(.., key, origin)| Ok((key.to_owned(), self.exclusion.prints(&origin.text)?)))
            .collect::<Result<Vec<_>, Error>>()?;
        kept.add(made);
        for (_, origin, key) in &unknown {
            if let Some(prints) = kept.known.get(key) {
                let _ = origin.prints.set(prints.clone());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::Allowance;

    const COPIED: &str =
        "kernel void A(global int* a, int b) { for (int c = 0; c < b; c++) a[c] ^= c << 3; }";
    const OTHERS: [&str; 2] = [
        "kernel void A(global float* a) { a[get_global_id(0)] = sqrt(a[get_global_id(0)]); }",
        "kernel void A(global uint* a, uint b) { if (a[b] > 7) a[b & 15] = a[b >> 2] * 5; }",
    ];

    fn origin(text: &str, family: &str) -> Origin {
        let families = [family.to_owned()].into();
        Origin { text: text.to_owned(), families, ..Origin::default() }
    }

    #[test]
    fn what_was_not_looked_at_is_no_seed_and_neither_is_its_family() {
        let rule = Rule::default();
        let mut exclusion = rule.exclusion.beside();
        exclusion.add_program(COPIED).expect("the clang worker is built with the workspace");
        let origins = [origin(COPIED, "a"), origin(OTHERS[0], "a"), origin(OTHERS[1], "b")];
        let started = HashSet::from([1]);
        let fates = |clock: &Clock| {
            rule.fates(&origins, &started, &exclusion, clock).expect("clang is there")
        };
        assert_eq!(fates(&Clock::overdue()), [Fate::Unseen; 3]);
        for origin in &origins[1..] {
            origin.prints.set(Vec::new()).expect("nobody looked at it");
        }
        assert_eq!(fates(&Clock::overdue()), [Fate::Unseen, Fate::Unseen, Fate::Free]);
        let all = fates(&Allowance::unlimited().clock);
        assert_eq!(all, [Fate::Excluded, Fate::Excluded, Fate::Free]);
    }
}
