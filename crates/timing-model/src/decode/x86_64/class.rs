//! Which instruction is in which class.

use crate::decode::Class;
use iced_x86::{EncodingKind, FlowControl, Instruction, Mnemonic as M, OpKind, Register};

/// The class of an instruction.
pub(super) fn classify(i: &Instruction) -> Class {
    if i.has_lock_prefix() || (i.mnemonic() == M::Xchg && has_memory(i)) {
        return Class::Atomic;
    }
    match i.flow_control() {
        FlowControl::Next => {}
        FlowControl::Interrupt | FlowControl::Exception => return Class::Microcode,
        _ if i.mnemonic() == M::Syscall => return Class::Microcode,
        _ => return Class::Branch,
    }
    integer(i)
        .or_else(|| floating(i))
        .or_else(|| vector(i))
        .or_else(|| x87(i))
        .unwrap_or_else(|| by_operands(i))
}

fn has_memory(i: &Instruction) -> bool {
    (0..i.op_count()).any(|at| i.op_kind(at) == OpKind::Memory)
}

fn register(i: &Instruction, at: u32) -> Option<Register> {
    (i.op_count() > at && i.op_kind(at) == OpKind::Register).then(|| i.op_register(at))
}

/// Bytes of its first operand.
fn bytes(i: &Instruction) -> usize {
    register(i, 0).map_or(i.memory_size().size(), Register::size)
}

fn is_vector(register: Option<Register>) -> bool {
    register.is_some_and(|r| r.is_vector_register() || r.is_mm())
}

fn is_integer(register: Option<Register>) -> bool {
    register.is_some_and(Register::is_gpr)
}

