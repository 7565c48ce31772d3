//! Steering as a stage: targets come in, the kernels nearest to them go out.

mod seeds;
mod targets;

pub use seeds::Seeds;
pub use targets::Targets;

use crate::{
    Acceptance, Budget, Corpus, Deadline, Error, Found, Judge, Metric, Natural, NotNear, Report,
    Search, Settings, SteeredRow, Target,
    clock::Clock,
    proposer::{is_summed, model::Model},
};
use dataset::{
    Input, Progress, Row,
    stage::{Facts, Finish, Items, Stage, Units, Worked},
};
use rows::SteeredHead;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError, atomic::AtomicBool},
};

/// What targets are steered to, and how.
#[derive(Debug)]
pub struct SteerOptions {
    /// The targets.
    pub targets: Targets,
    /// The mined kernels to start from.
    pub seeds: Seeds,
    /// Of each search.
    pub settings: Settings,
    /// Each search begins with what those before it learned and found, and what would give any target
    /// away is no seed at all. Otherwise nothing that is learned or found for a target is used for
    /// another, and seeds are excluded for it alone: under a budget in candidates its rows depend on
    /// it, the seeds, the settings and the random seed, whatever other targets there are.
    pub transfer: bool,
    /// Keep the survivors of every generation with the nearest kernel of each target.
    pub trajectory: bool,
    /// Proposes too.
    pub model: Option<Model>,
    /// What is found is written as people write; this model proposes nothing, and hits are found without it.
    pub natural: Option<Natural>,
}

impl SteerOptions {
    /// The seeds, less those that are excluded for all targets. What it takes is part of the first target's budget where that is
    /// time, half of it at most (of several targets, half of what they have in all): those that were not described by then are left out.
    ///
    /// # Errors
    /// When they cannot be read, or none is left.
    pub fn corpus(&self, judge: &Judge) -> Result<Corpus, Error> {
        self.seeds.open(self, judge)
    }
}

/// A target in its space: an item of [`Steer`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteerItem {
    /// Name of the space.
    pub space: String,
    /// What is wanted of it; its name is no other target's, and with the run's seed it is the seed
    /// of the search.
    pub target: Target,
}

impl Row for SteerItem {
    const SCHEMA: &'static str = "steer-item";
    const VERSION: u32 = 1;
}

/// What rows do not say of their targets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Observed {
    /// Instructions of targets by their names, where the space counts them and the target says how many.
    sizes: BTreeMap<String, Option<f64>>,
    /// Of the run with the fewest seeds: a run that had more time, or came later, may have more.
    seeds: Option<Started>,
}

/// What searches could start from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Started {
    seeds: u64,
    /// Seeds that there was no time to describe.
    left: u64,
    excluded: u64,
}

impl Facts for Observed {
    fn absorb(&mut self, other: Observed) {
        self.sizes.extend(other.sizes);
        self.seeds = [self.seeds, other.seeds].into_iter().flatten().min();
    }
}

/// Searches for kernels at targets.
pub struct Steer<'a> {
    judge: &'a Judge,
    corpus: &'a Corpus,
    options: SteerOptions,
    acceptance: Option<Acceptance<'a>>,
    deadline: Deadline,
    not_near: Option<&'a NotNear>,
    /// What acceptance asks: to run, and to be faster on one device than on another.
    must_run: bool,
    no_races: bool,
    faster: Option<Value>,
    work_group: Option<u64>,
    no_dead_code: bool,
    /// Whether answers have to run, as far as that was told.
    runs: bool,
    /// What the manifest says of the archive that is started from, if there is one.
    archive: Option<Value>,
    stop: &'a AtomicBool,
    inputs: Vec<Input>,
    watch: Option<&'a dyn Progress>,
    /// What measures the first target's budget, until that is searched for.
    clock: Mutex<Option<Clock>>,
}

