"""What mallometer costs a JVM that works in native libraries, beside NMT and async-profiler.

The work is fixed, so the CPU time of the process (user and system, all threads) is the measure. `whole` is the process
from start to exit, `elapsed` the time it takes, which is also that of the neighbours. The parts are measured from inside,
after a warm-up, for the thread that does the work; `unsafe` is nothing but Unsafe.allocateMemory and freeMemory. Peak RSS
is what the kernel says of the process just before its end. Of the long runs a table says which threads took the time.
"""

import argparse
import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure
from measure import Target, Unavailable

AGENT = HERE.parents[1] / "metrics-bridge/agent/target/mallometer-agent.jar"

# Repetitions that take about half a second each. The last is to be a small part of the whole, as it is in life.
PARTS = {
    "sqlite": 40_000,
    "zstd": 3_000,
    "rocksdb": 80_000,
    "deflate": 1_500,
    "direct": 60_000,
    "unsafe": 3_000_000,
}
WHOLE = "whole"
ELAPSED = "elapsed"
PEAK = "peak RSS"
# By the beginnings of their names.
THREADS = {
    "the work": ("java", "main", "DestroyJavaVM"),
    "collections": ("VM Thread", "GC "),
    "compilers": ("C1 ", "C2 "),
    "mallometer's own": ("mallometer",),
    "others": ("",),
}
MEBIBYTE = 1 << 20
# The serial collector and a fixed heap: as little as possible that depends on the moment.
OPTIONS = ("-XX:+UseSerialGC", "-Xms256m", "-Xmx256m")
OPTIONS_SINCE_24 = ("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow")

REFERENCE = "plain"
CONTROL = "plain, again"
MALLOMETER = "mallometer"
WITH_AGENT = "mallometer with its agent: Java frames, polls, leaks"
WITHOUT_LEAKS = "mallometer with its agent, no leak detection"
# The agent's first readings come after five seconds, which is more than the work takes.
LONG = (REFERENCE, WITH_AGENT, WITHOUT_LEAKS, CONTROL)
LONG_TIMES = 5


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    # Both return what they add; raise Unavailable.
    options: object = lambda: ()
    environment: object = dict
    # What the standard error must say, or the row would be of something else.
    evidence: str = ""
    # A file that must not be empty afterwards.
    output: str = ""


def async_profiler(mode):
    return lambda: [f"-agentpath:{measure.async_profiler()}=start,nativemem={mode},file=profile.jfr"]


def variants(library):
    def preload():
        path = measure.existing(library, "none: built from interposer/")
        return {"LD_PRELOAD": path, "MALLOMETER_LOG": "info", "MALLOMETER_ONLY": "java"}

    def agent():
        path = measure.existing(AGENT, "none: built by bin/bench")
        return [f"-javaagent:{path}"]

    def tracking(level):
        return lambda: [f"-XX:NativeMemoryTracking={level}"]

    return [
        Variant(REFERENCE),
        Variant(MALLOMETER, environment=preload, evidence="counting"),
        Variant(WITH_AGENT, agent, preload, evidence="counting"),
        Variant(WITHOUT_LEAKS, agent, lambda: preload() | {"MALLOMETER_LEAKS": "off"}, evidence="counting"),
        Variant(CONTROL),
        Variant("NMT summary", tracking("summary")),
        Variant("NMT detail", tracking("detail")),
        Variant("async-profiler nativemem=512k", async_profiler("512k"), output="profile.jfr"),
        Variant("async-profiler nativemem=512k,nofree", async_profiler("512k,nofree"), output="profile.jfr"),
    ]


# ---- One run --------------------------------------------------------------------------------------------


def build():
    command = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "package", "-DskipTests"]
    subprocess.run(command, check=True, stdout=sys.stderr)


def run_load(variant, version, home, scale, directory):
    """One JVM. Returns CPU seconds of the whole process and of each part."""
    command = [home / "bin/java", *OPTIONS, *(OPTIONS_SINCE_24 if version >= 24 else ()), *variant.options()]
    command += [f"-Djava.io.tmpdir={directory}", "-cp", f"{HERE}/target/classes:{HERE}/target/lib/*"]
    command += ["io.mallometer.benchmarks.NativeLoad"]
    command += [f"{part}={round(amount * scale)}" for part, amount in PARTS.items()]
    began, before = time.monotonic(), measure.children_cpu_seconds()
    threads = measure.ThreadTimes()
    output, errors = measure.run(command, variant.environment(), directory, threads=threads)
    result = {WHOLE: measure.children_cpu_seconds() - before, ELAPSED: time.monotonic() - began}
    result |= dict.fromkeys(THREADS, 0)
    for name, seconds in threads.seconds.items():
        result[group_of(name)] += seconds
    if variant.evidence not in errors:
        raise Unavailable(f"its standard error does not say {variant.evidence!r}")
    if variant.output:
        written = pathlib.Path(directory, variant.output)
        if not written.exists() or written.stat().st_size == 0:
            raise Unavailable(f"it wrote no {variant.output}")
        written.unlink()
    for line in output.splitlines():
        part, _, nanoseconds = line.partition(" ")
        if part in PARTS:  # profilers print there too
            result[part] = int(nanoseconds) / 1e9
        elif part == "peak":
            result[PEAK] = int(nanoseconds) / MEBIBYTE
    return result


def group_of(thread):
    return next(group for group, names in THREADS.items() if thread.startswith(names))