fn integer(i: &Instruction) -> Option<Class> {
    Some(match i.mnemonic() {
        M::Nop | M::Endbr64 | M::Push | M::Pop | M::Vzeroupper => Class::Nothing,
        M::Pause => Class::Pause,
        M::Prefetcht0 | M::Prefetcht1 | M::Prefetcht2 | M::Prefetchnta | M::Prefetchw => {
            Class::Prefetch
        }
        M::Leave => Class::Leave,
        M::Mov | M::Movzx | M::Movsx | M::Movsxd | M::Movnti => {
            let (to, from) = (register(i, 0), register(i, 1));
            if has_memory(i) {
                Class::Nothing
            } else if let (Some(to), Some(from)) = (to, from)
                && matches!(i.mnemonic(), M::Mov | M::Movzx)
                && to.size() >= 4
                && (from.size() == to.size() || i.mnemonic() == M::Movzx && from.size() == 1)
            {
                Class::Move
            } else {
                Class::Alu
            }
        }
        M::Add
        | M::Sub
        | M::And
        | M::Or
        | M::Xor
        | M::Cmp
        | M::Test
        | M::Inc
        | M::Dec
        | M::Neg
        | M::Not
        | M::Cbw
        | M::Cwde
        | M::Cdqe
        | M::Clc
        | M::Stc
        | M::Cmc => Class::Alu,
        M::Cdq | M::Cqo | M::Cwd | M::Bt | M::Bts | M::Btr | M::Btc | M::Lahf | M::Sahf => {
            Class::BitTest
        }
        M::Andn | M::Blsr | M::Blsi | M::Blsmsk | M::Bzhi => Class::BitField,
        M::Bswap | M::Movbe if bytes(i) < 8 => Class::BitField,
        M::Bextr | M::Bswap | M::Movbe => Class::BitFieldTwo,
        M::Adc | M::Sbb | M::Adcx | M::Adox => Class::Carry,
        M::Shl | M::Shr | M::Sar | M::Sal | M::Rol | M::Ror if register(i, 1).is_some() => {
            Class::ShiftVariable
        }
        M::Shl | M::Shr | M::Sar | M::Sal | M::Rol | M::Ror => Class::Shift,
        M::Rcl | M::Rcr => {
            let by_one = i.op_kind(1) == OpKind::Immediate8 && i.immediate8() == 1;
            if by_one { Class::RotateCarry } else { Class::RotateCarryFar }
        }
        M::Shlx | M::Shrx | M::Sarx | M::Rorx => Class::Shift,
        M::Shld | M::Shrd if register(i, 2).is_some() => Class::ShiftDoubleVariable,
        M::Shld | M::Shrd => Class::ShiftDouble,
        M::Lea => {
            let both = i.memory_base() != Register::None && i.memory_index() != Register::None;
            match (both, i.memory_displacement64(), i.memory_displ_size()) {
                (false, ..) | (true, 0, 0) => Class::Lea,
                (true, 0, _) => Class::LeaZero,
                (true, ..) => Class::LeaSlow,
            }
        }
        M::Imul if i.op_count() > 1 => Class::Multiply,
        M::Pdep | M::Pext | M::Crc32 => Class::Multiply,
        M::Imul | M::Mul | M::Mulx => match bytes(i) {
            1 => Class::Multiply,
            8 => Class::MultiplyWide,
            _ => Class::MultiplyWide32,
        },
        M::Div if bytes(i) == 8 => Class::Divide64,
        M::Idiv if bytes(i) == 8 => Class::DivideSigned64,
        M::Div | M::Idiv => Class::Divide32,
        M::Popcnt | M::Lzcnt | M::Tzcnt => Class::BitCount,
        M::Bsf | M::Bsr => Class::BitScan,
        M::Xchg | M::Xadd | M::Cmpxchg => Class::Exchange,
        M::Mfence | M::Lfence | M::Sfence | M::Xgetbv | M::Cmpxchg16b => Class::Fence,
        M::Cpuid => Class::Identify,
        M::Stosb
        | M::Stosw
        | M::Stosd
        | M::Stosq
        | M::Lodsb
        | M::Lodsw
        | M::Lodsd
        | M::Lodsq
        | M::Scasb
        | M::Scasw
        | M::Scasd
        | M::Scasq
        | M::Cmpsb
        | M::Cmpsw
        | M::Cmpsq
        | M::Movsb
        | M::Movsw
        | M::Movsq => Class::StringStep,
        M::Movsd | M::Cmpsd if i.is_string_instruction() => Class::StringStep,
        mnemonic => return conditional(mnemonic),
    })
}

fn conditional(mnemonic: M) -> Option<Class> {
    if matches!(mnemonic, M::Cmova | M::Cmovbe | M::Seta | M::Setbe) {
        return Some(Class::ConditionalTwo);
    }
    matches!(
        mnemonic,
        M::Cmovae
            | M::Cmovb
            | M::Cmove
            | M::Cmovg
            | M::Cmovge
            | M::Cmovl
            | M::Cmovle
            | M::Cmovne
            | M::Cmovno
            | M::Cmovnp
            | M::Cmovns
            | M::Cmovo
            | M::Cmovp
            | M::Cmovs
            | M::Setae
            | M::Setb
            | M::Sete
            | M::Setg
            | M::Setge
            | M::Setl
            | M::Setle
            | M::Setne
            | M::Setno
            | M::Setnp
            | M::Setns
            | M::Seto
            | M::Setp
            | M::Sets
    )
    .then_some(Class::Conditional)
}

/// The mnemonic's name, in which vector instructions say what they do and on which type.
fn text(i: &Instruction) -> String {
    let mut name = format!("{:?}", i.mnemonic()).to_ascii_lowercase();
    if name.starts_with('v') && !name.starts_with("ver") {
        name.remove(0);
    }
    name
}

