//! What is to be steered to: wishes, vectors and programs, as they are given on the command line.

use super::Steer;
use crate::Global;
use anyhow::{Context, bail};
use dataset::Programs;
use features::FeatureSpace;
use std::{collections::BTreeMap, path::Path};
use synth::{Judge, Named, Target};

/// Points, and the programs that some of them are the vectors of.
#[derive(Default)]
pub(super) struct Targets {
    pub(super) targets: Vec<Target>,
    pub(super) programs: Vec<String>,
}

impl Steer {
    /// The targets of this command, each under a name of its own.
    pub(super) fn targets(
        &self,
        space: &'static dyn FeatureSpace,
        judge: &Judge,
        global: &Global,
    ) -> anyhow::Result<Targets> {
        let mut all = Targets::default();
        for text in &self.target {
            all.wished(text, space, judge, global)?;
        }
        if let Some(path) = &self.targets {
            all.lines(path, space)?;
        }
        let targets = &mut all.targets;
        let mut seen = BTreeMap::new();
        for target in targets.iter_mut() {
            let times: &mut u32 = seen.entry(target.name.clone()).or_default();
            *times += 1;
            if *times > 1 {
                target.name = format!("{} ({times})", target.name);
            }
        }
        if let Some(count) = self.sample {
            // By a hash of seed and name: the same whatever the order of the file.
            targets.sort_by_cached_key(|target| {
                dataset::content_hash(format!("{} {}", self.seed, target.name).as_bytes())
            });
            targets.truncate(count);
        }
        if let Some((part, parts)) = self.shard {
            let mut index = 0;
            targets.retain(|_| {
                index += 1;
                (index - 1) % parts == part - 1
            });
        }
        if targets.is_empty() {
            bail!("--shard and --sample leave no target");
        }
        Ok(all)
    }
}

/// Refuse what may never end: a pipe or a device.
fn require_file(path: &Path) -> anyhow::Result<()> {
    if path.exists() && !path.is_file() && !path.is_dir() {
        bail!("{} is neither a file nor a folder: copy what it holds to a file", path.display());
    }
    Ok(())
}

impl Targets {
    /// Those that a person wrote as `text`.
    fn wished(
        &mut self,
        text: &str,
        space: &'static dyn FeatureSpace,
        judge: &Judge,
        global: &Global,
    ) -> anyhow::Result<()> {
        let path = Path::new(text);
        if !path.exists() {
            if !text.contains('=') {
                bail!("no file {text}, and no wish DIMENSION=VALUE either");
            }
            self.targets.push(Target::parse(text, space)?);
            return Ok(());
        }
        require_file(path)?;
        if path.extension().is_some_and(|extension| extension == "json") {
            let content = std::fs::read_to_string(path)?;
            let value =
                serde_json::from_str(&content).with_context(|| path.display().to_string())?;
            self.targets.push(Target::from_json(text, &value, space)?);
            return Ok(());
        }
        self.described(path, judge, global)
    }

    /// The programs at `path`, each kernel a target where the space tells kernels apart.
    fn described(&mut self, path: &Path, judge: &Judge, global: &Global) -> anyhow::Result<()> {
        let (mut names, mut texts) = (Vec::new(), Vec::new());
        for program in Programs::open(path)?.iter()? {
            let program = program?;
            let dataset::Code::Text(text) = program.code else { continue };
            names.push(match program.name.as_str() {
                "" => program.path,
                name => format!("{}:{name}", program.path),
            });
            texts.push(text);
        }
        let mut without = Vec::new();
        for ((name, text), kernels) in
            names.into_iter().zip(texts.iter()).zip(judge.kernels(&texts)?)
        {
            match kernels.as_slice() {
                [] => without.push(name),
                [(_, vector)] => self.targets.push(Target::point(name, vector)),
                several => {
                    let point = |(kernel, vector): &Named| {
                        Target::point(format!("{name}:{kernel}"), vector)
                    };
                    self.targets.extend(several.iter().map(point));
                }
            }
            self.programs.push(text.clone());
        }
        match without.as_slice() {
            [] if texts.is_empty() => bail!("no program in {}", path.display()),
            [] => {}
            [first, ..] if without.len() == texts.len() => {
                bail!("{first} does not compile: it has no vector to steer to")
            }
            [first, ..] if !global.quiet => eprintln!(
                "{}: {} of {} programs do not compile as features are taken (for nvptx64, -O1) and are no targets, the first is {first}",
                path.display(),
                without.len(),
                texts.len()
            ),
            _ => {}
        }
        Ok(())
    }

    /// Those of a file of lines.
    fn lines(&mut self, path: &Path, space: &'static dyn FeatureSpace) -> anyhow::Result<()> {
        if path.is_dir() {
            bail!("{} is a folder: --targets takes JSON lines, --target programs", path.display());
        }
        require_file(path)?;
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let before = self.targets.len();
        for (number, line) in lines {
            let name = format!("line {}", number + 1);
            let value = serde_json::from_str(line)
                .with_context(|| format!("{}, {name}", path.display()))?;
            self.targets.push(Target::from_json(&name, &value, space)?);
        }
        if self.targets.len() == before {
            bail!("no target in {}: a JSON object a line is expected", path.display());
        }
        Ok(())
    }
}
