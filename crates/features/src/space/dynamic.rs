use super::{Extracted, FeatureSpace};
use crate::{
    Part, ProgramView,
    run::{KINDS, NAMES},
};

/// What a kernel executes, of one group of work-items on a payload that is the same for every kernel: the dynamic
/// features that Cummins et al. ask for (CLgen, CGO 2017, section 8.2).
///
/// A group has 64 work-items (64, 8×8 or 4×4×4), or as many as the kernel demands; every integer argument is the number of
/// work-items, other numbers are 1.5, buffers have 4 MiB of small numbers and zeros. What is counted is LLVM's IR as it is
/// behind the passes of the level, for this machine and without vectorization; of what a built-in function does inside, only
/// `vload`, `vstore` and atomics are known, as accesses.
///
/// - `WorkItems`: of the group; `Insts`: instructions that a work-item executes; `InstsMost`: the one that executes most;
/// - kinds of instructions, of a work-item: `IntAdd` (subtractions too), `IntMul`, `IntDiv` (remainders too), `Logic` (shifts
///   too), `IntCompare`, `FloatAdd`, `FloatMul`, `FloatMulAdd`, `FloatDiv`, `FloatCompare`, `Cast`, `Address`, `Select`, `Vector`
///   (moves of elements), `Load`, `Store`, `Atomic`, `Branch` (by a condition or number), `Jump`, `Phi`, `Place`
///   (`get_global_id` and its like), `Barrier`, `Builtin` and `Call` (of the program's own functions), `Other`; `Lanes`: lanes of
///   the vectors they work on;
/// - `BranchesTaken`: conditions that hold, of a work-item; `DivergentBranches`: the n-th time that each work-item comes to a
///   branch is one occurrence; the share of them in which work-items of the group go different ways;
/// - `LoopEntries`: loops that a work-item enters; `LoopTrips`: how often the header of a loop runs for each time it is
///   entered, of all and (`LoopTripsMost`) of the loop with most;
/// - loads, stores and their bytes of a work-item by the memory they are in: `Global`, `Constant`, `Local`, `Private`;
/// - the n-th time that any of 32 neighboring work-items accesses global memory at one place of the code is one access of
///   them: `GlobalAccesses` is how many such 32 have; `LinesPerAccess`, the lines of 128 bytes that are touched; `Coalesced`, the least
///   lines that could hold as many bytes (no more than are touched) over those touched; `UnitStride` and `SameAddress`, the
///   share of neighbors of which the second accesses the next element or the same. All are 0 where there is none.
///   Of each branch and place the first 65,536 times of a work-item are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dynamic;

impl FeatureSpace for Dynamic {
    fn name(&self) -> &'static str {
        "dynamic"
    }

    fn dimensions(&self) -> Vec<&'static str> {
        NAMES.clone()
    }

    fn parts(&self) -> &'static [Part] {
        &[Part::Run]
    }

    fn is_of_kernels(&self) -> bool {
        true
    }

    fn follows(&self) -> &'static [&'static str] {
        &["Insts"]
    }

    fn sums(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        vec![("Insts", KINDS.to_vec())]
    }

    fn extract(&self, program: &ProgramView<'_>) -> Option<Extracted> {
        let kernels = program.run?.kernels.iter();
        let ran = kernels.filter_map(|(name, vector)| Some((name.clone(), vector.clone().ok()?)));
        Some(Extracted::Functions(ran.collect()))
    }
}
