//! The end of a search: which of all kernels that were found are answers, and how these are written.

use super::{
    Found, OF_A_LINEAGE, Search,
    attempt::{EMPTY, Run},
    natural::Likelihood,
    readable::Readable,
    select::doubts,
    variety,
};
use crate::{
    Error, SteeredRow,
    clock::Clock,
    program::{Program, as_mined, renumbered, without_unused},
    proposer::{Judged, LARGEST, nearest},
    report,
};
use features::Part;
use rows::SteeredVerdict;
use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// The share of a budget of time in which only mined kernels are asked about, where there are some: those that were made
/// would take all of it.
const MINED_ALONE: f64 = 0.1;

/// Bytes of a kernel that is judged once more without its unused parameters whatever the time.
const LONG: usize = 8 << 10;

/// The nearest mined kernels that are asked about where all that was made has races, say; and of how many of those before.
const MINED: usize = 6;
const MADE_FIRST: usize = 2;

/// Kernels that were found and are no answers, for other reasons than that acceptance says so.
#[derive(Debug, Default)]
struct PassedOver {
    /// Near-duplicates of answers.
    alike: usize,
    /// There was no time to ask about them.
    waiting: usize,
    /// Of more bits a token than was asked for.
    unlikely: usize,
    /// As far from the target as nothing, or farther.
    far: usize,
}

