"""What a checkpoint's samples are worth: how many compile, are new, and are accepted, with and without the constraint.

Needs nothing but the model that ships; n=10000 takes a quarter of an hour on two cores."""
from collections import Counter

from tools import rows, share, stampmill

SETTINGS = {"model": "models/infill", "n": "2000", "jobs": "2", "seed": "2"}


def run(program, _, settings, work):
    table = []
    for word, flags in (("constrained", []), ("unconstrained", ["--unconstrained"])):
        command = ["sample", settings["model"], "--n", settings["n"], "--seed", settings["seed"], "--jobs", settings["jobs"], *flags]
        told = stampmill(program, *command, "--out", work / word, "--force")
        verdicts = Counter({row["verdict"]: row["n"] for row in rows(program, "SELECT verdict, count(*) AS n FROM s GROUP BY verdict", s=work / word)})
        drawn = sum(verdicts.values())
        compile_too = drawn - sum(verdicts[bad] for bad in ("does-not-compile", "unfinished", "no-kernel", "not-defined", "crash", "timeout"))
        table.append([word, drawn, share(compile_too, drawn), share(verdicts["accepted"], drawn), share(verdicts["duplicate"], drawn), f"{verdicts['accepted'] / told['seconds']:.1f}"])
    columns = ["", "samples", "compile", "accepted, none before has their text", "duplicates", "accepted a second"]
    return {"rates": {"columns": columns, "rows": table}}