fn floating(i: &Instruction) -> Option<Class> {
    if is_to_integer(i.mnemonic()) {
        return Some(Class::ConvertToInteger);
    }
    if !is_vector(register(i, 0)) && !is_vector(register(i, 1)) {
        return None;
    }
    let name = text(i);
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let float = ends(&["ss", "ps", "sd", "pd"]);
    let single = ends(&["ss", "ps"]);
    Some(if starts(&["cvt"]) {
        if starts(&["cvtsi"]) {
            Class::ConvertFromInteger
        } else if ["cvtdq2ps", "cvtps2dq", "cvttps2dq"].contains(&&name[..]) {
            Class::ConvertPacked
        } else {
            Class::ConvertFloat
        }
    } else if starts(&["comis", "ucomis"]) {
        Class::FloatCompare
    } else if !float {
        return None;
    } else if starts(&["hadd", "hsub", "dpp"]) {
        Class::VectorHorizontal
    } else if starts(&["addsub", "add", "sub"]) {
        Class::FloatAdd
    } else if starts(&["mul"]) {
        Class::FloatMultiply
    } else if starts(&["fmadd", "fmsub", "fnmadd", "fnmsub"]) {
        Class::FloatFma
    } else if starts(&["div"]) {
        if single { Class::FloatDivideSingle } else { Class::FloatDivideDouble }
    } else if starts(&["sqrt"]) {
        if single { Class::FloatRootSingle } else { Class::FloatRootDouble }
    } else if starts(&["rcp", "rsqrt"]) {
        Class::FloatMultiply
    } else if starts(&["min", "max", "cmp"]) {
        Class::FloatMinMax
    } else if starts(&["round"]) {
        Class::FloatRound
    } else if starts(&["and", "or", "xor"]) {
        Class::VectorLogic
    } else if starts(&["movmsk", "test"]) {
        Class::VectorMask
    } else if starts(&["extractps"]) {
        extraction(i)
    } else if starts(&["shuf", "unpck", "permil", "insertps"]) {
        Class::VectorShuffle
    } else if starts(&["blendv"]) {
        blend(i)
    } else if starts(&["blend"]) {
        Class::VectorLogic
    } else if starts(&["movap", "movup", "movs", "movh", "movl", "movnt"]) {
        moves(i, starts(&["movap", "movup"]))
    } else {
        return None;
    })
}

/// Whether an instruction turns a float, of a register or of memory, to an integer register.
fn is_to_integer(mnemonic: M) -> bool {
    matches!(
        mnemonic,
        M::Cvtss2si
            | M::Cvtsd2si
            | M::Cvttss2si
            | M::Cvttsd2si
            | M::Vcvtss2si
            | M::Vcvtsd2si
            | M::Vcvttss2si
            | M::Vcvttsd2si
    )
}

/// An element of a vector goes to a register, or with a shuffle to memory.
fn extraction(i: &Instruction) -> Class {
    if has_memory(i) { Class::VectorShuffle } else { Class::VectorExtract }
}

fn blend(i: &Instruction) -> Class {
    let implied = i.encoding() == EncodingKind::Legacy;
    if implied { Class::VectorBlendImplied } else { Class::VectorBlend }
}

/// A shift of all elements by one count, which a vector register may hold.
fn vector_shift(i: &Instruction) -> Class {
    let by_register = is_vector(register(i, i.op_count() - 1));
    if by_register { Class::VectorShiftVariable } else { Class::VectorShift }
}

fn moves(i: &Instruction, whole: bool) -> Class {
    if has_memory(i) {
        // A load of one half merges with the other; everything else is the access alone.
        let merges = is_vector(register(i, 0)) && i.op_count() > 1 && {
            let name = text(i);
            name.starts_with("movh") || name.starts_with("movl")
        };
        if merges { Class::VectorShuffle } else { Class::Nothing }
    } else if whole {
        Class::VectorMove
    } else {
        Class::VectorShuffle
    }
}

