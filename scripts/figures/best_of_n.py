"""What `examples/best-of-n.py` gains: the model that ships writes bodies for the heads of slow kernels, the judge rewards them, and the best is what the next round has to beat.

Runs the example as it stands, with n=N samples of each kernel in each of `rounds` rounds, and reports what it prints, whatever comes of it. Needs an OpenCL
device of the processor, and python=PROGRAM with the packages of the wheel (`pip install pyarrow`), by default the Python that runs this. Some ten minutes on two cores."""
import os
import re
import subprocess
import sys
from pathlib import Path

SETTINGS = {"n": "64", "rounds": "3", "kernels": "3", "python": ""}
ROOT = Path(__file__).resolve().parent.parent.parent
ROUND = re.compile(r"(\w+), round (\d+): (\d+) of (\d+) are right, the best reward is ([\d.-]+)")
END = re.compile(r"(\w+): (?:([\d.]+) times as fast as at first|([a-z-]+) when judged again)(, by)?")


def told(text):
    """Lines of the rounds, and of each kernel what came of it and its text, where it is another one."""
    rounds, ends, texts = [], [], []
    for line in text.splitlines():
        if found := ROUND.fullmatch(line):
            rounds.append(list(found.groups()))
        elif found := END.fullmatch(line):
            ends.append((found[1], found[2], found[3]))
            texts.append([] if found[4] else None)
        elif texts and texts[-1] is not None:
            texts[-1].append(line)
    return rounds, ends, [None if lines is None else "\n".join(lines) for lines in texts]


def run(program, _, settings, work):
    words = [settings["python"] or sys.executable, str(ROOT / "examples" / "best-of-n.py"), "--n", settings["n"], "--rounds", settings["rounds"], "--kernels", settings["kernels"]]
    around = {**os.environ, "STAMPMILL": str(Path(program).resolve()), "PYTHONPATH": str(ROOT / "python" / "src")}
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=around, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"figures: `{' '.join(words)}` ended with {done.returncode}")
    rounds, ends, texts = told(done.stdout)
    if not rounds or not ends:
        sys.exit(f"figures: examples/best-of-n.py printed no rounds:\n{done.stdout}")
    lines = [[f"`{name}`, round {number}", settings["n"], accepted, right, best] for name, number, right, accepted, best in rounds]
    came = [[f"`{name}`", f"{gain} times as fast" if gain else word, "another kernel" if text is not None else "as it was"] for (name, gain, word), text in zip(ends, texts)]
    programs = [[f"`{name}`", [["what the loop ended with", text]]] for (name, _, _), text in zip(ends, texts) if text is not None]
    return {
        "rounds": {"columns": ["kernel", "samples", "accepted by `sample`", "right", "best reward of the round"], "rows": lines},
        "gains": {"columns": ["kernel", "in the end, judged again beside the first", "text"], "rows": came},
        "programs": {"programs": programs},
    }
