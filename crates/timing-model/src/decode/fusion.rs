//! Which neighbouring instructions become one µop.

use iced_x86::{Instruction, Mnemonic, OpKind};

/// A processor's rules of macro-fusion.
pub(super) struct Rules {
    /// `cmp` and `test` fuse with a conditional branch.
    pub(super) compare: bool,
    /// `add`, `sub`, `and`, `inc`, `dec` do as well.
    pub(super) arithmetic: bool,
}

impl Rules {
    /// Whether `branch` is fused into the instruction before it.
    pub(super) fn fuses(&self, before: &Instruction, branch: &Instruction) -> bool {
        use Mnemonic as M;
        if !branch.is_jcc_short_or_near() {
            return false;
        }
        let memory = (0..before.op_count()).any(|at| before.op_kind(at) == OpKind::Memory);
        let constant = before.op_count() == 2
            && !matches!(before.op1_kind(), OpKind::Register | OpKind::Memory);
        match before.mnemonic() {
            M::Cmp | M::Test => {
                self.compare && !(memory && (constant || before.is_ip_rel_memory_operand()))
            }
            M::Add | M::Sub | M::And | M::Inc | M::Dec => self.arithmetic && !memory,
            _ => false,
        }
    }
}
