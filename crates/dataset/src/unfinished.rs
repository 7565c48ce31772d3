//! The folder `NAME.partial` in which a data set comes to be: only what we made in it is removed.

use crate::{
    Dataset, Error, Input, Manifest, Result, Url, content_hash, described, lock::Lock,
    object_store, place, protections::weaken, staging::partial_folder,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// By this file a folder is known for ours.
pub(crate) const MARKER: &str = ".stampmill-partial";
const FORMAT: u32 = 1;
const LOCK: &str = "lock";
/// Which protections held while the parts were made, by whichever runs.
const PROTECTIONS: &str = "protections";
/// The tools that its parts were made with, once all are there: who puts it into an object store at a second try may
/// need none of them.
const TOOLS: &str = "tools";
/// The data set while its shards are written.
const WHOLE: &str = "whole";
/// The one that it replaces, on its way out.
const REPLACED: &str = "replaced";

/// What an unfinished data set is going to be; in its marker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    format: u32,
    pub(crate) schema: String,
    pub(crate) version: u32,
    /// Hash of the settings that shape its content.
    pub(crate) settings: String,
    /// The same, to be shown.
    #[serde(default)]
    asked: Value,
    /// What it is made of, where a change of that is to be told from one of the settings.
    pub(crate) inputs: Vec<Input>,
}

impl Plan {
    pub(crate) fn new(schema: &str, version: u32, asked: Value, inputs: &[Input]) -> Plan {
        let settings = content_hash(asked.to_string().as_bytes());
        let (schema, inputs) = (schema.to_owned(), inputs.to_vec());
        Plan { format: FORMAT, schema, version, settings, asked, inputs }
    }

    fn is_same(&self, other: &Plan) -> bool {
        self.format == other.format && self.is_alike(other) && self.inputs == other.inputs
    }

    fn is_alike(&self, other: &Plan) -> bool {
        (&self.schema, self.version, &self.settings)
            == (&other.schema, other.version, &other.settings)
    }
}

/// The folder, locked.
#[derive(Debug)]
pub(crate) struct Unfinished {
    out: PathBuf,
    /// The same where it is in an object store.
    url: Option<Url>,
    folder: PathBuf,
    replace: bool,
    /// What is in [`PROTECTIONS`].
    held: Mutex<BTreeMap<String, String>>,
    _lock: Lock,
}

