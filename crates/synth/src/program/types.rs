//! Types as far as edits need to know them.

use std::fmt;

/// A number's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Scalar {
    /// `char`.
    I8,
    /// `uchar`.
    U8,
    /// `short`.
    I16,
    /// `ushort`.
    U16,
    /// `int`.
    I32,
    /// `uint`.
    U32,
    /// `long`.
    I64,
    /// `ulong`, which is also what `size_t` is on a 64-bit target.
    U64,
    /// `half`.
    F16,
    /// `float`.
    F32,
    /// `double`.
    F64,
}

/// Each scalar with its OpenCL name first, then clang's other spellings.
const NAMES: [(Scalar, &[&str]); 11] = [
    (Scalar::I8, &["char", "signed char"]),
    (Scalar::U8, &["uchar", "unsigned char"]),
    (Scalar::I16, &["short"]),
    (Scalar::U16, &["ushort", "unsigned short"]),
    (Scalar::I32, &["int"]),
    (Scalar::U32, &["uint", "unsigned int", "unsigned"]),
    (Scalar::I64, &["long", "ptrdiff_t", "intptr_t"]),
    (Scalar::U64, &["ulong", "unsigned long", "size_t", "uintptr_t"]),
    (Scalar::F16, &["half"]),
    (Scalar::F32, &["float"]),
    (Scalar::F64, &["double"]),
];

impl Scalar {
    /// The OpenCL name.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(scalar, _)| *scalar == self).map_or("int", |(_, names)| names[0])
    }

    /// Whether it is a floating-point type.
    #[must_use]
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }

    /// Whether it is an integer with a sign.
    #[must_use]
    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// Width in bits.
    #[must_use]
    pub(crate) fn bits(self) -> u32 {
        match self {
            Scalar::I8 | Scalar::U8 => 8,
            Scalar::I16 | Scalar::U16 | Scalar::F16 => 16,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 32,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 64,
        }
    }

    fn of(name: &str) -> Option<Scalar> {
        NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(scalar, _)| *scalar)
    }
}

/// Where a pointer points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Space {
    /// `__global`.
    Global,
    /// `__local`.
    Local,
    /// `__constant`.
    Constant,
    /// Everything else.
    Private,
}

/// The type of a value or variable; what edits do not understand is [`Ty::Other`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Ty {
    /// A number (1 lane) or an OpenCL vector of numbers.
    Number(Scalar, u8),
    /// A pointer to or an array of these.
    Pointer {
        /// Where it points.
        space: Space,
        /// The element's kind.
        scalar: Scalar,
        /// The element's lanes.
        lanes: u8,
        /// Whether the pointee is `const`.
        constant: bool,
    },
    /// Records, images, pointers to pointers, void.
    Other,
}

impl Ty {
    /// `int`.
    pub(crate) const INT: Ty = Ty::Number(Scalar::I32, 1);
    /// `size_t`.
    pub(crate) const SIZE: Ty = Ty::Number(Scalar::U64, 1);
    /// `float`.
    pub(crate) const FLOAT: Ty = Ty::Number(Scalar::F32, 1);

    /// The type that clang prints as `text`.
    #[must_use]
    pub(crate) fn parse(text: &str) -> Ty {
        let text = text.trim();
        if let Some(pointee) = text.strip_suffix('*') {
            return Ty::pointer_to(pointee);
        }
        if let Some((element, length)) = text.split_once('[') {
            // An array of arrays is nothing that an index of one number takes to a value.
            return if length.contains('[') { Ty::Other } else { Ty::pointer_to(element) };
        }
        let (_, _, rest) = qualifiers(text);
        number(&rest)
    }

    /// As people declare a variable of this type.
    pub(crate) fn word(self) -> String {
        if self == Ty::SIZE { "size_t".to_owned() } else { self.to_string() }
    }

    fn pointer_to(pointee: &str) -> Ty {
        let (space, constant, rest) = qualifiers(pointee);
        match number(&rest) {
            Ty::Number(scalar, lanes) => Ty::Pointer { space, scalar, lanes, constant },
            _ => Ty::Other,
        }
    }

    /// A number of one lane.
    #[must_use]
    pub(crate) fn scalar(self) -> Option<Scalar> {
        match self {
            Ty::Number(scalar, 1) => Some(scalar),
            _ => None,
        }
    }
}

/// Space, constness, and the words that are left.
fn qualifiers(text: &str) -> (Space, bool, String) {
    let mut space = Space::Private;
    let mut constant = false;
    let mut rest: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        match word {
            "__global" | "global" => space = Space::Global,
            "__local" | "local" => space = Space::Local,
            "__constant" | "constant" => space = Space::Constant,
            "const" => constant = true,
            "__private" | "private" | "volatile" | "restrict" | "__generic" => {}
            other => rest.push(other),
        }
    }
    (space, constant, rest.join(" "))
}

fn number(name: &str) -> Ty {
    if let Some(scalar) = Scalar::of(name) {
        return Ty::Number(scalar, 1);
    }
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let (base, lanes) = (&name[..name.len() - digits.len()], digits.parse::<u8>());
    match (Scalar::of(base), lanes) {
        (Some(scalar), Ok(lanes @ (2 | 3 | 4 | 8 | 16))) => Ty::Number(scalar, lanes),
        _ => Ty::Other,
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Ty::Number(scalar, 1) => f.write_str(scalar.name()),
            Ty::Number(scalar, lanes) => write!(f, "{}{lanes}", scalar.name()),
            Ty::Pointer { space, scalar, lanes, constant } => {
                let space = match space {
                    Space::Global => "__global ",
                    Space::Local => "__local ",
                    Space::Constant => "__constant ",
                    Space::Private => "",
                };
                let constant = if constant { "const " } else { "" };
                write!(f, "{space}{constant}{}*", Ty::Number(scalar, lanes))
            }
            Ty::Other => f.write_str("int"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_types_are_understood() {
        let pointer =
            |space, scalar, lanes, constant| Ty::Pointer { space, scalar, lanes, constant };
        let cases = [
            ("int", Ty::INT),
            ("unsigned long", Ty::SIZE),
            ("const uint", Ty::Number(Scalar::U32, 1)),
            ("float4", Ty::Number(Scalar::F32, 4)),
            ("__global float *", pointer(Space::Global, Scalar::F32, 1, false)),
            ("const __global uchar16 *", pointer(Space::Global, Scalar::U8, 16, true)),
            ("__local int[64]", pointer(Space::Local, Scalar::I32, 1, false)),
            ("int *[4]", Ty::Other),
            ("struct S", Ty::Other),
            ("float[4][4]", Ty::Other),
        ];
        for (text, expected) in cases {
            assert_eq!(Ty::parse(text), expected, "{text}");
        }
    }
}
