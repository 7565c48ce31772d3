//! Inequalities in prose: `1 ≤ N, M ≤ 10^5`, in signs, in HTML's words or in TeX.

/// Pieces of one side of an inequality at most.
const PIECES: usize = 24;

/// A variable: `N`, `a_i`, `x1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) base: String,
    pub(super) index: Option<String>,
}

/// What a variable is no smaller and no larger than.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) name: Name,
    /// Its length or absolute value is meant.
    pub(super) is_size: bool,
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Number(i64),
    Name(Name),
    Relation(Relation),
    Plus,
    Minus,
    Times,
    Power,
    Bar,
    Comma,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Relation {
    is_less: bool,
    is_strict: bool,
}

const fn relation(is_less: bool, is_strict: bool) -> Piece {
    Piece::Relation(Relation { is_less, is_strict })
}

/// What stands beside a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Side {
    Number(i64),
    Terms(Vec<Term>),
}

/// A variable and a little more or less.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    name: Name,
    is_size: bool,
    plus: i64,
}

/// Sides in ascending order, and whether each is strictly below the next.
struct Chain {
    sides: Vec<Side>,
    strict: Vec<bool>,
}

/// What the lines of a text say of variables. Of two statements about one the wider counts: part of the points may be for less.
pub(super) fn bounds(prose: &str) -> Vec<Bound> {
    let chains: Vec<Chain> = prose.lines().flat_map(chains).collect();
    let mut found: Vec<Bound> = Vec::new();
    // Numbers that stand beside a variable, then what is farther away or bounded itself.
    for reach in [1, usize::MAX, usize::MAX] {
        let known = found.clone();
        for chain in &chains {
            for (at, side) in chain.sides.iter().enumerate() {
                let Side::Terms(terms) = side else { continue };
                for term in terms {
                    let both = [chain.least(at, reach, &known), chain.most(at, reach, &known)];
                    let both =
                        both.map(|limit| limit.and_then(|limit| limit.checked_sub(term.plus)));
                    add(&mut found, term, both, reach == 1);
                }
            }
        }
    }
    found.retain(|bound| match (bound.least, bound.most) {
        (None, None) => false,
        (Some(least), Some(most)) => least <= most,
        _ => true,
    });
    found
}

fn add(found: &mut Vec<Bound>, term: &Term, [least, most]: [Option<i64>; 2], is_beside: bool) {
    let Some(bound) = found.iter_mut().find(|bound| is_of(bound, term)) else {
        let (name, is_size) = (term.name.clone(), term.is_size);
        found.push(Bound { name, is_size, least, most });
        return;
    };
    if is_beside {
        bound.least = [bound.least, least].into_iter().flatten().min();
        bound.most = [bound.most, most].into_iter().flatten().max();
    } else {
        bound.least = bound.least.or(least);
        bound.most = bound.most.or(most);
    }
}

fn is_of(bound: &Bound, term: &Term) -> bool {
    bound.name == term.name && bound.is_size == term.is_size
}

impl Chain {
    /// What a side is no smaller than, by what stands so far below it at most.
    fn least(&self, at: usize, reach: usize, known: &[Bound]) -> Option<i64> {
        let mut more = 0;
        for below in (0..at).rev().take(reach) {
            more += i64::from(self.strict[below]);
            let limit = limit(&self.sides[below], known, |bound| bound.least);
            if let Some(limit) = limit.into_iter().min() {
                return limit.checked_add(more);
            }
        }
        None
    }

    fn most(&self, at: usize, reach: usize, known: &[Bound]) -> Option<i64> {
        let mut less = 0;
        for above in (at + 1..self.sides.len()).take(reach) {
            less += i64::from(self.strict[above - 1]);
            let limit = limit(&self.sides[above], known, |bound| bound.most);
            if let Some(limit) = limit.into_iter().max() {
                return limit.checked_sub(less);
            }
        }
        None
    }
}

