//! Decoding with keys and values that are kept.
//!
//! With one query a row, attention is two batched products and a softmax: these read what is kept where it lies,
//! and have one plan for all lengths, which fused attention has not.

use super::{Infill, LAYER, Shape};
use crate::model::{Advance, Decoder, Run};
use tch::{Kind as Number, Tensor};

/// Kept places that a row's attention reads are rounded up to this many, so that few shapes come up.
const GRAIN: i64 = 64;

/// Weights of a layer in the kind of number that products are made in. What reads the same input is one matrix.
#[derive(Debug)]
struct Layer {
    attention_norm: Tensor,
    /// Queries, keys and values.
    project: Tensor,
    output: Tensor,
    feed_norm: Tensor,
    /// Gate and up.
    gate_up: Tensor,
    down: Tensor,
    /// `[rows, kv heads, room, head]`.
    keys: Tensor,
    values: Tensor,
}

/// Rows of sequences with their keys and values.
#[derive(Debug)]
pub(super) struct InfillDecoder {
    shape: Shape,
    kind: Number,
    embedding: Tensor,
    layers: Vec<Layer>,
    norm: Tensor,
    output: Tensor,
    /// `[positions, head]`.
    cosine: Tensor,
    sine: Tensor,
    /// Tokens that all rows have read, where they advance together.
    length: i64,
}

/// Which places are read.
enum Reading<'a> {
    /// The same of all rows, from here on.
    Together(i64),
    /// One of each row.
    Apart {
        /// Where it is, `[rows, kv heads, 1, head]`.
        index: &'a Tensor,
        /// What is added to scores, `[rows · kv heads, 1, places]`.
        mask: &'a Tensor,
    },
}

impl InfillDecoder {
    pub(super) fn new(model: &Infill, rows: i64, length: i64, run: Run) -> InfillDecoder {
        let (shape, kind) = (model.shape, run.kind());
        let device = model.embedding.device();
        let room = [rows, shape.kv_heads, length + 1, shape.head()];
        let cast = |tensors: &[&Tensor]| Tensor::cat(tensors, 0).detach().to_kind(kind);
        let layers = model.layers.iter().map(|weights| {
            let [attention, query, key, value, output, feed, gate, up, down] =
                LAYER.map(|name| &weights[name]);
            Layer {
                attention_norm: attention.detach(),
                project: cast(&[query, key, value]),
                output: cast(&[output]),
                feed_norm: feed.detach(),
                gate_up: cast(&[gate, up]),
                down: cast(&[down]),
                keys: Tensor::zeros(room, (kind, device)),
                values: Tensor::zeros(room, (kind, device)),
            }
        });
        InfillDecoder {
            shape,
            kind,
            embedding: model.embedding.detach(),
            layers: layers.collect(),
            norm: model.norm.detach(),
            output: cast(&[&model.output]),
            cosine: model.cosine.to_kind(kind),
            sine: model.sine.to_kind(kind),
            length: 0,
        }
    }

    fn normalise(&self, x: &Tensor, weight: &Tensor) -> Tensor {
        x.rms_norm([self.shape.width], Some(weight), self.shape.epsilon).to_kind(self.kind)
    }

    /// Logits of the last place of `input` `[rows, new]`.
    fn run(&self, input: &Tensor, cosine: &Tensor, sine: &Tensor, reading: &Reading<'_>) -> Tensor {
        let shape = &self.shape;
        let (rows, new) = (input.size()[0], input.size()[1]);
        let (heads, kv, head) = (shape.heads, shape.kv_heads, shape.head());
        let mut x = Tensor::embedding(&self.embedding, input, -1, false, false);
        for layer in &self.layers {
            let all = self.normalise(&x, &layer.attention_norm);
            let all = all.linear::<Tensor>(&layer.project, None);
            let all = all.view([rows, new, heads + 2 * kv, head]).transpose(1, 2);
            let turned = rotate(&all.narrow(1, 0, heads + kv), cosine, sine);
            let query = turned.narrow(1, 0, heads);
            let (key, value) = (turned.narrow(1, heads, kv), all.narrow(1, heads + kv, kv));
            let y = match reading {
                Reading::Together(from) => {
                    let _ = layer.keys.narrow(2, *from, new).copy_(&key);
                    let _ = layer.values.narrow(2, *from, new).copy_(&value);
                    match new {
                        1 => self.mix(layer, &query, from + 1, None),
                        _ => self.read(&query, &key, &value),
                    }
                }
                Reading::Apart { index, mask } => {
                    let _ = layer.keys.narrow(0, 0, rows).scatter_(2, index, &key);
                    let _ = layer.values.narrow(0, 0, rows).scatter_(2, index, &value);
                    self.mix(layer, &query, mask.size()[2], Some(mask))
                }
            };
            x = x + y.linear::<Tensor>(&layer.output, None);
            let both = self.normalise(&x, &layer.feed_norm);
            let both = both.linear::<Tensor>(&layer.gate_up, None);
            let gate = both.narrow(2, 0, shape.inner).silu();
            let up = both.narrow(2, shape.inner, shape.inner);
            x = x + (gate * up).linear::<Tensor>(&layer.down, None);
        }
        let last = self.normalise(&x.select(1, new - 1), &self.norm);
        last.linear::<Tensor>(&self.output, None)
    }

