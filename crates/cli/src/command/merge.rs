//! `stampmill merge`: the parts that several machines made of one job become one data set.

use super::{edits, features, ir, label, mine, prepare, run, sample, steer, time};
use crate::{Global, destination::Output, interrupt, progress::Bar};
use anyhow::bail;
use dataset::{
    Dataset,
    stage::{Cancel, Context, Done, Stage, merge},
};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Join the data sets that were made with --part
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    stampmill prepare raw --part 1/2 --out kernels-1        on one machine\n  \
    stampmill prepare raw --part 2/2 --out kernels-2        on another\n  \
    stampmill merge kernels-1 kernels-2 --out kernels\n\n\
The data set has the rows of one run without --part, in the same order; what is printed, and the exit\n\
status, are those of that command. Every part must be there, made with the same settings from the same\n\
inputs.")]
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
            ::mine::Mine::NAME => self.join::<::mine::Mine<'_>>(global, |done, out, global| {
                mine::show(&done, out, global)
            }),
            kernels::Prepare::NAME => self.join::<kernels::Prepare>(global, |done, out, global| {
                prepare::show(&done, out, global)
            }),
            ::features::Features::NAME => self
                .join::<::features::Features>(global, |done, out, global| {
                    features::show(&done, out, global)
                }),
            device::Run::NAME => {
                self.join::<device::Run>(global, |done, out, global| run::show(&done, out, global))
            }
            device::Label::NAME => self
                .join::<device::Label>(global, |done, out, global| label::show(&done, out, global)),
            sampling::Sampler::NAME => self
                .join::<sampling::Sampler<'_>>(global, |done, out, global| {
                    sample::show(&done, Some(out), global)
                }),
            synth::Steer::NAME => self.join::<synth::Steer<'_>>(global, |done, out, global| {
                steer::show(&done, out, global)
            }),
            timing::TimeSuite::NAME => self.join::<timing::TimeSuite>(global, time::show_suite),
            ::ir::Build::NAME => self.join::<::ir::Build<'_>>(global, |done, out, global| {
                ir::show(&done, out, global, done.summary.built)
            }),
            ::ir::Extract::NAME => self.join::<::ir::Extract<'_>>(global, |done, out, global| {
                ir::show(&done, out, global, done.summary.modules)
            }),
            ::ir::Dedup::NAME => self.join::<::ir::Dedup>(global, |done, out, global| {
                ir::show_dedup(&done, out, global)
            }),
            ::ir::License::NAME => self.join::<::ir::License>(global, |done, _, global| {
                ir::show_license(&done.summary, global)
            }),
            ::ir::Stats::NAME => self.join::<::ir::Stats<'_>>(global, |done, out, global| {
                ::ir::Stats::publish_merged(out, &self.shares, &done.summary)?;
                ir::show_stats(&done, out, global)
            }),
            ::edits::MakePairs::NAME => {
                self.join::<::edits::MakePairs<'_>>(global, edits::show_pairs)
            }
            ::edits::MakeTests::NAME => {
                self.join::<::edits::MakeTests<'_>>(global, edits::show_tests)
            }
            ::edits::Judge::NAME => self.join::<::edits::Judge<'_>>(global, edits::show_judge),
            other => bail!("{} is a part of `{other}`, which is unknown here", first.display()),
        }
    }

    /// Join them, and have the command that made them `show` what they come to.
    fn join<S: Stage>(
        &self,
        global: &Global,
        show: impl FnOnce(Done<S::Summary>, &Path, &Global) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode>
    where
        S::Error: Sync + 'static,
    {
        let cancel = Cancel::from(interrupt::flag()?);
        let bar = Bar::new(global);
        let (force, progress) = (self.output.force, &bar);
        let context = Context { force, progress, cancel, ..Context::new(&self.output.out) };
        let done = merge::<S>(&self.shares, &context)?;
        drop(context);
        drop(bar);
        show(done, &self.output.out, global)
    }
}
