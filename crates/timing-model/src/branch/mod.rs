//! Branch prediction: direction, target, return address.

mod btb;
mod indirect;
mod ras;
mod tage;

use crate::{
    block::{Block, Exit},
    cpu::Branch,
};
use btb::TargetBuffer;
use indirect::IndirectTargets;
use ras::ReturnStack;
pub(crate) use tage::Hashes;
use tage::Tage;

/// How the front end fared at a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Went on, rightly.
    Straight,
    /// Went to the target, after a bubble of some cycles.
    Taken(u64),
    /// Went astray until the branch was resolved.
    Mispredicted,
}

/// All predictors of one core.
pub(crate) struct Predictors {
    directions: Tage,
    targets: TargetBuffer,
    indirect: IndirectTargets,
    returns: ReturnStack,
}

impl Predictors {
    pub(crate) fn new(rules: &Branch) -> Predictors {
        Predictors {
            directions: Tage::new(rules.base_bits, rules.table_bits, &rules.history_lengths),
            targets: TargetBuffer::new(
                rules.btb_entries,
                rules.btb_second_level_bubble,
                rules.btb_miss_bubble,
            ),
            indirect: IndirectTargets::new(rules.indirect_bits),
            returns: ReturnStack::new(rules.return_stack),
        }
    }

    /// Meet the branch at the end of `block`, which goes on at `next`.
    #[inline(always)]
    pub(crate) fn meet(&mut self, block: &Block, next: u64) -> Outcome {
        let Block { exit, last: address, end, .. } = *block;
        match exit {
            Exit::Fall | Exit::Repeat => Outcome::Straight,
            Exit::Conditional => {
                let taken = next != end;
                if !self.directions.predict(&block.hashes, taken) {
                    Outcome::Mispredicted
                } else if taken {
                    Outcome::Taken(self.targets.taken(address))
                } else {
                    Outcome::Straight
                }
            }
            Exit::Jump => Outcome::Taken(self.targets.taken(address)),
            Exit::Call => {
                self.returns.push(end);
                Outcome::Taken(self.targets.taken(address))
            }
            Exit::Return => {
                if self.returns.pop() == next {
                    Outcome::Taken(0)
                } else {
                    Outcome::Mispredicted
                }
            }
            Exit::Indirect | Exit::IndirectCall => {
                if exit == Exit::IndirectCall {
                    self.returns.push(end);
                }
                let foreseen = self.indirect.predict(address, self.directions.path(), next);
                for bit in [4, 5] {
                    self.directions.push(next >> bit & 1 == 1);
                }
                if foreseen { Outcome::Taken(0) } else { Outcome::Mispredicted }
            }
        }
    }
}
