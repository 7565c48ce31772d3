//! What small programs take, counter by counter: each file of `cases/INSTRUCTION SET/programs` is one, on the processors
//! of that set.
//!
//! The model answers with integers that are the same on every machine, so a case holds them whole: a change of the
//! model shows which programs it makes slower or faster. A file has these lines:
//!
//! ```text
//! set NAME VALUE ...            main, image (end), instructions (most), rate: the model's settings
//! block NAME ADDRESS            its instructions follow, each BYTES and what they mean
//! run COUNT                     its steps follow, done so often; i is the number of the round
//!   enter NAME [xN] [if CONDITION] [ACCESS PATTERN]...
//!   call NUMBER ARGUMENT ARGUMENT ARGUMENT RESULT
//! ```
//!
//! A condition is `every N`, `not N` or `random`. An access is the number of an instruction and `l` or `s`; its pattern
//! is `BASE+STRIDE%SPAN`, so that the address is BASE + i * STRIDE % SPAN, or `BASE?SPAN`, anywhere in it.

use stampmill_timing_model::{Architecture, Core, Cpu, Refusal, Settings};
use std::collections::HashMap;

fn number(text: &str) -> u64 {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.unwrap_or_else(|_| panic!("`{text}` is no number"))
}

fn signed(text: &str) -> i64 {
    text.strip_prefix('-').map_or_else(|| number(text) as i64, |rest| -(number(rest) as i64))
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| number(&format!("0x{}", &hex[at..at + 2])) as u8).collect()
}

/// SplitMix64.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

fn address(pattern: &str, round: u64, chance: &mut Chance) -> u64 {
    if let Some((base, span)) = pattern.split_once('?') {
        return number(base) + (chance.next() % number(span)) / 8 * 8;
    }
    let (base, rest) = pattern.split_once('+').expect("BASE+STRIDE%SPAN");
    let (stride, span) = rest.split_once('%').expect("BASE+STRIDE%SPAN");
    number(base) + round * number(stride) % number(span)
}

/// A file, read.
#[derive(Default)]
struct Program<'a> {
    settings: Settings,
    blocks: Vec<(&'a str, u64, Vec<Vec<u8>>)>,
    runs: Vec<(u64, Vec<&'a str>)>,
}

impl<'a> Program<'a> {
    fn read(text: &'a str) -> Program<'a> {
        let mut program = Program::default();
        for line in text.lines().map(str::trim) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] | ["#", ..] => {}
                ["set", name, value] => program.set(name, number(value)),
                ["block", name, at] => program.blocks.push((name, number(at), Vec::new())),
                ["run", count] => program.runs.push((number(count), Vec::new())),
                ["enter" | "call", ..] => program.runs.last_mut().expect("a run").1.push(line),
                [code, ..] => program.blocks.last_mut().expect("a block").2.push(bytes(code)),
            }
        }
        program
    }

    fn set(&mut self, name: &str, value: u64) {
        match name {
            "main" => self.settings.main = value,
            "image" => self.settings.image_end = value,
            "instructions" => self.settings.max_instructions = value,
            "rate" => self.settings.sample_rate = value,
            _ => panic!("no setting is called `{name}`"),
        }
    }

    /// The report's line, or where the program was refused and why.
    fn run(&self, cpu: &Cpu) -> String {
        let core = Core::new(cpu, self.settings);
        let mut machine = Machine { core, blocks: HashMap::new(), chance: Chance(7) };
        for (name, at, code) in &self.blocks {
            let mut at = *at;
            let whole = code.iter().map(|one| {
                let start = at;
                at += one.len() as u64;
                (start, &one[..])
            });
            match machine.core.translate(&whole.collect::<Vec<_>>()) {
                Ok(block) => drop(machine.blocks.insert(name, block)),
                Err(refusal) => return format!("{name}: {}", refusal.name()),
            }
        }
        for (count, steps) in &self.runs {
            for (round, step) in (0..*count).flat_map(|round| steps.iter().map(move |s| (round, s)))
            {
                if let Err(refusal) = machine.step(step, round) {
                    return format!("{} in round {round} at `{step}`", refusal.name());
                }
            }
        }
        machine.core.finish().to_line().replace(' ', "\n  ")
    }
}

/// A program that runs on one processor.
struct Machine<'a> {
    core: Core,
    blocks: HashMap<&'a str, u32>,
    chance: Chance,
}

