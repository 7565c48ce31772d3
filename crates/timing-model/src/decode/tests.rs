use super::{decoded::Lead, *};
use crate::{Cpu, block::Exit};

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2).map(|two| str::from_utf8(two).expect("hexadecimal"));
    digits.map(|two| u8::from_str_radix(two, 16).expect("hexadecimal")).collect()
}

/// The processors of an instruction set.
fn cpus(architecture: Architecture) -> Vec<(&'static str, Translator)> {
    let all = Cpu::NAMES.iter().rev().map(|name| (*name, Cpu::named(name).unwrap()));
    let of_it = all.filter(|(_, cpu)| cpu.architecture == architecture);
    of_it.map(|(name, cpu)| (name, Translator::new(&cpu))).collect()
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
    let used: Vec<String> = all.iter().filter(|r| **r != none).map(|r| format!(" {r}")).collect();
    if used.is_empty() { String::new() } else { format!(", {role}{}", used.concat()) }
}

/// One instruction as text: its class, registers and cost on each processor; what all processors share stands once.
fn tell(architecture: Architecture, code: &[u8]) -> String {
    let decoded = decoder(architecture).decode(0x40_1000, code);
    let mut told = decoded.class.name().to_owned();
    for (at, (name, translator)) in cpus(architecture).into_iter().enumerate() {
        let op = translator.operation(&decoded);
        if at == 0 {
            told += &registers("reads", &op.sources, register::NONE);
            told += &registers("address", &op.address, register::NONE);
            told += &registers("writes", &op.destinations, register::SINK);
            told += &format!(", {} bytes, scheduler {}", op.bytes, op.scheduler);
            if architecture != Architecture::X86_64 {
                told += &what_else(&decoded);
            }
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

/// What is not to be seen of the operation.
fn what_else(decoded: &Decoded) -> String {
    let Decoded { exit, refusal, moved_on, further, span, lead, copies, .. } = decoded;
    let mut told = String::new();
    if *exit != Exit::Fall {
        told += &format!(", {exit:?}");
    }
    if let Some(refusal) = refusal {
        told += &format!(", {}", refusal.name());
    }
    if let Some(register) = moved_on {
        told += &format!(", moves {register} on");
    }
    if *further > 0 {
        told += &format!(", {further} further");
    }
    if *span > 0 {
        told += &format!(", last access {span} bytes on");
    }
    if *lead != Lead::No {
        told += &format!(", leads as {lead:?}");
    }
    if *copies {
        told += ", copies";
    }
    told
}

#[test]
fn every_kind_of_instruction_costs_what_its_table_says() {
    for architecture in Architecture::ALL {
        let folder = format!("cases/{}/instructions", architecture.name());
        cases::beside(folder, |_, text| {
            each(text, |line| {
                let (hex, name) = line.split_once(' ').expect("BYTES INSTRUCTION");
                format!("{}: {}", name.trim(), tell(architecture, &bytes(hex)))
            })
        });
    }
}

#[test]
fn blocks_are_fused_measured_and_refused_as_their_table_says() {
    let folder = "cases/x86-64/blocks";
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
            for (cpu, mut translator) in cpus(Architecture::X86_64) {
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
                let ports = b.operations.last().map(|op| translator.port_sets()[op.ports as usize]);
                told += &format!(" last on {:x}.", ports.unwrap_or(0));
            }
            told
        })
    });
}

#[test]
fn the_beginning_of_an_instruction_at_the_end_of_a_page_is_no_instruction() {
    let (add, cut) = (bytes("4883c001"), bytes("48c7c0"));
    for (cpu, mut translator) in cpus(Architecture::X86_64) {
        let whole = translator.block(&[(0x1ff9, &add)]);
        let block = translator.block(&[(0x1ff9, &add), (0x1ffd, &cut)]);
        assert_eq!((block.instructions, block.end), (whole.instructions, whole.end), "{cpu}");
    }
}

#[test]
fn whatever_the_code_is_nothing_reads_the_sink_or_writes_what_is_always_ready() {
    // A linear congruential generator (Knuth, MMIX).
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 32
    };
    for architecture in Architecture::ALL {
        let mut decoder = decoder(architecture);
        for _ in 0..100_000 {
            let code = (next() << 32 | next()).to_le_bytes();
            let length = next() as usize % (code.len() + 1);
            let found = decoder.decode(next(), &code[..length]);
            let reads_sink =
                found.sources.iter().chain(&found.address).any(|one| *one == register::SINK);
            assert!(!reads_sink && !found.destinations.contains(&register::NONE), "{code:x?}");
        }
    }
}
