//! Edits that were tried one by one on a program near the target, made together.
//!
//! What an edit does depends on where it is made; what it did *there* is known once it was tried. So a
//! survivor is taken and many single edits of it are judged. Their changes nearly add up when they are
//! made at different places: those whose changes cancel what is too much and too little are looked up
//! (two lists of pairs that meet in the middle, up to four edits) or found by integer programming (up to
//! twelve: `turn.rs`), the programs that they made are merged, and so are those that at least come nearer. For large targets
//! these may be sums of many (`pursue.rs`).

mod pursue;
mod turn;

use self::{pursue::pursued, turn::Turn};
use super::{Candidate, Judged, LARGE, Proposer, Standing, State};
use crate::{
    edit::Rng,
    effects::{Change, change},
    ilp::{self, Column},
    neighbours::Neighbourhood,
    program::Program,
    subset_sum,
};
use rand::{
    Rng as _, SeedableRng,
    seq::{IndexedRandom, SliceRandom},
};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// The squared distance below which half of the candidates are edits tried one by one and combined.
const NEAR: f64 = 400.0;
/// The most that it is for a large target, where an eighth of the instructions that are asked for is near.
const NEAR_LARGE: f64 = 2500.0;
/// Relatives whose edits are taken as if they were the program's own; of a large program, most of which they leave as it is, more,
/// up to so many edits.
const RELATIVES: usize = 2;
const RELATIVES_LARGE: usize = 8;
const KNOWN_LARGE: usize = 800;
/// Edits of one program, and as many combinations, tried before another program has its turn.
const TRIED: usize = 400;
/// Kinds of changes that are combined at most.
const KINDS: usize = 400;
/// Plans of one length that are looked at.
const PLANS: usize = 64;
/// Sums that are kept on the way to one that comes nearer, and edits in it at most.
const BEAM: usize = 200;
const DEPTH: usize = 4;
/// The squared distance up to which sums are found by integer programming.
const LAST: f64 = 64.0;
/// Edits of the program that must be known for that.
const FEW: usize = 24;
/// Programs tried for one change of a plan.
const WAYS: usize = 6;

/// Explores what is near the nearest survivor, and combines what it finds there.
#[derive(Debug, Default)]
pub(super) struct Combine {
    turn: Option<Turn>,
    /// Programs whose turn is over, by address; their memory is kept alive with them.
    over: Vec<Arc<Judged>>,
    /// Hashes of the combinations that were tried.
    tried: HashSet<String>,
}

/// A change, and the edit that makes it where that is decided.
#[derive(Clone, Copy, Debug)]
struct Way {
    kind: usize,
    nth: Option<usize>,
    unfit: Unfit,
}

/// What becomes of a plan where no edit that is known to make a change fits.
#[derive(Clone, Copy, Debug)]
enum Unfit {
    /// It is dropped.
    Dropped,
    /// Such an edit is made anew.
    Made,
    /// It is left out, and the other edits of the plan are made.
    Skipped,
}

impl Way {
    /// Any edits that make these changes.
    fn any(plan: Vec<usize>) -> Vec<Way> {
        Way::all(plan, Unfit::Dropped)
    }

    fn all(plan: Vec<usize>, unfit: Unfit) -> Vec<Way> {
        plan.into_iter().map(|kind| Way { kind, nth: None, unfit }).collect()
    }
}

/// A change that some edit makes, and those that make it.
struct Kind<'a> {
    hash: u64,
    change: Change,
    made: Vec<Made<'a>>,
}

/// An edit that was made: in which program, what came of it, and which it was.
#[derive(Clone, Copy, Debug)]
struct Made<'a> {
    base: &'a Arc<Judged>,
    child: &'a Arc<Judged>,
    edit: usize,
}

impl Kind<'_> {
    fn column(&self, cost: f64) -> Column<'_> {
        Column { change: &self.change, cost }
    }
}

