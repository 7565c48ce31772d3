//! Which instances of a kernel's template are wanted: those that the host code of its file names, else one with
//! defaults.

use super::cut::{Names, Piece, is_scalar_word};
use lexer::{Dialect, Kind, Token};
use std::collections::HashSet;

/// Instances of one template that are made.
pub(super) const MOST: usize = 16;

/// The arguments of one instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Instance {
    /// As they stand between the brackets; empty for a kernel that is no template.
    pub(super) arguments: String,
    /// Arguments that nothing in the file says: `T=float`.
    pub(super) defaults: Vec<String>,
}

/// A parameter of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parameter {
    name: String,
    /// The type of a value; `None` for a type.
    of: Option<String>,
    /// Whether it may be left out.
    optional: bool,
}

/// The instances of the kernel called `name`, whose template has `parameters`, that `text` names; `None` where its
/// parameters have no defaults that we know.
pub(super) fn instances(
    text: &str,
    tokens: &[Token<'_>],
    own: &Piece,
    name: &str,
    pieces: &[Piece],
    names: &Names<'_>,
) -> Option<Vec<Instance>> {
    let Some(range) = &own.template else { return Some(vec![Instance::default()]) };
    let parameters = parameters(&text[range.clone()])?;
    let known = |word: &str| is_scalar_word(word) || names.has(word, pieces);
    let (mut found, mut seen): (Vec<Instance>, HashSet<String>) = Default::default();
    let mut is_named = false;
    for (at, token) in tokens.iter().enumerate() {
        let outside = !own.range.contains(&token.begin);
        if token.text != name || !outside || !tokens.get(at + 1).is_some_and(|next| next.is("<")) {
            continue;
        }
        let Some(arguments) = arguments(text, tokens, at + 1) else { continue };
        is_named = true;
        let instance = fill(&parameters, &arguments, known);
        if seen.insert(instance.arguments.clone()) {
            found.push(instance);
        }
    }
    if !is_named {
        found.push(fill(&parameters, &[], known));
    }
    Some(found)
}

/// The arguments between the brackets at `open`, where these are brackets and no comparison.
fn arguments(text: &str, tokens: &[Token<'_>], open: usize) -> Option<Vec<String>> {
    let (mut angles, mut round, mut begin) = (1_usize, 0_usize, tokens[open].end());
    let mut all = Vec::new();
    let mut take = |range: std::ops::Range<usize>| {
        let one =
            text.get(range).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        if !one.is_empty() {
            all.push(one);
        }
    };
    for (at, token) in tokens.iter().enumerate().skip(open + 1).take(256) {
        match token.text {
            "(" | "[" | "{" => round += 1,
            ")" | "]" | "}" => round = round.checked_sub(1)?,
            ";" => return None,
            "," if round == 0 && angles == 1 => {
                take(begin..token.begin);
                begin = token.end();
            }
            "<" if round == 0 => angles += 1,
            ">" | ">>" if round == 0 => {
                let closes = token.text.len();
                // `k<float>>>` is no code: two brackets are closed, or one and the rest is an operator.
                angles = angles.checked_sub(closes)?;
                if angles == 0 {
                    take(begin..token.end() - closes + (closes - 1));
                    let next = tokens.get(at + 1)?;
                    let ends = ["(", ")", ",", ";", "<<", "}"].iter().any(|end| next.is(end));
                    return ends.then_some(all);
                }
            }
            _ => {}
        }
    }
    None
}

fn parameters(text: &str) -> Option<Vec<Parameter>> {
    let tokens: Vec<Token<'_>> = Dialect::CPP.tokens(text).collect();
    let mut all = Vec::new();
    let (mut angles, mut round, mut begin) = (0_usize, 0_usize, 0);
    for at in 0..=tokens.len() {
        let ends = tokens.get(at).is_none_or(|token| token.is(",")) && angles == 0 && round == 0;
        if ends || at == tokens.len() {
            if begin < at {
                all.push(parameter(text, &tokens[begin..at])?);
            }
            begin = at + 1;
            continue;
        }
        match tokens[at].text {
            "(" | "[" | "{" => round += 1,
            ")" | "]" | "}" => round = round.saturating_sub(1),
            "<" => angles += 1,
            ">" => angles = angles.saturating_sub(1),
            ">>" => angles = angles.saturating_sub(2),
            _ => {}
        }
    }
    Some(all)
}

fn parameter(text: &str, tokens: &[Token<'_>]) -> Option<Parameter> {
    let equals = tokens.iter().position(|token| token.is("="));
    let head = &tokens[..equals.unwrap_or(tokens.len())];
    let is_pack = head.iter().any(|token| token.is("..."));
    let optional = equals.is_some() || is_pack;
    let first = head.first()?;
    let is_type = first.is("typename") || first.is("class");
    let last = head.last()?;
    let named = last.kind == Kind::Word && (head.len() > 1);
    let name = if named { last.text.to_owned() } else { String::new() };
    if is_type && head.iter().all(|token| token.kind == Kind::Word || token.is("...")) {
        return Some(Parameter { name, of: None, optional });
    }
    if first.is("template") {
        return optional.then_some(Parameter { name, of: None, optional });
    }
    let end = if named { last.begin } else { last.end() };
    let of = text[first.begin..end].trim().to_owned();
    Some(Parameter { name, of: Some(of), optional })
}

/// The arguments that were given, as far as they say something outside of the function that gives them, and defaults.
fn fill(parameters: &[Parameter], given: &[String], known: impl Fn(&str) -> bool) -> Instance {
    let mut instance = Instance::default();
    let mut all: Vec<String> = Vec::new();
    for (at, parameter) in parameters.iter().enumerate() {
        let stands = given.get(at).filter(|one| {
            let mut words = Dialect::CPP.tokens(one).filter(|token| token.kind == Kind::Word);
            words.all(|token| known(token.text) || token.is("const") || token.is("std"))
        });
        if let Some(one) = stands {
            all.push(one.clone());
            continue;
        }
        if parameter.optional && given.get(at).is_none() {
            break;
        }
        let default = default(parameter);
        instance.defaults.push(format!("{}={default}", parameter.name));
        all.push(default);
    }
    instance.arguments = all.join(", ");
    instance
}

fn default(parameter: &Parameter) -> String {
    let Some(of) = &parameter.of else {
        let name = parameter.name.to_lowercase();
        let is_index = ["index", "idx", "int", "offset", "size", "count", "key"].iter();
        let is_index = is_index.into_iter().any(|word| name.contains(word));
        return if is_index { "int" } else { "float" }.to_owned();
    };
    let mut words = of.split_whitespace();
    if of.contains("bool") {
        return "true".to_owned();
    }
    match words.all(is_scalar_word_or_const) || of == "auto" {
        true => "32".to_owned(),
        false => format!("({of})0"),
    }
}

fn is_scalar_word_or_const(word: &str) -> bool {
    word == "const" || is_scalar_word(word)
}

#[cfg(test)]
mod tests {
    use super::{super::cut::cut, *};

    fn found(text: &str) -> Vec<(String, String)> {
        let tokens: Vec<Token<'_>> = Dialect::CPP.tokens(text).collect();
        let pieces = cut(text, &tokens);
        let names = Names::of(&pieces);
        let own = pieces.iter().find(|one| one.names == ["k"]).expect("a kernel");
        let all = instances(text, &tokens, own, "k", &pieces, &names).expect("known parameters");
        all.into_iter().map(|one| (one.arguments, one.defaults.join(" "))).collect()
    }

    #[test]
    fn instances_are_those_of_the_host_code_or_have_defaults() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        for (text, wanted) in [
            ("__global__ void k(int *a) {}", vec![pair("", "")]),
            (
                "template <typename T, int N> __global__ void k(T *a) {} void h() { k<float, 4><<<1, 2>>>(a); k<double,8> <<<1, 2>>>(b); k<float, 4><<<2, 2>>>(a); }",
                vec![pair("float, 4", ""), pair("double, 8", "")],
            ),
            (
                "template <typename scalar_t, bool B, class index_t> __global__ void k(scalar_t *a) {}",
                vec![pair("float, true, int", "scalar_t=float B=true index_t=int")],
            ),
            (
                "enum M { one }; template <class T, M m, int N = 3, class... R> __global__ void k(T *a) {} template <class U> void h() { k<U, one><<<1, 1>>>(0); }",
                vec![pair("float, one", "T=float")],
            ),
            (
                "template <class T> struct V {}; template <class T> __global__ void k(T *a) {} void h() { k<V<V<int>>><<<1, 1>>>(0); auto f = &k<V<int>>; }",
                vec![pair("V<V<int>>", ""), pair("V<int>", "")],
            ),
        ] {
            assert_eq!(found(text), wanted, "{text}");
        }
    }
}
