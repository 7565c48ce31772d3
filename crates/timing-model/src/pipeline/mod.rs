//! The pipeline as a dataflow over an instruction window.
//!
//! Each instruction is taken once, in program order, and given the cycles at which it is renamed,
//! issues, is done and retires: after its operands, its ports, its queue entries and those before it.
//! That is the graph model of Fields et al. (ISCA 2001) solved on the fly; no cycle is simulated
//! twice and none in which nothing happens. Nor is a block that meets the pipeline in a state in which it met it before
//! (see `replay`).

mod access;
mod fetch;
mod forwarding;
mod memo;
mod ports;
mod replay;
#[cfg(test)]
mod replay_tests;
mod scheduler;
mod snapshot;
mod tape;
mod window;

use crate::{
    block::Block,
    branch::Outcome,
    counters::Counters,
    cpu::Cpu,
    decode::{Operation, flag},
    memory::Memory,
};
use access::crosses;
use fetch::Fetch;
use forwarding::StoreForwarding;
use ports::Ports;
use replay::Replay;
use scheduler::Scheduler;
use tape::{Answer, Kind, Record, Silent, Tape};
use window::Window;

/// Operations of a block whose addresses are told apart.
pub(crate) const SLOTS: usize = 1024;
/// Addresses of a block's operations: of the load and of the store of each.
pub(crate) type Addresses = [[u64; 2]; SLOTS];

/// The addresses an instruction accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accesses<'a> {
    /// That of its load and that of its store; meaningful where its flags say so.
    pub(crate) addresses: &'a [u64; 2],
    /// Identifies the instruction.
    pub(crate) instruction: u64,
}

impl Accesses<'_> {
    /// Those of an operation of a block.
    #[inline(always)]
    fn of<'a>(block: &Block, at: usize, addresses: &'a Addresses) -> Accesses<'a> {
        let instruction = block.start.wrapping_add(at as u64);
        Accesses { addresses: &addresses[at % SLOTS], instruction }
    }

    #[inline(always)]
    pub(crate) fn load(&self) -> u64 {
        self.addresses[0]
    }

    #[inline(always)]
    pub(crate) fn store(&self) -> u64 {
        self.addresses[1]
    }
}

/// Sets of ports that memory accesses use, behind those of the translator.
#[derive(Clone, Copy)]
struct AccessPorts {
    load: u8,
    store_data: u8,
}

/// Whether an operation takes an entry of a scheduler.
#[inline(always)]
fn waits(flags: u16) -> bool {
    flags & (flag::FREE | flag::LOAD | flag::STORE) != flag::FREE
}

/// One core's pipeline.
pub(crate) struct Pipeline {
    /// Cycle in which µops are being renamed, and how many were.
    cycle: u64,
    /// That in which the last block began.
    begun: u64,
    renamed: u64,
    width: u64,
    penalty: u64,
    fetch: Fetch,
    reorder_buffer: Window,
    loads: Window,
    stores: Window,
    /// That of integers, or of all, and that of vectors.
    schedulers: [Scheduler; 2],
    ports: Ports,
    access_ports: AccessPorts,
    /// When each unpipelined unit is free, by set of ports.
    units: [u64; 256],
    /// When each register is there.
    registers: [u64; 256],
    forwarding: StoreForwarding,
    retired: u64,
    retired_in_cycle: u64,
    retire_width: u64,
    /// When the last store was written.
    written: u64,
    /// Cycles lost to the operating system.
    stalled: u64,
    /// Registers that blocks name are below, and unpipelined units that they use.
    named: usize,
    unit_sets: Vec<u8>,
    replay: Replay,
}

