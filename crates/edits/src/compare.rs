//! Whether a program printed what it should.

/// Numbers with a fraction may differ by so much, as in PIE's judge.
pub const TOLERANCE: f64 = 1e-3;

/// Compare what a program printed with what it should print: line by line, token by token. Tokens are
/// equal as they are written, or as numbers within [`TOLERANCE`] where one of the two has a fraction.
/// White space inside a line and empty lines at the end do not count; a line too many or too few does
/// (PIE's judge compares as many lines as the shorter text has, so that it accepts extra ones).
///
/// # Errors
/// What differs first.
pub fn compare(expected: &[u8], printed: &[u8]) -> Result<(), String> {
    let expected_text = String::from_utf8_lossy(expected);
    let printed_text = String::from_utf8_lossy(printed);
    let wanted = lines(&expected_text);
    let found = lines(&printed_text);
    for (at, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
        let mut wanted_tokens = wanted.split_whitespace();
        let mut found_tokens = found.split_whitespace();
        loop {
            let (want, got) = (wanted_tokens.next(), found_tokens.next());
            match (want, got) {
                (None, None) => break,
                (Some(want), Some(got)) if same(want, got) => {}
                _ => {
                    let show = |token: Option<&str>| token.map_or("nothing".into(), shorten);
                    return Err(format!(
                        "line {}: wanted {}, found {}",
                        at + 1,
                        show(want),
                        show(got)
                    ));
                }
            }
        }
    }
    match (wanted.len(), found.len()) {
        (wanted, found) if wanted < found => {
            Err(format!("{} lines too many: wanted {wanted}, found {found}", found - wanted))
        }
        (wanted, found) if wanted > found => {
            Err(format!("{} lines missing: wanted {wanted}, found {found}", wanted - found))
        }
        _ => Ok(()),
    }
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    lines
}

fn same(wanted: &str, found: &str) -> bool {
    if wanted == found {
        return true;
    }
    let fraction =
        |token: &str| token.contains(['.', 'e', 'E']) && !token.starts_with(['e', 'E', '.']);
    if !fraction(wanted) && !fraction(found) {
        return false;
    }
    match (wanted.parse::<f64>(), found.parse::<f64>()) {
        (Ok(wanted), Ok(found)) => (wanted - found).abs() < TOLERANCE,
        _ => false,
    }
}

fn shorten(token: &str) -> String {
    match token.char_indices().nth(40) {
        Some((at, _)) => format!("`{}...`", &token[..at]),
        None => format!("`{token}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn tokens_are_exact_and_fractions_near() {
        assert_eq!(compare(b"1 2\n3.14159\n\n", b"1  2 \n3.1416\n"), Ok(()));
        assert_eq!(compare(b"2.000", b"2"), Ok(()));
        assert!(compare(b"2", b"3").is_err());
        assert!(compare(b"2.0", b"2.002").is_err());
        assert!(compare(b"1.0", b"nan").is_err());
        assert!(compare(b"Yes", b"yes").is_err());
        assert!(compare(b"007", b"7").is_err());
    }

    #[test]
    fn lines_too_many_or_too_few_fail() {
        assert_eq!(compare(b"1\n", b"1\n2\n"), Err("1 lines too many: wanted 1, found 2".into()));
        assert_eq!(compare(b"1\n2\n", b"1\n"), Err("1 lines missing: wanted 2, found 1".into()));
        assert_eq!(compare(b"1 2\n", b"1\n2\n"), Err("line 1: wanted `2`, found nothing".into()));
        assert_eq!(compare(b"", b"\n \n"), Ok(()));
    }
}
