//! The normal form: short names by order of appearance, one spelling of every word, one layout.

use crate::{
    isolate::{Isolated, Pieces},
    names::Series,
};
use clang::{Declaration, DeclarationKind, Facts};
use fnv::FnvHasher;
use lexer::{Kind, Token, tokens};
use std::{
    collections::{BTreeMap, HashSet},
    hash::Hasher,
};

/// The isolated program with every name of its own replaced, and the kernel's new name.
///
/// Functions are `A, B, …` and types `Ta, Tb, …` through the program. Variables are `a, b, …`:
/// first those of file scope, then in every function its parameters and locals anew, so that what a
/// function is called is no matter of what stands before it. Fields count in their struct, labels
/// in their function.
pub(crate) fn rename(pieces: &Pieces<'_>, isolated: &Isolated, kernel: u32) -> (String, String) {
    let facts = pieces.facts;
    let held = pieces.declarations(isolated);
    let held: Vec<&Declaration> = held.iter().map(|at| &facts.declarations[*at as usize]).collect();
    let names = Namer::new(facts).run(&held);
    let mut edits: BTreeMap<usize, (usize, &str)> = BTreeMap::new();
    for declaration in held {
        if let (Some(at), Some(name)) = (declaration.name_offset, names.get(&declaration.canonical))
        {
            edits.insert(at as usize, (declaration.name.len(), name));
        }
    }
    let references = isolated.ranges.iter().flat_map(|range| pieces.references_in(range));
    for reference in references {
        if let Some(name) = names.get(&reference.declaration) {
            edits.insert(reference.offset as usize, (reference.length as usize, name));
        }
    }
    let mut text = String::new();
    for range in &isolated.ranges {
        let mut from = range.start;
        for (&at, (length, name)) in edits.range(range.clone()) {
            if at < from {
                continue;
            }
            text.push_str(&pieces.text[from..at]);
            text.push_str(name);
            from = at + length;
        }
        text.push_str(&pieces.text[from..range.end]);
        text.push('\n');
    }
    let declaration = &facts.declarations[kernel as usize];
    let name =
        names.get(&declaration.canonical).cloned().unwrap_or_else(|| declaration.name.clone());
    (text, name)
}

struct Namer<'a> {
    facts: &'a Facts,
    names: BTreeMap<u32, String>,
    functions: Series,
    types: Series,
    enumerators: Series,
    globals: Series,
    /// By the declaration they count in.
    fields: BTreeMap<u32, Series>,
    locals: BTreeMap<u32, Series>,
    labels: BTreeMap<u32, Series>,
}

