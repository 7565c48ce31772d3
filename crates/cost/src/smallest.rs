//! The smallest module that a few fixed pipelines make of a program.

use crate::{
    Bench, Module, Pipeline, Result,
    reader::{Form, Left, Refusal},
};
use dataset::Verdict;
use serde::Serialize;

/// One pipeline's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// The pipeline's name.
    pub pipeline: String,
    /// Instructions that it left; absent where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// `accepted`, `invalid-module` (what it left breaks a rule of the IR) or `crash`.
    pub verdict: &'static str,
    /// What goes with the verdict.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What [`smallest`] found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Smallest {
    /// The pipeline whose module it is: never one that leaves more than `oz`.
    pub pipeline: String,
    /// Its passes.
    pub passes: String,
    /// Instructions of the module.
    pub instructions: u64,
    /// Instructions before any pipeline.
    pub before: u64,
    /// Instructions after clang's -Oz (the first pipeline); absent where that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oz: Option<u64>,
    /// All that was tried, in order.
    pub tried: Vec<Tried>,
    /// The module, in the form that was asked for.
    #[serde(skip)]
    pub module: Vec<u8>,
}

/// Try `pipelines` on a module, each in a worker, verify what comes of it, and keep the smallest, the first
/// of equals, written in a `form`; why there is none is a verdict.
///
/// # Errors
/// When the machine fails, or LLVM does not know a pass.
pub fn smallest(
    bench: &Bench,
    module: &Module,
    pipelines: &[Pipeline],
    form: Form,
) -> Result<std::result::Result<Smallest, Verdict>> {
    let (before, left) = match bench.passes(module, pipelines, Some(form))? {
        Ok(done) => done,
        Err(verdict) => return Ok(Err(verdict)),
    };
    let mut tried = Vec::with_capacity(left.len());
    let mut best: Option<(&Pipeline, Left)> = None;
    for (pipeline, left) in pipelines.iter().zip(left) {
        let (instructions, verdict, detail) = match &left {
            Ok(left) => (Some(left.instructions), Verdict::ACCEPTED, String::new()),
            Err(Refusal::Invalid(detail)) => (None, "invalid-module", detail.clone()),
            Err(Refusal::Died(detail)) => (None, "crash", detail.clone()),
            Err(Refusal::Unknown(reason)) => {
                let name = pipeline.name.clone();
                return Err(crate::Error::Pipeline { name, reason: reason.clone() });
            }
        };
        tried.push(Tried { pipeline: pipeline.name.clone(), instructions, verdict, detail });
        let Ok(left) = left else { continue };
        if best.as_ref().is_none_or(|(_, other)| left.instructions < other.instructions) {
            best = Some((pipeline, left));
        }
    }
    let Some((pipeline, left)) = best else {
        let detail = tried.first().map(|one| one.detail.clone()).unwrap_or_default();
        return Ok(Err(Verdict::new(rows::TaskVerdict::ChoiceFailed, detail)));
    };
    Ok(Ok(Smallest {
        pipeline: pipeline.name.clone(),
        passes: pipeline.passes.clone(),
        instructions: left.instructions,
        before,
        oz: tried.iter().find(|one| one.pipeline == "oz").and_then(|one| one.instructions),
        tried,
        module: left.module,
    }))
}
