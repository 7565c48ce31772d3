//! Problems with sample tests: from JSON lines, from a folder in CodeNet's layout, from lines in the form of CodeContests, from a
//! folder of tests, and from archives of such folders.
//!
//! CodeNet keeps one sample of a problem in `derived/input_output/data/PROBLEM/` and the others in its description,
//! `problem_descriptions/PROBLEM.html`, as blocks of text below headings: `Sample Input 1`, `Sample Output 1` (AtCoder), or
//! `Sample Input`, `Output for the Sample Input` (Aizu). Its limits are those that the description states.

use crate::{
    Error, Result,
    constraints::limits_in,
    files::{Files, is_archive, unpacked},
    schema::{Broken, OnBroken, form, read_values},
    suite::TestSet,
};
use dataset::Dataset;
use html5gum::{Token, Tokenizer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// A problem's samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// Its name.
    pub id: String,
    /// Inputs and outputs.
    pub samples: Vec<Sample>,
    /// How small and how large what a program reads may be, as far as it is stated.
    pub limits: Vec<Limit>,
}

/// A test that came with a problem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// What a program reads.
    pub input: String,
    /// What it must print.
    pub output: String,
}

/// How small and how large something in an input may be: what stands in a line of the first sample, a variable of the grammar of
/// inputs, or the number of data sets. Of words it is the number of letters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// A line of the first sample, from 1 on.
    pub line: Option<u64>,
    /// A token of that line, from 1 on; all of them where it is absent.
    pub token: Option<u64>,
    /// A variable, as the column `grammar` of tests numbers them.
    pub slot: Option<u64>,
    /// How many data sets there are.
    pub data_sets: bool,
    /// No smaller.
    pub least: Option<i64>,
    /// No larger.
    pub most: Option<i64>,
}

impl Problem {
    /// Read a folder in CodeNet's layout or of tests (`PROBLEM/input.N.txt` beside `output.N.txt`), an archive of one, or JSON lines: `problem_id` with `samples` and perhaps `limits` or a `description`, or
    /// CodeContests' `name` with `public_tests`, `private_tests` and `generated_tests`.
    ///
    /// # Errors
    /// When it cannot be read, holds no problem, or a line is broken and `on_broken` says to stop.
    pub fn read(path: &Path, on_broken: OnBroken) -> Result<(Vec<Problem>, Vec<Broken>)> {
        let archive = is_archive(path)?;
        if archive || path.is_dir() {
            let files = match archive {
                true => Files::Archive(codenet_files(unpacked(path, is_codenet)?)),
                false => Files::Folder(path.to_owned()),
            };
            let mut problems = codenet(&files)?;
            if problems.is_empty() && !Dataset::is_at(path) {
                problems = of_tests(path)?;
            }
            return match problems.is_empty() {
                true => Err(Error::Empty { what: "problems with samples", path: path.to_owned() }),
                false => Ok((problems, Vec::new())),
            };
        }
        let (lines, broken) = read_values(path, form::PROBLEMS, on_broken)?;
        Ok((lines.iter().map(of_line).collect(), broken))
    }
}

fn of_line(line: &Map<String, Value>) -> Problem {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let samples = line["samples"].as_array().into_iter().flatten();
    let samples =
        samples.map(|one| Sample { input: text(&one["input"]), output: text(&one["output"]) });
    let samples: Vec<Sample> = samples.collect();
    let limits = match line.get("limits").and_then(limits_of) {
        Some(limits) => limits,
        None => described_limits(line.get("description").and_then(Value::as_str), &samples),
    };
    Problem { id: text(&line["problem_id"]), samples, limits }
}

/// What a description states, by the first sample.
fn described_limits(description: Option<&str>, samples: &[Sample]) -> Vec<Limit> {
    let both = description.zip(samples.first());
    both.map(|(text, sample)| limits_in(text, &sample.input)).unwrap_or_default()
}

/// A list of limits; `None` where something else stands there.
pub(crate) fn limits_of(value: &Value) -> Option<Vec<Limit>> {
    value.as_array()?.iter().map(limit_of).collect()
}

