"""A part of the IR data set release: what was built of it, what failed and why, what it cost.

Builds and packs part `part` of the list, or of its groups `groups=NAME,...` alone, with `scripts/ir-release.sh` (mmdebstrap, as root; packages come from registries);
`out=FOLDER` resumes, or reads, what a run of it left there."""
import os
import subprocess
import sys
import tomllib
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
VARIANTS = [None, "fortran-and-d"]
SETTINGS = {"part": "32/40", "list": "ir.toml", "groups": "", "limit": "8m", "jobs": "2", "out": ""}
GROUPS = {"fortran-and-d": {"part": "1/1", "groups": "fortran,d"}}


def chosen(path, groups, work):
    """The list, or one of these groups of it."""
    if not groups:
        return path
    sources = [source for name in groups.split(",") for source in tomllib.loads(path.read_text())[name]["sources"]]
    part = work / "sources.toml"
    part.write_text("[chosen]\nsources = [\n" + "".join(f'  "{source}",\n' for source in sources) + "]\n")
    return part


def run(program, variant, settings, work):
    sys.path.insert(0, str(SCRIPTS))
    from ir_release_report import tables

    settings.update(GROUPS.get(variant, {}))
    out = settings["out"] or work / "ir-release"
    sources = chosen(SCRIPTS.parent / settings["list"], settings["groups"], work)
    environment = {
        **os.environ, "STAMPMILL": str(program), "PART": settings["part"], "PACK": "yes", "LIST": str(sources),
        "LIMIT": settings["limit"], "JOBS": settings["jobs"],
    }
    subprocess.run([SCRIPTS / "ir-release.sh", out], env=environment, check=True, stdout=sys.stderr)
    part = f"{out}/parts/{settings['part'].replace('/', '-of-')}"
    return tables(program, part, f"{part}.release.work", f"{part}.release", [part])
