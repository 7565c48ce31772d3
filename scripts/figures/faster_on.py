"""Kernels that are faster on the device that was asked for: regions of Grewe's space, each searched for by itself.

Needs a GPU and a processor as OpenCL devices. A region is a range for each feature, written down before any was searched for. An answer lies in its
region and is `margin` times as fast at `at` work-items, transfers to the GPU included, by the search's own measurement; both devices are then
measured again by another process (`run`), and the ratio is that of the second measurement. seeds=DATASET are mined kernels to start from;
budget=TIME is for each search."""
import statistics

from tools import rows, share, stampmill

SETTINGS = {"seeds": "datasets/device-mapping-h200/kernels", "budget": "20s", "margin": "2", "at": "2^16", "seed": "1", "jobs": "8"}

REGIONS = {
    "hardly any computation": "comp=0..10,mem=1..4,localmem=0",
    "some computation": "comp=11..60,mem=1..8,localmem=0",
    "much computation": "comp=100..400,mem=1..8,localmem=0",
    "no coalesced access": "comp=5..100,mem=1..10,coalesced=0",
    "all accesses coalesced": "comp=5..100,mem=4,coalesced=4",
    "much memory": "comp=5..100,mem=12..40",
    "local memory": "comp=5..100,mem=1..10,localmem=2..10",
    "atomics": "comp=1..100,atomic=1..4",
}
# What is to be faster, than what.
VARIANTS = ["gpu", "cpu"]


def ratio(program, found, settings, work, fast, slow):
    """Time on `slow` over time on `fast`, a GPU's transfers included, measured again; None where one of both does not pass."""
    (work / "again").mkdir(exist_ok=True)
    (work / "again" / "kernel.cl").write_text(found)
    stampmill(program, "run", work / "again", "--devices", "cpu,gpu", "--global-sizes", settings["at"], "--limit", "10s", "--out", work / "runs", "--force")
    times = {row["device_type"]: row["time"] for row in rows(program, "SELECT device_type, kernel_time_ns + CASE device_type WHEN 'cpu' THEN 0 ELSE transfer_time_ns END AS time FROM r WHERE outcome = 'pass'", r=work / "runs")}
    return times[slow] / times[fast] if times.get(fast) and times.get(slow) else None


def run(program, fast, settings, work):
    slow = next(one for one in VARIANTS if one != fast)
    margin = settings["margin"]
    each, ratios, hits = [], [], 0
    for at, (what, wanted) in enumerate(REGIONS.items()):
        out = work / f"faster-{at}"
        told = stampmill(program, "steer", "--as-found", "--space", "grewe", "--target", wanted, "--seeds", settings["seeds"], "--faster-on", fast, "--than", slow, "--margin", margin, "--at", settings["at"], "--budget", settings["budget"], "--jobs", settings["jobs"], "--seed", settings["seed"], "--out", out, "--force")
        found = rows(program, "SELECT text, proposer FROM s WHERE verdict = 'accepted' AND distance = 0 AND rank = 1", s=out)
        again = ratio(program, found[0]["text"], settings, work, fast, slow) if found else None
        hits += bool(found)
        ratios += [again] if again else []
        each.append([what, f"`{wanted}`", "yes" if found else "no", f"{again:.2f}" if again else "none", told["candidates"], found[0]["proposer"] if found else "none"])
    measured = sum(ratio >= float(margin) for ratio in ratios)
    ways = [[fast, margin, share(hits, len(REGIONS)), share(measured, len(REGIONS)), f"{statistics.median(ratios):.2f}" if ratios else "none"]]
    return {
        "ways": {"columns": ["faster on", "at least, times", "found", "and so again, measured by `run`", "median ratio, slower / faster, measured again"], "rows": ways},
        "each": {"columns": ["region", "asked for", "found", "ratio, measured again", "candidates", "who proposed it"], "rows": each},
    }
