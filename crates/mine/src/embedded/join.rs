//! Puts together the literals that the host program puts together.

use super::{
    Embedded, Includes,
    cursor::hole_name,
    macros,
    template::{self, Style},
    token::{Kind, Lexed},
};
use crate::tree::Host;

/// Tokens of an expression that may fill a hole.
const HOLE: usize = 24;
/// Tokens between two statements that feed the same string builder.
const GAP: usize = 400;
/// Tokens looked back for the name of a string builder.
const BACK: usize = 24;

struct Joiner<'a> {
    host: Host,
    text: &'a str,
    lexed: &'a Lexed<'a>,
    includes: &'a Includes<'a>,
    /// How many tokens before each are words that begin a kernel, and how many are `{`.
    before: Vec<(u32, u32)>,
}

#[derive(Default)]
struct Run {
    value: String,
    template: bool,
}

impl Run {
    fn literal(&mut self, (value, template): (String, bool)) {
        self.value.push_str(&value);
        self.template |= template;
    }

    fn hole(&mut self, name: &str) {
        self.value.push_str(name);
        self.template = true;
    }
}

/// All strings of a host program, put together.
pub(super) fn runs(
    host: Host,
    text: &str,
    lexed: &Lexed<'_>,
    includes: &Includes<'_>,
) -> Vec<Embedded> {
    let (mut words, mut braces) = (0, 0);
    let mut before: Vec<(u32, u32)> = lexed
        .tokens
        .iter()
        .enumerate()
        .map(|(at, token)| {
            let before = (words, braces);
            if token.kind == Kind::Word {
                let word = &text[token.from..token.to];
                let kernel = word == "kernel" && lexed.word(text, at + 1) == Some("void");
                words += u32::from(word == "__kernel" || kernel);
            }
            braces += u32::from(token.is(b'{'));
            before
        })
        .collect();
    before.push((words, braces));
    let joiner = Joiner { host, text, lexed, includes, before };
    let mut found = Vec::new();
    let (mut at, mut line, mut counted) = (0, 1, 0);
    while at < lexed.tokens.len() {
        let Some((piece, next)) = joiner.literal(at) else {
            at += 1;
            continue;
        };
        let (run, next) = joiner.run(at, piece, next);
        let from = lexed.tokens[at].from;
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..from]).count() as u32;
        counted = from;
        found.push(Embedded { line, text: run.value, template: run.template });
        at = next;
    }
    found
}

