//! What the parser does not take, and what stands where in a query.

use super::lower;
use dataset::near;

/// Words of SQL that stand around tables and conditions.
const KEYWORDS: &str = "select distinct from where group having order limit offset join inner left right full outer cross \
    natural union except intersect using with between like case when then else on by as and or not";

/// What the parser said of `sql`, with the line that it is about and a mark below the place.
pub(super) fn syntax(sql: &str, said: &str) -> String {
    let said = said.trim_start_matches("sql parser error: ");
    let (why, place) = said.rsplit_once(" at Line: ").unwrap_or((said, ""));
    let (before, shown) = place_of(sql, place).unwrap_or_else(|| (sql.to_owned(), String::new()));
    let told = why.strip_prefix("Expected: ").and_then(|why| why.rsplit_once(", found: "));
    let why = match told {
        Some((wanted, found)) => {
            let hint = hint(&before, found);
            let found = match found {
                "EOF" => "the end of the query".to_owned(),
                found => format!("`{found}`"),
            };
            format!("{} was expected, not {found}{hint}", wanted_as(wanted))
        }
        None => lower(why.trim_end_matches('.')).replace("EOF", "the end of the query"),
    };
    format!("the query is no SQL: {why}{shown}")
}

/// What stands in `sql` before `LINE, Column: COLUMN`, and that line with a mark below the place.
fn place_of(sql: &str, place: &str) -> Option<(String, String)> {
    let (line, column) = place.split_once(", Column: ")?;
    let (line, column): (usize, usize) = (line.parse().ok()?, column.parse().ok()?);
    let (line, column) = (line.checked_sub(1)?, column.checked_sub(1)?);
    let text = sql.lines().nth(line)?;
    let head: String = text.chars().take(column).collect();
    let blank = head.chars().map(|one| if one == '\t' { one } else { ' ' });
    let mark: String = blank.chain(['^']).collect();
    let lines: Vec<&str> = sql.lines().take(line).chain([head.as_str()]).collect();
    Some((lines.join("\n"), format!("\n    {text}\n    {mark}")))
}

/// What the parser wanted: words of its own, or a piece of SQL.
fn wanted_as(wanted: &str) -> String {
    match wanted {
        "an SQL statement" => "a statement".to_owned(),
        "end of statement" => "the end of the query".to_owned(),
        "identifier" => "a name".to_owned(),
        "joined table" => "a table".to_owned(),
        words if words.starts_with(|first: char| first.is_ascii_lowercase()) => words.to_owned(),
        piece => format!("`{piece}`"),
    }
}

/// What was meant by a piece that the parser does not take, or by the word before it.
fn hint(before: &str, found: &str) -> String {
    let last = before.split_whitespace().last().unwrap_or_default();
    let meant = |word: &str| {
        let long = KEYWORDS.split(' ').filter(|keyword| keyword.len() > 3);
        if is_keyword(word) || word.len() < 3 { None } else { near(word, long) }
    };
    let meant = [found, last].into_iter().find_map(|word| Some((word, meant(word)?)));
    if let Some((word, keyword)) = meant {
        return format!("; did you mean {} for `{word}`?", keyword.to_uppercase());
    }
    match found.to_lowercase().as_str() {
        word @ ("group" | "order") => format!("; did you mean {} BY?", word.to_uppercase()),
        "-" => "; a name with `-` stands between double quotes, or has `_` for it".to_owned(),
        "/" => "; a data set in another folder is named behind the query, NAME=DATASET".to_owned(),
        _ => String::new(),
    }
}

fn is_keyword(word: &str) -> bool {
    KEYWORDS.split(' ').any(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// Whether a name that is no column stands where a text would: between double quotes, or behind what compares.
pub(super) fn is_text(name: &str, sql: &str) -> bool {
    let is_compared = sql.match_indices(name).any(|(at, _)| {
        let before = sql[..at].trim_end().to_lowercase();
        ["=", "<>", " like"].iter().any(|mark| before.ends_with(mark))
    });
    is_compared || sql.contains(&format!("\"{name}\""))
}

/// What a query calls a table that it names: its alias, where it has one.
pub(super) fn called<'s>(table: &'s str, sql: &'s str) -> Option<&'s str> {
    let bare = |word: &'s str| word.trim_matches(['(', ')', ',', ';', '"']);
    let mut words =
        sql.split_whitespace().skip_while(|word| !bare(word).eq_ignore_ascii_case(table));
    if words.next()?.ends_with([',', ')', ';']) {
        return Some(table);
    }
    let alias = words.find(|word| !word.eq_ignore_ascii_case("as")).map(bare);
    let is_alias = |word: &&str| !is_keyword(word) && word.starts_with(char::is_alphabetic);
    alias.filter(is_alias).or(Some(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_parser_wanted_is_said_with_the_word_that_was_meant() {
        let told = |sql: &str, said: &str| syntax(sql, &format!("sql parser error: {said}"));
        assert_eq!(
            told("SELECT a FORM k", "Expected: end of statement, found: k at Line: 1, Column: 15"),
            "the query is no SQL: the end of the query was expected, not `k`; did you mean FROM for `FORM`?\n    \
             SELECT a FORM k\n                  ^"
        );
        assert_eq!(
            told("SELECT (1", "Expected: ), found: EOF"),
            "the query is no SQL: `)` was expected, not the end of the query"
        );
        let minus = "Expected: end of statement, found: - at Line: 1, Column: 17";
        let minus = told("SELECT a FROM my-k", minus);
        assert!(minus.contains("not `-`; a name with `-` stands between"), "{minus}");
        let other = told("SELECT 'a", "Unterminated string literal at Line: 1, Column: 8");
        assert!(other.starts_with("the query is no SQL: unterminated string literal\n"), "{other}");
    }

    #[test]
    fn a_text_without_its_quotes_is_told_from_a_column() {
        assert!(is_text("accepted", "SELECT path FROM k WHERE verdict = accepted"));
        assert!(is_text("accepted", "SELECT path FROM k WHERE verdict IN (\"accepted\")"));
        assert!(!is_text("accepted", "SELECT accepted FROM k"));
    }

    #[test]
    fn a_table_is_called_by_its_alias() {
        let sql = "SELECT path FROM kernels AS k JOIN vectors v ON k.id = v.id, runs WHERE true";
        let names = ["kernels", "vectors", "runs", "tasks"].map(|table| called(table, sql));
        assert_eq!(names, [Some("k"), Some("v"), Some("runs"), None]);
    }
}
