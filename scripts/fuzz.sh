#!/bin/sh
# Build the fuzz targets and run them side by side, each for so much processor time, as many as there are processors.
#
#   scripts/fuzz.sh [SECONDS] [TARGET...]        60 s each of all targets unless said
#   scripts/fuzz.sh check                        whether the targets compile
#   scripts/fuzz.sh pack FOLDER                  what another machine needs: the binary, the seeds and this script
#
# CORPUS names where inputs are kept that reached new code, and crashes (target/fuzz/corpus unless said). In a packed
# folder nothing is built. Prints a table; exit status 1 where a target crashed, hung or needed too much memory.
set -eu
root=$(cd "$(dirname "$0")" && pwd)

build() {
  cd "$root/../fuzz"
  # The versions that the workspace is built with; what fuzzing needs besides is added.
  [ -e Cargo.lock ] && [ Cargo.lock -nt ../Cargo.lock ] || cp ../Cargo.lock Cargo.lock
  target=${CARGO_TARGET_DIR:-$root/../target}/fuzz
  if [ "${1:-}" = check ]; then
    CARGO_TARGET_DIR=$target cargo check --release
    exit
  fi
  # libstdc++ becomes part of the binary (rustc.sh says where it is).
  CXXSTDLIB=static=stdc++ RUSTC_WRAPPER=$PWD/rustc.sh CARGO_TARGET_DIR=$target cargo build --release
  binary=$target/release/fuzz
  seeds=$root/../fuzz/seeds
  corpus=${CORPUS:-$target/corpus}
}

if [ -x "$root/fuzz" ]; then
  binary=$root/fuzz seeds=$root/seeds corpus=${CORPUS:-$root/corpus}
else
  build "$@"
fi

if [ "${1:-}" = pack ]; then
  mkdir -p "$2"
  cp -r "$binary" "$seeds" "$root/fuzz.sh" "$2"
  du -sh "$2"
  exit
fi

seconds=${1:-60}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- $("$binary" --list)

# Files of targets and of libFuzzer's processes lie in memory, where it may be had.
scratch=$(mktemp -d "$([ -d /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")/fuzz.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
: >"$scratch/begin"
export binary seeds corpus seconds scratch

# A process that crashes is begun again (-fork); what it crashed on is kept. libFuzzer counts time on the clock, so that a
# target is run again while it has had less of a processor than it should have.
printf '%s\n' "$@" | xargs -P "$(nproc)" -I NAME sh -c '
  name=$1 found=$corpus/$1 bad=$corpus/../artifacts/$1/ used=0 before=-1
  mkdir -p "$found" "$bad" "$scratch/$name"
  # In hundredths of a second.
  while [ "$used" -lt $((100 * seconds)) ] && [ "$used" -gt "$before" ]; do
    before=$used
    TMPDIR=$scratch/$name "$binary" --target="$name" -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 \
      -max_total_time=$((seconds - used / 100)) -timeout=10 -report_slow_units=2 -rss_limit_mb=2048 -max_len=8192 \
      -artifact_prefix="$bad" "$found" "$seeds/$name" >>"$scratch/$name.log" 2>&1 || true
    echo "end of a round" >>"$scratch/$name.log"
    times >"$scratch/$name.times"
    used=$(sed -n 2p "$scratch/$name.times" | tr "ms" "  " | awk "{ print int(100 * (60 * \$1 + \$2 + 60 * \$3 + \$4)) }")
    echo $((used / 100)) >"$scratch/$name.used"
  done
  rm -rf "$scratch/$name"' sh NAME

count() { find "$corpus/../artifacts/$1" -name "$2" -newer "$scratch/begin" 2>/dev/null | wc -l; }
printf '| %-10s | %6s | %12s | %8s | %8s | %7s | %8s | %6s | %5s |\n' target 'core s' executions coverage features crashes timeouts memory slow
echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|'
status=0
for name; do
  last=$(grep '^#[0-9]*: cov: ' "$scratch/$name.log" | tail -n 1)
  if [ -z "$last" ]; then
    echo "$name did not run:" >&2
    tail -n 5 "$scratch/$name.log" >&2
    status=1
    continue
  fi
  executions=$(awk '/^#[0-9]+: cov: / { n = substr($1, 2) + 0 } /^end of a round/ { sum += n; n = 0 } END { printf "%.0f", sum }' "$scratch/$name.log")
  set -- "$executions" $(echo "$last" | sed -E 's/^#[0-9]+: cov: ([0-9]+) ft: ([0-9]+) .*/\1 \2/')
  crashes=$(count "$name" 'crash-*') timeouts=$(count "$name" 'timeout-*') memory=$(count "$name" 'oom-*')
  printf '| %-10s | %6s | %12s | %8s | %8s | %7s | %8s | %6s | %5s |\n' "$name" "$(cat "$scratch/$name.used")" "$1" "$2" "$3" \
    "$crashes" "$timeouts" "$memory" "$(count "$name" 'slow-unit-*')"
  [ "$crashes$timeouts$memory" = 000 ] || status=1
  # The first words of each crash.
  grep -h -A2 "panicked at" "$scratch/$name.log" | grep -v '^--' | sort -u | head -n 6 | cut -c 1-300 >&2 || true
done
exit $status
