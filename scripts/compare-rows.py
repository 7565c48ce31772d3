#!/usr/bin/env python3
"""The same jobs by two builds: are the rows the same?

usage: compare-rows.py OLD NEW WORK [JOB...]

OLD and NEW are folders with the programs of a build (`stampmill`, or `benchstone` before it was renamed, and the
helper binaries beside it). The jobs are those of `make demo`, a fixed steer, run, label, sample, time, ir and edits.
Each is done by both builds into WORK; the rows are read with NEW's `query` and compared in their order, less the
columns that hold measured time. Exit status 1 where they differ.
"""

import json
import pathlib
import subprocess
import sys

# Measured on a clock, or of this run alone.
CLOCKS = {
    "transfer_time_ns", "kernel_time_ns", "wall_time_ns", "seconds", "log", "src_peak_bytes", "peak_bytes",
    "interval", "repeats",
}

PROGRAMS = {
    "sum.c": "#include <stdio.h>\nint main(void){int n,s=0;scanf(\"%d\",&n);for(int i=0;i<n;i++)s+=i%7;printf(\"%d\\n\",s);return 0;}\n",
    "sort.c": "#include <stdio.h>\n#include <stdlib.h>\nstatic int c(const void*a,const void*b){return *(int*)a-*(int*)b;}\n"
              "int main(void){int n,v[4096];scanf(\"%d\",&n);for(int i=0;i<4096;i++)v[i]=(i*n)%977;qsort(v,4096,4,c);printf(\"%d\\n\",v[7]);return 0;}\n",
    "bad.c": "int main(void){return 1",
}
SLOW = "#include <iostream>\n#include <vector>\nint main(){long n;std::cin>>n;std::vector<long>v;for(long i=0;i<n;i++)v.insert(v.begin(),i%9);long s=0;for(auto x:v)s+=x;std::cout<<s<<std::endl;}\n"
FAST = "#include <cstdio>\nint main(){long n,s=0;scanf(\"%ld\",&n);for(long i=0;i<n;i++)s+=i%9;printf(\"%ld\\n\",s);}\n"

# name, command; `@x` is the folder x of the build's own results, `=x` an input made once.
JOBS = [
    ("raw", "mine deb:gegl pypi:silx crate:ocl --out @raw"),
    ("kernels", "prepare @raw --out @kernels"),
    ("features", "features @kernels --space grewe,instcount,autophase --out @features"),
    ("found", "steer --space instcount --target Load=3,FMul=2,Store=1..2 --target Load=9,Store=2 --seeds @kernels --seed 1 --budget 1500 --out @found"),
    ("runs", "run @kernels --devices cpu --global-sizes 256,1024 --sample 40 --budget 0s --out @runs"),
    ("measured", "run @kernels --devices cpu --global-sizes 256 --sample 6 --budget 1ms --out @measured"),
    ("samples", "sample =model --n 24 --seed 3 --out @samples"),
    ("timings", "time --suite =suite --out @timings"),
    ("functions", "mine =suite --language c --out @functions"),
    ("built", "ir build dir:=project --out @built"),
    ("extracted", "ir extract =project --out @extracted"),
    ("unique", "ir dedup @built --out @unique"),
    ("licensed", "ir license @built --policy all --out @licensed"),
    ("statistics", "ir stats @built --out @statistics"),
    ("pairs", "edits pairs =submissions.jsonl --tests =tests --rejected --out @pairs"),
    ("judged", "edits judge @pairs --human best --tests =tests --out @judged"),
]


def main():
    old, new, work = (pathlib.Path(p).absolute() for p in sys.argv[1:4])
    wanted = set(sys.argv[4:])
    inputs = work / "inputs"
    make_inputs(inputs)
    different = 0
    for name, line in JOBS:
        if wanted and name not in wanted:
            continue
        rows = []
        for which, build in (("old", old), ("new", new)):
            home = work / which
            home.mkdir(parents=True, exist_ok=True)
            if not (home / name / "_dataset.json").exists():
                words = [word.replace("@", f"{home}/").replace("=", f"{inputs}/", 1) if "@" in word or word.startswith(("=", "dir:=")) else word for word in line.split()]
                done = subprocess.run([program(build), *words, "--quiet", "--json"], capture_output=True, text=True)
                if done.returncode == 2:
                    print(f"{name}: {which} failed: {done.stderr.strip()[-300:]}")
            rows.append(read(new, home / name))
        different += not compare(name, *rows)
    sys.exit(1 if different else 0)


def program(build):
    return next(str(build / name) for name in ("stampmill", "benchstone") if (build / name).exists())


def read(build, dataset):
    if not (dataset / "_dataset.json").exists():
        return None
    done = subprocess.run([program(build), "query", "SELECT * FROM d", f"d={dataset}", "--format", "jsonl"], capture_output=True, text=True)
    if done.returncode:
        print(f"{dataset}: {done.stderr.strip()[-300:]}")
        return None
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [{key: value for key, value in row.items() if key not in CLOCKS} for row in rows]


def compare(name, old, new):
    if old is None or new is None:
        print(f"{name}: not compared: a build made no data set")
        return False
    if old == new:
        print(f"{name}: {len(new)} rows, the same")
        return True
    columns = sorted({key for a, b in zip(old, new) for key in a.keys() | b.keys() if a.get(key) != b.get(key)})
    changed = sum(a != b for a, b in zip(old, new))
    print(f"{name}: {len(old)} rows before, {len(new)} after, {changed} differ in {', '.join(columns)}")
    for a, b in zip(old, new):
        if a != b:
            key = next(key for key in a.keys() | b.keys() if a.get(key) != b.get(key))
            print(f"   {key}: {str(a.get(key))[:150]!r} -> {str(b.get(key))[:150]!r}")
            break
    return False


def make_inputs(inputs):
    for folder in ("suite", "project", "tests/p1"):
        (inputs / folder).mkdir(parents=True, exist_ok=True)
    for name, text in PROGRAMS.items():
        (inputs / "suite" / name).write_text(text)
        (inputs / "suite" / name.replace(".c", ".in")).write_text("1000\n")
    project = inputs / "project"
    (project / "a.c").write_text("int f(int x){return x*2;}\n")
    (project / "b.c").write_text("int f(int);\nint main(void){return f(3);}\n")
    (project / "m.ll").write_text("define i32 @g(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n")
    (project / "Makefile").write_text("CC=clang-19\nall: a.o b.o\n\t$(CC) a.o b.o -o p\n")
    for n in (300, 4000):
        (inputs / "tests/p1" / f"input.{n}.txt").write_text(f"{n}\n")
        (inputs / "tests/p1" / f"output.{n}.txt").write_text(f"{sum(i % 9 for i in range(n))}\n")
    row = {"problem_id": "p1", "user_id": "u", "language": "C++", "src_id": "s1", "tgt_id": "s2", "src_code": SLOW, "tgt_code": FAST}
    (inputs / "submissions.jsonl").write_text(json.dumps(row) + "\n")
    model = inputs / "model"
    if not model.exists():
        model.symlink_to(pathlib.Path(__file__).absolute().parent.parent / "models/infill")


main()
