#!/usr/bin/env python3
"""A mirror for Spack of upstream tarballs that Debian has: those whose checksum Spack's recipes name.

    spack-mirror.py RECIPES MIRROR NAME@VERSION...

RECIPES is `repos/spack_repo/builtin/packages` of Spack's packages, MIRROR the folder that `spack.yaml` names. The tarballs come from the
suites of which apt knows sources (`deb-src`, `apt-get update`). A package whose tarball Debian does not have is told of, and left out."""
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def checksums(recipe):
    """The SHA-256 of each version that a recipe names, and the ending of its tarballs."""
    text = recipe.read_text()
    calls = re.finditer(r'version\(\s*"([^"]+)",([^()]*?)sha256="([0-9a-f]{64})"', text, re.S)
    url = re.search(r"^    (?:url|\w+_mirror_path) = .(.*).$", text, re.M)
    return {call[1]: call[3] for call in calls}, url[1] if url else ""


def archive():
    """Upstream tarballs in the archive, by SHA-256: source package, version, file."""
    listed = ["apt-get", "indextargets", "--format", "$(FILENAME)", "Created-By: Sources"]
    lists = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    if not lists:
        sys.exit("spack-mirror: apt knows no sources: add deb-src lines and run apt-get update")
    found = {}
    for path in lists:
        text = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], capture_output=True, text=True, check=True).stdout
        for block in text.split("\n\n"):
            field = lambda name: re.search(rf"^{name}: (.*)$", block, re.M)[1]
            sums = re.search(r"^Checksums-Sha256:\n((?: .*\n?)*)", block, re.M)
            for line in sums[1].splitlines() if sums else []:
                digest, _, file = line.split()
                if ".orig" in file:
                    found.setdefault(digest, (field("Package"), field("Version"), file))
    return found


def main(recipes, mirror, *wanted):
    known = archive()
    put = 0
    for spec in wanted:
        name, version = spec.split("@")
        sums, url = checksums(Path(recipes) / name.replace("-", "_") / "package.py")
        digest = sums.get(version)
        if digest not in known:
            print(f"{spec}: Debian has no tarball of the recipe's checksum")
            continue
        package, whole, file = known[digest]
        ending = ".tgz" if url.endswith(".tgz") else re.search(r"(\.tar\.\w+)$", file)[1]
        place = Path(mirror) / "_source-cache/archive" / digest[:2] / (digest + ending)
        if not place.exists():
            with tempfile.TemporaryDirectory() as folder:
                get = ["apt-get", "-qq", "source", "--download-only", "--tar-only", f"{package}={whole}"]
                if subprocess.run(get, cwd=folder, stdout=subprocess.DEVNULL).returncode:
                    print(f"{spec}: the archive does not give {file}")
                    continue
                if hashlib.sha256((Path(folder) / file).read_bytes()).hexdigest() != digest:
                    sys.exit(f"spack-mirror: {file} is not what the archive's list says")
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path(folder) / file, place)
        put += 1
    print(f"{put} of {len(wanted)} tarballs in {mirror}, each of the recipe's own checksum")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
