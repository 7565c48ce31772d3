//! Remote rounds: kernels are written here, run on another machine, and their runs read here.

use crate::{
    Error, LearnedRow, Options, Task,
    kernels::with_costs,
    labels::{costs, runs_of},
};
use dataset::{Builder, Notes};
pub use rows::WaitingRow;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

/// Where kernels are measured on another machine. With either of the paths no device is used here.
#[derive(Clone, Debug, Default)]
pub struct Remote {
    /// Where the kernels that wait for measurement go, as a data set that `run` takes.
    pub export: Option<PathBuf>,
    /// A data set of schema `run`: what the kernels that wait cost.
    pub import: Option<PathBuf>,
}

impl Remote {
    /// Whether no device is used here.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.export.is_some() || self.import.is_some()
    }

    /// Refuse an export in the place of something that is needed: `needed`, or the import.
    ///
    /// # Errors
    /// When it is one of them.
    pub fn check(&self, needed: &[&Path]) -> Result<(), Error> {
        let Some(export) = &self.export else { return Ok(()) };
        let is_export = |path: &Path| match (path.canonicalize(), export.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            _ => path == export,
        };
        let needed = needed.iter().copied().chain(self.import.as_deref());
        match needed.into_iter().any(is_export) {
            true => Err(Error::NamedTwice(export.clone())),
            false => Ok(()),
        }
    }
}

/// Kernels that wait for their measurement on another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// The round that made them; 0: those to begin with.
    pub round: u32,
    /// How many.
    pub kernels: u64,
    /// The data set of schema `round` that they are in.
    pub exported: PathBuf,
}

/// What is to be done on the machine that has the devices, and then on this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// Measures the kernels there.
    pub run: String,
    /// Goes on here with what that made.
    pub resume: String,
}

impl Commands {
    /// For kernels that wait, of a task measured as `global_size` and `measuring` say; `arguments` are
    /// the words of this command line, the program's name first.
    #[must_use]
    pub fn new(
        waiting: &Waiting,
        task: &Task,
        (global_size, measuring): (u64, Duration),
        arguments: impl Iterator<Item = String>,
    ) -> Commands {
        let exported = waiting.exported.display().to_string();
        let runs = quoted(&format!("{exported}.runs"));
        let run = format!(
            "stampmill run {} {} --budget {}ms --out {runs}",
            quoted(&exported),
            task.flags(global_size),
            measuring.as_micros() as f64 / 1e3
        );
        let resume = format!("stampmill {} --import-runs {runs}", local_words(arguments));
        Commands { run, resume }
    }
}

