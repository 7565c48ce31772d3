//! OpenCL C's builtin functions: how many arguments of what kind, and what comes back
//! (OpenCL C 2.0 specification, section 6.13).
//!
//! A signature is written `result(arguments)`, a letter each; behind `/` are optional arguments:
//!
//! | letter | an argument of this kind | as a result |
//! |---|---|---|
//! | `f` | floating scalar or vector, all `f` alike | the type of the `f`s |
//! | `g` | arithmetic scalar or vector, all `g` alike | the type of the `g`s |
//! | `i` | integer scalar or vector, all `i` alike | the type of the `i`s |
//! | `j` | `int` or `uint`, scalar or vector, all `j` alike | the type of the `j`s |
//! | `s` | scalar of the element type, or the type itself | the element type |
//! | `n` | integer, converted freely | `int` |
//! | `N` | integer as wide as the `f`s | integer as wide |
//! | `z` | | `size_t` |
//! | `u` | unsigned integer | `uint` |
//! | `v` | | nothing |
//! | `p` | pointer | what the first pointer points to |
//! | `m` | image | |
//! | `e` | event, or 0 | |
//! | `*` | anything, any number of times | something unknown |
//! | `?` | anything | something unknown |

use super::types::{Scalar, Type};
use std::{collections::HashMap, sync::LazyLock};

