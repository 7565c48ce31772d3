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
    use crate::repair::definition;

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

    #[test]
    fn a_term_is_made_to_hold_where_a_build_may_do_that() {
        for (term, wanted) in [
            ("A", Some(Some("A=1"))),
            ("defined A", Some(Some("A=1"))),
            ("defined(A)", Some(Some("A=1"))),
            ("((A == 2))", Some(Some("A=2"))),
            ("A == B", Some(Some("A=B"))),
            ("3 == A", Some(Some("A=3"))),
            ("A >= 2", Some(Some("A=2"))),
            ("A > 2", Some(Some("A=3"))),
            ("A != 0", Some(Some("A=1"))),
            ("A != 3", Some(Some("A=0"))),
            ("A || B == 2", Some(Some("A=1"))),
            // These hold as they are.
            ("A < 2", Some(None)),
            ("A <= 2", Some(None)),
            ("!A", Some(None)),
            ("!defined(A)", Some(None)),
            ("1", Some(None)),
            // These are beyond us, or not for a build to say.
            ("0", None),
            ("A + 1", None),
            ("A > B", None),
            ("3 > 2", None),
            ("3 < 4", None),
            ("3 != 4", None),
            ("A >= B", None),
            ("A == 'x'", None),
            ("2 > A", None),
            ("2 == 3", None),
            ("B == defined", None),
            ("defined", None),
            ("__A", None),
            ("cl_khr_fp64", None),
            ("_WIN32", None),
            ("", None),
        ] {
            let wanted = wanted.map(|define| define.map(str::to_owned));
            assert_eq!(define_for(term), wanted, "{term}");
        }
    }

    #[test]
    fn definitions_are_told_from_uses() {
        for (line, found) in [
            ("typedef int T;", true),
            ("typedef struct { int x; } T;", true),
            ("struct T { int x; };", true),
            ("union T { int x; };", true),
            ("enum T { X };", true),
            ("int T(int x) { }", true),
            ("int* T(int x) { }", true),
            ("constant int T = 3;", true),
            ("int T[3];", true),
            ("#define T 1", true),
            ("#define T(x) x", true),
            ("#define T", true),
            ("#define TT T", false),
            ("#undef T", false),
            ("return T;", false),
            ("goto T;", false),
            ("x + T;", false),
            ("thing T { int x; };", false),
            ("x = T(3);", false),
            ("return T(3);", false),
            ("else T(3);", false),
            ("case T(3):", false),
            ("x = *T(3);", false),
            ("*T(3);", false),
            ("x + T = 3;", false),
            ("return T[3];", false),
            ("x + T[3];", false),
            ("int T, x;", false),
        ] {
            let wanted = if found { vec![Some(vec!["A=1".to_owned()])] } else { vec![] };
            assert_eq!(defines(&format!("#ifdef A\n{line}\n#endif\n"), "T"), wanted, "{line}");
        }
    }

    #[test]
    fn conditions_around_a_definition_are_those_still_open() {
        let guards = |directives: &str| {
            defines(&format!("{directives}\nint T;\n"), "T")
                .into_iter()
                .map(|defines| defines.map(|all| all.join(" ")))
                .collect::<Vec<_>>()
        };
        let one = |text: &str| vec![Some(text.to_owned())];
        assert_eq!(guards("#if A\n#if B > 3 && C"), one("A=1 B=4 C=1"));
        assert_eq!(guards("#if A\n#elif B"), one("B=1"));
        assert_eq!(guards("#if A\n#elif B\n#elif C"), one("C=1"));
        assert_eq!(guards("#if A\n#elif B\n#else"), one(""));
        assert_eq!(guards("#ifdef A\n#endif\n#ifdef B"), one("B=1"));
        assert_eq!(guards("#ifndef A\n#ifdef B"), one("B=1"));
        assert_eq!(guards("#  if  defined( A ) \\\n && B /* or not */"), one("A=1 B=1"));
        assert_eq!(guards("#ifdef A\n#endif"), Vec::<Option<String>>::new());
        assert_eq!(guards("#else\n#endif"), Vec::<Option<String>>::new());
        assert_eq!(guards("#ifdef A\n#define Q\n#undef Q"), one("A=1"));
        // No definition before the directive goes on behind it.
        assert_eq!(defines("#ifdef A\nint\n#endif\nT;\n", "T"), []);
    }

    #[test]
    fn the_definition_that_asks_for_least_is_switched_on() {
        let source = "#if A && B\ntypedef int T;\n#endif\n#ifdef C\ntypedef int T;\n#endif\n#ifdef D\ntypedef int T;\n#endif\n";
        let define = |text: &str| vec![Fix::Define(text.to_owned())];
        assert_eq!(definition(&Conditional, "T", source), Some(define("C=1")));
        let always = "#ifdef A\n#else\ntypedef int T;\n#endif\n";
        assert_eq!(definition(&Conditional, "T", always), None);
        assert_eq!(definition(&Conditional, "Q", source), None);
    }
}
