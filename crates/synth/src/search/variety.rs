//! Which kernels at one point are different from each other.

mod canonical;

use crate::{Error, proposer::Judged};
use canonical::canonical;
use dataset::{Code, Found, Input, Programs, Signature};
use lexer::{Kind, Token, tokens};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    sync::Arc,
};

/// Kernels that have so much of their runs of four tokens in common are alike: half, where 0.7 makes a family of programs. A
/// kernel is short, and one expression of it is soon three tenths.
const ALIKE: f64 = 0.5;

/// The same of what is left of them in one canonical form, which is short: of its runs of three tokens, as often as each is
/// there.
const ALIKE_CANONICAL: f64 = 0.75;
const RUN: usize = 3;

/// What kernels are compared by: all that they say, the same with all names of their own and all numbers as one, since which
/// of its variables a kernel reads where makes no other kernel of it, that without numbers that are added, since an element
/// further on makes none either, and what it does whatever the order of operands and of parameters.
#[derive(Debug)]
struct Shape {
    whole: Signature,
    plain: Signature,
    unmoved: Signature,
    /// Hashes of runs, in order.
    canonical: Vec<u64>,
}

/// The number in a plain text.
const NUMBER: &str = "0";

/// The name in a plain text.
const NAME: &str = "p";

fn shape(text: &str) -> Shape {
    // Names that programs have here: `p1`, or `a` where they were mined.
    let is_own = |word: &str| {
        let numbered = word
            .strip_prefix('p')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        numbered || (word.len() <= 2 && !["if", "do"].contains(&word))
    };
    let all: Vec<Token<'_>> = tokens(text).collect();
    let plain = all.iter().map(|token| match token.kind {
        Kind::Number => NUMBER,
        Kind::Word if is_own(token.text) => NAME,
        _ => token.text,
    });
    let plain: Vec<&str> = plain.collect();
    Shape {
        whole: Signature::of(all.iter().map(|token| token.text)),
        unmoved: Signature::of(unmoved(&plain)),
        canonical: runs(&canonical(&plain)),
        plain: Signature::of(plain),
    }
}

/// A plain text without `+ 0` and `0 +`.
fn unmoved<'a>(plain: &[&'a str]) -> Vec<&'a str> {
    let mut unmoved = Vec::with_capacity(plain.len());
    let mut at = 0;
    while at < plain.len() {
        let is_added = match plain[at..] {
            [first, second, ..] => {
                [first, second] == ["+", NUMBER] || [first, second] == [NUMBER, "+"]
            }
            _ => false,
        };
        if !is_added {
            unmoved.push(plain[at]);
        }
        at += if is_added { 2 } else { 1 };
    }
    unmoved
}

/// The runs of a few tokens.
fn runs(tokens: &[&str]) -> Vec<u64> {
    let runs = tokens.windows(RUN.min(tokens.len().max(1))).map(|run| {
        let mut hasher = DefaultHasher::new();
        run.hash(&mut hasher);
        hasher.finish()
    });
    let mut runs: Vec<u64> = runs.collect();
    runs.sort_unstable();
    runs
}

/// Which share of all elements of two lists in order is in both.
fn common(one: &[u64], other: &[u64]) -> f64 {
    let (mut at, mut both) = (0, 0);
    for element in one {
        at += other[at..].iter().take_while(|next| *next < element).count();
        if other.get(at) == Some(element) {
            both += 1;
            at += 1;
        }
    }
    both as f64 / (one.len() + other.len() - both).max(1) as f64
}

fn are_alike(one: &Shape, other: &Shape) -> bool {
    let similarities = [
        one.whole.similarity(&other.whole),
        one.plain.similarity(&other.plain),
        one.unmoved.similarity(&other.unmoved),
    ];
    similarities.into_iter().any(|similarity| similarity >= ALIKE)
        || common(&one.canonical, &other.canonical) >= ALIKE_CANONICAL
}

/// Kernels that no answer may be a near-duplicate of.
#[derive(Debug)]
pub struct NotNear {
    shapes: Vec<Shape>,
    /// The programs' identity.
    pub(crate) input: Input,
}

