//! A module in flat arrays: the form that is walked, whoever filled it.

use std::collections::HashMap;

/// The opcode of a branch in LLVM's C API.
const BR: u32 = 2;

/// A type, by its place in [`Types`].
pub type TypeId = u32;
/// A value that functions share, by its place in [`Flat::values`]; see [`Operand`] for others.
pub type ValueId = u32;

/// A range of one of the arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first.
    pub start: u32,
    /// After the last.
    pub end: u32,
}

impl Span {
    /// As a range of places.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A type of IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value.
    Void,
    /// A floating-point type, by its name.
    Float(&'static str),
    /// An integer of so many bits.
    Integer(u32),
    /// A signature: what is returned, then the parameters.
    Function {
        /// Whether further arguments may follow.
        variadic: bool,
        /// In [`Types::parts`].
        parts: Span,
    },
    /// A struct. Named ones are types of their own, by their number.
    Struct {
        /// Its number among the named ones; 0 for those that are their fields.
        named: u32,
        /// Whether there is no padding.
        packed: bool,
        /// In [`Types::parts`].
        fields: Span,
    },
    /// So many of one type.
    Array(u64, TypeId),
    /// A pointer into an address space.
    Pointer(u32),
    /// Lanes of one type.
    Vector {
        /// How many; the least where it is scalable.
        lanes: u32,
        /// Of what.
        element: TypeId,
        /// Whether it has a multiple of these lanes.
        scalable: bool,
    },
    /// Labels, metadata, tokens, by name.
    Other(&'static str),
    /// A type of a target, by its text in [`Types::text`].
    Named(Span),
}

/// All types of a module; what a type is made of comes before it.
#[derive(Debug)]
pub struct Types {
    all: Vec<Type>,
    parts: Vec<TypeId>,
    text: String,
    /// Types that are what they are made of.
    known: HashMap<Type, TypeId>,
    /// The same where they are made of a list.
    lists: HashMap<(u8, Vec<TypeId>), TypeId>,
    named: u32,
}

impl Default for Types {
    fn default() -> Types {
        Types {
            all: vec![Type::Void, Type::Integer(1), Type::Other("token"), Type::Pointer(0)],
            parts: Vec::new(),
            text: String::new(),
            known: HashMap::new(),
            lists: HashMap::new(),
            named: 0,
        }
    }
}

impl Types {
    /// No value.
    pub(crate) const VOID: TypeId = 0;
    /// An integer of one bit.
    pub(crate) const BIT: TypeId = 1;
    /// What ties a few instructions together.
    pub(crate) const TOKEN: TypeId = 2;
    /// These, and pointers, are there from the beginning.
    const FIRST: usize = 4;

    /// A type.
    #[must_use]
    #[inline]
    pub fn get(&self, id: TypeId) -> Type {
        self.all.get(id as usize).copied().unwrap_or(Type::Void)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Fields of a struct, or what a function returns and its parameters.
    #[must_use]
    #[inline]
    pub fn parts(&self, parts: Span) -> &[TypeId] {
        &self.parts[parts.range()]
    }

    /// One of all parts.
    #[inline]
    pub(crate) fn part(&self, place: usize) -> TypeId {
        self.parts[place]
    }

    /// The text of a [`Type::Named`].
    #[must_use]
    pub fn text(&self, text: Span) -> &str {
        self.text.get(text.range()).unwrap_or_default()
    }

    /// A type that is no struct and no function.
    pub fn plain(&mut self, ty: Type) -> TypeId {
        if let Some(first) = self.all[..Self::FIRST].iter().position(|first| *first == ty) {
            return first as TypeId;
        }
        if let Some(known) = self.known.get(&ty) {
            return *known;
        }
        let id = self.push(ty);
        self.known.insert(ty, id);
        id
    }

    /// A type that is no struct and no function, and of which the caller knows that it is new.
    pub fn add(&mut self, ty: Type) -> TypeId {
        self.push(ty)
    }

    /// The same for a signature.
    pub fn add_function(&mut self, variadic: bool, parts: &[TypeId]) -> TypeId {
        let parts = self.list(parts);
        self.push(Type::Function { variadic, parts })
    }

    /// A type by its text.
    pub fn of_text(&mut self, text: &str) -> TypeId {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        self.push(Type::Named(Span { start, end: self.text.len() as u32 }))
    }

    /// A struct that is its fields.
    pub fn literal(&mut self, packed: bool, fields: &[TypeId]) -> TypeId {
        self.of_list(u8::from(packed), fields, |fields| Type::Struct { named: 0, packed, fields })
    }

    /// A struct with a name: another one than all before.
    pub fn named(&mut self, packed: bool, fields: &[TypeId]) -> TypeId {
        self.named += 1;
        let fields = self.list(fields);
        self.push(Type::Struct { named: self.named, packed, fields })
    }

    /// A signature, by what is returned and the parameters.
    pub fn function(&mut self, variadic: bool, parts: &[TypeId]) -> TypeId {
        self.of_list(2 + u8::from(variadic), parts, |parts| Type::Function { variadic, parts })
    }

    fn of_list(&mut self, kind: u8, parts: &[TypeId], make: impl Fn(Span) -> Type) -> TypeId {
        let key = (kind, parts.to_vec());
        if let Some(known) = self.lists.get(&key) {
            return *known;
        }
        let span = self.list(parts);
        let id = self.push(make(span));
        self.lists.insert(key, id);
        id
    }

    fn list(&mut self, parts: &[TypeId]) -> Span {
        let start = self.parts.len() as u32;
        self.parts.extend_from_slice(parts);
        Span { start, end: self.parts.len() as u32 }
    }

    fn push(&mut self, ty: Type) -> TypeId {
        self.all.push(ty);
        self.all.len() as TypeId - 1
    }

    /// Its lanes, where it is a vector, and what they are of; the type itself for others.
    #[must_use]
    #[inline]
    pub fn lane(&self, id: TypeId) -> Type {
        match self.get(id) {
            Type::Vector { element, .. } => self.get(element),
            other => other,
        }
    }

    /// A bit, and where `like` is a vector as many of them.
    pub(crate) fn bits(&mut self, like: TypeId) -> TypeId {
        match self.get(like) {
            Type::Vector { lanes, scalable, .. } => {
                self.plain(Type::Vector { lanes, element: Self::BIT, scalable })
            }
            _ => Self::BIT,
        }
    }

    /// A type as LLVM writes it; `None` where it has a name.
    #[must_use]
    pub fn print(&self, id: TypeId) -> Option<String> {
        let mut text = String::new();
        self.print_to(id, &mut text).then_some(text)
    }

    fn print_to(&self, id: TypeId, text: &mut String) -> bool {
        // What is printed more often than it stands there would grow without end.
        if text.len() > 4096 {
            return false;
        }
        match self.get(id) {
            Type::Void => text.push_str("void"),
            Type::Float(name) | Type::Other(name) => text.push_str(name),
            Type::Named(name) => text.push_str(self.text(name)),
            Type::Integer(width) => text.push_str(&format!("i{width}")),
            Type::Pointer(0) => text.push_str("ptr"),
            Type::Pointer(space) => text.push_str(&format!("ptr addrspace({space})")),
            Type::Array(length, element) => {
                text.push_str(&format!("[{length} x "));
                let whole = self.print_to(element, text);
                text.push(']');
                return whole;
            }
            Type::Vector { lanes, element, scalable } => {
                let scale = if scalable { "vscale x " } else { "" };
                text.push_str(&format!("<{scale}{lanes} x "));
                let whole = self.print_to(element, text);
                text.push('>');
                return whole;
            }
            Type::Struct { named: 0, packed, fields } => {
                let fields = self.parts(fields);
                text.push_str(if packed { "<{" } else { "{" });
                if !fields.is_empty() {
                    text.push(' ');
                    if !self.print_list(fields, text) {
                        return false;
                    }
                    text.push(' ');
                }
                text.push_str(if packed { "}>" } else { "}" });
            }
            Type::Struct { .. } => return false,
            Type::Function { variadic, parts } => {
                let parts = self.parts(parts);
                let Some((returned, parameters)) = parts.split_first() else { return false };
                if !self.print_to(*returned, text) {
                    return false;
                }
                text.push_str(" (");
                if !self.print_list(parameters, text) {
                    return false;
                }
                if variadic {
                    text.push_str(if parameters.is_empty() { "..." } else { ", ..." });
                }
                text.push(')');
            }
        }
        true
    }

    fn print_list(&self, list: &[TypeId], text: &mut String) -> bool {
        for (at, part) in list.iter().enumerate() {
            if at > 0 {
                text.push_str(", ");
            }
            if !self.print_to(*part, text) {
                return false;
            }
        }
        true
    }
}

/// A value that all functions see, or a constant of the function that is walked.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// Its type.
    pub ty: TypeId,
    /// What it is.
    pub kind: Kind,
}

/// What a [`Value`] is, with its place in the array for such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In [`Flat::functions`].
    Function(u32),
    /// In [`Flat::variables`].
    Variable(u32),
    /// An alias or an indirect function, with its name in [`Flat::text`].
    Alias(Span),
    /// In [`Flat::constants`].
    Constant(u32),
    /// An argument or result of the function that is read; no value that is walked is one.
    Local,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// An integer of up to 64 bits, zero-extended.
    Integer(u64),
    /// A wider one, as text in [`Flat::text`].
    Wide(Span),
    /// Rounded to double precision.
    Float(f64),
    /// The null pointer, an aggregate of zeros.
    Zero,
    /// Undefined or poison.
    Undefined,
    /// An array or vector of plain numbers, as bytes in [`Flat::text`].
    Data(Span),
    /// The same where its library only prints it.
    PrintedData(Span),
    /// Any other array, vector or struct, with its elements in [`Flat::parts`].
    Aggregate(Span),
    /// An expression: its opcode in LLVM's C API, and its operands in [`Flat::parts`].
    Expression(u32, Span),
    /// Assembly or the address of a block, as text in [`Flat::text`].
    Code(Span),
    /// Metadata and other things that do not count.
    Other,
    /// So deep that it is not looked at.
    Deep,
    /// One that its reader does not know, and why.
    Unknown(&'static str),
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// In [`Flat::text`].
    pub name: Span,
    /// Its signature.
    pub ty: TypeId,
    /// Whether it has no body here.
    pub is_declaration: bool,
    /// Whether it is one of LLVM's own.
    pub is_intrinsic: bool,
}

/// A global variable.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// In [`Flat::text`].
    pub name: Span,
    /// The type of what it holds.
    pub ty: TypeId,
    /// Whether it never changes.
    pub is_constant: bool,
    /// What it holds at first, if this module says.
    pub initializer: Option<ValueId>,
}

/// A module but for the bodies of its functions.
#[derive(Debug, Default)]
pub struct Flat {
    /// Its types.
    pub types: Types,
    /// What functions share.
    pub values: Vec<Value>,
    /// Constants among them.
    pub constants: Vec<Constant>,
    /// What constants are made of.
    pub parts: Vec<ValueId>,
    /// Names, text and data.
    pub text: Vec<u8>,
    /// Functions, in the module's order.
    pub functions: Vec<Function>,
    /// Global variables, in the module's order.
    pub variables: Vec<Variable>,
    /// Assembly outside of functions.
    pub assembly: String,
    /// How many of the values, and of all else, stay when the next body is read.
    pub shared: usize,
    /// Constants, parts and text that stay.
    pub(crate) kept: [usize; 3],
    /// Of values, types and instructions.
    pub(crate) most: usize,
}

impl Flat {
    /// Whether there is more than bytes of a module stand for, however they are packed: the rest would be made of nothing.
    pub(crate) fn is_swollen(&self) -> bool {
        self.values.len() + self.types.len() + self.parts.len() / 4 > self.most
    }

