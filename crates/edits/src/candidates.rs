//! What is proposed for a slow program: its JSON lines, and folders and archives of programs.

use crate::{
    Error, Result,
    files::{is_archive, unpacked},
    model::unfenced,
    pair::Pair,
    schema::{Broken, OnBroken, form, read_values},
};
use dataset::{Code, Dataset, Language, Programs};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Programs proposed for one slow program, in the order in which they were drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// The problem; empty where the line does not say.
    pub problem_id: String,
    /// Submission of the slow program.
    pub src_id: String,
    /// Submission of its improved version, where it matters which pair is meant.
    pub tgt_id: String,
    /// What proposed them.
    pub method: String,
    /// The programs; an answer without a program in it is empty.
    pub programs: Vec<String>,
    /// What the line calls each; nothing where it gives no names.
    pub ids: Vec<String>,
}

impl Candidates {
    /// Read JSON lines with `src_id` and `generated_answers`. Of an answer with code blocks the program is the last
    /// one that has a `main` and does not break off; one without is the program, or none where it has no `main`.
    ///
    /// Or a folder, or an archive of one, of programs in C and C++: `PROBLEM/NAME.cpp` and `NAME/PROBLEM.cpp` are answers to all
    /// slow programs of the problem among `pairs`, `ID/NAME.cpp` and `NAME/ID.cpp` to the slow program of that submission. NAME is
    /// what is left of the path.
    ///
    /// # Errors
    /// When it cannot be read, a folder has no program, or a line is broken and `on_broken` says to stop.
    pub fn read(
        path: &Path,
        pairs: &[Pair],
        on_broken: OnBroken,
    ) -> Result<(Vec<Candidates>, Vec<Broken>)> {
        if is_archive(path)? {
            let is_program = |name: &str| is_answer(Language::of(Path::new(name)));
            let files = unpacked(path, is_program)?;
            let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
            let files = files.into_iter().map(|(name, bytes)| (name, text(bytes)));
            return Ok((Candidates::of_files(path, files.collect(), pairs)?, Vec::new()));
        }
        if path.is_dir() && !Dataset::is_at(path) {
            let (programs, mut files) = (Programs::open(path)?, Vec::new());
            for program in programs.iter()? {
                let program = program?;
                if !is_answer(Some(program.language)) {
                    continue;
                }
                let text = match program.code {
                    Code::Text(text) => text,
                    Code::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                };
                files.push((program.path, text));
            }
            return Ok((Candidates::of_files(path, files, pairs)?, Vec::new()));
        }
        let (lines, broken) = read_values(path, form::CANDIDATES, on_broken)?;
        Ok((lines.iter().map(Candidates::from_line).collect(), broken))
    }

