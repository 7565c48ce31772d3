//! The functions that come along with a kernel.

use crate::program::Program;
use lexer::{Kind, Token, kernel_signatures, tokens};

impl Program {
    /// The functions that stand in front of the kernel by their names, those that are announced too, and where in the head the
    /// kernel begins. `None` where there is more than functions and the kernel: types, constants and macros stay where they
    /// are, because their names stand in types and in texts that the tree does not take apart, and what is meant by them is
    /// not told from the words alone.
    pub(super) fn functions(&self) -> Option<(Vec<&str>, usize)> {
        if self.tail.trim().is_empty() { functions(&self.head) } else { None }
    }
}

/// Whether a text holds one kernel, and in front of it functions alone: it can be joined to others.
pub(crate) fn is_joinable(text: &str) -> bool {
    match kernel_signatures(text).as_slice() {
        [kernel] => functions(&text[..kernel.parameters.start]).is_some(),
        _ => false,
    }
}

/// See [`Program::functions`]; `head` ends with the parenthesis that opens the kernel's parameters.
fn functions(head: &str) -> Option<(Vec<&str>, usize)> {
    let mut names = Vec::new();
    let mut declaration: Vec<Token<'_>> = Vec::new();
    let mut braces = 0_usize;
    for token in tokens(head) {
        if token.kind == Kind::Directive {
            return None;
        }
        match token.text {
            "{" => {
                if braces == 0 {
                    names.push(function(&declaration)?);
                }
                braces += 1;
            }
            "}" => {
                braces = braces.checked_sub(1)?;
                declaration.clear();
            }
            ";" if braces == 0 => {
                names.push(function(&declaration)?);
                declaration.clear();
            }
            _ if braces == 0 => declaration.push(token),
            _ => {}
        }
    }
    let words: Vec<&str> = declaration.iter().map(|token| token.text).collect();
    let is_kernel = matches!(words[..], ["__kernel" | "kernel", "void", _, "("]);
    (is_kernel && braces == 0).then_some((names, declaration.first()?.begin))
}

/// The name of the function that these tokens declare; `None` where they declare something else, or have attributes.
fn function<'a>(declaration: &[Token<'a>]) -> Option<&'a str> {
    const NO_FUNCTION: [&str; 9] = [
        "typedef",
        "struct",
        "union",
        "enum",
        "extern",
        "=",
        "__attribute__",
        "kernel",
        "__kernel",
    ];
    if declaration.iter().any(|token| NO_FUNCTION.contains(&token.text)) {
        return None;
    }
    let open = declaration.iter().position(|token| token.is("("))?;
    let name = declaration[..open].last()?;
    // `unsigned int (*f)(int)` is a pointer.
    let is_function = open > 1
        && name.kind == Kind::Word
        && declaration.last()?.is(")")
        && !declaration.get(open + 1)?.is("*");
    is_function.then_some(name.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_from_what_else_stands_in_front_of_a_kernel() {
        let functions = |front: &str| {
            let head = format!("{front}__kernel void A(");
            let found = super::functions(&head);
            found.map(|(names, begin)| {
                assert_eq!(begin, front.len());
                names.join(" ")
            })
        };
        for (front, names) in [
            ("", Some("")),
            ("// f\n", Some("")),
            (
                "float f(float a);\nstatic inline float4 g(__global int* a) { if (a[0]) { return 1; } return 2; }\nfloat f(float a) { return a; }\n",
                Some("f g f"),
            ),
            ("#define X 3\n", None),
            ("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n", None),
            ("typedef struct { int a; } T;\n", None),
            ("typedef int T;\nT f(T a) { return a; }\n", None),
            ("__constant float X[2] = { 1, 2 };\n", None),
            ("float f(struct S* a) { return 1; }\n", None),
            ("unsigned int (*f)(int);\n", None),
            ("__attribute__((overloadable)) float f(float a) { return a; }\n", None),
            ("__kernel void B(__global int* a) { a[0] = 1; }\n", None),
            ("__attribute__((reqd_work_group_size(1, 1, 1))) ", None),
        ] {
            assert_eq!(functions(front).as_deref(), names, "{front}");
        }
    }

    #[test]
    fn a_text_of_one_kernel_and_functions_is_joinable() {
        let kernel = "kernel void A(global int* a) { a[0] = f(1); }\n";
        assert!(is_joinable(kernel));
        assert!(is_joinable(&format!("int f(int a) {{ return a; }}\n{kernel}")));
        assert!(!is_joinable(&format!("#define f(a) a\n{kernel}")));
        assert!(!is_joinable(&format!("{kernel}kernel void B() {{}}\n")));
        assert!(!is_joinable("int f(int a) { return a; }"));
    }
}
