#!/usr/bin/env python3
"""Checks of which rows the resident set of programs consists, and whether they add up.

    run.py [--seconds=N] [--only=TEXT] JAVA_HOME...

Runs the demo under each collector, and programs with native libraries, one at a time, on each JDK: preloaded, attached, and over
jemalloc. After N seconds (60) the rows of `collapsed?metric=resident` are compared with the kernel's sum of the same moment
(smaps_rollup), where each page of a heap that is mapped several times counts once. Prints a table in Markdown. The exit status is 1
if the rows are more than 1 % away from the kernel's sum (5 % over jemalloc), or if `unexplained` is more than 0.5 % preloaded, 1 %
attached and 5 % over jemalloc, or if more than 5 % have no other name than that they were mapped before the attach, or if the Java
line that has a library map 120 MiB has another amount, or if memory that jemalloc mapped has another row than malloc's.

Then runs the demo under each collector with native memory tracking, and compares the rows with the resident pages of the addresses
that NMT reports, by category. The rows do not use what NMT reports. The exit status is 1 if a category is more than 2 MiB away.

Last measures by how much the library prolongs mmap and munmap that a library calls below Java frames: the thread's processor time of 50
pairs in turns with and without the library, median and quartiles of 50 turns. The exit status is 1 if it is more than 10 us.
"""
import collections
import ctypes
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "diagnosis"), str(HERE.parents[1] / "samples/leaky-service/e2e")]

import measure
import truth
from processes import free_port

DEMO = measure.ROOT / "samples/leaky-service/target"
JEMALLOC = "libjemalloc.so.2"
LIBRARIES = ("net.java.dev.jna:jna:${jna.version}", "org.apache.arrow:arrow-memory-unsafe:19.0.0")
NETTY = {"netty-4.1": "4.1.140.Final", "netty-4.2": "4.2.20.Final"}
# The programs of Resident.java, and the library that two of them call.
OWN = ("jna", "ffm", "arrow", "cost", *NETTY)
OWN_LIBRARY = """#include <string.h>
#include <sys/mman.h>
#include <time.h>
long own_pairs(long pairs) {
  struct timespec begin, end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  for (long i = 0; i < pairs; i++) munmap(mmap(NULL, 256 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 256 << 10);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  return (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
}
void own_map(long bytes) { memset(mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, (size_t)bytes); }
"""
OWN_LINES = {"jna": "Resident.mapByJna", "ffm": "Resident.mapByForeignFunction"}
OWN_BYTES = 120 << 20
FFM_SINCE = 22
OPENED = ("--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED")
MIB = 1 << 20
KIB = 1 << 10
PAGE = 4096
ATTEMPTS = 100
# The highest percentage of `unexplained`, and by how many percent the rows may differ from the kernel's sum.
LIMITS = {"preloaded": (0.5, 1), "attached": (1, 1), "jemalloc": (5, 5)}
NMT = "with NMT"
COST = "cost"
# The Java frames of that program's stacks, and by how many microseconds a stack may prolong a pair of mmap and munmap.
COST_FRAME, COST_FRAMES, MOST_MICROSECONDS = "Resident.mapBelow", 20, 10
BEFORE = "mapped before counting began"
MOST_BEFORE = 5
# The columns: the outermost frames of the stacks.
ROWS = ("java_heap", "metaspace", "class_space", "code_cache", "gc_and_jvm", "thread_stacks", "malloc", "mapped_files",
        "shared_memory", "mapped", "mallometer", BEFORE, "unexplained")
COLLECTORS = ("G1", "Z", "Serial", "Parallel")
CASES = [("demo", collector, "preloaded") for collector in COLLECTORS]
CASES += [("demo", "G1", "attached"), ("demo", "Serial", "attached"), ("demo", "G1", "jemalloc")]
CASES += [(name, "G1", "preloaded") for name in ("rocksdb", "lmdb", "duckdb", *OWN) if name != COST]
CASES += [("netty-4.1", "G1", "jemalloc"), ("rocksdb", "G1", "jemalloc")]
CASES += [("demo", collector, NMT) for collector in COLLECTORS]
# NMT's names of the memory of a row; all other names belong to JVM_ITSELF.
CATEGORIES = {"Java Heap": "java_heap", "Metaspace": "metaspace", "Class": "class_space", "Code": "code_cache", "Thread Stack": "thread_stacks",
              "Thread": "thread_stacks", "Shared class space": "class data archives"}
