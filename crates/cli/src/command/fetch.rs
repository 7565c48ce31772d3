//! `stampmill fetch`: a public data set by its name.

use crate::{Global, interrupt, output, size};
use serde_json::json;
use std::{path::PathBuf, process::ExitCode};

/// Fetch a public data set by name: checksums, license, resumed where it was stopped
#[derive(clap::Args, Debug)]
#[command(after_help = help!("fetch"))]
pub(crate) struct Fetch {
    /// cgo17, codenet, compile, exebench, jotai, pie or suites; without one they are listed
    name: Option<String>,
    /// Where its files are: a file, a folder, or the http(s) address of one (a mirror) [default: where they are published]
    #[arg(long, value_name = "FILE|DIR|URL", requires = "name")]
    from: Option<String>,
    /// The folder for the files [default: the name]
    #[arg(short, long, value_name = "DIR", requires = "name")]
    out: Option<PathBuf>,
    /// The file with the checksums that a first fetch found [default: fetch.lock in that folder]
    #[arg(long, value_name = "FILE", requires = "name")]
    lock: Option<PathBuf>,
    /// Size limit of a file
    #[arg(long, value_name = "SIZE", default_value = "2^40", value_parser = size::size)]
    max_size: u64,
}

impl Fetch {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        let Some(name) = self.name else { return list(global) };
        let source = fetch::source(&name)?;
        if !global.is_quiet() {
            eprintln!("{name}: {}; version: {}", source.about, source.version);
            eprintln!("license: {}", source.license);
        }
        if self.from.is_none() && !source.published.is_empty() && !global.is_quiet() {
            eprintln!("from: {}", source.page);
            if !source.verified {
                eprintln!("its addresses were not tried by who described them to this build");
            }
        }
        let out = self.out.unwrap_or_else(|| PathBuf::from(&name));
        let asked = fetch::Fetch {
            lock: self.lock,
            most: self.max_size,
            ..fetch::Fetch::new(&name, self.from.as_deref(), &out)
        };
        let stop = interrupt::flag()?;
        let tell = |file: &str| {
            if !global.is_quiet() {
                eprintln!("fetching {}", output::plain(file));
            }
        };
        let fetched = fetch::fetch(&asked, &stop, &tell)?;
        let recorded = fetched.files.iter().filter(|file| !file.pinned).count();
        let bytes: u64 = fetched.files.iter().map(|file| file.bytes).sum();
        output::report(global, &fetched, || {
            output::line(&format!(
                "{} files, {} bytes in {} ({} of them were there, {} bytes from before)",
                fetched.files.len(),
                output::count(bytes),
                out.display(),
                fetched.present,
                output::count(fetched.resumed_bytes)
            ))?;
            if recorded > 0 {
                output::line(&format!(
                    "the checksums of {recorded} files were not known to this build: {} holds what came first; later fetches must give the same",
                    fetched.lock.display()
                ))?;
            }
            let published = source.next_published.as_ref().filter(|_| asked.from.is_none());
            let next = published.unwrap_or(&source.next);
            output::line(&format!("next: {}", next.replace("OUT", &out.display().to_string())))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn list(global: &Global) -> anyhow::Result<ExitCode> {
    let mut all = Vec::new();
    for name in fetch::names() {
        all.push((name, fetch::source(name)?));
    }
    let told: Vec<_> = all
        .iter()
        .map(|(name, source)| json!({"name": name, "about": source.about, "version": source.version, "license": source.license, "pinned": source.files.len(), "page": source.page, "published": source.published.len(), "verified": source.verified}))
        .collect();
    output::report(global, &json!({ "names": told }), || {
        let rows = all.iter().map(|(name, source)| {
            let pinned = match source.files.len() {
                0 => "recorded at the first fetch".to_owned(),
                files => format!("known ({files})"),
            };
            let from = match (source.published.is_empty(), source.verified) {
                (true, _) => format!("by hand: {}", source.page),
                (false, true) => source.page.clone(),
                (false, false) => format!("not tried: {}", source.page),
            };
            vec![(*name).to_owned(), source.about.clone(), source.license.clone(), pinned, from]
        });
        output::print_table(&["name", "what it is", "license", "checksums", "published"], rows)
    })?;
    Ok(ExitCode::SUCCESS)
}
