//! From questions and answers to a training folder that fine-tunes a checkpoint: the loss is on the answers
//! alone.

use crate::{
    Causal, Error, Kind, Recipe, Result, Training,
    causal::{Message, PLAIN, optional},
    checkpoint::{put, write_json},
    recipe::merge,
    settings::{Lora, Settings, SpecialIds, Task},
};
use dataset::content_hash;
use nn::{Array, Numbers};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// A chat, put into one text by the checkpoint's template.
    Chat(Vec<Message>),
    /// A text as it is.
    Text(String),
}

/// A question with the answer to learn.
#[derive(Clone, Debug, PartialEq)]
pub struct Dialogue {
    /// The question.
    pub asked: Asked,
    /// The answer.
    pub answer: String,
    /// The problem that both are about; never on both sides of the split. Empty: known by the question.
    pub problem: String,
    /// `train`, `val`, `test` (left out) or empty: split here.
    pub split: String,
}

impl Dialogue {
    /// A line as `stampmill edits export` writes it: `{"messages": [...]}`, the last by the assistant, or
    /// `{"prompt", "completion"}`; `problem_id` and `split` where it has them.
    ///
    /// # Errors
    /// When it is neither, with what is missing.
    pub fn of(line: &Value) -> std::result::Result<Dialogue, String> {
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let (problem, split) = (text("problem_id"), text("split"));
        if let (Some(prompt), Some(completion)) =
            (line["prompt"].as_str(), line["completion"].as_str())
        {
            let (asked, answer) = (Asked::Text(prompt.to_owned()), completion.to_owned());
            return Ok(Dialogue { asked, answer, problem, split });
        }
        if line["messages"].is_null() {
            return Err("it has neither `messages` nor `prompt` and `completion`".to_owned());
        }
        let mut messages: Vec<Message> = serde_json::from_value(line["messages"].clone())
            .map_err(|error| format!("field `messages`: {error}"))?;
        match messages.pop() {
            Some(last) if last.role == "assistant" && !messages.is_empty() => {
                Ok(Dialogue { asked: Asked::Chat(messages), answer: last.content, problem, split })
            }
            _ => Err("field `messages`: the last of several is to be by the assistant".to_owned()),
        }
    }

    /// The lines of a file that `stampmill edits export` wrote.
    ///
    /// # Errors
    /// When it cannot be read, a line is no question with an answer, or there is none.
    pub fn read(path: &Path) -> Result<Vec<Dialogue>> {
        let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let dialogue = |(line, text): (usize, &str)| {
            let value = serde_json::from_str(text).map_err(|error| error.to_string());
            let dialogue = value.and_then(|value| Dialogue::of(&value));
            dialogue.map_err(|why| Error::Line { path: path.to_owned(), line, why })
        };
        let dialogues = lines.map(dialogue).collect::<Result<Vec<_>>>()?;
        match dialogues.is_empty() {
            true => Err(Error::EmptyCorpus(format!(
                "{} is empty; `stampmill edits export PAIRS --format hf --out FILE` writes what to learn from",
                path.display()
            ))),
            false => Ok(dialogues),
        }
    }

    /// What keeps it on one side of the split.
    fn group(&self) -> String {
        match (&self.asked, self.problem.is_empty()) {
            (_, false) => self.problem.clone(),
            (Asked::Text(text), true) => content_hash(text.as_bytes()),
            (Asked::Chat(messages), true) => {
                let said: Vec<&str> = messages.iter().map(|m| m.content.as_str()).collect();
                content_hash(said.join("\n").as_bytes())
            }
        }
    }
}

/// How a checkpoint is fine-tuned.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Training settings; `budget_tokens` and `validate_every` of 0 are worked out.
    pub training: Training,
    /// Rank of the adapters that are trained in the place of all weights (Hu et al. 2022).
    pub lora: Option<u32>,
    /// What adapters add is multiplied by this over their rank; `None`: twice the rank.
    pub lora_alpha: Option<f64>,
    /// Times that each answer is seen, where no budget of tokens is given.
    pub epochs: f64,
}

