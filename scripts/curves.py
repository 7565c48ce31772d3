#!/usr/bin/env python3
"""The learning curve of figures/cost.json as a picture: `scripts/curves.py PICTURE.svg`.

Each point is the mean over the splits of `heuristic diagnose`, the bar its 95 % interval over packages."""
import json
import math
import sys
from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP = 640, 360, 52, 16
DASHES = ("", ' stroke-dasharray="7 3"', ' stroke-dasharray="2 3"')
COLORS = ("#1f6fb4", "#d1495b", "#2e8b57", "#b8860b", "#6a4c93", "#555555")


def draw(path, series, title, beneath, levels=None, *, aside="RMSE of log2(cost)", scale=None):
    """`series`: for each name points (programs, error, low, high), ascending. `levels`: errors that do not depend on programs.
    `aside`: what errors are of. `scale`: the least and the most of them that are shown, and the step between two lines."""
    levels = levels or {}
    every = [point for points in series.values() for point in points]
    least, most, step = scale or (0, math.ceil(max(point[3] for point in every)), 1)
    first, last = (math.log2(pick(point[0] for point in every)) for pick in (min, max))
    right, bottom = WIDTH - 190, HEIGHT - 40

    def x(programs):
        return LEFT + (math.log2(programs) - first) / (last - first) * (right - LEFT)

    def y(error):
        return bottom - (max(error, least) - least) / (most - least) * (bottom - TOP)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f"<title>{escape(title)}</title>", '<rect width="100%" height="100%" fill="white"/>']
    for error in (round(least + step * number, 6) for number in range(round((most - least) / step) + 1)):
        out.append(f'<line x1="{LEFT}" x2="{right}" y1="{y(error):.1f}" y2="{y(error):.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(error) + 4:.1f}" text-anchor="end">{error}</text>')
    power = math.ceil(first)
    while power <= last:
        out.append(f'<text x="{x(2**power):.1f}" y="{bottom + 18}" text-anchor="middle">{2**power}</text>')
        power += 1
    out.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{escape(beneath)}</text>')
    out.append(f'<text transform="translate(14 {(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">{escape(aside)}</text>')

    def key(number, name, color, dashes=""):
        at = TOP + 14 + 18 * number
        out.append(f'<line x1="{right + 12}" x2="{right + 36}" y1="{at - 4}" y2="{at - 4}" stroke="{color}" stroke-width="2"{dashes}/>')
        out.append(f'<text x="{right + 42}" y="{at}">{escape(name)}</text>')

    for number, (name, points) in enumerate(series.items()):
        color = COLORS[number % len(COLORS)]
        # There are more lines than colors: later ones are dashed, then dotted.
        dashes = DASHES[number // len(COLORS) % len(DASHES)]
        # Bars of several lines at one place would hide each other.
        beside = 2.0 * (number - (len(series) - 1) / 2)
        for programs, _, low, high in points:
            at = x(programs) + beside
            out.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y(low):.1f}" y2="{y(high):.1f}" stroke="{color}" opacity="0.35"/>')
        line = " ".join(f"{x(programs):.1f},{y(error):.1f}" for programs, error, *_ in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"{dashes}/>')
        key(number, name, color, dashes)
    for number, (name, error) in enumerate(levels.items(), len(series)):
        dashes = ' stroke-dasharray="4 3"'
        out.append(f'<line x1="{LEFT}" x2="{right}" y1="{y(error):.1f}" y2="{y(error):.1f}" stroke="#555555"{dashes}/>')
        key(number, name, "#555555", dashes)
    Path(path).write_text("\n".join([*out, "</svg>", ""]))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    figure = json.loads((Path(__file__).parent.parent / "figures" / "cost.json").read_text())
    series = {}
    for name, programs, *values in figure["tables"]["points"]["rows"]:
        series.setdefault(name, []).append((int(programs), *map(float, values)))
    draw(sys.argv[1], series, "Error on held-out packages by number of real programs", "real programs trained on")


if __name__ == "__main__":
    main()