impl<'a> Namer<'a> {
    fn new(facts: &'a Facts) -> Namer<'a> {
        Namer {
            facts,
            names: BTreeMap::new(),
            functions: Series::functions(),
            types: Series::types(),
            enumerators: Series::enumerators(),
            globals: Series::variables(),
            fields: BTreeMap::new(),
            locals: BTreeMap::new(),
            labels: BTreeMap::new(),
        }
    }

    /// Names for these declarations, in the order of the program.
    fn run(mut self, kept: &[&Declaration]) -> BTreeMap<u32, String> {
        // No local may take a name of file scope, wherever that is declared.
        for declaration in kept {
            if self.is_global(declaration) {
                self.name(declaration);
            }
        }
        for declaration in kept {
            self.name(declaration);
        }
        self.names
    }

    fn is_global(&self, declaration: &Declaration) -> bool {
        declaration.kind == DeclarationKind::Variable && declaration.parent.is_none()
    }

    fn name(&mut self, declaration: &Declaration) {
        let entity = declaration.canonical;
        if declaration.name.is_empty() || self.names.contains_key(&entity) {
            return;
        }
        let name = match declaration.kind {
            DeclarationKind::Function | DeclarationKind::Kernel => self.functions.draw(),
            DeclarationKind::Record | DeclarationKind::Enumeration | DeclarationKind::Typedef => {
                self.types.draw()
            }
            DeclarationKind::Enumerator => self.enumerators.draw(),
            DeclarationKind::Variable if declaration.parent.is_none() => self.globals.draw(),
            DeclarationKind::Variable | DeclarationKind::Parameter => {
                let (outermost, globals) = (self.outermost(declaration, false), &self.globals);
                self.locals.entry(outermost).or_insert_with(|| globals.clone()).draw()
            }
            DeclarationKind::Field => {
                let record = self.outermost(declaration, true);
                self.fields.entry(record).or_insert_with(Series::variables).draw()
            }
            DeclarationKind::Label => {
                let function = self.outermost(declaration, false);
                self.labels.entry(function).or_insert_with(Series::labels).draw()
            }
        };
        self.names.insert(entity, name);
    }

    /// The outermost declaration around one, or the outermost of the records around it.
    fn outermost(&self, declaration: &Declaration, records: bool) -> u32 {
        let mut at = declaration.parent;
        let mut outermost = u32::MAX;
        while let Some(parent) = at {
            let around = &self.facts.declarations[parent as usize];
            if records && around.kind != DeclarationKind::Record {
                break;
            }
            outermost = parent;
            at = around.parent;
        }
        outermost
    }
}

/// Whether a pragma enables `half`.
pub(crate) fn is_half(pragma: &str) -> bool {
    pragma.contains("cl_khr_fp16") && pragma.contains("enable")
}

/// Pragmas that mean something to the compiler once macros are gone.
fn is_kept(pragma: &str) -> bool {
    let words: Vec<&str> = pragma.trim_start_matches('#').split_whitespace().take(3).collect();
    is_half(pragma)
        || matches!(
            words.as_slice(),
            ["pragma", "unroll" | "nounroll" | "pack", ..] | ["pragma", "clang", "loop" | "fp"]
        )
        || matches!(words.as_slice(), ["pragma", "OPENCL" | "STDC", "FP_CONTRACT"])
        || matches!(words.as_slice(), ["pragma", unroll] if unroll.starts_with("unroll("))
}

/// The tokens of a program one way apart, whatever lay between them: what comes of formatting it
/// depends on its tokens alone. Words are spelled one way, pragmas without effect are gone.
///
/// A pragma for `half` survives: where it is not needed its giver leaves it out.
pub(crate) fn flatten(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    let mut line_start = true;
    let mut all: Vec<Token<'_>> = tokens(text).collect();
    // `void __kernel A(` is written the usual way round.
    for at in 1..all.len() {
        if lexer::spelling(all[at].text) == "__kernel" && all[at - 1].text == "void" {
            all.swap(at - 1, at);
        }
    }
    for token in all {
        match token.kind {
            Kind::Directive => {
                if is_kept(token.text) {
                    if !line_start {
                        flat.push('\n');
                    }
                    let words: Vec<&str> = token.text.split_whitespace().collect();
                    flat.push_str(&words.join(" "));
                    flat.push('\n');
                    line_start = true;
                }
                continue;
            }
            Kind::Word => {
                separate(&mut flat, line_start);
                flat.push_str(lexer::spelling(token.text));
            }
            _ => {
                separate(&mut flat, line_start);
                flat.push_str(token.text);
            }
        }
        line_start = token.kind == Kind::Punctuation && matches!(token.text, ";" | "{" | "}");
        if line_start {
            flat.push('\n');
        }
    }
    flat
}

fn separate(text: &mut String, line_start: bool) {
    if !line_start {
        text.push(' ');
    }
}

/// The different tokens of a text, as hashes: what a vocabulary counts.
pub(crate) fn vocabulary(text: &str, into: &mut HashSet<u64>) {
    for token in tokens(text) {
        if token.kind == Kind::Directive {
            let body = token.text.trim_start_matches('#');
            tokens(body).for_each(|token| {
                into.insert(hash(token.text));
            });
        } else {
            into.insert(hash(token.text));
        }
    }
}

/// The same on every machine.
fn hash(text: &str) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_text_depends_on_tokens_alone() {
        let one = flatten("kernel void  a(global int*b){b[0]=1;\n#pragma unroll 4\nfor(;;){}}");
        let two = flatten(
            "kernel void a ( global int * b )\n{ b [ 0 ] = 1 ;\n\n #pragma   unroll  4\n for ( ; ; ) { } }",
        );
        assert_eq!(one, two);
        assert!(one.starts_with(
            "__kernel void a ( __global int * b ) {\nb [ 0 ] = 1 ;\n#pragma unroll 4\nfor ( ;\n;\n"
        ));
        assert_eq!(flatten(&one), one);
    }

    #[test]
    fn a_vocabulary_counts_tokens_in_directives_too() {
        let words = |text: &str| {
            let mut all = HashSet::new();
            vocabulary(text, &mut all);
            all
        };
        let expected: HashSet<u64> = ["define", "N", "4", "int", "a", ";"].map(hash).into();
        assert_eq!(words("#define N 4\nint a; int N;"), expected);
        assert_ne!(hash("a"), hash("b"));
    }

    #[test]
    fn extensions_need_no_pragma() {
        assert_eq!(flatten("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nint a;"), "int a ;\n");
    }

    #[test]
    fn pragmas_are_kept_that_mean_something_to_the_compiler() {
        for (pragma, kept) in [
            ("#pragma unroll", true),
            ("#pragma unroll 4", true),
            ("#pragma unroll(4)", true),
            ("#pragma nounroll", true),
            ("#  pragma  pack (1)", true),
            ("#pragma clang loop unroll(full)", true),
            ("#pragma clang fp contract(fast)", true),
            ("#pragma OPENCL FP_CONTRACT ON", true),
            ("#pragma STDC FP_CONTRACT OFF", true),
            ("#pragma OPENCL EXTENSION cl_khr_fp16 : enable", true),
            ("#pragma OPENCL EXTENSION cl_khr_fp16 : disable", false),
            ("#pragma OPENCL EXTENSION cl_khr_fp64 : enable", false),
            ("#pragma clang diagnostic push", false),
            ("#pragma once", false),
            ("#pragma unrolled", false),
            ("#define unroll", false),
        ] {
            assert_eq!(is_kept(pragma), kept, "{pragma}");
        }
        assert_eq!(flatten("int a\n#pragma unroll\n;"), "int a\n#pragma unroll\n;\n");
    }
}
