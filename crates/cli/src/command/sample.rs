//! `stampmill sample`: kernels from a language model.

mod want;

use crate::{
    Global,
    choice::choice,
    destination, interrupt, output,
    progress::Bar,
    runs::{Runs, is_pass},
    stage,
};
use anyhow::{anyhow, bail};
use dataset::{
    Dataset, Progress,
    stage::{Cancel, Done, Stage},
};
use lm::{Checkpoint, Choice, Drawing, Precision, Prompt, TrainingSet, condition};
use rows::SampleVerdict;
use sampling::{Sampler, Settings, Summary, corpus};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Instant,
};
use synth::Exclusion;

/// Draw kernels from a language model and judge them
#[derive(clap::Args, Debug)]
#[command(mut_arg(
    "out",
    destination::optional("The data set to make; without it, accepted kernels are printed")
))]
#[command(after_help = help!("sample"))]
pub(crate) struct Sample {
    #[command(flatten)]
    drawing: DrawingFlags,
    /// How often a sample is drawn at most until it has the features of --want, passes with --must-run, is new with --novel,
    /// is likely enough for --most-bits, and with --prompt compiles and changes something of what it does without it
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1000))]
    tries: u64,
    /// Refuse a model that was trained on the programs here, on copies of them, or on kernels of their names; may be
    /// given several times
    #[arg(long, value_name = "PATH")]
    exclude: Vec<PathBuf>,
    /// Accept it all the same, and one that does not say what it was trained on
    #[arg(long, requires = "exclude")]
    accept_model: bool,
    /// Run what compiles on the processor's device; what `run`'s checker rejects, or whose work-items race or read local memory
    /// that nothing has written, is drawn anew, and `does-not-run` in the end
    #[arg(long)]
    must_run: bool,
    /// Accept kernels whose work-items race, or read local memory that nothing has written
    #[arg(long, requires = "must_run")]
    allow_races: bool,
    /// Draw near-duplicates of the kernels that the model learned from anew; what is one in the end is `near-duplicate`
    #[arg(long)]
    novel: bool,
    /// Draw kernels that take more bits a token to the model anew (as it expects kernels, without a prompt or conditions); what
    /// takes more in the end is `unlikely`
    #[arg(long, value_name = "BITS", value_parser = super::steer::bits)]
    most_bits: Option<f64>,
    #[command(flatten)]
    output: Option<destination::StageOutput>,
}

/// Samples that are not as asked, of which it is said what they have instead.
const NAMED: usize = 3;

/// Flags of what draws samples.
#[derive(clap::Args, Debug)]
pub(crate) struct DrawingFlags {
    /// A checkpoint folder
    pub(crate) checkpoint: PathBuf,
    /// How many samples to draw
    #[arg(long, default_value_t = 10)]
    pub(crate) n: u64,
    /// A file with the text to go on from, or the text itself, with one `[HOLE]`; else `kernel void [HOLE]`
    #[arg(long, value_name = "FILE|TEXT")]
    prompt: Option<PathBuf>,
    /// The arguments that all kernels have: "global float*, const int"; what has others is `not-as-asked`
    #[arg(long, value_name = "TYPES", conflicts_with = "prompt")]
    args: Option<String>,
    /// The size of work-groups that all kernels demand: `64`, or `8,8,1` (reqd_work_group_size)
    #[arg(long, value_name = "X[,Y[,Z]]", conflicts_with = "prompt", value_parser = work_group)]
    work_group: Option<WorkGroup>,
    /// Features that all kernels have, for example mem=4,localmem=0 (infill), each in its step: 0, 1, 2 to 3, 4 to 7, 8 to 15
    /// and so on; what has others is `not-as-asked`. `steer` reaches points exactly
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',')]
    want: Vec<String>,
    /// Below 1 the likely is preferred, above 1 the unlikely; 0: always the likeliest
    #[arg(long, default_value_t = 0.9, value_parser = temperature)]
    temperature: f32,
    /// Draw from the likeliest tokens that hold this share
    #[arg(long, default_value_t = 1.0, value_parser = share)]
    top_p: f32,
    /// Same seed, same samples
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Fewest tokens that are drawn: a kernel does not end before, unless the model finds no statement that goes on; without
    /// its dead code it may have fewer
    #[arg(long, default_value_t = 0)]
    shortest: usize,
    /// Most tokens of a sample
    #[arg(long, default_value_t = 768)]
    longest: usize,
    /// Do not rule out what cannot compile while drawing
    #[arg(long)]
    unconstrained: bool,
    /// Do not rule out statements without effect and kernels that write no result, and keep dead code
    #[arg(long)]
    allow_useless: bool,
    /// Where the model runs: `cpu` here, `cuda` or `cpu-torch` in the libtorch engine (a checkout's `make torch` builds it)
    #[arg(long, default_value = "cpu", value_name = "DEVICE", value_parser = choice(DEVICES))]
    device: &'static str,
    /// What the model's products are made in with `--device cpu`: `bf16` is faster where the processor has products of
    /// it, and draws other samples [default: f32]; engines elsewhere choose by their device
    #[arg(long, value_name = "KIND", value_parser = choice(&[("f32", Precision::Single), ("bf16", Precision::Half)]))]
    precision: Option<Precision>,
    /// Samples drawn side by side [default: 96, on a GPU 4096]
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// Judge samples that `stampmill-torch sample` drew: one JSON list of ids a line
    #[arg(long, value_name = "FILE")]
    drawn: Option<PathBuf>,
}

