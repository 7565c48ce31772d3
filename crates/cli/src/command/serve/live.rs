//! `stampmill serve --report`: what is in a folder by now.

use super::Serve;
use crate::{Global, interrupt, output};
use serde_json::json;
use serve::{LiveServer, LiveSettings};
use std::process::ExitCode;

impl Serve {
    pub(super) fn live(self, global: &Global) -> anyhow::Result<ExitCode> {
        let stop = interrupt::gentle_flag()?;
        let limits = self.limits(32, 1 << 16);
        let settings = LiveSettings {
            folder: self.report.unwrap_or_default(),
            listen: self.listen,
            options: report::Options::default(),
            limits,
            grace: self.grace,
        };
        let server = LiveServer::bind(settings)?;
        let address = server.address();
        if !address.ip().is_loopback() && !global.is_quiet() {
            eprintln!(
                "note: everyone who can reach {address} can read the programs of this folder"
            );
        }
        let url = format!("http://{address}/");
        let started = json!({ "url": url, "pid": std::process::id() });
        output::report(global, &started, || {
            output::line(&format!("the report is at {url} (Ctrl-C stops it)"))
        })?;
        let (requests, pages) = server.run(&stop)?;
        if !global.json && !global.is_quiet() {
            output::line(&format!(
                "stopped: {} requests, {pages} pages made",
                output::count(requests)
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
