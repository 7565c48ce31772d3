//! Calls: of the program's own functions and of builtin ones.

use super::{
    agree::consistent,
    builtins::Signature,
    express::Purpose,
    operand::Operand,
    parser::{Goal, Lexeme, Outcome, Parser, Refusal, Step},
    types::{Function, Handle, Scalar, Shape, Type, assignable},
};
use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

/// The function that takes a type.
pub(super) const ASTYPE: &str = "__builtin_astype";

/// Builtin functions with names that begin like this: one for each list of types that they may give, which is all
/// that decides whether a name that is not complete may stand in an expression.
pub(super) fn beginning(prefix: &str) -> &'static [Arc<str>] {
    static ALL: LazyLock<HashMap<String, Vec<Arc<str>>>> = LazyLock::new(|| {
        let mut all: HashMap<String, Vec<Arc<str>>> = HashMap::new();
        let named = super::builtins::names().map(str::to_owned).chain(conversions());
        for name in named {
            let types = results(&name);
            let name: Arc<str> = name.into();
            for end in 1..=name.len() {
                let known = all.entry(name[..end].to_owned()).or_default();
                if !known.iter().any(|other| results(other) == types) {
                    known.push(Arc::clone(&name));
                }
            }
        }
        all
    });
    ALL.get(prefix).map_or(&[], Vec::as_slice)
}

/// The names of all conversions: `convert_int4_sat`, `as_float`.
fn conversions() -> Vec<String> {
    let mut all = Vec::new();
    for (family, modes) in [("convert_", &MODES[..]), ("as_", &MODES[..1])] {
        for scalar in SCALARS {
            for lanes in ["", "2", "3", "4", "8", "16"] {
                all.extend(modes.iter().map(|mode| format!("{family}{scalar}{lanes}{mode}")));
            }
        }
    }
    all.retain(|name| is_whole(name));
    all
}

const SCALARS: [&str; 11] =
    ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double"];
const MODES: [&str; 10] =
    ["", "_rte", "_rtz", "_rtp", "_rtn", "_sat", "_sat_rte", "_sat_rtz", "_sat_rtp", "_sat_rtn"];

/// Whether a word that looks like a builtin function's is one.
pub(super) fn is_whole(name: &str) -> bool {
    Signature::of(name).is_some() || reinterpreted(name).is_some() || converted(name).is_some()
}

fn reinterpreted(name: &str) -> Option<Type> {
    Type::named(name.strip_prefix("as_")?).filter(Type::is_arithmetic)
}

fn converted(name: &str) -> Option<Type> {
    let mut parts = name.strip_prefix("convert_")?.split('_');
    let ty = Type::named(parts.next()?).filter(Type::is_arithmetic)?;
    let rest: Vec<&str> = parts.collect();
    let rounds = |word: &str| matches!(word, "rte" | "rtz" | "rtp" | "rtn");
    let known = match rest[..] {
        [] | ["sat"] => true,
        [one] => rounds(one),
        ["sat", one] => rounds(one),
        _ => false,
    };
    // Only integers have ends to stop at.
    let stops = rest.first() == Some(&"sat");
    (known && !(stops && ty.element()?.is_float())).then_some(ty)
}

/// What a callee takes: least and most arguments.
fn extent(callee: &Type) -> (usize, Option<usize>) {
    match callee {
        Type::Overloads(functions) => {
            let counts = functions.iter().map(|(one, _)| one.parameters.len());
            (counts.clone().min().unwrap_or(0), counts.max())
        }
        Type::Function(function) => {
            let count = function.parameters.len();
            (count, (!function.variadic).then_some(count))
        }
        Type::Builtin(name) => match Signature::of(name) {
            Some(signature) => {
                let most = signature.most();
                (if most.is_none() { 1 } else { signature.least }, most)
            }
            None => (1, Some(1)),
        },
        _ => (0, None),
    }
}

/// Least arguments of a callee.
pub(super) fn least(callee: &Type) -> usize {
    extent(callee).0
}

