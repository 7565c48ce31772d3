//! A bidirectional encoder that says what comes first in a hole (BenchPress, PACT'22, section 3):
//! BERT's architecture (Devlin et al. 2018) without token types.

use crate::{Error, Result, weights::Weights};
use candle_core::{D, Device, Tensor};
use serde::{Deserialize, Serialize};

/// `config.json` of Hugging Face's `BertForMaskedLM`, what of it counts here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EncoderConfig {
    /// Size of the vocabulary.
    pub vocab_size: usize,
    /// Width of the activations.
    pub hidden_size: usize,
    /// Width inside of the feed-forward layers.
    pub intermediate_size: usize,
    /// Layers.
    pub num_hidden_layers: usize,
    /// Heads.
    pub num_attention_heads: usize,
    /// Longest sequence.
    pub max_position_embeddings: usize,
    /// Added under the root of the layer norms.
    pub layer_norm_eps: f64,
}

#[derive(Debug)]
struct Linear {
    matrix: Tensor,
    bias: Tensor,
}

#[derive(Debug)]
struct Norm {
    weight: Tensor,
    bias: Tensor,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: Norm,
    inner: Linear,
    outer: Linear,
    norm: Norm,
}

/// The model.
#[derive(Debug)]
pub struct Encoder {
    config: EncoderConfig,
    words: Tensor,
    positions: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
    transform: Linear,
    transform_norm: Norm,
    head: Linear,
}

struct Loader {
    weights: Weights,
}

impl Loader {
    fn linear(&mut self, name: &str, out: usize, into: usize) -> Result<Linear> {
        Ok(Linear {
            matrix: self.weights.matrix(&format!("{name}.weight"), out, into)?,
            bias: self.weights.tensor(&format!("{name}.bias"), &[out])?,
        })
    }

    fn norm(&mut self, name: &str, width: usize) -> Result<Norm> {
        Ok(Norm {
            weight: self.weights.tensor(&format!("{name}.weight"), &[width])?,
            bias: self.weights.tensor(&format!("{name}.bias"), &[width])?,
        })
    }
}

impl Linear {
    fn run(&self, x: &Tensor) -> Result<Tensor> {
        Ok(x.matmul(&self.matrix)?.broadcast_add(&self.bias)?)
    }
}

impl Norm {
    fn run(&self, x: &Tensor, epsilon: f64) -> Result<Tensor> {
        let width = x.dim(D::Minus1)? as f64;
        let x = x.broadcast_sub(&(x.sum_keepdim(D::Minus1)? / width)?)?;
        let variance = (x.sqr()?.sum_keepdim(D::Minus1)? / width)?;
        let x = x.broadcast_div(&(variance + epsilon)?.sqrt()?)?;
        Ok(x.broadcast_mul(&self.weight)?.broadcast_add(&self.bias)?)
    }
}

