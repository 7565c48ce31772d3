//! BenchPress's model (Tsimpourlas et al., PACT'22, section 3): a bidirectional encoder that says
//! what comes first in a hole. Names of weights are those of Hugging Face's `BertForMaskedLM`;
//! there are no token types.

use super::{Decoder, Init, Model, Parameters, Run, Table, Weight, layer, size};
use anyhow::bail;
use tch::{Kind as Number, Tensor};

/// Sizes, from `config.json`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    vocabulary: i64,
    width: i64,
    inner: i64,
    layers: i64,
    heads: i64,
    positions: i64,
    epsilon: f64,
    pad: i64,
}

const LAYER: [&str; 16] = [
    "attention.self.query.weight",
    "attention.self.query.bias",
    "attention.self.key.weight",
    "attention.self.key.bias",
    "attention.self.value.weight",
    "attention.self.value.bias",
    "attention.output.dense.weight",
    "attention.output.dense.bias",
    "attention.output.LayerNorm.weight",
    "attention.output.LayerNorm.bias",
    "intermediate.dense.weight",
    "intermediate.dense.bias",
    "output.dense.weight",
    "output.dense.bias",
    "output.LayerNorm.weight",
    "output.LayerNorm.bias",
];

const OUTER: [&str; 10] = [
    "bert.embeddings.word_embeddings.weight",
    "bert.embeddings.position_embeddings.weight",
    "bert.embeddings.LayerNorm.weight",
    "bert.embeddings.LayerNorm.bias",
    "cls.predictions.transform.dense.weight",
    "cls.predictions.transform.dense.bias",
    "cls.predictions.transform.LayerNorm.weight",
    "cls.predictions.transform.LayerNorm.bias",
    "cls.predictions.decoder.weight",
    "cls.predictions.bias",
];

impl Shape {
    pub(crate) fn read(config: &serde_json::Value) -> anyhow::Result<Shape> {
        let shape = Shape {
            vocabulary: size(config, "vocab_size")?,
            width: size(config, "hidden_size")?,
            inner: size(config, "intermediate_size")?,
            layers: size(config, "num_hidden_layers")?,
            heads: size(config, "num_attention_heads")?,
            positions: size(config, "max_position_embeddings")?,
            epsilon: config["layer_norm_eps"].as_f64().unwrap_or(1e-12),
            pad: size(config, "pad_token_id")?,
        };
        if shape.width % shape.heads != 0 {
            bail!("config.json: {} heads do not divide {}", shape.heads, shape.width);
        }
        Ok(shape)
    }

    pub(crate) fn weights(&self) -> Vec<Weight> {
        let (width, inner) = (self.width, self.inner);
        let of = |name: &str, shape: &[i64]| {
            let init = match (name.ends_with("LayerNorm.weight"), shape.len()) {
                (true, _) => Init::Ones,
                (false, 1) => Init::Zeros,
                _ => Init::Normal(0.02),
            };
            Weight::new(name, shape, init)
        };
        let mut all = Vec::new();
        for name in OUTER {
            let shape: &[i64] = match name {
                "bert.embeddings.word_embeddings.weight" | "cls.predictions.decoder.weight" => {
                    &[self.vocabulary, width]
                }
                "bert.embeddings.position_embeddings.weight" => &[self.positions, width],
                "cls.predictions.transform.dense.weight" => &[width, width],
                "cls.predictions.bias" => &[self.vocabulary],
                _ => &[width],
            };
            all.push(of(name, shape));
        }
        for at in 0..self.layers {
            for name in LAYER {
                let shape: &[i64] = match name {
                    "intermediate.dense.weight" => &[inner, width],
                    "intermediate.dense.bias" => &[inner],
                    "output.dense.weight" => &[width, inner],
                    name if name.ends_with("weight") && !name.contains("LayerNorm") => {
                        &[width, width]
                    }
                    _ => &[width],
                };
                all.push(of(&format!("bert.encoder.layer.{at}.{name}"), shape));
            }
        }
        all
    }
}

