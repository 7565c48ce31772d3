#!/bin/sh
# What docs/results/human-edits.md and edit-rules.md report, measured again: real human pairs are turned into a data set, tests grown, both sides
# timed, people and the rule-based search judged.
# usage: edits-proof.sh DATA OUT [PAIRS]    DATA holds pairs.jsonl and problems.jsonl (see docs/results/human-edits.md); PAIRS: a part of them
set -eu
data=$1 out=$2 pairs=${3:-$1/pairs.jsonl}
b=${STAMPMILL:-stampmill}
mkdir -p "$out"
"$b" edits tests "$data/problems.jsonl" --pairs "$pairs" --out "$out/tests" --json > "$out/tests.json"
"$b" edits pairs "$pairs" --tests "$out/tests" --rejected --out "$out/pairs" --json > "$out/pairs.json"
# The same by this host's clock, for the order of each pair.
"$b" edits pairs "$pairs" --tests "$out/tests" --rejected --source wall --out "$out/wall" --jobs 1 --json > "$out/wall.json"
"$b" query "SELECT count(*) AS pairs, sum(CASE WHEN (m.speedup > 1) = (w.speedup > 1) THEN 1 ELSE 0 END) AS same_order
  FROM m JOIN w ON m.src_id = w.src_id AND m.problem_id = w.problem_id
  WHERE m.speedup IS NOT NULL AND w.speedup IS NOT NULL AND abs(w.speedup - 1) > 0.1" \
  "m=$out/pairs" "w=$out/wall" --format csv | tee "$out/agreement.csv"
for who in same best; do
    "$b" edits judge "$out/pairs" --human $who --tests "$out/tests" --hidden "$out/tests" --out "$out/human-$who" --json > "$out/human-$who.json" || true
    "$b" edits score "$out/human-$who" || true
done
for io in "" --no-io; do
    "$b" edits propose "$out/pairs" --method rules $io --tests "$out/tests" --out "$out/rules$io.jsonl" --json > "$out/rules$io.json" || true
    "$b" edits judge "$out/pairs" --candidates "$out/rules$io.jsonl" --tests "$out/tests" --hidden "$out/tests" --out "$out/judged$io" --json > "$out/judged$io.json" || true
    "$b" edits score "$out/judged$io" --plot "$out/fast_p$io.svg" || true
done
