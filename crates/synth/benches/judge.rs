//! Candidates judged per second: without a search, and in one with and without what it does not judge.
//!
//! `cargo bench -p stampmill-synth --bench judge` compiles kernels of three sizes, describes them in both IR spaces, and
//! prints candidates per second of the clock and per processor second. Every kernel is different. Then it says what a request
//! takes of the worker that hardly does anything, and searches for the points of these kernels from nothing, once as with
//! `steer --judge-all` and once as without: candidates per processor second, those that were skipped included, and the ratio
//! of the second to the first.

use stampmill_synth::{Budget, Corpus, Found, Judge, Search, Settings, Target, default_proposers};
use std::{error::Error, sync::atomic::AtomicBool, time::Instant};

/// Sizes of kernels: their names, parts, how many are judged, and candidates of a search for the point of one.
const SIZES: [(&str, i32, i32, u64); 3] =
    [("small", 1, 4000, 12_000), ("median", 5, 1500, 8_000), ("large", 16, 600, 6_000)];

/// Requests that hardly anything is done for.
const REQUESTS: u32 = 5_000;

fn main() -> Result<(), Box<dyn Error>> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    for space in ["instcount", "autophase"] {
        let judge = Judge::new(features::space(space)?, jobs)?;
        for (name, parts, count, _) in SIZES {
            let texts: Vec<String> = (0..count).map(|index| kernel(index, parts)).collect();
            judge.judge(&texts[..50])?;
            let before = sandbox::processor_time();
            let started = Instant::now();
            let vectors = judge.judge(&texts)?;
            let wall = started.elapsed().as_secs_f64();
            let processor = (sandbox::processor_time() - before).as_secs_f64();
            let instructions: f64 = vectors.iter().flatten().map(|vector| all(space, vector)).sum();
            println!(
                "{space} {name}: {:.0} instructions on average; {:.0} candidates per second on {jobs} jobs, {:.0} per processor second",
                instructions / f64::from(count),
                f64::from(count) / wall,
                f64::from(count) / processor
            );
        }
    }
    round_trips()?;
    for space in ["instcount", "autophase"] {
        let judge = Judge::new(features::space(space)?, jobs)?;
        for (name, parts, _, candidates) in SIZES {
            let vector = judge.judge(&[kernel(0, parts)])?.pop().flatten().ok_or("no vector")?;
            let size = all(space, &vector);
            let target = Target::point(name, &vector);
            let [before, now] =
                [true, false].map(|judge_all| search(&judge, &target, candidates, judge_all));
            let ((before, _), (now, found)) = (before?, now?);
            println!(
                "{space}, search for {size:.0} instructions: {before:.0} candidates per processor second with all judged, {now:.0} without \
                 ({} judged, of them {} known under other names; {} skipped; {} of {} predictions wrong): {:.2} times",
                found.candidates,
                found.known,
                found.predicted.skipped,
                found.predicted.wrong,
                found.predicted.checked,
                now / before
            );
        }
    }
    Ok(())
}

/// Instructions of a vector.
fn all(space: &str, vector: &[f64]) -> f64 {
    vector[if space == "instcount" { 0 } else { 51 }]
}

/// What it takes to ask a worker and to be answered: the lexer is asked for the tokens of a text that has one.
fn round_trips() -> Result<(), Box<dyn Error>> {
    let clang = clang::Clang::start(1)?;
    let options = clang::Options::opencl();
    let started = Instant::now();
    for _ in 0..REQUESTS {
        clang.tokens(";", &options)?;
    }
    let each = started.elapsed() / REQUESTS;
    println!(
        "a request for the tokens of one character: {:.0} us, a round trip included",
        each.as_secs_f64() * 1e6
    );
    Ok(())
}

/// Candidates per processor second of a search, those that it skips included, and what came of it. No hit is an answer, so
/// that it goes on for as long as its budget does.
fn search(
    judge: &Judge,
    target: &Target,
    candidates: u64,
    judge_all: bool,
) -> Result<(f64, Found), Box<dyn Error>> {
    let settings = Settings {
        budget: Budget::Candidates(candidates),
        proposers: default_proposers(false),
        readable: false,
        judge_all,
        ..Settings::default()
    };
    let corpus = Corpus::default();
    let none = |_: &str| Ok::<_, String>(Some("not-asked-for".to_owned()));
    let mut search = Search::new(judge, &corpus, settings)?;
    search.set_acceptance(&none);
    let before = sandbox::processor_time();
    let found = search.find(target, &AtomicBool::new(false))?;
    let processor = (sandbox::processor_time() - before).as_secs_f64();
    Ok(((found.candidates + found.predicted.skipped) as f64 / processor, found))
}

/// A kernel of about 15 instructions and 17 more for every part, with branches and loops as the
/// suites' kernels have them.
fn kernel(index: i32, parts: i32) -> String {
    let mut body = String::from("  int e = get_global_id(0);\n  float f = a[e];\n");
    for part in 0..parts {
        let constant = index * 31 + part + 2;
        body += &match part % 3 {
            0 => format!(
                "  if (e < d - {part}) {{ f = f * {constant}.5f + b[e + {part}]; c[e + {part}] = f; }}\n"
            ),
            1 => {
                format!("  for (int g = 0; g < d; g++) {{ f += b[e * {constant} + g] * a[g]; }}\n")
            }
            _ => format!("  b[e + {constant}] = (d & {constant}) ? f / a[e + {part}] : sqrt(f);\n"),
        };
    }
    format!(
        "__kernel void A(__global float* a, __global float* b, __global float* c, const int d) {{\n{body}  c[e] = f;\n}}\n"
    )
}
