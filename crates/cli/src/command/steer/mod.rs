//! `stampmill steer`: kernels at points of a feature space.

mod archive;
mod group;
mod print;
mod value;

pub(super) use value::bits;

use crate::{
    Global,
    destination::StageOutput,
    headers, interrupt, output,
    progress::Bar,
    runs::{Cut, Faster, Runs},
    stage,
};
use anyhow::bail;
use dataset::{Dataset, Row as _};
use group::WorkGroup;
use rows::ContentFile;
use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
};
use synth::{
    Acceptance, Arguments, Budget, Corpus, DeadCode, Deadline, Judge, Metric, Natural, NotNear,
    Report, Seeds, Settings, Steer as Search, SteerOptions, Targets,
    model::{self, Model},
};

/// Make kernels at wanted points of a feature space
#[derive(clap::Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = help!("steer")
)]
pub(crate) struct Steer {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// The feature space: instcount, autophase, grewe, ... (`features --help` names all), or several at once:
    /// instcount,grewe
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
    /// For each target: time (60s), processor time (cpu:30s), or candidates (5000); only with the last is a run repeatable
    #[arg(long, default_value = "60s", value_parser = value::budget)]
    budget: Budget,
    /// Kernels wanted for each target: the nearest, no two of them near-duplicates
    #[arg(long, default_value = "1", value_name = "N")]
    n: NonZeroUsize,
    /// The random seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Mined kernels to start from: a data set, folder or file of programs
    #[arg(long, value_name = "DATASET")]
    seeds: Option<PathBuf>,
    /// An archive to start from as from seeds: kernels at known points (`steer archive build`)
    #[arg(long, value_name = "ARCHIVE", conflicts_with = "seeds")]
    archive: Option<PathBuf>,
    /// Add what is found to the archive, in its place, once the search is over
    #[arg(long, requires = "archive", conflicts_with_all = ["part", "cluster", "allow_leaks"])]
    grow: bool,
    /// Do not start from the archive that ships, which searches for targets of 100 instructions and more start from in
    /// instcount and autophase where there are no --seeds
    #[arg(long, conflicts_with = "archive")]
    no_archive: bool,
    /// A data set of `features` of the seeds, so that their vectors are not computed again
    #[arg(long, value_name = "DATASET", requires = "seeds")]
    features: Option<PathBuf>,
    /// Programs that must not be among the seeds or a model's training set, nor copies of them (.jsonl with src, or programs)
    #[arg(long, value_name = "DATASET")]
    exclude: Vec<PathBuf>,
    /// Switch the leak rule off: seeds and models may hold the targets themselves; `_dataset.json` says so
    #[arg(long, conflicts_with_all = ["exclude", "accept_model"])]
    allow_leaks: bool,
    /// Accept a model whose training set is not known or holds what is excluded; `_dataset.json` says so
    #[arg(long, requires = "model")]
    accept_model: bool,
    /// Who proposes, with commas
    #[arg(long, value_name = "NAMES")]
    proposers: Option<String>,
    /// A checkpoint of `train`, any kind: the proposer `model`
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Let the model write what cannot compile, too
    #[arg(long, requires = "model")]
    unconstrained: bool,
    /// By which distance programs survive: standardised (a dimension in units of its spread over the mined kernels),
    /// euclidean, or own (the distance that the feature space itself defines)
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
    #[arg(long, default_value_t = 0.15, value_parser = value::probability)]
    replacement: f64,
    /// How freely edits are chosen; near 0 only the most promising
    #[arg(long, default_value_t = 0.3, value_parser = value::temperature)]
    temperature: f64,
    /// Judge every candidate: leave none out because what its edit is known to do leads away, and compile what differs from a
    /// candidate before it in names alone
    #[arg(long)]
    judge_all: bool,
    /// Begin each search with what those before it learned and found
    #[arg(long)]
    transfer: bool,
    /// Keep the survivors of every generation, in the column `trajectory`
    #[arg(long)]
    trajectory: bool,
    /// Only kernels that run, and pass `run`'s checker on the processor's device, are answers; none whose work-items race or
    /// read local memory that nothing has written
    #[arg(long)]
    must_run: bool,
    /// Kernels whose work-items race, or read local memory that nothing has written, are answers, too
    #[arg(long, requires = "must_run")]
    allow_races: bool,
    /// Only kernels that run and pass in work-groups of so many work-items, too, are answers
    #[arg(long, value_name = "N", requires = "must_run", value_parser = clap::value_parser!(u64).range(1..=1024))]
    work_group: Option<u64>,
    /// Only kernels with these parameters, in this order, are answers: `global float*, global float*, int`
    #[arg(long, value_name = "TYPES")]
    args: Option<Arguments>,
    /// Only kernels are answers of which the optimizer (-O2) removes no statement
    #[arg(long)]
    no_dead_code: bool,
    /// Only kernels that are faster on this device (cpu, gpu, a part of a name), transfers to a GPU included, than on the device
    /// of `--than` are answers
    #[arg(long, value_name = "DEVICE", requires = "than")]
    faster_on: Option<String>,
    /// The device to be faster than
    #[arg(long, value_name = "DEVICE", requires = "faster_on")]
    than: Option<String>,
    /// How many times as fast, for `--faster-on`
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, value_parser = value::margin, requires = "faster_on")]
    margin: f64,
    /// Work-items, for `--faster-on`
    #[arg(long, value_name = "SIZE", default_value = "2^16", requires = "faster_on")]
    at: String,
    /// Only kernels that are near-duplicates of no program of this data set, folder or file are answers
    #[arg(long, value_name = "DATASET")]
    not_near: Option<PathBuf>,
    /// Leave kernels as the search finds them; otherwise it begins with edits that make what people write, and what is found
    /// is written more readably, at the same point
    #[arg(long)]
    as_found: bool,
    /// Write what is found as people write, at the same point: as likely to this checkpoint (`infill` or `lstm`) as what is
    /// left of the budget goes; columns `bits_before` and `bits` say how likely. Where it has a discriminator.json, that counts, too
    #[arg(long, value_name = "DIR")]
    natural: Option<PathBuf>,
    /// Only kernels of so many bits a token, to that model, are answers
    #[arg(long, value_name = "BITS", requires = "natural", value_parser = value::bits)]
    most_bits: Option<f64>,
    #[command(flatten)]
    output: Option<StageOutput>,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    Archive(archive::Archive),
}

