//! Types of OpenCL C, as far as they decide whether an expression compiles.

use std::sync::Arc;

/// Arithmetic types, in the order of their rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Scalar {
    Bool,
    Char,
    Uchar,
    Short,
    Ushort,
    Int,
    Uint,
    Long,
    Ulong,
    Half,
    Float,
    Double,
}

impl Scalar {
    pub(crate) fn is_float(self) -> bool {
        self >= Scalar::Half
    }

    /// Bytes.
    pub(crate) fn size(self) -> usize {
        match self {
            Scalar::Bool | Scalar::Char | Scalar::Uchar => 1,
            Scalar::Short | Scalar::Ushort | Scalar::Half => 2,
            Scalar::Int | Scalar::Uint | Scalar::Float => 4,
            Scalar::Long | Scalar::Ulong | Scalar::Double => 8,
        }
    }

    /// Signed integer of the same size.
    pub(crate) fn mask(self) -> Scalar {
        match self.size() {
            1 => Scalar::Char,
            2 => Scalar::Short,
            4 => Scalar::Int,
            _ => Scalar::Long,
        }
    }

    fn promoted(self) -> Scalar {
        self.max(Scalar::Int)
    }

    /// The scalar type that a word names.
    pub(crate) fn named(word: &str) -> Option<Scalar> {
        Some(match word {
            "bool" | "_Bool" => Scalar::Bool,
            "char" => Scalar::Char,
            "uchar" => Scalar::Uchar,
            "short" => Scalar::Short,
            "ushort" => Scalar::Ushort,
            "int" => Scalar::Int,
            "uint" => Scalar::Uint,
            "long" | "ptrdiff_t" | "intptr_t" => Scalar::Long,
            "ulong" | "size_t" | "uintptr_t" => Scalar::Ulong,
            "half" => Scalar::Half,
            "float" => Scalar::Float,
            "double" => Scalar::Double,
            _ => return None,
        })
    }
}

/// Where something lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Generic,
    Private,
    Local,
    Global,
    Constant,
}

/// What is passed on and not looked into (OpenCL C 2.0, section 6.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Handle {
    Event,
    Queue,
    /// An event of the device's own.
    ClkEvent,
    Range,
    Reserve,
}

impl Handle {
    /// Whether the literal 0 is one.
    fn may_be_zero(self) -> bool {
        matches!(self, Handle::Event | Handle::Queue)
    }
}

/// The shape of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    Line,
    Buffer,
    /// An array of lines.
    Lines,
    Plane,
    /// An array of planes.
    Planes,
    Solid,
    /// With depths or several samples: what is read of them is not known.
    Other,
}

impl Shape {
    /// Lanes of a coordinate.
    pub(crate) fn lanes(self) -> u8 {
        match self {
            Shape::Line | Shape::Buffer => 1,
            Shape::Lines | Shape::Plane | Shape::Other => 2,
            Shape::Planes | Shape::Solid => 4,
        }
    }
}

/// What a pointer or array holds.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) struct Target {
    pub(crate) ty: Type,
    pub(crate) constant: bool,
    pub(crate) space: Space,
}

/// A function of the program.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) struct Function {
    pub(crate) result: Type,
    pub(crate) parameters: Vec<Type>,
    pub(crate) variadic: bool,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(crate) enum Type {
    /// Nothing is known: everything goes.
    Unknown,
    Void,
    Scalar(Scalar),
    Vector(Scalar, u8),
    Pointer(Arc<Target>),
    Array(Arc<Target>),
    /// Index into the program's structs and unions.
    Struct(usize),
    Sampler,
    /// Events, queues.
    Opaque(Handle),
    /// Images, and whether they are read and written.
    Image {
        shape: Shape,
        reads: bool,
        writes: bool,
    },
    Function(Arc<Function>),
    /// Functions of one name, and whether each was defined.
    Overloads(Arc<Vec<(Arc<Function>, bool)>>),
    /// A builtin function, by name.
    Builtin(Arc<str>),
}

/// Names of types that are none of [`crate::words::TYPES`].
pub(crate) const OTHERS: [&str; 7] = [
    "image2d_array_depth_t",
    "image2d_array_msaa_depth_t",
    "image2d_array_msaa_t",
    "image2d_depth_t",
    "image2d_msaa_depth_t",
    "image2d_msaa_t",
    "memory_scope",
];

