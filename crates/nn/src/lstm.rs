//! Stacked LSTM layers over an embedding (CLgen, CGO'17, section 4.2). Weights have PyTorch's names
//! and its order of gates: input, forget, cell, output.

use crate::{Decoder, Error, Precision, Result, panels::Panels, weights::Weights};
use candle_core::Tensor;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LstmConfig {
    /// Size of the vocabulary.
    pub vocab_size: usize,
    /// Width of a layer, and of the embedding.
    pub hidden_size: usize,
    /// Layers.
    pub num_hidden_layers: usize,
}

#[derive(Debug)]
struct Layer {
    /// What is read and what is remembered, one above the other: `[2 · width, 4 · width]`.
    matrix: Panels,
    bias: Vec<f32>,
}

/// The model.
#[derive(Debug)]
pub struct Lstm {
    config: LstmConfig,
    embedding: Vec<f32>,
    layers: Vec<Layer>,
    head: Panels,
    head_bias: Vec<f32>,
}

impl Lstm {
    pub(crate) fn new(config: LstmConfig, mut weights: Weights) -> Result<Lstm> {
        let (width, vocabulary) = (config.hidden_size, config.vocab_size);
        let embedding = weights.numbers("embedding.weight", &[vocabulary, width])?;
        let mut layers = Vec::new();
        for at in 0..config.num_hidden_layers {
            let read = weights.matrix(&format!("lstm.weight_ih_l{at}"), 4 * width, width)?;
            let kept = weights.matrix(&format!("lstm.weight_hh_l{at}"), 4 * width, width)?;
            let mut bias = weights.numbers(&format!("lstm.bias_ih_l{at}"), &[4 * width])?;
            let second = weights.numbers(&format!("lstm.bias_hh_l{at}"), &[4 * width])?;
            for (bias, second) in bias.iter_mut().zip(second) {
                *bias += second;
            }
            layers.push(Layer {
                matrix: Panels::new(&Tensor::cat(&[read, kept], 0)?, Precision::Single)?,
                bias,
            });
        }
        let head =
            Panels::new(&weights.matrix("head.weight", vocabulary, width)?, Precision::Single)?;
        let head_bias = weights.numbers("head.bias", &[vocabulary])?;
        Ok(Lstm { config, embedding, layers, head, head_bias })
    }

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &LstmConfig {
        &self.config
    }

    /// Logits `[length × vocabulary]` of one sequence.
    ///
    /// # Errors
    /// When it holds a token outside of the vocabulary.
    pub fn logits(self: &Arc<Self>, tokens: &[u32]) -> Result<Vec<f32>> {
        let mut decoder = LstmDecoder::new(Arc::clone(self), 1);
        let mut all = Vec::new();
        for token in tokens {
            all.extend(decoder.step(&[(0, *token)])?);
        }
        Ok(all)
    }
}

/// Slots of hidden and cell states.
#[derive(Debug)]
pub(crate) struct LstmDecoder {
    model: Arc<Lstm>,
    lengths: Vec<usize>,
    /// `[slot][layer][hidden, cell][width]`.
    states: Vec<f32>,
}

impl LstmDecoder {
    pub(crate) fn new(model: Arc<Lstm>, slots: usize) -> LstmDecoder {
        let size = model.config.num_hidden_layers * 2 * model.config.hidden_size;
        LstmDecoder { lengths: vec![0; slots], states: vec![0.0; slots * size], model }
    }

    fn size(&self) -> usize {
        self.model.config.num_hidden_layers * 2 * self.model.config.hidden_size
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

impl Decoder for LstmDecoder {
    fn slots(&self) -> usize {
        self.lengths.len()
    }

    fn length(&self, slot: usize) -> usize {
        self.lengths[slot]
    }

    fn reset(&mut self, slot: usize) {
        let size = self.size();
        self.lengths[slot] = 0;
        self.states[slot * size..(slot + 1) * size].fill(0.0);
    }

    fn rewind(&mut self, slot: usize, length: usize) -> Result<()> {
        match length {
            0 => self.reset(slot),
            length if length < self.lengths[slot] => return Err(Error::States { length }),
            _ => {}
        }
        Ok(())
    }

    fn step(&mut self, tokens: &[(usize, u32)]) -> Result<Vec<f32>> {
        let model = Arc::clone(&self.model);
        let (rows, width, size) = (tokens.len(), model.config.hidden_size, self.size());
        let vocabulary = model.config.vocab_size;
        let mut x = Vec::with_capacity(rows * width);
        for (_, token) in tokens {
            if *token as usize >= vocabulary {
                return Err(Error::Token { id: *token, vocabulary });
            }
            x.extend_from_slice(&model.embedding[*token as usize * width..][..width]);
        }
        for (at, layer) in model.layers.iter().enumerate() {
            let mut both = Vec::with_capacity(rows * 2 * width);
            for (row, (slot, _)) in tokens.iter().enumerate() {
                both.extend_from_slice(&x[row * width..][..width]);
                both.extend_from_slice(&self.states[slot * size + at * 2 * width..][..width]);
            }
            let gates = layer.matrix.product(&both, rows);
            for (row, (slot, _)) in tokens.iter().enumerate() {
                let gates = &gates[row * 4 * width..][..4 * width];
                let state = &mut self.states[slot * size + at * 2 * width..][..2 * width];
                let (hidden, cell) = state.split_at_mut(width);
                for unit in 0..width {
                    let gate =
                        |part: usize| gates[part * width + unit] + layer.bias[part * width + unit];
                    let kept = sigmoid(gate(1)) * cell[unit] + sigmoid(gate(0)) * gate(2).tanh();
                    cell[unit] = kept;
                    hidden[unit] = sigmoid(gate(3)) * kept.tanh();
                }
                x[row * width..][..width].copy_from_slice(hidden);
            }
        }
        for (slot, _) in tokens {
            self.lengths[*slot] += 1;
        }
        let mut logits = model.head.product(&x, rows);
        for row in logits.chunks_mut(vocabulary) {
            for (logit, bias) in row.iter_mut().zip(&model.head_bias) {
                *logit += bias;
            }
        }
        Ok(logits)
    }
}
