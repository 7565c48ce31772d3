//! Calls: of the program's own functions and of builtin ones.

use super::{
    builtins::{self, Signature},
    express::{Operand, Purpose},
    parser::{Goal, Lexeme, Outcome, Parser, Refusal, Step},
    types::{Scalar, Type, assignable},
};

/// Whether a word may be the beginning of a builtin function's name.
pub(super) fn begins_builtin(prefix: &str) -> bool {
    let families = ["convert_", "as_"];
    builtins::names().any(|name| name.starts_with(prefix))
        || families.iter().any(|family| {
            family.starts_with(prefix)
                || prefix.strip_prefix(family).is_some_and(|rest| {
                    let rest = rest.split('_').next().unwrap_or(rest);
                    ["", "t", "r", "g", "ng", "ar", "int", "ort", "nt", "uble", "oat", "at", "te"]
                        .iter()
                        .any(|end| Type::named(&format!("{rest}{end}")).is_some())
                        || ["2", "16", "6"]
                            .iter()
                            .any(|end| Type::named(&format!("{rest}{end}")).is_some())
                        || crate::tokenizer::TYPES.iter().any(|ty| ty.starts_with(rest))
                })
        })
}

/// Whether a word that looks like a builtin function's is one.
pub(super) fn is_whole(name: &str) -> bool {
    Signature::of(name).is_some()
        || name.starts_with("__builtin_")
        || reinterpreted(name).is_some()
        || converted(name).is_some()
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
    known.then_some(ty)
}

/// What a callee takes: least and most arguments.
fn extent(callee: &Type) -> (usize, Option<usize>) {
    match callee {
        Type::Function(function) => {
            let count = function.parameters.len();
            (count, (!function.variadic).then_some(count))
        }
        Type::Builtin(name) => match Signature::of(name) {
            Some(signature) => {
                let most = signature.most();
                (if most.is_none() { 1 } else { signature.least }, most)
            }
            None if name.starts_with("__builtin_") => (0, None),
            None => (1, Some(1)),
        },
        _ => (0, None),
    }
}

impl Parser {
    pub(super) fn call(
        &mut self,
        callee: Type,
        mut arguments: Vec<Operand>,
        lexeme: Lexeme<'_>,
    ) -> Outcome {
        let (least, most) = extent(&callee);
        if let Some(value) = self.operand_value.take() {
            arguments.push(value);
            if most.is_some_and(|most| arguments.len() > most) || !fits(&callee, &arguments) {
                return Err(Refusal::Type);
            }
        } else if lexeme.text != ")" {
            if most == Some(0) {
                return Err(Refusal::Arity);
            }
            self.want(Goal::Call { callee, arguments });
            self.want_expression(Purpose::Argument);
            return Ok(Step::Again);
        }
        match lexeme.text {
            "," => {
                if most.is_some_and(|most| arguments.len() >= most) {
                    return Err(Refusal::Arity);
                }
                self.want(Goal::Call { callee, arguments });
                self.want_expression(Purpose::Argument);
            }
            ")" => {
                if arguments.len() < least {
                    return Err(Refusal::Arity);
                }
                let result = result(&callee, &arguments).ok_or(Refusal::Type)?;
                self.replace(Operand::value(result))?;
            }
            _ => return Err(Refusal::Syntax),
        }
        Ok(Step::Taken)
    }
}