JVM_ITSELF = "other"
COMPARED = (*dict.fromkeys(CATEGORIES.values()), JVM_ITSELF)
MOST_APART = 2 * MIB
TOTAL = "total"


def command(home, program, collector, how, port, directory):
    start = [f"{home}/bin/java", f"-XX:+Use{collector}GC", "-Xmx128m", "-XX:+IgnoreUnrecognizedVMOptions",
             *(["-XX:NativeMemoryTracking=detail"] if how == NMT else []), "-XX:MaxDirectMemorySize=256m", "--enable-native-access=ALL-UNNAMED", *OPENED,
             f"-javaagent:{measure.AGENT}=port={port}"]
    if program == "demo":
        jar = next(DEMO.glob("mallometer-leaky-service-*-SNAPSHOT.jar"))
        return [*start, "-jar", jar, f"--server.port={free_port()}", "--server.address=127.0.0.1"]
    if program not in OWN:
        return [*start, "-cp", truth.compile_programs(home, directory), "Situation", program, "0", directory / "data"]
    netty = NETTY.get(program, NETTY["netty-4.2"])
    class_path = measure.artifacts(f"resident-{netty}", (*LIBRARIES, f"io.netty:netty-buffer:{netty}"))
    measure.compile_java(home, [HERE / "Resident.java"], directory, class_path)
    (directory / "own.c").write_text(OWN_LIBRARY)
    measure.compile_c(directory / "own.c", directory / "libown.so", "-shared", "-fPIC")
    return [*start, "-cp", f"{directory}:{class_path}", "Resident", program, directory / "libown.so"]


def answer(port):
    """Returns the stacks, outermost frame first, with their bytes, or None while there are none."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/nativememory/collapsed?metric=resident", timeout=20) as response:
            lines = response.read().decode().splitlines()
    except (urllib.error.URLError, OSError):
        return None
    return [(stack, int(figure)) for stack, figure in (line.rsplit(" ", 1) for line in lines)]


def rows_of(stacks):
    """Returns the bytes by outermost frame."""
    rows = collections.Counter()
    for stack, figure in stacks:
        kind = kind_of(stack)
        rows[BEFORE if kind == "mapped" and f"[{BEFORE}]" in stack else kind] += figure
    return rows


def kind_of(stack):
    return re.match(r"\[([^],]*)", stack).group(1)


def kernels_sum(pid):
    """Returns the resident bytes, where a page of the heap that is mapped several times counts once."""
    again, heap = 0, False
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        fields = line.split()
        if re.match(r"[0-9a-f]+-", line):
            heap = "java_heap" in line
        elif heap and fields[0] in ("Rss:", "Pss:"):
            again += int(fields[1]) * (1 if fields[0] == "Rss:" else -1)
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return {TOTAL: int(re.search(r"Rss: +(\d+)", rollup).group(1)) * KIB - again * KIB}


def frame_of_zeros():
    """Returns the number of the page of zeros, which the resident set does not contain."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    memory = libc.mmap(None, PAGE, 1, 0x22, -1, 0)
    ctypes.string_at(memory, 1)
    return next(iter(frames_of("self", memory, memory + PAGE)))