    /// One query a row over the first `held` places that are kept, `[rows, 1, width]`.
    fn mix(&self, layer: &Layer, query: &Tensor, held: i64, mask: Option<&Tensor>) -> Tensor {
        let (rows, kv, head) = (query.size()[0], self.shape.kv_heads, self.shape.head());
        let kept = |x: &Tensor| {
            x.narrow(0, 0, rows).view([rows * kv, x.size()[2], head]).narrow(1, 0, held)
        };
        // The heads that share a key are the rows of one product.
        let query = query.reshape([rows * kv, self.shape.heads / kv, head]);
        let scores = (query * (1.0 / (head as f64).sqrt())).bmm(&kept(&layer.keys).transpose(1, 2));
        let scores = match mask {
            Some(mask) => scores + mask,
            None => scores,
        };
        let shares = scores.softmax(-1, Number::Float).to_kind(self.kind);
        shares.bmm(&kept(&layer.values)).reshape([rows, 1, self.shape.width])
    }

    /// Several places of rows that have read nothing yet.
    fn read(&self, query: &Tensor, key: &Tensor, value: &Tensor) -> Tensor {
        let group = self.shape.heads / self.shape.kv_heads;
        let spread = |x: &Tensor| x.repeat_interleave_self_int(group, 1, None);
        let y = Tensor::scaled_dot_product_attention(
            query,
            &spread(key),
            &spread(value),
            None::<&Tensor>,
            0.0,
            true,
            None,
            false,
        );
        let (rows, new) = (query.size()[0], query.size()[2]);
        y.transpose(1, 2).reshape([rows, new, self.shape.width])
    }
}

/// Pairs of halves, turned by the angles of their positions (Su et al. 2021).
pub(super) fn rotate(x: &Tensor, cosine: &Tensor, sine: &Tensor) -> Tensor {
    let half = x.size()[3] / 2;
    let (one, two) = (x.narrow(3, 0, half), x.narrow(3, half, half));
    (x * cosine).addcmul(&Tensor::cat(&[&two.neg(), &one], 3), sine)
}

impl Decoder for InfillDecoder {
    fn step(&mut self, input: &Tensor) -> Tensor {
        let (from, new) = (self.length, input.size()[1]);
        assert!(new == 1 || from == 0, "several tokens are read at once by rows that are empty");
        let angles = |table: &Tensor| table.narrow(0, from, new);
        let (cosine, sine) = (angles(&self.cosine), angles(&self.sine));
        let logits = self.run(input, &cosine, &sine, &Reading::Together(from));
        self.length += new;
        logits
    }

    fn advance(&mut self, rows: &Advance) -> Tensor {
        let Advance { tokens, positions, longest } = rows;
        let (count, kv, head) = (tokens.size()[0], self.shape.kv_heads, self.shape.head());
        let room = self.layers.first().map_or(0, |layer| layer.keys.size()[2]);
        let held = ((longest + GRAIN - 1) / GRAIN * GRAIN).min(room);
        // The place behind the last is there for rows that rest; no angle matters to them.
        let known = positions.clamp_max(self.shape.positions - 1);
        let angles = |table: &Tensor| table.index_select(0, &known).view([count, 1, 1, head]);
        let (cosine, sine) = (angles(&self.cosine), angles(&self.sine));
        let index = positions.view([count, 1, 1, 1]).expand([count, kv, 1, head], false);
        let options = |kind| (kind, positions.device());
        let beyond =
            Tensor::arange(held, options(Number::Int64)).gt_tensor(&positions.unsqueeze(1));
        let mask = Tensor::zeros([count, held], options(Number::Float));
        let mask = mask.masked_fill(&beyond, f64::NEG_INFINITY).view([count, 1, 1, held]);
        let mask = mask.expand([count, kv, 1, held], false).reshape([count * kv, 1, held]);
        let reading = Reading::Apart { index: &index, mask: &mask };
        self.run(&tokens.unsqueeze(1), &cosine, &sine, &reading)
    }

    fn goes_back(&self) -> bool {
        true
    }

    fn narrows(&self) -> bool {
        true
    }

    fn keep(&mut self, rows: &Tensor) {
        for layer in &mut self.layers {
            layer.keys = layer.keys.index_select(0, rows);
            layer.values = layer.values.index_select(0, rows);
        }
    }
}
