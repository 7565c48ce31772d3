use super::{
    decoded::{Form, Lead},
    *,
};
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
        if decoded.form == Form::Indexed && flags & flag::STORE != 0 {
            told += &format!(" address on {:x}", translator.port_sets()[op.store_address as usize]);
        }
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

/// The operations of some instructions that follow each other, as a block of a processor.
fn operations(cpu: &Cpu, code: &str) -> Vec<Operation> {
    let code: Vec<Vec<u8>> = code.split_whitespace().map(bytes).collect();
    let mut address = 0x40_1000;
    let mut placed: Vec<(u64, &[u8])> = Vec::new();
    for one in &code {
        placed.push((address, one));
        address += one.len() as u64;
    }
    Translator::new(cpu).block(&placed).operations
}

#[test]
fn skylake_takes_the_steps_cycles_and_ports_that_were_measured() {
    let cpu = Cpu::named("skylake").unwrap();
    let translator = Translator::new(&cpu);
    for (name, code, uops, latency, issues, ports) in [
        ("cmova eax,ebx", "0f47c3", 2, 2, 2, "06"),
        ("cmovbe eax,ebx", "0f46c3", 2, 2, 2, "06"),
        ("seta al", "0f97c0", 2, 2, 2, "06"),
        ("setbe al", "0f96c0", 2, 2, 2, "06"),
        ("cmovae eax,ebx", "0f43c3", 1, 1, 1, "06"),
        ("lea rax,[rbp+rcx]", "488d440d00", 1, 3, 1, "1"),
        ("lea rax,[r13+rcx*2]", "498d444d00", 1, 3, 1, "1"),
        ("lea rax,[rbx+rcx+8]", "488d440b08", 1, 3, 1, "1"),
        ("lea rax,[rbx+rcx]", "488d040b", 1, 1, 1, "15"),
        ("lea rax,[rbp+8]", "488d4508", 1, 1, 1, "15"),
        ("leave", "c9", 3, 1, 2, "0156"),
        ("cvttsd2si eax,[rax]", "f20f2c00", 2, 6, 2, "01"),
        ("cvtsd2si eax,xmm0", "f20f2dc0", 2, 6, 2, "01"),
        ("bswap eax", "0fc8", 1, 1, 1, "15"),
        ("bswap rax", "480fc8", 2, 2, 2, "0156"),
        ("andn eax,ebx,ecx", "c4e260f2c1", 1, 1, 1, "15"),
        ("blsr eax,ebx", "c4e278f3cb", 1, 1, 1, "15"),
        ("blsi eax,ebx", "c4e278f3db", 1, 1, 1, "15"),
        ("blsmsk eax,ebx", "c4e278f3d3", 1, 1, 1, "15"),
        ("bzhi eax,ebx,ecx", "c4e270f5c3", 1, 1, 1, "15"),
        ("bextr eax,ebx,ecx", "c4e270f7c3", 2, 2, 2, "0156"),
        ("cdq", "99", 1, 1, 1, "06"),
        ("cqo", "4899", 1, 1, 1, "06"),
        ("bt eax,3", "0fbae003", 1, 1, 1, "06"),
        ("bts eax,3", "0fbae803", 1, 1, 1, "06"),
        ("lahf", "9f", 1, 1, 1, "06"),
        ("sahf", "9e", 1, 1, 1, "06"),
        ("pcmpeqd xmm0,xmm1", "660f76c1", 1, 1, 1, "01"),
        ("pcmpgtb xmm0,xmm1", "660f64c1", 1, 1, 1, "01"),
        ("pcmpgtq xmm0,xmm1", "660f3837c1", 1, 3, 1, "5"),
        ("pminud xmm0,xmm1", "660f383bc1", 1, 1, 1, "01"),
        ("pabsd xmm0,xmm1", "660f381ec1", 1, 1, 1, "01"),
        ("pavgb xmm0,xmm1", "660fe0c1", 1, 1, 1, "01"),
        ("psignw xmm0,xmm1", "660f3809c1", 1, 1, 1, "01"),
        ("paddusb xmm0,xmm1", "660fdcc1", 1, 1, 1, "01"),
        ("paddd xmm0,xmm1", "660ffec1", 1, 1, 1, "015"),
        ("pextrd eax,xmm0,1", "660f3a16c001", 2, 3, 2, "05"),
        ("extractps eax,xmm0,1", "660f3a17c001", 2, 3, 2, "05"),
        ("pinsrd xmm0,eax,1", "660f3a22c001", 2, 2, 2, "5"),
        ("pinsrd xmm0,[rax],1", "660f3a220001", 1, 1, 1, "5"),
        ("ptest xmm0,xmm1", "660f3817c1", 2, 3, 2, "05"),
        ("pslld xmm0,xmm1", "660ff2c1", 2, 2, 2, "015"),
        ("pslld xmm0,3", "660f72f003", 1, 1, 1, "01"),
        ("vpslld ymm0,ymm1,xmm2", "c5f5f2c2", 2, 2, 2, "015"),
        ("vpsllvd ymm0,ymm1,ymm2", "c4e27547c2", 1, 1, 1, "01"),
        ("pclmulqdq xmm0,xmm1,1", "660f3a44c101", 1, 7, 1, "5"),
        ("cvtdq2ps xmm0,xmm1", "0f5bc1", 1, 4, 1, "01"),
        ("cvttps2dq xmm0,xmm1", "f30f5bc1", 1, 4, 1, "01"),
        ("pblendvb xmm0,xmm1", "660f3810c1", 1, 1, 1, "015"),
        ("vpblendvb xmm0,xmm1,xmm2,xmm3", "c4e3714cc230", 2, 2, 2, "015"),
        ("div rbx", "48f7f3", 36, 35, 1, "0"),
        ("idiv rbx", "48f7fb", 57, 42, 1, "0"),
        ("idiv ebx", "f7fb", 10, 26, 1, "0"),
        ("prefetcht0 [rax]", "0f1808", 1, 1, 1, "23"),
        ("rcl eax,1", "d1d0", 3, 2, 3, "0156"),
        ("rcr eax,5", "c1d805", 8, 6, 8, "0156"),
        ("rcl eax,cl", "d3d0", 8, 6, 8, "0156"),
        ("shld eax,ebx,cl", "0fa5d8", 4, 4, 4, "0156"),
        ("shld eax,ebx,3", "0fa4d803", 1, 3, 1, "1"),
        ("mul ebx", "f7e3", 3, 4, 3, "016"),
        ("mul bx", "66f7e3", 3, 4, 3, "016"),
        ("mul rbx", "48f7e3", 2, 4, 2, "15"),
        ("mul bl", "f6e3", 1, 3, 1, "1"),
    ] {
        let op = translator.operation(&decoder(cpu.architecture).decode(0x40_1000, &bytes(code)));
        let ports: Vec<String> = ports.chars().map(|port| format!("p{port}")).collect();
        let found = (op.uops, op.latency, op.issues, translator.port_sets()[op.ports as usize]);
        assert_eq!(found, (uops, latency, issues, cpu.mask(&ports)), "{name}");
    }
}

