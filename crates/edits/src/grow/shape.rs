//! How a drawn input is to differ from the samples.

/// Factors on what the samples have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Factor on counts of lines, tokens and data sets.
    pub(crate) counts: f64,
    /// Factor on the ranges of other numbers.
    pub(crate) values: f64,
}

/// How large something is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Size {
    /// As small as it may be.
    Least,
    /// So many times what the samples have.
    Times(f64),
    /// Such a share, above 0 and at most 1, of the most that it may be.
    Share(f64),
}

/// What the values of an input are like. What the samples promise is kept: a sorted list stays sorted, an index an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Anything.
    Any,
    /// Each is the least.
    Least,
    /// Each is the largest.
    Most,
    /// Each is the least or the largest.
    Ends,
    /// All of a list are equal.
    Equal,
    /// A list has three values, again and again.
    Few,
    /// Each is 0 or 1; the two least ones, where these are none of them.
    Bits,
    /// Lists ascend.
    Ascending,
    /// Lists descend.
    Descending,
}

impl Shape {
    /// Its name in data sets.
    pub(super) fn name(self) -> &'static str {
        match self {
            Shape::Any => "any",
            Shape::Least => "least",
            Shape::Most => "most",
            Shape::Ends => "ends",
            Shape::Equal => "equal",
            Shape::Few => "few",
            Shape::Bits => "bits",
            Shape::Ascending => "ascending",
            Shape::Descending => "descending",
        }
    }
}

/// How an input is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Draw {
    /// Counts of lines, tokens and data sets, and lengths of words.
    pub(super) counts: Size,
    /// Ranges of other numbers.
    pub(super) values: Size,
    pub(super) shape: Shape,
}

impl From<Scale> for Draw {
    fn from(Scale { counts, values }: Scale) -> Draw {
        Draw { counts: Size::Times(counts), values: Size::Times(values), shape: Shape::Any }
    }
}
