//! Pairs as rows, and their way from and to PIE's JSON lines.

use crate::{
    Error, Result,
    schema::{Broken, Form, OnBroken, form, read_lines},
};
use dataset::{Dataset, content_hash_of};
pub use rows::{Pair, PairLanguage as Language, TestTime};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::{fmt::Write, path::Path};

/// Pairs that were read, and the lines that were not.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// In the order of the file.
    pub pairs: Vec<Pair>,
    /// Lines skipped.
    pub broken: Vec<Broken>,
}

impl Pairs {
    /// Read a data set of pairs, or JSON lines in one of PIE's forms or the bare one.
    ///
    /// # Errors
    /// When there is nothing to read, or a line is broken and `on_broken` says to stop.
    pub fn read(path: &Path, on_broken: OnBroken) -> Result<Pairs> {
        let read = if Dataset::is_at(path) {
            let rows = Dataset::open(path)?.rows::<Pair>()?;
            Pairs { pairs: rows.collect::<std::result::Result<_, _>>()?, broken: Vec::new() }
        } else {
            let lines = read_lines(path, None, on_broken)?;
            let mut pairs = Pairs { pairs: Vec::new(), broken: lines.broken };
            for (number, (form, line)) in lines.rows {
                match from_line(form, &line, number) {
                    Some(pair) => pairs.pairs.push(pair),
                    None if on_broken == OnBroken::Skip => pairs.broken.push(Broken {
                        line: number,
                        field: "src_code".into(),
                        reason: format!("form `{}` holds no pairs", form.name),
                    }),
                    None => {
                        return Err(Error::Line {
                            path: path.to_owned(),
                            line: number,
                            field: "src_code".into(),
                            reason: format!("form `{}` holds no pairs", form.name),
                        });
                    }
                }
            }
            pairs
        };
        if read.pairs.is_empty() && read.broken.is_empty() {
            return Err(Error::Empty { what: "pairs", path: path.to_owned() });
        }
        Ok(read)
    }
}

fn from_line(form: Form, line: &Map<String, Value>, number: u64) -> Option<Pair> {
    if ![form::TRAIN.name, form::TEST.name, form::BARE.name].contains(&form.name) {
        return None;
    }
    let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let real = |key: &str| line.get(key).and_then(Value::as_f64);
    let flag = |key: &str| {
        line.get(key).is_some_and(|v| v.as_bool().unwrap_or_else(|| v.as_f64() == Some(1.0)))
    };
    let either = |a: &str, b: &str| real(a).or_else(|| real(b));
    let decile = |key: &str| real(key).map(|n| n as u32);
    let src_agg_runtime = either("src_agg_runtime", "src_code_agg_runtime");
    let tgt_agg_runtime = either("tgt_agg_runtime", "tgt_code_agg_runtime");
    let known = |key: &str| form.fields.iter().any(|field| field.name == key);
    let extra: Map<String, Value> =
        line.iter().filter(|(k, _)| !known(k)).map(|(k, v)| (k.clone(), v.clone())).collect();
    let (mut src_id, mut tgt_id) = (text("src_id"), text("tgt_id"));
    if src_id.is_empty() {
        src_id = text("submission_id");
        if src_id.is_empty() {
            src_id = format!("line-{number}");
        }
        tgt_id = format!("{src_id}+");
    }
    let ratio = src_agg_runtime.zip(tgt_agg_runtime).map(|(src, tgt)| src / tgt);
    Some(Pair {
        problem_id: text("problem_id"),
        src_id,
        tgt_id,
        user_id: text("user_id"),
        language: text("language"),
        src_code: text("src_code"),
        tgt_code: text("tgt_code"),
        src_agg_runtime,
        tgt_agg_runtime,
        speedup: real("speedup").or(ratio.filter(|ratio| ratio.is_finite())),
        speedup_net: None,
        fastest_agg_runtime: either("fastest_agg_runtime_updated", "fastest_agg_runtime"),
        tgt_reward: real("target_reward_updated"),
        src_reward: real("src_reward_updated"),
        tgt_decile: decile("target_reward_updated_pct_bin"),
        src_decile: decile("src_reward_updated_pct_bin"),
        tests: line.get("tests").map(numbers).unwrap_or_default(),
        src_times: line.get("src_code_tc2time").map(times).unwrap_or_default(),
        tgt_times: line.get("tgt_code_tc2time").map(times).unwrap_or_default(),
        split: text("split"),
        confidence: real("confidence"),
        label: text("label"),
        io_only: flag("io_only"),
        array_shrunk: flag("array_shrunk"),
        startup_only: flag("startup_only"),
        verdict: "accepted".into(),
        detail: String::new(),
        extra: if extra.is_empty() { String::new() } else { Value::Object(extra).to_string() },
    })
}

