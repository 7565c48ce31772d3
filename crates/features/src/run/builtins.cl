/* OpenCL's built-in functions, as far as kernels of one thread need them: each work-item runs by itself, so that an
   atomic is a plain access. barrier() is not here: a kernel that waits for others is no loop over work-items. */
#define OVER __attribute__((overloadable))

/* A function of one argument by elements, its scalar being there. */
#define ONE_VECTORS(R, T, F)                                                                \
  R##2 OVER F(T##2 a) { return (R##2)(F(a.s0), F(a.s1)); }                                  \
  R##3 OVER F(T##3 a) { return (R##3)(F(a.s0), F(a.s1), F(a.s2)); }                         \
  R##4 OVER F(T##4 a) { return (R##4)(F(a.lo), F(a.hi)); }                                  \
  R##8 OVER F(T##8 a) { return (R##8)(F(a.lo), F(a.hi)); }                                  \
  R##16 OVER F(T##16 a) { return (R##16)(F(a.lo), F(a.hi)); }
#define TWO_VECTORS(R, T, U, F)                                                             \
  R##2 OVER F(T##2 a, U##2 b) { return (R##2)(F(a.s0, b.s0), F(a.s1, b.s1)); }              \
  R##3 OVER F(T##3 a, U##3 b) { return (R##3)(F(a.s0, b.s0), F(a.s1, b.s1), F(a.s2, b.s2)); } \
  R##4 OVER F(T##4 a, U##4 b) { return (R##4)(F(a.lo, b.lo), F(a.hi, b.hi)); }              \
  R##8 OVER F(T##8 a, U##8 b) { return (R##8)(F(a.lo, b.lo), F(a.hi, b.hi)); }              \
  R##16 OVER F(T##16 a, U##16 b) { return (R##16)(F(a.lo, b.lo), F(a.hi, b.hi)); }
#define THREE_VECTORS(R, T, U, V, F)                                                        \
  R##2 OVER F(T##2 a, U##2 b, V##2 c) { return (R##2)(F(a.s0, b.s0, c.s0), F(a.s1, b.s1, c.s1)); } \
  R##3 OVER F(T##3 a, U##3 b, V##3 c) {                                                     \
    return (R##3)(F(a.s0, b.s0, c.s0), F(a.s1, b.s1, c.s1), F(a.s2, b.s2, c.s2));           \
  }                                                                                         \
  R##4 OVER F(T##4 a, U##4 b, V##4 c) { return (R##4)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); } \
  R##8 OVER F(T##8 a, U##8 b, V##8 c) { return (R##8)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); } \
  R##16 OVER F(T##16 a, U##16 b, V##16 c) { return (R##16)(F(a.lo, b.lo, c.lo), F(a.hi, b.hi, c.hi)); }
/* A vector and a scalar. */
#define TWO_MIXED_OF(T, F, N) T##N OVER F(T##N a, T b) { return F(a, (T##N)(b)); }
#define TWO_MIXED(T, F) \
  TWO_MIXED_OF(T, F, 2) TWO_MIXED_OF(T, F, 3) TWO_MIXED_OF(T, F, 4) TWO_MIXED_OF(T, F, 8) TWO_MIXED_OF(T, F, 16)
#define THREE_MIXED_OF(T, F, N) T##N OVER F(T##N a, T b, T c) { return F(a, (T##N)(b), (T##N)(c)); }
#define THREE_MIXED(T, F)                                                                   \
  THREE_MIXED_OF(T, F, 2) THREE_MIXED_OF(T, F, 3) THREE_MIXED_OF(T, F, 4) THREE_MIXED_OF(T, F, 8) \
  THREE_MIXED_OF(T, F, 16)

#define ONE(R, T, F, VALUE) R OVER F(T a) { return VALUE; } ONE_VECTORS(R, T, F)
#define TWO(R, T, U, F, VALUE) R OVER F(T a, U b) { return VALUE; } TWO_VECTORS(R, T, U, F)
#define THREE(R, T, U, V, F, VALUE) R OVER F(T a, U b, V c) { return VALUE; } THREE_VECTORS(R, T, U, V, F)

