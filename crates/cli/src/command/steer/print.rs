//! What a person reads of a run.

use crate::output;
use dataset::Dataset;
use std::path::Path;
use synth::{Ancestor, Report, SteeredRow};

/// Targets that are listed one by one, at most.
const LISTED: u64 = 40;

/// The same of impossible ones.
const IMPOSSIBLE: usize = 40;

/// Lines of a kernel that are printed at most.
const SHOWN: usize = 60;

/// Characters of such a line that are printed at most.
const WIDE: usize = 160;

/// Kernels that one is made of that are named at most.
const ANCESTORS: usize = 3;

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
        let (are, out) = (if more == 1 { "is" } else { "are" }, out.display());
        let more = output::some(more as u64, "more target");
        output::line(&format!("{more} {are} impossible: column `detail` of {out} says why"))?;
    }
    if report.impossible == report.targets {
        return Ok(());
    }
    if (2..=LISTED).contains(&report.targets) {
        targets(report, out)?;
    }
    if report.targets > 1 && report.wanted > 1 && !report.fewer.is_empty() {
        output::line(&format!(
            "{} of the targets have fewer than the {} kernels asked for: column `detail` of {} says why",
            output::count(report.fewer.len() as u64),
            output::count(report.wanted),
            out.display()
        ))?;
    }
    // What is not searching: starting the compilers, reading the seeds, laying out what was found.
    let took = match report.search_seconds {
        0.0 => format!("{seconds:.0} s"),
        of_search => format!("{of_search:.0} s of search ({all:.0} s in all)"),
    };
    output::line(&format!(
        "{}; {} in {took}{}",
        came(report),
        output::some(report.candidates, "candidate"),
        place(report, out)
    ))?;
    if let Some(predicted) = report.predicted {
        output::line(&format!(
            "{} more candidates were not judged, since what their edit does leads away: of {} that were judged all the same {} ({}) \
             lie elsewhere than was predicted. {} of the candidates were known under other names",
            output::count(predicted.skipped),
            output::count(predicted.checked),
            output::count(predicted.wrong),
            output::percent(predicted.wrong, predicted.checked),
            output::count(report.known)
        ))?;
    }
    if report.seeds + report.seeds_left > 0 {
        let undescribed = match report.seeds_left {
            0 => String::new(),
            more => format!(" ({} more were not described in time)", output::count(more)),
        };
        let excluded = match report.kept_out {
            0 => String::new(),
            more => format!(", and {} more are excluded", output::count(more)),
        };
        output::line(&format!(
            "seeds: {}{undescribed}; copies of a target are set aside{}{excluded}. The nearest comes to a proximity of {:.3}{}; \
             {}",
            output::some(report.seeds, "kernel"),
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
        if let Some([before, after]) = report.human_median {
            output::line(&format!(
                "probability that a person wrote a kernel, to the discriminator (medians): {before:.2} when it was found, {after:.2} as it is written"
            ))?;
        }
        if before == after {
            output::line(
                "nothing that was tried is likelier to the model: more time (--budget) or another --seed may find what is",
            )?;
        }
    }
    if report.targets == 1 {
        let rows = Dataset::open(out)?.rows::<SteeredRow>()?.collect::<Result<Vec<_>, _>>()?;
        let fewer = report.fewer.values().find(|fewer| fewer.kernels > 0);
        let fewer = fewer.map(|fewer| fewer.why.as_str());
        if let Some(fewer) = fewer {
            output::line(fewer)?;
        }
        let (found, at_target) = (rows.len(), rows.iter().filter(|row| row.exact).count());
        if (1..found).contains(&at_target) {
            output::line(&format!(
                "{at_target} of {found} kernels are at the target; before each of the others stands what it has instead"
            ))?;
        }
        for row in rows {
            let said = row.detail.split("; ").filter(|said| Some(*said) != fewer);
            let said = said.collect::<Vec<_>>().join("; ");
            if !said.is_empty() {
                output::line(&said)?;
            }
            if row.text.is_empty() {
                continue;
            }
            if !row.descends_from.is_empty() {
                output::line(&descent(&row.descends_from))?;
            }
            let Some((first, lines)) = first_of(&row.text) else {
                output::line(&row.text)?;
                continue;
            };
            let (lines, out) = (output::count(lines as u64), out.display());
            output::line(&format!("{first}\n… of {lines} lines; all: stampmill show {out}"))?;
        }
    }
    Ok(())
}

/// `2 of 3 targets hit exactly, median proximity 0.900`
fn came(report: &Report) -> String {
    let targets = output::some(report.targets, "target");
    match report.kernels {
        0 => format!("no kernel was found for {targets}"),
        _ => format!(
            "{} of {targets} hit exactly, median proximity {:.3}",
            output::count(report.exact),
            report.proximity_median
        ),
    }
}

/// Where the kernels are; of several targets without any, where it stands why.
fn place(report: &Report, out: &Path) -> String {
    match (report.kernels, report.targets) {
        (0, 1) => String::new(),
        (0, _) => format!("; column `detail` of {} says why", out.display()),
        _ => format!("; kernels in {}", out.display()),
    }
}

/// What is printed of a kernel that is too long or too wide, and how many lines it has in all.
fn first_of(text: &str) -> Option<(String, usize)> {
    let lines = text.lines().count();
    let is_wide = |line: &str| line.chars().nth(WIDE).is_some();
    if lines <= SHOWN && !text.lines().take(SHOWN).any(is_wide) {
        return None;
    }
    let cut = |line: &str| match is_wide(line) {
        true => line.chars().take(WIDE - 1).chain(['…']).collect(),
        false => line.to_owned(),
    };
    let first: Vec<String> = text.lines().take(SHOWN).map(cut).collect();
    Some((first.join("\n"), lines))
}

/// `// from scale of mesa (MIT), sum of pocl (MIT) and 2 more: column descends_from`
fn descent(ancestors: &[Ancestor]) -> String {
    let named: Vec<String> = ancestors.iter().take(ANCESTORS).map(ancestor).collect();
    let more = match ancestors.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more: column descends_from"),
    };
    format!("// from {}{more}", named.join(", "))
}

