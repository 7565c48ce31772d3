//! Self-play (PIE, section 3.2 and appendix A.6): a model invents programs, and it or another makes them faster;
//! what holds up is data to learn from.
//!
//! A new program is a variation of a known one: it reads the same inputs, and prints something else on them.
//! Programs that print the same on all inputs are one group, which is a new problem; its tests are the
//! inputs with what its first program prints.

use crate::{
    Error, Result,
    bench::Bench,
    compare::compare,
    each::each,
    judge::{JudgeOptions, Judgement, Source, Tests},
    model::{Client, NO_PROGRAM, Prompt, Usage, unfenced},
    pair::{Language, Pair, TestTime},
    suite::{Test, TestFolder, TestSet},
};
use dataset::{Builder, Input, Notes, Progress, Verdict, content_hash, content_hash_of};
use rand::{SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use rows::EditVerdict;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

/// How it is played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SelfPlayOptions {
    /// New programs asked for.
    pub programs: u64,
    /// Faster versions asked for, per new program that holds up.
    pub samples: u64,
    /// Temperature of all draws.
    pub temperature: f64,
    /// Tokens of an answer at most.
    pub most_tokens: u32,
    /// Speedup from which an edit is kept. PIE: 5.
    pub least_speedup: f64,
    /// Edits kept per group, the fastest first. PIE: 3.
    pub per_group: usize,
    /// Which programs are shown, and the first draw.
    pub seed: u64,
}

impl Default for SelfPlayOptions {
    fn default() -> SelfPlayOptions {
        SelfPlayOptions {
            programs: 100,
            samples: 4,
            temperature: 0.7,
            most_tokens: 2048,
            least_speedup: 5.0,
            per_group: 3,
            seed: 0,
        }
    }
}

/// What it came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SelfPlayReport {
    /// New programs by verdict: those of running a program; `no-program`; `repeated`: its text is known;
    /// `same-as-known`: it prints what the known program does; `same-everywhere`: it prints one text on all
    /// inputs; `changes-from-run-to-run`.
    pub programs: BTreeMap<String, u64>,
    /// Groups of programs that print the same.
    pub groups: u64,
    /// Faster versions by verdict, as the judge says; `too-slow`: right, with too small a speedup.
    pub edits: BTreeMap<String, u64>,
    /// Pairs kept.
    pub pairs: u64,
    /// Geometric mean of their speedups, slow / fast; 1 where there are none.
    pub geomean: f64,
    /// Requests without an answer.
    pub failed: u64,
    /// The last of these failures.
    pub failure: String,
    /// Requests, tokens and cost.
    pub usage: Usage,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// A program that a model came up with.
struct Invented {
    number: u64,
    problem: String,
    language: Language,
    code: String,
    tests: Vec<Test>,
}

/// Answers of an endpoint to one question, failures counted.
struct Asking<'a> {
    client: &'a Client,
    prompt: &'a Prompt,
    options: &'a SelfPlayOptions,
    answered: AtomicU64,
    failed: AtomicU64,
    failure: Mutex<String>,
}

/// Failures in a row after which nothing more is asked.
const GIVE_UP: u64 = 5;

