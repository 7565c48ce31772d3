//! Prompts as files: parts begun by `--- system`, `--- example`, `--- answer` and `--- user`, with
//! `{slow}`, `{fast}`, `{score}` and `{reason}` to be filled in.

use super::client::Message;
use crate::{Error, Result, token::tokens};
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
    /// What saves the time, for prompts that want it said before the program.
    pub reason: String,
}

/// A prompt's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    system: String,
    example: String,
    answer: String,
    user: String,
    /// The tag that is asked for; `None`: the best.
    tag: Option<u32>,
}

/// The tag of the fastest tenth of a problem's programs.
const BEST_TAG: u32 = 10;

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
            let score = example.score.to_string();
            let values = [
                ("{slow}", example.slow.as_str()),
                ("{fast}", example.fast.as_str()),
                ("{score}", score.as_str()),
                ("{reason}", example.reason.as_str()),
            ];
            messages.push(message("user", fill(self.example.trim_end(), &values)));
            messages.push(message("assistant", fill(self.answer.trim_end(), &values)));
        }
        let score = self.tag.unwrap_or(BEST_TAG).to_string();
        let values =
            [("{slow}", slow), ("{fast}", ""), ("{score}", score.as_str()), ("{reason}", "")];
        messages.push(message("user", fill(self.user.trim_end(), &values)));
        messages
    }

    /// Whether it shows examples.
    #[must_use]
    pub fn has_examples(&self) -> bool {
        !self.example.is_empty()
    }

    /// Whether its question names a tag.
    #[must_use]
    pub fn has_tag(&self) -> bool {
        self.user.contains("{score}")
    }

    /// The same, whose question names this tag, 1 to 10, in the place of 10.
    #[must_use]
    pub fn with_tag(self, tag: u32) -> Prompt {
        Prompt { tag: Some(tag), ..self }
    }
}

/// Fill in a part in one pass: a program may hold braces of its own.
fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
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

/// The program in an answer: the last code block with a `main`, without code blocks all of it. A block that nothing closes ends
/// with the answer and counts where as many braces are closed in it as are opened.
/// Empty where there is none, or no `main` in it.
#[must_use]
pub fn unfenced(answer: &str) -> String {
    let is_program = |code: &&str| code.contains("main") && code.contains('{');
    let mut blocks = Vec::new();
    let mut open: Option<(char, String)> = None;
    let mut fenced = false;
    for line in answer.lines() {
        match (open.take(), fence(line)) {
            (None, Some(of)) => (open, fenced) = (Some((of, String::new())), true),
            (None, None) => {}
            (Some((of, block)), found) if found == Some(of) => blocks.push(block),
            (Some((of, block)), _) => match closed(line, of) {
                Some(last) => blocks.push(block + last + "\n"),
                None => open = Some((of, block + line + "\n")),
            },
        }
    }
    // One that breaks off, by the limit of tokens say, is no program.
    blocks.extend(open.map(|(_, block)| block).filter(|block| is_whole(block)));
    match fenced {
        true => blocks.into_iter().rev().find(|block| is_program(&block.as_str())),
        false => Some(answer).filter(is_program).map(str::to_owned),
    }
    .unwrap_or_default()
}

/// What is said of an answer of which [`unfenced`] makes nothing.
pub(crate) const NO_PROGRAM: &str = "no code with a `main` is in the answer (a code block that the answer does not close counts where all of its braces are closed)";

/// What a line that begins or ends a code block is made of. `~~~x;` is C.
fn fence(line: &str) -> Option<char> {
    let line = line.trim();
    let is_word = |c: char| c.is_alphanumeric() || "~ +#-_.".contains(c);
    match line {
        _ if line.starts_with("```") => Some('`'),
        _ if line.starts_with("~~~") && line.chars().all(is_word) => Some('~'),
        _ => None,
    }
}

/// What stands before the fence at the end of a block's last line.
fn closed(line: &str, of: char) -> Option<&str> {
    let line = line.trim_end();
    let last = line.trim_end_matches(of);
    (line.len() - last.len() >= 3 && !last.contains("//")).then_some(last)
}

/// Whether as many braces are closed as are opened.
fn is_whole(block: &str) -> bool {
    let tokens = tokens(block);
    let count = |brace: &str| tokens.iter().filter(|token| token.text == brace).count();
    count("{") == count("}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_prompt_asks_for_the_program() {
        for (name, _) in METHODS {
            let prompt = Prompt::of_method(name).unwrap();
            let example = Example {
                slow: "S{fast}".into(),
                fast: "F".into(),
                score: 7,
                reason: "R{slow}".into(),
            };
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
    fn a_thought_stands_before_the_program_that_is_shown() {
        let prompt = Prompt::of_method("cot").unwrap();
        let reason = "It sums what a formula gives.".to_owned();
        let example = Example { fast: "F".into(), reason, ..Example::default() };
        let messages = prompt.messages("S", &[example]);
        let roles: Vec<&str> = messages.iter().map(|message| message.role.as_str()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"]);
        assert_eq!(messages[2].content, "It sums what a formula gives.\n\n```cpp\nF\n```");
        assert_eq!(prompt.messages("S", &[]).len(), 2, "without one it is asked all the same");
    }

    #[test]
    fn the_best_tag_is_asked_for_unless_another_is_wanted() {
        let prompt = Prompt::of_method("perf-conditioned").unwrap();
        let asked = |prompt: &Prompt| prompt.messages("S", &[]).pop().unwrap().content;
        assert!(asked(&prompt).contains("to score 10/10."));
        assert!(prompt.has_tag() && asked(&prompt.clone().with_tag(7)).contains("to score 7/10."));
        assert!(!Prompt::of_method("instruction").unwrap().has_tag());
    }

    #[test]
    fn the_last_whole_block_is_the_program() {
        let two = "a\n```cpp\nint main() {}\n```\nb\n```cpp\nint main() { x; }\n```";
        assert_eq!(unfenced(two), "int main() { x; }\n");
        assert_eq!(
            unfenced("Here:\n```c\nint main() {}\n```\n```sh\nmake\n```\n"),
            "int main() {}\n"
        );
        assert_eq!(unfenced("```cpp\nint main() {\n}```\nFast."), "int main() {\n}\n");
        assert_eq!(unfenced("1. So:\n   ```c\n   int main() {}\n   ```\n"), "   int main() {}\n");
        assert_eq!(
            unfenced("~~~ c\nint main() {\n~~~x;\n}\n~~~\nFast."),
            "int main() {\n~~~x;\n}\n"
        );
    }

    #[test]
    fn a_block_that_nothing_closes_counts_where_its_braces_are_closed() {
        assert_eq!(unfenced("```cpp\nint main() {"), "");
        assert_eq!(unfenced("```cpp\nint main() {}"), "int main() {}\n");
        // What stands in quotes or behind `//` is no brace.
        assert_eq!(unfenced("~~~c\nint main() { puts(\"}\"); // }"), "");
        let earlier = "```c\nint main() { return 0; }\n```\nBetter:\n```c\nint main() { return";
        assert_eq!(unfenced(earlier), "int main() { return 0; }\n");
    }

    #[test]
    fn what_has_no_code_blocks_is_code_where_it_has_a_main() {
        let code = "\nint main() {}\n// ```\n";
        assert_eq!(unfenced(code), code);
        assert_eq!(unfenced("I cannot do that."), "");
    }
}