/// Its line in PIE's form for training, with our own fields behind PIE's.
#[must_use]
pub(crate) fn to_train(pair: &Pair) -> Map<String, Value> {
    let mut line = object(json!({
        "src_id": pair.src_id, "tgt_id": pair.tgt_id,
        "src_agg_runtime": pair.src_agg_runtime, "tgt_agg_runtime": pair.tgt_agg_runtime,
        "problem_id": pair.problem_id, "speedup": pair.speedup,
        "src_code": pair.src_code, "tgt_code": pair.tgt_code,
        "fastest_agg_runtime": pair.fastest_agg_runtime,
        "src_status": "Accepted", "tgt_status": "Accepted", "user_id": pair.user_id,
        "fastest_agg_runtime_updated": pair.fastest_agg_runtime,
        "target_reward_updated": pair.tgt_reward, "src_reward_updated": pair.src_reward,
        "target_reward_updated_pct_bin": pair.tgt_decile.map(f64::from),
        "src_reward_updated_pct_bin": pair.src_decile.map(f64::from),
        "language": pair.language, "split": pair.split, "confidence": pair.confidence,
        "label": pair.label, "io_only": pair.io_only, "array_shrunk": pair.array_shrunk,
        "startup_only": pair.startup_only,
    }));
    append_extra(pair, &mut line);
    line
}

/// Its line in PIE's form for testing.
#[must_use]
pub(crate) fn to_test(pair: &Pair) -> Map<String, Value> {
    let passed = |times: &[TestTime]| {
        let passed = times.iter().filter(|time| time.seconds.is_some()).count();
        (!times.is_empty()).then(|| passed as f64 / times.len() as f64)
    };
    let times = |times: &[TestTime]| -> Map<String, Value> {
        times.iter().map(|time| (time.test.to_string(), json!(time.seconds))).collect()
    };
    let mut line = object(json!({
        "problem_id": pair.problem_id, "src_id": pair.src_id, "tgt_id": pair.tgt_id,
        "src_code": pair.src_code, "tgt_code": pair.tgt_code,
        "tests": pair.tests, "n_tests": pair.tests.len(),
        "src_code_compilation": true, "tgt_code_compilation": true,
        "src_code_accuracy": passed(&pair.src_times), "tgt_code_accuracy": passed(&pair.tgt_times),
        "src_code_agg_runtime": pair.src_agg_runtime, "tgt_code_agg_runtime": pair.tgt_agg_runtime,
        "src_code_tc2time": times(&pair.src_times), "tgt_code_tc2time": times(&pair.tgt_times),
        "fastest_agg_runtime": pair.fastest_agg_runtime, "user_id": pair.user_id,
        "language": pair.language,
    }));
    append_extra(pair, &mut line);
    line
}

fn append_extra(pair: &Pair, line: &mut Map<String, Value>) {
    if let Ok(Value::Object(extra)) = serde_json::from_str(&pair.extra) {
        for (key, value) in extra {
            line.entry(key).or_insert(value);
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn numbers(list: &Value) -> Vec<u64> {
    let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    list.as_array().into_iter().flatten().filter_map(number).collect()
}

fn times(object: &Value) -> Vec<TestTime> {
    let mut times: Vec<TestTime> = object
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, time)| {
            Some(TestTime { test: key.parse().ok()?, seconds: time.as_f64() })
        })
        .collect();
    times.sort_by_key(|time| time.test);
    times
}

/// Write JSON lines, whole or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn write_lines<'a>(
    path: &Path,
    lines: impl IntoIterator<Item = &'a Map<String, Value>>,
) -> Result<u64> {
    let mut text = String::new();
    let mut count = 0;
    for line in lines {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", Value::Object(line.clone()));
        count += 1;
    }
    write_whole(path, text.as_bytes())?;
    Ok(count)
}

