//! What is to be steered to: constraints, vectors and programs, as a person names them.

use crate::{Error, Judge, Named, Target};
use dataset::{Code, Programs};
use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

/// Constraints of all lines of a file together, at 32 bytes each: 119,000 targets of `instcount`.
const MOST_CONSTRAINTS: usize = 1 << 23;

/// Bytes of a line, or of a file with one vector, at most: no vector is longer.
const LONGEST: u64 = 16 << 20;

/// Points, and the programs that some of them are the vectors of.
#[derive(Debug, Default)]
pub struct Targets {
    pub(super) all: Vec<Target>,
    /// Programs of targets, of those that were not drawn too.
    pub(super) programs: Vec<String>,
    warnings: Vec<String>,
}

impl Targets {
    /// Those that `texts` name, each constraints (`Load=12,FMul=8`), a vector (`.json`), or a program,
    /// data set or folder of programs; and those of a file of JSON lines. Each has a name of its own.
    ///
    /// # Errors
    /// When one cannot be read, or describes no point of the space.
    pub fn read(texts: &[String], lines: Option<&Path>, judge: &Judge) -> Result<Targets, Error> {
        let mut targets = Targets::default();
        for text in texts {
            targets.add(text, judge)?;
        }
        if let Some(path) = lines {
            targets.add_lines(path, judge)?;
        }
        targets.name_apart();
        Ok(targets)
    }

    /// Number those of one name, but for the first: each has rows of its own.
    fn name_apart(&mut self) {
        let mut taken: HashSet<String> = HashSet::new();
        let mut times: HashMap<String, u32> = HashMap::new();
        for target in &mut self.all {
            if taken.insert(target.name.clone()) {
                continue;
            }
            let times = times.entry(target.name.clone()).or_insert(1);
            loop {
                *times += 1;
                let name = format!("{} ({times})", target.name);
                if taken.insert(name.clone()) {
                    target.name = name;
                    break;
                }
            }
        }
    }

    /// Only `count` of them, drawn by a random seed; the same whatever their order.
    #[must_use]
    pub fn sampled(mut self, count: usize, seed: u64) -> Targets {
        self.all.sort_by_cached_key(|target| {
            dataset::content_hash(format!("{seed} {}", target.name).as_bytes())
        });
        self.all.truncate(count);
        self
    }

    /// The targets.
    #[must_use]
    pub fn all(&self) -> &[Target] {
        &self.all
    }

    /// What a person should know of what was read.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn add(&mut self, text: &str, judge: &Judge) -> Result<(), Error> {
        let (path, space) = (Path::new(text), judge.space());
        if !path.exists() {
            if !text.contains('=') {
                return Err(Error::NoTarget(text.to_owned()));
            }
            self.all.push(named(Target::parse(text, space)?)?);
            return Ok(());
        }
        require_file(path)?;
        if path.extension().is_some_and(|extension| extension == "json") {
            let read = read(path)?;
            let value = json(&read).map_err(|reason| wrong(path, reason))?;
            self.all.push(named(Target::from_json(text, &value, space)?)?);
            return Ok(());
        }
        self.add_programs(path, judge)
    }

    /// The programs at `path`, each kernel a target where the space tells kernels apart.
    fn add_programs(&mut self, path: &Path, judge: &Judge) -> Result<(), Error> {
        let (mut names, mut texts) = (Vec::new(), Vec::new());
        for program in Programs::open(path)?.iter()? {
            let program = program?;
            let Code::Text(text) = program.code else { continue };
            names.push(match program.name.as_str() {
                "" => program.path,
                name => format!("{}:{name}", program.path),
            });
            texts.push(text);
        }
        let mut without = Vec::new();
        let mut failed = None;
        for ((name, text), kernels) in
            names.into_iter().zip(texts.iter()).zip(judge.kernels(&texts)?)
        {
            let target = |name: String, vector: &[f64]| Target {
                program: Some(text.clone()),
                ..Target::point(name, vector)
            };
            match kernels.as_slice() {
                [] => {
                    failed.get_or_insert(text);
                    without.push(name);
                }
                [(_, vector)] => self.all.push(target(name, vector)),
                several => {
                    let point =
                        |(kernel, vector): &Named| target(format!("{name}:{kernel}"), vector);
                    self.all.extend(several.iter().map(point));
                }
            }
            self.programs.push(text.clone());
        }
        match without.as_slice() {
            [] if texts.is_empty() => return Err(Error::NoProgram(path.to_owned())),
            [] => {}
            [first, ..] if without.len() == texts.len() => {
                let why = failed.and_then(|text| judge.first_error(text));
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                return Err(Error::NoVector { name: first.clone(), why });
            }
            [first, ..] => self.warnings.push(format!(
                "{}: {} of {} programs do not compile as features are taken (for nvptx64, -O1) and are no targets, the first is {first}",
                path.display(),
                without.len(),
                texts.len()
            )),
        }
        Ok(())
    }

    fn add_lines(&mut self, path: &Path, judge: &Judge) -> Result<(), Error> {
        if path.is_dir() {
            return Err(Error::FolderOfTargets(path.to_owned()));
        }
        require_file(path)?;
        let space = judge.space();
        let most = MOST_CONSTRAINTS / space.dimensions().len().max(1);
        let file = File::open(path).map_err(|error| wrong(path, error.to_string()))?;
        let mut lines = BufReader::new(file);
        let before = self.all.len();
        for number in 1_u64.. {
            let name = format!("line {number}");
            let said = |reason: String| wrong(path, format!("{name}: {reason}"));
            let mut line = String::new();
            let length = lines.by_ref().take(LONGEST + 1).read_line(&mut line);
            match length.map_err(|error| said(error.to_string()))? {
                0 => break,
                length if length as u64 > LONGEST => {
                    return Err(said(format!("longer than {} MiB", LONGEST >> 20)));
                }
                _ if line.trim().is_empty() => continue,
                _ => {}
            }
            if self.all.len() - before == most {
                let (path, space) = (path.to_owned(), space.name().to_owned());
                return Err(Error::ManyTargets { path, most, space });
            }
            let value = json(line.trim_end_matches(['\n', '\r'])).map_err(said)?;
            self.all.push(named(Target::from_json(&name, &value, space)?)?);
        }
        if self.all.len() == before {
            return Err(Error::NoLine(path.to_owned()));
        }
        Ok(())
    }
}

