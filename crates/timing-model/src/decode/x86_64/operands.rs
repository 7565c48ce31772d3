//! What an instruction reads and writes.

use crate::decode::{
    decoded::{Decoded, Form, Stack},
    flag, register,
};
use iced_x86::{
    EncodingKind, Instruction, InstructionInfo, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};

/// Bytes behind a register below which an address is near it.
const NEAR: u64 = 2048;

/// Fill in sources, addresses, destinations and memory accesses.
pub(super) fn fill(decoded: &mut Decoded, i: &Instruction, factory: &mut InstructionInfoFactory) {
    let info = factory.info(i);
    let stack = i.is_stack_instruction();
    let mut sources = Set::<4>::new(register::NONE);
    let mut address = Set::<2>::new(register::NONE);
    let mut destinations = Set::<3>::new(register::SINK);
    for memory in info.used_memory() {
        for part in [memory.base(), memory.index()] {
            // A stack engine keeps the stack pointer ready for pushes, pops, calls and returns.
            if !(stack && part.full_register() == Register::RSP) {
                address.add(slot(part));
            }
        }
        decoded.flags |= match memory.access() {
            OpAccess::Read | OpAccess::CondRead => flag::LOAD,
            OpAccess::Write | OpAccess::CondWrite => flag::STORE,
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => flag::LOAD | flag::STORE,
            _ => 0,
        };
        let bytes = memory.memory_size().size().clamp(1, 64);
        decoded.bytes = decoded.bytes.max(bytes as u8);
    }
    let lea = i.mnemonic() == Mnemonic::Lea;
    for used in info.used_registers() {
        let Some(at) = slot(used.register()) else { continue };
        if stack && used.register().full_register() == Register::RSP {
            continue;
        }
        let (reads, writes) = match used.access() {
            OpAccess::Read | OpAccess::CondRead => (true, false),
            OpAccess::Write => (false, true),
            OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
            _ => (false, false),
        };
        let only_address = address.has(at) && !lea && !is_operand(i, at);
        if reads && !only_address {
            sources.add(Some(at));
        }
        if writes {
            destinations.add(Some(at));
            // Writes to 8 and 16 bits merge with the rest of the register.
            if used.register().is_gpr8() || used.register().is_gpr16() {
                sources.add(Some(at));
            }
        }
    }
    if i.rflags_read() != 0 {
        sources.add(Some(register::FLAGS));
    }
    if i.rflags_modified() != 0 {
        destinations.add(Some(register::FLAGS));
    }
    if lea {
        decoded.flags &= !(flag::LOAD | flag::STORE);
    }
    decoded.sources = sources.items;
    decoded.address = address.items;
    decoded.destinations = destinations.items;
    decoded.form = form(i);
    decoded.stack = stack_use(i, info);
    decoded.parts = decoded.form == Form::Indexed
        && decoded.flags & (flag::LOAD | flag::STORE) == flag::LOAD
        && parts(i, info);
}

/// What the address of an instruction's memory is made of.
fn form(i: &Instruction) -> Form {
    let has_memory = (0..i.op_count()).any(|at| i.op_kind(at) == OpKind::Memory);
    if has_memory && i.memory_index() != Register::None {
        Form::Indexed
    } else if has_memory
        && i.memory_base().is_gpr64()
        && !i.has_segment_prefix()
        && i.memory_displacement64() < NEAR
    {
        Form::Near
    } else {
        Form::Other
    }
}

/// Whether an instruction that loads at an address with an index is of more than two operands, flags among them, or only
/// writes its first one: those of vectors, and those that read flags.
fn parts(i: &Instruction, info: &InstructionInfo) -> bool {
    let vector = i.op_count() > 0 && i.op_register(0).is_vector_register();
    let three = i.encoding() == EncodingKind::VEX && i.op_count() > 2;
    let reads_flags = i.rflags_read() != 0;
    vector && (three || info.op0_access() == OpAccess::Write) || reads_flags && i.op_count() == 2
}

/// What an instruction does with the stack pointer, by pushing and popping and otherwise.
fn stack_use(i: &Instruction, info: &InstructionInfo) -> Stack {
    let is_it = |one: Register| one.full_register() == Register::RSP;
    let mut stack = Stack {
        moved: i.stack_pointer_increment(),
        read: is_it(i.memory_base()),
        written: i.mnemonic() == Mnemonic::Leave,
    };
    for at in (0..i.op_count()).filter(|at| is_it(i.op_register(*at))) {
        let access = info.op_access(at);
        stack.read |= access != OpAccess::Write;
        stack.written |= !matches!(access, OpAccess::Read | OpAccess::CondRead);
    }
    stack
}

/// The model's register for an architectural one.
fn slot(r: Register) -> Option<u8> {
    let full = r.full_register();
    let number = full.number() as u8;
    if r == Register::None || full == Register::RIP {
        None
    } else if full.is_gpr() {
        Some(number)
    } else if full.is_vector_register() {
        Some(register::VECTOR + number)
    } else if full.is_st() || full.is_mm() {
        Some(register::X87)
    } else if full.is_k() {
        Some(register::MASK)
    } else {
        None
    }
}

fn is_operand(i: &Instruction, at: u8) -> bool {
    (0..i.op_count())
        .any(|op| i.op_kind(op) == OpKind::Register && slot(i.op_register(op)) == Some(at))
}

/// A few distinct registers; what does not fit is dropped.
struct Set<const N: usize> {
    items: [u8; N],
    used: usize,
}

impl<const N: usize> Set<N> {
    fn new(empty: u8) -> Set<N> {
        Set { items: [empty; N], used: 0 }
    }

    fn has(&self, item: u8) -> bool {
        self.items[..self.used].contains(&item)
    }

    fn add(&mut self, item: Option<u8>) {
        if let Some(item) = item
            && self.used < N
            && !self.has(item)
        {
            self.items[self.used] = item;
            self.used += 1;
        }
    }
}
