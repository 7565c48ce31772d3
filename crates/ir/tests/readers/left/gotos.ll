; Assembly that jumps.
source_filename = "gotos.c"
define void @jump() {
  callbr void asm sideeffect "jmp $0", "!i"() to label %a [label %b]
a:
  ret void
b:
  ret void
}