fn limit_of(value: &Value) -> Option<Limit> {
    const FIELDS: [&str; 6] = ["line", "token", "slot", "data_sets", "least", "most"];
    let fields = value.as_object()?;
    if !fields.keys().all(|key| FIELDS.contains(&key.as_str())) {
        return None;
    }
    // `1e9` is a number with a fraction in JSON.
    let whole = |value: &Value| {
        let near = |number: &f64| number.fract() == 0.0 && number.abs() <= 1e18;
        value.as_i64().or_else(|| Some(value.as_f64().filter(near)? as i64))
    };
    let number = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(value) => whole(value).map(Some),
    };
    let place = |name: &str, first: u64| match number(name)? {
        None => Some(None),
        Some(place) => u64::try_from(place).ok().filter(|place| *place >= first).map(Some),
    };
    let data_sets = match fields.get("data_sets") {
        None | Some(Value::Null) => false,
        Some(value) => value.as_bool()?,
    };
    let (line, token, slot) = (place("line", 1)?, place("token", 1)?, place("slot", 0)?);
    let (least, most) = (number("least")?, number("most")?);
    let places = usize::from(line.is_some()) + usize::from(slot.is_some()) + usize::from(data_sets);
    let is_range = match (least, most) {
        (None, None) => false,
        (Some(least), Some(most)) => least <= most,
        _ => true,
    };
    let is_one = places == 1 && (token.is_none() || line.is_some());
    (is_one && is_range).then_some(Limit { line, token, slot, data_sets, least, most })
}

/// A line of CodeContests as one of ours: its tests are lists of inputs and of outputs.
pub(crate) fn of_contest(line: &Map<String, Value>) -> Option<Map<String, Value>> {
    if line.contains_key("samples") || !line.contains_key("public_tests") {
        return None;
    }
    let mut samples = Vec::new();
    for tests in ["public_tests", "private_tests", "generated_tests"] {
        let list = |key: &str| line.get(tests)?.get(key)?.as_array();
        let (Some(inputs), Some(outputs)) = (list("input"), list("output")) else { continue };
        let both = inputs.iter().zip(outputs);
        samples.extend(
            both.map(|(input, output)| serde_json::json!({ "input": input, "output": output })),
        );
    }
    let name = line.get("problem_id").or_else(|| line.get("name"))?.clone();
    let is_kept = |(key, value): &(&String, &Value)| {
        *key == "limits" || *key == "description" && value.is_string()
    };
    let kept = line.iter().filter(is_kept).map(|(key, value)| (key.clone(), value.clone()));
    let problem = [("problem_id".to_owned(), name), ("samples".to_owned(), Value::Array(samples))];
    Some(problem.into_iter().chain(kept).collect())
}

/// Where CodeNet describes its problems, and where it has a sample of each.
const DESCRIPTIONS: &str = "problem_descriptions";
const DERIVED: &str = "derived/input_output/data";

/// Of a path in an archive, what stands before a folder of CodeNet's.
fn before_codenet(path: &str) -> Option<&str> {
    [DESCRIPTIONS, DERIVED].iter().find_map(|folder| {
        let at = path.find(&format!("{folder}/"))?;
        (at == 0 || path[..at].ends_with('/')).then_some(&path[..at])
    })
}

fn is_codenet(path: &str) -> bool {
    before_codenet(path).is_some()
}

/// Files of an archive by their paths in CodeNet's folder: the first one, where there are several.
fn codenet_files(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    let root = files.keys().find_map(|path| before_codenet(path)).unwrap_or_default().to_owned();
    let inside = files.into_iter().filter_map(|(path, content)| {
        Some((path.strip_prefix(root.as_str())?.to_owned(), content))
    });
    inside.collect()
}

/// The problems of a folder or archive of tests, which are their samples.
fn of_tests(path: &Path) -> Result<Vec<Problem>> {
    let tests = TestSet::visible(path)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut problems = Vec::new();
    for id in tests.problems()? {
        let own = tests.tests(&id)?.into_iter();
        let samples: Vec<Sample> = own
            .map(|test| Sample { input: text(&test.input), output: text(&test.output) })
            .collect();
        if !samples.is_empty() {
            problems.push(Problem { id, samples, limits: Vec::new() });
        }
    }
    Ok(problems)
}

