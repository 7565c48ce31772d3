use crate::{
    Library, Opcode, Type, Value,
    library::borrow_text,
    symbols::{RawBlock, RawValue},
};
use std::{fmt, marker::PhantomData, ptr::NonNull};

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident $raw:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'m> {
            pub(crate) raw: NonNull<$raw>,
            pub(crate) library: &'static Library,
            pub(crate) module: PhantomData<&'m ()>,
        }

        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool {
                self.raw == other.raw
            }
        }

        impl Eq for $name<'_> {}

        impl std::hash::Hash for $name<'_> {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.raw.hash(state);
            }
        }
    };
}

handle! {
    /// A function of a module, with or without a body.
    Function RawValue
}
handle! {
    /// A basic block of a function.
    Block RawBlock
}
handle! {
    /// An instruction of a block.
    Instruction RawValue
}
handle! {
    /// A global variable of a module.
    Global RawValue
}

impl<'m> Function<'m> {
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

    /// Whether it has no body here.
    #[must_use]
    pub fn is_declaration(self) -> bool {
        // SAFETY: the function is alive.
        (unsafe { (self.library.symbols.is_declaration)(self.raw.as_ptr()) }) != 0
    }

    /// Whether it is one of LLVM's own (`llvm.*`).
    #[must_use]
    pub fn is_intrinsic(self) -> bool {
        // SAFETY: the function is alive.
        (unsafe { (self.library.symbols.intrinsic)(self.raw.as_ptr()) }) != 0
    }

    /// LLVM's number of its calling convention; 71 and 76 are the kernels of PTX and SPIR.
    #[must_use]
    pub fn calling_convention(self) -> u32 {
        // SAFETY: the function is alive.
        unsafe { (self.library.symbols.calling_convention)(self.raw.as_ptr()) }
    }

    /// Whether only this module can call it (`internal` or `private`).
    #[must_use]
    pub fn is_local(self) -> bool {
        // SAFETY: the function is alive.
        let linkage = unsafe { (self.library.symbols.linkage)(self.raw.as_ptr()) };
        matches!(linkage, 8 | 9)
    }

    /// Its function type.
    #[must_use]
    pub fn function_type(self) -> Type<'m> {
        // SAFETY: the function is alive.
        let raw = unsafe { (self.library.symbols.global_value_type)(self.raw.as_ptr()) };
        Type::borrow(self.library, raw)
    }

    /// Its arguments, in order.
    pub fn arguments(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the function is alive.
        let count = unsafe { (self.library.symbols.count_parameters)(self.raw.as_ptr()) };
        (0..count).filter_map(move |index| {
            // SAFETY: the index is below the count.
            let raw = unsafe { (self.library.symbols.parameter)(self.raw.as_ptr(), index) };
            NonNull::new(raw).map(|raw| Value { raw, library: self.library, module: PhantomData })
        })
    }

    /// How many blocks it has.
    #[must_use]
    pub fn block_count(self) -> usize {
        // SAFETY: the function is alive.
        (unsafe { (self.library.symbols.count_blocks)(self.raw.as_ptr()) }) as usize
    }

    /// Its blocks, the entry first; none for a declaration.
    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        let library = self.library;
        // SAFETY: the function is alive.
        let first = unsafe { (library.symbols.first_block)(self.raw.as_ptr()) };
        // SAFETY: blocks stay where they are while the module is borrowed.
        let next = move |at: &NonNull<_>| unsafe { (library.symbols.next_block)(at.as_ptr()) };
        std::iter::successors(NonNull::new(first), move |at| NonNull::new(next(at)))
            .map(move |raw| Block { raw, library, module: PhantomData })
    }
}

impl fmt::Debug for Function<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.name())
    }
}

impl<'m> Block<'m> {
    /// Its name without sigil; empty for the unnamed.
    #[must_use]
    pub fn name(self) -> String {
        // SAFETY: the block is alive; the text is copied at once.
        borrow_text(unsafe { (self.library.symbols.block_name)(self.raw.as_ptr()) })
    }

    /// Its instructions, in order.
    pub fn instructions(self) -> impl Iterator<Item = Instruction<'m>> {
        let library = self.library;
        // SAFETY: the block is alive.
        let first = unsafe { (library.symbols.first_instruction)(self.raw.as_ptr()) };
        // SAFETY: instructions stay where they are while the module is borrowed.
        let next =
            move |at: &NonNull<_>| unsafe { (library.symbols.next_instruction)(at.as_ptr()) };
        std::iter::successors(NonNull::new(first), move |at| NonNull::new(next(at)))
            .map(move |raw| Instruction { raw, library, module: PhantomData })
    }

    /// The instruction that ends it; `None` in a broken module.
    #[must_use]
    pub fn terminator(self) -> Option<Instruction<'m>> {
        // SAFETY: the block is alive.
        let raw = unsafe { (self.library.symbols.terminator)(self.raw.as_ptr()) };
        NonNull::new(raw).map(|raw| Instruction { raw, library: self.library, module: PhantomData })
    }

    /// Where control may go from here, one per edge, in the terminator's order.
    pub fn successors(self) -> impl Iterator<Item = Block<'m>> {
        let library = self.library;
        let terminator = self.terminator();
        let count = terminator.map_or(0, |instruction| {
            // SAFETY: the terminator is alive.
            unsafe { (library.symbols.count_successors)(instruction.raw.as_ptr()) }
        });
        (0..count).filter_map(move |index| {
            // SAFETY: the index is below the count.
            let raw = unsafe { (library.symbols.successor)(terminator?.raw.as_ptr(), index) };
            NonNull::new(raw).map(|raw| Block { raw, library, module: PhantomData })
        })
    }
}