/// `alpha` over the rank, where none is given.
const SCALE: u32 = 2;

impl Tuning {
    /// The usual settings for a checkpoint, with those of a TOML file's table `[training]` in their place.
    ///
    /// # Errors
    /// When the file cannot be read, names a setting that there is not, or settings do not fit.
    pub fn read(base: &Causal, lora: Option<u32>, path: Option<&Path>) -> Result<Tuning> {
        let length = base.length().min(4096);
        let training = Training {
            length,
            batch_tokens: length.max(16_384),
            budget_tokens: 0,
            learning_rate: if lora.is_some() { 2e-4 } else { 2e-5 },
            warmup_steps: 10,
            weight_decay: 0.0,
            dropout: 0.0,
            validate_every: 0,
            validation_share: 0.1,
            ..Recipe::of(Kind::Infill).training
        };
        let training = match path {
            None => training,
            Some(path) => {
                let wrong = |why: String| Error::Recipe { path: path.to_owned(), why };
                let text = crate::recipe::settings(path)?;
                let mut given: toml::Table =
                    text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
                let own = given.remove("training");
                if let Some(name) = given.keys().next() {
                    return Err(wrong(format!(
                        "[{name}]: sizes are the checkpoint's; a recipe for edits has [training] alone"
                    )));
                }
                let mut whole =
                    toml::Value::try_from(&training).map_err(|error| wrong(error.to_string()))?;
                if let Some(own) = own {
                    merge(&mut whole, own);
                }
                whole.try_into().map_err(|error: toml::de::Error| wrong(error.to_string()))?
            }
        };
        if training.length < 16 || training.batch_tokens < training.length {
            let why = "a batch must hold at least one sequence of `length` tokens".to_owned();
            return Err(Error::Recipe { path: path.unwrap_or(base.folder()).to_owned(), why });
        }
        Ok(Tuning { training, lora, lora_alpha: None, epochs: 3.0 })
    }
}

/// What a set of questions and answers came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TuningReport {
    /// Answers to train on.
    pub training: usize,
    /// Answers to validate on.
    pub validation: usize,
    /// Problems of both.
    pub problems: usize,
    /// All by what became of them: `accepted`; `too-long` for the length; `not-spelled` where the tokenizer
    /// does not give the answer back; `held-back` for the split `test`.
    pub verdicts: BTreeMap<String, usize>,
    /// Tokens of the answers to train on.
    pub answer_tokens: u64,
    /// Tokens to train on, questions included.
    pub training_tokens: u64,
    /// Longest question with its answer, whether kept or not.
    pub longest: usize,
    /// Most tokens of a question with its answer.
    pub length: usize,
    /// Steps to train.
    pub steps: u64,
}

/// A dialogue as tokens.
struct Spelled {
    tokens: Vec<u32>,
    answer: usize,
    group: String,
    side: Option<u8>,
}

