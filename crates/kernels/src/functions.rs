//! One C program, all the way to rows: its functions as OpenCL C, each with what it needs.
//!
//! OpenCL C is C: the text is read by the same clang as kernels are, with a header of what C's own
//! headers would define. What clang rejects is left out, with whatever needs it; what is left is
//! isolated, renamed, laid out and compared as kernels are. A function that calls what its program
//! does not define is rejected: nothing is made up.

use crate::{
    KernelRow, Status,
    chunks::{self, Chunk, Uses},
    compiler::{Compiler, DOES_NOT_COMPILE, does_not_compile_within, reaching},
    cxx,
    file::{Source, TOO_SMALL},
    isolate::{Isolated, Pieces},
    rewrite,
    row::{REWRITE_CHANGED_IR, RowExt as _},
    setting::alone,
    solve::{MOST_KERNELS, too_many},
};
use clang::{DeclarationKind, Facts, Options};
use dataset::{Language, Verdict};
use lexer::{Kind, Token, tokens};
use rows::KernelVerdict;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What C's headers would define.
const HEADER: &str = include_str!("functions.h");
/// Name of that header.
const HEADER_NAME: &str = "stampmill-c.h";
/// `-cl-std`: the one with program-scope variables and pointers to any address space.
const STANDARD: &str = "CL2.0";
/// Errors that one look at a program may find.
const DIAGNOSTICS: u32 = 20_000;
/// Looks at a program before it is given up.
const ROUNDS: usize = 24;
/// A function of fewer IR instructions than this only passes something on.
const MINIMUM_INSTRUCTIONS: u32 = 10;
/// A function of more tokens than this, with what it needs, is rejected.
const MOST_TOKENS: usize = 1500;

/// The verdict of functions that need a function or variable which their program does not define.
const NOT_DEFINED: &str = KernelVerdict::NotDefined.name();
/// The verdict of functions above [`MOST_TOKENS`].
const TOO_LONG: &str = KernelVerdict::TooLong.name();

/// The rows of a program in C, or in C++ as far as it is C: its functions, and whatever was rejected.
pub(crate) fn rows(compiler: &Compiler, source: &Source, text: &str) -> Vec<KernelRow> {
    let is_cxx = source.language == Language::Cxx.name();
    match Program::read(compiler, &without_headers(text), is_cxx) {
        Ok(program) => program.rows(compiler, source),
        Err(verdict) => vec![source.rejected("", &verdict)],
    }
}

/// A program without the lines that ask for C's own headers: what OpenCL C lacks of them is declared here.
fn without_headers(text: &str) -> String {
    let asks = |line: &&str| line.starts_with("#include <");
    text.split_inclusive('\n').filter(|line| !asks(line)).collect()
}

/// What is left of a C program when all is gone that is no OpenCL C.
struct Program {
    /// Preprocessed, in OpenCL C's spelling; parses without an error.
    text: String,
    facts: Facts,
    /// Functions that had to be left out.
    rejected: BTreeMap<String, Verdict>,
}

impl Program {
    fn read(compiler: &Compiler, text: &str, is_cxx: bool) -> Result<Program, Verdict> {
        let options = Options {
            headers: vec![(HEADER_NAME.to_owned(), HEADER.to_owned())],
            prelude: vec![HEADER_NAME.to_owned()],
            diagnostics: DIAGNOSTICS,
            ..alone(STANDARD)
        };
        // What the preprocessor complains of (`#error` where nothing is configured) did not reach
        // the text.
        let (text, _) = compiler.preprocess(text, options)?;
        let mut text = respell(&if is_cxx { cxx::as_c(&text) } else { text });
        let mut rejected = BTreeMap::new();
        for _ in 0..ROUNDS {
            let chunks = chunks::cut(&text);
            let functions = (0..chunks.len()).filter(|at| chunks[*at].function().is_some());
            let needed = Uses::of(&chunks).closure(&text, &chunks, functions, |_| true);
            text = chunks::join(&text, &chunks, &needed);
            if text.is_empty() {
                return Ok(Program { text, facts: Facts::default(), rejected });
            }
            let options = Options { diagnostics: DIAGNOSTICS, ..alone(STANDARD) };
            let (facts, errors) = compiler.parse(&text, options)?;
            let Some(first) = errors.first() else {
                return Ok(Program { text, facts, rejected });
            };
            let chunks = chunks::cut(&text);
            let mut bad: BTreeSet<usize> = BTreeSet::new();
            for error in &errors {
                let Some(offset) = error.offset else { continue };
                let at = chunks.partition_point(|chunk| chunk.range.end <= offset as usize);
                if at < chunks.len()
                    && bad.insert(at)
                    && let Some(name) = chunks[at].function()
                {
                    rejected.insert(name.to_owned(), does_not_compile_within(error, &text));
                }
            }
            if bad.is_empty() {
                return Err(does_not_compile_within(first, &text));
            }
            let kept: Vec<usize> = (0..chunks.len()).filter(|at| !bad.contains(at)).collect();
            text = chunks::join(&text, &chunks, &kept);
        }
        Err(Verdict::new(DOES_NOT_COMPILE, "what is left never parsed"))
    }

