//! The structure of modules and functions: two that differ only in names, metadata, the order of
//! their functions or the layout of their blocks have one structural hash.
//!
//! What counts: opcodes, types, constants, predicates, which value is used where, control flow,
//! the text of strings, and the *names of what is only declared*, because a declaration has no other
//! meaning than its name (rustc's hash at its end is left out). What is defined in the module is
//! known by its body: a function's hash is mixed from its own body and the bodies of what it calls.
//!
//! The signature is a MinHash with one permutation (Li, Owen and Zhang, NeurIPS 2012) over runs of
//! four instructions, empty bins filled from others (Shrivastava, ICML 2017): one multiplication
//! an instruction instead of 128.

mod direct;
mod translate;

use bitcode::{
    Body, Constant, Flat, Instruction, Kind, Operand, Span, Type, TypeId, Unread, ValueId, Variable,
};
use llvm::{Function, Module, Opcode};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::{BuildHasherDefault, Hash, Hasher},
    sync::LazyLock,
};
use translate::Translator;

#[doc(hidden)]
pub use direct::read_alone;
pub use direct::structure_of;

/// Values of a signature.
pub const WIDTH: usize = 128;
/// Instructions in a shingle.
const SHINGLE: usize = 4;

/// What one walk over a module finds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    /// Hash of the module.
    pub module: u64,
    /// Hashes of its functions, ascending.
    pub functions: Vec<u64>,
    /// MinHash signature.
    pub signature: Vec<u32>,
    /// Functions without a body that are not LLVM's own.
    pub declarations: u64,
    /// Blocks.
    pub blocks: u64,
    /// Instructions.
    pub instructions: u64,
    /// Instructions by [`Opcode::ALL`]'s order, then all others.
    pub opcodes: Vec<u64>,
    /// Calls of functions by name, of LLVM's own functions, through pointers, of assembly.
    pub calls: [u64; 4],
    /// Bytes that constant data holds.
    pub data_bytes: u64,
}

/// A hasher for pointers and hashes: a multiplication.
#[derive(Clone, Copy, Default)]
struct Fast(u64);

impl Hasher for Fast {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<Fast>>;
type FastSet<K> = HashSet<K, BuildHasherDefault<Fast>>;

/// The finaliser of SplitMix64.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

fn join(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(23) ^ value).wrapping_mul(0x9fb2_1c65_1e98_df25) ^ hash >> 29
}

fn of_bytes(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    let (first, _) = hash.as_bytes().split_at(8);
    first.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn of_list(mut hashes: Vec<u64>, seed: u64) -> u64 {
    hashes.sort_unstable();
    mix(hashes.into_iter().fold(seed, join))
}

/// A module whose bodies are walked one after the other.
trait Source {
    /// All but the bodies.
    fn flat(&self) -> &Flat;

    /// The next body; false after the last.
    fn body(&mut self, body: &mut Body) -> Result<bool, Unread>;
}

/// Look at a module.
#[must_use]
pub fn structure(module: &Module<'_>) -> Structure {
    let found = walked(&mut Translator::of_module(module), Walk::lenient());
    found.expect("what LLVM has read is known")
}

fn walked(source: &mut impl Source, mut walk: Walk) -> Result<Structure, Unread> {
    let mut found = Structure { opcodes: vec![0; Opcode::ALL.len() + 1], ..Structure::default() };
    let mut signature = Signature::default();
    let mut bodies: Vec<(u64, Vec<u32>)> = Vec::new();
    let mut place = vec![None; source.flat().functions.len()];
    let mut body = Body::default();
    while source.body(&mut body)? {
        place[body.function as usize] = Some(bodies.len());
        bodies.push(walk.body(source.flat(), &body, &mut found, &mut signature)?);
        walk.forget(source.flat().shared);
    }
    let flat = source.flat();
    let declared = flat.functions.iter().filter(|f| f.is_declaration && !f.is_intrinsic);
    found.declarations = declared.count() as u64;
    // A second round tells functions of equal bodies apart that call different ones.
    let whole = bodies.iter().map(|(hash, called)| {
        called.iter().fold(mix(*hash), |all, callee| match place[*callee as usize] {
            Some(place) => join(all, bodies[place].0),
            None => join(all, 1),
        })
    });
    let whole: Vec<u64> = whole.collect();
    let mut globals = Vec::new();
    for variable in &flat.variables {
        let hash = walk.variable(flat, variable)?;
        found.data_bytes += walk.data_bytes;
        walk.data_bytes = 0;
        // Declarations count where they are used.
        if variable.initializer.is_some() {
            signature.add(hash);
            globals.push(hash);
        }
    }
    let assembly = of_bytes(flat.assembly.as_bytes());
    found.module = join(join(of_list(whole, 3), of_list(globals, 5)), assembly);
    found.functions = bodies.into_iter().map(|(hash, _)| hash).collect();
    found.functions.sort_unstable();
    found.signature = signature.values();
    Ok(found)
}

/// A function as it is before or after a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    /// Hash of its body, and of the names of what it calls in its own module.
    pub(crate) structure: u64,
    pub(crate) instructions: u64,
}

