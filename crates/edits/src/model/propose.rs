use super::{
    client::{Client, Usage},
    prompt::{Example, Prompt, unfenced},
    retrieval::{Encoder, Index},
};
use crate::{Error, Result, candidates::Candidates, pair::Pair};
use dataset::Progress;
use rayon::prelude::*;
use serde::Serialize;
use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Instant,
};

/// How a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposeOptions {
    /// Name of the method, for results.
    pub method: String,
    /// Examples shown.
    pub k: usize,
    /// Answers drawn per slow program.
    pub samples: u64,
    /// Temperature of the draws.
    pub temperature: f64,
    /// Tokens of an answer at most.
    pub most_tokens: u32,
    /// Whether examples are the nearest; else the same ones for all, of highest speedup.
    pub nearest: bool,
    /// Seed of the first draw.
    pub seed: u64,
}

/// What asking came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProposeReport {
    /// Slow programs.
    pub programs: u64,
    /// Answers.
    pub answers: u64,
    /// Answers without a program in them.
    pub without_program: u64,
    /// Requests that got no answer after all tries; their place is left empty.
    pub failed: u64,
    /// The last of these failures.
    pub failure: String,
    /// Requests, tokens and cost.
    pub usage: Usage,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Failures after which nothing more is asked: the endpoint is gone.
const GIVE_UP: u32 = 5;

/// Ask a model for faster versions of the slow programs of `pairs`, with examples from `known` where the
/// prompt shows some. Examples of a pair's own problem are never shown.
///
/// # Errors
/// When an encoder fails, or the endpoint gives no answer to any request.
pub fn propose(
    pairs: &[Pair],
    known: &[Pair],
    client: &Client,
    prompt: &Prompt,
    encoder: &dyn Encoder,
    options: &ProposeOptions,
    progress: &dyn Progress,
) -> Result<(Vec<Candidates>, ProposeReport)> {
    let started = Instant::now();
    let shown = if prompt.has_examples() { options.k } else { 0 };
    let index = match options.nearest && shown > 0 {
        false => None,
        true => {
            let vectors: Vec<Vec<f32>> = known
                .iter()
                .map(|pair| encoder.encode_edit(&pair.src_code, &pair.tgt_code))
                .collect::<Result<_>>()?;
            Some(Index::new(vectors))
        }
    };
    let mut best: Vec<usize> = (0..known.len()).collect();
    best.sort_by(|a, b| {
        let speedup = |at: &usize| known[*at].speedup.unwrap_or(1.0);
        speedup(b).total_cmp(&speedup(a)).then(a.cmp(b))
    });
    progress.begin("ask", pairs.len() as u64 * options.samples);
    let failures = AtomicU32::new(0);
    let asked: Vec<(Candidates, u64, String)> = pairs
        .par_iter()
        .map(|pair| {
            let other = |at: usize| known[at].problem_id != pair.problem_id;
            let mut nearest = match &index {
                Some(index) => index.nearest(&encoder.encode(&pair.src_code)?, shown, other),
                None => best.iter().copied().filter(|at| other(*at)).take(shown).collect(),
            };
            // The nearest stands last, next to the program that is asked about.
            nearest.reverse();
            let examples: Vec<Example> =
                nearest.into_iter().map(|at| example(&known[at])).collect();
            let messages = prompt.messages(&pair.src_code, &examples);
            let mut drawn = Candidates::of(pair, &options.method, String::new());
            drawn.programs.clear();
            let (mut failed, mut last) = (0, String::new());
            for sample in 0..options.samples {
                timing::bounded::check()?;
                if failures.load(Ordering::Relaxed) >= GIVE_UP {
                    failed += 1;
                    drawn.programs.push(String::new());
                    continue;
                }
                let draw = options.seed + sample;
                match client.complete(&messages, options.temperature, options.most_tokens, draw) {
                    Ok(answer) => {
                        failures.store(0, Ordering::Relaxed);
                        drawn.programs.push(unfenced(&answer.text));
                    }
                    Err(
                        ref error @ (Error::Endpoint { ref reason, .. }
                        | Error::Refused { ref reason, .. }),
                    ) => {
                        // An endpoint that refuses a program that is too long is still there.
                        let gone = matches!(error, Error::Endpoint { .. });
                        failures.fetch_add(u32::from(gone), Ordering::Relaxed);
                        let reason = reason.clone();
                        progress.message(&reason);
                        failed += 1;
                        last = reason;
                        drawn.programs.push(String::new());
                    }
                    Err(error) => return Err(error),
                }
                progress.advance(1);
            }
            Ok((drawn, failed, last))
        })
        .collect::<Result<_>>()?;
    let mut report = ProposeReport { programs: pairs.len() as u64, ..ProposeReport::default() };
    let mut candidates = Vec::new();
    for (drawn, failed, last) in asked {
        let empty = drawn.programs.iter().filter(|program| program.is_empty()).count() as u64;
        report.answers += drawn.programs.len() as u64 - failed;
        report.without_program += empty - failed;
        report.failed += failed;
        if !last.is_empty() {
            report.failure = last;
        }
        candidates.push(drawn);
    }
    report.usage = client.usage();
    report.seconds = started.elapsed().as_secs_f64();
    if report.answers == 0 && report.failed > 0 {
        return Err(Error::Endpoint {
            endpoint: client.endpoint().base_url.clone(),
            tries: client.endpoint().tries,
            reason: report.failure,
        });
    }
    Ok((candidates, report))
}

fn example(pair: &Pair) -> Example {
    Example {
        slow: pair.src_code.clone(),
        fast: pair.tgt_code.clone(),
        score: pair.tgt_decile.unwrap_or(10),
    }
}
