#!/bin/bash
# What the sandbox costs: `time` of a program that does next to nothing, and `edits judge` of many candidates, by an
# older and a newer build in turns.
# usage: bench-sandbox.sh OLD_BINARY NEW_BINARY [ROUNDS]
# Prints medians and new - old of a start (wanted: at most 10 ms), new / old of the time judging takes (at most 1.05).
# Each binary stands in a folder with its helper binaries (stampmill-launch, stampmill-clock, libstampmill_timing.so).
set -euo pipefail
old=$(realpath "$1") new=$(realpath "$2") rounds=${3:-15}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

printf 'int main(void) { return 0; }\n' > nothing.c
gcc -O3 -static -o nothing nothing.c
n=0
for candidate in $(seq 12); do
    printf '{"src_id": "s%s", "generated_answers": [' "$candidate"
    for answer in 1 2 3 4; do
        n=$((n + 1))
        [ "$answer" = 1 ] || printf ', '
        printf '"#include <cstdio>\\nint main() { int n; if (scanf(\\"%%d\\", &n) != 1) return %s; printf(\\"%%ld\\\\n\\", (long)n * (n + 1) / 2); }\\n"' "$n"
    done
    printf ']}\n'
done > answers.jsonl
for pair in $(seq 12); do
    printf '{"problem_id": "p1", "src_id": "s%s", "tgt_id": "t%s", "src_code": "#include <cstdio>\\nint main() { int n; if (scanf(\\"%%d\\", &n) != 1) return 1; volatile long s = %s; s = 0; for (int i = 1; i <= n; i++) s += i; printf(\\"%%ld\\\\n\\", s); }\\n", "tgt_code": "int main() {}", "src_agg_runtime": 2.0, "tgt_agg_runtime": 1.0, "speedup": 2.0}\n' "$pair" "$pair" "$pair"
done > pairs.jsonl
mkdir -p tests/p1
for test in $(seq 0 7); do
    n=$((1000 + test * 100))
    echo "$n" > "tests/p1/input.$test.txt"
    echo "$((n * (n + 1) / 2))" > "tests/p1/output.$test.txt"
done

# Milliseconds on the wall of a command, whose exit status tells whether it can be measured.
took() {
    local begun ended
    begun=$(date +%s%N)
    "$@" > output 2>&1 || { cat output >&2; exit 1; }
    ended=$(date +%s%N)
    echo $(((ended - begun) / 1000)) | awk '{ printf "%.3f\n", $1 / 1000 }'
}
start() { took "$1" time ./nothing --no-net --source "$2"; }
judge() {
    rm -rf cache judged judged.partial
    took "$1" edits judge pairs.jsonl --candidates answers.jsonl --tests tests --cache cache --sanitize never \
        --jobs 2 --out judged
}
median() { sort -n "$1" | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

for round in $(seq "$rounds"); do
    for which in old new; do
        for source in qemu wall; do
            start "${!which}" "$source" >> "$which.$source"
        done
        # Judging is long: a third of the rounds are enough.
        [ $((round % 3)) != 1 ] || judge "${!which}" >> "$which.judge"
    done
done
printf '%-28s %10s %10s %10s\n' "medians in ms" old new ""
for source in qemu wall; do
    a=$(median "old.$source") b=$(median "new.$source")
    printf '%-28s %10s %10s %10s\n' "time --source $source" "$a" "$b" "$(awk "BEGIN { printf \"%+.1f ms\", $b - $a }")"
done
a=$(median old.judge) b=$(median new.judge)
printf '%-28s %10s %10s %10s\n' "edits judge, 48 candidates" "$a" "$b" "$(awk "BEGIN { printf \"%.3f x\", $b / $a }")"