/// `scale of mesa (MIT)`
fn ancestor(ancestor: &Ancestor) -> String {
    let Ancestor { name, package, path, license } = ancestor;
    let place = [package, path].into_iter().find(|place| !place.is_empty());
    let place = place.map(|place| format!(" of {place}")).unwrap_or_default();
    let license = match (license.as_str(), package.as_str()) {
        ("", "") => String::new(),
        ("", _) => " (license unknown)".to_owned(),
        (license, _) => format!(" ({license})"),
    };
    format!("{name}{place}{license}")
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
fn targets(report: &Report, out: &Path) -> anyhow::Result<()> {
    let seeded = report.seeds > 0;
    let rows = Dataset::open(out)?.rows::<SteeredRow>()?.collect::<Result<Vec<_>, _>>()?;
    let kernels = |target: &str| rows.iter().filter(|row| row.target == target).count();
    let rows = rows.iter().filter(|row| row.rank == 1).map(|row| {
        let came = match row.verdict.as_str() {
            "accepted" if row.exact => "exact".to_owned(),
            "accepted" => format!("{:.3}", row.proximity),
            other => other.to_owned(),
        };
        let count = if row.text.is_empty() { 0 } else { kernels(&row.target) };
        let of_wanted = match report.wanted {
            0 | 1 => count.to_string(),
            wanted => format!("{count} of {wanted}"),
        };
        let mut cells = vec![row.target.clone(), came, of_wanted, row.proposer.clone()];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_found_nothing_names_no_folder_of_kernels() {
        let said = |kernels: u64, targets: u64| {
            let report = Report { kernels, targets, exact: kernels, ..Report::default() };
            came(&report) + &place(&report, Path::new("out"))
        };
        assert_eq!(said(0, 1), "no kernel was found for 1 target");
        assert_eq!(
            said(0, 2),
            "no kernel was found for 2 targets; column `detail` of out says why"
        );
        assert_eq!(
            said(1, 2),
            "1 of 2 targets hit exactly, median proximity 0.000; kernels in out"
        );
    }

    #[test]
    fn long_kernels_are_cut_in_both_directions() {
        assert_eq!(first_of("a\nb\n"), None);
        let (first, lines) = first_of(&"a\n".repeat(SHOWN + 2)).expect("long");
        assert_eq!((first.lines().count(), lines), (SHOWN, SHOWN + 2));
        let (first, lines) = first_of(&format!("a\n{}\n", "é".repeat(WIDE + 1))).expect("wide");
        let widest = first.lines().map(|line| line.chars().count()).max();
        assert_eq!((widest, lines), (Some(WIDE), 2));
        assert_eq!(first_of(&"é".repeat(WIDE)), None);
    }

    #[test]
    fn what_a_kernel_descends_from_is_named_with_its_license() {
        let of = |name: &str, package: &str, path: &str, license: &str| Ancestor {
            name: name.to_owned(),
            package: package.to_owned(),
            path: path.to_owned(),
            license: license.to_owned(),
        };
        let some = [
            of("scale", "mesa", "a/b.cl", "MIT"),
            of("sum", "pocl", "c.cl", ""),
            of("own", "", "own.cl", ""),
            of("next", "mesa", "a/b.cl", "MIT"),
        ];
        assert_eq!(
            descent(&some),
            "// from scale of mesa (MIT), sum of pocl (license unknown), own of own.cl and 1 more: column descends_from"
        );
        assert_eq!(descent(&[of("own", "", "", "MIT")]), "// from own (MIT)");
    }
}
