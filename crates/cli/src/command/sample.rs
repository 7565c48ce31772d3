//! `stampmill sample`: kernels from a language model.

use crate::{Global, interrupt, output, progress::Bar};
use anyhow::{Context, bail};
use dataset::{Builder, Notes, Progress, Verdict};
use kernels::Judge;
use lm::{Checkpoint, Choice, Drawing, Kind, Precision, Prompt, Sample as Drawn, Sampler, Seen};
pub(crate) use rows::{SampleRow, SampleVerdict};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Mutex, atomic::Ordering, mpsc::sync_channel},
    time::Instant,
};

/// Draw kernels from a language model and judge them
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill sample models/infill --n 5\n  \
    stampmill sample models/infill --n 1000 --seed 1 --out samples\n  \
    stampmill sample models/infill --args \"global float*, global float*, const int\" --n 10\n  \
    stampmill sample models/infill --want mem=8,localmem=2 --n 10\n  \
    stampmill sample models/infill --prompt half_a_kernel.cl --n 3       with one [HOLE] in it\n  \
    stampmill sample models/infill --n 10000 --device cuda --out samples\n\n\
Every sample is judged as mined kernels are: it compiles alone, and its kernel has three instructions\n\
or more. The data set at --out holds the others too, with verdicts; without --out accepted kernels\n\
are printed. The same seed gives the same kernels.")]
pub(crate) struct Sample {
    #[command(flatten)]
    drawing: DrawingFlags,
    /// The data set to make
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace what is at --out
    #[arg(long)]
    force: bool,
}

/// Flags of what draws samples.
#[derive(clap::Args, Debug)]
pub(crate) struct DrawingFlags {
    /// A checkpoint folder
    pub(crate) checkpoint: PathBuf,
    /// How many samples to draw
    #[arg(long, default_value_t = 10)]
    pub(crate) n: u64,
    /// A file with the text to go on from, with one `[HOLE]`; else `kernel void [HOLE]`
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Wanted arguments, for example "global float*, const int" (infill)
    #[arg(long, value_name = "TYPES")]
    args: Option<String>,
    /// Wanted features, for example mem=8,localmem=2 (infill)
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',')]
    want: Vec<String>,
    /// Below 1 the likely is preferred, above 1 the unlikely
    #[arg(long, default_value_t = 0.9)]
    temperature: f32,
    /// Draw from the likeliest tokens that hold this share
    #[arg(long, default_value_t = 1.0)]
    top_p: f32,
    /// Same seed, same samples
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Most tokens of a sample
    #[arg(long, default_value_t = 768)]
    longest: usize,
    /// Do not rule out what cannot compile while drawing
    #[arg(long)]
    unconstrained: bool,
    /// Where the model runs: `cpu` here, `cuda` or `cpu-torch` in the libtorch engine (`make torch`)
    #[arg(long, default_value = "cpu", value_name = "DEVICE")]
    device: Device,
    /// What the model's products are made in with `--device cpu`: `bf16` is faster where the processor has products of
    /// it, and draws other samples [default: f32]; engines elsewhere choose by their device
    #[arg(long, value_name = "KIND")]
    precision: Option<Numbers>,
    /// Samples drawn side by side [default: 96, on a GPU 4096]
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// Judge samples that `stampmill-torch sample` drew: one JSON list of ids a line
    #[arg(long, value_name = "FILE")]
    drawn: Option<PathBuf>,
}

/// What products are made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Numbers {
    F32,
    Bf16,
}

/// Where a model runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Device {
    Cpu,
    Cuda,
    CpuTorch,
}

impl Device {
    /// The libtorch engine's name for it.
    fn elsewhere(self) -> Option<&'static str> {
        match self {
            Device::Cpu => None,
            Device::Cuda => Some("cuda"),
            Device::CpuTorch => Some("cpu"),
        }
    }
}

/// `--json` of `sample`.
#[derive(Debug, Serialize)]
struct Report {
    samples: u64,
    unique: u64,
    compiling_unique: u64,
    memorised: u64,
    verdicts: BTreeMap<String, u64>,
    seconds: f64,
}