impl Proposer for Combine {
    fn name(&self) -> &'static str {
        "combine"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, rng: &mut Rng) -> Vec<Candidate> {
        let Some(mut turn) = self.choose(state, rng) else { return Vec::new() };
        let focus = turn.focus.clone();
        let kinds = kinds(state, &focus, rng);
        let pairs = Pairs::of(&kinds);
        let wanted = subset_sum::wanted(&state.aim.excess(&focus.vector), state.aim);
        let known = state.neighbours.of(&focus);
        let are_many = kinds.iter().map(|kind| kind.made.len()).sum::<usize>() >= FEW;
        // Of a large program relatives' edits are as good as its own.
        let is_large = state.is_large() && are_many;
        let is_known = is_large || known.is_some_and(|known| known.children.len() >= FEW);
        let exact = exact(wanted, &kinds, &pairs, rng);
        let mut plans: Vec<Vec<Way>> = exact.into_iter().map(Way::any).collect();
        if is_known && focus.fitness <= LAST && plans.len() < 8 * count {
            plans.extend(turn.programmed(state, &kinds, rng));
        }
        if is_large && plans.is_empty() {
            let changes: Vec<(&Change, usize)> =
                kinds.iter().map(|kind| (&kind.change, kind.made.len())).collect();
            let sums = pursued(state.aim, &state.aim.excess(&focus.vector), &changes, rng);
            plans.extend(sums.into_iter().map(|sum| Way::all(sum, Unfit::Skipped)));
        }
        plans.extend(nearer(state, &focus, &kinds, rng).into_iter().map(Way::any));
        plans.truncate(8 * count);
        let seeds: Vec<(u64, Vec<Way>)> =
            plans.into_iter().map(|plan| (rng.random(), plan)).collect();
        let most = count * 2 / 3;
        let mut candidates: Vec<Candidate> = Vec::new();
        // To merge takes long: no more of them than it takes.
        for some in seeds.chunks(count.max(1)) {
            if candidates.len() >= most {
                break;
            }
            let merged = state.judge.in_parallel(some, |(seed, plan)| {
                let rng = &mut Rng::seed_from_u64(*seed);
                if state.is_halted() { None } else { merged(state, &focus, &kinds, plan, rng) }
            });
            for program in merged.into_iter().flatten() {
                let candidate = Candidate::of_program(program, Some(focus.clone()));
                let key = dataset::content_hash(candidate.text.as_bytes());
                if candidates.len() < most && self.tried.insert(key) {
                    candidates.push(candidate);
                }
            }
        }
        turn.combined += candidates.len();
        let limit = TRIED.min(2 * known.map_or(TRIED, Neighbourhood::room));
        if known.is_some_and(|known| known.tried >= limit) {
            if turn.combined >= limit || candidates.len() < count / 6 {
                self.over.push(focus);
            } else {
                self.turn = Some(turn);
            }
            return candidates;
        }
        self.turn = Some(turn);
        let rest = count - candidates.len();
        let promising = promising(state, wanted, &kinds, &pairs);
        let priced = priced(state, &focus, &kinds);
        candidates
            .extend(state.each(rest, rng, |rng| single(state, &focus, [&promising, &priced], rng)));
        candidates
    }

    /// Most of its candidates are no success of their own, but what successes are made of.
    fn share(&self, standing: &Standing, count: usize) -> usize {
        if standing.best < near(standing.size) { count / 2 } else { 0 }
    }

    fn restart(&mut self) {
        *self = Combine::default();
    }
}

