"""A part of the IR data set release: what was built of it, what failed and why, what it cost.

Builds and packs part `part` of the list, or of its groups `groups=NAME,...` alone, with `scripts/ir-release.sh` (mmdebstrap, as root; packages come from registries);
`parts=1-8/40`, or `parts=1,2,5/40`, takes several as one sample: the funnel is over all of them, and each has its cost. `out=FOLDER` resumes, or reads, what a run of it left there."""
import os
import subprocess
import sys
import tomllib
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
VARIANTS = [None, "fortran-and-d", "zig"]
SETTINGS = {"part": "32/40", "parts": "", "list": "ir.toml", "groups": "", "limit": "8m", "jobs": "2", "out": ""}
GROUPS = {"fortran-and-d": {"part": "1/1", "groups": "fortran,d"}, "zig": {"part": "1/1", "groups": "zig"}}


def chosen(path, groups, work):
    """The list, or one of these groups of it."""
    if not groups:
        return path
    sources = [source for name in groups.split(",") for source in tomllib.loads(path.read_text())[name]["sources"]]
    part = work / "sources.toml"
    part.write_text("[chosen]\nsources = [\n" + "".join(f'  "{source}",\n' for source in sources) + "]\n")
    return part


def numbers(wanted):
    """The parts of `1,5-7/40`, each as `I-of-N`."""
    listed, count = wanted.split("/")
    found = set()
    for piece in listed.split(","):
        first, _, last = piece.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return [f"{number}-of-{count}" for number in sorted(found)]


def run(program, variant, settings, work):
    sys.path.insert(0, str(SCRIPTS))
    from ir_release_report import tables

    settings.update(GROUPS.get(variant, {}))
    out = settings["out"] or work / "ir-release"
    sources = chosen(SCRIPTS.parent / settings["list"], settings["groups"], work)
    wanted = settings["parts"] or settings["part"]
    environment = {key: value for key, value in os.environ.items() if key not in ("PART", "PARTS")}
    environment |= {
        "STAMPMILL": str(program), "PARTS": wanted, "PACK": "yes", "LIST": str(sources), "LIMIT": settings["limit"], "JOBS": settings["jobs"],
    }
    subprocess.run([SCRIPTS / "ir-release.sh", out], env=environment, check=True, stdout=sys.stderr)
    sample = f"{out}/parts/{wanted.replace('/', '-of-')}"
    return tables(program, sample, f"{sample}.release.work", f"{sample}.release", [f"{out}/parts/{name}" for name in numbers(wanted)])