impl Parser {
    pub(super) fn call(
        &mut self,
        callee: Type,
        mut arguments: Vec<Operand>,
        lexeme: Lexeme<'_>,
    ) -> Outcome {
        let (least, most) = extent(&callee);
        let wanted = |place: usize| Purpose::Argument(wanted(&callee, place));
        if let Some(value) = self.operand_value.take() {
            arguments.push(value);
            if most.is_some_and(|most| arguments.len() > most) || !fits(&callee, &arguments) {
                return Err(Refusal::Type);
            }
        } else if lexeme.text != ")" {
            if most == Some(0) {
                return Err(Refusal::Arity);
            }
            let purpose = wanted(arguments.len());
            self.want(Goal::Call { callee, arguments });
            self.want_expression(purpose);
            return Ok(Step::Again);
        }
        match lexeme.text {
            "," => {
                if most.is_some_and(|most| arguments.len() >= most) {
                    return Err(Refusal::Arity);
                }
                let purpose = wanted(arguments.len());
                self.want(Goal::Call { callee, arguments });
                self.want_expression(purpose);
            }
            ")" => {
                if arguments.len() < least {
                    return Err(Refusal::Arity);
                }
                let result = result(&callee, &arguments).ok_or(Refusal::Type)?;
                // clang computes `__builtin_inff()` and its like itself.
                let fixed =
                    matches!(&callee, Type::Builtin(name) if name.starts_with("__builtin_"));
                self.replace(Operand { fixed, ..Operand::value(result) })?;
            }
            _ => return Err(Refusal::Syntax),
        }
        Ok(Step::Taken)
    }
}

/// What an argument must be.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) enum Wanted {
    /// Assignable to this.
    Value(Type),
    Arithmetic,
    Integer,
    Scalar,
    Pointer,
    Event,
    Image {
        read: bool,
        written: bool,
        /// The function, which may be for images of some shapes alone.
        by: Arc<str>,
    },
    Anything,
}

impl Wanted {
    /// Whether an operand will do.
    pub(super) fn takes(&self, operand: &Operand) -> bool {
        let ty = operand.ty.decayed();
        match (self, &ty) {
            (Wanted::Value(wanted), _) => assignable(wanted, &ty, operand.zero),
            (_, Type::Void) => false,
            (Wanted::Anything, _) | (_, Type::Unknown) => true,
            (Wanted::Arithmetic, _) => ty.is_arithmetic(),
            (Wanted::Integer, _) => ty.is_integer(),
            (Wanted::Scalar, _) => matches!(ty, Type::Scalar(_)),
            (Wanted::Event, _) => operand.zero || ty == Type::Opaque(Handle::Event),
            (Wanted::Pointer, _) => matches!(ty, Type::Pointer(_)),
            (Wanted::Image { read, written, by }, Type::Image { shape, reads, writes }) => {
                (*reads || !read) && (*writes || !written) && has(*shape, by)
            }
            (Wanted::Image { .. }, _) => false,
        }
    }
}

/// Whether images of a shape have what a function asks for.
fn has(shape: Shape, name: &str) -> bool {
    match name {
        "get_image_height" | "get_image_dim" => {
            !matches!(shape, Shape::Line | Shape::Buffer | Shape::Lines)
        }
        "get_image_depth" => shape == Shape::Solid,
        "get_image_array_size" => matches!(shape, Shape::Lines | Shape::Planes | Shape::Other),
        _ => true,
    }
}

/// What a callee takes at a place.
fn wanted(callee: &Type, place: usize) -> Wanted {
    match callee {
        Type::Function(function) => {
            function.parameters.get(place).map_or(Wanted::Anything, |ty| Wanted::Value(ty.clone()))
        }
        Type::Builtin(name) => match Signature::of(name).map(|found| found.argument(place)) {
            None | Some(b'f' | b's' | b'g') => Wanted::Arithmetic,
            Some(b'i' | b'j') => Wanted::Integer,
            Some(b'n' | b'u') if vector_counts(name) => Wanted::Arithmetic,
            Some(b'n' | b'u') => Wanted::Scalar,
            Some(b'p') => Wanted::Pointer,
            Some(b'e') => Wanted::Event,
            Some(b'm') => Wanted::Image {
                read: name.starts_with("read_"),
                written: name.starts_with("write_"),
                by: Arc::clone(name),
            },
            Some(_) => Wanted::Anything,
        },
        _ => Wanted::Anything,
    }
}

impl Function {
    /// Whether arguments, or the first of them, can be what is asked for.
    fn takes(&self, arguments: &[Operand]) -> bool {
        let fits = |(ty, given): (&Type, &Operand)| Wanted::Value(ty.clone()).takes(given);
        arguments.len() <= self.parameters.len() && self.parameters.iter().zip(arguments).all(fits)
    }
}

