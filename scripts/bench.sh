#!/bin/sh
# Every bench behind a figure of the README; each measures us and the alternative in one run.
# usage: bench.sh [NAME...]
set -eu
names=${*:-$(sed -n '/^\[\[bench\]\]/{n;s/^name = "\(.*\)"/\1/p}' crates/*/Cargo.toml | sort -u)}
for name in $names; do
    echo "== $name"
    # Of the whole workspace: a package alone would have other features, and DataFusion be built anew.
    cargo bench --profile release --workspace --bench "$name"
done
