"""Kernels in CUDA and HIP of packages: how many are found, translated into OpenCL C with the same IR, and described as they are.

Mines `packages`, or all of list=FILE where that is empty; raw=DATASET of a run of `mine --language cuda`
and kernels=DATASET of `prepare` of that take their place; limit=TIME is what `prepare` lets a request to clang take. kept=no leaves out what is
kept in CUDA, which takes as long again.
Unique is by the normal text. A proof compares the IR of a kernel in CUDA and of its translation, without names and address spaces."""
from pathlib import Path

from tools import rows, share, stampmill

SETTINGS = {"packages": "", "list": "cuda.toml", "raw": "", "kernels": "", "kept": "yes", "limit": "2s", "jobs": "2"}


def run(program, _, settings, work):
    jobs = ["--jobs", settings["jobs"]]
    raw = settings["raw"] or work / "raw"
    if not settings["raw"]:
        sources = settings["packages"].split() or [f"@{settings['list']}"]
        stampmill(program, "mine", *sources, "--language", "cuda", *jobs, "--out", raw)
    limit = ["--limit", settings["limit"]]
    kernels = Path(settings["kernels"] or work / "kernels")
    if not settings["kernels"]:
        stampmill(program, "prepare", raw, *limit, *jobs, "--out", kernels)
    found = {row["verdict"]: row["n"] for row in rows(program, "SELECT verdict, count(*) AS n FROM k GROUP BY verdict ORDER BY n DESC", k=kernels)}
    files = {row["package"]: row for row in rows(program, "SELECT package, count(*) AS files, sum(kernels) AS heads FROM r WHERE verdict = 'accepted' GROUP BY package", r=raw)}
    query = "SELECT package, count(*) AS n, count(DISTINCT id) AS unique_texts FROM k WHERE verdict = 'accepted' GROUP BY package"
    proved = {row["package"]: row for row in rows(program, query, k=kernels)}
    zero = {"n": 0, "unique_texts": 0}
    table = [
        [package, f"{of['files']:,}", f"{of['heads']:,}", f"{proved.get(package, zero)['n']:,}", f"{proved.get(package, zero)['unique_texts']:,}"]
        for package, of in sorted(files.items(), key=lambda one: -proved.get(one[0], zero)["n"])
    ]
    unique = "SELECT count(DISTINCT id) AS n FROM k WHERE verdict = 'accepted'"
    whole = [
        ["packages with kernels", len(files)],
        ["files with kernels, of different text", f"{sum(of['files'] for of in files.values()):,}"],
        ["heads `__global__` in their text", f"{sum(of['heads'] for of in files.values()):,}"],
        ["kernels translated and proved", f"{sum(of['n'] for of in proved.values()):,}"],
        ["of different text", f"{rows(program, unique, k=kernels)[0]['n']:,}"],
        ["of the translations, proved", share(found["accepted"] + found.get("duplicate", 0), sum(found.get(name, 0) for name in ("accepted", "duplicate", "translation-changed-ir")))],
    ]
    if settings["kept"] == "yes":
        stampmill(program, "prepare", raw, *limit, "--language", "cuda", *jobs, "--out", work / "cuda")
        stampmill(program, "features", work / "cuda", "--space", "instcount,autophase", *jobs, "--out", work / "vectors")
        kept = {row["package"]: row["n"] for row in rows(program, query, k=work / "cuda")}
        described = rows(program, "SELECT count(*) AS n FROM v WHERE verdict = 'accepted' AND instcount IS NOT NULL", v=work / "vectors")[0]["n"]
        whole += [
            ["kernels kept in CUDA", f"{sum(kept.values()):,}"],
            ["of different text", f"{rows(program, unique, k=work / 'cuda')[0]['n']:,}"],
            ["of these described (InstCount, Autophase)", f"{described:,}"],
        ]
        table = [[*row, f"{kept.get(row[0], 0):,}"] for row in table]
    return {
        "whole": {"columns": ["what", "count"], "rows": whole},
        "packages": {"columns": ["package", "files", "heads", "proved", "of different text", "kept in CUDA"][: len(table[0])], "rows": table},
        "verdicts": {"columns": ["verdict of a row", "rows"], "rows": [[name, f"{count:,}"] for name, count in found.items()]},
    }
