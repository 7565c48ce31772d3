; Instructions of all kinds, operands that come later, and blocks that nothing reaches.
source_filename = "instructions.c"
target datalayout = "e-m:e-i64:64-A5"
%struct = type { i32, [4 x i16], { double, i8 } }
declare i32 @printf(ptr, ...)
declare i32 @personality(...)
declare void @may_throw()
declare ptr @make(i32) allocsize(0)
declare void @llvm.assume(i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @llvm.ctpop.i32(i32)
declare <4 x float> @llvm.fmuladd.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare token @llvm.experimental.convergence.entry()
declare i64 @llvm.read_register.i64(metadata)
declare void @llvm.va_start.p0(ptr)
declare void @llvm.lifetime.start.p5(ptr addrspace(5))
define i32 @arithmetic(i32 %a, i32 %b, i1 %c) {
  %1 = add nsw i32 %a, %b
  %2 = sub nuw i32 %1, 7
  %3 = mul i32 %2, %a
  %4 = udiv exact i32 %3, 3
  %5 = sdiv i32 %4, %b
  %6 = urem i32 %5, 9
  %7 = srem i32 %6, %a
  %8 = shl i32 %7, 2
  %9 = lshr i32 %8, 1
  %10 = ashr exact i32 %9, 1
  %11 = and i32 %10, 255
  %12 = or disjoint i32 %11, 256
  %13 = xor i32 %12, -1
  %14 = icmp samesign ult i32 %13, %a
  %15 = select i1 %14, i32 %13, i32 %b
  %16 = freeze i32 %15
  %17 = select i1 %c, i32 poison, i32 %16
  %18 = call i32 @llvm.ctpop.i32(i32 %17)
  %19 = zext nneg i32 %18 to i64
  %20 = sext i32 %18 to i128
  %21 = trunc nuw i128 %20 to i64
  %22 = icmp eq i64 %19, %21
  call void @llvm.assume(i1 %22)
  ret i32 %18
}
define float @floating(float %a, double %b, half %h) {
  %1 = fadd fast float %a, 1.0
  %2 = fsub float %1, %a
  %3 = fmul nnan float %2, 3.5
  %4 = fdiv float %3, %a
  %5 = frem float %4, 2.0
  %6 = fneg float %5
  %7 = fpext float %6 to double
  %8 = fcmp olt double %7, %b
  %9 = fptrunc double %b to float
  %10 = fpext half %h to float
  %11 = select fast i1 %8, float %9, float %10
  %12 = fptosi float %11 to i32
  %13 = fptoui float %11 to i8
  %14 = sitofp i32 %12 to float
  %15 = uitofp nneg i8 %13 to float
  %16 = fadd float %14, %15
  %17 = fcmp uno float %16, 0.0
  %18 = bitcast float %16 to i32
  %19 = bitcast i32 %18 to <4 x i8>
  %20 = bitcast <4 x i8> %19 to float
  %21 = select i1 %17, float %20, float %16
  ret float %21
}
define <4 x float> @vectors(<4 x float> %a, <2 x i32> %b, i32 %at, <vscale x 4 x i32> %s) {
  %1 = extractelement <4 x float> %a, i32 %at
  %2 = insertelement <4 x float> poison, float %1, i64 2
  %3 = shufflevector <4 x float> %a, <4 x float> %2, <4 x i32> <i32 0, i32 5, i32 poison, i32 3>
  %4 = shufflevector <2 x i32> %b, <2 x i32> poison, <4 x i32> zeroinitializer
  %5 = shufflevector <vscale x 4 x i32> %s, <vscale x 4 x i32> poison, <vscale x 4 x i32> zeroinitializer
  %6 = icmp sgt <4 x i32> %4, splat (i32 3)
  %7 = select <4 x i1> %6, <4 x float> %3, <4 x float> %a
  %8 = call <4 x float> @llvm.fmuladd.v4f32(<4 x float> %7, <4 x float> %3, <4 x float> splat (float 2.0))
  %9 = add <vscale x 4 x i32> %5, %s
  %10 = fcmp ogt <4 x float> %8, zeroinitializer
  %11 = sext <4 x i1> %10 to <4 x i32>
  %12 = sitofp <4 x i32> %11 to <4 x float>
  ret <4 x float> %12
}
define ptr @memory(ptr %p, i64 %i, <4 x ptr> %many, ptr addrspace(1) %far) {
  %1 = alloca %struct, align 16
  %2 = alloca i32, i64 %i
  %3 = alloca inalloca i8
  %4 = alloca i16, addrspace(5)
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %4)
  %5 = getelementptr inbounds nuw %struct, ptr addrspace(0) %1, i64 0, i32 2, i32 1
  %6 = getelementptr %struct, ptr %p, i64 %i, i32 1, i64 %i
  %7 = getelementptr i32, <4 x ptr> %many, i64 %i
  %8 = getelementptr i32, ptr %p, <4 x i64> <i64 1, i64 2, i64 3, i64 4>
  %9 = extractelement <4 x ptr> %7, i32 0
  %10 = load volatile i32, ptr %9, align 2
  store volatile i32 %10, ptr %6
  store i32 %10, ptr %2
  store ptr %5, ptr %p
  %11 = load atomic i32, ptr %p acquire, align 4
  store atomic i32 %11, ptr %p syncscope("singlethread") release, align 4
  fence seq_cst
  %12 = cmpxchg weak volatile ptr %p, i32 %11, i32 0 acq_rel monotonic
  %13 = extractvalue { i32, i1 } %12, 0
  %14 = atomicrmw add ptr %p, i32 %13 seq_cst
  %15 = atomicrmw volatile umax ptr %p, i32 %14 monotonic
  %16 = atomicrmw fadd ptr %p, float 1.0 acquire
  %17 = atomicrmw xchg ptr %p, ptr null release
  %18 = addrspacecast ptr addrspace(1) %far to ptr
  %19 = ptrtoint ptr %18 to i64
  %20 = inttoptr i64 %19 to ptr
  %21 = insertvalue { i32, ptr } poison, ptr %20, 1
  %22 = insertvalue { i32, ptr } %21, i32 %15, 0
  %23 = extractvalue { i32, ptr } %22, 1
  call void @llvm.memcpy.p0.p0.i64(ptr %23, ptr %p, i64 16, i1 false)
  %24 = icmp ne ptr %23, null
  %25 = load atomic i32, ptr %p unordered, align 4
  ret ptr %23
}
define i32 @control(i32 %x, ...) {
entry:
  %list = alloca [4 x i64], addrspace(0)
  call void @llvm.va_start.p0(ptr %list)
  %argument = va_arg ptr %list, i64
  switch i32 %x, label %other [
    i32 1, label %one
    i32 -5, label %loop
    i32 7, label %one
  ]
one:
  %a = phi i32 [ 3, %entry ], [ 3, %entry ]
  br label %loop
loop:
  %b = phi i32 [ %a, %one ], [ 0, %entry ], [ %c, %loop ]
  %c = add i32 %b, 1
  %d = icmp slt i32 %c, 10
  br i1 %d, label %loop, label %other
other:
  %e = phi i32 [ %c, %loop ], [ 2, %entry ]
  %f = call i32 (ptr, ...) @printf(ptr null, i32 %e, double 1.0)
  %g = tail call ptr @make(i32 %f)
  %h = call i32 %g(i32 %f) [ "deopt"(i32 %e, ptr %g) ]
  ret i32 %h
dead:
  %j = phi i32 [ %i, %dead2 ]
  %i = add i32 %j, 1
  br label %dead2
dead2:
  br label %dead
}
define i64 @later(i1 %c) {
entry:
  br label %second
first:
  %use = add i64 %value, 1
  ret i64 %use
second:
  %value = call i64 @llvm.read_register.i64(metadata !0)
  br label %first
}
define i32 @assembly(i32 %x) {
  %1 = call i32 asm sideeffect inteldialect "add $0, $1\09\22quoted\5c\22", "=r,r,~{flags}"(i32 %x)
  call void asm alignstack "nop", ""()
  %2 = call i32 asm "", "=r"()
  unreachable
}
define void @catches() personality ptr @personality {
  invoke void @may_throw() to label %good unwind label %bad
good:
  %v = invoke ptr @make(i32 1) to label %more unwind label %bad
more:
  store ptr %v, ptr null
  ret void
bad:
  %p = landingpad { ptr, i32 } cleanup catch ptr null filter [1 x ptr] [ptr @make]
  %x = extractvalue { ptr, i32 } %p, 0
  %y = icmp eq ptr %x, null
  br i1 %y, label %end, label %again
again:
  resume { ptr, i32 } %p
end:
  ret void
}
define void @funclets() personality ptr @personality {
  invoke void @may_throw() to label %good unwind label %dispatch
good:
  invoke void @may_throw() to label %fine unwind label %clean
fine:
  ret void
dispatch:
  %s = catchswitch within none [label %handler] unwind label %clean
handler:
  %c = catchpad within %s [ptr null, i32 64, ptr null]
  call void @may_throw() [ "funclet"(token %c) ]
  catchret from %c to label %fine
clean:
  %d = cleanuppad within none []
  cleanupret from %d unwind to caller
}
define void @indirect(ptr %p) {
  indirectbr ptr %p, [label %a, label %b]
a:
  br label %b
b:
  ret void
}
!0 = !{!"rsp"}
