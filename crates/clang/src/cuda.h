// What CUDA's headers give every program, in terms of OpenCL's built-ins. `__cl_NAME` is OpenCL's `NAME`: modules
// call it so. `UNSUPPORTED(word)` marks what OpenCL C has no form of, with the verdict of kernels that need it.
#pragma once
#define __CUDACC__ 1
#define __NVCC__ 1
#define CUDA_VERSION 12000
#define CUDART_VERSION 12000
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define NULL 0
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1l)
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MAX 9223372036854775807ll
#define LLONG_MIN (-9223372036854775807ll - 1ll)
#define ULLONG_MAX 18446744073709551615ull
#define INT8_MAX 127
#define INT8_MIN (-128)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define UINT16_MAX 65535
#define INT32_MAX INT_MAX
#define INT32_MIN INT_MIN
#define UINT32_MAX UINT_MAX
#define INT64_MAX LONG_MAX
#define INT64_MIN LONG_MIN
#define UINT64_MAX ULONG_MAX
#define SIZE_MAX ULONG_MAX
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.434294481903251827651
#define M_LN2 0.693147180559945309417
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.785398163397448309616
#define M_1_PI 0.318309886183790671538
#define M_2_PI 0.636619772367581343076
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.707106781186547524401
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_huge_valf()
#define NAN __builtin_nanf("")
#define CUDART_INF_F __builtin_huge_valf()
#define CUDART_INF __builtin_huge_val()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
#define CUDART_MIN_DENORM_F 1.401298464e-45f
#define assert(...) ((void)0)
// What packages of this kind define in headers that they do not hold.
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_LAUNCH_BOUNDS_1(...) __launch_bounds__(__VA_ARGS__)
#define C10_LAUNCH_BOUNDS_2(...) __launch_bounds__(__VA_ARGS__)
#define C10_RESTRICT __restrict__
#define EIGEN_DEVICE_FUNC __host__ __device__
#define EIGEN_STRONG_INLINE inline
#define EIGEN_ALWAYS_INLINE inline
#define CUDA_KERNEL_ASSERT(...) ((void)0)
#define CUDA_KERNEL_LOOP(i, n) \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CUDA_1D_KERNEL_LOOP(i, n) \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type) \
  for (index_type i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CUDA_1D_KERNEL_LOOP_T(i, n, index_t) \
  for (index_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

#ifndef STAMPMILL_CUDA_MACROS
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __align__(...) __attribute__((aligned(__VA_ARGS__)))
#define __builtin_align__(...) __attribute__((aligned(__VA_ARGS__)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define UNSUPPORTED(word) __attribute__((annotate(word)))
#define CL __attribute__((device, const))
#define CL_ACTS __attribute__((device))
#define GIVES static inline __attribute__((host, device, always_inline))
#define DOES static inline __attribute__((device, always_inline))

typedef decltype(sizeof(0)) size_t;
typedef long ptrdiff_t;
typedef long ssize_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef unsigned char u_char;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef int clock_t;
typedef decltype(nullptr) nullptr_t;

// OpenCL's functions.
#define UNARY(n) CL float __cl_##n(float); CL double __cl_##n(double);
#define BINARY(n) CL float __cl_##n(float, float); CL double __cl_##n(double, double);
#define NATIVE(n) CL float __cl_native_##n(float);
#define ASKS(n) CL int __cl_##n(float); CL int __cl_##n(double);
#define OF_INTEGERS(t, u) \
  CL t __cl_min(t, t); CL t __cl_max(t, t); CL t __cl_mul_hi(t, t); CL t __cl_popcount(t); CL t __cl_clz(t); CL u __cl_abs(t);
#define CONVERTS(t, n, a) \
  CL t __cl_convert_##n##_rte(a); CL t __cl_convert_##n##_rtn(a); CL t __cl_convert_##n##_rtp(a);
#define ATOMIC(n) \
  CL_ACTS int __cl_atomic_##n(volatile int *, int); CL_ACTS unsigned int __cl_atomic_##n(volatile unsigned int *, unsigned int); \
  CL_ACTS long __cl_atom_##n(volatile long *, long); CL_ACTS unsigned long __cl_atom_##n(volatile unsigned long *, unsigned long);
UNARY(acos) UNARY(acosh) UNARY(acospi) UNARY(asin) UNARY(asinh) UNARY(atan) UNARY(atanh) UNARY(cbrt) UNARY(ceil)
UNARY(cos) UNARY(cosh) UNARY(cospi) UNARY(erf) UNARY(erfc) UNARY(exp) UNARY(exp2) UNARY(exp10) UNARY(expm1)
UNARY(fabs) UNARY(floor) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p) UNARY(logb) UNARY(rint) UNARY(round)
UNARY(rsqrt) UNARY(sin) UNARY(sinh) UNARY(sinpi) UNARY(sqrt) UNARY(tan) UNARY(tanh) UNARY(tgamma) UNARY(lgamma)
UNARY(trunc)
BINARY(atan2) BINARY(pow) BINARY(fmod) BINARY(fmin) BINARY(fmax) BINARY(fdim) BINARY(hypot) BINARY(copysign)
BINARY(remainder) BINARY(nextafter)
NATIVE(sin) NATIVE(cos) NATIVE(tan) NATIVE(exp) NATIVE(exp2) NATIVE(exp10) NATIVE(log) NATIVE(log2) NATIVE(log10)
NATIVE(sqrt) NATIVE(rsqrt) NATIVE(recip)
ASKS(ilogb) ASKS(isnan) ASKS(isinf) ASKS(isfinite) ASKS(signbit)
CL float __cl_fma(float, float, float); CL float __cl_clamp(float, float, float); CL float __cl_ldexp(float, int); CL float __cl_pown(float, int);
CL_ACTS float __cl_frexp(float, int *); CL_ACTS float __cl_modf(float, float *);
CL double __cl_fma(double, double, double); CL double __cl_clamp(double, double, double); CL double __cl_ldexp(double, int); CL double __cl_pown(double, int);
CL_ACTS double __cl_frexp(double, int *); CL_ACTS double __cl_modf(double, double *);
CL float __cl_native_divide(float, float); CL float __cl_native_powr(float, float);
OF_INTEGERS(int, unsigned int) OF_INTEGERS(unsigned int, unsigned int)
OF_INTEGERS(long, unsigned long) OF_INTEGERS(unsigned long, unsigned long)
CL int __cl_mul24(int, int); CL unsigned int __cl_mul24(unsigned int, unsigned int);
CONVERTS(int, int, float) CONVERTS(unsigned int, uint, float) CONVERTS(long, long, float)
CONVERTS(unsigned long, ulong, float) CONVERTS(int, int, double) CONVERTS(unsigned int, uint, double)
CONVERTS(long, long, double) CONVERTS(unsigned long, ulong, double)
CL size_t __cl_get_local_id(unsigned int);
CL size_t __cl_get_group_id(unsigned int);
CL size_t __cl_get_local_size(unsigned int);
CL size_t __cl_get_num_groups(unsigned int);
CL_ACTS void __cl_barrier(unsigned int);
CL_ACTS void __cl_mem_fence(unsigned int);
ATOMIC(add) ATOMIC(sub) ATOMIC(xchg) ATOMIC(min) ATOMIC(max) ATOMIC(and) ATOMIC(or) ATOMIC(xor)
CL_ACTS int __cl_atomic_cmpxchg(volatile int *, int, int);
CL_ACTS unsigned int __cl_atomic_cmpxchg(volatile unsigned int *, unsigned int, unsigned int);
CL_ACTS long __cl_atom_cmpxchg(volatile long *, long, long);
CL_ACTS unsigned long __cl_atom_cmpxchg(volatile unsigned long *, unsigned long, unsigned long);
CL_ACTS float __cl_atomic_xchg(volatile float *, float);

#define IDENTITY(of) \
  struct __stampmill_##of { \
    __declspec(property(get = get_x)) unsigned int x; \
    __declspec(property(get = get_y)) unsigned int y; \
    __declspec(property(get = get_z)) unsigned int z; \
    DOES unsigned int get_x() { return (unsigned int)__cl_get_##of(0); } \
    DOES unsigned int get_y() { return (unsigned int)__cl_get_##of(1); } \
    DOES unsigned int get_z() { return (unsigned int)__cl_get_##of(2); } \
  };
IDENTITY(local_id)
IDENTITY(group_id)
IDENTITY(local_size)
IDENTITY(num_groups)
extern const __device__ __attribute__((weak)) __stampmill_local_id threadIdx;
extern const __device__ __attribute__((weak)) __stampmill_group_id blockIdx;
extern const __device__ __attribute__((weak)) __stampmill_local_size blockDim;
extern const __device__ __attribute__((weak)) __stampmill_num_groups gridDim;
enum { warpSize = 32 };
// HIP's older names.
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

#define VECTORS(n, t) \
  typedef struct { t x; } n##1; \
  typedef t n##2 __attribute__((ext_vector_type(2))); \
  typedef struct { t x, y, z; } n##3; \
  typedef t n##4 __attribute__((ext_vector_type(4))); \
  GIVES n##1 make_##n##1(t x) { n##1 v; v.x = x; return v; } \
  GIVES n##2 make_##n##2(t x, t y) { return n##2{x, y}; } \
  GIVES n##3 make_##n##3(t x, t y, t z) { n##3 v; v.x = x; v.y = y; v.z = z; return v; } \
  GIVES n##4 make_##n##4(t x, t y, t z, t w) { return n##4{x, y, z, w}; }
VECTORS(char, signed char)
VECTORS(uchar, unsigned char)
VECTORS(short, short)
VECTORS(ushort, unsigned short)
VECTORS(int, int)
VECTORS(uint, unsigned int)
VECTORS(long, long)
VECTORS(ulong, unsigned long)
VECTORS(longlong, long)
VECTORS(ulonglong, unsigned long)
VECTORS(float, float)
VECTORS(double, double)
struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
};

namespace std {
template <class T, T V> struct integral_constant { static constexpr T value = V; typedef T value_type; constexpr operator T() const { return V; } constexpr T operator()() const { return V; } };
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <bool B> using bool_constant = integral_constant<bool, B>;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional { typedef T type; };
template <class T, class F> struct conditional<false, T, F> { typedef F type; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T &> { typedef T type; };
template <class T> struct remove_reference<T &&> { typedef T type; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <class T> struct remove_cv { typedef T type; };
template <class T> struct remove_cv<const T> { typedef T type; };
template <class T> struct remove_cv<volatile T> { typedef T type; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using decay_t = typename remove_cv<typename remove_reference<T>::type>::type;
template <class T> struct is_floating_point : integral_constant<bool, is_same<T, float>::value || is_same<T, double>::value> {};
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> struct is_integral : integral_constant<bool, __is_integral(T)> {};
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> struct is_arithmetic : integral_constant<bool, __is_arithmetic(T)> {};
template <class T> struct is_signed : integral_constant<bool, __is_signed(T)> {};
template <class T> struct is_unsigned : integral_constant<bool, __is_unsigned(T)> {};
template <class T> struct is_pointer : integral_constant<bool, __is_pointer(T)> {};
template <class T> struct is_enum : integral_constant<bool, __is_enum(T)> {};
template <class T> GIVES constexpr T min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> GIVES constexpr T max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> GIVES constexpr void swap(T &a, T &b) { T c = a; a = b; b = c; }
template <class T> GIVES constexpr remove_reference_t<T> &&move(T &&t) { return static_cast<remove_reference_t<T> &&>(t); }
template <class T> GIVES constexpr T &&forward(remove_reference_t<T> &t) { return static_cast<T &&>(t); }
template <class T> struct numeric_limits;

#define LIMITS(t, integer, with_sign, least, most, lowest_one, ...) \
  template <> struct numeric_limits<t> { \
    static constexpr bool is_signed = with_sign, is_integer = integer; \
    GIVES constexpr t min() { return least; } \
    GIVES constexpr t max() { return most; } \
    GIVES constexpr t lowest() { return lowest_one; } \
    __VA_ARGS__ \
  };
#define OF_REALS(t, s, e) \
  GIVES constexpr t infinity() { return __builtin_huge_val##s(); } \
  GIVES constexpr t quiet_NaN() { return __builtin_nan##s(""); } \
  GIVES constexpr t epsilon() { return e; }
LIMITS(bool, true, false, false, true, false, )
LIMITS(char, true, true, -128, 127, -128, )
LIMITS(signed char, true, true, -128, 127, -128, )
LIMITS(unsigned char, true, false, 0, 255, 0, )
LIMITS(short, true, true, -32768, 32767, -32768, )
LIMITS(unsigned short, true, false, 0, 65535, 0, )
LIMITS(int, true, true, INT_MIN, INT_MAX, INT_MIN, )
LIMITS(unsigned int, true, false, 0, UINT_MAX, 0, )
LIMITS(long, true, true, LONG_MIN, LONG_MAX, LONG_MIN, )
LIMITS(unsigned long, true, false, 0, ULONG_MAX, 0, )
LIMITS(long long, true, true, LLONG_MIN, LLONG_MAX, LLONG_MIN, )
LIMITS(unsigned long long, true, false, 0, ULLONG_MAX, 0, )
LIMITS(float, false, true, FLT_MIN, FLT_MAX, -FLT_MAX, OF_REALS(float, f, FLT_EPSILON))
LIMITS(double, false, true, DBL_MIN, DBL_MAX, -DBL_MAX, OF_REALS(double, , DBL_EPSILON))
}
#define FUNCTION(n) \
  DOES float n##f(float x) { return __cl_##n(x); } \
  DOES float n(float x) { return __cl_##n(x); } \
  DOES double n(double x) { return __cl_##n(x); } \
  template <class T> DOES std::enable_if_t<__is_integral(T), double> n(T x) { return __cl_##n((double)x); }
#define FUNCTION_OF_TWO(n) \
  DOES float n##f(float x, float y) { return __cl_##n(x, y); } \
  DOES float n(float x, float y) { return __cl_##n(x, y); } \
  DOES double n(double x, double y) { return __cl_##n(x, y); } \
  DOES double n(double x, float y) { return __cl_##n(x, (double)y); } \
  DOES double n(float x, double y) { return __cl_##n((double)x, y); }
#define QUESTION(n) DOES bool n(float x) { return __cl_##n(x); } DOES bool n(double x) { return __cl_##n(x); }
#define EXTREME(n, t, a, b) DOES t n(a x, b y) { return __cl_##n((t)x, (t)y); }
#define EXTREMES(n) \
  EXTREME(n, int, int, int) EXTREME(n, unsigned int, unsigned int, unsigned int) EXTREME(n, unsigned int, int, unsigned int) \
  EXTREME(n, unsigned int, unsigned int, int) EXTREME(n, long, long, long) EXTREME(n, unsigned long, unsigned long, unsigned long) \
  EXTREME(n, long, int, long) EXTREME(n, long, long, int) EXTREME(n, long, unsigned int, long) EXTREME(n, long, long, unsigned int) \
  EXTREME(n, unsigned long, unsigned int, unsigned long) EXTREME(n, unsigned long, unsigned long, unsigned int) \
  EXTREME(n, unsigned long, int, unsigned long) EXTREME(n, unsigned long, unsigned long, int) \
  EXTREME(n, long, long long, long) EXTREME(n, long, long, long long) EXTREME(n, long, int, long long) EXTREME(n, long, long long, int) \
  DOES long long n(long long x, long long y) { return __cl_##n((long)x, (long)y); } \
  DOES unsigned long long n(unsigned long long x, unsigned long long y) { return __cl_##n((unsigned long)x, (unsigned long)y); } \
  DOES float n(float x, float y) { return __cl_f##n(x, y); } \
  DOES double n(double x, double y) { return __cl_f##n(x, y); } \
  DOES double n(double x, float y) { return __cl_f##n(x, (double)y); } \
  DOES double n(float x, double y) { return __cl_f##n((double)x, y); } \
  DOES float n(float x, int y) { return __cl_f##n(x, (float)y); } \
  DOES float n(int x, float y) { return __cl_f##n((float)x, y); } \
  DOES double n(double x, int y) { return __cl_f##n(x, (double)y); } \
  DOES double n(int x, double y) { return __cl_f##n((double)x, y); } \
  DOES unsigned int u##n(unsigned int x, unsigned int y) { return __cl_##n(x, y); } \
  DOES long long ll##n(long long x, long long y) { return __cl_##n((long)x, (long)y); }
#define ROUNDED(t, p) \
  DOES t __##p##add_rn(t x, t y) { return x + y; } \
  DOES t __##p##sub_rn(t x, t y) { return x - y; } \
  DOES t __##p##mul_rn(t x, t y) { return x * y; } \
  DOES t __##p##div_rn(t x, t y) { return x / y; } \
  DOES t __##p##sqrt_rn(t x) { return __cl_sqrt(x); } \
  DOES t __##p##rcp_rn(t x) { return 1 / x; }
#define TO_INTEGER(t, of, n, it, c) \
  DOES it __##of##2##n##_rn(t x) { return (it)__cl_convert_##c##_rte(x); } \
  DOES it __##of##2##n##_rd(t x) { return (it)__cl_convert_##c##_rtn(x); } \
  DOES it __##of##2##n##_ru(t x) { return (it)__cl_convert_##c##_rtp(x); } \
  DOES it __##of##2##n##_rz(t x) { return (it)x; } \
  DOES t __##n##2##of##_rn(it x) { return (t)x; }
#define ATOMIC_OF(name, n, t, of, k) DOES t name(t *p, t v) { return __cl_##of##_##n((volatile k *)p, (k)v); }
#define ATOMICS_CALLED(name, n) \
  ATOMIC_OF(name, n, int, atomic, int) ATOMIC_OF(name, n, unsigned int, atomic, unsigned int) ATOMIC_OF(name, n, long, atom, long) \
  ATOMIC_OF(name, n, unsigned long, atom, unsigned long) ATOMIC_OF(name, n, long long, atom, long) \
  ATOMIC_OF(name, n, unsigned long long, atom, unsigned long)
#define ATOMICS(name, n) ATOMICS_CALLED(name, n) ATOMICS_CALLED(name##_block, n) ATOMICS_CALLED(name##_system, n)
#define SWAPS(t, of, k) DOES t atomicCAS(t *p, t c, t v) { return __cl_##of##_cmpxchg((volatile k *)p, (k)c, (k)v); }
FUNCTION(acos) FUNCTION(acosh) FUNCTION(asin) FUNCTION(asinh) FUNCTION(atan) FUNCTION(atanh) FUNCTION(cbrt)
FUNCTION(ceil) FUNCTION(cos) FUNCTION(cosh) FUNCTION(cospi) FUNCTION(erf) FUNCTION(erfc) FUNCTION(exp) FUNCTION(exp2)
FUNCTION(exp10) FUNCTION(expm1) FUNCTION(floor) FUNCTION(log) FUNCTION(log2) FUNCTION(log10) FUNCTION(log1p)
FUNCTION(logb) FUNCTION(rint) FUNCTION(round) FUNCTION(rsqrt) FUNCTION(sin) FUNCTION(sinh) FUNCTION(sinpi)
FUNCTION(sqrt) FUNCTION(tan) FUNCTION(tanh) FUNCTION(tgamma) FUNCTION(lgamma) FUNCTION(trunc)
DOES float fabsf(float x) { return __cl_fabs(x); }
DOES float fabs(float x) { return __cl_fabs(x); }
DOES double fabs(double x) { return __cl_fabs(x); }
DOES float nearbyintf(float x) { return __cl_rint(x); }
DOES float nearbyint(float x) { return __cl_rint(x); }
DOES double nearbyint(double x) { return __cl_rint(x); }
template <class T> DOES std::enable_if_t<__is_integral(T), double> fabs(T x) { return __cl_fabs((double)x); }
DOES float abs(float x) { return __cl_fabs(x); }
DOES double abs(double x) { return __cl_fabs(x); }
DOES int abs(int x) { return (int)__cl_abs(x); }
DOES long abs(long x) { return (long)__cl_abs(x); }
DOES long long abs(long long x) { return (long long)__cl_abs((long)x); }
DOES long labs(long x) { return (long)__cl_abs(x); }
DOES long long llabs(long long x) { return (long long)__cl_abs((long)x); }
FUNCTION_OF_TWO(atan2) FUNCTION_OF_TWO(fmod) FUNCTION_OF_TWO(fmin) FUNCTION_OF_TWO(fmax) FUNCTION_OF_TWO(fdim)
FUNCTION_OF_TWO(hypot) FUNCTION_OF_TWO(copysign) FUNCTION_OF_TWO(remainder) FUNCTION_OF_TWO(nextafter)
DOES float powf(float x, float y) { return __cl_pow(x, y); }
DOES float pow(float x, float y) { return __cl_pow(x, y); }
DOES double pow(double x, double y) { return __cl_pow(x, y); }
DOES double pow(double x, float y) { return __cl_pow(x, (double)y); }
DOES double pow(float x, double y) { return __cl_pow((double)x, y); }
DOES float pow(float x, int y) { return __cl_pown(x, y); }
DOES double pow(double x, int y) { return __cl_pown(x, y); }
DOES double pow(int x, int y) { return __cl_pow((double)x, (double)y); }
DOES double pow(int x, double y) { return __cl_pow((double)x, y); }
DOES double pow(int x, float y) { return __cl_pow((double)x, (double)y); }
DOES float fmaf(float x, float y, float z) { return __cl_fma(x, y, z); }
DOES float fma(float x, float y, float z) { return __cl_fma(x, y, z); }
DOES double fma(double x, double y, double z) { return __cl_fma(x, y, z); }
DOES float ldexpf(float x, int y) { return __cl_ldexp(x, y); }
DOES float ldexp(float x, int y) { return __cl_ldexp(x, y); }
DOES double ldexp(double x, int y) { return __cl_ldexp(x, y); }
DOES float scalbnf(float x, int y) { return __cl_ldexp(x, y); }
DOES float scalbn(float x, int y) { return __cl_ldexp(x, y); }
DOES double scalbn(double x, int y) { return __cl_ldexp(x, y); }
DOES float frexpf(float x, int *e) { return __cl_frexp(x, e); }
DOES float modff(float x, float *i) { return __cl_modf(x, i); }
DOES int ilogbf(float x) { return __cl_ilogb(x); }
DOES void sincosf(float x, float *s, float *c) { *s = __cl_sin(x); *c = __cl_cos(x); }
DOES long lrintf(float x) { return __cl_convert_long_rte(x); }
DOES long lroundf(float x) { return (long)__cl_round(x); }
DOES bool __isnanf(float x) { return __cl_isnan(x); }
DOES bool __isinff(float x) { return __cl_isinf(x); }
DOES double frexp(double x, int *e) { return __cl_frexp(x, e); }
DOES double modf(double x, double *i) { return __cl_modf(x, i); }
DOES int ilogb(double x) { return __cl_ilogb(x); }
DOES void sincos(double x, double *s, double *c) { *s = __cl_sin(x); *c = __cl_cos(x); }
DOES long lrint(double x) { return __cl_convert_long_rte(x); }
DOES long lround(double x) { return (long)__cl_round(x); }
DOES bool __isnan(double x) { return __cl_isnan(x); }
DOES bool __isinf(double x) { return __cl_isinf(x); }
DOES void __sincosf(float x, float *s, float *c) { *s = __cl_native_sin(x); *c = __cl_native_cos(x); }
QUESTION(isnan) QUESTION(isinf) QUESTION(isfinite) QUESTION(signbit)
EXTREMES(min)
EXTREMES(max)
DOES float __sinf(float x) { return __cl_native_sin(x); }
DOES float __cosf(float x) { return __cl_native_cos(x); }
DOES float __tanf(float x) { return __cl_native_tan(x); }
DOES float __expf(float x) { return __cl_native_exp(x); }
DOES float __exp10f(float x) { return __cl_native_exp10(x); }
DOES float __logf(float x) { return __cl_native_log(x); }
DOES float __log2f(float x) { return __cl_native_log2(x); }
DOES float __log10f(float x) { return __cl_native_log10(x); }
DOES float __frsqrt_rn(float x) { return __cl_native_rsqrt(x); }
DOES float __powf(float x, float y) { return __cl_native_powr(x, y); }
DOES float __fdividef(float x, float y) { return __cl_native_divide(x, y); }
DOES float fdividef(float x, float y) { return x / y; }
DOES float __saturatef(float x) { return __cl_clamp(x, 0.0f, 1.0f); }
ROUNDED(float, f)
ROUNDED(double, d)
DOES float __fmaf_rn(float x, float y, float z) { return __cl_fma(x, y, z); }
DOES double __fma_rn(double x, double y, double z) { return __cl_fma(x, y, z); }
TO_INTEGER(float, float, int, int, int) TO_INTEGER(float, float, uint, unsigned int, uint)
TO_INTEGER(float, float, ll, long long, long) TO_INTEGER(float, float, ull, unsigned long long, ulong)
TO_INTEGER(double, double, int, int, int) TO_INTEGER(double, double, uint, unsigned int, uint)
TO_INTEGER(double, double, ll, long long, long) TO_INTEGER(double, double, ull, unsigned long long, ulong)
DOES float __double2float_rn(double x) { return (float)x; }
DOES int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
DOES unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
DOES float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
DOES float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
DOES long __double_as_longlong(double x) { return __builtin_bit_cast(long, x); }
DOES double __longlong_as_double(long x) { return __builtin_bit_cast(double, x); }
DOES int __mul24(int x, int y) { return __cl_mul24(x, y); }
DOES unsigned int __umul24(unsigned int x, unsigned int y) { return __cl_mul24(x, y); }
DOES int __mulhi(int x, int y) { return __cl_mul_hi(x, y); }
DOES unsigned int __umulhi(unsigned int x, unsigned int y) { return __cl_mul_hi(x, y); }
DOES unsigned long long __umul64hi(unsigned long x, unsigned long y) { return __cl_mul_hi(x, y); }
DOES long long __mul64hi(long x, long y) { return __cl_mul_hi(x, y); }
DOES int __popc(unsigned int x) { return (int)__cl_popcount(x); }
DOES int __popcll(unsigned long x) { return (int)__cl_popcount(x); }
DOES int __clz(int x) { return __cl_clz(x); }
DOES int __clzll(long x) { return (int)__cl_clz(x); }
DOES int __ffs(int x) { return 32 - __cl_clz(x & -x); }
DOES int __ffsll(long x) { return (int)(64 - __cl_clz(x & -x)); }
#define __syncthreads __stampmill_syncthreads
DOES void __stampmill_syncthreads() { __cl_barrier(3); }
DOES void __threadfence() { __cl_mem_fence(3); }
DOES void __threadfence_block() { __cl_mem_fence(3); }
DOES void __threadfence_system() { __cl_mem_fence(3); }
template <class T> DOES T __ldg(const T *p) { return *p; }
template <class T> DOES T __ldcg(const T *p) { return *p; }
template <class T> DOES T __ldcs(const T *p) { return *p; }
template <class T> DOES void __stcs(T *p, T v) { *p = v; }
template <class T> DOES void __stcg(T *p, T v) { *p = v; }
ATOMICS(atomicAdd, add) ATOMICS(atomicSub, sub) ATOMICS(atomicMin, min) ATOMICS(atomicMax, max)
ATOMICS(atomicExch, xchg) ATOMICS(atomicAnd, and) ATOMICS(atomicOr, or) ATOMICS(atomicXor, xor)
DOES float atomicExch(float *p, float v) { return __cl_atomic_xchg(p, v); }
SWAPS(int, atomic, int) SWAPS(unsigned int, atomic, unsigned int) SWAPS(long, atom, long)
SWAPS(unsigned long, atom, unsigned long) SWAPS(long long, atom, long) SWAPS(unsigned long long, atom, unsigned long)
DOES float atomicAdd(float *p, float v) {
  unsigned int old = *(volatile unsigned int *)p, seen;
  do {
    seen = old;
    old = __cl_atomic_cmpxchg((volatile unsigned int *)p, seen, __builtin_bit_cast(unsigned int, __builtin_bit_cast(float, seen) + v));
  } while (seen != old);
  return __builtin_bit_cast(float, old);
}
DOES double atomicAdd(double *p, double v) {
  unsigned long old = *(volatile unsigned long *)p, seen;
  do {
    seen = old;
    old = __cl_atom_cmpxchg((volatile unsigned long *)p, seen, __builtin_bit_cast(unsigned long, __builtin_bit_cast(double, seen) + v));
  } while (seen != old);
  return __builtin_bit_cast(double, old);
}
template <class T> DOES void gpuAtomicAdd(T *p, T v) { atomicAdd(p, v); }
template <class T> DOES void gpuAtomicAddNoReturn(T *p, T v) { atomicAdd(p, v); }
DOES unsigned int atomicInc(unsigned int *p, unsigned int v) {
  unsigned int old = *(volatile unsigned int *)p, seen;
  do {
    seen = old;
    old = __cl_atomic_cmpxchg(p, seen, seen >= v ? 0 : seen + 1);
  } while (seen != old);
  return old;
}
#define WARP UNSUPPORTED("warp-intrinsic") CL_ACTS
template <class T> WARP T __shfl(T v, int lane, int width = 32);
template <class T> WARP T __shfl_up(T v, unsigned int by, int width = 32);
template <class T> WARP T __shfl_down(T v, unsigned int by, int width = 32);
template <class T> WARP T __shfl_xor(T v, int mask, int width = 32);
template <class T> WARP T __shfl_sync(unsigned int who, T v, int lane, int width = 32);
template <class T> WARP T __shfl_up_sync(unsigned int who, T v, unsigned int by, int width = 32);
template <class T> WARP T __shfl_down_sync(unsigned int who, T v, unsigned int by, int width = 32);
template <class T> WARP T __shfl_xor_sync(unsigned int who, T v, int mask, int width = 32);
template <class T> WARP T WARP_SHFL(T v, int lane, int width = 32, unsigned int who = 0xffffffff);
template <class T> WARP T WARP_SHFL_DOWN(T v, unsigned int by, int width = 32, unsigned int who = 0xffffffff);
template <class T> WARP T WARP_SHFL_XOR(T v, int mask, int width = 32, unsigned int who = 0xffffffff);
WARP unsigned int __ballot(int);
WARP int __all(int);
WARP int __any(int);
WARP unsigned int __ballot_sync(unsigned int, int);
WARP int __all_sync(unsigned int, int);
WARP int __any_sync(unsigned int, int);
WARP unsigned int __activemask();
WARP void __syncwarp(unsigned int who = 0xffffffff);
WARP int __syncthreads_count(int);
WARP int __syncthreads_and(int);
WARP int __syncthreads_or(int);
WARP unsigned int __match_any_sync(unsigned int, unsigned int);
WARP int __reduce_add_sync(unsigned int, int);
WARP unsigned int __lanemask_lt();
#define OTHER UNSUPPORTED("not-c-like") CL_ACTS
OTHER clock_t clock();
OTHER long long clock64();
OTHER void __nanosleep(unsigned int);
OTHER void __trap();
OTHER unsigned int __brev(unsigned int);
OTHER unsigned long long __brevll(unsigned long long);
OTHER unsigned int __byte_perm(unsigned int, unsigned int, unsigned int);
OTHER unsigned int __funnelshift_l(unsigned int, unsigned int, unsigned int);
OTHER unsigned int __funnelshift_r(unsigned int, unsigned int, unsigned int);
OTHER int __dp4a(int, int, int);
extern "C" OTHER int printf(const char *, ...);
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
#define TEXTURE UNSUPPORTED("texture") CL_ACTS
template <class T> TEXTURE T tex1D(cudaTextureObject_t, float);
template <class T> TEXTURE T tex1Dfetch(cudaTextureObject_t, int);
template <class T> TEXTURE T tex2D(cudaTextureObject_t, float, float);
template <class T> TEXTURE T tex3D(cudaTextureObject_t, float, float, float);
template <class T> TEXTURE T tex2DLayered(cudaTextureObject_t, float, float, int);
template <class T> TEXTURE T surf2Dread(cudaSurfaceObject_t, int, int);
template <class T> TEXTURE void surf2Dwrite(T, cudaSurfaceObject_t, int, int);
template <class T> TEXTURE void surf3Dwrite(T, cudaSurfaceObject_t, int, int, int);
namespace std {
using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::hypot;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::ldexp;
using ::lgamma;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::nearbyint;
using ::pow;
using ::rint;
using ::round;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::tgamma;
using ::trunc;
using ::size_t;
using ::ptrdiff_t;
using ::int8_t;
using ::uint8_t;
using ::int16_t;
using ::uint16_t;
using ::int32_t;
using ::uint32_t;
using ::int64_t;
using ::uint64_t;
using ::nullptr_t;
}
#undef UNARY
#undef BINARY
#undef NATIVE
#undef ASKS
#undef OF_INTEGERS
#undef CONVERTS
#undef ATOMIC
#undef IDENTITY
#undef VECTORS
#undef LIMITS
#undef OF_REALS
#undef FUNCTION
#undef FUNCTION_OF_TWO
#undef QUESTION
#undef EXTREME
#undef EXTREMES
#undef ROUNDED
#undef TO_INTEGER
#undef ATOMIC_OF
#undef ATOMICS_CALLED
#undef ATOMICS
#undef SWAPS
#undef UNSUPPORTED
#undef CL
#undef CL_ACTS
#undef GIVES
#undef DOES
#undef WARP
#undef OTHER
#undef TEXTURE
#endif
