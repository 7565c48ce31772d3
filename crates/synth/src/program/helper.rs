//! The functions around a kernel, as text.
//!
//! A helper that is not `static` stays in the module beside the copies that were inlined: a block, a
//! return and all its instructions that no edit of the kernel takes away.

use lexer::{Token, tokens};

/// Where a function's declaration begins, and the words `static` and `inline` in it.
struct Declaration<'a> {
    begin: usize,
    name: &'a str,
    specifiers: Vec<Token<'a>>,
    /// Whether a body follows.
    defines: bool,
}

/// The declarations and definitions of functions that are no kernels.
fn declarations(text: &str) -> Vec<Declaration<'_>> {
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
                if braces == 0 && parentheses == 0 {
                    found.extend(function(&declaration, true));
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
                found.extend(function(&declaration, false));
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

/// What these tokens declare, if it is a function and no kernel. Announcements that begin with an
/// attribute, or whose result is a record, are left alone.
fn function<'a>(tokens: &[Token<'a>], defines: bool) -> Option<Declaration<'a>> {
    const NOT_ANNOUNCED: [&str; 6] = ["typedef", "struct", "union", "enum", "extern", "="];
    let (first, last) = (tokens.first()?, tokens.last()?);
    let open = tokens.iter().position(|token| token.is("("))?;
    let name = tokens[..open].last()?.text;
    let is_kernel = tokens.iter().any(|token| token.is("kernel") || token.is("__kernel"));
    let announces = open > 1
        && name != "__attribute__"
        && !tokens[..open].iter().any(|token| NOT_ANNOUNCED.contains(&token.text));
    if !last.is(")") || is_kernel || !(defines || announces) {
        return None;
    }
    let is_specifier =
        |token: &&Token<'_>| matches!(token.text, "static" | "inline" | "__inline" | "__inline__");
    let specifiers = tokens.iter().filter(is_specifier).copied().collect();
    Some(Declaration { begin: first.begin, name, specifiers, defines })
}

/// The text with all helpers `static`; `None` where they are.
pub(crate) fn with_static_helpers(text: &str) -> Option<String> {
    let shared: Vec<usize> = declarations(text)
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

/// The text with one more helper in front of the kernel, which returns its argument and may be called by others.
pub(crate) fn with_helper(text: &str, ty: &str, name: &str) -> String {
    let is_kernel = |token: &Token<'_>| token.is("kernel") || token.is("__kernel");
    let begin = tokens(text).filter(is_kernel).last().map_or(0, |token| token.begin);
    let (before, kernel) = text.split_at(begin);
    format!("{before}{ty} {name}({ty} value) {{\n  return value;\n}}\n\n{kernel}")
}

/// The texts with one helper each that others may call, too, and so stays in the module.
pub(crate) fn with_shared_helper(text: &str) -> Vec<String> {
    let all = declarations(text);
    let local = all.iter().filter(|one| one.defines && !one.specifiers.is_empty());
    let shared = local.map(|one| {
        let mut made = text.to_owned();
        let same = all.iter().filter(|other| other.name == one.name);
        let specifiers: Vec<_> = same.flat_map(|other| &other.specifiers).collect();
        for token in specifiers.iter().rev() {
            made.replace_range(token.begin..token.end(), "");
        }
        made
    });
    shared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Program;
    use rand::SeedableRng as _;

    const TEXT: &str = "#define X { 1\ntypedef struct { int a; } T;\nint F(int a) { if (a) { return 1; } return 2; }\n\
                        static inline T G(T a) { return a; }\nkernel void A(global int* a) { a[0] = F(1); }\n";

    #[test]
    fn what_is_announced_goes_with_what_it_announces() {
        let text = "typedef int (*P)(int);\nint F(const struct S* a);\n__constant int X = (3);\n\
                    struct S { int a; } __attribute__((packed));\ntypedef struct { int b; } T __attribute__((packed));\n\
                    extern int E(int);\nint F(const struct S* a) { return a->a; }\n";
        let made = text.replace("int F", "static int F");
        assert_eq!(with_static_helpers(text), Some(made.clone()));
        assert_eq!(with_shared_helper(&made), [text.replace("int F", " int F")]);
    }

    #[test]
    fn a_helper_stands_in_front_of_the_kernel() {
        let made = with_helper("typedef int T;\n__kernel void A(", "float", "p0");
        let helper = "float p0(float value) {\n  return value;\n}\n\n";
        assert_eq!(made, format!("typedef int T;\n{helper}__kernel void A("));
    }

    #[test]
    fn a_paragraph_brings_its_helpers_back() {
        let mut program = Program::empty();
        let mut paragraph = program.paragraph(&mut crate::Rng::seed_from_u64(1));
        paragraph.head = with_helper(&paragraph.head, "int", "p0");
        program.append(&mut paragraph);
        assert_eq!(program.head, paragraph.head);
    }

    #[test]
    fn helpers_are_found_and_kernels_and_structs_are_none() {
        let made = with_static_helpers(TEXT).expect("one is not static");
        assert_eq!(made, TEXT.replace("int F", "static int F"));
        assert_eq!(with_static_helpers(&made), None);
        assert_eq!(with_shared_helper(TEXT), [TEXT.replace("static inline", " ")]);
    }
}