impl<'a> Steer<'a> {
    /// A search for the targets of `options` from its [`SteerOptions::corpus`]. Only kernels that pass
    /// `acceptance` are answers. What raises `stop` cancels the run: a search that it ends is begun
    /// again when the run is resumed.
    ///
    /// # Errors
    /// [`Error::NoTargets`]; as [`Search::new`]; and when an input cannot be read.
    pub fn new(
        judge: &'a Judge,
        corpus: &'a Corpus,
        options: SteerOptions,
        acceptance: Option<Acceptance<'a>>,
        stop: &'a AtomicBool,
    ) -> Result<Steer<'a>, Error> {
        if options.targets.all().is_empty() {
            return Err(Error::NoTargets);
        }
        // One after the other: all of them as text may not fit in memory.
        let hash = |target: &Target| dataset::content_hash(format!("{target:?}").as_bytes());
        let hashes: Vec<String> = options.targets.all().iter().map(hash).collect();
        let hash = dataset::content_hash_of(hashes.iter().map(|hash| hash.as_bytes()));
        let targets = Input { name: "targets".to_owned(), hash };
        let inputs = [vec![targets], options.seeds.inputs()?].concat();
        let archive = options.seeds.archive()?;
        let must_run = acceptance.is_some();
        let steer = Steer {
            judge,
            corpus,
            options,
            acceptance,
            deadline: Deadline::default(),
            not_near: None,
            must_run,
            no_races: false,
            faster: None,
            work_group: None,
            no_dead_code: false,
            runs: false,
            archive,
            stop,
            inputs,
            watch: None,
            clock: Mutex::new(corpus.clock()),
        };
        // What is wrong with the settings is said before the first search.
        steer.search(corpus, steer.options.settings.clone())?;
        Ok(steer)
    }

    /// Only kernels that are near-duplicates of none of these are answers.
    #[must_use]
    pub fn not_near(mut self, known: Option<&'a NotNear>) -> Steer<'a> {
        self.inputs.extend(known.map(|known| known.input.clone()));
        Steer { not_near: known, ..self }
    }

    /// What the manifest says of acceptance: whether answers must run, may race, and what they must be faster on. Edits that make
    /// races are left out where answers may have none.
    #[must_use]
    pub fn told(self, must_run: bool, no_races: bool, faster: Option<Value>) -> Steer<'a> {
        Steer { must_run, runs: must_run, no_races, faster, ..self }
    }

    /// What else the manifest says of acceptance: the size of work-groups that answers run in, and whether they may hold what
    /// nothing comes of.
    #[must_use]
    pub fn told_more(self, work_group: Option<u64>, no_dead_code: bool) -> Steer<'a> {
        Steer { work_group, no_dead_code, ..self }
    }

    /// Acceptance looks at this one.
    #[must_use]
    pub fn asking_until(self, deadline: Deadline) -> Steer<'a> {
        Steer { deadline, ..self }
    }

    /// Tell somebody how each search goes.
    #[must_use]
    pub fn watched_by(self, watch: &'a dyn Progress) -> Steer<'a> {
        Steer { watch: Some(watch), ..self }
    }

    fn search<'b>(&self, corpus: &'b Corpus, mut settings: Settings) -> Result<Search<'b>, Error>
    where
        'a: 'b,
    {
        // All may be what would give the target away, or wait to be described.
        if corpus.is_empty() && self.options.seeds.path.is_some() {
            settings.proposers.retain(|name| !crate::proposer::needs_seeds(name));
        }
        let mut search = Search::new(self.judge, corpus, settings)?;
        if let Some(model) = &self.options.model {
            search.add_proposer(Box::new(model.clone()));
        }
        if let Some(acceptance) = self.acceptance {
            search.set_acceptance(acceptance);
            search.set_deadline(self.deadline.clone());
        }
        if self.no_races {
            search.set_defined();
        }
        if self.runs {
            search.set_must_run();
        }
        if let Some(known) = self.not_near {
            search.set_not_near(known);
        }
        if let Some(natural) = &self.options.natural {
            search.set_natural(natural.clone());
        }
        if let Some(watch) = self.watch {
            search.set_watch(watch);
        }
        Ok(search)
    }

    /// What a whole search comes to: by `shared`, else by one of the target's own.
    fn find(&self, shared: &mut Option<Search<'a>>, target: &Target) -> Result<Found, Error> {
        let begun = match self.has_seeds(target) {
            true => self.clock.lock().unwrap_or_else(PoisonError::into_inner).take(),
            false => None,
        };
        let clock = begun.unwrap_or_else(|| Clock::start(self.options.settings.budget));
        let found = match shared {
            Some(search) => search.find_within(clock.left(), target, self.stop)?,
            None => self.find_alone(target, &clock)?,
        };
        self.options.model.as_ref().map_or(Ok(()), Model::check)?;
        if found.is_cut { Err(Error::Stopped) } else { Ok(found) }
    }

    /// Whether a search for this target starts from seeds: from the archive that ships only where kernels are joined.
    fn has_seeds(&self, target: &Target) -> bool {
        self.options.seeds.shipped.is_none() || is_summed(target, self.judge.space())
    }

    fn find_alone(&self, target: &Target, clock: &Clock) -> Result<Found, Error> {
        let none = Corpus::default();
        let allowed;
        let corpus = match (self.has_seeds(target), self.options.seeds.leaks) {
            (false, _) => &none,
            (true, true) => self.corpus,
            (true, false) => {
                allowed = self.corpus.for_target_within(target, clock)?;
                &allowed
            }
        };
        let mut search = self.search(corpus, self.options.settings.clone())?;
        search.find_within(clock.left(), target, self.stop)
    }
}

