//! Simulated instructions per second of processor time: the full model, the sampled model and QEMU's
//! callbacks alone, against cachegrind and against the processor itself, interleaved in one run.
//!
//! `cargo bench -p stampmill-timing` [PROGRAMS] [ROUNDS]: so many programs of the tuning half, and of the one that is held
//! out. Beside them stand the error of the sampled time against the full model, and its own 95 % interval. Rates are of
//! processor time, so that a busy machine distorts them less; the best of the rounds counts. gem5's detailed processor is
//! quoted, not measured.

use stampmill_timing::{Code, Job, Options, SourceKind, Suite};
use std::{
    error::Error,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// What gem5's out-of-order processor does, in M instructions/s: figures of its users, not ours.
const GEM5: &str = "0.1 to 0.3 (quoted from the literature, not measured here)";

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let count = numbers.first().copied().unwrap_or(12);
    let rounds = numbers.get(1).copied().unwrap_or(3);
    let folder = tempfile::tempdir()?;
    let suite = Suite::read(&stampmill_timing::programs())?;
    let (held, tuning): (Vec<Job>, Vec<Job>) =
        suite.jobs.into_iter().partition(|job| stampmill_timing::is_held_out(&job.name));
    let mut jobs = Vec::new();
    for half in [tuning, held] {
        let step = (half.len() / count).max(1);
        for job in half.into_iter().step_by(step).take(count) {
            jobs.push(build(job, folder.path())?);
        }
    }
    let options =
        |source, sample_rate| Options { source, sample_rate, net: false, ..Options::default() };
    let ways = [
        ("full model", options(SourceKind::Qemu, 1)),
        ("sampled 1/50", options(SourceKind::Qemu, 50)),
        ("cachegrind", options(SourceKind::Cachegrind, 1)),
        ("the processor", options(SourceKind::Wall, 1)),
    ];
    let mut instructions = vec![0; jobs.len()];
    let mut best = vec![[f64::INFINITY; 4]; jobs.len()];
    let mut simulated = vec![[0.0; 2]; jobs.len()];
    let mut intervals = vec![[0.0; 2]; jobs.len()];
    for _ in 0..rounds {
        for (at, job) in jobs.iter().enumerate() {
            for (way, (_, options)) in ways.iter().enumerate() {
                let before = sandbox::processor_time();
                let timing = match stampmill_timing::time(job, options) {
                    Ok(timing) => timing,
                    Err(error) => {
                        eprintln!("{}: {error}", job.name);
                        continue;
                    }
                };
                let spent = (sandbox::processor_time() - before).as_secs_f64();
                let Some(measurement) = timing.measurement else {
                    return Err(format!("{}: {}", job.name, timing.verdict).into());
                };
                if way == 0 {
                    instructions[at] = measurement.instructions.unwrap_or(0);
                }
                if way < 2 {
                    simulated[at][way] = measurement.seconds_simulated;
                    intervals[at] = measurement.interval.unwrap_or_default();
                }
                // The clock's own start is no work of the program.
                let spent = if way == 3 { measurement.seconds_simulated } else { spent };
                best[at][way] = best[at][way].min(spent);
            }
        }
    }
    println!("M instructions/s of processor time, best of {rounds} rounds; load {}", load());
    print!("{:<16} {:>12}", "program", "instructions");
    ways.iter().for_each(|(name, _)| print!(" {name:>14}"));
    println!(" {:>9} {:>9} half", "error", "interval");
    for (at, job) in jobs.iter().enumerate() {
        print!("{:<16} {:>12}", job.name, instructions[at]);
        best[at].iter().for_each(|s| print!(" {:>14.1}", instructions[at] as f64 / s / 1e6));
        let [full, sampled] = simulated[at];
        let [low, high] = intervals[at];
        let half = if stampmill_timing::is_held_out(&job.name) { "held out" } else { "tuning" };
        let (error, interval) = (sampled / full - 1.0, (high - low) / 2.0 / full);
        println!(" {:>+8.2}% {:>8.2}% {half}", 100.0 * error, 100.0 * interval);
    }
    let all: u64 = instructions.iter().sum();
    print!("{:<16} {all:>12}", "all together");
    let rates: [f64; 4] = std::array::from_fn(|way| {
        all as f64 / best.iter().map(|seconds| seconds[way]).sum::<f64>() / 1e6
    });
    rates.iter().for_each(|rate| print!(" {rate:>14.1}"));
    println!(
        "\nfull model / cachegrind (rate over rate, all together): {:.2}",
        rates[0] / rates[2]
    );
    println!("full model / the processor: 1/{:.0}", rates[3] / rates[0]);
    println!("gem5: {GEM5}");
    start(folder.path())
}

/// The program as an executable, so that no compiler is part of what is measured.
fn build(job: Job, folder: &Path) -> Result<Job, Box<dyn Error>> {
    let Code::Cpp(text) = &job.program else { return Err("no C++".into()) };
    let source = folder.join("source.cpp");
    std::fs::write(&source, text)?;
    let program = folder.join("program");
    let status = Command::new("g++")
        .arg("-std=gnu++17")
        .args(stampmill_timing::recipe::FLAGS)
        .arg("-o")
        .args([&program, &source])
        .status()?;
    if !status.success() {
        return Err(format!("{} does not compile", job.name).into());
    }
    Ok(Job { program: Code::Elf(std::fs::read(&program)?), ..job })
}

/// From nothing to the first figure: an empty C program, wall-clock time, best of 20.
fn start(folder: &Path) -> Result<(), Box<dyn Error>> {
    let source: PathBuf = folder.join("empty.c");
    std::fs::write(&source, "int main(void) { return 0; }\n")?;
    let program = folder.join("empty");
    let status = Command::new("gcc")
        .args(["-O2", "-static", "-o"])
        .args([&program, &source])
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        return Err("the empty program does not compile".into());
    }
    let job = Job {
        name: "empty".into(),
        program: Code::Elf(std::fs::read(&program)?),
        stdin: Vec::new(),
    };
    let options = Options { net: false, ..Options::default() };
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..20 {
        let begun = Instant::now();
        stampmill_timing::time(&job, &options)?;
        times.push(begun.elapsed());
    }
    times.sort();
    println!(
        "start to finish of an empty program: best {:.1?}, median {:.1?} of 20",
        times[0], times[10]
    );
    Ok(())
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}
