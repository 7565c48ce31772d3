//! Which instructions become one µop with a branch behind them.

use crate::decode::decoded::Lead;
use iced_x86::{Instruction, Mnemonic, OpKind};

/// What an instruction leads a fused pair as.
pub(super) fn lead(i: &Instruction) -> Lead {
    use Mnemonic as M;
    let memory = (0..i.op_count()).any(|at| i.op_kind(at) == OpKind::Memory);
    let constant = i.op_count() == 2 && !matches!(i.op1_kind(), OpKind::Register | OpKind::Memory);
    match i.mnemonic() {
        M::Cmp | M::Test if !(memory && (constant || i.is_ip_rel_memory_operand())) => {
            Lead::Compare
        }
        M::Add | M::Sub | M::And | M::Inc | M::Dec if !memory => Lead::Arithmetic,
        _ => Lead::No,
    }
}
