//! A language model among the proposers: BenchPress's way (PACT'22, section 3.3), for every kind of model.

use super::{Candidate, Proposer, State};
use crate::{Error, edit::Rng, program::Ancestors};
use lm::{Checkpoint, Choice, Drawing, HOLE, Kind, Prompt, Sampler, TrainingSet, condition};
use rand::Rng as _;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, OnceLock},
};

/// Its name among the proposers.
pub const NAME: &str = "model";

/// Candidates of one call: a sample costs as much as some hundred edits, and the budget is looked at
/// between generations.
const MOST: usize = 8;
/// Most tokens of a sample.
const LONGEST: usize = 512;
/// The largest part of a survivor that a hole takes (PACT'22, section 3.2).
const WIDEST: f64 = 0.9;

/// Draws kernels from nothing, and fills holes of random place and length in survivors. Clones share
/// their weights.
#[derive(Clone)]
pub struct Model {
    checkpoint: Arc<Checkpoint>,
    constrained: bool,
    identity: String,
    training: Option<Arc<TrainingSet>>,
    /// Why it could not draw, if it failed: the search continues without it, and its caller reports this.
    failure: Arc<OnceLock<lm::Error>>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl Model {
    /// The checkpoint in `folder`; `constrained` to write what compiles.
    ///
    /// # Errors
    /// When there is no such checkpoint.
    pub fn load(folder: &Path, constrained: bool) -> Result<Model, Error> {
        let checkpoint = Arc::new(Checkpoint::load(folder)?);
        let path = folder.join("model.safetensors");
        let (_, identity) = dataset::content_hash_of_file(&path)
            .map_err(|error| Error::Read { path, reason: error.to_string() })?;
        let training = TrainingSet::read(folder)?.map(Arc::new);
        Ok(Model { checkpoint, constrained, identity, training, failure: Arc::default() })
    }

    /// Whether it could draw whenever it was asked.
    ///
    /// # Errors
    /// [`Error::Draw`] where it could not.
    pub fn check(&self) -> Result<(), Error> {
        self.failure.get().map_or(Ok(()), |error| Err(Error::Draw(error.to_string())))
    }

    /// The checkpoint's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.checkpoint.folder()
    }

    /// What it was trained on, where that is known.
    #[must_use]
    pub fn training(&self) -> Option<&TrainingSet> {
        self.training.as_deref()
    }

    /// How unlikely a kernel is to it; `None` for one that is longer than it reads.
    pub(crate) fn bits(&self, text: &str) -> Result<Option<lm::Bits>, lm::Error> {
        self.checkpoint.bits(text)
    }

    /// Identity of its weights.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// What an infill model can be told of the target.
    fn conditions(&self, state: &State<'_>) -> BTreeMap<String, f64> {
        if self.checkpoint.kind() != Kind::Infill {
            return BTreeMap::new();
        }
        let constraints = state.target().constraints.iter().zip(state.dimensions());
        constraints
            .filter_map(|(constraint, dimension)| {
                let middle = constraint.map(|one| (one.least + one.most) / 2.0)?;
                Some((condition::feature(dimension)?.to_owned(), middle))
            })
            .collect()
    }

    /// What the model goes on from, and what that descends from.
    fn prompt(&self, state: &State<'_>, rng: &mut Rng) -> (Prompt, Ancestors) {
        let survivors = state.survivors();
        let parent = (!survivors.is_empty() && rng.random_bool(0.5))
            .then(|| &survivors[rng.random_range(0..survivors.len())]);
        let text = parent.and_then(|parent| holed(&parent.text, self.checkpoint.kind(), rng));
        let program = parent.filter(|_| text.is_some()).and_then(|parent| parent.program.as_ref());
        let ancestors = program.map(|program| program.ancestors.clone()).unwrap_or_default();
        let text = text.unwrap_or_else(|| lm::START.to_owned());
        (Prompt { features: self.conditions(state), ..Prompt::new(&text) }, ancestors)
    }
}

