use crate::{Dialect, Kind, Token, closing};
use std::{collections::HashSet, ops::Range};

/// Tokens from `__kernel` to the parameters at most, one for all in a pair of parentheses.
const LONGEST: usize = 64;
/// Tokens between a pair of parentheses before the parameters at most.
const LONGEST_GROUP: usize = 4096;

/// What a kernel begins with: `__kernel void NAME(PARAMETERS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSignature<'a> {
    /// Its name.
    pub name: &'a str,
    /// Byte offset of `__kernel`, or of what stands for it.
    pub begin: usize,
    /// The bytes between the parentheses of its parameters; to the text's end where nothing closes them.
    pub parameters: Range<usize>,
}

/// Signatures of the kernels in OpenCL C text, in order; those in inactive parts and declarations alike.
///
/// Words that the text defines as `__kernel` count, attributes and macros may stand in between.
#[must_use]
pub fn kernel_signatures(text: &str) -> Vec<KernelSignature<'_>> {
    Finder::of(text).signatures(text)
}

/// Names of [`kernel_signatures`].
#[must_use]
pub fn kernel_names(text: &str) -> Vec<&str> {
    kernel_signatures(text).into_iter().map(|signature| signature.name).collect()
}

/// Names of the kernels in text of CUDA or HIP, in order; what stands in its strings is none.
#[must_use]
pub fn cuda_kernel_names(text: &str) -> Vec<&str> {
    let finder = Finder { macros: ["__global__"].into(), in_macros: true, ..Finder::default() };
    finder.signatures(text).into_iter().map(|signature| signature.name).collect()
}

/// Finds signatures in a text that is not plain OpenCL C, or in one by the macros of another.
#[derive(Clone, Debug, Default)]
pub struct Finder<'m> {
    /// Words that mean `__kernel`, besides that and `kernel`: hashcat's kernels begin with `KERNEL_FQ`.
    pub macros: HashSet<&'m str>,
    /// The text may be prose or another language: `kernel` counts only right before `void` or an attribute, and
    /// nothing but words and attributes stands before the name.
    pub amid_prose: bool,
    /// Signatures in the bodies of macros count.
    pub in_macros: bool,
}

impl<'m> Finder<'m> {
    /// With the macros that a text defines as `__kernel`, alone or among other words.
    #[must_use]
    pub fn of(text: &'m str) -> Finder<'m> {
        let macros = text.lines().filter_map(|line| {
            let line = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
            let (name, body) = line.trim_start().split_once(char::is_whitespace)?;
            stands_for_kernel(name, body).then_some(name)
        });
        Finder { macros: macros.collect(), ..Finder::default() }
    }

    /// The signatures in a text, in order.
    #[must_use]
    pub fn signatures<'a>(&self, text: &'a str) -> Vec<KernelSignature<'a>> {
        let dialect = if self.in_macros { Dialect::FLAT } else { Dialect::OPENCL };
        let all: Vec<Token<'a>> = dialect.tokens(text).collect();
        let closes = closes(&all);
        let mut found = Vec::new();
        let mut at = 0;
        while at < all.len() {
            let begin = at;
            at += 1;
            if self.begins(&all, begin)
                && let Some((name, open)) = self.parameters(&all, at)
            {
                let end = all.get(closes[open]).map_or(text.len(), |close| close.begin);
                let parameters = all[open].end()..end;
                found.push(KernelSignature { name, begin: all[begin].begin, parameters });
                at = open;
            }
        }
        found
    }

    fn begins(&self, all: &[Token<'_>], at: usize) -> bool {
        let next = |words: &[&str]| {
            all.get(at + 1).is_some_and(|token| words.iter().any(|word| token.is(word)))
        };
        all[at].kind == Kind::Word
            && match all[at].text {
                "__kernel" => true,
                "kernel" => !self.amid_prose || next(&["void", "__attribute__"]),
                word => self.macros.contains(word),
            }
    }

    /// The name of the kernel that has begun before `at`, the word before the first parenthesis that is none of an
    /// attribute's once `void` has come, and the index of that parenthesis.
    fn parameters<'a>(&self, all: &[Token<'a>], mut at: usize) -> Option<(&'a str, usize)> {
        let mut void = false;
        let mut name = None;
        for _ in 0..LONGEST {
            let token = all.get(at)?;
            match token.kind {
                Kind::Word if token.text == "void" => (void, name) = (true, None),
                Kind::Word => name = Some(token.text),
                // A conditional, and what stands in it where directives are tokens like others.
                Kind::Directive | Kind::Number => {}
                _ if token.is("#") || token.is("\\") => {}
                _ if token.is("(") => {
                    if let Some(name) = name.filter(|name| void && !is_attribute(name)) {
                        return Some((name, at));
                    }
                    let group = &all[at..all.len().min(at + LONGEST_GROUP)];
                    let close = closing(group, 0);
                    if close == group.len() {
                        return None;
                    }
                    at += close;
                    name = None;
                }
                _ if void || self.amid_prose => return None,
                _ if [";", "{", "}", "=", ")", ","].iter().any(|end| token.is(end)) => return None,
                _ => name = None,
            }
            at += 1;
        }
        None
    }
}

