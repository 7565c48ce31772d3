"""How near the timing model comes to measured basic blocks, beside llvm-mca and uiCA: cycles of blocks of BHive on a Skylake.

Needs gcc, llvm-mc and llvm-mca, and data=FOLDER: a checkout of BHive (Chen et al., IISWC 2019), of which `benchmark/throughput/skl.csv` is read,
`benchmark/categories.csv` and `benchmark/may-alias.csv` where they are there. uica=FOLDER is one of uiCA (Abel and Reineke, ICS 2022) that is set
up; without it uiCA is left out. `first` blocks are drawn by `seed`; blocks that may alias, as BHive says, are not drawn, and errors are of blocks that every tool times.

A block is timed as BHive measures it: many copies of it in a row, all registers the address of a page, a page mapped wherever it reaches. Two programs differ in
the number of copies alone, and their difference is the block's. For uiCA all registers are equal, too; llvm-mca looks at 1,000 iterations."""
import collections
import csv
import hashlib
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools import percent, rows, share, stampmill

SETTINGS = {"data": "", "uica": "", "first": "1000", "seed": "1", "jobs": "2"}
OURS, MCA, UICA, PLAIN = "Stampmill", "llvm-mca", "uiCA", "instructions / 4"
MOST_COPIES, MOST_BYTES, PASSES = 200, 4000, 10
UNMAPPED = 3  # the program's exit status
LINES = 512  # of the first-level data cache
# What runs between passes stands in one line of code, which is in the cache when `main` begins.
HARNESS = f"""
.intel_syntax noprefix
.set page, 0x2324000
.globl _start, main
_start:
    lea rsi, [rip + action]
    mov edi, 11
    xor edx, edx
    mov r10d, 8
    mov eax, 13
    syscall
    lea rdi, [rip + other_stack]
    xor esi, esi
    mov eax, 131
    syscall
    mov edi, 0x1002
    mov esi, page
    mov eax, 158
    syscall
    mov edi, page
    call map
    jmp again
    .balign 64
again:
    dec dword ptr [rip + left]
    jns pass
    cmp byte ptr [rip + warm], 0
    jne main
    xor edi, edi
leave:
    mov eax, 231
    syscall
main:
    mov byte ptr [rip + warm], 0
    mov dword ptr [rip + left], {PASSES - 1}
pass:
    mov edi, page
    mov eax, page
    mov ecx, 512
    cld
    rep stosq
    xor eax, eax
    sahf
    .irp register, rax, rbx, rcx, rdx, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15
    mov \\register, page
    .endr
    mov esp, page + 2048
    mov ebp, page + 2032
    lfence
    jmp copied
    .balign 4096
copied:
    .rept copies
    .incbin "block"
    .endr
    lfence
    jmp again
fault:
    cmp byte ptr [rip + warm], 0
    je lost
    dec dword ptr [rip + faults]
    js lost
    mov rdi, [rsi + 16]
    and rdi, -4096
map:
    mov esi, 4096
    mov edx, 3
    mov r10d, 0x22
    mov r8, -1
    xor r9d, r9d
    mov eax, 9
    syscall
    cmp rax, rdi
    jne lost
    mov eax, page
    mov ecx, 512
    cld
    rep stosq
    ret
restore:
    mov eax, 15
    syscall
lost:
    mov edi, {UNMAPPED}
    jmp leave
.data
    .balign 8
action:
    .quad fault, 0x4c000004, restore, 0
other_stack:
    .quad stack, 0, 65536
left:
    .long 2
faults:
    .long 1024
warm:
    .byte 1
.bss
    .balign 64
stack:
    .skip 65536
"""


def tool(name):
    """The newest of a tool of LLVM."""
    found = next((path for version in range(30, 13, -1) if (path := shutil.which(f"{name}-{version}"))), None)
    return found or shutil.which(name) or sys.exit(f"figures: no {name}: install llvm")


def column(path):
    """Block to what stands behind it, of a file that may not be there."""
    with open(path, newline="") if path.exists() else open(os.devnull) as file:
        return {row[0]: row[1] if len(row) > 1 else "" for row in csv.reader(file) if row}


def disassembled(code, *options):
    """The instructions of a block; none where a byte is part of no instruction."""
    text = " ".join(f"0x{byte:02x}" for byte in bytes.fromhex(code))
    done = subprocess.run([tool("llvm-mc"), "--disassemble", "--triple=x86_64", *options], input=text, capture_output=True, text=True)
    lines = [line.strip() for line in done.stdout.splitlines() if line.startswith("\t") and not line.strip().startswith(".")]
    return [] if "warning" in done.stderr else [" ".join(line.split("#")[0].split()) for line in lines]


def family(instruction):
    """Its name, that of the SSE instruction for one of AVX."""
    words = instruction.split()
    name = next((word for word in words if word not in ("lock", "rep", "repne")), words[0])
    return name[1:] if name.startswith("v") and "mm" in instruction else name


