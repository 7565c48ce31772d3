//! A program of allowed tokens can be closed, and is one however it is spelled.
//!
//! Each byte names a lexeme; what the grammar refuses is left out.

use crate::program::{END, Tokens, same_however_spelled};

/// What programs are made of.
const WORDS: &[&str] = &[
    "kernel",
    "void",
    "A",
    "(",
    "global",
    "float",
    "*",
    "a",
    ",",
    "const",
    "int",
    "b",
    ")",
    "{",
    "}",
    ";",
    "[",
    "]",
    "=",
    "+",
    "-",
    "0",
    "1",
    "2",
    "1.5f",
    "if",
    "else",
    "for",
    "while",
    "do",
    "return",
    "struct",
    "S",
    ".",
    "x",
    "xy",
    "s0",
    "<",
    ">",
    "==",
    "&&",
    "||",
    "!",
    "~",
    "%",
    "/",
    "<<",
    ">>",
    "?",
    ":",
    "++",
    "--",
    "+=",
    "-=",
    "<<=",
    "->",
    "&",
    "|",
    "^",
    "float4",
    "int2",
    "uchar",
    "ulong",
    "half",
    "double",
    "bool",
    "unsigned",
    "char",
    "long",
    "local",
    "constant",
    "private",
    "typedef",
    "T",
    "enum",
    "E",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "goto",
    "L",
    "sizeof",
    "get_global_id",
    "barrier",
    "sqrt",
    "min",
    "dot",
    "vload4",
    "vstore4",
    "convert_int4",
    "as_float",
    "select",
    "atomic_add",
    "read_imagef",
    "image2d_t",
    "read_only",
    "sampler_t",
    "event_t",
    "__attribute__",
    "reqd_work_group_size",
    "aligned",
    "packed",
    "overloadable",
    "union",
    "static",
    "extern",
    "volatile",
    "restrict",
    "inline",
    "signed",
    "short",
    "'a'",
    "\"%d\"",
    "printf",
    "F",
    "0x7fffffff",
    "9223372036854775807",
    "18446744073709551615u",
    "1e38f",
    "size_t",
    "NULL",
    "true",
    "CLK_LOCAL_MEM_FENCE",
    "p",
    "q",
    "c",
];

/// Longer ones are looked at no further.
const LONGEST: usize = 300;

pub fn run(data: &[u8]) {
    let tokens = Tokens::with_keywords(WORDS.iter().copied());
    let mut constraint = tokens.constraint();
    let mut ids = Vec::new();
    for byte in data.iter().take(LONGEST) {
        let Some(word) = WORDS.get(usize::from(*byte)) else { continue };
        let before = (constraint.clone(), ids.len());
        for id in tokens.spell(word) {
            let allowed = constraint.allows(id);
            assert_eq!(allowed, constraint.push(id).is_ok());
            if !allowed {
                constraint = before.0;
                ids.truncate(before.1);
                break;
            }
            ids.push(id);
        }
    }
    // Where no way to an end is found there is none to look at: the search is bounded.
    let Some(rest) = constraint.closing(&[]) else { return };
    for id in &rest {
        assert_ne!(*id, END);
        constraint.push(*id).expect("a way to the end is allowed");
    }
    assert!(constraint.may_end());
    ids.extend(rest);
    let lexemes = tokens.lexemes(&ids);
    same_however_spelled(&lexemes.iter().map(String::as_str).collect::<Vec<_>>());
}
