//! `stampmill-torch`: draws from Stampmill's language models with libtorch, on the CPU or on a GPU.
//!
//! It knows token ids, not programs. Weights are safetensors under the names that Hugging Face's
//! libraries use, as the trainer (`python/src/stampmill/trainer`) writes them.
//!
//! | command | reads | writes |
//! |---|---|---|
//! | `sample DIR` | a checkpoint | token ids, one row a sample |
//! | `decode DIR` | a checkpoint; tokens, as they are drawn elsewhere | logits of what comes next |
//! | `logits DIR` | a checkpoint and token ids | logits, for the conformance tests |

mod bench;
mod decode;
mod device;
mod model;
mod rank;
mod sample;
mod weights;

use clap::{Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode};

/// Draws from Stampmill's language models with libtorch.
#[derive(Parser, Debug)]
#[command(name = "stampmill-torch", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Draw token sequences from a checkpoint
    Sample(sample::Sample),
    /// Read tokens that another program draws, and answer logits
    Decode(decode::Decode),
    /// Write the logits of token sequences
    Logits(Logits),
    /// Measure the speed of drawing
    Bench(bench::Bench),
    /// Say which devices there are
    Devices(Devices),
}

/// Which devices there are.
#[derive(clap::Args, Debug)]
struct Devices {
    /// Fail, saying why, where this one cannot be used: `cpu`, `cuda` or `auto`
    #[arg(long)]
    device: Option<String>,
}

impl Devices {
    fn run(&self) -> anyhow::Result<()> {
        if let Some(name) = &self.device {
            device::choose(name)?;
        }
        println!("{}", device::describe());
        Ok(())
    }
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
    /// Read this many tokens at once and the others one by one, as sampling does
    #[arg(long, value_name = "TOKENS")]
    cached: Option<i64>,
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
        let tokens = tokens.to_device(device);
        let logits = tch::no_grad(|| self.logits(&*model, &tokens))?;
        weights::write(&self.out, &[("logits".to_owned(), logits.to_kind(tch::Kind::Float))], None)
    }

    fn logits(
        &self,
        model: &dyn model::Model,
        tokens: &tch::Tensor,
    ) -> anyhow::Result<tch::Tensor> {
        let run = model::Run { half: false };
        let [rows, length] = tokens.size()[..] else {
            anyhow::bail!("`tokens` has {} dimensions, not two", tokens.dim());
        };
        let Some(first) = self.cached else { return Ok(model.logits(tokens, run)) };
        anyhow::ensure!((1..=length).contains(&first), "--cached wants 1 to {length} tokens");
        let decoder = model.decoder(rows, length, run);
        let mut decoder =
            decoder.ok_or_else(|| anyhow::anyhow!("this kind has no cached decoding"))?;
        // What is read at once has one answer, at its end; the places before it have those of the full pass.
        let mut all = vec![model.logits(&tokens.narrow(1, 0, first), run).narrow(1, 0, first - 1)];
        all.push(decoder.step(&tokens.narrow(1, 0, first)).unsqueeze(1));
        for at in first..length {
            all.push(decoder.step(&tokens.narrow(1, at, 1)).unsqueeze(1));
        }
        Ok(tch::Tensor::cat(&all, 1))
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Sample(sample) => sample.run(),
        Command::Decode(decode) => decode.run(),
        Command::Logits(logits) => logits.run(),
        Command::Bench(bench) => bench.run(),
        Command::Devices(devices) => devices.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stampmill-torch: {error:#}");
            ExitCode::from(2)
        }
    }
}