impl Search<'_> {
    pub(super) fn finish(
        &self,
        run: &mut Run,
        found: &mut Found,
        stop: &AtomicBool,
    ) -> Result<Vec<Arc<Judged>>, Error> {
        let mut best: Vec<(Arc<Judged>, Option<Likelihood>)> = Vec::new();
        let mut passed = PassedOver::default();
        let all = self.in_order(run).into_iter();
        let empty = run.aim.distance(&self.empty);
        let is_near = |judged: &Arc<Judged>| {
            // Mined kernels are asked for wherever they lie where nothing else is.
            judged.distance == 0.0
                || self.is_only_mined()
                || judged.distance < empty && run.aim.target.proximity(&judged.vector) > 0.0
        };
        let (near, far): (Vec<_>, Vec<_>) =
            all.filter(|judged| judged.proposer != EMPTY).partition(is_near);
        passed.far = far.len();
        let mut waiting = VecDeque::from(near);
        while best.len() < self.settings.kept {
            let known = texts(best.iter().map(|(judged, _)| judged));
            let wanted = self.settings.kept - best.len();
            let mut answers = self.answers(run, &mut waiting, wanted, &known, &mut passed)?;
            if answers.is_empty() {
                break;
            }
            while let Some(judged) = answers.pop_front() {
                let others = texts(best.iter().map(|(judged, _)| judged).chain(&answers));
                let others: Vec<&str> = others.iter().map(String::as_str).collect();
                run.clock = run.end.for_the_next(1.0 / (answers.len() + 1) as f64);
                let (judged, likelihood) = self.written_anew(run, &judged, &others, found, stop)?;
                match self.natural.as_ref().is_none_or(|natural| natural.is_natural(likelihood)) {
                    true => best.push((judged, likelihood)),
                    false => passed.unlikely += 1,
                }
            }
        }
        best.sort_by(|(a, _), (b, _)| a.distance.total_cmp(&b.distance));
        found.is_cut = found.is_cut || stop.load(Ordering::Relaxed);
        found.known = self.repeated();
        let texts = self.laid_out(best.iter().map(|(judged, _)| judged), run, stop);
        let seconds = run.end.seconds();
        for (index, ((judged, likelihood), text)) in best.iter().zip(texts).enumerate() {
            let rank = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let mut row = self.row(run, rank, seconds, found);
            row.text = text;
            row.name = lexer::kernel_names(&row.text).first().map_or("A", |name| *name).to_owned();
            row.verdict = dataset::Verdict::ACCEPTED.to_owned();
            row.exact = judged.distance == 0.0;
            row.distance = judged.distance;
            row.proximity = run.aim.target.proximity(&judged.vector);
            row.proposer = judged.proposer.to_owned();
            row.descends_from = match &judged.program {
                Some(program) => program.ancestors.to_vec(),
                // A seed as it is that is known by its text alone, or made by a model of nothing.
                None => self.corpus.descent_of(&judged.text).to_vec(),
            };
            let mut said = match row.exact || self.is_only_mined() {
                true => Vec::new(),
                false => self.unmended(&run.aim, &judged.vector),
            };
            if judged.proposer != nearest::NAME && self.is_for_all(judged) {
                said.push(
                    "all work-items write the same elements, if they come to it: none where each writes its own was found"
                        .to_owned(),
                );
            }
            if found.is_at_the_end {
                let size = LARGEST >> 10;
                said.push(format!(
                    "nothing nearer was looked for: its kernel is as large as kernels are made, {size} KiB"
                ));
            }
            if index + 1 == best.len() && best.len() < self.settings.kept {
                let exact = best.iter().filter(|(judged, _)| judged.distance == 0.0).count();
                said.push(self.fewer(best.len(), exact, &passed));
            }
            row.detail = said.join("; ");
            row.vector = judged.vector.clone();
            row.bits_before = likelihood.map(|one| one.before.bits.bits);
            row.bits = likelihood.map(|one| one.after.bits.bits);
            row.bits_per_token = likelihood.map(|one| one.after.bits.per_token());
            row.human_before = likelihood.and_then(|one| one.before.human);
            row.human = likelihood.and_then(|one| one.after.human);
            found.kernels.push(row);
        }
        if found.kernels.is_empty() {
            let mut row = self.row(run, 1, seconds, found);
            row.verdict = SteeredVerdict::NothingFound.to_string();
            row.detail = match passed.unlikely {
                0 => self.nothing(found.candidates),
                unlikely => format!(
                    "{unlikely} kernels were found, and none has as few bits a token as --most-bits asks for: give it more time \
                     (--budget), or more bits"
                ),
            };
            found.kernels.push(row);
        }
        Ok(best.into_iter().map(|(judged, _)| judged).collect())
    }

    /// So many of those that wait, at most, that are answers and no near-duplicates of each other or of `known`. The first is
    /// asked about whatever the time, as later ones are that were asked about before.
    fn answers(
        &self,
        run: &Run,
        waiting: &mut VecDeque<Arc<Judged>>,
        wanted: usize,
        known: &[String],
        passed: &mut PassedOver,
    ) -> Result<VecDeque<Arc<Judged>>, Error> {
        let mut answers: VecDeque<Arc<Judged>> = VecDeque::new();
        let is_mined = |judged: &Judged| judged.proposer == nearest::NAME;
        let made = match waiting.iter().any(|judged| is_mined(judged)) {
            true => run.asking.but_the_last(MINED_ALONE),
            false => run.asking.clone(),
        };
        let mut is_first = known.is_empty();
        while answers.len() < wanted
            && let Some(mut judged) = waiting.pop_front()
        {
            let end = if is_mined(&judged) { &run.asking } else { &made };
            let is_late = !is_first && self.acceptance.is_some() && end.is_up();
            is_first = false;
            if is_late && !self.is_accepted(&judged) {
                passed.waiting += usize::from(self.was_accepted(&judged).is_none());
                continue;
            }
            if !is_late && let Some(apart) = self.apart(&judged)? {
                judged = apart;
            }
            let others = answers.iter().map(|judged| judged.text.as_str());
            let others: Vec<&str> = known.iter().map(String::as_str).chain(others).collect();
            if variety::is_like_any(&judged.text, &others) {
                passed.alike += 1;
            } else if self.accepts(&judged)? {
                answers.push_back(judged);
            }
        }
        Ok(answers)
    }

    /// `1 of 3 kernels asked for (of others 16 race, 2 timeout): ...`, and what may help.
    /// Where some are beside the target it begins in brackets with `1 at the target, 1 near it`.
    fn fewer(&self, found: usize, exact: usize, passed: &PassedOver) -> String {
        let mut why = self.rejections();
        let others = [
            (passed.alike, "near-duplicates of these"),
            (passed.waiting, "not tried before the time was up"),
            (passed.unlikely, "of more bits a token than --most-bits"),
            (passed.far, "no nearer than the empty kernel"),
        ];
        let others = others.into_iter().filter(|(count, _)| *count > 0);
        why.extend(others.map(|(count, what)| format!("{count} {what}")));
        let of_others = match why.is_empty() {
            true => "all else is a near-duplicate of these".to_owned(),
            false => format!("of others {}", why.join(", ")),
        };
        let of_others = match found - exact {
            0 => of_others,
            near => format!("{exact} at the target, {near} near it, {of_others}"),
        };
        let wanted = self.settings.kept;
        format!(
            "{found} of {wanted}{} ({of_others}): more time (--budget) or another --seed may find others",
            report::ASKED_FOR
        )
    }

    /// The nearest kernels. Where they are asked about one by one, survivors too, and first a few of each lineage: what is wrong
    /// with one kernel often is with those made of it.
    fn in_order(&self, run: &Run) -> Vec<Arc<Judged>> {
        let mut all = run.nearest_found.clone();
        if self.acceptance.is_none() {
            // Where there was no time for more, what the plain search came near with is the nearest.
            let is_new = |one: &&Arc<Judged>| all.iter().all(|known| known.text != one.text);
            let plain: Vec<Arc<Judged>> = run.plain.iter().filter(is_new).cloned().collect();
            all.extend(plain);
            all.sort_by(|a, b| a.distance.total_cmp(&b.distance));
            return all;
        }
        let may_be = |one: &&Arc<Judged>| !one.is_near && !self.is_mined_hit(one);
        for survivor in run.attempt.survivors.iter().filter(may_be) {
            if all.iter().all(|one| one.text != survivor.text) {
                all.push(survivor.clone());
            }
        }
        all.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let mut ranked: Vec<(usize, Arc<Judged>)> = all
            .into_iter()
            .map(|judged| {
                let times = seen.entry(judged.lineage).or_default();
                *times += 1;
                // A hit is an answer before all that is farther.
                (if judged.distance == 0.0 { 0 } else { 1 + *times / OF_A_LINEAGE }, judged)
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        let hits = ranked.iter().take_while(|(rank, _)| *rank == 0).count();
        let (mut plain_hits, plain): (Vec<_>, Vec<_>) =
            run.plain.iter().cloned().partition(|judged| judged.distance == 0.0);
        let (mut ordered, mut plain) = (Vec::new(), plain.into_iter());
        let mut mined = self.nearest_mined(run).into_iter();
        for (at, (_, judged)) in ranked.into_iter().enumerate() {
            // Of plain kernels, and of those that people wrote, more are answers than of others.
            if at >= hits {
                ordered.append(&mut plain_hits);
                ordered.extend(plain.next());
            }
            ordered.push(judged);
            if at >= hits + MADE_FIRST {
                ordered.extend(mined.next());
            }
        }
        ordered.append(&mut plain_hits);
        ordered.extend(plain);
        ordered.extend(mined);
        if self.is_defined {
            ordered.extend(run.for_all.iter().cloned());
            // Of hits those that were accepted come first, and last those in which all write the same.
            ordered.sort_by_cached_key(|one| match one.distance == 0.0 {
                false => (2, 0),
                true if self.is_for_all(one) => (1, doubts(one)),
                true if self.was_accepted(one) == Some(true) => (0, 0),
                true => (0, 1 + doubts(one)),
            });
        }
        ordered
    }

    /// The nearest mined kernels that are not at the target, which may be answers where nothing that is made is one.
    fn nearest_mined(&self, run: &Run) -> Vec<Arc<Judged>> {
        if !self.is_defined {
            return Vec::new();
        }
        let seeds = run.ranked.iter().filter(|at| self.corpus.is_mined(**at));
        let seeds = seeds.map(|at| &self.corpus.seeds[*at]).map(|seed| {
            Arc::new(Judged {
                text: seed.text.clone(),
                vector: seed.vector.clone(),
                distance: run.aim.distance(&seed.vector),
                fitness: run.aim.fitness(&seed.vector),
                program: seed.read(self.judge).cloned(),
                lineage: 0,
                is_near: self.is_near(&seed.text),
                proposer: nearest::NAME,
            })
        });
        seeds.filter(|one| one.distance > 0.0).take(MINED).collect()
    }

    /// Why there is no kernel, and what may help.
    fn nothing(&self, candidates: u64) -> String {
        if self.proposers.is_empty() {
            return "no proposer that is named has anything to say of it".to_owned();
        }
        let seeds = if self.corpus.is_empty() { " or seeds (--seeds)" } else { "" };
        let is = match self.acceptance {
            None => "is nearer than the empty kernel".to_owned(),
            Some(_) => format!("is accepted and nearer than the empty kernel{}", self.rejected()),
        };
        format!("none of {candidates} candidates {is}: give it more time (--budget){seeds}")
    }

    /// A kernel that was found, more readable and then likelier to a model, as far as either is asked for.
    fn written_anew(
        &self,
        run: &mut Run,
        judged: &Arc<Judged>,
        others: &[&str],
        found: &mut Found,
        stop: &AtomicBool,
    ) -> Result<(Arc<Judged>, Option<Likelihood>), Error> {
        let mut written = judged.clone();
        // What was mined is as people wrote it, and what is run to be judged takes too long.
        let is_mined = judged.proposer == nearest::NAME;
        let is_run = self.judge.space().parts().contains(&Part::Run);
        if self.settings.readable && !is_mined && !is_run {
            let readable = match self.corpus.is_empty() {
                true => Readable::short(),
                false => Readable::than(&judged.text),
            };
            // The model of `--natural` has the other half of the time.
            let end = run.clock.clone();
            run.clock = end.for_the_next(if self.natural.is_some() { 0.5 } else { 1.0 });
            let readable = self.rewrite(&readable, run, judged, others, found, stop)?;
            written = readable.map_or(written, |readable| readable.judged);
            run.clock = end;
            if !run.clock.is_up()
                && let Some(folded) = self.folded(&written, others)?
            {
                written = folded;
            }
        }
        let Some(natural) = &self.natural else { return Ok((written, None)) };
        let Some(before) = natural.said(&judged.text)? else { return Ok((written, None)) };
        Ok(match self.rewrite(natural, run, &written, others, found, stop)? {
            Some(likely) => (likely.judged, Some(Likelihood { before, after: likely.of })),
            None => {
                let after = natural.said(&written.text)?;
                (written, after.map(|after| Likelihood { before, after }))
            }
        })
    }

    /// A kernel with the numbers of each place added up, where that leaves it at its point, and an answer.
    fn folded(&self, judged: &Arc<Judged>, others: &[&str]) -> Result<Option<Arc<Judged>>, Error> {
        let program = judged.program.as_ref().and_then(Program::folded);
        let Some(program) = program else { return Ok(None) };
        let text = program.to_string();
        let vector = self.judge.judge(&[&text])?.pop().flatten();
        if vector.as_ref() != Some(&judged.vector) || variety::is_like_any(&text, others) {
            return Ok(None);
        }
        let is_near = self.is_near(&text);
        let one = Judged { text, program: Some(program), is_near, ..Judged::clone(judged) };
        Ok(self.accepts(&one)?.then(|| Arc::new(one)))
    }

    /// What is written of each kernel. To lay out a long one may take half a minute: that ends with the budget, or a little later.
    fn laid_out<'j>(
        &self,
        all: impl Iterator<Item = &'j Arc<Judged>>,
        run: &Run,
        stop: &AtomicBool,
    ) -> Vec<String> {
        let (clock, begun) = (run.end.with_the_last(), AtomicU64::new(0));
        self.judge.halt().watched(&clock, &begun, stop, || {
            begun.store(1, Ordering::Relaxed);
            all.map(|judged| self.normal(judged, &run.end)).collect()
        })
    }

    /// The text laid out and without parameters that it does not use, where that leaves it at its point; one that takes
    /// seconds to lay out and to judge again keeps them where the time is up.
    fn normal(&self, judged: &Judged, clock: &Clock) -> String {
        let is_there = |text: &String| {
            let again =
                self.judge.judge(std::slice::from_ref(text)).ok().and_then(|mut all| all.pop());
            again.flatten().as_ref() == Some(&judged.vector)
        };
        let is_anew = self.settings.readable || self.natural.is_some();
        let named: fn(&str) -> String = if is_anew { as_mined } else { renumbered };
        let laid_out = |text: &str| Some(self.judge.layout(&named(text))).filter(is_there);
        let is_late = judged.text.len() > LONG && clock.is_up();
        let may_change = self.settings.arguments.is_none() && !is_late;
        let unused = may_change.then(|| without_unused(&judged.text));
        unused
            .and_then(|text| laid_out(&text))
            .or_else(|| laid_out(&judged.text))
            .unwrap_or_else(|| judged.text.clone())
    }

    fn row(&self, run: &Run, rank: u32, seconds: f64, found: &Found) -> SteeredRow {
        let target = run.aim.target.name.clone();
        SteeredRow {
            path: format!("{target}#{rank}"),
            target,
            space: self.judge.space().name().to_owned(),
            rank,
            mined_exact: run.mined_exact,
            mined_proximity: run.mined_proximity,
            seeds: u32::try_from(self.corpus.len()).unwrap_or(u32::MAX),
            candidates: found.candidates,
            known: found.known,
            skipped: found.predicted.skipped,
            checked: found.predicted.checked,
            mispredicted: found.predicted.wrong,
            seconds,
            ..SteeredRow::default()
        }
    }
}

/// Their texts.
fn texts<'a>(all: impl Iterator<Item = &'a Arc<Judged>>) -> Vec<String> {
    all.map(|judged| judged.text.clone()).collect()
}
