use crate::{Global, destination, interrupt, output, progress::Bar, stage};
use dataset::stage::Done;
use ir::{LicenseReport, Policy};
use std::{path::PathBuf, process::ExitCode};

/// Select modules by license
#[derive(clap::Args, Debug)]
#[command(mut_arg(
    "out",
    destination::optional("The data set to make; without it, only the table is printed")
))]
#[command(after_help = help!("ir-license"))]
pub(crate) struct License {
    /// A data set of modules
    dataset: PathBuf,
    /// The rule: compile, permissive, osi or all
    #[arg(long, value_name = "POLICY", default_value = "compile")]
    policy: Policy,
    #[command(flatten)]
    output: Option<destination::StageOutput>,
}

impl License {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let license = ir::License::new(&self.dataset, self.policy)?;
        let bar = Bar::new(global);
        if let Some(output) = &self.output {
            let context = output.context(global.jobs(), &bar, &interrupt::flag()?);
            return stage::run(&license, &context, global);
        }
        let report = license.report(&bar)?;
        drop(bar);
        output::report(global, &report, || print(&report))?;
        Ok(stage::status::<ir::License>(&report))
    }
}

impl stage::Shown for ir::License {
    fn json(done: &Done<LicenseReport>) -> anyhow::Result<()> {
        output::json(&done.summary)
    }

    fn print(report: &LicenseReport, _: f64, _: &str) -> anyhow::Result<()> {
        print(report)
    }

    fn is_good(report: &LicenseReport) -> bool {
        report.admitted > 0
    }
}

fn print(report: &LicenseReport) -> anyhow::Result<()> {
    let mut all: Vec<_> = report.expressions.iter().collect();
    all.sort_by_key(|(_, [_, bytes, _])| std::cmp::Reverse(*bytes));
    let rows = all.into_iter().map(|(name, [modules, bytes, admitted])| {
        let admitted = if *admitted == 1 { "yes" } else { "no" };
        vec![name.clone(), output::count(*modules), super::megabytes(*bytes), admitted.into()]
    });
    output::print_table(&["license", "modules", "bitcode", "admitted"], rows)?;
    output::line(&format!(
        "{} of {} modules admitted, {} of {}; {} license texts",
        output::count(report.admitted),
        output::count(report.modules),
        super::megabytes(report.admitted_bytes),
        super::megabytes(report.bitcode_bytes),
        output::count(report.texts)
    ))?;
    if report.admitted > 0 || report.texts > 0 || report.modules == 0 {
        return Ok(());
    }
    output::line(
        "no package has a license text: put a LICENSE file beside the sources, or take all modules with \
         --policy all",
    )
}
