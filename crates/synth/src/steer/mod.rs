//! Steering: kernels for each of several targets, as a data set.

mod seeds;
mod targets;
mod unfinished;

pub use seeds::Seeds;
pub use targets::Targets;

use crate::{
    Acceptance, Budget, Corpus, Error, Found, Judge, Memory, Metric, Report, Search, Settings,
    SteeredRow, Target, proposer::model::Model,
};
use dataset::{Input, Notes, Progress};
use features::FeatureSpace;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};
use unfinished::Unfinished;

/// What targets are steered to, and how.
#[derive(Debug)]
pub struct SteerOptions {
    /// The targets.
    pub targets: Targets,
    /// The mined kernels to start from.
    pub seeds: Seeds,
    /// Of each search.
    pub settings: Settings,
    /// Nothing that is learned or found for a target is used for another, and seeds are excluded for
    /// it alone: under a budget in candidates its rows depend on it, the seeds, the settings and the
    /// random seed, whatever other targets there are. Otherwise each search begins with what those
    /// before it learned and found.
    pub independent: bool,
    /// Proposes too.
    pub model: Option<Model>,
    /// The data set to make.
    pub out: PathBuf,
    /// A second one: the survivors of every generation.
    pub trajectory: Option<PathBuf>,
    /// Replace what is there.
    pub force: bool,
}

/// Finds the rows of one target after the other.
pub struct Steering<'a> {
    judge: &'a Judge,
    corpus: &'a Corpus,
    settings: Settings,
    model: Option<Model>,
    acceptance: Option<Acceptance<'a>>,
    stop: &'a AtomicBool,
    /// The one search of all targets; `None`: each has its own.
    search: Option<Search<'a>>,
}

impl<'a> Steering<'a> {
    /// A start for the targets of `options`, whose kernels have to pass `acceptance`; raise `stop` to
    /// have a search end with its best so far.
    ///
    /// # Errors
    /// As [`Search::new`].
    pub fn new(
        judge: &'a Judge,
        corpus: &'a Corpus,
        options: &SteerOptions,
        acceptance: Option<Acceptance<'a>>,
        stop: &'a AtomicBool,
    ) -> Result<Steering<'a>, Error> {
        let (settings, model) = (options.settings.clone(), options.model.clone());
        let search = search(judge, corpus, &settings, model.as_ref(), acceptance)?;
        let search = (!options.independent).then_some(search);
        Ok(Steering { judge, corpus, settings, model, acceptance, stop, search })
    }

    /// The rows of one target: the nearest kernels, or one row that says why there are none.
    ///
    /// # Errors
    /// As [`Search::find`], and [`Error::Draw`] for a model that fails.
    pub fn found(&mut self, target: &Target) -> Result<Vec<SteeredRow>, Error> {
        Ok(self.find(target)?.kernels)
    }

    /// The same, with the way there.
    ///
    /// # Errors
    /// As [`Steering::found`].
    pub fn find(&mut self, target: &Target) -> Result<Found, Error> {
        let found = match &mut self.search {
            Some(search) => search.find(target, self.stop)?,
            None => Found { memory: Memory::default(), ..self.find_alone(target)? },
        };
        self.model.as_ref().map_or(Ok(()), Model::check)?;
        Ok(found)
    }

    fn find_alone(&self, target: &Target) -> Result<Found, Error> {
        let corpus = self.corpus.for_target(target)?;
        let mut settings = self.settings.clone();
        if corpus.is_empty() && !self.corpus.is_empty() {
            settings.proposers.retain(|name| !crate::proposer::needs_seeds(name));
        }
        let (model, acceptance) = (self.model.as_ref(), self.acceptance);
        search(self.judge, &corpus, &settings, model, acceptance)?.find(target, self.stop)
    }

    /// Resume behind targets that another one of equal options found; nothing where each target is
    /// searched for by itself.
    ///
    /// # Errors
    /// As [`Search::recall`].
    fn recall(&mut self, memories: Vec<Memory>) -> Result<(), Error> {
        self.search.as_mut().map_or(Ok(()), |search| search.recall(memories))
    }
}

fn search<'a>(
    judge: &'a Judge,
    corpus: &'a Corpus,
    settings: &Settings,
    model: Option<&Model>,
    acceptance: Option<Acceptance<'a>>,
) -> Result<Search<'a>, Error> {
    let mut search = Search::new(judge, corpus, settings.clone())?;
    if let Some(model) = model {
        search.add_proposer(Box::new(model.clone()));
    }
    if let Some(acceptance) = acceptance {
        search.set_acceptance(acceptance);
    }
    Ok(search)
}

