//! `stampmill prepare`: from content files to kernels.

use crate::{
    Global, choice::choice, command::run::holds, destination::StageOutput, headers, interrupt,
    output, progress::Bar, stage,
};
use anyhow::bail;
use dataset::{Language, Licenses, Row as _};
use kernels::{Options, Prepare as Stage, Report};
use rows::Module;
use std::{path::PathBuf, process::ExitCode, time::Duration};

/// Compile, isolate and normalize the kernels of a raw data set; reject what does not compile
#[derive(clap::Args, Debug)]
#[command(after_help = help!("prepare"))]
pub(crate) struct Prepare {
    /// A raw data set as `mine` makes it, or a folder or file of OpenCL programs (`mine DIR` finds
    /// kernels inside C, C++, Python and Rust sources too)
    raw: PathBuf,
    #[command(flatten)]
    output: StageOutput,
    /// Accept only programs under these licenses: permissive, osi (OSI-approved) or all
    #[arg(long, value_name = "POLICY", default_value = "all")]
    licenses: Licenses,
    /// What kernels in CUDA and HIP become: OpenCL C, where their translation is proved equal, or CUDA as it is, to be described
    #[arg(long, default_value = "opencl", value_parser = choice(&[("opencl", Language::OpenCl), ("cuda", Language::Cuda)]))]
    language: Language,
    /// Define a macro for all files, before those that are known of them; may be given several times
    #[arg(short = 'D', long, value_name = "NAME[=VALUE]", value_parser = macro_of)]
    define: Vec<String>,
    /// Time limit of one clang request; the kernel is rejected when it is exceeded
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = crate::duration::limit)]
    limit: Duration,
}

impl Prepare {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if holds(&self.raw, Module::SCHEMA) {
            bail!(
                "{0} is a data set of LLVM modules, and `prepare` reads OpenCL C: `stampmill features {0}` describes them, \
                 `stampmill ir` has what else there is for them",
                self.raw.display()
            );
        }
        headers::say(&self.raw, global);
        let Prepare { raw: input, output: made, limit, licenses, language, define } = self;
        let options = Options { input, limit, licenses, language, defines: define };
        let bar = Bar::new(global);
        let context = made.context(global.jobs(), &bar, &interrupt::flag()?);
        stage::run(&Stage::new(&options)?, &context, global)
    }
}

/// A macro by its name, with or without a value.
fn macro_of(text: &str) -> Result<String, String> {
    let name = text.split('=').next().unwrap_or_default();
    let is_name = name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    match is_name {
        true => Ok(text.to_owned()),
        false => Err("a macro is NAME or NAME=VALUE, such as -D REAL=float".to_owned()),
    }
}

impl stage::Shown for Stage {
    fn print(report: &Report, seconds: f64, out: &str) -> anyhow::Result<()> {
        print_funnel(report)?;
        if !report.rejected.is_empty() {
            output::print_counts(["rejected", "count"], &report.rejected)?;
        }
        for (status, same) in &report.same_ir {
            let accepts = match same.kernels {
                1 => "clang accepts in its file",
                _ => "clang accepts in their files",
            };
            output::line(&format!(
                "same IR after rewriting, {status}: {} of {} that {accepts} ({})",
                output::count(same.proved),
                output::some(same.kernels, "kernel"),
                output::percent(same.proved, same.kernels)
            ))?;
        }
        output::line(&format!(
            "distinct tokens {} → {}, lines {} → {}, in {seconds:.1} s",
            output::count(report.vocabulary_before),
            output::count(report.vocabulary_after),
            output::count(report.lines_before),
            output::count(report.lines_after),
        ))?;
        let why = "SELECT path, verdict, detail FROM k WHERE verdict <> 'accepted'";
        if !report.rejected.is_empty() && report.unique_kernels > 0 {
            output::hint(&format!("rejected, and why: stampmill query \"{why}\" k={out}"))?;
        }
        let next = match report.unique_kernels {
            0 if report.files == 0 => "no program was read: the input has no OpenCL file, or none in this part; \
                 `stampmill mine DIR` finds kernels inside other programs, and C functions with --language c"
                .to_owned(),
            0 => format!("no kernel was accepted; why: stampmill query \"{why}\" k={out}"),
            _ => return output::hint(&format!("next: stampmill show {out}")),
        };
        output::line(&next)
    }

    fn is_good(report: &Report) -> bool {
        report.unique_kernels > 0
    }

    fn is_nothing(manifest: &dataset::Manifest) -> bool {
        stage::is_all_rejected(manifest)
    }
}

/// The funnel, one line a step, each with its share of a step before: the bar is that share.
fn print_funnel(report: &Report) -> anyhow::Result<()> {
    let compiled = report.compiled_plain + report.compiled_shim + report.compiled_repaired;
    let row = |name: &str, number: u64, of: u64, whole: &str| {
        let length = usize::try_from(number * BAR / of.max(1)).unwrap_or_default();
        let bar = "█".repeat(length.max(usize::from(number > 0)));
        let (count, share) = (output::count(number), output::percent(number, of));
        vec![name.to_owned(), count, share, whole.to_owned(), bar]
    };
    let (files, unique, kernels) = (report.files, report.unique_files, report.kernels);
    let rows = [
        vec!["files".to_owned(), output::count(files)],
        row("unique files", unique, files, "of the files"),
        row("with a kernel that compiles", compiled, unique, "of the unique files"),
        row("    as it is", report.compiled_plain, compiled, "of these"),
        row("    with assumed definitions", report.compiled_shim, compiled, "of these"),
        row("    repaired", report.compiled_repaired, compiled, "of these"),
        vec!["kernels".to_owned(), output::count(kernels)],
        row("unique kernels", report.unique_kernels, kernels, "of the kernels"),
    ];
    output::print_table(&["funnel", "count", "share", "", ""], rows)
}

/// Characters of a bar that stands for the whole.
const BAR: u64 = 24;
