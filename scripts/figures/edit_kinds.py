"""What pairs change, as `edits label` says it and as two readers do, in the four kinds of PIE's paper.

data=FOLDER holds `pairs.jsonl`, 173 pairs of the Supersonic paper's CodeNet part; 120 of them, drawn by seed 7, were read by two readers, each without the other's
answers and without ours (`scripts/figures/edit-kinds.csv`: the main kind, and others that the edit belongs to as well). Our rules were set on the pairs in odd lines. Agreement is Cohen's kappa; intervals are Wilson's, 95 %."""
import collections
import csv
from pathlib import Path

from tools import share, stampmill, wilson

SETTINGS = {"data": ""}
READ = Path(__file__).with_name("edit-kinds.csv")
KINDS = ["algorithm", "io", "data-structure", "misc"]
# Our names of PIE's kinds.
OURS = {"I/O": "io", "other": "misc", "nothing": "misc"}
# Shares of the paper, of 120 edits of its best model.
PAPER = {"algorithm": 34.15, "io": 26.02, "data-structure": 21.14, "misc": 18.70}


def kappa(one, other):
    n = len(one)
    same = sum(a == b for a, b in zip(one, other)) / n
    counts = [collections.Counter(one), collections.Counter(other)]
    chance = sum(counts[0][kind] * counts[1][kind] for kind in KINDS) / n**2
    return (same - chance) / (1 - chance)


def interval(part, whole):
    """`[82, 96]`, in percent"""
    low, high = wilson(part, whole)
    return f"[{100 * low:.0f}, {100 * high:.0f}]"


def run(program, _, settings, work):
    labels = stampmill(program, "edits", "label", Path(settings["data"]) / "pairs.jsonl")["rows"]
    read = list(csv.DictReader(READ.open()))
    ours = []
    for row in read:
        label = labels[int(row["line"]) - 1]
        assert (label["problem_id"], label["src_id"]) == (row["problem"], row["submission"]), row
        ours.append(OURS.get(label["label"], label["label"]))
    said = {"our label": ours, "first reader": [row["first"] for row in read], "second reader": [row["second"] for row in read]}
    halves = {half: [i for i, row in enumerate(read) if int(row["line"]) % 2 == odd] for half, odd in (("held out", 0), ("rules were set on it", 1))}
    agreement, confusion = [], {}
    for half, all_of in halves.items():
        agree = [i for i in all_of if said["first reader"][i] == said["second reader"][i]]
        for one, other, of in [("first reader", "second reader", all_of), ("our label", "first reader", all_of), ("our label", "second reader", all_of), ("our label", "first reader", agree)]:
            pair = [[said[name][i] for i in of] for name in (one, other)]
            same = sum(a == b for a, b in zip(*pair))
            between = "our label, both readers, where these agree" if of is agree else f"{one}, {other}"
            agreement.append([between, half, f"{share(same, len(of))} {interval(same, len(of))}", f"{kappa(*pair):.2f}"])
        any_of = sum(ours[i] in {read[i][key] for key in ("first", "second")} | set(read[i]["first_also"].split()) | set(read[i]["second_also"].split()) for i in all_of)
        agreement.append(["our label, any kind that a reader names", half, f"{share(any_of, len(all_of))} {interval(any_of, len(all_of))}", "–"])
        confusion[half] = [[kind, *(sum(said["first reader"][i] == kind and ours[i] == our for i in agree) for our in KINDS)] for kind in KINDS]
    counts = [[kind, *(share(collections.Counter(of)[kind], len(read)) for of in said.values()), f"{PAPER[kind]:.0f} %"] for kind in KINDS]
    return {
        "agreement": {"columns": ["between", "half", "the same kind, of all [95 %]", "kappa"], "rows": agreement},
        "confusion": {"columns": ["both readers say", *(f"ours: {kind}" for kind in KINDS)], "rows": confusion["held out"]},
        "counts": {"columns": ["kind", *said, "PIE's model, by the paper"], "rows": counts},
    }