/// Write a training folder that fine-tunes `base`: `corpus.safetensors` with the place where each answer
/// begins, `config.json`, `training.json`, the tokenizer's files with the chat template, `base/` with the
/// weights, and `corpus.json` with the report.
///
/// # Errors
/// When nothing is left to train on, or a file cannot be written.
pub fn prepare_edits(
    dialogues: &[Dialogue],
    base: &Causal,
    tuning: &Tuning,
    seed: u64,
    folder: &Path,
) -> Result<TuningReport> {
    let length = tuning.training.length;
    let mut report = TuningReport { length, ..TuningReport::default() };
    let mut kept = Vec::new();
    for dialogue in dialogues {
        let (verdict, spelled) = spell(dialogue, base, length)?;
        *report.verdicts.entry(verdict.to_owned()).or_default() += 1;
        if let Some(spelled) = spelled {
            report.longest = report.longest.max(spelled.tokens.len());
            if verdict == ACCEPTED {
                kept.push(spelled);
            }
        }
    }
    split(&mut kept, tuning.training.validation_share);
    let trained = |one: &&Spelled| one.side == Some(0);
    report.training = kept.iter().filter(trained).count();
    report.validation = kept.len() - report.training;
    report.problems = kept.iter().map(|one| &one.group).collect::<BTreeSet<_>>().len();
    report.training_tokens = kept.iter().filter(trained).map(|one| one.tokens.len() as u64).sum();
    report.answer_tokens =
        kept.iter().filter(trained).map(|one| (one.tokens.len() - one.answer) as u64).sum();
    if report.training == 0 {
        let what: Vec<String> =
            report.verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        return Err(Error::EmptyCorpus(match dialogues.is_empty() {
            true => "there is no question with an answer to train on".to_owned(),
            false => format!(
                "no answer is left to train on: {}; the longest has {} tokens, `length` is {length}",
                what.join(", "),
                report.longest
            ),
        }));
    }
    let mut training = tuning.training.clone();
    if training.budget_tokens == 0 {
        let tokens = report.training_tokens as f64 * tuning.epochs;
        training.budget_tokens = (tokens as u64).max(1);
    }
    let alpha = |rank: u32| tuning.lora_alpha.unwrap_or_else(|| f64::from(SCALE * rank));
    let lora = |rank: u32| Lora { rank, alpha: alpha(rank) };
    let mut settings = Settings {
        training,
        kind: Kind::Infill,
        task: Task::Edits,
        special: SpecialIds { pad: padding(base), ..SpecialIds::default() },
        seed,
        lora: tuning.lora.map(lora),
    };
    report.steps = settings.steps();
    if settings.training.validate_every == 0 {
        settings.training.validate_every = (report.steps / 20).max(1);
    }
    fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
    write_corpus(kept, folder)?;
    write_checkpoint(dialogues, base, length, folder)?;
    write_json(&folder.join("training.json"), &settings)?;
    write_json(&folder.join("corpus.json"), &report)?;
    Ok(report)
}

const ACCEPTED: &str = "accepted";

/// A dialogue as tokens, and what becomes of it.
fn spell(
    dialogue: &Dialogue,
    base: &Causal,
    length: usize,
) -> Result<(&'static str, Option<Spelled>)> {
    if dialogue.split == "test" {
        return Ok(("held-back", None));
    }
    let mut tokens = match &dialogue.asked {
        Asked::Chat(messages) => base.chat(messages)?,
        Asked::Text(text) => base.prompt(text)?,
    };
    let answer = tokens.len();
    let own = base.tokens(&dialogue.answer)?;
    let same = base.text(&own)? == dialogue.answer;
    tokens.extend(own);
    tokens.extend(base.ends().first());
    let fits = tokens.len() <= length;
    let side = match dialogue.split.as_str() {
        "" => None,
        "val" | "valid" | "validation" => Some(1),
        _ => Some(0),
    };
    let spelled = Spelled { tokens, answer, group: dialogue.group(), side };
    Ok((
        if !same {
            "not-spelled"
        } else if !fits {
            "too-long"
        } else {
            ACCEPTED
        },
        Some(spelled),
    ))
}

/// Problems that are on no side yet come to one: those of smallest hash to validation, none where there are
/// fewer than five.
fn split(all: &mut [Spelled], share: f64) {
    let mut open: Vec<String> = all
        .iter()
        .filter(|one| one.side.is_none())
        .map(|one| content_hash(one.group.as_bytes()))
        .collect();
    open.sort();
    open.dedup();
    let count = if open.len() < 5 { 0 } else { (open.len() as f64 * share).round() as usize };
    let held: BTreeSet<String> = open.into_iter().take(count).collect();
    for one in all.iter_mut().filter(|one| one.side.is_none()) {
        one.side = Some(u8::from(held.contains(&content_hash(one.group.as_bytes()))));
    }
}

