#!/usr/bin/env python3
"""Makes recorded.bin from the trace that allocation_trace.c has written: recorded.py TRACE RECORDED.

The trace behind the recorded.bin in this directory is of a JDK 25 that starts and runs the tests' io.mallometer.preload.RealLibraries: the
first 150,000 allocations.

Numbers are stored by seven bits a byte, lowest first, with the highest bit set in all bytes but the last. First come the number of kinds of
allocations, and the number of whole stacks with at least 20 allocations. For each kind there follow the stack (0: one of the others), the
number of the return address, the stack's height in words, the bytes, and the thread. Then come the number of allocations, and for each the
number of other kinds since the latest allocation of its kind; kinds without one yet are taken in their order.
"""
import collections
import struct
import sys

OFTEN = 20
MOST = 150_000


def numbered(values):
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


def size_class(size):
    # The sizes are those of glibc's chunks, of which 8 bytes are often only rounding.
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
