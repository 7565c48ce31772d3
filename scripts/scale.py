#!/usr/bin/env python3
"""Trains models of several sizes on a training folder, with several budgets, and draws from each: `scripts/figures.sh scaling
drawn=OUT` judges what was drawn, also on another machine.

FOLDER is what `stampmill train KERNELS --recipe RECIPE --prepare-only --out FOLDER` made; its size and budget give way to those here. Needs a GPU, a Python with torch, transformers,
safetensors and numpy. The trainer draws, or where --engine names it the engine of `make torch`. Samples begin with `__kernel void`.
Writes OUT/SIZE-TOKENS.ids, a sample a line, and OUT/runs.jsonl; what stands there is not made again."""
import argparse
import importlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
bench, kinds = importlib.import_module("bench-training"), importlib.import_module("kinds")
TRAINER = {"cwd": ROOT / "python/src/stampmill"}


def folder(given, size, tokens, work):
    shutil.copytree(given, work)
    config, training = (json.loads((work / name).read_text()) for name in ("config.json", "training.json"))
    config.update(bench.shape(size))
    (work / "config.json").write_text(json.dumps(config))
    (work / "training.json").write_text(json.dumps({**training, "budget_tokens": tokens}))


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"{command[:6]}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--engine", help="the engine of `make torch`")
    parser.add_argument("--sizes", default=",".join(bench.SIZES))
    parser.add_argument("--millions", default="2,4,8,20", help="budgets, in millions of tokens")
    parser.add_argument("--n", type=int, default=2000, help="samples of each model")
    parser.add_argument("--temperature", type=float, default=0.9)
    parser.add_argument("--longest", type=int, default=768)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    ids = kinds.prompt_ids(a.folder, "__kernel void")
    begun = [json.loads((a.folder / "training.json").read_text())["special"]["start"], *ids]
    a.out = a.out.resolve()
    a.out.mkdir(parents=True, exist_ok=True)
    for size in a.sizes.split(","):
        for millions in map(int, a.millions.split(",")):
            drawn = a.out / f"{size}-{millions}.ids"
            if drawn.exists():
                continue
            with tempfile.TemporaryDirectory() as work:
                place = Path(work) / "run"
                folder(a.folder, size, millions * 1_000_000, place)
                trained = run([sys.executable, "-m", "trainer", "train", place, "--no-state"], **TRAINER)
                sample = ["--n", a.n, "--temperature", a.temperature, "--length", a.longest, "--seed", a.seed, "--device", "cuda", "--out", drawn]
                if a.engine:
                    made = run([a.engine, "sample", place, "--prompt", ",".join(map(str, begun)), *sample])
                else:
                    made = run([sys.executable, "-m", "trainer", "sample", place, "--prompt-ids", ",".join(map(str, ids)), *sample], **TRAINER)
            row = {"size": size, "millions": millions, "samples": a.n, "temperature": a.temperature, "longest": a.longest, "seed": a.seed, "trained": trained, "drawn": made}
            with open(a.out / "runs.jsonl", "a") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)


main()
