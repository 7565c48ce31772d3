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

use llvm::{
    Block, Function, Global, Instruction, Module, Opcode, Type, TypeKind, Value, ValueKind,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::{BuildHasherDefault, Hash, Hasher},
};

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

/// Look at a module.
#[must_use]
pub fn structure(module: &Module<'_>) -> Structure {
    let mut walk = Walk::default();
    let mut found = Structure { opcodes: vec![0; Opcode::ALL.len() + 1], ..Structure::default() };
    let mut signature = Signature::default();
    let mut bodies: Vec<(u64, Vec<Value<'_>>)> = Vec::new();
    let mut place: FastMap<Value<'_>, usize> = FastMap::default();
    for function in module.functions() {
        if function.is_declaration() {
            found.declarations += u64::from(!function.is_intrinsic());
            continue;
        }
        place.insert(function.value(), bodies.len());
        bodies.push(walk.body(function, &mut found, &mut signature));
    }
    // A second round tells functions of equal bodies apart that call different ones.
    let whole = bodies.iter().map(|(hash, called)| {
        called.iter().fold(mix(*hash), |all, callee| match place.get(callee) {
            Some(place) => join(all, bodies[*place].0),
            None => join(all, 1),
        })
    });
    let whole: Vec<u64> = whole.collect();
    let mut globals = Vec::new();
    for global in module.globals() {
        let hash = walk.variable(global);
        found.data_bytes += walk.data_bytes;
        walk.data_bytes = 0;
        // Declarations count where they are used.
        if global.initializer().is_some() {
            signature.add(hash);
            globals.push(hash);
        }
    }
    let assembly = of_bytes(module.assembly().as_bytes());
    found.module = join(join(of_list(whole, 3), of_list(globals, 5)), assembly);
    found.functions = bodies.into_iter().map(|(hash, _)| hash).collect();
    found.functions.sort_unstable();
    found.signature = signature.values();
    found
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
    let (hash, called) = Walk::default().body(function, &mut found, &mut Signature::default());
    let structure = called.iter().fold(hash, |all, callee| join(all, of_name(&callee.name())));
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

/// Hashes of what a module's functions share.
#[derive(Default)]
struct Walk<'m> {
    types: FastMap<Type<'m>, u64>,
    constants: FastMap<Value<'m>, u64>,
    data_bytes: u64,
}

impl<'m> Walk<'m> {
    /// Hash of a function's body, callees known by their types alone, and the functions of this
    /// module it names.
    fn body(
        &mut self,
        function: Function<'m>,
        found: &mut Structure,
        signature: &mut Signature,
    ) -> (u64, Vec<Value<'m>>) {
        let mut hash = join(7, self.of_type(function.function_type()));
        let mut named = Vec::new();
        let mut numbers: FastMap<Value<'m>, u64> = FastMap::default();
        for argument in function.arguments() {
            numbers.insert(argument, numbers.len() as u64);
        }
        let order = in_order(function);
        let labels: FastMap<Block<'m>, u64> =
            order.iter().enumerate().map(|(at, block)| (*block, at as u64)).collect();
        // Every result has its number before any use is looked at: a phi may stand before what
        // comes into it.
        for block in &order {
            for instruction in block.instructions() {
                numbers.insert(instruction.value(), numbers.len() as u64);
            }
        }
        let mut shingle = [0; SHINGLE];
        let mut length = 0;
        for block in &order {
            found.blocks += 1;
            hash = join(hash, 11);
            for instruction in block.instructions() {
                let opcode = instruction.opcode();
                let place = opcode.index().unwrap_or(Opcode::ALL.len());
                found.instructions += 1;
                found.opcodes[place] += 1;
                let (token, rest) =
                    self.instruction(instruction, opcode, place, &numbers, &labels, &mut named);
                self.count_call(instruction, opcode, found);
                hash = join(join(hash, token), rest);
                shingle.rotate_left(1);
                shingle[SHINGLE - 1] = token;
                length += 1;
                if length >= SHINGLE {
                    signature.add(shingle.iter().fold(13, |all, one| join(all, *one)));
                }
            }
        }
        if length < SHINGLE {
            signature.add(shingle.iter().fold(17, |all, one| join(all, *one)));
        }
        (mix(hash), named)
    }

    fn count_call(&self, instruction: Instruction<'m>, opcode: Opcode, found: &mut Structure) {
        if !matches!(opcode, Opcode::Call | Opcode::Invoke | Opcode::CallBr) {
            return;
        }
        let Some(callee) = instruction.called_value() else { return };
        let kind = match (callee.as_function(), callee.kind()) {
            (Some(function), _) if function.is_intrinsic() => 1,
            (Some(_), _) => 0,
            (None, ValueKind::Other) => 3,
            (None, _) => 2,
        };
        found.calls[kind] += 1;
    }

    /// What an instruction does, for similarity, and with what, for equality.
    fn instruction(
        &mut self,
        instruction: Instruction<'m>,
        opcode: Opcode,
        place: usize,
        numbers: &FastMap<Value<'m>, u64>,
        labels: &FastMap<Block<'m>, u64>,
        named: &mut Vec<Value<'m>>,
    ) -> (u64, u64) {
        let mut token = join(place as u64 + 19, self.of_type(instruction.ty()));
        let mut rest = 23;
        match opcode {
            Opcode::ICmp | Opcode::FCmp => token = join(token, u64::from(instruction.predicate())),
            Opcode::Alloca | Opcode::GetElementPtr => {
                if let Some(accessed) = instruction.accessed_type() {
                    token = join(token, self.of_type(accessed));
                }
            }
            Opcode::Load
            | Opcode::Store
            | Opcode::AtomicRMW
            | Opcode::AtomicCmpXchg
            | Opcode::LandingPad => token = join(token, u64::from(instruction.manner())),
            Opcode::ExtractValue | Opcode::InsertValue => {
                rest = instruction.indices().iter().fold(rest, |all, at| join(all, u64::from(*at)));
            }
            Opcode::ShuffleVector => {
                rest = instruction.mask().fold(rest, |all, at| join(all, u64::from(at as u32)));
            }
            Opcode::Phi => {
                for at in 0..instruction.incoming_count() {
                    let from = instruction.incoming_block(at);
                    rest = join(rest, from.and_then(|b| labels.get(&b).copied()).unwrap_or(29));
                }
            }
            Opcode::Switch => {
                for case in instruction.detached_cases() {
                    rest = join(rest, self.constant(case, 0));
                }
            }
            _ => {}
        }
        let is_call = matches!(opcode, Opcode::Call | Opcode::Invoke | Opcode::CallBr);
        let mut first = true;
        for operand in instruction.operands() {
            let value = match operand.kind() {
                ValueKind::Instruction | ValueKind::Argument => {
                    if first && opcode == Opcode::Store {
                        token = join(token, self.of_type(operand.ty()));
                    }
                    join(31, numbers.get(&operand).copied().unwrap_or(0))
                }
                ValueKind::Block => {
                    let label = operand.as_block().and_then(|block| labels.get(&block).copied());
                    join(37, label.unwrap_or(u64::MAX))
                }
                kind => {
                    if kind == ValueKind::Function
                        && operand.as_function().is_some_and(|f| !f.is_declaration())
                    {
                        named.push(operand);
                    }
                    let value = self.constant(operand, 0);
                    if is_call && kind == ValueKind::Function {
                        token = join(token, value);
                    }
                    value
                }
            };
            rest = join(rest, value);
            first = false;
        }
        (mix(token), rest)
    }

    /// Hash of a constant; deep ones are cut off where no program of man has any.
    fn constant(&mut self, value: Value<'m>, depth: usize) -> u64 {
        if let Some(known) = self.constants.get(&value) {
            return *known;
        }
        if depth > 200 {
            return 41;
        }
        let ty = self.of_type(value.ty());
        let kind = value.kind();
        let hash = match kind {
            ValueKind::Integer => match value.integer() {
                Some((_, number)) => join(43, number),
                None => join(43, of_bytes(value.print().as_bytes())),
            },
            ValueKind::Float => join(47, value.real().unwrap_or_default().to_bits()),
            ValueKind::Zero => 53,
            ValueKind::Undefined => 59,
            ValueKind::Function => match value.as_function() {
                Some(function) if function.is_declaration() => join(61, of_name(&function.name())),
                Some(function) => join(67, self.of_type(function.function_type())),
                None => 71,
            },
            ValueKind::Global => match value.as_global() {
                // What it holds is counted once, where it is defined; here its shape is enough.
                Some(variable) if variable.initializer().is_some() => {
                    let shape = join(73, self.of_type(variable.content_type()));
                    match variable.is_constant() {
                        true => join(shape, self.variable_text(variable)),
                        false => shape,
                    }
                }
                Some(variable) => join(79, of_name(&variable.name())),
                None => join(83, of_name(&value.name())),
            },
            ValueKind::Aggregate => match value.data() {
                Some(bytes) => {
                    self.data_bytes += bytes.len() as u64;
                    join(89, of_bytes(bytes))
                }
                None => {
                    let mut hash = 97;
                    let mut any = false;
                    for element in value.constant_operands() {
                        any = true;
                        hash = join(hash, self.constant(element, depth + 1));
                    }
                    // A data array whose bytes this LLVM does not give.
                    if any { hash } else { join(hash, of_bytes(value.print().as_bytes())) }
                }
            },
            ValueKind::Expression => {
                let mut hash = join(101, u64::from(value.expression_opcode().unwrap_or(0)));
                for operand in value.constant_operands() {
                    hash = join(hash, self.constant(operand, depth + 1));
                }
                hash
            }
            // Metadata does not count; assembly does.
            ValueKind::Other if self.is_code(value) => {
                join(103, of_bytes(value.print().as_bytes()))
            }
            _ => 107,
        };
        let hash = mix(join(hash, ty));
        if kind != ValueKind::Other {
            self.constants.insert(value, hash);
        }
        hash
    }

    /// Whether a value of unknown kind is assembly: a pointer, where metadata has a type of its own.
    fn is_code(&self, value: Value<'m>) -> bool {
        value.ty().kind() == TypeKind::Pointer
    }

    /// A string constant is known by its text wherever it is used.
    fn variable_text(&mut self, variable: Global<'m>) -> u64 {
        variable.initializer().and_then(Value::data).map_or(109, of_bytes)
    }

    fn variable(&mut self, variable: Global<'m>) -> u64 {
        let ty = self.of_type(variable.content_type());
        let held = variable.initializer().map_or(113, |value| self.constant(value, 0));
        mix(join(join(ty, held), u64::from(variable.is_constant())))
    }

    fn of_type(&mut self, ty: Type<'m>) -> u64 {
        if let Some(known) = self.types.get(&ty) {
            return *known;
        }
        let kind = ty.kind();
        let mut hash = join(127, kind as u64);
        match kind {
            TypeKind::Integer => hash = join(hash, u64::from(ty.integer_width().unwrap_or(0))),
            TypeKind::Pointer => hash = join(hash, u64::from(ty.address_space().unwrap_or(0))),
            TypeKind::Array | TypeKind::Vector => {
                hash = join(hash, ty.length());
                if let Some(element) = ty.element() {
                    hash = join(hash, self.of_type(element));
                }
            }
            TypeKind::Struct => {
                for at in 0..u32::try_from(ty.length()).unwrap_or(u32::MAX) {
                    if let Some(field) = ty.field(at) {
                        hash = join(hash, self.of_type(field));
                    }
                }
            }
            TypeKind::Function => {
                hash = join(hash, u64::from(ty.is_variadic()));
                for part in ty.returns().into_iter().chain(ty.parameters()) {
                    hash = join(hash, self.of_type(part));
                }
            }
            // The names of these types are what they are: `float`, `x86_fp80`, `target("x")`.
            TypeKind::Float | TypeKind::Other => hash = join(hash, of_bytes(ty.print().as_bytes())),
            TypeKind::Void => {}
        }
        let hash = mix(hash);
        self.types.insert(ty, hash);
        hash
    }
}

/// Blocks that control may reach, in the order in which a walk from the entry meets them.
fn in_order(function: Function<'_>) -> Vec<Block<'_>> {
    let Some(entry) = function.blocks().next() else { return Vec::new() };
    let mut order = Vec::new();
    let mut seen: FastSet<Block<'_>> = FastSet::default();
    let mut waiting = vec![entry];
    while let Some(block) = waiting.pop() {
        if !seen.insert(block) {
            continue;
        }
        order.push(block);
        let mut next: Vec<Block<'_>> = block.successors().collect();
        // The first successor is visited first.
        next.reverse();
        waiting.extend(next);
    }
    order
}

/// Hash of a declaration's name; rustc ends its names with a hash that differs from one build of a
/// dependency to the next.
fn of_name(name: &str) -> u64 {
    of_bytes(stable_name(name).as_bytes())
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