/// The numbers that a side is known to be bounded by.
fn limit(side: &Side, known: &[Bound], of: impl Fn(&Bound) -> Option<i64>) -> Vec<i64> {
    match side {
        Side::Number(number) => vec![*number],
        Side::Terms(terms) => {
            let limit = |term: &Term| {
                let bound = known.iter().find(|bound| is_of(bound, term))?;
                of(bound)?.checked_add(term.plus)
            };
            terms.iter().filter_map(limit).collect()
        }
    }
}

/// The inequalities of a line.
fn chains(line: &str) -> Vec<Chain> {
    let all = pieces(line);
    let is_relation = |piece: &Piece| matches!(piece, Piece::Relation(_));
    let parts: Vec<&[Piece]> = all.split(is_relation).collect();
    let relations: Vec<Relation> = all
        .iter()
        .filter_map(|piece| match piece {
            Piece::Relation(relation) => Some(*relation),
            _ => None,
        })
        .collect();
    let mut chains = Vec::new();
    let mut at = 0;
    while at < relations.len() {
        let Some(first) = at_end(parts[at]) else {
            at += 1;
            continue;
        };
        let (mut sides, begin) = (vec![first], at);
        while at < relations.len() {
            at += 1;
            if let Some(whole) = side(parts[at]) {
                sides.push(whole);
                continue;
            }
            sides.extend(at_begin(parts[at]));
            break;
        }
        let between = &relations[begin..begin + sides.len() - 1];
        let mut strict: Vec<bool> = between.iter().map(|relation| relation.is_strict).collect();
        if between.iter().all(|relation| !relation.is_less) {
            sides.reverse();
            strict.reverse();
        } else if !between.iter().all(|relation| relation.is_less) {
            continue;
        }
        chains.push(Chain { sides, strict });
    }
    chains
}

/// The longest side that a part ends with, where it is no part of a term.
fn at_end(part: &[Piece]) -> Option<Side> {
    let first = part.len().saturating_sub(PIECES);
    (first..part.len())
        .find(|from| {
            let is_cut = *from > 0 && is_arithmetic(&part[from - 1]);
            !is_cut && side(&part[*from..]).is_some()
        })
        .and_then(|from| side(&part[from..]))
}

/// The longest side that a part begins with, where it is no part of a term.
fn at_begin(part: &[Piece]) -> Option<Side> {
    let is_cut = |to: usize| {
        part.get(to).is_some_and(|next| is_arithmetic(next) && !matches!(next, Piece::Number(_)))
    };
    let to = (1..=part.len().min(PIECES)).rev();
    to.filter(|to| !is_cut(*to)).find_map(|to| side(&part[..to]))
}

fn is_arithmetic(piece: &Piece) -> bool {
    matches!(
        piece,
        Piece::Number(_) | Piece::Plus | Piece::Minus | Piece::Times | Piece::Power | Piece::Bar
    )
}

fn side(pieces: &[Piece]) -> Option<Side> {
    if let Some(number) = value(pieces) {
        return Some(Side::Number(number));
    }
    let parts = pieces.split(|piece| *piece == Piece::Comma).filter(|part| !part.is_empty());
    let terms: Vec<Term> = parts.map(term).collect::<Option<_>>()?;
    let is_list = pieces.first() != Some(&Piece::Comma) && pieces.last() != Some(&Piece::Comma);
    (is_list && !terms.is_empty()).then_some(Side::Terms(terms))
}

fn term(pieces: &[Piece]) -> Option<Term> {
    let (name, is_size, plus) = match pieces {
        [Piece::Name(name)] => (name, false, 0),
        [Piece::Bar, Piece::Name(name), Piece::Bar] => (name, true, 0),
        [Piece::Name(name), Piece::Plus, Piece::Number(number)] => (name, false, *number),
        [Piece::Name(name), Piece::Minus, Piece::Number(number)] => (name, false, -*number),
        _ => return None,
    };
    Some(Term { name: name.clone(), is_size, plus })
}

