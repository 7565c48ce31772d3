"""Kernels that behave as was said beforehand: 20 behaviors, stated in feature space `dynamic`, each searched for by itself.

A behavior is a range for some of what a kernel executes (a work-item on average, docs/design/vectors.md); it is met where the kernel
that was found, measured again by another process, lies in all of its ranges, and is a near-duplicate of no mined kernel. seeds=DATASET
are mined kernels to start from, or empty; not_near=DATASET those that none may resemble; budget=TIME is for each behavior. The list was written down before any of them was searched for."""
import json

from tools import rows, share, stampmill

SETTINGS = {"seeds": "datasets/device-mapping-h200/kernels", "not_near": "datasets/device-mapping-h200/kernels", "budget": "cpu:60s", "seed": "1", "jobs": "2"}

BEHAVIORS = {
    "a copy, coalesced": "GlobalLoads=1,GlobalStores=1,Coalesced=0.99..1,Insts=3..12",
    "reads with a stride, each of a line of its own": "GlobalLoads=1..4,UnitStride=0..0.1,LinesPerAccess=16..32",
    "all read one address": "GlobalLoads=1..8,SameAddress=0.4..1",
    "arithmetic, hardly any memory": "FloatAdd=16..64,FloatMul=16..64,GlobalLoads=1..4",
    "memory, no arithmetic": "GlobalLoads=4..8,GlobalStores=4..8,FloatAdd=0,FloatMul=0,IntMul=0",
    "half of the branches diverge": "DivergentBranches=0.4..0.6,Branch=1..32",
    "a loop in which none diverges": "DivergentBranches=0,LoopTrips=8..64,LoopEntries=1",
    "a loop within a loop": "LoopEntries=9..65,LoopTrips=8..64",
    "local memory between barriers": "Barrier=2,LocalLoads=2..8,LocalStores=1..4",
    "a reduction in local memory": "Barrier=4..8,LocalLoads=4..16,LocalStores=2..8",
    "atomics": "Atomic=1..2",
    "divisions of integers": "IntDiv=4..16",
    "divergent and scattered": "DivergentBranches=0.3..0.7,Coalesced=0.02..0.3",
    "divergent and coalesced": "DivergentBranches=0.3..0.7,Coalesced=0.9..1",
    "built-in functions": "Builtin=8..32,GlobalLoads=1..4",
    "loads of 16 bytes": "GlobalLoads=1..4,GlobalLoadBytes=16..64,Vector=0..8",
    "writes, hardly a read": "GlobalStores=8..16,GlobalLoads=0..1",
    "a long loop": "InstsMost=5000..20000,LoopTripsMost=500..5000",
    "one work-item does the work": "Insts=50..100,InstsMost=400..2000",
    "an array of its own": "PrivateLoads=8..64,PrivateStores=4..32",
}


def is_met(wanted, named):
    for part in wanted.split(","):
        name, _, value = part.partition("=")
        low, _, high = value.partition("..")
        if not float(low) <= named[name] <= float(high or low):
            return False
    return True


def run(program, _, settings, work):
    table, met = [], 0
    for number, (what, wanted) in enumerate(BEHAVIORS.items()):
        out = work / f"behavior-{number}"
        seeds = ["--seeds", settings["seeds"]] if settings["seeds"] else []
        seeds += ["--not-near", settings["not_near"]] if settings["not_near"] else []
        told = stampmill(program, "steer", "--space", "dynamic", "--target", wanted, *seeds, "--budget", settings["budget"], "--jobs", settings["jobs"], "--seed", settings["seed"], "--out", out)
        found = rows(program, "SELECT text, proposer, candidates FROM s WHERE verdict = 'accepted' AND rank = 1", s=out)
        is_right = False
        if found:
            (work / f"again-{number}").mkdir()
            (work / f"again-{number}" / "kernel.cl").write_text(found[0]["text"])
            stampmill(program, "features", work / f"again-{number}", "--space", "dynamic", "--out", work / f"vector-{number}")
            names = json.loads((work / f"vector-{number}" / "_dataset.json").read_text())["configuration"]["spaces"]["dynamic"]
            again = rows(program, "SELECT dynamic FROM v WHERE verdict = 'accepted'", v=work / f"vector-{number}")
            values = again[0]["dynamic"] if again else None
            named = values if isinstance(values, dict) else dict(zip(names, values or []))
            is_right = bool(named) and is_met(wanted, named)
        met += is_right
        table.append([what, f"`{wanted}`", "yes" if is_right else "no", f"{told['proximity_median']:.3f}", told["candidates"], found[0]["proposer"] if found else "none"])
    return {
        "met": {"columns": ["behaviors", "met, measured again"], "rows": [["all", share(met, len(BEHAVIORS))]]},
        "each": {"columns": ["behavior", "asked for", "met", "proximity", "candidates", "who proposed it"], "rows": table},
    }