impl Sample {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if let Some(out) = self.out.as_ref().filter(|out| out.exists() && !self.force) {
            return Err(dataset::Error::Exists(out.clone()).into());
        }
        let checkpoint = Checkpoint::load(&self.drawing.checkpoint)?;
        let bar = Bar::new(global);
        let began = Instant::now();
        let rows = self.drawing.judged(&checkpoint, global, &bar, true)?;
        drop(bar);
        let mut verdicts = BTreeMap::new();
        for row in &rows {
            *verdicts.entry(row.verdict.clone()).or_insert(0) += 1;
        }
        let accepted = rows.iter().filter(|row| row.verdict == Verdict::ACCEPTED);
        let report = Report {
            samples: rows.len() as u64,
            unique: rows.iter().map(|row| &row.text).collect::<BTreeSet<_>>().len() as u64,
            compiling_unique: accepted.clone().count() as u64,
            memorised: accepted.clone().filter(|row| row.memorised).count() as u64,
            verdicts: verdicts.clone(),
            seconds: began.elapsed().as_secs_f64(),
        };
        match &self.out {
            Some(out) => {
                let notes = Notes {
                    configuration: serde_json::json!({"drawing": format!("{:?}", self.drawing)}),
                    seed: self.drawing.seed,
                    verdicts,
                    ..Notes::default()
                };
                let key = format!("{:?}", self.drawing);
                Builder::<SampleRow>::create(out, self.force, &key)?.finish(rows, notes)?;
            }
            None if !global.json => {
                for row in accepted {
                    output::line(row.text.trim_end())?;
                    output::line("")?;
                }
            }
            None => {}
        }
        if global.json {
            output::json(&report)?;
        } else {
            let out = self.out.as_ref().map(|out| format!(" in {}", out.display()));
            let line = format!(
                "{} samples, {} unique, {} of these compile; {} memorised; {:.1} s{}",
                output::count(report.samples),
                output::count(report.unique),
                output::count(report.compiling_unique),
                output::count(report.memorised),
                report.seconds,
                out.unwrap_or_default()
            );
            match self.out {
                Some(_) => output::line(&line)?,
                None => eprintln!("{line}"),
            }
        }
        Ok(if report.compiling_unique > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
    }
}

impl DrawingFlags {
    fn prompt(&self) -> anyhow::Result<Prompt> {
        let text = match &self.prompt {
            Some(path) => fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?,
            None => lm::START.to_owned(),
        };
        let mut prompt = Prompt { arguments: self.args.clone(), ..Prompt::new(&text) };
        for want in &self.want {
            let Some((name, value)) = want.split_once('=') else {
                bail!("--want {want}: write NAME=VALUE");
            };
            if !lm::condition::FEATURES.contains(&name) {
                bail!("no feature `{name}`; there are {}", lm::condition::FEATURES.join(", "));
            }
            let value = value.parse().with_context(|| format!("--want {want}: no number"))?;
            prompt.features.insert(name.to_owned(), value);
        }
        Ok(prompt)
    }

    /// Draw samples and judge them, in the order of their numbers; `normalise` puts accepted ones
    /// into normal form.
    pub(crate) fn judged(
        &self,
        checkpoint: &Checkpoint,
        global: &Global,
        bar: &dyn Progress,
        normalise: bool,
    ) -> anyhow::Result<Vec<SampleRow>> {
        let cancelled = interrupt::flag()?;
        let judge = Judge::new(clang::Clang::start(global.jobs())?);
        // Only checkpoints made elsewhere lack it.
        let seen = Seen::read(checkpoint.folder())?;
        let (give, take) = sync_channel::<Drawn>(1024);
        let take = Mutex::new(take);
        let rows = Mutex::new(Vec::new());
        bar.begin("sampling", self.n);
        let drawn = std::thread::scope(|scope| {
            for _ in 0..global.jobs() {
                scope.spawn(|| {
                    loop {
                        let drawn =
                            take.lock().expect("no thread panics with the lock held").recv();
                        let Ok(drawn) = drawn else { return };
                        let row = judge_one(&judge, &seen, &drawn, normalise);
                        rows.lock().expect("no thread panics with the lock held").push(row);
                        bar.advance(1);
                    }
                });
            }
            let mut done =
                |drawn: Drawn| give.send(drawn).is_ok() && !cancelled.load(Ordering::Relaxed);
            let drawn = self.draw(checkpoint, &mut done);
            drop(give);
            drawn
        });
        drawn?;
        let mut rows = rows.into_inner().expect("no thread panics with the lock held");
        if cancelled.load(Ordering::Relaxed) {
            bail!(
                "stopped after {} of {} samples; nothing is written, the same seed draws them again",
                rows.len(),
                self.n
            );
        }
        rows.sort_by_key(|row| row.number);
        let mut first: BTreeMap<String, u64> = BTreeMap::new();
        for row in &mut rows {
            if row.verdict == Verdict::ACCEPTED {
                let number = *first.entry(row.text.clone()).or_insert(row.number);
                if number != row.number {
                    row.verdict = SampleVerdict::Duplicate.to_string();
                    row.detail = number.to_string();
                }
            }
        }
        Ok(rows)
    }

