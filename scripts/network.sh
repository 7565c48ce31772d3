#!/bin/sh
# Checks that need the package registries, kept out of `make test`.
# usage: network.sh BENCHSTONE
set -eu
benchstone=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0
expect() { # NAME SOURCE: mining SOURCE finds at least one file
    if "$benchstone" mine "$2" --out "$folder/$1" --json > "$folder/$1.json" &&
        grep -q '"files":[1-9]' "$folder/$1.json"; then
        passed=$((passed + 1))
    else
        echo "failed: mine $2" >&2
        failed=$((failed + 1))
    fi
}
expect debian deb:gegl
expect wheel pypi:silx
expect crate crate:ocl
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
