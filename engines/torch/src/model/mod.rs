//! The model kinds, one file each, and what they share.

mod hole;
mod infill;
mod lstm;

use anyhow::{Context, bail};
use std::{collections::BTreeMap, path::Path};
use tch::{Device, Kind as Number, Tensor};

/// The kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// CLgen's.
    Lstm,
    /// BenchPress's.
    Hole,
    /// A causal transformer.
    Infill,
}

/// How a model is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Whether matrix products are in bf16.
    pub(crate) half: bool,
}

impl Run {
    /// The number kind of matrix products.
    fn kind(self) -> Number {
        if self.half { Number::BFloat16 } else { Number::Float }
    }

    /// `x · wᵀ + b` in that kind.
    fn linear(self, x: &Tensor, w: &Tensor, b: Option<&Tensor>) -> Tensor {
        let kind = self.kind();
        x.to_kind(kind).linear(&w.to_kind(kind), b.map(|b| b.to_kind(kind)))
    }
}

/// One token for each row of a decoder, wherever the row is.
#[derive(Debug)]
pub(crate) struct Advance {
    /// What each row reads, `[rows]`.
    pub(crate) tokens: Tensor,
    /// Tokens that each row has read before, `[rows]`: 0 begins it anew, the decoder's length lets it rest.
    pub(crate) positions: Tensor,
    /// Tokens of the longest row, this one included.
    pub(crate) longest: i64,
}

/// Rows of sequences that remember what they have read. What reads answers logits, `[rows, vocabulary]`.
pub(crate) trait Decoder {
    /// Read `input` `[rows, new]` in all rows, which have read equally much; more than one at a time only at first.
    fn step(&mut self, input: &Tensor) -> Tensor;

    /// Read one token in each row; where the decoder narrows, in the first rows, as many as are given.
    fn advance(&mut self, rows: &Advance) -> Tensor;

    /// Whether rows can go back to where they were before.
    fn goes_back(&self) -> bool;

    /// Whether fewer rows than all can advance.
    fn narrows(&self) -> bool {
        false
    }

    /// Forget all rows but these, which are put into this order.
    fn keep(&mut self, rows: &Tensor);
}

/// A model of one of the kinds.
pub(crate) trait Model {
    /// Its weights.
    fn parameters(&self) -> &Parameters;

    /// Activations before the output layer: ids `[rows, length]` to `[rows, length, width]`.
    fn hidden(&self, input: &Tensor, run: Run) -> Tensor;

    /// Logits of activations `[…, width]` to `[…, vocabulary]`.
    fn head(&self, hidden: &Tensor, run: Run) -> Tensor;

    /// Logits of every place.
    fn logits(&self, input: &Tensor, run: Run) -> Tensor {
        self.head(&self.hidden(input, run), run)
    }

    /// A decoder of `rows` sequences of up to `length` tokens, with the weights as they are now; `None` for
    /// models that decode in another way.
    fn decoder(&self, rows: i64, length: i64, run: Run) -> Option<Box<dyn Decoder>>;
}

/// How a weight begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Init {
    /// Normal with this deviation.
    Normal(f64),
    /// Uniform within ± this bound.
    Uniform(f64),
    /// Ones.
    Ones,
    /// Zeros.
    Zeros,
}

/// One weight of a model to be.
#[derive(Clone, Debug)]
pub(crate) struct Weight {
    name: String,
    shape: Vec<i64>,
    init: Init,
}

impl Weight {
    pub(crate) fn new(name: impl Into<String>, shape: &[i64], init: Init) -> Weight {
        Weight { name: name.into(), shape: shape.to_vec(), init }
    }
}

/// All weights of a model.
#[derive(Debug)]
pub(crate) struct Parameters {
    device: Device,
    named: Vec<(String, Tensor)>,
}

impl Parameters {
    /// Fresh weights, from `seed` alone.
    fn fresh(weights: &[Weight], seed: u64, device: Device) -> Parameters {
        tch::manual_seed(seed as i64);
        let made = weights.iter().map(|weight| {
            let option = (Number::Float, Device::Cpu);
            let values = match weight.init {
                Init::Normal(deviation) => Tensor::randn(&weight.shape[..], option) * deviation,
                Init::Uniform(bound) => {
                    (Tensor::rand(&weight.shape[..], option) * 2.0 - 1.0) * bound
                }
                Init::Ones => Tensor::ones(&weight.shape[..], option),
                Init::Zeros => Tensor::zeros(&weight.shape[..], option),
            };
            (weight, values)
        });
        Parameters::gather(made, device)
    }

