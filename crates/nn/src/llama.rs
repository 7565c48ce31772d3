//! A Llama-architecture causal transformer (Touvron et al. 2023): RMSNorm, rotary positions
//! (Su et al. 2021), grouped queries, SwiGLU.

use crate::{
    Decoder, Error, Precision, Result, Rope,
    attend::{Shape, Slot},
    lanes::{Lanes, Work, exp},
    panels::{Buffers, Panels},
    weights::Weights,
};
use candle_core::{D, Device, Tensor};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// `config.json` of Hugging Face's `LlamaForCausalLM`, what of it counts here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LlamaConfig {
    /// Size of the vocabulary.
    pub vocab_size: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width inside of the feed-forward layers.
    pub intermediate_size: usize,
    /// Layers.
    pub num_hidden_layers: usize,
    /// Query heads.
    pub num_attention_heads: usize,
    /// Key and value heads; as many as query heads where they are not named.
    #[serde(default)]
    pub num_key_value_heads: usize,
    /// Width of a head, where it is not `hidden_size / num_attention_heads`.
    #[serde(default)]
    pub head_dim: Option<usize>,
    /// Longest sequence.
    pub max_position_embeddings: usize,
    /// Added under the root of RMSNorm.
    pub rms_norm_eps: f64,
    /// Rotary angles.
    #[serde(skip)]
    pub rope: Rope,
    /// Whether the output layer is the embedding.
    #[serde(default)]
    pub tie_word_embeddings: bool,
}

impl LlamaConfig {
    /// Read `config.json`.
    ///
    /// # Errors
    /// When a size is missing or does not fit the others, or the model computes something that is not
    /// implemented here and would come out wrong.
    pub(crate) fn of(config: &Value) -> std::result::Result<LlamaConfig, String> {
        let mut own: LlamaConfig =
            serde_json::from_value(config.clone()).map_err(|error| error.to_string())?;
        own.rope = Rope::of(config)?;
        for flag in ["attention_bias", "mlp_bias"] {
            if config[flag].as_bool() == Some(true) {
                return Err(format!("{flag} is true: projections with biases are not implemented"));
            }
        }
        if let Some(other) = config["hidden_act"].as_str().filter(|name| *name != "silu") {
            return Err(format!("hidden_act is {other}; there is silu"));
        }
        if !config["quantization_config"].is_null() {
            return Err("its weights are quantised; f32, f16 and bf16 are read".to_owned());
        }
        if own.num_key_value_heads == 0 {
            own.num_key_value_heads = own.num_attention_heads;
        }
        let (width, heads, kv) =
            (own.hidden_size, own.num_attention_heads, own.num_key_value_heads);
        let fits = heads > 0 && kv > 0 && heads.is_multiple_of(kv);
        let whole = fits && (own.head_dim.is_some() || width.is_multiple_of(heads));
        if !whole || own.head() == 0 || !own.head().is_multiple_of(2) {
            return Err(format!("{heads} heads and {kv} key heads do not divide width {width}"));
        }
        Ok(own)
    }

    fn head(&self) -> usize {
        self.head_dim.unwrap_or_else(|| self.hidden_size / self.num_attention_heads)
    }
}

#[derive(Debug)]
struct Layer {
    attention_norm: Tensor,
    /// Queries, keys and values side by side: `[width, (heads + 2 kv) · head]`.
    project: Tensor,
    output: Tensor,
    feed_norm: Tensor,
    /// Gate and up side by side: `[width, 2 · inner]`.
    gate_up: Tensor,
    down: Tensor,
}

/// The model.
#[derive(Debug)]
pub struct Llama {
    config: LlamaConfig,
    embedding: Tensor,
    layers: Vec<Layer>,
    norm: Tensor,
    /// `[width, vocabulary]`.
    output: Tensor,
    /// Cosines and sines, `[positions, head / 2]`.
    angles: (Tensor, Tensor),
}

