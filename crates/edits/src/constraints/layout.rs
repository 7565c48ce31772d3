//! Where in a sample the variables stand that the format of inputs names.

use super::inequality::{Name, Piece, pieces};
use std::{collections::BTreeMap, ops::Range};

/// What stands for more of the same.
const MORE: [&str; 10] =
    [":", "...", "..", "…", "⋮", "・・・", "\\ldots", "\\cdots", "\\dots", "\\vdots"];

/// A variable, and where its values stand in a sample: in its first line where it has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) name: Name,
    /// From 0 on.
    pub(super) line: usize,
    /// From 0 on.
    pub(super) tokens: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(Name),
    More,
    Other,
}

/// Numbers of a sample, by their names.
type Values = BTreeMap<String, i64>;

/// The variables of a format, as far as it can be followed through a sample.
pub(super) fn places(format: &str, sample: &[Vec<&str>]) -> Vec<Place> {
    let lines: Vec<Vec<Token>> =
        format.lines().map(tokens).filter(|line| !line.is_empty()).collect();
    let mut places = Vec::new();
    let mut values = Values::new();
    let (mut number, mut line) = (0, 0);
    while number < lines.len() {
        let group = group(&lines[number..], &values);
        if let Some((used, Some(0))) = group {
            number += used;
            continue;
        }
        let Some(read) = sample.get(line) else { break };
        let Some(named) = named(&lines[number], read.len()) else { break };
        for (name, tokens) in named {
            if let (None, [token]) = (&name.index, &read[tokens.clone()])
                && let Ok(value) = token.parse()
            {
                values.insert(name.base.clone(), value);
            }
            places.push(Place { name, line, tokens });
        }
        match group {
            None => (number, line) = (number + 1, line + 1),
            Some((used, Some(rows))) => (number, line) = (number + used, line + rows),
            Some((_, None)) => break,
        }
    }
    places
}

/// The tokens of a line of a format. One that stands in braces is whole whatever is between them.
fn tokens(line: &str) -> Vec<Token> {
    let mut words: Vec<String> = vec![String::new()];
    let mut depth = 0_usize;
    for letter in line.chars().filter(|letter| *letter != '$') {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match words.last_mut() {
            Some(word) if depth > 0 || !letter.is_whitespace() => word.push(letter),
            _ => words.push(String::new()),
        }
    }
    words.iter().filter(|word| !word.is_empty()).map(|word| token(word)).collect()
}

fn token(word: &str) -> Token {
    if MORE.contains(&word) {
        return Token::More;
    }
    let found = pieces(word);
    let names = found.iter().filter(|piece| matches!(piece, Piece::Name(_))).count();
    match &found[..] {
        [Piece::Name(name)] => Token::Name(name.clone()),
        // One word of many letters: `c_1c_2...c_n`.
        [Piece::Name(name), ..] if names > 1 => {
            Token::Name(Name { base: name.base.clone(), index: None })
        }
        _ => Token::Other,
    }
}

/// The variables of a line that has so many tokens.
fn named(line: &[Token], many: usize) -> Option<Vec<(Name, Range<usize>)>> {
    let name = |at: usize| match &line[at] {
        Token::Name(name) => Some(name.clone()),
        Token::More | Token::Other => None,
    };
    let Some(more) = line.iter().position(|token| *token == Token::More) else {
        let each = (0..line.len()).filter_map(|at| Some((name(at)?, at..at + 1)));
        return (line.len() == many).then(|| each.collect());
    };
    // `k a_1 a_2 ... a_k`: what is before a list, and the list to the end.
    if more == 0 || more + 2 != line.len() {
        return None;
    }
    let list = name(more - 1)?;
    let of_list = |at: usize| name(at).is_some_and(|name| name.base == list.base);
    let first = (0..more).rev().take_while(|at| of_list(*at)).last()?;
    let before: Vec<(Name, Range<usize>)> =
        (0..first).filter_map(|at| Some((name(at)?, at..at + 1))).collect();
    let is_plain = before.iter().all(|(name, _)| name.index.is_none());
    (is_plain && first <= many && list.index.is_some()).then(|| {
        let list = name(first).map(|name| (name, first..many));
        before.into_iter().chain(list).collect()
    })
}