impl Encoder {
    pub(crate) fn new(config: EncoderConfig, weights: Weights) -> Result<Encoder> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let (vocabulary, positions) = (config.vocab_size, config.max_position_embeddings);
        let mut from = Loader { weights };
        let words =
            from.weights.tensor("bert.embeddings.word_embeddings.weight", &[vocabulary, width])?;
        let places = "bert.embeddings.position_embeddings.weight";
        let positions = from.weights.tensor(places, &[positions, width])?;
        let norm = from.norm("bert.embeddings.LayerNorm", width)?;
        let mut layers = Vec::new();
        for at in 0..config.num_hidden_layers {
            let of = |name: &str| format!("bert.encoder.layer.{at}.{name}");
            layers.push(Layer {
                query: from.linear(&of("attention.self.query"), width, width)?,
                key: from.linear(&of("attention.self.key"), width, width)?,
                value: from.linear(&of("attention.self.value"), width, width)?,
                output: from.linear(&of("attention.output.dense"), width, width)?,
                attention_norm: from.norm(&of("attention.output.LayerNorm"), width)?,
                inner: from.linear(&of("intermediate.dense"), inner, width)?,
                outer: from.linear(&of("output.dense"), width, inner)?,
                norm: from.norm(&of("output.LayerNorm"), width)?,
            });
        }
        let transform = from.linear("cls.predictions.transform.dense", width, width)?;
        let transform_norm = from.norm("cls.predictions.transform.LayerNorm", width)?;
        let head = Linear {
            matrix: from.weights.matrix("cls.predictions.decoder.weight", vocabulary, width)?,
            bias: from.weights.tensor("cls.predictions.bias", &[vocabulary])?,
        };
        Ok(Encoder { config, words, positions, norm, layers, transform, transform_norm, head })
    }

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &EncoderConfig {
        &self.config
    }

    /// Logits `[length × vocabulary]` of one sequence.
    ///
    /// # Errors
    /// When the sequence is too long or holds a token outside of the vocabulary.
    pub fn logits(&self, tokens: &[u32]) -> Result<Vec<f32>> {
        let places: Vec<u32> = (0..tokens.len() as u32).collect();
        self.logits_at(&[tokens], &places)
    }

    /// Logits at some places of sequences of one length: rows in the order of sequences, then of
    /// places.
    ///
    /// # Errors
    /// When the sequences are too long or hold a token outside of the vocabulary.
    pub fn logits_at(&self, sequences: &[&[u32]], places: &[u32]) -> Result<Vec<f32>> {
        let config = &self.config;
        let (rows, length) = (sequences.len(), sequences.first().map_or(0, |tokens| tokens.len()));
        if length > config.max_position_embeddings {
            return Err(Error::TooLong { length, positions: config.max_position_embeddings });
        }
        let all = sequences.concat();
        if let Some(id) = all.iter().find(|id| **id as usize >= config.vocab_size) {
            return Err(Error::Token { id: *id, vocabulary: config.vocab_size });
        }
        let (width, heads) = (config.hidden_size, config.num_attention_heads);
        let ids = Tensor::from_vec(all, rows * length, &Device::Cpu)?;
        let words = self.words.index_select(&ids, 0)?.reshape((rows, length, width))?;
        let x = words.broadcast_add(&self.positions.narrow(0, 0, length)?)?;
        let x = self.norm.run(&x, config.layer_norm_eps)?;
        let mut x = x.reshape((rows * length, width))?;
        for layer in &self.layers {
            let split = |linear: &Linear| -> Result<Tensor> {
                let y = linear.run(&x)?.reshape((rows, length, heads, width / heads))?;
                Ok(y.transpose(1, 2)?.contiguous()?)
            };
            let (query, key, value) =
                (split(&layer.query)?, split(&layer.key)?, split(&layer.value)?);
            let scores = query.matmul(&key.transpose(2, 3)?.contiguous()?)?;
            let scores = (scores / ((width / heads) as f64).sqrt())?;
            let shares = candle_nn::ops::softmax_last_dim(&scores)?;
            let y = shares.matmul(&value)?.transpose(1, 2)?.reshape((rows * length, width))?;
            let y = layer.output.run(&y)?;
            x = layer.attention_norm.run(&(x + y)?, config.layer_norm_eps)?;
            let y = layer.outer.run(&layer.inner.run(&x)?.gelu_erf()?)?;
            x = layer.norm.run(&(x + y)?, config.layer_norm_eps)?;
        }
        let chosen: Vec<u32> = (0..rows as u32)
            .flat_map(|row| places.iter().map(move |place| row * length as u32 + place))
            .collect();
        let chosen = Tensor::from_vec(chosen, rows * places.len(), &Device::Cpu)?;
        let x = x.index_select(&chosen, 0)?;
        let x = self.transform.run(&x)?.gelu_erf()?;
        let x = self.transform_norm.run(&x, config.layer_norm_eps)?;
        Ok(self.head.run(&x)?.flatten_all()?.to_vec1()?)
    }
}
