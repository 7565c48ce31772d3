//! `stampmill-torch bench`: the speed of drawing, to hold against others' (`scripts/bench-training.py`).

use crate::{
    device,
    model::{self, Run},
};
use anyhow::Context;
use std::{path::PathBuf, time::Instant};
use tch::{Kind, Tensor};

/// Measure drawing.
#[derive(clap::Args, Debug)]
pub(crate) struct Bench {
    /// A folder with a config.json; its weights are made afresh
    folder: PathBuf,
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

/// Times that the same is measured.
const WINDOWS: usize = 3;

impl Bench {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let device = device::choose(&self.device)?;
        let config = model::configuration(&self.folder)?;
        let vocabulary = config["vocab_size"].as_i64().context("config.json has no vocab_size")?;
        let model = model::fresh(&self.folder, 1, device)?;
        let half = device.is_cuda();
        let mut rates = Vec::new();
        let _no_grad = tch::no_grad_guard();
        for _ in 0..WINDOWS {
            let mut decoder = model
                .decoder(self.samples, self.sampled, Run { half })
                .context("this kind has no cached decoding")?;
            let mut input = Tensor::randint(vocabulary, [self.samples, 1], (Kind::Int64, device));
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
            rates.push(((self.sampled - 8) * self.samples) as f64 / began.elapsed().as_secs_f64());
        }
        println!(
            "{}",
            serde_json::json!({
                "device": format!("{device:?}"), "parameters": model.parameters().count(),
                "sampling_tokens_per_second": rates,
            })
        );
        Ok(())
    }
}
