//! How well a kernel's maker was told.

use super::Kind;
use rows::AnswerRow;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `{answers, right, share, interval, chance, sources[{source, kind, answers, right, share, interval}]}`: shares of right
/// answers with Wilson's 95 % intervals, over all and by source.
#[must_use]
pub fn score<'a>(answers: impl IntoIterator<Item = &'a AnswerRow>) -> Value {
    let mut sources: BTreeMap<(&str, &str), [u64; 2]> = BTreeMap::new();
    let mut all = [0, 0];
    for answer in answers {
        let source = sources.entry((&answer.kind, &answer.source)).or_default();
        for counts in [source, &mut all] {
            counts[0] += 1;
            counts[1] += u64::from(answer.right);
        }
    }
    let told = |[answers, right]: [u64; 2]| {
        let share = (answers > 0).then(|| right as f64 / answers as f64);
        json!({
            "answers": answers, "right": right, "share": share,
            "interval": statistics::wilson_interval(right, answers),
        })
    };
    let sources: Vec<Value> = sources
        .into_iter()
        .map(|((kind, source), counts)| {
            let mut told = told(counts);
            told["source"] = source.into();
            told["kind"] = kind.into();
            told
        })
        .collect();
    let mut score = told(all);
    // Half of the kernels are of either side.
    score["chance"] = (1.0 / Kind::ALL.len() as f64).into();
    score["sources"] = sources.into();
    score
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_answers_are_counted_by_source() {
        let answer = |kind: &str, source: &str, right| AnswerRow {
            kind: kind.into(),
            source: source.into(),
            right,
            ..AnswerRow::default()
        };
        let rows = [
            answer("machine", "samples", true),
            answer("human", "mined", false),
            answer("human", "mined", true),
        ];
        let score = score(&rows);
        assert_eq!((&score["answers"], &score["right"]), (&json!(3), &json!(2)));
        assert_eq!(score["chance"], json!(0.5));
        let sources = score["sources"].as_array().expect("sources");
        let names: Vec<_> = sources.iter().map(|one| &one["source"]).collect();
        assert_eq!(names, ["mined", "samples"]);
        assert_eq!((&sources[0]["right"], &sources[0]["share"]), (&json!(1), &json!(0.5)));
        assert!(sources[1]["interval"][1] == 1.0 && sources[1]["interval"][0].as_f64() < Some(0.3));
        assert_eq!(super::score([])["interval"], Value::Null);
    }
}
