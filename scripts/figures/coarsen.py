"""How many work-items of a kernel are worth doing as one, and whether a model that chooses is short of programs: `label --task coarsen`, `heuristic diagnose`.

Needs kernels=DATASET of `prepare` with several packages (datasets/device-mapping-h200/kernels in the repository), of which those are
taken that have neither a barrier nor an image, `each` of every package at most, by the hash of their text. Vectors are of unoptimized code; errors are of packages that were held out, intervals draw packages."""
from loops import SETTINGS, tables


def run(program, _, settings, work):
    return tables(program, settings, work, {"coarsen": [1, 2, 4, 8]}, "true")
