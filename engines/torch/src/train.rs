//! `stampmill-torch train`: the loop.

use crate::{
    corpus::Corpus,
    device,
    instance::{self, Batch},
    model::{self, Model, Run},
    optimiser::Optimiser,
    settings::Settings,
    weights,
};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::{
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tch::{Device, Kind, Reduction, Tensor};

/// Train in a folder.
#[derive(clap::Args, Debug)]
pub(crate) struct Train {
    /// The training folder
    folder: PathBuf,
    /// `cpu`, `cuda`, or `auto` for CUDA where there is one
    #[arg(long, default_value = "auto")]
    device: String,
    /// `bf16` or `f32` matrix products; bf16 on a GPU and f32 on a CPU unless given
    #[arg(long)]
    precision: Option<String>,
    /// Places of one pass through the model; the gradient of a step is summed over several
    #[arg(long)]
    micro_tokens: Option<usize>,
    /// Stop after this time, as if the budget were used up
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u64>,
    /// Stop after this many steps in all
    #[arg(long)]
    steps: Option<u64>,
    /// Go on where a stopped run was
    #[arg(long)]
    resume: bool,
    /// Do not keep what is needed to resume
    #[arg(long)]
    no_state: bool,
}

/// A line of `metrics.jsonl`.
#[derive(Clone, Debug, Serialize)]
struct Metric {
    step: u64,
    tokens: u64,
    seconds: f64,
    loss: f64,
    validation_loss: Option<f64>,
    learning_rate: f64,
    gradient_norm: f64,
    tokens_per_second: f64,
}

/// How far a run is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    step: u64,
    tokens: u64,
    seconds: f64,
    best: Option<f64>,
    bad_looks: u64,
    #[serde(default)]
    loss: f64,
}

/// The last line on standard output.
#[derive(Serialize)]
struct Summary {
    done: bool,
    steps: u64,
    tokens: u64,
    seconds: f64,
    loss: f64,
    validation_loss: Option<f64>,
    tokens_per_second: f64,
    parameters: i64,
    device: String,
    stopped: &'static str,
    /// Tokens that fitted into memory at a time, where it were fewer than asked for.
    fitted: Option<usize>,
}

impl Train {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let device = device::choose(&self.device)?;
        let half = device::half(self.precision.as_deref(), device)?;
        tch::Cuda::cudnn_set_benchmark(false);
        let settings = Settings::read(&self.folder)?;
        let corpus = Corpus::read(&self.folder)?;
        let model = model::to_train(&self.folder, settings.seed, settings.lora, device)?;
        eprintln!(
            "{} texts to train on, {} to pre-train on, {} to validate, {} of {} weights to train, {} steps of {} tokens on {device:?}",
            corpus.len(),
            corpus.functions(),
            corpus.validation.len(),
            model.trained().count(),
            model.parameters().count(),
            settings.steps(),
            settings.batch_tokens,
        );
        let micro = self.micro_tokens.unwrap_or(if device.is_cuda() { 1 << 16 } else { 1 << 12 });
        let mut training = Training {
            folder: &self.folder,
            optimiser: Optimiser::new(model.trained(), settings.method),
            state: State::default(),
            device,
            half,
            micro,
            asked: micro,
            metrics: Vec::new(),
            corpus,
            model,
            settings,
        };
        if self.resume {
            training.restore()?;
        }
        let keep = !self.no_state;
        let last = self.steps.unwrap_or(u64::MAX).min(training.settings.steps());
        training.all(last, self.seconds.map(Duration::from_secs), keep)
    }
}

struct Training<'a> {
    folder: &'a Path,
    settings: Settings,
    corpus: Corpus,
    model: Box<dyn Model>,
    optimiser: Optimiser,
    state: State,
    device: Device,
    half: bool,
    micro: usize,
    /// What `micro` was at first.
    asked: usize,
    metrics: Vec<String>,
}

