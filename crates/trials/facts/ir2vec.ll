; One function with a branch, a load, a phi, a switch and a block that nothing reaches, and what llvm-ir2vec of LLVM 22.1.8
; prints of it with LLVM's vocabulary of 75 dimensions:
; 0.44 -0.33 0.59 0.42 0.19 -0.43 -0.31 -0.82 1.50 -0.83 -0.28 1.30 -1.25 -0.28 1.34 0.06 -1.42 0.38 0.57 0.17 0.22 -0.25 -0.22 0.28 -0.67 0.76 -0.81 1.05 -0.61 0.59 -0.09 0.10 0.51 0.67 -0.44 0.71 0.45 -0.79 0.69 -1.25 -0.18 0.74 0.48 0.51 -0.42 -0.64 0.39 -0.60 0.27 0.62 0.64 0.99 0.18 -0.18 0.21 -1.61 -0.19 0.03 0.40 -0.36 -0.34 -0.96 -0.87 -0.35 1.15 -0.70 -0.40 0.04 0.35 0.44 0.45 0.59 0.24 0.36 0.31
define i32 @f(ptr %p, i32 %n) {
entry:
  %c = icmp sgt i32 %n, 0
  br i1 %c, label %a, label %b
a:
  %v = load i32, ptr %p
  %w = add i32 %v, 3
  store i32 %w, ptr %p
  br label %b
b:
  %r = phi i32 [ 0, %entry ], [ %w, %a ]
  switch i32 %r, label %d [ i32 1, label %e
                            i32 5, label %e ]
d:
  ret i32 %r
e:
  %q = call i32 @f(ptr %p, i32 %r)
  ret i32 %q
dead:
  ret i32 7
}
