//! A core that looks states up against one that simulates every block.

use crate::{Core, Cpu, Settings};

/// Blocks of x86-64 code: chains, loads and stores of several sizes, divisions, moves that cost nothing, calls, fences and
/// fills of memory.
const BLOCKS: [&[&str]; 12] = [
    &["480fafc0", "48ffc9", "75f7"],
    &["8b06", "83c001", "8907", "4883c604", "75f0"],
    &["48f7f3", "4889c2", "4831c0", "eb00"],
    &["f20f1006", "f20f59c1", "f20f58d0", "f20f1117", "75e0"],
    &["488b00", "488b00", "4885c0", "75f0"],
    &["4889d8", "4889c3", "4889d9", "90", "90", "eb00"],
    &["50", "53", "488b0424", "5b", "58", "75f0"],
    &["e800000000"],
    &["c3"],
    &["0faef0", "f00118", "75f0"],
    &["f3aa"],
    &["f20f5ec1", "f20f51c0", "480fafd8", "4801d8", "89442408", "8b44240a", "74e0"],
];

fn bytes(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// The blocks in loops of a few, with addresses in some pages or in many; answers the report.
fn report(cpu: &Cpu, seed: u64, settings: Settings, looks_up: bool) -> String {
    let mut core = Core::new(cpu, settings);
    if !looks_up {
        core.simulate_all();
    }
    let mut numbers = Vec::new();
    for (at, block) in BLOCKS.iter().enumerate() {
        let mut address = 0x40_0000 + at as u64 * 0x140;
        let code: Vec<_> = block.iter().map(|one| bytes(one)).collect();
        let placed = code.iter().map(|one| {
            address += one.len() as u64;
            (address - one.len() as u64, &one[..])
        });
        numbers.push((core.translate(&placed.collect::<Vec<_>>()).unwrap(), code.len()));
    }
    let mut chance = Chance(seed);
    for _ in 0..120 {
        let body: Vec<_> =
            (0..=chance.below(4)).map(|_| chance.below(BLOCKS.len() as u64)).collect();
        let spread = [64, 4096, 1 << 15, 1 << 24][chance.below(4) as usize];
        let stride = [0, 4, 64, 61][chance.below(4) as usize];
        for round in 0..chance.below(400) {
            for at in &body {
                let (number, instructions) = numbers[*at as usize];
                core.enter(number).unwrap();
                for index in 0..instructions {
                    let slot = core.slot(number, index).number;
                    let address = if stride > 0 { round * stride } else { chance.below(spread) };
                    core.access(slot, 0x60_0000 + address % spread);
                    core.access(slot + 1, 0x60_0000 + (address + 8) % spread);
                }
            }
        }
        if chance.below(8) == 0 {
            core.system_call_done(1, [1, 0, 64], 64);
        }
    }
    format!("{:?}", core.finish())
}

#[test]
fn blocks_that_are_looked_up_take_the_cycles_that_they_would() {
    for name in ["skylake", "zen4"] {
        let cpu = Cpu::named(name).unwrap();
        for seed in 0..12 {
            let settings = Settings::default();
            let simulated = report(&cpu, seed, settings, false);
            assert_eq!(report(&cpu, seed, settings, true), simulated, "{name}, seed {seed}");
        }
        let settings = Settings { sample_rate: 4, ..Settings::default() };
        let simulated = report(&cpu, 99, settings, false);
        assert_eq!(report(&cpu, 99, settings, true), simulated, "{name}, sampled");
    }
}
