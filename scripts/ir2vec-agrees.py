#!/usr/bin/env python3
"""Compare the space `ir2vec` with LLVM's own tool, module by module.

    scripts/ir2vec-agrees.py STAMPMILL VOCABULARY FOLDER [TOOL WORD...]

FOLDER holds .ll or .bc files; TOOL is `llvm-ir2vec` (of LLVM 22) unless said, with words before its own arguments, as
`chroot ROOT /usr/bin/llvm-ir2vec-22`. It prints two decimals, so that a difference of 0.005 for each function of a
module is rounding. Prints one JSON object; exit status 1 where a module differs by more.
"""
import json
import pathlib
import subprocess
import sys


def tool(command, vocabulary, file):
    """The sum of the functions' vectors, and how many there are."""
    words = [*command, "embeddings", "--level=func", f"--ir2vec-vocab-path={vocabulary}", "-"]
    out = subprocess.run(words, stdin=open(file, "rb"), capture_output=True, text=True)
    if out.returncode != 0:
        return None, 0
    rows = [[float(one) for one in line.strip(" []").split()] for line in out.stdout.splitlines() if line.startswith(" [")]
    return [sum(column) for column in zip(*rows)], len(rows)


def main():
    stampmill, vocabulary, folder, *command = sys.argv[1:]
    words = [stampmill, "features", folder, "--space", "ir2vec", "--format", "jsonl", "-q"]
    ours = {}
    for line in subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines():
        row = json.loads(line)
        if row.get("ir2vec"):
            ours[row["path"]] = row["ir2vec"]
    found = {"modules": 0, "equal": 0, "functions": 0, "not read by one": 0, "largest difference": 0.0}
    for file in sorted(pathlib.Path(folder).iterdir()):
        theirs, functions = tool(command or ["llvm-ir2vec"], vocabulary, file)
        own = ours.get(file.name)
        if not theirs or not own:
            found["not read by one"] += 1
            continue
        difference = max(abs(one - other) for one, other in zip(own, theirs))
        found["modules"] += 1
        found["functions"] += functions
        found["largest difference"] = max(found["largest difference"], round(difference, 4))
        found["equal"] += difference < 0.0051 * functions
    print(json.dumps(found))
    sys.exit(found["equal"] != found["modules"])


main()
