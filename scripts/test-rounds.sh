#!/bin/sh
# All tests again and again while the machine is busy, to find those that race.
#
#   scripts/test-rounds.sh [ROUNDS]      20 unless said; LOAD busy loops beside them (as many as there are processors)
#
# Builds once. Each round runs all of `cargo xtask test` but with one kill a stage in `crash` (KILLS=1), with another SEED.
# Prints a line a round and, at the end, each test that failed and how often. Exit status 1 where one did.
set -eu
cd "$(dirname "$0")/.."
rounds=${1:-20} load=${LOAD:-$(nproc)}
logs=$(mktemp -d "${TMPDIR:-/tmp}/rounds.XXXXXX")
cargo build --release --workspace
cargo test --release --workspace --no-run
busy=
trap 'kill $busy 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
for _ in $(seq "$load"); do
  while :; do :; done &
  busy="$busy $!"
done
for round in $(seq "$rounds"); do
  started=$(date +%s)
  STAMPMILL_KILLS=${KILLS:-1} STAMPMILL_SEED=$round cargo xtask test >"$logs/$round" 2>&1 || true
  count=$(grep -hE '^[0-9]+ passed, [0-9]+ failed, ' "$logs/$round" | tail -n 1)
  echo "round $round: ${count:-did not end}, $(($(date +%s) - started)) s, load $(cut -d' ' -f1 /proc/loadavg)"
done
failed=$(sed -nE 's/^test (.*) \.\.\. FAILED$/\1/p' "$logs"/* | sort | uniq -c)
if [ -n "$failed" ] || [ "$(grep -lE '^[0-9]+ passed, 0 failed, ' "$logs"/* | wc -l)" != "$rounds" ]; then
  printf 'failed (how often, which):\n%s\nsee %s\n' "$failed" "$logs"
  exit 1
fi