impl Llama {
    pub(crate) fn new(config: LlamaConfig, mut weights: Weights) -> Result<Llama> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let kv = config.num_key_value_heads * config.head();
        let mixed = config.num_attention_heads * config.head();
        let embedding = weights.tensor("model.embed_tokens.weight", &[config.vocab_size, width])?;
        let mut layers = Vec::new();
        for at in 0..config.num_hidden_layers {
            let mut matrix = |name: &str, out: usize, into: usize| {
                weights.matrix(&format!("model.layers.{at}.{name}.weight"), out, into)
            };
            let project = [
                matrix("self_attn.q_proj", mixed, width)?,
                matrix("self_attn.k_proj", kv, width)?,
                matrix("self_attn.v_proj", kv, width)?,
            ];
            let output = matrix("self_attn.o_proj", width, mixed)?;
            let gate_up =
                [matrix("mlp.gate_proj", inner, width)?, matrix("mlp.up_proj", inner, width)?];
            let down = matrix("mlp.down_proj", width, inner)?;
            let mut norm =
                |name: &str| weights.tensor(&format!("model.layers.{at}.{name}.weight"), &[width]);
            layers.push(Layer {
                attention_norm: norm("input_layernorm")?,
                project: Tensor::cat(&project, 1)?.contiguous()?,
                output,
                feed_norm: norm("post_attention_layernorm")?,
                gate_up: Tensor::cat(&gate_up, 1)?.contiguous()?,
                down,
            });
        }
        let norm = weights.tensor("model.norm.weight", &[width])?;
        let output = if config.tie_word_embeddings || !weights.has("lm_head.weight") {
            embedding.t()?.contiguous()?
        } else {
            weights.matrix("lm_head.weight", config.vocab_size, width)?
        };
        let angles = config.rope.angles(config.head(), config.max_position_embeddings)?;
        Ok(Llama { config, embedding, layers, norm, output, angles })
    }

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &LlamaConfig {
        &self.config
    }

    /// Logits `[length × vocabulary]` of one sequence, all places at once.
    ///
    /// # Errors
    /// When the sequence is too long or holds a token outside of the vocabulary.
    pub fn logits(&self, tokens: &[u32]) -> Result<Vec<f32>> {
        let hidden = self.hidden(tokens, |_, _, _| Ok(()))?;
        Ok(hidden.matmul(&self.output)?.flatten_all()?.to_vec1()?)
    }

    /// The mean over all places of what the output layer reads, `[width]`.
    ///
    /// # Errors
    /// As [`Llama::logits`].
    pub fn embedding(&self, tokens: &[u32]) -> Result<Vec<f32>> {
        Ok(self.hidden(tokens, |_, _, _| Ok(()))?.mean(0)?.to_vec1()?)
    }

    /// What the output layer reads, `[length, width]`. `keep` is told each layer's keys and values,
    /// `[1, kv heads, length, head]`.
    fn hidden(
        &self,
        tokens: &[u32],
        mut keep: impl FnMut(usize, &Tensor, &Tensor) -> Result<()>,
    ) -> Result<Tensor> {
        self.check(tokens.len(), tokens)?;
        let config = &self.config;
        let (length, head) = (tokens.len(), config.head());
        let (heads, kv) = (config.num_attention_heads, config.num_key_value_heads);
        let ids = Tensor::new(tokens, &Device::Cpu)?;
        let mut x = self.embedding.index_select(&ids, 0)?;
        let cosine = self.angles.0.narrow(0, 0, length)?.contiguous()?;
        let sine = self.angles.1.narrow(0, 0, length)?.contiguous()?;
        let mask: Vec<f32> = (0..length * length)
            .map(|at| if at % length > at / length { f32::NEG_INFINITY } else { 0.0 })
            .collect();
        let mask = Tensor::from_vec(mask, (1, length, length), &Device::Cpu)?;
        for (at, layer) in self.layers.iter().enumerate() {
            let normal = self.normalise(&x, &layer.attention_norm)?;
            let all = normal.matmul(&layer.project)?;
            let part = |from: usize, count: usize| -> Result<Tensor> {
                let part = all.narrow(1, from * head, count * head)?;
                let part = part.reshape((1, length, count, head))?.transpose(1, 2)?;
                Ok(part.contiguous()?)
            };
            let query = candle_nn::rotary_emb::rope(&part(0, heads)?, &cosine, &sine)?;
            let key = candle_nn::rotary_emb::rope(&part(heads, kv)?, &cosine, &sine)?;
            let value = part(heads + kv, kv)?;
            keep(at, &key, &value)?;
            let spread = |x: &Tensor| -> Result<Tensor> {
                let x = x.reshape((kv, 1, length, head))?;
                let x = x.broadcast_as((kv, heads / kv, length, head))?;
                Ok(x.reshape((heads, length, head))?.contiguous()?)
            };
            let query = query.reshape((heads, length, head))?;
            let scores = query.matmul(&spread(&key)?.transpose(1, 2)?.contiguous()?)?;
            let scores = (scores / (head as f64).sqrt())?.broadcast_add(&mask)?;
            let shares = candle_nn::ops::softmax_last_dim(&scores)?;
            let y = shares.matmul(&spread(&value)?)?;
            let y = y.transpose(0, 1)?.reshape((length, heads * head))?;
            x = (x + y.contiguous()?.matmul(&layer.output)?)?;
            let normal = self.normalise(&x, &layer.feed_norm)?;
            let both = normal.matmul(&layer.gate_up)?;
            let gate = both.narrow(1, 0, config.intermediate_size)?.contiguous()?.silu()?;
            let up = both.narrow(1, config.intermediate_size, config.intermediate_size)?;
            x = (x + (gate * up.contiguous()?)?.matmul(&layer.down)?)?;
        }
        self.normalise(&x, &self.norm)
    }

    fn check(&self, length: usize, tokens: &[u32]) -> Result<()> {
        if length > self.config.max_position_embeddings {
            let positions = self.config.max_position_embeddings;
            return Err(Error::TooLong { length, positions });
        }
        match tokens.iter().find(|id| **id as usize >= self.config.vocab_size) {
            Some(id) => Err(Error::Token { id: *id, vocabulary: self.config.vocab_size }),
            None => Ok(()),
        }
    }

    fn normalise(&self, x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let mean = (x.sqr()?.sum_keepdim(D::Minus1)? / self.config.hidden_size as f64)?;
        let x = x.broadcast_div(&(mean + self.config.rms_norm_eps)?.sqrt()?)?;
        Ok(x.broadcast_mul(weight)?)
    }
}

