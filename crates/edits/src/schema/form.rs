use serde_json::{Map, Value};

/// What a field may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string that is not empty.
    Name,
    /// Any string.
    Text,
    /// A program's source: not blank.
    Code,
    /// Seconds or a ratio: finite and not negative. `null` where optional.
    Number,
    /// A whole number that is not negative.
    Count,
    /// A decile, 1 to 10 (pandas writes `7.0`).
    Decile,
    /// True or false.
    Flag,
    /// A list of test numbers.
    Tests,
    /// An object from test number to seconds.
    Times,
    /// A program, or a list of programs.
    Programs,
    /// A list of `{input, output}`.
    Samples,
    /// A list of `{line, token, least, most}`, or with `slot` or `data_sets` in the place of a line.
    Limits,
    /// A name, text or number, or a list of them.
    Names,
}

/// One field of a form.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
    /// What it means.
    pub about: &'static str,
}

/// A form of JSONL lines.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Its name in messages and options.
    pub name: &'static str,
    /// What its lines are.
    pub about: &'static str,
    /// In the order in which they are written.
    pub fields: &'static [Field],
}

const fn must(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { name, kind, required: true, about }
}

const fn may(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { name, kind, required: false, about }
}

/// PIE's form of training pairs.
pub const TRAIN: Form = Form {
    name: "train",
    about: "a slow and an improved program by one author, with times and rewards",
    fields: &[
        must("src_id", Kind::Name, "submission of the slow program"),
        must("tgt_id", Kind::Name, "submission of the improved program"),
        must("src_agg_runtime", Kind::Number, "seconds of the slow program, summed over its tests"),
        must("tgt_agg_runtime", Kind::Number, "seconds of the improved program"),
        must("problem_id", Kind::Name, "the problem both solve"),
        must("speedup", Kind::Number, "src_agg_runtime / tgt_agg_runtime: above 1 is faster"),
        must("src_code", Kind::Code, "the slow program"),
        must("tgt_code", Kind::Code, "the improved program"),
        may("fastest_agg_runtime", Kind::Number, "seconds of the problem's fastest program"),
        may("src_status", Kind::Text, "verdict of the original judge"),
        may("tgt_status", Kind::Text, "verdict of the original judge"),
        may("user_id", Kind::Text, "author of both"),
        may("fastest_agg_runtime_updated", Kind::Number, "the same, measured again"),
        may("target_reward_updated", Kind::Number, "fastest / tgt: 1 is the fastest known"),
        may("src_reward_updated", Kind::Number, "fastest / src"),
        may("target_reward_updated_pct_bin", Kind::Decile, "decile of tgt within its problem"),
        may("src_reward_updated_pct_bin", Kind::Decile, "decile of src within its problem"),
        may("language", Kind::Text, "C or C++; C++ where absent"),
        may("split", Kind::Text, "train, val or test; one per problem"),
        may("confidence", Kind::Number, "share of tests on which the improved program is faster"),
        may("label", Kind::Text, "algorithm, data-structure, I/O, other or nothing"),
        may("io_only", Kind::Flag, "nothing but input and output changed"),
        may("array_shrunk", Kind::Flag, "an array became shorter"),
        may("startup_only", Kind::Flag, "no gain is left without what is before and after main"),
    ],
};

