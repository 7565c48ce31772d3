#!/usr/bin/env python3
"""The kernels of docs/results/active-learning.md: real ones that are known to run on a processor and a GPU.

    scripts/device_kernels.py STAMPMILL SUITES.jsonl OUT

Reads datasets/device-mapping-h200 and takes what was measured at 2^18 work-items. The eight packages with the most such kernels are there to train on,
the others to test on, each with at most 60 (drawn, seed 1). SUITES.jsonl has lines with `src`: kernels of CLgen's suites, to test on. Writes the folders
OUT/mined and OUT/held of `.cl` files.
"""
import collections
import json
import pathlib
import random
import subprocess
import sys

QUERY = """SELECT t."group" AS package, t.program, k.text, t.label FROM t JOIN k ON right(t.program, 8) = left(k.id, 8)
WHERE t.variant = '262144' ORDER BY t.program"""
SHIPPED = pathlib.Path(__file__).resolve().parent.parent / "datasets/device-mapping-h200"

program, suites, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
said = subprocess.run([program, "query", QUERY, f"t={SHIPPED / 'task'}", f"k={SHIPPED / 'kernels'}", "--format", "jsonl"], check=True, stdout=subprocess.PIPE, text=True)
packages = collections.defaultdict(list)
for line in said.stdout.splitlines():
    row = json.loads(line)
    packages[row["package"]].append(row)
rng = random.Random(1)
drawn = {name: rng.sample(rows, min(60, len(rows))) for name, rows in sorted(packages.items())}
largest = sorted(packages, key=lambda name: (-len(packages[name]), name))[:8]
texts = {"mined": [], "held": []}
for name, rows in drawn.items():
    texts["mined" if name in largest else "held"] += rows
for role, rows in texts.items():
    labels = collections.Counter(row["label"] for row in rows)
    print(f"{role}: {len(rows)} kernels of {len({row['package'] for row in rows})} packages, faster at 2^18 on the processor: {labels['CPU']}")
texts["held"] += [{"text": json.loads(line)["src"]} for line in suites.read_text().splitlines()]
for role, rows in texts.items():
    folder = out / role
    folder.mkdir(parents=True)
    for number, row in enumerate(rows):
        (folder / f"{number:03}.cl").write_text(row["text"])
