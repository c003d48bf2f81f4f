#!/usr/bin/env python3
"""Checks of which rows the resident set of programs consists, and whether they add up.

    run.py [--seconds=N] [--only=TEXT] JAVA_HOME...

Runs the demo under each collector, and programs with native libraries, one at a time, on each JDK: preloaded, attached, and over
jemalloc. After N seconds (60) the rows of `collapsed?metric=resident` are compared with the kernel's sum of the same moment
(smaps_rollup), where each page of a heap that is mapped several times counts once. Prints a table in Markdown. The exit status is 1
if the rows are more than 1 % away from the kernel's sum (5 % over jemalloc), or if `unexplained` is more than 0.5 % preloaded, 1 %
attached and 5 % over jemalloc, or if more than 5 % have no other name than that they were mapped before the attach.
"""
import collections
import os
import pathlib
import re
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
NETTY = ("io.netty:netty-buffer:${netty.version}",)
OPENED = ("--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED")
MIB = 1 << 20
ATTEMPTS = 40
# The highest percentage of `unexplained`, and by how many percent the rows may differ from the kernel's sum.
LIMITS = {"preloaded": (0.5, 1), "attached": (1, 1), "jemalloc": (5, 5)}
BEFORE = "mapped before counting began"
MOST_BEFORE = 5
# The columns: the outermost frames of the stacks.
ROWS = ("java_heap", "metaspace", "class_space", "code_cache", "gc_and_jvm", "thread_stacks", "malloc", "mapped_files",
        "shared_memory", "mapped", "mallometer", BEFORE, "unexplained")
DEMOS = [("demo", collector, how) for collector in ("G1", "Z", "Serial", "Parallel") for how in ("preloaded",)]
DEMOS += [("demo", "G1", "attached"), ("demo", "Serial", "attached"), ("demo", "G1", "jemalloc")]
LIBRARIES = [(name, "G1", how) for name in ("rocksdb", "lmdb", "duckdb", "netty", "jna") for how in ("preloaded",)]
LIBRARIES += [("netty", "G1", "jemalloc"), ("rocksdb", "G1", "jemalloc")]


def command(home, program, collector, port, directory):
    start = [f"{home}/bin/java", f"-XX:+Use{collector}GC", "-Xmx128m", "-XX:+IgnoreUnrecognizedVMOptions",
             "--enable-native-access=ALL-UNNAMED", f"-javaagent:{measure.AGENT}=port={port}"]
    if program == "demo":
        jar = next(DEMO.glob("mallometer-leaky-service-*-SNAPSHOT.jar"))
        return [*start, "-jar", jar, f"--server.port={free_port()}", "--server.address=127.0.0.1"]
    class_path = compiled(home, directory)
    if program in ("netty", "jna"):
        return [*start, "-cp", class_path, "Resident", program]
    return [*start, *OPENED, "-cp", class_path, "Situation", program, "0", directory / "data"]


def compiled(home, directory):
    """Compiles the programs, and returns the class path."""
    class_path = f"{truth.compile_programs(home, directory)}:{measure.artifacts('resident', NETTY)}"
    measure.compile_java(home, [HERE / "Resident.java"], directory, class_path)
    return class_path


def answer(port):
    """Returns the rows by their outermost frame, or None while there are none."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/nativememory/collapsed?metric=resident", timeout=20) as response:
            lines = response.read().decode().splitlines()
    except (urllib.error.URLError, OSError):
        return None
    rows = collections.Counter()
    for line in lines:
        stack, figure = line.rsplit(" ", 1)
        kind = re.match(r"\[([^],]*)", stack).group(1)
        rows[BEFORE if kind == "mapped" and f"[{BEFORE}]" in stack else kind] += int(figure)
    return rows


def kernels_sum(pid):
    """Returns the resident bytes, and how many of them count a page of the heap again."""
    again, name = 0, ""
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        fields = line.split()
        if re.match(r"[0-9a-f]+-", line):
            name = fields[-1] if len(fields) > 5 else ""
            heap = "java_heap" in line
        elif heap and fields[0] in ("Rss:", "Pss:"):
            again += int(fields[1]) * (1 if fields[0] == "Rss:" else -1)
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"Rss: +(\d+)", rollup).group(1)) * 1024 - again * 1024


def quiet_answer(port, pid):
    """Returns the rows of a new reading, with the kernel's sums before and after it, which differ little. The first reading loads
    classes, and a reading is given again for as long as its cost says."""
    previous = answer(port)
    for _ in range(ATTEMPTS):
        time.sleep(3)
        before = kernels_sum(pid)
        rows = answer(port)
        after = kernels_sum(pid)
        if rows and rows != previous and abs(after - before) < after / 50:
            return rows, sorted((before, after))
        previous = rows
    return None, ()


def observe(home, program, collector, how, seconds):
    environment = {"MALLOMETER_STACKS": "java"}
    if how != "attached":
        environment["LD_PRELOAD"] = f"{measure.LIBRARY}:{JEMALLOC}" if how == "jemalloc" else str(measure.LIBRARY)
    port = free_port()
    with tempfile.TemporaryDirectory() as made:
        directory = pathlib.Path(made)
        with open(directory / "log", "w+", encoding="utf-8") as log:
            process = subprocess.Popen(command(home, program, collector, port, directory), env=dict(os.environ, **environment), stdout=log,
                                       stderr=subprocess.STDOUT, cwd=directory)
            try:
                time.sleep(seconds)
                return quiet_answer(port, process.pid)
            except OSError:
                log.seek(0)
                sys.exit(log.read()[-4000:])
            finally:
                process.kill()
                process.wait()


def judge(name, rows, kernels, limits):
    """Returns the columns of a row, and the list of what is wrong."""
    total = sum(rows.values())
    low, high = kernels
    apart = 100 * (total - min(max(total, low), high)) / high
    percent = {kind: 100 * rows[kind] / total for kind in rows}
    unexplained, difference = limits
    wrong = [f"{name}: {kind} is no row" for kind in rows if kind not in ROWS]
    if percent.get("unexplained", 0) > unexplained:
        wrong.append(f"{name}: unexplained is {percent['unexplained']:.2f} %")
    if abs(apart) > difference:
        wrong.append(f"{name}: the rows are {apart:+.2f} % away from the kernel's sum")
    if percent.get(BEFORE, 0) > MOST_BEFORE:
        wrong.append(f"{name}: {percent[BEFORE]:.2f} % have no other name than that they are from before")
    return [f"{high / MIB:.0f}", f"{apart:+.2f}", *(f"{percent[kind]:.2f}" if kind in percent else "" for kind in ROWS)], wrong


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
    print("| program | JDK | MiB | rows, % apart | " + " | ".join(ROWS) + " |\n" + "|---" * (4 + len(ROWS)) + "|", flush=True)
    wrong = []
    for home in homes:
        version = str(measure.java_version(pathlib.Path(home)))
        for program, collector, how in [*DEMOS, *LIBRARIES]:
            name = " ".join(part for part in (program, collector if program == "demo" else "", how if how != "preloaded" else "") if part)
            if only not in name:
                continue
            rows, kernels = observe(home, program, collector, how, seconds)
            columns, complaints = judge(f"{name} on {version}", rows or {}, kernels, LIMITS[how]) if rows else ([], [f"{name}: no answer in a quiet moment"])
            print("| " + " | ".join([name, version, *columns]) + " |", flush=True)
            wrong += complaints
    print("\n".join(["", *wrong]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
