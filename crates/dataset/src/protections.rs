//! Which protections held while foreign programs ran: known to who starts them, told in `_dataset.json`.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::OnceLock,
};

static SOURCE: OnceLock<fn() -> BTreeMap<String, String>> = OnceLock::new();

/// Have `ask` say, when a data set is finished, which protections held in this process, by profile; the
/// first caller's stays. Without one, data sets say nothing of it.
pub fn protections_from(ask: fn() -> BTreeMap<String, String>) {
    SOURCE.get_or_init(|| ask);
}

pub(crate) fn protections() -> BTreeMap<String, String> {
    SOURCE.get().map(|ask| ask()).unwrap_or_default()
}

/// Take from `held` what does not hold in `other`, too; profiles that one of them lacks stay as the other has them.
pub(crate) fn weaken(held: &mut BTreeMap<String, String>, other: &BTreeMap<String, String>) {
    for (profile, protections) in other {
        match held.entry(profile.clone()) {
            Entry::Vacant(entry) => drop(entry.insert(protections.clone())),
            Entry::Occupied(mut entry) => {
                let weaker = in_both(entry.get(), protections);
                entry.insert(weaker);
            }
        }
    }
}

/// Lists like `namespaces, Landlock 7, seccomp`: what is in both, in the lower version; `none` for nothing.
fn in_both(one: &str, other: &str) -> String {
    let named = |text: &str| -> Vec<(String, Option<u32>)> {
        let words = text.split(", ").map(|word| match word.rsplit_once(' ') {
            Some((name, version)) if version.parse::<u32>().is_ok() => {
                (name.to_owned(), version.parse().ok())
            }
            _ => (word.to_owned(), None),
        });
        words.collect()
    };
    let others = named(other);
    let both = named(one).into_iter().filter_map(|(name, version)| {
        let (_, of_other) = others.iter().find(|(other, _)| *other == name)?;
        Some(match version.min(*of_other) {
            Some(version) => format!("{name} {version}"),
            None => name,
        })
    });
    let both: Vec<String> = both.collect();
    if both.is_empty() { "none".to_owned() } else { both.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_of_each_profile_stays() {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, held)| ((*name).to_owned(), (*held).to_owned())).collect()
        };
        let strong = map(&[("native", "namespaces, Landlock 7, seccomp"), ("clang", "seccomp")]);
        let weak = map(&[("native", "Landlock 4, seccomp"), ("device", "none")]);
        let both =
            map(&[("native", "Landlock 4, seccomp"), ("clang", "seccomp"), ("device", "none")]);
        for (mut held, other) in [(strong.clone(), &weak), (weak.clone(), &strong)] {
            weaken(&mut held, other);
            assert_eq!(held, both);
        }
        assert_eq!(in_both("namespaces", "seccomp"), "none");
        assert_eq!(in_both("none", "namespaces, Landlock 7"), "none");
    }
}
