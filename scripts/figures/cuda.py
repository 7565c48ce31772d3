"""Kernels in CUDA and HIP of packages: how many are found, translated into OpenCL C with the same IR, and described as they are.

Mines `packages`, or all of list=FILE where that is empty; raw=DATASET of a run of `mine --language cuda` takes their place.
Unique is by the normal text. A proof compares the IR of a kernel in CUDA and of its translation, without names and address spaces."""
from tools import rows, share, stampmill

SETTINGS = {"packages": "", "list": "cuda.toml", "raw": "", "jobs": "2"}


def run(program, _, settings, work):
    jobs = ["--jobs", settings["jobs"]]
    raw = settings["raw"] or work / "raw"
    if not settings["raw"]:
        sources = settings["packages"].split() or [f"@{settings['list']}"]
        stampmill(program, "mine", *sources, "--language", "cuda", *jobs, "--out", raw)
    told = stampmill(program, "prepare", raw, *jobs, "--out", work / "kernels")
    stampmill(program, "prepare", raw, "--language", "cuda", *jobs, "--out", work / "cuda")
    stampmill(program, "features", work / "cuda", "--space", "instcount,autophase", *jobs, "--out", work / "vectors")
    files = {row["package"]: row for row in rows(program, "SELECT package, count(*) AS files, sum(kernels) AS heads FROM r WHERE verdict = 'accepted' GROUP BY package", r=raw)}
    query = "SELECT package, count(*) AS n, count(DISTINCT id) AS unique_texts FROM k WHERE verdict = 'accepted' GROUP BY package"
    proved = {row["package"]: row for row in rows(program, query, k=work / "kernels")}
    kept = {row["package"]: row for row in rows(program, query, k=work / "cuda")}
    whole = {name: rows(program, "SELECT count(DISTINCT id) AS n FROM k WHERE verdict = 'accepted'", k=work / name)[0]["n"] for name in ("kernels", "cuda")}
    described = rows(program, "SELECT count(*) AS n FROM v WHERE verdict = 'accepted' AND instcount IS NOT NULL", v=work / "vectors")[0]["n"]
    zero = {"n": 0, "unique_texts": 0}
    table = [
        [package, f"{of['files']:,}", f"{of['heads']:,}", f"{proved.get(package, zero)['n']:,}", f"{proved.get(package, zero)['unique_texts']:,}", f"{kept.get(package, zero)['n']:,}"]
        for package, of in sorted(files.items(), key=lambda one: -proved.get(one[0], zero)["n"])
    ]
    same = told["same_ir"].values()
    verdicts = {}
    for row in rows(program, "SELECT verdict, count(*) AS n FROM k GROUP BY verdict ORDER BY n DESC", k=work / "kernels"):
        verdicts[row["verdict"]] = row["n"]
    return {
        "whole": {"columns": ["what", "count"], "rows": [
            ["packages with kernels", len(files)],
            ["files with kernels, of different text", f"{sum(of['files'] for of in files.values()):,}"],
            ["heads `__global__` in their text", f"{sum(of['heads'] for of in files.values()):,}"],
            ["kernels translated and proved", f"{sum(of['n'] for of in proved.values()):,}"],
            ["of different text", f"{whole['kernels']:,}"],
            ["of the translations, proved", share(sum(one["proved"] for one in same), sum(one["kernels"] for one in same))],
            ["kernels kept in CUDA", f"{sum(of['n'] for of in kept.values()):,}"],
            ["of different text", f"{whole['cuda']:,}"],
            ["of these described (InstCount, Autophase)", f"{described:,}"],
        ]},
        "packages": {"columns": ["package", "files", "heads", "proved", "of different text", "kept in CUDA"], "rows": table},
        "verdicts": {"columns": ["verdict of a row", "rows"], "rows": [[name, f"{count:,}"] for name, count in verdicts.items()]},
    }
