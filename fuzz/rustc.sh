#!/bin/sh
# Cargo's RUSTC_WRAPPER: coverage for libFuzzer in this repository's crates and in the parsers that they read input with.
# RUSTFLAGS would also instrument what is never fuzzed. These flags are stable; cargo-fuzz passes the same. Overflows are findings.
for word; do
  if [ -n "$named" ]; then name=$word; break; fi
  [ "$word" = --crate-name ] && named=1
done
case "$name" in
stampmill_* | fuzz | serde_json | toml | toml_* | tar | zip | object | csv_core | http*)
  exec "$@" -Copt-level=2 -Ccodegen-units=1 -Cdebug-assertions=on -Coverflow-checks=on -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares ;;
libfuzzer_sys)
  # Linked into the binary, so that it runs where there is no libstdc++.
  exec "$@" -L "native=$(dirname "$(${CXX:-c++} -print-file-name=libstdc++.a)")" ;;
*) exec "$@" ;;
esac
