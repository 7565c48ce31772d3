//! Blocks of decoded instructions as operations of one processor.

use super::{
    Class, Decoder, Operation, PORT_SETS,
    decoded::{Decoded, Form, Lead},
    decoder, flag, register,
};
use crate::{Cpu, block::Block, block::Part};
use std::collections::BTreeMap;

/// Bytes that code is fetched by.
const FETCH_LINE: u64 = 64;

/// Decodes blocks of instructions for one processor.
pub(crate) struct Translator {
    decoder: Box<dyn Decoder>,
    costs: BTreeMap<Class, Costed>,
    port_sets: Vec<u16>,
    branch_ports: u8,
    store_address: u8,
    indexed_store_address: u8,
    /// `cmp` and `test` fuse with a conditional branch.
    fuse_compare: bool,
    /// `add`, `sub`, `and`, `inc`, `dec` do as well.
    fuse_arithmetic: bool,
    eliminate_moves: bool,
    synchronize_stack: bool,
    part_indexed: bool,
    rename_width: u64,
    vector_scheduler: u8,
    load_extra: u8,
    vector_load_extra: u8,
    wide_load_extra: u8,
}

#[derive(Clone, Copy)]
struct Costed {
    uops: u8,
    latency: u8,
    ports: u8,
    issues: u8,
    every: u8,
    /// Whether it needs a port besides those of its accesses.
    executes: bool,
}

impl Translator {
    pub(crate) fn new(cpu: &Cpu) -> Translator {
        let mut port_sets = Vec::new();
        let mut set = |mask: u16| -> u8 {
            let at = port_sets.iter().position(|known| *known == mask).unwrap_or_else(|| {
                port_sets.push(mask);
                port_sets.len() - 1
            });
            // Sets beyond the table share the last one; no processor has half as many.
            at.min(PORT_SETS - 1) as u8
        };
        let mut costs: BTreeMap<Class, Costed> = cpu
            .instructions
            .iter()
            .map(|(class, cost)| {
                let costed = Costed {
                    uops: cost.uops,
                    latency: cost.latency,
                    ports: set(cpu.mask(&cost.ports)),
                    issues: cost.issues.max(1),
                    every: cost.every.max(1),
                    executes: class.executes() && !cost.ports.is_empty(),
                };
                (*class, costed)
            })
            .collect();
        for class in Class::ALL {
            let rest = class.otherwise().and_then(|rest| costs.get(&rest).copied());
            if let Some(rest) = rest {
                costs.entry(*class).or_insert(rest);
            }
        }
        let branch_ports = set(cpu.mask(&cpu.ports.branch));
        let store_address = set(cpu.mask(&cpu.ports.store_address));
        let indexed_store_address = match &cpu.ports.indexed_store_address[..] {
            [] => store_address,
            ports => set(cpu.mask(ports)),
        };
        port_sets.truncate(PORT_SETS);
        Translator {
            decoder: decoder(cpu.architecture),
            costs,
            port_sets,
            branch_ports,
            store_address,
            indexed_store_address,
            fuse_compare: cpu.frontend.fuse_compare_branch,
            fuse_arithmetic: cpu.frontend.fuse_arithmetic_branch,
            eliminate_moves: cpu.frontend.eliminate_moves,
            synchronize_stack: cpu.frontend.synchronize_stack,
            part_indexed: cpu.frontend.part_indexed,
            rename_width: cpu.frontend.rename_width,
            vector_scheduler: u8::from(cpu.window.vector_scheduler > 0),
            load_extra: cpu.ports.load_extra,
            vector_load_extra: cpu.ports.vector_load_extra,
            wide_load_extra: cpu.ports.wide_load_extra,
        }
    }

    /// The sets of ports that operations name by index.
    pub(crate) fn port_sets(&self) -> &[u16] {
        &self.port_sets
    }

    /// Decode the instructions of one block: `(address, bytes)` each.
    pub(crate) fn block(&mut self, code: &[(u64, &[u8])]) -> Block {
        let first = code.first().map_or(0, |(address, _)| *address);
        let mut block = Block::empty(first);
        let mut lead = Lead::No;
        // Bytes that the stack engine is ahead of the register, taken as none where a block begins.
        let mut ahead = 0_i32;
        // Operations that load at a register and little more.
        let mut near = Vec::new();
        for &(address, bytes) in code {
            let decoded = self.decoder.decode(address, bytes);
            // The emulator lists the beginning of an instruction that goes on in the next page; all of it is in the next block.
            if decoded.cut && block.instructions > 0 {
                break;
            }
            block.refusal = block.refusal.or(decoded.refusal);
            if self.synchronize_stack && decoded.stack.read && ahead != 0 {
                self.synchronize(&mut block);
                ahead = 0;
            }
            ahead = if decoded.stack.written { 0 } else { ahead + decoded.stack.moved };
            if decoded.form == Form::Near && !decoded.vector {
                near.push(block.operations.len());
            }
            let fused = decoded.follows
                && match lead {
                    Lead::No => false,
                    Lead::Compare => self.fuse_compare,
                    Lead::Arithmetic => self.fuse_arithmetic,
                };
            match block.operations.last_mut() {
                // One µop, which resolves the branch: the branch itself, last in its block, goes.
                Some(compare) if fused => compare.ports = self.branch_ports,
                _ => self.append(&mut block, &decoded),
            }
            block.instructions += 1;
            block.last = address;
            block.end = address + bytes.len() as u64;
            block.exit = decoded.exit;
            lead = decoded.lead;
        }
        if self.load_extra > 0 && !near.is_empty() {
            follow_pointers(&mut block.operations, &near);
        }
        block.lines = (first / FETCH_LINE, block.end.max(first + 1).wrapping_sub(1) / FETCH_LINE);
        block.finish();
        block
    }