/// Sums and products of numbers and their powers.
fn value(pieces: &[Piece]) -> Option<i64> {
    let is_sign = |piece: &Piece| matches!(piece, Piece::Plus | Piece::Minus);
    if let Some(at) = pieces.iter().rposition(is_sign).filter(|at| *at > 0) {
        let (left, right) = (value(&pieces[..at])?, value(&pieces[at + 1..])?);
        return match pieces[at] {
            Piece::Plus => left.checked_add(right),
            _ => left.checked_sub(right),
        };
    }
    if let [Piece::Minus, rest @ ..] = pieces {
        return value(rest)?.checked_neg();
    }
    let factors = pieces.split(|piece| *piece == Piece::Times).map(|factor| match factor {
        [Piece::Number(number)] => Some(*number),
        [Piece::Number(base), Piece::Power, Piece::Number(exponent)] => {
            base.checked_pow(u32::try_from(*exponent).ok()?)
        }
        _ => None,
    });
    factors.into_iter().try_fold(1_i64, |product, factor| product.checked_mul(factor?))
}

/// The pieces of a text, layout and braces left out.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let all: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&letter) = all.get(at) {
        let next = all.get(at + 1).copied();
        let (piece, behind) = match letter {
            '0'..='9' => {
                let (number, behind) = number(&all, at);
                found.push(number.map_or(Piece::Other, Piece::Number));
                at = behind;
                // `2N` and `3(N + 1)` are products.
                if all.get(at).is_some_and(|c| c.is_ascii_alphabetic() || *c == '(') {
                    found.push(Piece::Times);
                }
                continue;
            }
            'a'..='z' | 'A'..='Z' => name(&all, at),
            '\\' => command(&all, at),
            '≤' | '≦' | '⩽' => (Some(relation(true, false)), at + 1),
            '≥' | '≧' | '⩾' => (Some(relation(false, false)), at + 1),
            '<' if next == Some('=') => (Some(relation(true, false)), at + 2),
            '>' if next == Some('=') => (Some(relation(false, false)), at + 2),
            '<' => (Some(relation(true, true)), at + 1),
            '>' => (Some(relation(false, true)), at + 1),
            '+' => (Some(Piece::Plus), at + 1),
            '-' | '−' => (Some(Piece::Minus), at + 1),
            '*' | '×' | '·' => (Some(Piece::Times), at + 1),
            '^' => (Some(Piece::Power), at + 1),
            '|' => (Some(Piece::Bar), at + 1),
            ',' | '、' => (Some(Piece::Comma), at + 1),
            '$' | '{' | '}' => (None, at + 1),
            other if other.is_whitespace() => (None, at + 1),
            _ => (Some(Piece::Other), at + 1),
        };
        found.extend(piece);
        at = behind;
    }
    found
}

/// Digits, in groups of three perhaps; no number where they are a fraction or too many.
fn number(all: &[char], from: usize) -> (Option<i64>, usize) {
    let digits = |at: usize| all[at..].iter().take_while(|c| c.is_ascii_digit()).count();
    let first = digits(from);
    let mut at = from + first;
    let mut text: String = all[from..at].iter().collect();
    // `100,000`, and `100{,}000` in TeX.
    loop {
        let comma = match all[at..] {
            _ if first > 3 => break,
            ['{', ',', '}', ..] => 3,
            [',', ..] => 1,
            _ => break,
        };
        if digits(at + comma) != 3 {
            break;
        }
        text.extend(&all[at + comma..at + comma + 3]);
        at += comma + 3;
    }
    if all.get(at) == Some(&'.') && all.get(at + 1).is_some_and(char::is_ascii_digit) {
        return (None, at + 1 + digits(at + 1));
    }
    (text.parse().ok(), at)
}

/// A run of letters with what it is indexed by; `and` stands for a comma.
fn name(all: &[char], from: usize) -> (Option<Piece>, usize) {
    let run = |at: usize, is_one: fn(&char) -> bool| {
        at + all[at..].iter().take_while(|c| is_one(c)).count()
    };
    let letters = run(from, char::is_ascii_alphabetic);
    let text = |from: usize, to: usize| all[from..to].iter().collect::<String>();
    let base = text(from, letters);
    if base == "and" {
        return (Some(Piece::Comma), letters);
    }
    let (index, behind) = match all[letters..] {
        ['_', '{', ..] => {
            let inside = letters + 2;
            let end = run(inside, |c| *c != '}');
            let index = text(inside, end).split_whitespace().collect::<String>();
            (Some(index), (end + 1).min(all.len()))
        }
        ['_', ..] => {
            let end = run(letters + 1, char::is_ascii_alphanumeric);
            (Some(text(letters + 1, end)), end)
        }
        [digit, ..] if digit.is_ascii_digit() => {
            let end = run(letters, char::is_ascii_digit);
            (Some(text(letters, end)), end)
        }
        _ => (None, letters),
    };
    let index = index.filter(|index| !index.is_empty());
    (Some(Piece::Name(Name { base, index })), behind)
}

