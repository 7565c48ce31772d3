//! Limits that the description of a problem states: inequalities in its prose, tied to places of a sample by the format of inputs.
//!
//! `1 ≤ N ≤ 10^5` below *Constraints*, and `N` as the first line of the format below *Input*, are a limit of the first number. What
//! cannot be tied, or does not hold for the sample, says nothing.

mod inequality;
mod layout;

use crate::problems::Limit;
use html5gum::{Token, Tokenizer};
use inequality::{Bound, Name, bounds};
use layout::{Place, places};

/// Words of headings below which nothing is said about all inputs.
const ELSEWHERE: [&str; 10] =
    ["sample", "example", "output", "score", "subtask", "note", "hint", "例", "出力", "部分点"];
/// What prose says in the place of a sign.
const PHRASES: [(&str, &str); 8] = [
    ("is less than or equal to", "≤"),
    ("does not exceed", "≤"),
    ("do not exceed", "≤"),
    ("is not greater than", "≤"),
    ("is no more than", "≤"),
    ("is at most", "≤"),
    ("is greater than or equal to", "≥"),
    ("is at least", "≥"),
];
/// Names of what an input has several of.
const DATA_SETS: [&str; 3] = ["datasets", "sets", "cases"];

/// Headings of descriptions that are plain text.
const HEADINGS: [&str; 5] = ["input", "output", "constraints", "note", "notes"];
/// Those behind which nothing is said any more.
const ENDS: [&str; 4] = ["example", "examples", "sample input", "sample input 1"];

/// The limits that a description in HTML or in plain text states, by line and token of this sample.
pub(crate) fn limits_in(description: &str, sample: &str) -> Vec<Limit> {
    let page = match description.contains("</") {
        true => Page::of_html(description),
        false => Page::of_text(description),
    };
    let lines: Vec<Vec<&str>> =
        sample.lines().map(|line| line.split_whitespace().collect()).collect();
    let places = places(&page.format, &lines);
    let mut limits = Vec::new();
    let mut prose = page.prose;
    for (phrase, sign) in PHRASES {
        prose = prose.replace(phrase, sign);
    }
    for bound in bounds(&prose) {
        if DATA_SETS.contains(&bound.name.base.as_str()) {
            let most = bound.most.filter(|most| *most > 0);
            limits.extend(most.map(|most| Limit {
                data_sets: true,
                most: Some(most),
                ..Limit::default()
            }));
            continue;
        }
        let due = places.iter().filter(|place| is_same(&bound.name, &place.name));
        let stated: Option<Vec<Vec<Limit>>> =
            due.map(|place| limit(&bound, place, &lines)).collect();
        limits.extend(stated.into_iter().flatten().flatten());
    }
    limits
}

/// Whether prose and format mean the same variable.
fn is_same(prose: &Name, format: &Name) -> bool {
    let is_number =
        |index: &Option<String>| index.as_ref().is_some_and(|index| index.parse::<i64>().is_ok());
    if prose.base == format.base {
        // `x_1` is itself alone, `x_i` and `x` are any.
        return prose.index == format.index || !is_number(&prose.index);
    }
    // `ai`, where the format has `a1 a2 ... an`.
    let stem = prose.base.strip_suffix(['i', 'j', 'k']);
    format.index.is_some() && prose.index.is_none() && stem == Some(format.base.as_str())
}

/// What is stated about the tokens of a place; `None` where they do not keep it.
fn limit(bound: &Bound, place: &Place, lines: &[Vec<&str>]) -> Option<Vec<Limit>> {
    let tokens = &lines[place.line][place.tokens.clone()];
    let is_whole = tokens.iter().all(|token| is_number(token) && token.parse::<i64>().is_ok());
    let (least, most) = match (bound.is_size, is_whole) {
        (false, _) => (bound.least, bound.most),
        (true, false) => (bound.least, bound.most),
        // Of `|x|` the number is meant, of `1 ≤ |S|` the digits are.
        (true, true) if bound.least.is_some_and(|least| least > 0) => return None,
        (true, true) => (bound.most?.checked_neg(), bound.most),
    };
    let holds = |number: f64| {
        least.is_none_or(|least| least as f64 <= number)
            && most.is_none_or(|most| number <= most as f64)
    };
    let is_kept = |token: &&str| match bound.is_size && !is_whole {
        true => holds(token.chars().count() as f64),
        false => is_number(token) && token.parse::<f64>().is_ok_and(holds),
    };
    if (least, most) == (None, None) || !tokens.iter().all(is_kept) {
        return None;
    }
    let at = |token: usize| Limit {
        line: Some(place.line as u64 + 1),
        token: Some(token as u64 + 1),
        least,
        most,
        ..Limit::default()
    };
    Some(place.tokens.clone().map(at).collect())
}