def frames_of(pid, begin, end):
    """Returns the numbers of the resident pages of addresses."""
    with open(f"/proc/{pid}/pagemap", "rb") as pages:
        pages.seek(begin // PAGE * 8)
        entries = pages.read((end - begin) // PAGE * 8)
    return {entry & (1 << 55) - 1 for (entry,) in struct.iter_unpack("<Q", entries) if entry >> 63}


def tracked(home, pid):
    """Returns the resident bytes of what NMT reports, by row."""
    report = subprocess.run([f"{home}/bin/jcmd", str(pid), "VM.native_memory", "detail", "scale=1"], capture_output=True, text=True, check=True).stdout
    pages = collections.defaultdict(set)
    for line in report.splitlines():
        found = re.match(r"\[0x([0-9a-f]+) - 0x([0-9a-f]+)\] reserved .*for (.+?)(?: from|$)", line)
        if found:
            pages[CATEGORIES.get(found[3], JVM_ITSELF)] |= frames_of(pid, int(found[1], 16), int(found[2], 16))
    zeros = {frame_of_zeros()}
    return {row: PAGE * len(frames - zeros) for row, frames in pages.items()} | kernels_sum(pid)


def comparable(stacks):
    """Returns the bytes as NMT divides them: what the JVM reserved is told by the innermost frame."""
    rows = collections.Counter()
    for stack, figure in stacks:
        kind, of_jvm = kind_of(stack), stack.rsplit(";", 1)[-1].startswith("libjvm.so!")
        if kind == "mapped_files" and "Metaspace" in stack:
            kind = "class data archives"
        elif kind not in COMPARED and of_jvm and kind != "malloc":
            kind = JVM_ITSELF
        rows[kind] += figure
    return rows


def quiet_answer(port, sums):
    """Returns the stacks of a new reading, with the least and the greatest of the sums around it, whose totals differ little. A request
    waits for a new reading for a limited time, so a reading may belong to the request before. The first reading loads classes, and a
    reading is given again for as long as its cost says."""
    before, previous = sums(), answer(port)
    for _ in range(ATTEMPTS):
        time.sleep(3)
        between = sums()
        stacks = answer(port)
        after = sums()
        around = [before, between, after]
        totals = sorted(one[TOTAL] for one in around)
        if stacks and previous and stacks != previous and totals[-1] - totals[0] < totals[0] / 50:
            figures = {name: sorted(one.get(name, 0) for one in around) for name in set().union(*around)}
            return stacks, {name: (values[0], values[-1]) for name, values in figures.items()}
        before, previous = between, stacks
    return None, {}


def observe(home, program, collector, how, seconds):
    environment = {"MALLOMETER_STACKS": "java"}
    if how != "attached":
        environment["LD_PRELOAD"] = f"{measure.LIBRARY}:{JEMALLOC}" if how == "jemalloc" else str(measure.LIBRARY)
    port = free_port()
    with tempfile.TemporaryDirectory() as made:
        directory = pathlib.Path(made)
        with open(directory / "log", "w+", encoding="utf-8") as log:
            process = subprocess.Popen(command(home, program, collector, how, port, directory), env=dict(os.environ, **environment), stdout=log,
                                       stderr=subprocess.STDOUT, cwd=directory)
            try:
                time.sleep(seconds)
                return quiet_answer(port, lambda: tracked(home, process.pid) if how == NMT else kernels_sum(process.pid))
            except (OSError, subprocess.CalledProcessError):
                log.seek(0)
                sys.exit(log.read()[-4000:])
            finally:
                process.kill()
                process.wait()


def apart(figure, sums):
    """Returns by how much a figure is outside of the sums before and after it."""
    low, high = sums
    return figure - min(max(figure, low), high)


def judge(name, program, stacks, sums, how):
    """Returns the columns of a row, and the list of what is wrong."""
    rows = rows_of(stacks)
    total = sum(rows.values())
    difference = 100 * apart(total, sums[TOTAL]) / sums[TOTAL][1]
    percent = {kind: 100 * rows[kind] / total for kind in rows}
    most_unexplained, most_apart = LIMITS[how]
    wrong = [f"{name}: {kind} is no row" for kind in rows if kind not in ROWS]
    if percent.get("unexplained", 0) > most_unexplained:
        wrong.append(f"{name}: unexplained is {percent['unexplained']:.2f} %")
    if abs(difference) > most_apart:
        wrong.append(f"{name}: the rows are {difference:+.2f} % away from the kernel's sum")
    if percent.get(BEFORE, 0) > MOST_BEFORE:
        wrong.append(f"{name}: {percent[BEFORE]:.2f} % have no other name than that they are from before")
    line = OWN_LINES.get(program)
    of_line = sum(figure for stack, figure in stacks if line and line in stack and kind_of(stack) == "mapped")
    if line and of_line != OWN_BYTES:
        wrong.append(f"{name}: {line} mapped {of_line} bytes and not {OWN_BYTES}")
    for stack, figure in stacks:
        if how == "jemalloc" and kind_of(stack) == "mapped" and "libjemalloc" in stack:
            wrong.append(f"{name}: {figure} bytes of jemalloc are mapped by {stack[-200:]}")
    return [f"{sums[TOTAL][1] / MIB:.0f}", f"{difference:+.2f}", *(f"{percent[kind]:.2f}" if kind in percent else "" for kind in ROWS)], wrong


def compare(name, stacks, sums):
    """Returns the columns of the comparison with NMT, and the list of what is wrong."""
    rows, columns, wrong = comparable(stacks), [], []
    for row in COMPARED:
        difference = apart(rows[row], sums.get(row, (0, 0)))
        columns.append(f"{rows[row] / KIB:.0f} ({difference / KIB:+.0f})")
        if abs(difference) > MOST_APART:
            wrong.append(f"{name}: {row} is {difference / KIB:+.0f} KiB away from NMT's")
    return columns, wrong


def cost(home):
    """Returns the columns of a row with the cost of the hooks below Java frames, and the list of what is wrong."""
    port = free_port()
    with tempfile.TemporaryDirectory() as made:
        started = command(home, COST, "G1", "preloaded", port, pathlib.Path(made))
        environment = dict(os.environ, MALLOMETER_STACKS="java", LD_PRELOAD=str(measure.LIBRARY))
        with subprocess.Popen(started, env=environment, stdout=subprocess.PIPE, text=True) as process:
            try:
                line = next((line for line in process.stdout if line.startswith("pairs ")), "pairs")
                stacks = quiet_answer(port, lambda: kernels_sum(process.pid))[0] or []
            finally:
                process.kill()
    times = [int(word) / 1000 for word in line.split()[1:]]
    pairs = list(zip(times[::2], times[1::2]))
    frames = max((stack.count(COST_FRAME) for stack, _ in stacks), default=0)
    if not pairs or frames < COST_FRAMES:
        return [], [f"the cost was not measured below Java frames: {len(pairs)} pairs, {frames} frames"]
    more = measure.spread([after - before for before, after in pairs])
    columns = [measure.spread([before for before, _ in pairs]), more, measure.spread([after / before for before, after in pairs])]
    return [str(column) for column in columns], [f"a stack takes {more.median:.2f} us"] * (more.median > MOST_MICROSECONDS)


def print_row(*columns):
    print("| " + " | ".join(columns) + " |", flush=True)


def main(arguments):
    seconds, only, homes = 60, "", []
    for argument in arguments:
        if argument.startswith("--seconds="):
            seconds = int(argument.split("=")[1])
        elif argument.startswith("--only="):
            only = argument.split("=", 1)[1]
        else:
            homes.append(argument)
    if not homes:
        sys.exit(__doc__)
    wrong = []
    for cases, header in (([case for case in CASES if case[2] != NMT], ("MiB", "rows, % apart", *ROWS)), ([case for case in CASES if case[2] == NMT], COMPARED)):
        print("", flush=True)
        print_row("program", "JDK", *header)
        print_row(*["---"] * (2 + len(header)))
        for home in homes:
            version = measure.java_version(pathlib.Path(home))
            for program, collector, how in cases:
                name = " ".join(part for part in (program, collector if program == "demo" else "", how if how != "preloaded" else "") if part)
                if only not in name or program == "ffm" and version < FFM_SINCE:
                    continue
                stacks, sums = observe(home, program, collector, how, seconds)
                if not stacks:
                    columns, complaints = [], [f"{name} on {version}: no answer in a quiet moment"]
                elif how == NMT:
                    columns, complaints = compare(f"{name} on {version}", stacks, sums)
                else:
                    columns, complaints = judge(f"{name} on {version}", program, stacks, sums, how)
                print_row(name, str(version), *columns)
                wrong += complaints
    print("", flush=True)
    print_row("JDK", "mmap and munmap, us", "more with Java frames, us", "ratio")
    print_row(*["---"] * 4)
    for home in homes if only in COST else []:
        columns, complaints = cost(home)
        print_row(str(measure.java_version(pathlib.Path(home))), *columns)
        wrong += complaints
    print("\n".join(["", *wrong]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
