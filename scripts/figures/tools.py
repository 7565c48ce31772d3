"""What figures share: calling stampmill, reading its rows, and the words of a table."""
import json
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
