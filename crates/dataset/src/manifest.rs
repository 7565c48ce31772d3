use crate::{
    Error, Result, alias, content_hash, content_hash_of,
    lineage::{self, Lineage},
    read_file,
    stage::Shared,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fs::File, io::Write, path::Path};

/// No manifest is larger: it counts, and names inputs.
const LARGEST: u64 = 256 << 20;

/// Stands between the names of machines.
const HOSTS: &str = "; ";

/// One Parquet file of a data set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// File name inside the folder.
    pub file: String,
    /// Rows in it.
    pub rows: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its content hash.
    pub hash: String,
}

/// Something a data set was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// As the user named it.
    pub name: String,
    /// Identity of its content.
    pub hash: String,
}

/// What the maker of a data set knows about its making.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Notes {
    /// What it was made from.
    pub inputs: Vec<Input>,
    /// The settings that shape its content.
    pub configuration: serde_json::Value,
    /// The seed; 0 where nothing was drawn.
    pub seed: u64,
    /// Versions of the tools that shape its content.
    pub tools: BTreeMap<String, String>,
    /// Rows, or inputs that gave no row, per verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// The command's report, as `--json` prints it.
    pub summary: serde_json::Value,
    /// Files beside the Parquet files that belong to the data set too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Of one share of a job: what joins it with the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Shared>,
    /// The machines it was made on, where these are others than this one.
    #[serde(skip)]
    pub hosts: Vec<String>,
}

/// `_dataset.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the schema of its rows.
    pub schema: String,
    /// Version of that schema.
    pub version: u32,
    /// The stampmill that made it.
    #[serde(alias = "benchstone")]
    pub stampmill: String,
    /// Hash over all shards: equal identities hold equal rows in equal order.
    pub identity: String,
    /// Rows in all.
    pub rows: u64,
    /// The Parquet files, in order.
    pub shards: Vec<Shard>,
    /// How it was made.
    #[serde(flatten)]
    pub notes: Notes,
    /// The machine it was made on; no part of its identity.
    pub host: String,
    /// Which protections held for the foreign programs that were started, by the sandbox's profile.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sandbox: BTreeMap<String, String>,
    /// How the data sets among its inputs were made, those that these were made from, and so on, by identity.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lineage: Lineage,
    /// What somebody wrote by hand, where a manifest lacked something; no stage writes it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub annotation: String,
}

impl Manifest {
    /// The manifest's name in its folder.
    pub const FILE: &'static str = "_dataset.json";

    pub(crate) fn read(folder: &Path) -> Result<Manifest> {
        let path = folder.join(Manifest::FILE);
        let broken = |reason: String| Error::Manifest { path: path.clone(), reason };
        let text = match read_file(&path, LARGEST) {
            Ok(Some(text)) => text,
            Ok(None) => return Err(broken(format!("more than {} MiB", LARGEST >> 20))),
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                return Err(Error::NotADataset(folder.to_owned()));
            }
            Err(error) => return Err(Error::file("read", &path)(error)),
        };
        let mut manifest: Manifest =
            serde_json::from_slice(&text).map_err(|error| broken(error.to_string()))?;
        let verdicts = std::mem::take(&mut manifest.notes.verdicts).into_iter();
        manifest.notes.verdicts =
            verdicts.map(|(word, count)| (alias::ours(&word).into_owned(), count)).collect();
        lineage::remember(&manifest);
        Ok(manifest)
    }

    /// The manifest of these shards.
    pub(crate) fn of(schema: &str, version: u32, shards: Vec<Shard>, notes: Notes) -> Manifest {
        let host = if notes.hosts.is_empty() { host() } else { notes.hosts.join(HOSTS) };
        Manifest {
            schema: schema.to_owned(),
            version,
            stampmill: env!("CARGO_PKG_VERSION").to_owned(),
            identity: Manifest::identity_of(&shards),
            rows: shards.iter().map(|shard| shard.rows).sum(),
            shards,
            lineage: lineage::of(&notes.inputs),
            notes,
            host,
            sandbox: crate::protections::protections(),
            annotation: String::new(),
        }
    }

    /// The machines it was made on.
    pub fn hosts(&self) -> impl Iterator<Item = String> {
        self.host.split(HOSTS).map(str::to_owned)
    }

    pub(crate) fn identity_of(shards: &[Shard]) -> String {
        content_hash_of(shards.iter().map(|shard| shard.hash.as_bytes()))
    }

    /// Whether `_dataset.json` was edited since it was written, in words. Those of earlier versions have no checksum,
    /// and those that were annotated by hand lost theirs.
    pub(crate) fn edited(folder: &Path) -> Result<Option<String>> {
        let path = folder.join(Manifest::FILE);
        let text = read_file(&path, LARGEST).map_err(Error::file("read", &path))?;
        let text = String::from_utf8(text.unwrap_or_default()).unwrap_or_default();
        Ok((is_unedited(&text) == Some(false))
            .then(|| "it was edited: its checksum is another".to_owned()))
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(Manifest::FILE);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::Manifest { path: path.clone(), reason: error.to_string() })?;
        let text = with_checksum(&(text + "\n"));
        let written = File::create(&path).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.map_err(Error::file("write", &path))
    }
}

/// How the line with the manifest's own hash begins; it is the second.
const CHECKSUM: &str = "  \"checksum\": \"";

/// The text of a manifest with the hash of all its other lines put in.
fn with_checksum(text: &str) -> String {
    match text.split_once('\n') {
        Some((brace, rest)) => {
            let hash = content_hash(text.as_bytes());
            format!("{brace}\n{CHECKSUM}{hash}\",\n{rest}")
        }
        None => text.to_owned(),
    }
}

/// Whether a text is as [`with_checksum`] made it; `None` where it has no checksum.
fn is_unedited(text: &str) -> Option<bool> {
    let (brace, rest) = text.split_once('\n')?;
    let (line, rest) = rest.split_once('\n')?;
    let said = line.strip_prefix(CHECKSUM)?.strip_suffix("\",")?;
    Some(content_hash(format!("{brace}\n{rest}").as_bytes()) == said)
}

/// A short description of this machine for results: processor model and core count.
fn host() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, name)| name.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {cores} cores")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_that_was_edited_is_told_from_one_that_was_not() {
        let text = with_checksum("{\n  \"rows\": 1\n}\n");
        assert_eq!(is_unedited(&text), Some(true));
        assert!(
            serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|json| json["rows"] == 1)
        );
        assert_eq!(is_unedited(&text.replace('1', "2")), Some(false));
        assert_eq!(is_unedited("{\n  \"rows\": 1\n}\n"), None);
    }
}