impl<'a> Asking<'a> {
    fn new((client, prompt): (&'a Client, &'a Prompt), options: &'a SelfPlayOptions) -> Asking<'a> {
        let (answered, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        Asking { client, prompt, options, answered, failed, failure: Mutex::default() }
    }

    fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// The last failure; empty where there was none.
    fn failure(&self) -> String {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The program in the answer about `slow`; `None` where there is no answer.
    fn program(&self, slow: &str, draw: u64) -> Result<Option<String>> {
        if self.answered() == 0 && self.failed() >= GIVE_UP {
            self.failed.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        }
        let messages = self.prompt.messages(slow, &[]);
        let (temperature, tokens) = (self.options.temperature, self.options.most_tokens);
        match self.client.complete(&messages, temperature, tokens, draw) {
            Ok(answer) => {
                self.answered.fetch_add(1, Ordering::Relaxed);
                Ok(Some(unfenced(&answer.text)))
            }
            Err(Error::Endpoint { reason, .. } | Error::Refused { reason, .. }) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = reason;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Play: programs like those of `pairs` on the inputs of `tests`, invented by the first of `players` and made
/// faster by the second, each with its prompt; both may be one model. Pairs of the splits `val` and `test` are
/// not played with. Makes the folder `out` with the data set `pairs` and the folder `tests`.
///
/// # Errors
/// When no pair has tests, an endpoint gives no answer to any request, or something cannot be written.
pub fn self_play(
    pairs: &[Pair],
    tests: &TestSet,
    bench: &Bench,
    players: [(&Client, &Prompt); 2],
    options: &SelfPlayOptions,
    out: &Path,
    progress: &dyn Progress,
) -> Result<SelfPlayReport> {
    let started = Instant::now();
    let known = to_vary(pairs, tests)?;
    let [inventor, editor] = players.map(|player| Asking::new(player, options));
    progress.begin("invent", options.programs);
    let numbers: Vec<u64> = (0..options.programs).collect();
    let invented = each(&numbers, |number| {
        let one = invent_one(*number, &known, bench, &inventor);
        progress.advance(1);
        one
    })?;
    let mut report = SelfPlayReport { geomean: 1.0, ..SelfPlayReport::default() };
    let groups = group(invented.into_iter().flatten().collect(), pairs, &mut report);
    report.groups = groups.len() as u64;

    let partial = dataset::begin_folder(out)?;
    let made = TestFolder::create(&partial.join("tests"))?;
    for (name, programs) in &groups {
        made.put(name, &programs[0].tests)?;
    }
    let visible = Tests { visible: made.into(), hidden: None };
    let all: Vec<(&String, &Invented)> =
        groups.iter().flat_map(|(name, all)| all.iter().map(move |one| (name, one))).collect();
    progress.begin("improve", all.len() as u64);
    let improved = each(&all, |(name, one)| {
        let improved = improve_one(name, one, &visible, bench, &editor);
        progress.advance(1);
        improved
    })?;
    let kept = best(improved, options.per_group, &mut report);
    report.failed = inventor.failed() + editor.failed();
    report.failure = editor.failure();
    if report.failure.is_empty() {
        report.failure = inventor.failure();
    }
    report.usage = inventor.client.usage();
    if !std::ptr::eq(inventor.client, editor.client) {
        report.usage = report.usage + editor.client.usage();
    }
    report.seconds = started.elapsed().as_secs_f64();
    let gone = match (inventor.answered(), editor.answered()) {
        (0, _) => Some(&inventor),
        (_, 0) if editor.failed() > 0 => Some(&editor),
        _ => None,
    };
    if let Some(gone) = gone {
        // Nothing is kept of a game that was not played.
        let _ = dataset::abandon_folder(&partial);
        let tries = gone.client.endpoint().tries;
        let endpoint = gone.client.endpoint().base_url.clone();
        return Err(Error::Endpoint { endpoint, tries, reason: gone.failure() });
    }
    write(kept, pairs, &[&inventor, &editor], &partial, out)?;
    Ok(report)
}

/// The pairs whose slow programs are varied, with the tests of their problems.
fn to_vary<'a>(pairs: &'a [Pair], tests: &TestSet) -> Result<Vec<(&'a Pair, Vec<Test>)>> {
    let mut known = Vec::new();
    for pair in pairs.iter().filter(|pair| matches!(pair.split.as_str(), "" | "train")) {
        let tests = tests.tests(&pair.problem_id)?;
        // On one input nothing tells a constant from a computation.
        if tests.len() > 1 {
            known.push((pair, tests));
        }
    }
    match known.is_empty() {
        false => Ok(known),
        true => Err(Error::Empty {
            what: "two tests for any problem of the pairs to train on",
            path: tests.path().to_owned(),
        }),
    }
}

/// Of each group the pairs of highest speedup; all verdicts are counted.
fn best(
    improved: Vec<(Option<Pair>, Vec<String>)>,
    per_group: usize,
    report: &mut SelfPlayReport,
) -> Vec<Pair> {
    let mut by_group: BTreeMap<String, Vec<Pair>> = BTreeMap::new();
    for (pair, verdicts) in improved {
        for verdict in verdicts {
            *report.edits.entry(verdict).or_default() += 1;
        }
        if let Some(pair) = pair {
            by_group.entry(pair.problem_id.clone()).or_default().push(pair);
        }
    }
    let speedup = |pair: &Pair| pair.speedup.unwrap_or(1.0);
    let mut kept = Vec::new();
    for mut group in by_group.into_values() {
        group.sort_by(|a, b| speedup(b).total_cmp(&speedup(a)).then(a.src_id.cmp(&b.src_id)));
        group.truncate(per_group);
        kept.extend(group);
    }
    report.pairs = kept.len() as u64;
    if !kept.is_empty() {
        report.geomean = statistics::geometric_mean(kept.iter().map(speedup));
    }
    kept
}

/// Write the pairs, and put everything in its place.
fn write(
    kept: Vec<Pair>,
    pairs: &[Pair],
    [inventor, editor]: &[&Asking<'_>; 2],
    partial: &Path,
    out: &Path,
) -> Result<()> {
    let texts = pairs.iter().map(|pair| pair.src_code.as_bytes());
    let options = inventor.options;
    let mut configuration = serde_json::to_value(options).unwrap_or_default();
    for (role, asking) in [("inventor", inventor), ("editor", editor)] {
        let endpoint = asking.client.endpoint();
        configuration[role] =
            serde_json::json!({ "model": endpoint.model, "top_p": endpoint.top_p });
    }
    let notes = Notes {
        inputs: vec![Input { name: "pairs".into(), hash: content_hash_of(texts) }],
        configuration,
        seed: options.seed,
        ..Notes::default()
    };
    Builder::<Pair>::create(&partial.join("pairs"), true, options)?.finish(kept, notes)?;
    let ours = |name: &Path| ["pairs", "tests"].iter().any(|own| name == Path::new(own));
    Ok(dataset::place_folder(partial, out, &ours)?)
}

/// A new program and what it prints, or why it is none; `None` where the endpoint gave no answer.
fn invent_one(
    number: u64,
    known: &[(&Pair, Vec<Test>)],
    bench: &Bench,
    asking: &Asking<'_>,
) -> Result<Option<std::result::Result<Invented, Verdict>>> {
    let mut random = ChaCha8Rng::seed_from_u64(asking.options.seed);
    random.set_stream(number);
    let Some((pair, tests)) = known.choose(&mut random) else { return Ok(None) };
    let draw = asking.options.seed.wrapping_add(number);
    let Some(code) = asking.program(&pair.src_code, draw)? else { return Ok(None) };
    let refuse = |name: EditVerdict, why: &str| Ok(Some(Err(Verdict::new(name, why))));
    if code.trim().is_empty() {
        return refuse(EditVerdict::NoProgram, NO_PROGRAM);
    }
    let program = match bench.build(&code, pair.language())? {
        Ok(program) => program,
        Err(verdict) => return Ok(Some(Err(verdict))),
    };
    let mut runs = bench.runs_of(&program);
    let mut own = Vec::new();
    for test in tests {
        match bench.output_in(&mut runs, &test.input)? {
            Err(verdict) => return Ok(Some(Err(verdict))),
            Ok(ran) => own.push(Test { output: ran.stdout, ..test.clone() }),
        }
    }
    let again = bench.output_in(&mut runs, &own[0].input)?;
    if !again.is_ok_and(|ran| ran.stdout == own[0].output) {
        return refuse(EditVerdict::ChangesFromRunToRun, "two runs on one input differ");
    }
    if own.iter().zip(tests).all(|(own, known)| compare(&known.output, &own.output).is_ok()) {
        return refuse(
            EditVerdict::SameAsKnown,
            "it prints what the program it is to differ from does",
        );
    }
    if own.iter().all(|test| compare(&own[0].output, &test.output).is_ok()) {
        return refuse(EditVerdict::SameEverywhere, "it prints one text on all inputs");
    }
    let (problem, language) = (pair.problem_id.clone(), pair.language());
    Ok(Some(Ok(Invented { number, problem, language, code, tests: own })))
}

/// Programs that print the same on all inputs of one known problem, under the new problem's name.
fn group(
    invented: Vec<std::result::Result<Invented, Verdict>>,
    pairs: &[Pair],
    report: &mut SelfPlayReport,
) -> BTreeMap<String, Vec<Invented>> {
    let mut texts: BTreeSet<String> = BTreeSet::new();
    for pair in pairs {
        texts.extend(
            [&pair.src_code, &pair.tgt_code].map(|code| content_hash(code.trim().as_bytes())),
        );
    }
    let mut groups: Vec<Vec<Invented>> = Vec::new();
    for one in invented {
        let verdict = match one {
            Err(verdict) => verdict.name.into_owned(),
            Ok(one) if !texts.insert(content_hash(one.code.trim().as_bytes())) => "repeated".into(),
            Ok(one) => {
                let same = |group: &&mut Vec<Invented>| {
                    group[0].problem == one.problem
                        && group[0].tests.iter().zip(&one.tests).all(|(a, b)| {
                            a.number == b.number && compare(&a.output, &b.output).is_ok()
                        })
                };
                match groups.iter_mut().find(same) {
                    Some(group) => group.push(one),
                    None => groups.push(vec![one]),
                }
                Verdict::ACCEPTED.to_owned()
            }
        };
        *report.programs.entry(verdict).or_default() += 1;
    }
    let name = |group: &Vec<Invented>| {
        let outputs = group[0].tests.iter().map(|test| test.output.as_slice());
        let hash = content_hash_of([group[0].problem.as_bytes()].into_iter().chain(outputs));
        format!("self-play-{}", &hash[..12])
    };
    groups.into_iter().map(|group| (name(&group), group)).collect()
}

/// The fastest of the answers that are right and fast enough, and the verdicts of all.
fn improve_one(
    name: &str,
    one: &Invented,
    tests: &Tests,
    bench: &Bench,
    asking: &Asking<'_>,
) -> Result<(Option<Pair>, Vec<String>)> {
    let slow = Pair {
        problem_id: name.to_owned(),
        src_id: format!("play-{}", one.number),
        user_id: SELF_PLAY.to_owned(),
        language: one.language.name().to_owned(),
        src_code: one.code.clone(),
        split: "train".to_owned(),
        verdict: Verdict::ACCEPTED.to_owned(),
        ..Pair::default()
    };
    let source = match Source::prepare(&slow, tests, bench)? {
        Ok(source) => source,
        Err(verdict) => return Ok((None, vec![verdict.name.into_owned()])),
    };
    let least = asking.options.least_speedup;
    let judged_by = JudgeOptions { threshold: least, ..JudgeOptions::default() };
    let (mut best, mut verdicts): (Option<(u64, Judgement)>, Vec<String>) = (None, Vec::new());
    for sample in 0..asking.options.samples {
        let draw = asking.options.seed.wrapping_add(sample);
        let Some(code) = asking.program(&one.code, draw)? else { continue };
        let row = source.judge(&code, bench, &judged_by)?;
        let fast = row.seconds.is_some_and(|seconds| source.times.seconds / seconds >= least);
        let verdict = if row.is_accepted() && !fast { "too-slow" } else { row.verdict.as_str() };
        verdicts.push(verdict.to_owned());
        let faster = best.as_ref().is_none_or(|(_, best)| row.seconds < best.seconds);
        if row.is_accepted() && fast && faster {
            best = Some((sample, row));
        }
    }
    let pair = best.map(|(sample, row)| {
        let numbers: Vec<u64> = source.visible.iter().map(|test| test.number).collect();
        let times = |times: &[f64]| {
            let all = numbers.iter().zip(times);
            all.map(|(test, seconds)| TestTime { test: *test, seconds: Some(*seconds) }).collect()
        };
        let ratio = |slow: Option<f64>, fast: Option<f64>| slow.zip(fast).map(|(s, f)| s / f);
        Pair {
            tgt_id: format!("play-{}-{sample}", one.number),
            src_agg_runtime: row.src_seconds,
            tgt_agg_runtime: row.seconds,
            speedup: ratio(row.src_seconds, row.seconds),
            speedup_net: ratio(row.src_net, row.net),
            src_times: times(&row.src_times),
            tgt_times: times(&row.times),
            tests: numbers.clone(),
            label: row.label,
            io_only: row.io_only,
            array_shrunk: row.array_shrunk,
            tgt_code: row.code,
            ..slow.clone()
        }
    });
    Ok((pair, verdicts))
}

/// The author of such pairs.
pub(crate) const SELF_PLAY: &str = "self-play";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endpoint, ExportFormat, ExportMethod, Limits, Store, export};
    use serde_json::{Value, json};

    fn program(body: &str) -> String {
        format!(
            "#include <cstdio>\nint main() {{\n  int n = 0;\n  scanf(\"%d\", &n);\n  long long s = 0;\n  {body}\n  printf(\"%lld\\n\", s);\n}}\n"
        )
    }

    fn slow(factor: u32) -> String {
        program(&format!(
            "for (int r = 0; r < 400; r++) {{ s = 0; for (int i = 1; i <= n; i++) s = (s * {factor} + i) % 1000003; }}"
        ))
    }

    fn fast(factor: u32) -> String {
        program(&format!("for (int i = 1; i <= n; i++) s = (s * {factor} + i) % 1000003;"))
    }

    /// A model that invents these programs in turn, by the seed of the request, and makes any of them
    /// faster that is slow.
    fn model(inventions: Vec<String>) -> String {
        let address = stand_in::serve(move |request| {
            let asked: Value = serde_json::from_slice(&request.body).unwrap();
            let question = asked["messages"].as_array().unwrap().last().unwrap();
            let question = question["content"].as_str().unwrap();
            let seed = asked["seed"].as_u64().unwrap() as usize;
            let code = if question.contains("for another problem") {
                inventions[seed].clone()
            } else {
                let factor = [37, 41].into_iter().find(|n| question.contains(&format!("* {n} +")));
                // The second draw is wrong.
                fast(factor.unwrap_or(1) + u32::from(seed == 1))
            };
            let answer = json!({
                "choices": [{"message": {"role": "assistant", "content": format!("```cpp\n{code}```")}}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 20}});
            Some(stand_in::Response::new(answer.to_string()))
        });
        format!("http://{}/v1", address.unwrap())
    }

    #[test]
    fn what_differs_and_becomes_much_faster_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(&folder.path().join("cache"));
        let timing = timing::Options { net: true, ..timing::Options::default() };
        let bench = Bench::open(&timing, Limits::default(), &store).unwrap();
        let tests = TestFolder::create(&folder.path().join("known")).unwrap();
        let known = |n: u64| (1..=n).fold(0, |s, i| (s * 31 + i) % 1_000_003);
        let test = |(number, n): (u64, u64)| Test {
            number,
            input: format!("{n}\n").into(),
            output: format!("{}\n", known(n)).into(),
        };
        tests.put("p", &[(0, 1500), (1, 2100)].map(test)).unwrap();
        let tests = TestSet::from(tests);
        let pair = |split: &str| Pair {
            problem_id: "p".into(),
            src_code: slow(31),
            tgt_code: fast(31),
            split: split.into(),
            ..Pair::default()
        };
        let again = slow(41).replace("r < 400", "r < 399");
        let url = model(vec![
            slow(37),
            slow(41),
            again,
            slow(41),
            slow(31).replace("400", "300"),
            program("s = 7;"),
            "int main() { return x; }\n".into(),
            String::new(),
        ]);
        let player = |base_url: &str, model: &str| {
            let endpoint = Endpoint {
                base_url: base_url.into(),
                model: model.into(),
                key_variable: "EDITS_TEST_NO_SUCH_KEY".into(),
                tries: 1,
                ..Endpoint::default()
            };
            Client::new(endpoint, store.clone())
        };
        let (inventor, editor) = (player(&url, "writes"), player(&url, "edits"));
        let prompt = |name: &str| Prompt::of_method(name).unwrap();
        let (invent, improve) = (prompt("self-play"), prompt("instruction"));
        let options =
            SelfPlayOptions { programs: 8, samples: 2, per_group: 1, ..SelfPlayOptions::default() };
        let out = folder.path().join("play");
        let play = |pairs: &[Pair], editor: &Client| {
            let players = [(&inventor, &invent), (editor, &improve)];
            self_play(pairs, &tests, &bench, players, &options, &out, &dataset::Silent)
        };
        assert!(play(&[pair("test")], &editor).is_err(), "what is tested on is not played with");
        // Nobody listens there.
        let gone = play(&[pair("train")], &player("http://127.0.0.1:9/v1", "gone")).unwrap_err();
        assert!(gone.to_string().starts_with("http://127.0.0.1:9/v1 gave no answer"), "{gone}");
        assert!(!out.exists());
        let report = play(&[pair("train")], &editor).unwrap();
        let counts = |all: &[(&str, u64)]| -> BTreeMap<String, u64> {
            all.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
        };
        let programs = counts(&[
            ("accepted", 3),
            ("does-not-compile", 1),
            ("no-program", 1),
            ("repeated", 1),
            ("same-as-known", 1),
            ("same-everywhere", 1),
        ]);
        assert_eq!(report.programs, programs);
        assert_eq!(report.edits, counts(&[("accepted", 3), ("wrong-output", 3)]));
        // The inventions of the game before were kept.
        assert_eq!((report.usage.requests, report.usage.cached), (8 + 6, 8));
        let made = dataset::Dataset::open(&out.join("pairs")).unwrap();
        let settings = &made.manifest().notes.configuration;
        assert_eq!(
            [&settings["inventor"]["model"], &settings["editor"]["model"]],
            ["writes", "edits"]
        );
        assert_eq!((report.groups, report.pairs), (2, 2), "one of two alike is kept");
        assert!(report.geomean >= 5.0, "{}", report.geomean);
        let kept = crate::Pairs::read(&out.join("pairs"), Default::default()).unwrap().pairs;
        let made = TestSet::visible(&out.join("tests")).unwrap();
        for pair in &kept {
            assert_eq!(made.tests(&pair.problem_id).unwrap().len(), 2);
            assert!(pair.speedup.is_some_and(|speedup| speedup >= 5.0));
        }
        let lines = export(&kept, ExportFormat::OpenAi, ExportMethod::SelfPlay).unwrap();
        assert_eq!(lines.len(), 2);
        let known = [pair("train")];
        assert!(export(&known, ExportFormat::OpenAi, ExportMethod::SelfPlay).is_err());
    }
}
