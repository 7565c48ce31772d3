use super::source::Source;
use crate::{Global, output};
use anyhow::{Context, bail};
use heuristics::ExplainOptions;
use std::{path::PathBuf, process::ExitCode};

/// Draw the tree, list decisions changed by --extra, find rows with equal features and different labels
#[derive(clap::Args, Debug)]
#[command(after_help = help!("heuristic-explain"))]
pub(crate) struct Explain {
    #[command(flatten)]
    source: Source,
    /// A tree, with its settings
    #[arg(long, default_value = "tree")]
    model: String,
    /// Levels of the tree to print
    #[arg(long, default_value_t = 6)]
    depth: usize,
    /// A folder for the tree as SVG
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u32,
}

impl Explain {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let (task, extra) = self.source.read(global)?;
        let options =
            ExplainOptions { model: self.model, depth: self.depth, extra, seed: self.seed };
        let report = heuristics::explain(&task, &options)?;
        if let Some(folder) = &self.out {
            write_pictures(folder, &[("tree.svg".to_owned(), report.picture.clone())])?;
        }
        output::report(global, &report, || {
            output::line(&report.tree)?;
            output::line(&format!("{} leaves, depth {}", report.leaves, report.depth))?;
            output::line(&report.collisions.to_string())?;
            if !report.disagreements.is_empty() {
                let rows = report.disagreements.iter().take(20).map(|row| {
                    vec![
                        row.program.clone(),
                        row.variant.clone(),
                        row.label.clone(),
                        row.without.clone(),
                        row.with.clone(),
                        format!("{:.3}", row.gain),
                    ]
                });
                let header = ["program", "input", "best", "without", "with", "cost without / with"];
                output::print_table(&header, rows)?;
                output::line(&format!("{} rows decided differently", report.disagreements.len()))?;
            }
            Ok(())
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Write pictures into a folder that must not exist yet.
pub(super) fn write_pictures(
    folder: &std::path::Path,
    pictures: &[(String, String)],
) -> anyhow::Result<()> {
    if folder.exists() {
        bail!("{} exists already; name another folder with --out", folder.display());
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    for (name, content) in pictures {
        let path = folder.join(name);
        std::fs::write(&path, content)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
