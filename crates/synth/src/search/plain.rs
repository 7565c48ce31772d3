//! A search with those edits alone that make what people write, before the one with all of them and once more behind it: a kernel
//! that took any edit to be found reads like it.

use super::{Found, Search, attempt::Run, readable::oddness, variety};
use crate::{
    Error,
    clock::Clock,
    edit,
    proposer::{Judged, by_name, nearest},
};
use features::Part;
use std::sync::{Arc, atomic::AtomicBool};

/// Who proposes, of those that do.
const PROPOSERS: [&str; 5] = [nearest::NAME, "construct", "guided", "combine", "crossover"];

/// Kernels of which acceptance is asked at most.
const ASKED: usize = 8;

/// The same where answers may have no races, which others have.
const ASKED_DEFINED: usize = 48;

/// A kernel that is less odd than this is left as it was found.
const ODD: f64 = 4.0;

impl Search<'_> {
    /// Whether there may be a search for plain kernels: none whose programs are run to be judged, which takes too long.
    pub(super) fn may_be_plain(&self) -> bool {
        let is_run = self.judge.space().parts().contains(&Part::Run);
        let plans = self.proposers.iter().any(|proposer| proposer.needs_calibration());
        self.settings.readable && plans && !is_run
    }

    /// Whether what was hit reads oddly.
    pub(super) fn is_odd(&self, run: &Run) -> bool {
        let mut hits = run.nearest_found.iter().filter(|one| one.distance == 0.0);
        hits.any(|one| one.proposer != nearest::NAME && oddness_of(one) >= ODD)
    }

    /// Hits that such a search finds are among those of `run`, the plainest first.
    ///
    /// # Errors
    /// When candidates cannot be judged at all.
    pub(super) fn search_plainly(
        &mut self,
        run: &mut Run,
        clock: Clock,
        found: &mut Found,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        let judge = self.judge;
        let is_there = |name: &&&str| self.proposers.iter().any(|one| one.name() == **name);
        let own = PROPOSERS.iter().filter(is_there).map(|name| by_name(name));
        let own = own.collect::<Result<_, _>>()?;
        let proposers = std::mem::replace(&mut self.proposers, own);
        let plain = self.effects.only(edit::is_plain);
        let effects = std::mem::replace(&mut self.effects, plain);
        self.sparing = true;
        self.most_asked = self.asked_of() + if self.is_defined { ASKED_DEFINED } else { ASKED };
        let mut plain = Run { clock: clock.clone(), ..self.begin(&run.aim.target.clone()) };
        let done = judge
            .halt()
            .watched(&clock, judge.counter(), stop, || self.search(&mut plain, found, stop));
        self.sparing = false;
        self.proposers = proposers;
        let learned = std::mem::replace(&mut self.effects, effects);
        self.effects.learned(learned);
        found.is_at_the_end = false;
        done?;
        // Hits that there was no time to ask about are asked about in the end.
        let is_answer = |one: &Arc<Judged>| one.distance == 0.0 && self.is_accepted(one);
        let (mut all, near): (Vec<_>, Vec<_>) =
            plain.nearest_found.into_iter().partition(is_answer);
        if self.is_defined || self.acceptance.is_none() {
            run.plain = near;
        }
        if self.is_defined {
            run.for_all.extend(plain.for_all);
            run.attempt.survivors.extend(plain.attempt.survivors);
        }
        variety::add(&mut all, &run.nearest_found);
        all.sort_by(|a, b| {
            a.distance.total_cmp(&b.distance).then(oddness_of(a).total_cmp(&oddness_of(b)))
        });
        run.nearest_found = all;
        Ok(())
    }
}

/// A kernel known by its text alone is not to be read better.
pub(super) fn oddness_of(judged: &Judged) -> f64 {
    judged.program.as_ref().map_or(0.0, |program| oddness(program, &judged.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Corpus, Judge, Settings, Target};

    #[test]
    fn what_is_made_from_nothing_reads_like_people_s_kernels() {
        let oddness_with = |space: &str, target: &str, readable: bool| {
            let space = features::space(space).expect("registered");
            let judge = Judge::new(space, 2).unwrap_or_else(|error| panic!("{error}"));
            let settings =
                Settings { budget: Budget::Candidates(8_000), readable, ..Settings::default() };
            let proposers = crate::default_proposers(false);
            let corpus = Corpus::default();
            let mut search =
                Search::new(&judge, &corpus, Settings { proposers, ..settings }).expect("known");
            let target = Target::parse(target, space).expect("well-formed");
            let found = search.find(&target, &AtomicBool::new(false)).expect("judged");
            assert!(found.is_exact(), "{target:?}");
            let text = &found.kernels[0].text;
            oddness(&judge.read_one(text).expect("a kernel"), text)
        };
        for (space, target) in [
            ("instcount", "Load=6,FMul=4,Store=2"),
            ("grewe", "comp=20,mem=4"),
            ("grewe", "comp=12,mem=5,coalesced=4,atomic=1"),
            ("autophase", "TotalBlocks=5"),
        ] {
            let plain = oddness_with(space, target, true);
            assert!(plain < oddness_with(space, target, false), "{target}");
            assert!(plain < 15.0, "{target}: {plain}");
        }
    }
}