/// PIE's form of test pairs.
pub const TEST: Form = Form {
    name: "test",
    about: "a pair with the numbers of its tests and the time of each",
    fields: &[
        must("problem_id", Kind::Name, "the problem both solve"),
        must("src_id", Kind::Name, "submission of the slow program"),
        must("tgt_id", Kind::Name, "submission of the improved program"),
        must("src_code", Kind::Code, "the slow program"),
        must("tgt_code", Kind::Code, "the improved program"),
        must("tests", Kind::Tests, "numbers N of input.N.txt and output.N.txt"),
        may("n_tests", Kind::Count, "how many"),
        may("src_code_compilation", Kind::Flag, "whether it compiled"),
        may("tgt_code_compilation", Kind::Flag, "whether it compiled"),
        may("src_code_accuracy", Kind::Number, "share of tests passed, 0 to 1"),
        may("tgt_code_accuracy", Kind::Number, "share of tests passed, 0 to 1"),
        may("src_code_agg_runtime", Kind::Number, "seconds, summed over the tests"),
        may("tgt_code_agg_runtime", Kind::Number, "seconds, summed over the tests"),
        may("src_code_tc2time", Kind::Times, "seconds of each test"),
        may("tgt_code_tc2time", Kind::Times, "seconds of each test"),
        may("fastest_agg_runtime", Kind::Number, "seconds of the problem's fastest program"),
        may("user_id", Kind::Text, "author of both"),
        may("language", Kind::Text, "C or C++; C++ where absent"),
    ],
};

/// Pairs with nothing known but their programs.
pub const BARE: Form = Form {
    name: "bare",
    about: "a pair that has not been timed",
    fields: &[
        must("problem_id", Kind::Name, "the problem both solve"),
        must("src_code", Kind::Code, "the slow program"),
        must(
            "tgt_code",
            Kind::Code,
            "the improved program (where none is known, the slow one again)",
        ),
        may("submission_id", Kind::Text, "names the pair"),
        may("user_id", Kind::Text, "author of both"),
        may("language", Kind::Text, "C or C++; C++ where absent"),
    ],
};

/// Submissions to a judge, for `edits pairs`.
pub const SUBMISSIONS: Form = Form {
    name: "submissions",
    about: "one submission of one author to one problem",
    fields: &[
        must("submission_id", Kind::Name, "its name"),
        must("problem_id", Kind::Name, "the problem"),
        must("user_id", Kind::Name, "the author"),
        must("date", Kind::Count, "seconds since 1970"),
        must("code", Kind::Code, "the program"),
        may("language", Kind::Text, "C or C++; C++ where absent"),
        may("status", Kind::Text, "`Accepted` counts; absent: accepted"),
    ],
};

/// What a model proposes, for `edits judge`.
pub const CANDIDATES: Form = Form {
    name: "candidates",
    about: "programs proposed for one slow program, in the order of their drawing",
    fields: &[
        must("src_id", Kind::Name, "submission of the slow program"),
        must("generated_answers", Kind::Programs, "one program or a list of them"),
        may("tgt_id", Kind::Text, "where one slow program stands in several pairs"),
        may("problem_id", Kind::Text, "the problem"),
        may("method", Kind::Text, "what proposed them"),
        may("id", Kind::Names, "a name for each program, or one for all of the line"),
    ],
};

/// Problems with sample inputs, for `edits tests`.
pub const PROBLEMS: Form = Form {
    name: "problems",
    about: "a problem with its sample tests",
    fields: &[
        must("problem_id", Kind::Name, "its name"),
        must("samples", Kind::Samples, "a list of `{input, output}`"),
        may("limits", Kind::Limits, "least and most, by line and token of the first sample"),
        may(
            "description",
            Kind::Text,
            "its text, in HTML or plain; limits are read from it where none are given",
        ),
        may("name", Kind::Text, "its title"),
        may("time_limit_ms", Kind::Text, "the original judge's limit"),
        may("memory_limit_kb", Kind::Text, "the original judge's limit"),
    ],
};

/// All forms.
pub const FORMS: [Form; 6] = [TRAIN, TEST, BARE, SUBMISSIONS, CANDIDATES, PROBLEMS];

