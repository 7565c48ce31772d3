; References that a run-time library counts.
source_filename = "counting.m"
declare ptr @objc_retain(ptr)
define ptr @keep(ptr %x) {
  %y = call ptr @objc_retain(ptr %x)
  ret ptr %y
}
