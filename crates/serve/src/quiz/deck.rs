//! What is asked: kernels of both sides, and which of them a player sees.

use crate::Error;
use dataset::{Code, Dataset, Programs, Row};
use rand::{
    SeedableRng,
    seq::{SliceRandom, index},
};
use rand_chacha::ChaCha8Rng;
use rows::{KernelRow, SampleRow, SteeredRow};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    str::FromStr,
};

/// A longer text is no question: nobody reads it.
const LONGEST: usize = 16 << 10;

/// Who wrote the kernels of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// People.
    Human,
    /// A program.
    Machine,
}

impl Kind {
    /// Both sides.
    pub const ALL: [Kind; 2] = [Kind::Human, Kind::Machine];

    /// Its word in answers.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::Human => "human",
            Kind::Machine => "machine",
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(word: &str) -> Result<Kind, String> {
        let known = Kind::ALL.into_iter().find(|kind| kind.word() == word);
        known.ok_or_else(|| format!("`{word}` is neither `human` nor `machine`"))
    }
}

/// A kernel that may be asked about.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) id: String,
    pub(super) text: String,
}

/// A data set of kernels of one side.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    kind: Kind,
    identity: String,
    kernels: Vec<Kernel>,
}

impl Source {
    /// Read the accepted kernels of a data set of `prepare`, `sample` or `steer`, each text once.
    ///
    /// # Errors
    /// When it is none of these, cannot be read, or holds none.
    pub fn open(kind: Kind, path: &Path) -> Result<Source, Error> {
        let dataset = match Dataset::open(path) {
            Err(dataset::Error::NotADataset(_)) if Programs::open(path).is_ok() => {
                return Err(Error::Unprepared(path.to_owned()));
            }
            opened => opened?,
        };
        let (schema, identity) =
            (dataset.manifest().schema.clone(), dataset.manifest().identity.clone());
        if ![KernelRow::SCHEMA, SampleRow::SCHEMA, SteeredRow::SCHEMA].contains(&schema.as_str()) {
            return Err(Error::NoKernels { path: path.to_owned(), schema });
        }
        let mut kernels = BTreeMap::new();
        for program in Programs::Dataset(Box::new(dataset)).iter()? {
            let program = program?;
            if let Code::Text(text) = program.code
                && text.len() <= LONGEST
            {
                kernels.insert(dataset::content_hash(text.as_bytes()), text);
            }
        }
        let kernels: Vec<Kernel> =
            kernels.into_iter().map(|(id, text)| Kernel { id, text }).collect();
        match kernels.is_empty() {
            true => Err(Error::Empty(path.to_owned())),
            false => Ok(Source { path: path.to_owned(), kind, identity, kernels }),
        }
    }

    /// As it was named.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Who wrote its kernels.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The data set's identity.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Kernels that may be asked about.
    #[must_use]
    pub fn kernels(&self) -> usize {
        self.kernels.len()
    }
}

/// All that may be asked.
#[derive(Debug)]
pub(super) struct Deck {
    pub(super) sources: Vec<Source>,
    questions: usize,
    seed: u64,
}

impl Deck {
    /// Of sources of both sides. A text that both sides have has no right answer and is left out; one that two sources of a
    /// side have is the first one's.
    pub(super) fn new(
        mut sources: Vec<Source>,
        questions: usize,
        seed: u64,
    ) -> Result<Deck, Error> {
        for kind in Kind::ALL {
            if !sources.iter().any(|source| source.kind == kind) {
                return Err(Error::OneSided(kind.word()));
            }
        }
        let ids = |kind: Kind| -> BTreeSet<String> {
            let own = sources.iter().filter(|source| source.kind == kind);
            own.flat_map(|source| source.kernels.iter().map(|kernel| kernel.id.clone())).collect()
        };
        let mut seen: BTreeSet<String> =
            ids(Kind::Human).intersection(&ids(Kind::Machine)).cloned().collect();
        for source in &mut sources {
            source.kernels.retain(|kernel| seen.insert(kernel.id.clone()));
            if source.kernels.is_empty() {
                return Err(Error::Empty(source.path.clone()));
            }
        }
        let deck = Deck { sources, questions, seed };
        let of = |kind| -> usize { deck.side(kind).map(|(_, source)| source.kernels.len()).sum() };
        let counts = Kind::ALL.map(|kind| (of(kind), kind));
        if let Some((kernels, kind)) = counts.into_iter().min_by_key(|(kernels, _)| *kernels)
            && kernels < questions / 2
        {
            return Err(Error::TooFew { kind: kind.word(), kernels, questions });
        }
        Ok(deck)
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    fn side(&self, kind: Kind) -> impl Iterator<Item = (usize, &Source)> {
        self.sources.iter().enumerate().filter(move |(_, source)| source.kind == kind)
    }

    /// What a player is asked, as places of source and kernel: half of either side, in each side evenly of its sources as
    /// long as these have kernels, no kernel twice.
    pub(super) fn drawn(&self, player: u64) -> Vec<(usize, usize)> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(player);
        let most = self.questions / 2;
        let mut all = Vec::new();
        for kind in Kind::ALL {
            let mut piles: Vec<Vec<(usize, usize)>> = self
                .side(kind)
                .map(|(place, source)| {
                    let count = source.kernels.len();
                    let drawn = index::sample(&mut random, count, most.min(count));
                    drawn.into_iter().map(|kernel| (place, kernel)).collect()
                })
                .collect();
            // Which source gives one more where they cannot give as many.
            piles.shuffle(&mut random);
            let rounds = (0..most).flat_map(|round| {
                piles.iter().filter_map(move |pile: &Vec<(usize, usize)>| pile.get(round))
            });
            all.extend(rounds.take(most).copied());
        }
        all.shuffle(&mut random);
        all
    }

