//! `stampmill steer`: kernels at points of a feature space.

mod model;
mod runs;
mod targets;
mod unfinished;

use crate::{Global, duration::duration, interrupt, output, progress::Bar};
use anyhow::bail;
use dataset::{Dataset, Input, Notes, Programs, Progress};
use features::FeatureSpace;
use runs::Runs;
use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::Ordering,
    time::Instant,
};
use synth::{
    Budget, Corpus, Exclusion, Judge, Metric, Report, Search, Settings, SteeredRow, Target,
};
use targets::Targets;
use unfinished::Unfinished;

/// Make kernels at wanted points of a feature space
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill steer --space instcount --target Load=12,FMul=8 --out found\n  \
    stampmill steer --space autophase --target my.cl --seeds kernels --n 5 --out found\n  \
    stampmill steer --space instcount --targets suites.jsonl --seeds kernels --budget 60s --out found\n  \
    stampmill steer --space instcount --targets suites.jsonl --sample 40 --budget cpu:30s --out found\n  \
    stampmill steer --space grewe --target comp=10,mem=4..6 --budget 5000 --seed 7 --out found\n  \
    stampmill steer --space grewe --target comp=10,mem=4 --model models/infill --proposers model --out found\n\n\
A target: wishes DIMENSION=VALUE with commas (ranges 4..6, weights 12*3; what is not named is free),\n\
a program (.cl), a vector (.json), or a data set or folder of programs, each a target. A vector is a list\n\
of all values or an object, {\"Load\": 12, \"FMul\": \"4..6*3\"}. --targets: lines\n\
{\"target\": NAME, \"SPACE\": VECTOR}. `features FILE --format jsonl` shows the dimensions of a space.\n\n\
Proposers: nearest (mined kernels as they are), construct (from nothing), guided (edits that do what\n\
the vector lacks), combine (edits tried one by one, then together), crossover, mutate; model, where there\n\
is a --model (its kernels and what it puts into holes of the survivors; infill models are told the target);\n\
and random, which does not look at the target.\n\n\
A budget in candidates makes a run repeatable, stopped and resumed or not: the same seed gives the\n\
same rows. Kernels named like a target, and near-duplicates of a target's program or of --exclude, are\n\
never among the seeds. A run that was stopped goes on when the same command is given again: under a\n\
budget of time behind the target it was at, of which it keeps the best, else with that target anew.\n\n\
An exact hit is right in its features, not in what it computes: its output may not depend on its\n\
input (input-insensitive). --must-run wants kernels that pass `run`'s checker, which turns such away.")]
pub(crate) struct Steer {
    /// The feature space: instcount, autophase, grewe, ... (`features --help` names all)
    #[arg(long, value_name = "SPACE", default_value = "instcount")]
    space: String,
    /// A target; may be given several times
    #[arg(long, value_name = "TARGET", required_unless_present = "targets")]
    target: Vec<String>,
    /// A file of targets, one JSON object a line
    #[arg(long, value_name = "FILE.jsonl")]
    targets: Option<PathBuf>,
    /// Only so many of the targets, drawn by the seed
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// For each target: time (60s), processor time (cpu:30s), or candidates (5000)
    #[arg(long, default_value = "60s", value_parser = budget)]
    budget: Budget,
    /// Kernels wanted for each target: the nearest, which may resemble each other
    #[arg(long, default_value = "1", value_name = "N")]
    n: NonZeroUsize,
    /// Seed of all chance
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Mined kernels to start from: a data set, folder or file of programs
    #[arg(long, value_name = "DATASET")]
    seeds: Option<PathBuf>,
    /// Programs that must not be among the seeds, nor anything near them (.jsonl with src, or programs)
    #[arg(long, value_name = "DATASET", requires = "seeds")]
    exclude: Vec<PathBuf>,
    /// Who proposes, with commas
    #[arg(long, value_name = "NAMES")]
    proposers: Option<String>,
    /// A checkpoint of `train`, any kind: the proposer `model`
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Let the model write what cannot compile, too
    #[arg(long, requires = "model")]
    unconstrained: bool,
    /// What survives: standardised, euclidean, own
    #[arg(long, default_value = "euclidean")]
    metric: Metric,
    /// Generations at most
    #[arg(long, default_value_t = u32::MAX, hide_default_value = true)]
    depth: u32,
    /// Candidates of a generation
    #[arg(long, default_value_t = 48)]
    generation: usize,
    /// Programs that survive a generation
    #[arg(long, default_value_t = 32)]
    survivors: usize,
    /// Probability that a survivor gives its place to a random candidate
    #[arg(long, default_value_t = 0.15, value_parser = probability)]
    replacement: f64,
    /// How freely edits are chosen; near 0 only the most promising
    #[arg(long, default_value_t = 0.3, value_parser = temperature)]
    temperature: f64,
    /// Only the i-th of n parts of the targets, as i/n
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// The data set of kernels to make
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// A second data set: the survivors of every generation
    #[arg(long, value_name = "DIR")]
    trajectory: Option<PathBuf>,
    /// Only kernels that run, and pass `run`'s checker on the processor's device, are answers
    #[arg(long)]
    must_run: bool,
    /// Replace what is at --out
    #[arg(long)]
    force: bool,
    /// Go on with an unfinished run (the default when the command is the same)
    #[arg(long)]
    resume: bool,
}

