"""How likely kernels of people are to the model that ships, by package: bits a token, and those that the model promises.

Kernels of kernels=DATASET of `prepare`. A model is well calibrated where kernels take as many bits as it promises. A package is
held back where the model learned from none of its kernels. Some minutes on two cores."""
from tools import stampmill

SETTINGS = {"model": "models/infill", "kernels": "datasets/device-mapping-h200/kernels", "jobs": "2"}
FEWEST = 5


def row(name, total, held_back):
    bits, promised = (f"{total[key]:.2f}" if total[key] is not None else "none" for key in ("bits_per_token", "expected_per_token"))
    return [name, held_back, f"{total['kernels']:,}", f"{total['too_long']:,}", bits, promised]


def run(program, _, settings, work):
    told = stampmill(program, "evaluate", settings["model"], "--likelihood", settings["kernels"], "--jobs", settings["jobs"])
    words = {True: "yes", False: "no", None: "unknown"}
    packages = [one for one in told["packages"] if one["kernels"] >= FEWEST]
    packages.sort(key=lambda one: (one["held_back"] is not True, one["bits_per_token"]))
    columns = ["package", "held back", "kernels", "too long", "bits a token", "promised"]
    return {
        "whole": {"columns": ["kernels of", *columns[1:]], "rows": [row("all packages", told["all"], ""), row("packages held back", told["held_back"], "yes")]},
        "packages": {"columns": columns, "rows": [row(one["package"], one, words[one["held_back"]]) for one in packages]},
    }
