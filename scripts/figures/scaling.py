"""Weights and tokens: how many samples of a model compile when nothing constrains them, for each size and budget.

drawn=DIR is what `scripts/scale.py` made on a machine with a GPU; checkpoint=DIR any checkpoint with the same tokenizer (of a
run of `stampmill-trainer train` on the same folder, however short): it draws nothing, and says what the samples' ids are and
what kernels are known. Samples begin with `__kernel void`."""
import json
import math
from pathlib import Path

from tools import percent, stampmill

SETTINGS = {"drawn": "", "checkpoint": "", "jobs": "2"}


def run(program, _, settings, work):
    drawn = Path(settings["drawn"])
    runs = [json.loads(line) for line in (drawn / "runs.jsonl").read_text().splitlines()]
    table = []
    for one in sorted(runs, key=lambda one: (one["trained"]["parameters"], one["millions"])):
        told = stampmill(program, "evaluate", settings["checkpoint"], "--drawn", drawn / f"{one['size']}-{one['millions']}.ids", "--unconstrained",
                         "--n", one["samples"], "--prompt", "__kernel void [HOLE]", "--jobs", settings["jobs"])  # fmt: skip
        trained = one["trained"]
        bits = [f"{trained[loss] / math.log(2):.2f}" for loss in ("validation_loss", "loss")]
        table.append([
            f"{trained['parameters'] / 1e6:.1f} M", f"{one['millions']} M", *bits, percent(told["compile_rate"]), told["compiling_unique"],
            percent(told["memorised"]), percent(told["near_memorised"]), told["tokens_median"], f"{trained['seconds']:.0f}",
        ])  # fmt: skip
    columns = ["weights", "tokens", "bits a token on kernels held back, best", "bits a token to train on, at the end", "compile", "compile, unique, three instructions or more",
               "exact copies among what compiles", "near-duplicates of a training kernel", "tokens: median", "seconds of training"]

    def all_of(values):
        return ", ".join(map(str, sorted(set(values))))

    return {
        "rates": {"columns": columns, "rows": table},
        "made": {"columns": ["what", "value"], "rows": [
            ["trained and drawn on", all_of(one["trained"]["device"] for one in runs)],
            ["samples of each", all_of(one["samples"] for one in runs)],
            ["temperature", all_of(one["temperature"] for one in runs)],
        ]},
    }