/// Slots of keys and values.
///
/// Of the rows of a step every thread takes some through all layers, at least as many as products are made of at a
/// time; where there are fewer threads than that keeps busy, they share the products too.
#[derive(Debug)]
pub(crate) struct LlamaDecoder {
    reader: Reader,
    slots: Vec<Slot>,
    /// Of each thread's rows.
    buffers: Vec<Buffers>,
}

/// What reads tokens, laid out for a few at a time.
#[derive(Debug)]
struct Reader {
    model: Arc<Llama>,
    shape: Shape,
    layers: Vec<Products>,
    output: Panels,
    norm: Vec<f32>,
    cosine: Vec<f32>,
    sine: Vec<f32>,
    embedding: Vec<f32>,
}

/// The matrices of a layer.
#[derive(Debug)]
struct Products {
    attention_norm: Vec<f32>,
    project: Panels,
    output: Panels,
    feed_norm: Vec<f32>,
    gate_up: Panels,
    down: Panels,
}

impl LlamaDecoder {
    pub(crate) fn new(
        model: Arc<Llama>,
        slots: usize,
        precision: Precision,
    ) -> Result<LlamaDecoder> {
        let config = &model.config;
        let shape = Shape {
            lanes: Lanes::here(),
            layers: config.num_hidden_layers,
            heads: config.num_attention_heads,
            kv: config.num_key_value_heads,
            head: config.head(),
        };
        let cosine = model.angles.0.flatten_all()?.to_vec1()?;
        let sine = model.angles.1.flatten_all()?.to_vec1()?;
        let embedding = model.embedding.flatten_all()?.to_vec1()?;
        let products = |layer: &Layer| -> Result<Products> {
            Ok(Products {
                attention_norm: layer.attention_norm.to_vec1()?,
                project: Panels::new(&layer.project, precision)?,
                output: Panels::new(&layer.output, precision)?,
                feed_norm: layer.feed_norm.to_vec1()?,
                gate_up: Panels::new(&layer.gate_up, precision)?,
                down: Panels::new(&layer.down, precision)?,
            })
        };
        let layers = model.layers.iter().map(products).collect::<Result<_>>()?;
        let output = Panels::new(&model.output, precision)?;
        let norm = model.norm.to_vec1()?;
        let slots = vec![Slot::new(shape); slots];
        let reader = Reader { model, shape, layers, output, norm, cosine, sine, embedding };
        Ok(LlamaDecoder { reader, slots, buffers: Vec::new() })
    }