impl Unfinished {
    /// Begin a data set at `out`, or go on with one begun by an equal plan; `force` starts over, and
    /// replaces a data set.
    pub(crate) fn begin(out: &Path, force: bool, plan: &Plan) -> Result<Unfinished> {
        let url = Url::of(out)?;
        let folder = match &url {
            None => partial_folder(out)?,
            Some(url) if url.key().is_empty() => return Err(Error::NoName(out.to_owned())),
            Some(url) => partial_folder(&object_store()?.workshop(url))?,
        };
        if !folder.join(REPLACED).is_dir() {
            claim(out, url.as_ref(), force)?;
        }
        match fs::symlink_metadata(&folder) {
            Ok(_) => require_ours(&folder)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
            }
            Err(error) => return Err(Error::file("read", &folder)(error)),
        }
        let lock_path = folder.join(LOCK);
        let lock = match Lock::take(&lock_path) {
            Ok(lock) => lock.ok_or_else(|| Error::Busy(out.to_owned()))?,
            // Who held it has finished, and taken the folder away: there is another thing to find.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Unfinished::begin(out, force, plan);
            }
            Err(error) => return Err(Error::file("lock", &lock_path)(error)),
        };
        let (out, held) = (out.to_owned(), Mutex::default());
        let mut unfinished = Unfinished { out, url, folder, replace: force, held, _lock: lock };
        unfinished.recover()?;
        claim(&unfinished.out, unfinished.url.as_ref(), force)?;
        unfinished.require_no_strangers()?;
        match unfinished.plan()? {
            Some(found) if found.is_same(plan) => {}
            Some(found) if !force && !found.is_alike(plan) => {
                let mut changes = Vec::new();
                differences(&found.asked, &plan.asked, "", &mut changes);
                let changes = shortened(changes, "; ");
                return Err(Error::OtherSettings { folder: unfinished.folder, changes });
            }
            Some(found) if !force => {
                let changes = changes(&found.inputs, &plan.inputs);
                return Err(Error::OtherInputs { folder: unfinished.folder, changes });
            }
            _ => {
                unfinished.remove_parts()?;
                unfinished.mark(plan)?;
            }
        }
        unfinished.held = Mutex::new(unfinished.noted(PROTECTIONS)?);
        Ok(unfinished)
    }

    /// Note which protections hold for what comes into a part, before the part is there: whoever finishes
    /// the data set says the weakest of all runs.
    pub(crate) fn remember(&self, held: &BTreeMap<String, String>) -> Result<()> {
        let mut known = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut weakest = known.clone();
        weaken(&mut weakest, held);
        if weakest != *known {
            self.write(PROTECTIONS, &weakest)?;
            *known = weakest;
        }
        Ok(())
    }

    /// What stands in a note; nothing where there is none.
    fn noted(&self, name: &str) -> Result<BTreeMap<String, String>> {
        let path = self.folder.join(name);
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| Error::Manifest { path, reason: error.to_string() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(Error::file("read", &path)(error)),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// An empty folder for the whole data set; what a former try left, of it and of one replaced, is
    /// removed.
    pub(crate) fn whole(&self) -> Result<PathBuf> {
        self.remove_sets()?;
        let whole = self.folder.join(WHOLE);
        fs::create_dir(&whole).map_err(Error::file("create", &whole))?;
        Ok(whole)
    }

    /// Move the whole data set into its place, and remove what it replaced and the parts.
    pub(crate) fn finish(self, manifest: &Manifest) -> Result<Dataset> {
        self.finish_by(manifest, place::put)
    }

    fn finish_by(self, manifest: &Manifest, put: Put) -> Result<Dataset> {
        let whole = self.folder.join(WHOLE);
        let mut manifest = manifest.clone();
        weaken(&mut manifest.sandbox, &self.held.lock().unwrap_or_else(PoisonError::into_inner));
        for (name, version) in self.noted(TOOLS)? {
            manifest.notes.tools.entry(name).or_insert(version);
        }
        let files = described::describe(&self.out, &whole, &mut manifest)?;
        manifest.write(&whole)?;
        // Behind the manifest, which says that they are ours.
        described::write(&whole, &files)?;
        match &self.url {
            None => {
                place::claim(&self.out, self.replace)?;
                put(&whole, &self.out, &self.folder.join(REPLACED))?;
            }
            Some(url) => {
                self.write(TOOLS, &manifest.notes.tools)?;
                if !object_store()?.put(&whole, url, self.replace)? {
                    return Err(Error::Overtaken { out: self.out, kept: self.folder });
                }
                for (name, _) in &files {
                    object_store()?.put_file(&whole.join(name), &url.join(name))?;
                }
            }
        }
        self.remove_sets()?;
        self.leave()?;
        Dataset::open(&self.out)
    }

    /// A kill between the two moves of a replacement left the old data set in here alone: it goes
    /// back.
    fn recover(&self) -> Result<()> {
        let replaced = self.folder.join(REPLACED);
        if self.url.is_none() && replaced.is_dir() && fs::symlink_metadata(&self.out).is_err() {
            fs::rename(&replaced, &self.out).map_err(Error::file("write", &self.out))?;
        }
        Ok(())
    }

    fn plan(&self) -> Result<Option<Plan>> {
        let path = self.folder.join(MARKER);
        match fs::read(&path) {
            // One of another format is begun anew: only `force` does that.
            Ok(text) => Ok(Some(
                serde_json::from_slice(&text)
                    .unwrap_or_else(|_| Plan::new("", 0, Value::Null, &[])),
            )),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file("read", &path)(error)),
        }
    }

    fn mark(&self, plan: &Plan) -> Result<()> {
        self.write(MARKER, plan)
    }

    /// Write a file that is whole or not there.
    fn write(&self, name: &str, content: &impl Serialize) -> Result<()> {
        let path = self.folder.join(name);
        let temporary = self.folder.join(temporary(name));
        let text = serde_json::to_vec(content)
            .map_err(|error| Error::Manifest { path: path.clone(), reason: error.to_string() })?;
        let written = File::create(&temporary).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()
        });
        written
            .and_then(|()| fs::rename(&temporary, &path))
            .map_err(Error::file("write", &temporary))
    }

    fn remove_parts(&self) -> Result<()> {
        for name in place::names(&self.folder)? {
            let stays = [MARKER, LOCK].iter().any(|kept| name == Path::new(kept));
            if is_part(&name) || is_note(&name) && !stays {
                place::remove_file(&self.folder.join(name))?;
            }
        }
        Ok(())
    }

    /// What lies here that we did not make.
    fn strangers(&self) -> Result<Vec<PathBuf>> {
        let mut strangers = Vec::new();
        for name in place::names(&self.folder)? {
            let path = self.folder.join(&name);
            let found = fs::symlink_metadata(&path).map_err(Error::file("read", &path))?;
            let is_set = [WHOLE, REPLACED].iter().any(|set| name == Path::new(set));
            if is_set && found.is_dir() {
                let inside = place::all_foreign(&path)?;
                strangers.extend(inside.into_iter().map(|file| name.join(file)));
                continue;
            }
            if !(found.is_file() && (is_note(&name) || is_part(&name))) {
                strangers.push(name);
            }
        }
        Ok(strangers)
    }

    /// Whether it holds no part, and nothing else that is not a note of ours.
    pub(crate) fn is_empty(&self) -> bool {
        place::names(&self.folder).is_ok_and(|names| names.iter().all(|name| is_note(name)))
    }

    /// Remove the folder where it is empty.
    pub(crate) fn discard_if_empty(self) {
        if self.is_empty() {
            // What stays is found by the next run, and in the way of other settings alone.
            let _ = self.leave();
        }
    }

    /// Leave nothing behind of a data set that cannot be made.
    pub(crate) fn abandon(self) {
        // What stays is found by the next run, which begins anew.
        let _ = self.remove_sets().and_then(|()| self.leave());
    }

    /// Remove the parts, and the folder where nothing of somebody else's is in it.
    fn leave(&self) -> Result<()> {
        self.remove_parts()?;
        // The marker goes last but for the lock: without it the folder would be nobody's.
        if self.strangers()?.is_empty() {
            place::remove_file(&self.folder.join(MARKER))?;
            place::remove_file(&self.folder.join(LOCK))?;
            place::remove_empty(&self.folder)?;
        }
        Ok(())
    }

    fn require_no_strangers(&self) -> Result<()> {
        match self.strangers()?.into_iter().next() {
            None => Ok(()),
            Some(file) => Err(Error::ForeignFile { folder: self.folder.clone(), file }),
        }
    }

    fn remove_sets(&self) -> Result<()> {
        for set in [WHOLE, REPLACED].map(|set| self.folder.join(set)) {
            if set.is_dir() {
                place::remove(&set)?;
            }
        }
        Ok(())
    }
}

