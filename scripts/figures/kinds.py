"""Three kinds of model on equal tokens, tuned equally: how many of their samples compile when nothing constrains them.

drawn=DIR is what the archives of `scripts/train_kinds.py` hold, made on a machine with a GPU; folds=DIR the training folders that it was made
of (lstm, hole, infill), which say what the samples' ids are and what kernels are known. picture=FILE draws the curves there."""
import json
import math
import shutil
import struct
from html import escape
from pathlib import Path

from tools import percent, stampmill, wilson

SETTINGS = {"drawn": "", "folds": "", "jobs": "2", "picture": ""}
KINDS = ("lstm", "hole", "infill")
TOKENS = {"lstm": "characters", "hole": "lexemes and parts of them", "infill": "lexemes and parts of them"}
# What `evaluate` reads of a checkpoint beside its weights.
FILES = ("config.json", "tokenizer.json", "seen.safetensors", "training-set.safetensors")
COLORS = {"lstm": "#d1495b", "hole": "#b8860b", "infill": "#1f6fb4"}
WIDTH, HEIGHT, LEFT, TOP = 640, 360, 56, 16


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def stand_in(fold, shapes, work):
    """A checkpoint with weights of zeros: nothing is drawn from it, and `evaluate` reads one."""
    work.mkdir(parents=True)
    for name in FILES:
        shutil.copy(fold / name, work / name)
    header, at = {}, 0
    for name, shape in shapes.items():
        end = at + 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (work / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(at))
    return work


def bits(loss):
    return "none" if loss is None else f"{loss / math.log(2):.2f}"


def compiled(told):
    """How many compile, of how many, and the interval of their share."""
    part = round(told["compile_rate"] * told["samples"])
    return part, wilson(part, told["samples"])


def cell(told):
    part, (low, high) = compiled(told)
    return f"{percent(part / told['samples'])} [{100 * low:.1f}, {100 * high:.1f}]"


def draw(path, points):
    """Curves of the share that compiles by tokens; `points`: for each kind and weights (tokens, share, low, high), ascending."""
    every = [point for series in points.values() for point in series]
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if max(point[3] for point in every) <= 6 * step or step == 0.2)
    most = step * math.ceil(max(point[3] for point in every) / step)
    budgets = sorted({point[0] for point in every})
    right, bottom = WIDTH - 150, HEIGHT - 40

    def x(tokens):
        span = math.log(budgets[-1] / budgets[0]) or 1.0
        return LEFT + 12 + math.log(tokens / budgets[0]) / span * (right - LEFT - 24)

    def y(share):
        return bottom - share / most * (bottom - TOP)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           "<title>Samples that compile without a constraint, by tokens of training</title>", '<rect width="100%" height="100%" fill="white"/>']
    for number in range(round(most / step) + 1):
        at = y(number * step)
        out.append(f'<line x1="{LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{100 * number * step:.0f} %</text>')
    for budget in budgets:
        out.append(f'<text x="{x(budget):.1f}" y="{bottom + 18}" text-anchor="middle">{budget:g}</text>')
    out.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 6}" text-anchor="middle">million tokens of training</text>')
    for number, ((kind, weights), series) in enumerate(points.items()):
        color, dashes = COLORS[kind], "" if weights == "best" else ' stroke-dasharray="4 3"'
        for tokens, _, low, high in series:
            out.append(f'<line x1="{x(tokens):.1f}" x2="{x(tokens):.1f}" y1="{y(low):.1f}" y2="{y(high):.1f}" stroke="{color}" opacity="0.35"/>')
        line = " ".join(f"{x(tokens):.1f},{y(share):.1f}" for tokens, share, *_ in series)
        out.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"{dashes}/>')
        at = TOP + 14 + 18 * number
        out.append(f'<line x1="{right + 12}" x2="{right + 36}" y1="{at - 4}" y2="{at - 4}" stroke="{color}" stroke-width="2"{dashes}/>')
        out.append(f'<text x="{right + 42}" y="{at}">{escape(kind)}, {weights}</text>')
    path.write_text("\n".join([*out, "</svg>", ""]))


