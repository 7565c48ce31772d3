//! Classes of instructions that cost the same.
//!
//! Some classes set apart what one processor does otherwise than the rest of its kind; a processor file that has no cost
//! for one of these takes that of the rest ([`Class::otherwise`]).

use crate::Architecture;
use serde::{Deserialize, Serialize};

macro_rules! classes {
    ($($name:ident $text:literal $doc:literal,)*) => {
        /// Instructions that cost the same.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Class {
            $(#[doc = $doc] #[serde(rename = $text)] $name,)*
        }

        impl Class {
            /// All classes.
            pub const ALL: &'static [Class] = &[$(Class::$name,)*];

            /// Its name in processor files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Class::$name => $text,)* }
            }
        }
    };
}

classes! {
    Nothing "nothing" "No operation, and moves to or from memory, whose cost is their memory access.",
    Move "move" "Move between integer registers.",
    Alu "alu" "Integer addition, logic, comparison, extension.",
    BitTest "bit-test" "`bt` and its family, `cdq`, `cqo`, `cwd`, `lahf`, `sahf`; else `alu`.",
    BitField "bit-field" "`andn`, `blsi`, `blsr`, `blsmsk`, `bzhi`, `bswap` of 32 bits; else `alu`.",
    BitFieldTwo "bit-field-two" "`bextr`, `bswap` of 64 bits; else `alu`.",
    ShiftedAlu "shifted-alu" "Integer addition and logic of a shifted or extended operand, insertion of a bit field (AArch64).",
    Carry "carry" "Addition and subtraction with carry.",
    Conditional "conditional" "Conditional moves and sets.",
    ConditionalTwo "conditional-two" "Those on carry and zero together: `cmova`, `cmovbe`, `seta`, `setbe`; else `conditional`.",
    Shift "shift" "Shifts and rotations by a constant, and those without flags.",
    ShiftVariable "shift-variable" "Shifts and rotations by a register.",
    RotateCarry "rotate-carry" "`rcl`, `rcr` by 1; else `shift`.",
    RotateCarryFar "rotate-carry-far" "`rcl`, `rcr` by more or by a register; else `shift-variable`.",
    ShiftDouble "shift-double" "Shifts of two registers into one: `shld`, `shrd`, `extr`.",
    ShiftDoubleVariable "shift-double-variable" "`shld`, `shrd` by a register; else `shift-double`.",
    Lea "lea" "Address arithmetic of at most two terms.",
    LeaZero "lea-zero" "Address arithmetic of two terms and a 0 that is encoded, as `rbp` or `r13` with an index has it; else `lea`.",
    LeaSlow "lea-slow" "Address arithmetic of three terms.",
    Multiply "multiply" "Integer multiplication to one register; of 32 bits where `multiply-64` is apart.",
    Multiply64 "multiply-64" "Integer multiplication of 64 bits to one register (AArch64, RISC-V).",
    MultiplyWide "multiply-wide" "Integer multiplication to two registers, or to the upper half of the product.",
    MultiplyWide32 "multiply-wide-32" "That of 16 and 32 bits; else `multiply-wide`.",
    Divide32 "divide-32" "Integer division of up to 32 bits.",
    Divide64 "divide-64" "Integer division of 64 bits.",
    DivideSigned64 "divide-signed-64" "That of signed numbers; else `divide-64`.",
    BitCount "bit-count" "`popcnt`, `lzcnt`, `tzcnt`, `clz`.",
    BitScan "bit-scan" "`bsf`, `bsr`.",
    Exchange "exchange" "`xchg` of registers.",
    Atomic "atomic" "Locked instructions.",
    Branch "branch" "Jumps, calls and returns.",
    StringStep "string-step" "One step of an unrepeated or compared string instruction.",
    FloatAdd "float-add" "Floating-point addition and subtraction.",
    FloatMinMax "float-min-max" "Floating-point minimum, maximum and comparison to a mask.",
    FloatMultiply "float-multiply" "Floating-point multiplication.",
    FloatFma "float-fma" "Fused multiplication and addition.",
    FloatDivideSingle "float-divide-single" "Division of `float`.",
    FloatDivideDouble "float-divide-double" "Division of `double`.",
    FloatRootSingle "float-root-single" "Square root of `float`.",
    FloatRootDouble "float-root-double" "Square root of `double`.",
    FloatCompare "float-compare" "Comparison to flags.",
    FloatRound "float-round" "Rounding to an integral value.",
    ConvertToInteger "convert-to-integer" "Floating point to an integer register.",
    ConvertFromInteger "convert-from-integer" "Integer register to floating point.",
    ConvertFloat "convert-float" "Between floating-point formats, and within vectors.",
    ConvertPacked "convert-packed" "Vectors of `int` to `float` and back; else `convert-float`.",
    VectorMove "vector-move" "Move between vector registers.",
    VectorLogic "vector-logic" "Bitwise logic of vectors.",
    VectorAlu "vector-alu" "Integer addition, comparison, minimum of vectors.",
    VectorCompare "vector-compare" "Integer comparison, minimum, maximum, absolute value, average, sign, saturated addition of vectors; else `vector-alu`.",
    VectorCompare64 "vector-compare-64" "`pcmpgtq`; else `vector-alu`.",
    VectorMultiply "vector-multiply" "Integer multiplication of vectors.",
    VectorMultiply32 "vector-multiply-32" "`pmulld`; `mul` of 128 bits (AArch64).",
    VectorShift "vector-shift" "Shifts of vectors.",
    VectorShiftVariable "vector-shift-variable" "Shifts of a whole vector by a vector register; else `vector-shift`.",
    VectorShuffle "vector-shuffle" "Shuffles within 128 bits.",
    VectorCross "vector-cross" "Shuffles across 128 bits.",
    VectorBlend "vector-blend" "Variable blends, `fcsel`.",
    VectorBlendImplied "vector-blend-implied" "Variable blends by `xmm0` (SSE4.1); else `vector-blend`.",
    VectorSad "vector-sad" "Sums of absolute differences, shifts and differences that accumulate.",
    VectorToInteger "vector-to-integer" "Vector register to integer register.",
    VectorExtract "vector-extract" "An element of a vector to an integer register; else `vector-to-integer`.",
    VectorMask "vector-mask" "Sign bits, and tests, of vectors.",
    VectorTest "vector-test" "`ptest`; else `vector-mask`.",
    IntegerToVector "integer-to-vector" "Integer register to vector register.",
    VectorInsert "vector-insert" "Integer register to an element of a vector; else `integer-to-vector`.",
    VectorHorizontal "vector-horizontal" "Horizontal additions.",
    VectorText "vector-text" "`pcmpistri` and its family.",
    Crypto "crypto" "AES and carry-less multiplication.",
    CarryLess "carry-less-multiply" "Carry-less multiplication; else `crypto`.",
    X87Move "x87-move" "x87 moves, sign changes.",
    X87Arithmetic "x87-arithmetic" "x87 addition, multiplication, comparison.",
    X87Divide "x87-divide" "x87 division and square root.",
    X87Slow "x87-slow" "x87 transcendental functions and state.",
    Further "further" "Each further register of a load or store of several (AArch64).",
    Fence "fence" "Memory fences, and instructions that drain the pipeline.",
    Identify "identify" "`cpuid`; else `fence`.",
    Pause "pause" "`pause`; else `nothing`.",
    Prefetch "prefetch" "Prefetches, which wait for nothing; else `nothing`.",
    Leave "leave" "`leave`; else `microcode`.",
    Microcode "microcode" "Anything else.",
}

