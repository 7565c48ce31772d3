//! A prompt in the words and names that models know.

use crate::{Error, Result};
use clang::{Clang, Options, Triple};
use grammar::{KEYWORDS, is_builtin, is_builtin_type};
use kernels::Series;
use lexer::{Kind, Token};
use std::collections::BTreeMap;

/// A prompt with the names of normal form, which are all that models learned from: `kernel void add(global int* x)` is
/// `kernel void A(global int* a)`. `None` where that cannot be told from its words: with types and macros of its own, or
/// with a name that it does not declare.
///
/// ```
/// let prompt = "kernel void add(global int* x, int n) { int i = 0; x[i] = [HOLE]; }";
/// let named = "kernel void A(global int* a, int b) { int c = 0; a[c] = [HOLE]; }";
/// assert_eq!(stampmill_sampling::in_known_names(prompt).as_deref(), Some(named));
/// ```
#[must_use]
pub fn in_known_names(prompt: &str) -> Option<String> {
    let (before, after) = prompt.split_once(lm::HOLE).unwrap_or((prompt, ""));
    let mut names = Names::new();
    let before = names.rename(before)?;
    let after = names.rename(after)?;
    let hole = if prompt.contains(lm::HOLE) { lm::HOLE } else { "" };
    Some(before + hole + &after)
}

/// A prompt with its directives carried out, as normal form has none: `#define N 4` is gone, and `a[N]` is `a[4]`. `None`
/// where it has none but `#pragma`.
///
/// # Errors
/// When clang does not start, a directive cannot be carried out, or the hole stands where nothing is read.
pub fn without_directives(prompt: &str) -> Result<Option<String>> {
    if !prompt.lines().any(is_directive) {
        return Ok(None);
    }
    let clang = Clang::start(1)?;
    let options = Options { triple: Triple::Spir64, ..Options::opencl() };
    let answer = match clang.preprocess(prompt, &options) {
        Ok(answer) => answer,
        Err(death) if death.is_ours() => {
            let worker = clang.worker().to_owned();
            return Err(clang::Error::CannotStart { worker, death }.into());
        }
        Err(death) => return Err(Error::Directives(death.to_string())),
    };
    if let Some(error) = answer.first_error() {
        let line = error.line.map(|line| format!(", in line {line}")).unwrap_or_default();
        return Err(Error::Directives(format!("{}{line}", error.message)));
    }
    let text = answer.text.unwrap_or_default();
    if prompt.contains(lm::HOLE) && !text.contains(lm::HOLE) {
        return Err(Error::Directives(format!(
            "{} stands in a comment, in what an `#if` leaves out, or in a macro that nothing uses",
            lm::HOLE
        )));
    }
    Ok(Some(text))
}

/// Whether a line is a directive that the preprocessor carries out.
fn is_directive(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('#');
    rest.is_some_and(|rest| !rest.trim_start().starts_with("pragma"))
}

struct Names {
    functions: BTreeMap<String, String>,
    /// Of the function that is being read.
    variables: BTreeMap<String, String>,
    next_function: Series,
    next_variable: Series,
    /// Braces and parentheses that are open.
    depth: usize,
}

impl Names {
    fn new() -> Names {
        Names {
            functions: BTreeMap::new(),
            variables: BTreeMap::new(),
            next_function: Series::functions(),
            next_variable: Series::variables(),
            depth: 0,
        }
    }

    fn rename(&mut self, text: &str) -> Option<String> {
        let all: Vec<Token<'_>> = lexer::tokens(text).collect();
        let (mut out, mut from) = (String::with_capacity(text.len()), 0);
        for (at, token) in all.iter().enumerate() {
            match token.text {
                "{" | "(" => self.depth += 1,
                "}" | ")" => self.depth = self.depth.saturating_sub(1),
                "#" | "struct" | "union" | "enum" | "typedef" | "__attribute__" => return None,
                _ => {}
            }
            let word = token.text;
            let last = at.checked_sub(1).map_or("", |last| all[last].text);
            if token.kind != Kind::Word || is_known(word) || [".", "->"].contains(&last) {
                continue;
            }
            let next = all.get(at + 1);
            let is_called = next.is_some_and(|next| next.text == "(");
            let is_new = !self.variables.contains_key(word) && !self.functions.contains_key(word);
            // What declares something is a type, and none that is known.
            if is_new && next.is_some_and(|next| next.kind == Kind::Word || next.is("*")) {
                return None;
            }
            let name = self.name(word, last, is_called)?;
            out.push_str(&text[from..token.begin]);
            out.push_str(&name);
            from = token.end();
        }
        Some(out + &text[from..])
    }

