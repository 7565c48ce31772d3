//! What kernels are called with, the same for every kernel.

use clang::{AddressSpace, Argument, Kernel, Scalar, Type};

/// Arguments that a driver has room for.
pub const MOST_ARGUMENTS: usize = 32;

/// An argument of a kernel that runs on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// What the driver fills its buffer with: `c`, `s`, `i`, `l`, `f`, `d` are numbers, and `-` is nothing.
    pub kind: char,
    /// Where its buffer lies: `g`lobal, `c`onstant or `l`ocal; `-`: it has none.
    pub space: char,
    /// It in OpenCL C: a buffer of those that the driver's array `stampmill_arguments` has, or a number.
    pub value: String,
}

/// The arguments that a kernel is called with. Every integer is `size`.
///
/// # Errors
/// Names the type of an argument that is not supported, or says how many arguments there are where they are too many.
pub fn passed(kernel: &Kernel, size: u32) -> Result<Vec<Passed>, String> {
    if kernel.arguments.len() > MOST_ARGUMENTS {
        return Err(format!("{} arguments", kernel.arguments.len()));
    }
    let all = kernel.arguments.iter().enumerate().map(|(at, argument)| {
        let unknown = || format!("an argument of type {}", argument.type_name);
        one(argument, at, size).ok_or_else(unknown)
    });
    all.collect()
}

fn one(argument: &Argument, at: usize, size: u32) -> Option<Passed> {
    match &argument.r#type {
        Type::Pointer { space, pointee } => {
            let (name, space) = match space {
                AddressSpace::Global => ("global ", 'g'),
                AddressSpace::Constant => ("constant ", 'c'),
                AddressSpace::Local => ("local ", 'l'),
                // Of C, which has no address spaces.
                AddressSpace::Private => ("", 'g'),
                AddressSpace::Generic => return None,
            };
            let kind = match &**pointee {
                Type::Scalar { scalar, size_bytes } | Type::Vector { scalar, size_bytes, .. } => {
                    kind(*scalar, *size_bytes)
                }
                _ => '-',
            };
            let value = format!("({name}void *)stampmill_arguments[{at}]");
            Some(Passed { kind, space, value })
        }
        Type::Scalar { scalar, .. } | Type::Vector { scalar, .. } => {
            let value = match scalar {
                Scalar::Float => "1.5f".to_owned(),
                _ => size.to_string(),
            };
            Some(Passed { kind: '-', space: '-', value })
        }
        _ => None,
    }
}

fn kind(scalar: Scalar, size_bytes: u32) -> char {
    match (scalar, size_bytes) {
        (Scalar::Float, 4) => 'f',
        (Scalar::Float, 8) => 'd',
        (Scalar::Signed | Scalar::Unsigned, 1) => 'c',
        (Scalar::Signed | Scalar::Unsigned, 2) => 's',
        (Scalar::Signed | Scalar::Unsigned, 4) => 'i',
        (Scalar::Signed | Scalar::Unsigned, 8) => 'l',
        _ => '-',
    }
}

/// Kernels for tests.
#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn argument(r#type: Type) -> Argument {
        Argument {
            name: "a".into(),
            type_name: "TYPE".into(),
            r#type,
            constant: false,
            indexes: false,
            read: true,
            written: false,
        }
    }

    pub(crate) fn kernel(arguments: Vec<Argument>, dimensions: u8) -> Kernel {
        Kernel {
            declaration: 0,
            name: "A".into(),
            arguments,
            required_group_size: None,
            dimensions,
        }
    }

    #[test]
    fn arguments_are_buffers_in_their_space_and_numbers_and_nothing_else() {
        let float = Type::Scalar { scalar: Scalar::Float, size_bytes: 4 };
        let pointer = |space| Type::Pointer { space, pointee: Box::new(float.clone()) };
        let all = vec![
            argument(pointer(AddressSpace::Global)),
            argument(pointer(AddressSpace::Local)),
            argument(Type::Scalar { scalar: Scalar::Signed, size_bytes: 4 }),
            argument(float.clone()),
        ];
        let all = passed(&kernel(all, 1), 64).expect("they are supported");
        let said: Vec<_> =
            all.iter().map(|one| (one.kind, one.space, one.value.as_str())).collect();
        let wanted = [
            ('f', 'g', "(global void *)stampmill_arguments[0]"),
            ('f', 'l', "(local void *)stampmill_arguments[1]"),
            ('-', '-', "64"),
            ('-', '-', "1.5f"),
        ];
        assert_eq!(said, wanted);
        let refused = passed(&kernel(vec![argument(Type::Sampler)], 1), 64);
        assert_eq!(refused, Err("an argument of type TYPE".to_owned()));
        let many = vec![argument(float); MOST_ARGUMENTS + 1];
        assert_eq!(passed(&kernel(many, 1), 64), Err("33 arguments".to_owned()));
    }
}