impl Combine {
    /// The program whose turn it is: the nearest, once its turn is over another survivor.
    fn choose(&mut self, state: &State<'_>, rng: &mut Rng) -> Option<Turn> {
        let is_over = |judged: &Arc<Judged>| self.over.iter().any(|one| Arc::ptr_eq(one, judged));
        let mut turn = self.turn.take();
        let least = turn.as_ref().map_or(f64::INFINITY, |turn| turn.focus.fitness);
        let nearer = state
            .survivors
            .iter()
            .filter(|judged| judged.program.is_some() && !is_over(judged))
            .find(|judged| judged.fitness < least);
        if let Some(nearer) = nearer
            && (turn.is_some() || rng.random_bool(0.5))
        {
            turn = Some(Turn::of(nearer));
        }
        turn.or_else(|| {
            let mut others = (0..16).filter_map(|_| state.parent(rng));
            let other = others.find(|judged| {
                judged.program.is_some() && !is_over(judged) && judged.proposer != "empty"
            });
            other.or(nearer).map(Turn::of)
        })
    }
}

/// The squared distance below which half of the candidates are its own.
fn near(size: f64) -> f64 {
    if size < LARGE { NEAR } else { (size / 8.0).powi(2).clamp(NEAR, NEAR_LARGE) }
}

/// Edits that would make sums of what is known come nearer, and how much they bring.
fn priced(state: &State<'_>, focus: &Judged, kinds: &[Kind<'_>]) -> Vec<(usize, f64)> {
    if focus.fitness > LAST {
        return Vec::new();
    }
    let columns: Vec<Column<'_>> = kinds.iter().map(|kind| kind.column(1.0)).collect();
    let prices = ilp::prices(&state.aim.excess(&focus.vector), state.aim, &columns);
    state.effects.priced(&prices)
}

/// The program with all changes of a plan; `None` where one cannot be made.
fn merged(
    state: &State<'_>,
    focus: &Judged,
    kinds: &[Kind<'_>],
    plan: &[Way],
    rng: &mut Rng,
) -> Option<Program> {
    let mut program = focus.program.clone()?;
    let mut taken: Vec<*const Judged> = Vec::new();
    for way in plan {
        let made = &kinds[way.kind].made;
        let begin = way.nth.unwrap_or_else(|| rng.random_range(0..made.len()));
        let count = if way.nth.is_some() { 1 } else { made.len().min(WAYS) };
        let some = made.iter().cycle().skip(begin).take(count);
        let mut some = some.filter(|made| !taken.contains(&Arc::as_ptr(made.child)));
        let next = some.find_map(|Made { base, child, .. }| {
            let (base, made) = (base.program.as_ref()?, child.program.as_ref()?);
            Some((Program::merge(base, &program, made)?, Arc::as_ptr(child)))
        });
        if let Some((next, child)) = next {
            program = next;
            taken.push(child);
            continue;
        }
        match way.unfit {
            Unfit::Dropped => return None,
            Unfit::Made => {
                // Of the same thing as another: such an edit elsewhere may do the same.
                let edit = made.choose(rng)?.edit;
                state.effects.edits[edit].apply(&mut program, rng)?;
            }
            Unfit::Skipped => {}
        }
    }
    Some(program)
}

/// One edit of the program, mostly one that promises something.
fn single(
    state: &State<'_>,
    focus: &Arc<Judged>,
    [promising, priced]: [&[(usize, f64)]; 2],
    rng: &mut Rng,
) -> Option<Candidate> {
    let drawn = |some: &[(usize, f64)], rng: &mut Rng| {
        some.choose_weighted(rng, |(_, weight)| *weight).ok().map(|(edit, _)| *edit)
    };
    let excess = state.aim.excess(&focus.vector);
    for _ in 0..8 {
        let mut program = state.copy(focus, rng)?;
        let edit = match rng.random_range(0..10) {
            0..3 if !promising.is_empty() => drawn(promising, rng),
            0..6 if !priced.is_empty() => drawn(priced, rng),
            0..7 => state.effects.touching(state.aim, &excess, rng),
            _ => None,
        };
        let edit = edit.unwrap_or_else(|| rng.random_range(0..state.effects.edits.len()));
        if state.effects.edits[edit].apply(&mut program, rng).is_some() {
            let candidate = Candidate::of_program(program, Some(focus.clone()));
            return Some(Candidate { edit: Some(edit), ..candidate });
        }
    }
    None
}

/// Changes that are known of the program, or of its relatives, each once.
fn kinds<'a>(state: &State<'a>, focus: &Arc<Judged>, rng: &mut Rng) -> Vec<Kind<'a>> {
    let mut indices: HashMap<u64, usize> = HashMap::new();
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    let own = state.neighbours.of(focus);
    let relatives = state.neighbours.of_lineage(focus.lineage);
    let relatives = relatives.into_iter().filter(|one| !Arc::ptr_eq(&one.base, focus));
    let is_large = state.is_large();
    let most = if is_large { RELATIVES_LARGE } else { RELATIVES };
    let mut known = 0;
    for neighbourhood in own.into_iter().chain(relatives.take(most)) {
        if is_large && known >= KNOWN_LARGE {
            break;
        }
        known += neighbourhood.children.len();
        let base = &neighbourhood.base;
        for (child, edit) in &neighbourhood.children {
            let change = change(&base.vector, &child.vector);
            let hash = subset_sum::hash(&change, state.aim);
            if hash == 0 {
                continue;
            }
            let index = *indices.entry(hash).or_insert_with(|| {
                kinds.push(Kind { hash, change, made: Vec::new() });
                kinds.len() - 1
            });
            kinds[index].made.push(Made { base, child, edit: *edit });
        }
    }
    kinds.truncate(KINDS);
    kinds.shuffle(rng);
    kinds
}

