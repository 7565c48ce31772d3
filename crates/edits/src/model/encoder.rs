//! Encoders: one of tokens, one of strategies, one that asks an endpoint.

use super::{client::Client, retrieval::Encoder};
use crate::{
    Result,
    token::{Kind, tokens},
};
use dataset::content_hash;

const LENGTH: usize = 512;

/// Counts of token sequences of length 1 to 3, hashed, names made alike: what programs do alike is near.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenEncoder;

impl Encoder for TokenEncoder {
    fn name(&self) -> &'static str {
        "tokens"
    }

    fn encode(&self, program: &str) -> Result<Vec<f32>> {
        let shapes: Vec<&str> = tokens(program)
            .into_iter()
            .filter(|token| token.kind != Kind::Directive)
            .map(|token| match token.kind {
                // Short names are variables; long ones are the library's as often as not.
                Kind::Word if token.text.len() <= 2 => "x",
                Kind::Number => "0",
                Kind::Literal => "\"\"",
                _ => token.text,
            })
            .collect();
        let mut vector = vec![0.0_f32; LENGTH];
        for length in 1..=3 {
            for window in shapes.windows(length) {
                let hash = content_hash(window.join(" ").as_bytes());
                let at = usize::from_str_radix(&hash[..6], 16).unwrap_or(0) % LENGTH;
                vector[at] += 1.0;
            }
        }
        // What is everywhere in a program counts less than its number says.
        vector.iter_mut().for_each(|x| *x = x.sqrt());
        Ok(unit(vector))
    }
}

/// What an edit is good for, not what its text looks like: for a slow program which improvements it leaves
/// open, for a known edit which of them it made.
#[derive(Clone, Copy, Debug, Default)]
pub struct StrategyEncoder;

/// Words whose going, or coming, is a strategy.
const STRATEGIES: [&[&str]; 14] = [
    &["endl"],
    &["cin", "cout"],
    &["scanf", "printf"],
    &["map"],
    &["set", "multiset"],
    &["list", "deque"],
    &["vector"],
    &["pow"],
    &["sqrt"],
    &["strlen"],
    &["sort"],
    &["string", "substr"],
    &["double", "float"],
    &["memset", "fill"],
];

impl StrategyEncoder {
    /// How much of each strategy a program leaves open.
    fn open(program: &str) -> Vec<f32> {
        let tokens = tokens(program);
        let count =
            |words: &[&str]| tokens.iter().filter(|token| words.contains(&token.text)).count();
        let mut open: Vec<f32> =
            STRATEGIES.iter().map(|words| (1.0 + count(words) as f32).ln()).collect();
        // Loops in loops, calls by value, and division.
        let (mut depth, mut deepest) = (0_usize, 0_usize);
        for line in program.lines() {
            let indent = line.len() - line.trim_start().len();
            if ["for", "while"].iter().any(|word| line.trim_start().starts_with(word)) {
                depth = indent / 2;
                deepest = deepest.max(depth);
            }
        }
        let _ = depth;
        open.push((1.0 + deepest as f32).ln());
        open.push((1.0 + count(&["%", "/"]) as f32).ln());
        open.push((1.0 + count(&["for", "while"]) as f32).ln());
        open
    }
}

impl Encoder for StrategyEncoder {
    fn name(&self) -> &'static str {
        "strategy"
    }

    fn encode(&self, program: &str) -> Result<Vec<f32>> {
        Ok(unit(StrategyEncoder::open(program)))
    }

    fn encode_edit(&self, slow: &str, fast: &str) -> Result<Vec<f32>> {
        let (before, after) = (StrategyEncoder::open(slow), StrategyEncoder::open(fast));
        Ok(unit(
            before.iter().zip(&after).map(|(before, after)| (before - after).max(0.0)).collect(),
        ))
    }
}

/// An endpoint's embeddings.
pub struct EndpointEncoder<'a> {
    /// Whom to ask.
    pub client: &'a Client,
}

impl Encoder for EndpointEncoder<'_> {
    fn name(&self) -> &'static str {
        "endpoint"
    }

    fn encode(&self, program: &str) -> Result<Vec<f32>> {
        Ok(unit(self.client.embed(program)?))
    }
}

fn unit(vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    match length > 0.0 {
        true => vector.into_iter().map(|x| x / length).collect(),
        false => vector,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearness(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn programs_that_do_alike_are_near() {
        let encode = |text: &str| TokenEncoder.encode(text).unwrap();
        let a = encode("int main() { int n; cin >> n; for (int i = 0; i < n; i++) s += i; }");
        let b = encode("int main() { int m; cin >> m; for (int k = 1; k < m; k++) t += k; }");
        let c = encode("string f(map<int, string> m) { return m.begin()->second; }");
        assert!(nearness(&a, &b) > 0.95 && nearness(&a, &c) < 0.5);
    }

    #[test]
    fn a_strategy_is_near_to_programs_that_leave_it_open() {
        let edit = StrategyEncoder
            .encode_edit("cout << a << endl << endl;", "cout << a << x << x;")
            .unwrap();
        let open = StrategyEncoder.encode("cout << b << endl;").unwrap();
        let closed = StrategyEncoder.encode("m = pow(x, 2); sort(a);").unwrap();
        assert!(nearness(&edit, &open) > nearness(&edit, &closed));
    }
}