/// Whether a data set may be made there: see [`place::claim`].
pub(crate) fn claim(out: &Path, url: Option<&Url>, force: bool) -> Result<()> {
    match url {
        None => match crate::store::other_scheme(out) {
            Some(scheme) => Err(Error::OtherUrl(scheme.to_owned())),
            None => place::claim(out, force),
        },
        Some(url) if !force && object_store()?.has(url)? => Err(Error::Exists(out.to_owned())),
        Some(_) => Ok(()),
    }
}

/// Puts a folder in the place of another by way of a third; says where the old one is then.
type Put = fn(&Path, &Path, &Path) -> Result<Option<PathBuf>>;

/// Where a part is while it is written.
pub(crate) fn temporary(name: &str) -> String {
    format!("{name}.new")
}

/// Whether we give this name to files beside the parts.
fn is_note(name: &Path) -> bool {
    let whole = [MARKER, LOCK, PROTECTIONS, TOOLS];
    let new = [MARKER, PROTECTIONS, TOOLS].map(temporary);
    whole.into_iter().chain(new.iter().map(String::as_str)).any(|note| name == Path::new(note))
}

/// Whether we give this name to parts: a hash with an extension.
fn is_part(name: &Path) -> bool {
    let name = name.to_str().unwrap_or_default();
    let hash = name.strip_suffix(".part").or_else(|| name.strip_suffix(".new"));
    hash.is_some_and(|hash| hash.len() == 32 && hash.bytes().all(|c| c.is_ascii_hexdigit()))
}

