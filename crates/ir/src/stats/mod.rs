//! What is in a data set of modules: sizes, opcodes before and after `-O3`, calls, tokens.

mod page;
mod stage;
mod tokens;

pub use stage::{Stats, TokensFacts};
pub use tokens::SIZES;

use crate::opcode_names;
pub use rows::Statistics;
use serde::Serialize;
use std::collections::BTreeMap;

/// How the details of a row begin that say what failed on a module that was measured.
const NOT_OPTIMISED: &str = "-O3: ";
const NO_TEXT: &str = "text: ";

/// Sums over the modules of one language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    /// Modules measured.
    pub modules: u64,
    /// Bytes of bitcode.
    pub bitcode_bytes: u64,
    /// Bytes of textual IR.
    pub text_bytes: u64,
    /// Functions with a body.
    pub functions: u64,
    /// Instructions.
    pub instructions: u64,
    /// Instructions after `-O3`'s passes.
    pub instructions_after: u64,
    /// Bytes of objects.
    pub object_bytes: u64,
    /// Calls: by name, of LLVM's own, through pointers, of assembly.
    pub calls: [u64; 4],
    /// Tokens by size of vocabulary.
    pub tokens: [u64; 4],
}

/// What `ir stats` found, as `--json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StatsReport {
    /// Modules.
    pub modules: u64,
    /// Modules on which `-O3`'s passes failed or ran out of time.
    pub not_optimised: u64,
    /// Modules whose text could not be had: no vocabulary knows them, and their tokens count as none.
    pub without_text: u64,
    /// Modules that could not be read.
    pub failed: u64,
    /// By language, and `all`.
    pub languages: BTreeMap<String, Sums>,
    /// Instructions by opcode: before, after.
    pub opcodes: BTreeMap<String, [u64; 2]>,
    /// Modules by the logarithm to base 2 of their bytes of bitcode.
    pub sizes: BTreeMap<u32, u64>,
    /// Sizes of the vocabularies that were trained; smaller than asked for where the data has no
    /// more pairs that occur twice.
    pub vocabularies: [usize; 4],
    /// Distinct pieces of text.
    pub pieces: u64,
}

impl StatsReport {
    fn add(&mut self, row: &Statistics) {
        if row.verdict != dataset::Verdict::ACCEPTED {
            self.failed += 1;
            return;
        }
        self.modules += 1;
        self.not_optimised += u64::from(row.detail.starts_with(NOT_OPTIMISED));
        self.without_text += u64::from(row.detail.contains(NO_TEXT));
        *self.sizes.entry(row.bitcode_bytes.max(1).ilog2()).or_default() += 1;
        for (at, name) in opcode_names().into_iter().enumerate() {
            let number = |list: &[u64]| list.get(at).copied().unwrap_or(0);
            let (before, after) = (number(&row.opcodes), number(&row.opcodes_after));
            if before + after > 0 {
                let both = self.opcodes.entry(name.to_owned()).or_default();
                both[0] += before;
                both[1] += after;
            }
        }
        for name in [row.language.as_str(), "all"] {
            let sums = self.languages.entry(name.to_owned()).or_default();
            sums.modules += 1;
            sums.bitcode_bytes += row.bitcode_bytes;
            sums.text_bytes += row.text_bytes;
            sums.functions += row.functions;
            sums.instructions += row.instructions;
            sums.instructions_after += row.instructions_after;
            sums.object_bytes += row.object_bytes;
            let calls =
                [row.calls_direct, row.calls_intrinsic, row.calls_indirect, row.calls_assembly];
            let tokens = [row.tokens_10k, row.tokens_50k, row.tokens_100k, row.tokens_200k];
            sums.calls.iter_mut().zip(calls).for_each(|(sum, one)| *sum += one);
            sums.tokens.iter_mut().zip(tokens).for_each(|(sum, one)| *sum += one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_without_text_is_counted_as_one() {
        let mut report = StatsReport::default();
        for detail in ["", "text: timeout: x", "-O3: crash: y", "-O3: crash: y; text: timeout: x"] {
            let verdict = dataset::Verdict::ACCEPTED.to_owned();
            report.add(&Statistics { verdict, detail: detail.to_owned(), ..Statistics::default() });
        }
        assert_eq!((report.modules, report.not_optimised, report.without_text), (4, 2, 2));
    }
}
