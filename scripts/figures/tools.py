"""What figures share: calling stampmill, reading its rows, and the words of a table."""
import json
import math
import statistics
import subprocess
import sys


def stampmill(program, *arguments):
    """The summary that a command prints for `--json`; its progress goes to standard error."""
    command = [str(program), *map(str, arguments), "--json"]
    print("+", *command, file=sys.stderr)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    # 1 is a negative result, which is a result.
    if done.returncode not in (0, 1):
        sys.exit(f"figures: `{' '.join(command)}` ended with {done.returncode}")
    return json.loads(done.stdout)


def rows(program, sql, **tables):
    """The rows of an SQL query, each a dictionary."""
    command = [str(program), "query", sql, *(f"{name}={path}" for name, path in tables.items()), "--format", "jsonl"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def share(part, whole):
    """`13 of 40 (32 %)`"""
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "0 of 0"


def percent(value):
    """`13.5 %` of 0.135"""
    return f"{100 * value:.1f} %"


def median(values, digits=3):
    return f"{statistics.median(values):.{digits}f}" if values else "none"


def wilson(part, whole):
    """The 95 % interval of a share, by Wilson: its lower and its upper end."""
    z, p = 1.959964, part / whole
    middle, half = p + z * z / (2 * whole), z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    return max(0.0, (middle - half) / (1 + z * z / whole)), min(1.0, (middle + half) / (1 + z * z / whole))


def is_held_out(name):
    """Whether `time validate` holds a program out: by the first digit of the BLAKE3 hash of its pair's name. Needs the Python package `blake3`."""
    from blake3 import blake3

    return blake3(name.split(".")[0].encode()).digest()[0] < 0x80
