//! Pairs as data to fine-tune on, and as PIE's JSON lines.

use crate::{
    Error, Result,
    model::Example,
    model::Prompt,
    pair::{Pair, to_test, to_train},
    self_play::SELF_PLAY,
};
use serde_json::{Map, Value, json};

/// What lines look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// `{"messages": [...]}`, the last by the assistant: OpenAI's form for fine-tuning.
    OpenAi,
    /// `{"prompt", "completion"}`, as Hugging Face's trainers take them: loss on the completion alone.
    HuggingFace,
    /// PIE's form for training.
    PieTrain,
    /// PIE's form for testing.
    PieTest,
}

/// How pairs are put into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportMethod {
    /// Slow program, improved program.
    Plain,
    /// With the improved program's tag in the question; answers are asked for with `10/10`.
    PerfConditioned,
    /// As plain, of pairs that [`crate::self_play()`] made alone.
    SelfPlay,
}

/// Lines of `pairs`.
///
/// # Errors
/// When pairs have no tags and the method needs them.
pub fn export(
    pairs: &[Pair],
    format: ExportFormat,
    method: ExportMethod,
) -> Result<Vec<Map<String, Value>>> {
    let name = match method {
        ExportMethod::Plain | ExportMethod::SelfPlay => "instruction",
        ExportMethod::PerfConditioned => "perf-conditioned",
    };
    let prompt = Prompt::of_method(name).unwrap_or_default();
    let wanted = |pair: &&Pair| method != ExportMethod::SelfPlay || pair.user_id == SELF_PLAY;
    if !pairs.is_empty() && !pairs.iter().any(|pair| wanted(&pair)) {
        return Err(Error::Option {
            option: "--method",
            reason: "none of these pairs are of self-play; `stampmill edits self-play` makes some"
                .into(),
        });
    }
    pairs
        .iter()
        .filter(wanted)
        .map(|pair| match format {
            ExportFormat::PieTrain => Ok(to_train(pair)),
            ExportFormat::PieTest => Ok(to_test(pair)),
            ExportFormat::OpenAi | ExportFormat::HuggingFace => {
                let score = match (method, pair.tgt_decile) {
                    (ExportMethod::PerfConditioned, None) => {
                        return Err(Error::Option {
                            option: "--method",
                            reason: format!(
                                "{} has no tag; make pairs with `stampmill edits pairs` first",
                                pair.name()
                            ),
                        });
                    }
                    (_, score) => score.unwrap_or(10),
                };
                Ok(line(&prompt, pair, format, method, score))
            }
        })
        .collect()
}

fn line(
    prompt: &Prompt,
    pair: &Pair,
    format: ExportFormat,
    method: ExportMethod,
    score: u32,
) -> Map<String, Value> {
    let mut messages = match method {
        ExportMethod::Plain | ExportMethod::SelfPlay => prompt.messages(&pair.src_code, &[]),
        // The example's question holds the tag; the question itself would ask for 10.
        ExportMethod::PerfConditioned => {
            let (slow, fast) = (pair.src_code.clone(), pair.tgt_code.clone());
            let example = Example { slow, fast, score, ..Example::default() };
            let mut messages = prompt.messages(&pair.src_code, &[example]);
            messages.truncate(messages.len().saturating_sub(2));
            messages
        }
    };
    let answer = format!("```cpp\n{}\n```", pair.tgt_code.trim_end());
    let value = match format {
        ExportFormat::HuggingFace => {
            let asked: Vec<String> = messages.into_iter().map(|message| message.content).collect();
            json!({"prompt": asked.join("\n\n") + "\n\n", "completion": answer, "problem_id": pair.problem_id})
        }
        _ => {
            messages.push(crate::model::Message { role: "assistant".into(), content: answer });
            json!({"messages": messages})
        }
    };
    match value {
        Value::Object(line) => line,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_stands_apart_from_the_question() {
        let pair = Pair {
            src_code: "slow();".into(),
            tgt_code: "fast();".into(),
            tgt_decile: Some(7),
            ..Pair::default()
        };
        let pairs = [pair];
        let open = export(&pairs, ExportFormat::OpenAi, ExportMethod::PerfConditioned).unwrap();
        let messages = open[0]["messages"].as_array().unwrap();
        let roles: Vec<&str> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant"]);
        assert!(messages[1]["content"].as_str().unwrap().contains("score 7/10"));
        let hf = export(&pairs, ExportFormat::HuggingFace, ExportMethod::Plain).unwrap();
        assert!(hf[0]["prompt"].as_str().unwrap().contains("slow();"));
        assert!(!hf[0]["prompt"].as_str().unwrap().contains("fast();"));
        assert_eq!(hf[0]["completion"], "```cpp\nfast();\n```");
        let untagged = [Pair { tgt_decile: None, ..pairs[0].clone() }];
        assert!(export(&untagged, ExportFormat::OpenAi, ExportMethod::PerfConditioned).is_err());
    }
}
