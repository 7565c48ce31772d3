//! From machine code to [`Operation`]s.
//!
//! `class.rs` says what kind of work an instruction is, the processor file what that costs,
//! `operands.rs` what it waits for, and `fusion.rs` which neighbours become one µop.

mod class;
mod fusion;
mod operands;
mod operation;

pub use class::Class;
pub use operation::Cost;
pub(crate) use operation::{Operation, flag, register};

use crate::{Cpu, block::Block, block::Exit, verdict::Refusal};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, Register,
};
use std::collections::BTreeMap;

/// Sets of ports by index; [`Operation`]s hold the index.
pub(crate) const PORT_SETS: usize = 64;

/// Decodes blocks of instructions for one processor.
pub(crate) struct Translator {
    costs: BTreeMap<Class, Costed>,
    port_sets: Vec<u16>,
    branch_ports: u8,
    fusion: fusion::Rules,
    eliminate_moves: bool,
    rename_width: u64,
    vector_scheduler: u8,
    vector_load_extra: u8,
    fetch_line: u64,
    factory: InstructionInfoFactory,
}

#[derive(Clone, Copy)]
struct Costed {
    uops: u8,
    latency: u8,
    ports: u8,
    issues: u8,
    every: u8,
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
        let costs = cpu
            .instructions
            .iter()
            .map(|(class, cost)| {
                let costed = Costed {
                    uops: cost.uops,
                    latency: cost.latency,
                    ports: set(cpu.mask(&cost.ports)),
                    issues: cost.issues.max(1),
                    every: cost.every.max(1),
                };
                (*class, costed)
            })
            .collect();
        let branch_ports = set(cpu.mask(&cpu.ports.branch));
        port_sets.truncate(PORT_SETS);
        Translator {
            costs,
            port_sets,
            branch_ports,
            fusion: fusion::Rules {
                compare: cpu.frontend.fuse_compare_branch,
                arithmetic: cpu.frontend.fuse_arithmetic_branch,
            },
            eliminate_moves: cpu.frontend.eliminate_moves,
            rename_width: cpu.frontend.rename_width,
            vector_scheduler: u8::from(cpu.window.vector_scheduler > 0),
            vector_load_extra: cpu.ports.vector_load_extra,
            fetch_line: 64,
            factory: InstructionInfoFactory::new(),
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
        let mut previous: Option<Instruction> = None;
        for &(address, bytes) in code {
            let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
            let instruction = decoder.decode();
            if block.refusal.is_none() {
                block.refusal = Refusal::of(&instruction, bytes);
            }
            let fused =
                previous.as_ref().is_some_and(|before| self.fusion.fuses(before, &instruction));
            match block.operations.last_mut() {
                // One µop, which resolves the branch: the branch itself, last in its block, goes.
                Some(compare) if fused => compare.ports = self.branch_ports,
                _ => {
                    let operation = self.operation(&instruction);
                    block.uops += u64::from(operation.uops);
                    block.operations.push(operation);
                }
            }
            block.instructions += 1;
            block.last = address;
            block.end = address + bytes.len() as u64;
            block.exit = exit(&instruction);
            previous = Some(instruction);
        }
        block.lines =
            (first / self.fetch_line, block.end.max(first + 1).wrapping_sub(1) / self.fetch_line);
        block.finish();
        block
    }

