//! From what a kernel's calls counted to its vector.

use super::plan::{Back, Branch, KINDS, Plan};
use crate::Vector;
use std::{iter::Sum, sync::LazyLock};

/// Dimensions before the kinds of instructions.
const HEAD: [&str; 3] = ["WorkItems", "Insts", "InstsMost"];
/// The place of `Insts`.
pub(super) const INSTS: usize = 1;
/// Dimensions behind the kinds.
const TAIL: [&str; 25] = [
    "Lanes",
    "BranchesTaken",
    "DivergentBranches",
    "LoopEntries",
    "LoopTrips",
    "LoopTripsMost",
    "GlobalLoads",
    "ConstantLoads",
    "LocalLoads",
    "PrivateLoads",
    "GlobalStores",
    "LocalStores",
    "PrivateStores",
    "GlobalLoadBytes",
    "ConstantLoadBytes",
    "LocalLoadBytes",
    "PrivateLoadBytes",
    "GlobalStoreBytes",
    "LocalStoreBytes",
    "PrivateStoreBytes",
    "GlobalAccesses",
    "LinesPerAccess",
    "Coalesced",
    "UnitStride",
    "SameAddress",
];

/// The names of all dimensions.
pub(crate) static NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| HEAD.into_iter().chain(KINDS).chain(TAIL).collect());

/// How a run ended, as runtime.c has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Fine,
    TooLong,
    TooLarge,
    Apart,
}

/// Neighboring work-items whose accesses are looked at together.
const TOGETHER: f64 = 32.0;
/// Global, constant, local, private.
const SPACES: usize = 4;
/// Words before those of blocks and branches.
const WORDS: usize = 5 + 4 * SPACES + 6 + UNDEFINED;
/// The last of these, which say what is undefined.
const UNDEFINED: usize = 3;
const WORD: usize = size_of::<u64>();

/// Accesses of a kernel whose results OpenCL leaves undefined, in a run of two groups on the payload of space `dynamic`.
///
/// A *race* is an access of a byte that another work-item writes, or a write of one that another reads, with no barrier
/// of their group between the two. Atomic accesses race with nothing. What is not seen: accesses inside of built-in functions other than `vload`
/// and `vstore`, and which memory a barrier is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Undefined {
    /// Accesses of global memory that race with one before them.
    pub global_races: u64,
    /// The same of local memory.
    pub local_races: u64,
    /// Loads from local memory of a byte that no work-item of the group has written.
    pub unset_local_reads: u64,
}

impl Sum for Undefined {
    fn sum<I: Iterator<Item = Undefined>>(all: I) -> Undefined {
        all.fold(Undefined::default(), |sum, one| Undefined {
            global_races: sum.global_races + one.global_races,
            local_races: sum.local_races + one.local_races,
            unset_local_reads: sum.unset_local_reads + one.unset_local_reads,
        })
    }
}

/// What one run of a kernel comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) status: Status,
    /// In space `dynamic`, where one group ran.
    pub(crate) vector: Vector,
    /// Floating-point operations of a work-item, the mean.
    pub(crate) operations: f64,
    /// What is undefined, where several did.
    pub(crate) undefined: Undefined,
}

/// What a run says; `None` for what no run says.
pub(crate) fn read(plan: &Plan, said: &[u8]) -> Option<Said> {
    let (blocks, branches) = (plan.blocks.len(), plan.branches.len());
    if said.len() != (WORDS + blocks + 2 * branches) * WORD {
        return None;
    }
    let words: Vec<u64> = said
        .chunks_exact(WORD)
        .map(|word| u64::from_le_bytes(word.try_into().expect("a chunk is a word")))
        .collect();
    let status = match words[0] {
        0 => Status::Fine,
        1 => Status::TooLong,
        2 => Status::TooLarge,
        3 => Status::Apart,
        _ => return None,
    };
    let (head, rest) = words.split_at(WORDS);
    let (blocks, rest) = rest.split_at(blocks);
    let (taken, reached) = rest.split_at(branches);
    let [global_races, local_races, unset_local_reads] = head[WORDS - UNDEFINED..] else {
        unreachable!("a slice of three")
    };
    let undefined = Undefined { global_races, local_races, unset_local_reads };
    let all = plan.blocks.iter().zip(blocks);
    let all = all.fold(0_u64, |sum, (block, times)| {
        sum.saturating_add(times.saturating_mul(block.operations))
    });
    let operations = all as f64 / head[1].max(1) as f64;
    let vector = vector(plan, head, blocks, (taken, reached));
    Some(Said { status, vector, operations, undefined })
}

