#!/usr/bin/env python3
"""Mutation check of a crate: what its tests notice of a sample of small faults. The table of docs/results/mutants.md.

usage: mutants.py WHAT SIZE SEED [FOLDER]

WHAT is a name in PARTS. The tool (cargo-mutants) lists every mutant; SIZE of them are drawn with SEED, so that the same
commit gives the same sample, and each is put into this checkout, built and tested by the tests of its own crate. What
was found is kept in FOLDER (target/mutants unless said): a mutant that was caught is not tried again, one that was
missed is, so that a new test is measured by the same command. Prints a row of the table, then what was missed.

The checkout must have no changes of your own. Tests find the helper binaries by STAMPMILL_LIBEXEC.
"""
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts" / "figures"))
from tools import wilson  # noqa: E402

# Package, files, and the tests that run: all of the package where nothing is said.
PARTS = {
    "leak": ("leak", "crates/leak/src/**", []),
    "exclusion": ("synth", "crates/synth/src/exclusion.rs", ["--lib", "--test=exclusion", "--test=recall"]),
    "timing-model": ("timing-model", "crates/timing-model/src/**", []),
    "features": ("features", "crates/features/src/**", ["--tests"]),
    "heuristics": ("heuristics", "crates/heuristics/src/**", ["--tests"]),
    "score": ("edits", "crates/edits/src/score/**", ["--lib", "score"]),
    "kernels": ("kernels", "crates/kernels/src/**", ["--tests"]),
}
# Built fast, and run with what `release` checks: arithmetic wraps.
PROFILE = ['inherits="dev"', "debug=false", "overflow-checks=false", "debug-assertions=false", "opt-level=1"]
# Of these the build takes longer than the tests.
LARGE = ["edits", "synth", "kernels"]
CAUGHT, LATE, UNVIABLE, MISSED = "CaughtMutant", "Timeout", "Unviable", "MissedMutant"


def tool(what, *arguments, **rest):
    package, files, _ = PARTS[what]
    command = ["cargo", "mutants", "--package", f"stampmill-{package}", "--file", files, *arguments]
    return subprocess.run(command, cwd=ROOT, text=True, **rest)


def sample(what, size, seed):
    """All mutants' names, and those drawn. A name has the place and the change."""
    listed = tool(what, "--list", "--json", stdout=subprocess.PIPE, check=True).stdout
    names = sorted(mutant["name"] for mutant in json.loads(listed))
    return names, random.Random(seed).sample(names, min(size, len(names)))


def test(what, names, others, output):
    """What came of each: a word of the tool. It ends in an error where the tests fail without a mutant."""
    chosen = [f"--re=^{re.escape(name)}$" for name in names]
    # Version 27.1 applies no pattern to deleted fields; what it takes for caught before it leaves out.
    seen = output / "mutants.out"
    shutil.rmtree(seen, ignore_errors=True)
    seen.mkdir()
    (seen / "caught.txt").write_text("".join(name + "\n" for name in others))
    profile = [f"-C=--config=profile.mutants.{line}" for line in PROFILE]
    profile += [f"-C=--config=profile.mutants.package.stampmill-{package}.opt-level=0" for package in LARGE]
    limits = ["--minimum-test-timeout=60", "--timeout-multiplier=5"]
    tool(what, "--in-place", "--iterate", "--profile=mutants", *profile, *limits, "--output", str(output), *chosen, "--", *PARTS[what][2], stdout=sys.stderr)
    outcomes = json.loads((seen / "outcomes.json").read_text())["outcomes"]
    return {one["scenario"]["Mutant"]["name"]: one["summary"] for one in outcomes if one["scenario"] != "Baseline"}


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in PARTS:
        sys.exit(__doc__ + "\nPARTS: " + " ".join(PARTS))
    what, size, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    folder = Path(sys.argv[4] if len(sys.argv) == 5 else "target/mutants").resolve() / f"{what}-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "found.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    names, drawn = sample(what, size, seed)
    open_ones = [name for name in drawn if found.get(name, MISSED) == MISSED]
    if open_ones:
        found |= test(what, open_ones, sorted(set(names) - set(open_ones)), folder)
        kept.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    count = {word: sum(found.get(name) == word for name in drawn) for word in (CAUGHT, LATE, UNVIABLE, MISSED)}
    if sum(count.values()) != len(drawn):
        sys.exit(f"{len(drawn) - sum(count.values())} of {len(drawn)} mutants were not tried: see {folder}/mutants.out/log")
    caught = count[CAUGHT] + count[LATE]
    of = caught + count[MISSED]
    low, high = wilson(caught, of)
    print("| crate | seed | mutants | sampled | caught | timed out | unviable | missed | share caught | 95 % interval |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    cells = [what, seed, len(names), len(drawn), *count.values(), f"{caught / of:.0%}", f"{low:.0%} to {high:.0%}"]
    print("| " + " | ".join(map(str, cells)) + " |\n")
    for name in sorted(name for name in drawn if found[name] == MISSED):
        print(f"- `{name}`")


if __name__ == "__main__":
    main()