impl Training<'_> {
    fn all(&mut self, last: u64, limit: Option<Duration>, keep: bool) -> anyhow::Result<()> {
        let looks = instance::of_validation(&self.corpus, &self.settings);
        let began = Instant::now();
        let (before, tokens_before) = (self.state.seconds, self.state.tokens);
        let mut stopped = "budget";
        let mut loss = self.state.loss;
        while self.state.step < last {
            let step = self.state.step;
            let (now, norm) = self.step(step)?;
            loss = now;
            self.state.step += 1;
            self.state.loss = loss;
            self.state.seconds = before + began.elapsed().as_secs_f64();
            let out_of_time = limit.is_some_and(|limit| began.elapsed() >= limit);
            let ends = self.state.step == last || out_of_time;
            let due = ends || self.state.step.is_multiple_of(self.settings.validate_every);
            let mut validation_loss = None;
            if due && !looks.is_empty() {
                validation_loss = Some(self.look(&looks)?);
            }
            let spent = (self.state.seconds - before).max(1e-9);
            self.tell(&Metric {
                step: self.state.step,
                tokens: self.state.tokens,
                seconds: self.state.seconds,
                loss,
                validation_loss,
                learning_rate: self.settings.rate(step),
                gradient_norm: norm,
                tokens_per_second: (self.state.tokens - tokens_before) as f64 / spent,
            })?;
            let better =
                validation_loss.is_some_and(|loss| self.state.best.is_none_or(|best| loss < best));
            if better {
                self.state.best = validation_loss;
                self.state.bad_looks = 0;
            } else if validation_loss.is_some() {
                self.state.bad_looks += 1;
            }
            if better || (due && looks.is_empty()) {
                model::save(&*self.model, self.folder, true)?;
            }
            let stuck =
                self.settings.patience > 0 && self.state.bad_looks >= self.settings.patience;
            if keep && due {
                self.write_metrics()?;
                self.keep()?;
            }
            if out_of_time || stuck {
                stopped = if stuck { "no better validation loss" } else { "time" };
                break;
            }
        }
        self.write_metrics()?;
        let spent = (self.state.seconds - before).max(1e-9);
        let summary = Summary {
            done: true,
            steps: self.state.step,
            tokens: self.state.tokens,
            seconds: self.state.seconds,
            loss,
            validation_loss: self.state.best,
            tokens_per_second: (self.state.tokens - tokens_before) as f64 / spent,
            parameters: self.model.parameters().count(),
            device: format!("{:?}", self.device),
            stopped,
            fitted: (self.micro < self.asked).then_some(self.micro),
        };
        let text = serde_json::to_string(&summary)?;
        weights::put(&self.folder.join("summary.json"), &text)?;
        println!("{text}");
        Ok(())
    }

    /// One step; where memory runs out, in smaller pieces.
    fn step(&mut self, step: u64) -> anyhow::Result<(f64, f64)> {
        let instances = instance::of_step(&self.corpus, &self.settings, step);
        loop {
            tch::manual_seed((self.settings.seed ^ (step + 1).wrapping_mul(0x9e37_79b9)) as i64);
            let tried = catch_unwind(AssertUnwindSafe(|| self.gradient(&instances)));
            let (gradient, loss, tokens) = match tried {
                Ok(done) => done,
                Err(panic) if device::says_no_memory(&*panic) => {
                    if self.micro / 2 < self.settings.length {
                        bail!(
                            "out of memory even with {} tokens at a time: a smaller model or a shorter `length` fits",
                            self.micro
                        );
                    }
                    self.micro /= 2;
                    eprintln!("out of memory: going on with --micro-tokens {}", self.micro);
                    continue;
                }
                Err(panic) => std::panic::resume_unwind(panic),
            };
            if !loss.is_finite() {
                bail!(
                    "the loss is {loss} in step {}: nothing was learned from it; model.safetensors holds the best weights before (a lower learning_rate helps most often)",
                    step + 1
                );
            }
            let norm = self.optimiser.step(self.model.trained(), gradient, &self.settings, step);
            self.state.tokens += tokens;
            return Ok((loss, norm.double_value(&[])));
        }
    }

    /// The flat gradient over all instances, their mean loss and their tokens.
    fn gradient(&self, instances: &[instance::Instance]) -> (Tensor, f64, u64) {
        let run = Run { training: true, half: self.half, dropout: self.settings.dropout };
        let batches =
            instance::batches(instances, self.micro, self.settings.special.pad, self.device);
        let whole: u64 = batches.iter().map(|batch| batch.count).sum();
        let parameters = self.model.trained();
        let leaves = parameters.tensors();
        let mut sum: Option<Tensor> = None;
        let mut losses = Tensor::zeros([], (Kind::Float, self.device));
        let mut tokens = 0;
        for batch in &batches {
            let loss = self.loss(batch, run) / whole as f64;
            losses += loss.detach();
            tokens += batch.tokens;
            let gradients = Tensor::run_backward(&[&loss], &leaves, false, false);
            let flat: Vec<Tensor> = gradients.iter().map(|g| g.reshape([-1])).collect();
            let flat = Tensor::cat(&flat, 0);
            sum = Some(match sum {
                Some(sum) => sum + flat,
                None => flat,
            });
        }
        (sum.unwrap_or_default(), losses.double_value(&[]), tokens)
    }

    /// The summed loss of a batch.
    fn loss(&self, batch: &Batch, run: Run) -> Tensor {
        let hidden = self.model.hidden(&batch.input, run);
        let width = hidden.size()[2];
        let chosen = hidden.reshape([-1, width]).index_select(0, &batch.places);
        let logits = self.model.head(&chosen, run).to_kind(Kind::Float);
        logits.cross_entropy_loss::<Tensor>(&batch.targets, None, Reduction::Sum, -100, 0.0)
    }

    /// The mean loss over the validation instances.
    fn look(&self, instances: &[instance::Instance]) -> anyhow::Result<f64> {
        let _no_grad = tch::no_grad_guard();
        let run = Run { training: false, half: self.half, dropout: 0.0 };
        let (mut sum, mut count) = (0.0, 0);
        for batch in
            instance::batches(instances, self.micro, self.settings.special.pad, self.device)
        {
            sum += self.loss(&batch, run).double_value(&[]);
            count += batch.count;
        }
        let loss = sum / count.max(1) as f64;
        if !loss.is_finite() {
            bail!("the validation loss is {loss} after step {}", self.state.step);
        }
        Ok(loss)
    }

    fn tell(&mut self, metric: &Metric) -> anyhow::Result<()> {
        let text = serde_json::to_string(metric)?;
        // A reader that has gone away is no reason to stop training.
        let _ = writeln!(std::io::stdout(), "{text}");
        self.metrics.push(text);
        if metric.validation_loss.is_some() {
            self.write_metrics()?;
        }
        Ok(())
    }

    fn write_metrics(&self) -> anyhow::Result<()> {
        weights::put(&self.folder.join("metrics.jsonl"), &(self.metrics.join("\n") + "\n"))
    }

    fn keep(&self) -> anyhow::Result<()> {
        let state = self.optimiser.state(self.model.trained());
        let text = serde_json::to_string(&self.state)?;
        let metadata = [("state".to_owned(), text)].into();
        weights::write(&self.folder.join("state.safetensors"), &state, Some(metadata))
    }

    fn restore(&mut self) -> anyhow::Result<()> {
        let path = self.folder.join("state.safetensors");
        if !path.exists() {
            eprintln!("nothing to resume in {}: starting afresh", self.folder.display());
            return Ok(());
        }
        let bytes =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let (_, header) = safetensors::SafeTensors::read_metadata(&bytes)
            .with_context(|| format!("{} is cut short", path.display()))?;
        let text = header.metadata().as_ref().and_then(|all| all.get("state"));
        let text = text.with_context(|| format!("{} is no training state", path.display()))?;
        let state: State = serde_json::from_str(text)?;
        self.optimiser.restore(self.model.trained(), weights::read(&path)?, &path)?;
        let metrics =
            std::fs::read_to_string(self.folder.join("metrics.jsonl")).unwrap_or_default();
        self.metrics = metrics.lines().take(state.step as usize).map(str::to_owned).collect();
        eprintln!("going on after step {}", state.step);
        self.state = state;
        Ok(())
    }
}
