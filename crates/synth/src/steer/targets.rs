//! What is to be steered to: constraints, vectors and programs, as a person names them.

use crate::{Error, Judge, Named, Target};
use dataset::{Code, Programs};
use std::{collections::BTreeMap, path::Path};

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
        let mut seen = BTreeMap::new();
        for target in &mut targets.all {
            let times: &mut u32 = seen.entry(target.name.clone()).or_default();
            *times += 1;
            if *times > 1 {
                target.name = format!("{} ({times})", target.name);
            }
        }
        Ok(targets)
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
            self.all.push(Target::parse(text, space)?);
            return Ok(());
        }
        require_file(path)?;
        if path.extension().is_some_and(|extension| extension == "json") {
            let value = json(&read(path)?).map_err(|reason| wrong(path, reason))?;
            self.all.push(Target::from_json(text, &value, space)?);
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
        let text = read(path)?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let before = self.all.len();
        for (number, line) in lines {
            let name = format!("line {}", number + 1);
            let value = json(line).map_err(|reason| wrong(path, format!("{name}: {reason}")))?;
            self.all.push(Target::from_json(&name, &value, judge.space())?);
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
    std::fs::read_to_string(path).map_err(|error| wrong(path, error.to_string()))
}

fn json(text: &str) -> Result<serde_json::Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn wrong(path: &Path, reason: String) -> Error {
    Error::Read { path: path.to_owned(), reason }
}
