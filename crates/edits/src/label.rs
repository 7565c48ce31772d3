//! What an edit is about, told from the statements that differ.

mod normal;
mod outline;

use crate::{
    own_io::without_own_io,
    rules::with_library_io,
    token::{Kind, Token, statements, tokens},
};
use outline::{Outline, is_declaration};
use std::collections::{BTreeMap, BTreeSet};

/// What an edit changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The most telling change.
    pub change: Change,
    /// Whether nothing but input and output changed.
    pub io_only: bool,
    /// Whether an array became shorter.
    pub array_shrunk: bool,
}

/// Kinds of change, the most telling first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Loops, conditions, jumps, recursion or calls of algorithms differ.
    Algorithm,
    /// Containers or arrays differ, and loops at most in where they go.
    DataStructure,
    /// Input and output differ, and nothing else that is more than clean-up.
    Io,
    /// Something else.
    Other,
    /// No statement differs.
    #[default]
    Nothing,
}

impl Change {
    /// Its name in data sets.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Change::Algorithm => "algorithm",
            Change::DataStructure => "data-structure",
            Change::Io => "I/O",
            Change::Other => "other",
            Change::Nothing => "nothing",
        }
    }
}

const IO: &[&str] = &[
    "cin",
    "cout",
    "cerr",
    "endl",
    "flush",
    "scanf",
    "printf",
    "puts",
    "putchar",
    "getchar",
    "gets",
    "fgets",
    "fputs",
    "fread",
    "fwrite",
    "getline",
    "sync_with_stdio",
    "tie",
    "ios",
    "ios_base",
    "setprecision",
    "fixed",
    "stdin",
    "stdout",
    "getchar_unlocked",
    "putchar_unlocked",
    "setw",
    "sscanf",
    "sprintf",
    "precision",
    "stringstream",
    "istringstream",
    "ostringstream",
];
const IO_HEADERS: &[&str] =
    &["iostream", "cstdio", "stdio.h", "iomanip", "istream", "ostream", "sstream", "fstream"];
const CONTAINERS: &[&str] = &[
    "vector",
    "map",
    "set",
    "unordered_map",
    "unordered_set",
    "multimap",
    "multiset",
    "deque",
    "list",
    "queue",
    "priority_queue",
    "stack",
    "array",
    "bitset",
    "string",
    "pair",
    "tuple",
    "forward_list",
];

/// Tell what the edit from `before` to `after` is about.
#[must_use]
pub fn label(before: &str, after: &str) -> Label {
    // Readers and writers of a program's own, our rules' among them, are functions with loops, and still nothing but
    // input and output.
    let (own_before, own_after) = (with_library_io(before), with_library_io(after));
    let (before, after) =
        (own_before.as_deref().unwrap_or(before), own_after.as_deref().unwrap_or(after));
    let (before, after) = (tokens(before), tokens(after));
    let (before, mut own) = without_own_io(&before);
    let (after, own_new) = without_own_io(&after);
    let replaced = own_before.is_some() != own_after.is_some() || own != own_new;
    own.extend(own_new);
    let (old, new) = (parts(&before), parts(&after));
    let (removed, added) = differing(&old, &new);
    if removed.is_empty() && added.is_empty() && !replaced {
        return Label::default();
    }
    let changed = || removed.iter().chain(&added).copied();
    let is_io = |s: &Statement<'_>| is_io(s, &own);
    let is_aside = |s: &Statement<'_>| is_header(s) || is_bare(s) || replaced && is_include(s);
    // `int n; cin >> n;` and `int n = read();` declare the same.
    let is_moved = |s: &Statement<'_>, others: &[&Statement<'_>]| {
        others.iter().any(|other| is_io(other) && declares_all(s, other))
    };
    let io_only = removed.iter().all(|s| is_io(s) || is_aside(s) || is_moved(s, &added))
        && added.iter().all(|s| is_io(s) || is_aside(s) || is_moved(s, &removed))
        && (replaced || changed().any(is_io));
    let array_shrunk = shrunk(&removed, &added);
    let is_clean_up =
        |s: &Statement<'_>| names_io(s, &own) || is_include(s) || is_aside(s) || is_plain(s);
    let io_and_clean_up = changed().any(|s| names_io(s, &own)) && changed().all(is_clean_up);
    let new = Outline::new(&after, &before, &own);
    let change = match Outline::new(&before, &after, &own).change_to(&new) {
        _ if io_only => Change::Io,
        Change::Nothing if io_and_clean_up => Change::Io,
        Change::Nothing => Change::Other,
        change => change,
    };
    Label { change, io_only, array_shrunk }
}

