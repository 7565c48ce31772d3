//! `stampmill export`: programs as files, rows for other programs, or a data set to share.

use crate::{Global, destination::has_folder, interrupt, output};
use anyhow::Context;
use dataset::{Dataset, Programs, Verdict, new_file};
use device::{CldriveWriter, RunRow};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::Ordering,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A file for each program, and index.jsonl with their packages, names and licenses
    Files,
    /// The data set with a card and a Croissant file, as Hugging Face wants it
    Huggingface,
    /// Rows as comma-separated values; a vector is a column a dimension
    Csv,
    /// Rows as one JSON object a line
    Jsonl,
    /// Measurements of `run` in the CSV of cldrive, CLgen's driver
    Cldrive,
}

/// Write the programs of a data set as files (.cl, .c, .cpp, .rs, .ll, .bc), its rows as CSV or JSON Lines, or the data set to share
#[derive(clap::Args, Debug)]
#[command(after_help = help!("export"))]
pub(crate) struct Export {
    /// A data set; of programs where these are written as files
    dataset: PathBuf,
    /// The folder to make, or the file of csv, jsonl and cldrive; it must not exist
    #[arg(long, alias = "out", value_name = "DIR|FILE")]
    to: PathBuf,
    /// What to write [default: csv or jsonl where --to ends so, files where it has no ending]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write at most N programs or rows
    #[arg(long = "n", alias = "limit", value_name = "N")]
    limit: Option<usize>,
}

impl Export {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if dataset::is_url(&self.to) {
            anyhow::bail!(dataset::Error::NotThere(self.to));
        }
        let format = match self.format {
            Some(format) => format,
            None => self.by_name()?,
        };
        let (report, said) = match format {
            Format::Files => self.files()?,
            Format::Huggingface => self.huggingface()?,
            Format::Csv => self.rows(interchange::Format::Csv)?,
            Format::Jsonl => self.rows(interchange::Format::Jsonl)?,
            Format::Cldrive => self.cldrive()?,
        };
        output::report(global, &report, || output::line(&said))?;
        Ok(ExitCode::SUCCESS)
    }

    /// What the name at --to says is to be written.
    fn by_name(&self) -> anyhow::Result<Format> {
        let Some(ending) = self.to.extension() else { return Ok(Format::Files) };
        let ending = ending.to_string_lossy();
        match &*ending {
            "csv" => Ok(Format::Csv),
            "jsonl" => Ok(Format::Jsonl),
            other => {
                let near = dataset::near(other, ["csv", "jsonl"]);
                let near = near.map(|near| self.to.with_extension(near));
                let meant = near.map(|path| format!("; did you mean {}?", path.display()));
                anyhow::bail!(
                    "nothing is written as .{other}: a name that ends in .csv or .jsonl writes rows (a data set's own \
                     files are Parquet), one without an ending makes a folder of programs, and with --format files, \
                     huggingface, csv, jsonl or cldrive any name does{}",
                    meant.unwrap_or_default()
                )
            }
        }
    }

    fn files(&self) -> anyhow::Result<(Value, String)> {
        let to = self.to.display();
        let programs = Programs::open(&self.dataset).map_err(|error| match error {
            dataset::Error::OtherRows { .. } => anyhow::anyhow!(
                "{error}; `--to FILE.csv` or FILE.jsonl writes the rows of any data set"
            ),
            error => error.into(),
        })?;
        let written = programs.export(&self.to, self.limit.unwrap_or(usize::MAX))?;
        let rejected = match &programs {
            Programs::Dataset(dataset) if self.limit.is_none() => {
                dataset.manifest().rows.saturating_sub(written)
            }
            _ => 0,
        };
        let report = json!({ "programs": written, "rejected": rejected, "to": self.to });
        let left = match rejected {
            0 => String::new(),
            rows => format!("; {rows} other rows have no file{}", others(&programs)),
        };
        Ok((report, format!("{written} programs in {to}{left}")))
    }

    fn huggingface(&self) -> anyhow::Result<(Value, String)> {
        let mut dataset = Dataset::open(&self.dataset)?;
        // Beside the folder to make, which may be of another file system than where others are temporary; gone with `_some`.
        let mut _some = None;
        if let Some(limit) = self.limit.filter(|limit| (*limit as u64) < dataset.manifest().rows) {
            has_folder(&self.to)?;
            let parent = self.to.parent().filter(|parent| *parent != Path::new(""));
            let parent = parent.unwrap_or(Path::new("."));
            let folder = tempfile::Builder::new().prefix(".stampmill-export-").tempdir_in(parent);
            let folder =
                folder.with_context(|| format!("cannot make a folder in {}", parent.display()))?;
            dataset = dataset.first(limit, &folder.path().join("some"))?;
            _some = Some(folder);
        }
        report::share(&dataset, &self.to)?;
        let rows = dataset.manifest().rows;
        let said = format!("{}: {rows} rows, README.md and croissant.json", self.to.display());
        Ok((json!({ "rows": rows, "to": self.to }), said))
    }

    fn rows(&self, format: interchange::Format) -> anyhow::Result<(Value, String)> {
        let dataset = Dataset::open(&self.dataset)?;
        has_folder(&self.to)?;
        let stop = interrupt::quiet_flag()?;
        let limit = self.limit.map_or(u64::MAX, |limit| limit as u64);
        let rows = interchange::export_rows(&dataset, format, &self.to, limit, &stop)?;
        Ok(self.written(rows))
    }

    fn cldrive(&self) -> anyhow::Result<(Value, String)> {
        let dataset = Dataset::open(&self.dataset)?;
        has_folder(&self.to)?;
        let stop = interrupt::quiet_flag()?;
        let found = dataset.rows::<RunRow>()?;
        let rows = new_file(&self.to, |out| -> anyhow::Result<u64> {
            let failed = || format!("cannot write {}", self.to.display());
            let mut writer = CldriveWriter::new(out).with_context(failed)?;
            let mut rows = 0;
            for row in found.take(self.limit.unwrap_or(usize::MAX)) {
                anyhow::ensure!(!stop.load(Ordering::Relaxed), interchange::Error::Stopped);
                writer.write(&row?).with_context(failed)?;
                rows += 1;
            }
            Ok(rows)
        })?;
        Ok(self.written(rows))
    }

    fn written(&self, rows: u64) -> (Value, String) {
        (json!({ "rows": rows, "to": self.to }), format!("{}: {rows} rows", self.to.display()))
    }
}

/// What a data set's other rows are, as far as its makers counted.
fn others(programs: &Programs) -> String {
    let Programs::Dataset(dataset) = programs else { return String::new() };
    let verdicts = dataset.manifest().notes.verdicts.iter();
    let others = verdicts.filter(|(name, _)| *name != Verdict::ACCEPTED);
    let others: Vec<String> = others.map(|(name, count)| format!("{name} {count}")).collect();
    if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) }
}