    /// Read these tokens, for which there is room.
    fn advance(&mut self, tokens: &[(usize, u32)]) -> Vec<f32> {
        // The slots of this step, in its order.
        let mut order: Vec<Option<usize>> = vec![None; self.slots.len()];
        for (row, (slot, _)) in tokens.iter().enumerate() {
            order[*slot] = Some(row);
        }
        let held = self.slots.iter_mut().zip(&order);
        let mut active: Vec<(usize, &mut Slot)> =
            held.filter_map(|(slot, row)| row.map(|row| (row, slot))).collect();
        active.sort_by_key(|(row, _)| *row);
        let mut active: Vec<&mut Slot> = active.into_iter().map(|(_, slot)| slot).collect();
        let reader = &self.reader;
        let high = reader.shape.lanes.rows();
        let each = tokens.len().div_ceil(rayon::current_num_threads()).next_multiple_of(high);
        let vocabulary = reader.model.config.vocab_size;
        let mut logits = vec![0.0; tokens.len() * vocabulary];
        let parts = tokens.len().div_ceil(each);
        self.buffers.resize_with(parts.max(self.buffers.len()), Buffers::default);
        let is_alone = parts >= rayon::current_num_threads();
        self.buffers.iter_mut().for_each(|buffers| buffers.is_alone = is_alone);
        tokens
            .par_chunks(each)
            .zip(active.par_chunks_mut(each))
            .zip(logits.par_chunks_mut(each * vocabulary))
            .zip(&mut self.buffers)
            .for_each(|(((tokens, slots), logits), buffers)| {
                reader.read(tokens, slots, buffers, logits);
            });
        logits
    }
}

impl Reader {
    /// Read a token in each of these slots; `[rows, vocabulary]` logits of what comes next.
    fn read(
        &self,
        tokens: &[(usize, u32)],
        slots: &mut [&mut Slot],
        buffers: &mut Buffers,
        logits: &mut [f32],
    ) {
        let config = &self.model.config;
        let (rows, width, inner) = (tokens.len(), config.hidden_size, config.intermediate_size);
        let Shape { lanes, heads, kv, head, .. } = self.shape;
        let epsilon = config.rms_norm_eps as f32;
        let mut x = Vec::with_capacity(rows * width);
        for (_, token) in tokens {
            x.extend_from_slice(&self.embedding[*token as usize * width..][..width]);
        }
        for slot in &mut *slots {
            slot.reserve(slot.length + 1);
        }
        let (cosine, sine) = (&self.cosine, &self.sine);
        let mut normal = vec![0.0; rows * width];
        let mut mixed = vec![0.0; rows * heads * head];
        let mut gated = vec![0.0; rows * inner];
        let mut all = vec![0.0; rows * (heads + 2 * kv) * head];
        let mut both = vec![0.0; rows * 2 * inner];
        let mut sum = vec![0.0; rows * width];
        for (at, layer) in self.layers.iter().enumerate() {
            rms(&x, &layer.attention_norm, epsilon, &mut normal);
            layer.project.product_into(&normal, rows, buffers, &mut all);
            all.par_chunks_mut((heads + 2 * kv) * head)
                .with_min_len(buffers.together())
                .zip(mixed.par_chunks_mut(heads * head))
                .zip(slots.par_iter_mut())
                .for_each(|((all, out), slot)| {
                    let angle = slot.length * head / 2..(slot.length + 1) * head / 2;
                    let (cosine, sine) = (&cosine[angle.clone()], &sine[angle]);
                    for part in all[..(heads + kv) * head].chunks_mut(head) {
                        rotate(part, cosine, sine);
                    }
                    slot.attend(at, all, out);
                });
            layer.output.product_into(&mixed, rows, buffers, &mut sum);
            add(&mut x, &sum);
            rms(&x, &layer.feed_norm, epsilon, &mut normal);
            layer.gate_up.product_into(&normal, rows, buffers, &mut both);
            let pairs = both.par_chunks(2 * inner).with_min_len(buffers.together());
            pairs.zip(gated.par_chunks_mut(inner)).for_each(|(both, out)| {
                let (gate, up) = both.split_at(inner);
                lanes.run(Gate { gate, up, out });
            });
            layer.down.product_into(&gated, rows, buffers, &mut sum);
            add(&mut x, &sum);
        }
        for slot in slots {
            slot.length += 1;
        }
        rms(&x, &self.norm, epsilon, &mut normal);
        self.output.product_into(&normal, rows, buffers, logits);
    }
}

