"""Weights and tokens: how many samples of a model compile when nothing constrains them, for each size and budget.

drawn=DIR is what `scripts/scale.py` made on a machine with a GPU; checkpoint=DIR any checkpoint with the same tokenizer (of a
run of `stampmill-trainer train` on the same folder, however short): it draws nothing, and says what the samples' ids are and
what kernels are known. Samples begin with `__kernel void`."""
import json
import math
from pathlib import Path

from tools import stampmill

SETTINGS = {"drawn": "", "checkpoint": "", "jobs": "2"}


def percent(share):
    return f"{100 * share:.1f} %"


def run(program, _, settings, work):
    drawn, table = Path(settings["drawn"]), []
    for line in (drawn / "runs.jsonl").read_text().splitlines():
        row = json.loads(line)
        file = drawn / f"{row['size']}-{row['millions']}.ids"
        told = stampmill(program, "evaluate", settings["checkpoint"], "--drawn", file, "--unconstrained", "--n", row["samples"],
                         "--prompt", "__kernel void [HOLE]", "--jobs", settings["jobs"])
        trained = row["trained"]
        table.append((trained["parameters"], row["millions"], [
            f"{trained['parameters'] / 1e6:.1f} M", f"{row['millions']} M", f"{trained['validation_loss'] / math.log(2):.2f}", f"{trained['loss'] / math.log(2):.2f}",
            percent(told["compile_rate"]), told["compiling_unique"], percent(told["memorised"]), percent(told["near_memorised"]), told["tokens_median"],
            f"{trained['seconds']:.0f}",
        ]))  # fmt: skip
    devices = sorted({json.loads(line)["trained"]["device"] for line in (drawn / "runs.jsonl").read_text().splitlines()})
    columns = ["weights", "tokens", "bits a token on kernels held back, best", "bits a token to train on, at the end", "compile", "compile, unique, three instructions or more",
               "exact copies among what compiles", "near-duplicates of a training kernel", "tokens: median", "seconds of training"]
    return {
        "rates": {"columns": columns, "rows": [row for *_, row in sorted(table)]},
        "made": {"columns": ["what", "value"], "rows": [["trained and drawn on", ", ".join(devices)], ["samples of each", json.loads(line)["samples"]], ["temperature", row["temperature"]]]},
    }