    fn rows(&self, compiler: &Compiler, source: &Source) -> Vec<KernelRow> {
        let pieces = Pieces::of(&self.text, &self.facts);
        let defined: BTreeSet<u32> = self
            .facts
            .declarations
            .iter()
            .filter(|found| found.definition)
            .map(|found| found.canonical)
            .collect();
        let mut rows = Vec::new();
        let mut wanted = Vec::new();
        for (at, declaration) in self.facts.declarations.iter().enumerate() {
            if declaration.kind != DeclarationKind::Function || !declaration.definition {
                continue;
            }
            let isolated = pieces.isolate(at as u32);
            if wanted.len() == MOST_KERNELS {
                rows.push(source.rejected(&declaration.name, &too_many()));
                continue;
            }
            match admit(&pieces, &isolated, &defined) {
                Ok(()) => wanted.push((at as u32, isolated)),
                Err(verdict) => rows.push(source.rejected(&declaration.name, &verdict)),
            }
        }
        let names: Vec<String> = wanted
            .iter()
            .map(|(at, _)| self.facts.declarations[*at as usize].name.clone())
            .collect();
        // Without hashes nothing is proved equal, and nothing is kept.
        let originals = match names.is_empty() {
            true => BTreeMap::new(),
            false => {
                compiler.canonical_irs(&self.text, alone(STANDARD), &names, &[]).unwrap_or_default()
            }
        };
        for ((at, isolated), name) in wanted.iter().zip(&names) {
            let hash = originals.get(name).map(String::as_str);
            let row = row(compiler, source, &pieces, isolated, *at, hash);
            rows.push(row.unwrap_or_else(|verdict| source.rejected(name, &verdict)));
        }
        rows.extend(self.rejected.iter().map(|(name, verdict)| source.rejected(name, verdict)));
        if rows.is_empty() {
            rows.push(source.rejected("", &Verdict::new(KernelVerdict::NoFunction, "")));
        }
        rows
    }
}

/// Whether an isolated function needs nothing that is not there, and is no longer than it may be.
fn admit(pieces: &Pieces<'_>, isolated: &Isolated, defined: &BTreeSet<u32>) -> Result<(), Verdict> {
    let declarations = &pieces.facts.declarations;
    let missing = isolated.ranges.iter().find_map(|range| {
        let inside = pieces.references_in(range).iter();
        inside
            .map(|reference| (&declarations[reference.declaration as usize], reference))
            .find(|(found, reference)| {
                let global = found.kind == DeclarationKind::Function
                    || found.kind == DeclarationKind::Variable && found.parent.is_none();
                global && !defined.contains(&reference.declaration)
            })
            .map(|(found, _)| found.name.clone())
    });
    if let Some(name) = missing {
        return Err(Verdict::new(NOT_DEFINED, name));
    }
    let count: usize =
        isolated.ranges.iter().map(|range| tokens(&pieces.text[range.clone()]).count()).sum();
    match count > MOST_TOKENS {
        true => Err(Verdict::new(TOO_LONG, format!("{count} tokens"))),
        false => Ok(()),
    }
}