/// Names of one signature.
const TABLE: &[(&str, &str)] = &[
    (
        "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erf erfc exp \
         exp10 exp2 expm1 fabs floor half_cos half_exp half_exp10 half_exp2 half_log half_log10 \
         half_log2 half_recip half_rsqrt half_sin half_sqrt half_tan lgamma log log10 log1p log2 logb \
         native_cos native_exp native_exp10 native_exp2 native_log native_log10 native_log2 \
         native_recip native_rsqrt native_sin native_sqrt native_tan rint round rsqrt sin sinh sinpi \
         sqrt tan tanh tanpi tgamma trunc degrees radians sign normalize fast_normalize",
        "f(f)",
    ),
    (
        "atan2 atan2pi copysign fdim fmod half_divide half_powr hypot maxmag minmag native_divide \
         native_powr nextafter pow powr remainder",
        "f(ff)",
    ),
    ("fmax fmin", "f(fs)"),
    ("fma mad", "f(fff)"),
    ("mix", "f(ffs)"),
    ("smoothstep", "f(ssf)"),
    ("step", "f(sf)"),
    ("ldexp pown rootn", "f(fn)"),
    ("ilogb", "N(f)"),
    ("nan", "?(i)"),
    ("fract modf sincos", "f(fp)"),
    ("frexp lgamma_r", "f(fp)"),
    ("remquo", "f(ffp)"),
    ("abs", "i(i)"),
    ("abs_diff add_sat sub_sat hadd rhadd mul_hi rotate", "i(ii)"),
    ("mul24", "j(jj)"),
    ("mad24", "j(jjj)"),
    ("mad_hi mad_sat", "i(iii)"),
    ("clz ctz popcount", "i(i)"),
    ("upsample", "?(??)"),
    ("min max", "g(gs)"),
    ("clamp", "g(gss)"),
    ("dot distance fast_distance", "s(ff)"),
    ("length fast_length", "s(f)"),
    ("cross", "f(ff)"),
    (
        "isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered \
      isunordered",
        "N(ff)",
    ),
    ("isfinite isinf isnan isnormal signbit", "N(f)"),
    ("any all", "n(i)"),
    ("bitselect", "g(ggg)"),
    ("select", "g(gg?)"),
    ("shuffle", "?(??)"),
    ("shuffle2", "?(???)"),
    ("get_work_dim", "u()"),
    ("get_global_linear_id get_local_linear_id", "z()"),
    (
        "get_global_id get_local_id get_group_id get_global_size get_local_size get_num_groups \
      get_global_offset get_enqueued_local_size",
        "z(n)",
    ),
    (
        "get_sub_group_size get_max_sub_group_size get_num_sub_groups get_sub_group_id \
      get_sub_group_local_id get_enqueued_num_sub_groups",
        "u()",
    ),
    ("barrier mem_fence read_mem_fence write_mem_fence", "v(n)"),
    ("work_group_barrier sub_group_barrier", "v(n/n)"),
    ("atomic_work_item_fence", "v(nnn)"),
    ("async_work_group_copy", "?(ppne)"),
    ("async_work_group_strided_copy", "?(ppnne)"),
    ("wait_group_events", "v(np)"),
    ("prefetch", "v(pn)"),
    (
        "atomic_add atomic_sub atomic_xchg atomic_min atomic_max atomic_and atomic_or atomic_xor \
      atom_add atom_sub atom_xchg atom_min atom_max atom_and atom_or atom_xor",
        "p(p?)",
    ),
    ("atomic_inc atomic_dec atom_inc atom_dec", "p(p)"),
    ("atomic_cmpxchg atom_cmpxchg", "p(p??)"),
    ("atomic_init", "v(p?)"),
    ("atomic_store", "v(p?)"),
    ("atomic_store_explicit", "v(p?n/n)"),
    ("atomic_load", "?(p)"),
    ("atomic_load_explicit", "?(pn/n)"),
    (
        "atomic_exchange atomic_fetch_add atomic_fetch_sub atomic_fetch_or atomic_fetch_xor \
      atomic_fetch_and atomic_fetch_min atomic_fetch_max",
        "?(p?)",
    ),
    (
        "atomic_exchange_explicit atomic_fetch_add_explicit atomic_fetch_sub_explicit \
      atomic_fetch_or_explicit atomic_fetch_xor_explicit atomic_fetch_and_explicit \
      atomic_fetch_min_explicit atomic_fetch_max_explicit",
        "?(p?n/n)",
    ),
    ("atomic_compare_exchange_strong atomic_compare_exchange_weak", "?(pp?)"),
    ("atomic_compare_exchange_strong_explicit atomic_compare_exchange_weak_explicit", "?(pp?nn/n)"),
    ("atomic_flag_test_and_set", "?(p)"),
    ("atomic_flag_clear", "v(p)"),
    ("read_imagef read_imagei read_imageui read_imageh", "?(m?/?)"),
    ("write_imagef write_imagei write_imageui write_imageh", "v(m??/?)"),
    (
        "get_image_width get_image_height get_image_depth get_image_channel_data_type \
      get_image_channel_order",
        "n(m)",
    ),
    ("get_image_dim", "?(m)"),
    ("get_image_array_size", "z(m)"),
    ("vload2 vload3 vload4 vload8 vload16", "?(np)"),
    ("vstore2 vstore3 vstore4 vstore8 vstore16", "v(?np)"),
    ("vload_half", "?(np)"),
    (
        "vload_half2 vload_half3 vload_half4 vload_half8 vload_half16 vloada_half vloada_half2 \
      vloada_half3 vloada_half4 vloada_half8 vloada_half16",
        "?(np)",
    ),
    (
        "vstore_half vstore_half_rte vstore_half_rtz vstore_half_rtp vstore_half_rtn vstore_half2 \
      vstore_half3 vstore_half4 vstore_half8 vstore_half16 vstorea_half vstorea_half2 \
      vstorea_half3 vstorea_half4 vstorea_half8 vstorea_half16 vstore_half2_rte vstore_half4_rte \
      vstore_half8_rte vstore_half16_rte vstorea_half4_rte",
        "v(?np)",
    ),
    ("work_group_all work_group_any sub_group_all sub_group_any", "n(n)"),
    ("sub_group_ballot", "?(n)"),
    ("work_group_broadcast", "?(nn/nn)"),
    ("sub_group_broadcast", "?(gn)"),
    (
        "work_group_reduce_add work_group_reduce_min work_group_reduce_max \
      work_group_scan_exclusive_add work_group_scan_exclusive_min work_group_scan_exclusive_max \
      work_group_scan_inclusive_add work_group_scan_inclusive_min work_group_scan_inclusive_max \
      sub_group_reduce_add sub_group_reduce_min sub_group_reduce_max sub_group_scan_exclusive_add \
      sub_group_scan_exclusive_min sub_group_scan_exclusive_max sub_group_scan_inclusive_add \
      sub_group_scan_inclusive_min sub_group_scan_inclusive_max",
        "?(n)",
    ),
    ("printf", "n(*)"),
    ("to_global to_local to_private", "?(p)"),
    ("vec_step", "n(g)"),
    ("__builtin_inff __builtin_huge_valf __builtin_huge_val", "?()"),
    ("__builtin_nanf", "?(p)"),
    ("__builtin_memcpy", "?(ppn)"),
    ("__builtin_expect", "?(nn)"),
    ("__builtin_frexpf", "?(np)"),
    ("__builtin_fmin __builtin_fmax", "?(nn)"),
    ("__builtin_alloca", "?(n)"),
    ("__builtin_astype", "?(??)"),
];

/// What a builtin function takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// Letter of the result.
    pub(crate) result: u8,
    /// Letters of the arguments.
    pub(crate) arguments: &'static [u8],
    /// How many of these must be there.
    pub(crate) least: usize,
}

static SIGNATURES: LazyLock<HashMap<&'static str, Signature>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for (names, written) in TABLE {
        let (result, rest) = written.split_once('(').expect("signatures have parentheses");
        let rest = rest.trim_end_matches(')');
        let least = rest.find('/').unwrap_or(rest.len());
        // The slash is skipped when arguments are counted.
        let signature =
            Signature { result: result.as_bytes()[0], arguments: rest.as_bytes(), least };
        all.extend(names.split_whitespace().map(|name| (name, signature)));
    }
    all
});

