//! What edits do to vectors, learned from every candidate that one edit alone was made in.

use crate::{
    edit::{Edit, Rng},
    ilp,
    metric::Aim,
    subset_sum::SubsetSums,
};
use rand::{Rng as _, seq::IndexedRandom};

/// Effects of one edit that are remembered.
const MEMORY: usize = 40;

/// Remembered effects that are looked at to say what an edit is worth.
const DRAWN: usize = 6;

/// How often an edit is to be made at least to be made several times at once.
const SEVERAL: f64 = 6.0;

/// A change of a vector: the dimensions that change, and by how much.
pub(crate) type Change = Vec<(u16, f32)>;

/// The change that leads from one vector to the other.
pub(crate) fn change(before: &[f64], after: &[f64]) -> Change {
    let both = before.iter().zip(after).enumerate().filter(|(_, (before, after))| before != after);
    both.map(|(index, (before, after))| {
        (u16::try_from(index).unwrap_or(u16::MAX), (after - before) as f32)
    })
    .collect()
}

/// What is known of an edit.
#[derive(Clone, Debug, Default)]
struct Known {
    changes: Vec<Change>,
    /// Where the next one is put.
    next: usize,
    tried: u32,
    failed: u32,
}

impl Known {
    /// How often it compiles, never quite 0.
    fn works(&self) -> f64 {
        (1.0 - f64::from(self.failed) / f64::from(self.tried + 1)).max(0.05)
    }
}

/// The effects of all edits in one space.
#[derive(Debug)]
pub(crate) struct Effects {
    pub(crate) edits: Vec<Edit>,
    known: Vec<Known>,
}

/// An edit to make next.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) edit: usize,
    /// How often.
    pub(crate) times: usize,
    /// The excess expected once it was made.
    pub(crate) after: Vec<f64>,
}

impl Effects {
    pub(crate) fn new(edits: Vec<Edit>) -> Effects {
        let known = vec![Known::default(); edits.len()];
        Effects { edits, known }
    }

    /// What is known of the edits that are kept.
    pub(crate) fn only(&self, is_kept: impl Fn(&Edit) -> bool) -> Effects {
        let all = self.edits.iter().zip(&self.known);
        let (edits, known) =
            all.filter(|(edit, _)| is_kept(edit)).map(|(e, k)| (*e, k.clone())).unzip();
        Effects { edits, known }
    }

    /// What was learned of some of the edits since [`Effects::only`].
    pub(crate) fn learned(&mut self, of: Effects) {
        for (edit, known) in of.edits.iter().zip(of.known) {
            let mut own = self.edits.iter().zip(&mut self.known);
            if let Some((_, own)) =
                own.find(|(own, _)| own.name == edit.name && own.zone == edit.zone)
            {
                *own = known;
            }
        }
    }

    /// An edit made alone led from one vector to the other; `None`: to nothing that compiles.
    pub(crate) fn learn(&mut self, edit: usize, before: &[f64], after: Option<&[f64]>) {
        let known = &mut self.known[edit];
        known.tried += 1;
        let Some(after) = after else {
            known.failed += 1;
            return;
        };
        let change = change(before, after);
        if known.changes.len() < MEMORY {
            known.changes.push(change);
        } else {
            known.changes[known.next] = change;
            known.next = (known.next + 1) % MEMORY;
        }
    }

    /// The change that an edit is sure to make: its memory is full, all in it is alike, but for one at most, and nearly all that
    /// it makes compiles. Beside it that one.
    pub(crate) fn certain(&self, edit: usize) -> Option<(&Change, Option<&Change>)> {
        let known = &self.known[edit];
        if known.changes.len() < MEMORY || 20 * known.failed > known.tried {
            return None;
        }
        // At most one of three is odd.
        let [first, second, third] = [0, 1, 2].map(|nth| &known.changes[nth]);
        let usual = if first == second || first == third { first } else { second };
        let mut others = known.changes.iter().filter(|change| *change != usual);
        let odd = others.next();
        others.next().is_none().then_some((usual, odd))
    }

    /// Edits that were never made, or seldom.
    pub(crate) fn unknown(&self) -> Vec<usize> {
        let all = self.known.iter().enumerate();
        all.filter(|(_, known)| known.tried < 3).map(|(edit, _)| edit).collect()
    }

