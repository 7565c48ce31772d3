//! `stampmill doctor`: what this machine has, what it lacks, who needs it, how to get it.

mod bundle;
mod component;

use crate::{Global, output};
use component::Component;
pub(crate) use component::tool;
use std::{path::PathBuf, process::ExitCode};

/// Show which components are installed, which are missing, and how to install them
#[derive(clap::Args, Debug)]
#[command(after_help = help!("doctor"))]
pub(crate) struct Doctor {
    /// Pack the binaries and the shared libraries they need into a .tar.zst for another machine
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
    /// Pack the clang worker and LLVM's libraries as well (about 70 MB)
    #[arg(long, requires = "bundle")]
    with_clang: bool,
}

/// Columns of the table where the terminal does not say how many it has.
const WIDTH: u16 = 120;

#[derive(serde::Serialize)]
struct Report {
    ok: bool,
    components: Vec<Component>,
}

impl Doctor {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if let Some(file) = &self.bundle {
            return bundle::pack(file, self.with_clang, global);
        }
        let components = component::all();
        let ok = components.iter().all(|component| component.found || !component.required);
        let report = Report { ok, components };
        output::report(global, &report, || {
            let rows = report.components.iter().map(|component| {
                let state = match (component.found, component.required) {
                    (true, _) => "found",
                    (false, true) => "MISSING",
                    (false, false) => "missing",
                };
                let what = match (component.found, component.version.as_str()) {
                    (true, version) => version.to_owned(),
                    (false, component::NOT_ON_PATH | component::NOT_BESIDE) => {
                        component.install.to_owned()
                    }
                    (false, why) => format!("{why}\n{}", component.install),
                };
                let (name, needed_for) = (component.name, component.needed_for);
                [name, state, &what, needed_for].map(str::to_owned).to_vec()
            });
            let header = ["component", "state", "version, or how to get it", "needed for"];
            let mut table = output::table(&header, rows);
            if table.width().is_none() {
                table.set_width(WIDTH);
            }
            output::line(&table.to_string())?;
            for lacking in report.components.iter().filter(|one| one.required && !one.found) {
                let Component { name, install, .. } = lacking;
                output::line(&format!("`mine` and `prepare` need the {name}: {install}"))?;
            }
            Ok(())
        })?;
        Ok(output::status(ok))
    }
}