    fn operation(&mut self, i: &Instruction) -> Operation {
        let class = class::classify(i);
        let cost = self.costs.get(&class).copied();
        let cost = cost.expect("a processor file has a cost for every class");
        let mut operation = Operation {
            flags: 0,
            ports: if class == Class::Branch { self.branch_ports } else { cost.ports },
            uops: cost.uops,
            latency: cost.latency,
            issues: cost.issues,
            every: cost.every,
            bytes: 0,
            scheduler: 0,
            load_extra: 0,
            sources: [register::NONE; 4],
            address: [register::NONE; 2],
            destinations: [register::SINK; 3],
        };
        operands::fill(&mut operation, i, &mut self.factory);
        let access = operation.flags & (flag::LOAD | flag::STORE);
        let eliminated = matches!(class, Class::Move | Class::VectorMove)
            && self.eliminate_moves
            && access == 0
            && i.op0_register().full_register() != i.op1_register().full_register();
        if !class.executes() || eliminated || is_zeroing(i) {
            operation.flags |= flag::FREE;
            operation.latency = 0;
            operation.issues = 1;
            operation.every = 1;
        }
        if is_zeroing(i) {
            operation.sources = [register::NONE; 4];
            operation.uops = 1;
        }
        if operation.every > 1 {
            operation.flags |= flag::UNIT;
        }
        if operation.issues > 1 {
            operation.flags |= flag::SLOTS;
        }
        if access == flag::LOAD | flag::STORE && class.executes() && operation.uops == 1 {
            operation.uops = 2;
        }
        if class == Class::Branch && access != 0 {
            operation.uops = 2;
        }
        if class == Class::Fence || class == Class::Atomic {
            operation.flags |= flag::SERIAL;
        }
        if i.mnemonic() == Mnemonic::Syscall {
            operation.flags |= flag::SYSTEM_CALL | flag::SERIAL;
        }
        if matches!(
            i.mnemonic(),
            Mnemonic::Movntdq
                | Mnemonic::Movnti
                | Mnemonic::Movntps
                | Mnemonic::Movntpd
                | Mnemonic::Vmovntdq
                | Mnemonic::Vmovntps
                | Mnemonic::Vmovntpd
        ) {
            operation.flags |= flag::STREAMING;
        }
        if is_repeated(i) {
            operation.flags |= flag::REPEATED | flag::FREE;
            operation.sources = [register::NONE; 4];
            operation.destinations = [register::SINK; 3];
        }
        if i.op_count() > 0 && (0..i.op_count()).any(|at| i.op_register(at).is_vector_register()) {
            operation.scheduler = self.vector_scheduler;
            operation.load_extra = self.vector_load_extra;
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

/// Whether an instruction clears its register whatever was in it.
fn is_zeroing(i: &Instruction) -> bool {
    use Mnemonic as M;
    let same =
        |a: u32, b: u32| i.op_register(a) != Register::None && i.op_register(a) == i.op_register(b);
    match i.mnemonic() {
        M::Xor
        | M::Sub
        | M::Pxor
        | M::Xorps
        | M::Xorpd
        | M::Psubb
        | M::Psubw
        | M::Psubd
        | M::Psubq => i.op_count() == 2 && same(0, 1),
        M::Vpxor | M::Vxorps | M::Vxorpd | M::Vpsubb | M::Vpsubw | M::Vpsubd | M::Vpsubq => {
            i.op_count() == 3 && same(1, 2)
        }
        _ => false,
    }
}

/// Whether an instruction is `rep movs` or `rep stos`.
fn is_repeated(i: &Instruction) -> bool {
    use Mnemonic as M;
    i.has_rep_prefix()
        && i.is_string_instruction()
        && matches!(
            i.mnemonic(),
            M::Movsb | M::Movsw | M::Movsd | M::Movsq | M::Stosb | M::Stosw | M::Stosd | M::Stosq
        )
}

/// How control leaves an instruction.
fn exit(i: &Instruction) -> Exit {
    match i.flow_control() {
        FlowControl::ConditionalBranch => Exit::Conditional,
        FlowControl::UnconditionalBranch => Exit::Jump,
        FlowControl::IndirectBranch => Exit::Indirect,
        FlowControl::Call if i.mnemonic() == Mnemonic::Call => Exit::Call,
        FlowControl::IndirectCall => Exit::IndirectCall,
        FlowControl::Return => Exit::Return,
        _ if is_repeated(i) => Exit::Repeat,
        _ => Exit::Fall,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2).map(|two| str::from_utf8(two).expect("hexadecimal"));
        digits.map(|two| u8::from_str_radix(two, 16).expect("hexadecimal")).collect()
    }

    fn cpus() -> [(&'static str, Translator); 2] {
        ["zen4", "skylake"].map(|name| (name, Translator::new(&Cpu::named(name).unwrap())))
    }

    fn each(text: &str, tell: impl Fn(&str) -> String) -> String {
        text.lines().filter(|line| !line.is_empty()).map(|line| tell(line) + "\n").collect()
    }

    fn names(flags: u16) -> String {
        let all = [
            (flag::LOAD, "load"),
            (flag::STORE, "store"),
            (flag::FREE, "free"),
            (flag::REPEATED, "repeated"),
            (flag::SYSTEM_CALL, "system-call"),
            (flag::MANY, "many"),
            (flag::UNIT, "unit"),
            (flag::SERIAL, "serial"),
            (flag::STREAMING, "streaming"),
            (flag::SLOTS, "slots"),
        ];
        let set = all.iter().filter(|(bit, _)| flags & bit != 0);
        set.map(|(_, name)| format!(" {name}")).collect()
    }

    fn registers(role: &str, all: &[u8], none: u8) -> String {
        let used: Vec<String> =
            all.iter().filter(|r| **r != none).map(|r| format!(" {r}")).collect();
        if used.is_empty() { String::new() } else { format!(", {role}{}", used.concat()) }
    }

    /// One instruction as text: its class, registers and cost on each processor; what all processors share stands once.
    fn tell(code: &[u8]) -> String {
        let mut decoder = Decoder::with_ip(64, code, 0x40_1000, DecoderOptions::NONE);
        let i = decoder.decode();
        let mut told = class::classify(&i).name().to_owned();
        for (at, (name, mut translator)) in cpus().into_iter().enumerate() {
            let op = translator.operation(&i);
            if at == 0 {
                told += &registers("reads", &op.sources, register::NONE);
                told += &registers("address", &op.address, register::NONE);
                told += &registers("writes", &op.destinations, register::SINK);
                told += &format!(", {} bytes, scheduler {}", op.bytes, op.scheduler);
            }
            let ports = translator.port_sets()[op.ports as usize];
            let Operation { uops, latency, issues, every, load_extra, flags, .. } = op;
            told += &format!(
                " | {name}: {uops} uops, {latency} cycles, {issues} of {ports:x}, every {every}, loads +{load_extra},{}",
                names(flags)
            );
        }
        told
    }

    #[test]
    fn every_kind_of_instruction_costs_what_its_table_says() {
        let folder = "cases/instructions";
        cases::beside(folder, |_, text| {
            each(text, |line| {
                let (hex, name) = line.split_once(' ').expect("BYTES INSTRUCTION");
                format!("{}: {}", name.trim(), tell(&bytes(hex)))
            })
        });
    }

    #[test]
    fn blocks_are_fused_measured_and_refused_as_their_table_says() {
        let folder = "cases/blocks";
        cases::beside(folder, |_, text| {
            each(text, |line| {
                let (code, name) = line.split_once(';').expect("ADDRESS BYTES... ; NAME");
                let mut words = code.split_whitespace();
                let address = words.next().expect("an address");
                let mut address = u64::from_str_radix(address, 16).expect("hexadecimal");
                let code: Vec<(u64, Vec<u8>)> = words
                    .map(|hex| {
                        let (at, code) = (address, bytes(hex));
                        address += code.len() as u64;
                        (at, code)
                    })
                    .collect();
                let code: Vec<(u64, &[u8])> = code.iter().map(|(at, c)| (*at, &c[..])).collect();
                let mut told = format!("{}:", name.trim());
                for (cpu, mut translator) in cpus() {
                    let b = translator.block(&code);
                    told += &format!(
                        " {cpu}: {:?}, {} instructions in {} operations, {} uops, {:x} to {:x}, last {:x}, lines {:x?}, \
                         accesses {:?}, {:?}, {} |",
                        b.exit,
                        b.instructions,
                        b.operations.len(),
                        b.uops,
                        b.start,
                        b.end,
                        b.last,
                        b.lines,
                        b.accesses,
                        b.refusal,
                        b.system_call
                    );
                    let ports =
                        b.operations.last().map(|op| translator.port_sets()[op.ports as usize]);
                    told += &format!(" last on {:x}.", ports.unwrap_or(0));
                }
                told
            })
        });
    }
}
