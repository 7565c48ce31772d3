use super::{megabytes, reader};
use crate::{Global, destination::StageOutput, interrupt, output, progress::Bar, stage};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Compute statistics of modules: sizes, opcodes before and after -O3, calls, tokens
#[derive(clap::Args, Debug)]
#[command(after_help = help!("ir-stats"))]
pub(crate) struct Stats {
    /// A data set of modules
    dataset: PathBuf,
    #[command(flatten)]
    output: StageOutput,
    /// Do not train tokenizers and count tokens
    #[arg(long)]
    no_tokens: bool,
    /// Do not run -O3's passes and the back end
    #[arg(long)]
    no_optimize: bool,
}

impl Stats {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let reader = reader(global)?;
        let bar = Bar::new(global);
        let context = self.output.context(global.jobs(), &bar, &interrupt::flag()?);
        let (optimise, tokens) = (!self.no_optimize, !self.no_tokens);
        let stats = ir::Stats::new(&self.dataset, &reader, optimise, tokens, &context)?;
        stage::run_then(&stats, &context, global, |done| {
            // On a cluster its pages are made of the parts.
            if global.cluster.is_none() {
                stats.publish(&context.out, &done.summary)?;
            }
            stage::show::<ir::Stats<'_>>(done, &context.out, global).map(drop)
        })
    }
}

impl stage::Shown for ir::Stats<'_> {
    fn merged(out: &Path, parts: &[PathBuf], summary: &ir::StatsReport) -> anyhow::Result<()> {
        Ok(ir::Stats::publish_merged(out, parts, summary)?)
    }

    fn print(report: &ir::StatsReport, seconds: f64, out: &str) -> anyhow::Result<()> {
        let count = output::count;
        let rows = report.languages.iter().map(|(name, sums)| {
            let mut row = vec![
                name.clone(),
                count(sums.modules),
                megabytes(sums.bitcode_bytes),
                megabytes(sums.text_bytes),
                count(sums.functions),
                count(sums.instructions),
                count(sums.instructions_after),
                megabytes(sums.object_bytes),
            ];
            // Where none are counted there is nothing to print.
            let counted = sums.tokens.iter().any(|tokens| *tokens > 0);
            row.extend(sums.tokens.map(|n| if counted { count(n) } else { "-".to_owned() }));
            row
        });
        let header = [
            "language",
            "modules",
            "bitcode",
            "text",
            "functions",
            "instructions",
            "after -O3",
            "objects",
            "tokens 10k",
            "50k",
            "100k",
            "200k",
        ];
        output::print_table(&header, rows)?;
        output::line(&format!(
            "{} modules measured, {} not optimized, {} not read, {} without text; vocabularies of {}; in {seconds:.1} s",
            count(report.modules),
            count(report.not_optimised),
            count(report.failed),
            count(report.without_text),
            report.vocabularies.map(|size| count(size as u64)).join(", ")
        ))?;
        output::line(&format!("plots: {out}/index.html"))
    }

    fn is_good(report: &ir::StatsReport) -> bool {
        report.modules > 0
    }
}