/// Refuse what may never end: a pipe or a device.
fn require_file(path: &Path) -> Result<(), Error> {
    if path.exists() && !path.is_file() && !path.is_dir() {
        return Err(Error::NoFile(path.to_owned()));
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Error> {
    let content = dataset::read_file(path, LONGEST);
    match content.map_err(|error| wrong(path, error.to_string()))? {
        None => Err(wrong(path, format!("more than {} MiB", LONGEST >> 20))),
        Some(content) => String::from_utf8(content).map_err(|error| wrong(path, error.to_string())),
    }
}

/// Refuse a target whose name would break the lines that it is said in.
fn named(target: Target) -> Result<Target, Error> {
    match target.name.chars().find(|c| c.is_control()) {
        None => Ok(target),
        Some(found) => Err(Error::Target {
            name: target.name.escape_debug().to_string(),
            reason: format!("{found:?} in its name: a name is one line of text"),
        }),
    }
}

fn json(text: &str) -> Result<serde_json::Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn wrong(path: &Path, reason: String) -> Error {
    Error::Read { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn judge(space: &str) -> Judge {
        Judge::new(features::joint(space).expect("registered"), 1)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// What comes of so many of the lines that `line` makes.
    fn lines(
        judge: &Judge,
        count: usize,
        line: impl Fn(usize) -> String,
    ) -> Result<Targets, Error> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let mut text = std::io::BufWriter::new(&mut file);
        for number in 0..count {
            writeln!(text, "{}", line(number)).expect("written");
        }
        text.flush().expect("written");
        drop(text);
        Targets::read(&[], Some(file.path()), judge)
    }

    #[test]
    fn so_many_targets_are_read_as_have_room() {
        let line =
            |number: usize| format!("{{\"target\": \"t{number}\", \"grewe\": {{\"comp\": 3}}}}");
        let targets = lines(&judge("grewe"), 100_000, line).expect("they are small");
        assert_eq!(targets.all().len(), 100_000);
        // Two spaces take more room.
        let line = |number: usize| {
            format!("{{\"target\": \"t{number}\", \"autophase\": {{\"TotalInsts\": 3}}}}")
        };
        let error = lines(&judge("instcount,autophase"), 100_000, line).expect_err("too many");
        let error = error.to_string();
        assert!(
            error.contains(
                "more than 66576 targets, the most that a run holds in instcount,autophase"
            ),
            "{error}"
        );
    }

    #[test]
    fn equal_names_are_told_apart() {
        let judge = judge("grewe");
        let names = ["a", "a", "a (2)", "a", "\"quoted\""];
        let line = |number: usize| {
            serde_json::json!({"target": names[number], "grewe": {"comp": 3}}).to_string()
        };
        let targets = lines(&judge, names.len(), line).expect("well-formed");
        let found: Vec<&str> = targets.all().iter().map(|target| target.name.as_str()).collect();
        assert_eq!(found, ["a", "a (2)", "a (2) (2)", "a (3)", "\"quoted\""]);
    }

    #[test]
    fn what_is_no_line_of_targets_is_named() {
        let judge = judge("instcount");
        for (line, part) in [
            (
                serde_json::json!({"target": "a\nb", "instcount": {"Load": 3}}),
                "'a\\nb': '\\n' in its name",
            ),
            (
                serde_json::json!({"target": "a\u{1b}[0m", "instcount": {"Load": 3}}),
                "one line of text",
            ),
            (
                serde_json::json!({"target": "t", "instcount": vec![1; 5_000]}),
                "5000 values, instcount has 70 dimensions",
            ),
        ] {
            let error = lines(&judge, 1, |_| line.to_string()).expect_err("wrong").to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = lines(&judge, 2, |number| ["{\"Load\": 3}", "{"][number].to_owned());
        let error = error.expect_err("no JSON").to_string();
        assert!(error.contains("line 2: "), "{error}");
        let error = Targets::read(&["Load=3,\nStore=1".to_owned()], None, &judge);
        assert!(error.expect_err("two lines").to_string().contains("one line of text"));
    }
}
