//! A Llama-architecture causal transformer (Touvron et al. 2023) with the names of weights that
//! Hugging Face's `LlamaForCausalLM` has.

mod decoder;

use super::{Decoder, Init, Model, Parameters, Run, Table, Weight, layer, size};
use anyhow::bail;
use decoder::InfillDecoder;
use tch::{Device, Kind as Number, Tensor};

/// Sizes, from `config.json`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    vocabulary: i64,
    width: i64,
    inner: i64,
    layers: i64,
    heads: i64,
    kv_heads: i64,
    positions: i64,
    epsilon: f64,
    theta: f64,
    tied: bool,
}

const LAYER: [&str; 9] = [
    "input_layernorm.weight",
    "self_attn.q_proj.weight",
    "self_attn.k_proj.weight",
    "self_attn.v_proj.weight",
    "self_attn.o_proj.weight",
    "post_attention_layernorm.weight",
    "mlp.gate_proj.weight",
    "mlp.up_proj.weight",
    "mlp.down_proj.weight",
];

/// What of a configuration would make other models of it than this one computes; such checkpoints are from elsewhere.
fn foreign(config: &serde_json::Value) -> Option<String> {
    let own = match &config["rope_parameters"] {
        serde_json::Value::Null => &config["rope_scaling"],
        own => own,
    };
    let rope = own["rope_type"].as_str().or_else(|| own["type"].as_str()).unwrap_or("default");
    let head = config["hidden_size"].as_i64().zip(config["num_attention_heads"].as_i64());
    let other = config["head_dim"].as_i64().zip(head.filter(|(_, heads)| *heads > 0));
    if rope != "default" {
        return Some(format!("rope_type {rope}"));
    }
    if other.is_some_and(|(own, (width, heads))| own * heads != width) {
        return Some("a head_dim that is not hidden_size / num_attention_heads".to_owned());
    }
    let biases = ["attention_bias", "mlp_bias"].into_iter();
    biases.filter(|flag| config[*flag].as_bool() == Some(true)).map(str::to_owned).next()
}

impl Shape {
    pub(crate) fn read(config: &serde_json::Value) -> anyhow::Result<Shape> {
        if let Some(what) = foreign(config) {
            bail!("config.json: this engine has no {what}");
        }
        let shape = Shape {
            vocabulary: size(config, "vocab_size")?,
            width: size(config, "hidden_size")?,
            inner: size(config, "intermediate_size")?,
            layers: size(config, "num_hidden_layers")?,
            heads: size(config, "num_attention_heads")?,
            kv_heads: size(config, "num_key_value_heads")?,
            positions: size(config, "max_position_embeddings")?,
            epsilon: config["rms_norm_eps"].as_f64().unwrap_or(1e-6),
            theta: config["rope_theta"]
                .as_f64()
                .or_else(|| config["rope_parameters"]["rope_theta"].as_f64())
                .unwrap_or(10_000.0),
            tied: config["tie_word_embeddings"].as_bool().unwrap_or(false),
        };
        if shape.width % shape.heads != 0 || shape.heads % shape.kv_heads != 0 {
            bail!("config.json: {} heads do not divide {}", shape.heads, shape.width);
        }
        Ok(shape)
    }

    fn head(&self) -> i64 {
        self.width / self.heads
    }

    pub(crate) fn weights(&self) -> Vec<Weight> {
        let (width, inner) = (self.width, self.inner);
        let kv = self.kv_heads * self.head();
        let normal = Init::Normal(0.02);
        // Outputs into the residual stream begin smaller, the more there are (Radford et al. 2019).
        let output = Init::Normal(0.02 / (2.0 * self.layers as f64).sqrt());
        let mut all =
            vec![Weight::new("model.embed_tokens.weight", &[self.vocabulary, width], normal)];
        for at in 0..self.layers {
            let shapes: [(&[i64], Init); 9] = [
                (&[width], Init::Ones),
                (&[width, width], normal),
                (&[kv, width], normal),
                (&[kv, width], normal),
                (&[width, width], output),
                (&[width], Init::Ones),
                (&[inner, width], normal),
                (&[inner, width], normal),
                (&[width, inner], output),
            ];
            for (name, (shape, init)) in LAYER.iter().zip(shapes) {
                all.push(Weight::new(format!("model.layers.{at}.{name}"), shape, init));
            }
        }
        all.push(Weight::new("model.norm.weight", &[width], Init::Ones));
        if !self.tied {
            all.push(Weight::new("lm_head.weight", &[self.vocabulary, width], normal));
        }
        all
    }
}

