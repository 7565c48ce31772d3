//! `stampmill edits score`: PIE's figures and what they leave out.

use crate::{Global, output};
use anyhow::Context;
use dataset::{Dataset, Verdict};
use edits::{Judgement, Scores, fast_p_picture, score};
use std::{path::PathBuf, process::ExitCode};

/// Score judged candidates: %Opt, Speedup, Correct, Best@k and more
#[derive(clap::Args, Debug)]
#[command(after_help = help!("edits-score"))]
pub(crate) struct Score {
    /// A data set that `edits judge` made
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
        let rows = Dataset::open(&self.judged)?.rows::<Judgement>()?;
        let rows: Vec<Judgement> = rows.collect::<dataset::Result<_>>()?;
        let scores = score(&rows, self.threshold, self.seed);
        if let Some(path) = &self.plot {
            std::fs::write(path, fast_p_picture(&scores)?)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        output::report(global, &scores, || print(&scores))?;
        Ok(output::status(scores.pairs > 0))
    }
}

fn print(scores: &Scores) -> anyhow::Result<()> {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let row = |name: String, best: &edits::Best| {
        vec![
            name,
            percent(best.opt),
            format!("{:.3}", best.speedup),
            percent(best.correct),
            format!("{:.3}", best.geomean),
        ]
    };
    let mut rows: Vec<Vec<String>> =
        scores.best_k.iter().map(|(k, best)| row(format!("Best@{k}"), best)).collect();
    rows.push(row(format!("Best@{}, no I/O-only edits", scores.k), &scores.without_io_only));
    let header = ["", "%Opt", "Speedup (mean)", "%Correct", "geometric mean"];
    output::print_table(&header, rows)?;
    output::line(&format!(
        "{} programs of {} problems, {} candidates; {} programs could not be judged",
        scores.pairs, scores.problems, scores.candidates, scores.unjudged
    ))?;
    let rejected = scores.verdicts.iter().filter(|(verdict, _)| *verdict != Verdict::ACCEPTED);
    let rejected: Vec<String> =
        rejected.map(|(verdict, count)| format!("{} {verdict}", output::count(*count))).collect();
    if !rejected.is_empty() {
        output::line(&format!("rejected, and no improvement: {}", rejected.join(", ")))?;
    }
    output::line(&format!(
        "95 % intervals over problems: %Opt {} to {}, geometric mean {:.3} to {:.3}",
        percent(scores.opt_interval[0]),
        percent(scores.opt_interval[1]),
        scores.interval[0],
        scores.interval[1]
    ))?;
    output::line(&format!(
        "without start-up: %Opt {}, mean {:.3}, geometric mean {:.3}; tests slowed {} %; fastest known / best {:.3}; memory {:.3}",
        percent(scores.opt_net),
        scores.speedup_net,
        scores.geomean_net,
        percent(scores.slowed_tests),
        scores.of_fastest,
        scores.memory
    ))?;
    let curve: Vec<String> = scores
        .fast_p
        .iter()
        .map(|point| format!("{}x {}", point.p, percent(point.share)))
        .collect();
    output::line(&format!("fast_p, in percent: {}", curve.join(", ")))?;
    output::line(&format!("speedups are {}", scores.orientation))
}
