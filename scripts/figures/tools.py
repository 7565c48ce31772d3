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


def is_held_out(name):
    """Whether `time validate` holds a program out: by the first digit of the BLAKE3 hash of its pair's name."""
    return blake3(name.split(".")[0].encode())[0] < 0x80


# BLAKE3's initial value, and where the words of a block go from one round to the next.
INITIAL = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTED = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
# The four columns and the four diagonals of the state.
MIXED = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))


def blake3(data):
    """BLAKE3 of at most 64 bytes, which are one block: `hashlib` lacks it."""
    if len(data) > 64:
        raise ValueError("longer than a block")
    words = [int.from_bytes(data.ljust(64, b"\0")[at : at + 4], "little") for at in range(0, 64, 4)]
    # Counter 0, the length, and that the block is the first and last of its chunk and the root.
    state = [*INITIAL, *INITIAL[:4], 0, 0, len(data), 0b1011]

    def turn(value, by):
        return (value >> by | value << (32 - by)) & 0xFFFFFFFF

    for _ in range(7):
        for at, (a, b, c, d) in enumerate(MIXED):
            for word, first, second in ((words[2 * at], 16, 12), (words[2 * at + 1], 8, 7)):
                state[a] = (state[a] + state[b] + word) & 0xFFFFFFFF
                state[d] = turn(state[d] ^ state[a], first)
                state[c] = (state[c] + state[d]) & 0xFFFFFFFF
                state[b] = turn(state[b] ^ state[c], second)
        words = [words[at] for at in PERMUTED]
    return b"".join((state[at] ^ state[at + 8]).to_bytes(4, "little") for at in range(8))
