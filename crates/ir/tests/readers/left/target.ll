; A type of a target.
source_filename = "target.c"
define void @take(target("spirv.Image", void, 1, 1, 0, 0, 0, 0, 0) %x) {
  ret void
}