    /// From here on all that is added belongs to one body.
    pub(crate) fn share(&mut self) {
        self.shared = self.values.len();
        self.kept = [self.constants.len(), self.parts.len(), self.text.len()];
    }

    /// Forget what belongs to one body.
    pub(crate) fn forget(&mut self) {
        let [constants, parts, text] = self.kept;
        self.values.truncate(self.shared);
        self.constants.truncate(constants);
        self.parts.truncate(parts);
        self.text.truncate(text);
    }

    /// Bytes of a name, text or data.
    #[must_use]
    #[inline]
    pub fn bytes(&self, span: Span) -> &[u8] {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Keep bytes.
    pub fn keep(&mut self, bytes: &[u8]) -> Span {
        let start = self.text.len() as u32;
        self.text.extend_from_slice(bytes);
        Span { start, end: self.text.len() as u32 }
    }

    /// The types of a function's arguments.
    #[must_use]
    #[inline]
    pub fn arguments(&self, function: u32) -> &[TypeId] {
        match self.types.get(self.functions[function as usize].ty) {
            Type::Function { parts, .. } => self.types.parts(parts).get(1..).unwrap_or_default(),
            _ => &[],
        }
    }

    /// What a constant is made of.
    #[must_use]
    #[inline]
    pub fn parts(&self, span: Span) -> &[ValueId] {
        self.parts.get(span.range()).unwrap_or_default()
    }

    /// Add a constant.
    pub fn add(&mut self, ty: TypeId, constant: Constant) -> ValueId {
        let kind = Kind::Constant(self.constants.len() as u32);
        self.constants.push(constant);
        self.values.push(Value { ty, kind });
        self.values.len() as ValueId - 1
    }
}

/// What an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A value of [`Flat::values`].
    Value(ValueId),
    /// An argument, or after all arguments an instruction's result.
    Local(u32),
    /// A block.
    Block(u32),
    /// Metadata, which does not count, of this type.
    Metadata(TypeId),
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// Its opcode in LLVM's C API.
    pub opcode: u32,
    /// The type of its result.
    pub ty: TypeId,
    /// A comparison's predicate; the type an `alloca` makes room for or a `getelementptr` steps through; for memory accesses
    /// volatile, twice the ordering (but of a `cmpxchg`) and 256 times the operation of an `atomicrmw`, as the C API numbers
    /// them; whether a landing pad cleans up.
    pub detail: u32,
    /// In [`Body::operands`], in LLVM's order: blocks and callees included, incoming blocks of a phi and cases of a switch not.
    pub operands: Span,
    /// In [`Body::extras`]: indices, a mask, incoming blocks of a phi, cases of a switch as [`ValueId`]s.
    pub extras: Span,
}

/// The body of a function.
#[derive(Debug, Default)]
pub struct Body {
    /// Which of [`Flat::functions`].
    pub function: u32,
    /// Where the instructions of each block end.
    pub blocks: Vec<u32>,
    /// Instructions, block after block.
    pub instructions: Vec<Instruction>,
    /// Their operands.
    pub operands: Vec<Operand>,
    /// What else they hold.
    pub extras: Vec<u32>,
}

impl Body {
    /// Empty it for the function of this number.
    pub fn begin(&mut self, function: u32) {
        self.function = function;
        self.blocks.clear();
        self.instructions.clear();
        self.operands.clear();
        self.extras.clear();
    }

