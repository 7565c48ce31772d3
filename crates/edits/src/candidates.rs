//! What is proposed for a slow program, and its JSON lines.

use crate::{
    Result,
    model::unfenced,
    pair::Pair,
    schema::{Broken, OnBroken, form, read_values},
};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, path::Path};

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
    /// # Errors
    /// When the file cannot be read, or a line is broken and `on_broken` says to stop.
    pub fn read(path: &Path, on_broken: OnBroken) -> Result<(Vec<Candidates>, Vec<Broken>)> {
        let (lines, broken) = read_values(path, form::CANDIDATES, on_broken)?;
        Ok((lines.iter().map(Candidates::from_line).collect(), broken))
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
