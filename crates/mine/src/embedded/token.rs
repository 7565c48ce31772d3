use std::collections::HashMap;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A string literal, by its value.
    Text(String),
    /// A string literal with holes, by its value with the holes' names in them.
    Template(String),
    /// An identifier or a number.
    Word,
    /// One byte of punctuation; a line's end where that ends a statement.
    Mark(u8),
    /// `#include "NAME"`.
    Include(String),
    /// `#if` and its like.
    If,
    /// `#else` or `#elif`.
    Else,
    /// `#endif`.
    End,
}

/// A piece of a host program.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// First byte and the byte behind the last, in the host program.
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Token {
    pub(super) fn is(&self, mark: u8) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

/// A preprocessor macro of the host program.
#[derive(Clone, Debug)]
pub(super) struct Macro<'a> {
    /// Names of parameters; `None` for an object-like macro.
    pub(super) parameters: Option<Vec<&'a str>>,
    pub(super) body: &'a str,
}

/// The tokens of a host program.
#[derive(Debug, Default)]
pub(super) struct Lexed<'a> {
    pub(super) tokens: Vec<Token>,
    pub(super) macros: HashMap<&'a str, Macro<'a>>,
    /// Whether an adjacent literal continues the one before it.
    pub(super) adjacent: bool,
    /// For each bracket that opens, the index of the one that closes it; for each `#else`, of its
    /// `#endif`; 0 for all others.
    closing: Vec<usize>,
}

impl<'a> Lexed<'a> {
    pub(super) fn new(
        tokens: Vec<Token>,
        macros: HashMap<&'a str, Macro<'a>>,
        adjacent: bool,
    ) -> Self {
        let mut closing = vec![0; tokens.len()];
        let mut open = Vec::new();
        // The `#else`s of each conditional that is open.
        let mut branches: Vec<Vec<usize>> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Mark(mark @ (b'(' | b'[' | b'{')) => open.push((at, mark)),
                Kind::Mark(mark @ (b')' | b']' | b'}')) => {
                    let wanted = match mark {
                        b')' => b'(',
                        b']' => b'[',
                        _ => b'{',
                    };
                    if open.last().is_some_and(|(_, mark)| *mark == wanted)
                        && let Some((from, _)) = open.pop()
                    {
                        closing[from] = at;
                    }
                }
                Kind::If => branches.push(Vec::new()),
                Kind::Else => branches.last_mut().into_iter().for_each(|elses| elses.push(at)),
                Kind::End => {
                    branches.pop().into_iter().flatten().for_each(|from| closing[from] = at);
                }
                _ => {}
            }
        }
        Lexed { tokens, macros, adjacent, closing }
    }

    /// The index of what closes the bracket or branch at `at`.
    pub(super) fn closing(&self, at: usize) -> Option<usize> {
        self.closing.get(at).copied().filter(|close| *close > at)
    }

    pub(super) fn word<'t>(&self, text: &'t str, at: usize) -> Option<&'t str> {
        let token = self.tokens.get(at)?;
        (token.kind == Kind::Word).then(|| &text[token.from..token.to])
    }

    pub(super) fn is(&self, at: usize, mark: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(mark))
    }
}
