use super::{Complaint, Fix, Program, Repair, is_missing};
use crate::chunks::has_word;
use lexer::{Kind, Token, tokens};
use std::collections::BTreeSet;

/// Switches on the part of the program that defines a missing name: defines what its `#if` asks
/// for.
pub(super) struct Conditional;

impl Repair for Conditional {
    fn fix(&self, complaint: &Complaint<'_>, program: &Program<'_>) -> Option<Vec<Fix>> {
        if !is_missing(complaint) || !has_word(program.source, complaint.name) {
            return None;
        }
        let mut best: Option<Vec<String>> = None;
        for guards in definitions(program.source, complaint.name) {
            let Some(defines) = satisfy(&guards) else { continue };
            if !defines.is_empty() && best.as_ref().is_none_or(|best| defines.len() < best.len()) {
                best = Some(defines);
            }
        }
        Some(best?.into_iter().map(Fix::Define).collect())
    }
}

/// A condition that must hold, or must not.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Guard {
    condition: String,
    holds: bool,
}

/// The conditions around each place of a source that may define `name`.
fn definitions(source: &str, name: &str) -> Vec<Vec<Guard>> {
    let mut found = Vec::new();
    let mut open: Vec<Vec<Guard>> = Vec::new();
    let mut words: Vec<Token<'_>> = Vec::new();
    let all = tokens(source).map(Some).chain([None]);
    for token in all {
        let Some(token) = token else { break };
        if token.kind != Kind::Directive {
            words.push(token);
            if words.len() > 4 {
                words.remove(0);
            }
            if ends_definition(&words, name) {
                found.push(open.concat());
            }
            continue;
        }
        words.clear();
        let (directive, rest) = split(token.text);
        match directive {
            "if" => open.push(vec![Guard { condition: rest, holds: true }]),
            "ifdef" => {
                open.push(vec![Guard { condition: format!("defined({rest})"), holds: true }])
            }
            "ifndef" => {
                open.push(vec![Guard { condition: format!("defined({rest})"), holds: false }])
            }
            "elif" | "else" => {
                if let Some(last) = open.last_mut() {
                    last.iter_mut().for_each(|guard| guard.holds = false);
                    if directive == "elif" {
                        last.push(Guard { condition: rest, holds: true });
                    }
                }
            }
            "endif" => {
                open.pop();
            }
            "define" => {
                let defined = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
                if defined == Some(name) {
                    found.push(open.concat());
                }
            }
            _ => {}
        }
    }
    found.retain(|guards| !guards.is_empty());
    found
}

/// A directive's word and the rest of its line, continued lines joined and comments gone.
fn split(directive: &str) -> (&str, String) {
    let body = directive.trim_start_matches('#').trim_start();
    let end = body.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(body.len());
    let rest: Vec<&str> =
        tokens(&body[end..]).map(|token| token.text).filter(|text| *text != "\\").collect();
    (&body[..end], rest.join(" "))
}

