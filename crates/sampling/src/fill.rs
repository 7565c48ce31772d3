//! What was drawn for the hole of a prompt.

use lexer::{Kind, Token};
use std::ops::Range;

/// The lexemes of a text.
pub(crate) fn lexemes(text: &str) -> Vec<&str> {
    lexer::tokens(text).map(|token| token.text).collect()
}

/// Which bytes of a sample were drawn; `None` where it does not hold its prompt's tokens.
pub(crate) fn drawn_part(text: &str, prompt: &str) -> Option<Range<usize>> {
    let (before, after) = prompt.split_once(lm::HOLE).unwrap_or((prompt, ""));
    let tokens = |text| lexer::tokens(text).collect::<Vec<_>>();
    let (all, before, after) = (tokens(text), tokens(before), tokens(after));
    let (begin, end) = (before.len(), all.len().checked_sub(after.len())?);
    let is_same = |part: &[Token<'_>], of: &[Token<'_>]| {
        part.iter().map(|one| one.text).eq(of.iter().map(|one| one.text))
    };
    if !is_same(all.get(..begin)?, &before) || !is_same(&all[end..], &after) || begin > end {
        return None;
    }
    let start = begin.checked_sub(1).map_or(0, |last| all[last].end());
    Some(start..all.get(end).map_or(text.len(), |first| first.begin))
}

/// Whether the hole stands within an expression, where something else than a constant may stand.
fn is_part(prompt: &str) -> bool {
    let before = prompt.split_once(lm::HOLE).map_or("", |(before, _)| before);
    lexemes(before).last().is_some_and(|last| !["{", "}", ";", ")", "[", "case"].contains(last))
}

/// Whether what was drawn for a hole within an expression names no variable, where something else than a constant may stand.
pub(crate) fn is_constant_fill(text: &str, prompt: &str) -> bool {
    let Some(drawn) = drawn_part(text, prompt).filter(|_| is_part(prompt)) else { return false };
    let all: Vec<Token<'_>> = lexer::tokens(&text[drawn]).collect();
    let is_name = |at: usize| {
        let is_called = all.get(at + 1).is_some_and(|next| next.is("("));
        all[at].kind == Kind::Word && !is_called
    };
    !(0..all.len()).any(is_name)
}

/// The effect of a prompt whose hole is a part of an expression that nothing uses: it is the same with 0 and with 1 there.
/// `None` where something uses it, or no number may stand there.
pub(crate) fn whatever_its_value(
    prompt: &str,
    effect: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    // Where nothing stands behind a hole, what is drawn ends the program.
    let (_, after) = prompt.split_once(lm::HOLE)?;
    if after.trim().is_empty() || !is_part(prompt) {
        return None;
    }
    let [zero, one] = [" 0 ", " 1 "].map(|value| effect(&prompt.replace(lm::HOLE, value)));
    zero.filter(|zero| one.as_ref() == Some(zero))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_of_constants_is_told() {
        for (before, fill, is_one) in [
            ("a[c] = ", "0 > 0x1.0p-1026f", true),
            ("a[c] = ", "-1.0f / b", false),
            ("if (", "get_global_id(0) > 2", true),
            ("if (", "get_global_id(0) > c", false),
            ("int d[", "4", false),
            ("{ ", "4;", false),
            ("case ", "4", false),
        ] {
            let (prompt, text) =
                (format!("{before}{}; }}", lm::HOLE), format!("{before}{fill}; }}"));
            assert_eq!(is_constant_fill(&text, &prompt), is_one, "{text}");
        }
    }

    #[test]
    fn a_value_that_nothing_uses_is_told() {
        // Of these programs what `a` becomes counts.
        let effect = |text: &str| text.split_once("a =").map(|(_, used)| used.trim().to_owned());
        for (prompt, wanted) in [
            ("int d = [HOLE]; a = 2;", Some("2;")),
            ("f(d, [HOLE]); a = 2;", Some("2;")),
            ("a = [HOLE];", None),
            ("int d = [HOLE];", None),
            ("{ [HOLE] a = 2; }", None),
            ("int d[[HOLE]]; a = 2;", None),
            ("case [HOLE]: a = 2;", None),
            ("a = 2; int d = [HOLE]", None),
            ("a = 2;", None),
        ] {
            assert_eq!(whatever_its_value(prompt, &effect).as_deref(), wanted, "{prompt}");
        }
    }
}
