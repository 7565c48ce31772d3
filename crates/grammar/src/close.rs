//! How a program that has been begun is ended soonest.
//!
//! A best-first search over lexemes (Hart, Nilsson and Raphael 1968): a state's distance from the
//! end is what its open goals need at least, and the parser says which lexemes go on.

use super::{
    Constraint,
    declaration::Place,
    parser::{Goal, Lexeme, Name, Parser, Symbol},
    types::Type,
};
use crate::words::{KEYWORDS, TYPES};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

/// States that are looked at before a search is given up.
const PATIENCE: usize = 3_000;

/// Lexemes that may end something, the likeliest first.
const ENDINGS: [&str; 29] = [
    "}",
    ";",
    ")",
    "]",
    ":",
    "0",
    "(",
    "while",
    "int",
    "*",
    "global",
    "kernel",
    "void",
    "{",
    "x",
    "1",
    "a",
    ",",
    "0.0f",
    "float",
    "=",
    "const",
    "\"\"",
    ".",
    "->",
    "&",
    "[",
    "int2",
    "image2d_t",
];

impl Goal {
    /// Lexemes that the goal needs at least, roughly; `kernel`: there is one already.
    fn distance(&self, parser: &Parser) -> usize {
        match self {
            Goal::File => match parser.kernels + usize::from(parser.opens_kernel()) {
                0 => 7,
                _ => 0,
            },
            Goal::Block { function } => {
                1 + if *function { 3 * parser.missing_labels().count() } else { 0 }
            }
            Goal::Exactly(_)
            | Goal::Statement
            | Goal::ForFirst
            | Goal::ForSecond
            | Goal::ForThird
            | Goal::Label
            | Goal::Designator(_)
            | Goal::Size
            | Goal::Members(_)
            | Goal::StatementsEnd
            | Goal::Attributed
            | Goal::Member { .. } => 1,
            Goal::Initializer { ty, .. } => match ty {
                Type::Array(_) | Type::Struct(_) => 3,
                _ => 1,
            },
            Goal::Parenthesis | Goal::Lanes { .. } => 2,
            Goal::Attribute(at) => at.distance(),
            Goal::Enumerators { any, .. } => {
                if *any {
                    1
                } else {
                    2
                }
            }
            Goal::List { .. } => 1,
            Goal::Tag { name: None, .. } | Goal::EnumTag(None) => 1,
            Goal::Specifiers(declaration) => declaration.distance(0),
            Goal::Inner(declaration) => 2 + declaration.distance(1),
            Goal::Declarator(declaration) => declaration.distance(1),
            Goal::Named(declaration) => declaration.distance(2),
            Goal::Parameters(declaration, _) => 1 + if declaration.is_kernel() { 2 } else { 1 },
            Goal::AfterParameters(declaration, _) => {
                if declaration.is_kernel() {
                    2
                } else {
                    1
                }
            }
            Goal::Expression(expression) => expression.distance(),
            Goal::Call { callee, arguments } => {
                1 + 2 * super::call::least(callee).saturating_sub(arguments.len())
            }
            Goal::Tag { name: Some(_), .. }
            | Goal::EnumTag(Some(_))
            | Goal::ReinterpretedEnd
            | Goal::Else
            | Goal::LoopEnd
            | Goal::SwitchEnd { .. }
            | Goal::CaseEnd
            | Goal::ScopeEnd
            | Goal::FunctionEnd
            | Goal::CastEnd
            | Goal::IndexEnd
            | Goal::ParenthesisEnd
            | Goal::MiddleEnd
            | Goal::CompoundEnd(_) => 0,
        }
    }
}

impl super::declaration::Declaration {
    /// Lexemes up to its end, where so much of it is there: 0 specifiers, 1 these, 2 a name.
    fn distance(&self, stage: usize) -> usize {
        let ty = usize::from(stage == 0 && !self.is_typed());
        let name = usize::from(stage < 2);
        ty + match self.place() {
            Place::TypeName | Place::Parameter => 0,
            Place::File if self.is_kernel() => name + 4,
            Place::File | Place::Block | Place::ForFirst if self.needs_value() => name + 3,
            _ => name + 1,
        }
    }
}

impl Parser {
    /// Lexemes that are needed to end the program, at least and roughly.
    pub(super) fn distance(&self) -> usize {
        self.goals.iter().map(|goal| goal.distance(self)).sum()
    }

    /// Whether what is being declared is a kernel.
    fn opens_kernel(&self) -> bool {
        self.goals.iter().any(|goal| match goal {
            Goal::Specifiers(declaration)
            | Goal::Declarator(declaration)
            | Goal::Named(declaration)
            | Goal::Parameters(declaration, _)
            | Goal::AfterParameters(declaration, _) => declaration.is_kernel(),
            _ => false,
        })
    }

    /// Labels that are jumped to and do not stand anywhere yet.
    pub(super) fn missing_labels(&self) -> impl Iterator<Item = &Name> {
        self.jumps.iter().filter(|jump| !self.labels.contains(jump))
    }

