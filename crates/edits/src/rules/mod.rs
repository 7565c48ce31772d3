//! Rewrites that need no model: each rule looks at clang's syntax tree of a program and answers with
//! edits that may make it faster. A rule is near enough; the compiler and the judge are exact.
//!
//! One file per rule, the list of them is [`RULES`]. Pragmas and compiler flags are no edits here.

mod append;
mod containers;
mod hoist;
mod kernels;
mod memoize;
mod own_input;
mod own_stdio;
mod reference;
mod reserve;
mod streams;
mod strength;
mod syntax;

pub use self::kernels::{
    KernelCandidate, KernelProposals, KernelRewriter, kernel_rule_names, propose_kernels,
};
pub(crate) use syntax::Syntax;

use crate::{Error, Result, pair::Language};
use clang::{Answer, Clang, Includes, Options, Request, Triple};
use std::ops::Range;

/// A rewrite of a program: pieces of its text and what to put in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The rule that proposed it.
    pub rule: &'static str,
    /// Whether it changes nothing but input and output.
    pub io: bool,
    /// Bytes of the source and their replacements; empty ranges insert.
    pub pieces: Vec<(Range<usize>, String)>,
}

/// A rule of rewriting.
pub(crate) trait Rule: Sync {
    /// Its name in results.
    fn name(&self) -> &'static str;
    /// Whether it changes nothing but input and output.
    fn io(&self) -> bool {
        false
    }
    /// The edits that it proposes, each the pieces of one.
    fn edits(&self, program: &Syntax<'_>) -> Vec<Vec<(Range<usize>, String)>>;
}

/// All rules, those that promise most first.
const RULES: &[&dyn Rule] = &[
    &own_input::OwnInput { drop_streams: true },
    &own_stdio::OwnStdio,
    &memoize::Memoize,
    &strength::TrialDivision,
    &reference::Reference,
    &containers::Unordered,
    &containers::Dense,
    &hoist::Hoist,
    &append::Append,
    &strength::SieveStart,
    &strength::Power,
    &containers::ListToVector,
    &containers::BytesForBits,
    &reserve::Reserve,
    &own_input::OwnInput { drop_streams: false },
    &streams::Unsynchronised,
    &streams::NewLine,
];

/// Names of the rules.
#[must_use]
pub fn rule_names() -> Vec<&'static str> {
    RULES.iter().map(|rule| rule.name()).collect()
}

/// Proposes edits.
pub struct Rewriter {
    clang: Clang,
}

impl Rewriter {
    /// Start clang with the host's headers.
    ///
    /// # Errors
    /// When there is no clang worker.
    pub fn start(workers: usize) -> Result<Rewriter> {
        let worker = clang::find_worker()?;
        Ok(Rewriter { clang: Clang::start_at(&worker, workers, Includes::Host)? })
    }

    /// Edits of a program, by all rules, in the rules' order; none where clang cannot read it.
    ///
    /// # Errors
    /// When the machine keeps the clang worker from answering.
    pub fn edits(&self, source: &str, language: Language) -> Result<Vec<Edit>> {
        let (language, standard) = match language {
            Language::C => (clang::Language::C, "gnu17"),
            Language::Cpp => (clang::Language::Cxx, "gnu++17"),
        };
        let options = Options {
            language,
            standard: standard.into(),
            triple: Triple::Host,
            ..Options::opencl()
        };
        let request = Request::Parse { source: source.into(), options, tree: true };
        let Some(answer) = ask(&self.clang, &request)? else { return Ok(Vec::new()) };
        let (Some(tree), Some(facts)) = (answer.tree, answer.facts) else { return Ok(Vec::new()) };
        let syntax = Syntax::new(source, &tree, &facts, language == clang::Language::Cxx);
        let mut edits = Vec::new();
        for rule in RULES {
            for pieces in rule.edits(&syntax) {
                edits.push(Edit { rule: rule.name(), io: rule.io(), pieces });
            }
        }
        Ok(edits)
    }
}

