//! Making a content file compile that its package compiles with definitions we do not see.
//!
//! clang complains, every [`Repair`] is asked in turn for a [`Fix`], the fixes are applied and
//! clang is asked again, at most [`ROUNDS`] times. A repair infers from how a name is used; what it
//! cannot tell it leaves alone.

mod builtin;
mod clash;
mod conditional;
mod declarator;
mod directive;
mod escape;
mod extension;
mod function;
mod image;
mod record;
mod shim;
mod type_name;
mod usage;
mod value;
mod width;

pub(crate) use directive::is_lost_data;
pub(crate) use extension::HALF;
pub use shim::HEADER as SHIM;

use crate::{Setting, Status};
use clang::Diagnostic;
use std::collections::BTreeSet;
use usage::Usage;

/// Rounds of asking clang and answering its complaints.
pub(crate) const ROUNDS: usize = 10;

/// A way to answer one kind of complaint.
trait Repair {
    /// What a program is called that needed it.
    fn status(&self) -> Status {
        Status::Repaired
    }

    /// What would answer the complaint, if this repair knows.
    fn fix(&self, complaint: &Complaint<'_>, program: &Program<'_>) -> Option<Vec<Fix>>;
}

/// In order of asking: what the program itself says, what everybody means, what use says.
const REPAIRS: [&dyn Repair; 11] = [
    &escape::Escape,
    &directive::Directive,
    &extension::Extension,
    &conditional::Conditional,
    &shim::Shim,
    &clash::Clash,
    &record::Record,
    &image::Image,
    &type_name::TypeName,
    &function::Function,
    &value::Value,
];

/// Something clang said.
struct Complaint<'a> {
    /// clang's name for it.
    kind: &'a str,
    message: &'a str,
    /// The name it is about.
    name: &'a str,
    /// Place in [`Program::source`] (of the preprocessor) or in the preprocessed text (of the parser).
    offset: Option<usize>,
    /// Whether the preprocessor said it.
    preprocessor: bool,
}

/// What a repair can look at.
struct Program<'a> {
    /// The content file.
    source: &'a str,
    /// The tokens and declarations of it preprocessed, as far as kernels need it.
    usage: Usage<'a>,
}

/// One step towards compiling.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fix {
    /// A `-D` argument.
    Define(String),
    /// A definition before the source.
    Definition(String),
    /// An include to leave out.
    EmptyHeader(String),
    /// A line of the source to blank.
    BlankLine(usize),
    /// Line feeds that the source spells as `\\n`.
    BreakLines,
}

/// Answer clang's `errors` about a program: change the setting or the source. Whether anything was
/// changed, so that another round may help.
pub(crate) fn repair(
    source: &mut String,
    text: &str,
    errors: &[Diagnostic],
    preprocessor: bool,
    setting: &mut Setting,
) -> bool {
    let program = Program { source, usage: Usage::of(text) };
    let mut answered = BTreeSet::new();
    let mut fixes = Vec::new();
    for error in errors {
        let name = name_of(error, &program, preprocessor);
        if !answered.insert((error.kind.clone(), name.clone())) {
            continue;
        }
        let complaint = Complaint {
            kind: &error.kind,
            message: &error.message,
            name: &name,
            offset: error.offset.map(|offset| offset as usize),
            preprocessor,
        };
        for repair in REPAIRS {
            if let Some(found) = repair.fix(&complaint, &program) {
                fixes.extend(found.into_iter().map(|fix| (repair.status(), fix)));
                break;
            }
        }
    }
    let mut changed = false;
    for (status, fix) in fixes {
        if apply(fix, source, setting) {
            setting.status = setting.status.max(status);
            changed = true;
        }
    }
    changed
}

fn apply(fix: Fix, source: &mut String, setting: &mut Setting) -> bool {
    match fix {
        Fix::Define(define) => {
            let name = define.split('=').next().unwrap_or_default();
            let known = setting.defines.iter().any(|known| known.split('=').next() == Some(name));
            if known {
                return false;
            }
            setting.inferred.push(format!("-D{define}"));
            setting.defines.push(define);
            true
        }
        Fix::Definition(definition) => {
            if setting.prelude.contains(&definition) {
                return false;
            }
            setting.inferred.push(definition.clone());
            setting.prelude.push(definition);
            true
        }
        Fix::EmptyHeader(name) => {
            if setting.empty_headers.contains(&name) {
                return false;
            }
            setting.inferred.push(format!("without #include {name}"));
            setting.empty_headers.push(name);
            true
        }
        Fix::BreakLines => {
            let broken = escape::break_lines(source);
            let changed = broken != *source;
            if changed {
                *source = broken;
                setting.inferred.push("with line feeds for \\n".to_owned());
            }
            changed
        }
        Fix::BlankLine(offset) => {
            let end = source[offset..].find('\n').map_or(source.len(), |at| offset + at);
            let begin = source[..offset].rfind('\n').map_or(0, |at| at + 1);
            let line = source[begin..end].trim().to_owned();
            if line.is_empty() {
                return false;
            }
            source.replace_range(begin..end, &" ".repeat(end - begin));
            setting.inferred.push(format!("without {line}"));
            true
        }
    }
}