/// Where a model runs: the libtorch engine's name for the device; empty: here.
pub(super) const DEVICES: &[(&str, &str)] = &[("cpu", ""), ("cuda", "cuda"), ("cpu-torch", "cpu")];

impl Sample {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let checkpoint = Checkpoint::load(&self.drawing.checkpoint)?;
        if !self.exclude.is_empty() && !self.accept_model {
            let mut exclusion = Exclusion::default();
            self.exclude.iter().try_for_each(|path| exclusion.add_path(path))?;
            let training = TrainingSet::read(checkpoint.folder())?;
            exclusion.check_model(checkpoint.folder(), training.as_ref())?;
        }
        let settings = Settings {
            must_run: self.must_run,
            novel: self.novel,
            most_bits: self.most_bits,
            tries: self.tries,
            ..self.drawing.settings(true)?
        };
        let cancelled = interrupt::final_flag()?;
        let cancel = Cancel::from(Arc::clone(&cancelled));
        let group = self.drawing.group_items();
        let runs = Runs::wanted(self.must_run, self.allow_races, group, &cancelled, global)?;
        let check =
            |text: &str| unless_passed(runs.as_ref().map_or(Ok(None), |runs| runs.check(text))?);
        let sampler = Sampler::new(&checkpoint, settings, global.jobs(), &cancel)?;
        let bar = Bar::new(global);
        let mut sampler = describing(sampler, global)?.watched_by(&bar);
        if self.must_run {
            sampler = sampler.checked_by(&check);
        }
        if let Some(output) = &self.output {
            let context = output.context(global.jobs(), &bar, &cancelled);
            return stage::run(&sampler, &context, global);
        }
        let is_asked = is_asked(&Stage::settings(&sampler));
        let began = Instant::now();
        // Counts of a part would be taken for those of the whole.
        let rows = match global.json {
            true => sampler.sample(&bar)?,
            false => sampler.sample_until_stopped(&bar)?,
        };
        let is_cut = cancel.is_cancelled() && (rows.len() as u64) < self.drawing.n;
        let summary = Summary::of(&rows);
        let seconds = began.elapsed().as_secs_f64();
        let done = Done { summary, seconds, left_out: BTreeMap::new() };
        bar.end();
        if global.json {
            output::json(&done)?;
        } else {
            let accepted = SampleVerdict::Accepted.name();
            for row in rows.iter().filter(|row| row.verdict == accepted) {
                output::line(row.text.trim_end())?;
                output::line("")?;
            }
            eprintln!("{}", line(&done.summary, seconds, is_asked));
            let missed = SampleVerdict::NotAsAsked.name();
            for row in rows.iter().filter(|row| row.verdict == missed).take(NAMED) {
                eprintln!("{}", output::plain(&format!("sample {}: {}", row.number, row.detail)));
            }
        }
        if let Some(status) = interrupt::status().filter(|_| is_cut) {
            eprintln!(
                "stopped after {} of {} samples; the same command begins anew, with --out DIR it goes on where it was stopped",
                output::count(rows.len() as u64),
                output::count(self.drawing.n)
            );
            return Ok(status);
        }
        Ok(stage::status::<Sampler<'_>>(&done.summary))
    }
}

