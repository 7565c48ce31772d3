#!/usr/bin/env python3
"""What stages cost, by an older and a newer build in turns.

usage: bench-stages.py OLD NEW WORK [ROUNDS]

OLD and NEW are folders with the programs of a build (`stampmill`, or `benchstone` before it was renamed, and the helper
binaries beside it). Each build makes its own inputs in WORK first (`mine` fetches three packages). Prints, for each
stage, the median seconds on the clock, and new / old (wanted: at most 1.05).
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

MADE = [("raw", "mine deb:gegl pypi:silx crate:ocl --out @raw"), ("kernels", "prepare @raw --out @kernels")]
# `@x`: the folder x of this build's own results.
STAGES = [
    ("prepare", "prepare @raw --out @out --jobs 2"),
    ("features", "features @kernels --space grewe,instcount,autophase --out @out --jobs 2"),
    ("steer", "steer --as-found --space instcount --target Load=12,FMul=8,Store=3 --seed 1 --budget 20000 --jobs 1 --out @out"),
    ("run", "run @kernels --devices cpu --global-sizes 256,1024 --budget 0s --jobs 2 --out @out"),
    ("sample", "sample @model --n 64 --seed 3 --jobs 2 --out @out"),
    ("time", "time --suite @suite --out @out --jobs 2"),
    ("query", "query 'SELECT_package,count(*)_FROM_k_GROUP_BY_package' k=@kernels"),
]


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    builds = {which: pathlib.Path(path).absolute() for which, path in zip(("old", "new"), sys.argv[1:3])}
    work = pathlib.Path(sys.argv[3]).absolute()
    rounds = int(sys.argv[4]) if len(sys.argv) == 5 else 5
    for which, build in builds.items():
        home = work / which
        home.mkdir(parents=True, exist_ok=True)
        make_inputs(home)
        for name, line in MADE:
            if not (home / name / "_dataset.json").exists():
                run(build, home, line)
    print(f"{'stage':10} {'old':>8} {'new':>8} {'new/old':>8}")
    for name, line in STAGES:
        taken = {"old": [], "new": []}
        for _ in range(rounds):
            for which, build in builds.items():
                shutil.rmtree(work / which / "out", ignore_errors=True)
                taken[which].append(run(build, work / which, line))
        if None in taken["old"] + taken["new"]:
            print(f"{name:10} not measured: a build failed")
            continue
        old, new = (statistics.median(taken[which]) for which in ("old", "new"))
        print(f"{name:10} {old:8.2f} {new:8.2f} {new / old:8.2f}", flush=True)


def run(build, home, line):
    """Seconds on the clock. (Processor time is not to be had: what runs in a sandbox is no child of this process.)"""
    program = next(build / name for name in ("stampmill", "benchstone") if (build / name).exists())
    words = [word.strip("'").replace("_", " ") if word.startswith("'") else word.replace("@", f"{home}/") for word in line.split()]
    begun = time.monotonic()
    done = subprocess.run([program, *words, "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    taken = time.monotonic() - begun
    if done.returncode > 1:
        print(f"{program.name} {line}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    return taken


def make_inputs(home):
    suite = home / "suite"
    suite.mkdir(exist_ok=True)
    for number in range(6):
        (suite / f"p{number}.c").write_text(
            "#include <stdio.h>\n#include <stdlib.h>\nstatic int c(const void*a,const void*b){return *(int*)a-*(int*)b;}\n"
            "int main(void){int n,v[4096];scanf(\"%d\",&n);for(int i=0;i<4096;i++)v[i]=(i*n)%977;"
            f"qsort(v,4096,4,c);printf(\"%d\\n\",v[{number}]);return 0;}}\n"
        )
        (suite / f"p{number}.in").write_text("1000\n")
    model = home / "model"
    if not model.exists():
        model.symlink_to(pathlib.Path(__file__).absolute().parent.parent / "models/infill")
    os.sync()


main()
