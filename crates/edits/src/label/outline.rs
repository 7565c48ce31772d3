//! What a program does, told apart from how it is written.

use super::{
    CONTAINERS, Change, Statement, is_io, names_io,
    normal::{Function, functions, normal},
    parts,
};
use crate::token::{Kind, Token, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// Algorithms of the standard library.
const ALGORITHMS: &[&str] = &[
    "accumulate",
    "binary_search",
    "bsearch",
    "count",
    "count_if",
    "equal_range",
    "find",
    "find_if",
    "gcd",
    "inplace_merge",
    "lower_bound",
    "make_heap",
    "max_element",
    "merge",
    "min_element",
    "next_permutation",
    "nth_element",
    "partial_sort",
    "partial_sum",
    "partition",
    "prev_permutation",
    "qsort",
    "reverse",
    "rotate",
    "sort",
    "stable_sort",
    "unique",
    "upper_bound",
    "__gcd",
];

const TYPES: &[&str] = &[
    "auto", "bool", "char", "const", "double", "float", "int", "ll", "long", "register", "short",
    "signed", "size_t", "unsigned",
];

/// What a program does, apart from names, types, layout, and what it never uses.
pub(super) struct Outline<'a> {
    /// How many loops, conditions, jumps, recursive functions and calls of algorithms there are.
    control: BTreeMap<&'a str, usize>,
    /// The heads of loops.
    loops: Vec<String>,
    /// The containers and arrays, and whether anything reads them.
    data: Vec<(String, bool)>,
}

impl<'a> Outline<'a> {
    /// `own`: readers and writers that the programs bring.
    pub(super) fn new(
        program: &[Token<'a>],
        other: &[Token<'_>],
        own: &BTreeSet<&str>,
    ) -> Outline<'a> {
        let known = &words(other);
        let tokens = normal(program);
        let parts = parts(&tokens);
        let mut control: BTreeMap<&str, usize> = BTreeMap::new();
        let mut loops = Vec::new();
        let mut data = Vec::new();
        for (place, statement) in parts.iter().enumerate() {
            let is_loop = matches!(statement[0].text, "for" | "while");
            let reads = names_io(statement, own);
            // What chooses what to print computes nothing.
            let next = parts.get(place + 1);
            let prints =
                reads || statement[0].text == "if" && next.is_some_and(|next| is_io(next, own));
            if is_loop {
                *control.entry("loop").or_default() += 1;
                loops.push(if reads { "I/O".to_owned() } else { loop_head(statement, known) });
            }
            for (at, token) in statement.iter().enumerate() {
                let is_member = at > 0 && matches!(statement[at - 1].text, "." | "->");
                let is_call = statement.get(at + 1).is_some_and(|next| next.text == "(");
                let name = match token.text {
                    "if" | "case" | "?" if !prints => "condition",
                    "&&" | "||" if !prints && !is_loop => "condition",
                    "min" | "max" if !prints && is_call => "condition",
                    "break" | "goto" => "jump",
                    name if is_call && !is_member && ALGORITHMS.contains(&name) => name,
                    _ => continue,
                };
                *control.entry(name).or_default() += 1;
            }
            data.extend(declared(statement, known).map(|(name, what)| {
                let first = |s: &Statement<'_>| usize::from(s[0].text == name);
                let all = tokens.iter().filter(|token| token.text == name).count();
                (what, all > 1 + parts.iter().map(|s| first(s)).sum::<usize>())
            }));
        }
        let recursive = |one: &&Function<'_>| {
            tokens[one.body..one.to].iter().any(|token| token.text == one.name)
        };
        let recursive = functions(&tokens).iter().filter(recursive).count();
        control.insert("recursion", recursive);
        Outline { control, loops, data }
    }

    /// What it has to become to be the other; nothing where they differ in what no outline has.
    pub(super) fn change_to(&self, other: &Outline<'_>) -> Change {
        if self.control != other.control {
            Change::Algorithm
        } else if self.has_other_data(other) {
            Change::DataStructure
        } else if self.has_other_loops(other) {
            Change::Algorithm
        } else {
            Change::Nothing
        }
    }

    /// Whether containers or arrays are exchanged, or there is one more that something reads.
    fn has_other_data(&self, other: &Outline<'_>) -> bool {
        let (removed, added) = apart(&self.data, &other.data);
        let holds_one =
            |what: &str| ["string", "pair", "tuple"].iter().any(|one| what.starts_with(one));
        let counts = |(what, is_read): &(String, bool)| *is_read && !holds_one(what);
        !removed.is_empty() && !added.is_empty() || removed.into_iter().chain(added).any(counts)
    }

    /// Whether loops go elsewhere; `for (x : all)` goes where one goes that counts up.
    fn has_other_loops(&self, other: &Outline<'_>) -> bool {
        let (removed, added) = apart(&self.loops, &other.loops);
        let each = |loops: &[&String]| loops.iter().all(|one| *one == EACH);
        let counts = |loops: &[&String]| loops.iter().all(|one| one.contains("++"));
        let alike = each(&removed) && counts(&added) || counts(&removed) && each(&added);
        !(removed.is_empty() && added.is_empty() || alike)
    }
}

/// What only the first and what only the second has, each as often as it has it more.
fn apart<'s, T: PartialEq>(old: &'s [T], new: &'s [T]) -> (Vec<&'s T>, Vec<&'s T>) {
    let rest = |some: &'s [T], others: &'s [T]| {
        let mut others: Vec<&T> = others.iter().collect();
        let is_left = |one: &&T| match others.iter().position(|other| other == one) {
            Some(at) => {
                others.swap_remove(at);
                false
            }
            None => true,
        };
        some.iter().filter(is_left).collect()
    };
    (rest(old, new), rest(new, old))
}