    /// Lexemes that may bring the end nearer.
    fn endings(&self) -> Vec<String> {
        let mut all: Vec<String> = ENDINGS.iter().map(ToString::to_string).collect();
        if self.loop_next {
            all.push("while".to_owned());
        }
        match self.goals.last() {
            Some(Goal::Exactly(text)) => return vec![(*text).to_owned()],
            Some(Goal::Block { .. } | Goal::Statement) => {
                all.extend(self.missing_labels().map(ToString::to_string));
            }
            Some(Goal::Label) => {
                let known = self.labels.first().or(self.jumps.first()).map(ToString::to_string);
                return vec![known.unwrap_or_else(|| "La".to_owned())];
            }
            Some(Goal::Expression(_) | Goal::Parenthesis | Goal::Initializer { .. }) => {
                let names =
                    self.visible().filter(|(_, symbol)| !matches!(symbol, Symbol::Typedef(_)));
                all.extend(names.map(|(name, _)| name.to_string()));
            }
            Some(Goal::Member { .. } | Goal::Designator(_)) => {
                all.extend(
                    self.structs.iter().flat_map(|one| &one.all).map(|(name, _)| name.to_string()),
                );
            }
            _ => {}
        }
        // A name that nothing has.
        let fresh = |name: &String| {
            !self.visible().any(|(known, _)| **known == **name)
                && KEYWORDS.binary_search(&name.as_str()).is_err()
                && TYPES.binary_search(&name.as_str()).is_err()
        };
        let letters = || (b'a'..=b'z').map(char::from);
        let one = letters().map(String::from);
        let two = letters().flat_map(|first| letters().map(move |last| format!("{first}{last}")));
        all.extend(one.chain(two).find(fresh));
        all
    }
}

/// A state of the search.
struct Node {
    parser: Parser,
    /// The state before it.
    before: usize,
    /// The lexeme in between, or the rest of a pending one.
    lexeme: String,
    lexemes: usize,
}

impl Constraint {
    /// Tokens that end the program soonest, without its end token: after these and then `after`
    /// (what stands behind a hole) it may end. `None` where no way is found.
    #[must_use]
    pub fn closing(&self, after: &[u16]) -> Option<Vec<u16>> {
        let mut nodes: Vec<Node> = Vec::new();
        let mut heap = BinaryHeap::new();
        let mut seen = HashSet::new();
        for (rest, parser) in self.completions() {
            heap.push(Reverse((parser.distance(), nodes.len())));
            nodes.push(Node { parser, before: usize::MAX, lexeme: rest, lexemes: 0 });
        }
        for _ in 0..PATIENCE {
            let Reverse((_, at)) = heap.pop()?;
            let parser = nodes[at].parser.clone();
            if self.ends_with(&parser, after) {
                return self.spell(&nodes, at);
            }
            // States that differ in names alone are as good as one another.
            let mut hasher = DefaultHasher::new();
            (&parser.goals, parser.kernels, parser.missing_labels().count()).hash(&mut hasher);
            if !seen.insert(hasher.finish()) {
                continue;
            }
            for lexeme in parser.endings() {
                let mut next = parser.clone();
                if next.push(Lexeme::new(&lexeme, false)).is_err() {
                    continue;
                }
                let lexemes = nodes[at].lexemes + 1;
                heap.push(Reverse((lexemes + 2 * next.distance(), nodes.len())));
                nodes.push(Node { parser: next, before: at, lexeme, lexemes });
            }
        }
        None
    }

    fn ends_with(&self, parser: &Parser, after: &[u16]) -> bool {
        if after.is_empty() {
            return parser.may_end();
        }
        Constraint::of(Arc::clone(&self.grammar), parser.clone(), String::new()).joins(after)
    }

    /// What may become of a pending lexeme: the rest of its spelling, and the state then.
    fn completions(&self) -> Vec<(String, Parser)> {
        if self.pending.is_empty() {
            return vec![(String::new(), self.parser.clone())];
        }
        let pending = self.pending.as_str();
        let mut words: Vec<&str> = self.parser.visible().map(|(name, _)| &**name).collect();
        words.extend(self.parser.structs.iter().flat_map(|one| &one.all).map(|(name, _)| &**name));
        words.extend(self.parser.missing_labels().chain(&self.parser.labels).map(|name| &**name));
        for word in TYPES.into_iter().chain(KEYWORDS).chain(super::builtins::names()) {
            words.push(word);
        }
        let words = words.into_iter().filter_map(|word| word.strip_prefix(pending));
        let ends = ["", "0", "\"", "'", "x'", "a", "2", "t", "1)", "x"];
        let mut all = Vec::new();
        for rest in ends.into_iter().chain(words) {
            let pending = format!("{pending}{rest}");
            let whole = Constraint::of(Arc::clone(&self.grammar), self.parser.clone(), pending);
            if let Ok(parser) = whole.completed() {
                all.push((rest.to_owned(), parser.clone()));
            }
        }
        all
    }

    /// The tokens on the way to a state.
    fn spell(&self, nodes: &[Node], mut at: usize) -> Option<Vec<u16>> {
        let mut lexemes = Vec::new();
        while at != usize::MAX {
            lexemes.push(nodes[at].lexeme.as_str());
            at = nodes[at].before;
        }
        let begun = self.grammar.spell_rest(lexemes.pop()?)?;
        lexemes.reverse();
        Some([begun, self.grammar.spell(&lexemes)?].concat())
    }
}