/// Whether the last argument can be where it is.
fn fits(callee: &Type, arguments: &[Operand]) -> bool {
    let reads = matches!(callee, Type::Builtin(name) if name.starts_with("read_image"));
    let sampled = match (arguments, reads) {
        // A number is a sampler only where the compiler knows it; one number is a coordinate of a line.
        ([image, given], true) if matches!(given.ty, Type::Scalar(_)) => {
            let line = matches!(image.ty, Type::Image { shape, .. } if shape.lanes() == 1);
            let integer = given.ty.is_integer();
            given.fixed && integer || line || image.ty == Type::Unknown
        }
        ([_, given, _], true) => match given.ty {
            Type::Scalar(_) => given.fixed && given.ty.is_integer(),
            _ => true,
        },
        _ => true,
    };
    let last = |last| wanted(callee, arguments.len() - 1).takes(last);
    if let Type::Overloads(functions) = callee {
        return functions.iter().any(|(one, _)| one.takes(arguments));
    }
    sampled && arguments.last().is_none_or(last)
}

/// What a builtin function may give: its types, where few are possible.
pub(super) fn results(name: &str) -> Vec<Type> {
    const FLOATING: [Scalar; 3] = [Scalar::Float, Scalar::Double, Scalar::Half];
    let scalar = |scalar| vec![Type::Scalar(scalar)];
    match Signature::of(name).map(|signature| signature.result) {
        Some(b'v') => vec![Type::Void],
        Some(b'z') => scalar(Scalar::Ulong),
        Some(b'u') => scalar(Scalar::Uint),
        Some(b'n') => scalar(Scalar::Int),
        Some(b's') => FLOATING.map(Type::Scalar).into(),
        Some(b'f') => {
            let vectors = |scalar| [1, 2, 3, 4, 8, 16].map(|lanes| Type::of(scalar, lanes));
            FLOATING.into_iter().flat_map(vectors).collect()
        }
        Some(b'?') if name.starts_with("read_image") && !name.ends_with('h') => {
            // Of images that are not known, one value may be read.
            let read = read(name);
            vec![Type::Vector(read, 4), Type::Scalar(read)]
        }
        Some(b'?') if loads(name).is_some() => {
            let lanes = loads(name).unwrap_or(1);
            ALL.map(|scalar| Type::of(scalar, lanes)).into()
        }
        Some(b'?') => vec![given(name, &[])],
        None => reinterpreted(name).or_else(|| converted(name)).into_iter().collect(),
        Some(_) => vec![Type::Unknown],
    }
}

/// What a function reads from an image.
fn read(name: &str) -> Scalar {
    match name {
        "read_imagef" => Scalar::Float,
        "read_imagei" => Scalar::Int,
        "read_imageui" => Scalar::Uint,
        _ => Scalar::Half,
    }
}

/// Lanes of what `vload4` and its like give.
fn loads(name: &str) -> Option<u8> {
    name.strip_prefix("vload")?.parse().ok()
}

/// What a function gives whose signature does not say it; `Unknown` where that depends on arguments
/// that are not there.
fn given(name: &str, types: &[Type]) -> Type {
    let first = types.first().unwrap_or(&Type::Unknown);
    let like = |scalar: Scalar| match first {
        Type::Unknown => Type::Unknown,
        ty => Type::of(scalar, ty.lanes()),
    };
    let size = first.element().map(Scalar::size);
    match name {
        "async_work_group_copy" | "async_work_group_strided_copy" => Type::Opaque(Handle::Event),
        "shuffle" | "shuffle2" => match (first.element(), types.last()) {
            (Some(scalar), Some(Type::Vector(_, lanes))) => Type::Vector(scalar, *lanes),
            _ => Type::Unknown,
        },
        "nan" => match size {
            Some(2) => like(Scalar::Half),
            Some(8) => like(Scalar::Double),
            _ => like(Scalar::Float),
        },
        "upsample" => {
            let unsigned =
                matches!(first.element(), Some(Scalar::Uchar | Scalar::Ushort | Scalar::Uint));
            match (size, unsigned) {
                (Some(1), false) => like(Scalar::Short),
                (Some(1), true) => like(Scalar::Ushort),
                (Some(2), false) => like(Scalar::Int),
                (Some(2), true) => like(Scalar::Uint),
                (_, false) => like(Scalar::Long),
                (_, true) => like(Scalar::Ulong),
            }
        }
        "__builtin_inff" | "__builtin_huge_valf" | "__builtin_nanf" | "__builtin_frexpf" => {
            Type::Scalar(Scalar::Float)
        }
        "__builtin_huge_val" | "__builtin_fmin" | "__builtin_fmax" => Type::Scalar(Scalar::Double),
        "__builtin_expect" => Type::Scalar(Scalar::Long),
        "sub_group_ballot" => Type::Vector(Scalar::Uint, 4),
        _ if name.starts_with("sub_group_") || name.starts_with("work_group_") => match first {
            Type::Scalar(scalar) => Type::Scalar((*scalar).max(Scalar::Char)),
            other => other.clone(),
        },
        _ if name.starts_with("vload") && name.contains("half") => {
            let lanes = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
            Type::of(Scalar::Float, lanes.parse().unwrap_or(1))
        }
        _ => Type::Unknown,
    }
}