/// The model.
#[derive(Debug)]
pub(crate) struct Hole {
    shape: Shape,
    outer: Table,
    layers: Vec<Table>,
    parameters: Parameters,
}

impl Hole {
    pub(crate) fn new(shape: Shape, parameters: Parameters) -> Hole {
        let layers = (0..shape.layers)
            .map(|at| layer(&parameters, &format!("bert.encoder.layer.{at}."), &LAYER))
            .collect();
        Hole { shape, outer: layer(&parameters, "", &OUTER), layers, parameters }
    }

    fn normalise(&self, x: &Tensor, table: &Table, name: [&'static str; 2]) -> Tensor {
        let (weight, bias) = (&table[name[0]], &table[name[1]]);
        let x = x.to_kind(Number::Float);
        x.layer_norm([self.shape.width], Some(weight), Some(bias), self.shape.epsilon, true)
    }

    fn block(&self, x: &Tensor, mask: &Tensor, weights: &Table, run: Run) -> Tensor {
        let shape = &self.shape;
        let (rows, length, _) = x.size3().expect("activations have three dimensions");
        let split = |weight: &str, bias: &str| {
            let y = run.linear(x, &weights[weight], Some(&weights[bias]));
            y.view([rows, length, shape.heads, -1]).transpose(1, 2)
        };
        let query = split("attention.self.query.weight", "attention.self.query.bias");
        let key = split("attention.self.key.weight", "attention.self.key.bias");
        let value = split("attention.self.value.weight", "attention.self.value.bias");
        let y = Tensor::scaled_dot_product_attention(
            &query,
            &key,
            &value,
            Some(mask),
            0.0,
            false,
            None,
            false,
        );
        let y = y.transpose(1, 2).reshape([rows, length, shape.width]);
        let y = run.linear(
            &y,
            &weights["attention.output.dense.weight"],
            Some(&weights["attention.output.dense.bias"]),
        );
        let x = self.normalise(
            &(x + y),
            weights,
            ["attention.output.LayerNorm.weight", "attention.output.LayerNorm.bias"],
        );
        let (w, b) = (&weights["intermediate.dense.weight"], &weights["intermediate.dense.bias"]);
        let inner = run.linear(&x, w, Some(b)).gelu("none");
        let (w, b) = (&weights["output.dense.weight"], &weights["output.dense.bias"]);
        let y = run.linear(&inner, w, Some(b));
        self.normalise(&(&x + y), weights, ["output.LayerNorm.weight", "output.LayerNorm.bias"])
    }
}

impl Model for Hole {
    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn hidden(&self, input: &Tensor, run: Run) -> Tensor {
        let outer = &self.outer;
        let (_, length) = input.size2().expect("ids have two dimensions");
        let words = &outer["bert.embeddings.word_embeddings.weight"];
        let x = Tensor::embedding(words, input, -1, false, false)
            + outer["bert.embeddings.position_embeddings.weight"].narrow(0, 0, length);
        let x = self.normalise(
            &x,
            outer,
            ["bert.embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.bias"],
        );
        let mut x = x;
        let mask = input.ne(self.shape.pad).unsqueeze(1).unsqueeze(1);
        let heads = [input.size()[0], 1, length, length];
        let mask = mask.expand(heads, false);
        for weights in &self.layers {
            x = self.block(&x, &mask, weights, run);
        }
        x
    }

    fn head(&self, hidden: &Tensor, run: Run) -> Tensor {
        let outer = &self.outer;
        let (w, b) = (
            &outer["cls.predictions.transform.dense.weight"],
            &outer["cls.predictions.transform.dense.bias"],
        );
        let x = run.linear(hidden, w, Some(b)).gelu("none");
        let x = self.normalise(
            &x,
            outer,
            [
                "cls.predictions.transform.LayerNorm.weight",
                "cls.predictions.transform.LayerNorm.bias",
            ],
        );
        run.linear(
            &x,
            &outer["cls.predictions.decoder.weight"],
            Some(&outer["cls.predictions.bias"]),
        )
    }

    fn decoder(&self, _: i64, _: i64, _: Run) -> Option<Box<dyn Decoder>> {
        None
    }
}
