#!/usr/bin/env python3
"""Makes recorded.bin of what allocation_trace.c wrote: recorded.py TRACE RECORDED.

The one here is of JDK 25 that starts and runs the tests' io.mallometer.preload.RealLibraries: the first 150,000.

Numbers of seven bits a byte, lowest first, the highest bit set on all but the last. How many kinds of allocations there
are, and how many whole stacks with at least 20; then of each kind the stack (0: one of the others), the return address
by number, the stack's height in words, bytes, thread; then how many allocations, and for each how many other kinds came
since the last of its kind, where those that have not come yet stand in their order.
"""
import collections
import struct
import sys

OFTEN = 20
MOST = 150_000


def numbered(values):
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


def size_class(size):
    # The sizes are bytes of glibc's chunks, of which 8 are often only rounding.
    return max(size - 9, 0).bit_length()


def number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return out


def main(trace, recorded):
    with open(trace, 'rb') as file:
        data = file.read()
    records = [r for r in struct.iter_unpack('<QQIIQ', data) if r[0]][:MOST]
    frequency = collections.Counter(r[0] for r in records)
    often = numbered(r[0] for r in records if frequency[r[0]] >= OFTEN)
    callers, threads = numbered(r[1] for r in records), numbered(r[3] for r in records)
    sizes = collections.defaultdict(list)
    keys = []
    for stack, caller, height, thread, size in records:
        key = (often[stack] + 1 if stack in often else 0, callers[caller], height // 8, size_class(size), threads[thread])
        sizes[key].append(size)
        keys.append(key)
    kinds = numbered(keys)
    out = number(len(kinds)) + number(len(often))
    for key in kinds:
        path, caller, height, _, thread = key
        for value in (path, caller, height, sum(sizes[key]) // len(sizes[key]), thread):
            out += number(value)
    out += number(len(keys))
    order = list(kinds)
    for key in keys:
        at = order.index(key)
        out += number(at)
        order.insert(0, order.pop(at))
    with open(recorded, 'wb') as file:
        file.write(out)
    print(f'{len(keys)} allocations, {len(kinds)} kinds, {len(often)} paths, {len(callers)} return addresses,'
          f' {len(out)} bytes; one makes {max(collections.Counter(r[1] for r in records).values()) / len(keys):.2f}')


main(*sys.argv[1:])