/// The name that a complaint is about: clang's word for it or, where it stumbles over what follows
/// an unknown word, that word.
fn name_of(error: &Diagnostic, program: &Program<'_>, preprocessor: bool) -> String {
    let stumbles = error.kind.starts_with("err_expected")
        || matches!(
            error.kind.as_str(),
            "err_invalid_decl_spec_combination"
                | "err_typename_invalid_storageclass"
                | "err_missing_type_specifier"
        );
    if let (true, false, Some(offset)) = (stumbles, preprocessor, error.offset) {
        let usage = &program.usage;
        let at = usage.tokens.partition_point(|token| token.begin < offset as usize);
        let suspects = (at.saturating_sub(4)..=at).rev().filter(|at| usage.is_word(*at));
        for suspect in suspects {
            if is_unknown(usage.text(suspect), program) {
                return usage.text(suspect).to_owned();
            }
        }
    }
    error.subject.clone().unwrap_or_default()
}

/// Whether nothing in the program or the language seems to declare a word.
fn is_unknown(word: &str, program: &Program<'_>) -> bool {
    if builtin::is_type(word)
        || builtin::is_qualifier(word)
        || builtin::is_statement(word)
        || builtin::result(word).is_some()
    {
        return false;
    }
    let usage = &program.usage;
    // A word that follows a word or `*` somewhere, or ends a declaration, is declared there.
    !usage.places(word).iter().any(|&at| {
        let before = usage.before(at);
        let declares = at > 0
            && (usage.is_word(at - 1)
                && !builtin::is_statement(before)
                && !builtin::is_qualifier(before)
                || matches!(before, "*" | "}"));
        declares && matches!(usage.text(at + 1), ";" | "," | "=" | "(" | "[" | ")")
    })
}

/// Whether a word begins assembly, for some compilers at least.
pub(crate) fn is_assembly(word: &str) -> bool {
    matches!(word, "asm" | "__asm" | "__asm__")
}

/// Whether clang says that a name is not declared, and one may be made up for it: not for the word that
/// brings in assembly where that is allowed.
fn is_missing(complaint: &Complaint<'_>) -> bool {
    !complaint.preprocessor
        && !complaint.name.is_empty()
        && !is_assembly(complaint.name)
        && (matches!(
            complaint.kind,
            "err_unknown_typename"
                | "err_unknown_typename_suggest"
                | "err_undeclared_var_use"
                | "err_undeclared_var_use_suggest"
                | "err_undeclared_use"
                | "err_undeclared_use_suggest"
                | "err_opencl_implicit_function_decl"
                | "ext_implicit_function_decl_c99"
                | "err_unknown_type_or_class_name_suggest"
                | "err_missing_type_specifier"
                | "err_invalid_decl_spec_combination"
                | "err_param_not_declared"
        ) || complaint.kind.starts_with("err_expected"))
}