impl NotNear {
    /// The programs at `path`: a data set, a folder or a file.
    ///
    /// # Errors
    /// When they cannot be read, or there is none.
    pub fn open(path: &Path) -> Result<NotNear, Error> {
        let programs = Programs::open(path)?;
        let input = Input { name: path.display().to_string(), hash: programs.identity()? };
        let mut shapes = Vec::new();
        for found in programs.found()? {
            if let Found::Program(program) = found?
                && let Code::Text(text) = &program.code
            {
                shapes.push(shape(text));
            }
        }
        match shapes.is_empty() {
            true => Err(dataset::Error::NoPrograms(path.to_owned()).into()),
            false => Ok(NotNear { shapes, input }),
        }
    }

    /// Whether a kernel is a near-duplicate of one of them.
    pub(super) fn holds(&self, text: &str) -> bool {
        let shape = shape(text);
        self.shapes.iter().any(|known| are_alike(known, &shape))
    }
}

/// Whether a kernel is a near-duplicate of one of these.
pub(super) fn is_like_any(text: &str, others: &[&str]) -> bool {
    let own = shape(text);
    others.iter().any(|other| are_alike(&shape(other), &own))
}

/// Add kernels to those that were found, of which no two are near-duplicates: the nearer stays.
pub(super) fn add<'a>(
    found: &mut Vec<Arc<Judged>>,
    judged: impl IntoIterator<Item = &'a Arc<Judged>>,
) {
    let mut shapes: Vec<Shape> = found.iter().map(|known| shape(&known.text)).collect();
    for judged in judged {
        let shape = shape(&judged.text);
        match shapes.iter().position(|known| are_alike(known, &shape)) {
            Some(at) if judged.distance < found[at].distance => {
                found[at] = judged.clone();
                shapes[at] = shape;
            }
            Some(_) => {}
            None => {
                found.push(judged.clone());
                shapes.push(shape);
            }
        }
    }
}

