//! Which instructions are simulated in detail, and what that says about the rest: two-phase stratified sampling, in one
//! run of the program (Neyman, JASA 33, 1938; Cochran, Sampling Techniques, 1977, sections 5.5 and 12.2).
//!
//! Phase one costs next to nothing and is for all: of each interval is counted how often which code ran (Sherwood et al.,
//! ASPLOS 2002), and intervals of like code are a stratum ([`Strata`]). Phase two simulates windows in detail, one in each
//! of a stratum's periods, whose lengths go by how much its windows differed so far. Since the program runs once, whether
//! an interval is a window is decided before it begins, by the strata that are likely to follow the last one; what it counts
//! for is decided by the code that it ran.

mod strata;
mod stratum;

use strata::{Plan, Strata};

/// Instructions of an interval: those of a window.
const INTERVAL: u64 = 20_000;
/// Intervals at the start of a program that are simulated in detail and stand for themselves alone: they are like nothing
/// that follows.
const FIRST: u32 = 8;
/// Instructions before a window in which all caches and predictors follow: where predictors have followed before, and
/// where they have not.
const WARM: u64 = 4_000;
const WARM_FROM_COLD: u64 = 10_000;
/// Instructions behind those that are simulated in detail and not measured, until the pipeline's queues are as full as they
/// usually are.
const SETTLE: u64 = 1_000;
/// Kinds of code that are told apart: blocks by a hash of their address.
pub(crate) const BUCKETS: usize = 32;

/// What a window is measured by.
pub(crate) const FIGURES: usize = 6;
/// Cycles without the operating system's, mispredicts, misses of the first, second and third level, page walks.
pub(crate) type Figures = [u64; FIGURES];

/// How much of the processor follows the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// All of it.
    Detailed,
    /// Caches, buffers, prefetchers and predictors.
    Warm,
    /// Predictors; accesses are noted in a journal.
    Near,
    /// Nothing; accesses are noted in a journal.
    Skip,
}

impl Phase {
    /// Whether accesses go to the journal, from which caches catch up later.
    pub(crate) fn notes_accesses(self) -> bool {
        matches!(self, Phase::Near | Phase::Skip)
    }
}

/// Where in an interval the program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Before a window.
    Warming,
    /// In detail, not measured yet.
    Settling,
    /// Up to the end of the interval.
    Running,
}

/// What a program takes in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Estimate {
    pub(crate) figures: Figures,
    /// Standard error of the cycles.
    pub(crate) error: u64,
    /// Half the width of their 95 % confidence interval.
    pub(crate) interval: u64,
    /// Instructions that were simulated in detail.
    pub(crate) detailed: u64,
    /// Strata that intervals fell into.
    pub(crate) strata: u64,
}

/// The course of a sampled run.
pub(crate) struct Sampling {
    /// One interval in `rate` is a window, by and large; 1: all.
    rate: u64,
    /// Instruction count at which the phase changes next.
    pub(crate) change_at: u64,
    pub(crate) phase: Phase,
    stage: Stage,
    /// Number of the interval under way.
    pub(crate) number: u32,
    /// Instruction count at its begin.
    begun: u64,
    /// Instructions of each bucket of code in it.
    code: [u32; BUCKETS],
    /// Instruction count and figures where measuring began.
    measured: Option<(u64, Figures)>,
    /// Those at the end of the first intervals.
    first: (u64, Figures),
    strata: Strata,
    /// Instructions in detail up to the last change, and where detail began.
    detailed: u64,
    detailed_from: u64,
}

impl Sampling {
    pub(crate) fn new(rate: u64) -> Sampling {
        let rate = rate.max(1);
        Sampling {
            rate,
            change_at: if rate == 1 { u64::MAX } else { INTERVAL },
            phase: Phase::Detailed,
            stage: Stage::Running,
            number: 0,
            begun: 0,
            code: [0; BUCKETS],
            measured: None,
            first: (0, [0; FIGURES]),
            strata: Strata::default(),
            detailed: 0,
            detailed_from: 0,
        }
    }

    /// Whether anything is left out.
    pub(crate) fn is_on(&self) -> bool {
        self.rate > 1
    }

    /// Count instructions of a bucket of code.
    #[inline(always)]
    pub(crate) fn note(&mut self, bucket: u8, instructions: u64) {
        self.code[bucket as usize % BUCKETS] += instructions as u32;
    }

    /// Change the phase, after `instructions` in all and what was counted of them in detail.
    pub(crate) fn change(&mut self, instructions: u64, figures: Figures) {
        match self.stage {
            Stage::Warming => {
                self.enter(Phase::Detailed, instructions);
                self.stage = Stage::Settling;
                self.change_at = instructions + SETTLE;
            }
            Stage::Settling => {
                // What leads to a window is no interval: a window is measured from its begin to its end.
                let code = std::mem::replace(&mut self.code, [0; BUCKETS]);
                self.strata.add_part(&code, instructions - self.begun);
                self.begun = instructions;
                self.measured = Some((instructions, figures));
                self.stage = Stage::Running;
                self.change_at = instructions + INTERVAL;
            }
            Stage::Running => self.end_interval(instructions, figures),
        }
    }

    fn enter(&mut self, phase: Phase, instructions: u64) {
        let detail = Phase::Detailed;
        if self.phase == detail && phase != detail {
            self.detailed += instructions - self.detailed_from;
        } else if self.phase != detail && phase == detail {
            self.detailed_from = instructions;
        }
        self.phase = phase;
    }

    fn end_interval(&mut self, instructions: u64, figures: Figures) {
        let ran = instructions - self.begun;
        let code = std::mem::replace(&mut self.code, [0; BUCKETS]);
        let window = self.measured.take().map(|(from, before)| {
            stratum::rates(instructions - from, std::array::from_fn(|at| figures[at] - before[at]))
        });
        self.begun = instructions;
        self.number += 1;
        self.stage = Stage::Running;
        self.change_at = instructions + INTERVAL;
        let plan = if self.number > FIRST {
            self.strata.add(&code, ran, window, self.rate);
            self.strata.plan()
        } else {
            self.first = (instructions, figures);
            Plan::Window
        };
        match plan {
            Plan::Window if self.phase == Phase::Detailed => {
                self.measured = Some((instructions, figures));
            }
            Plan::Window => {
                let warm = if self.phase == Phase::Near { WARM } else { WARM_FROM_COLD };
                self.enter(Phase::Warm, instructions);
                self.stage = Stage::Warming;
                self.change_at = instructions + warm;
            }
            Plan::Near => self.enter(Phase::Near, instructions),
            Plan::Skip => self.enter(Phase::Skip, instructions),
        }
    }

    /// What all `instructions` take, where `figures` were counted in detail.
    pub(crate) fn estimate(&self, instructions: u64, figures: Figures) -> Estimate {
        let open = match self.phase {
            Phase::Detailed => instructions - self.detailed_from,
            _ => 0,
        };
        let detailed = self.detailed + open;
        let strata = self.strata.count();
        if detailed == instructions {
            return Estimate { figures, detailed, strata, ..Estimate::default() };
        }
        let (_, first) = self.first;
        let rest = self.strata.estimate(&self.code, instructions - self.begun);
        let figures = std::array::from_fn(|at| first[at] + rest.figures[at]);
        Estimate { figures, detailed, strata, ..rest }
    }
}

#[cfg(test)]
mod tests;