impl stage::Shown for Search<'_> {
    fn print(report: &Report, seconds: f64, out: &str) -> anyhow::Result<()> {
        print::report(report, seconds, out.as_ref())
    }

    fn is_nothing(manifest: &dataset::Manifest) -> bool {
        stage::is_all_rejected(manifest)
    }

    fn is_good(report: &Report) -> bool {
        report.targets > report.impossible + report.nothing_found
    }
}

impl Steer {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let made = match (&self.verb, &self.output) {
            (Some(Verb::Archive(archive)), _) => return archive.run(global),
            (None, Some(made)) => made,
            (None, None) => bail!("name the data set to make: --out DIR"),
        };
        if let Some(part) = made.part.filter(|_| self.transfer) {
            bail!(
                "--transfer searches for all targets in order, each with what those before it taught: \
                 there is no --part {part} of that"
            );
        }
        let judge = Judge::new(features::joint(&self.space)?, global.jobs())?;
        let targets = self.targets(&judge, global)?;
        let shipped = self.shipped(&judge, &targets);
        if let (Some((name, _)), false) = (&shipped, global.is_quiet()) {
            eprintln!(
                "note: targets of 100 instructions and more are searched for from {name}; --no-archive leaves it out"
            );
        }
        let from = shipped.as_ref().map(|(_, path)| path).or(self.started_from()).cloned();
        let mut settings = self.settings(from.is_some());
        let model = self.model(&mut settings)?;
        let natural = |folder: &PathBuf| Natural::load(folder, self.most_bits);
        let natural = self.natural.as_ref().map(natural).transpose()?;
        let options = SteerOptions {
            targets,
            seeds: Seeds {
                path: from.clone(),
                is_archive: self.archive.is_some() || shipped.is_some(),
                shipped: shipped.map(|(name, _)| name),
                exclude: self.exclude.clone(),
                targets: self.targets.clone(),
                features: self.features.clone(),
                cache: Some(host::cache().join("vectors")),
                leaks: self.allow_leaks,
                any_model: self.accept_model,
            },
            settings,
            transfer: self.transfer,
            trajectory: self.trajectory,
            model,
            natural,
        };
        let stop = interrupt::final_flag()?;
        let deadline = Deadline::default();
        let cut = Cut::new(&stop, deadline.clone());
        let runs = Runs::wanted_within(self.must_run, self.allow_races, 1, &cut, global)?;
        let group = self.work_group.map(|size| WorkGroup::new(size, &cut)).transpose()?;
        let faster = self.faster(&stop)?;
        let dead = self.no_dead_code.then(|| DeadCode::new(global.jobs())).transpose()?;
        // What takes longest is asked last.
        let accepts = |text: &str| -> Result<Option<String>, String> {
            if self.args.as_ref().is_some_and(|wanted| !wanted.are_of(text)) {
                return Ok(Some("not-as-asked".to_owned()));
            }
            if let Some(dead) = &dead
                && dead.is_in(text)?
            {
                return Ok(Some("dead-code".to_owned()));
            }
            let found = runs.as_ref().map_or(Ok(None), |runs| runs.rejected(text))?;
            if found.is_some() {
                return Ok(found);
            }
            let found = group.as_ref().map_or(Ok(None), |group| group.rejected(text))?;
            match (found, &faster) {
                (None, Some(faster)) if !faster.accepts(text)? => Ok(Some("not-faster".to_owned())),
                (found, _) => Ok(found),
            }
        };
        let is_asked = runs.is_some() || faster.is_some() || dead.is_some() || self.args.is_some();
        let acceptance: Option<Acceptance<'_>> = if is_asked { Some(&accepts) } else { None };
        let bar = Bar::new(global);
        let corpus = options.corpus(&judge)?;
        self.say_what_is_left(&corpus, from.as_deref(), global);
        self.say_what_is_no_seed(&corpus, global);
        let none = Corpus::default();
        // Small targets are not searched for from what ships.
        let known = if options.seeds.shipped.is_some() { &none } else { &corpus };
        let far = synth::far_out(options.targets.all(), judge.space(), known);
        for warning in far.iter().filter(|_| !global.is_quiet()) {
            eprintln!("warning: {}", output::plain(warning));
        }
        let not_near = self.not_near.as_deref().map(NotNear::open).transpose()?;
        let search = Search::new(&judge, &corpus, options, acceptance, &stop)?
            .not_near(not_near.as_ref())
            .told(
                self.must_run,
                self.must_run && !self.allow_races,
                faster.as_ref().map(Faster::settings),
            )
            .told_more(self.work_group, self.no_dead_code)
            .asking_until(deadline)
            .watched_by(&bar);
        let context = made.context(global.jobs(), &bar, &stop);
        let status = stage::run(&search, &context, global)?;
        if let Some(archive) = self.archive.as_ref().filter(|_| self.grow) {
            archive::grow(archive, &judge, &context, global)?;
        }
        Ok(status)
    }

    /// Seeds that there was no time to describe.
    fn say_what_is_left(&self, corpus: &Corpus, seeds: Option<&Path>, global: &Global) {
        let Some(seeds) = seeds.filter(|_| corpus.left() > 0) else { return };
        if global.is_quiet() {
            return;
        }
        let (seeds, space) = (seeds.display(), &self.space);
        let [there, all] = [corpus.len(), corpus.len() + corpus.left()].map(|n| n as u64);
        eprintln!(
            "warning: half of the time that there is was enough to describe, and to compare with what is excluded, {} of {} \
             kernels of {seeds}; the others are no seeds. The next run goes on from there; `stampmill features {seeds} \
             --space {space} --out F` describes all, for --features F",
            output::count(there),
            output::count(all)
        );
    }

    /// Seeds that were named and have no vector: of what was not prepared most do not compile as they are.
    fn say_what_is_no_seed(&self, corpus: &Corpus, global: &Global) {
        let Some(seeds) = self.seeds.as_deref().filter(|_| corpus.undescribed() > 0) else {
            return;
        };
        if global.is_quiet() {
            return;
        }
        let without = corpus.undescribed() as u64;
        let all = output::some(without + (corpus.len() + corpus.left()) as u64, "program");
        // What was mined, or stands in a folder, was not repaired yet.
        let is_prepared = Dataset::is_at(seeds)
            && Dataset::open(seeds)
                .is_ok_and(|dataset| dataset.manifest().schema != ContentFile::SCHEMA);
        let repaired = match is_prepared {
            true => String::new(),
            false => format!(
                "; `stampmill prepare {} --out kernels` repairs more, for --seeds kernels",
                seeds.display()
            ),
        };
        let (without, space) = (output::count(without), &self.space);
        eprintln!(
            "warning: {without} of {all} have no vector in {space} and are no seeds: they do not compile as they are, or \
             {space} does not describe them{repaired}"
        );
    }

    /// The archive that ships, by its name and its place, where nothing else is asked for and a proposer makes something of it.
    fn shipped(&self, judge: &Judge, targets: &Targets) -> Option<(String, PathBuf)> {
        let needs_seeds =
            |list: &String| list.split(',').any(|name| synth::needs_seeds(name.trim()));
        let is_of_use = self.proposers.as_ref().is_none_or(needs_seeds);
        if self.no_archive || self.transfer || self.started_from().is_some() || !is_of_use {
            return None;
        }
        let name = synth::shipped_archive(targets.all(), judge.space())?;
        let path = host::shipped(&name).filter(|path| Dataset::is_at(path))?;
        Some((name, path))
    }

    /// Where the kernels are that searches are to start from.
    fn started_from(&self) -> Option<&PathBuf> {
        self.seeds.as_ref().or(self.archive.as_ref())
    }

    fn faster(&self, stop: &Arc<AtomicBool>) -> anyhow::Result<Option<Faster>> {
        let (Some(device), Some(than)) = (&self.faster_on, &self.than) else { return Ok(None) };
        let [size] = device::sizes(&self.at)?[..] else {
            bail!("--at {} is not one size", self.at)
        };
        Faster::new(device, than, self.margin, size, stop).map(Some)
    }

    fn targets(&self, judge: &Judge, global: &Global) -> anyhow::Result<Targets> {
        for target in &self.target {
            headers::say(target.as_ref(), global);
        }
        let mut targets = Targets::read(&self.target, self.targets.as_deref(), judge)?;
        for warning in targets.warnings().iter().filter(|_| !global.is_quiet()) {
            eprintln!("{warning}");
        }
        if let Some(count) = self.sample {
            targets = targets.sampled(count, self.seed);
        }
        Ok(targets)
    }

    fn settings(&self, has_seeds: bool) -> Settings {
        let named = self.proposers.as_ref().map(|list| {
            list.split(',').map(|name| name.trim().to_owned()).collect::<Vec<String>>()
        });
        Settings {
            metric: self.metric,
            budget: self.budget,
            depth: self.depth,
            generation: self.generation.max(1),
            survivors: self.survivors.max(1),
            replacement: self.replacement,
            temperature: self.temperature,
            kept: self.n.get(),
            readable: !self.as_found,
            arguments: self.args.clone(),
            judge_all: self.judge_all,
            seed: self.seed,
            proposers: named.unwrap_or_else(|| synth::default_proposers(has_seeds)),
            ..Settings::default()
        }
    }

    /// The language model, if it is among those who propose; it is not one of those that have nothing
    /// but a name.
    fn model(&self, settings: &mut Settings) -> anyhow::Result<Option<Model>> {
        let named = settings.proposers.iter().any(|name| name == model::NAME);
        settings.proposers.retain(|name| name != model::NAME);
        match &self.model {
            Some(path) if named || self.proposers.is_none() => {
                Ok(Some(Model::load(path, !self.unconstrained)?))
            }
            Some(_) => bail!("--proposers does not name `model`, so that --model is of no use"),
            None if named => bail!("the proposer `model` needs a checkpoint: --model DIR"),
            None => Ok(None),
        }
    }
}
