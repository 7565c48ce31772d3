"""How often a tool puts two programs in the wrong order: simulated time, cachegrind, counted instructions, the clock once.

Needs g++, valgrind and the Python package `blake3`, and a machine as quiet as can be. The pairs are the slow and the fast program of `crates/timing/programs`, which differ much,
and each program beside itself at -O2, which differ little; inputs are `share` of the work. The truth is the clock: both programs of a pair run in
turns, `rounds` times, the one that is first changing, built with the flags of the recipe; a pair's ratio is the median over rounds, with a 95 %
interval of the median from the order of the rounds' ratios. A pair whose interval holds 1 has no order and is left out. The clock once is each round
alone. Processor time of the same runs is a second truth, which waiting for a busy core does not change. Held out are the pairs whose names `time validate` holds out; the processor file was tuned on programs of the others."""
import json
import math
import os
import statistics
import subprocess
import time
from pathlib import Path

from cheats import scaled, second_level, wilson
from tools import is_held_out, rows, stampmill

SETTINGS = {"programs": "crates/timing/programs", "share": "0.2", "rounds": "41", "cpu": "skylake", "jobs": "2"}
FLAGS = ["-std=gnu++17", "-O3", "-march=x86-64-v2", "-mtune=generic", "-static", "-no-pie", "-fno-pie", "-w", "-s", "-Wl,--build-id=none"]
TOOLS = {"simulated time": ("qemu", "cycles"), "cachegrind's cycles": ("cachegrind", "cycles"), "instructions": ("qemu", "instructions")}
ONCE = "the same clock, one run each"
CLOCKS = ["the clock", "processor time"]


def programs(settings):
    """Name to text and input: `NAME.slow`, and `NAME.slow.O2` beside it."""
    found = {}
    for path in sorted(Path(settings["programs"]).glob("*.cpp")):
        text, given = path.read_text(), scaled(path.with_suffix(".in").read_text(), float(settings["share"]))
        found[path.stem] = (text, given)
        found[f"{path.stem}.O2"] = (second_level(text), given)
    return found


def pairs(found):
    """Kind to pairs of names."""
    plain = [name for name in found if name.count(".") == 1]
    return {
        "slow and fast": [(name, name[:-4] + "fast") for name in plain if name.endswith(".slow")],
        "-O3 and -O2": [(name, f"{name}.O2") for name in plain],
    }


