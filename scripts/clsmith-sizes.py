#!/usr/bin/env python3
"""How large the programs of CLSmith are whose vectors were recorded: the table that `steer --proposers smith` draws from.

usage: clsmith-sizes.py DATA > crates/synth/src/proposer/smith/sizes.txt      DATA: the folder with cgo17/

Rows with garbage (counts over 20,000) are left out. The others are ordered by `comp`, then by `rational`; of each fiftieth of
them the least and most `comp` and five quantiles of `rational` are printed. No row of the data is.
"""
import csv
import gzip
import sys
from pathlib import Path

GARBAGE = 20_000
PARTS = 50
RANKS = [0.05, 0.25, 0.5, 0.75, 0.95]
# Beyond lies one program in two hundred, up to five times as large as the largest of the others.
KEPT = 0.995
# The counters of which all have the same value.
FIXED = ["mem", "localmem", "coalesced", "atomic"]
HEAD = """\
# Recorded vectors of CLSmith's programs (Cummins et al., CGO 2017), by `scripts/clsmith-sizes.py DATA`. A line is a fiftieth of
# them: the least and most comp, and rational at ranks {ranks}. All: {fixed}. Quartiles: {quartiles}."""


def quantile(ordered, rank):
    return ordered[round(rank * (len(ordered) - 1))]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with gzip.open(Path(sys.argv[1]) / "cgo17/clsmith-features.csv.gz", "rt") as file:
        rows = [{name: int(row[name]) for name in ["comp", "rational", *FIXED]} for row in csv.DictReader(file)]
    rows = [row for row in rows if max(row.values()) <= GARBAGE]
    if any(row[name] != rows[0][name] for row in rows for name in FIXED):
        sys.exit(f"clsmith-sizes: {', '.join(FIXED)} differ among the programs, and the table has no column for them")
    fixed = ", ".join(f"{name} {rows[0][name]}" for name in FIXED)
    quartiles = [f"{name} " + " ".join(str(quantile(sorted(row[name] for row in rows), rank)) for rank in (0.25, 0.5, 0.75)) for name in ("comp", "rational")]
    print(HEAD.format(ranks=" ".join(map(str, RANKS)), fixed=fixed, quartiles=", ".join(quartiles)))
    sizes = sorted((row["comp"], row["rational"]) for row in rows)
    sizes = sizes[: round(KEPT * len(sizes))]
    for number in range(PARTS):
        part = sizes[len(sizes) * number // PARTS : len(sizes) * (number + 1) // PARTS]
        rational = sorted(size for _, size in part)
        print(part[0][0], part[-1][0], *(quantile(rational, rank) for rank in RANKS))


main()