const EACH: &str = "each";

/// What stands in the brackets of a loop, sorted: no types, no brackets, one name for short names and those that the
/// other program lacks, one sign for `<`, `<=`, `>` and `>=`.
fn loop_head(statement: &Statement<'_>, known: &BTreeSet<&str>) -> String {
    let has = |text: &str| statement.iter().any(|token| token.text == text);
    if has(":") && !has(";") {
        return EACH.to_owned();
    }
    // The type of what a loop declares ends before the name.
    let first = statement.iter().position(|token| matches!(token.text, "=" | ";")).unwrap_or(0);
    let skip = if has(";") { first.saturating_sub(1) } else { 0 };
    let mut texts: Vec<&str> = Vec::new();
    for token in &statement[skip..] {
        texts.push(match token.text {
            "(" | ")" | ";" | "," | "for" | "while" | "true" => continue,
            text if TYPES.contains(&text) => continue,
            "<" | "<=" | ">" | ">=" => "<",
            "==" | "!=" => "==",
            text if token.kind == Kind::Word && (text.len() <= 2 || !known.contains(text)) => "x",
            text if token.kind == Kind::Number => number(text),
            text => text,
        });
    }
    texts.sort_unstable();
    if texts == ["1"] { String::new() } else { texts.join(" ") }
}

/// A number without its suffix.
fn number(text: &str) -> &str {
    if text.starts_with("0x") { text } else { text.trim_end_matches(['u', 'l', 'U', 'L']) }
}

/// The containers and arrays that a statement declares: names, and kinds and sizes.
fn declared<'a>(
    statement: &Statement<'a>,
    known: &BTreeSet<&str>,
) -> impl Iterator<Item = (&'a str, String)> + use<'a> {
    let mut found: Vec<(&'a str, String)> = Vec::new();
    let spelled = |token: &Token<'a>| match token.text {
        text if token.kind == Kind::Number => number(text),
        text if token.kind == Kind::Word && !known.contains(text) => "x",
        text => text,
    };
    let statement: &Statement<'a> = match statement {
        [first, rest @ ..] if matches!(first.text, "static" | "const") => rest,
        statement => statement,
    };
    let statement: &Statement<'a> = match statement {
        [std, colons, rest @ ..] if (std.text, colons.text) == ("std", "::") => rest,
        statement => statement,
    };
    if let [first, name] = statement
        && first.text == "struct"
    {
        found.push((name.text, "struct".to_owned()));
    }
    if is_declaration(statement) {
        let (mut depth, mut value) = (0_usize, false);
        let mut at = 0;
        while at < statement.len() {
            let token = statement[at];
            match token.text {
                "(" | "{" => depth += 1,
                ")" | "}" => depth = depth.saturating_sub(1),
                "=" => value = true,
                "," if depth == 0 => value = false,
                "[" if depth == 0 && !value && at > 1 && statement[at - 1].kind == Kind::Word => {
                    let name = statement[at - 1].text;
                    let size =
                        statement[at..].iter().take_while(|t| !matches!(t.text, "=" | "," | ";"));
                    let size: Vec<&str> = size.map(spelled).collect();
                    at += size.len() - 1;
                    found.push((name, size.join(" ")));
                }
                _ => {}
            }
            at += 1;
        }
        if CONTAINERS.contains(&statement[0].text) {
            let ends = |t: &Token<'_>| matches!(t.text, "(" | "{" | "=" | ";" | "[");
            let end = statement.iter().position(ends).unwrap_or(0);
            let (head, value) = statement.split_at(end);
            // Iterators, references and declarations of functions hold nothing.
            let holds = !head.iter().any(|t| matches!(t.text, "::" | "&" | "*"))
                && !value.windows(2).any(|two| two.iter().all(|t| t.kind == Kind::Word));
            let kinds = head.iter().filter(|t| CONTAINERS.contains(&t.text));
            let mut what: Vec<&str> = kinds.map(|t| t.text).collect();
            if value[0].text == "(" {
                let sizes = value.iter().filter(|t| !TYPES.contains(&t.text));
                what.extend(sizes.map(spelled));
            }
            if holds {
                found.push((statement[end.saturating_sub(1)].text, what.join(" ")));
            }
        }
    }
    found.into_iter()
}

/// The words of a program, those of its directives too.
fn words<'a>(program: &[Token<'a>]) -> BTreeSet<&'a str> {
    let (directives, others): (Vec<Token<'a>>, Vec<Token<'a>>) =
        program.iter().partition(|token| token.kind == Kind::Directive);
    let in_directives =
        directives.iter().flat_map(|token| tokens(token.text.trim_start_matches('#')));
    let all = others.into_iter().chain(in_directives);
    all.filter(|token| token.kind == Kind::Word).map(|token| token.text).collect()
}

/// Whether a statement begins with a type.
pub(super) fn is_declaration(statement: &Statement<'_>) -> bool {
    let no_type = ["return", "delete", "goto", "case", "throw", "using", "new"];
    matches!(statement, [first, second, .., last]
        if first.kind == Kind::Word
            && !no_type.contains(&first.text)
            && (second.kind == Kind::Word || matches!(second.text, "<" | "::" | "*"))
            && last.text == ";")
}