type Statement<'a> = [Token<'a>];

/// The statements of each side that the other lacks, by their longest common subsequence.
fn differing<'s, 'a>(
    old: &'s [Vec<Token<'a>>],
    new: &'s [Vec<Token<'a>>],
) -> (Vec<&'s Statement<'a>>, Vec<&'s Statement<'a>>) {
    let same = |a: &[Token<'_>], b: &[Token<'_>]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.text == b.text)
    };
    // Longest common suffixes, row by row from the end.
    let mut table = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            table[i][j] = if same(&old[i], &new[j]) {
                table[i + 1][j + 1] + 1
            } else {
                table[i + 1][j].max(table[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    while i < old.len() && j < new.len() {
        if same(&old[i], &new[j]) {
            i += 1;
            j += 1;
        } else if table[i + 1][j] >= table[i][j + 1] {
            removed.push(&old[i][..]);
            i += 1;
        } else {
            added.push(&new[j][..]);
            j += 1;
        }
    }
    removed.extend(old[i..].iter().map(|s| &s[..]));
    added.extend(new[j..].iter().map(|s| &s[..]));
    (removed, added)
}

/// Statements; what a loop or a branch without braces does is one of its own.
fn parts<'a>(tokens: &[Token<'a>]) -> Vec<Vec<Token<'a>>> {
    let mut parts = Vec::new();
    for statement in statements(tokens) {
        let mut rest = &statement[..];
        while let Some(end) = head(rest)
            && end < rest.len()
        {
            parts.push(rest[..end].to_vec());
            rest = &rest[end..];
        }
        parts.push(rest.to_vec());
    }
    parts
}

/// Tokens of what a statement begins with, where it is `for (…)`, `while (…)`, `if (…)`, `else` or `do`.
fn head(statement: &Statement<'_>) -> Option<usize> {
    match statement.first()?.text {
        "else" | "do" => Some(1),
        "for" | "while" | "if" => {
            let mut depth = 0_u32;
            let end = statement.iter().position(|token| {
                match token.text {
                    "(" => depth += 1,
                    ")" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                token.text == ")" && depth == 0
            });
            end.map(|end| end + 1)
        }
        _ => None,
    }
}

/// `own`: the program's own readers and writers.
fn is_io(statement: &Statement<'_>, own: &BTreeSet<&str>) -> bool {
    // The head of a loop must not hide a change of the loop.
    names_io(statement, own) && head(statement).is_none()
}

fn names_io(statement: &Statement<'_>, own: &BTreeSet<&str>) -> bool {
    let is_io = |text: &str| IO.contains(&text) || own.contains(text);
    statement.iter().any(|token| token.kind == Kind::Word && is_io(token.text))
}

/// Whether a statement declares names without values, and `other` declares all of them with the same type.
fn declares_all(statement: &Statement<'_>, other: &Statement<'_>) -> bool {
    let plain = |token: &Token<'_>| token.kind == Kind::Word || matches!(token.text, "," | ";");
    let declares = statement.len() > 2
        && statement.iter().all(plain)
        && statement[..2].iter().all(|token| token.kind == Kind::Word);
    let same = |token: &Token<'_>| other.iter().any(|one| one.text == token.text);
    declares && statement[0].text == other[0].text && statement.iter().all(same)
}

fn is_header(statement: &Statement<'_>) -> bool {
    header(statement).is_some_and(|name| {
        let name = name.trim_matches(['<', '>', '"']);
        IO_HEADERS.contains(&name) || name == "bits/stdc++.h"
    })
}

/// A header of the compiler's, whichever.
fn is_include(statement: &Statement<'_>) -> bool {
    header(statement).is_some_and(|name| name.starts_with('<'))
}

/// What a directive includes.
fn header<'a>(statement: &Statement<'a>) -> Option<&'a str> {
    let [Token { kind: Kind::Directive, text, .. }] = statement else { return None };
    text.trim_start_matches('#').trim_start().strip_prefix("include").map(str::trim)
}

/// `using namespace std;`, `return 0;` and `(void)0;`: with or without, nothing changes.
fn is_bare(statement: &Statement<'_>) -> bool {
    let words: Vec<&str> = statement.iter().map(|token| token.text).collect();
    matches!(
        words[..],
        ["using", "namespace", "std", ";"] | ["return", "0", ";"] | ["(", "void", ")", "0", ";"]
    )
}