/// Look at a function alone.
pub(crate) fn shape(function: Function<'_>) -> Shape {
    let mut found = Structure { opcodes: vec![0; Opcode::ALL.len() + 1], ..Structure::default() };
    let mut translator = Translator::of_function(function);
    let mut body = Body::default();
    let walked = translator.body(&mut body).and_then(|_| {
        Walk::lenient().body(translator.flat(), &body, &mut found, &mut Signature::default())
    });
    let (hash, called) = walked.expect("what LLVM has read is known");
    let flat = translator.flat();
    let structure = called.iter().fold(hash, |all, callee| {
        join(all, of_name(flat.bytes(flat.functions[*callee as usize].name)))
    });
    Shape { structure, instructions: found.instructions }
}

/// The functions that have bodies, by name.
pub(crate) fn shapes(module: &Module<'_>) -> BTreeMap<String, Shape> {
    let bodies = module.functions().filter(|function| !function.is_declaration());
    bodies.map(|function| (function.name(), shape(function))).collect()
}

/// What tells the beginning of a function's body from another: the address of its first instruction.
pub(crate) fn entry(function: Function<'_>) -> u64 {
    let first = function.blocks().next().and_then(|block| block.instructions().next());
    let mut hasher = Fast::default();
    first.hash(&mut hasher);
    hasher.finish()
}

/// What tells a function from others that are there at the same time: its address.
pub(crate) fn identity(function: Function<'_>) -> u64 {
    let mut hasher = Fast::default();
    function.hash(&mut hasher);
    hasher.finish()
}

/// What is known of a module's types and constants, and room for what is known of one body.
struct Walk {
    /// Hashes of types.
    types: Vec<u64>,
    /// Hashes of values; 0 for those that were not met.
    values: Vec<u64>,
    /// Data that was met: LLVM has equal data once.
    data: FastSet<u64>,
    data_bytes: u64,
    /// Hash of a constant that is too deep; `None` where that is an error.
    deep: Option<u64>,
    order: Vec<u32>,
    /// By block, its place in the order.
    labels: Vec<u64>,
    /// By argument and instruction.
    numbers: Vec<u64>,
}

/// By opcode of the C API, its place in [`Opcode::ALL`].
static PLACES: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let places = (0..128).map(|code| Opcode::from_code(code).index());
    places.map(|place| place.unwrap_or(Opcode::ALL.len())).collect()
});

/// In the place of a block's number: control does not reach it.
const UNREACHED: u64 = u64::MAX;
/// Constants that are deeper are cut off: no program of man has any.
const DEEPEST: usize = 200;

