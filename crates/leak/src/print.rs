use crate::{Overlap, Shingles, ir, text};
use serde::{Deserialize, Serialize};

/// What is compared of an isolated kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Print {
    /// Runs of lexemes.
    pub text: Shingles,
    /// Trees of optimised IR; empty where it is not known.
    pub ir: Shingles,
}

impl Print {
    /// Of its text alone; directives are taken to be expanded.
    #[must_use]
    pub fn of_text(text: &str) -> Print {
        Print { text: text::shingles(text), ir: Shingles::default() }
    }

    /// Of its text and its module, optimised as by `-O2`.
    #[must_use]
    pub fn of(text: &str, module: &llvm::Module<'_>, kernel: &str) -> Print {
        Print { text: text::shingles(text), ir: ir::shingles(module, kernel) }
    }
}

/// How alike two kernels are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Likeness {
    /// In their texts.
    pub text: Overlap,
    /// In their IR.
    pub ir: Overlap,
}

/// From where on a view says that a kernel is a copy. Jaccard similarity and containment each hold from a number of
/// shingles on: of fewer than these every program has some.
#[derive(Clone, Copy, Debug)]
struct Threshold {
    jaccard: (f64, u32),
    containment: (f64, u32),
}

const TEXT: Threshold = Threshold { jaccard: (0.3, 15), containment: (0.65, 20) };
const IR: Threshold = Threshold { jaccard: (0.6, 12), containment: (0.75, 20) };

impl Threshold {
    fn holds(self, overlap: Overlap) -> bool {
        let reaches =
            |value: f64, (least, size): (f64, u32)| value >= least && overlap.smaller >= size;
        reaches(overlap.jaccard, self.jaccard) || reaches(overlap.containment, self.containment)
    }
}

impl Likeness {
    /// Whether one is a copy of the other, or of a part of it.
    #[must_use]
    pub fn is_copy(self) -> bool {
        self.is_copy_in_text() || IR.holds(self.ir) || self.is_same()
    }

    /// Whether their texts alone say so.
    #[must_use]
    pub fn is_copy_in_text(self) -> bool {
        TEXT.holds(self.text)
    }

    /// Of kernels too small for a share to say much: whether nothing tells them apart.
    fn is_same(self) -> bool {
        let is_same = |overlap: Overlap| overlap.smaller > 0 && overlap.jaccard >= 1.0;
        is_same(self.text) && (is_same(self.ir) || self.ir.smaller == 0)
    }

    /// The greatest of the four shares.
    #[must_use]
    pub fn greatest(self) -> f64 {
        [self.text, self.ir]
            .into_iter()
            .fold(0.0, |most, view| most.max(view.jaccard).max(view.containment))
    }
}

/// Compare two kernels.
#[must_use]
pub fn likeness(one: &Print, two: &Print) -> Likeness {
    Likeness { text: one.text.overlap(&two.text), ir: one.ir.overlap(&two.ir) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(jaccard: f64, containment: f64, smaller: u32) -> Overlap {
        Overlap { jaccard, containment, smaller }
    }

    fn is_copy(text: Overlap, ir: Overlap) -> bool {
        Likeness { text, ir }.is_copy()
    }

    #[test]
    fn a_print_has_both_views() {
        let library = llvm::Library::newest().expect("setup.sh installs an LLVM");
        let context = llvm::Context::new(library);
        let module = b"define void @A(ptr %a) {\n store i32 1, ptr %a\n ret void }";
        let module = context.parse("test", module).expect("well-formed");
        let text = "kernel void A(global int* a) { a[0] = 1; }";
        let print = Print::of(text, &module, "A");
        assert_eq!(print.text, Print::of_text(text).text);
        assert_eq!(print.ir, ir::shingles(&module, "A"));
        assert!(print.text.size() > 0 && print.ir.size() > 0);
    }

    #[test]
    fn each_threshold_holds_from_its_share_and_its_size_on() {
        let none = Overlap::default();
        for (share, size, is) in [(0.3, 15, true), (0.29, 15, false), (0.3, 14, false)] {
            assert_eq!(is_copy(overlap(share, 0.0, size), none), is, "text {share} of {size}");
        }
        for (share, size, is) in [(0.65, 20, true), (0.64, 20, false), (0.65, 19, false)] {
            assert_eq!(
                is_copy(overlap(0.0, share, size), none),
                is,
                "part of text {share} of {size}"
            );
        }
        for (share, size, is) in [(0.6, 12, true), (0.59, 12, false), (0.6, 11, false)] {
            assert_eq!(is_copy(none, overlap(share, 0.0, size)), is, "IR {share} of {size}");
        }
        for (share, size, is) in [(0.75, 20, true), (0.74, 20, false), (0.75, 19, false)] {
            assert_eq!(
                is_copy(none, overlap(0.0, share, size)),
                is,
                "part of IR {share} of {size}"
            );
        }
    }

    #[test]
    fn small_kernels_are_copies_where_nothing_tells_them_apart() {
        let same = overlap(1.0, 1.0, 3);
        assert!(is_copy(same, same));
        assert!(is_copy(same, Overlap::default()), "no IR is known");
        assert!(!is_copy(same, overlap(0.5, 1.0, 3)), "the IR differs");
        assert!(!is_copy(overlap(0.5, 1.0, 3), same), "the text differs");
        assert!(!is_copy(Overlap::default(), Overlap::default()), "nothing is there");
    }

    #[test]
    fn the_greatest_share_is_any_of_the_four() {
        let of = |a, b, c, d| Likeness { text: overlap(a, b, 1), ir: overlap(c, d, 1) }.greatest();
        let shares = [
            of(0.9, 0.1, 0.2, 0.3),
            of(0.1, 0.9, 0.2, 0.3),
            of(0.1, 0.2, 0.9, 0.3),
            of(0.1, 0.2, 0.3, 0.9),
        ];
        assert_eq!(shares, [0.9; 4]);
    }
}