def clock(path, given):
    """Seconds of one run, its start included, by the clock and on the processor."""
    with open(given, "rb") as text:
        begun = time.perf_counter()
        child = subprocess.Popen([path], stdin=text, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        used = os.wait4(child.pid, 0)[2]
        return time.perf_counter() - begun, used.ru_utime + used.ru_stime


def interval(ratios):
    """A 95 % interval of the median: the ratios at two places in their order."""
    ordered, n = sorted(ratios), len(ratios)
    at = max(0, math.floor(n / 2 - 1.96 * math.sqrt(n) / 2) - 1)
    return ordered[at], ordered[n - 1 - at]


def run(program, _, settings, work):
    found = programs(settings)
    suite = work / "suite.jsonl"
    suite.write_text("".join(json.dumps({"name": name, "src": text, "stdin": given}) + "\n" for name, (text, given) in found.items()))
    built = {}
    (work / "native").mkdir(parents=True, exist_ok=True)
    for number, (name, (text, given)) in enumerate(found.items()):
        path = work / "native" / str(number)
        path.with_suffix(".cpp").write_text(text)
        path.with_suffix(".in").write_text(given)
        if subprocess.run(["g++", *FLAGS, str(path.with_suffix(".cpp")), "-o", str(path)], capture_output=True).returncode == 0:
            built[name] = (str(path), str(path.with_suffix(".in")))
    kinds = {kind: [(a, b) for a, b in of if a in built and b in built] for kind, of in pairs(found).items()}
    images = {name: Path(path).read_bytes() for name, (path, _) in built.items()}
    equal = {kind: [a for a, b in of if images[a] == images[b]] for kind, of in kinds.items()}
    kinds = {kind: [(a, b) for a, b in of if images[a] != images[b]] for kind, of in kinds.items()}

    loads, clocks = [], [{pair: [] for of in kinds.values() for pair in of} for _ in CLOCKS]
    for turn in range(int(settings["rounds"])):
        loads.append(float(Path("/proc/loadavg").read_text().split()[0]))
        for a, b in clocks[0]:
            times = {name: clock(*built[name]) for name in ((a, b) if turn % 2 == 0 else (b, a))}
            for at, ratios in enumerate(clocks):
                ratios[a, b].append(max(times[a][at], 1e-6) / max(times[b][at], 1e-6))

    measured = {}
    for source in ("qemu", "cachegrind"):
        stampmill(program, "time", "--suite", suite, "--source", source, "--cpu", settings["cpu"], "--jobs", settings["jobs"], "--out", work / source, "--force")
        for row in rows(program, "SELECT name, verdict, cycles, instructions FROM t", t=work / source):
            measured[source, row["name"]] = row
    held = {name: is_held_out(name) for name in found}

    def timed(pair):
        return all(measured.get((source, name), {}).get("cycles") for source in ("qemu", "cachegrind") for name in pair)

    def wrong_by(tool, pair, slower):
        one, other = (measured[TOOLS[tool][0], name][TOOLS[tool][1]] for name in pair)
        return (one > other) != slower

    wrong, counted = [], []
    for truth, ratios in zip(CLOCKS, clocks):
        middle = {pair: statistics.median(of) for pair, of in ratios.items()}
        every = {True: [], False: []}

        def line(name, half, of):
            single = [(ratio > 1) != (middle[pair] > 1) for pair in of for ratio in ratios[pair]]
            tools = [sum(wrong_by(tool, pair, middle[pair] > 1) for pair in of) for tool in TOOLS]
            wrong.append([truth, name, "held out" if half else "tuning", len(of), *(f"{count}: {wilson(count, len(of))}" for count in tools), f"{100 * sum(single) / len(single):.1f} %" if single else "none"])

        for kind, of in kinds.items():
            for half in (True, False):
                mine = [pair for pair in of if held.get(pair[0]) == half]
                able = [pair for pair in mine if timed(pair)]
                told = [pair for pair in able if not interval(ratios[pair])[0] <= 1 <= interval(ratios[pair])[1]]
                every[half] += told
                apart = [max(middle[pair], 1 / middle[pair]) for pair in told]
                counted.append([truth, kind, "held out" if half else "tuning", len(mine), sum(held.get(name) == half for name in equal[kind]), len(mine) - len(able), len(able) - len(told), len(told), f"{statistics.median(apart):.2f}" if apart else "none"])
                line(kind, half, told)
        for half in (True, False):
            line("all that are less than 1.2 apart", half, [pair for pair in every[half] if 1 / 1.2 < middle[pair] < 1.2])
            line("all", half, every[half])
        if truth == CLOCKS[0]:
            worst = sorted((pair for of in every.values() for pair in of if wrong_by("simulated time", pair, middle[pair] > 1)), key=lambda pair: -abs(math.log(middle[pair])))
            farthest = [[f"`{a}`, `{b}`", f"{middle[a, b]:.3f}", "[{:.3f}, {:.3f}]".format(*interval(ratios[a, b])), f"{measured['qemu', a]['cycles'] / measured['qemu', b]['cycles']:.3f}"] for a, b in worst[:10]]
    return {
        "wrong": {"columns": ["truth", "pairs", "half", "with an order", *TOOLS, ONCE], "rows": wrong},
        "pairs": {"columns": ["truth", "pairs", "half", "that differ in machine code", "that do not", "not timed", "interval holds 1", "with an order", "median ratio, slower / faster"], "rows": counted},
        "worst": {"columns": ["pair that simulated time puts in the wrong order", "by the clock", "95 % interval", "simulated"], "rows": farthest},
        "load": {"columns": ["machine while the clock ran", "least", "median", "most"], "rows": [["load average of a minute, our own run included", *(f"{value:.2f}" for value in (min(loads), statistics.median(loads), max(loads)))]]},
    }
