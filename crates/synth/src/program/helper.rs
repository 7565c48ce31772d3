//! The functions around a kernel, as text.
//!
//! A helper that is not `static` stays in the module beside the copies that were inlined: a block, a
//! return and all its instructions that no edit of the kernel takes away.

use clang::lexer::{Token, tokens};

/// A function's definition: where its declaration begins, and the words `static` and `inline` in it.
struct Definition<'a> {
    begin: usize,
    specifiers: Vec<Token<'a>>,
}

/// The definitions of functions that are no kernels.
fn definitions(text: &str) -> Vec<Definition<'_>> {
    let mut found = Vec::new();
    let mut declaration: Vec<Token<'_>> = Vec::new();
    let (mut braces, mut parentheses) = (0_u32, 0_u32);
    for token in tokens(text) {
        if token.text.starts_with('#') {
            continue;
        }
        match token.text {
            "(" => parentheses += 1,
            ")" => parentheses = parentheses.saturating_sub(1),
            "{" => {
                let last = declaration.last().is_some_and(|last| last.is(")"));
                let is_kernel =
                    declaration.iter().any(|token| token.is("kernel") || token.is("__kernel"));
                if braces == 0
                    && parentheses == 0
                    && last
                    && !is_kernel
                    && let Some(first) = declaration.first()
                {
                    let begin = first.begin;
                    let is_specifier = |token: &&Token<'_>| {
                        matches!(token.text, "static" | "inline" | "__inline" | "__inline__")
                    };
                    let specifiers = declaration.iter().filter(is_specifier).copied().collect();
                    found.push(Definition { begin, specifiers });
                }
                braces += 1;
            }
            "}" => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    declaration.clear();
                }
                continue;
            }
            ";" if braces == 0 => {
                declaration.clear();
                continue;
            }
            _ => {}
        }
        if braces == 0 {
            declaration.push(token);
        }
    }
    found
}

/// The text with all helpers `static`; `None` where they are.
pub(crate) fn with_static_helpers(text: &str) -> Option<String> {
    let shared: Vec<usize> = definitions(text)
        .into_iter()
        .filter(|one| !one.specifiers.iter().any(|token| token.is("static")))
        .map(|one| one.begin)
        .collect();
    let mut made = text.to_owned();
    for begin in shared.iter().rev() {
        made.insert_str(*begin, "static ");
    }
    (!shared.is_empty()).then_some(made)
}

/// The texts with one helper each that others may call, too, and so stays in the module.
pub(crate) fn with_shared_helper(text: &str) -> Vec<String> {
    let local = definitions(text).into_iter().filter(|one| !one.specifiers.is_empty());
    let shared = local.map(|one| {
        let mut made = text.to_owned();
        for token in one.specifiers.iter().rev() {
            made.replace_range(token.begin..token.end(), "");
        }
        made
    });
    shared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#define X { 1\ntypedef struct { int a; } T;\nint F(int a) { if (a) { return 1; } return 2; }\n\
                        static inline T G(T a) { return a; }\nkernel void A(global int* a) { a[0] = F(1); }\n";

    #[test]
    fn helpers_are_found_and_kernels_and_structs_are_none() {
        let made = with_static_helpers(TEXT).expect("one is not static");
        assert_eq!(made, TEXT.replace("int F", "static int F"));
        assert_eq!(with_static_helpers(&made), None);
        assert_eq!(with_shared_helper(TEXT), [TEXT.replace("static inline", " ")]);
    }
}
