#!/bin/sh
# `pip install`: a wheel of the command, its helper programs and the Python module (python/).
#   wheel.sh           builds it of the release binaries, those of `make objects`
#   wheel.sh --test    builds it, and runs python/tests on it as installed
#   wheel.sh --fetch   only fetches what the others need
# STAMPMILL=PATH       the binary (the helpers lie beside it); default: that of `make objects`
# $CACHE/wheel/dist    the wheel       $CACHE/wheel/tools   what builds it       $CACHE/wheel/test   where it is tested
set -eu
cd "$(dirname "$0")/.."
: "${CACHE:=${STAMPMILL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stampmill}}"
binary=${STAMPMILL:-${CARGO_TARGET_DIR:-$CACHE/target}/release/stampmill}
unset STAMPMILL # the module would take it for the binary that it is to run
home=$CACHE/wheel
test="" fetch=""
for flag in "$@"; do
    case $flag in
    --test) test=yes ;;
    --fetch) fetch=yes ;;
    *) echo "usage: wheel.sh [--test|--fetch]" >&2; exit 2 ;;
    esac
done
[ -x "$binary" ] || [ -n "$fetch" ] || { echo "wheel.sh: no binary at $binary: run \`make objects\`, or name one in STAMPMILL" >&2; exit 2; }
for program in python3 strip objdump cargo; do
    command -v $program >/dev/null || { echo "wheel.sh: no $program: apt-get install python3 python3-venv binutils; cargo comes with Rust" >&2; exit 2; }
done

# environment FOLDER PACKAGES...: a virtual environment with these, made once.
environment() {
    folder=$1; shift
    [ -e "$folder/ready" ] && [ "$(cat "$folder/ready")" = "$*" ] && return
    rm -rf "$folder"
    python3 -m venv "$folder" || { echo "wheel.sh: python3 makes no virtual environment: apt-get install python3-venv" >&2; exit 2; }
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --retries 10 "$@" ||
        { echo "wheel.sh: pip could not fetch $*: see above" >&2; exit 2; }
    echo "$*" >"$folder/ready"
}
environment "$home/tools" build hatchling
[ -z "$test$fetch" ] || environment "$home/test" pytest mypy pandas pyarrow gymnasium pandas-stubs pyarrow-stubs
[ -z "$fetch" ] || exit 0

# A copy, so that the checkout holds no binaries.
rm -rf "$home/source" "$home/dist"
mkdir -p "$home/source" "$home/dist"
cp -R python/. "$home/source"
rm -rf "$home/source/src/stampmill/bin"
cp LICENSE-APACHE LICENSE-MIT "$home/source"
python3 -B scripts/third-party.py "$home/source/THIRD-PARTY.txt"
bin=$home/source/src/stampmill/bin
mkdir "$bin"
from=$(dirname "$binary")
for name in stampmill stampmill-clang stampmill-launch stampmill-device stampmill-clock stampmill-query stampmill-objects libstampmill_timing.so; do
    [ -e "$from/$name" ] || { echo "wheel.sh: no $name beside $binary: run \`make objects\`" >&2; exit 2; }
    cp "$from/$name" "$bin/$name"
    strip "$bin/$name"
    chmod 755 "$bin/$name"
done

share=$home/source/src/stampmill/share
rm -rf "$share"
for name in models/infill models/cost datasets/device-mapping-h200/task datasets/device-mapping-h200/kernels datasets/local-size-h100/runs datasets/archive-instcount datasets/archive-autophase packages.toml functions.toml; do
    mkdir -p "$share/$(dirname "$name")"
    cp -R "$name" "$share/$(dirname "$name")"
done

# The command and the module are one release.
ours=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' python/src/stampmill/_version.py)
[ "stampmill $ours" = "$("$bin/stampmill" -V)" ] ||
    { echo "wheel.sh: python/src/stampmill/_version.py says $ours, the binary $("$bin/stampmill" -V)" >&2; exit 2; }

# The oldest C library that all of them run on names the platform.
glibc=$(for file in "$bin"/*; do objdump -T "$file"; done | grep -o 'GLIBC_2\.[0-9]*' | sort -t. -k2 -n | tail -1 | sed 's/GLIBC_2\.//')
export STAMPMILL_WHEEL_TAG=py3-none-manylinux_2_${glibc}_$(uname -m)
"$home/tools/bin/python" -m build --wheel --no-isolation --outdir "$home/dist" "$home/source" >"$home/log" 2>&1 ||
    { cat "$home/log" >&2; exit 2; }
wheel=$(echo "$home"/dist/*.whl)
echo "$wheel: $(($(wc -c <"$wheel") / 1000000)) MB; unpacked $((($(cat "$bin"/* | wc -c) + $(du -sb "$share" | cut -f1)) / 1000000)) MB"
rm -rf "$bin" "$share"
[ -n "$test" ] || exit 0

"$home/test/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
STAMPMILL_WHEEL=$wheel STAMPMILL_ROOT=$PWD "$home/test/bin/python" -m pytest -p no:cacheprovider python/tests