/// Whether a token is no word of digits such as `0110`.
fn is_number(token: &str) -> bool {
    let digits = token.strip_prefix(['-', '+']).unwrap_or(token);
    digits.len() == 1 || !digits.starts_with('0') || digits.contains('.')
}

/// What a description says of all inputs.
#[derive(Default)]
struct Page {
    /// Its prose, a line a paragraph.
    prose: String,
    /// How an input is made up; nothing where it does not say.
    format: String,
}

impl Page {
    fn of_html(html: &str) -> Page {
        let mut page = Page::default();
        let (mut heading, mut is_heading, mut block) = (String::new(), false, None::<String>);
        for token in Tokenizer::new(html) {
            let Ok(token) = token;
            let (mark, text) = match &token {
                Token::StartTag(tag) => match &**tag.name {
                    b"sup" => ("^{", None),
                    b"sub" => ("_{", None),
                    b"h1" | b"h2" | b"h3" | b"h4" | b"h5" => {
                        (heading, is_heading) = (String::new(), true);
                        ("\n", None)
                    }
                    b"pre" => {
                        block = Some(String::new());
                        continue;
                    }
                    b"p" | b"li" | b"br" | b"tr" | b"div" | b"ul" => ("\n", None),
                    _ => continue,
                },
                Token::EndTag(tag) => match &**tag.name {
                    b"sup" | b"sub" => ("}", None),
                    b"h1" | b"h2" | b"h3" | b"h4" | b"h5" => {
                        is_heading = false;
                        continue;
                    }
                    b"pre" => {
                        page.take(&heading, &block.take().unwrap_or_default());
                        continue;
                    }
                    b"p" | b"li" | b"tr" | b"div" | b"ul" => ("\n", None),
                    _ => continue,
                },
                Token::String(text) => ("", Some(String::from_utf8_lossy(text).into_owned())),
                _ => continue,
            };
            let is_text = text.is_some();
            let text = text.unwrap_or_else(|| mark.to_owned());
            match &mut block {
                Some(block) => block.push_str(&text),
                None if is_heading && is_text => heading.push_str(&text),
                None if is_heading || is_elsewhere(&heading) => {}
                // The layout of the source says nothing.
                None if is_text => page.prose.push_str(&text.replace(['\n', '\r'], " ")),
                None => page.prose.push_str(&text),
            }
        }
        page
    }

    /// Of paragraphs with a heading for some of them, as CodeContests has the descriptions of AtCoder and Aizu: the format is the
    /// paragraph behind one that speaks of it.
    fn of_text(text: &str) -> Page {
        let mut page = Page::default();
        let (mut heading, mut is_format) = (String::new(), false);
        let text = text.replace("\r\n", "\n");
        for paragraph in text.split("\n\n").map(str::trim).filter(|text| !text.is_empty()) {
            let line = paragraph.trim_end_matches(':').to_lowercase();
            if ENDS.contains(&line.as_str()) {
                break;
            }
            if HEADINGS.contains(&line.as_str()) {
                (heading, is_format) = (line, false);
                continue;
            }
            if is_elsewhere(&heading) {
                continue;
            }
            if is_format && page.format.is_empty() {
                page.format = paragraph.to_owned();
            } else {
                is_format = heading == "input" && line.contains("format");
                for line in paragraph.lines().map(str::trim) {
                    let item = line.strip_prefix("* ").or_else(|| line.strip_prefix("- "));
                    page.prose.push_str(item.unwrap_or(line));
                    page.prose.push('\n');
                }
            }
        }
        page
    }

    /// A block of text below a heading: the first below that of inputs is their format.
    fn take(&mut self, heading: &str, block: &str) {
        let heading = heading.to_lowercase();
        if is_elsewhere(&heading) {
            return;
        }
        let is_input = heading.contains("input") || heading.contains("入力");
        if is_input && self.format.is_empty() {
            self.format = block.replace("\r\n", "\n");
        } else {
            self.prose.push('\n');
            self.prose.push_str(block);
            self.prose.push('\n');
        }
    }
}

