use super::{Complaint, Fix, Program, Repair};
use lexer::{Kind, tokens};

/// Breaks lines where a program that its package keeps as a string literal has the two characters
/// `\n` for it, outside of the program's own literals.
pub(super) struct Escape;

impl Repair for Escape {
    fn fix(&self, complaint: &Complaint<'_>, program: &Program<'_>) -> Option<Vec<Fix>> {
        let escaped = program.source.lines().any(|line| line.trim_start().starts_with("\\n"));
        (escaped && complaint.kind.starts_with("err_")).then(|| vec![Fix::BreakLines])
    }
}

/// The text with a line feed for every `\n` that stands in no literal.
pub(super) fn break_lines(text: &str) -> String {
    let mut broken = String::with_capacity(text.len());
    let mut from = 0;
    for literal in tokens(text).filter(|token| token.kind == Kind::Literal) {
        broken.push_str(&text[from..literal.begin].replace("\\n", "\n"));
        broken.push_str(literal.text);
        from = literal.end();
    }
    broken + &text[from..].replace("\\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::usage::Usage;

    #[test]
    fn literals_keep_what_they_hold() {
        let text = "\\n#define A 1\n\\n\nvoid f() { printf(\"\\n\"); }\\nint x;";
        assert_eq!(break_lines(text), "\n#define A 1\n\n\nvoid f() { printf(\"\\n\"); }\nint x;");
    }

    #[test]
    fn lines_are_broken_where_one_begins_with_an_escape() {
        let said = |kind: &str, source: &str| {
            let complaint =
                Complaint { kind, message: "", name: "", offset: None, preprocessor: true };
            Escape.fix(&complaint, &Program { source, usage: Usage::of("") })
        };
        assert_eq!(said("err_any", "int x;\n  \\nint y;"), Some(vec![Fix::BreakLines]));
        assert_eq!(said("warn_any", "\\nint y;"), None);
        assert_eq!(said("err_any", "printf(\"\\n\");"), None);
    }
}
