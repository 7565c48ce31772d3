#!/usr/bin/env python3
"""Fuzz each target until it has had an hour of processor time, in as many sittings as that takes.

    scripts/fuzz.sh pack FOLDER
    scripts/fuzz-hours.py FOLDER [--hours 1] [--jobs 2] [TARGET...]

FOLDER holds one build of the targets; its corpus grows, and `turns.jsonl` has a line for each turn of a target: processor time of
libFuzzer and its children, executions, findings. A turn is five minutes by the clock; Ctrl-C loses the one that runs. The same command
resumes. Another build begins at nothing. Prints a table; exit status 1 where anything was found, 3 where hours are missing."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

TURN = 300
FINDINGS = {"crash": "crashes", "timeout": "timeouts", "oom": "memory", "slow": "slow"}
OPTIONS = ["-fork=1", "-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1", "-timeout=10", "-report_slow_units=2", "-rss_limit_mb=2048", "-max_len=8192"]


def turn(folder, name, seconds):
    """One turn of a target, in a process of its own, whose children are libFuzzer's alone."""
    corpus, artifacts = folder / "corpus" / name, folder / "artifacts" / name
    for each in (corpus, artifacts):
        each.mkdir(parents=True, exist_ok=True)
    memory = pathlib.Path("/dev/shm")
    scratch = tempfile.mkdtemp(prefix="fuzz.", dir=memory if memory.is_dir() else None)
    begun = time.time()
    command = [folder / "fuzz", f"--target={name}", *OPTIONS, f"-max_total_time={seconds}", f"-artifact_prefix={artifacts}/", corpus, folder / "seeds" / name]
    try:
        told = subprocess.run(command, env={**os.environ, "TMPDIR": scratch}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, errors="replace").stderr
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    last = re.findall(r"^#(\d+): cov: (\d+) ft: (\d+)", told, re.M)
    if not last:
        sys.exit(f"{name} did not run:\n{told[-2000:]}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = collections.Counter(FINDINGS[one.name.split("-")[0]] for one in artifacts.iterdir() if one.stat().st_mtime >= begun)
    executions, coverage, features = map(int, last[-1])
    return {"target": name, "core_s": round(used.ru_utime + used.ru_stime, 1), "wall_s": round(time.time() - begun, 1), "executions": executions, "coverage": coverage, "features": features, **found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    wanted = parser.parse_args()
    folder = wanted.folder.resolve()
    build = hashlib.sha256((folder / "fuzz").read_bytes()).hexdigest()[:12]
    kept = folder / "turns.jsonl"
    turns = [one for one in map(json.loads, kept.read_text().splitlines()) if one["build"] == build] if kept.exists() else []
    targets = wanted.targets or subprocess.run([folder / "fuzz", "--list"], capture_output=True, text=True, check=True).stdout.split()

    def left(name):
        return wanted.hours * 3600 - sum(one["core_s"] for one in turns if one["target"] == name)

    with concurrent.futures.ProcessPoolExecutor(wanted.jobs, max_tasks_per_child=1) as pool, kept.open("a") as out:
        running = {}
        try:
            # The targets that have had most are ended first, so that whole hours are there early.
            while waiting := [name for name in sorted(targets, key=left) if left(name) > 0]:
                for name in [name for name in waiting if name not in running.values()][: wanted.jobs - len(running)]:
                    running[pool.submit(turn, folder, name, min(TURN, int(left(name)) + 1))] = name
                for done in concurrent.futures.wait(running, return_when="FIRST_COMPLETED").done:
                    del running[done]
                    turns.append({"build": build, **done.result()})
                    print(json.dumps(turns[-1]), file=out, flush=True)
        except KeyboardInterrupt:
            print("stopped; the same command resumes", file=sys.stderr)

    columns = ["executions", *FINDINGS.values()]
    print(f"build {build}\n| target | core hours | {' | '.join(columns)} |\n|---|{'---:|' * (1 + len(columns))}")
    for name in targets:
        of = [one for one in turns if one["target"] == name]
        print(f"| {name} | {sum(one['core_s'] for one in of) / 3600:.2f} | {' | '.join(format(sum(one.get(column, 0) for one in of), ',') for column in columns)} |")
    if any(one.get(column) for one in turns for column in ("crashes", "timeouts", "memory")):
        sys.exit(1)
    sys.exit(3 if any(left(name) > 0 for name in targets) else 0)


if __name__ == "__main__":
    main()