    fn draw(
        &self,
        checkpoint: &Checkpoint,
        done: &mut dyn FnMut(Drawn) -> bool,
    ) -> anyhow::Result<()> {
        let prompt = self.prompt()?;
        if let Some(path) = &self.drawn {
            return read_drawn(path, checkpoint, &prompt, self.n, done);
        }
        let batch = self.batch.unwrap_or(if self.device == Device::Cuda { 4096 } else { 96 });
        let precision = match self.precision {
            Some(_) if self.device != Device::Cpu => {
                bail!("--precision is for --device cpu: bf16 is what GPUs use anyway");
            }
            Some(Numbers::Bf16) if !Precision::Half.is_here() => {
                bail!(
                    "this processor has no products of bf16 (AVX512-BF16): leave --precision out"
                );
            }
            Some(Numbers::Bf16) => Precision::Half,
            _ => Precision::Single,
        };
        let drawing = Drawing {
            precision,
            choice: Choice { temperature: self.temperature, top_p: self.top_p },
            seed: self.seed,
            constrained: !self.unconstrained,
            longest: self.longest,
            slots: batch.min(usize::try_from(self.n).unwrap_or(usize::MAX)),
        };
        let longest = if checkpoint.kind() == Kind::Lstm { self.longest * 4 } else { self.longest };
        let drawing = Drawing { longest, ..drawing };
        let sampler = Sampler::new(checkpoint, drawing);
        let sampler = match self.device.elsewhere() {
            Some(device) => sampler.elsewhere(device),
            None => sampler,
        };
        sampler.draw(&prompt, 0..self.n, done)?;
        Ok(())
    }
}

/// Samples as `stampmill-torch sample` wrote them.
fn read_drawn(
    path: &Path,
    checkpoint: &Checkpoint,
    prompt: &Prompt,
    most: u64,
    done: &mut dyn FnMut(Drawn) -> bool,
) -> anyhow::Result<()> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (before, after) = prompt.text.split_once(lm::HOLE).unwrap_or((&prompt.text, ""));
    let tokenizer = checkpoint.tokenizer();
    let special = lm::tokenizer::Special::ALL;
    for (number, line) in (0..most).zip(text.lines()) {
        let ids: Vec<u16> = serde_json::from_str(line)
            .with_context(|| format!("{}, line {}: no list of ids", path.display(), number + 1))?;
        let ended = ids.last().is_some_and(|id| *id == special.end || *id == special.hole_end);
        let tokens = ids.len();
        let (before, after) = match checkpoint.kind() {
            Kind::Lstm => (tokenizer.encode_plain(before), tokenizer.encode_plain(after)),
            _ => (tokenizer.encode_plain(before.trim()), tokenizer.encode_plain(after.trim())),
        };
        let text = tokenizer.decode(&[before, ids, after].concat());
        if !done(Drawn { number, text, tokens, ended, closed: false, refused: 0 }) {
            break;
        }
    }
    Ok(())
}

fn judge_one(judge: &Judge, seen: &Seen, drawn: &Drawn, normalise: bool) -> SampleRow {
    let mut row = SampleRow {
        number: drawn.number,
        text: drawn.text.clone(),
        tokens: lexer::tokens(&drawn.text).count() as u32,
        closed: drawn.closed,
        refused: drawn.refused,
        ..SampleRow::default()
    };
    if !drawn.ended {
        row.verdict = SampleVerdict::Unfinished.to_string();
        row.detail = format!("{} tokens without an end", drawn.tokens);
        return row;
    }
    match judge.check(&drawn.text) {
        Ok(judged) => {
            row.verdict = Verdict::ACCEPTED.to_owned();
            row.instructions = judged.instructions;
            row.name = judged.kernel;
            if normalise && let Some(normal) = judge.normalise(&drawn.text) {
                row.text = normal.text;
                row.name = normal.name;
            }
        }
        Err(verdict) => {
            row.verdict = verdict.name.into_owned();
            row.detail = verdict.detail;
        }
    }
    row.memorised = seen.holds(&drawn.text) || seen.holds(&row.text);
    row
}