impl<'a> Stage for Steer<'a> {
    const NAME: &'static str = "steer";
    const UNITS: &'static str = "targets";
    type Item = SteerItem;
    type Row = SteeredRow;
    type Facts = Observed;
    type Summary = Report;
    /// The one search of all targets; `None`: each has its own.
    type Worker = Option<Search<'a>>;
    type Error = Error;

    fn settings(&self) -> Value {
        let SteerOptions { targets, settings, transfer, trajectory, model, .. } = &self.options;
        let targets = targets.all().iter().map(|target| target.name.as_str());
        let space = self.judge.space();
        let mut settings = json!({
            "space": space.name(),
            "spaces": { space.name(): space.dimensions() },
            "settings": plain(settings),
            "must_run": self.must_run,
            "no_races": self.no_races,
            "faster": self.faster,
            "work_group": self.work_group,
            "no_dead_code": self.no_dead_code,
            "not_near": self.not_near.is_some(),
            "model": model.as_ref().map(|model| model.identity().to_owned()),
            "natural": self.options.natural.as_ref().map(Natural::settings),
            "transfer": transfer,
            "trajectory": trajectory,
            "leak_rule": self.options.seeds.rule(&self.options),
            "targets": targets.collect::<Vec<_>>(),
        });
        if let Some(archive) = &self.archive {
            settings["archive"] = archive.clone();
        }
        settings
    }

    fn seed(&self) -> u64 {
        self.options.settings.seed
    }

    fn inputs(&self) -> Result<Vec<Input>, Error> {
        Ok(self.inputs.clone())
    }