impl Type {
    /// The builtin type that a word names.
    pub(crate) fn named(word: &str) -> Option<Type> {
        if let Some(scalar) = Scalar::named(word) {
            return Some(Type::Scalar(scalar));
        }
        let base = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
        if base.len() < word.len() && !matches!(base, "bool" | "_Bool" | "size_t") {
            let lanes =
                word[base.len()..].parse().ok().filter(|_| !word[base.len()..].starts_with('0'))?;
            return match (Scalar::named(base), lanes) {
                (Some(scalar), 2 | 3 | 4 | 8 | 16) if !base.ends_with("_t") => {
                    Some(Type::Vector(scalar, lanes))
                }
                _ => None,
            };
        }
        match word {
            "void" => Some(Type::Void),
            "cl_mem_fence_flags" => Some(Type::Scalar(Scalar::Uint)),
            "sampler_t" => Some(Type::Sampler),
            "event_t" => Some(Type::Opaque(Handle::Event)),
            "queue_t" => Some(Type::Opaque(Handle::Queue)),
            "clk_event_t" => Some(Type::Opaque(Handle::ClkEvent)),
            "ndrange_t" => Some(Type::Opaque(Handle::Range)),
            "reserve_id_t" => Some(Type::Opaque(Handle::Reserve)),
            "memory_order" | "memory_scope" => Some(Type::Scalar(Scalar::Int)),
            "image1d_t" => Some(Type::image(Shape::Line)),
            "image1d_buffer_t" => Some(Type::image(Shape::Buffer)),
            "image1d_array_t" => Some(Type::image(Shape::Lines)),
            "image2d_t" => Some(Type::image(Shape::Plane)),
            "image2d_array_t" => Some(Type::image(Shape::Planes)),
            "image3d_t" => Some(Type::image(Shape::Solid)),
            _ if word.starts_with("image") && OTHERS.contains(&word) => {
                Some(Type::image(Shape::Other))
            }
            _ if word.starts_with("atomic_")
                && crate::words::TYPES.binary_search(&word).is_ok() =>
            {
                Some(Type::Unknown)
            }
            _ => None,
        }
    }

    fn image(shape: Shape) -> Type {
        Type::Image { shape, reads: true, writes: false }
    }

    pub(crate) fn pointer(ty: Type, constant: bool, space: Space) -> Type {
        Type::Pointer(Arc::new(Target { ty, constant, space }))
    }

    /// The type of a member of something that lives there: an array in it lives there too.
    pub(crate) fn housed(&self, constant: bool, space: Space) -> Type {
        match self {
            Type::Array(target) => Type::Array(Arc::new(Target {
                ty: target.ty.housed(constant, space),
                constant: target.constant || constant,
                space,
            })),
            other => other.clone(),
        }
    }

    pub(crate) fn is_integer(&self) -> bool {
        matches!(self, Type::Scalar(s) | Type::Vector(s, _) if !s.is_float())
    }

    pub(crate) fn is_arithmetic(&self) -> bool {
        matches!(self, Type::Scalar(_) | Type::Vector(..))
    }

    /// The scalar of a scalar or vector.
    pub(crate) fn element(&self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) | Type::Vector(scalar, _) => Some(*scalar),
            _ => None,
        }
    }

    /// Lanes of a vector, 1 of a scalar.
    pub(crate) fn lanes(&self) -> u8 {
        match self {
            Type::Vector(_, lanes) => *lanes,
            _ => 1,
        }
    }

    /// This many lanes of a scalar.
    pub(crate) fn of(scalar: Scalar, lanes: u8) -> Type {
        if lanes == 1 { Type::Scalar(scalar) } else { Type::Vector(scalar, lanes) }
    }

    /// Arrays decay to pointers where values are wanted.
    pub(crate) fn decayed(&self) -> Type {
        match self {
            Type::Array(target) => Type::Pointer(Arc::clone(target)),
            other => other.clone(),
        }
    }

    /// What a pointer or array holds.
    pub(crate) fn target(&self) -> Option<&Target> {
        match self {
            Type::Pointer(target) | Type::Array(target) => Some(target),
            _ => None,
        }
    }

    /// Whether it is a function, or several.
    pub(crate) fn is_code(&self) -> bool {
        matches!(self, Type::Function(_) | Type::Overloads(_) | Type::Builtin(_))
    }

    /// Whether pointers and arrays may be of it, and addresses taken.
    pub(crate) fn is_housed(&self) -> bool {
        !matches!(self, Type::Image { .. } | Type::Sampler)
    }

    /// Whether a condition can be made of it.
    pub(crate) fn is_condition(&self) -> bool {
        matches!(self, Type::Unknown | Type::Scalar(_) | Type::Pointer(_) | Type::Array(_))
    }
}