def run(program, _, settings, work):
    drawn, folds = Path(settings["drawn"]), Path(settings["folds"])
    table, texts, searched, made, points = [], [], [], [], {}
    for kind in KINDS:
        if not (drawn / f"{kind}.jsonl").exists():
            continue
        checkpoint = stand_in(folds / kind, json.loads((drawn / f"{kind}-shapes.json").read_text()), work / kind)
        # A run that was cut off may have told of one twice.
        rows = {(row["millions"], row["weights"]): row for row in lines(drawn / f"{kind}.jsonl")}
        made += rows.values()
        for millions in sorted({millions for millions, _ in rows}):
            told = {}
            for weights in ("best", "end"):
                if (millions, weights) not in rows:
                    told[weights] = told["best"]
                else:
                    one = rows[millions, weights]
                    told[weights] = stampmill(program, "evaluate", checkpoint, "--drawn", drawn / f"{kind}-{millions:g}-{weights}.ids", "--unconstrained",
                                              "--n", one["drawn"]["samples"], "--prompt", f"{one['prompt']} [HOLE]", "--jobs", settings["jobs"])  # fmt: skip
                part, ends = compiled(told[weights])
                points.setdefault((kind, weights), []).append((millions, part / told[weights]["samples"], *ends))
            one = rows[millions, "best"]
            trained, end = one["trained"], told["end"]
            near = end["near_memorised"]
            table.append([
                f"`{kind}`", f"{trained['parameters'] / 1e6:.1f} M", f"{millions:g} M", f"{trained['tokens'] / (one['corpus']['training_tokens'] + one['functions']['tokens']):.0f}",
                f"{one['learning_rate']:g}, {one['dropout']:g}", bits(trained["validation_loss"]), cell(told["best"]), cell(end),
                end["compiling_unique"], "none" if near is None or not compiled(end)[0] else percent(near), end["tokens_median"], f"{trained['seconds']:.0f}",
            ])  # fmt: skip
        corpus = one["corpus"]
        texts.append([f"`{kind}`", TOKENS[kind], corpus["vocabulary"], corpus["training"], corpus["validation"], f"{corpus['training_tokens']:,}", corpus["too_long"],
                      one["functions"]["functions"], f"{one['functions']['tokens']:,}"])
        if (drawn / f"{kind}-search.jsonl").exists():
            for row in lines(drawn / f"{kind}-search.jsonl"):
                searched.append([f"`{kind}`", f"{row['millions']:g} M", f"{row['learning_rate']:g}", f"{row['dropout']:g}", bits(row["trained"]["validation_loss"])])
    if settings["picture"]:
        draw(Path(settings["picture"]), points)

    def all_of(values):
        return ", ".join(map(str, sorted(set(values))))

    return {
        "rates": {"columns": ["kind", "weights", "tokens", "times the text was read, on average", "learning rate, dropout", "validation loss, bits a token, best",
                              "compile, best by validation [95 %]", "compile, at the end of the run [95 %]", "of these unique, three instructions or more",
                              "of these near-duplicates of a training kernel", "lexemes: median", "seconds of training"], "rows": table},
        "search": {"columns": ["kind", "tokens", "learning rate", "dropout", "validation loss, bits a token"], "rows": searched},
        "corpus": {"columns": ["kind", "tokens are", "in the vocabulary", "kernels to train on", "kernels to validate on", "tokens to train on", "kernels left out as too long", "functions to train on", "their tokens"], "rows": texts},
        "made": {"columns": ["what", "value"], "rows": [
            ["trained and drawn on", all_of(one["trained"]["device"] for one in made)],
            ["samples of each", all_of(one["drawn"]["samples"] for one in made)],
            ["temperature", all_of(one["temperature"] for one in made)],
            ["samples begin with", all_of(f"`{one['prompt']}`" for one in made)],
            ["most new tokens of a sample", all_of(one["longest"] for one in made)],
        ]},
    }
