//! What the grammar accepts and refuses, and how it closes what was begun.

mod tokens;

use stampmill_grammar::Refusal;
use std::fmt::Write;
use tokens::{END, Tokens};

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    lexer::tokens(text).filter(|token| token.kind == lexer::Kind::Word).map(|token| token.text)
}

fn encode(tokens: &Tokens, text: &str) -> Vec<u16> {
    lexer::tokens(text).flat_map(|lexeme| tokens.spell(lexeme.text)).collect()
}

fn decode(tokens: &Tokens, ids: &[u16]) -> String {
    let line =
        |lexeme: String| if lexeme.starts_with('#') { format!("\n{lexeme}\n") } else { lexeme };
    tokens.lexemes(ids).into_iter().map(line).collect::<Vec<_>>().join(" ")
}

/// What is said of a program.
fn verdict(text: &str) -> &'static str {
    let tokens = Tokens::with_keywords([]);
    let mut constraint = tokens.constraint();
    let ids = encode(&tokens, text).into_iter().chain([END]);
    let refused = ids.map(|id| constraint.push(id)).find_map(Result::err);
    match refused {
        None => "accepted",
        Some(Refusal::Syntax) => "syntax",
        Some(Refusal::Undeclared) => "undeclared",
        Some(Refusal::Redeclared) => "redeclared",
        Some(Refusal::Arity) => "arity",
        Some(Refusal::Member) => "member",
        Some(Refusal::NotAssignable) => "not-assignable",
        Some(Refusal::Type) => "type",
        Some(Refusal::Context) => "context",
    }
}

/// Each line is `VERDICT: TEXT`, and the program is the lines that begin with `|` last, with the text in the place of
/// `%`. `\n` in a text begins a line. `refused` stands for any refusal, `?` for a verdict that is not known yet.
#[test]
fn every_line_is_accepted_or_refused_as_it_says() {
    cases::inside("cases", |_, case| {
        let (mut found, mut frame, mut framed) = (String::new(), String::new(), false);
        for line in case.lines() {
            let part = line.strip_prefix("| ");
            match (part, line.split_once(": ")) {
                (Some(part), _) => {
                    if !framed {
                        frame.clear();
                    }
                    frame += &format!("{part}\n");
                    writeln!(found, "{line}").expect("a string");
                }
                (None, Some((wanted, text))) if !line.starts_with('#') => {
                    let program = text.replace("\\n", "\n").replace("\\\n", "\\n");
                    let verdict = match verdict(&frame.replacen('%', &program, 1)) {
                        refusal if wanted == "refused" && refusal != "accepted" => wanted,
                        verdict => verdict,
                    };
                    writeln!(found, "{verdict}: {text}").expect("a string");
                }
                _ => writeln!(found, "{line}").expect("a string"),
            }
            framed = part.is_some();
        }
        found
    });
}

/// Programs with much that can be left open. Calls that need a vector as an argument are not among
/// them: the search does not find their end (docs/design/constraint.md).
const PROGRAMS: [&str; 1] = [
    "struct S { int m; };\nfloat F(float p) { return p; }\nkernel void A(global float* a, const int b) {\n  \
     float4 v = (float4)(1.0f, 2.0f, a[b], 0);\n  for (int i = 0; i < b; i++) {\n    if (F(a[i]) > v.x ? 1 : 0) { \
     switch (b) { case 1: a[i] = (float)b; break; default: ; } } else do { a[i]--; } while (b);\n  }\n}\n",
];

