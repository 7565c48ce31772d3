//! x86-64, decoded by `iced-x86`.
//!
//! `class.rs` says what kind of work an instruction is, `operands.rs` what it waits for, and
//! `fusion.rs` which neighbors become one µop.

mod class;
mod fusion;
mod operands;

use super::{Decoder, decoded::Decoded, flag};
use crate::{block::Exit, decode::Class, verdict::Refusal};
use iced_x86::{
    DecoderError, DecoderOptions, EncodingKind, FlowControl, Instruction, InstructionInfoFactory,
    Mnemonic, Register,
};

/// Decodes x86-64.
pub(super) struct X86_64 {
    factory: InstructionInfoFactory,
}

impl X86_64 {
    pub(super) fn new() -> X86_64 {
        X86_64 { factory: InstructionInfoFactory::new() }
    }
}

impl Decoder for X86_64 {
    fn decode(&mut self, address: u64, bytes: &[u8]) -> Decoded {
        let mut decoder = iced_x86::Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let i = decoder.decode();
        let class = class::classify(&i);
        let mut decoded = Decoded::new(class);
        operands::fill(&mut decoded, &i, &mut self.factory);
        decoded.copies = matches!(class, Class::Move | Class::VectorMove)
            && !decoded.accesses()
            && i.op0_register().full_register() != i.op1_register().full_register();
        decoded.clears = is_zeroing(&i);
        decoded.cut = decoder.last_error() == DecoderError::NoMoreBytes;
        if i.mnemonic() == Mnemonic::Syscall {
            decoded.flags |= flag::SYSTEM_CALL;
        }
        if is_streaming(&i) {
            decoded.flags |= flag::STREAMING;
        }
        if is_repeated(&i) {
            decoded.flags |= flag::REPEATED;
        }
        decoded.vector = (0..i.op_count()).any(|at| i.op_register(at).is_vector_register());
        decoded.lead = fusion::lead(&i);
        decoded.follows = i.is_jcc_short_or_near();
        decoded.exit = exit(&i);
        decoded.refusal = refusal(&i, bytes);
        decoded
    }
}

/// The refusal that an instruction earns.
fn refusal(instruction: &Instruction, bytes: &[u8]) -> Option<Refusal> {
    /// In 64-bit code only AVX-512 begins with this byte.
    const EVEX: u8 = 0x62;
    match instruction.mnemonic() {
        Mnemonic::Rdtsc | Mnemonic::Rdtscp => Some(Refusal::Clock),
        Mnemonic::Rdrand | Mnemonic::Rdseed => Some(Refusal::Random),
        _ if instruction.encoding() == EncodingKind::EVEX => Some(Refusal::Avx512),
        _ if bytes.first() == Some(&EVEX) => Some(Refusal::Avx512),
        _ => None,
    }
}

/// Whether an instruction stores past the caches.
fn is_streaming(i: &Instruction) -> bool {
    use Mnemonic as M;
    matches!(
        i.mnemonic(),
        M::Movntdq | M::Movnti | M::Movntps | M::Movntpd | M::Vmovntdq | M::Vmovntps | M::Vmovntpd
    )
}

/// Whether an instruction clears its register whatever was in it.
fn is_zeroing(i: &Instruction) -> bool {
    use Mnemonic as M;
    let same =
        |a: u32, b: u32| i.op_register(a) != Register::None && i.op_register(a) == i.op_register(b);
    match i.mnemonic() {
        M::Xor
        | M::Sub
        | M::Pxor
        | M::Xorps
        | M::Xorpd
        | M::Psubb
        | M::Psubw
        | M::Psubd
        | M::Psubq => i.op_count() == 2 && same(0, 1),
        M::Vpxor | M::Vxorps | M::Vxorpd | M::Vpsubb | M::Vpsubw | M::Vpsubd | M::Vpsubq => {
            i.op_count() == 3 && same(1, 2)
        }
        _ => false,
    }
}

/// Whether an instruction is `rep movs` or `rep stos`.
fn is_repeated(i: &Instruction) -> bool {
    use Mnemonic as M;
    i.has_rep_prefix()
        && i.is_string_instruction()
        && matches!(
            i.mnemonic(),
            M::Movsb | M::Movsw | M::Movsd | M::Movsq | M::Stosb | M::Stosw | M::Stosd | M::Stosq
        )
}

/// How control leaves an instruction.
fn exit(i: &Instruction) -> Exit {
    match i.flow_control() {
        FlowControl::ConditionalBranch => Exit::Conditional,
        FlowControl::UnconditionalBranch => Exit::Jump,
        FlowControl::IndirectBranch => Exit::Indirect,
        FlowControl::Call if i.mnemonic() == Mnemonic::Call => Exit::Call,
        FlowControl::IndirectCall => Exit::IndirectCall,
        FlowControl::Return => Exit::Return,
        _ if is_repeated(i) => Exit::Repeat,
        _ => Exit::Fall,
    }
}
