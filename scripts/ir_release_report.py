#!/usr/bin/env python3
"""usage: ir_release_report.py STAMPMILL MODULES WORK RELEASE PART...   the README.md of a release (`ir-release.sh`), on standard output

MODULES: what was built; WORK: `unique` and `admitted`, made of it; RELEASE: the folder of the release; PART: the parts that MODULES
was joined of. `tables` gives the same as rows."""
import collections
import json
import subprocess
import sys
from pathlib import Path

# In the order of the funnel, as kinds of sources are called.
KINDS = ("Rust", "Debian", "Swift", "others")


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
    return "others"


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


def tables(program, modules, work, release, parts):
    """The funnel, the packages that failed, and the cost of each part: columns and rows each."""
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
    cost, total = [], [0, 0, 0]
    for part in parts:
        tries = [int(line) for line in Path(f"{part}.seconds").read_text().split()]
        count = rows(program, "SELECT count(*) AS packages FROM m WHERE kind = 'package'", part)[0]["packages"]
        numbers = [count, sum(tries), size(part)]
        total = [a + b for a, b in zip(total, numbers)]
        cost.append([Path(part).name.replace("-", " "), f"{count:,}", f"{numbers[1]:,}", f"{numbers[2]:,}"])
    if len(parts) > 1:
        cost.append(["total", *(f"{number:,}" for number in total)])
    return {
        "funnel": {"columns": ["", *kinds, "all"], "rows": funnel},
        "verdicts": {"columns": ["verdict of a package", "packages"], "rows": [[word, f"{count:,}"] for word, count in words.most_common()]},
        "failures": {"columns": ["package", "verdict", "detail"], "rows": failed},
        "cost": {"columns": ["part", "packages", "seconds", "bytes"], "rows": cost},
        "release": {"columns": ["folder", "bytes"], "rows": [[name, f"{size(Path(release) / name):,}"] for name in ("compile", "dataset", "statistics")]},
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
        "## Cost\n", table("cost"), table("release"),
    ])


if __name__ == "__main__":
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    program, modules, work, release, *parts = sys.argv[1:]
    print(page(tables(program, modules, work, release, parts), parts), end="")