/// The type of an arithmetic operator's result; `None` where the operands do not go together.
pub(crate) fn combined(left: &Type, right: &Type) -> Option<Type> {
    Some(match (left, right) {
        (Type::Unknown, _) | (_, Type::Unknown) => Type::Unknown,
        (Type::Scalar(a), Type::Scalar(b)) => Type::Scalar((*a).max(*b).promoted()),
        (Type::Vector(a, n), Type::Vector(b, m)) if a == b && n == m => left.clone(),
        // A scalar is spread if its rank is no greater.
        (Type::Vector(v, n), Type::Scalar(s)) | (Type::Scalar(s), Type::Vector(v, n)) => {
            let fits = match (v.is_float(), s.is_float()) {
                (true, false) => true,
                (false, true) => false,
                _ => s <= v,
            };
            if !fits {
                return None;
            }
            Type::Vector(*v, *n)
        }
        _ => return None,
    })
}

/// Whether a value of type `from` can be put into something of type `to`. `zero`: it is the
/// literal 0, which is a null pointer too.
pub(crate) fn assignable(to: &Type, from: &Type, zero: bool) -> bool {
    match (to, from) {
        (Type::Unknown, _) | (_, Type::Unknown) => true,
        (Type::Scalar(_), Type::Scalar(_)) => true,
        (Type::Scalar(Scalar::Bool), Type::Pointer(_) | Type::Array(_)) => true,
        // Any scalar is converted and spread.
        (Type::Vector(..), Type::Scalar(_)) => true,
        (Type::Vector(a, n), Type::Vector(b, m)) => a == b && n == m,
        (Type::Pointer(_), Type::Scalar(_)) => zero,
        (Type::Pointer(to), Type::Pointer(from) | Type::Array(from)) => {
            let same = to.space == from.space;
            let widened = to.space == Space::Generic && from.space != Space::Constant
                || from.space == Space::Private && to.space == Space::Private;
            let spaces = same || widened || zero
                // Without an address space either may be meant.
                || from.space == Space::Generic && to.space == Space::Private;
            spaces && pointees(&to.ty, &from.ty)
        }
        (Type::Struct(a), Type::Struct(b)) => a == b,
        (Type::Opaque(to), Type::Opaque(from)) => to == from,
        (Type::Image { .. }, Type::Image { .. }) => to == from,
        (Type::Opaque(handle), Type::Scalar(_)) => zero && handle.may_be_zero(),
        (Type::Sampler, Type::Sampler | Type::Scalar(_)) => true,
        (Type::Array(_), _) => false,
        _ => false,
    }
}

/// Whether pointers into these address spaces may point to the same thing.
pub(crate) fn overlapping(one: Space, other: Space) -> bool {
    let generic = |a, b| a == Space::Generic && b != Space::Constant;
    one == other || generic(one, other) || generic(other, one)
}

/// Pointers to different things are converted with a warning, but for pointers in pointers.
fn pointees(to: &Type, from: &Type) -> bool {
    !(to.is_code() || from.is_code())
}

/// The type of a vector's components `.xyz`, `.s01`, `.lo`; `None` where it has none such.
pub(crate) fn component(scalar: Scalar, lanes: u8, name: &str) -> Option<(Type, bool)> {
    let half = match lanes {
        3 | 4 => 2,
        n => n / 2,
    };
    if matches!(name, "lo" | "hi" | "even" | "odd") {
        return (lanes > 1).then(|| (Type::of(scalar, half), true));
    }
    let numbered = name.strip_prefix(['s', 'S']).filter(|rest| !rest.is_empty());
    let places: Option<Vec<u8>> = match numbered {
        Some(rest) => rest.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect(),
        None => {
            let xyzw = name.chars().map(|c| "xyzw".find(c).map(|at| at as u8)).collect();
            let rgba = || name.chars().map(|c| "rgba".find(c).map(|at| at as u8)).collect();
            Option::<Vec<u8>>::or_else(xyzw, rgba)
        }
    };
    let places = places?;
    let count = places.len() as u8;
    if !matches!(count, 1 | 2 | 3 | 4 | 8 | 16) || places.iter().any(|at| *at >= lanes) {
        return None;
    }
    let mut sorted = places.clone();
    sorted.sort_unstable();
    sorted.dedup();
    Some((Type::of(scalar, count), sorted.len() == places.len()))
}

/// Whether a component's name may begin like this.
pub(crate) fn component_begins(lanes: u8, prefix: &str) -> bool {
    let words = ["lo", "hi", "even", "odd"];
    words.iter().any(|word| word.starts_with(prefix))
        || matches!(prefix, "s" | "S")
        || component(Scalar::Int, lanes, prefix).is_some()
        || (1..16).any(|more| {
            let longer = prefix.to_owned() + &prefix[prefix.len() - 1..].repeat(more);
            component(Scalar::Int, lanes, &longer).is_some()
        })
}

