//! Readers and writers of a program's own: functions that turn characters into numbers or back, and nothing else.
//!
//! Programs that have to be fast bring their own in the place of `cin` and `printf`. They have loops, and still change
//! nothing but input and output.

use crate::token::{Kind, Token};
use std::collections::BTreeSet;

/// What reads or writes characters.
const READS: &[&str] =
    &["getchar", "getchar_unlocked", "fread", "fgetc", "getc", "getc_unlocked", "fread_unlocked"];
const WRITES: &[&str] = &[
    "putchar",
    "putchar_unlocked",
    "fwrite",
    "fputc",
    "putc",
    "putc_unlocked",
    "fwrite_unlocked",
    "fflush",
];
/// What fills a buffer at once.
const FILLS: &[&str] = &["fread", "fread_unlocked", "fgets", "read"];
/// What else they call.
const HELP: &[&str] =
    &["isdigit", "isspace", "memcpy", "strlen", "sizeof", "if", "while", "for", "switch", "return"];

/// A function at file scope: where it stands among the tokens, from its first specifier to its brace.
struct Function<'a> {
    name: &'a str,
    from: usize,
    body: usize,
    to: usize,
}

/// The program without its own readers and writers and the buffers that they alone use, and their names.
pub(crate) fn without_own_io<'a>(tokens: &[Token<'a>]) -> (Vec<Token<'a>>, BTreeSet<&'a str>) {
    let (functions, declarations) = split(tokens);
    let text = |range: std::ops::Range<usize>| tokens[range].iter().map(|token| token.text);
    let globals: Vec<(&str, usize, usize)> = declarations
        .iter()
        .flat_map(|(from, to)| declared(&tokens[*from..*to]).map(|name| (name, *from, *to)))
        .collect();
    let filled = filled(tokens, &functions, &globals);
    let parses = |one: &Function<'a>| {
        filled.iter().any(|(name, _)| text(one.body..one.to).any(|word| word == *name))
    };
    let mut own: BTreeSet<&str> = BTreeSet::new();
    // A reader may call another: what they are called by comes later, mostly.
    loop {
        let is_own = |function: &&Function<'a>| {
            function.name != "main"
                && is_codec(
                    &tokens[function.body..function.to],
                    function.name,
                    &own,
                    parses(function),
                )
        };
        let all =
            |name: &str| functions.iter().filter(|one| one.name == name).all(|one| is_own(&one));
        let found: BTreeSet<&str> =
            functions.iter().map(|one| one.name).filter(|name| all(name)).collect();
        if found.is_subset(&own) {
            break;
        }
        own.extend(found);
    }
    // What shares a variable with the rest of the program does more than read or write.
    let uses = |one: &Function<'a>, name: &str| text(one.body..one.to).any(|word| word == name);
    while let Some(shared) = own.iter().copied().find(|name| {
        let mine = functions.iter().filter(|one| one.name == *name);
        let used = |global: &str| mine.clone().any(|one| uses(one, global));
        let elsewhere =
            |global: &str| functions.iter().any(|one| !own.contains(one.name) && uses(one, global));
        let is_filled = |global: &str| filled.iter().any(|(name, _)| *name == global);
        globals.iter().any(|(global, ..)| used(global) && !is_filled(global) && elsewhere(global))
    }) {
        own.remove(shared);
    }
    if own.is_empty() {
        return (tokens.to_vec(), own);
    }
    let is_mine = |one: &&Function<'a>| own.contains(one.name);
    let mut cut: Vec<(usize, usize)> =
        functions.iter().filter(is_mine).map(|one| (one.from, one.to)).collect();
    cut.extend(declarations.iter().copied().filter(|(from, to)| {
        let mut names = declared(&tokens[*from..*to]).peekable();
        names.peek().is_some()
            && names.all(|name| functions.iter().filter(is_mine).any(|one| uses(one, name)))
    }));
    let read = |name: &str| functions.iter().filter(is_mine).any(|one| uses(one, name));
    cut.extend(filled.iter().filter(|(name, _)| read(name)).flat_map(|(_, at)| at.iter().copied()));
    let kept = tokens.iter().enumerate();
    let is_cut = |at: usize| cut.iter().any(|(from, to)| (*from..*to).contains(&at));
    (kept.filter(|(at, _)| !is_cut(*at)).map(|(_, token)| *token).collect(), own)
}

