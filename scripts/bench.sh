#!/bin/sh
# Every bench behind a figure of the README; each measures us and the alternative in one run.
set -eu
for bench in $(grep -l '^\[\[bench\]\]' crates/*/Cargo.toml); do
    crate=$(sed -n 's/^name = "\(.*\)"/\1/p' "$bench" | head -1)
    echo "== $crate"
    cargo bench --profile release -p "$crate"
done
