//! Mine sources into a data set: `mine OUT SOURCE...`, or with `@packages.toml`; `mine --c OUT SOURCE...`
//! finds C programs under permissive licenses.

use dataset::{
    Language, Licenses,
    stage::{Context, run},
};
use stampmill_mine::{Mine, Options, Progress};

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
    let (language, licenses) = match c {
        true => (Language::C, Licenses::Permissive),
        false => (Language::OpenCl, Licenses::All),
    };
    let out = arguments.next().ok_or("usage: mine OUT SOURCE...")?;
    let sources = arguments.collect();
    let options = Options { sources, licenses, language, cache: None, offline: false, suite: None };
    let context = Context { progress: &Lines, ..Context::new(out) };
    let done = run(&Mine::new(options, &context)?, &context)?;
    println!("{}", serde_json::to_string_pretty(&done)?);
    Ok(())
}
