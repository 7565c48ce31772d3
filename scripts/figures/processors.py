"""Which edits pay on one processor and not on another: `time --suite` of slow and improved versions, on processors of three instruction sets.

The pairs are those of crates/timing/programs that are held against the clock: `NAME.slow.cpp` and `NAME.fast.cpp` on the same input. An edit
pays where the slow version takes at least `pays` times as long as the improved one, less an empty program's time. One pair of `every` is taken, in the order of
their names, and one instruction of `sample` simulated in detail; all of a pair's rows must be accepted and print the same, everywhere. The processor files of Arm and RISC-V were not held against hardware."""
import shutil
from math import exp, log
from pathlib import Path

from tools import rows, share, stampmill

SETTINGS = {"programs": "crates/timing/programs", "every": "4", "pays": "1.1", "sample": "10", "jobs": "2"}
PROCESSORS = {"skylake": "Skylake (x86-64)", "neoverse-n1": "Neoverse N1 (AArch64)", "sifive-p550": "P550 (RISC-V)"}
FIRST = "skylake"


def run(program, _, settings, work):
    suite = chosen(Path(settings["programs"]), int(settings["every"]), Path(work) / "programs")
    times, verdicts = {}, []
    for cpu, name in PROCESSORS.items():
        out = Path(work) / cpu
        stampmill(program, "time", "--suite", suite, "--cpu", cpu, "--sample-rate", f"1/{settings['sample']}", "--jobs", settings["jobs"], "--out", out, "--force")
        found = rows(program, "SELECT name, verdict, seconds_net, output_hash, instructions FROM t ORDER BY name", t=out)
        verdicts += [[name, str(len(found)), share(sum(row["verdict"] == "accepted" for row in found), len(found)), f"{sum(row['instructions'] or 0 for row in found) / 1e6:,.0f}"]]
        times[cpu] = {row["name"]: row for row in found if row["verdict"] == "accepted"}
    pays = float(settings["pays"])
    speedups = [(name, each) for name in sorted({row.rsplit(".", 1)[0] for row in times[FIRST]}) if (each := speedup(times, name))]
    summary, disagree = [], []
    for cpu, title in PROCESSORS.items():
        own = [each[cpu] for _, each in speedups]
        here = [each for _, each in speedups if each[FIRST] >= pays and each[cpu] < pays]
        there = [each for _, each in speedups if each[FIRST] < pays and each[cpu] >= pays]
        summary.append([title, share(sum(one >= pays for one in own), len(own)), f"{exp(sum(map(log, own)) / len(own)):.2f}",
                        "" if cpu == FIRST else str(len(here)), "" if cpu == FIRST else str(len(there))])
    for name, each in speedups:
        if len({one >= pays for one in each.values()}) > 1:
            disagree.append([f"`{name}`"] + [f"**{each[cpu]:.2f}**" if each[cpu] >= pays else f"{each[cpu]:.2f}" for cpu in PROCESSORS])
    spread = sorted(speedups, key=lambda one: -max(one[1].values()) / min(one[1].values()))
    widest = [[f"`{name}`"] + [f"{each[cpu]:.2f}" for cpu in PROCESSORS] for name, each in spread[:12]]
    ratio = [f"slow / improved, {title}" for title in PROCESSORS.values()]
    return {
        "verdicts": {"columns": ["processor", "programs", "accepted", "million instructions"], "rows": verdicts},
        "pays": {"columns": ["processor", f"edits that pay (slow / improved at least {settings['pays']})", "slow / improved, geometric mean", "pay on Skylake, not here", "pay here, not on Skylake"], "rows": summary},
        "disagree": {"columns": ["pair", *ratio], "rows": disagree},
        "widest": {"columns": ["pair", *ratio], "rows": widest},
    }


def chosen(programs, every, out):
    """Both versions of some pairs, and their inputs, in a folder of their own."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    names = sorted(path.name.removesuffix(".slow.cpp") for path in programs.glob("*.slow.cpp"))
    for name in [name for name in names if (programs / f"{name}.fast.cpp").exists()][::every]:
        for path in programs.glob(f"{name}.*"):
            shutil.copy(path, out)
    return out


def speedup(times, name):
    """Slow over improved on each processor; `None` where a row is missing, takes no time or prints something else."""
    both = {cpu: [found.get(f"{name}.slow"), found.get(f"{name}.fast")] for cpu, found in times.items()}
    if not all(row and row["seconds_net"] for pair in both.values() for row in pair):
        return None
    if len({row["output_hash"] for pair in both.values() for row in pair}) > 1:
        return None
    return {cpu: slow["seconds_net"] / fast["seconds_net"] for cpu, (slow, fast) in both.items()}