#[test]
fn closing_ends_every_beginning_of_a_program() {
    let clang = clang::Clang::start(2).expect("a compiler");
    let options = clang::Options { triple: clang::Triple::Spir64, ..clang::Options::opencl() };
    let mut judged = std::collections::HashSet::new();
    let mut judge = |text: &str| {
        let answer = judged.insert(text.to_owned()).then(|| clang.compile(text, &options));
        let answer = answer?.expect("clang survives");
        answer.first_error().map(|error| error.message.clone())
    };
    for text in PROGRAMS {
        for tokens in [Tokens::with_keywords(words(text)), Tokens::with_keywords([])] {
            let ids = encode(&tokens, text);
            let mut constraint = tokens.constraint();
            for (at, id) in ids.iter().enumerate() {
                constraint.push(*id).expect("it compiles");
                let read = decode(&tokens, &ids[..=at]);
                let Some(closing) = constraint.closing(&[]) else { panic!("no end: {read}") };
                let whole = [&ids[..=at], &closing].concat();
                let mut again = tokens.constraint();
                for id in whole.iter().chain([&END]) {
                    again.push(*id).expect("what is closed may end");
                }
                let whole = decode(&tokens, &whole);
                assert_eq!(judge(&whole), None, "{whole}");
            }
        }
    }
}

#[test]
fn what_is_held_open_is_not_closed() {
    let tokens = Tokens::with_keywords([]);
    let allowed = |before: &str, drawn: &str| {
        let after = encode(&tokens, "a [ 0 ] = 1 ; } }");
        let mut constraint = tokens.constraint();
        encode(&tokens, before).into_iter().for_each(|id| constraint.push(id).expect("a program"));
        constraint.hold(&after);
        encode(&tokens, drawn).into_iter().all(|id| constraint.push(id).is_ok())
    };
    let block = "kernel void A ( global int * a ) { if ( a [ 0 ] ) {";
    assert!(allowed(block, "a [ 1 ] = 2 ; { a [ 2 ] = 3 ; } for ( ; ; ) { }"));
    assert!(allowed(block, "int b ; { int a ; a = 1 ; } for ( int a = 0 ; a < 3 ; a ++ ) { }"));
    assert!(!allowed(block, "int a ;") && !allowed(block, "float b , * a ;"));
    assert!(!allowed(block, "}"));
    assert!(!allowed(block, "{ } a [ 1 ] = 2 ; }"));
    let parameters = "kernel void A ( global int * a ,";
    assert!(allowed(parameters, "int b ) { if ( b )"));
    assert!(!allowed(parameters, "int b ) { }"));
    assert!(allowed("typedef int T ;", "kernel void A ( ) { } kernel"));
}

#[test]
fn names_may_begin_like_keywords_and_types() {
    for name in ["intensity", "staticA", "kernels", "constant1", "voids", "signedness", "structs"] {
        for text in [
            "kernel void A ( global int * a , int % ) { a [ 0 ] = % ; }",
            "kernel void A ( global int * a ) { float % = 1 ; const int b = 2 , c = 3 ; a [ 0 ] = % ; }",
            "kernel void % ( global int * a ) { a [ 0 ] = 1 ; }",
        ] {
            let text = text.replace('%', name);
            assert_eq!(verdict(&text), "accepted", "{text}");
        }
    }
}

