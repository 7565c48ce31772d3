#!/usr/bin/env python3
"""Three kinds of model on equal tokens, tuned equally: trains on a GPU and draws without a constraint; `scripts/figures.sh kinds`
judges what was drawn, also on another machine.

usage: train_kinds.py KIND --folds DIR --state DIR --out DIR [--millions 4,12,40,120] [--seconds 480]

DIR/KIND is the training folder of `stampmill train KERNELS --model KIND --recipe scripts/train_kinds/KIND.toml --prepare-only --out DIR/KIND`
(the files corpus.safetensors, corpus.json, config.json, training.json and tokenizer.json of it are read). Needs a GPU and a Python with torch,
transformers, safetensors and numpy, and nothing else.

1. Search: each of --settings (learning rate and dropout, the same for all kinds) is trained on --search-millions tokens; the one
   with the lowest validation loss is kept. With one setting there is nothing to search.
2. For each of --millions a model is trained from nothing on so many million tokens, with its own schedule. Two are drawn from: `best` has
   the weights with the lowest validation loss of the run, `end` those of its end.
What is done stands in --state and is not done again; a training that --seconds cut short goes on in the next command where it was (40
million tokens and more) or begins anew. The last line says what is left. --out gets KIND.tar.xz with all that was drawn so far:
KIND-BUDGET-WEIGHTS.ids, KIND.jsonl (a row for each of them), KIND-search.jsonl and KIND-shapes.json."""
import argparse
import contextlib
import filecmp
import gc
import json
import math
import shutil
import sys
import tarfile
import time
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("lstm", "hole", "infill")
FILES = ("corpus.safetensors", "config.json", "training.json", "tokenizer.json")
# Looks at the validation kernels in a run, the last one at its end.
LOOKS = 20
# A hole says one token of a kernel, so its validation looks at many holes of each. Half of those that it learns from have nothing behind them, as
# the hole behind a prompt has.
OWN = {"lstm": {}, "hole": {"validation_times": 16, "open_share": 0.5}, "infill": {"validation_times": 2}}
# cuDNN's LSTM waits for its steps and not for its products; numbers of 16 bits would lose its small gradients.
PRECISION = {"lstm": "f32"}
# Runs from so many million tokens on keep what is needed to go on.
LONG = 40
# Seconds under which nothing new is begun, and what is left of them for drawing.
LEAST, DRAWING = 60, 45


def words(text):
    """`1e-3:0.1,3e-3:0.1`: learning rates and dropouts."""
    return [dict(zip(("learning_rate", "dropout"), map(float, one.split(":")), strict=True)) for one in text.split(",")]


def prompt_ids(folder, text):
    """A prompt's ids: characters, or words between blanks."""
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    own = json.loads((folder / "config.json").read_text())["stampmill"]
    pieces = list(text + " ") if own["tokenizer"] == "characters" else text.split()
    if unknown := [piece for piece in pieces if piece not in vocabulary]:
        sys.exit(f"kinds: {folder}/tokenizer.json has no piece {unknown[0]!r}: another --prompt, in words that the kernels hold")
    return [vocabulary[piece] for piece in pieces]