/// Whether the last argument can be where it is.
fn fits(callee: &Type, arguments: &[Operand]) -> bool {
    let Some(last) = arguments.last() else { return true };
    let place = arguments.len() - 1;
    let ty = last.ty.decayed();
    match callee {
        Type::Function(function) => {
            let parameter = function.parameters.get(place);
            parameter.is_none_or(|parameter| assignable(parameter, &ty, last.zero))
        }
        Type::Builtin(name) => {
            if ty == Type::Unknown {
                return true;
            }
            let Some(signature) = Signature::of(name) else {
                return name.starts_with("__builtin_") || ty.is_arithmetic();
            };
            match signature.argument(place) {
                b'f' | b's' | b'g' => ty.is_arithmetic(),
                b'i' => ty.is_integer(),
                b'n' | b'u' => ty.is_arithmetic(),
                b'p' => matches!(ty, Type::Pointer(_)) || ty == Type::Opaque,
                b'm' => ty == Type::Opaque,
                _ => true,
            }
        }
        _ => true,
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
        .filter(|(at, _)| matches!(signature.argument(*at), b'f' | b'g' | b'i' | b's'))
        .map(|(_, ty)| ty)
        .collect();
    if generic.contains(&&Type::Unknown) {
        return Some(match signature.result {
            b'v' => Type::Void,
            b'z' => Type::Scalar(Scalar::Ulong),
            _ => Type::Unknown,
        });
    }
    let chosen = if generic.is_empty() { None } else { Some(overload(&signature, &types)?) };
    Some(match (signature.result, chosen) {
        (b'v', _) => Type::Void,
        (b'z', _) => Type::Scalar(Scalar::Ulong),
        (b'u', _) => Type::Scalar(Scalar::Uint),
        (b'n', _) => Type::Scalar(Scalar::Int),
        (b'f' | b'g', Some(ty)) => ty,
        (b'i', Some(ty)) if &**name == "abs" => unsigned(&ty),
        (b'i', Some(ty)) => ty,
        (b's', Some(ty)) => Type::Scalar(ty.element()?),
        (b'N', Some(ty)) => match ty {
            Type::Vector(scalar, lanes) => Type::Vector(scalar.mask(), lanes),
            _ => Type::Scalar(Scalar::Int),
        },
        (b'p', _) => types.first()?.target().map_or(Type::Unknown, |target| target.ty.clone()),
        _ if name.starts_with("vload") && !name.contains("half") => {
            let lanes: u8 = name["vload".len()..].parse().ok()?;
            match types.get(1)?.target().map(|target| &target.ty) {
                Some(Type::Scalar(scalar)) => Type::Vector(*scalar, lanes),
                Some(Type::Unknown) | None => Type::Unknown,
                Some(_) => return None,
            }
        }
        _ if name.starts_with("read_image") => {
            let scalar = match name.as_ref() {
                "read_imagef" => Scalar::Float,
                "read_imagei" => Scalar::Int,
                "read_imageui" => Scalar::Uint,
                _ => Scalar::Half,
            };
            // Depth images give one float; which an image is is not tracked.
            let _ = scalar;
            Type::Unknown
        }
        _ => Type::Unknown,
    })
}

/// The type that stands for `f`, `g` or `i` of a signature.
fn overload(signature: &Signature, types: &[Type]) -> Option<Type> {
    let letters = |at: usize| signature.argument(at);
    let vector = types
        .iter()
        .enumerate()
        .filter(|(at, _)| matches!(letters(*at), b'f' | b'g' | b'i' | b's'))
        .find_map(|(_, ty)| matches!(ty, Type::Vector(..)).then(|| ty.clone()));
    let floating = types.iter().enumerate().any(|(at, _)| letters(at) == b'f');
    if let Some(vector) = vector {
        if floating && !vector.element()?.is_float() {
            return None;
        }
        for (at, ty) in types.iter().enumerate() {
            match letters(at) {
                b'f' | b'g' | b'i' if *ty != vector => return None,
                b's' if *ty != vector && ty.lanes() > 1 => return None,
                _ => {}
            }
        }
        return Some(vector);
    }
    let scalars: Vec<Scalar> = types
        .iter()
        .enumerate()
        .filter(|(at, _)| matches!(letters(*at), b'f' | b'g' | b'i' | b's'))
        .filter_map(|(_, ty)| ty.element())
        .collect();
    let candidates: &[Scalar] = match (floating, signature.arguments.contains(&b'i')) {
        (true, _) => &FLOATS,
        (_, true) => &INTEGERS,
        _ => &ALL,
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

fn reinterpret(to: Type, from: &Type) -> Option<Type> {
    let size = |ty: &Type| {
        let lanes = if ty.lanes() == 3 { 4 } else { usize::from(ty.lanes()) };
        ty.element().map(|scalar| scalar.size() * lanes)
    };
    (*from == Type::Unknown || size(from) == size(&to)).then_some(to)
}