/// Refuse a folder that we did not make. An empty one is nobody's, and so is one with nothing but
/// an empty lock: a kill before the marker was written leaves that.
pub(crate) fn require_ours(folder: &Path) -> Result<()> {
    let found = fs::symlink_metadata(folder).map_err(Error::file("read", folder))?;
    let foreign = || Err(Error::ForeignPartial(folder.to_owned()));
    if !found.is_dir() {
        return foreign();
    }
    if fs::symlink_metadata(folder.join(MARKER)).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    let names = place::names(folder)?;
    let nothing = names.iter().all(|name| {
        let found = fs::symlink_metadata(folder.join(name));
        let known = name == Path::new(LOCK) || name == Path::new(&temporary(MARKER));
        let empty = |found: &fs::Metadata| found.len() == 0 || name != Path::new(LOCK);
        known && found.is_ok_and(|found| found.is_file() && empty(&found))
    });
    if nothing { Ok(()) } else { foreign() }
}

/// Which inputs are not what they were, in words: three of them at most.
fn changes(before: &[Input], now: &[Input]) -> String {
    let by_name = |list: &[Input]| -> BTreeMap<String, String> {
        list.iter().map(|input| (input.name.clone(), input.hash.clone())).collect()
    };
    let (before, now) = (by_name(before), by_name(now));
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    let mut said: Vec<String> = gone.map(|name| format!("{name} is gone")).collect();
    for (name, hash) in &now {
        match before.get(name) {
            None => said.push(format!("{name} is new")),
            Some(known) if known != hash => said.push(format!("{name} has changed")),
            Some(_) => {}
        }
    }
    shortened(said, ", ")
}

/// The first three, and how many more there are.
fn shortened(mut said: Vec<String>, between: &str) -> String {
    let more = said.len().saturating_sub(3);
    said.truncate(3);
    if more > 0 {
        said.push(format!("{more} more"));
    }
    said.join(between)
}

/// Which settings are not what they were, by the names under which they stand, in words.
fn differences(before: &Value, now: &Value, name: &str, said: &mut Vec<String>) {
    let mut differ = |before: &Value, now: &Value| {
        if before != now {
            let name = if name.is_empty() { "all of it" } else { name };
            said.push(format!(
                "{}: was {}, now {}",
                name.replace('_', "-"),
                words(before),
                words(now)
            ));
        }
    };
    match (before, now) {
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (place, (before, now)) in one.iter().zip(other).enumerate() {
                differences(before, now, &format!("{name}[{place}]"), said);
            }
        }
        // Names of what was asked for, spaces say, each with what it is: which of them is what was asked.
        (Value::Object(one), Value::Object(other))
            if !["", "settings"].contains(&name) && !one.keys().eq(other.keys()) =>
        {
            differ(before, now);
        }
        (Value::Object(one), Value::Object(other)) => {
            for key in one.keys().chain(other.keys().filter(|key| !one.contains_key(*key))) {
                let null = &Value::Null;
                let values = (one.get(key).unwrap_or(null), other.get(key).unwrap_or(null));
                // An object of a list says which.
                let of = if name.ends_with(']') { format!("{name}.{key}") } else { key.clone() };
                differences(values.0, values.1, &of, said);
            }
        }
        _ => differ(before, now),
    }
}

