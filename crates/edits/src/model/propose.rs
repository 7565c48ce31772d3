use super::{
    client::{Client, Usage},
    prompt::{Example, Prompt, unfenced},
    retrieval::{Encoder, Index},
};
use crate::{
    Error, Result,
    candidates::Candidates,
    label::{Change, label},
    pair::Pair,
};
use dataset::{Progress, content_hash_of};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;
use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Instant,
};

/// Which known edits are shown as examples. Those of a program's own problem never are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// Those whose slow programs are nearest (PIE, section 3.1, dynamic retrieval).
    #[default]
    Nearest,
    /// Drawn at random for each slow program anew (PIE, section 3.1, few-shot prompting, draws once for all).
    Random,
    /// The same ones for all, of highest speedup.
    Fastest,
}

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
    /// Which known edits the examples are.
    pub shown: Shown,
    /// Seed of the first draw, and of examples that are drawn.
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
/// prompt shows some and there are any. Examples of a pair's own problem are never shown.
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
    let index = match options.shown == Shown::Nearest && shown > 0 && !known.is_empty() {
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
            let mut chosen = match &index {
                Some(index) => index.nearest(&encoder.encode(&pair.src_code)?, shown, other),
                None if options.shown == Shown::Random => {
                    let others = (0..known.len()).filter(|at| other(*at)).collect();
                    drawn_for(pair, others, shown, options.seed)
                }
                None => best.iter().copied().filter(|at| other(*at)).take(shown).collect(),
            };
            // The nearest stands last, next to the program that is asked about.
            chosen.reverse();
            let examples: Vec<Example> = chosen.into_iter().map(|at| example(&known[at])).collect();
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

/// So many of `others`, drawn by the seed and the slow program: which other programs are asked about, and in what
/// order, changes nothing.
fn drawn_for(pair: &Pair, others: Vec<usize>, count: usize, seed: u64) -> Vec<usize> {
    let asked = [&pair.problem_id, &pair.src_id, &pair.src_code];
    let hash = content_hash_of(asked.map(|text| text.as_bytes()));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from_str_radix(&hash[..16], 16).unwrap_or(0));
    let places = rand::seq::index::sample(&mut random, others.len(), count.min(others.len()));
    places.into_iter().map(|at| others[at]).collect()
}

fn example(pair: &Pair) -> Example {
    Example {
        slow: pair.src_code.clone(),
        fast: pair.tgt_code.clone(),
        score: pair.tgt_decile.unwrap_or(10),
        reason: reason(pair),
    }
}

