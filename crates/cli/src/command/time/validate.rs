use super::How;
use crate::{Global, choice::choice, output, progress::Bar};
use anyhow::Context;
use std::{path::PathBuf, process::ExitCode};
use timing::{Agreement, Figure, Half, ValidateOptions, ValidationReport};

/// Compare simulated with wall-clock times of this machine over programs written for it
#[derive(clap::Args, Debug)]
#[command(after_help = help!("time-validate"))]
pub(super) struct Validate {
    /// Folder or .jsonl file of programs [default: those of the source tree]
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
    /// Rounds of wall-clock runs, at least 2
    #[arg(long, value_name = "N", default_value_t = 15)]
    rounds: u64,
    /// Which programs to look at; whoever tunes looks at `tuning` only
    #[arg(long, default_value = "both", value_parser = choice(HALVES))]
    half: Half,
    /// Compare with time on a processor instead of the clock's, on a machine busy with other things
    #[arg(long)]
    processor_time: bool,
    #[command(flatten)]
    how: How,
}

const HALVES: &[(&str, Half)] =
    &[("tuning", Half::Tuning), ("held-out", Half::HeldOut), ("both", Half::Both)];

impl Validate {
    pub(super) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let options = ValidateOptions {
            programs: self.programs.unwrap_or_else(timing::programs),
            options: self.how.options(),
            rounds: self.rounds,
            half: self.half,
            processor_time: self.processor_time,
        };
        let bar = Bar::new(global);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(global.jobs())
            .build()
            .context("cannot start threads")?;
        let report = pool.install(|| timing::validate(&options, &bar))?;
        drop(bar);
        output::report(global, &report, || print(&report, global))?;
        Ok(output::status(report.all.is_some()))
    }
}

fn print(report: &ValidationReport, global: &Global) -> anyhow::Result<()> {
    let halves = [("tuning", &report.tuning), ("held out", &report.held_out), ("all", &report.all)];
    let halves: Vec<(&str, &Agreement)> = halves
        .into_iter()
        .filter_map(|(name, agreement)| Some((name, agreement.as_ref()?)))
        .collect();
    if halves.is_empty() {
        let timed = report.rows.len();
        output::line(&format!(
            "{timed} programs were timed; figures need three (in pairs: NAME.slow.cpp, NAME.fast.cpp)"
        ))?;
    }
    let mut header = vec!["figure"];
    header.extend(halves.iter().map(|(name, _)| *name));
    let row = |name: &str, cell: &dyn Fn(&Agreement) -> String| {
        let mut cells = vec![name.to_owned()];
        cells.extend(halves.iter().map(|(_, agreement)| cell(agreement)));
        cells
    };
    let rows = vec![
        row("programs", &|a| a.programs.to_string()),
        row("Spearman", &|a| figure(&a.spearman, 1.0, 3)),
        row("  of the clock with itself", &|a| format!("{:.3}", a.ceiling_spearman)),
        row("Kendall", &|a| figure(&a.kendall, 1.0, 3)),
        row("pairs > 1.2× in the right order, %", &|a| figure(&a.pair_order, 100.0, 1)),
        row("median error after one scale factor, %", &|a| figure(&a.median_error, 100.0, 1)),
        row("  of the clock with itself, %", &|a| format!("{:.1}", a.ceiling_error * 100.0)),
        row("median error of slow/fast, %", &|a| figure(&a.speedup_error, 100.0, 1)),
        row("scale (simulated / measured)", &|a| format!("{:.2}", a.scale)),
    ];
    if !halves.is_empty() {
        output::print_table(&header, rows)?;
    }
    if global.verbose > 0 {
        let scale = report.all.as_ref().map_or(1.0, |all| all.scale);
        let mut worst: Vec<_> = report.rows.iter().collect();
        let off = |row: &timing::Compared| row.seconds_simulated / (scale * row.seconds_wall);
        worst.sort_by(|a, b| off(b).ln().abs().total_cmp(&off(a).ln().abs()));
        let rows = worst.iter().map(|row| {
            vec![
                row.name.clone(),
                super::seconds(row.seconds_simulated),
                super::seconds(row.seconds_wall),
                format!("{:.2}", off(row)),
            ]
        });
        let header = ["program", "simulated", "measured", "simulated / (scale · measured)"];
        output::print_table(&header, rows)?;
    }
    for (verdict, count) in &report.rejected {
        output::line(&format!("{count} programs were not timed: {verdict}"))?;
    }
    output::line(&format!(
        "{} by {} against {} time, best of {} interleaved rounds; in brackets 95 % intervals; \
         held-out programs {}",
        report.cpu,
        report.source,
        report.measured,
        report.rounds,
        report.held_out_identity.get(..12).unwrap_or_default()
    ))
}

fn figure(figure: &Figure, factor: f64, digits: usize) -> String {
    let [low, high] = figure.interval.map(|bound| bound * factor);
    format!("{:.digits$} [{low:.digits$}, {high:.digits$}]", figure.value * factor)
}