/// The problems of a folder in CodeNet's layout that have a sample, by name.
fn codenet(files: &Files) -> Result<Vec<Problem>> {
    let mut names = BTreeSet::new();
    for folder in [DESCRIPTIONS, DERIVED] {
        for (name, is_folder) in files.names(folder)? {
            let stem = name.strip_suffix(".html");
            names.extend(stem.map(str::to_owned).or(is_folder.then_some(name)));
        }
    }
    let mut problems = Vec::new();
    for id in names {
        let mut samples = Vec::new();
        let half = |half: &str| files.text(&format!("{DERIVED}/{id}/{half}.txt"));
        let both = [half("input")?, half("output")?];
        if let [Some(input), Some(output)] = both {
            samples.push(Sample { input, output });
        }
        let description = files.text(&format!("{DESCRIPTIONS}/{id}.html"))?;
        for sample in description.iter().flat_map(|html| described(html)) {
            let is_same = |known: &Sample| known.input.trim() == sample.input.trim();
            if !samples.iter().any(is_same) {
                samples.push(sample);
            }
        }
        if !samples.is_empty() {
            let limits = described_limits(description.as_deref(), &samples);
            problems.push(Problem { id, samples, limits });
        }
    }
    Ok(problems)
}

/// The samples of a description: each block of text below a heading of an input, with the next one below a heading of an output.
pub(crate) fn described(html: &str) -> Vec<Sample> {
    let (mut samples, mut input) = (Vec::new(), None);
    // The heading that is read or was read last, and the block that is read.
    let (mut heading, mut is_heading, mut block) = (String::new(), false, None::<String>);
    for token in Tokenizer::new(html) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => match &**tag.name {
                b"h1" | b"h2" | b"h3" | b"h4" | b"h5" => {
                    (heading, is_heading) = (String::new(), true);
                }
                b"pre" => block = Some(String::new()),
                b"br" => block.iter_mut().for_each(|text| text.push('\n')),
                _ => {}
            },
            Token::String(text) => {
                let text = String::from_utf8_lossy(&text);
                match &mut block {
                    Some(block) => block.push_str(&text),
                    None if is_heading => heading.push_str(&text),
                    None => {}
                }
            }
            Token::EndTag(tag) => match &**tag.name {
                b"h1" | b"h2" | b"h3" | b"h4" | b"h5" => is_heading = false,
                b"pre" => {
                    let Some(block) = block.take() else { continue };
                    let block = block.strip_prefix('\n').unwrap_or(&block).replace("\r\n", "\n");
                    match kind(&heading) {
                        Some(Half::Input) => input = Some(block),
                        Some(Half::Output) => samples
                            .extend(input.take().map(|input| Sample { input, output: block })),
                        None => {}
                    }
                    heading.clear();
                }
                _ => {}
            },
            _ => {}
        }
    }
    samples
}

/// Which half of a sample stands below a heading.
enum Half {
    Input,
    Output,
}