def content(instructions):
    """The class of a block where BHive's categories are not at hand."""
    text = " ".join(instructions)
    if any(re.match(r"i?div|sqrt", family(one)) for one in instructions):
        return "division, square root"
    if re.search(r"\b[xyz]?mm\d|\bst\b", text):
        return "vectors, floats"
    loads = stores = False
    for one in instructions:
        name, operands = family(one), one.split(" ", 1)[-1].split(",")
        first, others = "[" in operands[0], any("[" in other for other in operands[1:])
        if name in ("lea", "nop"):
            continue
        stores |= name == "push" or name.startswith("set") and first or first and not others and name not in ("cmp", "test", "bt", "call", "jmp")
        loads |= name == "pop" or others or first and not name.startswith(("mov", "set"))
    return "scalar, " + {(0, 0): "no memory", (1, 0): "loads", (0, 1): "stores", (1, 1): "loads and stores"}[loads, stores]


def copies(code):
    """How many copies the two programs of a block have: within a page, since the emulator cuts an instruction that is on two."""
    most = max(4, min(MOST_COPIES, MOST_BYTES // (len(code) // 2)) // 4 * 4)
    return most, most // 2


def build(suite, name, code, count):
    place = suite.parent / "parts" / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "block").write_bytes(bytes.fromhex(code))
    (place / "harness.S").write_text(HARNESS)
    flags = ["-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", f"-Wa,--defsym,copies={count}"]
    done = subprocess.run(["gcc", *flags, "harness.S", "-o", suite.resolve() / name], cwd=place, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"figures: gcc: {done.stderr}")
    shutil.rmtree(place)


def by_us(program, codes, settings, work):
    """Block to its cycles, or to the reason why there are none."""
    suite = work / "programs"
    shutil.rmtree(suite, ignore_errors=True)
    suite.mkdir(parents=True)
    wanted = {f"{number:06}.{count}": (code, count) for number, code in enumerate(codes) for count in copies(code)}
    with ThreadPoolExecutor(int(settings["jobs"])) as pool:
        list(pool.map(lambda one: build(suite, one[0], *one[1]), wanted.items()))
    stampmill(program, "time", "--suite", suite, "--cpu", "skylake", "--jobs", settings["jobs"], "--out", work / "times", "--force")
    found = {}
    for row in rows(program, "SELECT name, verdict, detail, exit_status, l1d_misses, cycles - startup_cycles AS own FROM t", t=work / "times"):
        code, count = wanted[row["name"]]
        if row["verdict"] != "accepted":
            found[code] = f"{row['verdict']}: {row['detail']}"[:60].strip(": ")
        elif row["exit_status"] == UNMAPPED:
            found[code] = "an address where nothing can be mapped"
        elif row["l1d_misses"] > LINES:
            found[code] = "its data does not fit the first-level cache"
        elif isinstance(found.setdefault(code, {}), dict):
            found[code][count] = row["own"]
    for code, own in found.items():
        if isinstance(own, dict):
            more, fewer = copies(code)
            cycles = (own[more] - own[fewer]) / PASSES / (more - fewer)
            found[code] = cycles if cycles > 0 else "takes no time"
    return found


def by_mca(code):
    text = "\n".join(disassembled(code))
    if not text:
        return "not disassembled"
    done = subprocess.run([tool("llvm-mca"), "-mtriple=x86_64", "-mcpu=skylake", "-iterations=1000", "-resource-pressure=0", "-instruction-info=0"], input=text, capture_output=True, text=True)
    cycles = re.search(r"^Total Cycles: +(\d+)", done.stdout, re.M)
    return int(cycles[1]) / 1000 if cycles else "refused: " + next(iter(re.findall(r"error: (.*)", done.stderr)), "no words")[:50]


def by_uica(code, folder, work):
    path = work / f"{hashlib.sha256(code.encode()).hexdigest()}.bin"
    path.write_bytes(bytes.fromhex(code))
    command = [sys.executable, "uiCA.py", path.resolve(), "-raw", "-arch", "SKL", "-initPolicy", "stack", "-TPonly"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        return float(done.stdout) or "takes no time"
    except (ValueError, subprocess.TimeoutExpired):
        return "ends with an error"


def kendall(of):
    """Tau-b: of pairs of blocks, those in one order less those in the other."""
    agree = ordered = predicted = 0
    for at, (a, b) in enumerate(of):
        for c, d in of[:at]:
            one, other = (a > c) - (a < c), (b > d) - (b < d)
            agree, ordered, predicted = agree + one * other, ordered + one * one, predicted + other * other
    return f"{agree / math.sqrt(ordered * predicted):.3f}" if ordered and predicted else "none"


def error(of, seed):
    """Mean of |predicted - measured| / measured, with a 95 % bootstrap interval over blocks."""
    each = [abs(found - true) / true for true, found in of]
    draw = random.Random(seed)
    means = sorted(statistics.fmean(draw.choices(each, k=len(each))) for _ in range(1000))
    return f"{percent(off(of))} [{100 * means[25]:.1f}, {100 * means[974]:.1f}]"


def pairs(measured, found, codes):
    return [(measured[code], found[code]) for code in codes]


def off(of):
    return statistics.fmean(abs(found - true) / true for true, found in of)


def by_class(measured, told, classes, timed, seed):
    """Errors and orders of the blocks of each class, and of all."""
    errors, order = [], []
    for one in [*sorted(set(classes.values())), "all"]:
        of = [code for code in timed if one in ("all", classes[code])]
        drawn = sum(one in ("all", kind) for kind in classes.values())
        if of:
            errors.append([one, share(len(of), drawn), *(error(pairs(measured, found, of), seed) for found in told.values())])
            order.append([one, len(of), *(kendall(pairs(measured, found, of)) for found in told.values())])
    return errors, order


def by_family(measured, told, texts, timed):
    """Blocks by the instructions that they hold, those first of which ours is farthest off."""
    holds = collections.defaultdict(set)
    for code in timed:
        for one in texts[code]:
            holds[family(one)].add(code)
    enough = [(name, sorted(of)) for name, of in holds.items() if len(of) >= max(5, len(timed) // 100)]
    lines = []
    for name, of in sorted(enough, key=lambda each: -off(pairs(measured, told[OURS], each[1])))[:20]:
        each = [pairs(measured, found, of) for found in told.values()]
        ratios = [math.exp(statistics.fmean(math.log(found / true) for true, found in one)) for one in each]
        lines.append([f"`{name}`", len(of), *(f"{ratio:.2f}" for ratio in ratios), *(percent(off(one)) for one in each)])
    return lines


def farthest(measured, told, texts, timed):
    def line(code):
        return [f"`{'; '.join(texts[code])}`".replace("|", "\\|"), f"{measured[code]:.2f}", *(f"{found[code]:.2f}" for found in told.values())]

    return [line(code) for code in sorted(timed, key=lambda code: -abs(math.log(told[OURS][code] / measured[code])))[:20]]


def run(program, _, settings, work):
    if not settings["data"]:
        sys.exit("figures: bhive wants data=FOLDER, a checkout of BHive")
    data, uica = Path(settings["data"]) / "benchmark", settings["uica"]
    source = data / "throughput" / "skl.csv"
    measured = {code: float(value) / 100 for code, value in column(source).items() if float(value or 0) > 0}
    aliased, categories = column(data / "may-alias.csv"), column(data / "categories.csv")
    able = sorted(measured.keys() - aliased.keys())
    codes = sorted(random.Random(int(settings["seed"])).sample(able, min(int(settings["first"]), len(able))))
    texts = {code: disassembled(code, "--output-asm-variant=1") for code in codes}
    told = {OURS: by_us(program, codes, settings, work)}
    with ThreadPoolExecutor(int(settings["jobs"])) as pool:
        told[MCA] = dict(zip(codes, pool.map(by_mca, codes)))
        if uica:
            told[UICA] = dict(zip(codes, pool.map(lambda code: by_uica(code, uica, work), codes)))
    told[PLAIN] = {code: len(texts[code]) / 4 or "not disassembled" for code in codes}

    timed = [code for code in codes if not any(isinstance(found[code], str) for found in told.values())]
    classes = {code: categories.get(code) or content(texts[code]) for code in codes}
    errors, order = by_class(measured, told, classes, timed, settings["seed"])
    reasons = collections.Counter((name, reason) for name, found in told.items() for reason in found.values() if isinstance(reason, str))
    lacking = [[name, "timed", share(sum(not isinstance(value, str) for value in found.values()), len(codes))] for name, found in told.items()]
    lacking += [[name, reason, str(count)] for (name, reason), count in reasons.most_common()]
    version = subprocess.run([tool("llvm-mca"), "--version"], capture_output=True, text=True).stdout
    commit = subprocess.run(["git", "-C", uica or ".", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    drawn = [
        ["blocks with measured cycles in the file", f"{len(measured):,}"],
        ["of those, may alias (not drawn)", f"{len(measured) - len(able):,}"],
        ["drawn", f"{len(codes):,}"],
        ["timed by every tool", share(len(timed), len(codes))],
        ["sha256 of the file", hashlib.sha256(source.read_bytes()).hexdigest()[:16]],
        ["llvm-mca", " ".join(re.findall(r"LLVM version \S+", version))],
        ["uiCA, its commit", commit[:10] if uica else "not run"],
    ]
    ratios, errors_of = [f"{name} / measured" for name in told], [f"error, {name}" for name in told]
    return {
        "errors": {"columns": ["blocks", "timed by every tool, of those drawn", *told], "rows": errors},
        "order": {"columns": ["blocks", "number", *(f"Kendall's tau, {name}" for name in told)], "rows": order},
        "drawn": {"columns": ["what", "value"], "rows": drawn},
        "lacking": {"columns": ["tool", "blocks", "number"], "rows": lacking},
        "families": {"columns": ["blocks that hold", "number", *ratios, *errors_of], "rows": by_family(measured, told, texts, timed)},
        "worst": {"columns": ["block", "measured", *told], "rows": farthest(measured, told, texts, timed)},
    }
