use crate::{Library, symbols::RawType};
use std::{fmt, marker::PhantomData, ptr::NonNull};

/// What a [`Type`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TypeKind {
    /// No value.
    Void,
    /// Any floating-point type.
    Float,
    /// An integer of some width.
    Integer,
    /// A function's signature.
    Function,
    /// A struct.
    Struct,
    /// An array.
    Array,
    /// A pointer.
    Pointer,
    /// A vector, fixed or scalable.
    Vector,
    /// Labels, metadata, tokens, target types.
    Other,
}

/// A type of IR. Equal types are the same type of one context.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type<'m> {
    pub(crate) raw: NonNull<RawType>,
    library: Id,
    module: PhantomData<&'m ()>,
}

/// A library, compared by address.
#[derive(Clone, Copy)]
struct Id(&'static Library);

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Id {}

impl std::hash::Hash for Id {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl<'m> Type<'m> {
    pub(crate) fn borrow(library: &'static Library, raw: *mut RawType) -> Type<'m> {
        let raw = NonNull::new(raw).expect("everything that is asked for its type has one");
        Type { raw, library: Id(library), module: PhantomData }
    }

    fn code(self) -> u32 {
        // SAFETY: the type is alive.
        unsafe { (self.library.0.symbols.type_kind)(self.raw.as_ptr()) }
    }

    /// What it is.
    #[must_use]
    pub fn kind(self) -> TypeKind {
        match self.code() {
            0 => TypeKind::Void,
            1..=6 | 18 => TypeKind::Float,
            8 => TypeKind::Integer,
            9 => TypeKind::Function,
            10 => TypeKind::Struct,
            11 => TypeKind::Array,
            12 => TypeKind::Pointer,
            13 | 17 => TypeKind::Vector,
            _ => TypeKind::Other,
        }
    }

    /// Width in bits of an integer type.
    #[must_use]
    pub fn integer_width(self) -> Option<u32> {
        // SAFETY: it is an integer type.
        (self.kind() == TypeKind::Integer)
            .then(|| unsafe { (self.library.0.symbols.integer_width)(self.raw.as_ptr()) })
    }

    /// Width in bits of a floating-point type.
    #[must_use]
    pub fn float_width(self) -> Option<u32> {
        Some(match self.code() {
            1 | 18 => 16,
            2 => 32,
            3 => 64,
            4 => 80,
            5 | 6 => 128,
            _ => return None,
        })
    }

    /// Address space of a pointer type.
    #[must_use]
    pub fn address_space(self) -> Option<u32> {
        // SAFETY: it is a pointer type.
        (self.kind() == TypeKind::Pointer)
            .then(|| unsafe { (self.library.0.symbols.address_space)(self.raw.as_ptr()) })
    }

    /// What an array or vector type is made of.
    #[must_use]
    pub fn element(self) -> Option<Type<'m>> {
        if !matches!(self.kind(), TypeKind::Array | TypeKind::Vector) {
            return None;
        }
        // SAFETY: it is an array or vector type.
        let raw = unsafe { (self.library.0.symbols.element_type)(self.raw.as_ptr()) };
        Some(Type::borrow(self.library.0, raw))
    }

    /// Elements of an array, (least) lanes of a vector, fields of a struct; 0 for others.
    #[must_use]
    pub fn length(self) -> u64 {
        let symbols = &self.library.0.symbols;
        let raw = self.raw.as_ptr();
        let narrow = match (self.kind(), symbols.array_length_64) {
            // SAFETY: it is an array type.
            (TypeKind::Array, Some(ask)) => return unsafe { ask(raw) },
            // SAFETY: it is an array type.
            (TypeKind::Array, None) => unsafe { (symbols.array_length)(raw) },
            // SAFETY: it is a vector type.
            (TypeKind::Vector, _) => unsafe { (symbols.vector_size)(raw) },
            // SAFETY: it is a struct type.
            (TypeKind::Struct, _) => unsafe { (symbols.count_fields)(raw) },
            _ => 0,
        };
        narrow.into()
    }

    /// The type of a struct's field.
    #[must_use]
    pub fn field(self, index: u32) -> Option<Type<'m>> {
        if self.kind() != TypeKind::Struct || u64::from(index) >= self.length() {
            return None;
        }
        // SAFETY: it is a struct type with a field at this index.
        let raw = unsafe { (self.library.0.symbols.field_type)(self.raw.as_ptr(), index) };
        Some(Type::borrow(self.library.0, raw))
    }

    /// What a function of this type returns.
    #[must_use]
    pub fn returns(self) -> Option<Type<'m>> {
        if self.kind() != TypeKind::Function {
            return None;
        }
        // SAFETY: it is a function type.
        let raw = unsafe { (self.library.0.symbols.return_type)(self.raw.as_ptr()) };
        Some(Type::borrow(self.library.0, raw))
    }

    /// The types of a function type's parameters; empty for others.
    #[must_use]
    pub fn parameters(self) -> Vec<Type<'m>> {
        if self.kind() != TypeKind::Function {
            return Vec::new();
        }
        let symbols = &self.library.0.symbols;
        // SAFETY: it is a function type.
        let count = unsafe { (symbols.count_parameter_types)(self.raw.as_ptr()) };
        let mut types = vec![std::ptr::null_mut(); count as usize];
        // SAFETY: there is room for as many types as were counted.
        unsafe { (symbols.parameter_types)(self.raw.as_ptr(), types.as_mut_ptr()) };
        types.into_iter().map(|raw| Type::borrow(self.library.0, raw)).collect()
    }

    /// Whether a function of this type takes further arguments.
    #[must_use]
    pub fn is_variadic(self) -> bool {
        // SAFETY: it is a function type.
        self.kind() == TypeKind::Function
            && unsafe { (self.library.0.symbols.is_variadic)(self.raw.as_ptr()) } != 0
    }

    /// It as text.
    #[must_use]
    pub fn print(self) -> String {
        // SAFETY: the type is alive; the text becomes ours.
        let text = unsafe { (self.library.0.symbols.print_type)(self.raw.as_ptr()) };
        self.library.0.take_message(text)
    }
}

impl fmt::Debug for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.print())
    }
}
