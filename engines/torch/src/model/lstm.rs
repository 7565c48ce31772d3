//! CLgen's model (Cummins et al., CGO'17, section 4.2): stacked LSTM layers over characters.

use super::{Advance, Decoder, Init, Model, Parameters, Run, Weight, size};
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

    fn cell(&self, run: Run) -> Cell {
        let weights = self.recurrent.iter().map(|w| w.to_kind(run.kind())).collect();
        let embedding = self.embedding.shallow_clone();
        Cell { shape: self.shape, embedding, weights, kind: run.kind() }
    }
}

/// The layers in the kind of number that products are made in.
#[derive(Debug)]
struct Cell {
    shape: Shape,
    embedding: Tensor,
    weights: Vec<Tensor>,
    kind: Number,
}

impl Cell {
    /// Hidden and cell states of rows that have read nothing.
    fn zeros(&self, rows: i64) -> [Tensor; 2] {
        let shape = [self.shape.layers, rows, self.shape.width];
        [(); 2].map(|()| Tensor::zeros(shape, (self.kind, self.embedding.device())))
    }

    fn run(&self, input: &Tensor, state: &[Tensor; 2]) -> (Tensor, Tensor, Tensor) {
        let x = Tensor::embedding(&self.embedding, input, -1, false, false).to_kind(self.kind);
        x.lstm(state, &self.weights, true, self.shape.layers, 0.0, false, false, true)
    }
}

/// Rows of sequences with their states.
#[derive(Debug)]
struct LstmDecoder {
    cell: Cell,
    head: (Tensor, Tensor),
    state: [Tensor; 2],
    length: i64,
}

impl LstmDecoder {
    /// Logits behind the last of `input`, and what is remembered then.
    fn read(&self, input: &Tensor, state: &[Tensor; 2]) -> (Tensor, [Tensor; 2]) {
        let (y, hidden, cell) = self.cell.run(input, state);
        let last = y.select(1, input.size()[1] - 1);
        (last.linear(&self.head.0, Some(&self.head.1)), [hidden, cell])
    }
}

impl Decoder for LstmDecoder {
    fn step(&mut self, input: &Tensor) -> Tensor {
        let (logits, state) = self.read(input, &self.state);
        self.state = state;
        logits
    }

    fn advance(&mut self, rows: &Advance) -> Tensor {
        let lane = |mask: Tensor| mask.view([1, -1, 1]);
        let fresh = lane(rows.positions.eq(0));
        let rests = lane(rows.positions.eq(self.length));
        let before = self.state.each_ref().map(|state| state.masked_fill(&fresh, 0.0));
        let (logits, after) = self.read(&rows.tokens.unsqueeze(1), &before);
        for (state, after) in self.state.iter_mut().zip(after) {
            *state = state.where_self(&rests, &after);
        }
        logits
    }

    fn goes_back(&self) -> bool {
        false
    }

    fn keep(&mut self, rows: &Tensor) {
        for state in &mut self.state {
            *state = state.index_select(1, rows);
        }
    }
}

impl Model for Lstm {
    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn hidden(&self, input: &Tensor, run: Run) -> Tensor {
        let cell = self.cell(run);
        cell.run(input, &cell.zeros(input.size()[0])).0
    }

    fn head(&self, hidden: &Tensor, run: Run) -> Tensor {
        run.linear(hidden, &self.head.0, Some(&self.head.1))
    }

    fn decoder(&self, rows: i64, length: i64, run: Run) -> Option<Box<dyn Decoder>> {
        let cell = self.cell(run);
        let state = cell.zeros(rows);
        let head = (self.head.0.to_kind(run.kind()), self.head.1.to_kind(run.kind()));
        Some(Box::new(LstmDecoder { cell, head, state, length }))
    }
}
