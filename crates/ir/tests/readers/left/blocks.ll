; The address of a block.
source_filename = "blocks.c"
@labels = constant [2 x ptr] [ptr blockaddress(@jump, %a), ptr blockaddress(@jump, %b)]
define void @jump(i64 %x) {
  %p = getelementptr [2 x ptr], ptr @labels, i64 0, i64 %x
  %q = load ptr, ptr %p
  indirectbr ptr %q, [label %a, label %b]
a:
  br label %b
b:
  ret void
}