#[test]
fn what_fills_a_hole_in_an_expression_is_a_part_of_it() {
    let tokens = Tokens::with_keywords([]);
    let joined = |before: &str, drawn: &str, after: &str| {
        let mut constraint = tokens.constraint();
        let after = encode(&tokens, after);
        let push = |constraint: &mut stampmill_grammar::Constraint, text: &str| {
            encode(&tokens, text).into_iter().all(|id| constraint.push(id).is_ok())
        };
        let before = format!("kernel void A ( global int * a , int n ) {{ {before}");
        assert!(push(&mut constraint, &before), "{before}");
        constraint.hold(&after);
        push(&mut constraint, drawn) && constraint.joins(&after)
    };
    let rest = "a [ 0 ] = n ; }";
    for (before, after, fits, leaves) in [
        ("if (", ")", "n < 3 && a [ n ]", "n ) ; if ( n"),
        ("while ( n < (", "+ 1 ) ) n ++ ;", "n * 2", "n ) ) ; while ( n < ( n"),
        ("a [ n ] =", ";", "( int ) a [ 1 ] * n", "n ; a [ 1 ] = 2"),
        ("if ( n ) a [ n ] =", "* 2 ;", "n", "1 ; a [ 1 ] = n"),
        ("if ( n )", ";", "a [ 1 ] = 3", "a [ 1 ] = 3 ; n = 2"),
        ("for (", ") n ++ ;", "int b = 0 ; b < n ; b ++", "; ; ) { } for ( ; ;"),
        ("for ( int b =", "; b < n ; b ++ ) { }", "n + 1", "n ; b < n ; ) { } for ( int b = 1"),
        ("for ( int b = 0 ;", "; b ++ ) { }", "b < n", "; ) for ( int b = 0 ; b < n"),
        ("for ( int b = 0 ; b < n ;", ") { }", "b += 2", "b ++ ) ; for ( ; n ;"),
        ("for ( int b = abs (", ") ; b < n ; b ++ ) { }", "n - 1", "n ) ; b < n ; b += abs ( n"),
        ("a [", "] = 1 ;", "n + 1", "0 ] = 2 ; a [ 1"),
        ("n = a [ 0 ] + (", ") ;", "n * 2", "n ) * ( n"),
        ("int b [ 2 ] =", ";", "{ 1 , 2 }", "{ 1 , 2 } ; int c = 3"),
        ("int b", ";", "= n", "; n = 2"),
        ("n = max (", ") ;", "a [ 0 ] , n", "n , n ) + ( n"),
        ("n = a [ 0 ] ?", ": 2 ;", "n", "n : 2 ; n = n ? 3"),
    ] {
        let after = format!("{after} {rest}");
        assert!(joined(before, fits, &after), "{before} [{fits}] {after}");
        assert!(!joined(before, leaves, &after), "{before} [{leaves}] {after}");
    }
    // What stands behind these begins something of its own.
    assert!(joined("if (", "n ) n = 2 ;", rest) && joined("n =", "1 ; n = 2 ;", rest));
}

#[test]
fn what_stands_behind_a_hole_ends_what_is_held_open() {
    let tokens = Tokens::with_keywords([]);
    for text in PROGRAMS {
        let lexemes: Vec<Vec<u16>> =
            lexer::tokens(text).map(|lexeme| tokens.spell(lexeme.text)).collect();
        let mut constraint = tokens.constraint();
        for (at, lexeme) in lexemes.iter().enumerate() {
            lexeme.iter().for_each(|id| constraint.push(*id).expect("it compiles"));
            let mut held = constraint.clone();
            let after = lexemes[at + 1..].concat();
            held.hold(&after);
            let closing = held.closing(&after);
            assert_eq!(
                closing.as_deref(),
                Some(&[][..]),
                "{}",
                decode(&tokens, &lexemes[..=at].concat())
            );
        }
    }
}

#[test]
fn between_two_statements_whole_ones_are_added() {
    let tokens = Tokens::with_keywords([]);
    let joined = |drawn: &str| {
        let mut constraint = tokens.constraint();
        let push = |constraint: &mut stampmill_grammar::Constraint, text: &str| {
            for id in encode(&tokens, text) {
                constraint.push(id).expect("a program");
            }
        };
        let after = encode(&tokens, "a [ 0 ] = 1 ; }");
        push(&mut constraint, "kernel void A ( global int * a ) {");
        constraint.hold(&after);
        push(&mut constraint, drawn);
        constraint.joins(&after)
    };
    for whole in
        ["", "a [ 1 ] = 2 ;", "if ( a [ 1 ] ) { }", "for ( ; ; ) { } { }", "do { } while ( 0 ) ;"]
    {
        assert!(joined(whole), "{whole}");
    }
    for part in ["a [ 1 ] +=", "if ( a [ 1 ] )", "if ( 1 ) { } else", "int b ="] {
        assert!(!joined(part), "{part}");
    }
}
