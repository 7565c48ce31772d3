#!/usr/bin/env python3
"""What handing memory to an OpenCL device costs: copied (clEnqueueWriteBuffer and back), or lent (CL_MEM_USE_HOST_PTR and
a map). docs/results/processor-and-gpu.md says what it showed. `label --transfers gpu` counts the GPU's transfers alone, which supposes that
lending memory to a processor costs nothing that grows with its size.

usage: zero-copy.py [ROUNDS]     needs pyopencl and numpy (pip); prints medians in microseconds for each device and size
"""
import statistics
import sys
import time

import numpy
import pyopencl as cl

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 25
SIZES = [2**power for power in (12, 16, 20, 24, 28)]
PAGE = 4096


def aligned(size):
    """Bytes that begin at a page: what OpenCL implementations ask of memory that they may use in place."""
    room = numpy.zeros(size + PAGE, numpy.uint8)
    at = -room.ctypes.data % PAGE
    return room[at : at + size]


def copied(queue, context, host, back):
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, host.nbytes)
    yield
    cl.enqueue_copy(queue, buffer, host)
    cl.enqueue_copy(queue, back, buffer)
    queue.finish()
    yield
    buffer.release()


def lent(queue, context, host, _):
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    buffer = cl.Buffer(context, flags, hostbuf=host)
    yield
    for access in (cl.map_flags.WRITE, cl.map_flags.READ):
        array, _ = cl.enqueue_map_buffer(queue, buffer, access, 0, host.shape, host.dtype)
        array.base.release(queue)
    queue.finish()
    yield
    buffer.release()


def microseconds(way, queue, context, host, back):
    times = []
    for _ in range(ROUNDS):
        steps = way(queue, context, host, back)
        next(steps)
        begun = time.perf_counter()
        next(steps)
        times.append(1e6 * (time.perf_counter() - begun))
        next(steps, None)
    return statistics.median(times)


def main():
    print("| device | bytes | copied there and back, us | lent and mapped, us | copied / lent |")
    print("|---|---:|---:|---:|---:|")
    for platform in cl.get_platforms():
        for device in platform.get_devices():
            context = cl.Context([device])
            queue = cl.CommandQueue(context)
            for size in SIZES:
                if size > device.max_mem_alloc_size:
                    continue
                host, back = aligned(size), aligned(size)
                slow, fast = (microseconds(way, queue, context, host, back) for way in (copied, lent))
                print(f"| {device.name.strip()} | {size:,} | {slow:.1f} | {fast:.1f} | {slow / fast:.1f} |")


if __name__ == "__main__":
    main()