/// A setting as people write it: of what is long the beginning.
fn words(value: &Value) -> String {
    let list = |all: Vec<String>| match all.len() {
        0 => "none".to_owned(),
        1..=4 => all.join(" + "),
        more => format!("{} + {} more", all[..3].join(" + "), more - 3),
    };
    match value {
        Value::Null => "not given".to_owned(),
        Value::Bool(true) => "on".to_owned(),
        Value::Bool(false) => "off".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) => text.chars().take(60).collect(),
        Value::Array(all) => list(all.iter().map(words).collect()),
        Value::Object(all) => list(all.keys().cloned().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Notes;

    fn plan() -> Plan {
        Plan::new("sample", 1, "settings".into(), &[])
    }

    fn manifest() -> Manifest {
        Manifest::of("sample", 1, Vec::new(), Notes::default())
    }

    fn aside(whole: &Path, out: &Path, aside: &Path) -> Result<Option<PathBuf>> {
        match out.exists() {
            true => place::replace(whole, out, aside).map(Some),
            false => place::put(whole, out, aside),
        }
    }

    fn finish(out: &Path, force: bool, put: Put) -> Result<Dataset> {
        let unfinished = Unfinished::begin(out, force, &plan())?;
        unfinished.whole()?;
        unfinished.finish_by(&manifest(), put)
    }

    #[test]
    fn both_ways_of_replacing_leave_the_new_set_alone() {
        for put in [place::put as Put, aside] {
            let home = tempfile::tempdir().unwrap();
            let out = home.path().join("set");
            finish(&out, false, put).unwrap();
            fs::write(out.join("part-00000.parquet"), "old").unwrap();
            finish(&out, true, put).unwrap();
            assert_eq!(place::names(&out).unwrap(), [Path::new("_dataset.json")]);
            assert_eq!(place::names(home.path()).unwrap(), [Path::new("set")]);
        }
    }

    #[test]
    fn a_run_that_did_nothing_leaves_nothing_whatever_it_noted() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("set");
        let begin = || Unfinished::begin(&out, false, &plan()).unwrap();
        let held = BTreeMap::from([("native".to_owned(), "namespaces".to_owned())]);
        let with_part = begin();
        with_part.remember(&held).unwrap();
        let part = with_part.folder().join(format!("{:032x}.part", 7));
        fs::write(&part, "rows").unwrap();
        with_part.discard_if_empty();
        assert!(part.is_file());
        fs::remove_file(&part).unwrap();
        begin().discard_if_empty();
        assert!(place::names(home.path()).unwrap().is_empty());
    }

    #[test]
    fn a_kill_between_the_two_moves_loses_neither_set() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("set");
        finish(&out, false, place::put).unwrap();
        fs::write(out.join("part-00000.parquet"), "old").unwrap();
        let unfinished = Unfinished::begin(&out, true, &plan()).unwrap();
        manifest().write(&unfinished.whole().unwrap()).unwrap();
        // What the kill leaves: the old one aside, the new one not in its place.
        fs::rename(&out, unfinished.folder().join(REPLACED)).unwrap();
        drop(unfinished);
        let again = Unfinished::begin(&out, false, &plan());
        assert!(matches!(again, Err(Error::Exists(_))), "it stands where it stood: {again:?}");
        assert_eq!(fs::read_to_string(out.join("part-00000.parquet")).unwrap(), "old");
        finish(&out, true, aside).unwrap();
        assert_eq!(place::names(&out).unwrap(), [Path::new("_dataset.json")]);
        assert_eq!(place::names(home.path()).unwrap(), [Path::new("set")]);
    }

    #[test]
    fn a_kill_after_both_moves_leaves_nothing_in_the_way() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("set");
        finish(&out, false, place::put).unwrap();
        let unfinished = Unfinished::begin(&out, true, &plan()).unwrap();
        manifest().write(&unfinished.whole().unwrap()).unwrap();
        let replaced = unfinished.folder().join(REPLACED);
        aside(&unfinished.folder().join(WHOLE), &out, &replaced).unwrap();
        assert!(Dataset::is_at(&replaced) && Dataset::is_at(&out));
        drop(unfinished);
        finish(&out, true, aside).unwrap();
        assert_eq!(place::names(home.path()).unwrap(), [Path::new("set")]);
    }

    #[test]
    fn a_kill_before_the_marker_is_no_obstacle() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("set");
        fs::create_dir(home.path().join("set.partial")).unwrap();
        finish(&out, false, place::put).unwrap();
        fs::create_dir(home.path().join("set.partial")).unwrap();
        fs::write(home.path().join("set.partial/lock"), "").unwrap();
        fs::write(home.path().join("set.partial").join(temporary(MARKER)), "{").unwrap();
        finish(&out, true, place::put).unwrap();
        assert_eq!(place::names(home.path()).unwrap(), [Path::new("set")]);
    }

    #[test]
    fn what_is_not_ours_is_never_removed() {
        let home = tempfile::tempdir().unwrap();
        let (out, partial) = (home.path().join("set"), home.path().join("set.partial"));
        fs::create_dir(&partial).unwrap();
        fs::write(partial.join("thesis.txt"), "years").unwrap();
        for force in [false, true] {
            let refused = finish(&out, force, place::put);
            assert!(matches!(refused, Err(Error::ForeignPartial(_))), "{refused:?}");
        }
        assert_eq!(place::names(&partial).unwrap(), [Path::new("thesis.txt")]);
        // A lock that says something, or a link, is no lock of ours.
        fs::rename(partial.join("thesis.txt"), partial.join("lock")).unwrap();
        assert!(matches!(finish(&out, true, place::put), Err(Error::ForeignPartial(_))));
        fs::remove_dir_all(&partial).unwrap();
        std::os::unix::fs::symlink(home.path(), &partial).unwrap();
        assert!(matches!(finish(&out, true, place::put), Err(Error::ForeignPartial(_))));
        fs::remove_file(&partial).unwrap();

        // A stranger in a folder of ours ends the run before anything is touched.
        drop(Unfinished::begin(&out, false, &plan()).unwrap());
        fs::write(partial.join("notes"), "mine").unwrap();
        let refused = finish(&out, true, place::put);
        assert!(
            matches!(&refused, Err(Error::ForeignFile { file, .. }) if file == Path::new("notes")),
            "{refused:?}"
        );
        fs::remove_file(partial.join("notes")).unwrap();

        // One that comes while it runs stays, and so does the folder around it.
        let unfinished = Unfinished::begin(&out, false, &plan()).unwrap();
        unfinished.whole().unwrap();
        fs::write(partial.join("notes"), "mine").unwrap();
        unfinished.finish(&manifest()).unwrap();
        assert!(partial.join("notes").is_file() && Dataset::is_at(&out));
        fs::remove_file(partial.join("notes")).unwrap();

        // And one inside a data set that would be replaced.
        fs::write(out.join("thesis.txt"), "years").unwrap();
        let refused = finish(&out, true, place::put);
        assert!(
            matches!(&refused, Err(Error::ForeignFile { file, .. }) if file == Path::new("thesis.txt")),
            "{refused:?}"
        );
        assert!(out.join("thesis.txt").is_file());
    }

    #[test]
    fn a_data_set_of_several_runs_names_the_weakest_protections() {
        let held = |text: &str| BTreeMap::from([("native".to_owned(), text.to_owned())]);
        let (weak, strong) = (held("namespaces, seccomp"), held("namespaces, Landlock 7, seccomp"));
        for runs in [[&weak, &strong], [&strong, &weak]] {
            let home = tempfile::tempdir().unwrap();
            let out = home.path().join("set");
            for run in runs {
                Unfinished::begin(&out, false, &plan()).unwrap().remember(run).unwrap();
            }
            let unfinished = Unfinished::begin(&out, false, &plan()).unwrap();
            unfinished.whole().unwrap();
            // The last one started nothing itself.
            let dataset = unfinished.finish(&manifest()).unwrap();
            assert_eq!(dataset.manifest().sandbox, weak);
            assert_eq!(place::names(home.path()).unwrap(), [Path::new("set")]);
            // What is begun anew has nothing to do with it.
            Unfinished::begin(&out, true, &plan()).unwrap().remember(&weak).unwrap();
            let other = Plan::new("sample", 1, "others".into(), &[]);
            let unfinished = Unfinished::begin(&out, true, &other).unwrap();
            unfinished.whole().unwrap();
            let dataset = unfinished.finish(&manifest()).unwrap();
            assert!(dataset.manifest().sandbox.is_empty());
        }
    }

    #[test]
    fn our_own_page_goes_with_the_data_set_that_it_shows() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("set");
        finish(&out, false, place::put).unwrap();
        fs::write(out.join("report.html"), "<html>my own page</html>").unwrap();
        assert!(matches!(finish(&out, true, place::put), Err(Error::ForeignFile { .. })));
        let page = format!("<meta name=\"generator\" content=\"{}\">", crate::PAGE_GENERATOR);
        fs::write(out.join("report.html"), page).unwrap();
        finish(&out, true, place::put).unwrap();
        assert_eq!(place::names(&out).unwrap(), [Path::new("_dataset.json")]);
    }

    #[test]
    fn settings_that_are_not_what_they_were_are_named() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("set");
        let of = |value: Value| Plan::new("sample", 1, value, &[]);
        let asked = serde_json::json!({"stage": "s", "settings": {"space": "grewe", "limit": 0.1}});
        drop(Unfinished::begin(&out, false, &of(asked.clone())).unwrap());
        drop(Unfinished::begin(&out, false, &of(asked)).unwrap());
        let asked = serde_json::json!({"stage": "s", "settings": {"limit": 0.1, "seed": 7}});
        let said = Unfinished::begin(&out, false, &of(asked)).unwrap_err().to_string();
        assert!(
            said.contains("(space: was grewe, now not given; seed: was not given, now 7)"),
            "{said}"
        );
        let said = |before: Value, now: Value| {
            let mut said = Vec::new();
            differences(&before, &now, "", &mut said);
            shortened(said, "; ")
        };
        let of = |spaces: Value, sizes: &[u64]| serde_json::json!({"stage": "s", "settings": {"spaces": spaces, "global_sizes": sizes}});
        let one = || serde_json::json!({"grewe": ["comp", "mem"]});
        let two = serde_json::json!({"grewe": ["comp", "mem"], "tokens": ["if"]});
        assert_eq!(
            said(of(one(), &[1, 2]), of(two, &[1, 2, 4, 8, 16])),
            "spaces: was grewe, now grewe + tokens; global-sizes: was 1 + 2, now 1 + 2 + 4 + 2 more"
        );
        let changed = serde_json::json!({"grewe": ["comp", "atomic"]});
        assert_eq!(said(of(one(), &[]), of(changed, &[])), "grewe[1]: was mem, now atomic");
    }

    #[test]
    fn inputs_that_are_not_what_they_were_are_named() {
        let home = tempfile::tempdir().unwrap();
        let out = home.path().join("set");
        let of = |inputs: &[(&str, &str)]| {
            let inputs: Vec<Input> = inputs
                .iter()
                .map(|(name, hash)| Input { name: (*name).into(), hash: (*hash).into() })
                .collect();
            Plan::new("sample", 1, "settings".into(), &inputs)
        };
        drop(Unfinished::begin(&out, false, &of(&[("a", "1"), ("b", "2")])).unwrap());
        drop(Unfinished::begin(&out, false, &of(&[("a", "1"), ("b", "2")])).unwrap());
        let error = Unfinished::begin(&out, false, &of(&[("a", "3"), ("c", "2")])).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("b is gone, a has changed, c is new"), "{said}");
        let other = Plan::new("sample", 1, "others".into(), &[]);
        let error = Unfinished::begin(&out, false, &other).unwrap_err();
        assert!(matches!(error, Error::OtherSettings { .. }), "{error}");
        drop(Unfinished::begin(&out, true, &other).unwrap());
    }
}
