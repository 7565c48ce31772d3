"""What the rules of `edits propose-kernels` gain on real kernels, as judged and timed by `edits judge-kernels`.

Kernels are drawn from kernels=DATASET of `prepare`, of those that pass `run` on the processor at the sizes `drawn` and in which a rule
other than `restrict` finds something. A kernel that fails in the judge itself is left out, and why is told: n=100 left 79, so that n=140 should
leave a hundred. Needs an OpenCL device; n=100 takes some fifteen minutes on two cores. Where the device is on another machine, pairs=FILE keeps the
candidates, and judged=DATASET is what `edits judge-kernels` made of them there."""
import collections
import json
import random
from pathlib import Path

from kernel_edits import gains, passing
from tools import rows, stampmill

# Each has a row, though it finds nothing in the kernels that are drawn.
RULES = ["restrict", "unroll", "hoist", "accumulate", "tile", "interchange", "vectorize", "native"]
OUTCOMES = ["build-failure", "crash", "input-insensitive", "invalid-size", "no-output", "non-deterministic", "out-of-bounds", "out-of-resources", "race", "reads-unset", "refused", "timeout", "unsupported-argument"]
VARIANTS = ["cpu", "gpu"]
SETTINGS = {"pairs": "", "judged": "", "kernels": "datasets/device-mapping-h200/kernels", "n": "100", "jobs": "2", "seed": "11", "drawn": "2^10,2^13", "sizes": "2^10,2^13", "budget": "100ms"}


def run(program, device, settings, work):
    lines = drawn(program, settings, work)
    path = Path(settings["pairs"] or work / "pairs.jsonl")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    judged = settings["judged"] or work / "judged"
    if not settings["judged"]:
        stampmill(program, "edits", "judge-kernels", path, "--devices", device, "--global-sizes", settings["sizes"], "--budget", settings["budget"], "--jobs", settings["jobs"], "--out", judged)
    found = collections.defaultdict(list)
    for row in rows(program, "SELECT src_id, tgt_id, global_size, verdict, detail, speedup, speedup_low, speedup_high FROM j", j=judged):
        found[row["src_id"], row["tgt_id"]].append(row)
    # A slow kernel that fails does not depend on the candidate.
    failing = collections.defaultdict(list)
    for (src, _), of in found.items():
        failing[src] += [row for row in of if row["verdict"] == "source-fails"]
    found = {key: of for key, of in found.items() if not any(row["verdict"] == "source-fails" for row in of)}
    kernels = {src for src, _ in found}
    why = collections.Counter(cause(some[0]) for src, some in failing.items() if src not in kernels)
    table, best = [], collections.defaultdict(list)
    for rule in dict.fromkeys([*RULES, *(line["tgt_id"] for line in lines)]):
        of = {src: one for (src, name), one in found.items() if name == rule}
        right = {src: max(one, key=lambda row: row["global_size"]) for src, one in of.items() if all(row["verdict"] == "accepted" for row in one)}
        wrong = collections.Counter(next(row["verdict"] for row in one if row["verdict"] != "accepted") for src, one in of.items() if src not in right)
        timed = {src: row for src, row in right.items() if row["speedup"]}
        for src, row in timed.items():
            best[src].append(row)
        table.append([f"`{rule}`", len(of), len(right), ", ".join(f"{word} {count}" for word, count in wrong.most_common()) or "none", *gains(list(timed.values()))])
    fastest = [max(some, key=lambda row: row["speedup_low"]) for some in best.values()]
    table.append(["the best of each kernel", len(kernels), len(fastest), "", *gains(fastest)])
    columns = [f"rule, {len(kernels)} kernels", "candidates", "accepted", "rejected", "faster", "slower", "median of slow / fast", "best", "worst"]
    left_out = [["drawn", len(failing)], ["judged", len(kernels)], *[[f"left out, the slow kernel: {word}", count] for word, count in why.most_common()]]
    return {"rules": {"columns": columns, "rows": table}, "left-out": {"columns": ["kernels", "number"], "rows": left_out}}


def cause(row):
    """Why a slow kernel fails: its detail begins with the outcome, mostly."""
    word = row["detail"].replace(":", " ").partition(" ")[0]
    return word if word in OUTCOMES else "another reason"


def drawn(program, settings, work):
    """Lines of pairs of so many kernels."""
    kernels = settings["kernels"]
    names = ", ".join(f"'{name}'" for name in passing(program, settings, 4 * int(settings["n"]), work))
    stampmill(program, "query", f"SELECT * FROM k WHERE verdict = 'accepted' AND id IN ({names})", f"k={kernels}", "--out", work / "some", "--force")
    stampmill(program, "edits", "propose-kernels", work / "some", "--out", work / "all.jsonl", "--force")
    of = collections.defaultdict(list)
    for line in (work / "all.jsonl").read_text().splitlines():
        line = json.loads(line)
        of[line["src_id"]].append(line)
    changed = sorted(name for name, lines in of.items() if any(line["tgt_id"] != "restrict" for line in lines))
    chosen = random.Random(int(settings["seed"])).sample(changed, min(int(settings["n"]), len(changed)))
    return [line for name in chosen for line in of[name]]
