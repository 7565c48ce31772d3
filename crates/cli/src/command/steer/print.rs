//! What a person reads of a run.

use crate::output;
use dataset::Dataset;
use std::path::Path;
use synth::{Report, SteeredRow};

/// Targets that are listed one by one, at most.
const LISTED: u64 = 40;

/// The same of impossible ones.
const IMPOSSIBLE: usize = 40;

/// Lines of a kernel that are printed at most.
const SHOWN: usize = 60;

/// The whole.
pub(super) fn report(report: &Report, seconds: f64, out: &Path) -> anyhow::Result<()> {
    let all = crate::BEGAN.elapsed().as_secs_f64();
    let rows = report.by_size.iter().chain(&report.by_suite).map(|(name, share)| {
        let name = name.split_once(": ").map_or(name.as_str(), |(_, name)| name);
        vec![
            name.to_owned(),
            output::count(share.targets),
            output::count(share.exact),
            output::percent(share.exact, share.targets),
            format!("{:.3}", share.proximity_median),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if report.targets > 1 && !rows.is_empty() {
        let header = ["targets", "count", "exact", "share", "median proximity"];
        output::line(&output::table(&header, rows).to_string())?;
    }
    for constraint in report.constraints.values().take(IMPOSSIBLE) {
        output::line(constraint)?;
    }
    let more = report.constraints.len().saturating_sub(IMPOSSIBLE);
    if more > 0 {
        let (more, out) = (output::count(more as u64), out.display());
        output::line(&format!(
            "{more} more targets are impossible: column `detail` of {out} says why"
        ))?;
    }
    if report.impossible == report.targets {
        return Ok(());
    }
    if (2..=LISTED).contains(&report.targets) {
        targets(out, report.seeds > 0)?;
    }
    // What is not searching: starting the compilers, reading the seeds, laying out what was found.
    let took = match report.search_seconds {
        0.0 => format!("{seconds:.0} s"),
        of_search => format!("{of_search:.0} s of search ({all:.0} s in all)"),
    };
    output::line(&format!(
        "{} of {} targets hit exactly, median proximity {:.3}; {} candidates in {took}; \
         kernels in {}",
        output::count(report.exact),
        output::count(report.targets),
        report.proximity_median,
        output::count(report.candidates),
        out.display()
    ))?;
    if report.seeds > 0 {
        let excluded = match report.kept_out {
            0 => String::new(),
            more => format!(", and {} more are excluded", output::count(more)),
        };
        output::line(&format!(
            "seeds: {} kernels; copies of a target are set aside{}{excluded}. The nearest comes to a proximity of {:.3}{}; \
             {}",
            output::count(report.seeds),
            left(report, report.seeds),
            report.mined_proximity_median,
            if report.targets > 1 { " (median)" } else { "" },
            match report.exact_mined {
                0 => "none is at a target".to_owned(),
                at => format!("at {} of the targets lies one", output::count(at)),
            }
        ))?;
    }
    if let Some([before, after, per_token]) = report.bits_median {
        output::line(&format!(
            "bits of a kernel to the model (medians): {before:.1} when it was found, {after:.1} as it is written, {per_token:.2} a token"
        ))?;
        if before == after {
            output::line(
                "nothing was written anew: the search leaves --natural what it does not need of the budget; give it more (--budget)",
            )?;
        }
    }
    if report.targets == 1 {
        let dataset = Dataset::open(out)?;
        let rows = dataset.rows::<SteeredRow>()?.collect::<Result<Vec<_>, _>>()?;
        let wanted = dataset.manifest().notes.configuration["settings"]["kept"].as_u64();
        if let Some(wanted) = wanted.filter(|wanted| *wanted > rows.len() as u64) {
            output::line(&format!(
                "{} of {} kernels wanted: all else that was found is a near-duplicate of these, or farther away; more \
                 time (--budget) or another --seed may find others",
                output::count(rows.len() as u64),
                output::count(wanted)
            ))?;
        }
        let (found, at_target) = (rows.len(), rows.iter().filter(|row| row.exact).count());
        if (1..found).contains(&at_target) {
            output::line(&format!(
                "{at_target} of {found} kernels are at the target; before each of the others stands what it has instead"
            ))?;
        }
        for row in rows {
            if !row.detail.is_empty() {
                output::line(&row.detail)?;
            }
            if row.text.is_empty() {
                continue;
            }
            let lines = row.text.lines().count();
            if lines <= SHOWN {
                output::line(&row.text)?;
                continue;
            }
            let first: Vec<&str> = row.text.lines().take(SHOWN).collect();
            let (lines, out) = (output::count(lines as u64), out.display());
            output::line(&format!(
                "{}\n… of {lines} lines; all: stampmill show {out}",
                first.join("\n")
            ))?;
        }
    }
    Ok(())
}

/// How many of the seeds the targets could start from, where some would have given a target away.
fn left(report: &Report, seeds: u64) -> String {
    match report.seeds_per_target.map(output::count) {
        _ if report.seeds_per_target == [seeds; 2] => String::new(),
        [least, most] if least == most => format!(" ({least} left)"),
        [least, most] => format!(" ({least} to {most} left)"),
    }
}

/// How near the nearest kernel of each target came.
fn targets(out: &Path, seeded: bool) -> anyhow::Result<()> {
    let rows = Dataset::open(out)?.rows::<SteeredRow>()?.collect::<Result<Vec<_>, _>>()?;
    let kernels = |target: &str| rows.iter().filter(|row| row.target == target).count();
    let rows = rows.iter().filter(|row| row.rank == 1).map(|row| {
        let came = match row.verdict.as_str() {
            "accepted" if row.exact => "exact".to_owned(),
            "accepted" => format!("{:.3}", row.proximity),
            other => other.to_owned(),
        };
        let count = if row.text.is_empty() { 0 } else { kernels(&row.target) };
        let mut cells = vec![row.target.clone(), came, count.to_string(), row.proposer.clone()];
        if seeded {
            cells.push(output::count(u64::from(row.seeds)));
        }
        cells
    });
    let mut header = vec!["target", "nearest", "kernels", "found by"];
    if seeded {
        header.push("seeds");
    }
    output::line(&output::table(&header, rows).to_string())
}