fn is_elsewhere(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    ELSEWHERE.iter().any(|word| heading.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line, token, least and most of a limit.
    type One = (Option<u64>, Option<u64>, Option<i64>, Option<i64>);

    fn found(html: &str, sample: &str) -> Vec<One> {
        let limits = limits_in(html, sample);
        limits.iter().map(|limit| (limit.line, limit.token, limit.least, limit.most)).collect()
    }

    fn on(line: u64, token: u64, least: i64, most: i64) -> One {
        (Some(line), Some(token), Some(least), Some(most))
    }

    const ATCODER: &str = "<h3>Constraints</h3><ul><li><var>1 \\leq N \\leq 10^5</var></li>\
        <li><var>1 \\leq K \\leq N</var></li><li><var>-10^9 \\leq A_i \\leq 10^9</var> <var>(1 \\leq i \\leq N)</var></li></ul>\
        <h3>Input</h3><p>in the following format:</p><pre><var>N</var> <var>K</var>\n\
        <var>A_1</var> <var>A_2</var> <var>...</var> <var>A_N</var>\n</pre>\
        <h3>Sample Input 1</h3><pre>3 2\n5 -7 9\n</pre>";

    #[test]
    fn constraints_are_tied_to_places_by_the_format() {
        let all = found(ATCODER, "3 2\n5 -7 9\n");
        let billion = 1_000_000_000;
        let due = [
            on(1, 1, 1, 100_000),
            on(1, 2, 1, 100_000),
            on(2, 1, -billion, billion),
            on(2, 2, -billion, billion),
            on(2, 3, -billion, billion),
        ];
        assert_eq!(all, due);
    }

    #[test]
    fn rows_below_an_ellipsis_are_counted_in_the_sample() {
        let aizu = "<H2>Input</H2><pre>\nn m\nx<sub>1</sub> y<sub>1</sub>\n:\nx<sub>n</sub> y<sub>n</sub>\n\
            w1 w2 ... wm\n</pre><H2>Constraints</H2><ul><li>1 &le; n, m &lt; 1,000</li>\
            <li>0 &le; x<sub>i</sub>, y<sub>i</sub> &le; 50</li><li>1 &le; wi &le; 2 &times; 10<sup>3</sup></li></ul>";
        let all = found(aizu, "2 1\n3 4\n5 50\n7\n");
        let due = [
            on(1, 1, 1, 999),
            on(1, 2, 1, 999),
            on(2, 1, 0, 50),
            on(2, 2, 0, 50),
            on(4, 1, 1, 2000),
        ];
        assert_eq!(all, due);
    }

    #[test]
    fn plain_text_has_constraints_too() {
        let text = "Add them.\n\nConstraints\n\n* 1 \\leq N \\leq 100\n* 0 \\leq A_i \\leq 9\n\nInput\n\n\
            Input is given from Standard Input in the following format:\n\n\nN\nA_1 A_2 \\cdots A_N\n\n\nOutput\n\n\
            Print N, 0 ≤ N ≤ 1000.\n\nExamples\n\nInput\n\n1\n7\n\n0 ≤ N ≤ 5000";
        assert_eq!(found(text, "1\n7\n"), [on(1, 1, 1, 100), on(2, 1, 0, 9)]);
        assert!(found("Input\n\nAn integer n (1 ≤ n ≤ 100).", "7\n").is_empty());
    }

    #[test]
    fn lengths_of_words_and_absolute_values_are_told_apart() {
        let page = |law: &str, format: &str| {
            format!("<h3>Constraints</h3><li>{law}</li><h3>Input</h3><pre>{format}</pre>")
        };
        assert_eq!(found(&page("1 ≤ |S| ≤ 100", "S"), "abc\n"), [on(1, 1, 1, 100)]);
        assert_eq!(found(&page("|x| ≤ 100", "x"), "-7\n"), [on(1, 1, -100, 100)]);
        assert!(found(&page("1 ≤ |S| ≤ 100", "S"), "10\n").is_empty());
    }

    #[test]
    fn what_the_sample_breaks_or_nobody_can_tie_says_nothing() {
        let page = |law: &str, format: &str| {
            format!("<h3>Constraints</h3><p>{law}</p><h3>Input</h3><pre>{format}</pre>")
        };
        assert!(found(&page("1 ≤ N ≤ 5", "N"), "6\n").is_empty());
        assert!(found(&page("1 ≤ N ≤ 5", "M"), "3\n").is_empty());
        assert!(found(&page("1 ≤ N ≤ 5", "N M"), "3\n").is_empty());
        assert!(found(&page("1 ≤ 2N ≤ 5", "N"), "1\n").is_empty());
        assert!(
            found("<h3>Output</h3><p>1 ≤ N ≤ 5</p><h3>Input</h3><pre>N</pre>", "3\n").is_empty()
        );
        assert!(found("", "").is_empty() && found("</", "1\n").is_empty());
    }

    #[test]
    fn the_number_of_data_sets_is_stated_in_words() {
        let page = "<h2>Input</h2><p>The number of data sets does not exceed 50.</p>";
        let limits = limits_in(page, "1 2\n");
        let due = Limit { data_sets: true, most: Some(50), ..Limit::default() };
        assert_eq!(limits, [due]);
    }
}