def prepare(fold, work, kind, millions, setting):
    """A folder to train in with this budget and these settings, unless it is there."""
    if (work / "training.json").exists():
        return
    work.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copy(fold / name, work / name)
    training = json.loads((fold / "training.json").read_text())
    budget = int(millions * 1e6)
    steps = max(budget // training["batch_tokens"], 1)
    training |= {"budget_tokens": budget, "validate_every": max(math.ceil(steps / LOOKS), 1), **setting, **OWN[kind]}
    (work / "training.json").write_text(json.dumps(training))


def trained(work, kind, seconds, keep, device):
    """Train in a folder; the summary, or None where time ran out. Weights of the end are put into its folder `end`."""
    import torch
    import torch._dynamo
    from trainer.failure import Failure
    from trainer.train import Training

    if (work / "done.json").exists():
        return json.loads((work / "done.json").read_text())
    # What one model was compiled for is not the next one's.
    torch._dynamo.reset()
    options = SimpleNamespace(device=device, precision=PRECISION.get(kind), micro_tokens=None, compile=None, packed=None)
    training = Training(work, options)
    if keep and (work / "state.safetensors").exists():
        training.restore()
    try:
        with open(work / "log", "a") as log, contextlib.redirect_stdout(log):
            training.run(sys.maxsize, seconds, keep)
        told = json.loads((work / "summary.json").read_text())
        looks = [json.loads(line) for line in (work / "metrics.jsonl").read_text().splitlines()]
        told["looks"] = [[row["tokens"], row["validation_loss"]] for row in looks if row["validation_loss"] is not None]
    except Failure as failure:
        print(f"{work.name}: {failure}", file=sys.stderr)
        told = {"failed": str(failure), "stopped": "failure", "validation_loss": None}
    if told["stopped"] == "time":
        return None
    if "failed" not in told:
        end = work / "end"
        end.mkdir(exist_ok=True)
        for name in FILES[1:]:
            shutil.copy(work / name, end / name)
        training.model.save(end)
    (work / "done.json").write_text(json.dumps(told))
    (work / "state.safetensors").unlink(missing_ok=True)
    del training
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return told


def shapes(path):
    """The shapes of a safetensors file's tensors."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return {name: tensor["shape"] for name, tensor in header.items() if name != "__metadata__"}


def search(a, fold, state, drawn, left):
    """The setting to train with, or None where time ran out."""
    settings = words(a.settings)
    if len(settings) == 1:
        return settings[0]
    rows = []
    for at, setting in enumerate(settings):
        work = state / f"search-{at}"
        prepare(fold, work, a.kind, a.search_millions, setting)
        told = trained(work, a.kind, None, False, a.device) if left() > LEAST else None
        if told is None:
            return None
        rows.append({"kind": a.kind, "millions": a.search_millions, **setting, "trained": told})
        print(f"{a.kind} {setting}: validation loss {told['validation_loss']}", flush=True)
    (drawn / f"{a.kind}-search.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    whole = [at for at, row in enumerate(rows) if row["trained"]["validation_loss"] is not None]
    if not whole:
        sys.exit(f"kinds: no setting of {a.kind} has a validation loss: smaller learning rates in --settings")
    return settings[min(whole, key=lambda at: rows[at]["trained"]["validation_loss"])]


def draw(a, fold, work, drawn, millions, setting, told):
    """Draw from a run's two sets of weights, or from one where both are the same."""
    from trainer.sample import Sampler

    same = filecmp.cmp(work / "model.safetensors", work / "end" / "model.safetensors", shallow=False)
    length = a.longest * 4 if a.kind == "lstm" else a.longest
    for weights in ("best",) if same else ("best", "end"):
        ids = drawn / f"{a.kind}-{millions:g}-{weights}.ids"
        if ids.exists():
            continue
        sampler = Sampler(work if weights == "best" else work / "end", a.device)
        new = ids.with_suffix(".part")
        made = sampler.write(new, a.n, prompt_ids(fold, a.prompt), length, a.temperature, a.seed)
        corpus = json.loads((fold / "corpus.json").read_text())
        functions = corpus.get("pretraining") or {"functions": 0, "tokens": 0}
        row = {
            "kind": a.kind, "millions": millions, "weights": weights, "same": same, **setting, "trained": told, "drawn": made,
            "prompt": a.prompt, "temperature": a.temperature, "longest": length, "seed": a.seed,
            "corpus": {key: corpus[key] for key in ("training", "validation", "too_long", "training_tokens", "vocabulary")},
            "functions": {key: functions[key] for key in ("functions", "tokens")},
        }  # fmt: skip
        with open(drawn / f"{a.kind}.jsonl", "a") as file:
            file.write(json.dumps(row) + "\n")
        new.replace(ids)
        print(f"{a.kind} {millions:g} M {weights}: {made['ended']} of {made['samples']} ended, {made['seconds']:.0f} s", flush=True)
        del sampler
        gc.collect()


def work_through(a, fold, state, drawn, left):
    """Do what is not done yet; what is left, in words."""
    setting = search(a, fold, state, drawn, left)
    if setting is None:
        return "search"
    print(f"{a.kind}: {setting}", flush=True)
    for millions in map(float, a.millions.split(",")):
        work = state / f"{millions:g}"
        if not (work / "done.json").exists() and left() < LEAST + DRAWING:
            return f"{millions:g} million tokens and more"
        keep = millions >= LONG
        if not keep and not (work / "done.json").exists():
            shutil.rmtree(work, ignore_errors=True)
        prepare(fold, work, a.kind, millions, setting)
        told = trained(work, a.kind, left() - DRAWING, keep, a.device)
        if told is None:
            return f"the rest of {millions:g} million tokens"
        if "failed" in told:
            continue
        loss = told["validation_loss"]
        print(f"{a.kind} {millions:g} M: validation loss {loss:.3f}, {told['seconds']:.0f} s, {told['tokens_per_second']:,.0f} tokens/s", flush=True)
        (drawn / f"{a.kind}-shapes.json").write_text(json.dumps(shapes(work / "model.safetensors")))
        draw(a, fold, work, drawn, millions, setting, told)
    return "nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--folds", type=Path, required=True, help="folder with a training folder for each kind")
    parser.add_argument("--state", type=Path, required=True, help="folder for what is done so far")
    parser.add_argument("--out", type=Path, required=True, help="folder that KIND.tar.xz is put into")
    parser.add_argument("--settings", default="1e-3:0.2,3e-3:0.2,1e-3:0.4", help="learning rate:dropout, with commas between them")
    parser.add_argument("--search-millions", type=float, default=2, help="budget of the search, in millions of tokens")
    parser.add_argument("--millions", default="4,12,40,120", help="budgets, in millions of tokens")
    parser.add_argument("--seconds", type=float, default=480, help="begin and train nothing after this time")
    parser.add_argument("--n", type=int, default=1000, help="samples of each set of weights")
    parser.add_argument("--prompt", default="__kernel void", help="what samples begin with")
    parser.add_argument("--temperature", type=float, default=0.9)
    parser.add_argument("--longest", type=int, default=768, help="most new tokens of a sample; four times as many characters")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--trainer", type=Path, default=ROOT / "python/src/stampmill", help="folder that holds the package `trainer`")
    a = parser.parse_args()
    begun = time.monotonic()
    sys.path.insert(0, str(a.trainer))
    fold, state = a.folds / a.kind, a.state / a.kind
    drawn = state / "drawn"
    for folder in (drawn, a.out):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        rest = work_through(a, fold, state, drawn, lambda: a.seconds - (time.monotonic() - begun))
    finally:
        # What was begun and not done is no result.
        for part in drawn.glob("*.part"):
            part.unlink()
        with tarfile.open(a.out / f"{a.kind}.tar.xz", "w:xz", preset=3) as archive:
            for path in sorted(drawn.iterdir()):
                archive.add(path, path.name)
    print(f"{a.kind}: left: {rest}; {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
