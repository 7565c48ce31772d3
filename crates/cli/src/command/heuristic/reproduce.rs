use super::explain::write_pictures;
use crate::{Global, output};
use reproduce::Options;
use std::{path::PathBuf, process::ExitCode};

/// Recompute a published evaluation: ours beside what the paper prints
#[derive(clap::Args, Debug)]
#[command(after_help = help!("heuristic-reproduce"))]
pub(crate) struct Reproduce {
    /// The publication: cgo17 (CLgen), benchpress, pie or compile; suites is CLgen's Table 1 for tasks of your own
    #[arg(long, default_value = "cgo17")]
    recipe: String,
    /// The folder with its data: files of cgo17; of the others data sets, up to three folders deep
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// cgo17: random seeds for results that depend on ties between equal splits
    #[arg(long, default_value_t = 30)]
    seeds: u32,
    /// cgo17: a folder with data sets of `features --space grewe`, whose kernels stand in Figure 9 beside the paper's
    #[arg(long, value_name = "DIR")]
    kernels: Option<PathBuf>,
    /// pie: a tokenizer.json, that of GPT-2 for the paper's lengths of programs; always counted are tokens of C++
    #[arg(long, value_name = "FILE")]
    tokenizer: Option<PathBuf>,
    /// A folder for the report (Markdown, JSON), tables (CSV) and pictures (SVG)
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Reproduce {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let Reproduce { recipe, data, seeds, kernels, tokenizer, out } = self;
        let options = Options { recipe, data, seeds, kernels, tokenizer };
        let result = reproduce::reproduce(&options)?;
        if let Some(folder) = &out {
            let mut files = result.files.clone();
            files.push(("report.md".to_owned(), result.text.clone()));
            files.push(("report.json".to_owned(), serde_json::to_string_pretty(&result.numbers)?));
            write_pictures(folder, &files)?;
        }
        output::report(global, &result.numbers, || output::line(result.text.trim_end()))?;
        Ok(ExitCode::SUCCESS)
    }
}