impl stage::Shown for Sampler<'_> {
    fn print(summary: &Summary, seconds: f64, out: &str) -> anyhow::Result<()> {
        let made = Dataset::open(out.as_ref());
        let is_asked = made.is_ok_and(|made| is_asked(&made.manifest().notes.configuration));
        output::line(&format!("{} in {out}", line(summary, seconds, is_asked)))
    }

    fn is_good(summary: &Summary) -> bool {
        summary.compiling_unique > 0 && missed(summary) == 0
    }

    fn is_nothing(manifest: &dataset::Manifest) -> bool {
        stage::is_all_rejected(manifest)
    }
}

/// The same, with what says which features samples have, where some are asked for.
pub(crate) fn describing<'a>(sampler: Sampler<'a>, global: &Global) -> anyhow::Result<Sampler<'a>> {
    if !sampler.asks_for_features() {
        return Ok(sampler);
    }
    let spaces = features::spaces(corpus::SPACES)?;
    Ok(sampler.describing(super::features::extractor(spaces, 1, global)?))
}

/// What running came to, if it is not that the program passes.
pub(crate) fn unless_passed(found: Option<String>) -> Result<Option<String>, String> {
    Ok(found.filter(|found| !is_pass(found)))
}

/// Samples that have not what was asked for, do not pass, or are like what was learned, or unlikely, where that was not wanted.
fn missed(summary: &Summary) -> u64 {
    let count = |verdict: SampleVerdict| summary.verdicts.get(verdict.name()).copied().unwrap_or(0);
    let unmet = [
        SampleVerdict::NotAsAsked,
        SampleVerdict::DoesNotRun,
        SampleVerdict::NearDuplicate,
        SampleVerdict::Unlikely,
    ];
    unmet.into_iter().map(count).sum()
}

/// Whether samples were to have certain arguments or features: by what shaped them.
fn is_asked(settings: &Value) -> bool {
    let prompt = &settings["drawing"]["prompt"];
    !prompt["arguments"].is_null()
        || prompt["features"].as_object().is_some_and(|features| !features.is_empty())
}

fn line(summary: &Summary, seconds: f64, is_asked: bool) -> String {
    // What compiles and is rejected all the same is not among those that are counted.
    let rejected_for = [
        (SampleVerdict::TooSmall, "compute something"),
        (SampleVerdict::DoesNotRun, "pass"),
        (SampleVerdict::NotAsAsked, "are as asked"),
        (SampleVerdict::NoEffect, "have an effect"),
        (SampleVerdict::Undefined, "are defined"),
        (SampleVerdict::NearDuplicate, "are new"),
        (SampleVerdict::Unlikely, "are likely enough"),
    ];
    let met = rejected_for
        .into_iter()
        .filter(|(verdict, _)| {
            summary.verdicts.contains_key(verdict.name())
                || is_asked && *verdict == SampleVerdict::NotAsAsked
        })
        .map(|(_, what)| what);
    let all: Vec<&str> = std::iter::once("compile").chain(met).collect();
    let what = match all.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    };
    format!(
        "{} samples, {} unique, {} of these {what}; {} memorised; {seconds:.1} s",
        output::count(summary.samples),
        output::count(summary.unique),
        output::count(summary.compiling_unique),
        output::count(summary.memorised),
    ) + &told(
        summary,
        SampleVerdict::NotAsAsked,
        "have not the arguments or features that were asked for",
    ) + &told(
        summary,
        SampleVerdict::NoEffect,
        "change nothing of what the prompt does without them",
    ) + &told(summary, SampleVerdict::Undefined, "do what the language leaves undefined")
        + &told(summary, SampleVerdict::TooSmall, "compute too little to be of use")
        + &told(summary, SampleVerdict::DoesNotRun, "do not pass when they are run")
        + &told(
            summary,
            SampleVerdict::NearDuplicate,
            "are near-duplicates of what the model learned from",
        )
        + &told(summary, SampleVerdict::Unlikely, "take more bits a token than --most-bits")
}