/// Whether the last tokens seen end a definition of `name`: `... NAME ;` of a typedef, `struct NAME
/// {`, or `TYPE NAME (` of a function.
fn ends_definition(words: &[Token<'_>], name: &str) -> bool {
    match words {
        [.., before, word, after] if word.text == name => match after.text {
            ";" => {
                before.kind == Kind::Word && before.text != "return" && before.text != "goto"
                    || before.is("}")
            }
            "{" => matches!(before.text, "struct" | "union" | "enum"),
            "(" => {
                before.kind == Kind::Word && !matches!(before.text, "return" | "else" | "case")
                    || before.is("*")
                        && words.len() > 3
                        && words[words.len() - 4].kind == Kind::Word
            }
            "=" | "[" => before.kind == Kind::Word && before.text != "return",
            _ => false,
        },
        _ => false,
    }
}

/// `-D` arguments that make all guards hold; `None` where the conditions are beyond us or are not
/// a build's to set.
fn satisfy(guards: &[Guard]) -> Option<Vec<String>> {
    let mut defines = Vec::new();
    let mut absent = BTreeSet::new();
    for guard in guards {
        if !guard.holds {
            if let Some(name) =
                guard.condition.strip_prefix("defined(").and_then(|rest| rest.strip_suffix(')'))
            {
                absent.insert(name.trim().to_owned());
            }
            continue;
        }
        for term in guard.condition.split("&&") {
            defines.extend(define_for(term)?);
        }
    }
    let contradicts = defines
        .iter()
        .any(|define: &String| absent.contains(define.split('=').next().unwrap_or_default()));
    (!contradicts).then_some(defines)
}

/// What makes one term of a condition hold; nothing if it holds as it is.
fn define_for(term: &str) -> Option<Option<String>> {
    let mut words: Vec<&str> = tokens(term).map(|token| token.text).collect();
    while words.first() == Some(&"(") && words.last() == Some(&")") && words.len() > 2 {
        words = words[1..words.len() - 1].to_vec();
    }
    // Of alternatives the first will do.
    if let Some(or) = words.iter().position(|word| *word == "||") {
        words.truncate(or);
    }
    let words: Vec<&str> = words.into_iter().filter(|word| !matches!(*word, "(" | ")")).collect();
    let define = match words.as_slice() {
        ["!", ..] => return Some(None),
        ["defined", name] => (*name, None),
        [name] if is_name(name) => (*name, Some("1".to_owned())),
        [number] if number.parse::<i64>().is_ok_and(|number| number != 0) => return Some(None),
        [name, "==", value] if is_name(name) && (is_name(value) || is_number(value)) => {
            (*name, Some((*value).to_owned()))
        }
        [value, "==", name] if is_name(name) && is_number(value) => {
            (*name, Some((*value).to_owned()))
        }
        [name, ">=", value] if is_name(name) && is_number(value) => {
            (*name, Some((*value).to_owned()))
        }
        [name, ">", value] if is_name(name) => {
            let above = value.parse::<i64>().ok()?.checked_add(1)?;
            (*name, Some(above.to_string()))
        }
        [name, "<" | "<=", _] if is_name(name) => return Some(None),
        [name, "!=", value] if is_name(name) => {
            let other = if *value == "0" { "1" } else { "0" };
            (*name, Some(other.to_owned()))
        }
        _ => return None,
    };
    let (name, value) = define;
    // What the compiler, the target or the platform says is not a build's to say.
    let ours = !name.starts_with("__") && !name.starts_with("cl_") && !name.starts_with("_WIN");
    ours.then(|| {
        Some(match value {
            Some(value) => format!("{name}={value}"),
            None => format!("{name}=1"),
        })
    })
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && word != "defined"
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defines(source: &str, name: &str) -> Vec<Option<Vec<String>>> {
        definitions(source, name).iter().map(|guards| satisfy(guards)).collect()
    }

    #[test]
    fn a_typedef_behind_a_comparison_wants_its_value() {
        let source = "#if VECT_SIZE == 1\ntypedef uint u32x;\n#endif\n#if VECT_SIZE == 2\ntypedef uint2 u32x;\n#endif\n";
        assert_eq!(
            defines(source, "u32x"),
            [Some(vec!["VECT_SIZE=1".to_owned()]), Some(vec!["VECT_SIZE=2".to_owned()])]
        );
    }

    #[test]
    fn what_a_vendor_says_is_not_defined() {
        assert_eq!(defines("#ifdef __CUDACC__\n#define X 1\n#endif", "X"), [None]);
        assert_eq!(defines("#ifdef USE_X\n#else\n#define X 1\n#endif", "X"), [Some(vec![])]);
    }

    #[test]
    fn a_branch_that_excludes_itself_is_passed_over() {
        assert_eq!(defines("#ifndef A\n#if A == 2\nint f(int x) {}\n#endif\n#endif", "f"), [None]);
    }
}