    /// What a name becomes, if it is known or declared here, behind `last`.
    fn name(&mut self, word: &str, last: &str, is_called: bool) -> Option<String> {
        let known = self.variables.get(word).or_else(|| self.functions.get(word));
        if let Some(known) = known {
            return Some(known.clone());
        }
        if ![",", "*"].contains(&last) && !is_known(last) || ["return", "else"].contains(&last) {
            return None;
        }
        let (known, next) = match (is_called, self.depth) {
            (true, 0) => {
                self.variables.clear();
                self.next_variable = Series::variables();
                (&mut self.functions, &mut self.next_function)
            }
            (true, _) => return None,
            (false, _) => (&mut self.variables, &mut self.next_variable),
        };
        let name = next.draw();
        known.insert(word.to_owned(), name.clone());
        Some(name)
    }
}

/// Whether a word means something to OpenCL C.
fn is_known(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok() || is_builtin_type(word) || is_builtin(word)
}

#[cfg(test)]
mod tests {
    use super::{in_known_names, without_directives};

    #[test]
    fn directives_are_carried_out() {
        let lexemes = |text: &str| -> Vec<String> {
            lexer::tokens(text).map(|token| token.text.to_owned()).collect()
        };
        let prompt = "#define N 4\n#define AT(x) x[N]\n#if N > 3\nkernel void A(global int* a) { AT(a) = N; [HOLE] }\n#endif\n";
        let text = without_directives(prompt).expect("clang is here").expect("it has some");
        assert!(text.contains(lm::HOLE), "{text}");
        assert_eq!(
            lexemes(&text),
            lexemes("kernel void A(global int* a) { a[4] = 4; [HOLE] }"),
            "{text}"
        );
        for prompt in [
            "kernel void A(global int* a) { [HOLE] }",
            "# pragma OPENCL EXTENSION cl_khr_fp16 : enable\nkernel void A(global half* a) { [HOLE] }",
        ] {
            assert_eq!(without_directives(prompt).expect("there are none"), None, "{prompt}");
        }
    }

    #[test]
    fn directives_that_cannot_be_carried_out_are_named() {
        for (prompt, why) in [
            (
                "#include \"none.h\"\nkernel void A(global int* a) { [HOLE] }",
                "'none.h' file not found, in line 1",
            ),
            ("#if 0\nkernel void A(global int* a) { [HOLE] }\n#endif\n", "[HOLE] stands in"),
        ] {
            let error = without_directives(prompt).expect_err("it cannot be read").to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn names_are_those_of_normal_form() {
        for (prompt, wanted) in [
            ("kernel void [HOLE]", "kernel void [HOLE]"),
            (
                "float half_of(float x) { return x * 0.5f; } kernel void go(global float4* x) { x[0].x = half_of([HOLE]); }",
                "float A(float a) { return a * 0.5f; } kernel void B(global float4* a) { a[0].x = A([HOLE]); }",
            ),
            (
                "kernel void go(global int* out) { [HOLE] out[get_global_id(0)] = 1; }",
                "kernel void A(global int* a) { [HOLE] a[get_global_id(0)] = 1; }",
            ),
        ] {
            assert_eq!(in_known_names(prompt).as_deref(), Some(wanted), "{prompt}");
        }
    }

    #[test]
    fn a_prompt_with_types_macros_or_unknown_names_stays() {
        for prompt in [
            "#define N 4\nkernel void A(global int* a) { a[0] = N; [HOLE] }",
            "typedef int T; kernel void k(global T* x) { [HOLE] }",
            "kernel void k(global int* x) { x[0] = N + 1; [HOLE] }",
            "kernel void k(global int* x) { go(x); [HOLE] }",
            "kernel void k(global foo_t* x) { x[0] = [HOLE]; }",
            "kernel void k(global int* x, foo_t y) { x[0] = [HOLE]; }",
        ] {
            assert_eq!(in_known_names(prompt), None, "{prompt}");
        }
    }
}
