//! What is charged to each function of a program.

use crate::block::Exit;
use std::ops::Range;

/// What was charged to one function, the functions that it calls not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FunctionCounts {
    /// Cycles by which the program's end moved while its blocks ran, the operating system's included: those of
    /// all functions and of what is in none are the program's.
    pub cycles: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Times it was entered at its first instruction from elsewhere.
    pub calls: u64,
}

impl FunctionCounts {
    /// Those of several functions as one line of words, without functions that never ran; read back by
    /// [`FunctionCounts::parse`].
    #[must_use]
    pub fn to_line(all: &[FunctionCounts]) -> String {
        let ran = all.iter().enumerate().filter(|(_, one)| **one != FunctionCounts::default());
        let word = |(at, one): (usize, &FunctionCounts)| {
            format!("{at}:{}:{}:{}", one.cycles, one.instructions, one.calls)
        };
        ran.map(word).collect::<Vec<_>>().join(" ")
    }

    /// Read a line of [`FunctionCounts::to_line`] about `count` functions; `None` where a word is none of its.
    #[must_use]
    pub fn parse(line: &str, count: usize) -> Option<Vec<FunctionCounts>> {
        let mut all = vec![FunctionCounts::default(); count];
        for word in line.split_whitespace() {
            let mut numbers = word.split(':').map(|number| number.parse::<u64>().ok());
            let mut number = || numbers.next().flatten();
            let at = usize::try_from(number()?).ok()?;
            let (cycles, instructions, calls) = (number()?, number()?, number()?);
            *all.get_mut(at)? = FunctionCounts { cycles, instructions, calls };
        }
        Some(all)
    }
}

/// No function.
const NONE: u32 = u32::MAX;

/// The functions of a program, and what they took so far.
pub(crate) struct Functions {
    /// By address, with their numbers.
    ranges: Vec<(Range<u64>, u32)>,
    /// Of each block, its function and whether it begins it.
    blocks: Vec<(u32, bool)>,
    counts: Vec<FunctionCounts>,
    /// Cycles and instructions that were charged to anything.
    charged: (u64, u64),
}

impl Functions {
    pub(crate) fn new(functions: &[Range<u64>]) -> Functions {
        let mut ranges: Vec<_> = functions.iter().cloned().zip(0..).collect();
        ranges.sort_by_key(|(range, _)| range.start);
        let counts = vec![FunctionCounts::default(); functions.len()];
        Functions { ranges, blocks: Vec::new(), counts, charged: (0, 0) }
    }

    /// The next block begins there.
    pub(crate) fn add(&mut self, start: u64) {
        let after = self.ranges.partition_point(|(range, _)| range.start <= start);
        let found = after.checked_sub(1).map(|at| &self.ranges[at]);
        let found = found.filter(|(range, _)| range.contains(&start));
        self.blocks
            .push(found.map_or((NONE, false), |(range, number)| (*number, range.start == start)));
    }

    /// A block has run, up to so many cycles and instructions of the program.
    pub(crate) fn charge(&mut self, block: u32, cycles: u64, instructions: u64) {
        let (function, _) = self.blocks[block as usize];
        let before = std::mem::replace(&mut self.charged, (cycles, instructions));
        if let Some(counts) = self.counts.get_mut(function as usize) {
            counts.cycles += cycles - before.0;
            counts.instructions += instructions - before.1;
        }
    }

    /// A block begins, behind another that left in some way.
    pub(crate) fn enter(&mut self, block: u32, previous: Option<(u32, Exit)>) {
        let (function, is_first) = self.blocks[block as usize];
        // A loop may lead back to a function's first instruction.
        let from_elsewhere = previous.is_none_or(|(previous, exit)| {
            matches!(exit, Exit::Call | Exit::IndirectCall)
                || self.blocks[previous as usize].0 != function
        });
        if is_first && from_elsewhere {
            self.counts[function as usize].calls += 1;
        }
    }

    pub(crate) fn counts(&self) -> &[FunctionCounts] {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Core, Cpu, Settings};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_reads_back_as_the_counts(
            all in prop::collection::vec((0..3_u64, any::<u64>(), 0..3_u64), 0..9)
        ) {
            let counts = |(cycles, instructions, calls)| FunctionCounts { cycles, instructions, calls };
            let all: Vec<FunctionCounts> = all.into_iter().map(counts).collect();
            let line = FunctionCounts::to_line(&all);
            prop_assert_eq!(FunctionCounts::parse(&line, all.len()), Some(all));
        }
    }

    #[test]
    fn refuses_words_of_no_function() {
        for line in ["0:1:2", "1:1:1:1", "0:1:x:1", "x"] {
            assert_eq!(FunctionCounts::parse(line, 1), None, "{line}");
        }
    }

    /// `main` calls a function nine times; it loops back to its own first instruction twice in each.
    #[test]
    fn cycles_of_all_functions_are_the_programs() {
        let mut core = Core::new(&Cpu::named("zen4").unwrap(), Settings::default());
        core.watch(&[0x2000..0x2004, 0x1000..0x100a, 0x2004..0x2005]);
        // call 0x2000
        let call = core.translate(&[(0x1000, &[0xe8, 0xfb, 0x0f, 0, 0])]).unwrap();
        // dec rcx; jne back
        let back: [(u64, &[u8]); 2] = [(0x1005, &[0x48, 0xff, 0xc9]), (0x1008, &[0x75, 0xf6])];
        let back = core.translate(&back).unwrap();
        // dec al; jne back; ret
        let looped = core.translate(&[(0x2000, &[0xfe, 0xc8]), (0x2002, &[0x75, 0xfc])]).unwrap();
        // ret, in a function of its own
        let left = core.translate(&[(0x2004, &[0xc3])]).unwrap();
        for _ in 0..9 {
            for block in [call, looped, looped, looped, left, back] {
                core.enter(block).unwrap();
            }
        }
        let report = core.finish();
        let counts = core.functions();
        assert_eq!(counts.iter().map(|one| one.calls).collect::<Vec<_>>(), [9, 1, 9]);
        let instructions: Vec<u64> = counts.iter().map(|one| one.instructions).collect();
        assert_eq!(instructions, [9 * 3 * 2, 9 * 3, 9]);
        assert_eq!(counts.iter().map(|one| one.cycles).sum::<u64>(), report.cycles);
    }
}