impl Steer {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let started = Instant::now();
        let space = features::space(&self.space)?;
        let judge = Judge::new(space, global.jobs())?;
        let Targets { targets, programs } = self.targets(space, &judge, global)?;
        let bar = Bar::new(global);
        let corpus = self.corpus(&targets, &programs, &judge)?;
        let mut settings = self.settings();
        let model = self.proposer(&mut settings)?;
        let configuration = serde_json::json!({
            "space": self.space,
            "settings": plain(&settings),
            "must_run": self.must_run,
            "model": model.as_ref().map(|model| model.identity().to_owned()),
            "transfer": "each target's search begins with what was learned and found for those before it",
            "targets": targets.iter().map(|target| target.name.clone()).collect::<Vec<_>>(),
        });
        let wishes = format!("{targets:?}");
        let identity = dataset::content_hash(wishes.as_bytes());
        let mut inputs = vec![Input { name: "targets".to_owned(), hash: identity }];
        for path in self.seeds.iter().chain(&self.exclude) {
            inputs.push(Input { name: path.display().to_string(), hash: content(path)? });
        }
        let key = (&inputs, &configuration, corpus.len(), self.seed);
        let stop = interrupt::flag()?;
        let runs = self.must_run.then(|| Runs::new(&stop)).transpose()?;
        let accepts = |text: &str| runs.as_ref().map_or(Ok(true), |runs| runs.accepts(text));
        let mut search = Search::new(&judge, &corpus, settings)?;
        let failure = model.as_ref().map(model::Model::failure);
        if let Some(model) = model {
            search.add_proposer(Box::new(model));
        }
        if self.must_run {
            search.set_acceptance(&accepts);
        }
        let made = Notes {
            inputs: inputs.clone(),
            configuration: configuration.clone(),
            seed: self.seed,
            ..Notes::default()
        };
        // A run that was killed between its two data sets has made this one already.
        let trajectory = self
            .trajectory
            .as_deref()
            .filter(|path| self.force || !unfinished::has_made(&self.out, path, &made));
        let unfinished = Unfinished::open(&self.out, trajectory, self.force, &key)?;
        let before = unfinished.done(&targets);
        search.recall(unfinished.memories(&targets[..before])?)?;
        if before > 0 && !global.quiet {
            eprintln!("{before} of {} targets were done before", targets.len());
        }
        bar.begin("steering", targets.len() as u64);
        bar.advance(before as u64);
        for target in &targets[before..] {
            let found = search.find(target, &stop)?;
            if let Some(error) = failure.as_ref().and_then(|failure| failure.get()) {
                bail!("the model cannot draw: {error}");
            }
            // Half a search would give other rows than a whole one: under a budget that repeats it is
            // begun again, under another its best so far is as good as any.
            let has_any = found.kernels.iter().any(|kernel| !kernel.text.is_empty());
            let repeats = matches!(self.budget, Budget::Candidates(_));
            if found.is_cut && (repeats || !has_any) {
                break;
            }
            unfinished.add(target, found)?;
            bar.advance(1);
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        drop(bar);
        if unfinished.done(&targets) < targets.len() {
            bail!("stopped; what was found is kept, the same command goes on from there");
        }
        let Unfinished { kernels, paths } = unfinished;
        let notes = made;
        let mut rows = Vec::new();
        for target in &targets {
            rows.extend(unfinished::rows_of(&kernels, target)?);
        }
        let mut report = Report {
            seeds: corpus.len() as u64,
            kept_out: corpus.excluded() as u64,
            ..Report::of(&rows, &sizes(&targets, space))
        };
        let mut verdicts: BTreeMap<String, u64> = BTreeMap::new();
        for row in &rows {
            *verdicts.entry(row.verdict.clone()).or_default() += 1;
        }
        if let Some(paths) = paths {
            let mut all = Vec::new();
            for target in &targets {
                all.extend(paths.rows_of(&target.name).collect::<Result<Vec<_>, _>>()?);
            }
            paths.finish(all, notes.clone())?;
        }
        let summary = serde_json::to_value(&report)?;
        kernels.finish(rows, Notes { summary, verdicts, ..notes })?;
        if matches!(self.budget, Budget::Candidates(_)) {
            // The rows hold no clock: what is said here is what this run took.
            report.seconds = started.elapsed().as_secs_f64();
        }
        if global.json {
            output::json(&report)?;
        } else {
            self.print(&report)?;
        }
        let hit = report.targets > report.impossible;
        Ok(if hit { ExitCode::SUCCESS } else { output::NEGATIVE })
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings {
            metric: self.metric,
            budget: self.budget,
            depth: self.depth,
            generation: self.generation.max(1),
            survivors: self.survivors.max(1),
            replacement: self.replacement,
            temperature: self.temperature,
            kept: self.n.get(),
            seed: self.seed,
            ..Settings::default()
        };
        match &self.proposers {
            Some(list) => {
                settings.proposers = list.split(',').map(|name| name.trim().to_owned()).collect();
            }
            None if self.seeds.is_none() => settings.proposers.retain(|name| name != "nearest"),
            None => {}
        }
        settings
    }