impl Class {
    /// Whether such instructions need a port besides those of their memory accesses.
    #[must_use]
    pub fn executes(self) -> bool {
        !matches!(self, Class::Nothing)
    }

    /// The class that such instructions cost the same as where a processor file has no cost for them.
    #[must_use]
    pub fn otherwise(self) -> Option<Class> {
        use Class as C;
        Some(match self {
            C::BitTest | C::BitField | C::BitFieldTwo => C::Alu,
            C::ConditionalTwo => C::Conditional,
            C::RotateCarry => C::Shift,
            C::RotateCarryFar => C::ShiftVariable,
            C::ShiftDoubleVariable => C::ShiftDouble,
            C::LeaZero => C::Lea,
            C::MultiplyWide32 => C::MultiplyWide,
            C::DivideSigned64 => C::Divide64,
            C::ConvertPacked => C::ConvertFloat,
            C::VectorCompare | C::VectorCompare64 => C::VectorAlu,
            C::VectorShiftVariable => C::VectorShift,
            C::VectorBlendImplied => C::VectorBlend,
            C::VectorExtract => C::VectorToInteger,
            C::VectorTest => C::VectorMask,
            C::VectorInsert => C::IntegerToVector,
            C::CarryLess => C::Crypto,
            C::Identify => C::Fence,
            C::Pause | C::Prefetch => C::Nothing,
            C::Leave => C::Microcode,
            _ => return None,
        })
    }

    /// Whether there are such instructions in an instruction set: its processor files have a cost for each that
    /// costs like no [other one](Class::otherwise).
    #[must_use]
    pub fn is_of(self, architecture: Architecture) -> bool {
        use Class as C;
        let x86_alone = matches!(
            self,
            C::Lea
                | C::LeaSlow
                | C::BitScan
                | C::Exchange
                | C::StringStep
                | C::VectorMask
                | C::VectorText
                | C::X87Move
                | C::X87Arithmetic
                | C::X87Divide
                | C::X87Slow
        ) || self.otherwise().is_some();
        let vectors = matches!(
            self,
            C::VectorAlu
                | C::VectorMultiply
                | C::VectorMultiply32
                | C::VectorShift
                | C::VectorShuffle
                | C::VectorCross
                | C::VectorBlend
                | C::VectorSad
                | C::VectorHorizontal
                | C::Crypto
        );
        match architecture {
            Architecture::X86_64 => !matches!(self, C::ShiftedAlu | C::Multiply64 | C::Further),
            Architecture::Aarch64 => !x86_alone && self != C::VectorCross,
            Architecture::Riscv64 => {
                let none = [C::ShiftedAlu, C::Further, C::Carry, C::Conditional, C::ShiftDouble];
                let lacks = [C::BitCount, C::FloatRound];
                let lea = self == C::Lea;
                lea || !(x86_alone || vectors || none.contains(&self) || lacks.contains(&self))
            }
        }
    }
}