/// Find kernels for all targets and make the data set `out`; a run that was stopped or killed is
/// resumed. Only kernels that pass `acceptance` are answers.
///
/// # Errors
/// [`Error::Stopped`]; and when targets, seeds or data sets cannot be read or written.
pub fn steer(
    judge: &Judge,
    options: &SteerOptions,
    acceptance: Option<Acceptance<'_>>,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Report, Error> {
    let started = Instant::now();
    let targets = options.targets.all();
    if targets.is_empty() {
        return Err(Error::NoTargets);
    }
    let corpus = options.seeds.open(options, judge)?;
    let notes = options.notes(judge, acceptance.is_some())?;
    let mut steering = Steering::new(judge, &corpus, options, acceptance, stop)?;
    // A run that was killed between its two data sets has made this one already.
    let is_to_make =
        |path: &&PathBuf| options.force || !unfinished::has_made(&options.out, path, &notes);
    let trajectory = options.trajectory.as_ref().filter(is_to_make);
    let key = (&notes.inputs, &notes.configuration, corpus.len(), options.settings.seed);
    let unfinished =
        Unfinished::open(&options.out, trajectory.map(PathBuf::as_path), options.force, &key)?;
    let (done, missing) = split(targets, &unfinished, options.independent);
    if !options.independent {
        steering.recall(unfinished.memories(&done)?)?;
    }
    if !done.is_empty() {
        progress.message(&format!("{} of {} targets were done before", done.len(), targets.len()));
    }
    progress.begin("steering", targets.len() as u64);
    progress.advance(done.len() as u64);
    let mut left = missing.len();
    for target in missing {
        let found = steering.find(target)?;
        // Half a search would give other rows than a whole one: under a budget that repeats it is
        // begun again, under another its best so far is as good as any.
        let has_any = found.kernels.iter().any(|kernel| !kernel.text.is_empty());
        let repeats = matches!(options.settings.budget, Budget::Candidates(_));
        if found.is_cut && (repeats || !has_any) {
            break;
        }
        unfinished.add(target, found)?;
        left -= 1;
        progress.advance(1);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if left > 0 {
        return Err(Error::Stopped);
    }
    let mut report = finish(unfinished, targets, &corpus, judge.space(), notes)?;
    if matches!(options.settings.budget, Budget::Candidates(_)) {
        // The rows hold no clock: what is said here is what this run took.
        report.seconds = started.elapsed().as_secs_f64();
    }
    Ok(report)
}

/// The targets that are done, and those that are not. What is behind one that is missing was found with
/// other knowledge than a run without a stop would have had, unless each is searched for by itself.
fn split<'a>(
    targets: &'a [Target],
    unfinished: &Unfinished,
    independent: bool,
) -> (Vec<&'a Target>, Vec<&'a Target>) {
    let all = targets.iter();
    if independent {
        return all.partition(|target| unfinished.has(target));
    }
    let first = targets.iter().position(|target| !unfinished.has(target));
    let (done, missing) = targets.split_at(first.unwrap_or(targets.len()));
    (done.iter().collect(), missing.iter().collect())
}

/// Both data sets, of all parts.
fn finish(
    unfinished: Unfinished,
    targets: &[Target],
    corpus: &Corpus,
    space: &dyn FeatureSpace,
    notes: Notes,
) -> Result<Report, Error> {
    let Unfinished { kernels, paths } = unfinished;
    let mut rows = Vec::new();
    for target in targets {
        rows.extend(unfinished::rows_of(&kernels, target)?);
    }
    let report = Report {
        seeds: corpus.len() as u64,
        kept_out: corpus.excluded() as u64,
        ..Report::of(&rows, &sizes(targets, space))
    };
    let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
    for row in &rows {
        *verdicts.entry(row.verdict.clone()).or_default() += 1;
    }
    if let Some(paths) = paths {
        let mut all = Vec::new();
        for target in targets {
            all.extend(paths.rows_of(&target.name).collect::<Result<Vec<_>, _>>()?);
        }
        paths.finish(all, notes.clone())?;
    }
    let summary = serde_json::to_value(&report).expect("a report is plain data");
    kernels.finish(rows, Notes { summary, verdicts, ..notes })?;
    Ok(report)
}

impl SteerOptions {
    /// What the data sets say of their making.
    fn notes(&self, judge: &Judge, must_run: bool) -> Result<Notes, Error> {
        let targets = self.targets.all();
        let transfer = match self.independent {
            true => "none: each target is searched for by itself",
            false => {
                "each target's search begins with what was learned and found for those before it"
            }
        };
        let configuration = serde_json::json!({
            "space": judge.space().name(),
            "settings": plain(&self.settings),
            "must_run": must_run,
            "model": self.model.as_ref().map(|model| model.identity().to_owned()),
            "transfer": transfer,
            "leak_rule": self.seeds.rule(self),
            "targets": targets.iter().map(|target| target.name.clone()).collect::<Vec<_>>(),
        });
        let points: Vec<_> =
            targets.iter().map(|target| (&target.name, &target.constraints)).collect();
        let bytes = postcard::to_stdvec(&points).expect("plain data always encodes");
        let mut inputs =
            vec![Input { name: "targets".to_owned(), hash: dataset::content_hash(&bytes) }];
        inputs.extend(self.seeds.inputs()?);
        Ok(Notes { inputs, configuration, seed: self.settings.seed, ..Notes::default() })
    }
}

/// The settings as plain values, for the data set's manifest.
fn plain(settings: &Settings) -> serde_json::Value {
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
    serde_json::json!({
        "metric": metric,
        "budget": most,
        "budget_unit": unit,
        "depth": (settings.depth < u32::MAX).then_some(settings.depth),
        "generation": settings.generation,
        "survivors": settings.survivors,
        "replacement": settings.replacement,
        "temperature": settings.temperature,
        "kept": settings.kept,
        "proposers": settings.proposers,
    })
}

/// Instructions of each target, where the space counts them and all targets say how many.
fn sizes(targets: &[Target], space: &dyn FeatureSpace) -> BTreeMap<String, f64> {
    let index = space.dimensions().iter().position(|name| *name == "TotalInsts");
    let size = |target: &Target| Some((target.name.clone(), target.constraints[index?]?.most));
    targets.iter().map(size).collect::<Option<_>>().unwrap_or_default()
}
