use crate::{Global, interrupt, output, progress::Bar};
use dataset::stage::{self, Context, Share};
use ir::Policy;
use std::{path::PathBuf, process::ExitCode};

/// Judge modules by their licences
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Policies: compile (MIT, Apache-2.0, BSD-2-Clause, BSD-3-Clause, with a licence file in the package:\n\
ComPile's rule), permissive, osi, all. OR leaves the choice to us, with AND every part must be admitted.\n\n\
Examples:\n  \
    stampmill ir license unique\n  \
    stampmill ir license unique --policy compile --out permissive"
)]
pub(crate) struct License {
    /// A data set of modules
    dataset: PathBuf,
    /// The rule: compile, permissive, osi or all
    #[arg(long, value_name = "POLICY", default_value = "compile")]
    policy: Policy,
    /// The data set to make; without it, only the table is printed
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace what is at --out
    #[arg(long)]
    force: bool,
    /// Only part I of N, by a hash of the item's name; `stampmill merge` joins the parts
    #[arg(long, value_name = "I/N", requires = "out")]
    part: Option<Share>,
}

impl License {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let license = ir::License::new(&self.dataset, self.policy)?;
        let bar = Bar::new(global);
        let report = match self.out {
            None => license.report(&bar)?,
            Some(out) => {
                let context = Context {
                    force: self.force,
                    jobs: global.jobs(),
                    share: self.part,
                    progress: &bar,
                    cancel: interrupt::flag()?.into(),
                    ..Context::new(out)
                };
                stage::run(&license, &context)?.summary
            }
        };
        drop(bar);
        show(&report, global)
    }
}

/// Print what a run or a merge came to.
pub(crate) fn show(report: &ir::LicenseReport, global: &Global) -> anyhow::Result<ExitCode> {
    let status = if report.admitted == 0 { output::NEGATIVE } else { ExitCode::SUCCESS };
    if global.json {
        output::json(report)?;
        return Ok(status);
    }
    let mut all: Vec<_> = report.expressions.iter().collect();
    all.sort_by_key(|(_, [_, bytes, _])| std::cmp::Reverse(*bytes));
    let rows = all.into_iter().map(|(name, [modules, bytes, admitted])| {
        let admitted = if *admitted == 1 { "yes" } else { "no" };
        vec![name.clone(), output::count(*modules), super::megabytes(*bytes), admitted.into()]
    });
    let header = ["licence", "modules", "bitcode", "admitted"];
    output::line(&output::table(&header, rows).to_string())?;
    output::line(&format!(
        "{} of {} modules admitted, {} of {}; {} licence texts come with them",
        output::count(report.admitted),
        output::count(report.modules),
        super::megabytes(report.admitted_bytes),
        super::megabytes(report.bitcode_bytes),
        output::count(report.texts)
    ))?;
    if report.admitted == 0 && report.texts == 0 && report.modules > 0 {
        output::line(
            "no licence text came with the packages: put a LICENSE file beside the sources, or take all modules with \
                 --policy all",
        )?;
    }
    Ok(status)
}