/// What a number's spelling makes of it; `None` if it is none.
pub(crate) fn number(text: &str) -> Option<Scalar> {
    let lower = text.to_ascii_lowercase();
    let (hexadecimal, body) = match lower.strip_prefix("0x") {
        Some(rest) => (true, rest),
        None => (false, lower.as_str()),
    };
    let exponent = if hexadecimal { 'p' } else { 'e' };
    let digit = |c: char| if hexadecimal { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
    let end = body.find(|c: char| !digit(c) && c != '.').unwrap_or(body.len());
    let (mantissa, rest) = body.split_at(end);
    let digits = mantissa.chars().filter(|c| digit(*c)).count();
    let points = mantissa.len() - digits;
    if digits == 0 || points > 1 {
        return None;
    }
    let (raised, suffix) = match rest.strip_prefix(exponent) {
        Some(rest) => {
            let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            if end == 0 {
                return None;
            }
            (true, &rest[end..])
        }
        None => (false, rest),
    };
    if points == 1 || raised {
        if hexadecimal && !raised {
            return None;
        }
        return match suffix {
            "f" => Some(Scalar::Float),
            "" => Some(Scalar::Double),
            "h" => Some(Scalar::Half),
            _ => None,
        };
    }
    if !hexadecimal
        && mantissa.len() > 1
        && mantissa.starts_with('0')
        && mantissa.contains(['8', '9'])
    {
        return None;
    }
    let radix = if hexadecimal {
        16
    } else if mantissa.starts_with('0') {
        8
    } else {
        10
    };
    let value = u64::from_str_radix(mantissa, radix).ok()?;
    let natural = match value {
        0..=0x7fff_ffff => Scalar::Int,
        0x8000_0000..=0xffff_ffff if radix != 10 => Scalar::Uint,
        _ if value <= i64::MAX as u64 => Scalar::Long,
        _ => Scalar::Ulong,
    };
    match suffix {
        "" => Some(natural),
        "u" => Some(if value <= 0xffff_ffff { Scalar::Uint } else { Scalar::Ulong }),
        "l" | "ll" => Some(natural.max(Scalar::Long)),
        "ul" | "lu" | "ull" | "llu" => Some(Scalar::Ulong),
        _ => None,
    }
}

/// The value of a number that is spelled like this and no fraction.
pub(crate) fn natural(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if digits.starts_with('0') => u64::from_str_radix(digits, 8).ok(),
        None => digits.parse().ok(),
    }
}

/// The types of numbers that are spelled like this or go on so.
pub(crate) fn numbers_beginning(text: &str) -> Vec<Scalar> {
    let ends = ["", "0", "1", ".0", "0f", "l", "ul", "u", "f", "+1", "1f", "p0", ".0f", "e1f"];
    let mut all: Vec<Scalar> =
        ends.iter().filter_map(|end| number(&format!("{text}{end}"))).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_types_that_c_gives_them() {
        let cases = [
            ("0", Some(Scalar::Int)),
            ("08", None),
            ("0x1F", Some(Scalar::Int)),
            ("0x80000000", Some(Scalar::Uint)),
            ("2147483648", Some(Scalar::Long)),
            ("1u", Some(Scalar::Uint)),
            ("1ul", Some(Scalar::Ulong)),
            ("1.5f", Some(Scalar::Float)),
            ("1.", Some(Scalar::Double)),
            (".5e-3", Some(Scalar::Double)),
            ("1e", None),
            ("1f", None),
            ("0x1p3f", Some(Scalar::Float)),
            ("1.2.3", None),
            ("12ab", None),
        ];
        for (text, scalar) in cases {
            assert_eq!(number(text), scalar, "{text}");
        }
        assert_eq!(numbers_beginning("1e"), [Scalar::Half, Scalar::Float, Scalar::Double][1..]);
        assert!(numbers_beginning("0x").contains(&Scalar::Int));
        assert!(!numbers_beginning(".").is_empty() && numbers_beginning("12a").is_empty());
    }

    #[test]
    fn components_are_those_that_a_vector_has() {
        let int4 = |name| component(Scalar::Int, 4, name).map(|(ty, _)| ty);
        assert_eq!(int4("x"), Some(Type::Scalar(Scalar::Int)));
        assert_eq!(int4("wzyx"), Some(Type::Vector(Scalar::Int, 4)));
        assert_eq!(int4("s3"), Some(Type::Scalar(Scalar::Int)));
        assert_eq!(int4("s4"), None);
        assert_eq!(int4("lo"), Some(Type::Vector(Scalar::Int, 2)));
        assert_eq!(int4("foo"), None);
        assert_eq!(component(Scalar::Int, 2, "z"), None);
        assert!(
            component_begins(4, "xx") && component_begins(4, "l") && !component_begins(2, "zz")
        );
    }
}
