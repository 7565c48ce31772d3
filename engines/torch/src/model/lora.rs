//! Adapters of low rank (Hu et al. 2022): beside each projection `W` of a layer stand `A` (rank × inputs)
//! and `B` (outputs × rank), and `W + alpha / rank · B A` is computed. `B` begins with zeros, so that
//! training begins where the base model is.

use super::{Init, Parameters, Run, Weight};
use crate::{settings::Lora, weights};
use anyhow::{Context, bail};
use std::path::Path;
use tch::{Device, Tensor};

/// The adapters of a model.
#[derive(Debug)]
pub(crate) struct Adapters {
    parameters: Parameters,
    lora: Lora,
    /// Names of the adapted projections of a layer.
    names: Vec<&'static str>,
}

impl Adapters {
    /// Fresh ones for these projections (name, outputs, inputs) of each layer.
    pub(crate) fn fresh(
        adapted: Vec<(&'static str, i64, i64)>,
        layers: i64,
        lora: Lora,
        seed: u64,
        device: Device,
    ) -> anyhow::Result<Adapters> {
        let most = adapted.iter().map(|(_, out, into)| *out.min(into)).min().unwrap_or(0);
        let rank = i64::from(lora.rank);
        if !(1..=most).contains(&rank) {
            bail!("a rank of {rank} makes no adapters; this model takes 1 to {most}");
        }
        let mut all = Vec::new();
        for at in 0..layers {
            for (name, out, into) in &adapted {
                // As `nn.Linear` begins: uniform with the inverse root of the inputs as bound.
                let bound = Init::Uniform(1.0 / (*into as f64).sqrt());
                all.push(Weight::new(down(at, name), &[rank, *into], bound));
                all.push(Weight::new(up(at, name), &[*out, rank], Init::Zeros));
            }
        }
        let names = adapted.into_iter().map(|(name, ..)| name).collect();
        Ok(Adapters { parameters: Parameters::fresh(&all, seed, device), lora, names })
    }

    pub(crate) fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn scale(&self) -> f64 {
        self.lora.alpha / f64::from(self.lora.rank)
    }

    /// Both matrices of a projection.
    fn pair(&self, at: usize, name: &str) -> Option<(&Tensor, &Tensor)> {
        let place = self.names.iter().position(|known| *known == name)?;
        let first = 2 * (at * self.names.len() + place);
        let named = &self.parameters.named;
        Some((&named.get(first)?.1, &named.get(first + 1)?.1))
    }

    /// What is added to a projection of `x`.
    pub(super) fn add(&self, x: &Tensor, at: usize, name: &str, run: Run) -> Tensor {
        let (down, up) = self.pair(at, name).expect("every projection of a layer is adapted");
        let low = run.linear(&run.drop(x.shallow_clone()), down, None);
        run.linear(&low, up, None) * self.scale()
    }

    /// What is added to the weight called `name`; `None` for those that are not adapted.
    pub(super) fn whole(&self, name: &str) -> Option<Tensor> {
        let rest = name.strip_prefix("model.layers.")?;
        let (at, name) = rest.split_once('.')?;
        let (down, up) = self.pair(at.parse().ok()?, name)?;
        Some(up.detach().matmul(&down.detach()) * self.scale())
    }

    /// Write them as the library `peft` reads them.
    pub(super) fn save(&self, folder: &Path) -> anyhow::Result<()> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let tensors: Vec<(String, Tensor)> = self
            .parameters
            .named
            .iter()
            .map(|(name, tensor)| (format!("base_model.model.{name}"), tensor.detach()))
            .collect();
        weights::write(&folder.join("adapter_model.safetensors"), &tensors, None)?;
        let modules: Vec<&str> =
            self.names.iter().filter_map(|name| name.split('.').nth(1)).collect();
        let config = serde_json::json!({
            "peft_type": "LORA", "task_type": "CAUSAL_LM", "r": self.lora.rank,
            "lora_alpha": self.lora.alpha, "lora_dropout": 0.0, "bias": "none",
            "fan_in_fan_out": false, "inference_mode": true, "init_lora_weights": true,
            "target_modules": modules,
        });
        let path = folder.join("adapter_config.json");
        std::fs::write(&path, serde_json::to_string_pretty(&config)? + "\n")
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// `model.layers.N.self_attn.q_proj` of the weight's name.
fn module(at: i64, name: &str) -> String {
    format!("model.layers.{at}.{}", name.trim_end_matches(".weight"))
}

fn down(at: i64, name: &str) -> String {
    module(at, name) + ".lora_A.weight"
}

fn up(at: i64, name: &str) -> String {
    module(at, name) + ".lora_B.weight"
}