/* Functions of floats and doubles that the C library has. */
#define LIBRARY_ONE(F) ONE(float, float, F, __builtin_##F##f(a)) ONE(double, double, F, __builtin_##F(a))
#define LIBRARY_TWO(F) \
  TWO(float, float, float, F, __builtin_##F##f(a, b)) TWO(double, double, double, F, __builtin_##F(a, b))
LIBRARY_ONE(sin) LIBRARY_ONE(cos) LIBRARY_ONE(tan) LIBRARY_ONE(asin) LIBRARY_ONE(acos) LIBRARY_ONE(atan)
LIBRARY_ONE(sinh) LIBRARY_ONE(cosh) LIBRARY_ONE(tanh) LIBRARY_ONE(asinh) LIBRARY_ONE(acosh) LIBRARY_ONE(atanh)
LIBRARY_ONE(exp) LIBRARY_ONE(exp2) LIBRARY_ONE(exp10) LIBRARY_ONE(expm1) LIBRARY_ONE(log) LIBRARY_ONE(log2)
LIBRARY_ONE(log10) LIBRARY_ONE(log1p) LIBRARY_ONE(sqrt) LIBRARY_ONE(cbrt) LIBRARY_ONE(fabs) LIBRARY_ONE(floor)
LIBRARY_ONE(ceil) LIBRARY_ONE(trunc) LIBRARY_ONE(round) LIBRARY_ONE(rint) LIBRARY_ONE(erf) LIBRARY_ONE(erfc)
LIBRARY_ONE(tgamma) LIBRARY_ONE(lgamma) LIBRARY_ONE(logb)
LIBRARY_TWO(pow) LIBRARY_TWO(atan2) LIBRARY_TWO(fmod) LIBRARY_TWO(fmin) LIBRARY_TWO(fmax) LIBRARY_TWO(hypot)
LIBRARY_TWO(copysign) LIBRARY_TWO(fdim) LIBRARY_TWO(remainder) LIBRARY_TWO(nextafter)
THREE(float, float, float, float, fma, __builtin_fmaf(a, b, c))
THREE(double, double, double, double, fma, __builtin_fma(a, b, c))
TWO_MIXED(float, fmin) TWO_MIXED(float, fmax) TWO_MIXED(double, fmin) TWO_MIXED(double, fmax)

#define REAL(T)                                                                             \
  THREE(T, T, T, T, mad, a * b + c)                                                         \
  ONE(T, T, rsqrt, (T)1 / sqrt(a))                                                          \
  ONE(T, T, degrees, a * (T)57.29577951308232)                                              \
  ONE(T, T, radians, a * (T)0.017453292519943295)                                           \
  ONE(T, T, sign, a > 0 ? (T)1 : a < 0 ? (T)-1 : (T)0)                                      \
  ONE(T, T, sinpi, sin(a * (T)3.141592653589793))                                           \
  ONE(T, T, cospi, cos(a * (T)3.141592653589793))                                           \
  TWO(T, T, T, powr, pow(a, b))                                                             \
  TWO(T, T, int, pown, pow(a, (T)b))                                                        \
  TWO(T, T, int, ldexp, a * exp2((T)b))                                                     \
  TWO(T, T, T, min, b < a ? b : a)                                                          \
  TWO(T, T, T, max, a < b ? b : a)                                                          \
  TWO(T, T, T, step, b < a ? (T)0 : (T)1)                                                   \
  TWO(T, T, T, maxmag, fabs(a) > fabs(b) ? a : fabs(b) > fabs(a) ? b : fmax(a, b))          \
  TWO(T, T, T, minmag, fabs(a) < fabs(b) ? a : fabs(b) < fabs(a) ? b : fmin(a, b))          \
  THREE(T, T, T, T, clamp, a < b ? b : c < a ? c : a)                                       \
  THREE(T, T, T, T, mix, a + (b - a) * c)                                                   \
  T OVER smoothstep(T a, T b, T c) {                                                        \
    T share = clamp((c - a) / (b - a), (T)0, (T)1);                                         \
    return share * share * (3 - 2 * share);                                                 \
  }                                                                                         \
  THREE_VECTORS(T, T, T, T, smoothstep)                                                     \
  TWO_MIXED(T, min) TWO_MIXED(T, max) THREE_MIXED(T, clamp)                                 \
  T OVER dot(T a, T b) { return a * b; }                                                    \
  T OVER dot(T##2 a, T##2 b) { return a.s0 * b.s0 + a.s1 * b.s1; }                          \
  T OVER dot(T##3 a, T##3 b) { return a.s0 * b.s0 + a.s1 * b.s1 + a.s2 * b.s2; }            \
  T OVER dot(T##4 a, T##4 b) { return dot(a.lo, b.lo) + dot(a.hi, b.hi); }                  \
  T##3 OVER cross(T##3 a, T##3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; }                 \
  T##4 OVER cross(T##4 a, T##4 b) { return (T##4)(cross(a.xyz, b.xyz), 0); }                \
  LENGTHS(T, T) LENGTHS(T, T##2) LENGTHS(T, T##3) LENGTHS(T, T##4)                          \
  T OVER fract(T a, T *whole) { *whole = floor(a); return a - floor(a); }                   \
  T OVER modf(T a, T *whole) { *whole = trunc(a); return a - trunc(a); }                    \
  T OVER sincos(T a, T *cosine) { *cosine = cos(a); return sin(a); }
#define LENGTHS(T, V)                                                                       \
  T OVER length(V a) { return sqrt(dot(a, a)); }                                            \
  T OVER distance(V a, V b) { return length(a - b); }                                       \
  V OVER normalize(V a) { return a / length(a); }                                           \
  T OVER fast_length(V a) { return length(a); }                                             \
  T OVER fast_distance(V a, V b) { return length(a - b); }                                  \
  V OVER fast_normalize(V a) { return normalize(a); }
REAL(float)
REAL(double)
#define MIX_OF(T, N) T##N OVER mix(T##N a, T##N b, T c) { return a + (b - a) * c; }
MIX_OF(float, 2) MIX_OF(float, 3) MIX_OF(float, 4) MIX_OF(float, 8) MIX_OF(float, 16)
MIX_OF(double, 2) MIX_OF(double, 3) MIX_OF(double, 4) MIX_OF(double, 8) MIX_OF(double, 16)

#define FAST(F) ONE(float, float, native_##F, F(a)) ONE(float, float, half_##F, F(a))
FAST(sin) FAST(cos) FAST(tan) FAST(exp) FAST(exp2) FAST(exp10) FAST(log) FAST(log2) FAST(log10) FAST(sqrt) FAST(rsqrt)
ONE(float, float, native_recip, 1 / a) ONE(float, float, half_recip, 1 / a)
TWO(float, float, float, native_divide, a / b) TWO(float, float, float, half_divide, a / b)
TWO(float, float, float, native_powr, pow(a, b)) TWO(float, float, float, half_powr, pow(a, b))

/* Tests: of a scalar 1, of an element -1. */
#define TEST_VECTOR(I, T, F, N) I##N OVER F(T##N a) { return -__builtin_convertvector(F##_elements(a), I##N); }
#define TEST(R, I, T, F, VALUE)                                                             \
  static I OVER F##_elements(T a) { return VALUE; }                                         \
  static ONE_VECTORS(I, T, F##_elements)                                                    \
  R OVER F(T a) { return VALUE; }                                                           \
  TEST_VECTOR(I, T, F, 2) TEST_VECTOR(I, T, F, 3) TEST_VECTOR(I, T, F, 4) TEST_VECTOR(I, T, F, 8)   \
  TEST_VECTOR(I, T, F, 16)
TEST(int, int, float, isnan, __builtin_isnan(a)) TEST(int, long, double, isnan, __builtin_isnan(a))
TEST(int, int, float, isinf, __builtin_isinf(a) != 0) TEST(int, long, double, isinf, __builtin_isinf(a) != 0)
TEST(int, int, float, isfinite, __builtin_isfinite(a)) TEST(int, long, double, isfinite, __builtin_isfinite(a))
TEST(int, int, float, signbit, __builtin_signbit(a) != 0) TEST(int, long, double, signbit, __builtin_signbit(a) != 0)

#define INTEGER(T, U, WIDE, BITS)                                                           \
  TWO(T, T, T, min, b < a ? b : a)                                                          \
  TWO(T, T, T, max, a < b ? b : a)                                                          \
  THREE(T, T, T, T, clamp, a < b ? b : c < a ? c : a)                                       \
  TWO_MIXED(T, min) TWO_MIXED(T, max) THREE_MIXED(T, clamp)                                 \
  ONE(U, T, abs, a < 0 ? (U)-a : (U)a)                                                      \
  TWO(U, T, T, abs_diff, a < b ? (U)b - (U)a : (U)a - (U)b)                                 \
  TWO(T, T, T, rotate, (T)(((U)a << (b & (BITS - 1))) | ((U)a >> ((BITS - (b & (BITS - 1))) & (BITS - 1))))) \
  TWO(T, T, T, hadd, (T)(((WIDE)a + (WIDE)b) >> 1))                                         \
  TWO(T, T, T, rhadd, (T)(((WIDE)a + (WIDE)b + 1) >> 1))                                    \
  ONE(T, T, popcount, (T)__builtin_popcountl((ulong)(U)a))                                  \
  ONE(T, T, clz, (T)((U)a ? __builtin_clzl((ulong)(U)a) - (64 - BITS) : BITS))              \
  ONE(T, T, ctz, (T)((U)a ? __builtin_ctzl((ulong)(U)a) : BITS))
INTEGER(char, uchar, int, 8) INTEGER(uchar, uchar, int, 8) INTEGER(short, ushort, int, 16)
INTEGER(ushort, ushort, int, 16) INTEGER(int, uint, long, 32) INTEGER(uint, uint, ulong, 32)
INTEGER(long, ulong, __int128, 64) INTEGER(ulong, ulong, unsigned __int128, 64)
#define NARROW(T, WIDE, BITS) TWO(T, T, T, mul_hi, (T)(((WIDE)a * (WIDE)b) >> BITS))
NARROW(char, int, 8) NARROW(uchar, int, 8) NARROW(short, int, 16) NARROW(ushort, uint, 16) NARROW(int, long, 32)
NARROW(uint, ulong, 32) NARROW(long, __int128, 64) NARROW(ulong, unsigned __int128, 64)
#define SATURATED(T, WIDE, LEAST, MOST)                                                     \
  TWO(T, T, T, add_sat, (T)clamp((WIDE)a + (WIDE)b, (WIDE)LEAST, (WIDE)MOST))               \
  TWO(T, T, T, sub_sat, (T)clamp((WIDE)a - (WIDE)b, (WIDE)LEAST, (WIDE)MOST))
SATURATED(char, int, -128, 127) SATURATED(uchar, int, 0, 255) SATURATED(short, int, -32768, 32767)
SATURATED(ushort, int, 0, 65535) SATURATED(int, long, -2147483648L, 2147483647L) SATURATED(uint, long, 0, 4294967295L)
TWO(int, int, int, mul24, a * b) TWO(uint, uint, uint, mul24, a * b)
THREE(int, int, int, int, mad24, a * b + c) THREE(uint, uint, uint, uint, mad24, a * b + c)
THREE(int, int, int, int, mad_hi, mul_hi(a, b) + c) THREE(uint, uint, uint, uint, mad_hi, mul_hi(a, b) + c)

/* select: of a scalar by any bit, of an element by the highest. */
#define SELECT_OF(T, I, N) T##N OVER select(T##N a, T##N b, I##N c) { return c < (I##N)(0) ? b : a; }
#define SELECT_UNSIGNED_OF(T, I, N) T##N OVER select(T##N a, T##N b, u##I##N c) { return as_##I##N(c) < (I##N)(0) ? b : a; }
#define SELECT(T, I)                                                                        \
  T OVER select(T a, T b, I c) { return c ? b : a; }                                        \
  T OVER select(T a, T b, u##I c) { return c ? b : a; }                                     \
  SELECT_OF(T, I, 2) SELECT_OF(T, I, 3) SELECT_OF(T, I, 4) SELECT_OF(T, I, 8) SELECT_OF(T, I, 16)   \
  SELECT_UNSIGNED_OF(T, I, 2) SELECT_UNSIGNED_OF(T, I, 3) SELECT_UNSIGNED_OF(T, I, 4)       \
  SELECT_UNSIGNED_OF(T, I, 8) SELECT_UNSIGNED_OF(T, I, 16)
SELECT(float, int) SELECT(int, int) SELECT(uint, int) SELECT(double, long) SELECT(long, long) SELECT(ulong, long)
SELECT(char, char) SELECT(uchar, char) SELECT(short, short) SELECT(ushort, short)
#define BITSELECT(T, I) THREE(T, T, T, T, bitselect, as_##T((I)((as_##I(a) & ~as_##I(c)) | (as_##I(b) & as_##I(c)))))
BITSELECT(float, int) BITSELECT(int, int) BITSELECT(uint, uint) BITSELECT(uchar, uchar) BITSELECT(ushort, ushort)
#define ANY(T)                                                                              \
  int OVER any(T a) { return a < 0; } int OVER all(T a) { return a < 0; }                   \
  int OVER any(T##2 a) { return any(a.lo) | any(a.hi); } int OVER all(T##2 a) { return all(a.lo) & all(a.hi); } \
  int OVER any(T##3 a) { return any(a.xy) | any(a.z); } int OVER all(T##3 a) { return all(a.xy) & all(a.z); } \
  int OVER any(T##4 a) { return any(a.lo) | any(a.hi); } int OVER all(T##4 a) { return all(a.lo) & all(a.hi); } \
  int OVER any(T##8 a) { return any(a.lo) | any(a.hi); } int OVER all(T##8 a) { return all(a.lo) & all(a.hi); }
ANY(char) ANY(short) ANY(int) ANY(long)

/* Conversions. */
#define CONVERT_OF(T, S, N) T##N OVER convert_##T##N(S##N a) { return __builtin_convertvector(a, T##N); }
#define CONVERT(T, S)                                                                       \
  T OVER convert_##T(S a) { return (T)a; }                                                  \
  CONVERT_OF(T, S, 2) CONVERT_OF(T, S, 3) CONVERT_OF(T, S, 4) CONVERT_OF(T, S, 8) CONVERT_OF(T, S, 16)
#define CONVERT_TO(T)                                                                       \
  CONVERT(T, char) CONVERT(T, uchar) CONVERT(T, short) CONVERT(T, ushort) CONVERT(T, int) CONVERT(T, uint) \
  CONVERT(T, long) CONVERT(T, ulong) CONVERT(T, float) CONVERT(T, double)
CONVERT_TO(char) CONVERT_TO(uchar) CONVERT_TO(short) CONVERT_TO(ushort) CONVERT_TO(int) CONVERT_TO(uint)
CONVERT_TO(long) CONVERT_TO(ulong) CONVERT_TO(float) CONVERT_TO(double)
#define SATURATE_VECTORS(T, S, SUFFIX)                                                      \
  T##2 OVER convert_##T##2##SUFFIX(S##2 a) { return (T##2)(convert_##T##SUFFIX(a.s0), convert_##T##SUFFIX(a.s1)); } \
  T##3 OVER convert_##T##3##SUFFIX(S##3 a) {                                                \
    return (T##3)(convert_##T##SUFFIX(a.s0), convert_##T##SUFFIX(a.s1), convert_##T##SUFFIX(a.s2));  \
  }                                                                                         \
  T##4 OVER convert_##T##4##SUFFIX(S##4 a) { return (T##4)(convert_##T##2##SUFFIX(a.lo), convert_##T##2##SUFFIX(a.hi)); } \
  T##8 OVER convert_##T##8##SUFFIX(S##8 a) { return (T##8)(convert_##T##4##SUFFIX(a.lo), convert_##T##4##SUFFIX(a.hi)); } \
  T##16 OVER convert_##T##16##SUFFIX(S##16 a) { return (T##16)(convert_##T##8##SUFFIX(a.lo), convert_##T##8##SUFFIX(a.hi)); }
#define SATURATE(T, S, WIDE, LEAST, MOST)                                                   \
  T OVER convert_##T##_sat(S a) { return (T)clamp((WIDE)a, (WIDE)LEAST, (WIDE)MOST); }      \
  SATURATE_VECTORS(T, S, _sat)
#define SATURATE_REAL(T, S, LEAST, MOST)                                                    \
  SATURATE(T, S, S, LEAST, MOST)                                                            \
  T OVER convert_##T##_sat_rte(S a) { return convert_##T##_sat(rint(a)); }                  \
  SATURATE_VECTORS(T, S, _sat_rte)                                                          \
  T OVER convert_##T##_rte(S a) { return (T)rint(a); } SATURATE_VECTORS(T, S, _rte)         \
  T OVER convert_##T##_rtz(S a) { return (T)a; } SATURATE_VECTORS(T, S, _rtz)               \
  T OVER convert_##T##_rtn(S a) { return (T)floor(a); } SATURATE_VECTORS(T, S, _rtn)        \
  T OVER convert_##T##_rtp(S a) { return (T)ceil(a); } SATURATE_VECTORS(T, S, _rtp)
#define SATURATE_FROM(T, LEAST, MOST)                                                       \
  SATURATE(T, short, long, LEAST, MOST) SATURATE(T, ushort, long, LEAST, MOST) SATURATE(T, int, long, LEAST, MOST) \
  SATURATE(T, uint, long, LEAST, MOST) SATURATE_REAL(T, float, LEAST, MOST) SATURATE_REAL(T, double, LEAST, MOST)
SATURATE_FROM(char, -128, 127) SATURATE_FROM(uchar, 0, 255) SATURATE_FROM(short, -32768, 32767)
SATURATE_FROM(ushort, 0, 65535) SATURATE_FROM(int, -2147483648L, 2147483647L) SATURATE_FROM(uint, 0, 4294967295L)

/* Elements by number. */
#define SHUFFLE_OF(T, U, N, M)                                                              \
  T##M OVER shuffle(T##N a, U##M at) {                                                      \
    T##M all;                                                                               \
    for (int i = 0; i < M; i++) ((T *)&all)[i] = ((T *)&a)[((U *)&at)[i] & (N - 1)];        \
    return all;                                                                             \
  }                                                                                         \
  T##M OVER shuffle2(T##N a, T##N b, U##M at) {                                             \
    T##M all;                                                                               \
    for (int i = 0; i < M; i++) {                                                           \
      U place = ((U *)&at)[i] & (2 * N - 1);                                                \
      ((T *)&all)[i] = place < N ? ((T *)&a)[place] : ((T *)&b)[place - N];                 \
    }                                                                                       \
    return all;                                                                             \
  }
#define SHUFFLE_FROM(T, U, N) \
  SHUFFLE_OF(T, U, N, 2) SHUFFLE_OF(T, U, N, 4) SHUFFLE_OF(T, U, N, 8) SHUFFLE_OF(T, U, N, 16)
#define SHUFFLE(T, U) SHUFFLE_FROM(T, U, 2) SHUFFLE_FROM(T, U, 4) SHUFFLE_FROM(T, U, 8) SHUFFLE_FROM(T, U, 16)
SHUFFLE(char, uchar) SHUFFLE(uchar, uchar) SHUFFLE(short, ushort) SHUFFLE(ushort, ushort) SHUFFLE(int, uint)
SHUFFLE(uint, uint) SHUFFLE(float, uint) SHUFFLE(long, ulong) SHUFFLE(ulong, ulong) SHUFFLE(double, ulong)

/* Vectors in memory. */
#define MEMORY_OF(T, N, SPACE)                                                              \
  T##N OVER vload##N(size_t at, const SPACE T *from) {                                      \
    T##N all;                                                                               \
    for (int i = 0; i < N; i++) ((T *)&all)[i] = from[at * N + i];                          \
    return all;                                                                             \
  }
#define STORED_OF(T, N)                                                                     \
  void OVER vstore##N(T##N all, size_t at, T *to) {                                         \
    for (int i = 0; i < N; i++) to[at * N + i] = ((T *)&all)[i];                            \
  }
#define MEMORY_IN(T, SPACE) \
  MEMORY_OF(T, 2, SPACE) MEMORY_OF(T, 3, SPACE) MEMORY_OF(T, 4, SPACE) MEMORY_OF(T, 8, SPACE) MEMORY_OF(T, 16, SPACE)
#define MEMORY(T)                                                                           \
  MEMORY_IN(T, ) MEMORY_IN(T, constant)                                                     \
  STORED_OF(T, 2) STORED_OF(T, 3) STORED_OF(T, 4) STORED_OF(T, 8) STORED_OF(T, 16)
MEMORY(char) MEMORY(uchar) MEMORY(short) MEMORY(ushort) MEMORY(int) MEMORY(uint) MEMORY(long) MEMORY(ulong)
MEMORY(float) MEMORY(double)

/* Atomics of one thread. */
#define ATOMIC(F, T, SPACE, VALUE)                                                          \
  T OVER atomic_##F(volatile SPACE T *at, T b) { T a = *at; *at = VALUE; return a; }        \
  T OVER atom_##F(volatile SPACE T *at, T b) { T a = *at; *at = VALUE; return a; }
#define ATOMICS(T, SPACE)                                                                   \
  ATOMIC(add, T, SPACE, a + b) ATOMIC(sub, T, SPACE, a - b) ATOMIC(xchg, T, SPACE, b)       \
  ATOMIC(min, T, SPACE, b < a ? b : a) ATOMIC(max, T, SPACE, a < b ? b : a)                 \
  ATOMIC(and, T, SPACE, a & b) ATOMIC(or, T, SPACE, a | b) ATOMIC(xor, T, SPACE, a ^ b)     \
  T OVER atomic_inc(volatile SPACE T *at) { T a = *at; *at = a + 1; return a; }             \
  T OVER atomic_dec(volatile SPACE T *at) { T a = *at; *at = a - 1; return a; }             \
  T OVER atom_inc(volatile SPACE T *at) { T a = *at; *at = a + 1; return a; }               \
  T OVER atom_dec(volatile SPACE T *at) { T a = *at; *at = a - 1; return a; }               \
  T OVER atomic_cmpxchg(volatile SPACE T *at, T b, T c) { T a = *at; *at = a == b ? c : a; return a; } \
  T OVER atom_cmpxchg(volatile SPACE T *at, T b, T c) { T a = *at; *at = a == b ? c : a; return a; }
ATOMICS(int, global) ATOMICS(uint, global) ATOMICS(int, local) ATOMICS(uint, local)
ATOMICS(long, global) ATOMICS(ulong, global) ATOMICS(long, local) ATOMICS(ulong, local)
float OVER atomic_xchg(volatile global float *at, float b) { float a = *at; *at = b; return a; }
float OVER atomic_xchg(volatile local float *at, float b) { float a = *at; *at = b; return a; }

/* There is nobody to wait for, but a barrier still needs the others. */
void OVER mem_fence(uint flags) {}
void OVER read_mem_fence(uint flags) {}
void OVER write_mem_fence(uint flags) {}
