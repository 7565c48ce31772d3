use super::{Task, Tools};
use crate::{Bench, Error, Module, Pipeline, Result, bench::Costs, coreset, reader::Refusal};
use serde_json::{Value, json};

/// Instructions that each pipeline of a set leaves (CompilerGym, CGO 2022; Coreset-NVP, ICML 2023). A
/// kernel's helpers are made its own first: else -Oz keeps what it has inlined, and half of what there
/// seems to win is that.
pub(crate) struct Passes {
    pipelines: Vec<Pipeline>,
}

impl Passes {
    pub(crate) fn new(pipelines: Option<Vec<Pipeline>>) -> Passes {
        Passes { pipelines: pipelines.unwrap_or_else(|| coreset().to_vec()) }
    }
}

impl Task for Passes {
    fn name(&self) -> &'static str {
        "passes"
    }

    fn about(&self) -> &'static str {
        "IR instructions that a pipeline leaves"
    }

    fn choices(&self) -> Vec<String> {
        self.pipelines.iter().map(|pipeline| pipeline.name.clone()).collect()
    }

    fn settings(&self) -> Value {
        json!({ "pipelines": self.pipelines })
    }

    fn label(&self, bench: &Bench, _: &mut Tools, modules: &[Module]) -> Result<Vec<Costs>> {
        let label = |module: &Module| {
            Ok(match bench.passes(module, &self.pipelines, None)? {
                Err(verdict) => Err(verdict),
                Ok((_, left)) => {
                    let mut costs = Vec::with_capacity(left.len());
                    for (pipeline, left) in self.pipelines.iter().zip(left) {
                        match left {
                            Ok(left) => costs.push(Some(left.instructions as f64)),
                            Err(Refusal::Unknown(reason)) => {
                                let name = pipeline.name.clone();
                                return Err(Error::Pipeline { name, reason });
                            }
                            Err(Refusal::Invalid(_) | Refusal::Died(_)) => costs.push(None),
                        }
                    }
                    Ok(costs)
                }
            })
        };
        modules.iter().map(label).collect()
    }
}