fn write_corpus(kept: Vec<Spelled>, folder: &Path) -> Result<()> {
    let (mut tokens, mut offsets, mut answers) = (Vec::new(), vec![0], Vec::new());
    let mut side = Vec::new();
    for one in kept {
        tokens.extend_from_slice(&one.tokens);
        offsets.push(tokens.len() as i64);
        answers.push(one.answer as i64);
        side.push(one.side.unwrap_or(0));
    }
    let weight = Array::list(Numbers::F32(vec![1.0; side.len()]));
    let arrays = BTreeMap::from([
        ("tokens".to_owned(), Array::list(Numbers::U32(tokens))),
        ("offsets".to_owned(), Array::list(Numbers::I64(offsets))),
        ("answers".to_owned(), Array::list(Numbers::I64(answers))),
        ("split".to_owned(), Array::list(Numbers::U8(side))),
        ("weight".to_owned(), weight),
    ]);
    Ok(nn::write(&folder.join("corpus.safetensors"), &arrays)?)
}

/// What the checkpoint to be has but weights, and those that training begins with.
fn write_checkpoint(
    dialogues: &[Dialogue],
    base: &Causal,
    length: usize,
    folder: &Path,
) -> Result<()> {
    let mut config = base.model().config().clone();
    config["torch_dtype"] = json!("bfloat16");
    if let Some(positions) = config["max_position_embeddings"].as_u64() {
        // Rotary positions have no weights: training makes what is longer known.
        config["max_position_embeddings"] = json!(positions.max(length as u64));
    }
    if config["stampmill"]["length"].is_u64() {
        config["stampmill"]["length"] = json!(length.max(base.length()));
    }
    config["stampmill"]["task"] = json!("edits");
    write_json(&folder.join("config.json"), &config)?;
    let from = base.folder();
    for name in ["tokenizer.json", "special_tokens_map.json", "generation_config.json"] {
        let path = from.join(name);
        if path.is_file() {
            let content = fs::read(&path).map_err(Error::file("read", &path))?;
            put(&folder.join(name), &content)?;
        }
    }
    let mut settings = match optional(&from.join("tokenizer_config.json"))? {
        Value::Object(settings) => settings,
        _ => serde_json::Map::new(),
    };
    // Texts were learned as they are: chats are to be asked in the same way.
    let chats = dialogues.iter().any(|dialogue| matches!(dialogue.asked, Asked::Chat(_)));
    let template = if chats { base.template().source() } else { PLAIN };
    settings.insert("chat_template".to_owned(), json!(template));
    write_json(&folder.join("tokenizer_config.json"), &settings)?;
    let weights = folder.join("base");
    fs::create_dir_all(&weights).map_err(Error::file("create", &weights))?;
    for path in weights_of(from)? {
        let to = weights.join(path.file_name().unwrap_or_default());
        // Large files are not copied where that can be helped.
        if fs::hard_link(&path, &to).is_err() {
            fs::copy(&path, &to).map_err(Error::file("copy", &path))?;
        }
    }
    Ok(())
}

/// The files that hold a checkpoint's weights.
fn weights_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let whole = folder.join("model.safetensors");
    let index = folder.join("model.safetensors.index.json");
    if whole.is_file() || !index.is_file() {
        return Ok(vec![whole]);
    }
    let map = optional(&index)?["weight_map"].as_object().cloned().unwrap_or_default();
    let names: BTreeSet<&str> = map.values().filter_map(Value::as_str).collect();
    Ok(names.into_iter().map(|name| folder.join(name)).chain([index.clone()]).collect())
}