/// What clang says of a program; `None` where it died over it.
fn ask(clang: &Clang, request: &Request) -> Result<Option<Answer>> {
    match clang.ask(request) {
        Ok(answer) => Ok(Some(answer)),
        Err(death) if death.is_ours() => {
            let reason = death.to_string();
            Err(Error::Start { what: "the clang worker".into(), reason })
        }
        Err(_) => Ok(None),
    }
}

/// Whether two edits touch the same bytes; insertions at the same place do not.
pub(crate) fn conflict(a: &Edit, b: &Edit) -> bool {
    a.pieces.iter().any(|(a, _)| b.pieces.iter().any(|(b, _)| a.start < b.end && b.start < a.end))
}

/// Apply edits that do not conflict.
pub(crate) fn apply(source: &str, edits: &[&Edit]) -> String {
    let mut pieces: Vec<(usize, &(Range<usize>, String))> =
        edits.iter().flat_map(|edit| &edit.pieces).enumerate().collect();
    // Insertions at one place stay in their order.
    pieces.sort_by_key(|(order, (range, _))| (range.start, range.end, *order));
    let mut text = String::new();
    let mut at = 0;
    for (_, (range, new)) in pieces {
        if range.start < at || range.end > source.len() {
            continue;
        }
        text.push_str(&source[at..range.start]);
        text.push_str(new);
        at = range.end;
    }
    text.push_str(&source[at..]);
    text
}

