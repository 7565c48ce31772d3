"""Feature space `dynamic` beside Oclgrind's histogram of instructions (`oclgrind --inst-counts`): how far the counts agree, and how many kernels a second each counts.

Needs Oclgrind (`apt-get install oclgrind`) and kernels=DATASET of `prepare` (datasets/device-mapping-h200/kernels in the repository), of which those are taken
that have neither an image nor a size of groups that they demand, `each` of every package at most, by the hash of their text. Both run one group of 64 work-items on
the same arguments, one kernel at a time on one core, without optimization and at the level that each takes by itself."""
import json
import math
import re
import resource
import subprocess
import sys
from pathlib import Path

from tools import rows, share, stampmill

SETTINGS = {"kernels": "datasets/device-mapping-h200/kernels", "each": "2", "limit": "5"}
COUNTS = Path(__file__).resolve().parent.parent / "oclgrind-counts.py"
# Level, our option, Oclgrind's options to its compiler.
LEVELS = [("-O0", "0", ["--build-options", "-cl-opt-disable"]), ("-O1; Oclgrind's own, -Oz", "1", [])]
KINDS = {
    "IntAdd": "add sub", "IntMul": "mul", "IntDiv": "sdiv udiv srem urem", "Logic": "shl lshr ashr and or xor", "IntCompare": "icmp",
    "FloatAdd": "fadd fsub fneg", "FloatMul": "fmul", "FloatDiv": "fdiv frem", "FloatCompare": "fcmp", "Address": "getelementptr",
    "Select": "select", "Vector": "extractelement insertelement shufflevector",
    "Cast": "trunc zext sext fptoui fptosi uitofp sitofp fptrunc fpext ptrtoint inttoptr bitcast addrspacecast",
}
# Name, our dimensions, Oclgrind's names.
COMPARED = [
    ("instructions", ["Insts"], None),
    ("integer arithmetic and logic", ["IntAdd", "IntMul", "IntDiv", "Logic", "IntCompare"], None),
    ("floating-point arithmetic", ["FloatAdd", "FloatMul", "FloatDiv", "FloatCompare"], None),
    ("casts", ["Cast"], None),
    ("moves of vector elements", ["Vector"], None),
    ("branches and jumps", ["Branch", "Jump"], ["br", "switch"]),
    ("barriers", ["Barrier"], ["call _Z7barrierj()"]),
    ("loads from global memory", ["GlobalLoads"], ["load global"]),
    ("bytes loaded from global memory", ["GlobalLoadBytes"], ["load global bytes"]),
    ("stores to global memory", ["GlobalStores"], ["store global"]),
    ("bytes stored to global memory", ["GlobalStoreBytes"], ["store global bytes"]),
    ("loads from local memory", ["LocalLoads"], ["load local"]),
    ("stores to local memory", ["LocalStores"], ["store local"]),
    ("loads from private memory", ["PrivateLoads"], ["load private"]),
]
DEBUG = ("call llvm.dbg", "call llvm.lifetime")


def theirs(counts, dimensions, names):
    if dimensions == ["Insts"]:
        return sum(count for name, count in counts.items() if not name.endswith(" bytes") and not name.startswith(DEBUG))
    names = names or [name for one in dimensions for name in KINDS[one].split()]
    return sum(counts.get(name, 0) for name in names)


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def oclgrind(kernels, options, limit):
    command = ["oclgrind", "--inst-counts", "--num-threads", "1", "--local-mem-size", str(1 << 28), *options, sys.executable, str(COUNTS), limit]
    print("+", *command, file=sys.stderr)
    lines = "".join(json.dumps(one) + "\n" for one in kernels)
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {one["id"]: one["counts"] for one in answers if "counts" in one}, answers[-1]["seconds"]


def run(program, _, settings, work):
    drawn = f"""SELECT * FROM k WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY package ORDER BY id) AS place
        FROM k WHERE verdict = 'accepted' AND text NOT LIKE '%image%d_t%' AND text NOT LIKE '%reqd_work_group_size%')
        WHERE place <= {int(settings['each'])})"""
    stampmill(program, "query", drawn, f"k={settings['kernels']}", "--out", work / "drawn", "--force")
    kernels = rows(program, "SELECT id, name AS kernel, dimensions, arguments, text FROM k", k=work / "drawn")
    kernels = list({one["id"]: one for one in kernels}.values())
    # The built-in functions are compiled once a cache.
    (work / "first.cl").write_text("kernel void A(global float *x) { x[get_global_id(0)] = sin(x[0]); }\n")
    stampmill(program, "features", work / "first.cl", "--space", "dynamic", "--out", work / "first", "--force")
    rates, agreement, verdicts = [], [], []
    for level, option, options in LEVELS:
        out = work / f"vectors-{option}"
        before = spent()
        made = stampmill(program, "features", work / "drawn", "--space", "dynamic", "--opt", option, "--jobs", "1", "--out", out, "--force")
        ours_spent = spent() - before
        names = json.loads((out / "_dataset.json").read_text())["configuration"]["spaces"]["dynamic"]
        found = rows(program, "SELECT id, dynamic FROM v WHERE dynamic IS NOT NULL", v=out)
        ours = {one["id"]: dict(zip(names, one["dynamic"])) for one in found}
        before = spent()
        known, seconds = oclgrind(kernels, options, settings["limit"])
        theirs_spent = spent() - before
        both = sorted(ours.keys() & known.keys())
        for tool, counted, wall, processor in [("`dynamic`", ours, made["seconds"], ours_spent), ("Oclgrind", known, seconds, theirs_spent)]:
            rates.append([f"{tool}, {level}", str(len(kernels)), str(len(counted)), f"{wall:.1f}", f"{processor:.1f}", f"{len(kernels) / processor:.2f}"])
        verdicts.append([level, ", ".join(f"{count} {word}" for word, count in sorted(made["verdicts"].items(), key=lambda one: -one[1]))])
        for name, dimensions, named in COMPARED:
            seen = [one for one in both if "global memory" not in name or not any(re.search(r"vload|vstore|atom", call) for call in known[one])]
            pairs = [(64 * sum(ours[one][dimension] for dimension in dimensions), theirs(known[one], dimensions, named)) for one in seen]
            there = [(one, other) for one, other in pairs if one > 0.5 or other > 0]
            equal = sum(round(one) == other for one, other in there)
            near = sum(abs(one - other) <= 0.05 * max(one, other) for one, other in there)
            ratios = [math.log(one / other) for one, other in there if one > 0.5 and other > 0]
            mean = f"{math.exp(sum(ratios) / len(ratios)):.3f}" if ratios else "none"
            agreement.append([f"{level}: {name}", str(len(there)), share(equal, len(there)), share(near, len(there)), mean])
    return {
        "rates": {"columns": ["tool", "kernels", "counted", "seconds", "processor seconds", "kernels a processor second"], "rows": rates},
        "agreement": {"columns": ["level and count", "kernels that have any", "equal", "within 5 %", "ours / Oclgrind's, geometric mean"], "rows": agreement},
        "verdicts": {"columns": ["level", "verdicts of `dynamic`"], "rows": verdicts},
    }
