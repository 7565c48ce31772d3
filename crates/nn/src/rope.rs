//! Rotary positions (Su et al. 2021): the angles, and how they are stretched for longer contexts.

use crate::Result;
use candle_core::{Device, Tensor};
use serde_json::Value;

/// How fast the angle of each pair of activations grows with the position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rope {
    /// Base of the rates.
    pub theta: f32,
    /// How the rates are changed.
    pub scaling: Scaling,
}

/// Changes of the rates for contexts longer than those trained on first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scaling {
    /// None.
    Default,
    /// All rates divided by a factor (Chen et al. 2023).
    Linear(f32),
    /// Slow rates divided by a factor, fast ones kept, those between blended (Llama 3.1).
    Llama3 {
        /// What slow rates are divided by.
        factor: f32,
        /// Rates with fewer turns than this in the first context are slow.
        low: f32,
        /// Rates with more turns than this in the first context are fast.
        high: f32,
        /// Length of the first context.
        original: f32,
    },
}

impl Default for Rope {
    fn default() -> Rope {
        Rope { theta: 10_000.0, scaling: Scaling::Default }
    }
}

impl Rope {
    /// As `config.json` says: in `rope_parameters`, or as older versions of `transformers` wrote it,
    /// in `rope_theta` and `rope_scaling`.
    pub(crate) fn of(config: &Value) -> std::result::Result<Rope, String> {
        let own = match &config["rope_parameters"] {
            Value::Null => &config["rope_scaling"],
            own => own,
        };
        let theta = own["rope_theta"].as_f64().or_else(|| config["rope_theta"].as_f64());
        let number = |key: &str| {
            let found = own[key].as_f64().map(|number| number as f32).filter(|n| *n > 0.0);
            found.ok_or_else(|| format!("its rope settings have no positive {key}"))
        };
        let kind = own["rope_type"].as_str().or_else(|| own["type"].as_str()).unwrap_or("default");
        let scaling = match kind {
            "default" => Scaling::Default,
            "linear" => Scaling::Linear(number("factor")?),
            "llama3" => Scaling::Llama3 {
                factor: number("factor")?,
                low: number("low_freq_factor")?,
                high: number("high_freq_factor")?,
                original: number("original_max_position_embeddings")?,
            },
            other => {
                return Err(format!("rope_type is {other}; there are default, linear and llama3"));
            }
        };
        if own["partial_rotary_factor"].as_f64().is_some_and(|share| share != 1.0) {
            return Err("partial_rotary_factor is not 1: parts are not rotated".to_owned());
        }
        Ok(Rope { theta: theta.map_or(10_000.0, |theta| theta as f32), scaling })
    }

    /// The rates of the pairs of a head of this width.
    fn rates(&self, head: usize) -> Vec<f32> {
        let half = head / 2;
        let rates = (0..half).map(|at| 1.0 / self.theta.powf(at as f32 / half as f32));
        rates.map(|rate| self.scaled(rate)).collect()
    }

    fn scaled(&self, rate: f32) -> f32 {
        match self.scaling {
            Scaling::Default => rate,
            Scaling::Linear(factor) => rate / factor,
            Scaling::Llama3 { factor, low, high, original } => {
                let turns = original * rate / (2.0 * std::f32::consts::PI);
                let fast = ((turns - low) / (high - low)).clamp(0.0, 1.0);
                (1.0 - fast) * rate / factor + fast * rate
            }
        }
    }

    /// Cosines and sines of the angles, `[positions, head / 2]` each.
    pub(crate) fn angles(&self, head: usize, positions: usize) -> Result<(Tensor, Tensor)> {
        let rates = Tensor::from_vec(self.rates(head), (1, head / 2), &Device::Cpu)?;
        let places: Vec<f32> = (0..positions).map(|at| at as f32).collect();
        let places = Tensor::from_vec(places, (positions, 1), &Device::Cpu)?;
        let angles = places.matmul(&rates)?;
        Ok((angles.cos()?, angles.sin()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_ways_of_writing_the_settings_are_read() {
        let new =
            json!({"rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 5e5}});
        let old = json!({"rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 4.0}});
        let wanted = Rope { theta: 5e5, scaling: Scaling::Linear(4.0) };
        assert_eq!((Rope::of(&new), Rope::of(&old)), (Ok(wanted), Ok(wanted)));
        assert_eq!(Rope::of(&json!({})), Ok(Rope::default()));
    }

    #[test]
    fn settings_that_would_give_other_logits_are_refused_by_name() {
        let yarn = json!({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}});
        let error = Rope::of(&yarn).expect_err("not implemented");
        assert_eq!(error, "rope_type is yarn; there are default, linear and llama3");
        let none = json!({"rope_parameters": {"rope_type": "linear"}});
        assert!(Rope::of(&none).expect_err("no factor").contains("factor"));
    }
}