#[test]
fn loads_take_longer_on_skylake_unless_a_load_brought_their_address() {
    let cpu = Cpu::named("skylake").unwrap();
    for (name, code, wanted) in [
        ("mov rax,[rax]", "488b00", vec![0_u8]),
        ("mov rax,[rax+2047]", "488b80ff070000", vec![0]),
        ("mov rax,[rax+2048]", "488b8000080000", vec![1]),
        ("mov rax,[rax-8]", "488b40f8", vec![1]),
        ("mov rax,[rax+rbx]", "488b0418", vec![1]),
        ("movzx eax,byte ptr [rax]", "0fb600", vec![1]),
        ("mov rbx,[rax]; mov rcx,[rbx]", "488b18 488b0b", vec![1, 0]),
        ("mov rbx,[rax]; add rbx,8; mov rcx,[rbx]", "488b18 4883c308 488b0b", vec![1, 0, 1]),
        ("push rbx; pop rcx", "53 59", vec![0, 1]),
        ("movsd xmm0,[rax]; movaps xmm0,[rax]", "f20f1000 0f2800", vec![1, 2]),
        ("vmovaps ymm0,[rax]", "c5fc2800", vec![3]),
    ] {
        let found: Vec<u8> = operations(&cpu, code).iter().map(|op| op.load_extra).collect();
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn the_stack_pointer_is_brought_up_to_date_before_it_is_read_on_skylake() {
    let [skylake, zen4] = ["skylake", "zen4"].map(|name| Cpu::named(name).unwrap());
    for (name, code, instructions, synchronized) in [
        ("push rbx; sub rsp,16", "53 4883ec10", 2, true),
        ("push rbx; mov rax,[rsp+8]", "53 488b442408", 2, true),
        ("push rbx; lea rax,[rsp+8]", "53 488d442408", 2, true),
        ("push rbx; push [rsp+8]", "53 ff742408", 2, true),
        ("push rbx; sub rsp,16; mov rax,[rsp+8]", "53 4883ec10 488b442408", 3, true),
        ("sub rsp,16; mov rax,[rsp+8]", "4883ec10 488b442408", 2, false),
        ("push rbx; pop rcx; mov rax,[rsp+8]", "53 59 488b442408", 3, false),
        ("push rbx; mov rsp,rbp; mov rax,[rsp+8]", "53 4889ec 488b442408", 3, false),
        ("push rbx; leave; mov rax,[rsp+8]", "53 c9 488b442408", 3, false),
    ] {
        let found = operations(&skylake, code);
        assert_eq!(found.len(), instructions + usize::from(synchronized), "{name}");
        if synchronized {
            let own = found[1];
            assert_eq!((own.uops, own.latency, own.flags), (1, 1, 0), "{name}");
            assert_eq!((own.sources[0], own.destinations[0]), (4, 4), "{name}");
        }
        assert_eq!(operations(&zen4, code).len(), instructions, "{name}");
    }
    let (push, load) = (bytes("53"), bytes("488b442408"));
    let block = Translator::new(&skylake).block(&[(0x40_1000, &push), (0x40_1001, &load)]);
    assert_eq!((block.instructions, block.parts[1].operation, block.uops), (2, 2, 3));
    assert_eq!(block.accesses, [1, 4]);
}

#[test]
fn an_index_keeps_stores_off_a_port_and_parts_operations_on_skylake() {
    let [skylake, zen4] = ["skylake", "zen4"].map(|name| Cpu::named(name).unwrap());
    for (cpu, code, ports) in [
        (&skylake, "8908", "p7 p3 p2"),
        (&skylake, "890c18", "p3 p2"),
        (&zen4, "8908", "m1 m0"),
        (&zen4, "890c18", "m1 m0"),
    ] {
        let ports: Vec<String> = ports.split(' ').map(str::to_owned).collect();
        let set = operations(cpu, code)[0].store_address as usize;
        let found = Translator::new(cpu).port_sets()[set];
        assert_eq!(found, cpu.mask(&ports), "{code} on {}", cpu.name);
    }
    for (name, code, uops) in [
        ("addps xmm0,[rax+rbx]", "0f580418", 1),
        ("vaddps xmm0,xmm0,[rax+rbx]", "c5f8580418", 2),
        ("vaddps xmm0,xmm0,[rax]", "c5f85800", 1),
        ("pabsd xmm0,[rax+rbx]", "660f381e0418", 2),
        ("movups xmm0,[rax+rbx]", "0f100418", 1),
        ("vmovups xmm0,[rax+rbx]", "c5f8100418", 1),
        ("add ecx,[rax+rbx]", "030c18", 1),
        ("adc ecx,[rax+rbx]", "130c18", 2),
        ("cmove ecx,[rax+rbx]", "0f440c18", 2),
    ] {
        assert_eq!(operations(&skylake, code)[0].uops, uops, "{name}");
        assert_eq!(operations(&zen4, code)[0].uops, 1, "{name}");
    }
}

#[test]
fn a_processor_file_may_leave_out_what_costs_the_same_as_the_rest_of_its_kind() {
    let mut cpu = Cpu::named("skylake").unwrap();
    cpu.instructions.retain(|class, _| class.otherwise().is_none());
    let cpu = Cpu::parse(&cpu.to_toml().unwrap()).unwrap();
    for (name, code, like) in [
        ("cmova eax,ebx like cmove eax,ebx", "0f47c3", "0f44c3"),
        ("bswap rax like neg rax", "480fc8", "48f7d8"),
        ("prefetcht0 [rax] like nop", "0f1808", "90"),
        ("pause like nop", "f390", "90"),
    ] {
        let [one, like] = [code, like].map(|code| operations(&cpu, code)[0]);
        let cost = |op: Operation| (op.uops, op.latency, op.ports, op.issues, op.flags);
        assert_eq!(cost(one), cost(like), "{name}");
    }
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