/// Write a file, whole or not at all.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    host::write_whole(path, content).map_err(Error::file("write", path))
}

/// One of an author's programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// Its name.
    pub id: String,
    /// The problem.
    pub problem_id: String,
    /// The author.
    pub user_id: String,
    /// When it was handed in; only the order counts.
    pub date: u64,
    /// Its language.
    #[serde(serialize_with = "to_name", deserialize_with = "from_name")]
    pub language: Language,
    /// The program.
    pub code: String,
}

fn to_name<S: Serializer>(
    language: &Language,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(language.name())
}

fn from_name<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Language, D::Error> {
    let name = String::deserialize(deserializer)?;
    let unknown = || serde::de::Error::custom(format!("`{name}` is no language"));
    Language::parse(&name).ok_or_else(unknown)
}

impl Submission {
    /// Identity of its program.
    #[must_use]
    pub fn hash(&self) -> String {
        content_hash_of([self.language.name().as_bytes(), self.code.as_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(line: Map<String, Value>) -> Pair {
        let form = Form::of(&line).unwrap();
        assert_eq!(form.check(&line), Ok(()));
        from_line(form, &line, 1).unwrap()
    }

    #[test]
    fn both_forms_come_back_field_for_field() {
        let train = object(json!({
            "src_id": "s794463430", "tgt_id": "s390430969", "src_agg_runtime": 0.004, "tgt_agg_runtime": 0.001,
            "problem_id": "p00000", "speedup": 4.0, "src_code": "int main(){}", "tgt_code": "int main(){;}",
            "fastest_agg_runtime": 0.001, "src_status": "Accepted", "tgt_status": "Accepted",
            "fastest_agg_runtime_updated": 0.001, "target_reward_updated": 1.0, "src_reward_updated": 0.25,
            "target_reward_updated_pct_bin": 10.0, "src_reward_updated_pct_bin": 3.0, "speedup_v2": 4.0}));
        let pair = written(train.clone());
        let back = to_train(&pair);
        for (key, value) in &train {
            assert_eq!(back.get(key), Some(value), "{key}");
        }
        assert_eq!(written(back), pair);

        let test = object(json!({
            "problem_id": "p1", "src_id": "a", "tgt_id": "b", "src_code": "x;", "tgt_code": "y;",
            "tests": [0, 7], "n_tests": 2, "src_code_compilation": true, "tgt_code_compilation": true,
            "src_code_accuracy": 1.0, "tgt_code_accuracy": 0.5, "src_code_agg_runtime": 0.3,
            "tgt_code_agg_runtime": null, "src_code_tc2time": {"0": 0.1, "7": 0.2},
            "tgt_code_tc2time": {"0": 0.1, "7": null}, "their_note": [1, 2]}));
        let pair = written(test.clone());
        let back = to_test(&pair);
        for (key, value) in &test {
            assert_eq!(back.get(key), Some(value), "{key}");
        }
        assert_eq!(written(back), pair);
    }

    #[test]
    fn bare_pairs_are_named_by_their_submission() {
        let bare = object(
            json!({"problem_id": "p1", "submission_id": "5", "src_code": "x", "tgt_code": "y",
                                 "language": "C"}),
        );
        let pair = written(bare);
        assert_eq!(
            (pair.src_id.as_str(), pair.tgt_id.as_str(), pair.language()),
            ("5", "5+", Language::C)
        );
        assert_eq!(Language::parse("C++14 (GCC 5.4.1)"), Some(Language::Cpp));
        assert_eq!(Language::parse("Python"), None);
    }
}
