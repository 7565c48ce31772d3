//! Which kernels at one point are different from each other.

use crate::proposer::Judged;
use dataset::{FAMILY_THRESHOLD, Signature};
use lexer::{Kind, tokens};
use std::sync::Arc;

/// A kernel as near-duplicates are told, its own names and all numbers as one: which of its variables it reads where makes no
/// other kernel of it.
fn shape(judged: &Judged) -> Signature {
    let own = |word: &str| {
        let mut bytes = word.bytes();
        bytes.next() == Some(b'p') && bytes.next().is_some_and(|byte| byte.is_ascii_digit())
    };
    Signature::of(tokens(&judged.text).map(|token| match token.kind {
        Kind::Number => "0",
        Kind::Word if own(token.text) => "p",
        _ => token.text,
    }))
}

fn are_alike(one: &Signature, other: &Signature) -> bool {
    one.similarity(other) >= FAMILY_THRESHOLD
}

/// Add kernels to those that were found, of which no two are near-duplicates: the nearer stays.
pub(super) fn add<'a>(
    found: &mut Vec<Arc<Judged>>,
    judged: impl IntoIterator<Item = &'a Arc<Judged>>,
) {
    let mut shapes: Vec<Signature> = found.iter().map(|known| shape(known)).collect();
    for judged in judged {
        let shape = shape(judged);
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
    let answers: Vec<Signature> = answers.map(|known| shape(known)).collect();
    if !answers.is_empty() {
        pool.retain(|judged| {
            let shape = shape(judged);
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
    fn near_duplicates_of_an_answer_do_not_survive() {
        let mut pool = vec![judged(SUM, 0.0), judged(OTHER, 3.0)];
        drop_alike(&mut pool, &[judged(TWIN, 1.0)]);
        assert_eq!(pool.len(), 2, "no answer yet");
        drop_alike(&mut pool, &[judged(TWIN, 0.0)]);
        assert_eq!(pool.len(), 1);
        assert_eq!(pool[0].text, OTHER);
    }
}