/// What saves the time of a known edit: the field `reason` of its line, else what the two programs show.
fn reason(pair: &Pair) -> String {
    let extra: Value = serde_json::from_str(&pair.extra).unwrap_or_default();
    if let Some(reason) = extra["reason"].as_str().filter(|reason| !reason.trim().is_empty()) {
        return reason.to_owned();
    }
    let changed = label(&pair.src_code, &pair.tgt_code).change;
    let mut reason = match changed {
        Change::Algorithm => {
            "A better algorithm saves time here: other loops, branches or calls come to the same result with less work."
        }
        Change::DataStructure => {
            "Other data structures save time here: containers or arrays that do the same with less work."
        }
        Change::Io => {
            "Faster input and output save time here: other functions read and write the same."
        }
        Change::Other | Change::Nothing => {
            "Cheaper statements save time here: the same is computed with less work in each."
        }
    }
    .to_owned();
    if let Some(speedup) = pair.speedup.filter(|speedup| *speedup > 1.0) {
        reason += &format!(" That makes it {speedup:.1} times as fast.");
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endpoint, Store, TokenEncoder};
    use serde_json::json;
    use std::sync::mpsc::channel;

    fn pair(problem: &str, id: &str, speedup: f64) -> Pair {
        Pair {
            problem_id: problem.into(),
            src_id: id.into(),
            src_code: format!("int main() {{ slow_{id}(); }}"),
            tgt_code: format!("int main() {{ fast_{id}(); }}"),
            speedup: Some(speedup),
            ..Pair::default()
        }
    }

    /// What a model is asked about `pairs`: the chats, in the order of the pairs.
    fn asked(method: &str, pairs: &[Pair], known: &[Pair], shown: Shown, seed: u64) -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        let (send, sent) = channel();
        let address = stand_in::serve(move |request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            send.send(body["messages"].clone()).unwrap();
            let answer = json!({"choices": [{"message": {"content": "int main() {}"}}]});
            Some(stand_in::Response::new(answer.to_string()))
        });
        let endpoint = Endpoint {
            base_url: format!("http://{}/v1", address.unwrap()),
            key_variable: "EDITS_TEST_NO_SUCH_KEY".into(),
            ..Endpoint::default()
        };
        let client = Client::new(endpoint, Store::at(folder.path()));
        let prompt = Prompt::of_method(method).unwrap();
        let options = ProposeOptions {
            method: method.into(),
            k: 2,
            samples: 1,
            temperature: 0.0,
            most_tokens: 100,
            shown,
            seed,
        };
        let ask = |pair: &Pair| {
            let one = std::slice::from_ref(pair);
            let silent = &dataset::Silent;
            let (found, _) =
                propose(one, known, &client, &prompt, &TokenEncoder, &options, silent).unwrap();
            assert_eq!(found[0].programs, ["int main() {}"]);
            sent.recv().unwrap()
        };
        pairs.iter().map(ask).collect()
    }

    fn known() -> Vec<Pair> {
        (0..40).map(|at| pair(&format!("p{}", at % 20), &format!("k{at}"), 2.0)).collect()
    }

    #[test]
    fn shots_are_drawn_by_the_seed_for_each_program() {
        let pairs: Vec<Pair> = (0..6).map(|at| pair("p3", &format!("s{at}"), 2.0)).collect();
        let draw = |seed| asked("few-shot", &pairs, &known(), Shown::Random, seed);
        let first = draw(0);
        assert_eq!(first, draw(0), "the same seed, the same shots");
        assert_ne!(first, draw(1));
        let shots = |chat: &Value| -> Vec<String> {
            let messages = chat.as_array().unwrap();
            let answers = messages.iter().filter(|message| message["role"] == "assistant");
            answers.map(|message| message["content"].to_string()).collect()
        };
        let all: Vec<Vec<String>> = first.iter().map(shots).collect();
        assert!(all.iter().all(|shots| shots.len() == 2 && shots[0] != shots[1]));
        assert!(all.iter().any(|shots| *shots != all[0]), "not the same ones for all");
        let own = ["fast_k3(", "fast_k23("];
        assert!(!all.iter().flatten().any(|shot| own.iter().any(|name| shot.contains(name))));
        // Which programs are asked about beside it changes nothing.
        let alone = asked("few-shot", &pairs[4..5], &known(), Shown::Random, 0);
        assert_eq!(alone[0], first[4]);
    }

    #[test]
    fn a_thought_is_shown_with_each_shot_and_none_is_needed() {
        let given = Pair { extra: "{\"reason\": \"A sum.\"}".into(), ..pair("p1", "k1", 9.0) };
        let found = pair("p2", "k2", 4.0);
        let pairs = [pair("p3", "s", 2.0)];
        let chat = asked("cot", &pairs, &[given, found], Shown::Fastest, 0).remove(0);
        let said = |at: usize| chat[at]["content"].as_str().unwrap().to_owned();
        assert!(said(4).starts_with("A sum.\n\n```cpp\n"), "{}", said(4));
        assert!(said(2).contains("save") && said(2).contains("4.0 times as fast."), "{}", said(2));
        for method in ["cot", "perf-conditioned"] {
            let chat = asked(method, &pairs, &[], Shown::Nearest, 0).remove(0);
            assert_eq!(chat.as_array().map(Vec::len), Some(2), "{method}");
        }
    }
}