/// A command of TeX.
fn command(all: &[char], from: usize) -> (Option<Piece>, usize) {
    let length = all[from + 1..].iter().take_while(|c| c.is_ascii_alphabetic()).count();
    if length == 0 {
        // A space or a bracket.
        return (None, (from + 2).min(all.len()));
    }
    let behind = from + 1 + length;
    let word: String = all[from + 1..behind].iter().collect();
    let piece = match word.as_str() {
        "le" | "leq" | "leqq" | "leqslant" => relation(true, false),
        "ge" | "geq" | "geqq" | "geqslant" => relation(false, false),
        "lt" => relation(true, true),
        "gt" => relation(false, true),
        "times" | "cdot" => Piece::Times,
        "vert" | "lvert" | "rvert" | "mid" => Piece::Bar,
        "text" | "mathrm" | "rm" | "it" | "left" | "right" | "quad" => return (None, behind),
        _ => Piece::Other,
    };
    (Some(piece), behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each variable with its bounds, in words.
    fn said(prose: &str) -> Vec<String> {
        let shown = |limit: Option<i64>| limit.map_or("?".to_owned(), |limit| limit.to_string());
        let of = |Bound { name, is_size, least, most }: Bound| {
            let index = name.index.map(|index| format!("_{index}")).unwrap_or_default();
            let bar = if is_size { "|" } else { "" };
            format!("{} {bar}{}{index}{bar} {}", shown(least), name.base, shown(most))
        };
        bounds(prose).into_iter().map(of).collect()
    }

    #[test]
    fn bounds_are_read_in_signs_and_in_tex() {
        assert_eq!(said("1 ≤ N, M ≤ 10^5"), ["1 N 100000", "1 M 100000"]);
        assert_eq!(said("$1 \\leq a_i < 2 \\times 10^{9}$"), ["1 a_i 1999999999"]);
        assert_eq!(said("an integer n (1 <= n <= 1,000,000)."), ["1 n 1000000"]);
        assert_eq!(said("100 ≥ x > -10^3"), ["-999 x 100"]);
        assert_eq!(said("0 \\le x_{1} \\lt 2^{31}-1"), ["0 x_1 2147483646"]);
        assert_eq!(said("1 ≤ |S| ≤ 100{,}000"), ["1 |S| 100000"]);
        assert_eq!(said("1 ≤ n ≤ 100, 2 ≤ m ≤ 50"), ["1 n 100", "2 m 50"]);
    }

    #[test]
    fn one_variable_may_bound_another() {
        let due = ["1 N 100", "1 K 100", "1 i 100"];
        assert_eq!(said("1 ≤ N ≤ 100\n1 ≤ K ≤ N\n1 ≤ i ≤ N"), due);
        assert_eq!(said("0 ≤ a < b ≤ 9"), ["0 a 8", "1 b 9"]);
        assert_eq!(said("1 ≤ K ≤ N - 1\n2 ≤ N ≤ 10"), ["1 K 9", "2 N 10"]);
    }

    #[test]
    fn of_two_bounds_the_wider_counts_and_terms_are_not_cut() {
        assert_eq!(said("1 ≤ N ≤ 100\n1 ≤ N ≤ 10"), ["1 N 100"]);
        assert_eq!(said("1 ≤ 2N ≤ 5"), Vec::<String>::new());
        assert_eq!(said("0 ≤ x ≤ 1.5"), ["0 x ?"]);
        assert_eq!(said("N ≤ 10 ≥ 2"), Vec::<String>::new());
        assert_eq!(said("a 1 23 , \\ ^ _ | |"), Vec::<String>::new());
    }
}
