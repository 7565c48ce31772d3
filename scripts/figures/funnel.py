"""From packages to unique kernels, and how many are proved equal to their originals after rewriting.

Fetches the packages of sources=FILE (cached downloads are used); about ten minutes on two cores for packages.toml."""
from tools import stampmill

SETTINGS = {"sources": "packages.toml", "jobs": "2"}


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def run(program, _, settings, work):
    stampmill(program, "mine", f"@{settings['sources']}", "--jobs", settings["jobs"], "--out", work / "raw", "--force")
    found = stampmill(program, "prepare", work / "raw", "--jobs", settings["jobs"], "--out", work / "kernels", "--force")
    heads = found["textual_kernels"]
    packages = [package for package in found["packages"] if package["package"]]
    funnel = [
        ["packages with a kernel", len([package for package in packages if package["kernels"]]), ""],
        ["content files", found["files"], ""],
        ["unique content files", found["unique_files"], percent(found["unique_files"], found["files"])],
        ["kernels counted by text in these", heads, ""],
        ["kernels accepted", found["kernels"], ""],
        ["unique kernels", found["unique_kernels"], percent(found["unique_kernels"], found["kernels"])],
        ["families of near-duplicates", found["families"], ""],
    ]
    same = [[status, counts["kernels"], counts["proved"], percent(counts["proved"], counts["kernels"])] for status, counts in found["same_ir"].items()]
    total = [sum(row[at] for row in same) for at in (1, 2)]
    same.append(["all", *total, percent(total[1], total[0])])
    rejected = sorted(found["rejected"].items(), key=lambda item: -item[1])
    return {
        "funnel": {"columns": ["", "count", "of the line before"], "rows": funnel},
        "same_ir": {"columns": ["what the file needed", "kernels that clang accepts in it", "same IR after rewriting", ""], "rows": same},
        "rejected": {"columns": ["verdict", "rows"], "rows": [list(item) for item in rejected]},
    }
