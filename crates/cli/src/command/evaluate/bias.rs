//! How far a model of costs that learned from kernels of people is off on other kernels.

use crate::{
    Global,
    command::{features::extractor, label},
};
use anyhow::Context;
use cost::Bench;
use dataset::{Code, Language, Program};
use features::Extractor;
use heuristics::{CostModel, Row, Table, Task};
use rayon::prelude::*;
use sampling::CostBias;
use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

/// Kernels whose costs are found at a time.
const CHUNK: usize = 32;

/// A model of costs, and what finds the true ones.
pub(super) struct Bias {
    model: CostModel,
    task: Box<dyn cost::Task>,
    bench: Bench,
    extractor: Extractor,
}

impl Bias {
    /// Of the model at `path`.
    ///
    /// # Errors
    /// When there is none, it predicts no exact label, or a tool is missing.
    pub(super) fn load(
        path: &Path,
        global: &Global,
        cancelled: &Arc<AtomicBool>,
    ) -> anyhow::Result<Bias> {
        let shown = path.display();
        let model = CostModel::load(path)?.with_context(|| {
            format!("{shown} is no model of costs; `heuristic train` makes one of a task with one choice")
        })?;
        let task = cost::task(model.choice(), None)
            .with_context(|| format!("{shown} predicts `{}`", model.choice()))?;
        task.tools()?;
        let (spaces, level) = model.described_in();
        let spaces = features::spaces(&spaces.join(","))?;
        let level = level.and_then(|level| u8::try_from(level).ok()).unwrap_or(0);
        let extractor = extractor(spaces, level, global)?;
        let bench = label::bench(global, cancelled)?;
        Ok(Bias { model, task, bench, extractor })
    }

    /// How far it is off on kernels in OpenCL C; `None` where no cost is known.
    ///
    /// # Errors
    /// When the machine fails.
    pub(super) fn of(&self, texts: &[&str]) -> anyhow::Result<Option<CostBias>> {
        let (task, bench) = (&*self.task, &self.bench);
        let costs = texts.par_chunks(CHUNK).map(|some| cost::costs(task, bench, some));
        let costs = costs.collect::<Result<Vec<_>, _>>()?.concat();
        let program = |text: &&str| Program {
            language: Language::OpenCl,
            code: Code::Text((*text).to_owned()),
            ..Program::default()
        };
        let programs: Vec<Program> = texts.iter().map(program).collect();
        let described = self.extractor.describe_many(&programs)?;
        let features = |found: &Vec<features::Row>| -> Option<Vec<f64>> {
            // The last kernel is the one that the program is about.
            let row = found.last()?;
            let vectors = self.extractor.spaces().iter().map(|space| row.vectors.get(space.name()));
            vectors
                .collect::<Option<Vec<_>>>()
                .map(|all| all.into_iter().flatten().copied().collect())
        };
        let rows = described.iter().zip(costs).filter_map(|(found, cost)| {
            Some(Row {
                program: String::new(),
                variant: String::new(),
                group: String::new(),
                features: features(found)?,
                costs: vec![cost?],
                label: 0,
            })
        });
        let named = self.extractor.spaces().iter().flat_map(|space| {
            space.dimensions().into_iter().map(move |name| format!("{}:{name}", space.name()))
        });
        let task = Task {
            features: named.collect(),
            choices: vec![self.model.choice().to_owned()],
            rows: rows.collect(),
        };
        let kernels = task.rows.len() as u64;
        if kernels == 0 {
            return Ok(None);
        }
        let found = self.model.predict(&Table { task, ..Table::default() })?.bias();
        Ok(found.map(|bias| CostBias { kernels, value: bias.value, interval: bias.interval }))
    }
}
