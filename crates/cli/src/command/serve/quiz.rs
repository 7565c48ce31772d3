//! `stampmill serve --quiz`: human or machine?

use super::Serve;
use crate::{Global, interrupt, output};
use anyhow::bail;
use serde_json::{Value, json};
use serve::{Kind, QuizServer, QuizSettings, Quizzed, Source};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// What is asked, and where answers go.
#[derive(clap::Args, Debug)]
pub(super) struct Asking {
    /// The data set of answers to make
    #[arg(short, long, value_name = "DIR", requires = "quiz")]
    out: Option<PathBuf>,
    /// Replace what is at --out
    #[arg(long, requires = "quiz")]
    force: bool,
    /// Questions of a player, half of them of each side
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..=200))]
    questions: u16,
    /// Same seed, the same questions of a player
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// `human=DATASET` or `machine=DATASET`.
pub(super) fn side(argument: &str) -> Result<(Kind, PathBuf), String> {
    match argument.split_once('=') {
        Some((kind, path)) if !path.is_empty() => Ok((kind.parse()?, path.into())),
        _ => {
            Err("who wrote its kernels is to be said: human=DATASET or machine=DATASET".to_owned())
        }
    }
}

impl Serve {
    pub(super) fn quiz(self, global: &Global) -> anyhow::Result<ExitCode> {
        let stop = interrupt::gentle_flag()?;
        let (limits, token) = (self.limits(32, 1 << 16), self.token()?);
        let is_open = token.is_none();
        let Asking { out, force, questions, seed } = self.asking;
        let Some(out) = out else { bail!("name the data set of answers to make with --out DIR") };
        if questions % 2 == 1 {
            bail!(
                "--questions {questions} is odd, and half of the kernels are of each side; give {} or {}",
                questions - 1,
                questions + 1
            );
        }
        let opened = self.quiz.iter().map(|(kind, path)| Source::open(*kind, path));
        let sources = opened.collect::<Result<Vec<_>, _>>()?;
        let server = QuizServer::bind(QuizSettings {
            sources,
            questions: usize::from(questions),
            seed,
            out: out.clone(),
            force,
            listen: self.listen,
            token,
            limits,
            grace: self.grace,
        })?;
        let address = server.address();
        if !address.ip().is_loopback() && !global.is_quiet() {
            let who = match is_open {
                true => "everyone who can reach it can answer: name a token with --token-file;",
                false => "",
            };
            eprintln!("note: {address} is not of this machine alone: {who} there is no encryption");
        }
        if server.resumed() > 0 && !global.is_quiet() {
            eprintln!("note: going on with earlier answers; players so far: {}", server.resumed());
        }
        let url = format!("http://{address}/");
        let started = json!({ "url": url, "pid": std::process::id() });
        output::report(global, &started, || {
            output::line(&format!(
                "the quiz is at {url} (Ctrl-C ends it and makes {})",
                out.display()
            ))
        })?;
        let quizzed = server.run(&stop)?;
        if !global.json && !global.is_quiet() {
            tell(&quizzed, &out)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn tell(quizzed: &Quizzed, out: &Path) -> anyhow::Result<()> {
    let Quizzed { requests, players, score, dataset } = quizzed;
    output::line(&format!("stopped: {} requests", output::count(*requests)))?;
    if dataset.is_none() {
        return output::line("nobody answered: no data set was made");
    }
    let row = |name: String, score: &Value| {
        let ends = [&score["interval"][0], &score["interval"][1]];
        let ends = ends.map(|end| format!("{:.1}", 100.0 * end.as_f64().unwrap_or_default()));
        let (right, of) = (score["right"].as_u64(), score["answers"].as_u64());
        let (right, of) = (right.unwrap_or_default(), of.unwrap_or_default());
        vec![
            name,
            output::count(of),
            output::percent(right, of),
            format!("{} to {} %", ends[0], ends[1]),
        ]
    };
    let sources = score["sources"].as_array().into_iter().flatten().map(|source| {
        let word = |key: &str| source[key].as_str().unwrap_or_default();
        row(format!("{} ({})", word("source"), word("kind")), source)
    });
    let all = row("all (chance: 50 %)".to_owned(), score);
    output::print_table(&["source", "answers", "right", "95 %"], sources.chain([all]))?;
    output::line(&format!("{}: players {}", out.display(), output::count(*players)))
}
