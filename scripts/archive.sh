#!/bin/sh
# The archives that ship, datasets/archive-SPACE: the kernels that ship, at their points in the spaces in which `steer` joins kernels.
#   archive.sh          builds them with the release binary, that of `make build`
# STAMPMILL=PATH        the binary (the helpers lie beside it)
# All kernels stay, those at the point of another too: the leak rule looks at them when a search starts from an archive, for each
# target. Their names, packages, licenses and families stand in the rows.
set -eu
cd "$(dirname "$0")/.."
: "${CACHE:=${STAMPMILL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stampmill}}"
binary=${STAMPMILL:-${CARGO_TARGET_DIR:-$CACHE/target}/release/stampmill}
[ $# -eq 0 ] || { echo "usage: archive.sh" >&2; exit 2; }
[ -x "$binary" ] || { echo "archive.sh: no binary at $binary: run \`make build\`, or name one in STAMPMILL" >&2; exit 2; }
for space in instcount autophase; do
    out=datasets/archive-$space
    "$binary" steer archive build datasets/device-mapping-h200/kernels --space "$space" --out "$out" --force
    "$binary" fsck "$out"
    [ "$(ls "$out" | grep -c '^part-')" = 1 ] || { echo "archive.sh: $out has several parts, and is to be one file" >&2; exit 2; }
    du -sk "$out"
done
