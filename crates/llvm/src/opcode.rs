use std::fmt;

macro_rules! opcodes {
    ($($name:ident = $code:literal,)*) => {
        /// What an instruction does, in the order of LLVM's `Instruction.def`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Opcode {
            $(#[doc = concat!("`", stringify!($name), "`.")] $name,)*
            /// An opcode that this table does not know, by its number in the C API.
            Other(u32),
        }

        impl Opcode {
            /// The 67 opcodes that LLVM 10 to 21 know, in order.
            pub const ALL: [Opcode; 67] = [$(Opcode::$name,)*];

            /// By its number in the C API.
            #[must_use]
            pub fn from_code(code: u32) -> Opcode {
                match code {
                    $($code => Opcode::$name,)*
                    other => Opcode::Other(other),
                }
            }

            /// Its number in the C API.
            #[must_use]
            pub fn code(self) -> u32 {
                match self {
                    $(Opcode::$name => $code,)*
                    Opcode::Other(code) => code,
                }
            }

            /// The name in `Instruction.def`.
            #[must_use]
            pub fn name(self) -> &'static str {
                if self == Opcode::Phi {
                    return "PHI";
                }
                match self {
                    $(Opcode::$name => stringify!($name),)*
                    Opcode::Other(_) => "Other",
                }
            }

            /// Its place in [`Opcode::ALL`].
            #[must_use]
            pub fn index(self) -> Option<usize> {
                #[repr(usize)]
                enum Place { $($name,)* }
                match self {
                    $(Opcode::$name => Some(Place::$name as usize),)*
                    Opcode::Other(_) => None,
                }
            }
        }
    };
}

opcodes! {
    Ret = 1, Br = 2, Switch = 3, IndirectBr = 4, Invoke = 5, Resume = 58, Unreachable = 7,
    CleanupRet = 61, CatchRet = 62, CatchSwitch = 65, CallBr = 67,
    FNeg = 66,
    Add = 8, FAdd = 9, Sub = 10, FSub = 11, Mul = 12, FMul = 13, UDiv = 14, SDiv = 15, FDiv = 16,
    URem = 17, SRem = 18, FRem = 19, Shl = 20, LShr = 21, AShr = 22, And = 23, Or = 24, Xor = 25,
    Alloca = 26, Load = 27, Store = 28, GetElementPtr = 29, Fence = 55, AtomicCmpXchg = 56,
    AtomicRMW = 57,
    Trunc = 30, ZExt = 31, SExt = 32, FPToUI = 33, FPToSI = 34, UIToFP = 35, SIToFP = 36,
    FPTrunc = 37, FPExt = 38, PtrToInt = 39, IntToPtr = 40, BitCast = 41, AddrSpaceCast = 60,
    CleanupPad = 64, CatchPad = 63,
    ICmp = 42, FCmp = 43, Phi = 44, Call = 45, Select = 46, UserOp1 = 47, UserOp2 = 48, VAArg = 49,
    ExtractElement = 50, InsertElement = 51, ShuffleVector = 52, ExtractValue = 53,
    InsertValue = 54, LandingPad = 59, Freeze = 68,
}

impl Opcode {
    /// Whether it ends a block.
    #[must_use]
    pub fn is_terminator(self) -> bool {
        self.index().is_some_and(|index| index <= 10)
    }

    /// Whether it is one of the 18 operators with two operands.
    #[must_use]
    pub fn is_binary(self) -> bool {
        self.index().is_some_and(|index| (12..30).contains(&index))
    }

    /// Whether it converts a value to another type.
    #[must_use]
    pub fn is_cast(self) -> bool {
        self.index().is_some_and(|index| (37..50).contains(&index))
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Opcode::Other(code) => write!(f, "Other({code})"),
            known => f.write_str(known.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opcode_knows_its_place_and_kind() {
        for (place, opcode) in Opcode::ALL.into_iter().enumerate() {
            assert_eq!(opcode.index(), Some(place));
            assert_eq!(Opcode::from_code(opcode.code()), opcode);
        }
        assert!(Opcode::CallBr.is_terminator() && !Opcode::FNeg.is_terminator());
        assert!(Opcode::Add.is_binary() && Opcode::Xor.is_binary() && !Opcode::Alloca.is_binary());
        assert!(Opcode::Trunc.is_cast() && Opcode::AddrSpaceCast.is_cast());
        assert!(!Opcode::CleanupPad.is_cast());
    }
}