/// The model.
#[derive(Debug)]
pub(crate) struct Infill {
    shape: Shape,
    parameters: Parameters,
    embedding: Tensor,
    layers: Vec<Table>,
    norm: Tensor,
    output: Tensor,
    cosine: Tensor,
    sine: Tensor,
}

impl Infill {
    pub(crate) fn new(shape: Shape, parameters: Parameters) -> Infill {
        let device = parameters.device();
        let half = shape.head() / 2;
        let option = (Number::Float, Device::Cpu);
        let powers = Tensor::arange(half, option) * (-(shape.theta.ln()) / half as f64);
        let angles = Tensor::arange(shape.positions, option).outer(&powers.exp());
        let angles = Tensor::cat(&[&angles, &angles], 1).to_device(device);
        let layers = (0..shape.layers)
            .map(|at| layer(&parameters, &format!("model.layers.{at}."), &LAYER))
            .collect();
        let embedding = parameters.get("model.embed_tokens.weight");
        let output = match shape.tied {
            true => embedding.shallow_clone(),
            false => parameters.get("lm_head.weight"),
        };
        Infill {
            shape,
            embedding,
            layers,
            norm: parameters.get("model.norm.weight"),
            output,
            cosine: angles.cos(),
            sine: angles.sin(),
            parameters,
        }
    }

    /// The product with a layer's matrix.
    fn project(&self, x: &Tensor, at: usize, name: &str, run: Run) -> Tensor {
        run.linear(x, &self.layers[at][name], None)
    }

    fn normalise(&self, x: &Tensor, weight: &Tensor) -> Tensor {
        x.rms_norm([self.shape.width], Some(weight), self.shape.epsilon)
    }

    /// Attention of all places to those before them.
    fn attend(&self, x: &Tensor, at: usize, run: Run) -> Tensor {
        let shape = &self.shape;
        let (rows, length, _) = x.size3().expect("activations have three dimensions");
        let split = |name: &str, heads: i64| {
            let y = self.project(x, at, name, run);
            y.view([rows, length, heads, shape.head()]).transpose(1, 2)
        };
        let turned = |x: Tensor| {
            let angles = |table: &Tensor| table.narrow(0, 0, length).to_kind(x.kind());
            decoder::rotate(&x, &angles(&self.cosine), &angles(&self.sine))
        };
        let query = turned(split("self_attn.q_proj.weight", shape.heads));
        let key = turned(split("self_attn.k_proj.weight", shape.kv_heads));
        let value = split("self_attn.v_proj.weight", shape.kv_heads);
        let spread = |x: &Tensor| match shape.heads / shape.kv_heads {
            1 => x.shallow_clone(),
            group => x.repeat_interleave_self_int(group, 1, None),
        };
        let y = Tensor::scaled_dot_product_attention(
            &query,
            &spread(&key),
            &spread(&value),
            None::<&Tensor>,
            0.0,
            true,
            None,
            false,
        );
        let y = y.transpose(1, 2).reshape([rows, length, shape.width]);
        self.project(&y, at, "self_attn.o_proj.weight", run)
    }

    fn feed(&self, x: &Tensor, at: usize, run: Run) -> Tensor {
        let gate = self.project(x, at, "mlp.gate_proj.weight", run).silu();
        let up = self.project(x, at, "mlp.up_proj.weight", run);
        self.project(&(gate * up), at, "mlp.down_proj.weight", run)
    }
}

impl Model for Infill {
    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn hidden(&self, input: &Tensor, run: Run) -> Tensor {
        let embedded = Tensor::embedding(&self.embedding, input, -1, false, false);
        let mut x = embedded.to_kind(Number::Float);
        for (at, weights) in self.layers.iter().enumerate() {
            let normal = self.normalise(&x, &weights["input_layernorm.weight"]);
            x = x + self.attend(&normal, at, run).to_kind(Number::Float);
            let normal = self.normalise(&x, &weights["post_attention_layernorm.weight"]);
            x = x + self.feed(&normal, at, run).to_kind(Number::Float);
        }
        self.normalise(&x, &self.norm)
    }

    fn head(&self, hidden: &Tensor, run: Run) -> Tensor {
        run.linear(hidden, &self.output, None)
    }

    fn decoder(&self, rows: i64, length: i64, run: Run) -> Option<Box<dyn Decoder>> {
        Some(Box::new(InfillDecoder::new(self, rows, length.min(self.shape.positions), run)))
    }
}
