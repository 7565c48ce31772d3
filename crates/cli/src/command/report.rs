//! `stampmill report`: one HTML page of what a folder holds.

use crate::{Global, destination::Output, output};
use std::{path::PathBuf, process::ExitCode};

/// Make an HTML page of the data sets in a folder: figures, feature maps, curves, kernels
#[derive(clap::Args, Debug)]
#[command(after_help = help!("report"))]
pub(crate) struct Report {
    /// A data set or a folder of data sets
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The page to make [default: DIR/report.html; of one data set DIR/_report.html, which readers of Parquet skip]
    #[arg(short, long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Show at most N programs: generated ones first, then an even sample of the others
    #[arg(long, value_name = "N", default_value_t = 1000)]
    programs: usize,
    /// Replace what is at --out
    #[arg(long)]
    force: bool,
}

impl Report {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let out = self.out.unwrap_or_else(|| {
            let is_one = dataset::Dataset::is_at(&self.folder);
            self.folder.join(if is_one { "_report.html" } else { "report.html" })
        });
        let output = Output { out, force: self.force };
        // That there is no folder of data sets is said below.
        if self.folder.is_dir() {
            output.is_free_file()?;
        }
        let page = report::page(&self.folder, &report::Options { programs: self.programs })?;
        page.save(&output.out)?;
        for problem in &page.problems {
            eprintln!("stampmill: {problem}");
        }
        output::report(global, &page, || {
            output::line(&format!(
                "{}: {} of {} with {} programs ({} left out), {} KiB",
                output.out.display(),
                match page.datasets {
                    1 => "1 data set".to_owned(),
                    count => format!("{count} data sets"),
                },
                page.sections.join(", "),
                output::count(page.programs as u64),
                output::count(page.programs_left_out as u64),
                output::count(page.bytes.div_ceil(1024)),
            ))
        })?;
        Ok(output::status(page.problems.is_empty()))
    }
}
