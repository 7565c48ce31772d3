#!/usr/bin/env python3
"""The facts that ship (crates/trials/facts) from the published data: numbers and hashes, no texts.

usage: facts.py DATA      DATA: the folder with cgo17/, kernels/ and targets/
"""
import csv
import gzip
import hashlib
import json
import shutil
import sys
from pathlib import Path

FACTS = Path(__file__).parent.parent / "crates/trials/facts"
COUNTERS = ["comp", "rational", "mem", "localmem", "coalesced", "atomic"]
MEASURED = ["dataset", *COUNTERS, "transfer", "wgsize", "oracle", "runtime_cpu", "runtime_gpu"]


def pack(name, columns, rows):
    lines = [",".join(map(str, row)) for row in [columns, *rows]]
    with open(FACTS / name, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    data = Path(sys.argv[1])
    for platform in ("amd", "nvidia"):
        with open(data / f"cgo17/{platform}-benchmarks.csv") as file:
            rows = list(csv.DictReader(file))
        columns = [column for column in rows[0] if column != "runtime"]
        pack(f"cgo17/{platform}-benchmarks.csv.gz", columns, ([row[c] for c in columns] for row in rows))
        with open(data / f"cgo17/{platform}-clgen.csv") as file:
            rows = list(csv.DictReader(file))
        numbers = {}
        name = lambda row: "k%d" % numbers.setdefault(row["benchmark"], len(numbers))
        rows = ([name(row)] + [row[c] for c in MEASURED] for row in rows)
        pack(f"cgo17/{platform}-clgen.csv.gz", ["benchmark", *MEASURED], rows)
    for source in ("clgen", "clsmith", "github"):
        columns = ["comp", "mem", "localmem", "coalesced"]
        with gzip.open(data / f"cgo17/{source}-features.csv.gz", "rt") as file:
            rows = sorted(tuple(int(row[c]) for c in columns) for row in csv.DictReader(file))
        pack(f"cgo17/{source}-features.csv.gz", columns, rows)
    shutil.copyfile(data / "cgo17/expected.json", FACTS / "cgo17/expected.json")
    shutil.copyfile(data / "targets/suites.jsonl", FACTS / "suites.jsonl")
    with open(data / "kernels/clgen.jsonl") as file, open(FACTS / "clgen.csv", "w") as table:
        print(",".join(["text", *COUNTERS, "instcount", "autophase"]), file=table)
        for row in map(json.loads, file):
            text = hashlib.sha256(row["src"].encode()).hexdigest()[:16]
            vectors = [" ".join(map(str, row.get(space, []))) for space in ("instcount", "autophase")]
            print(",".join([text, *(str(row[c]) for c in COUNTERS), *vectors]), file=table)


main()
