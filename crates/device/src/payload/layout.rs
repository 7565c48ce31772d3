use clang::{Scalar, Type};
use serde::{Deserialize, Serialize};

/// More scalars in one element than this are no longer a record but a table of their own.
const MOST_LEAVES: usize = 1 << 16;

/// A scalar inside an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Leaf {
    /// Bytes from the start of the element.
    pub(crate) offset: usize,
    /// What kind of scalar.
    pub(crate) scalar: Scalar,
    /// 1, 2, 4 or 8 bytes.
    pub(crate) size: usize,
}

/// An element of a buffer (or an argument passed by value) as the scalars it is made of; what lies
/// between them is padding and holds zeros.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Layout {
    /// Bytes from one element to the next.
    pub(crate) size: usize,
    /// By offset.
    pub(crate) leaves: Vec<Leaf>,
}

impl Layout {
    /// The layout of `type`; three lanes take the room of four, a union is its bytes, `void` is
    /// taken for 32-bit words.
    ///
    /// # Errors
    /// What in it cannot be given a value: pointers, images, samplers, events, pipes.
    pub(crate) fn of(r#type: &Type) -> Result<Layout, String> {
        let mut leaves = Vec::new();
        let size = collect(r#type, 0, &mut leaves)?;
        match size {
            0 => Err("a type of no size".to_owned()),
            size => Ok(Layout { size, leaves }),
        }
    }

    /// `lanes` scalars in a row.
    pub(crate) fn lanes(scalar: Scalar, size: usize, lanes: usize) -> Layout {
        let leaves = (0..lanes).map(|lane| Leaf { offset: lane * size, scalar, size }).collect();
        Layout { size: lanes * size, leaves }
    }
}

fn collect(r#type: &Type, offset: usize, leaves: &mut Vec<Leaf>) -> Result<usize, String> {
    if leaves.len() > MOST_LEAVES {
        return Err(format!("an element of more than {MOST_LEAVES} scalars"));
    }
    match r#type {
        Type::Scalar { scalar, size_bytes } => {
            let size = *size_bytes as usize;
            leaves.push(Leaf { offset, scalar: *scalar, size });
            Ok(size)
        }
        Type::Vector { scalar, size_bytes, lanes } => {
            let size = *size_bytes as usize;
            let lanes = *lanes as usize;
            leaves.extend((0..lanes).map(|lane| Leaf {
                offset: offset + lane * size,
                scalar: *scalar,
                size,
            }));
            Ok(size * if lanes == 3 { 4 } else { lanes })
        }
        Type::Array { element, length } => {
            let mut taken = 0;
            for _ in 0..*length {
                taken += collect(element, offset + taken, leaves)?;
            }
            Ok(taken)
        }
        Type::Struct { size_bytes, fields, .. } => {
            for field in fields {
                collect(&field.r#type, offset + narrow(field.offset_bytes)?, leaves)?;
            }
            narrow(*size_bytes)
        }
        Type::Union { size_bytes, .. } => {
            let size = narrow(*size_bytes)?;
            let byte = |at| Leaf { offset: offset + at, scalar: Scalar::Unsigned, size: 1 };
            leaves.extend((0..size).map(byte));
            Ok(size)
        }
        Type::Void => {
            leaves.push(Leaf { offset, scalar: Scalar::Unsigned, size: 4 });
            Ok(4)
        }
        Type::Pointer { .. } => Err("a pointer inside of a buffer or struct".to_owned()),
        Type::Image { kind, .. } => Err(format!("`{kind}` inside of another type")),
        Type::Sampler => Err("`sampler_t` inside of another type".to_owned()),
        Type::Opaque(name) => Err(format!("`{name}`")),
    }
}

fn narrow(bytes: u64) -> Result<usize, String> {
    match usize::try_from(bytes) {
        Ok(bytes) if bytes <= 1 << 20 => Ok(bytes),
        _ => Err(format!("an element of {bytes} bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clang::{AddressSpace, Field};

    const INT: Type = Type::Scalar { scalar: Scalar::Signed, size_bytes: 4 };

    #[test]
    fn three_lanes_take_the_room_of_four() {
        let float3 = Type::Vector { scalar: Scalar::Float, size_bytes: 4, lanes: 3 };
        let layout = Layout::of(&float3).expect("a vector has a layout");
        assert_eq!((layout.size, layout.leaves.len()), (16, 3));
    }

    #[test]
    fn a_struct_keeps_its_offsets_and_padding() {
        let field =
            |name: &str, offset_bytes, r#type| Field { name: name.into(), offset_bytes, r#type };
        let byte = Type::Scalar { scalar: Scalar::Signed, size_bytes: 1 };
        let record = Type::Struct {
            name: "R".into(),
            size_bytes: 16,
            align_bytes: 4,
            fields: vec![
                field("a", 0, byte),
                field("b", 4, INT),
                field("c", 8, Type::Array { element: Box::new(INT), length: 2 }),
            ],
        };
        let layout = Layout::of(&record).expect("a struct has a layout");
        let offsets: Vec<usize> = layout.leaves.iter().map(|leaf| leaf.offset).collect();
        assert_eq!((layout.size, offsets), (16, vec![0, 4, 8, 12]));
    }

    #[test]
    fn a_pointer_in_a_buffer_is_refused_by_name() {
        let inner = Type::Pointer { space: AddressSpace::Global, pointee: Box::new(INT) };
        let reason = Layout::of(&inner).expect_err("no payload for pointers");
        assert!(reason.contains("pointer"), "{reason}");
    }
}