/// For each parenthesis that opens the index of the one that closes it; the number of tokens where none does, and for
/// other tokens.
fn closes(all: &[Token<'_>]) -> Vec<usize> {
    let (mut closes, mut open) = (vec![all.len(); all.len()], Vec::new());
    for (at, token) in all.iter().enumerate() {
        if token.is("(") {
            open.push(at);
        } else if token.is(")")
            && let Some(begin) = open.pop()
        {
            closes[begin] = at;
        }
    }
    closes
}

/// Whether an object-like macro can stand for `__kernel`.
fn stands_for_kernel(name: &str, body: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !name.bytes().all(is_word) || matches!(name, "kernel" | "__kernel" | "void") {
        return false;
    }
    let mut kernel = false;
    for token in Dialect::FLAT.tokens(body) {
        kernel |= token.is("__kernel") || token.is("kernel");
        let qualifies = matches!(token.kind, Kind::Word | Kind::Number | Kind::Literal)
            || ["(", ")", ",", "\\"].iter().any(|mark| token.is(mark));
        if !qualifies || token.is("void") {
            return false;
        }
    }
    kernel
}

fn is_attribute(name: &str) -> bool {
    matches!(
        name,
        "__attribute__"
            | "reqd_work_group_size"
            | "work_group_size_hint"
            | "vec_type_hint"
            | "__launch_bounds__"
            | "C10_LAUNCH_BOUNDS_1"
            | "C10_LAUNCH_BOUNDS_2"
            | "__maxnreg__"
            | "__cluster_dims__"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_eye(text: &str) -> Vec<&str> {
        let finder = Finder { amid_prose: true, in_macros: true, ..Finder::of(text) };
        finder.signatures(text).into_iter().map(|signature| signature.name).collect()
    }

    #[test]
    fn signatures_are_found_behind_attributes_and_macros() {
        for find in [kernel_names as fn(&str) -> Vec<&str>, by_eye] {
            assert_eq!(find("__kernel void a(int x) {} kernel void b() {}"), ["a", "b"]);
            assert_eq!(
                find("__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void c(void)"),
                ["c"]
            );
            assert_eq!(find("kernel void __attribute__((vec_type_hint(int))) d(int y)"), ["d"]);
            let hashcat = "#define KERNEL_FQ __kernel\nKERNEL_FQ KERNEL_FA void m0 (X ())";
            assert_eq!(find(hashcat), ["m0"]);
            assert_eq!(find("// __kernel void no()\n/* kernel void no() */ int kernel;"), [""; 0]);
            assert_eq!(find("__kernel\n#ifdef A\nvoid e(int a)\n#endif\n"), ["e"]);
            assert_eq!(find("#define size kernel->size\nint size; void f(int a);"), [""; 0]);
        }
    }

    #[test]
    fn parameters_end_where_their_parenthesis_is_closed() {
        let parameters = |text: &str| {
            let all = kernel_signatures(text).into_iter();
            all.map(|one| text[one.parameters].to_owned()).collect::<Vec<_>>()
        };
        let text = "kernel void a(int (*x)(int)) {} kernel void b(int y {} kernel void c()";
        let open = "int y {} kernel void c()";
        assert_eq!(parameters(text), ["int (*x)(int)", open, ""]);
        // Each of many that nothing closes costs no look at all that follows.
        assert_eq!(cuda_kernel_names(&"__global__ void k(".repeat(300_000)).len(), 300_000);
    }

    #[test]
    fn what_differs_amid_prose_and_in_macros_is_asked_for() {
        let prose = "the kernel returns void pointers (see";
        assert_eq!((kernel_names(prose), by_eye(prose)), (vec!["pointers"], vec![]));
        let attribute = "kernel SIMD void f(int a)";
        assert_eq!((kernel_names(attribute), by_eye(attribute)), (vec!["f"], vec![]));
        let defined = "#define K(x) __kernel void x(int a)";
        assert_eq!((kernel_names(defined), by_eye(defined)), (vec![], vec!["x"]));
    }

    #[test]
    fn parameters_lie_between_their_parentheses() {
        let text = "kernel void A(global int* a, X(3) b) {}";
        let found = kernel_signatures(text);
        assert_eq!(&text[found[0].parameters.clone()], "global int* a, X(3) b");
        assert_eq!(&text[kernel_signatures("kernel void A(int")[0].parameters.clone()].len(), &3);
    }
}
