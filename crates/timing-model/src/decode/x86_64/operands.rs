//! What an instruction reads and writes.

use crate::decode::{decoded::Decoded, flag, register};
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

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
