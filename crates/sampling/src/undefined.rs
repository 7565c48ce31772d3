//! What clang warns of because the language does not say what it does.

use crate::Result;
use clang::{Clang, Diagnostic, Options, Severity, Triple};

/// A warning that is off by default. It says where a variable is read that was certainly not written.
const ALSO: &str = "#pragma clang diagnostic warning \"-Wuninitialized\"\n";

/// Diagnostics asked for: the warnings that are meant may come behind many others.
const DIAGNOSTICS: u32 = 200;

/// Whether a warning of this name is of undefined behavior. Shifts are none of it: OpenCL C takes the count modulo the width.
fn is_meant(kind: &str) -> bool {
    kind.starts_with("warn_unsequenced_")
        || kind.starts_with("warn_array_index_")
        || [
            "warn_remainder_division_by_zero",
            "warn_uninit_var",
            "warn_uninit_self_reference_in_init",
        ]
        .contains(&kind)
}

/// What of a program is undefined, each with its line; nothing where it does not compile with this standard.
///
/// # Errors
/// When clang does not work.
pub(crate) fn undefined(clang: &Clang, text: &str, standard: &str) -> Result<Option<Vec<String>>> {
    let options = Options {
        standard: standard.to_owned(),
        triple: Triple::Spir64,
        diagnostics: DIAGNOSTICS,
        ..Options::opencl()
    };
    let answer = match clang.parse(&format!("{ALSO}{text}"), &options) {
        Ok(answer) => answer,
        Err(death) if death.is_ours() => {
            let worker = clang.worker().to_owned();
            return Err(clang::Error::CannotStart { worker, death }.into());
        }
        Err(_) => return Ok(None),
    };
    if answer.first_error().is_some() {
        return Ok(None);
    }
    let is_one = |one: &&Diagnostic| one.severity == Severity::Warning && is_meant(&one.kind);
    let told = |one: &Diagnostic| {
        // The first line is ours.
        let line = one.line.and_then(|line| text.lines().nth((line as usize).checked_sub(2)?));
        let place = line.map(|line| format!(", in {}", lexer::quoted(line.trim())));
        format!("{}{}", one.message, place.unwrap_or_default())
    };
    Ok(Some(answer.diagnostics.iter().filter(is_one).map(told).collect()))
}

/// How much of a prompt is undefined whatever fills it: with nothing, with a number, or with the end of its kernel there.
///
/// # Errors
/// As [`undefined`].
pub(crate) fn undefined_of_prompt(clang: &Clang, prompt: &str) -> Result<usize> {
    let mut least: Option<usize> = None;
    for fill in ["", " 0 ", " }"] {
        let text = prompt.replace(lm::HOLE, fill);
        if let Some(found) = undefined(clang, &text, &Options::opencl().standard)? {
            least = Some(least.map_or(found.len(), |least| least.min(found.len())));
        }
    }
    Ok(least.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial;
    use lm::{Drawing, Prompt};

    #[test]
    fn a_fill_that_makes_a_program_undefined_is_rejected() {
        let verdicts = |body: &str| {
            let text = format!("kernel void A(global int* a, int b) {{ {body} }}");
            let rows = trial::of_fills(&["++b", "b + 1"], Prompt::new(&text), Drawing::default());
            rows.into_iter().map(|row| (row.verdict, row.detail)).collect::<Vec<_>>()
        };
        let told = verdicts("a[b] = [HOLE];");
        assert_eq!((&*told[0].0, &*told[1].0), ("undefined", "accepted"), "{told:?}");
        assert!(told[0].1.starts_with("unsequenced modification and access"), "{told:?}");
        // What the prompt itself leaves undefined is not held against what fills it.
        let told = verdicts("a[b] = b++; a[0] = [HOLE];");
        assert_eq!(told[1].0, "accepted", "{told:?}");
    }

    #[test]
    fn what_the_language_leaves_undefined_is_told_with_its_line() {
        let clang = Clang::start(1).unwrap_or_else(|error| panic!("{error}"));
        let found = |body: &str| {
            let text = format!(
                "kernel void A(global int* a, int b) {{\n  int c[4] = {{1, 2, 3, 4}};\n  {body}\n}}"
            );
            undefined(&clang, &text, "CL2.0").expect("clang works")
        };
        for (body, wanted) in [
            ("a[b] = ++b;", "unsequenced modification and access to 'b', in `a[b] = ++b;`"),
            ("b = b++;", "multiple unsequenced modifications to 'b', in `b = b++;`"),
            ("a[0] = b / 0;", "division by zero is undefined, in `a[0] = b / 0;`"),
            ("a[0] = c[5];", "array index 5 is past the end of the array"),
            ("int d; a[0] = d;", "variable 'd' is uninitialized when used here"),
        ] {
            let told = found(body).expect("it compiles");
            assert!(told.len() == 1 && told[0].starts_with(wanted), "{body}: {told:?}");
        }
        for body in ["a[b] = b + 1;", "a[0] = b << 40;", "a[0] = c[3];", "b; int d;"] {
            assert_eq!(found(body), Some(Vec::new()), "{body}");
        }
        assert_eq!(found("a[0] = missing;"), None);
    }

    #[test]
    fn what_a_prompt_leaves_undefined_is_counted() {
        let clang = Clang::start(1).unwrap_or_else(|error| panic!("{error}"));
        for (body, wanted) in [
            ("a[b] = ++b; [HOLE] a[0] = 1; }", 1),
            ("a[b] = ++b; [HOLE]", 1),
            ("a[b] = [HOLE]; }", 0),
            ("a[b / 0] = [HOLE]; }", 1),
            ("int c; [HOLE] a[0] = c; }", 1),
            ("[HOLE] missing; }", 0),
        ] {
            let prompt = format!("kernel void A(global int* a, int b) {{ {body}");
            let found = undefined_of_prompt(&clang, &prompt).expect("clang works");
            assert_eq!(found, wanted, "{prompt}");
        }
    }
}
