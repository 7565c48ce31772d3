#!/usr/bin/env python3
"""The learning curve of figures/cost.json as a picture: `scripts/curves.py PICTURE.svg`.

Each point is the mean over the splits of `heuristic diagnose`, the bar its 95 % interval over packages."""
import json
import math
import sys
from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP = 640, 360, 52, 16
COLOR = "#1f6fb4"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    figure = json.loads((Path(__file__).parent.parent / "figures" / "cost.json").read_text())
    rows = figure["tables"]["points"]["rows"]
    series = {}
    for name, programs, *values in rows:
        series.setdefault(name, []).append((int(programs), *map(float, values)))
    sizes = [point[0] for points in series.values() for point in points]
    most = math.ceil(max(point[3] for points in series.values() for point in points))
    first, last = math.log2(min(sizes)), math.log2(max(sizes))
    right, bottom = WIDTH - 190, HEIGHT - 40

    def x(programs):
        return LEFT + (math.log2(programs) - first) / (last - first) * (right - LEFT)

    def y(error):
        return bottom - error / most * (bottom - TOP)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           "<title>Error on held-out packages by number of real programs</title>", '<rect width="100%" height="100%" fill="white"/>']
    for error in range(most + 1):
        out.append(f'<line x1="{LEFT}" x2="{right}" y1="{y(error):.1f}" y2="{y(error):.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(error) + 4:.1f}" text-anchor="end">{error}</text>')
    power = math.ceil(first)
    while power <= last:
        out.append(f'<text x="{x(2**power):.1f}" y="{bottom + 18}" text-anchor="middle">{2**power}</text>')
        power += 1
    out.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 6}" text-anchor="middle">real programs trained on</text>')
    out.append(f'<text transform="translate(14 {(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">RMSE of log2(cost)</text>')
    for number, (name, points) in enumerate(series.items()):
        color = COLOR
        for programs, _, low, high in points:
            out.append(f'<line x1="{x(programs):.1f}" x2="{x(programs):.1f}" y1="{y(low):.1f}" y2="{y(high):.1f}" stroke="{color}" opacity="0.35"/>')
        line = " ".join(f"{x(programs):.1f},{y(error):.1f}" for programs, error, *_ in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        at = TOP + 14 + 18 * number
        out.append(f'<line x1="{right + 12}" x2="{right + 36}" y1="{at - 4}" y2="{at - 4}" stroke="{color}" stroke-width="2"/>')
        out.append(f'<text x="{right + 42}" y="{at}">{escape(name)}</text>')
    Path(sys.argv[1]).write_text("\n".join([*out, "</svg>", ""]))


if __name__ == "__main__":
    main()