/// The row of one function in normal form; `original` is the hash of its canonical IR in the
/// program.
fn row(
    compiler: &Compiler,
    source: &Source,
    pieces: &Pieces<'_>,
    isolated: &Isolated,
    declaration: u32,
    original: Option<&str>,
) -> Result<KernelRow, Verdict> {
    let (renamed, name) = rewrite::rename(pieces, isolated, declaration);
    let text = compiler.format(&rewrite::flatten(&renamed))?;
    let (facts, code, hash) = compiler.compile_and_hash(&text, alone(STANDARD), &name)?;
    if let Some(verdict) = reaching(&facts) {
        return Err(verdict);
    }
    let size = code.functions.iter().find(|function| function.name == name);
    let instructions = size.map_or(0, |function| function.instructions);
    if instructions < MINIMUM_INSTRUCTIONS {
        return Err(Verdict::new(TOO_SMALL, format!("{instructions} instructions")));
    }
    if original != Some(hash.as_str()) {
        let why = "the rewritten text was not proved equal to the original";
        return Err(Verdict::new(REWRITE_CHANGED_IR, why));
    }
    let mut row = source.row();
    row.identical_ir = true;
    row.rewritten = true;
    row.name = name;
    row.original_name.clone_from(&pieces.facts.declarations[declaration as usize].name);
    row.status = Status::Shim.name().to_owned();
    row.standard = STANDARD.to_owned();
    row.instructions = instructions;
    row.accept(text);
    Ok(row)
}

/// Preprocessed C in the spelling of OpenCL C: integer types by their one-word names, names of
/// scalar types replaced by these, no words of linkage before functions.
fn respell(text: &str) -> String {
    let chunks = chunks::cut(text);
    let mut aliases: HashMap<&str, &'static str> = HashMap::new();
    let mut spelled = String::with_capacity(text.len());
    for chunk in &chunks {
        let all: Vec<Token<'_>> = tokens(&text[chunk.range.clone()]).collect();
        if let Some((name, scalar)) = alias(&all, &aliases) {
            aliases.insert(name, scalar);
            continue;
        }
        respell_chunk(&all, chunk, &aliases, &mut spelled);
    }
    spelled
}

/// `typedef unsigned int NAME;`: the name, and OpenCL C's word for what it stands for.
fn alias<'a>(
    all: &[Token<'a>],
    aliases: &HashMap<&str, &'static str>,
) -> Option<(&'a str, &'static str)> {
    let (first, rest) = all.split_first()?;
    let (last, rest) = rest.split_last()?;
    let (name, words) = rest.split_last()?;
    if !first.is("typedef") || !last.is(";") || name.kind != Kind::Word || words.is_empty() {
        return None;
    }
    if is_integer_word(name.text) {
        return None;
    }
    let scalar = match words {
        [word] if aliases.contains_key(word.text) => aliases[word.text],
        [word] if !is_integer_word(word.text) => one_word(word.text)?,
        words if words.iter().all(|word| is_integer_word(word.text)) => integer(words),
        _ => return None,
    };
    Some((name.text, scalar))
}

/// Scalar types of one word that are no integers of C's spelling.
fn one_word(word: &str) -> Option<&'static str> {
    ["float", "double", "bool", "uchar", "ushort", "uint", "ulong", "size_t", "ptrdiff_t"]
        .into_iter()
        .find(|known| *known == word)
}

/// Whether a word means something to OpenCL C and nothing to C.
fn is_reserved(word: &str) -> bool {
    let plain = word.strip_prefix("__").unwrap_or(word);
    matches!(
        plain,
        "kernel"
            | "global"
            | "local"
            | "constant"
            | "private"
            | "generic"
            | "half"
            | "pipe"
            | "read_only"
            | "write_only"
            | "read_write"
            | "complex"
            | "imaginary"
    ) || matches!(word, "event_t" | "queue_t" | "sampler_t")
}

fn is_integer_word(word: &str) -> bool {
    matches!(
        word,
        "unsigned" | "signed" | "__signed" | "__signed__" | "char" | "short" | "int" | "long"
    )
}

