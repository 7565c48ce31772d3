#!/usr/bin/env python3
"""usage: ir_release_report.py STAMPMILL MODULES WORK RELEASE PART...   the README.md of a release (`ir-release.sh`), on standard output

MODULES: what was built; WORK: `unique` and `admitted`, made of it; RELEASE: the folder of the release; PART: the parts that MODULES
was joined of. `tables` gives the same as rows."""
import collections
import csv
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

# In the order of the funnel, as kinds of sources are called.
KINDS = ("Rust", "Debian", "Swift", "git", "others")
# Tables of `heuristic reproduce --recipe compile` by our names; the packages of Figure 1 that are shown.
COMPILE = {"compile-table1": "table1", "compile-table3": "table3"}
SHOWN = 20


def rows(program, sql, modules):
    """The rows of an SQL query over modules, each a dictionary."""
    command = [str(program), "query", sql, f"m={modules}", "--format", "jsonl"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def kind(source):
    """Of a source as it stands in a row: `crate:hex@0.4.3`, `deb:zlib=1.2#HASH`."""
    if source.startswith("crate:"):
        return "Rust"
    if source.startswith("deb:"):
        return "Swift" if source.startswith("deb:swiftlang") else "Debian"
    return "git" if source.startswith("git+") else "others"


def modules_in(program, dataset):
    """Modules and bytes by kind of source."""
    sql = "SELECT package_source, count(*) AS modules, sum(bytes) AS bytes FROM m WHERE kind = 'module' AND verdict = 'accepted' GROUP BY package_source"
    found = collections.Counter(), collections.Counter()
    for row in rows(program, sql, dataset):
        found[0][kind(row["package_source"])] += row["modules"]
        found[1][kind(row["package_source"])] += row["bytes"]
    return found


def size(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def compile_tables(folder):
    """ComPile's Tables 1 and 3 and the packages of its Figure 1, as `tables/` of a release has them; none where it has none."""
    found = {}
    for name, file in COMPILE.items():
        path = Path(folder) / f"{file}.csv"
        if path.exists():
            columns, *lines = csv.reader(path.read_text().splitlines())
            found[name] = {"columns": columns, "rows": [[cell or "–" for cell in line] for line in lines]}
    path = Path(folder) / "figure1.csv"
    if path.exists():
        packages = [(line["package"], int(line["modules"]), int(line["bitcode bytes"])) for line in csv.DictReader(path.read_text().splitlines())]
        packages.sort(key=lambda one: (-one[2], one[0]))
        whole = sum(one[2] for one in packages)
        rest = packages[SHOWN:]
        shown = packages[:SHOWN] + ([(f"{len(rest)} others", sum(one[1] for one in rest), sum(one[2] for one in rest))] if rest else [])
        lines = [[name, f"{count:,}", f"{size / 1e6:.2f}", f"{100 * size / whole:.1f}" if whole else "–"] for name, count, size in shown]
        found["compile-figure1"] = {"columns": ["package", "modules", "MB of bitcode", "of all, %"], "rows": lines}
    return found


def estimate(seconds, sizes, names):
    """What all parts of the job take, by those that were built: parts are shares of one list, drawn by the names of its sources. The
    error is that of the mean of a draw without replacement."""
    drawn, whole = len(seconds), int(names[0].rsplit("-", 1)[1])

    def all_of(values):
        total = whole * statistics.mean(values)
        if drawn < 2:
            return total, None
        return total, whole * math.sqrt((1 - drawn / whole) * statistics.variance(values) / drawn)

    def told(values, scale, digits):
        total, error = all_of(values)
        about = "" if error is None else f" ± {error / scale:,.{digits}f}"
        return f"{total / scale:,.{digits}f}{about}"

    lines = [
        ["parts that were built", f"{drawn} of {whole}"],
        ["seconds of a part: median, least, most", f"{statistics.median(seconds):,.0f}, {min(seconds):,}, {max(seconds):,}"],
        [f"hours that all {whole} take, ± standard error", told(seconds, 3600, 1)],
        [f"GB of the data sets of all {whole}, ± standard error", told(sizes, 1e9, 2)],
    ]
    return {"columns": ["what", "estimate"], "rows": lines}


def tables(program, modules, work, release, parts):
    """The funnel, the packages that failed, the cost of each part and of all, and ComPile's tables: columns and rows each."""
    packages = rows(program, "SELECT path, verdict, detail FROM m WHERE kind = 'package' ORDER BY verdict, path", modules)
    named, arrived, built = (collections.Counter() for _ in range(3))
    for row in packages:
        of = kind(row["path"])
        named[of] += 1
        arrived[of] += row["verdict"] != "source-unavailable"
        built[of] += row["verdict"] == "built"
    kept, unique, admitted = (modules_in(program, one) for one in (modules, Path(work) / "unique", Path(work) / "admitted"))
    steps = [
        ("packages of the list", named), ("whose source arrived", arrived), ("built, with modules", built),
        ("modules", kept[0]), ("unlike all others", unique[0]), ("admitted by their licenses", admitted[0]),
    ]
    kinds = [one for one in KINDS if named[one]]
    funnel = [[step, *(f"{count[one]:,}" for one in kinds), f"{sum(count.values()):,}"] for step, count in steps]
    for step, count in (("MB of bitcode", kept[1]), ("MB admitted", admitted[1])):
        funnel.append([step, *(f"{count[one] / 1e6:.2f}" for one in kinds), f"{sum(count.values()) / 1e6:.2f}"])
    failed = [[row["path"], row["verdict"], row["detail"].replace("|", "\\|").replace("\n", " ")[:120]] for row in packages if row["verdict"] != "built"]
    words = collections.Counter(row["verdict"] for row in packages)
    cost, total, seconds, sizes = [], [0, 0, 0], [], []
    for part in parts:
        tries = [int(line) for line in Path(f"{part}.seconds").read_text().split()]
        count = rows(program, "SELECT count(*) AS packages FROM m WHERE kind = 'package'", part)[0]["packages"]
        numbers = [count, sum(tries), size(part)]
        total = [a + b for a, b in zip(total, numbers)]
        seconds.append(numbers[1])
        sizes.append(numbers[2])
        cost.append([Path(part).name.replace("-", " "), f"{count:,}", f"{numbers[1]:,}", f"{numbers[2]:,}"])
    if len(parts) > 1:
        cost.append(["total", *(f"{number:,}" for number in total)])
    return {
        "funnel": {"columns": ["", *kinds, "all"], "rows": funnel},
        "verdicts": {"columns": ["verdict of a package", "packages"], "rows": [[word, f"{count:,}"] for word, count in words.most_common()]},
        "failures": {"columns": ["package", "verdict", "detail"], "rows": failed},
        "cost": {"columns": ["part", "packages", "seconds", "bytes"], "rows": cost},
        "release": {"columns": ["folder", "bytes"], "rows": [[name, f"{size(Path(release) / name):,}"] for name in ("compile", "dataset", "statistics")]},
        "estimate": estimate(seconds, sizes, [Path(part).name for part in parts]),
        **compile_tables(Path(release) / "tables"),
    }


def page(found, parts):
    def table(name):
        columns, body = found[name]["columns"], found[name]["rows"]
        lines = [columns, ["---"] * len(columns), *body]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"

    names = ", ".join(Path(part).name.replace("-of-", " of ") for part in parts)
    return "\n".join([
        "# Modules of LLVM IR, before optimization\n",
        f"Parts {names}. `compile/` is for pandas and Hugging Face (its README.md is the data card), `dataset/` for stampmill, `statistics/` a row a module, `tables/` ComPile's Tables 1 and 3 and Figure 1 of these data.\n",
        "## Funnel\n", table("funnel"), "## Packages by verdict\n", table("verdicts"), "## Packages that gave nothing\n", table("failures"),
        "## Cost\n", table("cost"), table("estimate"), table("release"),
    ])


if __name__ == "__main__":
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    program, modules, work, release, *parts = sys.argv[1:]
    print(page(tables(program, modules, work, release, parts), parts), end="")