    /// The operations of an instruction: itself, and what goes with it as µops of their own.
    fn append(&self, block: &mut Block, decoded: &Decoded) {
        block.parts.push(Part { operation: block.operations.len() as u16, span: decoded.span });
        let mut push = |operation: Operation| {
            block.uops += u64::from(operation.uops);
            block.operations.push(operation);
        };
        let loads = decoded.flags & flag::LOAD != 0;
        let mut access = self.operation(decoded);
        let [first, others @ ..] = &mut access.destinations;
        let first = loads.then_some(*first).filter(|register| *register != register::SINK);
        let mut others_of_several = [register::SINK; 2];
        if loads && decoded.further > 0 {
            std::mem::swap(others, &mut others_of_several);
        }
        push(access);
        for number in 0..usize::from(decoded.further) {
            // What the first register was loaded to is there when the access is done.
            let own = others_of_several.get(number).copied();
            let own = own.filter(|register| *register != register::SINK);
            let mut one = Decoded::new(Class::Further).reads([first]).writes([own]);
            one.vector = decoded.vector;
            push(self.operation(&one));
        }
        if let Some(register) = decoded.moved_on {
            // It goes through rename with its access.
            let one = Decoded::new(Class::Alu).reads([Some(register)]).writes([Some(register)]);
            push(Operation { uops: 0, ..self.operation(&one) });
        }
    }

    /// The µop that brings the stack pointer up to what pushes and pops before it made of it.
    fn synchronize(&self, block: &mut Block) {
        let stack = Some(register::STACK);
        let one = self.operation(&Decoded::new(Class::Alu).reads([stack]).writes([stack]));
        block.uops += u64::from(one.uops);
        block.operations.push(one);
    }

    /// Cycles by which its load takes longer.
    fn load_extra(&self, decoded: &Decoded) -> u8 {
        let wide = self.vector_load_extra.saturating_add(self.wide_load_extra);
        match (decoded.vector, decoded.flags & flag::LOAD != 0, decoded.bytes) {
            (true, true, 32..) => wide.saturating_add(self.wide_load_extra),
            (true, true, 16..) => wide,
            (true, ..) => self.vector_load_extra,
            (false, loads, _) => u8::from(loads) * self.load_extra,
        }
    }

    pub(super) fn operation(&self, decoded: &Decoded) -> Operation {
        let class = decoded.class;
        let cost = self.costs.get(&class).copied();
        let cost =
            cost.expect("a processor file has a cost for every class of its instruction set");
        let mut operation = Operation {
            flags: decoded.flags,
            ports: if class == Class::Branch { self.branch_ports } else { cost.ports },
            uops: cost.uops,
            latency: cost.latency,
            issues: cost.issues,
            every: cost.every,
            bytes: decoded.bytes,
            scheduler: if decoded.vector { self.vector_scheduler } else { 0 },
            load_extra: self.load_extra(decoded),
            store_address: match decoded.form {
                Form::Indexed => self.indexed_store_address,
                Form::Near | Form::Other => self.store_address,
            },
            sources: decoded.sources,
            address: decoded.address,
            destinations: decoded.destinations,
        };
        let access = decoded.flags & (flag::LOAD | flag::STORE);
        let eliminated = decoded.copies && self.eliminate_moves;
        if !cost.executes || eliminated || decoded.clears {
            operation.flags |= flag::FREE;
            operation.latency = 0;
            operation.issues = 1;
            operation.every = 1;
        }
        if decoded.clears {
            operation.sources = [register::NONE; 4];
            operation.uops = 1;
        }
        if operation.every > 1 {
            operation.flags |= flag::UNIT;
        }
        if operation.issues > 1 {
            operation.flags |= flag::SLOTS;
        }
        if access == flag::LOAD | flag::STORE && cost.executes && operation.uops == 1 {
            operation.uops = 2;
        }
        if self.part_indexed && decoded.parts && cost.executes {
            operation.uops = operation.uops.saturating_add(1);
        }
        if class == Class::Branch && access != 0 {
            operation.uops = 2;
        }
        let serial = [Class::Fence, Class::Atomic, Class::Identify].contains(&class);
        if serial || class == Class::Pause && cost.executes {
            operation.flags |= flag::SERIAL;
        }
        if decoded.flags & flag::SYSTEM_CALL != 0 {
            operation.flags |= flag::SERIAL;
        }
        if decoded.flags & flag::REPEATED != 0 {
            operation.flags |= flag::FREE;
            operation.sources = [register::NONE; 4];
            operation.destinations = [register::SINK; 3];
        }
        if u64::from(operation.uops) > self.rename_width.min(2)
            || operation.sources[3] != register::NONE
            || operation.destinations[2] != register::SINK
        {
            operation.flags |= flag::MANY;
        }
        operation
    }
}

/// Let loads take no longer whose address, of the operations in `near`, was the last load to that register. What comes
/// before the block is taken to be the block itself.
fn follow_pointers(operations: &mut [Operation], near: &[usize]) {
    let mut brought = [false; 256];
    for is_second in [false, true] {
        for (at, op) in operations.iter_mut().enumerate() {
            let follows = brought[usize::from(op.address[0])] && near.binary_search(&at).is_ok();
            if is_second && follows {
                op.load_extra = 0;
            }
            let accesses = op.flags & (flag::LOAD | flag::STORE | flag::FREE);
            let brings = accesses == flag::LOAD | flag::FREE && matches!(op.bytes, 4 | 8);
            for register in op.destinations {
                brought[usize::from(register)] = brings;
            }
        }
    }
}