/// Sums of two changes, by hash.
struct Pairs(Vec<(u64, usize, usize)>);

impl Pairs {
    fn of(kinds: &[Kind<'_>]) -> Pairs {
        let mut all = Vec::with_capacity(kinds.len() * (kinds.len() + 1) / 2);
        for (one, first) in kinds.iter().enumerate() {
            for (two, second) in kinds.iter().enumerate().skip(one) {
                if one != two || first.made.len() > 1 {
                    all.push((first.hash.wrapping_add(second.hash), one, two));
                }
            }
        }
        all.sort_unstable();
        Pairs(all)
    }

    /// The pairs of this sum.
    fn with(&self, hash: u64) -> impl Iterator<Item = (usize, usize)> {
        let begin = self.0.partition_point(|pair| pair.0 < hash);
        let some = self.0[begin..].iter().take_while(move |pair| pair.0 == hash);
        some.map(|pair| (pair.1, pair.2))
    }
}

/// Up to four changes whose sum is what is wanted, fewer first.
fn exact(wanted: u64, kinds: &[Kind<'_>], pairs: &Pairs, rng: &mut Rng) -> Vec<Vec<usize>> {
    if wanted == 0 {
        return Vec::new();
    }
    let singles = kinds.iter().enumerate().filter(|(_, kind)| kind.hash == wanted);
    let mut by_length: [Vec<Vec<usize>>; 4] = Default::default();
    by_length[0] = singles.map(|(index, _)| vec![index]).collect();
    by_length[1] = pairs.with(wanted).map(|(one, two)| vec![one, two]).collect();
    for (three, third) in kinds.iter().enumerate() {
        for (one, two) in pairs.with(wanted.wrapping_sub(third.hash)) {
            if two <= three {
                by_length[2].push(vec![one, two, three]);
            }
        }
    }
    if by_length[2].len() < PLANS {
        let begin = rng.random_range(0..=pairs.0.len());
        let (behind, front) = pairs.0.split_at(begin);
        for (hash, three, four) in front.iter().chain(behind) {
            for (one, two) in pairs.with(wanted.wrapping_sub(*hash)) {
                if two <= *three {
                    by_length[3].push(vec![one, two, *three, *four]);
                }
            }
            if by_length[3].len() >= 4 * PLANS {
                break;
            }
        }
    }
    for plans in &mut by_length {
        plans.shuffle(rng);
        plans.truncate(PLANS);
    }
    by_length.into_iter().flatten().collect()
}

/// Edits that were seen elsewhere to make a change that would, with up to two that are known here, do
/// exactly what is wanted; with how likely they do.
fn promising(
    state: &State<'_>,
    wanted: u64,
    kinds: &[Kind<'_>],
    pairs: &Pairs,
) -> Vec<(usize, f64)> {
    let single: HashSet<u64> = kinds.iter().map(|kind| kind.hash).collect();
    let mut found = Vec::new();
    for (edit, hash, weight) in state.subset_sums.each() {
        let rest = wanted.wrapping_sub(hash);
        if single.contains(&hash) {
            continue;
        }
        if rest == 0 {
            found.push((edit, 4.0 * weight));
        } else if single.contains(&rest) {
            found.push((edit, 2.0 * weight));
        } else if pairs.with(rest).next().is_some() {
            found.push((edit, weight));
        }
    }
    found
}

/// Changes whose sum comes nearer to what is wanted, the nearest first.
fn nearer(
    state: &State<'_>,
    focus: &Arc<Judged>,
    kinds: &[Kind<'_>],
    rng: &mut Rng,
) -> Vec<Vec<usize>> {
    struct Sum {
        fitness: f64,
        excess: Vec<f64>,
        plan: Vec<usize>,
        hash: u64,
    }
    let some: Vec<usize> = (0..kinds.len()).filter(|_| rng.random_bool(0.85)).collect();
    let start = state.aim.excess(&focus.vector);
    let first = Sum { fitness: focus.fitness, excess: start, plan: Vec::new(), hash: 0 };
    let mut beam = vec![first];
    let mut found: Vec<(f64, Vec<usize>)> = Vec::new();
    for _ in 0..DEPTH {
        let mut next: Vec<(f64, usize, usize, u64)> = Vec::new();
        for (index, sum) in beam.iter().enumerate() {
            for kind in &some {
                let known = &kinds[*kind];
                let times = sum.plan.iter().filter(|one| *one == kind).count();
                if times < known.made.len() {
                    let fitness = sum.fitness - state.aim.gain(&sum.excess, &known.change);
                    next.push((fitness, index, *kind, sum.hash.wrapping_add(known.hash)));
                }
            }
        }
        let most = (4 * BEAM).min(next.len());
        if most < next.len() {
            next.select_nth_unstable_by(most, |a, b| a.0.total_cmp(&b.0));
            next.truncate(most);
        }
        next.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut seen = HashSet::new();
        next.retain(|(.., hash)| seen.len() < BEAM && seen.insert(*hash));
        let sums = next.into_iter().map(|(fitness, index, kind, hash)| {
            let mut sum = Sum {
                fitness,
                excess: beam[index].excess.clone(),
                plan: beam[index].plan.clone(),
                hash,
            };
            state.aim.add(&mut sum.excess, &kinds[kind].change, 1.0);
            sum.plan.push(kind);
            sum
        });
        beam = sums.collect();
        let better = beam.iter().filter(|sum| sum.fitness < focus.fitness && sum.plan.len() > 1);
        found.extend(better.take(BEAM / 8).map(|sum| (sum.fitness, sum.plan.clone())));
    }
    // Each change that is added may do something else beside others, or get in their way.
    let worth = |(fitness, plan): &(f64, Vec<usize>)| fitness + plan.len() as f64;
    found.sort_by(|a, b| worth(a).total_cmp(&worth(b)));
    found.into_iter().map(|(_, plan)| plan).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_targets_are_near_from_farther_away() {
        let share = |best: f64, size: f64| {
            Combine::default().share(&Standing { generation: 9, best, size }, 48)
        };
        assert_eq!((share(399.0, 0.0), share(401.0, 99.0)), (24, 0));
        assert_eq!((share(401.0, 100.0), share(624.0, 200.0), share(626.0, 200.0)), (0, 24, 0));
        assert_eq!((share(2499.0, 1e4), share(2501.0, 1e4)), (24, 0));
    }
}
