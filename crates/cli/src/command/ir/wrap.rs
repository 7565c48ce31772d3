use crate::Global;
use anyhow::Context;
use std::{ffi::OsString, os::unix::process::ExitStatusExt, path::PathBuf, process::ExitCode};

/// Run a compiler and keep the unoptimized bitcode of what it compiles
#[derive(clap::Args, Debug)]
#[command(after_help = help!("ir-wrap"))]
pub(crate) struct Wrap {
    /// Where bitcode is kept
    #[arg(long, value_name = "DIR", env = ir::STORE, default_value = "ir-store")]
    store: PathBuf,
    /// Make a folder of wrapper scripts for all compilers found, to be put first on PATH
    #[arg(long, value_name = "DIR")]
    stand_ins: Option<PathBuf>,
    /// The compiler's command
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Wrap {
    pub(crate) fn run(self, _: &Global) -> anyhow::Result<ExitCode> {
        let store = std::path::absolute(&self.store)?;
        if let Some(folder) = &self.stand_ins {
            ir::stand_ins(folder, &super::wrapper()?, Some(&store))?;
            crate::output::line(&format!(
                "PATH={}:$PATH make ...   or   RUSTC_WRAPPER={0}/rustc-wrapper cargo build ...",
                folder.canonicalize()?.display()
            ))?;
            if self.command.is_empty() {
                return Ok(ExitCode::SUCCESS);
            }
        }
        if let Some(program) = self.command.first()
            && !ir::is_compiler(program)
        {
            eprintln!(
                "note: {} is no compiler known here, so nothing of it is kept; for what a build calls, put \
                 the scripts of `ir wrap --stand-ins BIN` before it on PATH",
                program.display()
            );
        }
        let store = ir::Store::open(&store).context("cannot keep modules")?;
        let (status, lost) = ir::wrap(&self.command, &store)?;
        if let Some(error) = lost {
            // The build goes on as it would without us.
            eprintln!("stampmill: the bitcode of this command is lost: {error}");
        }
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
    }
}