fn rotate(x: &mut [f32], cosine: &[f32], sine: &[f32]) {
    let half = x.len() / 2;
    let (one, two) = x.split_at_mut(half);
    for at in 0..half {
        let (a, b) = (one[at], two[at]);
        one[at] = a * cosine[at] - b * sine[at];
        two[at] = b * cosine[at] + a * sine[at];
    }
}

/// Eight sums side by side, so that the compiler can use vectors.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a8.remainder().iter().zip(b8.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a8.zip(b8) {
        for at in 0..8 {
            sums[at] += a[at] * b[at];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// RMSNorm of each row.
fn rms(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
    let width = weight.len();
    for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        let scale = 1.0 / (dot(x, x) / width as f32 + epsilon).sqrt();
        for ((out, x), weight) in out.iter_mut().zip(x).zip(weight) {
            *out = x * scale * weight;
        }
    }
}

/// SwiGLU: the part of `up` that `gate` lets through.
struct Gate<'a> {
    gate: &'a [f32],
    up: &'a [f32],
    out: &'a mut [f32],
}

impl Work for Gate<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for ((out, gate), up) in self.out.iter_mut().zip(self.gate).zip(self.up) {
            *out = gate / (1.0 + exp::<FUSED>(-gate)) * up;
        }
    }
}

impl Decoder for LlamaDecoder {
    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn length(&self, slot: usize) -> usize {
        self.slots[slot].length
    }

    fn reset(&mut self, slot: usize) {
        self.slots[slot].length = 0;
    }

    fn rewind(&mut self, slot: usize, length: usize) -> Result<()> {
        let held = &mut self.slots[slot];
        held.length = held.length.min(length);
        Ok(())
    }

    fn step(&mut self, tokens: &[(usize, u32)]) -> Result<Vec<f32>> {
        for (slot, token) in tokens {
            self.reader.model.check(self.slots[*slot].length + 1, &[*token])?;
        }
        // Within the pool the many small pieces of a step need no other thread to be woken for each.
        Ok(rayon::scope(|_| self.advance(tokens)))
    }

    fn read(&mut self, slot: usize, tokens: &[u32]) -> Result<Vec<f32>> {
        let model = Arc::clone(&self.reader.model);
        model.check(self.slots[slot].length + tokens.len(), tokens)?;
        if tokens.is_empty() || self.slots[slot].length > 0 {
            let mut logits = Vec::new();
            for token in tokens {
                logits = self.step(&[(slot, *token)])?;
            }
            return Ok(logits);
        }
        let Shape { kv, head, .. } = self.reader.shape;
        let held = &mut self.slots[slot];
        held.reserve(tokens.len());
        let hidden = model.hidden(tokens, |at, keys, values| {
            let (keys, values): (Vec<f32>, Vec<f32>) =
                (keys.flatten_all()?.to_vec1()?, values.flatten_all()?.to_vec1()?);
            for (row, (key, value)) in keys.chunks(head).zip(values.chunks(head)).enumerate() {
                let (group, place) = (row / tokens.len(), row % tokens.len());
                held.put(at * kv + group, place, key, value);
            }
            Ok(())
        })?;
        held.length = tokens.len();
        let last = hidden.narrow(0, tokens.len() - 1, 1)?.contiguous()?;
        Ok(last.matmul(&model.output)?.flatten_all()?.to_vec1()?)
    }
}