/// How many there are of a verdict, if any.
fn told(summary: &Summary, verdict: SampleVerdict, what: &str) -> String {
    let name = verdict.name();
    summary.verdicts.get(name).map_or(String::new(), |count| {
        let (count, all) = (output::count(*count), output::count(summary.samples));
        format!("; {count} of {all} {what} ({name})")
    })
}

/// Whether a prompt is given as text, where the name of a file could stand.
fn is_prompt(given: &Path) -> bool {
    given.to_str().is_some_and(|text| text.contains(lm::HOLE)) && !given.exists()
}

fn temperature(text: &str) -> Result<f32, String> {
    let wrong = || format!("`{text}` is no temperature; write a number from 0 on, for example 0.9");
    text.parse().ok().filter(|value: &f32| value.is_finite() && *value >= 0.0).ok_or_else(wrong)
}

fn share(text: &str) -> Result<f32, String> {
    let wrong = || format!("`{text}` is no share; write a number above 0 and at most 1");
    text.parse().ok().filter(|value: &f32| *value > 0.0 && *value <= 1.0).ok_or_else(wrong)
}

/// The size of a work-group in three dimensions.
#[derive(Clone, Copy, Debug)]
struct WorkGroup([u64; 3]);

impl WorkGroup {
    /// Most work-items of a group: what devices have in common.
    const MOST: u64 = 1024;

    fn items(self) -> u64 {
        self.0.iter().product()
    }

    /// A kernel's head that demands it.
    fn demanded(self, head: &str) -> String {
        let [x, y, z] = self.0;
        let demand = format!("__kernel __attribute__((reqd_work_group_size({x}, {y}, {z})))");
        let rest = head.trim_start_matches('_').trim_start_matches("kernel");
        demand + rest
    }
}

fn work_group(text: &str) -> Result<WorkGroup, String> {
    let most = WorkGroup::MOST;
    let wrong = || {
        format!(
            "`{text}` is no size of a work-group; write 64 or 8,8,1, of {most} work-items at most"
        )
    };
    let sides: Option<Vec<u64>> = text
        .split(',')
        .map(|side| side.trim().parse::<u64>().ok().filter(|side| (1..=most).contains(side)))
        .collect();
    let mut sides = sides.ok_or_else(wrong)?;
    sides.resize(sides.len().max(3), 1);
    let group = WorkGroup(sides.try_into().map_err(|_| wrong())?);
    if group.items() > most { Err(wrong()) } else { Ok(group) }
}

/// Whether a prompt that is no file is the text of a kernel.
fn is_code(prompt: &Path) -> bool {
    let text = prompt.to_string_lossy();
    let is_kernel = text.starts_with("kernel ") || text.starts_with("__kernel ");
    !prompt.exists() && (is_kernel || text.contains(['{', '(', ';', '\n']))
}

impl DrawingFlags {
    /// Work-items of the groups that all kernels demand; 1 where they demand none.
    pub(crate) fn group_items(&self) -> u64 {
        self.work_group.map_or(1, WorkGroup::items)
    }