    /// An edit that was seen to move some dimension the right way, whatever else it does.
    pub(crate) fn touching(&self, aim: &Aim, excess: &[f64], rng: &mut Rng) -> Option<usize> {
        let helps = |change: &Change| {
            change.iter().any(|(index, by)| {
                let index = usize::from(*index);
                aim.leads[index] && excess[index] * f64::from(*by) < 0.0
            })
        };
        let touch: Vec<usize> = (0..self.known.len())
            .filter(|edit| self.known[*edit].changes.iter().any(helps))
            .collect();
        touch.choose(rng).copied()
    }

    /// Of the edits that were seen to move a dimension the right way the one that moves the fewest others that lead, by its name,
    /// and those others.
    pub(crate) fn most_alone(
        &self,
        aim: &Aim,
        excess: &[f64],
        dimension: usize,
    ) -> Option<(&'static str, Vec<usize>)> {
        let mut found: Option<(&'static str, Vec<usize>)> = None;
        for (edit, known) in self.edits.iter().zip(&self.known) {
            for change in &known.changes {
                let own = change.iter().find(|(index, _)| usize::from(*index) == dimension);
                if own.is_none_or(|(_, by)| excess[dimension] * f64::from(*by) >= 0.0) {
                    continue;
                }
                let others = aim.leading(change).map(|(index, _)| index);
                let others: Vec<usize> = others.filter(|index| *index != dimension).collect();
                if found.as_ref().is_none_or(|(_, least)| others.len() < least.len()) {
                    found = Some((edit.name, others));
                }
            }
        }
        found
    }

    /// What is remembered, in a form that says which edits together do exactly what is wanted.
    pub(crate) fn subset_sums(&self, aim: &Aim, trust: &crate::subset_sum::Trust) -> SubsetSums {
        let mut sums = SubsetSums::default();
        for (edit, known) in self.known.iter().enumerate() {
            let share = known.works() / known.changes.len().max(1) as f64;
            for change in &known.changes {
                sums.add(edit, change, share, aim, trust);
            }
        }
        sums.seal();
        sums
    }

    /// Every edit with what it is expected to bring above what it costs, at these prices of the
    /// dimensions; those that bring nothing are left out.
    pub(crate) fn priced(&self, prices: &[f64]) -> Vec<(usize, f64)> {
        let all = self.known.iter().enumerate();
        all.filter_map(|(edit, known)| {
            let gains = known.changes.iter().map(|change| ilp::worth(change, prices) - 1.0);
            let gain = gains.map(|gain| gain.max(0.0)).sum::<f64>() * known.works();
            (gain > 1e-6).then(|| (edit, gain / known.changes.len().max(1) as f64))
        })
        .collect()
    }

    /// An edit that probably brings a program with this excess nearer to the aim.
    ///
    /// Of every edit some remembered effects are drawn and their gains averaged; now and then one
    /// alone counts, so that edits whose effect varies are tried as often as they help. The gains are compared by a softmax at `temperature`, in units of the
    /// greatest gain. An edit that would have to be made often is made so often at once. `None`
    /// where none promises any gain.
    pub(crate) fn best(
        &self,
        aim: &Aim,
        excess: &[f64],
        temperature: f64,
        rng: &mut Rng,
    ) -> Option<Step> {
        let cautious = rng.random_bool(0.7);
        // What many of an edit bring in the end, or what one brings now.
        let in_the_end = rng.random_bool(0.5);
        let mut gains: Vec<(usize, usize, f64)> = Vec::new();
        let mut greatest = 0.0_f64;
        for (edit, known) in self.known.iter().enumerate() {
            if known.changes.is_empty() {
                continue;
            }
            let gain = |change: &Change| -> f64 {
                let (along, length) = along(aim, excess, change);
                if in_the_end && along > SEVERAL * length {
                    return along * along / length;
                }
                aim.gain(excess, change)
            };
            let drawn = rng.random_range(0..known.changes.len());
            // What it does on average is what it is worth: one that is sure to do a little beats one
            // that may do much.
            let others = (0..DRAWN).map(|nth| (drawn + nth * 7) % known.changes.len());
            let mean = others.map(|other| gain(&known.changes[other])).sum::<f64>() / DRAWN as f64;
            let gain = if cautious { mean } else { gain(&known.changes[drawn]) };
            if gain > 0.0 {
                let gain = gain * known.works();
                greatest = greatest.max(gain);
                gains.push((edit, drawn, gain));
            }
        }
        let weight = |gain: f64| ((gain / greatest - 1.0) / temperature.max(0.01)).exp();
        let total: f64 = gains.iter().map(|(.., gain)| weight(*gain)).sum();
        let mut left = rng.random_range(0.0..1.0) * total;
        let (edit, drawn, _) = *gains.iter().find(|(.., gain)| {
            left -= weight(*gain);
            left <= 0.0
        })?;
        let change = &self.known[edit].changes[drawn];
        let times = often(aim, excess, change, rng);
        let mut after = excess.to_vec();
        aim.add(&mut after, change, times as f64);
        Some(Step { edit, times, after })
    }
}

/// How far a change leads towards the aim, and its squared length: their quotient says how many of it
/// lead nearest.
fn along(aim: &Aim, excess: &[f64], change: &Change) -> (f64, f64) {
    let (mut along, mut length) = (0.0, 0.0);
    for (index, by) in change {
        let index = usize::from(*index);
        along -= aim.fitness_weights[index] * excess[index] * f64::from(*by);
        length += aim.fitness_weights[index] * f64::from(*by).powi(2);
    }
    (along, length)
}

/// How often to make an edit at once: up to as often as brings the excess nearest to nothing.
fn often(aim: &Aim, excess: &[f64], change: &Change, rng: &mut Rng) -> usize {
    let (along, length) = along(aim, excess, change);
    let most = along / length;
    if most < SEVERAL { 1 } else { (most * rng.random_range(0.2..0.9)) as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edit_that_moves_least_beside_a_dimension_is_named() {
        let mut effects = Effects::new(crate::edit::all());
        effects.learn(3, &[0.0; 3], Some(&[1.0, 2.0, 0.0]));
        effects.learn(5, &[0.0; 3], Some(&[-1.0, 0.0, 0.0]));
        let aim = Aim::new(
            crate::Target::point("t", &[1.0; 3]),
            crate::Metric::Euclidean,
            &[1.0; 3],
            &[false; 3],
        );
        let names = [3, 5].map(|edit: usize| effects.edits[edit].name);
        let lacks = [-1.0, 0.0, -1.0];
        assert_eq!(effects.most_alone(&aim, &lacks, 0), Some((names[0], vec![1])));
        assert_eq!(effects.most_alone(&aim, &[1.0, 0.0, 0.0], 0), Some((names[1], Vec::new())));
        assert_eq!(effects.most_alone(&aim, &lacks, 2), None);
    }

    #[test]
    fn an_edit_is_certain_once_its_memory_is_full_and_all_but_one_of_it_is_alike() {
        let mut effects = Effects::new(crate::edit::all());
        let usual: Change = vec![(0, 2.0)];
        let mut learn = |edit: usize, after: Option<f64>, times: usize| {
            for _ in 0..times {
                effects.learn(edit, &[1.0], after.map(|after| vec![after]).as_deref());
            }
            effects.certain(edit).map(|(usual, odd)| (usual.clone(), odd.cloned()))
        };
        assert_eq!(learn(3, Some(3.0), MEMORY - 1), None);
        assert_eq!(learn(3, Some(3.0), 1), Some((usual.clone(), None)));
        // The first that is remembered is the first that is forgotten.
        assert_eq!(learn(3, Some(0.0), 1), Some((usual.clone(), Some(vec![(0, -1.0)]))));
        assert_eq!(learn(3, Some(0.0), 1), None);
        assert_eq!(learn(5, Some(3.0), MEMORY), Some((usual.clone(), None)));
        assert_eq!(learn(5, None, 2), Some((usual, None)));
        assert_eq!(learn(5, None, 1), None);
    }

    #[test]
    fn an_edit_is_worth_what_it_brings_above_its_cost() {
        let mut effects = Effects::new(crate::edit::all());
        effects.learn(3, &[0.0, 0.0], Some(&[1.0, 0.0]));
        effects.learn(5, &[0.0, 0.0], Some(&[0.0, 1.0]));
        let priced = effects.priced(&[3.0, 0.5]);
        assert_eq!(priced.len(), 1);
        assert!(priced[0].0 == 3 && (priced[0].1 - 2.0).abs() < 1e-9, "{priced:?}");
    }
}