/// The scalar that an overloaded function is chosen for; `None` where the choice is ambiguous.
///
/// A candidate wins if for every argument its conversion is no worse than any other's: equal types
/// beat promotions, and these beat conversions (C++ rules, as clang applies them to builtins).
fn chosen(scalars: &[Scalar], candidates: &[Scalar]) -> Option<Scalar> {
    let rank = |from: Scalar, to: Scalar| {
        if from == to {
            return 0;
        }
        let promotes = from < Scalar::Int && to == Scalar::Int
            || from == Scalar::Float && to == Scalar::Double
            || from == Scalar::Half && to == Scalar::Float;
        if promotes { 1 } else { 2 }
    };
    let beats = |a: Scalar, b: Scalar| {
        scalars.iter().all(|from| rank(*from, a) <= rank(*from, b))
            && scalars.iter().any(|from| rank(*from, a) < rank(*from, b))
    };
    candidates
        .iter()
        .copied()
        .find(|one| candidates.iter().all(|other| other == one || beats(*one, *other)))
}

/// Whether a function exists in single precision alone.
fn single(name: &str) -> bool {
    name.starts_with("native_") || name.starts_with("half_")
}

/// Whether a function exists for signed integers alone.
fn signed(name: &str) -> bool {
    matches!(name, "any" | "all")
}

const NARROW: [Scalar; 2] = [Scalar::Int, Scalar::Uint];
const SIGNED: [Scalar; 4] = [Scalar::Char, Scalar::Short, Scalar::Int, Scalar::Long];
const FLOATS: [Scalar; 3] = [Scalar::Half, Scalar::Float, Scalar::Double];
const INTEGERS: [Scalar; 8] = [
    Scalar::Char,
    Scalar::Uchar,
    Scalar::Short,
    Scalar::Ushort,
    Scalar::Int,
    Scalar::Uint,
    Scalar::Long,
    Scalar::Ulong,
];
const ALL: [Scalar; 11] = [
    Scalar::Char,
    Scalar::Uchar,
    Scalar::Short,
    Scalar::Ushort,
    Scalar::Int,
    Scalar::Uint,
    Scalar::Long,
    Scalar::Ulong,
    Scalar::Half,
    Scalar::Float,
    Scalar::Double,
];

/// The type of a call's value; `None` where no overload takes these arguments.
fn result(callee: &Type, arguments: &[Operand]) -> Option<Type> {
    let name = match callee {
        Type::Function(function) => return Some(function.result.clone()),
        Type::Overloads(functions) => {
            let count = arguments.len();
            let fitting: Vec<&Function> = functions
                .iter()
                .map(|(one, _)| &**one)
                .filter(|one| one.parameters.len() == count && one.takes(arguments))
                .collect();
            let first = fitting.first()?;
            let same = fitting.iter().all(|one| one.result == first.result);
            return Some(if same { first.result.clone() } else { Type::Unknown });
        }
        Type::Builtin(name) => name,
        _ => return Some(Type::Unknown),
    };
    let types: Vec<Type> = arguments.iter().map(|argument| argument.ty.decayed()).collect();
    let Some(signature) = Signature::of(name) else {
        return match (reinterpreted(name), converted(name)) {
            (Some(to), _) => reinterpret(to, &types[0]),
            (_, Some(to)) => {
                let same = types[0] == Type::Unknown || types[0].lanes() == to.lanes();
                same.then_some(to)
            }
            _ => Some(Type::Unknown),
        };
    };
    let generic: Vec<&Type> = types
        .iter()
        .enumerate()
        .filter(|(at, _)| matches!(signature.argument(*at), b'f' | b'g' | b'i' | b'j' | b's'))
        .map(|(_, ty)| ty)
        .collect();
    if generic.contains(&&Type::Unknown) {
        return Some(match signature.result {
            b'v' => Type::Void,
            b'z' => Type::Scalar(Scalar::Ulong),
            _ => Type::Unknown,
        });
    }
    let chosen = if generic.is_empty() { None } else { Some(overload(name, &signature, &types)?) };
    if !consistent(name, &types, chosen.as_ref()) {
        return None;
    }
    Some(match (signature.result, chosen) {
        (b'v', _) => Type::Void,
        (b'z', _) => Type::Scalar(Scalar::Ulong),
        (b'u', _) => Type::Scalar(Scalar::Uint),
        (b'n', _) => Type::Scalar(Scalar::Int),
        (b'f' | b'g', Some(ty)) => ty,
        (b'i', Some(ty)) if matches!(&**name, "abs" | "abs_diff") => unsigned(&ty),
        (b'i' | b'j', Some(ty)) => ty,
        (b's', Some(ty)) => Type::Scalar(ty.element()?),
        (b'N', Some(ty)) => match ty {
            Type::Vector(scalar, lanes) => Type::Vector(scalar.mask(), lanes),
            _ => Type::Scalar(Scalar::Int),
        },
        (b'p', _) => types.first()?.target().map_or(Type::Unknown, |target| target.ty.clone()),
        _ if loads(name).is_some() => {
            let lanes = loads(name)?;
            match types.get(1)?.target().map(|target| &target.ty) {
                Some(Type::Scalar(scalar)) => Type::Vector(*scalar, lanes),
                Some(Type::Unknown) | None => Type::Unknown,
                Some(_) => return None,
            }
        }
        _ if matches!(types.first(), Some(Type::Image { shape: Shape::Other, .. })) => {
            Type::Unknown
        }
        _ if name.starts_with("read_image") && types[0] != Type::Unknown => {
            Type::Vector(read(name), 4)
        }
        (_, _) if &**name == "get_image_dim" => match types[0] {
            Type::Image { shape, .. } => Type::of(Scalar::Int, shape.lanes()),
            _ => Type::Unknown,
        },
        _ => given(name, &types),
    })
}

