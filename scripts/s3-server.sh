#!/bin/sh
# The S3 server that `make test-cluster` tries object stores with: s3s-fs keeps objects as files and checks signatures. It
# is built once, into the cache, and is no part of what is installed.
# usage: CACHE=DIR CARGO_TARGET_DIR=DIR scripts/s3-server.sh
set -eu
version=0.14.1
root="$CACHE/s3s-fs"
if [ -x "$root/bin/s3s-fs" ] && grep -qs "^\"s3s-fs $version " "$root/.crates.toml"; then
    exit 0
fi
CARGO_TARGET_DIR="$CARGO_TARGET_DIR/s3s-fs" cargo install --quiet --locked --force --root "$root" --features binary "s3s-fs@$version"
rm -rf "$CARGO_TARGET_DIR/s3s-fs"
