"""The picture of the README, docs/picture.svg: how many kernels real packages give, and how many points of benchmarks
steering reaches, of figures/*.json. `scripts/book.py --write` writes it."""
import json
import re
from html import escape
from pathlib import Path

FIGURES = Path(__file__).resolve().parent.parent / "figures"
WIDTH, HEIGHT, TOP, STEP = 860, 232, 62, 34

STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.note { font-size: 12px; fill: #59636e }
.all { fill: #d1d9e0 } .done { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .note { fill: #9198a1 } .all { fill: #3d444d } .done { fill: #4493f8 }
}"""


def rows(figure, table):
    return json.loads((FIGURES / f"{figure}.json").read_text())["tables"][table]["rows"]


def number(found):
    return int(str(found).replace(",", ""))


def bars(x, label, title, note, lines):
    """A list of bars: (label, how many are done, of how many, what stands behind)."""
    room = WIDTH // 2 - label - 110
    most = max(whole for _, _, whole, _ in lines)
    out = [f'<text class="title" x="{x}" y="20">{escape(title)}</text>', f'<text class="note" x="{x}" y="40">{escape(note)}</text>']
    for at, (name, done, whole, behind) in enumerate(lines):
        y = TOP + at * STEP
        out.append(f'<text x="{x}" y="{y + 15}">{escape(name)}</text>')
        if whole > done:
            out.append(f'<rect class="all" x="{x + label}" y="{y}" width="{whole * room / most:.1f}" height="20" rx="2"/>')
        out.append(f'<rect class="done" x="{x + label}" y="{y}" width="{done * room / most:.1f}" height="20" rx="2"/>')
        out.append(f'<text x="{x + label + whole * room / most + 8:.1f}" y="{y + 15}">{escape(behind)}</text>')
    return out


def funnel():
    counts = {row[0]: number(row[1]) for row in rows("funnel", "funnel")}
    named = (
        ("content files", "content files"),
        ("counted by text", "kernels counted by text in these"),
        ("accepted", "kernels accepted"),
        ("unique", "unique kernels"),
        ("families", "families of near-duplicates"),
    )
    lines = [(label, counts[key], counts[key], f"{counts[key]:,}") for label, key in named]
    return bars(0, 118, "Mined: kernels of real packages", "stampmill mine @packages.toml; stampmill prepare", lines)


def steered():
    lines = []
    for label, figure in (
        ("Grewe", "steer-grewe"),
        ("InstCount", "steer-instcount"),
        ("Autophase", "steer-autophase"),
        ("Rodinia, InstCount", "steer-held-back-instcount"),
        ("Rodinia, Autophase", "steer-held-back-autophase"),
    ):
        row = next(row for row in rows(figure, "sizes") if row[0] == "all")
        done, whole = map(int, re.match(r"(\d+) of (\d+)", row[1]).groups())
        lines.append((label, done / whole, 1.0, f"{done} of {whole}"))
    return bars(WIDTH // 2 + 10, 144, "Made: kernels at points of benchmarks; Rodinia was held back", "exactly there, in a minute on two cores (Grewe: 15 s of one)", lines)


def picture():
    body = "\n".join([*funnel(), *steered()])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Kernels mined from real packages, and points of benchmarks at which kernels were made">\n'
        f"<style>{STYLE}</style>\n{body}\n</svg>\n"
    )