impl Pipeline {
    pub(crate) fn new(cpu: &Cpu, port_sets: &[u16]) -> Pipeline {
        let mut sets = port_sets.to_vec();
        let mut set = |ports: &[String]| {
            sets.push(cpu.mask(ports));
            (sets.len() - 1) as u8
        };
        let access_ports =
            AccessPorts { load: set(&cpu.ports.load), store_data: set(&cpu.ports.store_data) };
        Pipeline {
            cycle: 0,
            begun: 0,
            renamed: 0,
            width: cpu.frontend.rename_width,
            penalty: cpu.frontend.mispredict_penalty,
            fetch: Fetch::new(&cpu.frontend),
            reorder_buffer: Window::new(cpu.window.reorder_buffer),
            loads: Window::new(cpu.window.load_queue),
            stores: Window::new(cpu.window.store_queue),
            schedulers: [
                Scheduler::new(cpu.window.scheduler),
                Scheduler::new(cpu.window.vector_scheduler.max(1)),
            ],
            ports: Ports::new(&sets),
            access_ports,
            units: [0; 256],
            registers: [0; 256],
            forwarding: StoreForwarding::new(&cpu.forwarding),
            retired: 0,
            retired_in_cycle: 0,
            retire_width: cpu.window.retire_width,
            written: 0,
            stalled: 0,
            named: 0,
            unit_sets: Vec::new(),
            replay: Replay::new(),
        }
    }

    /// Cycles until the last instruction retired.
    pub(crate) fn cycles(&self) -> u64 {
        self.retired
    }

    /// Cycles of those lost to the operating system.
    pub(crate) fn stalled(&self) -> u64 {
        self.stalled
    }

    /// The cycle at which code is being renamed.
    pub(crate) fn now(&self) -> u64 {
        self.cycle
    }

    /// Take some first operations of a block through the pipeline, and nothing else: what follows it is up to the caller.
    #[inline(never)]
    pub(crate) fn run_part(
        &mut self,
        block: &Block,
        operations: &[Operation],
        addresses: &Addresses,
        memory: &mut Memory,
        counters: &mut Counters,
    ) -> u64 {
        self.leave();
        self.simulate(block, operations, addresses, memory, counters, &mut Silent)
    }

    /// Take operations of a block through the pipeline; answers when the result of the last one is there.
    #[inline(always)]
    fn simulate(
        &mut self,
        block: &Block,
        operations: &[Operation],
        addresses: &Addresses,
        memory: &mut Memory,
        counters: &mut Counters,
        tape: &mut impl Tape,
    ) -> u64 {
        self.begin(block.uops);
        let mut last = 0;
        for (at, operation) in operations.iter().enumerate() {
            let accesses = Accesses::of(block, at, addresses);
            last = self.step_as_usual(operation, accesses, memory, counters, tape);
        }
        last
    }

    /// The block has ended, and its branch was predicted so; its last result is there at `resolved`.
    #[inline(always)]
    pub(crate) fn end(&mut self, outcome: Outcome, resolved: u64) {
        match outcome {
            Outcome::Straight => {}
            Outcome::Taken(bubble) => self.taken(bubble),
            Outcome::Mispredicted => self.redirect(resolved),
        }
    }

    /// Begin a block of `uops`.
    #[inline(always)]
    fn begin(&mut self, uops: u64) {
        let ready = self.fetch.take(uops, self.cycle);
        if ready > self.cycle {
            self.cycle = ready;
            self.renamed = 0;
        }
        self.begun = self.cycle;
        self.ports.advance(self.cycle);
    }

    /// A taken branch, with the front end's bubble.
    #[inline(always)]
    fn taken(&mut self, bubble: u64) {
        self.fetch.taken();
        if bubble > 0 {
            self.fetch.stall(bubble);
        }
    }

    /// The front end waits for code.
    pub(crate) fn wait_for_code(&mut self, cycles: u64) {
        self.leave();
        self.fetch.stall(cycles);
    }

    /// A branch that is resolved at `resolved` was mispredicted.
    #[inline(always)]
    fn redirect(&mut self, resolved: u64) {
        self.cycle = self.cycle.max(resolved + self.penalty);
        self.renamed = 0;
        self.fetch.restart(self.cycle);
    }

