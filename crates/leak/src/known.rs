use crate::{Likeness, Print, Shingles};
use std::collections::{HashMap, HashSet};

/// Kernels that are excluded, by name and by what they are.
#[derive(Clone, Debug, Default)]
pub struct Known {
    names: HashSet<String>,
    labels: Vec<String>,
    prints: Vec<Print>,
    text: Postings,
    ir: Postings,
}

/// What a kernel is a copy of.
#[derive(Clone, Debug, PartialEq)]
pub enum Match {
    /// It has the name of an excluded kernel.
    Name(String),
    /// It is a copy of this excluded kernel, or one is a part of the other.
    Copy(String, Likeness),
}

impl Match {
    /// What it is a copy of.
    #[must_use]
    pub fn of(&self) -> &str {
        match self {
            Match::Name(name) | Match::Copy(name, _) => name,
        }
    }
}

impl Known {
    /// Exclude kernels of this name.
    pub fn add_name(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    /// Exclude copies of this kernel, which messages call `label`.
    pub fn add(&mut self, label: &str, print: Print) {
        let at = self.prints.len() as u32;
        self.text.add(at, &print.text);
        self.ir.add(at, &print.ir);
        self.labels.push(label.to_owned());
        self.prints.push(print);
    }

    /// The first of these names that is excluded.
    pub fn named<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Option<Match> {
        let name = names.into_iter().find(|name| self.names.contains(*name));
        name.map(|name| Match::Name(name.to_owned()))
    }

    /// Whether copies of anything are excluded.
    #[must_use]
    pub fn has_prints(&self) -> bool {
        !self.prints.is_empty()
    }

    /// Whether nothing is excluded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.prints.is_empty()
    }

    /// How many names and how many kernels are excluded.
    #[must_use]
    pub fn len(&self) -> (usize, usize) {
        (self.names.len(), self.prints.len())
    }

    /// The excluded kernel that this one is most alike, of those that it is a copy of.
    #[must_use]
    pub fn copied(&self, print: &Print) -> Option<Match> {
        let (text, ir) = (self.text.shared(&print.text), self.ir.shared(&print.ir));
        let likeness = |at: u32| {
            let known = &self.prints[at as usize];
            let shared = |counts: &HashMap<u32, u32>| counts.get(&at).copied().unwrap_or(0);
            Likeness {
                text: print.text.overlap_of(shared(&text), known.text.size()),
                ir: print.ir.overlap_of(shared(&ir), known.ir.size()),
            }
        };
        let candidates: HashSet<u32> = text.keys().chain(ir.keys()).copied().collect();
        let copies = candidates.into_iter().map(|at| (at, likeness(at)));
        let copies = copies.filter(|(_, likeness)| likeness.is_copy());
        let best = copies.max_by(|(a, one), (b, two)| {
            one.greatest().total_cmp(&two.greatest()).then_with(|| b.cmp(a))
        });
        best.map(|(at, likeness)| Match::Copy(self.labels[at as usize].clone(), likeness))
    }
}

/// For each shingle the kernels that have it, and how often.
#[derive(Clone, Debug, Default)]
struct Postings(HashMap<u32, Vec<(u32, u16)>>);

impl Postings {
    fn add(&mut self, at: u32, shingles: &Shingles) {
        for (hash, count) in shingles.counts() {
            self.0.entry(*hash).or_default().push((at, *count));
        }
    }

    /// By kernel: how many shingles it shares with these.
    fn shared(&self, shingles: &Shingles) -> HashMap<u32, u32> {
        let mut shared = HashMap::new();
        for (hash, count) in shingles.counts() {
            for (at, known) in self.0.get(hash).into_iter().flatten() {
                *shared.entry(*at).or_default() += u32::from(*known.min(count));
            }
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likeness;

    const SUITE: &str = "__kernel void transpose(__global float* out, __global float* in, int w, int h) {\n\
        int x = get_global_id(0); int y = get_global_id(1);\n\
        if (x < w && y < h) { float v = in[y * w + x]; out[x * h + y] = v * 2.0f; } }";
    const OTHER: &str =
        "kernel void A(global int* a, int b) { for (int c = 0; c < b; c++) a[c] ^= c << 3; }";

    #[test]
    fn a_copy_is_found_by_what_it_is_and_another_kernel_is_not() {
        let mut known = Known::default();
        assert!(known.is_empty());
        known.add("other", Print::of_text(OTHER));
        known.add("suite", Print::of_text(SUITE));
        let copy =
            SUITE.replace("int w", "int extra, int w").replace("transpose", "A").replace('x', "q");
        let copy = Print::of_text(&copy);
        assert_eq!(known.copied(&copy).expect("a copy").of(), "suite");
        let mut alone = Known::default();
        alone.add("suite", Print::of_text(SUITE));
        assert_eq!(alone.copied(&Print::of_text(OTHER)), None);
        assert_eq!(known.len(), (0, 2));
    }

    #[test]
    fn the_index_says_what_a_comparison_says() {
        let (one, two) = (Print::of_text(SUITE), Print::of_text(&SUITE.replace("v * 2.0f", "v")));
        let mut known = Known::default();
        known.add("suite", one.clone());
        let Some(Match::Copy(_, found)) = known.copied(&two) else { panic!("no copy") };
        assert_eq!(found, likeness(&two, &one));
    }

    #[test]
    fn the_first_excluded_name_is_told() {
        let mut known = Known::default();
        known.add_name("bitonicSort");
        let found = known.named(["file", "bitonicSort"]);
        assert_eq!(found, Some(Match::Name("bitonicSort".to_owned())));
        assert_eq!(known.named(["file", "sort"]), None);
        assert!(!known.has_prints());
    }

    #[test]
    fn the_most_alike_is_told_and_of_equals_the_first() {
        let mut known = Known::default();
        known.add("near", Print::of_text(&SUITE.replace("v * 2.0f", "v")));
        known.add("first", Print::of_text(SUITE));
        known.add("second", Print::of_text(SUITE));
        assert_eq!(known.copied(&Print::of_text(SUITE)).expect("a copy").of(), "first");
        assert!(known.has_prints() && !known.is_empty());
        assert_eq!(Match::Name("k".to_owned()).of(), "k");
    }

    #[test]
    fn the_ir_alone_finds_a_copy() {
        let trees = || Shingles::of(0..30);
        let print = |text: &str| Print { ir: trees(), ..Print::of_text(text) };
        let mut known = Known::default();
        known.add("suite", print(SUITE));
        let found = known.copied(&print(OTHER)).expect("a copy");
        let Match::Copy(_, likeness) = &found else { panic!("{found:?}") };
        assert_eq!(likeness.ir.jaccard, 1.0);
        known.add_name("k");
        assert_eq!((known.len(), known.is_empty()), ((1, 1), false));
        assert!(!{
            let mut named = Known::default();
            named.add_name("k");
            named.is_empty()
        });
    }
}
