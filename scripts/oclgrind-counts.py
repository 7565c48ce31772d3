#!/usr/bin/env python3
"""Oclgrind's histogram of each kernel of standard input, on the payload of feature space `dynamic`.

usage: oclgrind --inst-counts --build-options -cl-opt-disable python3 oclgrind-counts.py SECONDS < kernels.jsonl > counts.jsonl

A line of input has `id`, `kernel`, `dimensions`, `arguments` and `text`, as rows of kernels have them. A line of output has `id` and `counts` (a name of Oclgrind's to its number),
or `why` there are none; the last has `seconds`, those of all kernels. Each kernel is a process with so many SECONDS
of processor time.
"""
import ctypes
import json
import os
import re
import resource
import sys
import time

BYTES, FILLED, ITEMS = 4 << 20, 8192, 64
SIDES = {0: (64, 1, 1), 1: (64, 1, 1), 2: (8, 8, 1), 3: (4, 4, 4)}
NUMBERS = {
    ("i", 1): ctypes.c_int8, ("i", 2): ctypes.c_int16, ("i", 4): ctypes.c_int32, ("i", 8): ctypes.c_int64,
    ("f", 4): ctypes.c_float, ("f", 8): ctypes.c_double,
}
LINE = re.compile(r"^\s+([\d,]+) - (.+?)(?: \((\d+) bytes\))?$")


def parts(kind):
    """The form of a type, and what is said of it."""
    return (kind, None) if isinstance(kind, str) else next(iter(kind.items()))


def scalar_of(form, about):
    """What numbers of a scalar or vector type are, if they are known."""
    if form not in ("Scalar", "Vector"):
        return None
    kind = {"Signed": "i", "Unsigned": "i", "Float": "f"}.get(about["scalar"])
    return NUMBERS.get((kind, about["size_bytes"]))


def filled(kind):
    if kind is None:
        return bytes(BYTES)
    numbers = [i * 7 % 64 for i in range(FILLED)]
    values = [0.5 + one / 64 for one in numbers] if kind in (ctypes.c_float, ctypes.c_double) else numbers
    data = (kind * FILLED)(*values)
    return bytes(data) + bytes(BYTES - ctypes.sizeof(data))


# Made once, before any kernel.
FULL = {kind: filled(kind) for kind in [None, *NUMBERS.values()]}


def must(status, what):
    if status != 0:
        raise RuntimeError(f"{what}: {status}")


def launch(cl, one):
    """Build a kernel and run one group of it; the histogram goes to standard output."""
    pointer, word = ctypes.c_void_p, ctypes.c_size_t
    for name in ("clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource", "clCreateKernel", "clCreateBuffer"):
        getattr(cl, name).restype = pointer
    status, platform, device = ctypes.c_int(), pointer(), pointer()
    must(cl.clGetPlatformIDs(1, ctypes.byref(platform), None), "platform")
    must(cl.clGetDeviceIDs(platform, ctypes.c_ulong(0xFFFFFFFF), 1, ctypes.byref(device), None), "device")
    context = pointer(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, ctypes.byref(status)))
    queue = pointer(cl.clCreateCommandQueue(context, device, ctypes.c_ulong(0), ctypes.byref(status)))
    text = ctypes.c_char_p(one["text"].encode())
    program = pointer(cl.clCreateProgramWithSource(context, 1, ctypes.byref(text), None, ctypes.byref(status)))
    must(cl.clBuildProgram(program, 1, ctypes.byref(device), b"", None, None), "build")
    kernel = pointer(cl.clCreateKernel(program, one["kernel"].encode(), ctypes.byref(status)))
    must(status.value, "kernel")
    for place, argument in enumerate(json.loads(one["arguments"])):
        form, about = parts(argument["type"])
        scalar = scalar_of(*(parts(about["pointee"]) if form == "Pointer" else (form, about)))
        if form == "Pointer" and about["space"] == "Local":
            must(cl.clSetKernelArg(kernel, place, word(BYTES), None), "local")
        elif form == "Pointer" and about["space"] in ("Global", "Constant"):
            data = FULL[scalar]
            buffer = pointer(cl.clCreateBuffer(context, ctypes.c_ulong(1 | 32), word(BYTES), data, ctypes.byref(status)))
            must(status.value, "buffer")
            must(cl.clSetKernelArg(kernel, place, word(8), ctypes.byref(buffer)), "buffer")
        elif scalar:
            width = {3: 4}.get(about.get("lanes", 1), about.get("lanes", 1))
            value = 1.5 if scalar in (ctypes.c_float, ctypes.c_double) else ITEMS
            data = (scalar * width)(*[value] * width)
            must(cl.clSetKernelArg(kernel, place, word(ctypes.sizeof(data)), data), "number")
        else:
            raise RuntimeError(f"an argument of type {argument['type_name']}")
    size = (word * 3)(*SIDES[one["dimensions"]])
    must(cl.clEnqueueNDRangeKernel(queue, kernel, 3, None, size, size, 0, None, None), "launch")
    must(cl.clFinish(queue), "run")


def counts_of(said):
    counts = {}
    for line in said.splitlines():
        found = LINE.match(line)
        if found:
            counts[found.group(2)] = int(found.group(1).replace(",", ""))
            if found.group(3):
                counts[found.group(2) + " bytes"] = int(found.group(3))
    return counts


def measure(cl, one, limit):
    end, begin = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        os.dup2(begin, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            launch(cl, one)
            sys.stdout.flush()
            ctypes.CDLL(None).exit(0)
        except RuntimeError as error:
            os.write(begin, f"WHY {error}".encode())
        os._exit(1)
    os.close(begin)
    said = b""
    while some := os.read(end, 1 << 16):
        said += some
    os.close(end)
    status = os.waitpid(child, 0)[1]
    said = said.decode(errors="replace")
    counts = counts_of(said)
    if status == 0 and counts:
        return {"id": one["id"], "counts": counts}
    why = said.split("WHY ", 1)[1] if "WHY " in said else f"ended with {status}"
    return {"id": one["id"], "why": why}


def main():
    kernels = [json.loads(line) for line in sys.stdin]
    cl = ctypes.CDLL(None)
    begun = time.monotonic()
    for one in kernels:
        print(json.dumps(measure(cl, one, int(sys.argv[1]))), flush=True)
    print(json.dumps({"seconds": time.monotonic() - begun}))


main()