fn vector(plan: &Plan, head: &[u64], blocks: &[u64], (taken, reached): (&[u64], &[u64])) -> Vector {
    let items = head[1].max(1) as f64;
    let mean = |count: u64| count as f64 / items;
    let mut kinds = [0_u64; KINDS.len()];
    let mut lanes = 0_u64;
    for (block, times) in plan.blocks.iter().zip(blocks) {
        for (sum, count) in kinds.iter_mut().zip(block.kinds) {
            *sum = sum.saturating_add(times.saturating_mul(count.into()));
        }
        lanes = lanes.saturating_add(times.saturating_mul(block.lanes));
    }
    let conditions = plan.branches.iter().zip(taken).filter(|(one, _)| **one == Branch::Condition);
    let holds: u64 = conditions.map(|(_, taken)| *taken).sum();
    let (mut entries, mut trips, mut longest) = (0_u64, 0_u64, 0.0_f64);
    for one in &plan.loops {
        let back = one.back.iter().map(|back| match *back {
            Back::Always(block) => blocks[block],
            Back::Holds(branch) => taken[branch],
            Back::Fails(branch) => reached[branch].saturating_sub(taken[branch]),
        });
        let begun = blocks[one.header].saturating_sub(back.sum());
        entries += begun;
        trips += blocks[one.header];
        longest = longest.max(ratio(blocks[one.header], begun));
    }
    let spaces = |from: usize| &head[from..from + SPACES];
    let (loads, stores) = (spaces(5), spaces(5 + SPACES));
    let (load_bytes, store_bytes) = (spaces(5 + 2 * SPACES), spaces(5 + 3 * SPACES));
    // What is constant is not stored to.
    let stored = |all: &[u64]| [all[0], all[2], all[3]].map(mean);
    let [touched, least, accesses, pairs, unit, same] = head[WORDS - UNDEFINED - 6..][..6] else {
        unreachable!("a slice of six")
    };
    let insts: u64 = kinds.iter().sum();
    let mut vector = vec![items, mean(insts), head[2] as f64];
    vector.extend(kinds.map(mean));
    vector.extend([mean(lanes), mean(holds), ratio(head[4], head[3])]);
    vector.extend([mean(entries), ratio(trips, entries), longest]);
    vector.extend(loads.iter().map(|count| mean(*count)));
    vector.extend(stored(stores));
    vector.extend(load_bytes.iter().map(|count| mean(*count)));
    vector.extend(stored(store_bytes));
    vector.extend([TOGETHER * mean(accesses), ratio(touched, accesses), ratio(least, touched)]);
    vector.extend([ratio(unit, pairs), ratio(same, pairs)]);
    vector
}

/// 0 where there is nothing to divide by.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::plan::{Counted, Kind, Loop};

    fn counted(kind: Kind, count: u32) -> Counted {
        let mut counted = Counted::default();
        counted.kinds[kind as usize] = count;
        counted
    }

    fn said(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn counts_are_of_a_work_item_and_shares_of_what_there_is() {
        let vectors = Counted { operations: 4, ..counted(Kind::FloatMul, 1) };
        let plan = Plan {
            blocks: vec![counted(Kind::IntAdd, 2), vectors],
            branches: vec![Branch::Condition, Branch::Switch],
            loops: vec![Loop { header: 1, back: vec![Back::Holds(0)] }],
            ..Plan::default()
        };
        let mut words = vec![0, 4, 9, 10, 5];
        words.extend([8, 0, 0, 0, 4, 0, 0, 0, 32, 0, 0, 0, 16, 0, 0, 0]);
        words.extend([6, 3, 2, 4, 1, 2]);
        words.extend([7, 8, 9]);
        // Blocks; conditions that held, and numbers that were not 0; branches reached.
        words.extend([4, 12, 8, 99, 12, 99]);
        let Said { status, vector, operations, undefined } =
            read(&plan, &said(&words)).expect("it fits");
        assert_eq!((status, operations), (Status::Fine, 12.0));
        let wanted = Undefined { global_races: 7, local_races: 8, unset_local_reads: 9 };
        assert_eq!(undefined, wanted);
        assert_eq!(vector.len(), NAMES.len());
        let of =
            |name: &str| vector[NAMES.iter().position(|one| *one == name).expect("a dimension")];
        assert_eq!(vector[HEAD.len() + Kind::IntAdd as usize], 2.0);
        for (name, value) in [
            ("WorkItems", 4.0),
            ("Insts", 5.0),
            ("InstsMost", 9.0),
            ("FloatMul", 3.0),
            ("BranchesTaken", 2.0),
            ("DivergentBranches", 0.5),
            ("LoopEntries", 1.0),
            ("LoopTrips", 3.0),
            ("LoopTripsMost", 3.0),
            ("GlobalLoads", 2.0),
            ("GlobalStoreBytes", 4.0),
            ("LinesPerAccess", 3.0),
            ("Coalesced", 0.5),
            ("UnitStride", 0.25),
            ("SameAddress", 0.5),
        ] {
            assert_eq!(of(name), value, "{name}");
        }
    }

    #[test]
    fn what_no_run_says_is_told() {
        let plan = Plan::default();
        assert_eq!(read(&plan, b"x"), None);
        assert_eq!(read(&plan, &said(&[9; WORDS])), None);
        let Said { status, vector, .. } =
            read(&plan, &said(&[[1].as_slice(), &[0; WORDS - 1]].concat())).expect("it fits");
        assert_eq!(status, Status::TooLong);
        assert!(vector.iter().all(|value| value.is_finite()));
    }
}
