//! `benchstone-torch`: the libtorch engine of Benchstone's language models.
//!
//! `benchstone train` writes a *training folder* (`corpus.safetensors`, `config.json`,
//! `training.json`, `tokenizer.json`) and this program trains in it, on the CPU or on a GPU:
//! it knows token ids, not programs. Weights are safetensors under the names that Hugging Face's
//! libraries use, so that the main binary's CPU engine and `transformers` read them as they are.
//!
//! | command | reads | writes |
//! |---|---|---|
//! | `train DIR` | a training folder | `model.safetensors`, `metrics.jsonl`, `state.*` to resume |
//! | `sample DIR` | a checkpoint | token ids, one row a sample |
//! | `logits DIR` | a checkpoint and token ids | logits, for the conformance tests |

mod bench;
mod corpus;
mod device;
mod instance;
mod model;
mod optimiser;
mod sample;
mod settings;
mod train;
mod weights;

use clap::{Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode};

/// Trains Benchstone's language models and samples from them with libtorch.
#[derive(Parser, Debug)]
#[command(name = "benchstone-torch", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Train in a folder that `benchstone train --prepare-only` made
    Train(train::Train),
    /// Draw token sequences from a checkpoint
    Sample(sample::Sample),
    /// Write the logits of token sequences
    Logits(Logits),
    /// Measure the speed of training and sampling
    Bench(bench::Bench),
    /// Say which devices there are
    Devices,
}

/// Logits of `tokens` (I64, rows × length) in a safetensors file.
#[derive(clap::Args, Debug)]
struct Logits {
    /// A checkpoint folder
    folder: PathBuf,
    /// A safetensors file with `tokens`
    #[arg(long)]
    tokens: PathBuf,
    /// The safetensors file to make, with `logits` (F32, rows × length × vocabulary)
    #[arg(short, long)]
    out: PathBuf,
    /// `cpu` or `cuda`
    #[arg(long, default_value = "cpu")]
    device: String,
}

impl Logits {
    fn run(&self) -> anyhow::Result<()> {
        let device = device::choose(&self.device)?;
        let model = model::load(&self.folder, device)?;
        let tokens = weights::read(&self.tokens)?;
        let tokens = tokens
            .get("tokens")
            .ok_or_else(|| anyhow::anyhow!("{} holds no tensor `tokens`", self.tokens.display()))?;
        let run = model::Run { training: false, half: false, dropout: 0.0 };
        let logits = tch::no_grad(|| model.logits(&tokens.to_device(device), run));
        weights::write(&self.out, &[("logits".to_owned(), logits.to_kind(tch::Kind::Float))], None)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Train(train) => train.run(),
        Command::Sample(sample) => sample.run(),
        Command::Logits(logits) => logits.run(),
        Command::Bench(bench) => bench.run(),
        Command::Devices => {
            println!("{}", device::describe());
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("benchstone-torch: {error:#}");
            ExitCode::from(2)
        }
    }
}