/// Drop those that are near-duplicates of kernels that are answers already: the search is for others.
pub(super) fn drop_alike(pool: &mut Vec<Arc<Judged>>, found: &[Arc<Judged>]) {
    let answers = found.iter().filter(|known| known.distance == 0.0);
    let answers: Vec<Shape> = answers.map(|known| shape(&known.text)).collect();
    if !answers.is_empty() {
        pool.retain(|judged| {
            let shape = shape(&judged.text);
            !answers.iter().any(|answer| are_alike(answer, &shape))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str, distance: f64) -> Arc<Judged> {
        Arc::new(Judged {
            text: text.to_owned(),
            vector: Vec::new(),
            distance,
            fitness: distance,
            program: None,
            lineage: 0,
            is_near: false,
            proposer: "construct",
        })
    }

    const SUM: &str = "__kernel void A(__global int* p0, int p1) { for (int p2 = 0; p2 < p1; p2++) { p0[p2] = p0[p1] + 3; } }";
    const TWIN: &str = "__kernel void A(__global int* p0, int p1) { for (int p2 = 0; p2 < p1; p2++) { p0[p1] = p0[p2] + 7; } }";
    const OTHER: &str = "__kernel void A(__global float* p0) { float p1 = p0[1]; if (p1 > 2.0f) { p0[0] = sqrt(p1); } }";

    #[test]
    fn of_near_duplicates_the_nearer_stays() {
        let mut found = Vec::new();
        add(&mut found, &[judged(SUM, 2.0), judged(OTHER, 1.0), judged(TWIN, 0.0)]);
        let texts: Vec<&str> = found.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, [TWIN, OTHER]);
        add(&mut found, &[judged(SUM, 0.0)]);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn an_element_further_on_makes_no_other_kernel() {
        let kernel = |parameters: &str, set: &str| {
            format!("__kernel void A({parameters}) {{ int d = get_global_id(0); {set} }}")
        };
        let one =
            kernel("float a, __global float* b, __global float* c", "b[d] *= c[d] / c[1 + d] * a;");
        let other =
            kernel("__global float* a, __global float* b, float c", "a[d] *= b[3 + d] / b[d] * c;");
        assert!(is_like_any(&one, &[&other]));
        assert_eq!(unmoved(&["p", "[", "0", "+", "p", "]"]), ["p", "[", "p", "]"]);
        assert_eq!(unmoved(&["p", "+", "0"]), ["p"]);
    }

    #[test]
    fn what_is_said_in_another_order_or_way_makes_no_other_kernel() {
        let kernel = |head: &str, body: &str| format!("__kernel void A({head}) {{ {body} }}");
        let buffers = "__global float* a, __global float* b, float c";
        let one = kernel(buffers, "int d = get_global_id(0); b[d] = a[d] * c + b[d + 1];");
        for (head, body) in [
            (
                "float a, __global float* b, __global float* c",
                "size_t d = get_global_id(0); c[d] = c[3 + d] + a * b[d];",
            ),
            (
                "__global float* a, __global float* b",
                "b[get_global_id(0)] = 2.5f * a[get_global_id(0)] + b[get_global_id(0)];",
            ),
            (
                "__global int* a, __global int* b, int c",
                "uint e = (uint)get_global_id(0); a[e] = (a[e * 2]) + (c * b[e]);",
            ),
        ] {
            assert!(is_like_any(&kernel(head, body), &[&one]), "{body}");
        }
        let guarded = |condition: &str, factor: &str| {
            kernel(
                buffers,
                &format!(
                    "int d = get_global_id(0); if ({condition}) {{ b[d] = {factor} * a[d]; }}"
                ),
            )
        };
        assert!(is_like_any(&guarded("d < 8", "c"), &[&guarded("c > 2.0f", "2.0f")]));
        let sum = "float d = 0.0f; for (int e = 0; e < 8; e++) { d += a[e] * c; } b[get_global_id(0)] = d;";
        let gather = "b[get_global_id(0)] = c * (a[(int)b[get_global_id(0) + 1]] + c);";
        for other in [sum, gather] {
            assert!(
                !is_like_any(
                    &kernel("float c, __global float* b, __global float* a", other),
                    &[&one]
                ),
                "{other}"
            );
        }
    }

    #[test]
    fn sums_and_products_have_one_order() {
        let of = |text: &str| {
            let plain = tokens(text).map(|token| token.text);
            canonical(&plain.collect::<Vec<_>>()).join(" ")
        };
        for (text, expected) in [
            ("{ p [ p + 0 ] = p * p + 0 ; }", "{ p [ ] = + * p * p ; }"),
            ("{ p [ p ] -= p [ p [ p * p ] ] * p ; }", "{ p [ ] = + p [ ] - * p * p [ p [ ] ] ; }"),
            (
                "{ p = p / ( p + p [ p ] ) * ( p * p ) ; }",
                "{ p = * p * p * p / ( + p + p [ ] ) ; }",
            ),
            ("{ p = f ( p [ p ] , p ) & p ; }", "{ p = f ( p [ ] , p ) & p ; }"),
            (
                "{ int p = ( int ) get_global_id ( 0 ) ; p [ p ] = ( float ) p ; }",
                "{ p [ ] = p ; }",
            ),
            ("{ if ( p [ p ] < p && p ) { p ++ ; } }", "{ if ( p [ ] ) { p ++ ; } }"),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        // Programs of others may be anything.
        let deep = format!("{{ p = {}p{} + p [ ( ; }}", "( p + ".repeat(2_000), " )".repeat(2_000));
        assert!(!of(&deep).is_empty());
    }

    #[test]
    fn near_duplicates_of_an_answer_do_not_survive() {
        let mut pool = vec![judged(SUM, 0.0), judged(OTHER, 3.0)];
        drop_alike(&mut pool, &[judged(TWIN, 1.0)]);
        assert_eq!(pool.len(), 2, "no answer yet");
        drop_alike(&mut pool, &[judged(TWIN, 0.0)]);
        assert_eq!(pool.len(), 1);
        assert_eq!(pool[0].text, OTHER);
    }
}
