//! Parameters that nothing reads.

use lexer::{Kind, Token, kernel_names, tokens};
use std::collections::HashSet;

/// The text without the parameters of its kernel that the kernel does not use; as it is where it has not one kernel.
pub(crate) fn without_unused(text: &str) -> String {
    let [name] = kernel_names(text)[..] else { return text.to_owned() };
    let all: Vec<Token<'_>> = tokens(text).collect();
    let head = all.windows(2).position(|two| two[0].text == name && two[1].text == "(");
    let Some(open) = head.map(|at| at + 1) else { return text.to_owned() };
    let mut depth = 0_usize;
    let mut parameters: Vec<&[Token<'_>]> = Vec::new();
    let mut first = open + 1;
    let mut close = None;
    for (at, token) in all.iter().enumerate().skip(open) {
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && token.text == ",") {
            parameters.push(&all[first.min(at)..at]);
            first = at + 1;
        }
        if depth == 0 {
            close = Some(at);
            break;
        }
    }
    let Some(close) = close else { return text.to_owned() };
    let used: HashSet<&str> = all[close..].iter().map(|token| token.text).collect();
    let is_used = |parameter: &&&[Token<'_>]| {
        let name = parameter.iter().rfind(|token| token.kind == Kind::Word);
        name.is_none_or(|name| used.contains(name.text))
    };
    let kept: Vec<&str> = parameters
        .iter()
        .filter(is_used)
        .filter_map(|parameter| Some(&text[parameter.first()?.begin..parameter.last()?.end()]))
        .collect();
    format!("{}{}{}", &text[..all[open].end()], kept.join(", "), &text[all[close].begin..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_reads_stays() {
        let of = |head: &str| {
            format!(
                "float f(float p1) {{ return p1; }}\n__kernel void A({head}) {{ p0[p3] = f(p4.x); }}"
            )
        };
        let text =
            of("__global float* p0, float p1, __local int* p2, int p3,\n  float2 p4, int4 p5");
        assert_eq!(without_unused(&text), of("__global float* p0, int p3, float2 p4"));
        assert_eq!(without_unused(&of("int p7")), of(""));
        assert_eq!(without_unused(&of("")), of(""));
        for whole in ["int f(int a) { return 1; }", "kernel void A(int a", ""] {
            assert_eq!(without_unused(whole), whole);
        }
    }
}
