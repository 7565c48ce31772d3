#![crate_type = "lib"]
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    Leaf(u128),
    Node(Box<[Tree; 2]>, Option<String>),
}

pub static NAMES: [&str; 3] = ["a", "bc", ""];
pub static TABLE: [(u8, i64); 2] = [(1, -1), (2, i64::MIN)];

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Leaf(value) => write!(f, "{value}"),
            Tree::Node(both, name) => write!(f, "({} {} {name:?})", both[0], both[1]),
        }
    }
}

pub fn depth(tree: &Tree) -> usize {
    match tree {
        Tree::Leaf(_) => 1,
        Tree::Node(both, _) => 1 + both.iter().map(depth).max().unwrap_or(0),
    }
}

pub fn count(words: &str) -> BTreeMap<String, Vec<usize>> {
    let mut all: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, word) in words.split_whitespace().enumerate() {
        all.entry(word.to_lowercase()).or_default().push(at);
    }
    all.retain(|word, _| word.parse::<f64>().is_err());
    all
}

pub fn mean(values: &[f32]) -> Result<f32, Box<dyn std::error::Error>> {
    let first = *values.first().ok_or("none")?;
    let sum: f32 = values.iter().map(|v| v.mul_add(2.0, -first).abs().min(1e9)).sum();
    Ok(sum / values.len() as f32 + NAMES[values.len() % 3].len() as f32)
}