    /// The operating system takes the core for some cycles once all before has retired.
    pub(crate) fn stall(&mut self, cycles: u64) {
        self.leave();
        self.retired = self.retired.max(self.cycle) + cycles;
        self.retired_in_cycle = 0;
        self.stalled += cycles;
        self.cycle = self.retired;
        self.renamed = 0;
        self.fetch.restart(self.cycle);
    }

    /// Rename stops for some cycles.
    pub(crate) fn pause(&mut self, cycles: u64) {
        self.leave();
        self.cycle += cycles;
        self.renamed = 0;
    }

    /// Take one instruction through the pipeline that stands by itself.
    pub(crate) fn execute(
        &mut self,
        op: &Operation,
        at: Accesses<'_>,
        memory: &mut Memory,
        counters: &mut Counters,
    ) {
        self.leave();
        self.step(op.flags, op, at, memory, counters, &mut Silent);
    }

    /// Take one instruction through the pipeline; answers when its result is there.
    ///
    /// What an instruction does decides by itself most of what there is to do, so each usual case is
    /// compiled apart.
    #[inline(always)]
    fn step_as_usual(
        &mut self,
        op: &Operation,
        at: Accesses<'_>,
        memory: &mut Memory,
        counters: &mut Counters,
        tape: &mut impl Tape,
    ) -> u64 {
        const LOAD_STORE: u16 = flag::LOAD | flag::STORE;
        const MOVED_LOAD: u16 = flag::LOAD | flag::FREE;
        const MOVED_STORE: u16 = flag::STORE | flag::FREE;
        match op.flags {
            0 => self.step(0, op, at, memory, counters, tape),
            flag::LOAD => self.step(flag::LOAD, op, at, memory, counters, tape),
            flag::STORE => self.step(flag::STORE, op, at, memory, counters, tape),
            LOAD_STORE => self.step(LOAD_STORE, op, at, memory, counters, tape),
            flag::FREE => self.step(flag::FREE, op, at, memory, counters, tape),
            MOVED_LOAD => self.step(MOVED_LOAD, op, at, memory, counters, tape),
            MOVED_STORE => self.step(MOVED_STORE, op, at, memory, counters, tape),
            _ => self.step_rare(op, at, memory, counters, tape),
        }
    }

    #[inline(never)]
    fn step_rare(
        &mut self,
        op: &Operation,
        at: Accesses<'_>,
        memory: &mut Memory,
        counters: &mut Counters,
        tape: &mut impl Tape,
    ) -> u64 {
        self.step(op.flags, op, at, memory, counters, tape)
    }

