#!/usr/bin/env python3
"""Tests whether the search for owners is right: for all kernels on each JDK, collector and width of references.

    run.py [--pauses[=MIB,...]] JAVA_HOME...

Prints a table in Markdown, and what the search said wherever it was not right. The exit status is 1 if another owner is
named than the kernel's, or less than eleven of twelve are right. With --pauses it measures estimated and real pauses
instead, at 256 MiB, 1 GiB and 4 GiB of heap where the machine has the memory, as root also with half a processor up to
1 GiB; --pauses=4096 measures at that size alone.
"""
import contextlib
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure

COLLECTORS = {"G1": "-XX:+UseG1GC", "ZGC": "-XX:+UseZGC", "Serial": "-XX:+UseSerialGC"}
# Kernels that run alone, because other kernels would cause collections of the heap.
ALONE = ["Forgotten", "Unclosed"]
PACKAGE = "io.mallometer.benchmarks.owner"
CGROUP = pathlib.Path("/sys/fs/cgroup/cpu")


def version(home):
    return measure.java_version(pathlib.Path(home))


def kernel_names():
    source = (HERE / "Run.java").read_text()
    return re.findall(r"new (\w+)\(\)", source[source.index("ALL ="):source.index(");\n", source.index("ALL ="))])


def java(home, options, name, *arguments, before=(), timeout=300):
    environment = dict(os.environ, LD_PRELOAD=str(measure.LIBRARY), MALLOMETER_ONLY="java", MALLOMETER_SAMPLE_INTERVAL="4096",
                       MALLOMETER_OVERHEAD_TARGET="off")
    command = [*before, f"{home}/bin/java", *options, "--enable-native-access=ALL-UNNAMED", "-XX:+IgnoreUnrecognizedVMOptions",
               "-cp", measure.CLASS_PATH, f"{PACKAGE}.{name}", *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)
    return result.stdout


def configurations(homes):
    for home in homes:
        for collector, option in COLLECTORS.items():
            yield home, f"{version(home)} {collector}", [option]
        yield home, f"{version(home)} G1, wide", [COLLECTORS["G1"], "-XX:-UseCompressedOops"]


def kernels(homes):
    names = kernel_names()
    together = [name for name in names if name not in ALONE]
    found, complaints = {}, []
    for home, title, options in configurations(homes):
        text = ""
        for some in [together, *([name] for name in ALONE)]:
            text += java(home, [*options, "-Xmx600m", "-Xmn300m"], "Run", *some)
        found[title] = dict(re.findall(r"^(\w+) +(right|wrong|missed|out)\b", text, re.MULTILINE))
        for name in names:
            found[title].setdefault(name, "no answer")
        lines = [line for line in text.splitlines() if re.match(r"\w+ +(wrong|missed)\b", line) or line.startswith("    ")]
        if lines:
            complaints.append(f"\n{title}:\n\n" + "\n".join("    " + line for line in lines))
    print("| kernel | " + " | ".join(found) + " |")
    print("|---|" + "---|" * len(found))
    for name in names:
        print(f"| {name} | " + " | ".join(answers[name] for answers in found.values()) + " |")
    print("\nout: the JVM lacks what the kernel needs, or a collection has freed it already.")
    for complaint in complaints:
        print(complaint)
    bad = [title for title, answers in found.items()
           if any(answer == "wrong" for answer in answers.values())
           or sum(answer in ("missed", "no answer") for answer in answers.values()) > 1]
    return 1 if bad else 0


@contextlib.contextmanager
def half_a_processor():
    """Returns a command that enters a cgroup of its own; None if this user may not make one."""
    group = CGROUP / "mallometer-owners"
    try:
        group.mkdir(exist_ok=True)
        (group / "cpu.cfs_quota_us").write_text("50000")
        yield ["sh", "-c", f'echo $$ >{group}/tasks && exec "$@"', "sh"]
    except OSError:
        yield None
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()


def pauses(homes, sizes):
    memory = int(re.search(r"MemAvailable: +(\d+)", pathlib.Path("/proc/meminfo").read_text()).group(1)) >> 10
    print("| JDK | processors | heap | estimated | first search: walk for longs, then links | estimated after it | next walk | load before |")
    print("|---|---|---|---|---|---|---|---|")
    with half_a_processor() as throttled:
        for home in homes:
            for collector in ("G1", "ZGC"):
                for mebibytes in sizes:
                    options = [COLLECTORS[collector], f"-Xmx{mebibytes * 3 // 2 + 256}m"]
                    if mebibytes * 2 > memory:
                        print(f"| {version(home)} {collector} | | {mebibytes} MiB | not measured: too little memory | | | | |")
                        continue
                    for share, before in (("all", ()), ("0.5", throttled)):
                        if before is None or (share == "0.5" and mebibytes > 1024):
                            continue
                        load = os.getloadavg()[0]
                        line = java(home, options, "Run$Pauses", str(mebibytes), before=before, timeout=1500).strip()
                        print(f"| {version(home)} {collector} | {share} | {line} | {load:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    given = sys.argv[1:]
    given_homes = [home for home in given if not home.startswith("--pauses")]
    sizes = [option.partition("=")[2] or "256,1024,4096" for option in given if option.startswith("--pauses")]
    sys.exit(pauses(given_homes, [int(size) for size in sizes[0].split(",")]) if sizes else kernels(given_homes))