impl Proposer for Model {
    fn name(&self) -> &'static str {
        NAME
    }

    fn propose(&mut self, state: &State<'_>, count: usize, rng: &mut Rng) -> Vec<Candidate> {
        let count = count.min(MOST);
        let drawing = Drawing {
            choice: Choice { temperature: 0.9, top_p: 1.0 },
            seed: rng.random(),
            constrained: self.constrained,
            longest: if self.checkpoint.kind() == Kind::Lstm { 4 * LONGEST } else { LONGEST },
            slots: count,
            ..Drawing::default()
        };
        let sampler = Sampler::new(&self.checkpoint, drawing);
        let (mut found, mut descent) = (Vec::new(), Vec::new());
        for number in 0..count as u64 {
            let (prompt, ancestors) = self.prompt(state, rng);
            // A survivor that leaves no room, or that the model cannot spell, is no way on from there.
            let (prompt, ancestors) = match sampler.reads(&prompt) {
                true => (prompt, ancestors),
                false => (Prompt::new(lm::START), Ancestors::default()),
            };
            found.push((number, prompt));
            descent.push(ancestors);
        }
        let mut texts = Vec::new();
        let drawn = sampler.draw_each(found.into_iter(), &mut |sample| {
            if sample.ended {
                texts.push((sample.number, sample.text));
            }
            true
        });
        if let Err(error) = drawn {
            // The first is what matters.
            let _ = self.failure.set(error);
            return Vec::new();
        }
        texts.sort_unstable();
        let made = |(number, text): &(u64, String)| {
            let ancestors = &descent[*number as usize];
            // A text does not say what it descends from; its tree does.
            let known = (!ancestors.is_empty()).then(|| state.judge.read_one(text)).flatten();
            let program = known.map(|program| program.made_of(ancestors));
            Candidate { program, ..Candidate::of_text(text.clone()) }
        };
        state.judge.in_parallel(&texts, made)
    }
}

/// The program with a hole in its body; a model that reads forwards alone gets what stands before it.
fn holed(text: &str, kind: Kind, rng: &mut Rng) -> Option<String> {
    let lexemes: Vec<_> = lexer::tokens(text).collect();
    let body = lexemes.iter().position(|token| token.is("{"))? + 1;
    let last = lexemes.iter().rposition(|token| token.is("}"))?;
    let widest = ((lexemes.len() as f64 * WIDEST) as usize).min(last.checked_sub(body)?);
    let from = rng.random_range(body..=last);
    let to = (from + rng.random_range(0..=widest)).min(last);
    let begin = lexemes[from].begin;
    if kind == Kind::Lstm {
        return Some(format!("{}{HOLE}", &text[..begin]));
    }
    Some(format!("{} {HOLE} {}", &text[..begin], &text[lexemes[to].begin..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn holes_are_inside_of_the_body_of_any_length() {
        let text = "kernel void A(global int* a) { a[0] = 1; a[1] = 2; }";
        let (mut shortest, mut longest) = (usize::MAX, 0);
        for seed in 0..200 {
            let mut rng = Rng::seed_from_u64(seed);
            let holed = holed(text, Kind::Infill, &mut rng).expect("there is a body");
            let (before, after) = holed.split_once(HOLE).expect("there is a hole");
            assert!(before.starts_with("kernel void A(global int* a) {"), "{before}");
            assert!(after.trim_end().ends_with('}'), "{after}");
            let hidden = text.len() - before.trim().len() - after.trim().len();
            shortest = shortest.min(hidden);
            longest = longest.max(hidden);
        }
        assert!(shortest <= 1 && longest > 15, "{shortest} {longest}");
        let mut rng = Rng::seed_from_u64(1);
        assert!(holed(text, Kind::Lstm, &mut rng).expect("a body").ends_with(HOLE));
        assert!(holed("int a;", Kind::Hole, &mut rng).is_none());
    }
}
