//! `corpus.safetensors`: tokenised kernels, or questions with their answers.

use anyhow::{Context, bail};
use safetensors::{Dtype, SafeTensors};
use std::path::Path;

/// A condition that a kernel has no value for.
const ABSENT: u16 = u16::MAX;

/// Tokenised kernels, with what each may be conditioned on.
#[derive(Debug)]
pub(crate) struct Corpus {
    tokens: Vec<u32>,
    offsets: Vec<i64>,
    /// Where each answer begins among its tokens; empty for kernels.
    answers: Vec<i64>,
    conditions: Vec<u16>,
    condition_count: usize,
    specifications: Vec<u32>,
    specification_offsets: Vec<i64>,
    training: Drawn,
    /// Functions to pre-train on; often none.
    functions: Drawn,
    /// Indices of the validation kernels.
    pub(crate) validation: Vec<usize>,
}

/// Indices of what is drawn, and the running sum of their weights.
#[derive(Debug, Default)]
struct Drawn {
    all: Vec<usize>,
    cumulated: Vec<f64>,
}

impl Drawn {
    fn push(&mut self, at: usize, weight: f64) {
        self.all.push(at);
        self.cumulated.push(self.cumulated.last().copied().unwrap_or(0.0) + weight);
    }

    /// The one that `share` (0 to 1) of the weight falls on.
    fn at(&self, share: f64) -> usize {
        let whole = self.cumulated.last().copied().unwrap_or(0.0);
        let at = self.cumulated.partition_point(|sum| *sum <= share * whole);
        self.all[at.min(self.all.len() - 1)]
    }
}

/// Sides of the split: to train on, to validate on, to pre-train on.
const TRAINING: u8 = 0;
const PRETRAINING: u8 = 2;

impl Corpus {
    pub(crate) fn read(folder: &Path) -> anyhow::Result<Corpus> {
        let path = folder.join("corpus.safetensors");
        let bytes =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = SafeTensors::deserialize(&bytes)
            .with_context(|| format!("{} is no safetensors file", path.display()))?;
        let get = |name: &str, dtype: Dtype| {
            let view = file.tensor(name).with_context(|| format!("{}", path.display()))?;
            if view.dtype() != dtype {
                bail!("{}: {name} is {:?}, not {dtype:?}", path.display(), view.dtype());
            }
            Ok(view)
        };
        let u16s = |name: &str| -> anyhow::Result<Vec<u16>> {
            let view = get(name, Dtype::U16)?;
            Ok(view.data().chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect())
        };
        let ids = |name: &str| -> anyhow::Result<Vec<u32>> {
            match file.tensor(name).map(|view| view.dtype()) {
                Ok(Dtype::U32) => {
                    let whole = get(name, Dtype::U32)?.data().chunks_exact(4);
                    Ok(whole.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
                }
                _ => Ok(u16s(name)?.into_iter().map(u32::from).collect()),
            }
        };
        let i64s = |name: &str| -> anyhow::Result<Vec<i64>> {
            let view = get(name, Dtype::I64)?;
            let whole = view.data().chunks_exact(8);
            Ok(whole.map(|b| i64::from_le_bytes(b.try_into().expect("eight bytes"))).collect())
        };
        let weights: Vec<f64> = get("weight", Dtype::F32)?
            .data()
            .chunks_exact(4)
            .map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])))
            .collect();
        let split = get("split", Dtype::U8)?.data().to_vec();
        // Answers to questions have neither conditions nor specifications.
        let answers = match file.tensor("answers") {
            Ok(_) => i64s("answers")?,
            Err(_) => Vec::new(),
        };
        let plain = !answers.is_empty();
        let condition_count = match plain {
            true => 0,
            false => get("conditions", Dtype::U16)?.shape().get(1).copied().unwrap_or(0),
        };
        let (mut training, mut functions) = (Drawn::default(), Drawn::default());
        let mut validation = Vec::new();
        for (at, side) in split.iter().enumerate() {
            match *side {
                TRAINING => training.push(at, weights[at]),
                PRETRAINING => functions.push(at, weights[at]),
                _ => validation.push(at),
            }
        }
        if training.all.is_empty() {
            bail!("{} holds nothing to train on", path.display());
        }
        Ok(Corpus {
            tokens: ids("tokens")?,
            offsets: i64s("offsets")?,
            conditions: if plain { Vec::new() } else { u16s("conditions")? },
            condition_count,
            specifications: if plain { Vec::new() } else { ids("specifications")? },
            specification_offsets: match plain {
                true => vec![0; split.len() + 1],
                false => i64s("specification_offsets")?,
            },
            answers,
            training,
            functions,
            validation,
        })
    }

    /// Training kernels.
    pub(crate) fn len(&self) -> usize {
        self.training.all.len()
    }

    /// Functions to pre-train on.
    pub(crate) fn functions(&self) -> usize {
        self.functions.all.len()
    }

    /// The tokens of a kernel.
    pub(crate) fn tokens(&self, at: usize) -> &[u32] {
        &self.tokens[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }

    /// Where the answer begins among the tokens; 0 where all is to be said.
    pub(crate) fn answer(&self, at: usize) -> usize {
        self.answers.get(at).map_or(0, |from| *from as usize)
    }

    /// The conditions that a kernel meets, in order.
    pub(crate) fn conditions(&self, at: usize) -> impl Iterator<Item = u16> + '_ {
        let width = self.condition_count;
        let all = &self.conditions[at * width..(at + 1) * width];
        all.iter().copied().filter(|token| *token != ABSENT)
    }

    /// The tokens of a kernel's argument specification.
    pub(crate) fn specification(&self, at: usize) -> &[u32] {
        let range =
            self.specification_offsets[at] as usize..self.specification_offsets[at + 1] as usize;
        &self.specifications[range]
    }

    /// The training kernel that `share` (0 to 1) of the weight falls on.
    pub(crate) fn draw(&self, share: f64) -> usize {
        self.training.at(share)
    }

    /// The function that `share` (0 to 1) of the weight falls on.
    pub(crate) fn draw_function(&self, share: f64) -> usize {
        self.functions.at(share)
    }
}
