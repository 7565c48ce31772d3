//! The mined kernels of a run, less what would give an answer away.

use super::SteerOptions;
use crate::{
    Corpus, Error, Exclusion, Judge, Settings, Target, archive,
    clock::Clock,
    corpus::{Known, SEEDS, content},
    leak_rule,
    vectors::Allowance,
};
use dataset::Input;
use std::{collections::BTreeSet, path::PathBuf};

/// Where mined kernels are, and what must not be among them.
#[derive(Clone, Debug, Default)]
pub struct Seeds {
    /// A data set, folder or file of programs; none to start from nothing.
    pub path: Option<PathBuf>,
    /// Whether that has to be an archive of the search's space.
    pub is_archive: bool,
    /// The name that the archive ships under, where nobody named one: searches for targets of which kernels are joined start from
    /// it, others from nothing.
    pub shipped: Option<String>,
    /// Programs that must not be among the seeds, nor anything near them.
    pub exclude: Vec<PathBuf>,
    /// The file that targets were read from: what lies in its folder is no seed.
    pub targets: Option<PathBuf>,
    /// A data set of `features` of the mined kernels: their vectors are taken from there.
    pub features: Option<PathBuf>,
    /// Where vectors are kept between runs.
    pub cache: Option<PathBuf>,
    /// Whether the leak rule is off: seeds and models may hold the targets themselves.
    pub leaks: bool,
    /// Whether a model is accepted whatever it was trained on.
    pub any_model: bool,
}

impl Seeds {
    /// The seeds for all targets; where none serves another its own answers are excluded when it is
    /// searched for. A budget of time is that of the first target from here on; where there are several targets, seeds may take
    /// half of what all have, and the first is charged half of its own at most.
    pub(super) fn open(&self, options: &SteerOptions, judge: &Judge) -> Result<Corpus, Error> {
        let Settings { budget, seed, .. } = options.settings;
        let targets = options.targets.all().len().max(1);
        let charged = if targets > 1 { SEEDS } else { 1.0 };
        let allowance = Allowance { clock: Clock::start(budget.of_all(targets)), seed };
        let model = options.model.as_ref().filter(|_| !self.any_model && !self.leaks);
        // What a model learned is told from all that is excluded.
        let end = model.is_none().then(|| allowance.clock.but_the_last(1.0 - SEEDS));
        let mut exclusion = Exclusion::within(self.cache.as_deref(), end);
        if !self.leaks && (self.path.is_some() || model.is_some()) {
            for path in &self.exclude {
                exclusion.add_path(path)?;
            }
            if let Some(path) = &self.targets {
                exclusion.add_folder(path);
            }
        }
        // A model proposes for all targets, whether or not each is searched for by itself.
        if let Some(model) = model {
            let mut all = exclusion.clone();
            self.add_targets(options, &mut all)?;
            all.check_model(model.folder(), model.training())?;
        }
        let Some(path) = &self.path else { return Ok(Corpus::default()) };
        if self.is_archive {
            archive::require(path, judge)?;
        }
        if !self.leaks && leak_rule::was_off(path)? {
            return Err(Error::LeakySeeds(path.clone()));
        }
        if options.transfer && !self.leaks {
            self.add_targets(options, &mut exclusion)?;
        }
        let known = Known { features: self.features.as_deref(), cache: self.cache.as_deref() };
        let corpus = Corpus::open_within(path, &exclusion, judge, known, &allowance)?;
        // Nobody asked for what ships.
        if !corpus.is_empty() || corpus.left() > 0 || self.shipped.is_some() {
            return Ok(corpus.charged(budget, charged));
        }
        let excluded = corpus.excluded();
        let why = match exclusion.folder_of(path) {
            Some(folder) => format!(
                "it lies where --exclude or --targets keeps all out, in {}: seeds belong elsewhere",
                folder.display()
            ),
            None if excluded == 0 => match corpus.first_text() {
                None => {
                    "it holds no program in OpenCL C, which seeds are: name a data set of `stampmill prepare`, or a folder of .cl files"
                        .to_owned()
                }
                Some(text) => {
                    let first = judge.first_error(text);
                    let first = first.map(|error| format!("; of the first: {error}"));
                    format!("it holds none that compiles{}", first.unwrap_or_default())
                }
            },
            None => {
                "all are named like a target, or they or their families are copies of what is excluded"
                    .to_owned()
            }
        };
        Err(Error::NoSeeds { path: path.clone(), excluded, why })
    }

    fn add_targets(&self, options: &SteerOptions, exclusion: &mut Exclusion) -> Result<(), Error> {
        for target in options.targets.all() {
            exclusion.add_target(&Target { program: None, ..target.clone() })?;
        }
        options.targets.programs.iter().try_for_each(|text| exclusion.add_named_program(text))
    }

    /// What the leak rule was, for the data set's manifest.
    pub(super) fn rule(&self, options: &SteerOptions) -> serde_json::Value {
        if self.leaks {
            return serde_json::json!(leak_rule::OFF);
        }
        let targets = options.targets.all().iter();
        let suites: BTreeSet<&str> =
            targets.filter_map(|target| leak::suite_of(&target.name)).collect();
        let model = match (&options.model, self.any_model) {
            (None, _) => None,
            (Some(_), false) => Some("its training set holds nothing that is excluded"),
            (Some(_), true) => Some("accepted, whatever it was trained on"),
        };
        serde_json::json!({ "version": leak::VERSION, "suites": suites, "model": model })
    }

    /// Which archive is started from, for the data set's manifest.
    pub(super) fn archive(&self) -> Result<Option<serde_json::Value>, Error> {
        let Some(path) = self.path.as_ref().filter(|_| self.is_archive) else { return Ok(None) };
        let identity = content(path)?;
        Ok(Some(serde_json::json!({ "identity": identity, "shipped": self.shipped.is_some() })))
    }

    /// Identities of what they are made of.
    pub(super) fn inputs(&self) -> Result<Vec<Input>, Error> {
        let named = |path: &PathBuf| path.display().to_string();
        // What ships stands elsewhere on every machine.
        let started = self
            .path
            .iter()
            .map(|path| (self.shipped.clone().unwrap_or_else(|| named(path)), path));
        let others = self.exclude.iter().chain(&self.features).map(|path| (named(path), path));
        let all = started.chain(others);
        all.map(|(name, path)| Ok(Input { name, hash: content(path)? })).collect()
    }
}