/// This command line, as a shell takes it, without the flags of remote rounds.
fn local_words(arguments: impl Iterator<Item = String>) -> String {
    const FLAGS: [&str; 2] = ["--export-round", "--import-runs"];
    let mut words = Vec::new();
    let mut arguments = arguments.skip(1);
    while let Some(word) = arguments.next() {
        if FLAGS.contains(&word.as_str()) {
            let _value = arguments.next();
        } else if !FLAGS.iter().any(|flag| word.starts_with(&format!("{flag}="))) {
            words.push(quoted(&word));
        }
    }
    words.join(" ")
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+^".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Write kernels as a data set at `out`, each text once, in the order of their identities; how many
/// there are.
pub(crate) fn write_kernels(kernels: &[LearnedRow], out: &Path, force: bool) -> Result<u64, Error> {
    if out.exists() && !force {
        return Err(Error::Exported(out.to_owned()));
    }
    let texts: BTreeMap<&str, &str> =
        kernels.iter().map(|row| (row.path.as_str(), row.text.as_str())).collect();
    // What a killed run may have left there goes; what is whole was looked at above.
    let builder = Builder::<WaitingRow>::create(out, true, &texts)?;
    let rows = texts
        .iter()
        .map(|(path, text)| WaitingRow { path: (*path).to_owned(), text: (*text).to_owned() });
    Ok(builder.finish(rows, Notes::default())?.manifest().rows)
}

/// The parts of a round, by name.
pub(crate) fn parts(round: u32) -> Vec<String> {
    match round {
        0 => vec!["train".to_owned(), "test".to_owned()],
        round => vec![format!("round {round}")],
    }
}

/// The part that holds the kernels of another before they are measured.
pub(crate) fn unmeasured(part: &str) -> String {
    format!("made {part}")
}

/// The kernels of the parts that satisfy a condition, by part.
fn kernels_of(
    builder: &Builder<LearnedRow>,
    rounds: u32,
    condition: impl Fn(&str) -> bool,
) -> Result<Vec<(String, Vec<LearnedRow>)>, Error> {
    let mut kernels = Vec::new();
    for part in (0..=rounds).flat_map(parts) {
        let made = unmeasured(&part);
        if builder.has(&made) && condition(&part) {
            kernels.push((part, builder.rows_of(&made).collect::<Result<_, _>>()?));
        }
    }
    Ok(kernels)
}

/// Whether an unfinished data set is there: nothing can wait where there is none.
pub(crate) fn is_begun(out: &Path) -> bool {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    out.with_file_name(format!("{name}.partial")).is_dir()
}

/// Take the costs of the kernels that wait from `runs`; those that it has no costs of do not run.
/// Runs that were taken in already are no error: a command that was stopped is given again.
///
/// # Errors
/// When nothing waits, or `runs` is not of what waits; then nothing is written.
pub(crate) fn import(
    options: &Options,
    builder: &Builder<LearnedRow>,
    runs: &Path,
) -> Result<(), Error> {
    let all = |kernels: &[(String, Vec<LearnedRow>)]| -> Vec<LearnedRow> {
        kernels.iter().flat_map(|(_, rows)| rows.iter().cloned()).collect()
    };
    let waiting = kernels_of(builder, options.rounds, |part| !builder.has(part))?;
    if all(&waiting).is_empty() {
        let done = kernels_of(builder, options.rounds, |part| builder.has(part))?;
        return match runs_of(&all(&done), runs)?.is_empty() {
            true => Err(Error::NothingWaits(options.out.clone())),
            false => Ok(()),
        };
    }
    let mut costs = costs(&options.task, &all(&waiting), options.global_size, runs)?;
    for (part, rows) in waiting {
        builder.add(&part, with_costs(rows, |path| costs.remove(path)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Strategy};
    use dataset::{Code, Programs, Verdict, content_hash};
    use device::RunRow;

    #[test]
    fn a_command_is_repeated_without_its_remote_round() {
        let words = [
            "stampmill",
            "learn",
            "--import-runs",
            "a",
            "--train",
            "my kernels",
            "--export-round=b",
        ];
        let said = local_words(words.into_iter().map(str::to_owned));
        assert_eq!(said, "learn --train 'my kernels'");
    }

    fn kernel(text: &str) -> LearnedRow {
        let path = content_hash(text.as_bytes());
        LearnedRow { path, text: text.to_owned(), ..LearnedRow::default() }
    }

    #[test]
    fn kernels_that_wait_are_programs_that_can_be_run_each_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("round");
        let kernels = ["b\r\n", "a", "b\r\n"].map(kernel);
        assert_eq!(write_kernels(&kernels, &out, false).expect("is written"), 2);
        let programs = Programs::open(&out).expect("opens");
        let hashes: Vec<String> = programs
            .iter()
            .expect("has programs")
            .map(|program| program.expect("is read").code.hash())
            .collect();
        let mut wanted = ["a", "b\r\n"].map(|text| Code::Text(text.to_owned()).hash());
        wanted.sort();
        assert_eq!(hashes, wanted);
        assert!(matches!(write_kernels(&kernels, &out, false), Err(Error::Exported(_))));
        assert_eq!(write_kernels(&kernels[..1], &out, true).expect("is replaced"), 1);
    }
    /// A run that passed, of the kernel of each text, at both sizes of groups.
    fn write_runs(texts: &[&str], out: &Path) {
        let row = |text: &str, local| RunRow {
            id: content_hash(text.as_bytes()),
            device_type: "cpu".to_owned(),
            global_size: 1024,
            local_size: Some(local),
            outcome: "pass".to_owned(),
            kernel_time_ns: Some(1_000),
            ..RunRow::default()
        };
        let rows: Vec<RunRow> =
            texts.iter().flat_map(|text| [8, 256].map(|local| row(text, local))).collect();
        let builder = Builder::create(out, false, &"").expect("begins");
        builder.finish(rows, Notes::default()).expect("is written");
    }

    #[test]
    fn runs_label_the_kernels_that_wait_and_no_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let options = Options {
            task: Task::LocalSize(8, 256),
            committee: Plan::parse("knn:2").expect("known"),
            strategy: Strategy::Passive,
            rounds: 2,
            batch: 2,
            global_size: 1024,
            measuring: Duration::from_millis(1),
            search: synth::Settings::default(),
            seed: 0,
            out: at("learned"),
            force: false,
        };
        assert!(!is_begun(&options.out));
        let builder = Builder::<LearnedRow>::create(&options.out, false, &"").expect("begins");
        assert!(is_begun(&options.out));
        write_runs(&["a", "b"], &at("runs"));
        write_runs(&["c"], &at("others"));
        let nothing = import(&options, &builder, &at("runs"));
        assert!(matches!(nothing, Err(Error::NothingWaits(_))), "{nothing:?}");

        let kernels = ["a", "b", "no runs of this one"].map(kernel);
        builder.add(&unmeasured("round 1"), kernels).expect("is written");
        let others = import(&options, &builder, &at("others"));
        assert!(matches!(others, Err(Error::OtherRuns { kernels: 3, .. })), "{others:?}");
        assert!(!builder.has("round 1"));

        import(&options, &builder, &at("runs")).expect("they are what waits");
        let rows: Vec<LearnedRow> =
            builder.rows_of("round 1").collect::<Result<_, _>>().expect("are read");
        let verdicts: Vec<(usize, &str)> =
            rows.iter().map(|row| (row.costs.len(), row.verdict.as_str())).collect();
        assert_eq!(verdicts, [(2, Verdict::ACCEPTED), (2, Verdict::ACCEPTED), (0, "does-not-run")]);

        import(&options, &builder, &at("runs")).expect("they were taken in");
        let others = import(&options, &builder, &at("others"));
        assert!(matches!(others, Err(Error::NothingWaits(_))), "{others:?}");
    }
}