    /// The weights that a checkpoint's folder holds.
    fn read(weights: &[Weight], folder: &Path, device: Device) -> anyhow::Result<Parameters> {
        let mut held = crate::weights::read_folder(folder)?;
        let mut made = Vec::new();
        for weight in weights {
            let Some(values) = held.remove(&weight.name) else {
                bail!("{} lacks the tensor {}", folder.display(), weight.name);
            };
            if values.size() != weight.shape {
                bail!(
                    "{}: {} has shape {:?}, config.json asks for {:?}",
                    folder.display(),
                    weight.name,
                    values.size(),
                    weight.shape
                );
            }
            made.push((weight, values.to_kind(Number::Float)));
        }
        Ok(Parameters::gather(made.into_iter(), device))
    }

    fn gather<'a>(made: impl Iterator<Item = (&'a Weight, Tensor)>, device: Device) -> Parameters {
        let named = made.map(|(weight, values)| (weight.name.clone(), values.to_device(device)));
        Parameters { device, named: named.collect() }
    }

    /// The weight called `name`.
    fn get(&self, name: &str) -> Tensor {
        let found = self.named.iter().find(|(known, _)| known == name);
        found
            .map(|(_, tensor)| tensor.shallow_clone())
            .expect("models ask for weights they declare")
    }

    /// Number of weights.
    pub(crate) fn count(&self) -> usize {
        self.named.iter().map(|(_, tensor)| tensor.numel()).sum()
    }

    /// Where they are.
    fn device(&self) -> Device {
        self.device
    }
}

/// The `config.json` of a folder.
pub(crate) fn configuration(folder: &Path) -> anyhow::Result<serde_json::Value> {
    let path = folder.join("config.json");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let mut config: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("{} is broken", path.display()))?;
    // The names of before, when this project was called Benchstone.
    if let Some(own) = config.as_object_mut().and_then(|keys| keys.remove("benchstone")) {
        config["stampmill"] = own;
    }
    if config["model_type"] == "benchstone-lstm" {
        config["model_type"] = "stampmill-lstm".into();
    }
    Ok(config)
}

/// An integer of a configuration.
fn size(config: &serde_json::Value, key: &str) -> anyhow::Result<i64> {
    config[key].as_i64().with_context(|| format!("config.json has no number `{key}`"))
}

/// What kind of model a configuration describes.
pub(crate) fn kind_of(config: &serde_json::Value) -> anyhow::Result<Kind> {
    match config["model_type"].as_str() {
        Some("llama") => Ok(Kind::Infill),
        Some("bert") => Ok(Kind::Hole),
        Some("stampmill-lstm") => Ok(Kind::Lstm),
        other => {
            bail!("config.json: no model_type {other:?}; there are llama, bert, stampmill-lstm")
        }
    }
}

/// A model of a folder's configuration with fresh weights.
pub(crate) fn fresh(folder: &Path, seed: u64, device: Device) -> anyhow::Result<Box<dyn Model>> {
    build(&configuration(folder)?, |weights| Ok(Parameters::fresh(weights, seed, device)))
}

/// The model of a checkpoint folder.
pub(crate) fn load(folder: &Path, device: Device) -> anyhow::Result<Box<dyn Model>> {
    let config = configuration(folder)?;
    build(&config, |weights| Parameters::read(weights, folder, device))
}

fn build(
    config: &serde_json::Value,
    make: impl FnOnce(&[Weight]) -> anyhow::Result<Parameters>,
) -> anyhow::Result<Box<dyn Model>> {
    Ok(match kind_of(config)? {
        Kind::Infill => {
            let shape = infill::Shape::read(config)?;
            Box::new(infill::Infill::new(shape, make(&shape.weights())?))
        }
        Kind::Hole => {
            let shape = hole::Shape::read(config)?;
            Box::new(hole::Hole::new(shape, make(&shape.weights())?))
        }
        Kind::Lstm => {
            let shape = lstm::Shape::read(config)?;
            Box::new(lstm::Lstm::new(shape, make(&shape.weights())?))
        }
    })
}

/// Tensors by name, for models that look weights up once.
type Table = BTreeMap<&'static str, Tensor>;

fn layer(parameters: &Parameters, prefix: &str, names: &[&'static str]) -> Table {
    names.iter().map(|name| (*name, parameters.get(&format!("{prefix}{name}")))).collect()
}