/// Lines with a number each, an ellipsis and the last of them: how many lines of the format, and of an input where that is known.
fn group(lines: &[Vec<Token>], values: &Values) -> Option<(usize, Option<usize>)> {
    let first = lines.first()?;
    let more = lines.iter().position(|line| line[..] == [Token::More])?;
    let last = lines.get(more + 1)?;
    let is_alike = |line: &[Token]| {
        line.len() == first.len()
            && first.iter().zip(line).all(|(one, other)| match (one, other) {
                (Token::Name(one), Token::Name(other)) => last_index(one, other).is_some(),
                (one, other) => one == other,
            })
    };
    if more == 0 || !lines[..more].iter().all(|line| is_alike(line)) || !is_alike(last) {
        return None;
    }
    let ends = first.iter().zip(last).find_map(|(one, other)| match (one, other) {
        (Token::Name(one), Token::Name(other)) => {
            Some((value(one.index.as_deref()?, values)?, last_index(one, other)?))
        }
        _ => None,
    });
    let rows = ends.and_then(|(from, to)| {
        let to = value(&to, values)?;
        usize::try_from(to.checked_sub(from)?.checked_add(1)?).ok()
    });
    Some((more + 2, rows))
}

/// What another variable of the same name is indexed by: `n` of `a_n` and `an`, where the first is `a_1`.
fn last_index(one: &Name, other: &Name) -> Option<String> {
    one.index.as_ref()?;
    let glued = || other.base.strip_prefix(one.base.as_str()).filter(|rest| !rest.is_empty());
    match &other.index {
        Some(index) if one.base == other.base => Some(index.clone()),
        None => glued().map(str::to_owned),
        Some(_) => None,
    }
}

/// The value of an index, the first where it has two: a number, a variable, or one a little more or less.
fn value(index: &str, values: &Values) -> Option<i64> {
    let index = index.split(',').next()?.trim();
    if let Ok(number) = index.parse() {
        return Some(number);
    }
    match index.split_once(['-', '−']) {
        Some((name, less)) => values.get(name)?.checked_sub(less.parse().ok()?),
        None => values.get(index).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each variable with its line and tokens.
    fn found(format: &str, sample: &str) -> Vec<String> {
        let lines: Vec<Vec<&str>> =
            sample.lines().map(|line| line.split_whitespace().collect()).collect();
        let shown = |place: Place| {
            let index = place.name.index.map(|index| format!("_{index}")).unwrap_or_default();
            format!("{}{index} {} {:?}", place.name.base, place.line, place.tokens)
        };
        places(format, &lines).into_iter().map(shown).collect()
    }

    #[test]
    fn lines_lists_and_rows_are_followed() {
        let due = ["N 0 0..1", "K 0 1..2", "a_1 1 0..3"];
        assert_eq!(found("N K\na_1 a_2 ... a_N\n", "3 2\n5 7 9\n"), due);
        let due = ["n 0 0..1", "x_1 1 0..1", "y_1 1 1..2", "q 4 0..1"];
        assert_eq!(found("n\nx1 y1\nx2 y2\n:\nxn yn\nq", "3\n1 2\n3 4\n5 6\n8\n"), due);
        let due = ["N 0 0..1", "p_2 1 0..1", "s 3 0..1"];
        assert_eq!(found("N\np_2\n⋮\np_N\ns", "3\n1\n1\nab\n"), due);
        assert_eq!(found("N\na_1\n:\na_N\ns", "0\nab\n"), ["N 0 0..1", "s 1 0..1"]);
        assert_eq!(found("k a_1 \\ldots a_k", "2 5 6\n"), ["k 0 0..1", "a_1 0 1..3"]);
    }

    #[test]
    fn grids_are_words() {
        let format = "H W\nc_{1, 1}c_{1, 2}...c_{1, W}\n:\nc_{H, 1}c_{H, 2}...c_{H, W}\n";
        assert_eq!(found(format, "2 3\n#.#\n...\n"), ["H 0 0..1", "W 0 1..2", "c 1 0..1"]);
    }

    #[test]
    fn what_cannot_be_followed_ends_it() {
        assert_eq!(found("N\nM", "1 2\n3\n"), Vec::<String>::new());
        assert_eq!(found("N\nx_1 y_1 x_2 y_2 ... x_N y_N\nq", "1\n3 4\n5\n"), ["N 0 0..1"]);
        assert_eq!(found("N\na_1\n:\na_M\nq", "1\n3\n5\n"), ["N 0 0..1", "a_1 1 0..1"]);
        assert_eq!(found("", "1\n"), Vec::<String>::new());
    }
}