    /// `flags` are those of `op`, as a constant where that is known.
    #[inline(always)]
    fn step(
        &mut self,
        flags: u16,
        op: &Operation,
        at: Accesses<'_>,
        memory: &mut Memory,
        counters: &mut Counters,
        tape: &mut impl Tape,
    ) -> u64 {
        let is = |flag: u16| flags & flag != 0;
        let renamed = self.rename(flags, op);
        let earliest = renamed + 1;
        let register = |number: u8| self.registers[number as usize];
        let [first, second, third, fourth] = op.sources;
        let mut ready = register(first).max(register(second)).max(register(third));
        if is(flag::MANY) {
            ready = ready.max(register(fourth));
        }
        let mut issued = renamed;
        let mut faults = 0;
        let address_ready = if is(flag::LOAD | flag::STORE) {
            register(op.address[0]).max(register(op.address[1])).max(earliest)
        } else {
            0
        };
        if is(flag::SERIAL) {
            ready = ready.max(self.retired);
        }
        if is(flag::LOAD) {
            let begin = if is(flag::SERIAL) { ready.max(address_ready) } else { address_ready };
            issued = self.ports.take(self.access_ports.load, begin);
            let answer = self.load(op, at, issued, memory, counters, tape);
            faults = answer.faults;
            ready = ready.max(answer.cycle + faults);
        }
        let result = if is(flag::FREE) {
            ready
        } else {
            ready = ready.max(earliest);
            if is(flag::UNIT) {
                let unit = &mut self.units[op.ports as usize];
                ready = ready.max(*unit);
                *unit = ready + u64::from(op.every);
            }
            issued = self.ports.take(op.ports, ready);
            let mut last = issued;
            if is(flag::SLOTS) {
                for _ in 1..op.issues {
                    last = self.ports.take(op.ports, last);
                }
            }
            issued.max(last.saturating_sub(1)) + u64::from(op.latency)
        };
        let [first, second, third] = op.destinations;
        self.registers[first as usize] = result;
        self.registers[second as usize] = result;
        if is(flag::MANY) {
            self.registers[third as usize] = result;
        }
        let mut done = result;
        let mut data = 0;
        if is(flag::STORE) {
            let address = self.ports.take(op.store_address, address_ready);
            data = self.ports.take(self.access_ports.store_data, result.max(earliest));
            issued = address.max(data);
            done = result.max(issued + 1);
        }
        if waits(flags) {
            self.schedulers[op.scheduler as usize & 1].enter(renamed, issued);
        }
        let retired = self.retire(flags, done, u64::from(op.uops));
        if is(flag::LOAD) {
            self.loads.push(retired);
        }
        if is(flag::STORE) {
            let answer = tape
                .play()
                .unwrap_or_else(|| self.store(op, at, [retired, data], memory, counters));
            tape.record(at, Record { kind: Kind::Store, issue: retired, second: data, answer });
            self.written = answer.cycle;
            self.stores.push(self.written);
            faults += answer.faults;
        }
        if faults > 0 {
            self.stall(faults);
        }
        if is(flag::SERIAL) {
            self.cycle = self.cycle.max(result);
            self.renamed = 0;
        }
        result
    }

    /// The cycle in which an instruction is renamed.
    #[inline(always)]
    fn rename(&mut self, flags: u16, op: &Operation) -> u64 {
        let uops = u64::from(op.uops);
        let mut renamed = self.renamed + uops;
        let mut cycle = self.cycle;
        if flags & flag::MANY != 0 && uops > self.width {
            if renamed > self.width {
                cycle += (renamed - 1) / self.width;
                renamed = (renamed - 1) % self.width + 1;
            }
        } else {
            let over = renamed > self.width;
            cycle += u64::from(over);
            renamed = if over { uops } else { renamed };
        }
        let mut free = self.reorder_buffer.free().max(cycle);
        if flags & flag::LOAD != 0 {
            free = free.max(self.loads.free());
        }
        if flags & flag::STORE != 0 {
            free = free.max(self.stores.free());
        }
        if waits(flags) {
            free = self.schedulers[op.scheduler as usize & 1].admit(free);
        }
        self.renamed = if free > cycle { uops } else { renamed };
        self.cycle = free;
        free
    }

    #[inline(always)]
    fn load(
        &mut self,
        op: &Operation,
        at: Accesses<'_>,
        issue: u64,
        memory: &mut Memory,
        counters: &mut Counters,
        tape: &mut impl Tape,
    ) -> Answer {
        let (mut kind, mut second) = (Kind::Load, issue);
        if crosses(at.load(), op.bytes) {
            kind = Kind::Crossing;
            second = self.ports.take(self.access_ports.load, issue);
        }
        let answer = tape.play().unwrap_or_else(|| {
            access::load(&self.forwarding, op, at, [issue, second], memory, counters)
        });
        tape.record(at, Record { kind, issue, second, answer });
        answer
    }

    /// In-order retirement of `uops` that are done at `done`; answers the cycle.
    #[inline(always)]
    fn retire(&mut self, flags: u16, done: u64, uops: u64) -> u64 {
        let full = self.retired_in_cycle + uops > self.retire_width;
        let retired = done.max(self.retired + u64::from(full));
        let before = if retired > self.retired { 0 } else { self.retired_in_cycle };
        self.retired_in_cycle = before + uops;
        self.retired = retired;
        if flags & flag::MANY == 0 {
            self.reorder_buffer.push_few(retired, uops);
        } else {
            for _ in 0..uops {
                self.reorder_buffer.push(retired);
            }
        }
        retired
    }
}
