//! `stampmill report`: one HTML page of what a folder holds.

use crate::{Global, output, report, target};
use std::{path::PathBuf, process::ExitCode};

/// Make one HTML page of the data sets in a folder: figures, feature maps, curves, the kernels
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill report demo\n  \
    stampmill report kernels --programs 5000 --out kernels.html\n  \
    stampmill report demo --force --json\n\n\
DIR is a data set, or a folder with data sets up to three folders deep. The page holds all it needs:\n\
it opens from a disk, without a network, and can be sent as it is. Feature maps need vectors\n\
(`stampmill features`). #search=TEXT, #program=N and #point=N after its address open it there.\n\n\
A data set that cannot be read is named on the page, and the exit status is 1.")]
pub(crate) struct Report {
    /// A data set or a folder of data sets
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The page to make [default: DIR/report.html]
    #[arg(short, long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Texts of programs on the page at most: those made come first, of the others an even choice
    #[arg(long, value_name = "N", default_value_t = 1000)]
    programs: usize,
    /// Replace what is at --out
    #[arg(long)]
    force: bool,
}

impl Report {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let out = self.out.unwrap_or_else(|| self.folder.join("report.html"));
        target::is_free(&out, self.force)?;
        let written = report::write(&self.folder, &out, self.programs)?;
        for problem in &written.problems {
            eprintln!("stampmill: {problem}");
        }
        match global.json {
            true => output::json(&written)?,
            false => output::line(&format!(
                "{}: {} of {} with {} programs ({} left out), {} KiB",
                out.display(),
                match written.datasets {
                    1 => "1 data set".to_owned(),
                    count => format!("{count} data sets"),
                },
                written.sections.join(", "),
                output::count(written.programs as u64),
                output::count(written.programs_left_out as u64),
                output::count(written.bytes.div_ceil(1024)),
            ))?,
        }
        Ok(if written.problems.is_empty() { ExitCode::SUCCESS } else { output::NEGATIVE })
    }
}