/// OpenCL C's word for an integer type that C spells with several.
fn integer(words: &[Token<'_>]) -> &'static str {
    let has = |word: &str| words.iter().any(|token| token.text == word);
    let (unsigned, signed) = if has("char") {
        ("uchar", "char")
    } else if has("short") {
        ("ushort", "short")
    } else if has("long") {
        ("ulong", "long")
    } else {
        ("uint", "int")
    };
    if has("unsigned") { unsigned } else { signed }
}

fn respell_chunk(
    all: &[Token<'_>],
    chunk: &Chunk,
    aliases: &HashMap<&str, &'static str>,
    out: &mut String,
) {
    let function = chunk.declares_function();
    let (mut depth, mut at) = (0_usize, 0);
    while at < all.len() {
        let token = &all[at];
        let mut text = token.text;
        let mut next = at + 1;
        match token.kind {
            Kind::Directive => {
                out.push('\n');
                out.push_str(text);
                out.push('\n');
                at = next;
                continue;
            }
            Kind::Punctuation => match text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            },
            Kind::Word if is_integer_word(text) => {
                while next < all.len() && is_integer_word(all[next].text) {
                    next += 1;
                }
                // `long double` is no integer, and nothing that OpenCL C has.
                let double = all.get(next).is_some_and(|token| token.is("double"));
                text = if double { text } else { integer(&all[at..next]) };
            }
            Kind::Word => {
                let linkage = matches!(
                    text,
                    "static" | "extern" | "inline" | "__inline" | "__inline__" | "_Noreturn"
                );
                if function && depth == 0 && linkage
                    || matches!(text, "register" | "__extension__" | "auto")
                {
                    at = next;
                    continue;
                }
                let before = at.checked_sub(1).map_or("", |at| all[at].text);
                if let Some(scalar) = aliases.get(text)
                    && !matches!(before, "." | "->" | "struct" | "union" | "enum" | "goto")
                {
                    text = scalar;
                } else if is_reserved(text) {
                    out.push_str("c_");
                }
            }
            Kind::Number | Kind::Literal => {}
        }
        out.push_str(text);
        out.push(' ');
        at = next;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        let respelled = respell(text);
        respelled.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn integer_types_have_one_word() {
        let text = "unsigned f(const unsigned char *a, long long int b, unsigned long c) { return (unsigned short)b; }";
        assert_eq!(
            words(text),
            "uint f ( const uchar * a , long b , ulong c ) { return ( ushort ) b ; }"
        );
    }

    #[test]
    fn names_of_scalars_are_replaced_and_linkage_goes() {
        let text = "typedef unsigned char u8; typedef u8 byte; typedef struct { byte u; int x; } S;
            static inline byte f(S *local) { static const u8 t[1] = {0}; register int i = local->u; return t[i]; }";
        assert_eq!(
            words(text),
            "typedef struct { uchar u ; int x ; } S ; uchar f ( S * c_local ) { static const uchar t [ 1 ] = { 0 } ; int i = c_local -> u ; return t [ i ] ; }"
        );
    }

    #[test]
    fn names_of_types_are_what_they_stand_for_where_they_are_types() {
        for (text, wanted) in [
            ("typedef long unsigned L; L x;", "ulong x ;"),
            ("typedef float F; typedef F G; G x;", "float x ;"),
            ("typedef uchar B; B x;", "uchar x ;"),
            ("typedef size_t S; S x;", "size_t x ;"),
            ("typedef signed char C; C x;", "char x ;"),
            ("typedef short int H; H x;", "short x ;"),
            // These stay as they are.
            ("typedef other B; B x;", "typedef other B ; B x ;"),
            ("typedef unsigned other B;", "typedef uint other B ;"),
            ("typedef int short;", "typedef short ;"),
            ("typedef float* P; P x;", "typedef float * P ; P x ;"),
            ("typedef int A[2];", "typedef int A [ 2 ] ;"),
            ("int B;", "int B ;"),
            ("long double x;", "long double x ;"),
            // A tag, a member and a label are no types.
            (
                "typedef int w; struct w { w x; } s; int f(void) { goto w; return s.w + p->w + (w)1; }",
                "struct w { int x ; } s ; int f ( void ) { goto w ; return s . w + p -> w + ( int ) 1 ; }",
            ),
        ] {
            assert_eq!(words(text), wanted, "{text}");
        }
    }

    #[test]
    fn words_of_opencl_are_given_another_name_and_linkage_goes_from_functions_alone() {
        for (text, wanted) in [
            (
                "int kernel, event_t, __global, half;",
                "int c_kernel , c_event_t , c___global , c_half ;",
            ),
            (
                "int queue_t, sampler_t, complex, other;",
                "int c_queue_t , c_sampler_t , c_complex , other ;",
            ),
            ("static int x;", "static int x ;"),
            ("extern int f(int a);", "int f ( int a ) ;"),
            (
                "static __inline int f(int a) { static int x; }",
                "int f ( int a ) { static int x ; }",
            ),
            ("__extension__ int f(register int a) { auto int x; }", "int f ( int a ) { int x ; }"),
            (
                "__attribute__((pure)) static int f(int a);",
                "__attribute__ ( ( pure ) ) int f ( int a ) ;",
            ),
            // A text may end anywhere.
            ("int x; unsigned int", "int x ; uint"),
        ] {
            assert_eq!(words(text), wanted, "{text}");
        }
        assert!(
            respell("int f(void) {\n#pragma unroll\nreturn 1; }").contains("\n#pragma unroll\n")
        );
    }

    /// The functions of a program by name, with their verdicts.
    fn verdicts(text: &str) -> Vec<(String, String)> {
        let clang = clang::Clang::start(1).unwrap_or_else(|error| panic!("{error}"));
        let rows = rows(&Compiler::new(clang), &Source::default(), text);
        rows.into_iter().map(|row| (row.original_name, row.verdict)).collect()
    }

    #[test]
    fn a_function_of_fewer_instructions_than_ten_is_too_small() {
        let verdict = |result: &str| {
            verdicts(&format!("int f(int a, int b) {{ return {result}; }}")).remove(0).1
        };
        assert_eq!(
            (verdict("a * ~b"), verdict("a * b + a")),
            ("too-small".into(), "accepted".into())
        );
    }

    #[test]
    fn a_type_that_is_only_named_need_not_be_defined() {
        let text = "struct hidden; int f(struct hidden *p, struct hidden *q, int a) {
            if (p == q) a = a * 3 + 1; return a / 7 - a; }";
        assert_eq!(verdicts(text), [("f".to_owned(), "accepted".to_owned())]);
    }

    #[test]
    fn a_function_of_more_tokens_than_1500_is_too_long() {
        let function = |more: usize| {
            format!("int f(int a) {{ {}{} return a; }}", "a++; ".repeat(496), ";".repeat(more))
        };
        let verdict = |more: usize| verdicts(&function(more)).remove(0).1;
        assert_eq!((verdict(1), verdict(2)), ("accepted".to_owned(), "too-long".to_owned()));
    }

    #[test]
    fn every_function_of_a_program_with_too_many_is_accounted_for() {
        let text: String = (0..MOST_KERNELS + 2)
            .map(|at| format!("int f{at:03}(int a) {{ int b = a * {at}; if (b > 7) b -= a; return b / 3 + a; }}\n"))
            .collect();
        let found = verdicts(&text);
        let count = |verdict: &str| found.iter().filter(|(_, one)| one == verdict).count();
        assert_eq!((count("accepted"), count("too-many-kernels")), (MOST_KERNELS, 2));
    }

    #[test]
    fn a_program_without_a_function_says_so() {
        let row = |verdict: &str| vec![(String::new(), verdict.to_owned())];
        assert_eq!(verdicts("int x;"), row("no-function"));
        assert_eq!(verdicts("\n"), row("no-function"));
    }

    #[test]
    fn a_program_that_breaks_off_is_rejected_as_a_whole() {
        let whole = "int f(int a) { int b = a * a; if (b > 7) b -= a; return b / 3 + a; }";
        let found = verdicts(&format!("{whole} int g(int a) {{ return a;"));
        assert_eq!(found, [(String::new(), "does-not-compile".to_owned())]);
    }

    #[test]
    fn what_needs_a_rejected_function_is_rejected_with_it() {
        let text = "int bad(int a) { return a->b; }
            int needs(int a) { int b = bad(a) * a; if (b > 7) b -= a; return b / 3; }
            int good(int a) { int b = a * a; if (b > 7) b -= a; return b / 3 + a; }";
        let mut found = verdicts(text);
        found.sort();
        let wanted =
            [("bad", "does-not-compile"), ("good", "accepted"), ("needs", "does-not-compile")];
        assert_eq!(found, wanted.map(|(name, verdict)| (name.to_owned(), verdict.to_owned())));
    }
}