impl Joiner<'_> {
    /// The literal that begins at a token, and the index behind it.
    fn literal(&self, at: usize) -> Option<((String, bool), usize)> {
        let token = self.lexed.tokens.get(at)?;
        match &token.kind {
            Kind::Text(value) => Some(((value.clone(), false), at + 1)),
            Kind::Template(value) => Some(((value.clone(), true), at + 1)),
            Kind::Include(path) => Some((((self.includes)(path)?, false), at + 1)),
            Kind::Word if self.host == Host::C => {
                let name = &self.text[token.from..token.to];
                let call = self.lexed.is(at + 1, b'(');
                let close = if call { self.lexed.closing(at + 1) } else { None };
                let arguments = close.map(|close| {
                    &self.text[self.lexed.tokens[at + 1].to..self.lexed.tokens[close].from]
                });
                let next = close.map_or(at + 1, |close| close + 1);
                if let Some(value) = macros::string(self.lexed, name, arguments) {
                    return Some(((value, false), next));
                }
                // A macro from another file whose argument is code can only make a string of it.
                let (inside, behind) = (self.before[at + 1], self.before[next]);
                let code = behind.0 > inside.0 && behind.1 > inside.1;
                arguments.filter(|_| code).map(|body| ((body.trim().to_owned(), false), next))
            }
            _ => None,
        }
    }

    /// From the first literal of a run to its end.
    fn run(&self, start: usize, piece: (String, bool), next: usize) -> (Run, usize) {
        let mut run = Run::default();
        run.literal(piece);
        let mut at = self.expression(next, &mut run);
        at = self.fill(start, at, &mut run);
        let Some(builder) = self.builder(start) else { return (run, at) };
        // Blocks open since the run began.
        let mut depth = 0;
        while let Some(statement) = self.next_statement(at, builder, &mut depth) {
            let behind = self.operand(statement, &mut run);
            at = self.expression(behind, &mut run);
        }
        (run, at)
    }

    /// What is joined to a string by standing beside it or by an operator.
    fn expression(&self, mut at: usize, run: &mut Run) -> usize {
        loop {
            at = self.past_branches(at);
            if self.lexed.adjacent
                && let Some((piece, next)) = self.literal(at)
            {
                run.literal(piece);
                at = next;
                continue;
            }
            // A name between two literals is a macro from elsewhere.
            if self.host == Host::C
                && let Some(name) = self.lexed.word(self.text, at)
                && matches!(self.lexed.tokens.get(at + 1).map(|t| &t.kind), Some(Kind::Text(_)))
            {
                run.hole(name);
                at += 1;
                continue;
            }
            if self.lexed.is(at, b',')
                && run.value.ends_with('\n')
                && let Some((piece, next)) = self.literal(self.past_branches(at + 1))
            {
                run.literal(piece);
                at = next;
                continue;
            }
            let width = self.operator(at);
            if width == 0 {
                return at;
            }
            let behind = self.operand(at + width, run);
            if behind == at + width {
                return at;
            }
            at = behind;
        }
    }

    /// Tokens of the joining operator at a place; 0 for none.
    fn operator(&self, at: usize) -> usize {
        let is = |ahead: usize, mark: u8| self.lexed.is(at + ahead, mark);
        match self.host {
            Host::C if is(0, b'<') && is(1, b'<') => 2,
            Host::Julia if is(0, b'*') => 1,
            Host::Rust if is(0, b',') && self.concatenates(at) => 1,
            Host::C | Host::Python | Host::Rust | Host::Curly if is(0, b'+') && !is(1, b'=') => 1,
            _ => 0,
        }
    }

    /// Whether a comma stands in Rust's `concat!`, looked for a few literals back.
    fn concatenates(&self, comma: usize) -> bool {
        let mut at = comma;
        while at > 0
            && comma - at < 2 * GAP
            && (self.lexed.is(at, b',')
                || matches!(self.lexed.tokens[at].kind, Kind::Text(_))
                || at == comma)
        {
            at -= 1;
        }
        at >= 2
            && self.lexed.is(at, b'(')
            && self.lexed.is(at - 1, b'!')
            && self.lexed.word(self.text, at - 2) == Some("concat")
    }

    /// A literal or the expression of a hole; where there is neither, nothing is taken.
    fn operand(&self, at: usize, run: &mut Run) -> usize {
        if let Some((piece, next)) = self.literal(at) {
            run.literal(piece);
            return next;
        }
        let mut end = at;
        while let Some(token) = self.lexed.tokens.get(end) {
            let stops =
                matches!(token.kind, Kind::Mark(b';' | b',' | b')' | b']' | b'}' | b'{' | b'\n'));
            let literal = matches!(token.kind, Kind::Text(_) | Kind::Template(_));
            if stops || literal || end > at && self.operator(end) > 0 {
                break;
            }
            if end - at > HOLE {
                return at;
            }
            end = match (&token.kind, self.lexed.closing(end)) {
                (Kind::Mark(_), Some(close)) => close + 1,
                _ => end + 1,
            };
        }
        if end == at {
            return at;
        }
        let expression = &self.text[self.lexed.tokens[at].from..self.lexed.tokens[end - 1].to];
        run.hole(hole_name(expression));
        end
    }

    /// Fill the holes of a format string with the names of what fills them.
    fn fill(&self, start: usize, end: usize, run: &mut Run) -> usize {
        let lexed = self.lexed;
        let word = |at: usize| lexed.word(self.text, at);
        let opened_by = match start {
            0 | 1 => None,
            _ if lexed.is(start - 1, b'(') && lexed.is(start - 2, b'!') && start > 2 => {
                word(start - 3)
            }
            _ if lexed.is(start - 1, b'(') => word(start - 2),
            // `snprintf(buffer, size, "...` and the like.
            _ => (2..12.min(start))
                .find(|back| lexed.is(start - back, b'('))
                .filter(|back| start > *back)
                .and_then(|back| word(start - back - 1)),
        };
        let behind = if lexed.is(end, b')') { end + 1 } else { end };
        let (style, from) = match self.host {
            Host::Python if lexed.is(end, b'%') => (Style::Percent, end + 1),
            Host::Python if lexed.is(behind, b'%') => (Style::Percent, behind + 1),
            Host::Python if lexed.is(end, b'.') && word(end + 1) == Some("format") => {
                (Style::Braces, end + 2)
            }
            Host::Python if lexed.is(behind, b'.') && word(behind + 1) == Some("format") => {
                (Style::Braces, behind + 2)
            }
            Host::Rust
                if matches!(opened_by, Some("format" | "write" | "writeln" | "format_args")) =>
            {
                (Style::Braces, end)
            }
            Host::C | Host::Curly if opened_by.is_some_and(is_format) => (Style::Percent, end),
            _ => {
                if run.value.contains("${") || run.value.contains("<%") {
                    run.value = template::fill_dollars(&run.value);
                    run.template = true;
                }
                return end;
            }
        };
        let (arguments, next) = self.arguments(from);
        run.value = template::fill(style, &run.value, &arguments);
        run.template = true;
        next.max(end)
    }

    /// The names of a list of arguments, and the index behind them.
    fn arguments(&self, from: usize) -> (Vec<&str>, usize) {
        let lexed = self.lexed;
        let mut at = from;
        let mut names = Vec::new();
        if lexed.is(at, b'(') || lexed.is(at, b',') {
            at += 1;
        }
        let mut begin = at;
        while let Some(token) = lexed.tokens.get(at).filter(|_| at - from < GAP) {
            let ends = matches!(token.kind, Kind::Mark(b')' | b';' | b'\n' | b'}' | b']'));
            if (ends || token.is(b',')) && at > begin {
                let argument = &self.text[lexed.tokens[begin].from..lexed.tokens[at - 1].to];
                names.push(hole_name(argument));
            }
            if ends {
                break;
            }
            at = match (&token.kind, lexed.closing(at)) {
                (Kind::Mark(_), Some(close)) => close + 1,
                _ => at + 1,
            };
            if token.is(b',') {
                begin = at;
            }
        }
        (names, at)
    }

    /// The name of the string that the statement around a literal sets or adds to.
    fn builder(&self, start: usize) -> Option<&str> {
        let lexed = self.lexed;
        let ends =
            |at: &usize| matches!(lexed.tokens[*at].kind, Kind::Mark(b';' | b'{' | b'}' | b'\n'));
        let lowest = start.saturating_sub(BACK);
        let first = (lowest..start).rev().find(ends).map_or(lowest, |at| at + 1);
        (first..start).find_map(|at| {
            let name = lexed.word(self.text, at)?;
            (self.feeds(at + 1).is_some() || lexed.is(at + 1, b'=')).then_some(name)
        })
    }

    /// Whether tokens behind a builder's name add to it; the index of what is added.
    fn feeds(&self, at: usize) -> Option<usize> {
        let lexed = self.lexed;
        if lexed.is(at, b'+') && lexed.is(at + 1, b'=')
            || lexed.is(at, b'<') && lexed.is(at + 1, b'<')
        {
            return Some(at + 2);
        }
        let method = if lexed.is(at, b'.') {
            at + 1
        } else if lexed.is(at, b'-') && lexed.is(at + 1, b'>') {
            at + 2
        } else {
            return None;
        };
        let adds = matches!(
            lexed.word(self.text, method)?,
            "append"
                | "push_str"
                | "push_back"
                | "add"
                | "Append"
                | "AppendLine"
                | "append_line"
                | "appendln"
        );
        (adds && lexed.is(method + 1, b'(')).then_some(method + 2)
    }

    /// The index of what the next statement adds to the same builder, in the same block or one
    /// inside it.
    fn next_statement(&self, from: usize, builder: &str, depth: &mut i32) -> Option<usize> {
        let lexed = self.lexed;
        let mut at = from;
        while at < lexed.tokens.len().min(from + GAP) {
            let token = &lexed.tokens[at];
            match &token.kind {
                Kind::Mark(b'{') => *depth += 1,
                Kind::Mark(b'}') => {
                    *depth -= 1;
                    if *depth < 0 {
                        return None;
                    }
                }
                Kind::Word => match &self.text[token.from..token.to] {
                    "def" | "fn" | "function" => return None,
                    // The branch taken is the first.
                    "else" => {
                        at = self.past_block(at + 1);
                        continue;
                    }
                    name if name == builder => {
                        if let Some(added) = self.feeds(at + 1) {
                            return Some(added);
                        }
                        if lexed.is(at + 1, b'=') && !lexed.is(at + 2, b'=') {
                            return None;
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// The index behind a block or statement.
    fn past_block(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(token) = self.lexed.tokens.get(at).filter(|_| at - from < GAP) {
            match (&token.kind, self.lexed.closing(at)) {
                (Kind::Mark(b'{'), Some(close)) => return close + 1,
                (Kind::Mark(b';' | b'\n'), _) => return at + 1,
                (Kind::Mark(_), Some(close)) => at = close + 1,
                _ => at += 1,
            }
        }
        at
    }

    /// The first branch of a conditional counts, the others do not.
    fn past_branches(&self, mut at: usize) -> usize {
        while let Some(token) = self.lexed.tokens.get(at) {
            match token.kind {
                Kind::If | Kind::End => at += 1,
                Kind::Else => at = self.lexed.closing(at).unwrap_or(at) + 1,
                _ => break,
            }
        }
        at
    }
}

fn is_format(function: &str) -> bool {
    let lower = function.to_ascii_lowercase();
    lower.ends_with("printf") || lower.ends_with("format") || lower.ends_with("print")
}