/// The id that fills up a batch.
fn padding(base: &Causal) -> u32 {
    let pad = base.model().config()["pad_token_id"].as_u64();
    let pad = pad.and_then(|pad| u32::try_from(pad).ok());
    pad.unwrap_or_else(|| base.ends().first().copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Causal {
        // Not `env!`: a build folder may serve several checkouts. Cargo runs tests in the crate's folder.
        Causal::load(Path::new("../../models/infill")).expect("the model that ships")
    }

    fn dialogue(at: usize, split: &str) -> Dialogue {
        let line = json!({
            "prompt": format!("Make this faster:\n```cpp\nint main() {{ return {at}; }}\n```\n\n"),
            "completion": "```cpp\n#include <bits/stdc++.h>\nusing namespace std;\nint main() { cout << 1 << \"\\n\"; }\n```",
            "problem_id": format!("p{}", at / 2), "split": split,
        });
        Dialogue::of(&line).expect("a line of the export")
    }

    #[test]
    fn answers_come_back_and_problems_stay_on_one_side() {
        let work = tempfile::tempdir().unwrap();
        let base = base();
        let mut dialogues: Vec<Dialogue> = (0..40).map(|at| dialogue(at, "")).collect();
        dialogues.push(Dialogue { answer: "x ".repeat(2000), ..dialogue(50, "") });
        dialogues.push(dialogue(60, "test"));
        let tuning = Tuning::read(&base, Some(4), None).unwrap();
        let report = prepare_edits(&dialogues, &base, &tuning, 0, work.path()).unwrap();
        assert_eq!((report.training, report.validation, report.problems), (36, 4, 20));
        let verdicts = [("accepted", 40), ("held-back", 1), ("too-long", 1)];
        assert_eq!(report.verdicts, verdicts.map(|(name, n)| (name.to_owned(), n)).into());
        let arrays = nn::read(&work.path().join("corpus.safetensors")).unwrap();
        let numbers = |name: &str| match &arrays[name].numbers {
            Numbers::I64(all) => all.iter().map(|n| *n as usize).collect::<Vec<_>>(),
            Numbers::U32(all) => all.iter().map(|n| *n as usize).collect(),
            Numbers::U8(all) => all.iter().map(|n| usize::from(*n)).collect(),
            other => panic!("{other:?}"),
        };
        let (tokens, offsets, answers) =
            (numbers("tokens"), numbers("offsets"), numbers("answers"));
        let first: Vec<u32> = tokens[answers[0]..offsets[1]].iter().map(|id| *id as u32).collect();
        assert_eq!(base.text(&first).unwrap(), dialogues[0].answer);
        assert_eq!(first.last(), base.ends().first());
        let side = numbers("split");
        assert!(side.chunks(2).all(|pair| pair[0] == pair[1]), "{side:?}");
        let settings = optional(&work.path().join("training.json")).unwrap();
        assert_eq!(settings["lora"], json!({"rank": 4, "alpha": 8.0}));
        assert_eq!(settings["task"], "edits");
        assert!(work.path().join("base/model.safetensors").is_file());
        let tuning =
            Tuning { lora_alpha: Some(16.0), ..Tuning::read(&base, Some(32), None).unwrap() };
        let work = tempfile::tempdir().unwrap();
        prepare_edits(&dialogues, &base, &tuning, 0, work.path()).unwrap();
        let settings = optional(&work.path().join("training.json")).unwrap();
        assert_eq!(settings["lora"], json!({"rank": 32, "alpha": 16.0}));
    }

    #[test]
    fn nothing_to_train_on_is_said_with_its_reason() {
        let work = tempfile::tempdir().unwrap();
        let base = base();
        let tuning = Tuning::read(&base, None, None).unwrap();
        let long = Dialogue { answer: "x ".repeat(2000), ..dialogue(0, "") };
        let error = prepare_edits(&[long], &base, &tuning, 0, work.path()).unwrap_err().to_string();
        assert!(error.contains("1 too-long") && error.contains("`length` is 1024"), "{error}");
        let error = prepare_edits(&[], &base, &tuning, 0, work.path()).unwrap_err().to_string();
        assert!(error.contains("no question"), "{error}");
        assert!(Dialogue::of(&json!({"src_code": "x"})).is_err());
        assert!(Dialogue::of(&json!({"messages": [{"role": "user", "content": "x"}]})).is_err());
    }
}