fn kind(heading: &str) -> Option<Half> {
    let heading = heading.to_lowercase();
    if !heading.contains("sample") && !heading.contains("example") {
        return None;
    }
    // `Output for the Sample Input` is an output.
    match (heading.contains("output"), heading.contains("input")) {
        (true, _) => Some(Half::Output),
        (false, true) => Some(Half::Input),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(input: &str, output: &str) -> Sample {
        Sample { input: input.into(), output: output.into() }
    }

    #[test]
    fn samples_stand_below_their_headings() {
        let atcoder = "<h3>Constraints</h3><pre>no sample</pre><h3>Sample Input 1 </h3><pre>3 5\n</pre>\
                       <h3>Sample Output 1 </h3><pre>8\n</pre><h3>Sample Input 2</h3><pre>1 &lt; 2\r\n</pre>\
                       <h3>Sample Output 2</h3><pre>Yes\r\n</pre><p>Why?</p><pre>1 &lt; 2</pre>";
        assert_eq!(described(atcoder), [sample("3 5\n", "8\n"), sample("1 < 2\n", "Yes\n")]);
        let aizu = "<H2>Input</H2><p>A number.</p><H2>Sample Input</H2>\n<pre>\n2\n</pre>\
                    <H2>Output for the Sample Input</H2>\n<pre>\n4\n</pre>";
        assert_eq!(described(aizu), [sample("2\n", "4\n")]);
        assert!(described("<h2>Sample Output</h2><pre>4</pre><h2>Sample Input").is_empty());
    }

    #[test]
    fn limits_name_one_place_and_a_range() {
        let read = |text: &str| limits_of(&serde_json::from_str(text).expect("it is JSON"));
        let known = read(
            r#"[{"line": 1, "token": 2, "least": 1, "most": 1e5}, {"slot": 0, "most": 7}, {"data_sets": true, "least": 0}]"#,
        );
        let due = [
            Limit {
                line: Some(1),
                token: Some(2),
                least: Some(1),
                most: Some(100_000),
                ..Limit::default()
            },
            Limit { slot: Some(0), most: Some(7), ..Limit::default() },
            Limit { data_sets: true, least: Some(0), ..Limit::default() },
        ];
        assert_eq!(known.as_deref(), Some(&due[..]));
        for wrong in [
            r#"{"line": 1, "most": 1}"#,
            r#"[{"line": 0, "most": 1}]"#,
            r#"[{"line": 1}]"#,
            r#"[{"line": 1, "least": 2, "most": 1}]"#,
            r#"[{"line": 1, "slot": 1, "most": 1}]"#,
            r#"[{"slot": 1, "token": 1, "most": 1}]"#,
            r#"[{"line": 1, "most": 0.5}]"#,
            r#"[{"line": 1, "max": 1, "most": 1}]"#,
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn limits_of_a_line_come_before_those_of_its_description() {
        let read = |text: &str| of_line(&serde_json::from_str(text).expect("it is JSON")).limits;
        let line = r#"{"problem_id": "p", "samples": [{"input": "3\n", "output": "9\n"}], LIMITS
            "description": "<h3>Constraints</h3><p>1 &le; n &le; 9</p><h3>Input</h3><pre>n</pre>"}"#;
        let most = |text: &str| -> Vec<Option<i64>> {
            read(&line.replace("LIMITS", text)).iter().map(|limit| limit.most).collect()
        };
        assert_eq!(most(""), [Some(9)]);
        assert_eq!(most(r#""limits": [{"line": 1, "most": 7}],"#), [Some(7)]);
    }

    #[test]
    fn a_folder_in_codenets_layout_has_problems() {
        let root = tempfile::tempdir().expect("a folder");
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            std::fs::write(path, text).expect("it can be written");
        };
        put("derived/input_output/data/p00001/input.txt", "2\n");
        put("derived/input_output/data/p00001/output.txt", "4\n");
        put(
            "problem_descriptions/p00001.html",
            "<h2>Constraints</h2><p>1 &le; n &le; 9</p><h2>Input</h2><pre>n</pre>\
             <h2>Sample Input</h2><pre>2</pre><h2>Sample Output</h2><pre>4</pre>\
             <h2>Sample Input</h2><pre>3</pre><h2>Sample Output</h2><pre>9</pre>",
        );
        put("problem_descriptions/p00002.html", "<h2>Input</h2><pre>none</pre>");
        let (problems, _) = Problem::read(root.path(), OnBroken::Stop).expect("it is read");
        let samples = vec![sample("2\n", "4\n"), sample("3", "9")];
        let limit = Limit {
            line: Some(1),
            token: Some(1),
            least: Some(1),
            most: Some(9),
            ..Limit::default()
        };
        let due = Problem { id: "p00001".into(), samples, limits: vec![limit] };
        assert_eq!(problems, std::slice::from_ref(&due));
        // The same of an archive, whatever folder it has around them.
        let read = |path: &str| {
            std::fs::read_to_string(root.path().join(path)).expect("it was written above")
        };
        let paths = [
            "derived/input_output/data/p00001/input.txt",
            "derived/input_output/data/p00001/output.txt",
            "problem_descriptions/p00001.html",
        ];
        let inside: Vec<(String, String)> =
            paths.iter().map(|path| (format!("Project_CodeNet/{path}"), read(path))).collect();
        let inside: Vec<(&str, &str)> =
            inside.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let home = tempfile::tempdir().expect("a folder");
        let archive = home.path().join("codenet.tar");
        crate::files::pack(&archive, &inside);
        let (problems, _) = Problem::read(&archive, OnBroken::Stop).expect("it is read");
        assert_eq!(problems, [due]);
        let empty = tempfile::tempdir().expect("a folder");
        assert!(Problem::read(empty.path(), OnBroken::Stop).is_err());
    }

    #[test]
    fn tests_of_a_folder_or_an_archive_are_samples() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("tests");
        std::fs::create_dir_all(folder.join("p1")).expect("a folder");
        let files =
            [("p1/input.0.txt", "2\n"), ("p1/output.0.txt", "4\n"), ("p1/input.1.txt", "3")];
        for (path, text) in files {
            std::fs::write(folder.join(path), text).expect("it can be written");
        }
        let archive = home.path().join("tests.tar");
        crate::files::pack(&archive, &files);
        let samples = vec![sample("2\n", "4\n")];
        let due = Problem { id: "p1".into(), samples, limits: Vec::new() };
        for path in [&folder, &archive] {
            let (problems, _) = Problem::read(path, OnBroken::Stop).expect("it is read");
            assert_eq!(problems, std::slice::from_ref(&due), "{}", path.display());
        }
    }
}
