"""Edits of kernels: how many honest ones the judge accepts, how many cheats it rejects, and what unrolling by rule gains.

Kernels are drawn from kernels=DATASET of `prepare`, of those that pass `run` on the processor at the sizes `drawn`. Honest edits and cheats are made by rule. Needs an OpenCL device; n=100 takes some
twenty minutes on two cores. Where the device is on another machine, pairs=FOLDER keeps the lines of pairs, and checked=DATASET and timed=DATASET are what `edits judge-kernels` made of them there."""
import collections
import json
import random
import re
from pathlib import Path

from tools import median, rows, share, stampmill

VARIANTS = ["cpu", "gpu"]
SETTINGS = {"pairs": "", "checked": "", "timed": "", "kernels": "datasets/device-mapping-h200/kernels", "n": "100", "jobs": "2", "seed": "7", "drawn": "2^10,2^13", "sizes": "2^10,2^13", "budget": "100ms"}

HEAD = re.compile(r"(__kernel[^(]*?void\s+\w+\s*\()(.*?)(\)\s*\{)", re.S)
GROUP = "get_global_size(0) * get_global_size(1) * get_global_size(2)"


def inside(text, first="", last=""):
    """The kernel with statements at the beginning and at the end of its body."""
    head = HEAD.search(text)
    return text[: head.end()] + first + text[head.end() : text.rindex("}")] + last + "}\n"


def pointer(arguments, written):
    """The first buffer of numbers that the kernel writes, or only reads: its name and type."""
    for one in arguments:
        kind = one["type"].get("Pointer") if isinstance(one["type"], dict) else None
        if not kind or kind["space"] != "Global" or bool(one["written"]) != written:
            continue
        found = re.fullmatch(r"(?:__global |const )*(u?(?:int|char|short|long)|float|double)\s*\*", one["type_name"].replace("restrict", "").strip())
        if found:
            return one["name"], found[1]
    return None


def layout(text, _):
    return "// The same.\n" + re.sub(r"\n\s*", "\n\t", text) + "/* end */\n"


def renamed(text, arguments):
    # Members are found by their names, too.
    if "struct" in text or "union" in text:
        return None
    for one in arguments:
        text = re.sub(rf"(?<![.\w]){re.escape(one['name'])}(?!\w)", one["name"] + "_new", text)
    return text


def restricted(text, _):
    head = HEAD.search(text)
    new = re.sub(r"((?:__global|__constant)[^,]*?\*)\s*(?!restrict)(\w+)", r"\1 restrict \2", head[2])
    return text[: head.start(2)] + new + text[head.end(2) :] if new != head[2] else None


def unrolled(text, _):
    if "#pragma" in text:
        return None
    new = re.sub(r"^(\s*)(for \()", r"\1#pragma unroll 4\n\1\2", text, flags=re.M)
    return new if new != text else None


def skips(text, _):
    # Elsewhere all work-items do the same, and one of them is enough.
    return "get_global_id" in text and inside(text, "\n  if (get_global_id(0) % 3 == 1) return;\n")


def lazy(text, _):
    return inside(text, f"\n  if ({GROUP} > 2000) return;\n")


def constant(text, arguments):
    found = pointer(arguments, True)
    return found and HEAD.sub(lambda head: f"{head[0]}\n  {found[0]}[get_global_id(0)] = 1;\n}}\n", text[: HEAD.search(text).end()])


def trusts(text, arguments):
    found = pointer(arguments, True)
    return found and inside(text, f"\n  if ({found[0]}[get_global_id(0)] != 0) return;\n")


def changes(text, arguments):
    found = pointer(arguments, True)
    return found and inside(text, last=f"  {found[0]}[get_global_id(0)] += 1;\n")


def mutates(text, arguments):
    found = pointer(arguments, False)
    return found and inside(text, last=f"  ((__global {found[1]}*){found[0]})[get_global_id(0)] = 3;\n")


def outside(text, arguments):
    found = pointer(arguments, True)
    return found and inside(text, last=f"  if (get_global_id(0) == 1) {found[0]}[-1] = 1;\n")


def assumes(text, arguments):
    """An integer is taken for what it is in the first payload, the number of work-items."""
    if "struct" in text or "union" in text:
        return None
    head = HEAD.search(text)
    for one in arguments:
        scalar = one["type"].get("Scalar") if isinstance(one["type"], dict) else None
        if scalar and scalar["scalar"] in ("Signed", "Unsigned") and scalar["size_bytes"] == 4:
            name = rf"(?<![.\w]){re.escape(one['name'])}(?!\w)"
            body = text[head.end() :]
            # What is written to stays a variable.
            if re.search(name, body) and not re.search(name + r"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--", body):
                return text[: head.end()] + re.sub(name, f"((int)({GROUP}))", body)
    return None


