//! What becomes of a generation's candidates: what is learned of them, which survive, and which are answers.

use super::{OF_A_LINEAGE, Search, attempt::Run, plain::oddness_of, variety};
use crate::{
    Error,
    judge::Location,
    program::Program,
    proposer::{Candidate, Judged, nearest},
};
use rand::Rng as _;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, MutexGuard, PoisonError},
};

/// Hits beyond those that are kept, of which the plainest are; none where each has to be run first.
const PLAIN_MORE: usize = 3;

/// Hits that are kept in which all work-items write the same elements.
const FOR_ALL: usize = 8;

/// The nearest that are kept for each answer, where each has to be asked about in the end.
const ASKED_OF: usize = 16;

impl Search<'_> {
    /// Those that compile; teaches effects and rewards proposers.
    pub(super) fn take(
        &mut self,
        run: &mut Run,
        proposed: Vec<(usize, Candidate)>,
        locations: Vec<Location>,
    ) -> Vec<Arc<Judged>> {
        // The last survivors are there by chance: who is nearer than those is worth nothing yet.
        let middle = run.attempt.survivors.get(self.settings.survivors / 2);
        let middle = middle.map_or(f64::INFINITY, |middle| middle.fitness);
        let mut best = run.attempt.best;
        let mut fresh = Vec::new();
        for ((arm, candidate), location) in proposed.into_iter().zip(locations) {
            let vector = match location {
                Location::At(vector) => Some(vector),
                Location::Nowhere => None,
                Location::Unknown => continue,
            };
            if let (Some(edit), Some(parent)) = (candidate.edit, &candidate.parent) {
                self.effects.learn(edit, &parent.vector, vector.as_deref());
            }
            let hit = vector.as_ref().is_some_and(|vector| run.aim.distance(vector) == 0.0);
            if !hit {
                run.attempt.trust.doubt(&candidate.plan);
            }
            let edited = candidate.edit.zip(candidate.parent.clone());
            let Some(vector) = vector else {
                run.attempt.bandit.reward(arm, 0.0);
                if let Some((edit, parent)) = edited {
                    run.attempt.neighbours.add(&parent, edit, None);
                }
                continue;
            };
            let fitness = run.aim.fitness(&vector);
            let reward = if fitness < best {
                1.0
            } else if fitness < middle {
                0.1
            } else {
                0.0
            };
            best = best.min(fitness);
            run.attempt.bandit.reward(arm, reward);
            self.lineages += 1;
            let lineage = candidate.parent.map_or(self.lineages, |parent| match parent.lineage {
                // The empty kernel has no features to pass on.
                0 => self.lineages,
                lineage => lineage,
            });
            let judged = Arc::new(Judged {
                lineage,
                is_near: self.is_near(&candidate.text),
                text: candidate.text,
                distance: run.aim.distance(&vector),
                vector,
                fitness,
                program: candidate.program,
                proposer: self.proposers[arm].name(),
            });
            if let Some((edit, parent)) = edited {
                run.attempt.neighbours.add(&parent, edit, Some(&judged));
            }
            fresh.push(judged);
        }
        run.attempt.best = best;
        run.attempt.bandit.forget();
        fresh
    }

    /// The nearest of old and new, some replaced by chance.
    pub(super) fn survive(&mut self, run: &mut Run, fresh: Vec<Arc<Judged>>) {
        let count = self.settings.survivors;
        let mut pool = std::mem::take(&mut run.attempt.survivors);
        pool.extend(fresh.iter().cloned());
        if self.settings.kept > 1 {
            variety::drop_alike(&mut pool, &run.nearest_found);
        }
        // Of equally near programs the newer is kept: the search drifts instead of standing still.
        let age = |judged: &Arc<Judged>| !fresh.iter().any(|one| Arc::ptr_eq(one, judged));
        // Of plain ones that which reads better is.
        let odd = |judged: &Arc<Judged>| if self.sparing { oddness_of(judged) } else { 0.0 };
        let order = pool.into_iter().map(|judged| {
            let (odd, age) = (odd(&judged), age(&judged));
            (judged, odd, age)
        });
        let mut order: Vec<(Arc<Judged>, f64, bool)> = order.collect();
        order.sort_by(|a, b| {
            a.0.fitness
                .total_cmp(&b.0.fitness)
                .then(a.1.total_cmp(&b.1))
                .then(a.2.cmp(&b.2))
                .then(a.0.text.len().cmp(&b.0.text.len()))
        });
        let (mut kept, mut rest) = choose(order.into_iter().map(|(judged, ..)| judged), count);
        // The best stays, so that an answer is never lost.
        for one in kept.iter_mut().skip(1) {
            if !rest.is_empty() && run.rng.random_bool(self.settings.replacement) {
                let other = run.rng.random_range(0..rest.len());
                *one = rest.swap_remove(other);
            }
        }
        kept.sort_by(|a, b| a.fitness.total_cmp(&b.fitness));
        // What is edited next must be known as a tree.
        let blind: Vec<usize> =
            (0..kept.len()).filter(|index| kept[*index].program.is_none()).collect();
        let texts: Vec<&str> = blind.iter().map(|index| kept[*index].text.as_str()).collect();
        let trees = self.judge.read(&texts);
        for (index, tree) in blind.into_iter().zip(trees) {
            if tree.is_some() {
                let old = &kept[index];
                kept[index] = Arc::new(Judged { program: tree, ..Judged::clone(old) });
            }
        }
        // What survives guides the search; an answer is what is nearest by the metric asked for.
        let least = run.nearest_found.first().map_or(f64::INFINITY, |best| best.distance);
        let entered = |judged: &&Arc<Judged>| {
            judged.distance < least || kept.iter().any(|one| one.text == judged.text)
        };
        run.entered = fresh.iter().filter(entered).cloned().collect();
        let mut new: Vec<Arc<Judged>> = Vec::new();
        for judged in kept.iter().chain(&run.entered) {
            if run.nearest_found.iter().chain(&new).all(|known| known.text != judged.text) {
                new.push(judged.clone());
            }
        }
        new.retain(|judged| !judged.is_near && !self.is_mined_hit(judged));
        if self.settings.kept > 1 {
            variety::add(&mut run.nearest_found, &new);
        } else {
            run.nearest_found.extend(new);
        }
        run.nearest_found.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        let of_each = if self.acceptance.is_some() { ASKED_OF } else { 4 };
        run.nearest_found.truncate(of_each * self.settings.kept);
        run.attempt.survivors = kept;
    }

    /// Whether enough kernels are exact, and acceptable.
    pub(super) fn is_done(&self, run: &mut Run) -> Result<bool, Error> {
        // What is right but may not be an answer makes room for others.
        for some in [&mut run.nearest_found, &mut run.attempt.survivors] {
            if self.is_defined {
                some.sort_by_cached_key(|one| match one.distance == 0.0 {
                    true => doubts(one),
                    false => usize::MAX,
                });
            }
            let (mut index, mut accepted) = (0, 0);
            // To ask may take as long as a generation.
            while index < some.len() && (self.acceptance.is_none() || accepted < self.settings.kept)
            {
                if some[index].distance != 0.0 || self.is_mined_hit(&some[index]) {
                    index += 1;
                    continue;
                }
                let lineage = some[index].lineage;
                if is_hopeless(&run.rejected, lineage) {
                    some.remove(index);
                    continue;
                }
                // Of what is left the nearest are asked in the end.
                if run.clock.is_up() || self.sparing && self.asked_of() >= self.most_asked {
                    return Ok(true);
                }
                if let Some(apart) = self.apart(&some[index])? {
                    some[index] = apart;
                }
                if self.is_for_all(&some[index]) {
                    let one = some.remove(index);
                    *run.rejected.entry(lineage).or_default() += 1;
                    if run.for_all.len() < FOR_ALL
                        && run.for_all.iter().all(|known| known.text != one.text)
                    {
                        run.for_all.push(one);
                    }
                    continue;
                }
                let before = self.asked_of();
                if self.accepts(&some[index])? {
                    index += 1;
                    accepted += 1;
                } else {
                    some.remove(index);
                    *run.rejected.entry(lineage).or_default() += self.asked_of() - before;
                }
            }
        }
        // What is wrong with some of a lineage is wrong with most of it.
        run.attempt.survivors.retain(|one| !is_hopeless(&run.rejected, one.lineage));
        let more = self.sparing && self.acceptance.is_none();
        let exact = run.exact().saturating_sub(if more { PLAIN_MORE } else { 0 });
        let exhausted = self.is_only_mined() && run.entered.is_empty();
        Ok(exact >= self.settings.kept || exhausted)
    }

    /// Whether this is a mined kernel that comes to lie at the target once it is compiled as candidates are: answers are made.
    pub(super) fn is_mined_hit(&self, judged: &Judged) -> bool {
        judged.proposer == nearest::NAME && judged.distance == 0.0 && !self.is_only_mined()
    }

    /// Where answers may have no races: a kernel that was made, at the same point, whose work-items write their own elements, and
    /// no buffer that others read. `None` where it is that already, or lies elsewhere then.
    pub(super) fn apart(&self, judged: &Arc<Judged>) -> Result<Option<Arc<Judged>>, Error> {
        if !self.is_defined || judged.proposer == nearest::NAME {
            return Ok(None);
        }
        let Some(program) = &judged.program else { return Ok(None) };
        let apart = |one: Program| one.set_apart().unwrap_or(one);
        let written = [program.set_own().map(apart), program.set_apart()];
        for program in written.into_iter().flatten().filter_map(|one| self.fitting(one)) {
            let text = program.to_string();
            if self.judge.judge(&[&text])?.pop().flatten().as_ref() == Some(&judged.vector) {
                let is_near = self.is_near(&text);
                let one = Judged { text, program: Some(program), is_near, ..Judged::clone(judged) };
                return Ok(Some(Arc::new(one)));
            }
        }
        Ok(None)
    }

    /// Whether answers may have no races, and all work-items write the same elements in this kernel, if they come to it.
    pub(super) fn is_for_all(&self, judged: &Judged) -> bool {
        self.is_defined
            && match &judged.program {
                Some(program) => program.writes_for_all(),
                None => {
                    let program = self.judge.read_one(&judged.text);
                    program.as_ref().is_some_and(Program::writes_for_all)
                }
            }
    }

    /// Whether a kernel is a near-duplicate of a program that no answer may resemble.
    pub(super) fn is_near(&self, text: &str) -> bool {
        self.not_near.is_some_and(|known| known.holds(text))
    }

    pub(super) fn accepts(&self, judged: &Judged) -> Result<bool, Error> {
        if judged.is_near {
            return Ok(false);
        }
        let Some(accepts) = self.acceptance else { return Ok(true) };
        if let Some(known) = self.was_accepted(judged) {
            return Ok(known);
        }
        self.deadline.begin(&self.end);
        let rejected = accepts(&judged.text).map_err(Error::Acceptance)?;
        let is_accepted = rejected.is_none();
        self.asked().insert(dataset::content_hash(judged.text.as_bytes()), rejected);
        Ok(is_accepted)
    }

    /// Whether it is known that a kernel may be an answer.
    pub(super) fn is_accepted(&self, judged: &Judged) -> bool {
        self.acceptance.is_none() || self.was_accepted(judged) == Some(true)
    }

    /// What acceptance said of a kernel; `None` where it was not asked.
    pub(super) fn was_accepted(&self, judged: &Judged) -> Option<bool> {
        let key = dataset::content_hash(judged.text.as_bytes());
        self.asked().get(&key).map(Option::is_none)
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<String, Option<String>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Of how many kernels acceptance was asked for this target.
    pub(super) fn asked_of(&self) -> usize {
        self.asked().len()
    }

    /// How many of these it accepted.
    pub(super) fn accepted_of(&self) -> usize {
        self.asked().values().filter(|rejected| rejected.is_none()).count()
    }

    /// ` (18 were tried: 16 race, 2 timeout)`.
    pub(super) fn rejected(&self) -> String {
        let counts = self.rejections();
        match counts.is_empty() {
            true => String::new(),
            false => {
                let asked = self.asked_of();
                let were = if asked == 1 { "was" } else { "were" };
                format!(" ({asked} {were} tried: {})", counts.join(", "))
            }
        }
    }

    /// What was found instead of answers, the most often first: `16 race`, `2 timeout`.
    pub(super) fn rejections(&self) -> Vec<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for reason in self.asked().values().flatten() {
            *counts.entry(reason.clone()).or_default() += 1;
        }
        let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect()
    }
}

