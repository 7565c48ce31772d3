// Definitions that kernels commonly take for granted, one per line; only those a program lacks are
// given to it. A line may use names of other lines.

// Exact-width and short integer names.
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
typedef char int8;
typedef char i8;
typedef uchar u8;
typedef short i16;
typedef ushort u16;
typedef int i32;
typedef uint u32;
typedef long i64;
typedef ulong u64;
typedef char s8;
typedef short s16;
typedef int s32;
typedef long s64;
typedef int int32;
typedef uint uint32;
typedef long int64;
typedef ulong uint64;
typedef char sbyte;
typedef uchar byte;
typedef uchar BYTE;
typedef uchar UCHAR;
typedef ushort WORD;
typedef uint DWORD;
typedef uint UINT;
typedef uint u_int;
typedef uchar u_char;
typedef int INT;
typedef uchar ubyte;
typedef uint word32;
typedef ulong QWORD;
typedef int BOOL;
typedef int INT_TYPE;
typedef int index_t;
typedef int IndexType;
typedef int INDEX_TYPE;
typedef int idx_t;
typedef uint uint_t;
typedef int int_t;
typedef int Integer;
typedef int mask_t;
typedef long ssize_t;
typedef ulong uintmax_t;
typedef int label_t;

// The working precision.
typedef float real;
typedef float real_t;
typedef float Real;
typedef float REAL;
typedef float REAL_T;
typedef float FLOAT;
typedef float FLOAT_T;
typedef float FLOAT_TYPE;
typedef float float_t;
typedef float float_type;
typedef float flt;
typedef float FP;
typedef float FPTYPE;
typedef float FP_TYPE;
typedef float fp_t;
typedef float fptype;
typedef float f32;
typedef float Float;
typedef float float32_t;
typedef float float32;
typedef float floatX;
typedef float scalar;
typedef float scalar_t;
typedef float scalar_type;
typedef float SCALAR;
typedef float SCALAR_TYPE;
typedef float numeric;
typedef float number;
typedef float value_t;
typedef float value_type;
typedef float ValueType;
typedef float VALUE_TYPE;
typedef float VALTYPE;
typedef float data_t;
typedef float dtype;
typedef float DTYPE;
typedef float Dtype;
typedef float DATA_TYPE;
typedef float DATATYPE;
typedef float DataType;
typedef float TYPE;
typedef float Type;
typedef float T;
typedef float T1;
typedef float T2;
typedef float InType;
typedef float OutType;
typedef float T_TYPE;
typedef float elem_t;
typedef float CL_REAL;
typedef float cl_real;
typedef float cl_float;
typedef float coord_t;
typedef float weight_t;
typedef float mixed;
typedef float PRECISION;
typedef float prec;
typedef double DOUBLE;
typedef double double_t;
typedef double Double;
typedef double f64;
typedef double float64;
typedef double float64_t;
typedef double accum_t;
typedef double cl_double;
typedef float2 real2;
typedef float3 real3;
typedef float4 real4;
typedef float8 real8;
typedef float16 real16;
typedef float4 mixed4;
typedef float2 FLOAT2;
typedef float3 FLOAT3;
typedef float4 FLOAT4;
typedef float4 FLOAT_TYPE4;
typedef float4 REAL4;
typedef float2 REAL2;
typedef float2 complex;
typedef float2 cfloat;
typedef float2 cfloat_t;
typedef float2 Complex;
typedef float2 COMPLEX;
typedef float2 complex_t;
typedef float2 cplx;
typedef float2 fcomplex;
typedef float2 float_complex;
typedef double2 cdouble;
typedef double2 cdouble_t;
typedef double2 dcomplex;
typedef float2 vec2;
typedef float3 vec3;
typedef float4 vec4;
typedef float4 Vec4;
typedef float4 vec_t;
typedef float3 Vec3;
typedef float3 Vector;
typedef int2 ivec2;
typedef int4 ivec4;
typedef half f16;

// The host's names for device types.
typedef char cl_char;
typedef uchar cl_uchar;
typedef short cl_short;
typedef ushort cl_ushort;
typedef int cl_int;
typedef uint cl_uint;
typedef long cl_long;
typedef ulong cl_ulong;
typedef int cl_bool;
typedef half cl_half;
typedef float2 cl_float2;
typedef float4 cl_float4;
typedef double2 cl_double2;
typedef double4 cl_double4;
typedef int2 cl_int2;
typedef int4 cl_int4;
typedef uint4 cl_uint4;

