//! A second search for what was hit, with those edits alone that make what people write: a kernel that took any edit to be found
//! reads like it.

use super::{Found, Search, attempt::Run, readable::oddness, variety};
use crate::{
    Error, edit,
    proposer::{Judged, by_name, nearest},
};
use features::Part;
use std::sync::atomic::AtomicBool;

/// Who proposes.
const PROPOSERS: [&str; 4] = ["construct", "guided", "combine", "crossover"];

/// Kernels of which acceptance is asked at most.
const ASKED: usize = 6;

/// A kernel that is less odd than this is left as it was found.
const ODD: f64 = 4.0;

impl Search<'_> {
    /// Kernels at the target that read more plainly than those that were found stand before them. Takes about as long as the
    /// hits took, where the budget has that left.
    ///
    /// # Errors
    /// When candidates cannot be judged at all.
    pub(super) fn search_plainly(
        &mut self,
        run: &mut Run,
        found: &mut Found,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        let is_run = self.judge.space().parts().contains(&Part::Run);
        let odd = run.nearest_found.iter().filter(|one| one.distance == 0.0 && self.is_odd(one));
        if !self.settings.readable || is_run || self.is_only_mined() || odd.count() == 0 {
            return Ok(());
        }
        let (judge, clock) = (self.judge, run.clock.for_as_long_again(found.candidates));
        let effects = self.effects.only(edit::is_plain);
        let effects = std::mem::replace(&mut self.effects, effects);
        let own = PROPOSERS.iter().map(|name| by_name(name)).collect::<Result<_, _>>()?;
        let proposers = std::mem::replace(&mut self.proposers, own);
        self.sparing = true;
        self.most_asked = self.asked_of() + ASKED;
        let mut plain = self.begin(&run.aim.target.clone());
        plain.clock = clock.clone();
        let done = judge
            .halt()
            .watched(&clock, judge.counter(), stop, || self.search(&mut plain, found, stop));
        self.sparing = false;
        self.effects = effects;
        self.proposers = proposers;
        done?;
        plain.nearest_found.retain(|one| one.distance == 0.0);
        let mut all = plain.nearest_found;
        variety::add(&mut all, &run.nearest_found);
        all.sort_by(|a, b| {
            a.distance.total_cmp(&b.distance).then(oddness_of(a).total_cmp(&oddness_of(b)))
        });
        run.nearest_found = all;
        Ok(())
    }

    fn is_odd(&self, judged: &Judged) -> bool {
        judged.proposer != nearest::NAME && oddness_of(judged) >= ODD
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
            ("autophase", "TotalBlocks=5"),
        ] {
            let plain = oddness_with(space, target, true);
            assert!(plain < oddness_with(space, target, false), "{target}");
            assert!(plain < 15.0, "{target}: {plain}");
        }
    }
}