/// Variables at file scope that `main` fills at once, and ends with a 0, and does nothing else with; and where it does.
fn filled<'a>(
    tokens: &[Token<'a>],
    functions: &[Function<'a>],
    globals: &[(&'a str, usize, usize)],
) -> Vec<(&'a str, Vec<(usize, usize)>)> {
    let Some(main) = functions.iter().find(|one| one.name == "main") else { return Vec::new() };
    let mut statements: Vec<(usize, usize)> = Vec::new();
    for (at, token) in tokens.iter().enumerate().take(main.to).skip(main.body + 1) {
        if [";", "{", "}"].contains(&token.text) {
            let from = statements.last().map_or(main.body + 1, |(_, to)| *to);
            statements.push((from, at + 1));
        }
    }
    let fills = |&(from, to): &(usize, usize)| {
        tokens[from..to].iter().any(|token| FILLS.contains(&token.text))
    };
    let ends = |&(from, to): &(usize, usize)| {
        matches!(&tokens[from..to], [_, open, .., close, set, zero, _]
            if (open.text, close.text, set.text) == ("[", "]", "=")
                && ["0", "'\\0'"].contains(&zero.text))
    };
    let of = |name: &'a str| {
        let names =
            |&(from, to): &(usize, usize)| tokens[from..to].iter().any(|token| token.text == name);
        let own: Vec<(usize, usize)> = statements.iter().copied().filter(names).collect();
        let is_filled = own.iter().any(fills) && own.iter().all(|one| fills(one) || ends(one));
        is_filled.then_some((name, own))
    };
    globals.iter().filter_map(|(name, ..)| of(name)).collect()
}

/// Functions and declarations at file scope.
fn split<'a>(tokens: &[Token<'a>]) -> (Vec<Function<'a>>, Vec<(usize, usize)>) {
    let (mut functions, mut declarations) = (Vec::new(), Vec::new());
    let (mut from, mut at) = (0, 0);
    while at < tokens.len() {
        match tokens[at] {
            Token { kind: Kind::Directive, .. } => from = at + 1,
            Token { text: ";", .. } => {
                declarations.push((from, at + 1));
                from = at + 1;
            }
            Token { text: "{", .. } => {
                let body = at;
                let mut depth = 0_usize;
                while at < tokens.len() {
                    match tokens[at].text {
                        "{" => depth += 1,
                        "}" => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    at += 1;
                }
                let head = &tokens[from..body];
                let name = head.windows(2).find(|two| two[1].text == "(").map(|two| two[0]);
                if let Some(Token { kind: Kind::Word, text: name, .. }) = name
                    && !head.iter().any(|token| token.text == "=")
                {
                    functions.push(Function { name, from, body, to: (at + 1).min(tokens.len()) });
                    from = at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    (functions, declarations)
}

/// The variables that a declaration at file scope declares.
fn declared<'a>(tokens: &[Token<'a>]) -> impl Iterator<Item = &'a str> {
    let is_variable =
        !tokens.iter().any(|token| matches!(token.text, "typedef" | "using" | "struct"));
    let ends = ["[", "=", ",", ";"];
    let pairs = tokens
        .windows(2)
        .filter(move |two| is_variable && two[0].kind == Kind::Word && ends.contains(&two[1].text));
    pairs.map(|two| two[0].text)
}

/// Whether a body reads or writes a number character by character, or the characters for one that does; `parses`: it looks at a
/// buffer that is filled at once.
fn is_codec(body: &[Token<'_>], name: &str, own: &BTreeSet<&str>, parses: bool) -> bool {
    let has = |words: &[&str]| body.iter().any(|token| words.contains(&token.text));
    let (reads, writes) = (has(READS), has(WRITES));
    let calls = body.windows(2).filter(|two| two[0].kind == Kind::Word && two[1].text == "(");
    let mut called: Vec<&str> = calls.map(|two| two[0].text).collect();
    let calls_own = called.iter().any(|name| own.contains(name));
    let is_known = |known: &&str| {
        *known == name
            || own.contains(*known)
            || [READS, WRITES, HELP].iter().any(|words| words.contains(known))
    };
    called.retain(|name| !is_known(name));
    // `x * 10 + c - '0'`, `x % 10 + '0'`; shifts in the place of the multiplication.
    let digits = has(&["'0'", "48", "15"]) && has(&["10", "10u", "10LL", "3"]);
    let hands_on = body.len() < 70 && !has(&["for"]);
    (reads != writes || !reads && (calls_own || parses))
        && called.is_empty()
        && (digits || hands_on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::tokens;

    fn own(source: &str) -> Vec<&str> {
        without_own_io(&tokens(source)).1.into_iter().collect()
    }

    #[test]
    fn what_reads_and_writes_numbers_alone_is_told_from_what_computes() {
        let buffered = "char buf[1 << 16]; int at, end; int total;
            inline char next() { if (at == end) { end = fread(buf, 1, 1 << 16, stdin); at = 0; } return buf[at++]; }
            template <class T> void read(T &x) { x = 0; char c = next(); while (c < '0') c = next();
                while (c >= '0') { x = x * 10 + c - '0'; c = next(); } }
            void write(int x) { if (x > 9) write(x / 10); putchar(x % 10 + '0'); }
            int f(int x) { return x * 10 - '0'; }
            int main() { int n; read(n); total = f(n); write(total); }";
        assert_eq!(own(buffered), ["next", "read", "write"]);
        let tokens = tokens(buffered);
        let (left, _) = without_own_io(&tokens);
        let left: Vec<&str> = left.iter().map(|token| token.text).collect();
        assert!(left.join(" ").starts_with("int total ; int f"), "{left:?}");
        let at_once = "static char buf[1 << 20]; static int pos; int sum;
            static int rd() { while (buf[pos] < '0') pos++; int v = 0; while (buf[pos] >= '0') v = v * 10 + buf[pos++] - '0'; return v; }
            int main() { size_t k = fread(buf, 1, sizeof buf - 1, stdin); buf[k] = 0; int n = rd(); sum += n; }";
        assert_eq!(own(at_once), ["rd"]);
        let tokens = crate::token::tokens(at_once);
        let left: Vec<&str> = without_own_io(&tokens).0.iter().map(|token| token.text).collect();
        assert_eq!(left.join(" "), "int sum ; int main ( ) { int n = rd ( ) ; sum += n ; }");
        assert!(own(&at_once.replace("sum += n", "sum += buf[n]")).is_empty());
        // A sum of digits; what counts in a variable of the program; input and output in one.
        for source in [
            "int f() { int s = 0, c; for (c = getchar(); c > ' '; c = getchar()) s += c - '0'; return s % 9; } int main() { return f(); }",
            "int n[10]; int f() { int x = 0, c; while ((c = getchar()) > ' ') { x = x * 10 + c - '0'; n[c - '0']++; } return x; } int main() { f(); return n[3]; }",
            "void f() { int x = 0, c; while ((c = getchar()) > ' ') x = x * 10 + c - '0'; putchar(x % 7 + '0'); } int main() { f(); }",
            "int f() { int x = 0, c; while ((c = getchar()) > ' ') x = x * 10 + c - '0'; sort(x); return x; } int main() { f(); }",
        ] {
            assert!(own(source).is_empty(), "{source}");
        }
    }
}