impl fmt::Debug for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block `{}`", self.name())
    }
}

impl<'m> Instruction<'m> {
    /// Its result as an operand of others.
    #[must_use]
    pub fn value(self) -> Value<'m> {
        Value { raw: self.raw, library: self.library, module: PhantomData }
    }

    /// What it does.
    #[must_use]
    pub fn opcode(self) -> Opcode {
        // SAFETY: the instruction is alive.
        Opcode::from_code(unsafe { (self.library.symbols.opcode)(self.raw.as_ptr()) })
    }

    /// The type of its result.
    #[must_use]
    pub fn ty(self) -> Type<'m> {
        self.value().ty()
    }

    /// The block it stands in.
    #[must_use]
    pub fn block(self) -> Block<'m> {
        // SAFETY: the instruction is alive.
        let raw = unsafe { (self.library.symbols.instruction_parent)(self.raw.as_ptr()) };
        let raw = NonNull::new(raw).expect("an instruction of a module stands in a block");
        Block { raw, library: self.library, module: PhantomData }
    }

    /// Its operands, in LLVM's order: blocks and callees included, incoming blocks of a phi and
    /// the mask of a `shufflevector` not.
    pub fn operands(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the instruction is alive.
        let count = unsafe { (self.library.symbols.count_operands)(self.raw.as_ptr()) };
        (0..u32::try_from(count).unwrap_or(0)).filter_map(move |index| {
            // SAFETY: the index is below the count.
            let raw = unsafe { (self.library.symbols.operand)(self.raw.as_ptr(), index) };
            NonNull::new(raw).map(|raw| Value { raw, library: self.library, module: PhantomData })
        })
    }

    /// The case values of a `switch`, where its library keeps them apart from the operands (LLVM
    /// 22 and later); before that they are operands.
    pub fn detached_cases(self) -> impl Iterator<Item = Value<'m>> {
        let ask = self.library.symbols.switch_case_value;
        let count = match ask {
            Some(_) if self.opcode() == Opcode::Switch => {
                // SAFETY: a switch is a terminator.
                unsafe { (self.library.symbols.count_successors)(self.raw.as_ptr()) }
            }
            _ => 0,
        };
        // The first successor is the default one and has no case.
        (1..count).filter_map(move |index| {
            // SAFETY: it is a switch and the index that of one of its cases.
            let raw = unsafe { ask?(self.raw.as_ptr(), index) };
            NonNull::new(raw).map(|raw| Value { raw, library: self.library, module: PhantomData })
        })
    }

    /// How many values come into a phi; 0 for others.
    #[must_use]
    pub fn incoming_count(self) -> usize {
        if self.opcode() != Opcode::Phi {
            return 0;
        }
        // SAFETY: it is a phi.
        (unsafe { (self.library.symbols.count_incoming)(self.raw.as_ptr()) }) as usize
    }

    /// The block from which the value at `index` comes into a phi.
    #[must_use]
    pub fn incoming_block(self, index: usize) -> Option<Block<'m>> {
        if index >= self.incoming_count() {
            return None;
        }
        let index = u32::try_from(index).ok()?;
        // SAFETY: it is a phi and the index is below its count.
        let raw = unsafe { (self.library.symbols.incoming_block)(self.raw.as_ptr(), index) };
        NonNull::new(raw).map(|raw| Block { raw, library: self.library, module: PhantomData })
    }

    /// What a call, invoke or callbr calls: a function, a pointer or inline assembly.
    #[must_use]
    pub fn called_value(self) -> Option<Value<'m>> {
        if !matches!(self.opcode(), Opcode::Call | Opcode::Invoke | Opcode::CallBr) {
            return None;
        }
        // SAFETY: it is a call.
        let raw = unsafe { (self.library.symbols.called_value)(self.raw.as_ptr()) };
        NonNull::new(raw).map(|raw| Value { raw, library: self.library, module: PhantomData })
    }

    /// The function a call calls directly, by its own type.
    #[must_use]
    pub fn called_function(self) -> Option<Function<'m>> {
        let function = self.called_value()?.as_function()?;
        // SAFETY: it is a call, as the line above found.
        let raw = unsafe { (self.library.symbols.called_function_type)(self.raw.as_ptr()) };
        (Type::borrow(self.library, raw) == function.function_type()).then_some(function)
    }

    /// How many arguments a call passes; 0 for others.
    #[must_use]
    pub fn argument_count(self) -> usize {
        if self.called_value().is_none() {
            return 0;
        }
        // SAFETY: it is a call.
        (unsafe { (self.library.symbols.count_arguments)(self.raw.as_ptr()) }) as usize
    }

    /// LLVM's number of a comparison's predicate; 0 for others.
    #[must_use]
    pub fn predicate(self) -> u32 {
        match self.opcode() {
            // SAFETY: it is an integer comparison.
            Opcode::ICmp => unsafe { (self.library.symbols.integer_predicate)(self.raw.as_ptr()) },
            // SAFETY: it is a floating-point comparison.
            Opcode::FCmp => unsafe { (self.library.symbols.float_predicate)(self.raw.as_ptr()) },
            _ => 0,
        }
    }

    /// It as text, as in a printed module.
    #[must_use]
    pub fn print(self) -> String {
        self.value().print()
    }
}

impl fmt::Debug for Instruction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.print().trim())
    }
}
