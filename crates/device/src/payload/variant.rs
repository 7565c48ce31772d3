use super::{Layout, Range, layout::Leaf};
use clang::Scalar;

/// One way to choose what a kernel's contract leaves open: its integers and how much room its
/// buffers have beyond one element per work-item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its word in tables (column `payload`).
    pub name: &'static str,
    scalars: Scalars,
    /// Elements of a buffer per work-item.
    pub(crate) room: u64,
    /// Whether buffers hold small whole numbers whatever distribution was asked for.
    pub(crate) small_values: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalars {
    Size,
    Side,
    Few,
    Apart,
}

impl Variant {
    /// Whether it is for kernels whose output does not depend on their input under the others: bounds
    /// (`lo`, `hi`) that are equal hide it.
    pub(crate) fn is_apart(&self) -> bool {
        self.scalars == Scalars::Apart
    }
}

const fn variant(name: &'static str, scalars: Scalars, room: u64, small_values: bool) -> Variant {
    Variant { name, scalars, room, small_values }
}

/// The ways tried in this order. Kept is the first that makes a kernel pass at all its sizes, else the first that does at one.
///
/// The first is CLgen's rule: integers are the global size Sg (in a range of several dimensions
/// its sides, in order), buffers hold Sg elements. A kernel that walks `row * width + column` in
/// one dimension leaves its buffers under it; it fits when integers are the square root of Sg. One
/// that handles several elements per work-item wants more room. The last is for kernels that others find
/// insensitive to their input: their integers ascend (1, 4, 16, ...), so that values lie between them.
pub const VARIANTS: [Variant; 6] = [
    variant("size", Scalars::Size, 1, false),
    variant("side", Scalars::Side, 1, false),
    variant("size-room-4", Scalars::Size, 4, false),
    variant("side-room-16", Scalars::Side, 16, false),
    variant("few-room-16", Scalars::Few, 16, true),
    variant("apart-room-16", Scalars::Apart, 16, true),
];

/// Integers for a kernel's arguments, in order.
pub(super) struct Integers {
    scalars: Scalars,
    sides: Vec<u64>,
    items: u64,
    least: u64,
    drawn: usize,
}

const FEW: u64 = 8;
/// Each integer is so many times the one before it.
const APART: u64 = 4;

/// Half of what an integer of this type has room for; `None` of those with room for any size.
fn half(leaf: &Leaf) -> Option<u64> {
    let bits = 8 * leaf.size as u32;
    match leaf.scalar {
        Scalar::Unsigned if bits < 32 => Some(1 << (bits - 1)),
        Scalar::Signed if bits < 32 => Some(1 << (bits - 2)),
        _ => None,
    }
}

impl Integers {
    pub(super) fn new(variant: &Variant, range: &Range) -> Integers {
        let least = match range.dimensions {
            1 => range.items().isqrt().max(1),
            _ => range.side(),
        };
        let sides = range.global[..range.dimensions].to_vec();
        Integers { scalars: variant.scalars, sides, items: range.items(), least, drawn: 0 }
    }

    /// The integer for the next argument; arguments without integers do not count.
    pub(super) fn next_for(&mut self, layout: &Layout) -> u64 {
        let integral = layout.leaves.iter().any(|leaf| leaf.scalar != Scalar::Float);
        let at = self.drawn;
        self.drawn += usize::from(integral);
        let wanted = match self.scalars {
            Scalars::Size if self.sides.len() == 1 => self.items,
            Scalars::Size => self.sides.get(at).copied().unwrap_or(self.least),
            Scalars::Side => self.least,
            Scalars::Few => self.least.min(FEW),
            Scalars::Apart => APART.saturating_pow(at as u32).min(self.items.max(1)),
        };
        // A size that a small integer does not hold would be any number, 0 for most.
        layout
            .leaves
            .iter()
            .filter_map(half)
            .filter(|half| wanted >= 2 * half)
            .min()
            .unwrap_or(wanted)
    }

    /// What indices in buffers stay below.
    pub(super) fn bound(&self) -> u64 {
        match self.scalars {
            Scalars::Size => self.items,
            Scalars::Side | Scalars::Apart => self.least,
            Scalars::Few => self.least.min(FEW),
        }
    }
}
