#!/bin/bash
# What the compiler wrapper costs: real C (zstd's, as the crate zstd-sys brings it), a real crate
# (regex-automata), and where there is flang 19 and FORTRAN names a folder, files of Fortran in it that compile alone;
# built plain and wrapped, in turns.
# usage: [FORTRAN=FOLDER] ir-overhead.sh STAMPMILL [ROUNDS]
# Prints wall and processor seconds of each and the medians' ratio, wrapped over plain (lower is better).
set -eu
stampmill=$(realpath "$1")
rounds=${2:-3}
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
source=$(cd "$root" && cargo metadata --format-version 1 --offline --locked --filter-platform "$(rustc -vV | sed -n 's/host: //p')" |
    python3 -c 'import json,sys; print(next(p["manifest_path"] for p in json.load(sys.stdin)["packages"] if p["name"]=="zstd-sys"))')
zstd=$(dirname "$source")/zstd/lib
mkdir crate && cat > crate/Cargo.toml <<'T'
[package]
name = "crate"
version = "0.0.0"
edition = "2021"
[lib]
path = "lib.rs"
[dependencies]
regex-automata = "0.4"
[workspace]
T
touch crate/lib.rs
cp "$root/Cargo.lock" crate/Cargo.lock
(cd crate && cargo fetch --quiet --offline 2>/dev/null || cargo fetch --quiet)
"$stampmill" ir wrap --stand-ins bin --store kept > /dev/null
c() { # COMPILER
    rm -rf objects && mkdir objects
    for file in "$zstd"/common/*.c "$zstd"/compress/*.c "$zstd"/decompress/*.c; do
        "$1" -O2 -DZSTD_DISABLE_ASM -c "$file" -o "objects/$(basename "$file").o"
    done
}
kinds="c rust"
sources=()
if [ -n "${FORTRAN:-}" ] && command -v flang-new-19 > /dev/null; then
    kinds="$kinds fortran"
    # The largest dozen.
    while read -r file; do
        [ "${#sources[@]}" -lt 12 ] || break
        if flang-new-19 -fsyntax-only "$file" 2> /dev/null; then sources+=("$file"); fi
    done < <(find "$(realpath "$FORTRAN")" -type f \( -name '*.f' -o -name '*.f90' \) -printf '%s %p\n' | sort -rn | cut -d' ' -f2-)
    [ "${#sources[@]}" -gt 0 ] || { echo "ir-overhead: no file of Fortran in $FORTRAN compiles alone" >&2; exit 2; }
fi
fortran() { # COMPILER
    rm -rf objects && mkdir objects
    for file in "${sources[@]}"; do
        "$1" -O2 -c "$file" -o "objects/$(basename "$file").o"
    done
}
rust() { # WRAPPER or nothing
    rm -rf crate/target
    (cd crate && RUSTC_WRAPPER="$1" CARGO_TARGET_DIR="$folder/crate/target" cargo build --quiet --release --offline -j1)
}
TIMEFORMAT='%R %U %S'
measure() { # NAME COMMAND...
    name=$1; shift
    { time "$@" > /dev/null 2> "$folder/errors"; } 2> "$folder/time" || { cat "$folder/errors" >&2; exit 1; }
    read -r wall user system < "$folder/time"
    echo "$name $wall $(echo "$user + $system" | bc)" | tee -a "$folder/all"
}
for _ in $(seq "$rounds"); do
    measure c-plain c clang-19
    measure c-wrapped c "$folder/bin/clang-19"
    measure rust-plain rust ""
    measure rust-wrapped rust "$folder/bin/rustc-wrapper"
    [ "$kinds" = "c rust" ] || measure fortran-plain fortran flang-new-19
    [ "$kinds" = "c rust" ] || measure fortran-wrapped fortran "$folder/bin/flang-new-19"
done
python3 - "$folder/all" $kinds <<'P'
import statistics, sys
times = {}
for line in open(sys.argv[1]):
    name, wall, cpu = line.split()
    times.setdefault(name, []).append((float(wall), float(cpu)))
for kind in sys.argv[2:]:
    for place, what in ((0, "wall"), (1, "processor")):
        median = lambda name: statistics.median(t[place] for t in times[name])
        plain, wrapped = median(kind + "-plain"), median(kind + "-wrapped")
        print(f"{kind}: {what} time wrapped {wrapped:.2f} s, plain {plain:.2f} s, ratio {wrapped / plain:.2f}")
P
