#!/bin/sh
# Licenses, sources, bans and advisories of all dependencies (deny.toml), of all workspaces.
# Under .ci/run (STAMPMILL_OUTCOMES) what cannot be had is a skipped check; else it is an error.
set -eu
cd "$(dirname "$0")/.."
lacks() {
    [ -n "${STAMPMILL_OUTCOMES:-}" ] || { echo "deny.sh: $1: $2" >&2; exit 2; }
    printf '0 0 1\n%s\t%s\n' "$1 (make deny)" "$2" >"$STAMPMILL_OUTCOMES/deny"
    exit 0
}
manifests="Cargo.toml engines/torch/Cargo.toml engines/cluster/Cargo.toml engines/objects/Cargo.toml"
all="licenses, sources and advisories of dependencies"
command -v cargo-deny >/dev/null || lacks "$all" "cargo-deny: cargo install --locked cargo-deny"
for manifest in $manifests; do
    cargo deny --locked --manifest-path $manifest --config deny.toml check --hide-inclusion-graph licenses bans sources
done
cargo deny fetch db || lacks "advisories of dependencies" "the database of advisories, see above"
for manifest in $manifests; do
    cargo deny --locked --manifest-path $manifest --config deny.toml check --hide-inclusion-graph --disable-fetch advisories
done