impl Walk {
    fn new(deep: Option<u64>) -> Walk {
        Walk {
            types: Vec::new(),
            values: Vec::new(),
            data: FastSet::default(),
            data_bytes: 0,
            deep,
            order: Vec::new(),
            labels: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// One that cuts off what is too deep.
    fn lenient() -> Walk {
        Walk::new(Some(41))
    }

    /// Forget what values mean from this one on.
    fn forget(&mut self, from: usize) {
        self.values.truncate(from);
    }

    /// Hash of a function's body, callees known by their types alone, and the functions of this
    /// module it names.
    fn body(
        &mut self,
        flat: &Flat,
        body: &Body,
        found: &mut Structure,
        signature: &mut Signature,
    ) -> Result<(u64, Vec<u32>), Unread> {
        let signature_type = flat.functions[body.function as usize].ty;
        let mut hash = join(7, self.of_type(flat, signature_type));
        let mut named = Vec::new();
        let order = self.number(flat, body);
        let mut shingle = [0; SHINGLE];
        let mut length = 0;
        for block in &order {
            found.blocks += 1;
            hash = join(hash, 11);
            for instruction in &body.instructions[body.block(*block)] {
                let place = PLACES.get(instruction.opcode as usize).copied();
                let place = place.unwrap_or(Opcode::ALL.len());
                found.instructions += 1;
                found.opcodes[place] += 1;
                let (token, rest) = self.instruction(flat, body, instruction, place, &mut named)?;
                hash = join(join(hash, token), rest);
                shingle.rotate_left(1);
                shingle[SHINGLE - 1] = token;
                length += 1;
                if length >= SHINGLE {
                    signature.add(shingle.iter().fold(13, |all, one| join(all, *one)));
                }
                if is_call(instruction) {
                    found.calls[kind_of_call(flat, body, instruction)] += 1;
                }
            }
        }
        if length < SHINGLE {
            signature.add(shingle.iter().fold(17, |all, one| join(all, *one)));
        }
        self.order = order;
        Ok((mix(hash), named))
    }

    /// Number blocks, arguments and instructions. Every result has its number before any use is looked at: a phi may
    /// stand before what comes into it.
    fn number(&mut self, flat: &Flat, body: &Body) -> Vec<u32> {
        let arguments = flat.arguments(body.function).len();
        let mut order = std::mem::take(&mut self.order);
        in_order(body, &mut order, &mut self.labels);
        self.numbers.clear();
        self.numbers.resize(arguments + body.instructions.len(), 0);
        let visited = order.iter().flat_map(|block| body.block(*block));
        for (number, place) in (0..arguments).chain(visited.map(|at| arguments + at)).enumerate() {
            self.numbers[place] = number as u64;
        }
        order
    }

    /// What an instruction does, for similarity, and with what, for equality.
    fn instruction(
        &mut self,
        flat: &Flat,
        body: &Body,
        instruction: &Instruction,
        place: usize,
        named: &mut Vec<u32>,
    ) -> Result<(u64, u64), Unread> {
        let opcode = Opcode::ALL.get(place).copied();
        let mut token = join(place as u64 + 19, self.of_type(flat, instruction.ty));
        let mut rest = 23;
        let extras = body.extras(instruction);
        match opcode {
            Some(Opcode::Alloca | Opcode::GetElementPtr) => {
                token = join(token, self.of_type(flat, instruction.detail));
            }
            Some(
                Opcode::ICmp
                | Opcode::FCmp
                | Opcode::Load
                | Opcode::Store
                | Opcode::AtomicRMW
                | Opcode::AtomicCmpXchg
                | Opcode::LandingPad,
            ) => token = join(token, u64::from(instruction.detail)),
            Some(Opcode::ExtractValue | Opcode::InsertValue | Opcode::ShuffleVector) => {
                rest = extras.iter().fold(rest, |all, at| join(all, u64::from(*at)));
            }
            Some(Opcode::Phi) => {
                for from in extras {
                    rest = join(rest, self.label(*from).unwrap_or(29));
                }
            }
            Some(Opcode::Switch) => {
                for case in extras {
                    rest = join(rest, self.value(flat, *case, 0)?);
                }
            }
            _ => {}
        }
        let calls = is_call(instruction);
        for (at, operand) in body.operands(instruction).iter().enumerate() {
            let value = match *operand {
                Operand::Local(local) => {
                    if at == 0 && opcode == Some(Opcode::Store) {
                        let ty = type_of_local(flat, body, local);
                        token = join(token, self.of_type(flat, ty));
                    }
                    join(31, self.numbers.get(local as usize).copied().unwrap_or(0))
                }
                Operand::Block(block) => join(37, self.label(block).unwrap_or(u64::MAX)),
                Operand::Metadata(ty) => mix(join(107, self.of_type(flat, ty))),
                Operand::Value(id) => {
                    let value = self.value(flat, id, 0)?;
                    if let Kind::Function(function) = flat.values[id as usize].kind {
                        if !flat.functions[function as usize].is_declaration {
                            named.push(function);
                        }
                        if calls {
                            token = join(token, value);
                        }
                    }
                    value
                }
            };
            rest = join(rest, value);
        }
        Ok((mix(token), rest))
    }

    fn label(&self, block: u32) -> Option<u64> {
        self.labels.get(block as usize).copied().filter(|label| *label != UNREACHED)
    }

    /// Hash of a constant, a function or a global variable.
    fn value(&mut self, flat: &Flat, id: ValueId, depth: usize) -> Result<u64, Unread> {
        match self.values.get(id as usize) {
            None => self.values.resize(flat.values.len(), 0),
            Some(0) => {}
            Some(known) => return Ok(*known),
        }
        if depth > DEEPEST {
            return self.deep.ok_or(Unread::Unknown("a deep constant"));
        }
        let value = flat.values[id as usize];
        let hash = match value.kind {
            Kind::Function(function) => {
                let function = flat.functions[function as usize];
                match function.is_declaration {
                    true => join(61, of_name(flat.bytes(function.name))),
                    false => join(67, self.of_type(flat, function.ty)),
                }
            }
            Kind::Variable(variable) => {
                let variable = flat.variables[variable as usize];
                match variable.initializer {
                    // What it holds is counted once, where it is defined; here its shape is enough.
                    Some(held) => {
                        let shape = join(73, self.of_type(flat, variable.ty));
                        match variable.is_constant {
                            true => join(shape, text_of(flat, held)),
                            false => shape,
                        }
                    }
                    None => join(79, of_name(flat.bytes(variable.name))),
                }
            }
            Kind::Alias(name) => join(83, of_name(flat.bytes(name))),
            Kind::Constant(constant) => match flat.constants[constant as usize] {
                Constant::Deep => return self.deep.ok_or(Unread::Unknown("a deep constant")),
                constant => self.constant(flat, constant, value.ty, depth)?,
            },
            Kind::Local => return Err(Unread::Broken("a constant")),
        };
        let hash = mix(join(hash, self.of_type(flat, value.ty)));
        self.values[id as usize] = hash;
        Ok(hash)
    }

    fn constant(
        &mut self,
        flat: &Flat,
        constant: Constant,
        ty: TypeId,
        depth: usize,
    ) -> Result<u64, Unread> {
        let text = |text: Span| of_bytes(flat.bytes(text));
        Ok(match constant {
            Constant::Integer(number) => join(43, number),
            Constant::Wide(number) => join(43, text(number)),
            Constant::Float(number) => join(47, number.to_bits()),
            Constant::Zero => 53,
            Constant::Undefined => 59,
            Constant::Data(data) => {
                let hash = join(89, text(data));
                let typed = join(hash, self.of_type(flat, ty));
                if self.data.insert(typed) {
                    self.data_bytes += flat.bytes(data).len() as u64;
                }
                hash
            }
            Constant::PrintedData(data) => join(97, text(data)),
            Constant::Aggregate(parts) => self.parts(flat, 97, parts, depth)?,
            Constant::Expression(opcode, parts) => {
                self.parts(flat, join(101, opcode.into()), parts, depth)?
            }
            // Metadata does not count; assembly does.
            Constant::Code(code) => join(103, text(code)),
            Constant::Other | Constant::Deep => 107,
            Constant::Unknown(what) => return Err(Unread::Unknown(what)),
        })
    }

    fn parts(&mut self, flat: &Flat, begin: u64, parts: Span, depth: usize) -> Result<u64, Unread> {
        let mut hash = begin;
        for part in flat.parts(parts) {
            hash = join(hash, self.value(flat, *part, depth + 1)?);
        }
        Ok(hash)
    }

    fn variable(&mut self, flat: &Flat, variable: &Variable) -> Result<u64, Unread> {
        let ty = self.of_type(flat, variable.ty);
        let held = variable.initializer.map_or(Ok(113), |value| self.value(flat, value, 0))?;
        Ok(mix(join(join(ty, held), u64::from(variable.is_constant))))
    }

    /// Hash of a type; what it is made of comes before it.
    fn of_type(&mut self, flat: &Flat, ty: TypeId) -> u64 {
        while self.types.len() <= ty as usize {
            let hash = self.new_type(flat, self.types.len() as TypeId);
            self.types.push(hash);
        }
        self.types[ty as usize]
    }

    fn new_type(&self, flat: &Flat, ty: TypeId) -> u64 {
        let types = &flat.types;
        let of = |ty: TypeId| self.types[ty as usize];
        let all =
            |hash, parts| types.parts(parts).iter().fold(hash, |all, part| join(all, of(*part)));
        let kind = |number: u64| join(127, number);
        mix(match types.get(ty) {
            Type::Void => kind(0),
            // The names of these types are what they are: `float`, `x86_fp80`, `target("x")`.
            Type::Float(name) => join(kind(1), of_bytes(name.as_bytes())),
            Type::Integer(width) => join(kind(2), width.into()),
            Type::Function { variadic, parts } => all(join(kind(3), variadic.into()), parts),
            Type::Struct { fields, .. } => all(kind(4), fields),
            Type::Array(length, element) => join(join(kind(5), length), of(element)),
            Type::Pointer(space) => join(kind(6), space.into()),
            Type::Vector { lanes, element, .. } => join(join(kind(7), lanes.into()), of(element)),
            Type::Other(name) => join(kind(8), of_bytes(name.as_bytes())),
            Type::Named(name) => join(kind(8), of_bytes(types.text(name).as_bytes())),
        })
    }
}

fn is_call(instruction: &Instruction) -> bool {
    let opcode = Opcode::from_code(instruction.opcode);
    matches!(opcode, Opcode::Call | Opcode::Invoke | Opcode::CallBr)
}

/// Which of [`Structure::calls`] a call is; what it calls is its last operand.
fn kind_of_call(flat: &Flat, body: &Body, call: &Instruction) -> usize {
    let Some(Operand::Value(callee)) = body.operands(call).last() else { return 2 };
    match flat.values[*callee as usize].kind {
        Kind::Function(function) => flat.functions[function as usize].is_intrinsic.into(),
        Kind::Constant(constant) => match flat.constants[constant as usize] {
            Constant::Code(_) | Constant::Other => 3,
            _ => 2,
        },
        _ => 2,
    }
}

fn type_of_local(flat: &Flat, body: &Body, local: u32) -> TypeId {
    let arguments = flat.arguments(body.function);
    match arguments.get(local as usize) {
        Some(ty) => *ty,
        None => body.instructions[local as usize - arguments.len()].ty,
    }
}

/// A string constant is known by its text wherever it is used.
fn text_of(flat: &Flat, held: ValueId) -> u64 {
    match flat.values[held as usize].kind {
        Kind::Constant(constant) => match flat.constants[constant as usize] {
            Constant::Data(data) => of_bytes(flat.bytes(data)),
            _ => 109,
        },
        _ => 109,
    }
}

/// Blocks that control may reach, in the order in which a walk from the entry meets them, and each block's place there.
fn in_order(body: &Body, order: &mut Vec<u32>, labels: &mut Vec<u64>) {
    order.clear();
    labels.clear();
    labels.resize(body.blocks.len(), UNREACHED);
    let mut waiting = vec![0];
    while let Some(block) = waiting.pop() {
        match labels.get_mut(block as usize) {
            Some(label) if *label == UNREACHED => *label = order.len() as u64,
            _ => continue,
        }
        order.push(block);
        let from = waiting.len();
        waiting.extend(body.successors(block));
        // The first successor is visited first.
        waiting[from..].reverse();
    }
}

/// Hash of a declaration's name; rustc ends its names with a hash that differs from one build of a
/// dependency to the next.
fn of_name(name: &[u8]) -> u64 {
    of_bytes(stable_name(&String::from_utf8_lossy(name)).as_bytes())
}

/// A name without the hash that ends rustc's.
pub(crate) fn stable_name(name: &str) -> &str {
    match name.rfind("17h") {
        Some(at) if name.len() == at + 20 && name.ends_with('E') => &name[..at],
        _ => name,
    }
}

/// The least hash in each of 128 bins.
struct Signature {
    bins: [u64; WIDTH],
}

impl Default for Signature {
    fn default() -> Signature {
        Signature { bins: [u64::MAX; WIDTH] }
    }
}

impl Signature {
    fn add(&mut self, shingle: u64) {
        let hash = mix(shingle);
        let bin = &mut self.bins[(hash >> 57) as usize];
        *bin = (*bin).min(hash << 7);
    }

    fn values(&self) -> Vec<u32> {
        if self.bins.iter().all(|bin| *bin == u64::MAX) {
            return vec![u32::MAX; WIDTH];
        }
        let value = |at: usize| {
            let mut from = at;
            let mut step = 0;
            while self.bins[from] == u64::MAX {
                step += 1;
                from = (mix((at as u64) << 32 | step) % WIDTH as u64) as usize;
            }
            // The bin it is from counts too, so that fillings are equal only by equal sources.
            (mix(self.bins[from] ^ from as u64) >> 32) as u32
        };
        (0..WIDTH).map(value).collect()
    }
}

#[cfg(test)]
mod tests;