impl Form {
    /// The form of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Form> {
        FORMS.into_iter().find(|form| form.name == name)
    }

    /// The form that a line is meant to have, by the keys that only one of them has.
    #[must_use]
    pub fn of(line: &Map<String, Value>) -> Option<Form> {
        let has = |key: &str| line.contains_key(key);
        if has("generated_answers") && !has("tgt_code") {
            Some(CANDIDATES)
        } else if has("samples") {
            Some(PROBLEMS)
        } else if has("tests") || has("src_code_tc2time") {
            Some(TEST)
        } else if has("src_agg_runtime") || has("speedup") {
            Some(TRAIN)
        } else if has("code") {
            Some(SUBMISSIONS)
        } else if has("src_code") || has("tgt_code") {
            Some(BARE)
        } else {
            None
        }
    }

    /// The first field at fault, and what is wrong with it.
    ///
    /// # Errors
    /// `(field, reason)`.
    pub fn check(&self, line: &Map<String, Value>) -> Result<(), (String, String)> {
        for field in self.fields {
            let wrong = |reason: String| Err((field.name.to_owned(), reason));
            match line.get(field.name) {
                None if field.required => {
                    return wrong(format!("missing in form `{}`: {}", self.name, field.about));
                }
                None => {}
                Some(Value::Null) if !field.required => {}
                Some(value) => {
                    if let Err(wanted) = field.kind.check(value) {
                        return wrong(format!("wanted {wanted}, found {}", shown(value)));
                    }
                }
            }
        }
        self.check_across(line)
    }

    /// Laws that tie several fields.
    fn check_across(&self, line: &Map<String, Value>) -> Result<(), (String, String)> {
        let number = |name: &str| line.get(name).and_then(Value::as_f64);
        if let (Some(src), Some(tgt), Some(speedup)) =
            (number("src_agg_runtime"), number("tgt_agg_runtime"), number("speedup"))
            && tgt > 0.0
            && ((src / tgt) / speedup.max(f64::MIN_POSITIVE) - 1.0).abs() > 0.01
        {
            let reason =
                format!("is {speedup}, but src_agg_runtime / tgt_agg_runtime is {}", src / tgt);
            return Err(("speedup".into(), reason));
        }
        let tests = line.get("tests").and_then(Value::as_array);
        if let (Some(tests), Some(count)) = (tests, number("n_tests"))
            && (tests.len() as f64 - count).abs() > 0.5
        {
            let reason = format!("is {count}, but `tests` names {}", tests.len());
            return Err(("n_tests".into(), reason));
        }
        if self.name == CANDIDATES.name
            && let Some(names) = line.get("id").and_then(Value::as_array)
        {
            let programs = line.get("generated_answers").and_then(Value::as_array);
            let programs = programs.map_or(1, Vec::len);
            if names.len() != programs {
                let reason =
                    format!("has {} names, but there are {programs} programs", names.len());
                return Err(("id".into(), reason));
            }
        }
        for name in ["src_code_tc2time", "tgt_code_tc2time"] {
            let times = line.get(name).and_then(Value::as_object);
            if let (Some(tests), Some(times)) = (tests, times)
                && let Some(test) = times.keys().find(|key| !tests.iter().any(|t| same(t, key)))
            {
                return Err((
                    name.into(),
                    format!("has a time for test {test}, which `tests` lacks"),
                ));
            }
        }
        Ok(())
    }
}

fn same(test: &Value, key: &str) -> bool {
    match test {
        Value::String(text) => text == key,
        other => {
            let text = other.to_string();
            text == key
        }
    }
}