    /// The language model, if it is among those who propose; the search itself does not know its name.
    fn proposer(&self, settings: &mut Settings) -> anyhow::Result<Option<model::Model>> {
        let named = settings.proposers.iter().any(|name| name == model::NAME);
        settings.proposers.retain(|name| name != model::NAME);
        match &self.model {
            Some(path) if named || self.proposers.is_none() => {
                Ok(Some(model::Model::load(path, !self.unconstrained)?))
            }
            Some(_) => bail!("--proposers does not name `model`, so that --model is of no use"),
            None if named => bail!("the proposer `model` needs a checkpoint: --model DIR"),
            None => Ok(None),
        }
    }

    fn corpus(
        &self,
        targets: &[Target],
        programs: &[String],
        judge: &Judge,
    ) -> anyhow::Result<Corpus> {
        let Some(path) = &self.seeds else { return Ok(Corpus::default()) };
        let mut exclusion = Exclusion::default();
        for target in targets {
            exclusion.add_name(&target.name);
        }
        for program in programs {
            exclusion.add_target(program);
        }
        for path in &self.exclude {
            exclusion.add_path(path)?;
        }
        if let Some(path) = &self.targets {
            exclusion.add_folder(path);
        }
        let corpus = Corpus::open(path, &exclusion, judge, Some(&host::cache().join("vectors")))?;
        if corpus.is_empty() {
            let why = match exclusion.folder_of(path) {
                Some(folder) => format!(
                    "it lies where --exclude or --targets keeps all out, in {}: seeds belong elsewhere",
                    folder.display()
                ),
                None if corpus.excluded() == 0 => "it holds none that compiles".to_owned(),
                None => {
                    "all are named like a target, or they or their families resemble what is excluded"
                        .to_owned()
                }
            };
            let kept_out = corpus.excluded();
            bail!("no kernel of {} may be a seed ({kept_out} kept out): {why}", path.display());
        }
        Ok(corpus)
    }