/// What a repair answers to the complaint that a name is not declared.
#[cfg(test)]
fn definition(repair: &dyn Repair, name: &str, text: &str) -> Option<Vec<Fix>> {
    let (kind, message) = ("err_undeclared_var_use", "");
    let complaint =
        |name, preprocessor| Complaint { kind, message, name, offset: None, preprocessor };
    let program = Program { source: text, usage: Usage::of(text) };
    for other in [complaint(name, true), complaint("", false), complaint("asm", false)] {
        assert_eq!(repair.fix(&other, &program), None, "it is no complaint of a missing name");
    }
    repair.fix(&complaint(name, false), &program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clang::Severity;

    fn error(kind: &str, subject: &str, offset: Option<u32>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            kind: kind.to_owned(),
            message: String::new(),
            offset,
            line: None,
            subject: (!subject.is_empty()).then(|| subject.to_owned()),
        }
    }

    #[test]
    fn a_fix_is_applied_once() {
        let mut setting = Setting::plain(&["A=1".to_owned()]);
        let mut source = String::from("int a;\n#error x\n\n#error y");
        let define = |text: &str| Fix::Define(text.to_owned());
        let header = || Fix::EmptyHeader("x.h".to_owned());
        let definition = || Fix::Definition("int b;".to_owned());
        for (fix, changes) in [
            (define("A=2"), false),
            (define("AB"), true),
            (define("AB=3"), false),
            (definition(), true),
            (definition(), false),
            (header(), true),
            (header(), false),
            (Fix::BlankLine(9), true),
            (Fix::BlankLine(9), false),
            (Fix::BlankLine(16), false),
            (Fix::BlankLine(20), true),
            (Fix::BlankLine(2), true),
            (Fix::BreakLines, false),
        ] {
            let said = format!("{fix:?}");
            assert_eq!(apply(fix, &mut source, &mut setting), changes, "{said}");
        }
        assert_eq!(source, "      \n        \n\n        ");
        assert_eq!(setting.defines, ["A=1", "AB"]);
        assert_eq!(
            (setting.prelude.join(" "), setting.empty_headers.join(" ")),
            ("int b;".into(), "x.h".into())
        );
        let inferred = [
            "-DAB",
            "int b;",
            "without #include x.h",
            "without #error x",
            "without #error y",
            "without int a;",
        ];
        assert_eq!(setting.inferred, inferred);
        source = "\\nint c;".to_owned();
        assert!(apply(Fix::BreakLines, &mut source, &mut setting));
        assert_eq!(source, "\nint c;");
    }

    #[test]
    fn each_complaint_is_answered_once_and_the_most_help_is_told() {
        let text = "void k(__global real* a, unknown b) { a[0] = b * 2.0f; }";
        let ask = |errors: &[Diagnostic]| {
            let mut setting = Setting::plain(&[]);
            let changed = repair(&mut text.to_owned(), text, errors, false, &mut setting);
            (changed, setting.status, setting.inferred)
        };
        let of = |name: &str| error("err_unknown_typename", name, None);
        let shim = vec!["typedef float real;".to_owned()];
        assert_eq!(ask(&[of("real"), of("real")]), (true, Status::Shim, shim.clone()));
        let both = [shim, vec!["typedef float unknown;".to_owned()]].concat();
        assert_eq!(ask(&[of("real"), of("unknown")]), (true, Status::Repaired, both));
        assert_eq!(ask(&[of("absent")]), (false, Status::Plain, Vec::new()));
        assert_eq!(ask(&[]), (false, Status::Plain, Vec::new()));
    }

    #[test]
    fn clang_stumbles_over_what_follows_an_unknown_word() {
        let text = "int f(int a) { } void k(int n) { if (n) WORD int x; f(n); }";
        let program = Program { source: text, usage: Usage::of(text) };
        let offset = text.find("int x").map(|at| at as u32);
        let name = |kind: &str, preprocessor: bool, offset| {
            name_of(&error(kind, "said", offset), &program, preprocessor)
        };
        for kind in ["err_expected_semi", "err_invalid_decl_spec_combination"] {
            assert_eq!(name(kind, false, offset), "WORD", "{kind}");
            assert_eq!(name(kind, true, offset), "said");
            assert_eq!(name(kind, false, None), "said");
        }
        assert_eq!(name("err_undeclared_var_use", false, offset), "said");
        // Nothing unknown stands within four words of it.
        let end = text.find("f(n)").map(|at| at as u32 + 3);
        assert_eq!(name("err_expected_semi", false, end), "said");
        assert_eq!(name("err_expected_semi", false, Some(0)), "said");
        let text = "void k(int n) { n = 1 int AFTER + 2; }";
        let program = Program { source: text, usage: Usage::of(text) };
        let before = error("err_expected_semi", "said", text.rfind("int").map(|at| at as u32));
        assert_eq!(name_of(&before, &program, false), "said");
        assert_eq!(name_of(&error("err_other", "", None), &program, false), "");
    }

    #[test]
    fn a_word_is_known_where_it_is_declared() {
        let text =
            "typedef struct { int m; } S; int* p; int f(int a, float4 b[2]) { S s = q; return r; }
            struct tag t; const w; x = y; U *z;";
        let program = Program { source: text, usage: Usage::of(text) };
        for known in
            ["int", "uint4", "const", "return", "sqrt", "S", "p", "f", "a", "b", "s", "t", "z"]
        {
            assert!(!is_unknown(known, &program), "{known}");
        }
        for unknown in ["q", "r", "w", "x", "y", "U", "absent", "tag"] {
            assert!(is_unknown(unknown, &program), "{unknown}");
        }
    }
}
