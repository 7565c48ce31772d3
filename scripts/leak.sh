#!/bin/sh
# What the leak rule finds of kernels changed in thirteen ways, and how often it takes a stranger for a copy: the
# tables of docs/results/leak-rule.md. The half `tune` is what the thresholds were chosen on; `small` are kernels of 40 to 79 lexemes.
# usage: leak.sh [KERNELS [HALF...]]     KERNELS: a data set of `prepare`, or JSON lines with src and benchmark
set -eu
cd "$(dirname "$0")/.."
kernels=${1:-datasets/device-mapping-h200/kernels}
[ $# -eq 0 ] || shift
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
# Of the whole workspace: a package alone would have other features, and DataFusion be built anew.
cargo build --release --workspace --example leak_proof
proof=${CARGO_TARGET_DIR:-target}/release/examples/leak_proof
[ $# -gt 0 ] || set -- report tune small
for one in "$@"; do
    echo "== $kernels, half $one"
    "$proof" choose "$kernels" "$one" >"$work/held.jsonl"
    python3 scripts/leak-variants.py <"$work/held.jsonl" >"$work/variants.jsonl"
    "$proof" measure "$kernels" "$one" "$work/variants.jsonl"
done