fn vector(i: &Instruction) -> Option<Class> {
    let (to, from) = (register(i, 0), register(i, 1));
    if !is_vector(to) && !is_vector(from) {
        return None;
    }
    let name = text(i);
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    Some(if starts(&["movd", "movq"]) && !starts(&["movdqa", "movdqu", "movdd", "movdq2q"]) {
        match (has_memory(i), is_integer(to), is_integer(from)) {
            (true, ..) => Class::Nothing,
            (_, true, _) => Class::VectorToInteger,
            (_, _, true) => Class::IntegerToVector,
            _ => Class::VectorShuffle,
        }
    } else if starts(&["movdq", "movntdq", "lddqu"]) {
        moves(i, true)
    } else if starts(&["pinsr"]) {
        if has_memory(i) { Class::VectorShuffle } else { Class::VectorInsert }
    } else if starts(&["pextr"]) {
        extraction(i)
    } else if starts(&["ptest"]) {
        Class::VectorTest
    } else if starts(&["pmovmskb", "movmsk"]) {
        Class::VectorMask
    } else if starts(&["pand", "por", "pxor", "pblendw", "pblendd"]) {
        Class::VectorLogic
    } else if starts(&["pblendv"]) {
        blend(i)
    } else if starts(&["pmulld"]) {
        Class::VectorMultiply32
    } else if starts(&["pmul", "pmadd"]) {
        Class::VectorMultiply
    } else if starts(&["psadbw", "mpsadbw"]) {
        Class::VectorSad
    } else if starts(&["phadd", "phsub", "phminpos"]) {
        Class::VectorHorizontal
    } else if starts(&["pcmpistr", "pcmpestr"]) {
        Class::VectorText
    } else if starts(&["pclmul"]) {
        Class::CarryLess
    } else if starts(&["aes", "sha"]) {
        Class::Crypto
    } else if starts(&["pslldq", "psrldq"]) {
        Class::VectorShuffle
    } else if starts(&["psllv", "psrlv", "psrav"]) {
        Class::VectorShift
    } else if starts(&["psll", "psrl", "psra"]) {
        vector_shift(i)
    } else if starts(&[
        "perm2", "permd", "permq", "permp", "extracti", "extractf", "inserti", "insertf",
    ]) || starts(&["broadcast", "pbroadcast"])
    {
        if has_memory(i) { Class::Nothing } else { Class::VectorCross }
    } else if starts(&[
        "pshuf", "punpck", "pack", "palignr", "pmovzx", "pmovsx", "movdd", "movsh", "movsl",
    ]) {
        Class::VectorShuffle
    } else if name == "pcmpgtq" {
        Class::VectorCompare64
    } else if starts(&[
        "pcmp", "pmin", "pmax", "pabs", "pavg", "psign", "padds", "paddus", "psubs", "psubus",
    ]) {
        Class::VectorCompare
    } else if starts(&["padd", "psub"]) {
        Class::VectorAlu
    } else {
        return None;
    })
}

fn x87(i: &Instruction) -> Option<Class> {
    let name = format!("{:?}", i.mnemonic()).to_ascii_lowercase();
    if !name.starts_with('f') {
        return None;
    }
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    Some(if starts(&["fdiv", "fidiv", "fsqrt"]) {
        Class::X87Divide
    } else if starts(&[
        "fadd", "fiadd", "fsub", "fisub", "fmul", "fimul", "fcom", "fucom", "fcmov", "ftst",
    ]) || starts(&["fild", "fist", "frndint", "fxam"])
    {
        Class::X87Arithmetic
    } else if starts(&["fld", "fst", "fxch", "fchs", "fabs", "fnst", "ffree", "fwait", "fnop"]) {
        Class::X87Move
    } else {
        Class::X87Slow
    })
}

/// For what no rule names: vector and integer registers tell the domain.
fn by_operands(i: &Instruction) -> Class {
    if is_vector(register(i, 0)) {
        Class::VectorAlu
    } else if i.op_count() > 0 && i.encoding() != EncodingKind::Legacy {
        Class::Alu
    } else {
        Class::Microcode
    }
}