    /// Those of files, by path: of each pair that any is for one, and one of each file that is for none.
    fn of_files(
        path: &Path,
        files: Vec<(String, String)>,
        pairs: &[Pair],
    ) -> Result<Vec<Candidates>> {
        if files.is_empty() {
            return Err(Error::Empty { what: "programs in C or C++", path: path.to_owned() });
        }
        let submissions: BTreeSet<&str> = pairs.iter().map(|pair| pair.src_id.as_str()).collect();
        let problems: BTreeSet<&str> = pairs.iter().map(|pair| pair.problem_id.as_str()).collect();
        let mut by_submission: BTreeMap<&str, Vec<(String, &str)>> = BTreeMap::new();
        let mut by_problem: BTreeMap<&str, Vec<(String, &str)>> = BTreeMap::new();
        let mut found = Vec::new();
        for (file, program) in &files {
            let stem = file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem);
            let parts: Vec<&str> = stem.split('/').collect();
            let place = |names: &BTreeSet<&str>| place_of(&parts, |part| names.contains(part));
            if let Some(at) = place(&submissions) {
                by_submission
                    .entry(parts[at])
                    .or_default()
                    .push((rest(&parts, at), program.as_str()));
            } else if let Some(at) = place(&problems) {
                by_problem.entry(parts[at]).or_default().push((rest(&parts, at), program.as_str()));
            } else {
                let (ids, programs) = (vec![stem.to_owned()], vec![program.clone()]);
                found.push(Candidates { ids, programs, ..Candidates::default() });
            }
        }
        let mut done = BTreeSet::new();
        for pair in pairs {
            let own = by_submission.get(pair.src_id.as_str()).into_iter();
            let all = own.chain(by_problem.get(pair.problem_id.as_str())).flatten();
            let (ids, programs): (Vec<String>, Vec<String>) =
                all.map(|(name, program)| (name.clone(), (*program).to_owned())).unzip();
            // Equal pairs have the same candidates.
            let is_new = done.insert((&pair.problem_id, &pair.src_id, &pair.tgt_id));
            if is_new && !programs.is_empty() {
                let mut of = Candidates::of(pair, "files", String::new());
                (of.ids, of.programs) = (ids, programs);
                found.push(of);
            }
        }
        Ok(found)
    }

    fn from_line(line: &Map<String, Value>) -> Candidates {
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let programs = match line.get("generated_answers") {
            Some(Value::String(one)) => vec![unfenced(one)],
            Some(Value::Array(list)) => {
                list.iter().map(|v| unfenced(v.as_str().unwrap_or_default())).collect()
            }
            _ => Vec::new(),
        };
        let name = |value: &Value| match value {
            Value::String(name) => name.clone(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let ids = match line.get("id") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(names)) => names.iter().map(name).collect(),
            // To hand in nothing is an answer, too.
            Some(one) => vec![name(one); programs.len().max(1)],
        };
        Candidates {
            problem_id: text("problem_id"),
            src_id: text("src_id"),
            tgt_id: text("tgt_id"),
            method: text("method"),
            programs,
            ids,
        }
    }

    /// Their line.
    #[must_use]
    pub fn to_line(&self) -> Map<String, Value> {
        let value = json!({
            "problem_id": self.problem_id, "src_id": self.src_id, "tgt_id": self.tgt_id,
            "method": self.method, "generated_answers": self.programs,
        });
        match value {
            Value::Object(mut line) => {
                if !self.ids.is_empty() {
                    line.insert("id".into(), json!(self.ids));
                }
                line
            }
            _ => Map::new(),
        }
    }

    /// What the line calls the program of that place; empty where it has no name.
    pub(crate) fn id(&self, place: usize) -> String {
        self.ids.get(place).cloned().unwrap_or_default()
    }

    /// PIE's row *Same Human*: each pair's own improved version.
    #[must_use]
    pub fn same_human(pairs: &[Pair]) -> Vec<Candidates> {
        pairs.iter().map(|pair| Candidates::of(pair, "same-human", pair.tgt_code.clone())).collect()
    }

    /// PIE's row *Best Human*: the fastest improved version of the problem by anyone, for each pair.
    #[must_use]
    pub fn best_human(pairs: &[Pair]) -> Vec<Candidates> {
        let mut best: BTreeMap<&str, &Pair> = BTreeMap::new();
        for pair in pairs {
            let time = |pair: &Pair| pair.tgt_agg_runtime.unwrap_or(f64::INFINITY);
            let best = best.entry(&pair.problem_id).or_insert(pair);
            if time(pair) < time(best) {
                *best = pair;
            }
        }
        let of = |pair: &Pair| {
            best.get(pair.problem_id.as_str()).map_or(&pair.tgt_code, |p| &p.tgt_code).clone()
        };
        pairs.iter().map(|pair| Candidates::of(pair, "best-human", of(pair))).collect()
    }

    /// One candidate for a pair.
    pub(crate) fn of(pair: &Pair, method: &str, program: String) -> Candidates {
        Candidates {
            problem_id: pair.problem_id.clone(),
            src_id: pair.src_id.clone(),
            tgt_id: pair.tgt_id.clone(),
            method: method.into(),
            programs: vec![program],
            ids: Vec::new(),
        }
    }

    /// Whether they are for `pair`.
    pub(crate) fn are_for(&self, pair: &Pair) -> bool {
        self.src_id == pair.src_id
            && (self.tgt_id.is_empty() || self.tgt_id == pair.tgt_id)
            && (self.problem_id.is_empty() || self.problem_id == pair.problem_id)
    }
}

/// Whether a file is an answer: a program in C or C++.
fn is_answer(language: Option<Language>) -> bool {
    matches!(language, Some(Language::C | Language::Cxx))
}

/// The place of the name that says what a file is for: that of its innermost folder that is one, else the file's own.
fn place_of(parts: &[&str], is_name: impl Fn(&str) -> bool) -> Option<usize> {
    let (file, folders) = parts.split_last()?;
    let folder = folders.iter().rposition(|part| is_name(part));
    folder.or(is_name(file).then_some(folders.len()))
}

