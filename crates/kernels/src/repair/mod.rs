//! Making a content file compile that its package compiles with definitions we do not see.
//!
//! clang complains, every [`Repair`] is asked in turn for a [`Fix`], the fixes are applied and
//! clang is asked again, at most [`ROUNDS`] times. A repair infers from how a name is used; what it
//! cannot tell it leaves alone.

mod builtin;
mod clash;
mod conditional;
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
