//! Instructions of 16 bits as those of 32 bits that they stand for.
//!
//! No decision of the decoder looks at an immediate, but for whether it is zero: they are left out.

/// One of the eight registers that three bits name.
fn short(half: u16, low: u32) -> u32 {
    8 + (u32::from(half) >> low & 7)
}

/// An instruction of the formats with up to two sources: opcode, `funct3`, registers, `funct7`.
fn word(opcode: u32, function: u32, [rd, rs1, rs2]: [u32; 3], function7: u32) -> u32 {
    opcode | rd << 7 | function << 12 | rs1 << 15 | rs2 << 20 | function7 << 25
}

/// The instruction of 32 bits that one of 16 bits stands for, without its immediate; `None` for what is none.
pub(super) fn expand(half: u16) -> Option<u32> {
    const OP_IMM: u32 = 0x13;
    const OP_IMM_32: u32 = 0x1b;
    const LUI: u32 = 0x37;
    const JAL: u32 = 0x6f;
    const JALR: u32 = 0x67;
    const BRANCH: u32 = 0x63;
    const STACK: u32 = 2;
    /// Stands for an immediate that is not zero, in the place of a second source.
    const SOME: u32 = 1;
    let bits = |low: u32, count: u32| u32::from(half) >> low & ((1 << count) - 1);
    let (rd, rs2) = (bits(7, 5), bits(2, 5));
    let (low, high) = (short(half, 2), short(half, 7));
    let load = |opcode, size, rd, base| word(opcode, size, [rd, base, 0], 0);
    let store = |opcode, size, from, base| word(opcode, size, [0, base, from], 0);
    Some(match (bits(0, 2), bits(13, 3)) {
        (0, 0) if half == 0 => return None,
        (0, 0) => word(OP_IMM, 0, [low, STACK, SOME], 0),
        (0, 1) => load(0x07, 3, low, high),
        (0, 2) => load(0x03, 2, low, high),
        (0, 3) => load(0x03, 3, low, high),
        (0, 5) => store(0x27, 3, low, high),
        (0, 6) => store(0x23, 2, low, high),
        (0, 7) => store(0x23, 3, low, high),
        // `c.nop` and `c.addi`, whose immediate may be zero in hints alone.
        (1, 0) => word(OP_IMM, 0, [rd, rd, if rd == 0 { 0 } else { SOME }], 0),
        (1, 1) => word(OP_IMM_32, 0, [rd, rd, SOME], 0),
        (1, 2) => word(OP_IMM, 0, [rd, 0, SOME], 0),
        (1, 3) if rd == STACK => word(OP_IMM, 0, [STACK, STACK, SOME], 0),
        (1, 3) => word(LUI, 0, [rd, 0, 0], 0),
        (1, 4) => match (bits(10, 2), bits(12, 1), bits(5, 2)) {
            (0 | 1, ..) => word(OP_IMM, 5, [high, high, SOME], 0),
            (2, ..) => word(OP_IMM, 7, [high, high, SOME], 0),
            // Subtraction, exclusive or, or, and.
            (_, 0, 0) => word(0x33, 0, [high, high, low], 0x20),
            (_, 0, 1) => word(0x33, 4, [high, high, low], 0),
            (_, 0, 2) => word(0x33, 6, [high, high, low], 0),
            (_, 0, _) => word(0x33, 7, [high, high, low], 0),
            (_, _, 0) => word(0x3b, 0, [high, high, low], 0x20),
            (_, _, 1) => word(0x3b, 0, [high, high, low], 0),
            _ => return None,
        },
        (1, 5) => word(JAL, 0, [0, 0, 0], 0),
        (1, function) => word(BRANCH, function & 1, [0, high, 0], 0),
        (2, 0) => word(OP_IMM, 1, [rd, rd, SOME], 0),
        (2, 1) => load(0x07, 3, rd, STACK),
        (2, 2) => load(0x03, 2, rd, STACK),
        (2, 3) => load(0x03, 3, rd, STACK),
        (2, 4) => match (bits(12, 1), rd, rs2) {
            (0, 0, 0) => return None,
            (0, _, 0) => word(JALR, 0, [0, rd, 0], 0),
            (0, ..) => word(OP_IMM, 0, [rd, rs2, 0], 0),
            // `ebreak`.
            (_, 0, 0) => 0x0010_0073,
            (_, _, 0) => word(JALR, 0, [1, rd, 0], 0),
            _ => word(0x33, 0, [rd, rd, rs2], 0),
        },
        (2, 5) => store(0x27, 3, rs2, STACK),
        (2, 6) => store(0x23, 2, rs2, STACK),
        (2, 7) => store(0x23, 3, rs2, STACK),
        _ => return None,
    })
}
