//! The mined kernels of a run, less what would give an answer away.

use super::SteerOptions;
use crate::{Corpus, Error, Exclusion, Judge};
use dataset::{Dataset, Input, Programs};
use std::path::{Path, PathBuf};

/// Where mined kernels are, and what must not be among them.
#[derive(Clone, Debug, Default)]
pub struct Seeds {
    /// A data set, folder or file of programs; none to start from nothing.
    pub path: Option<PathBuf>,
    /// Programs that must not be among the seeds, nor anything near them.
    pub exclude: Vec<PathBuf>,
    /// The file that targets were read from: what lies in its folder is no seed.
    pub targets: Option<PathBuf>,
    /// A data set of `features` of the mined kernels: their vectors are taken from there.
    pub features: Option<PathBuf>,
    /// Where vectors are kept between runs.
    pub cache: Option<PathBuf>,
}

impl Seeds {
    /// The seeds for all targets; where none serves another its own answers are excluded when it is
    /// searched for.
    pub(super) fn open(&self, options: &SteerOptions, judge: &Judge) -> Result<Corpus, Error> {
        let Some(path) = &self.path else { return Ok(Corpus::default()) };
        let mut exclusion = Exclusion::default();
        if options.transfer {
            for target in options.targets.all() {
                exclusion.add_name(&target.name);
            }
            for program in &options.targets.programs {
                exclusion.add_target(program);
            }
        }
        for path in &self.exclude {
            exclusion.add_path(path)?;
        }
        if let Some(path) = &self.targets {
            exclusion.add_folder(path);
        }
        let corpus =
            Corpus::open(path, &exclusion, judge, self.features.as_deref(), self.cache.as_deref())?;
        if !corpus.is_empty() {
            return Ok(corpus);
        }
        let excluded = corpus.excluded();
        let why = match exclusion.folder_of(path) {
            Some(folder) => format!(
                "it lies where --exclude or --targets keeps all out, in {}: seeds belong elsewhere",
                folder.display()
            ),
            None if excluded == 0 => "it holds none that compiles".to_owned(),
            None => {
                "all are named like a target, or they or their families resemble what is excluded"
                    .to_owned()
            }
        };
        Err(Error::NoSeeds { path: path.clone(), excluded, why })
    }

    /// Identities of what they are made of.
    pub(super) fn inputs(&self) -> Result<Vec<Input>, Error> {
        let paths = self.path.iter().chain(&self.exclude).chain(&self.features);
        paths
            .map(|path| Ok(Input { name: path.display().to_string(), hash: content(path)? }))
            .collect()
    }
}

/// Identity of what lies at `path`: a data set by its own, a file by its bytes, a folder by its
/// programs.
fn content(path: &Path) -> Result<String, Error> {
    if Dataset::is_at(path) {
        return Ok(Dataset::open(path)?.manifest().identity.clone());
    }
    if path.is_file() {
        let hash = dataset::content_hash_of_file(path);
        let wrong = |error: std::io::Error| Error::Read {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        return Ok(hash.map_err(wrong)?.1);
    }
    Ok(Programs::open(path)?.identity()?)
}
