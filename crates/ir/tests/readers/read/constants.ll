; Constants of all kinds.
source_filename = "constants.c"
%pair = type { i32, ptr }
%empty = type {}
%opaque = type opaque
@bytes = constant [4 x i8] c"ab\00c"
@text = private unnamed_addr constant [3 x i8] c"hi\00"
@words = global [3 x i32] [i32 1, i32 -2, i32 3]
@longs = global [2 x i64] [i64 9223372036854775807, i64 -9223372036854775808]
@shorts = global [2 x i16] [i16 -1, i16 5]
@floats = global [3 x float] [float 1.5, float 0x7FF8000000000000, float -0.0]
@doubles = global [2 x double] [double 1.0e300, double 0xFFF0000000000000]
@halves = global [2 x half] [half 0xH3C00, half 0xH0001]
@brains = global [2 x bfloat] [bfloat 0xR3F80, bfloat 0xR7FC0]
@vector = global <4 x i32> <i32 1, i32 2, i32 3, i32 4>
@bits = global <4 x i1> <i1 true, i1 false, i1 true, i1 true>
@mixed = global <2 x i32> <i32 7, i32 undef>
@wide = global i128 -170141183460469231731687303715884105728
@wider = global i256 115792089237316195423570985008687907853269984665640564039457584007913129639935
@odd = global i65 36893488147419103231
@wides = global [2 x i128] [i128 1, i128 18446744073709551616]
@zero128 = global i128 0
@x87 = global x86_fp80 0xK4000C90FDAA22168C235
@quad = global fp128 0xL00000000000000013FFF000000000000
@half = global half 0xH7C01
@brain = global bfloat 0xR0001
@single = global float 0x36A0000000000000
@nan = global float 0x7FF0000020000000
@pair = global %pair { i32 5, ptr @words }
@packed = global <{ i8, i32 }> <{ i8 1, i32 2 }>
@nested = global { [2 x %pair], i8 } { [2 x %pair] [%pair { i32 1, ptr null }, %pair { i32 2, ptr @nested }], i8 3 }
@nothing = global %empty zeroinitializer
@zeros = global [100 x i32] zeroinitializer
@undefined = global %pair undef
@poisoned = global %pair poison
@partly = global { [8 x i8], [8 x i8] } { [8 x i8] zeroinitializer, [8 x i8] undef }
@element = global ptr getelementptr inbounds ([3 x i32], ptr @words, i64 0, i64 2)
@past = global ptr getelementptr (i8, ptr @words, i64 -8)
@nuw = global ptr getelementptr nuw (i8, ptr @words, i64 8)
@ranged = global ptr getelementptr inrange(-8, 8) ({ [2 x ptr] }, ptr @table, i32 0, i32 0, i32 1)
@table = constant { [2 x ptr] } { [2 x ptr] [ptr @words, ptr @use] }
@number = global i64 ptrtoint (ptr @words to i64)
@apart = global i64 sub (i64 ptrtoint (ptr @words to i64), i64 ptrtoint (ptr @longs to i64))
@apart32 = global i32 trunc (i64 sub (i64 ptrtoint (ptr @words to i64), i64 ptrtoint (ptr @longs to i64)) to i32)
@sum = global i64 add (i64 ptrtoint (ptr @words to i64), i64 5)
@tagged = global i64 xor (i64 ptrtoint (ptr @words to i64), i64 1)
@address = global ptr inttoptr (i64 4096 to ptr)
@far = addrspace(3) global i32 0
@near = global ptr addrspacecast (ptr addrspace(3) @far to ptr)
@self = global ptr @self
@external = external global %opaque
@weak = extern_weak global i32
@common = common global i32 0
@thread = thread_local(initialexec) global i32 3
@section = global i32 1, section "notes", comdat, align 64
@hidden = hidden constant double 2.5
$section = comdat any
@llvm.used = appending global [1 x ptr] [ptr @words], section "llvm.metadata"
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @begin, ptr null }]
@alias = alias i32, ptr @words
@inner = internal alias i8, getelementptr (i8, ptr @words, i64 4)
@chosen = ifunc void (), ptr @choose
define internal void @begin() {
  ret void
}
define ptr @choose() {
  ret ptr @begin
}
define void @use() {
  store i128 -1, ptr @wide
  store <4 x i32> <i32 4, i32 3, i32 2, i32 1>, ptr @vector
  store <4 x i32> <i32 4, i32 3, i32 2, i32 1>, ptr @vector
  store <2 x double> <double 1.0, double 2.0>, ptr @doubles
  store <4 x float> splat (float 3.0), ptr @floats
  store ppc_fp128 undef, ptr @quad
  store i64 ptrtoint (ptr inttoptr (i64 3 to ptr) to i64), ptr @number
  store ptr @alias, ptr @self
  store %pair { i32 9, ptr @inner }, ptr @pair
  call void @chosen()
  ret void
}
module asm ".globl spare"
module asm "spare: nop"