/// Whether an integer argument may be a vector.
fn vector_counts(name: &str) -> bool {
    matches!(name, "ldexp" | "pown" | "rootn")
}

/// The type that stands for `f`, `g` or `i` of a signature.
fn overload(name: &str, signature: &Signature, types: &[Type]) -> Option<Type> {
    let letters = |at: usize| signature.argument(at);
    let vector = types
        .iter()
        .enumerate()
        .filter(|(at, _)| matches!(letters(*at), b'f' | b'g' | b'i' | b'j' | b's'))
        .find_map(|(_, ty)| matches!(ty, Type::Vector(..)).then(|| ty.clone()));
    let floating = types.iter().enumerate().any(|(at, _)| letters(at) == b'f');
    if let Some(vector) = vector {
        let scalar = vector.element()?;
        if floating && !scalar.is_float()
            || single(name) && scalar != Scalar::Float
            || signed(name) && !SIGNED.contains(&scalar)
            || signature.arguments.contains(&b'j') && !NARROW.contains(&scalar)
        {
            return None;
        }
        // Scalars are spread; vectors are all alike.
        let generic = |at: usize| matches!(letters(at), b'f' | b'g' | b'i' | b'j' | b's');
        let alike = |(at, ty): (usize, &Type)| !generic(at) || *ty == vector || ty.lanes() == 1;
        return types.iter().enumerate().all(alike).then_some(vector);
    }
    let scalars: Vec<Scalar> = types
        .iter()
        .enumerate()
        .filter(|(at, _)| matches!(letters(*at), b'f' | b'g' | b'i' | b'j' | b's'))
        .filter_map(|(_, ty)| ty.element())
        .collect();
    let candidates: &[Scalar] = match () {
        () if single(name) => &[Scalar::Float],
        () if signed(name) => &SIGNED,
        () if floating => &FLOATS,
        () if signature.arguments.contains(&b'j') => &NARROW,
        () if signature.arguments.contains(&b'i') => &INTEGERS,
        () => &ALL,
    };
    chosen(&scalars, candidates).map(Type::Scalar)
}

fn unsigned(ty: &Type) -> Type {
    let scalar = match ty.element() {
        Some(Scalar::Char) => Scalar::Uchar,
        Some(Scalar::Short) => Scalar::Ushort,
        Some(Scalar::Int) => Scalar::Uint,
        Some(Scalar::Long) => Scalar::Ulong,
        Some(other) => other,
        None => return Type::Unknown,
    };
    Type::of(scalar, ty.lanes())
}

pub(super) fn reinterpret(to: Type, from: &Type) -> Option<Type> {
    if to == Type::Unknown {
        return Some(to);
    }
    let size = |ty: &Type| {
        let lanes = if ty.lanes() == 3 { 4 } else { usize::from(ty.lanes()) };
        ty.element().map(|scalar| scalar.size() * lanes)
    };
    (*from == Type::Unknown || size(from) == size(&to)).then_some(to)
}
