#!/usr/bin/env python3
"""InstCount of every sixth kernel that ships, by a reader that is not ours: clang-19's own driver and llvmlite.

usage: opcode-counts.py STAMPMILL > crates/trials/facts/opcodes.csv      STAMPMILL: the binary, which lists the kernels
needs llvmlite (`pip install llvmlite`) and clang-19
A row: the kernel's place in the data set, the functions defined, the blocks, then as many columns as opcodes.
"""
import json
import subprocess
import sys

import llvmlite.binding as llvm

FLAGS = "-x cl -cl-std=CL2.0 --target=nvptx64-nvidia-nvcl -O1 -w -Xclang -finclude-default-header".split()
FLAGS += "-Xclang -fdeclare-opencl-builtins -emit-llvm -S - -o -".split()
OPCODES = """ret br switch indirectbr invoke resume unreachable cleanupret catchret catchswitch callbr fneg add fadd sub
fsub mul fmul udiv sdiv fdiv urem srem frem shl lshr ashr and or xor alloca load store getelementptr fence cmpxchg
atomicrmw trunc zext sext fptoui fptosi uitofp sitofp fptrunc fpext ptrtoint inttoptr bitcast addrspacecast cleanuppad
catchpad icmp fcmp phi call select <user1> <user2> va_arg extractelement insertelement shufflevector extractvalue
insertvalue landingpad freeze""".split()


def counts(text):
    done = subprocess.run(["clang-19", *FLAGS], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        return None
    functions = [f for f in llvm.parse_assembly(done.stdout).functions if not f.is_declaration]
    blocks = [block for function in functions for block in function.blocks]
    found = dict.fromkeys(OPCODES, 0)
    for block in blocks:
        for instruction in block.instructions:
            found[instruction.opcode] += 1
    return [len(functions), len(blocks), *found.values()]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    kernels = "kernels=datasets/device-mapping-h200/kernels"
    query = [sys.argv[1], "query", "SELECT text FROM kernels", kernels, "--format", "jsonl"]
    lines = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()
    print(",".join(["kernel", "functions", "blocks", *OPCODES]))
    for place in range(0, len(lines), 6):
        row = counts(json.loads(lines[place])["text"])
        if row:
            print(",".join(map(str, [place, *row])))


main()
