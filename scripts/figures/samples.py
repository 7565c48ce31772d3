"""What a checkpoint's samples are worth: how many compile, repeat one another or the training set, with and without the constraint.

Needs nothing but the model that ships; n=2000 takes some twenty minutes of processor time."""
from tools import percent, stampmill

SETTINGS = {"model": "models/infill", "n": "2000", "jobs": "2", "seed": "2"}


def run(program, _, settings, work):
    rates, training, sizes = [], [], []
    for word, flags in (("constrained", ["--allow-useless"]), ("left alone", ["--unconstrained"])):
        command = ["evaluate", settings["model"], "--n", settings["n"], "--seed", settings["seed"], "--jobs", settings["jobs"]]
        told = stampmill(program, *command, *flags)
        rates.append([word, told["samples"], percent(told["compile_rate"]), f"{percent(told['compile_rate_long'])} of {told['long']}", told["compiling_unique"], f"{told['compiling_unique'] / told['seconds']:.1f}"])
        training.append([word, percent(told["memorised"]), percent(told["near_memorised"]), told["common_run_median"], told["common_run_p95"], told["common_run_max"], percent(told["common_run_share_median"])])
        sizes.append([word, told["tokens_median"], told["tokens_p95"], told["tokens_max"], told["instructions_median"], told["instructions_max"], told["depth_median"], told["depth_max"]])
    return {
        "rates": {"columns": ["", "samples", "compile", "of those over 200 lexemes", "compile, unique, three instructions or more", "such a second"], "rows": rates},
        "training": {"columns": ["of those that compile", "memorised (all lexemes)", "near-duplicates of a training kernel", "longest common run: median", "95 %", "most", "median share of the sample"], "rows": training},
        "sizes": {"columns": ["of those that compile", "lexemes: median", "95 %", "most", "instructions: median", "most", "depth: median", "most"], "rows": sizes},
    }