def run_all(chosen, jdks, rounds, scale):
    """(JDK, variant) -> column -> CPU seconds, one a round; and variant -> why it was not measured."""
    samples, missing = {}, {}
    for number in range(rounds):
        measure.progress(f"round {number + 1} of {rounds}")
        for version, home in jdks.items():
            for variant in chosen:
                if (version, variant.name) in missing:
                    continue
                with tempfile.TemporaryDirectory(prefix="mallometer-bench-") as directory:
                    try:
                        result = run_load(variant, version, home, scale, directory)
                    except Unavailable as reason:
                        missing[version, variant.name] = str(reason)
                        continue
                for column, seconds in result.items():
                    samples.setdefault((version, variant.name), {}).setdefault(column, []).append(seconds)
    return samples, missing


# ---- Tables ---------------------------------------------------------------------------------------------


def ratio(samples, version, name, column):
    reference = samples[version, REFERENCE][column]
    return measure.spread([a / b for a, b in zip(samples[version, name][column], reference)])


def print_jdk(title, version, chosen, samples, missing):
    columns = [WHOLE, ELAPSED, *PARTS, PEAK]
    rows = []
    for variant in chosen:
        if (version, variant.name) in missing:
            rows.append([variant.name, f"not available: {missing[version, variant.name]}"] + [""] * len(columns[1:]))
        elif variant.name == REFERENCE:
            plain = {column: measure.spread(samples[version, REFERENCE][column]).median for column in columns}
            rows.append([variant.name, *(f"{plain[column]:.2f} s" for column in columns[:-1]), f"{plain[PEAK]:.0f} MiB"])
        else:
            rows.append([variant.name, *(ratio(samples, version, variant.name, column) for column in columns)])
    measure.print_table(title, ["CPU time, ratio to plain", *columns], rows)


def print_threads(title, version, chosen, samples):
    rows = []
    for variant in chosen:
        if (version, variant.name) in samples:
            columns = samples[version, variant.name]
            rows.append([variant.name, *(f"{measure.spread(columns[group]).median:.2f}" for group in THREADS)])
    measure.print_table(title, ["threads, seconds of CPU time", *THREADS], rows)


def targets(jdks, samples):
    found = []
    for version in jdks:
        if (version, MALLOMETER) not in samples or (version, CONTROL) not in samples:
            continue
        whole = ratio(samples, version, MALLOMETER, WHOLE)
        # Within noise: no farther from 1 than the farther quartile of plain over plain.
        control = ratio(samples, version, CONTROL, WHOLE)
        noise = max(control.high - 1, 1 - control.low)
        found.append(Target(f"JDK {version}, whole (1 + noise)", round(1 + noise, 3), whole.median, " x"))
        if (version, WITH_AGENT) in samples:
            agent = ratio(samples, version, WITH_AGENT, WHOLE)
            found.append(Target(f"JDK {version}, whole, with the agent and its start", 1.02, agent.median, " x"))
        unsafe = ratio(samples, version, MALLOMETER, "unsafe")
        found.append(Target(f"JDK {version}, unsafe", 1.10, unsafe.median, " x"))
    return found


def long_targets(jdks, samples, times):
    found = []
    for version in jdks:
        if (version, WITH_AGENT) not in samples:
            continue
        name = f"JDK {version}, {times:g} times the work, everything by default"
        found.append(Target(f"{name}, time", 1.03, ratio(samples, version, WITH_AGENT, WHOLE).median, " x"))
        pairs = zip(samples[version, WITH_AGENT][PEAK], samples[version, REFERENCE][PEAK])
        more = measure.spread([ours - 1.05 * plain for ours, plain in pairs]).median
        found.append(Target(f"{name}, peak RSS above 1.05 x plain", 24, more, " MiB"))
    return found


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bin/bench jvm", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="3 rounds of a third of the work")
    parser.add_argument("--times", type=float, default=LONG_TIMES, help=f"how long the long runs are ({LONG_TIMES})")
    parser.add_argument("--rounds", type=int, help="rounds to run (9; 3 with --quick)")
    parser.add_argument("--jdk", type=int, action="append", help="only this version (repeatable; 17 and 25)")
    parser.add_argument("--variant", action="append", help="only variants whose name holds this (repeatable)")
    parser.add_argument("--library", type=pathlib.Path, default=measure.LIBRARY, help="another libmallometer.so")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    rounds = arguments.rounds or (3 if arguments.quick else 9)
    jdks = measure.find_jdks(arguments.jdk or (17, 25))
    if not jdks:
        sys.exit("bin/bench jvm: no JDK 17 or 25 in JAVA_HOME, JDK_HOMES or /usr/lib/jvm")
    chosen = [variant for variant in variants(arguments.library.resolve())
              if variant.name == REFERENCE or any(part in variant.name for part in arguments.variant or [""])]
    build()
    print(f"## bin/bench jvm\n\n{measure.describe_machine()}")
    scale = 1 / 3 if arguments.quick else 1
    samples, missing = run_all(chosen, jdks, rounds, scale)
    long = [variant for variant in chosen if variant.name in LONG]
    long_rounds = max(1, rounds // 2)
    long_samples, long_missing = run_all(long, jdks, long_rounds, scale * arguments.times)
    for version in jdks:
        title = f"JDK {version}: median of {rounds} paired ratios (quartiles)"
        print_jdk(title, version, chosen, samples, missing)
        title = f"JDK {version}, {arguments.times:g} times the work: median of {long_rounds} paired ratios (quartiles)"
        print_jdk(title, version, long, long_samples, long_missing)
        title = f"JDK {version}, {arguments.times:g} times the work: median of {long_rounds} runs"
        print_threads(title, version, long, long_samples)
    measure.print_targets(targets(jdks, samples) + long_targets(jdks, long_samples, arguments.times))


if __name__ == "__main__":
    main()