/// A program whose own input and output, written by a rule, is the library's again; `None` for one that has none.
pub(crate) fn with_library_io(code: &str) -> Option<String> {
    let texts = [own_stdio::READER, own_stdio::WRITER, own_input::READER_AND_WRITER];
    let names = [
        ("fast_scanf", "scanf"),
        ("fast_printf", "printf"),
        ("fast_input", "cin"),
        ("fast_output", "cout"),
    ];
    if !texts.iter().any(|text| code.contains(text)) {
        return None;
    }
    let without = texts.iter().fold(code.to_owned(), |code, text| code.replace(text, ""));
    Some(names.iter().fold(without, |code, (own, name)| code.replace(own, name)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn own_input_and_output_is_labeled_as_input_and_output() {
        let c = "#include <stdio.h>\nint main(void) { int n, m; scanf(\"%d\", &n); while (n--) scanf(\"%d\", &m); printf(\"%d\", m); }\n";
        let cpp = "#include <bits/stdc++.h>\nusing namespace std;\nint main() { ios::sync_with_stdio(false); int n; std::cin >> n; cout << n << endl; }\n";
        for (rule, source, language) in [
            ("own-stdio", c, Language::C),
            ("own-io", cpp, Language::Cpp),
            ("own-io-without-streams", cpp, Language::Cpp),
        ] {
            let after = rewritten(rule, source, language).unwrap();
            let label = crate::label::label(source, &after);
            assert!(label.io_only && label.change == crate::label::Change::Io, "{rule}: {after}");
            let more = after.replace("int n", "for (int i = 0; i < 9; i++) f(); int n");
            assert!(!crate::label::label(source, &more).io_only, "{rule}");
        }
    }

    /// What a rule makes of a program: all of its edits applied, or `None` if it has none.
    pub(crate) fn rewritten(rule: &str, source: &str, language: Language) -> Option<String> {
        let rewriter = Rewriter::start(1).unwrap_or_else(|error| panic!("{error}"));
        let edits = rewriter.edits(source, language).unwrap();
        let edits: Vec<&Edit> = edits.iter().filter(|edit| edit.rule == rule).collect();
        (!edits.is_empty()).then(|| apply(source, &edits))
    }

    fn expect(rule: &str, before: &str, parts: &[&str]) {
        let after =
            rewritten(rule, before, Language::Cpp).unwrap_or_else(|| panic!("{rule} has no edit"));
        for part in parts {
            assert!(after.contains(part), "{rule}: no `{part}` in\n{after}");
        }
    }

    fn refuse(rule: &str, before: &str) {
        assert_eq!(rewritten(rule, before, Language::Cpp), None, "{rule}");
    }

    #[test]
    fn edits_apply_in_order_and_conflicts_show() {
        let edit = |range: Range<usize>, text: &str| Edit {
            rule: "r",
            io: false,
            pieces: vec![(range, text.into())],
        };
        let (a, b, c) = (edit(0..1, "x"), edit(1..1, "-"), edit(0..2, "y"));
        assert_eq!(apply("abc", &[&a, &b]), "x-bc");
        assert!(conflict(&a, &c) && !conflict(&a, &b));
    }

    #[test]
    fn streams_are_set_free() {
        let source = "#include <iostream>\nusing namespace std;\nint main() { int n; cin >> n; cout << n << endl; }\n";
        expect("unsynchronised-streams", source, &["sync_with_stdio(false)"]);
        expect("newline-for-endl", source, &["cout << n << '\\n'"]);
        expect("own-io", source, &["fast_input >> n", "fast_output << n << endl"]);
        expect("own-io-without-streams", source, &["fast_input >> n", "fast_output << n << '\\n'"]);
        let mixed = "#include <iostream>\n#include <cstdio>\nint main() { int n; std::cin >> n; printf(\"%d\", n); }\n";
        refuse("unsynchronised-streams", mixed);
        refuse("own-io", mixed);
        expect("own-stdio", mixed, &["fast_printf(\"%d\", n)"]);
    }

    #[test]
    fn parameters_are_passed_by_reference() {
        expect(
            "pass-by-reference",
            "#include <vector>\n#include <string>\nint f(std::vector<int> v, int n) { return v[n]; }\n\
             int main() { std::vector<std::string> w; for (auto s : w) f({1}, s.size()); }\n",
            &["int f(const std::vector<int> &v, int n)", "for (const auto &s : w)"],
        );
    }

    #[test]
    fn loops_are_bounded_better() {
        expect(
            "trial-division",
            "bool prime(int n) { for (int i = 2; i < n; i++) if (n % i == 0) return false; return true; }\nint main() { return prime(7); }\n",
            &["i <= n / i"],
        );
        refuse(
            "trial-division",
            "int main() { int n = 7, s = 0; for (int i = 2; i < n; i++) if (n % i == 0) s++; return s; }\n",
        );
        expect(
            "hoist-bound",
            "#include <cstring>\nint f(const char *s) { int c = 0; for (int i = 0; i < strlen(s); i++) if (s[i] == 'a') c++; return c; }\nint main() { return f(\"a\"); }\n",
            &["const auto bound_", "= strlen(s);", "i < bound_"],
        );
        expect(
            "sieve-start",
            "bool c[100]; int main() { for (int i = 2; i < 100; i++) if (!c[i]) for (int j = i * 2; j < 100; j += i) c[j] = true; }\n",
            &["j = (i <= 46340 ? i * i : 2147483647)"],
        );
    }

    #[test]
    fn containers_are_exchanged_where_order_does_not_show() {
        let counted = "#include <map>\nint main() { std::map<int, int> m; m[3]++; return m[3]; }\n";
        expect(
            "unordered",
            counted,
            &["std::unordered_map<int, int> m", "#include <unordered_map>"],
        );
        expect("dense-map", counted, &["dense_map<int, int> m"]);
        refuse(
            "unordered",
            "#include <map>\nint main() { std::map<int, int> m; for (auto p : m) return p.first; }\n",
        );
    }

    #[test]
    fn recursion_is_remembered_where_it_is_pure() {
        expect(
            "memoize",
            "int f(int n) { if (n < 2) return n; return f(n - 1) + f(n - 2); }\nint main() { return f(20); }\n",
            &["remembered", "return kept_f = (f(n - 1) + f(n - 2))"],
        );
        refuse(
            "memoize",
            "int c; int f(int n) { if (n < 2) return c++; return f(n - 1) + f(n - 2); }\nint main() { return f(20); }\n",
        );
    }
}