impl Machine<'_> {
    fn step(&mut self, step: &str, round: u64) -> Result<(), Refusal> {
        let mut words = step.split_whitespace();
        if words.next() == Some("call") {
            let values: Vec<i64> = words.map(signed).collect();
            let [call, a, b, c, result] = values[..] else { panic!("`{step}`: not five numbers") };
            self.core.system_call(call)?;
            self.core.system_call_done(call, [a, b, c].map(|value| value as u64), result);
            return Ok(());
        }
        let block = self.blocks[words.next().expect("a block")];
        let (mut times, mut accesses) = (1, Vec::new());
        while let Some(word) = words.next() {
            if let Some(count) = word.strip_prefix('x') {
                times = number(count);
            } else if word == "if" {
                if !self.holds(words.next().expect("a condition"), &mut words, round) {
                    return Ok(());
                }
            } else {
                let (index, kind) = word.split_at(word.len() - 1);
                let slot = self.core.slot(block, number(index) as usize).number;
                accesses.push((slot + usize::from(kind == "s"), words.next().expect("a pattern")));
            }
        }
        for round in round * times..(round + 1) * times {
            self.core.enter(block)?;
            for (slot, pattern) in &accesses {
                self.core.access(*slot, address(pattern, round, &mut self.chance));
            }
        }
        Ok(())
    }

    fn holds<'w>(
        &mut self,
        kind: &str,
        rest: &mut impl Iterator<Item = &'w str>,
        round: u64,
    ) -> bool {
        if kind == "random" {
            return self.chance.next() & 1 == 1;
        }
        let divides = round.is_multiple_of(number(rest.next().expect("a number")));
        divides == (kind == "every")
    }
}

/// Hundredths of a cycle that some instructions take, done again and again; each accesses a line of its own.
fn hundredths(cpu: &Cpu, code: &str) -> u64 {
    const ROUNDS: u64 = 2000;
    let code: Vec<Vec<u8>> = code.split_whitespace().map(bytes).collect();
    let cycles = |rounds: u64| {
        let mut core = Core::new(cpu, Settings::default());
        let mut at = 0x40_1000;
        let placed = code.iter().map(|one| {
            at += one.len() as u64;
            (at - one.len() as u64, &one[..])
        });
        let block = core.translate(&placed.collect::<Vec<_>>()).expect("it is timed");
        for _ in 0..rounds {
            core.enter(block).expect("no limit was set");
            for index in 0..code.len() {
                let (slot, address) = (core.slot(block, index).number, 0x60_0000 + index * 64);
                core.access(slot, address as u64);
                core.access(slot + 1, address as u64);
            }
        }
        core.finish().cycles
    };
    (cycles(2 * ROUNDS) - cycles(ROUNDS)) * 100 / ROUNDS
}

#[test]
fn skylake_takes_the_cycles_that_were_measured() {
    let cpu = Cpu::named("skylake").expect("built in");
    for (name, code, wanted, most) in [
        ("mov rax,[rax]", "488b00", 400, 402),
        ("mov rax,[rax+rbx]", "488b0418", 500, 502),
        ("cmova eax,ebx", "0f47c3", 200, 202),
        ("lea rbp,[rbp+rcx]", "488d6c0d00", 300, 302),
        ("bswap rax", "480fc8", 200, 202),
        ("pcmpgtq xmm0,xmm1", "660f3837c1", 300, 302),
        ("div rbx", "48f7f3", 3500, 3502),
        ("idiv rbx", "48f7fb", 4200, 4202),
        ("lock add [rax],ebx", "f00118", 1700, 1900),
        ("pause", "f390", 13900, 14100),
        ("cpuid", "0fa2", 9900, 10100),
        // Loads and the address halves of stores share two ports; without an index there is a third one.
        ("mov [rax],ecx; mov rdx,[rsi]; mov rdi,[rsi]", "8908 488b16 488b3e", 98, 104),
        ("mov [rax+rbx],ecx; mov rdx,[rsi]; mov rdi,[rsi]", "890c18 488b16 488b3e", 148, 154),
    ] {
        let found = hundredths(&cpu, code);
        assert!((wanted..=most).contains(&found), "{name}: {found}, wanted {wanted} to {most}");
    }
}

#[test]
fn programs_take_the_cycles_that_stand_beside_them() {
    for architecture in Architecture::ALL {
        let cpus = Cpu::NAMES.iter().rev().map(|name| (name, Cpu::named(name).expect("built in")));
        let cpus: Vec<_> = cpus.filter(|(_, cpu)| cpu.architecture == architecture).collect();
        cases::beside(format!("cases/{}/programs", architecture.name()), |_, text| {
            let program = Program::read(text);
            cpus.iter().map(|(name, cpu)| format!("{name}: {}\n", program.run(cpu))).collect()
        });
    }
}