/// How much of a kernel may go wrong with other arguments than those that it is tried with.
pub(super) fn doubts(judged: &Judged) -> usize {
    judged.program.as_ref().map_or(0, Program::doubts)
}

/// Whether so many hits of a lineage were no answers that no more are asked about.
fn is_hopeless(rejected: &HashMap<u64, usize>, lineage: u64) -> bool {
    rejected.get(&lineage).is_some_and(|times| *times >= OF_A_LINEAGE)
}

/// Of programs, nearest first, those that survive, and the others: each point once or twice, a quarter of them of one lineage at
/// most.
fn choose(
    order: impl IntoIterator<Item = Arc<Judged>>,
    count: usize,
) -> (Vec<Arc<Judged>>, Vec<Arc<Judged>>) {
    let mut points: HashMap<Vec<u64>, usize> = HashMap::new();
    let (mut kept, mut rest) = (Vec::<Arc<Judged>>::new(), Vec::new());
    for judged in order {
        let point = judged.vector.iter().map(|value| value.to_bits()).collect();
        let times = points.entry(point).or_default();
        *times += 1;
        // What one lineage cannot reach another may.
        let family = kept.iter().filter(|one| one.lineage == judged.lineage).count();
        if *times <= 2 && family < count.div_ceil(4) && kept.len() < count {
            kept.push(judged);
        } else {
            rest.push(judged);
        }
    }
    (kept, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(at: f64, lineage: u64) -> Arc<Judged> {
        Arc::new(Judged {
            text: String::new(),
            vector: vec![at],
            distance: at,
            fitness: at,
            program: None,
            lineage,
            is_near: false,
            proposer: "construct",
        })
    }

    #[test]
    fn a_point_survives_twice_and_a_lineage_by_a_quarter() {
        let (kept, _) = choose((0..4).map(|lineage| judged(1.0, lineage)), 8);
        assert_eq!(kept.len(), 2);
        let (kept, _) = choose((0..4).map(|at| judged(f64::from(at), 1)), 8);
        assert_eq!(kept.len(), 2);
    }
}
