//! Prompts as files: parts begun by `--- system`, `--- example`, `--- answer` and `--- user`, with
//! `{slow}`, `{fast}` and `{score}` to be filled in.

use super::client::Message;
use crate::{Error, Result};
use std::path::Path;

/// Methods and their prompts.
pub const METHODS: [(&str, &str); 6] = [
    ("instruction", include_str!("../prompts/instruction.txt")),
    ("few-shot", include_str!("../prompts/few-shot.txt")),
    ("cot", include_str!("../prompts/cot.txt")),
    ("retrieval", include_str!("../prompts/retrieval.txt")),
    ("perf-conditioned", include_str!("../prompts/perf-conditioned.txt")),
    ("self-play", include_str!("../prompts/self-play.txt")),
];

/// A slow and an improved program to show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example {
    /// The slow program.
    pub slow: String,
    /// The improved one.
    pub fast: String,
    /// Its tag, 1 to 10.
    pub score: u32,
}

/// A prompt's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    system: String,
    example: String,
    answer: String,
    user: String,
}

impl Prompt {
    /// The built-in prompt of a method.
    #[must_use]
    pub fn of_method(name: &str) -> Option<Prompt> {
        let (_, text) = METHODS.iter().find(|(method, _)| *method == name)?;
        Prompt::parse(text).ok()
    }

    /// Read a prompt's file.
    ///
    /// # Errors
    /// When it cannot be read, or has no part `--- user` with `{slow}` in it.
    pub fn read(path: &Path) -> Result<Prompt> {
        let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
        Prompt::parse(&text).map_err(|reason| Error::Option { option: "--prompt", reason })
    }

    fn parse(text: &str) -> std::result::Result<Prompt, String> {
        let mut prompt = Prompt::default();
        let mut part: Option<&mut String> = None;
        for line in text.split_inclusive('\n') {
            part = match (line.trim_end().strip_prefix("--- "), part) {
                (Some("system"), _) => Some(&mut prompt.system),
                (Some("example"), _) => Some(&mut prompt.example),
                (Some("answer"), _) => Some(&mut prompt.answer),
                (Some("user"), _) => Some(&mut prompt.user),
                (Some(other), _) => {
                    return Err(format!("`{other}` is no part; use system, example, answer, user"));
                }
                (None, None) => return Err("it begins with no part; begin with `--- user`".into()),
                (None, Some(part)) => {
                    part.push_str(line);
                    Some(part)
                }
            };
        }
        if !prompt.user.contains("{slow}") {
            return Err("its part `--- user` has no {slow} in it".into());
        }
        Ok(prompt)
    }

    /// The chat that asks for a faster version of `slow`, after `examples` in their order.
    #[must_use]
    pub fn messages(&self, slow: &str, examples: &[Example]) -> Vec<Message> {
        let message = |role: &str, content: String| Message { role: role.into(), content };
        let mut messages = Vec::new();
        if !self.system.is_empty() {
            messages.push(message("system", self.system.trim_end().to_owned()));
        }
        for example in examples.iter().filter(|_| !self.example.is_empty()) {
            let fill =
                |text: &str| fill(text.trim_end(), &example.slow, &example.fast, example.score);
            messages.push(message("user", fill(&self.example)));
            messages.push(message("assistant", fill(&self.answer)));
        }
        messages.push(message("user", fill(self.user.trim_end(), slow, "", 10)));
        messages
    }

    /// Whether it shows examples.
    #[must_use]
    pub fn has_examples(&self) -> bool {
        !self.example.is_empty()
    }
}

/// Fill in a part in one pass: a program may hold braces of its own.
fn fill(text: &str, slow: &str, fast: &str, score: u32) -> String {
    let score = score.to_string();
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = [("{slow}", slow), ("{fast}", fast), ("{score}", score.as_str())];
        match known.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                filled.push_str(value.trim_end());
                rest = &rest[name.len()..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled + rest
}

/// A program as it is, or the one in it where it is an answer with code blocks, as models write them.
#[must_use]
pub fn unfenced(code: &str) -> String {
    match code.lines().any(|line| line.starts_with("```")) {
        true => program_in(code),
        false => code.to_owned(),
    }
}

/// The program in a model's answer: its last code block that is closed, or all of it where it is one.
/// Empty where there is none.
pub(crate) fn program_in(answer: &str) -> String {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in answer.lines() {
        match (line.trim_start().starts_with("```"), open.take()) {
            (true, None) => open = Some(String::new()),
            (true, Some(block)) => blocks.push(block),
            (false, Some(block)) => open = Some(block + line + "\n"),
            (false, None) => {}
        }
    }
    // Cut off by the limit of tokens: no program, and it would not compile.
    let block = blocks.into_iter().rev().find(|block| block.contains("main"));
    match block {
        Some(block) => block,
        None if !answer.contains("```") && answer.contains("main") && answer.contains('{') => {
            answer.trim().to_owned() + "\n"
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_prompt_asks_for_the_program() {
        for (name, _) in METHODS {
            let prompt = Prompt::of_method(name).unwrap();
            let example = Example { slow: "S{fast}".into(), fast: "F".into(), score: 7 };
            let messages = prompt.messages("int main() { {slow} }", std::slice::from_ref(&example));
            let last = messages.last().unwrap();
            assert!(
                last.role == "user" && last.content.contains("int main() { {slow} }"),
                "{name}"
            );
            assert_eq!(prompt.has_examples(), messages.iter().any(|m| m.role == "assistant"));
            if prompt.has_examples() {
                assert!(
                    messages[1].content.contains("S{fast}"),
                    "programs are not filled in again"
                );
            }
        }
        assert!(Prompt::parse("hello").is_err());
        assert!(Prompt::parse("--- user\nno program\n").is_err());
    }

    #[test]
    fn the_last_whole_block_is_the_program() {
        assert_eq!(
            program_in("a\n```cpp\nint main() {}\n```\nb\n```cpp\nint main() { x; }\n```"),
            "int main() { x; }\n"
        );
        assert_eq!(program_in("```cpp\nint main() {"), "");
        assert_eq!(program_in("int main() {}"), "int main() {}\n");
        assert_eq!(program_in("I cannot do that."), "");
        // What nobody asked a model for stays what it is.
        assert_eq!(unfenced("\nint f;\n// ```\n"), "\nint f;\n// ```\n");
        assert_eq!(unfenced("Here:\n```c\nint main() {}\n```\n"), "int main() {}\n");
    }
}
