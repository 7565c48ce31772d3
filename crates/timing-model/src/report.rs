use crate::counters::Counters;
use std::collections::BTreeMap;

/// What a core says about a program that ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Cycles from the first instruction to the last, the operating system's included.
    pub cycles: u64,
    /// Standard error of `cycles` where they were sampled, else 0.
    pub sampling_error_cycles: u64,
    /// Where only samples were simulated in detail: `cycles` and the misses and mispredicts of `counters` are estimates.
    pub sampled: Option<Sampled>,
    /// Cycles before `main`; `None` where it is unknown or was never reached.
    pub startup_cycles: Option<u64>,
    /// Cycles of system calls and page faults.
    pub kernel_cycles: u64,
    /// What was counted.
    pub counters: Counters,
}

/// How the figures of a sampled run came about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampled {
    /// Half the width of the 95 % confidence interval of the cycles.
    pub interval_cycles: u64,
    /// Instructions that were simulated in detail.
    pub detailed_instructions: u64,
    /// Kinds of code that were told apart; 0 where all was simulated in detail, since the program is short.
    pub strata: u64,
}

impl Report {
    /// One line of `name=value` words, read back by [`Report::parse`].
    #[must_use]
    pub fn to_line(&self) -> String {
        let c = &self.counters;
        let mut line = format!(
            "cycles={} sampling_error_cycles={} kernel_cycles={} instructions={} branches={} \
             mispredicts={} l1d_misses={} l2_misses={} l3_misses={} tlb_misses={} page_faults={} \
             system_calls={}",
            self.cycles,
            self.sampling_error_cycles,
            self.kernel_cycles,
            c.instructions,
            c.branches,
            c.mispredicts,
            c.l1d_misses,
            c.l2_misses,
            c.l3_misses,
            c.tlb_misses,
            c.page_faults,
            c.system_calls,
        );
        if let Some(sampled) = self.sampled {
            line.push_str(&format!(
                " interval_cycles={} detailed_instructions={} strata={}",
                sampled.interval_cycles, sampled.detailed_instructions, sampled.strata,
            ));
        }
        if let Some(cycles) = self.startup_cycles {
            line.push_str(&format!(" startup_cycles={cycles}"));
        }
        line
    }

    /// Read a line of [`Report::to_line`]; `None` where a word is missing or no number.
    #[must_use]
    pub fn parse(line: &str) -> Option<Report> {
        let words: Option<BTreeMap<&str, u64>> = line
            .split_whitespace()
            .map(|word| {
                let (name, value) = word.split_once('=')?;
                Some((name, value.parse().ok()?))
            })
            .collect();
        let words = words?;
        let get = |name: &str| words.get(name).copied();
        Some(Report {
            cycles: get("cycles")?,
            sampling_error_cycles: get("sampling_error_cycles")?,
            sampled: match get("strata") {
                None => None,
                Some(strata) => Some(Sampled {
                    interval_cycles: get("interval_cycles")?,
                    detailed_instructions: get("detailed_instructions")?,
                    strata,
                }),
            },
            startup_cycles: get("startup_cycles"),
            kernel_cycles: get("kernel_cycles")?,
            counters: Counters {
                instructions: get("instructions")?,
                branches: get("branches")?,
                mispredicts: get("mispredicts")?,
                l1d_misses: get("l1d_misses")?,
                l2_misses: get("l2_misses")?,
                l3_misses: get("l3_misses")?,
                tlb_misses: get("tlb_misses")?,
                page_faults: get("page_faults")?,
                system_calls: get("system_calls")?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_reads_back_as_the_report(
            cycles: u64, startup: Option<u64>, instructions: u64, misses: u64, strata: Option<u64>
        ) {
            let counters = Counters { instructions, l3_misses: misses, ..Counters::default() };
            let startup_cycles = startup;
            let sampled = strata.map(|strata| Sampled {
                interval_cycles: misses,
                detailed_instructions: instructions,
                strata,
            });
            let report = Report { cycles, sampled, startup_cycles, counters, ..Report::default() };
            prop_assert_eq!(Report::parse(&report.to_line()), Some(report));
        }
    }

    #[test]
    fn refuses_a_line_with_words_missing() {
        assert_eq!(Report::parse("cycles=5 instructions=7"), None);
    }
}
