//! `stampmill show`: look at a data set.

use crate::{Global, command::run::holds, output};
use anyhow::{Context, bail};
use dataset::{Code, Dataset, Language, Program, Programs, Row as _};
use rows::{Module, module_kind::MODULE};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Lines of a module that are printed at most.
const SHOWN: usize = 60;

/// What holds for foreign programs in a whole sandbox.
const PROTECTIONS: [&str; 3] = ["namespaces", "Landlock", "seccomp"];

/// Show a data set: schema, inputs, verdicts, and some of its programs
#[derive(clap::Args, Debug)]
#[command(after_help = help!("show"))]
pub(crate) struct Show {
    /// A data set, or a folder or file of programs
    dataset: PathBuf,
    /// Print N programs after the summary
    #[arg(long, visible_alias = "n", alias = "limit", value_name = "N", default_value_t = 1)]
    programs: usize,
    /// Only programs whose path or name contains TEXT
    #[arg(long = "match", value_name = "TEXT")]
    pattern: Option<String>,
}

/// Names of columns that are words of SQL as well.
const SQL_WORDS: [&str; 4] = ["group", "interval", "order", "values"];

impl Show {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if self.dataset.exists() && !Dataset::is_at(&self.dataset) {
            return self.files(global);
        }
        let dataset = Dataset::open(&self.dataset)?;
        let manifest = dataset.manifest();
        if global.json {
            output::json(manifest)?;
            return Ok(ExitCode::SUCCESS);
        }
        let bytes: u64 = manifest.shards.iter().map(|shard| shard.bytes).sum();
        let inputs: Vec<&str> =
            manifest.notes.inputs.iter().map(|input| input.name.as_str()).collect();
        let tools: Vec<String> =
            manifest.notes.tools.iter().map(|(name, v)| format!("{name}: {v}")).collect();
        let row = |name: &str, value: String| vec![name.to_owned(), value];
        let mut rows = vec![
            row("schema", format!("{} (version {})", manifest.schema, manifest.version)),
            row("rows", output::count(manifest.rows)),
            row("size", format!("{} KiB", output::count(bytes / 1024))),
            row("made by", format!("stampmill {}", manifest.stampmill)),
            row("identity", manifest.identity.clone()),
            row("inputs", inputs.join(", ")),
        ];
        if let Some(shared) = &manifest.notes.share {
            let share = &shared.share;
            rows.push(row(
                "part",
                format!("{share} of one job: `stampmill merge` joins the parts"),
            ));
        }
        if !tools.is_empty() {
            rows.push(row("tools", tools.join("\n")));
        }
        let is_weak = |held: &str| !PROTECTIONS.iter().all(|name| held.contains(name));
        let weak = manifest.sandbox.iter().filter(|(_, held)| is_weak(held));
        let weak: Vec<String> =
            weak.map(|(profile, held)| format!("weak: {profile} had {held}")).collect();
        if !weak.is_empty() {
            rows.push(row("sandbox", weak.join("\n")));
        }
        output::print_table(&["data set", ""], rows)?;
        let mut verdicts: Vec<_> = manifest.notes.verdicts.iter().collect();
        verdicts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        if !verdicts.is_empty() {
            let total = verdicts.iter().map(|(_, count)| **count).sum();
            // As the column is called.
            let name = if manifest.schema == <device::RunRow as dataset::Row>::SCHEMA {
                "outcome"
            } else {
                "verdict"
            };
            output::print_shares([name, "count", "share"], verdicts, total)?;
        }
        match manifest.schema == Module::SCHEMA {
            true => self.print_modules(&dataset, global),
            false => self.print_programs(&dataset),
        }
    }

    /// Modules as textual IR, of long ones the beginning.
    fn print_modules(&self, dataset: &Dataset, global: &Global) -> anyhow::Result<ExitCode> {
        let reader = super::ir::reader(global)?;
        let wanted = |module: &Module| {
            let pattern = self.pattern.as_deref().unwrap_or_default();
            module.kind == MODULE && module.is_accepted() && module.path.contains(pattern)
        };
        let modules = dataset.rows::<Module>()?.filter(|row| row.as_ref().map_or(true, wanted));
        let mut any = false;
        for (at, module) in modules.enumerate() {
            any = true;
            if at == self.programs {
                output::line(
                    "\n--programs N prints more of them; `stampmill ir export` writes all",
                )?;
                break;
            }
            let Module { path, content, functions, instructions, .. } = module?;
            let (functions, instructions) = (output::count(functions), output::count(instructions));
            output::line(&format!(
                "\n; {path}: {functions} functions, {instructions} instructions"
            ))?;
            match reader.text(&path, &content)? {
                Ok(text) => output::line(&beginning(&text))?,
                Err(verdict) => output::line(&format!("; {}: {}", verdict.name, verdict.detail))?,
            }
        }
        if let (false, Some(pattern)) = (any, &self.pattern) {
            bail!("no module's path contains `{pattern}`");
        }
        Ok(ExitCode::SUCCESS)
    }

    /// A plain folder or file of programs.
    fn files(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let programs = Programs::open(&self.dataset)?;
        let mut languages: BTreeMap<&str, u64> = BTreeMap::new();
        // A file's name says its language: nothing is read to count them.
        if let Programs::Files(_, files) = &programs {
            for language in files.iter().filter_map(|file| Language::of(Path::new(&file.path))) {
                *languages.entry(language.name()).or_default() += 1;
            }
        }
        if global.json {
            let report = serde_json::json!({ "programs": programs.len(), "languages": languages });
            output::json(&report)?;
            return Ok(ExitCode::SUCCESS);
        }
        let rows = languages.iter().map(|(name, n)| vec![(*name).to_owned(), output::count(*n)]);
        output::print_table(&["language", "programs"], rows)?;
        self.print(&programs)
    }

    fn print_programs(&self, dataset: &Dataset) -> anyhow::Result<ExitCode> {
        let first = dataset.batches(None)?.next().transpose()?;
        let Some(first) = first else { return Ok(ExitCode::SUCCESS) };
        if first.column_by_name("text").is_none() {
            let schema = first.schema();
            let columns: Vec<_> =
                schema.fields().iter().map(|field| field.name().as_str()).collect();
            output::line(&format!("columns: {}", columns.join(", ")))?;
            // Of some rows one column is megabytes.
            let short = schema.fields().iter().filter(|field| {
                let kind = field.data_type();
                kind.is_primitive() || kind.to_string() == "Utf8"
            });
            let quoted = |name: &String| match SQL_WORDS.contains(&name.as_str()) {
                true => format!("\\\"{name}\\\""),
                false => name.clone(),
            };
            let short: Vec<_> = short.map(|field| quoted(field.name())).take(8).collect();
            let wanted = match &self.pattern {
                Some(pattern) if schema.index_of("path").is_ok() => {
                    format!("WHERE path LIKE '%{pattern}%' ")
                }
                _ => String::new(),
            };
            return output::line(&format!(
                "its rows are not programs: stampmill query \"SELECT {} FROM d {wanted}LIMIT 5\" d={}",
                short.join(", "),
                dataset.folder().display()
            ))
            .map(|()| ExitCode::SUCCESS);
        }
        self.print(&Programs::open(dataset.folder())?)
    }

    fn print(&self, programs: &Programs) -> anyhow::Result<ExitCode> {
        if self.programs == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let mut shown = 0;
        for program in programs.iter()? {
            let program = program.context("cannot read the programs")?;
            let Program { path, name, code, .. } = &program;
            let known = program.known_as();
            let matches = |pattern: &String| {
                [path, name, known].iter().any(|of| of.contains(pattern.as_str()))
            };
            if let Code::Text(text) = code
                && self.pattern.as_ref().is_none_or(matches)
            {
                let renamed = if known == name { String::new() } else { format!(" (here {name})") };
                if shown == self.programs {
                    output::line("\n--programs N prints more of them")?;
                    return Ok(ExitCode::SUCCESS);
                }
                let inferred: String = program.inferred.iter().map(|one| repair(one)).collect();
                let text = text.trim_end();
                output::line(&format!("\n// {path} {known}{renamed}{inferred}\n{text}"))?;
                shown += 1;
            }
        }
        if let (0, Some(pattern), Programs::Files(..)) = (shown, &self.pattern, programs) {
            bail!("no program's path contains `{pattern}`");
        }
        if let (0, Some(pattern)) = (shown, &self.pattern) {
            let by_name = match holds(&self.dataset, rows::KernelRow::SCHEMA) {
                true => format!(" OR original_name LIKE '%{pattern}%'"),
                false => String::new(),
            };
            bail!(
                "no accepted program's path or name contains `{pattern}`; for rejected rows, and why: \
stampmill query \"SELECT path, verdict, detail FROM d WHERE path LIKE '%{pattern}%'{by_name}\" d={}",
                self.dataset.display()
            );
        }
        if shown == 0 {
            output::line("it has no accepted program to print")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A comment of what was assumed so that a program compiles. An assumed argument of a template (`T=float`) is the
/// kernel's own; everything else was done to its file, for whichever kernels of it.
fn repair(inferred: &str) -> String {
    let is_letter = |one: char| one.is_alphanumeric() || one == '_';
    let argument = inferred.split_once('=').map(|(name, _)| name);
    let is_argument = argument.is_some_and(|name| !name.is_empty() && name.chars().all(is_letter));
    let whose = if is_argument { "repaired by" } else { "its file was repaired by" };
    format!("\n// {whose}: {}", inferred.replace('\n', " "))
}

/// The first lines of a long text, and how many there are.
fn beginning(text: &str) -> String {
    let lines = text.trim_end().lines();
    let (count, first) = (lines.clone().count(), lines.take(SHOWN).collect::<Vec<_>>().join("\n"));
    let more = if count > SHOWN {
        format!("\n; … of {} lines", output::count(count as u64))
    } else {
        String::new()
    };
    first + &more
}

#[cfg(test)]
mod tests {
    use super::repair;

    #[test]
    fn repairs_of_a_file_are_told_from_those_of_a_kernel() {
        for own in ["T=float", "N_2=4"] {
            assert_eq!(repair(own), format!("\n// repaired by: {own}"));
        }
        for of_file in ["-DN=4", "int a = 1;", "typedef float real;", "without a = b", "=1"] {
            assert_eq!(repair(of_file), format!("\n// its file was repaired by: {of_file}"));
        }
        assert_eq!(repair("int a;\nint b;"), "\n// its file was repaired by: int a; int b;");
    }
}
