//! CLgen's model (Cummins et al., CGO'17, section 4.2): stacked LSTM layers over characters.

use super::{Cache, Init, Model, Parameters, Run, Weight, size};
use tch::{Kind as Number, Tensor};

/// Sizes, from `config.json`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    vocabulary: i64,
    width: i64,
    layers: i64,
}

impl Shape {
    pub(crate) fn read(config: &serde_json::Value) -> anyhow::Result<Shape> {
        Ok(Shape {
            vocabulary: size(config, "vocab_size")?,
            width: size(config, "hidden_size")?,
            layers: size(config, "num_hidden_layers")?,
        })
    }

    pub(crate) fn weights(&self) -> Vec<Weight> {
        let (width, bound) = (self.width, 1.0 / (self.width as f64).sqrt());
        let uniform = Init::Uniform(bound);
        let mut all =
            vec![Weight::new("embedding.weight", &[self.vocabulary, width], Init::Normal(0.1))];
        for at in 0..self.layers {
            all.push(Weight::new(format!("lstm.weight_ih_l{at}"), &[4 * width, width], uniform));
            all.push(Weight::new(format!("lstm.weight_hh_l{at}"), &[4 * width, width], uniform));
            all.push(Weight::new(format!("lstm.bias_ih_l{at}"), &[4 * width], uniform));
            all.push(Weight::new(format!("lstm.bias_hh_l{at}"), &[4 * width], uniform));
        }
        all.push(Weight::new("head.weight", &[self.vocabulary, width], uniform));
        all.push(Weight::new("head.bias", &[self.vocabulary], Init::Zeros));
        all
    }
}

/// The model.
#[derive(Debug)]
pub(crate) struct Lstm {
    shape: Shape,
    embedding: Tensor,
    recurrent: Vec<Tensor>,
    head: (Tensor, Tensor),
    parameters: Parameters,
}

impl Lstm {
    pub(crate) fn new(shape: Shape, parameters: Parameters) -> Lstm {
        let names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"];
        let recurrent = (0..shape.layers)
            .flat_map(|at| names.map(|name| parameters.get(&format!("lstm.{name}_l{at}"))))
            .collect();
        Lstm {
            shape,
            embedding: parameters.get("embedding.weight"),
            recurrent,
            head: (parameters.get("head.weight"), parameters.get("head.bias")),
            parameters,
        }
    }

    fn zeros(&self, rows: i64, kind: Number) -> Tensor {
        let shape = [self.shape.layers, rows, self.shape.width];
        Tensor::zeros(shape, (kind, self.embedding.device()))
    }

    fn run(&self, input: &Tensor, state: [&Tensor; 2], run: Run) -> (Tensor, Tensor, Tensor) {
        let kind = run.kind();
        let x = Tensor::embedding(&self.embedding, input, -1, false, false).to_kind(kind);
        let weights: Vec<Tensor> = self.recurrent.iter().map(|w| w.to_kind(kind)).collect();
        let dropout = if run.training { run.dropout } else { 0.0 };
        let weights: Vec<&Tensor> = weights.iter().collect();
        x.lstm(&state, &weights, true, self.shape.layers, dropout, run.training, false, true)
    }
}

impl Model for Lstm {
    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn hidden(&self, input: &Tensor, run: Run) -> Tensor {
        let zeros = self.zeros(input.size()[0], run.kind());
        self.run(input, [&zeros, &zeros], run).0
    }

    fn head(&self, hidden: &Tensor, run: Run) -> Tensor {
        run.linear(hidden, &self.head.0, Some(&self.head.1))
    }

    fn cache(&self, rows: i64, _: i64, run: Run) -> Option<Cache> {
        let zeros = || self.zeros(rows, run.kind());
        Some(Cache { tensors: vec![zeros(), zeros()], rows: 1, length: 0 })
    }

    fn step(&self, input: &Tensor, cache: &mut Cache, run: Run) -> Tensor {
        let (y, h, c) = self.run(input, [&cache.tensors[0], &cache.tensors[1]], run);
        cache.tensors = vec![h, c];
        cache.length += input.size()[1];
        self.head(&y.select(1, input.size()[1] - 1), run)
    }
}