fn add(x: &mut [f32], y: &[f32]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Array, Numbers};
    use std::collections::BTreeMap;

    /// Weights that look random and are the same everywhere.
    pub(crate) fn noise(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
        (0..count)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                (state as f32 / u32::MAX as f32 - 0.5) * 0.6
            })
            .collect()
    }

    fn small() -> Llama {
        let config = LlamaConfig {
            vocab_size: 29,
            hidden_size: 24,
            intermediate_size: 40,
            num_hidden_layers: 3,
            num_attention_heads: 4,
            num_key_value_heads: 2,
            max_position_embeddings: 300,
            rms_norm_eps: 1e-6,
            head_dim: None,
            rope: Rope::default(),
            tie_word_embeddings: false,
        };
        let mut arrays = BTreeMap::new();
        let mut put = |name: String, shape: &[usize]| {
            let seed = arrays.len() as u32 + 7;
            let numbers = Numbers::F32(noise(shape.iter().product(), seed));
            arrays.insert(name, Array { shape: shape.to_vec(), numbers });
        };
        put("model.embed_tokens.weight".into(), &[29, 24]);
        put("lm_head.weight".into(), &[29, 24]);
        put("model.norm.weight".into(), &[24]);
        for at in 0..3 {
            for (name, shape) in [
                ("self_attn.q_proj", [24, 24]),
                ("self_attn.k_proj", [12, 24]),
                ("self_attn.v_proj", [12, 24]),
                ("self_attn.o_proj", [24, 24]),
                ("mlp.gate_proj", [40, 24]),
                ("mlp.up_proj", [40, 24]),
                ("mlp.down_proj", [24, 40]),
            ] {
                put(format!("model.layers.{at}.{name}.weight"), &shape);
            }
            put(format!("model.layers.{at}.input_layernorm.weight"), &[24]);
            put(format!("model.layers.{at}.post_attention_layernorm.weight"), &[24]);
        }
        Llama::new(config, Weights::of(arrays)).expect("all tensors are there")
    }

    fn close(a: &[f32], b: &[f32]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4)
    }

    #[test]
    fn decoding_with_a_cache_gives_the_logits_of_the_full_pass() {
        let model = Arc::new(small());
        // Two sequences of different lengths, started at different times, one in a used slot.
        let one: Vec<u32> = (0..200).map(|at| at * 7 % 29).collect();
        let two: Vec<u32> = (0..150).map(|at| at * 11 % 29).collect();
        let mut decoder =
            LlamaDecoder::new(Arc::clone(&model), 3, Precision::Single).expect("slots");
        decoder.step(&[(2, 5)]).expect("a first use");
        decoder.reset(2);
        let (full_one, full_two) =
            (model.logits(&one).expect("fits"), model.logits(&two).expect("fits"));
        for at in 0..one.len() {
            let mut tokens = vec![(2, one[at])];
            let late = at.checked_sub(20).filter(|late| *late < two.len());
            tokens.extend(late.map(|late| (0, two[late])));
            let logits = decoder.step(&tokens).expect("room");
            assert!(close(&logits[..29], &full_one[at * 29..][..29]), "place {at}");
            if let Some(late) = late {
                assert!(close(&logits[29..], &full_two[late * 29..][..29]), "place {late}");
            }
        }
    }

    #[test]
    fn a_prompt_is_read_at_once_as_token_by_token() {
        let model = Arc::new(small());
        let prompt: Vec<u32> = (0..280).map(|at| at * 13 % 29).collect();
        let full = model.logits(&prompt).expect("fits");
        let mut decoder =
            LlamaDecoder::new(Arc::clone(&model), 2, Precision::Single).expect("slots");
        for _ in 0..2 {
            decoder.reset(1);
            let first = decoder.read(1, &prompt[..200]).expect("room");
            assert!(close(&first, &full[199 * 29..200 * 29]));
            let later = decoder.read(1, &prompt[200..279]).expect("room");
            assert!(close(&later, &full[278 * 29..279 * 29]));
            let next = decoder.step(&[(1, prompt[279])]).expect("room");
            assert!(close(&next, &full[279 * 29..]));
            assert_eq!(decoder.length(1), 280);
            decoder.read(1, &[1; 30]).expect_err("no room");
            assert_eq!(decoder.length(1), 280, "what does not fit is not read in part");
            decoder.rewind(1, 150).expect("keys and values are kept");
            for at in 150..160 {
                let again = decoder.step(&[(1, prompt[at])]).expect("room");
                assert!(close(&again, &full[at * 29..][..29]), "place {at}");
            }
        }
        assert_eq!(model.embedding(&prompt).expect("fits").len(), 24);
    }

    #[test]
    fn a_sequence_longer_than_the_model_is_refused_by_name() {
        let model = small();
        let error = model.logits(&vec![1; 301]).expect_err("too long").to_string();
        assert_eq!(error, "301 tokens do not fit into the model's 300 positions");
        let error = model.logits(&[29]).expect_err("no such token").to_string();
        assert_eq!(error, "token 29 is outside of the model's vocabulary of 29");
    }
}