/// What an answer is called, whose path names at `at` what it is for.
fn rest(parts: &[&str], at: usize) -> String {
    match parts.len() - 1 == at {
        true => parts[..at].join("/"),
        false => parts[at + 1..].join("/"),
    }
}

/// Candidates by the submission of the slow program that they are for.
pub(crate) struct BySource<'a>(BTreeMap<&'a str, Vec<&'a Candidates>>);

impl<'a> BySource<'a> {
    pub(crate) fn new(candidates: &'a [Candidates]) -> BySource<'a> {
        let mut by_src: BTreeMap<&str, Vec<&Candidates>> = BTreeMap::new();
        for drawn in candidates {
            by_src.entry(&drawn.src_id).or_default().push(drawn);
        }
        BySource(by_src)
    }

    /// Those for `pair`, in their order.
    pub(crate) fn of(&self, pair: &Pair) -> Vec<&'a Candidates> {
        let drawn = self.0.get(pair.src_id.as_str()).into_iter().flatten().copied();
        drawn.filter(|drawn| drawn.are_for(pair)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_human_is_the_fastest_of_the_problem() {
        let pair = |id: &str, problem: &str, seconds| Pair {
            problem_id: problem.into(),
            src_id: id.into(),
            tgt_id: format!("{id}+"),
            tgt_code: format!("int main() {{}} // {id}"),
            tgt_agg_runtime: Some(seconds),
            ..Pair::default()
        };
        let pairs = [pair("a", "p", 2.0), pair("b", "p", 1.0), pair("c", "q", 3.0)];
        let best: Vec<String> =
            Candidates::best_human(&pairs).into_iter().flat_map(|c| c.programs).collect();
        assert_eq!(best, ["b", "b", "c"].map(|id| format!("int main() {{}} // {id}")));
        assert!(Candidates::same_human(&pairs)[0].are_for(&pairs[0]));
        let line = Candidates::same_human(&pairs)[0].to_line();
        assert_eq!(Candidates::from_line(&line), Candidates::same_human(&pairs)[0]);
    }

    #[test]
    fn folders_and_archives_of_programs_are_answers() {
        let pair = |id: &str, problem: &str| Pair {
            problem_id: problem.into(),
            src_id: id.into(),
            tgt_id: format!("{id}+"),
            ..Pair::default()
        };
        let pairs = [pair("s1", "p1"), pair("s2", "p1"), pair("s3", "p2"), pair("s3", "p2")];
        let files = [
            ("data/p1/C++/a.cpp", "1"),
            ("models/gpt/p2.cc", "2"),
            ("p1/s2/b.c", "3"),
            ("x/s1.cpp", "4"),
            ("p9/c.cpp", "5"),
            ("p1/verdict.json", "{}"),
        ];
        let home = tempfile::tempdir().unwrap();
        let (root, packed) = (home.path().join("answers"), home.path().join("answers.tar"));
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        crate::files::pack(&packed, &files);
        for path in [&root, &packed] {
            let (found, _) = Candidates::read(path, &pairs, OnBroken::Stop).unwrap();
            let told: Vec<(&str, String)> = found
                .iter()
                .map(|of| {
                    let each = of.ids.iter().zip(&of.programs);
                    let each: Vec<String> = each.map(|(id, text)| format!("{id}={text}")).collect();
                    (of.src_id.as_str(), each.join(" "))
                })
                .collect();
            let due = [
                ("", "p9/c=5"),
                ("s1", "x=4 C++/a=1"),
                ("s2", "b=3 C++/a=1"),
                ("s3", "models/gpt=2"),
            ];
            assert_eq!(told, due.map(|(id, each)| (id, each.to_owned())));
            let own = BySource::new(&found).of(&pairs[1]);
            assert_eq!(own.len(), 1, "an answer of no pair is none of this one");
        }
        let empty = tempfile::tempdir().unwrap();
        assert!(Candidates::read(empty.path(), &pairs, OnBroken::Stop).is_err());
    }

    #[test]
    fn names_of_answers_come_back() {
        let program = "int main() {}";
        let of = |id: Value| {
            let line = json!({"src_id": "a", "id": id, "generated_answers": [program, program]});
            let read = Candidates::from_line(line.as_object().unwrap());
            assert_eq!(Candidates::from_line(&read.to_line()), read);
            read.ids
        };
        assert_eq!(of(json!(["x", 7])), ["x", "7"]);
        assert_eq!(of(json!("x")), ["x", "x"], "one for all");
        assert!(of(Value::Null).is_empty());
    }
}
