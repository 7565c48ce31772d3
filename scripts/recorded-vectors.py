#!/usr/bin/env python3
"""How near the recorded vectors of CLgen, CLSmith and GitHub's kernels come to the benchmarks' in Grewe's space.

usage: recorded-vectors.py DATA      DATA: the folder with the CSV files of the CLgen paper
needs pandas; rows with garbage (counts over 20,000) are left out on both sides
"""
import sys
from pathlib import Path

import pandas

COUNTS = ["comp", "rational", "mem", "localmem", "coalesced", "atomic"]


def vectors(path):
    table = pandas.read_csv(path)[COUNTS]
    return table[(table <= 20_000).all(axis=1)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    data = Path(sys.argv[1])
    both = pandas.concat([vectors(data / f"{device}-benchmarks.csv") for device in ("amd", "nvidia")])
    targets = both.drop_duplicates().to_numpy(float)
    for source in ("clgen", "clsmith", "github"):
        known = vectors(data / f"{source}-features.csv.gz").drop_duplicates().to_numpy(float)
        nearest = [(((known - target) ** 2).sum(axis=1) ** 0.5).min() for target in targets]
        norms = (targets**2).sum(axis=1) ** 0.5
        proximity = pandas.Series(1 - nearest / norms).median()
        exact = sum(distance == 0 for distance in nearest)
        print(f"{source}: {len(known)} vectors, {exact} of {len(targets)} exact, median proximity {proximity:.3f}")


main()
