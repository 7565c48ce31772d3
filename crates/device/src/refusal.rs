//! What no driver is given. A processor's driver runs kernels in a process of this machine: one that
//! holds assembly, or calls what it does not define, is no kernel but a program for this machine. The
//! worker's sandbox holds what is not found here, such as what hides behind a driver's own macros.

use crate::{Finding, Outcome};
use clang::{Clang, HazardKind, Options, Triple};
use lexer::{Kind, tokens};

/// The versions of the language that drivers may read a program as.
const STANDARDS: [&str; 3] = ["CL1.2", "CL2.0", "CL3.0"];

/// What the words of a text say against it, those included that conditional compilation may leave out.
pub(crate) fn of_text(text: &str) -> Option<Finding> {
    if text.contains('\0') {
        return Some(Finding::new(Outcome::BuildFailure, "the text holds a zero byte"));
    }
    let flat = without_splices(text);
    if includes(&flat) {
        let why = "programs stand alone: drivers would open the files of this machine";
        return Some(Finding::new(Outcome::Refused, format!("#include: {why}")));
    }
    let word = assembly(&flat)?;
    let name = HazardKind::InlineAssembly.name();
    Some(Finding::new(Outcome::Refused, format!("{name}: `{word}`")))
}

/// What clang finds in a program, read as drivers of this machine read it.
///
/// # Errors
/// Where there is no clang after all.
pub(crate) fn of_program(clang: &Clang, text: &str) -> crate::Result<Option<Finding>> {
    for standard in STANDARDS {
        let options =
            Options { triple: Triple::Host, standard: standard.to_owned(), ..Options::opencl() };
        let answer = match clang.parse(text, &options) {
            Ok(answer) => answer,
            Err(death) if death.is_ours() => return Err(crate::Error::Clang(death.to_string())),
            Err(death) => {
                let detail = format!("clang cannot say what it does: {death}");
                return Ok(Some(Finding::new(Outcome::Refused, detail)));
            }
        };
        let facts = answer.facts.unwrap_or_default();
        if let Some(hazard) = facts.hazards.first() {
            let detail = format!("{}: {}", hazard.kind.name(), hazard.detail);
            return Ok(Some(Finding::new(Outcome::Refused, detail)));
        }
    }
    Ok(None)
}

/// The word by which a text brings in assembly, in macros that are never expanded too.
fn assembly(flat: &str) -> Option<&str> {
    let is_assembly = |word: &&str| matches!(*word, "asm" | "__asm" | "__asm__");
    tokens(flat).find_map(|token| match token.kind {
        Kind::Word => Some(token.text).filter(is_assembly),
        Kind::Directive => {
            // Without its mark the rest are words as elsewhere.
            let rest = token.text.trim_start_matches('#');
            tokens(rest).map(|token| token.text).find(is_assembly)
        }
        _ => None,
    })
}

/// Whether a preprocessor could open a file for `text`: an `#include` in any of its spellings. Takes
/// more for one than is one, never less: comments are nowhere taken out, since what looks like one
/// may stand in a string or in another comment.
fn includes(flat: &str) -> bool {
    let directive = |(at, operator): (usize, &str)| {
        let before = flat[..at].rsplit(['\n', '\r']).next().unwrap_or_default();
        let begins = !before.contains(|c: char| c.is_ascii_graphic())
            || before.trim_end_matches(|c: char| !c.is_ascii_graphic()).ends_with("*/");
        let name = behind_comments(&flat[at + operator.len()..]);
        begins && ["include", "import", "embed"].iter().any(|kind| name.starts_with(kind))
    };
    ["#", "%:", "??="].iter().flat_map(|operator| flat.match_indices(operator)).any(directive)
}

/// `text` with its continued lines joined; white space may stand between backslash and line end.
fn without_splices(text: &str) -> String {
    let text = text.replace("??/", "\\");
    let mut pieces = text.split('\\');
    let mut flat = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest =
            piece.trim_start_matches(|c: char| c.is_whitespace() && !matches!(c, '\n' | '\r'));
        let joined = ["\r\n", "\n", "\r"].iter().find_map(|end| rest.strip_prefix(end));
        if joined.is_none() {
            flat.push('\\');
        }
        flat.push_str(joined.unwrap_or(piece));
    }
    flat
}

/// What stands behind the white space and comments that `text` begins with.
fn behind_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches(|c: char| !c.is_ascii_graphic());
        match text.strip_prefix("/*").and_then(|comment| comment.split_once("*/")) {
            Some((_, rest)) => text = rest,
            None => return text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assembly_is_seen_in_every_spelling() {
        for text in [
            "kernel void a(global int* b) { __asm__ volatile(\"syscall\"); }",
            "asm(\".incbin \\\"/etc/passwd\\\"\");",
            "#if SOME_DRIVER\n#define X __asm(\"nop\")\n#endif\n",
            "int f(void) __as\\\nm__(\"system\");",
            "/* a */ int b; // c ??/\n d\nint f(void) asm(\"g\");",
        ] {
            let found = of_text(text).expect(text);
            assert_eq!(found.outcome, Outcome::Refused, "{text}");
            assert!(found.detail.starts_with("inline-assembly"), "{}", found.detail);
        }
        let harmless =
            "// asm\nkernel void a(global int* plasm) { /* __asm__ */ printf(\"asm\"); }";
        assert_eq!(of_text(harmless), None);
    }

    #[test]
    fn an_include_is_seen_in_every_spelling() {
        for text in [
            "#include \"/etc/passwd\"",
            "  # /* x */ include </etc/passwd>",
            "int a;\n%:include MACRO",
            "#inc\\\nlude \"/etc/passwd\"",
            "/* a\n*/ #include_next <b>",
            "// /*\n#include \"/etc/passwd\"\n// */",
            "char* a = \"/*\";\n#include <a>\nchar* b = \"*/\";",
            "\u{feff}#include <a>",
            "int a;\r#include <a>",
            "#inc\\ \t\nlude <a>",
            "??=inc??/\nlude <a>",
            "# /* a */ /* b\n */ include <a>",
        ] {
            assert!(includes(&without_splices(text)), "{text}");
        }
        assert!(!includes("kernel void include(int a) {} // #include \"x\"\n#define include 1"));
    }
}