    /// The instructions of a block, by their numbers.
    #[must_use]
    #[inline]
    pub fn block(&self, block: u32) -> std::ops::Range<usize> {
        let begin = block.checked_sub(1).map_or(0, |before| self.blocks[before as usize]);
        begin as usize..self.blocks[block as usize] as usize
    }

    /// An instruction's operands.
    #[must_use]
    #[inline]
    pub fn operands(&self, instruction: &Instruction) -> &[Operand] {
        &self.operands[instruction.operands.range()]
    }

    /// What else an instruction holds.
    #[must_use]
    #[inline]
    pub fn extras(&self, instruction: &Instruction) -> &[u32] {
        &self.extras[instruction.extras.range()]
    }

    /// Where control may go from a block, one for each edge, in the order of its end.
    #[must_use]
    #[inline]
    pub fn successors(&self, block: u32) -> Successors<'_> {
        let last = self.block(block).next_back().map(|last| &self.instructions[last]);
        let operands = last.map_or(&[][..], |last| self.operands(last));
        // Of a branch with a condition the second comes first.
        let turned = last.is_some_and(|last| last.opcode == BR) && operands.len() == 3;
        Successors { operands, turned }
    }
}

/// Where control may go from a block.
#[derive(Clone, Debug)]
pub struct Successors<'b> {
    operands: &'b [Operand],
    turned: bool,
}

impl Iterator for Successors<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        loop {
            let (operand, rest) = match self.turned {
                true => self.operands.split_last()?,
                false => self.operands.split_first()?,
            };
            self.operands = rest;
            if let Operand::Block(block) = operand {
                return Some(*block);
            }
        }
    }
}
