"""Prints to which parts of the resident set malloc's memory of one program is attributed: a row for each way to run it, over the C library
of JAVA.

    breakdown.py JAVA LIBRARY AGENT [NAME...]

The NAMEs are those of CASES below; without a NAME all are run. The agent attaches the library of its jar, except where the library
is preloaded. Fails if memory of malloc lands in another part than malloc's. JAVA may run in another root that sees these files at the same places (bin/lib/sid_root.sh).
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
LONGEST_SECONDS = 240
# The number of right splits in a row that are required, because one may be right by chance.
RIGHT_IN_A_ROW = 3
# The seconds after which sampled objects are on pages of their own.
OBSERVED_AFTER_SECONDS = 10
PRELOADED = "preloaded"
# The cases: tunables of glibc, and options of the JVM, which begin with a hyphen. With hugetlb=2 the main arena is not below the break, and
# live memory from before an attach is unknown, so that case is preloaded.
CASES = {
    "plain": [],
    "arena_max=2": ["glibc.malloc.arena_max=2"],
    "hugetlb=1": ["glibc.malloc.hugetlb=1"],
    "hugetlb=2, preloaded": ["glibc.malloc.hugetlb=2", PRELOADED],
    "mmap_threshold=16384": ["glibc.malloc.mmap_threshold=16384"],
    "Serial": ["-XX:+UseSerialGC"],
    "Parallel": ["-XX:+UseParallelGC"],
    "ZGC": ["-XX:+UseZGC"],
    "preloaded": [PRELOADED],
    "Serial, preloaded": ["-XX:+UseSerialGC", PRELOADED],
    "Parallel, preloaded": ["-XX:+UseParallelGC", PRELOADED],
    "ZGC, preloaded": ["-XX:+UseZGC", PRELOADED],
}
# Cases in which nothing is retained: objects with a mapping of their own go back to the system when they are freed.
NOTHING_RETAINED = {"mmap_threshold=16384"}
# The bytes that the 8 threads of Holder.java free: 30 of 90 times the four pieces of zlib.
FREED = 8 * 30 * 268_000
# The bytes that these threads keep.
HELD = 8 * 60 * 268_000
MOST_UNEXPLAINED = 0.01

HEAD = f"{'JDK':8} {'C library':12} {'run with':34} {'live counted':>12} {'malloc_live':>11} {'retained':>8} " \
       f"{'unexplained':>11} {'of RSS':>7} {'mallometer':>10} {'RSS':>6}  MiB"


def figure(series, name, **labels):
    shown = ",".join(f'{key}="{value}"' for key, value in labels.items())
    found = re.search(rf"^{name}{re.escape('{' + shown) + ',?}' if shown else ''} (\S+)$", series, re.MULTILINE)
    return float(found[1]) if found else float("nan")


def scrape(port, path="metrics"):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=30) as answer:
            return answer.read().decode()
    except OSError:
        return ""


def time_of_split(port):
    found = re.search(r'"time" *: *"([^"]*)"', scrape(port, "nativememory/breakdown"))
    return found[1] if found else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Row:
    """The figures of one scrape."""

    def __init__(self, name, series):
        def part(tag):
            return figure(series, "native_memory_resident_bytes", part=tag)

        self.name = name
        self.in_a_row = 0
        self.libc = (re.search(r'allocator="(glibc [^"]*)"', series) or [0, "?"])[1]
        self.live = figure(series, "native_malloc_live_bytes")
        self.malloc_live, self.retained = part("malloc_live"), part("malloc_retained")
        self.direct, self.unexplained, self.ours = part("direct_buffers"), part("unexplained"), part("mallometer")
        self.resident = sum(map(float, re.findall(r"^native_memory_resident_bytes\{\S+ (\S+)$", series, re.MULTILINE)))

    def checks(self):
        """Returns the checks by their names; with NaN a check fails."""
        return self.figures() | {f"{RIGHT_IN_A_ROW} splits in a row are right": self.in_a_row >= RIGHT_IN_A_ROW}

    def figures(self):
        return {
            "live memory is malloc_live": HELD < self.malloc_live < self.live - self.direct + MIB,
            "freed memory is malloc_retained": self.name in NOTHING_RETAINED or self.retained > 0.7 * FREED,
            "less than 1 % is unexplained": self.unexplained < MOST_UNEXPLAINED * self.resident,
        }

    def line(self, java):
        release = (java.parent.parent / "release").read_text()
        jdk = (re.search(r'JAVA_VERSION="([^"]*)"', release) or [0, "?"])[1]
        return (f"{jdk:8} {self.libc:12} {self.name:34} {self.live / MIB:12.1f} {self.malloc_live / MIB:11.1f} "
                f"{self.retained / MIB:8.1f} {self.unexplained / MIB:11.2f} "
                f"{100 * self.unexplained / (self.resident or 1):6.2f}% {self.ours / MIB:10.1f} {self.resident / MIB:6.0f}")


def rows_of_splits(name, port, end):
    """Yields a row for each split, with the number of right ones in a row, until the time is over."""
    in_a_row, known = 0, None
    while time.monotonic() < end:
        split = time_of_split(port)
        row = Row(name, scrape(port))
        if split != known and split == time_of_split(port):
            known = split
            row.in_a_row = in_a_row = in_a_row + 1 if all(row.figures().values()) else 0
            yield row
        time.sleep(1)


def run(java, library, agent, classes, name):
    """Runs a case. Returns the row that completes a series of right ones, or else the last row."""
    tunables = [word for word in CASES[name] if word.startswith("glibc.")]
    options = [word for word in CASES[name] if word.startswith("-")]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MALLOMETER_")}
    if tunables:
        environment["GLIBC_TUNABLES"] = ":".join(tunables)
    if PRELOADED in CASES[name]:
        environment["LD_PRELOAD"] = library
    port = free_port()
    with tempfile.TemporaryFile("w+") as errors:
        program = subprocess.Popen([java, *options, "-Xmx64m", "-XX:MaxDirectMemorySize=128m",
                                    f"-javaagent:{agent}=port={port}", "-cp", classes, "Holder"],
                                   env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            end = time.monotonic() + LONGEST_SECONDS
            while "native_malloc_live_bytes" not in scrape(port) and time.monotonic() < end:
                time.sleep(1)
            time.sleep(OBSERVED_AFTER_SECONDS)
            program.stdin.write("\n")
            program.stdin.flush()
            program.stdout.readline()
            row = Row(name, "")
            for row in rows_of_splits(name, port, end):
                if row.in_a_row == RIGHT_IN_A_ROW:
                    break
            program.stdin.close()
            program.wait(60)
        finally:
            program.kill()
        errors.seek(0)
        return row, errors.read()


def main():
    java, library, agent, *names = sys.argv[1:]
    compiler = shutil.which("javac") or os.environ["JAVA_HOME"] + "/bin/javac"
    code = 0
    with tempfile.TemporaryDirectory(prefix="mallometer-breakdown-") as classes:
        subprocess.run([compiler, "--release", "17", "-d", classes, HERE / "Holder.java"], check=True)
        with concurrent.futures.ThreadPoolExecutor(4) as executor:
            rows = list(executor.map(lambda name: run(java, library, agent, classes, name), names or CASES))
    print(HEAD)
    for row, said in rows:
        print(row.line(pathlib.Path(java)))
        for check, is_so in row.checks().items():
            if not is_so:
                code = 1
                print(f"FAILED: {check}\n{said}")
    sys.exit(code)


if __name__ == "__main__":
    main()