impl Kind {
    /// What a value should have been.
    fn check(self, value: &Value) -> Result<(), &'static str> {
        let text = value.as_str();
        let whole = |value: &Value| match value {
            Value::String(text) => text.parse::<u64>().is_ok(),
            other => other.as_u64().is_some(),
        };
        let number = |value: &Value| value.as_f64().is_some_and(|n| n.is_finite() && n >= 0.0);
        let (holds, wanted) = match self {
            Kind::Name => (text.is_some_and(|t| !t.is_empty()), "a string that is not empty"),
            Kind::Text => (text.is_some(), "a string"),
            Kind::Code => (text.is_some_and(|t| !t.trim().is_empty()), "a program's source"),
            Kind::Number => (number(value), "a number of at least 0"),
            Kind::Count => (value.as_u64().is_some(), "a whole number of at least 0"),
            Kind::Decile => (
                value.as_f64().is_some_and(|n| (1.0..=10.0).contains(&n) && n.fract() == 0.0),
                "a decile, 1 to 10",
            ),
            Kind::Flag => (
                value.is_boolean() || value.as_f64().is_some_and(|n| n == 0.0 || n == 1.0),
                "true or false",
            ),
            Kind::Tests => (
                value.as_array().is_some_and(|list| list.iter().all(whole)),
                "a list of test numbers",
            ),
            Kind::Times => (
                value.as_object().is_some_and(|times| {
                    times.iter().all(|(key, time)| {
                        key.parse::<u64>().is_ok() && (number(time) || time.is_null())
                    })
                }),
                "an object from test number to seconds",
            ),
            Kind::Programs => (
                text.is_some()
                    || value.as_array().is_some_and(|list| {
                        list.iter().all(|program| program.is_string() || program.is_null())
                    }),
                "a program or a list of programs",
            ),
            Kind::Samples => (
                value.as_array().is_some_and(|list| {
                    list.iter()
                        .all(|sample| ["input", "output"].iter().all(|key| sample[key].is_string()))
                }),
                "a list of {input, output}",
            ),
            Kind::Limits => (
                crate::problems::limits_of(value).is_some(),
                "a list of {line, token, least, most}, a slot or data_sets in the place of a line",
            ),
            Kind::Names => (
                is_name(value) || value.as_array().is_some_and(|list| list.iter().all(is_name)),
                "a name or a list of names",
            ),
        };
        if holds { Ok(()) } else { Err(wanted) }
    }
}

fn is_name(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

/// A value as a message shows it.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("`{}...`", &text[..at]),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fault(line: Value) -> (String, String) {
        let line = line.as_object().cloned().unwrap();
        Form::of(&line).unwrap().check(&line).unwrap_err()
    }

    fn train() -> Value {
        json!({"src_id": "s1", "tgt_id": "s2", "src_agg_runtime": 3.0, "tgt_agg_runtime": 1.5,
               "problem_id": "p1", "speedup": 2.0, "src_code": "int main(){}", "tgt_code": "int main(){}",
               "fastest_agg_runtime": null, "src_reward_updated_pct_bin": 3.0})
    }

    #[test]
    fn a_line_as_published_passes() {
        let line = train().as_object().cloned().unwrap();
        assert_eq!(Form::of(&line).unwrap().name, "train");
        assert_eq!(TRAIN.check(&line), Ok(()));
    }

    #[test]
    fn names_the_field_at_fault() {
        let mut line = train();
        line["src_code"] = json!(3);
        assert_eq!(fault(line), ("src_code".into(), "wanted a program's source, found `3`".into()));
        let mut line = train();
        line["speedup"] = json!(4.0);
        assert_eq!(fault(line).0, "speedup");
        let mut line = train();
        line.as_object_mut().unwrap().remove("tgt_id");
        assert_eq!(
            fault(line),
            ("tgt_id".into(), "missing in form `train`: submission of the improved program".into())
        );
        let mut line = train();
        line["src_reward_updated_pct_bin"] = json!(11);
        assert_eq!(fault(line).0, "src_reward_updated_pct_bin");
    }

    #[test]
    fn each_program_has_its_name_or_all_have_one() {
        let line = |id: Value| json!({"src_id": "a", "generated_answers": ["x", "y"], "id": id});
        for id in [json!("one"), json!(3), json!(["one", 2]), Value::Null] {
            assert_eq!(CANDIDATES.check(line(id).as_object().unwrap()), Ok(()));
        }
        for id in [json!(["one"]), json!({}), json!([true, false])] {
            assert_eq!(fault(line(id)).0, "id");
        }
    }

    #[test]
    fn times_belong_to_tests() {
        let line = json!({"src_id": "a", "tgt_id": "b", "problem_id": "p", "src_code": "x", "tgt_code": "y",
                          "tests": [1, 2], "n_tests": 2, "src_code_tc2time": {"1": 0.1, "3": 0.2}});
        assert_eq!(fault(line).0, "src_code_tc2time");
    }
}