// Qualifiers spelled another way.
#define KERNEL __kernel
#define KERNEL_FQ __kernel
#define GLOBAL __global
#define LOCAL __local
#define CONSTANT __constant
#define PRIVATE __private
#define GLOBAL_AS __global
#define LOCAL_AS __local
#define CONSTANT_AS __constant
#define GLOBAL_MEM __global
#define LOCAL_MEM __local
#define CONSTANT_MEM __constant
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define INLINE inline
#define FORCE_INLINE inline
#define DEVICE
#define WITHIN_KERNEL
#define INLINE_FUNC inline
#define STATIC static
#define CONST const
#define RESTRICT restrict
#define register
#define nullptr 0
#define NULL 0
#define true 1
#define false 0
#define TRUE 1
#define FALSE 0

// Numbers.
#define PI 3.14159265358979323846f
#define M_PI 3.14159265358979323846
#define M_PI_F 3.14159265358979323846f
#define pi 3.14159265358979323846f
#define PI_F 3.14159265358979323846f
#define TWOPI 6.28318530717958647693f
#define TWO_PI 6.28318530717958647693f
#define TWO_PI_F 6.28318530717958647693f
#define M_2PI 6.28318530717958647693f
#define M_2PI_F 6.28318530717958647693f
#define PI_2 1.57079632679489661923f
#define PI_4 0.78539816339744830962f
#define SQRT2 1.41421356237309504880f
#define SQRT_PI 1.77245385090551602730f
#define E_F 2.71828182845904523536f
#define EPSILON 1e-6f
#define EPS 1e-6f
#define TOLERANCE 1e-6f
#define SOFTENING 1e-6f
#define EULER 2.71828182845904523536f
#define ZERO 0
#define ONE 1
#define MAXINT 2147483647
#define MAX_INT 2147483647
#define UINT32_MAX 0xffffffffu
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define MAX_FLOAT 3.402823466e+38f
#define FLOAT_MAX 3.402823466e+38f
#define BIGNUM 1e30f

// Sizes of work-groups and tiles.
#define WG_SIZE 64
#define WGSIZE 64
#define WG_SIZE_X 16
#define WG_SIZE_Y 16
#define WORKGROUP_SIZE 64
#define WORK_GROUP_SIZE 64
#define WORKGROUPSIZE 64
#define GROUP_SIZE 64
#define LOCAL_SIZE 64
#define LOCAL_SIZE_X 16
#define LOCAL_SIZE_Y 16
#define LOCAL_WORK_SIZE 64
#define LSIZE 64
#define BLOCK_SIZE 16
#define BLOCKSIZE 16
#define BLOCK_SIZE_X 16
#define BLOCK_SIZE_Y 16
#define BLOCK_DIM 16
#define BLOCK_X 16
#define BLOCK_Y 16
#define TILE_SIZE 16
#define TILE_DIM 16
#define TILE_WIDTH 16
#define TILE_HEIGHT 16
#define TILE_X 16
#define TILE_Y 16
#define BLOCK_ROWS 8
#define THREADS 64
#define NUM_THREADS 64
#define THREADS_PER_BLOCK 64
#define NTHREADS 64
#define WARP_SIZE 32
#define WAVE_SIZE 64
#define WAVEFRONT_SIZE 64
#define SIMD_WIDTH 8
#define UNROLL 4
#define VECTOR_SIZE 4
#define WIDTH 64
#define HEIGHT 64
#define DEPTH 16
#define BINS 256
#define NUM_BINS 256
#define HISTOGRAM_SIZE 256
#define RADIUS 4
#define KERNEL_RADIUS 8
#define FILTER_SIZE 9
#define MAX_ITER 256
#define MAX_ITERATIONS 256