HONEST = {"other layout and comments": layout, "renamed arguments": renamed, "`restrict`": restricted, "loops unrolled": unrolled}
CHEATS = {
    "leaves a third of the work-items out": skips,
    "does nothing at large sizes": lazy,
    "writes a constant": constant,
    "trusts what is there": trusts,
    "takes an integer for the size": assumes,
    "adds 1 to a result": changes,
    "changes an input": mutates,
    "writes before a buffer": outside,
}


def passing(program, settings, count, work):
    """Identities of kernels, of so many that are drawn, that pass `run` on the processor at all sizes."""
    runs = work / "runs"
    stampmill(program, "run", settings["kernels"], "--devices", "cpu", "--global-sizes", settings["drawn"], "--budget", "0s", "--sample", count, "--seed", settings["seed"], "--jobs", settings["jobs"], "--out", runs)
    return [row["id"] for row in rows(program, "SELECT id FROM r GROUP BY id HAVING min(outcome) = 'pass' AND max(outcome) = 'pass' ORDER BY id", r=runs)]


def gains(timed):
    """Of rows with a speedup: how many are faster and slower by their 95 % intervals, the median, the best and the worst."""
    faster, slower = (sum(row["speedup_low"] > 1 for row in timed), sum(row["speedup_high"] < 1 for row in timed))
    ratios = [row["speedup"] for row in timed]
    return [share(faster, len(timed)), share(slower, len(timed)), median(ratios, 2), f"{max(ratios, default=0):.2f}", f"{min(ratios, default=0):.2f}"]


def judged(program, device, settings, pairs, work, name, budget):
    folder = Path(settings["pairs"] or work)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    out = settings[name] or work / name
    if not settings[name]:
        stampmill(program, "edits", "judge-kernels", path, "--devices", device, "--global-sizes", settings["sizes"], "--budget", budget, "--jobs", settings["jobs"], "--out", out)
    found = collections.defaultdict(list)
    for row in rows(program, "SELECT src_id, tgt_id, verdict, detail, speedup, speedup_low, speedup_high FROM j", j=out):
        found[row["src_id"], row["tgt_id"]].append(row)
    return found


def run(program, device, settings, work):
    source = rows(program, "SELECT id, text, arguments FROM k WHERE verdict = 'accepted' ORDER BY id", k=settings["kernels"])
    right = set(passing(program, settings, 3 * int(settings["n"]), work))
    pool = [row for row in source if row["id"] in right and HEAD.search(row["text"]) and row["text"].count("__kernel") == 1]
    draw = random.Random(int(settings["seed"]))
    kernels = draw.sample(pool, min(int(settings["n"]), len(pool)))
    pairs = []
    for row in kernels:
        arguments = json.loads(row["arguments"])
        for kind, edit in {**HONEST, **CHEATS}.items():
            text = edit(row["text"], arguments)
            if text:
                pairs.append({"src_id": row["id"], "tgt_id": kind, "src_code": row["text"], "tgt_code": text})
    found = judged(program, device, settings, pairs, work, "checked", "0s")
    # A slow kernel that fails where it passed before does not depend on the candidate.
    whole = {key: of for key, of in found.items() if not any(row["verdict"] == "source-fails" for row in of)}
    left = len({src for src, _ in found} - {src for src, _ in whole})
    tables = {}
    for name, kinds in (("honest", HONEST), ("cheats", CHEATS)):
        table = []
        for kind in kinds:
            of = [one for (_, tgt), one in whole.items() if tgt == kind]
            accepted = sum(all(row["verdict"] == "accepted" for row in one) for one in of)
            verdicts = collections.Counter(next((row["verdict"] for row in one if row["verdict"] != "accepted"), "accepted") for one in of)
            table.append([kind, len(of), accepted, len(of) - accepted, ", ".join(f"{word} {count}" for word, count in verdicts.most_common())])
        table.append(["all", sum(row[1] for row in table), sum(row[2] for row in table), sum(row[3] for row in table), ""])
        tables[name] = {"columns": [f"{name}, of {len(kernels) - left} kernels", "candidates", "accepted", "rejected", "verdicts"], "rows": table}
    timed = [{"src_id": row["id"], "src_code": row["text"], "tgt_code": text} for row in pool if (text := unrolled(row["text"], None))]
    of = [row for one in judged(program, device, settings, timed, work, "timed", settings["budget"]).values() for row in one if row.get("speedup")]
    tables["unrolling"] = {
        "columns": ["`#pragma unroll 4` on every loop", "kernels at sizes", "faster", "slower", "median of slow / fast", "best", "worst"],
        "rows": [[device, len(of), *gains(of)]],
    }
    return tables
