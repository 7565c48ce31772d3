#!/bin/sh
# What foreign code, faults of the machine and kills can do to us: everything, at length.
#
#   scripts/hostile.sh [escape|builds|inputs|faults|crash ...]    all groups unless some are named
#
# KILLS=50   SIGKILLs of each stage        SEED=0   draws their moments
#
# group    what it does                                                          where it is written
# escape   every attack under every profile, and kernels without protections     crates/sandbox/tests/
# builds   build scripts, Makefiles and stores that attack the one who builds     crates/ir/tests/hostile.rs
# inputs   settings and data sets of train and learn that are broken or endless    cases/*/hostile_*.case
# faults   full and read-only disks, vanishing inputs, no memory, killed workers   crates/cli/tests/crash/
# crash    KILLS kills of each stage, Ctrl-C, SIGTERM; the rows must be equal       crates/cli/tests/crash/
#
# Nothing leaves the loopback interface. Each trial that may find a hole runs in process, mount and
# System V namespaces of its own and is bounded in time and count. `make test` runs all of it but with 3
# kills a stage. Ends with a line per group; exit status 1 where one of them failed.
set -u
cd "$(dirname "$0")/.."
groups=${*:-escape builds inputs faults crash}
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

cargo build --release --workspace || exit 2

# group, then what `cargo test` is told
group() {
    name=$1
    shift
    case " $groups " in *" $name "*) ;; *) return ;; esac
    begun=$(date +%s)
    echo "== $name"
    if cargo test --release --workspace "$@" >"$log/$name.txt" 2>&1; then state=held; else state=FAILED; fi
    # Lines of stages, and all that failed with its reasons.
    grep -E '^[a-z-]+ [a-z-]+: |FAILED$|^---- |^ *exit status|ESCAPED|^error' "$log/$name.txt" || true
    passed=$(sed -n 's/^test result: [A-Za-z]*\. \([0-9]*\) passed.*/\1/p' "$log/$name.txt" | paste -sd+ | bc)
    failed=$(sed -n 's/^test result: .* \([0-9]*\) failed.*/\1/p' "$log/$name.txt" | paste -sd+ | bc)
    line="$name: $state, ${passed:-0} passed, ${failed:-0} failed, $(($(date +%s) - begun)) s"
    # A group of which nothing ran has proved nothing.
    [ "${passed:-0}" -gt 0 ] || line="$name: FAILED, nothing ran"
    echo "$line" >>"$log/summary"
}

group escape --test escape
group builds --test hostile
group inputs --test cases -- hostile_
group faults --test crash -- --skip ::stopped
STAMPMILL_KILLS=${KILLS:-50} STAMPMILL_SEED=${SEED:-0} group crash --test crash -- ::stopped

echo
cat "$log/summary"
! grep -q FAILED "$log/summary"