/// A declaration without a value, a call or an operator.
fn is_plain(statement: &Statement<'_>) -> bool {
    let plain = |token: &Token<'_>| {
        matches!(token.kind, Kind::Word | Kind::Number)
            || matches!(token.text, "," | "[" | "]" | ";")
    };
    is_declaration(statement) && statement.iter().all(plain)
}

/// Array lengths by the name before the bracket, in declarations.
fn dimensions(statements: &[&Statement<'_>]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for statement in statements {
        let types =
            ["int", "long", "char", "bool", "double", "float", "short", "unsigned", "ll", "string"];
        let declares = statement.iter().take(4).any(|token| types.contains(&token.text));
        if !declares {
            continue;
        }
        for four in statement.windows(4) {
            if four[0].kind == Kind::Word && four[1].text == "[" && four[3].text == "]" {
                found.entry(four[0].text.to_owned()).or_default().push(four[2].text.to_owned());
            }
        }
    }
    found
}

/// Whether an array of the same name, or a constant of the same name, became smaller.
fn shrunk(removed: &[&Statement<'_>], added: &[&Statement<'_>]) -> bool {
    let number =
        |text: &str| -> Option<f64> { text.trim_end_matches(['u', 'l', 'U', 'L']).parse().ok() };
    let (old, new) = (dimensions(removed), dimensions(added));
    let arrays = old.iter().any(|(name, old)| {
        new.get(name).is_some_and(|new| {
            old.iter()
                .zip(new)
                .any(|(old, new)| number(old).zip(number(new)).is_some_and(|(old, new)| new < old))
        })
    });
    let constants = |statements: &[&Statement<'_>]| -> BTreeMap<String, f64> {
        let mut found = BTreeMap::new();
        for statement in statements {
            match statement {
                [Token { kind: Kind::Directive, text, .. }] => {
                    let mut words = text.trim_start_matches('#').split_whitespace();
                    if let (Some("define"), Some(name), Some(value), None) =
                        (words.next(), words.next(), words.next(), words.next())
                        && let Some(value) = number(value)
                    {
                        found.insert(name.to_owned(), value);
                    }
                }
                _ if statement.iter().any(|t| matches!(t.text, "const" | "constexpr")) => {
                    for three in statement.windows(3) {
                        if three[1].text == "="
                            && let Some(value) = number(three[2].text)
                        {
                            found.insert(three[0].text.to_owned(), value);
                        }
                    }
                }
                _ => {}
            }
        }
        found
    };
    let (old, new) = (constants(removed), constants(added));
    // Small constants are no lengths of arrays.
    arrays
        || old.iter().any(|(name, old)| *old >= 100.0 && new.get(name).is_some_and(|new| new < old))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: &str, after: &str) -> (&'static str, bool, bool) {
        let label = label(before, after);
        (label.change.name(), label.io_only, label.array_shrunk)
    }

    #[test]
    fn tells_what_an_edit_is_about() {
        let main = "int main() { return 0; }";
        assert_eq!(
            change(main, "int main()\n{ return 0; /* as before */ }"),
            ("nothing", false, false)
        );
        assert_eq!(change(main, "int main() { return 1; }"), ("other", false, false));
        let io = (
            "#include <iostream>\nint main() { int n; cin >> n; cout << n << endl; }",
            "#include <cstdio>\nint main() { int n; scanf(\"%d\", &n); printf(\"%d\\n\", n); }",
        );
        assert_eq!(change(io.0, io.1), ("I/O", true, false));
        assert_eq!(
            change("int a[1000000]; int main() { f(); }", "int a[1000]; int main() { f(); }"),
            ("data-structure", false, true)
        );
        assert_eq!(
            change(
                "for (int i = 2; i < n; i++) s += i;",
                "for (int i = 2; i * i <= n; i++) s += i;"
            ),
            ("algorithm", false, false)
        );
        assert_eq!(
            change("map<int, int> m; m[1]++;", "unordered_map<int, int> m; m[1]++;").0,
            "data-structure"
        );
        assert_eq!(change("x = a % 2;", "x = a & 1;").0, "other");
        assert_eq!(change("x = 1;", "x = 1; // same"), ("nothing", false, false));
        // A loop that reads is the loop that it was; one that goes elsewhere is not.
        let reads = "int main() { for (int i = 0; i < n; i++) cin >> a[i]; }";
        let own = "int get() { int x = 0, c; while ((c = getchar()) > 32) x = x * 10 + c - '0'; return x; }
            int main() { for (int i = 0; i < n; i++) a[i] = get(); }";
        assert_eq!(change(reads, own), ("I/O", true, false));
        assert_eq!(change(reads, &own.replace("i++", "i += 2")), ("algorithm", false, false));
        let (read, given) =
            ("int main() { int n, m; cin >> n >> m; }", "int main() { int n = get(), m = get(); }");
        let get = own.split_once("int main").expect("there is one").0;
        assert_eq!(change(read, &format!("{get}{given}")), ("I/O", true, false));
        let smaller =
            change("const int MAX = 1000000; int a[MAX];", "const int MAX = 1000; int a[MAX];");
        assert!(smaller.2);
    }

    #[test]
    fn clean_up_is_neither_algorithm_nor_data_structure() {
        let before = "#include <map>
            #define REP(i, n) for (int i = 0; i < (int)(n); i++)
            const int MAX = 100;
            int a[MAX], b[9];
            int unused(int x) { while (x > 9) x /= 10; return x; }
            bool good(int x) { return x > 3; }
            int main() { vector<int> seen; int total = 0; memset(b, 0, sizeof b);
                REP(i, n) { seen.push_back(i); if (good(a[i]) && a[i] < MAX) total += a[i]; }
                for (int k : b) total += k; cout << total; }";
        let after = "int b[9]; int a[100];
            bool is_good(long long number) { return number > 3; }
            int main() { long long sum = 0; for (int j = 0; j < 9; j++) b[j] = 0;
                for (size_t i = 0; i < n; ++i) if (100 > a[i]) if (is_good(a[i])) sum += a[i];
                for (int k = 0; k < 9; k++) sum += b[k]; cout << sum; }";
        assert_eq!(change(before, after), ("other", false, false));
        for (old, new, kind) in [
            ("sum += a[i]", "{ sum += a[i]; break; }", "algorithm"),
            ("cout", "while (sum > 9) sum /= 10; cout", "algorithm"),
            ("cout", "sort(a, a + 9); cout", "algorithm"),
            ("sum += b[k]", "sum = max<int>(sum, 1) + min(b[k], 3)", "algorithm"),
            ("++i", "i += 2", "algorithm"),
            ("i < n", "i * i < n", "algorithm"),
            ("return number > 3", "return number > 3 || is_good(number + 9)", "algorithm"),
            ("int a[100]", "vector<int> a(100)", "data-structure"),
            ("int b[9]", "int b[10], c[9]", "data-structure"),
        ] {
            assert_eq!(change(before, &after.replace(old, new)).0, kind, "{new}");
        }
    }

    #[test]
    fn without_main_all_functions_count() {
        let before = "int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }";
        let after = "int sum(int n) { return n * (n - 1) / 2; }";
        assert_eq!(change(before, after), ("algorithm", false, false));
        let with = |text: &str| format!("{text} int main() {{ return 0; }}");
        assert_eq!(change(&with(before), &with(after)), ("other", false, false));
    }

    #[test]
    fn bounds_that_change_with_an_array_are_its_own() {
        let before = "bool seen[60]; int main() { for (int i = 0; i < 60; i++) f(seen[i]); }";
        assert_eq!(change(before, &before.replace("60", "52")).0, "data-structure");
        let constant = before.replace("60", "MAX");
        let with = |size: &str| format!("const int MAX = {size};{constant}");
        assert_eq!(change(&with("60"), &with("52")).0, "data-structure");
        assert_eq!(change(&with("60"), before).0, "other");
        let map = "map<int, bool> seen; int main() { for (int i = 0; i < 9; i++) f(seen[i]); }";
        assert_eq!(change(before, map).0, "data-structure");
    }

    #[test]
    fn input_and_output_with_clean_up_is_input_and_output() {
        let before = "int main() { int n, unused[9]; while (cin >> n) { if (n > 3) cout << n; } }";
        let after = "int main() { long n; while (scanf(\"%ld\", &n) == 1) { if (n > 3) printf(\"%ld\", n); } }";
        assert_eq!(change(before, after), ("I/O", false, false));
        assert_eq!(change(before, &after.replace("n > 3", "n > 4")).0, "other");
    }
}
