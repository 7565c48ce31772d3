//! `stampmill-torch bench`: speed on full rectangles of random ids, to hold against PyTorch's on
//! the same model (`bench/eager.py`).

use crate::{
    device,
    model::{self, Run},
    optimiser::Optimiser,
    settings::Settings,
};
use anyhow::Context;
use std::{path::PathBuf, time::Instant};
use tch::{Kind, Reduction, Tensor};

/// Measure training and sampling.
#[derive(clap::Args, Debug)]
pub(crate) struct Bench {
    /// A training folder; its weights are made afresh
    folder: PathBuf,
    /// Sequences of a training step
    #[arg(long, default_value_t = 64)]
    batch: i64,
    /// Tokens of a sequence
    #[arg(long, default_value_t = 1024)]
    length: i64,
    /// Timed steps, after five that are not
    #[arg(long, default_value_t = 20)]
    steps: u64,
    /// Sequences that are sampled at a time
    #[arg(long, default_value_t = 1024)]
    samples: i64,
    /// Tokens sampled of each
    #[arg(long, default_value_t = 256)]
    sampled: i64,
    /// `cpu`, `cuda` or `auto`
    #[arg(long, default_value = "auto")]
    device: String,
}

impl Bench {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let device = device::choose(&self.device)?;
        let settings = Settings::read(&self.folder)?;
        let config = model::configuration(&self.folder)?;
        let vocabulary = config["vocab_size"].as_i64().context("config.json has no vocab_size")?;
        let model = model::to_train(&self.folder, 1, None, device)?;
        let half = device.is_cuda();
        let mut optimiser = Optimiser::new(model.parameters(), settings.method);
        let ids = |rows: i64, length: i64| {
            Tensor::randint(vocabulary, [rows, length], (Kind::Int64, device))
        };
        let run = Run { training: true, half, dropout: settings.dropout };
        let mut began = Instant::now();
        for step in 0..self.steps + 5 {
            if step == 5 {
                device::wait(device);
                began = Instant::now();
            }
            let (input, target) = (ids(self.batch, self.length), ids(self.batch, self.length));
            let logits = model.logits(&input, run).to_kind(Kind::Float);
            let logits = logits.reshape([-1, vocabulary]);
            let loss = logits.cross_entropy_loss::<Tensor>(
                &target.reshape([-1]),
                None,
                Reduction::Mean,
                -100,
                0.0,
            );
            let gradients =
                Tensor::run_backward(&[&loss], &model.parameters().tensors(), false, false);
            let flat: Vec<Tensor> = gradients.iter().map(|g| g.reshape([-1])).collect();
            let _norm = optimiser.step(model.parameters(), Tensor::cat(&flat, 0), &settings, step);
        }
        device::wait(device);
        let places = self.batch * self.length * self.steps as i64;
        let training = places as f64 / began.elapsed().as_secs_f64();
        let sampling = tch::no_grad(|| {
            let run = Run { training: false, half, dropout: 0.0 };
            let mut decoder = model.decoder(self.samples, self.sampled, run)?;
            let mut input = ids(self.samples, 1);
            let mut began = Instant::now();
            for at in 0..self.sampled {
                if at == 8 {
                    device::wait(device);
                    began = Instant::now();
                }
                let logits = decoder.step(&input).to_kind(Kind::Float);
                let noise = Tensor::rand_like(&logits).clamp(1e-9, 1.0 - 1e-7);
                input = (logits - (-noise.log()).log()).argmax(1, true);
            }
            device::wait(device);
            Some(((self.sampled - 8) * self.samples) as f64 / began.elapsed().as_secs_f64())
        });
        println!(
            "{}",
            serde_json::json!({
                "device": format!("{device:?}"), "parameters": model.parameters().count(),
                "training_tokens_per_second": training, "sampling_tokens_per_second": sampling,
            })
        );
        Ok(())
    }
}
