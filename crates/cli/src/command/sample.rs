//! `stampmill sample`: kernels from a language model.

use crate::{
    Global,
    destination::{self, StageOutput},
    interrupt, output,
    progress::Bar,
};
use anyhow::{Context, bail};
use dataset::stage::{self, Cancel, Done};
use lm::{Checkpoint, Choice, Drawing, Precision, Prompt, TrainingSet};
use sampling::{Sampler, Settings, Summary};
use std::{
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
#[command(after_help = "Examples:\n  \
    stampmill sample models/infill --n 5\n  \
    stampmill sample models/infill --n 1000 --seed 1 --out samples\n  \
    stampmill sample models/infill --args \"global float*, global float*, const int\" --n 10\n  \
    stampmill sample models/infill --want mem=8,localmem=2 --n 10\n  \
    stampmill sample models/infill --prompt half_a_kernel.cl --n 3       with one [HOLE] in it\n  \
    stampmill sample models/infill --n 10000 --device cuda --out samples\n\n\
Every sample is judged as mined kernels are: it compiles alone, and its kernel has three instructions\n\
or more. The data set at --out holds the others too, with verdicts; without --out accepted kernels\n\
are printed. The same seed gives the same kernels. With --out, a run that was stopped is resumed when\n\
the same command is given again, by chunks of 1,024 samples or more.")]
pub(crate) struct Sample {
    #[command(flatten)]
    drawing: DrawingFlags,
    /// Refuse a model that was trained on the programs here, on copies of them, or on kernels of their names; may be
    /// given several times
    #[arg(long, value_name = "PATH")]
    exclude: Vec<PathBuf>,
    /// Accept it all the same, and one that does not say what it was trained on
    #[arg(long, requires = "exclude")]
    accept_model: bool,
    #[command(flatten)]
    output: Option<StageOutput>,
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

impl Sample {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let checkpoint = Checkpoint::load(&self.drawing.checkpoint)?;
        if !self.exclude.is_empty() && !self.accept_model {
            let mut exclusion = Exclusion::default();
            self.exclude.iter().try_for_each(|path| exclusion.add_path(path))?;
            let training = TrainingSet::read(checkpoint.folder())?;
            exclusion.check_model(checkpoint.folder(), training.as_ref())?;
        }
        let settings = self.drawing.settings(true)?;
        let cancelled = interrupt::flag()?;
        let cancel = Cancel::from(Arc::clone(&cancelled));
        let sampler = Sampler::new(&checkpoint, settings, global.jobs(), &cancel)?;
        let bar = Bar::new(global);
        let Some(output) = &self.output else {
            let began = Instant::now();
            let rows = sampler.sample(&bar)?;
            let seconds = began.elapsed().as_secs_f64();
            drop(bar);
            let accepted = rows::SampleVerdict::Accepted.name();
            for row in rows.iter().filter(|row| !global.json && row.verdict == accepted) {
                output::line(row.text.trim_end())?;
                output::line("")?;
            }
            return show(&Done { summary: Summary::of(&rows), seconds }, None, global);
        };
        let done = stage::run(&sampler, &output.context(global.jobs(), &bar, &cancelled))?;
        drop(bar);
        let status = show(&done, Some(&output.out), global)?;
        // One part of many may hold nothing.
        Ok(if output.part.is_some() { ExitCode::SUCCESS } else { status })
    }
}

/// Print what was drawn, or what a merge came to.
pub(super) fn show(
    done: &Done<Summary>,
    out: Option<&Path>,
    global: &Global,
) -> anyhow::Result<ExitCode> {
    let Done { summary, seconds } = done;
    let place = out.map(|out| format!(" in {}", out.display())).unwrap_or_default();
    let line = format!(
        "{} samples, {} unique, {} of these compile; {} memorised; {seconds:.1} s{place}",
        output::count(summary.samples),
        output::count(summary.unique),
        output::count(summary.compiling_unique),
        output::count(summary.memorised),
    );
    output::report(global, done, || match out {
        Some(_) => output::line(&line),
        None => {
            eprintln!("{line}");
            Ok(())
        }
    })?;
    Ok(if summary.compiling_unique > 0 { ExitCode::SUCCESS } else { output::NEGATIVE })
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

    /// What is drawn; `normalise`: accepted samples are put into normal form.
    pub(crate) fn settings(&self, normalise: bool) -> anyhow::Result<Settings> {
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
            slots: self.batch.unwrap_or(if self.device == Device::Cuda { 4096 } else { 96 }),
        };
        Ok(Settings {
            prompt: self.prompt()?,
            drawing,
            samples: self.n,
            device: self.device.elsewhere().map(str::to_owned),
            drawn: self.drawn.clone(),
            normalise,
        })
    }
}
