//! `stampmill merge`: the parts that several machines made of one job become one data set.

use crate::{Global, destination::Output, interrupt, progress::Bar, stage};
use anyhow::bail;
use dataset::{
    Dataset,
    stage::{Cancel, Context, Stage, merge},
};
use std::{path::PathBuf, process::ExitCode};

/// Join the data sets that were made with --part
#[derive(clap::Args, Debug)]
#[command(after_help = help!("merge"))]
pub(crate) struct Merge {
    /// The parts, in any order
    #[arg(value_name = "SHARE", required = true)]
    shares: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

impl Merge {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let Some(first) = self.shares.first() else { bail!(dataset::Error::NoShares) };
        let dataset = Dataset::open(first)?;
        let Some(shared) = &dataset.manifest().notes.share else {
            let reason = format!("{} was not made with --part", first.display());
            bail!(dataset::Error::OtherShares(reason));
        };
        match shared.stage.as_str() {
            mine::Mine::NAME => self.join::<mine::Mine<'_>>(global),
            kernels::Prepare::NAME => self.join::<kernels::Prepare>(global),
            features::Features::NAME => self.join::<features::Features>(global),
            cost::Label::NAME => self.join::<cost::Label>(global),
            cost::GroupSizes::NAME => self.join::<cost::GroupSizes>(global),
            device::Label::NAME => self.join::<device::Label>(global),
            device::KernelEdits::NAME => self.join::<device::KernelEdits>(global),
            device::Run::NAME => self.join::<device::Run>(global),
            sampling::Sampler::NAME => self.join::<sampling::Sampler<'_>>(global),
            synth::Steer::NAME => self.join::<synth::Steer<'_>>(global),
            timing::TimeSuite::NAME => self.join::<timing::TimeSuite>(global),
            ir::Build::NAME => self.join::<ir::Build<'_>>(global),
            ir::Extract::NAME => self.join::<ir::Extract<'_>>(global),
            ir::Dedup::NAME => self.join::<ir::Dedup>(global),
            ir::License::NAME => self.join::<ir::License>(global),
            ir::Optimize::NAME => self.join::<ir::Optimize<'_>>(global),
            ir::Passes::NAME => self.join::<ir::Passes<'_>>(global),
            ir::Cycles::NAME => self.join::<ir::Cycles<'_>>(global),
            ir::Stats::NAME => self.join::<ir::Stats<'_>>(global),
            edits::MakePairs::NAME => self.join::<edits::MakePairs<'_>>(global),
            edits::MakeTests::NAME => self.join::<edits::MakeTests<'_>>(global),
            edits::Certify::NAME => self.join::<edits::Certify<'_>>(global),
            edits::Judge::NAME => self.join::<edits::Judge<'_>>(global),
            other => bail!("{} is a part of `{other}`, which is unknown here", first.display()),
        }
    }

    /// Join them, and print what they come to as the command that made them does.
    fn join<S: stage::Shown>(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let cancel = Cancel::from(interrupt::flag()?);
        let bar = Bar::new(global);
        let (force, progress) = (self.output.force, &bar);
        let context = Context { force, progress, cancel, ..Context::new(&self.output.out) };
        let done = merge::<S>(&self.shares, &context)?;
        S::merged(&context.out, &self.shares, &done.summary)?;
        stage::show::<S>(&done, &context.out, global)
    }
}
