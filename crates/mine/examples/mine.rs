//! Mine sources into a data set: `mine OUT SOURCE...`, or with `@packages.toml`; `mine --c OUT SOURCE...`
//! finds C programs under permissive licences.

use dataset::{Language, Licences};
use stampmill_mine::{Options, Progress};
use std::sync::atomic::AtomicBool;

/// Lines on standard error.
struct Lines;

impl Progress for Lines {
    fn begin(&self, name: &str, total: u64) {
        eprintln!("{total} {name}");
    }
    fn advance(&self, _: u64) {}
    fn message(&self, text: &str) {
        eprintln!("{text}");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let c = arguments.next_if(|first| first == "--c").is_some();
    let (language, licences) = match c {
        true => (Language::C, Licences::Permissive),
        false => (Language::OpenCl, Licences::All),
    };
    let out = arguments.next().ok_or("usage: mine OUT SOURCE...")?.into();
    let options = Options {
        sources: arguments.collect(),
        out,
        force: false,
        licences,
        language,
        jobs: 0,
        cache: None,
        offline: false,
        cancelled: &AtomicBool::new(false),
    };
    let report = stampmill_mine::run(&options, &Lines)?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}
