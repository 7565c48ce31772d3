use super::{How, seconds};
use crate::{Global, headers, output, progress::Bar};
use anyhow::bail;
use dataset::Dataset;
use std::{path::PathBuf, process::ExitCode};
use timing::{Change, Comparison, Job, Outcome, Seconds};

/// Programs that failed whose details are printed, at most.
const DETAILED: usize = 5;

/// Compare two versions: data sets of `time --suite`, or two programs
#[derive(clap::Args, Debug)]
#[command(after_help = help!("time-compare"))]
pub(super) struct Compare {
    /// Data set of times, or a program as `time` takes it
    before: PathBuf,
    /// The same of the other version
    after: PathBuf,
    /// Exit status 1 where a program takes longer by more than this, prints something else, is gone or fails
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_above: Option<f64>,
    /// Compare times less start-up (seconds_net)
    #[arg(long)]
    net: bool,
    /// Print a table for a comment or a summary page
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Standard input of both programs; `-`: what this command reads [default: empty]
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

/// A percentage as people write it: `2%`, `0.5%`.
fn percent(text: &str) -> Result<f64, String> {
    let signed = text.strip_suffix('%');
    let number = signed.unwrap_or(text).trim().parse::<f64>();
    match number {
        Ok(number) if signed.is_none() && 0.0 < number && number < 1.0 => {
            Err(format!("{number} % or {} %? Write the sign", number * 100.0))
        }
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
        _ => Err(format!("`{text}` is no percentage of at least 0; write 2%")),
    }
}

impl Compare {
    /// Of two programs, with nothing said of what is too slow.
    pub(super) fn of(before: PathBuf, after: PathBuf, stdin: Option<PathBuf>, how: How) -> Compare {
        Compare { before, after, fail_above: None, net: false, markdown: false, stdin, how }
    }

    pub(super) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let which = if self.net { Seconds::Net } else { Seconds::Total };
        let found = match [&self.before, &self.after].map(|path| Dataset::is_at(path)) {
            [true, true] => {
                if self.stdin.is_some() {
                    bail!("--stdin is for two programs; data sets of times have their inputs");
                }
                timing::compare(&self.before, &self.after, which)?
            }
            [false, false] => self.programs(global, which)?,
            [_, is_after] => {
                let program = if is_after { &self.before } else { &self.after };
                bail!(
                    "{} is no data set of times and the other is one: `stampmill time --suite DIR --out DIR` makes one",
                    program.display()
                )
            }
        };
        output::report(global, &found, || print(&found, self.markdown))?;
        let limit = self.fail_above;
        let is_bad = |one: &Change| limit.is_some_and(|limit| one.is_worse_than(limit / 100.0));
        let bad: Vec<&Change> = found.changes.iter().filter(|one| is_bad(one)).collect();
        if let (false, Some(limit)) = (bad.is_empty(), limit) {
            let named = |one: &&Change| format!("{} ({})", one.name, one.outcome.name());
            let named = bad.iter().take(5).map(named).collect::<Vec<_>>().join(", ");
            let more = bad.len().saturating_sub(5);
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named = output::plain(&named);
            eprintln!("stampmill: worse than --fail-above {limit}% allows: {named}{rest}");
        }
        Ok(output::status(bad.is_empty() && found.mean_ratio.is_some()))
    }

    fn programs(&self, global: &Global, which: Seconds) -> anyhow::Result<Comparison> {
        for path in [&self.before, &self.after] {
            if path.is_dir() {
                bail!(
                    "{} is a folder, no data set of times: `stampmill time --suite {0} --out times` makes one",
                    path.display()
                );
            }
        }
        let before = Job::read(&self.before, self.stdin.as_ref())?;
        let after = Job { stdin: before.stdin.clone(), ..Job::read(&self.after, None)? };
        let jobs = [before, after];
        let mut options = self.how.options();
        // Of two folders each program would find the other's.
        if self.before.parent() == self.after.parent() {
            let beside = headers::quoted(&self.before).or_else(|| headers::quoted(&self.after));
            options.flags.extend(beside);
        }
        headers::say_flag(&[&self.before, &self.after], &options.flags, global);
        let bar = Bar::new(global);
        dataset::Progress::begin(&bar, "time", 0);
        Ok(timing::compare_programs([&jobs[0], &jobs[1]], &options, which)?)
    }
}

fn print(found: &Comparison, markdown: bool) -> anyhow::Result<()> {
    let header = ["program", "before", "after", "change", "outcome"];
    let shown = found.changes.iter().filter(|one| one.outcome != Outcome::Unchanged);
    let rows: Vec<Vec<String>> = shown.map(cells).collect();
    if markdown {
        output::line(&format!("| {} |\n|---|---:|---:|---:|---|", header.join(" | ")))?;
        for row in &rows {
            output::line(&format!("| {} |", row.join(" | ").replace('\n', " ")))?;
        }
        output::line("")?;
    } else if !rows.is_empty() {
        output::print_table(&header, rows)?;
    }
    let failed = |one: &&Change| one.outcome.is_broken() || one.outcome == Outcome::StillFails;
    for one in found.changes.iter().filter(failed).take(DETAILED) {
        for (side, detail) in ["before", "after"].into_iter().zip(&one.details) {
            if !markdown && !detail.is_empty() {
                output::line(&format!("{} {side}: {}", one.name, detail.trim_end()))?;
            }
        }
    }
    let counts: Vec<String> =
        found.outcomes.iter().map(|(name, n)| format!("{} {name}", output::count(*n))).collect();
    let what = match found.seconds {
        Seconds::Total => "time",
        Seconds::Net => "time less start-up",
    };
    let mean = found.mean_ratio.map_or(String::new(), |mean| {
        let on = format!("{} by {}", found.cpu, found.source);
        format!("; {what} after/before, geometric mean: {mean:.4} (below 1 is faster), on {on}")
    });
    output::line(&(counts.join(", ") + &mean))?;
    match found.lacks_input {
        true => output::line(&format!("a program {}", super::LACKS_INPUT)),
        false => Ok(()),
    }
}

fn cells(one: &Change) -> Vec<String> {
    let side =
        |value: Option<f64>, verdict: &String| value.map_or_else(|| verdict.clone(), seconds);
    let change = one.change.map_or(String::new(), |change| format!("{:+.2} %", change * 100.0));
    vec![
        one.name.clone(),
        side(one.before, &one.verdicts[0]),
        side(one.after, &one.verdicts[1]),
        change,
        one.outcome.name().to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn percentages_read_as_people_write_them() {
        assert_eq!(percent("2%"), Ok(2.0));
        assert_eq!(percent("0.5 %"), Ok(0.5));
        assert_eq!(percent("0"), Ok(0.0));
        assert_eq!(percent("2"), Ok(2.0));
        assert!(percent("0.02").is_err_and(|error| error.contains("2 %")));
        assert!(percent("-1%").is_err() && percent("fast").is_err() && percent("inf").is_err());
    }
}
