"""How fast and how true sampled time is: `time` in full and with `--sample-rate`, of each program in turns.

Needs g++, QEMU and the Python package `blake3`. Programs are those of `programs`, one of `every` of each half in the order of their names, built before anything is measured; held out are those whose
names `time validate` holds out. Rates are instructions by processor time of the emulator and all around it, the best of `rounds`. Programs of
less than `least` million instructions are left out: their start takes most of the time. `phases` are programs made to change phase."""
import math
import resource
import statistics
import subprocess
from pathlib import Path

from tools import is_held_out, percent, share, stampmill

SETTINGS = {"programs": "crates/timing/programs", "phases": "crates/timing/phases", "every": "6", "sample": "50", "rounds": "2", "cpu": "skylake", "least": "20"}
FLAGS = ["-std=gnu++17", "-O3", "-march=x86-64-v2", "-mtune=generic", "-static", "-no-pie", "-fno-pie", "-w", "-s", "-Wl,--build-id=none"]
HALVES = ["tuning", "held out", "phases"]


def chosen(settings):
    """Half, name, source and input of each program."""
    halves = {half: [] for half in HALVES}
    for path in sorted(Path(settings["programs"]).glob("*.cpp")):
        half = "held out" if is_held_out(path.stem) else "tuning"
        halves[half].append((half, path.stem, path, path.with_suffix(".in")))
    halves = {half: programs[:: int(settings["every"])] for half, programs in halves.items()}
    halves["phases"] = [("phases", path.stem, path, None) for path in sorted(Path(settings["phases"]).glob("*.cpp"))]
    return [program for half in HALVES for program in halves[half]]


def timed(program, path, given, settings, rate):
    """The report of `time`, and the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    stdin = ["--stdin", given] if given else []
    report = stampmill(program, "time", path, *stdin, "--cpu", settings["cpu"], "--no-net", "--sample-rate", f"1/{rate}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return report, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(program, _, settings, work):
    work.mkdir(parents=True, exist_ok=True)
    rates = [1, int(settings["sample"])]
    lines, found, left_out = [], [], []
    for number, (half, name, source, given) in enumerate(chosen(settings)):
        path = work / str(number)
        if subprocess.run(["g++", *FLAGS, str(source), "-o", str(path)], capture_output=True).returncode != 0:
            left_out.append([f"`{name}`", half, "does not compile"])
            continue
        reports, best = {}, {rate: math.inf for rate in rates}
        for _ in range(int(settings["rounds"])):
            for rate in rates:
                reports[rate], seconds = timed(program, path, given, settings, rate)
                best[rate] = min(best[rate], seconds)
        full, sampled = (reports[rate] for rate in rates)
        if full["verdict"] != "accepted" or sampled["verdict"] != "accepted":
            left_out.append([f"`{name}`", half, f"{full['verdict']}, sampled {sampled['verdict']}"])
            continue
        count = full["instructions"]
        if count < float(settings["least"]) * 1e6:
            left_out.append([f"`{name}`", half, f"{count / 1e6:.0f} million instructions"])
            continue
        one = {
            "half": half,
            "instructions": count,
            "seconds": [best[rate] for rate in rates],
            "error": sampled["cycles"] / full["cycles"] - 1,
            "within": sampled["interval"][0] <= full["seconds_simulated"] <= sampled["interval"][1],
        }
        found.append(one)
        width = (sampled["interval"][1] - sampled["interval"][0]) / 2 / full["seconds_simulated"]
        lines.append([
            f"`{name}`", half, f"{count / 1e6:,.0f}", *(f"{count / seconds / 1e6:.1f}" for seconds in one["seconds"]),
            f"{100 * one['error']:+.2f} %", f"± {100 * width:.2f} %", "yes" if one["within"] else "no",
            percent(sampled["detailed_instructions"] / count), sampled["strata"],
        ])
    summary = []
    for half in [*HALVES, "all"]:
        of = [one for one in found if half in (one["half"], "all")]
        if not of:
            continue
        together = [sum(one["instructions"] for one in of) / sum(one["seconds"][at] for one in of) / 1e6 for at in range(2)]
        errors = [abs(one["error"]) for one in of]
        fast = sum(one["instructions"] / one["seconds"][1] >= 200e6 for one in of)
        summary.append([
            half, len(of), *(f"{rate:.1f}" for rate in together), share(fast, len(of)), f"{100 * statistics.median(errors):.2f} %", f"{100 * max(errors):.2f} %",
            share(sum(error <= 0.03 for error in errors), len(of)), share(sum(one["within"] for one in of), len(of)),
        ])
    rate = f"1/{settings['sample']}"
    return {
        "halves": {"columns": ["programs", "number", "full, M instructions/s together", f"sampled {rate}, the same", "sampled at 200 or more", "median error of sampled cycles", "largest", "within 3 %", "within their own 95 % interval"], "rows": summary},
        "programs": {"columns": ["program", "half", "M instructions", "full, M instructions/s", f"sampled {rate}, the same", "error of sampled cycles", "its own 95 % interval", "within it", "in detail", "strata"], "rows": lines},
        "left-out": {"columns": ["program left out", "half", "why"], "rows": left_out},
    }