impl Signature {
    /// The signature of a builtin function with a name of its own.
    pub(crate) fn of(name: &str) -> Option<Signature> {
        SIGNATURES.get(name).copied()
    }

    /// Most arguments; `None` for any number.
    pub(crate) fn most(&self) -> Option<usize> {
        if self.arguments.contains(&b'*') {
            return None;
        }
        Some(self.arguments.iter().filter(|letter| **letter != b'/').count())
    }

    /// The letter of an argument.
    pub(crate) fn argument(&self, at: usize) -> u8 {
        let at = if at >= self.least { at + 1 } else { at };
        self.arguments.get(at).copied().unwrap_or(b'?')
    }
}

/// Names of the builtin functions that have names of their own, sorted.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let mut all: Vec<&str> = SIGNATURES.keys().copied().collect();
        all.sort_unstable();
        all
    });
    NAMES.iter().copied()
}

/// Constants that clang's headers define.
pub(crate) const CONSTANTS: &[&str] = &[
    "CHAR_BIT",
    "CHAR_MAX",
    "CHAR_MIN",
    "CLK_A",
    "CLK_ADDRESS_CLAMP",
    "CLK_ADDRESS_CLAMP_TO_EDGE",
    "CLK_ADDRESS_MIRRORED_REPEAT",
    "CLK_ADDRESS_NONE",
    "CLK_ADDRESS_REPEAT",
    "CLK_FILTER_LINEAR",
    "CLK_FILTER_NEAREST",
    "CLK_GLOBAL_MEM_FENCE",
    "CLK_IMAGE_MEM_FENCE",
    "CLK_LOCAL_MEM_FENCE",
    "CLK_NORMALIZED_COORDS_FALSE",
    "CLK_NORMALIZED_COORDS_TRUE",
    "DBL_EPSILON",
    "DBL_MAX",
    "DBL_MIN",
    "FLT_EPSILON",
    "FLT_MAX",
    "FLT_MIN",
    "HUGE_VAL",
    "HUGE_VALF",
    "INFINITY",
    "INT_MAX",
    "INT_MIN",
    "LONG_MAX",
    "LONG_MIN",
    "MAXFLOAT",
    "M_1_PI",
    "M_1_PI_F",
    "M_2_PI",
    "M_2_PI_F",
    "M_E",
    "M_E_F",
    "M_LN2",
    "M_LN2_F",
    "M_LOG2E",
    "M_LOG2E_F",
    "M_PI",
    "M_PI_2",
    "M_PI_2_F",
    "M_PI_4",
    "M_PI_4_F",
    "M_PI_F",
    "M_SQRT2",
    "M_SQRT2_F",
    "NAN",
    "NULL",
    "SCHAR_MAX",
    "SCHAR_MIN",
    "SHRT_MAX",
    "SHRT_MIN",
    "UCHAR_MAX",
    "UINT_MAX",
    "ULONG_MAX",
    "USHRT_MAX",
    "false",
    "memory_order_acq_rel",
    "memory_order_acquire",
    "memory_order_relaxed",
    "memory_order_release",
    "memory_order_seq_cst",
    "memory_scope_all_svm_devices",
    "memory_scope_device",
    "memory_scope_sub_group",
    "memory_scope_work_group",
    "memory_scope_work_item",
    "true",
];

/// The type of such a constant.
pub(crate) fn constant(name: &str) -> Type {
    Type::Scalar(match name {
        "INFINITY" | "NAN" | "MAXFLOAT" | "HUGE_VALF" => Scalar::Float,
        "HUGE_VAL" => Scalar::Double,
        "UINT_MAX" => Scalar::Uint,
        "LONG_MAX" | "LONG_MIN" => Scalar::Long,
        "ULONG_MAX" => Scalar::Ulong,
        _ if name.starts_with("FLT_") || name.starts_with("M_") && name.ends_with("_F") => {
            Scalar::Float
        }
        _ if name.starts_with("DBL_") || name.starts_with("M_") => Scalar::Double,
        "NULL" => return Type::Unknown,
        _ => Scalar::Int,
    })
}

/// Whether a builtin function is one of OpenCL C 2.0 and later alone.
pub(super) fn is_new(name: &str) -> bool {
    let groups = ["sub_group_", "work_group_", "to_", "get_enqueued_", "atomic_fetch_"];
    groups.iter().any(|begin| name.starts_with(begin))
        || name.contains("_sub_group")
        || name.ends_with("_linear_id")
}

/// Whether a word names a builtin function or constant of OpenCL C.
#[must_use]
pub fn is_builtin(word: &str) -> bool {
    SIGNATURES.contains_key(word)
        || CONSTANTS.contains(&word)
        || word.starts_with("convert_")
        || word.starts_with("as_")
        || word.starts_with("__builtin_")
}