// CUDA's words.
#define __syncthreads() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define __threadfence() mem_fence(CLK_GLOBAL_MEM_FENCE)
#define __fdividef(x, y) native_divide((x), (y))
#define __expf(x) native_exp(x)
#define __logf(x) native_log(x)
#define __sinf(x) native_sin(x)
#define __cosf(x) native_cos(x)
#define __powf(x, y) native_powr((x), (y))
#define __mul24(x, y) mul24((x), (y))
#define __umul24(x, y) mul24((x), (y))
#define __float_as_int(x) as_int(x)
#define __int_as_float(x) as_float(x)
#define __ldg(x) (*(x))
#define __popc(x) popcount(x)
#define __clz(x) clz(x)
#define sqrtf(x) sqrt(x)
#define rsqrtf(x) rsqrt(x)
#define expf(x) exp(x)
#define logf(x) log(x)
#define sinf(x) sin(x)
#define cosf(x) cos(x)
#define tanf(x) tan(x)
#define fabsf(x) fabs(x)
#define floorf(x) floor(x)
#define ceilf(x) ceil(x)
#define roundf(x) round(x)
#define fminf(x, y) fmin((x), (y))
#define fmaxf(x, y) fmax((x), (y))
#define powf(x, y) pow((x), (y))
#define fmodf(x, y) fmod((x), (y))
#define fmaf(x, y, z) fma((x), (y), (z))
#define atan2f(x, y) atan2((x), (y))
#define acosf(x) acos(x)
#define atanf(x) atan(x)
#define make_float2(x, y) ((float2)((x), (y)))
#define make_float3(x, y, z) ((float3)((x), (y), (z)))
#define make_float4(x, y, z, w) ((float4)((x), (y), (z), (w)))
#define make_int2(x, y) ((int2)((x), (y)))
#define make_int4(x, y, z, w) ((int4)((x), (y), (z), (w)))
#define make_uint2(x, y) ((uint2)((x), (y)))
#define make_uint4(x, y, z, w) ((uint4)((x), (y), (z), (w)))
#define atomicAdd(p, x) atomic_add((p), (x))
#define atomicSub(p, x) atomic_sub((p), (x))
#define atomicMin(p, x) atomic_min((p), (x))
#define atomicMax(p, x) atomic_max((p), (x))
#define atomicExch(p, x) atomic_xchg((p), (x))
#define atomicCAS(p, c, x) atomic_cmpxchg((p), (c), (x))
#define min_(x, y) min((x), (y))
#define max_(x, y) max((x), (y))
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define ABS(x) ((x) < 0 ? -(x) : (x))
#define SQR(x) ((x) * (x))
#define sqr(x) ((x) * (x))
#define SQUARE(x) ((x) * (x))
#define CLAMP(x, y, z) ((x) < (y) ? (y) : (x) > (z) ? (z) : (x))
#define SWAP(x, y) do { (x) ^= (y); (y) ^= (x); (x) ^= (y); } while (0)
#define CEIL_DIV(x, y) (((x) + (y) - 1) / (y))
#define KERNEL_1D_LOOP(i, n) for (int i = get_global_id(0); i < (n); i += get_global_size(0))
#define CUDA_KERNEL_LOOP(i, n) for (int i = get_global_id(0); i < (n); i += get_global_size(0))
#define OCL_KERNEL_LOOP(i, n) for (int i = get_global_id(0); i < (n); i += get_global_size(0))
#define assert(x)
#define static_assert(...)

// PyOpenCL's words.
#define PYOPENCL_ELWISE_CONTINUE continue
#define LID_0 get_local_id(0)
#define LID_1 get_local_id(1)
#define LID_2 get_local_id(2)
#define GID_0 get_group_id(0)
#define GID_1 get_group_id(1)
#define GID_2 get_group_id(2)
#define LDIM_0 get_local_size(0)
#define LDIM_1 get_local_size(1)
#define GDIM_0 get_num_groups(0)
#define GDIM_1 get_num_groups(1)

// Vendors' built-ins.
inline uint amd_bitalign(uint x, uint y, uint z) { return (uint)((((ulong)x << 32) | y) >> (z & 31)); }
inline uint amd_bytealign(uint x, uint y, uint z) { return (uint)((((ulong)x << 32) | y) >> ((z & 3) * 8)); }
inline uint amd_bfe(uint x, uint y, uint z) { return (x << (32 - y - z)) >> (32 - z); }
inline uint amd_lerp(uint x, uint y, uint z) { return hadd(x, y) + (z & 1); }
inline uint amd_max3(uint x, uint y, uint z) { return max(max(x, y), z); }
inline uint amd_min3(uint x, uint y, uint z) { return min(min(x, y), z); }