    pub(super) fn kernel(&self, (source, kernel): (usize, usize)) -> (&Source, &Kernel) {
        let source = &self.sources[source];
        (source, &source.kernels[kernel])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(kind: Kind, name: &str, texts: impl IntoIterator<Item = String>) -> Source {
        let kernel = |text: String| Kernel { id: dataset::content_hash(text.as_bytes()), text };
        let kernels = texts.into_iter().map(kernel).collect();
        Source { path: name.into(), kind, identity: name.into(), kernels }
    }

    fn texts(name: &str, count: usize) -> Vec<String> {
        (0..count).map(|number| format!("{name} {number}")).collect()
    }

    fn deck(seed: u64) -> Deck {
        let sources = vec![
            source(Kind::Human, "mined", texts("mined", 40)),
            source(Kind::Machine, "few", texts("few", 2)),
            source(Kind::Machine, "samples", texts("samples", 40)),
            source(Kind::Machine, "steered", texts("steered", 40)),
        ];
        Deck::new(sources, 20, seed).expect("enough")
    }

    #[test]
    fn half_is_of_either_side_and_sources_give_evenly() {
        let deck = deck(3);
        for player in 0..50 {
            let drawn = deck.drawn(player);
            let of = |place| drawn.iter().filter(|(source, _)| *source == place).count();
            assert_eq!((drawn.len(), of(0), of(1), of(2)), (20, 10, 2, 4), "{drawn:?}");
            assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 20, "none comes twice");
        }
    }

    #[test]
    fn seed_and_player_say_what_is_drawn() {
        assert_eq!(deck(3).drawn(7), deck(3).drawn(7));
        assert_ne!(deck(3).drawn(7), deck(3).drawn(8));
        assert_ne!(deck(3).drawn(7), deck(4).drawn(7));
    }

    #[test]
    fn a_text_of_both_sides_is_not_asked() {
        let both = || "both".to_owned();
        let sources = vec![
            source(Kind::Human, "mined", [both(), "a".into()]),
            source(Kind::Machine, "samples", [both(), "b".into(), "c".into()]),
            source(Kind::Machine, "steered", ["c".to_owned(), "d".into()]),
        ];
        let deck = Deck::new(sources, 2, 0).expect("enough");
        let left: Vec<Vec<&str>> = deck
            .sources
            .iter()
            .map(|source| source.kernels.iter().map(|kernel| kernel.text.as_str()).collect())
            .collect();
        assert_eq!(left, [vec!["a"], vec!["b", "c"], vec!["d"]]);
    }

    #[test]
    fn what_is_missing_is_said() {
        let said = |sources, questions| {
            Deck::new(sources, questions, 0).expect_err("it is refused").to_string()
        };
        let human = || source(Kind::Human, "mined", texts("a", 3));
        assert!(said(vec![human()], 2).contains("add --quiz machine=DATASET"));
        let machine = || source(Kind::Machine, "samples", texts("b", 9));
        assert!(said(vec![human(), machine()], 10).contains("give --questions 6"));
        let same = source(Kind::Machine, "copies", texts("a", 3));
        assert!(said(vec![human(), same], 2).contains("mined has no kernel to ask about"));
    }
}