    fn items(&self) -> Result<Items<'_, Self>, Error> {
        let targets = self.options.targets.all();
        let space = self.judge.space().name();
        let item = |target: &Target| SteerItem { space: space.into(), target: target.clone() };
        let all = Box::new(targets.iter().map(move |target| Ok(item(target))));
        Ok(Items { total: Some(targets.len() as u64), all })
    }

    fn key(&self, item: &SteerItem) -> String {
        item.target.name.clone()
    }

    /// A budget of time is the whole machine's: the clock cannot tell searches apart.
    fn threads(&self, jobs: usize) -> usize {
        match self.options.settings.budget {
            Budget::Candidates(_) => jobs,
            Budget::Wall(_) | Budget::Processor(_) => 1,
        }
    }

    fn is_sequential(&self) -> bool {
        self.options.transfer
    }

    fn worker(&self) -> Result<Option<Search<'a>>, Error> {
        let shared = || self.search(self.corpus, self.options.settings.clone());
        self.options.transfer.then(shared).transpose()
    }

    fn work(
        &self,
        shared: &mut Option<Search<'a>>,
        items: &[SteerItem],
    ) -> Result<Vec<Worked<SteeredRow>>, Error> {
        let rows = |item: &SteerItem| {
            let Found { mut kernels, trajectory, .. } = self.find(shared, &item.target)?;
            if let Some(first) = kernels.first_mut().filter(|_| self.options.trajectory) {
                first.trajectory = trajectory;
            }
            let dimensions = self.judge.space().dimensions();
            let is_near = |row: &&mut SteeredRow| !row.exact && !row.text.is_empty();
            for row in kernels.iter_mut().filter(is_near) {
                let missed = item.target.missed(&row.vector, &dimensions);
                let said = [format!("has {missed}"), std::mem::take(&mut row.detail)];
                row.detail =
                    said.into_iter().filter(|said| !said.is_empty()).collect::<Vec<_>>().join("; ");
            }
            Ok(Worked::Rows(kernels))
        };
        items.iter().map(rows).collect()
    }

    /// What the next searches begin with is known once these are done again.
    fn resume(
        &self,
        shared: &mut Option<Search<'a>>,
        items: &[SteerItem],
        _: &[Vec<SteeredRow>],
    ) -> Result<(), Error> {
        items.iter().try_for_each(|item| self.find(shared, &item.target).map(drop))
    }

    fn is_fault(error: &Error) -> bool {
        error.is_fault()
    }

    fn observe(&self, item: &SteerItem, _: Option<&[SteeredRow]>, observed: &mut Observed) {
        let dimensions = self.judge.space().dimensions();
        let index = dimensions
            .iter()
            .position(|name| ["TotalInsts", "instcount.TotalInsts"].contains(name));
        let size = index.and_then(|index| Some(item.target.constraints[index]?.most));
        observed.sizes.insert(item.target.name.clone(), size.filter(|size| size.is_finite()));
        let [seeds, left, excluded] =
            [self.corpus.len(), self.corpus.left(), self.corpus.excluded()].map(|one| one as u64);
        observed.seeds = Some(Started { seeds, left, excluded });
    }

    fn tools(&self) -> BTreeMap<String, String> {
        self.judge.tools()
    }

    fn finish<'b>(
        settings: &'b Value,
        Observed { sizes, seeds }: Observed,
        units: &'b Units<SteeredRow>,
    ) -> Result<Finish<'b, SteeredRow, Report>, Error> {
        let mut rows: Vec<SteeredHead> = Vec::new();
        for row in units.views::<SteeredHead>() {
            rows.push(row?.1);
        }
        let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
        for row in &rows {
            *verdicts.entry(row.verdict.clone()).or_default() += 1;
        }
        // Groups by size are of all targets or of none.
        let sizes = sizes.into_iter().map(|(name, size)| Some((name, size?)));
        let sizes: BTreeMap<String, f64> = sizes.collect::<Option<_>>().unwrap_or_default();
        let wanted = settings["settings"]["kept"].as_u64().unwrap_or(1);
        let Started { seeds, left: seeds_left, excluded: kept_out } = seeds.unwrap_or_default();
        let report = Report { seeds, seeds_left, kept_out, ..Report::of(&rows, wanted, &sizes) };
        Ok(Finish::all(verdicts, report))
    }
}

/// The settings as plain values, for the data set's manifest.
fn plain(settings: &Settings) -> Value {
    let (unit, most) = match settings.budget {
        Budget::Wall(time) => ("seconds", time.as_secs_f64()),
        Budget::Processor(time) => ("processor seconds", time.as_secs_f64()),
        Budget::Candidates(count) => ("candidates", count as f64),
    };
    let metric = match settings.metric {
        Metric::Standardised => "standardised",
        Metric::Euclidean => "euclidean",
        Metric::Own => "own",
    };
    let mut plain = json!({
        "metric": metric,
        "budget": most,
        "budget_unit": unit,
        "depth": (settings.depth < u32::MAX).then_some(settings.depth),
        "generation": settings.generation,
        "patience": settings.patience,
        "survivors": settings.survivors,
        "replacement": settings.replacement,
        "temperature": settings.temperature,
        "kept": settings.kept,
        "proposers": settings.proposers,
        "readable": settings.readable,
        "arguments": settings.arguments.as_ref().map(ToString::to_string),
    });
    if settings.judge_all {
        plain["judge_all"] = json!(true);
    }
    plain
}