    fn print(&self, report: &Report) -> anyhow::Result<()> {
        let rows = report.by_size.iter().chain(&report.by_suite).map(|(name, share)| {
            let name = name.split_once(": ").map_or(name.as_str(), |(_, name)| name);
            vec![
                name.to_owned(),
                output::count(share.targets),
                output::count(share.exact),
                output::percent(share.exact, share.targets),
                format!("{:.3}", share.proximity_median),
            ]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        if report.targets > 1 && !rows.is_empty() {
            let header = ["targets", "count", "exact", "share", "median proximity"];
            output::line(&output::table(&header, rows).to_string())?;
        }
        for constraint in report.constraints.values() {
            output::line(constraint)?;
        }
        if report.impossible == report.targets {
            return Ok(());
        }
        if (2..=LISTED).contains(&report.targets) {
            self.print_targets()?;
        }
        let mined = match report.seeds {
            0 => String::new(),
            seeds => format!(
                " (nearest of {} mined kernels {:.3}, {} exact; {} more kept out)",
                output::count(seeds),
                report.mined_proximity_median,
                output::count(report.exact_mined),
                output::count(report.kept_out)
            ),
        };
        let unit = if matches!(self.budget, Budget::Processor(_)) { "processor s" } else { "s" };
        output::line(&format!(
            "{} of {} targets hit exactly, median proximity {:.3}{mined}; {} candidates in {:.0} {unit}; \
             kernels in {}",
            output::count(report.exact),
            output::count(report.targets),
            report.proximity_median,
            output::count(report.candidates),
            report.seconds,
            self.out.display()
        ))?;
        if report.targets == 1 {
            for row in Dataset::open(&self.out)?.rows::<SteeredRow>()? {
                let row = row?;
                output::line(&row.text)?;
            }
        }
        Ok(())
    }

    /// How near the nearest kernel of each target came.
    fn print_targets(&self) -> anyhow::Result<()> {
        let rows =
            Dataset::open(&self.out)?.rows::<SteeredRow>()?.collect::<Result<Vec<_>, _>>()?;
        let kernels = |target: &str| rows.iter().filter(|row| row.target == target).count();
        let rows = rows.iter().filter(|row| row.rank == 1).map(|row| {
            let came = match row.verdict.as_str() {
                "accepted" if row.exact => "exact".to_owned(),
                "accepted" => format!("{:.3}", row.proximity),
                other => other.to_owned(),
            };
            let count = if row.text.is_empty() { 0 } else { kernels(&row.target) };
            vec![row.target.clone(), came, count.to_string(), row.proposer.clone()]
        });
        let header = ["target", "nearest", "kernels", "found by"];
        output::line(&output::table(&header, rows).to_string())
    }
}

/// Targets that are listed one by one, at most.
const LISTED: u64 = 40;

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

/// Identity of what lies at `path`: a file by its bytes, anything else by its programs.
fn content(path: &Path) -> anyhow::Result<String> {
    if path.is_file() {
        return Ok(dataset::content_hash_of_file(path)?.1);
    }
    Ok(Programs::open(path)?.identity()?)
}

/// Instructions of each target, where the space counts them and all targets say how many.
fn sizes(targets: &[Target], space: &dyn FeatureSpace) -> BTreeMap<String, f64> {
    let place = space.dimensions().iter().position(|name| *name == "TotalInsts");
    let size = |target: &Target| Some((target.name.clone(), target.constraints[place?]?.most));
    targets.iter().map(size).collect::<Option<_>>().unwrap_or_default()
}

fn budget(text: &str) -> Result<Budget, String> {
    if let Some(text) = text.strip_prefix("cpu:") {
        return duration(text).map(Budget::Processor);
    }
    match text.parse::<u64>() {
        Ok(0) => Err("a budget of no candidates".to_owned()),
        Ok(count) => Ok(Budget::Candidates(count)),
        Err(_) => duration(text).map(Budget::Wall),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err(format!("`{text}` is no probability: 0 to 1, such as 0.15")),
    }
}

fn temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err(format!("`{text}` is no temperature: 0 or more, such as 0.3")),
    }
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let wrong = || format!("`{text}` is no part of a whole: write 1/4, 2/4, ...");
    let (part, parts) = text.split_once('/').ok_or_else(wrong)?;
    let (part, parts) = (part.parse().map_err(|_| wrong())?, parts.parse().map_err(|_| wrong())?);
    if part == 0 || part > parts { Err(wrong()) } else { Ok((part, parts)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_no_probability_and_no_temperature() {
        assert_eq!(probability("0.15"), Ok(0.15));
        assert_eq!(temperature("0"), Ok(0.0));
        for wrong in ["nan", "2", "-0.1", "x", ""] {
            assert!(probability(wrong).is_err(), "{wrong}");
        }
        for wrong in ["nan", "inf", "-1", "x"] {
            assert!(temperature(wrong).is_err(), "{wrong}");
        }
    }
}
