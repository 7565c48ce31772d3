use crate::{
    Block, Function, Global, Instruction, Library, Type, library::copy_text, symbols::RawValue,
};
use std::{fmt, marker::PhantomData, ptr::NonNull};

/// What a [`Value`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueKind {
    /// A function's argument.
    Argument,
    /// A block, as an operand of a terminator.
    Block,
    /// A function.
    Function,
    /// A global variable, alias or indirect function.
    Global,
    /// An integer constant (of a scalar type).
    Integer,
    /// A floating-point constant.
    Float,
    /// The null pointer, an all-zero aggregate.
    Zero,
    /// Undefined or poison.
    Undefined,
    /// An array, struct or vector of constants.
    Aggregate,
    /// An expression of constants.
    Expression,
    /// An instruction's result.
    Instruction,
    /// Metadata, inline assembly, or a kind this table does not know.
    Other,
}

/// Anything that can be an operand.
#[derive(Clone, Copy)]
pub struct Value<'m> {
    pub(crate) raw: NonNull<RawValue>,
    pub(crate) library: &'static Library,
    pub(crate) module: PhantomData<&'m ()>,
}

impl<'m> Value<'m> {
    /// What it is.
    #[must_use]
    pub fn kind(self) -> ValueKind {
        // SAFETY: the value is alive.
        match unsafe { (self.library.symbols.value_kind)(self.raw.as_ptr()) } {
            0 => ValueKind::Argument,
            1 => ValueKind::Block,
            5 => ValueKind::Function,
            6..=8 => ValueKind::Global,
            10 => ValueKind::Expression,
            11..=13 | 16 | 17 => ValueKind::Aggregate,
            14 | 25 => ValueKind::Undefined,
            15 | 20 => ValueKind::Zero,
            18 => ValueKind::Integer,
            19 => ValueKind::Float,
            24 => ValueKind::Instruction,
            _ => ValueKind::Other,
        }
    }

    /// Whether it is a constant: a literal, an aggregate or expression of literals, undefined, or
    /// the address of a function or global variable.
    #[must_use]
    pub fn is_constant(self) -> bool {
        // SAFETY: the value is alive.
        (unsafe { (self.library.symbols.is_constant)(self.raw.as_ptr()) }) != 0
    }

    /// Width in bits and value of an integer constant of up to 64 bits, zero-extended.
    #[must_use]
    pub fn integer(self) -> Option<(u32, u64)> {
        if self.kind() != ValueKind::Integer {
            return None;
        }
        let width = self.ty().integer_width().filter(|width| *width <= 64)?;
        // SAFETY: it is an integer constant that fits.
        Some((width, unsafe { (self.library.symbols.integer_value)(self.raw.as_ptr()) }))
    }

    /// Its type.
    #[must_use]
    pub fn ty(self) -> Type<'m> {
        // SAFETY: the value is alive.
        let raw = unsafe { (self.library.symbols.type_of)(self.raw.as_ptr()) };
        Type::borrow(self.library, raw)
    }

    /// Its name without sigil; empty for the unnamed.
    #[must_use]
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: the value is alive; the text is copied at once.
        let text = unsafe { (self.library.symbols.value_name)(self.raw.as_ptr(), &raw mut length) };
        copy_text(text, length)
    }

    /// As an instruction, if it is one's result.
    #[must_use]
    pub fn as_instruction(self) -> Option<Instruction<'m>> {
        (self.kind() == ValueKind::Instruction).then_some(Instruction {
            raw: self.raw,
            library: self.library,
            module: PhantomData,
        })
    }

    /// As a function, if it is one.
    #[must_use]
    pub fn as_function(self) -> Option<Function<'m>> {
        (self.kind() == ValueKind::Function).then_some(Function {
            raw: self.raw,
            library: self.library,
            module: PhantomData,
        })
    }

    /// As a global variable, if it is one.
    #[must_use]
    pub fn as_global(self) -> Option<Global<'m>> {
        // SAFETY: the value is alive.
        let kind = unsafe { (self.library.symbols.value_kind)(self.raw.as_ptr()) };
        // Aliases and indirect functions are of the same kind here, but hold nothing themselves.
        (kind == 8).then_some(Global { raw: self.raw, library: self.library, module: PhantomData })
    }

    /// As a block, if it is one.
    #[must_use]
    pub fn as_block(self) -> Option<Block<'m>> {
        if self.kind() != ValueKind::Block {
            return None;
        }
        // SAFETY: it is a block.
        let raw = unsafe { (self.library.symbols.value_as_block)(self.raw.as_ptr()) };
        NonNull::new(raw).map(|raw| Block { raw, library: self.library, module: PhantomData })
    }

    /// It as text, as in a printed module.
    #[must_use]
    pub fn print(self) -> String {
        // SAFETY: the value is alive; the text becomes ours.
        let text = unsafe { (self.library.symbols.print_value)(self.raw.as_ptr()) };
        self.library.take_message(text)
    }
}

/// Equal values are the same value.
impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Value<'_> {}

impl std::hash::Hash for Value<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.print().trim())
    }
}

impl<'m> Global<'m> {
    /// Its value as an operand: its address.
    #[must_use]
    pub fn value(self) -> Value<'m> {
        Value { raw: self.raw, library: self.library, module: PhantomData }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> String {
        self.value().name()
    }

    /// The type of what it holds.
    #[must_use]
    pub fn content_type(self) -> Type<'m> {
        // SAFETY: the global variable is alive.
        let raw = unsafe { (self.library.symbols.global_value_type)(self.raw.as_ptr()) };
        Type::borrow(self.library, raw)
    }

    /// What it holds at first, if this module says.
    #[must_use]
    pub fn initializer(self) -> Option<Value<'m>> {
        // SAFETY: the global variable is alive.
        let raw = unsafe { (self.library.symbols.initializer)(self.raw.as_ptr()) };
        NonNull::new(raw).map(|raw| Value { raw, library: self.library, module: PhantomData })
    }

    /// Whether it never changes.
    #[must_use]
    pub fn is_constant(self) -> bool {
        // SAFETY: the global variable is alive.
        (unsafe { (self.library.symbols.is_global_constant)(self.raw.as_ptr()) }) != 0
    }
}
