//! What OpenCL C itself names: types, qualifiers, and the kinds of its functions' results.

const SCALARS: [&str; 20] = [
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "float",
    "double",
    "half",
    "bool",
    "size_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    "unsigned",
    "signed",
    "void",
    "quad",
];

/// Whether `word` names a builtin scalar or vector type.
pub(super) fn is_type(word: &str) -> bool {
    SCALARS.contains(&split_lanes(word).0)
}

/// A vector type's element and lanes; a scalar has one lane. Any other word comes back whole.
pub(super) fn split_lanes(word: &str) -> (&str, u32) {
    for (suffix, lanes) in [("16", 16), ("8", 8), ("4", 4), ("3", 3), ("2", 2)] {
        if let Some(base) = word.strip_suffix(suffix)
            && SCALARS[..11].contains(&base)
        {
            return (base, lanes);
        }
    }
    (word, 1)
}

/// Whether `word` qualifies a declaration without naming a type.
pub(super) fn is_qualifier(word: &str) -> bool {
    matches!(
        word,
        "const"
            | "volatile"
            | "restrict"
            | "__restrict"
            | "__restrict__"
            | "static"
            | "inline"
            | "__inline"
            | "__inline__"
            | "extern"
            | "register"
            | "__global"
            | "global"
            | "__local"
            | "local"
            | "__constant"
            | "constant"
            | "__private"
            | "private"
            | "__generic"
            | "generic"
            | "__kernel"
            | "kernel"
            | "__read_only"
            | "read_only"
            | "__write_only"
            | "write_only"
            | "__read_write"
            | "read_write"
            | "typedef"
            | "struct"
            | "union"
            | "enum"
            | "__attribute__"
    )
}

/// Whether `word` names where something is stored.
pub(super) fn is_address_space(word: &str) -> bool {
    let word = word.strip_prefix("__").unwrap_or(word);
    matches!(word, "global" | "local" | "constant" | "private" | "generic")
}

/// Whether `word` is a keyword that begins or ends statements.
pub(super) fn is_statement(word: &str) -> bool {
    matches!(
        word,
        "if" | "else"
            | "for"
            | "while"
            | "do"
            | "switch"
            | "case"
            | "default"
            | "break"
            | "continue"
            | "return"
            | "goto"
            | "sizeof"
    )
}

const FLOAT_FUNCTIONS: [&str; 62] = [
    "sqrt",
    "rsqrt",
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "pow",
    "pown",
    "powr",
    "fabs",
    "floor",
    "ceil",
    "round",
    "trunc",
    "rint",
    "fma",
    "mad",
    "fmin",
    "fmax",
    "fmod",
    "fract",
    "hypot",
    "dot",
    "length",
    "distance",
    "normalize",
    "cross",
    "mix",
    "step",
    "smoothstep",
    "clamp",
    "native_sin",
    "native_cos",
    "native_exp",
    "native_log",
    "native_sqrt",
    "native_rsqrt",
    "native_divide",
    "native_recip",
    "native_powr",
    "read_imagef",
    "erf",
    "erfc",
    "cbrt",
    "ldexp",
    "log1p",
    "expm1",
    "sinpi",
    "cospi",
    "convert_float",
];

const INTEGER_FUNCTIONS: [&str; 22] = [
    "get_global_id",
    "get_local_id",
    "get_group_id",
    "get_global_size",
    "get_local_size",
    "get_num_groups",
    "get_work_dim",
    "get_global_offset",
    "mad24",
    "mul24",
    "mul_hi",
    "popcount",
    "clz",
    "rotate",
    "abs",
    "abs_diff",
    "get_image_width",
    "get_image_height",
    "read_imagei",
    "read_imageui",
    "convert_int",
    "convert_uint",
];

/// The type of a builtin function's result, roughly.
pub(super) fn result(function: &str) -> Option<&str> {
    listed(function).or_else(|| converted(function))
}

/// The type that `convert_TYPE` gives, with a rounding mode behind it or without.
pub(super) fn converted(function: &str) -> Option<&str> {
    let type_name = function.strip_prefix("convert_")?.split('_').next()?;
    SCALARS[..11].contains(&split_lanes(type_name).0).then_some(type_name)
}

fn listed(function: &str) -> Option<&'static str> {
    if FLOAT_FUNCTIONS.contains(&function) {
        Some("float")
    } else if INTEGER_FUNCTIONS.contains(&function) || function.starts_with("atom") {
        Some("int")
    } else {
        None
    }
}

/// The type of the `nth` parameter of a builtin function, roughly.
pub(super) fn parameter(function: &str, nth: usize) -> Option<&'static str> {
    match function {
        "clamp" | "min" | "max" | "mix" | "abs" => None,
        "barrier" | "mem_fence" | "read_mem_fence" | "write_mem_fence" | "work_group_barrier" => {
            Some("int")
        }
        "pown" | "ldexp" if nth == 1 => Some("int"),
        _ if function.starts_with("vload") || function.starts_with("vstore") => Some("int"),
        _ => listed(function),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_an_element_and_lanes() {
        for (word, wanted) in [
            ("float4", ("float", 4)),
            ("int16", ("int", 16)),
            ("uchar8", ("uchar", 8)),
            ("half3", ("half", 3)),
            ("double2", ("double", 2)),
            ("float", ("float", 1)),
            // No vectors of these.
            ("bool2", ("bool2", 1)),
            ("real4", ("real4", 1)),
            ("int5", ("int5", 1)),
        ] {
            assert_eq!(split_lanes(word), wanted, "{word}");
        }
        assert!(is_type("ushort16") && is_type("size_t") && !is_type("bool2") && !is_type("x"));
    }

    #[test]
    fn address_spaces_have_two_spellings() {
        assert!(["__global", "local", "private"].iter().all(|word| is_address_space(word)));
        assert!(!is_address_space("const") && !is_address_space("__read_only"));
    }

    #[test]
    fn functions_have_results_and_parameters() {
        for (function, wanted) in [
            ("native_sqrt", Some("float")),
            ("popcount", Some("int")),
            ("atomic_add", Some("int")),
            ("atom_inc", Some("int")),
            ("as_float", None),
            ("convert_int", Some("int")),
            ("convert_uchar4", Some("uchar4")),
            ("convert_float8_rte", Some("float8")),
            ("convert_short_sat", Some("short")),
            ("convert_real4", None),
            ("convert_", None),
        ] {
            assert_eq!(result(function), wanted, "{function}");
        }
        for (function, nth, wanted) in [
            ("clamp", 0, None),
            ("abs", 0, None),
            ("mem_fence", 0, Some("int")),
            ("pown", 0, Some("float")),
            ("pown", 1, Some("int")),
            ("ldexp", 1, Some("int")),
            ("vload8", 0, Some("int")),
            ("vstore_half", 1, Some("int")),
            ("fmod", 1, Some("float")),
            ("rotate", 1, Some("int")),
            ("convert_uchar4", 0, None),
            ("unknown", 0, None),
        ] {
            assert_eq!(parameter(function, nth), wanted, "{function} {nth}");
        }
    }
}