    fn prompt(&self) -> anyhow::Result<Prompt> {
        let text = match (&self.prompt, &self.args) {
            (Some(text), _) if is_prompt(text) => text.to_string_lossy().into_owned(),
            (Some(path), _) if is_code(path) => {
                bail!(
                    "a prompt needs one {}, where the model is to go on; this text has none",
                    lm::HOLE
                )
            }
            (Some(path), _) if !path.exists() => {
                bail!(
                    "there is no file {}, and a prompt that is a text needs one {}",
                    path.display(),
                    lm::HOLE
                )
            }
            (Some(path), _) => {
                let text = fs::read_to_string(path)
                    .map_err(|error| anyhow!(dataset::refusal("read", path, &error)))?;
                anyhow::ensure!(
                    text.contains(lm::HOLE),
                    "{} has no {}: write it where the model is to go on",
                    path.display(),
                    lm::HOLE
                );
                text
            }
            (None, Some(arguments)) => {
                let head = condition::head(arguments);
                head.map_err(|reason| anyhow!("--args {arguments}: {reason}"))? + lm::HOLE
            }
            (None, None) => lm::START.to_owned(),
        };
        let text = match self.work_group {
            Some(group) => group.demanded(&text),
            None => text,
        };
        // What was drawn elsewhere was drawn behind the prompt as it stands.
        let text = if self.drawn.is_some() {
            text
        } else {
            let text = sampling::without_directives(&text)?.unwrap_or(text);
            sampling::in_known_names(&text).unwrap_or(text)
        };
        let mut prompt = Prompt { arguments: self.args.clone(), ..Prompt::new(&text) };
        prompt.features = want::wanted(&self.want)?;
        Ok(prompt)
    }

    /// What is drawn; `normalise`: accepted samples are put into normal form.
    pub(crate) fn settings(&self, normalise: bool) -> anyhow::Result<Settings> {
        let precision = match self.precision {
            Some(_) if !self.device.is_empty() => {
                bail!("--precision is for --device cpu: bf16 is what GPUs use anyway");
            }
            Some(Precision::Half) if !Precision::Half.is_here() => {
                bail!(
                    "this processor has no products of bf16 (AVX512-BF16): leave --precision out"
                );
            }
            given => given.unwrap_or(Precision::Single),
        };
        let drawing = Drawing {
            precision,
            choice: Choice { temperature: self.temperature, top_p: self.top_p },
            seed: self.seed,
            constrained: !self.unconstrained,
            useful: !self.unconstrained && !self.allow_useless,
            shortest: self.shortest,
            longest: self.longest,
            slots: self.batch.unwrap_or(if self.device == "cuda" { 4096 } else { 96 }),
        };
        Ok(Settings {
            prompt: self.prompt()?,
            drawing,
            samples: self.n,
            tries: 1,
            device: Some(self.device.to_owned()).filter(|device| !device.is_empty()),
            drawn: self.drawn.clone(),
            normalise,
            novel: false,
            most_bits: None,
            must_run: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_all_samples_are_as_asked_is_said_where_something_was_asked() {
        let asked = |arguments: Value, features: Value| {
            let prompt = serde_json::json!({ "arguments": arguments, "features": features });
            is_asked(&serde_json::json!({ "drawing": { "prompt": prompt } }))
        };
        let none = serde_json::json!({});
        assert!(!asked(Value::Null, none.clone()) && !is_asked(&Value::Null));
        assert!(asked("global float*".into(), none));
        assert!(asked(Value::Null, serde_json::json!({ "mem": 4.0 })));
        let summary = Summary { samples: 6, unique: 6, compiling_unique: 6, ..Summary::default() };
        let said = line(&summary, 1.0, true);
        assert!(said.contains("6 of these compile and are as asked; 0 memorised"), "{said}");
        assert!(line(&summary, 1.0, false).contains("6 of these compile; 0 memorised"));
    }

    #[test]
    fn a_head_demands_the_size_of_its_work_groups() {
        let demanded = |size, head| work_group(size).map(|group| group.demanded(head));
        let text = demanded("8, 4", "kernel void [HOLE]").expect("a size");
        assert_eq!(text, "__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void [HOLE]");
        let text = demanded("64", "__kernel void A(__global int* a) {[HOLE]").expect("a size");
        assert!(text.ends_with("(64, 1, 1))) void A(__global int* a) {[HOLE]"), "{text}");
        for wrong in ["", "0", "8,", "1,2,3,4", "1025", "64,64", "-1", "many"] {
            assert!(work_group(wrong).is_err(), "{wrong}");
        }
    }
}
