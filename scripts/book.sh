#!/bin/sh
# The book as pages, with search and a page to print: $CACHE/book/VERSION; $CACHE/book/index.html lists the versions that
# are there. Fetches and builds mdBook once (123 crates, two minutes of processor time, a binary of 12 MB; no dependency of ours).
# STAMPMILL=PATH   the binary whose commands the reference shows; default: that of `make build`
set -eu
cd "$(dirname "$0")/.."
: "${CACHE:=${STAMPMILL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stampmill}}"
binary=${STAMPMILL:-${CARGO_TARGET_DIR:-$CACHE/target}/release/stampmill}
[ -x "$binary" ] || { echo "book.sh: no binary at $binary: run \`make build\`, or name one in STAMPMILL" >&2; exit 2; }
version=0.5.4
mdbook=$CACHE/tools/bin/mdbook
[ "$("$mdbook" --version 2>/dev/null)" = "mdbook v$version" ] ||
    CARGO_TARGET_DIR=$CACHE/tools/target cargo install --locked --force --root "$CACHE/tools" --no-default-features --features search "mdbook@$version"
mkdir -p "$CACHE/book"
exec python3 -B scripts/book.py "$mdbook" "$binary" "$CACHE/book"
