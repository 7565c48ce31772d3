//! Tokens of C and C++ sources, near enough for telling what an edit is about; what must be exact asks
//! clang.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Word,
    Number,
    Literal,
    Sign,
    Directive,
}

/// A token and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
}

/// The tokens of a source, comments left out, each directive one token.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut line_begins = true;
    while at < bytes.len() {
        let byte = bytes[at];
        let begin = at;
        if byte == b'\n' {
            line_begins = true;
            at += 1;
            continue;
        }
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if source[at..].starts_with("//") {
            at = source[at..].find('\n').map_or(bytes.len(), |end| at + end);
            continue;
        }
        if source[at..].starts_with("/*") {
            at = source[at..].find("*/").map_or(bytes.len(), |end| at + end + 2);
            continue;
        }
        let kind = if byte == b'#' && line_begins {
            at = end_of_directive(bytes, at);
            Kind::Directive
        } else if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 {
            at = run(bytes, at, |b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80);
            Kind::Word
        } else if byte.is_ascii_digit() {
            at = run(bytes, at, |b| b.is_ascii_alphanumeric() || b == b'.' || b == b'\'');
            Kind::Number
        } else if byte == b'"' || byte == b'\'' {
            at = end_of_literal(bytes, at);
            Kind::Literal
        } else {
            const LONG: [&str; 12] =
                ["<<=", ">>=", "<<", ">>", "++", "--", "->", "::", "&&", "||", "==", "<="];
            let long = LONG.iter().find(|sign| source[at..].starts_with(**sign));
            at += long.map_or(1, |sign| sign.len());
            Kind::Sign
        };
        line_begins = false;
        tokens.push(Token { kind, text: source[begin..at].trim_end() });
    }
    tokens
}

fn run(bytes: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|byte| !keep(*byte)).map_or(bytes.len(), |end| from + end)
}

fn end_of_directive(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() && (bytes[at] != b'\n' || bytes[at - 1] == b'\\') {
        at += 1;
    }
    at
}

fn end_of_literal(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < bytes.len() && bytes[at] != bytes[from] && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Statements: runs of tokens that end behind `;`, `{`, `}` or `:` (but not inside `for (...)`), and
/// directives alone.
pub(crate) fn statements<'a>(tokens: &[Token<'a>]) -> Vec<Vec<Token<'a>>> {
    let mut statements = Vec::new();
    let mut current = Vec::new();
    let mut depth = 0_u32;
    for token in tokens {
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends = token.kind == Kind::Directive
            || matches!(token.text, "{" | "}")
            || token.text == ";" && depth == 0;
        if matches!(token.text, "{" | "}") {
            depth = 0;
        }
        // Braces come and go with layout and say nothing.
        if !matches!(token.text, "{" | "}") {
            current.push(*token);
        }
        if ends && !current.is_empty() {
            statements.push(std::mem::take(&mut current));
        }
    }
    if !current.is_empty() {
        statements.push(current);
    }
    statements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_directives_stay_whole() {
        let source = "#define A \\\n 1 // x\nint a['\\'']; /* b */ s = \"//\\\"\"; a<<=2;é";
        let texts: Vec<&str> = tokens(source).iter().map(|token| token.text).collect();
        assert_eq!(
            texts,
            [
                "#define A \\\n 1 // x",
                "int",
                "a",
                "[",
                "'\\''",
                "]",
                ";",
                "s",
                "=",
                "\"//\\\"\"",
                ";",
                "a",
                "<<=",
                "2",
                ";",
                "é"
            ]
        );
    }

    #[test]
    fn a_for_header_is_one_statement() {
        let tokens = tokens("for (int i = 0; i < 3; i++) { a(); b(); }");
        let lengths: Vec<usize> = statements(&tokens).iter().map(Vec::len).collect();
        assert_eq!(lengths, [14, 4, 4]);
    }
}
