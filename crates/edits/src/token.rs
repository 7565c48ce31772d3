//! Tokens and statements of C and C++ sources, near enough for telling what an edit is about; what must be exact
//! asks clang.

pub(crate) use lexer::{Kind, Token};

use lexer::Dialect;

/// The tokens of a source, comments left out, each directive one token without the blanks behind it.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let tokens = Dialect::CPP.tokens(source);
    tokens.map(|token| Token { text: token.text.trim_end(), ..token }).collect()
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
