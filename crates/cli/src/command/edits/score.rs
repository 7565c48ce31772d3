//! `stampmill edits score`: PIE's figures and what they leave out.

use crate::{Global, output};
use anyhow::Context;
use dataset::{Dataset, Row as _, Verdict};
use edits::{Best, FastP, Judgement, KernelScores, Scores, fast_p_picture, score, score_kernels};
use rows::KernelEditRow;
use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

/// Score judged candidates: %Opt, Speedup, Correct, Best@k and more
#[derive(clap::Args, Debug)]
#[command(after_help = help!("edits-score"))]
pub(crate) struct Score {
    /// A data set that `edits judge` or `edits judge-kernels` made
    judged: PathBuf,
    /// Speedup from which a program counts as optimized
    #[arg(long, value_name = "RATIO", default_value_t = 1.1)]
    threshold: f64,
    /// Random seed of the bootstrap
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Draw the fast_p curve
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

impl Score {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let judged = Dataset::open(&self.judged)?;
        if judged.manifest().schema == KernelEditRow::SCHEMA {
            let rows: Vec<KernelEditRow> = judged.rows()?.collect::<dataset::Result<_>>()?;
            let scores = score_kernels(&rows, self.threshold, self.seed);
            self.draw(&scores.fast_p)?;
            output::report(global, &scores, || print_kernels(&scores))?;
            return Ok(output::status(scores.pairs > 0));
        }
        let rows: Vec<Judgement> = judged.rows()?.collect::<dataset::Result<_>>()?;
        let scores = score(&rows, self.threshold, self.seed);
        self.draw(&scores.fast_p)?;
        output::report(global, &scores, || print(&scores))?;
        Ok(output::status(scores.pairs > 0))
    }

    fn draw(&self, curve: &[FastP]) -> anyhow::Result<()> {
        let Some(path) = &self.plot else { return Ok(()) };
        std::fs::write(path, fast_p_picture(curve)?)
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

fn print(scores: &Scores) -> anyhow::Result<()> {
    let mut rows = rows_of_k(&scores.best_k);
    rows.push(row(format!("Best@{}, no I/O-only edits", scores.k), &scores.without_io_only));
    output::print_table(&HEADER, rows)?;
    output::line(&format!(
        "{} of {}, {}; {} could not be judged",
        output::some(scores.pairs, "program"),
        output::some(scores.problems, "problem"),
        output::some(scores.candidates, "candidate"),
        output::some(scores.unjudged, "program")
    ))?;
    print_rejected(&scores.verdicts, "rejected, and no improvement")?;
    print_intervals("problems", scores.opt_interval, scores.interval)?;
    output::line(&format!(
        "without start-up: %Opt {}, mean {:.3}, geometric mean {:.3}; tests slowed {} %; fastest known / best {:.3}; memory {:.3}",
        percent(scores.opt_net),
        scores.speedup_net,
        scores.geomean_net,
        percent(scores.slowed_tests),
        scores.of_fastest,
        scores.memory
    ))?;
    print_curve(&scores.fast_p, scores.orientation)
}

fn print_kernels(scores: &KernelScores) -> anyhow::Result<()> {
    let mut rows = rows_of_k(&scores.best_k);
    if scores.devices.len() > 1 {
        let devices = scores.devices.iter();
        rows.extend(devices.map(|(name, best)| row(format!("Best@{}, {name}", scores.k), best)));
    }
    output::print_table(&HEADER, rows)?;
    output::line(&format!(
        "{} on {}, {}; {} could not be judged, {} not timed",
        output::some(scores.pairs, "slow kernel"),
        output::some(scores.devices.len() as u64, "device"),
        output::some(scores.candidates, "candidate"),
        output::some(scores.unjudged, "slow kernel"),
        output::some(scores.untimed, "right candidate")
    ))?;
    print_rejected(&scores.verdicts, "rows that are rejected")?;
    print_intervals("slow kernels", scores.opt_interval, scores.interval)?;
    print_curve(&scores.fast_p, scores.orientation)
}

const HEADER: [&str; 5] = ["", "%Opt", "Speedup (mean)", "%Correct", "geometric mean"];

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn row(name: String, best: &Best) -> Vec<String> {
    vec![
        name,
        percent(best.opt),
        format!("{:.3}", best.speedup),
        percent(best.correct),
        format!("{:.3}", best.geomean),
    ]
}

fn rows_of_k(best_k: &BTreeMap<u64, Best>) -> Vec<Vec<String>> {
    best_k.iter().map(|(k, best)| row(format!("Best@{k}"), best)).collect()
}

fn print_rejected(verdicts: &BTreeMap<String, u64>, what: &str) -> anyhow::Result<()> {
    let rejected = verdicts.iter().filter(|(verdict, _)| *verdict != Verdict::ACCEPTED);
    let rejected: Vec<String> =
        rejected.map(|(verdict, count)| format!("{} {verdict}", output::count(*count))).collect();
    match rejected.is_empty() {
        true => Ok(()),
        false => output::line(&format!("{what}: {}", rejected.join(", "))),
    }
}

fn print_intervals(over: &str, opt: [f64; 2], geomean: [f64; 2]) -> anyhow::Result<()> {
    output::line(&format!(
        "95 % intervals over {over}: %Opt {} to {}, geometric mean {:.3} to {:.3}",
        percent(opt[0]),
        percent(opt[1]),
        geomean[0],
        geomean[1]
    ))
}

fn print_curve(curve: &[FastP], orientation: &str) -> anyhow::Result<()> {
    let points: Vec<String> =
        curve.iter().map(|point| format!("{}x {}", point.p, percent(point.share))).collect();
    output::line(&format!("fast_p, in percent: {}", points.join(", ")))?;
    output::line(&format!("speedups are {orientation}"))
}
