"""Measures what the hook costs a C program, compared with the least possible cost and with the tools that people would otherwise use.

There are two measures. The first is the CPU time of the whole process, as a ratio to a run without any preload: users pay it, and it is
noisy. It is taken for the first operations of a process, and again after a second, in which the sampler and the allocator have settled. The
second is the number of instructions of one operation, counted by callgrind as the difference of two lengths: it is exact and equal on every
machine, but does not include the effects of caches. Both must look good. Instructions and bytes are gates: the command fails if one is
missed. Ratios are aims.
"""

import argparse
import dataclasses
import functools
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure
from measure import Target, Unavailable

LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
BUILD = measure.TARGET / "native"

# Values of mallometer_report.state and .byte_unit.
NO_LIBRARY, COUNTING, DISABLED, EXCLUDED = 0, 1, 2, 4
UNIT_REQUESTED = 3

# The operations of a run, which takes 50 to 200 ms without a preload. Runs are short and rounds many, so that a disturbance spoils a round
# but not the median.
WORKLOADS = {
    "pairs": 5_000_000,
    "mixed": 1_000_000,
    "deep": 1_000_000,
    "threads": 5_000_000,
    "realloc": 3_000_000,
    "churn": 3_000,
    "blocks": 2_000_000,
    "million": 1_000_000,
    "realloc1m": 1_000_000,
    "sweep": 2_000_000,
}
WARM_UP_MILLISECONDS = 1000
ROUNDS_PER_RIVAL = 3
COUNTED_BY_CALLGRIND = ("pairs", "mixed", "realloc", "blocks")

# The aims by workload: the time divided by the time without a preload.
AIMS = {"pairs": 1.38, "mixed": 1.06, "realloc": 1.30, "realloc1m": 1.5, "blocks": 1.5, "churn": 1.05, "million": 1.05}

REFERENCE = "no preload"
CONTROL = "no preload, again"
FORWARD_ONLY = "forward only"
MINIMAL = "minimal counters"
MALLOMETER = "mallometer"
WITH_SITES = "mallometer, call sites"
NO_SAMPLES = "mallometer, no samples"
HEADER = "mallometer, header accounting"
NO_SITES = "mallometer, no call sites"
EVERY = {"MALLOMETER_SAMPLE_INTERVAL": "1"}
# Settings with call sites, as JVMs have them. For a program that does not request call sites, none are recorded otherwise.
SITES = {"MALLOMETER_STACKS": "native"}
# The variants that are measured with --quick.
QUICK = (REFERENCE, FORWARD_ONLY, MINIMAL, MALLOMETER, WITH_SITES, CONTROL)
EVERY_BY_POINTERS = "mallometer, every allocation, stacks by frame pointers"
IS_DISABLED = "mallometer, MALLOMETER_ENABLED=false"
IS_EXCLUDED = "mallometer, MALLOMETER_ONLY=other"

# The numbers of live threads in the processes in which the counters are read, and the numbers of readings.
READING_THREADS = (1, 100, 1000)
READINGS = {
    "warm": "mallometer_snapshot, back to back",
    "cold": "mallometer_snapshot, caches overwritten",
    "thread": "mallometer_thread_snapshot",
}


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    # Returns the library to preload, or None; raises Unavailable.
    preload: object = lambda: None
    environment: dict = dataclasses.field(default_factory=dict)
    # The state and, if given, the byte unit that libmallometer must report; otherwise something else was measured.
    state: int = NO_LIBRARY
    unit: int | None = None
    # The share of the operations that is enough for a slow variant.
    share: float = 1.0
    # Whether the variant is measured only for comparison: a few rounds are enough then.
    rival: bool = False
    no_instructions: str = ""


def installed(path, package):
    return lambda: measure.existing(path, package)


def variants(library):
    def mallometer():
        return measure.existing(library, "none: built from interposer/")

    jemalloc = installed(LIBRARIES / "libjemalloc.so.2", "libjemalloc2")
    tcmalloc = installed(LIBRARIES / "libtcmalloc.so.4", "libgoogle-perftools4")
    heaptrack = installed("/usr/lib/heaptrack/libheaptrack_preload.so", "heaptrack")
    rival = functools.partial(Variant, rival=True)
    every_512_kib = "start,nativemem=512k,file=profile.jfr"
    return [
        Variant(REFERENCE),
        Variant(FORWARD_ONLY, lambda: str(BUILD / "libforward_only.so")),
        Variant(MINIMAL, lambda: str(BUILD / "libminimal_counters.so")),
        Variant(MALLOMETER, mallometer, state=COUNTING),
        Variant(WITH_SITES, mallometer, SITES, COUNTING),
        Variant(NO_SITES, mallometer, {"MALLOMETER_STACKS": "off"}, COUNTING),
        Variant(EVERY_BY_POINTERS, mallometer, EVERY | {"MALLOMETER_UNWIND": "fp"}, COUNTING, share=0.2),
        Variant("mallometer, every allocation, stacks by tables", mallometer, EVERY, COUNTING, share=0.2),
        Variant(NO_SAMPLES, mallometer, {"MALLOMETER_SAMPLE_INTERVAL": "0"}, COUNTING),
        Variant(HEADER, mallometer, SITES | {"MALLOMETER_ACCOUNTING": "header"}, COUNTING, UNIT_REQUESTED),
        Variant(IS_DISABLED, mallometer, {"MALLOMETER_ENABLED": "false"}, DISABLED),
        Variant(IS_EXCLUDED, mallometer, {"MALLOMETER_ONLY": "other"}, EXCLUDED),
        Variant(CONTROL),
        rival("heaptrack, output discarded", heaptrack, {"DUMP_HEAPTRACK_OUTPUT": "/dev/null"}, share=0.1,
              no_instructions="it does not record under valgrind"),
        rival("jemalloc", jemalloc),
        rival("jemalloc prof, 512 KiB", jemalloc, {"MALLOC_CONF": "prof:true,lg_prof_sample:19"}),
        rival("tcmalloc", tcmalloc),
        rival("tcmalloc sampling, 512 KiB", tcmalloc, {"TCMALLOC_SAMPLE_PARAMETER": "524288"}),
        rival("tcmalloc HEAPPROFILE", tcmalloc, {"HEAPPROFILE": "heap"}, share=0.01),
        rival("async-profiler nativemem=512k", measure.async_profiler, {"ASPROF_COMMAND": every_512_kib}, share=0.2),
        rival("async-profiler nativemem=512k,nofree", measure.async_profiler,
              {"ASPROF_COMMAND": every_512_kib + ",nofree"}),
    ]


def build():
    measure.compile_c(HERE / "workload.c", BUILD / "workload", "-pthread")
    for name, options in (("forward_only", ()), ("minimal_counters", ("-DCOUNTERS",))):
        measure.compile_c(HERE / "preloads.c", BUILD / f"lib{name}.so", "-fPIC", "-shared", "-Wl,-z,now", *options)


# ---- One run --------------------------------------------------------------------------------------------


def environment_of(variant):
    library = variant.preload()
    return variant.environment | ({"LD_PRELOAD": library} if library else {})


def run_workload(variant, workload, operations, directory):
    """Makes one timed run. Returns the fields that the workload printed."""
    command = [BUILD / "workload", workload, operations, WARM_UP_MILLISECONDS]
    output, errors = measure.run(command, environment_of(variant), directory)
    if "Invalid conf" in errors:
        raise Unavailable(errors.strip().splitlines()[0])
    result = measure.fields(output.strip().splitlines()[-1])
    if result["state"] != variant.state or variant.unit not in (None, result["unit"]):
        raise Unavailable(f"libmallometer reports state {result['state']}, byte unit {result['unit']}")
    if variant.state == COUNTING and result["counted"] == 0:
        raise Unavailable("libmallometer counted nothing")
    return result


def operations_for(variant, workload):
    if workload == "million":
        return WORKLOADS[workload]
    return max(2, round(WORKLOADS[workload] * variant.share))


def instructions(variant, workload, lengths, directory):
    """Returns the instructions of one operation: the difference of two lengths, in which start-up and warm-up cancel out."""
    lengths = [round(length * max(variant.share, 0.1)) for length in lengths]
    counts = []
    for operations in lengths:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                   BUILD / "workload", workload, operations]
        _, errors = measure.run(command, environment_of(variant), directory)
        counts.append(int(re.search(r"Collected : (\d+)", errors).group(1)))
    return (counts[1] - counts[0]) / (lengths[1] - lengths[0])


# ---- All runs -------------------------------------------------------------------------------------------


def divided(times, reference):
    """Divides times by the reference of the same round."""
    return {number: time / reference[number] for number, time in times.items()}


class Results:
    """The measurements of each round, by workload and variant; and the reasons for variants that could not be measured."""

    def __init__(self):
        # (workload, variant) -> round -> CPU nanoseconds of one operation: of the first, and after a second
        self.first = {}
        self.times = {}
        # (size, variant) -> round -> nanoseconds
        self.sweep = {}
        # variant -> round -> bytes of resident set for each live object
        self.grown = {}
        self.missing = {}

    def add(self, round_number, workload, variant, result):
        for name, times in (("first_ns", self.first), ("steady_ns", self.times)):
            nanoseconds = result[name] / result["operations"]
            times.setdefault((workload, variant.name), {})[round_number] = nanoseconds
        for name, picoseconds in result.items():
            if name.startswith("ps_"):
                size = int(name.removeprefix("ps_"))
                self.sweep.setdefault((size, variant.name), {})[round_number] = picoseconds / 1000
        if workload == "million":
            self.grown.setdefault(variant.name, {})[round_number] = result["grown_bytes"] / WORKLOADS["million"]

    def has(self, workload, name):
        return (workload, name) in self.times

    def nanoseconds(self, workload, name):
        return measure.spread(list(self.times[workload, name].values())).median

    def ratios(self, workload, name):
        """Returns, by round, the variant's time divided by that without a preload."""
        return divided(self.times[workload, name], self.times[workload, REFERENCE])

    def ratio(self, workload, name):
        return measure.spread(list(self.ratios(workload, name).values()))

    def ratio_of_first(self, workload, name):
        return measure.spread(list(divided(self.first[workload, name], self.first[workload, REFERENCE]).values()))

    def sizes(self):
        return sorted(size for size, name in self.sweep if name == REFERENCE)

    def sweep_ratio(self, size, name):
        return measure.spread(list(divided(self.sweep[size, name], self.sweep[size, REFERENCE]).values())).median

    def sweep_added(self, size, name):
        reference = self.sweep[size, REFERENCE]
        return measure.spread([time - reference[number] for number, time in self.sweep[size, name].items()]).median

    def two_threads_against_one(self, name):
        """Returns the ratio in two threads divided by the ratio in one."""
        one = self.ratios("pairs", name)
        return measure.spread([ratio / one[number] for number, ratio in self.ratios("threads", name).items()])

    def bytes_per_object(self, name):
        """Returns the growth of the resident set for each live object, minus that of a run without a preload."""
        reference = self.grown[REFERENCE]
        return measure.spread([grown - reference[number] for number, grown in self.grown[name].items()]).median


def time_all(chosen, workloads, rounds, directory):
    results = Results()
    for round_number in range(rounds):
        measure.progress(f"round {round_number + 1} of {rounds}")
        for workload in workloads:
            for variant in chosen:
                if variant.name in results.missing or (variant.rival and round_number % ROUNDS_PER_RIVAL != 0):
                    continue
                try:
                    result = run_workload(variant, workload, operations_for(variant, workload), directory)
                except Unavailable as reason:
                    results.missing[variant.name] = str(reason)
                    continue
                results.add(round_number, workload, variant, result)
    return results


def count_all(chosen, workloads, missing, lengths, directory):
    counted = {}
    for variant in chosen:
        if variant.name in missing or variant.name == CONTROL or variant.no_instructions:
            continue
        measure.progress(f"callgrind: {variant.name}")
        for workload in workloads:
            try:
                counted[workload, variant.name] = instructions(variant, workload, lengths, directory)
            except Unavailable as reason:
                measure.progress(f"callgrind: {variant.name}, {workload}: {reason}")
    return counted


def read_all(threads, processes, readings, library, directory):
    """Returns the microseconds of a reading, by kind."""
    samples = {kind: [] for kind in READINGS}
    environment = {"LD_PRELOAD": measure.existing(library, "none: built from interposer/")}
    for _ in range(processes):
        output, _ = measure.run([BUILD / "workload", "snapshot", threads, readings], environment, directory)
        for kind, *nanoseconds in map(str.split, output.splitlines()):
            samples[kind] += (int(value) / 1000 for value in nanoseconds)
    return {kind: measure.spread(values) for kind, values in samples.items()}


# ---- Tables ---------------------------------------------------------------------------------------------


def print_times(title, chosen, workloads, results, ratio):
    header = ["CPU time, ratio to no preload", *workloads]
    rows = []
    for variant in chosen:
        if variant.name in results.missing:
            rows.append([variant.name, f"not available: {results.missing[variant.name]}"] + [""] * (len(workloads) - 1))
        elif variant.name == REFERENCE:
            nanoseconds = (results.nanoseconds(workload, REFERENCE) for workload in workloads)
            rows.append([variant.name, *(f"{one:.1f} ns" for one in nanoseconds)])
        else:
            rows.append([variant.name, *(ratio(workload, variant.name) for workload in workloads)])
    measure.print_table(title, header, rows)


def print_sweep(chosen, results):
    """Prints the steady state with a row for each size."""
    names = [variant.name for variant in chosen if not variant.rival and ("sweep", variant.name) in results.times]
    rows = []
    for size in results.sizes():
        reference = measure.spread(list(results.sweep[size, REFERENCE].values())).median
        others = (f"{results.sweep_added(size, name):+.1f} ({results.sweep_ratio(size, name):.2f})"
                  for name in names if name != REFERENCE)
        rows.append([f"{size:,}", f"{reference:.1f}", *others])
    header = ["bytes; ns more (ratio)", *names]
    measure.print_table("malloc, a byte touched, free: median of nanoseconds more than no preload", header, rows)


def print_counts(chosen, workloads, results, counted):
    header = ["variant", *(f"instructions, {workload}" for workload in workloads), "bytes per object"]
    rows = []
    for variant in chosen:
        if variant.name in results.missing or variant.name == CONTROL:
            continue
        cells = [counted.get((workload, variant.name)) for workload in workloads]
        unknown = f"not available: {variant.no_instructions or 'failed under callgrind'}"
        memory = f"{results.bytes_per_object(variant.name):+.1f}" if variant.name in results.grown else ""
        rows.append([variant.name, *(unknown if cell is None else f"{cell:.1f}" for cell in cells), memory])
    measure.print_table("Instructions of one operation, and memory of one live object beyond no preload", header, rows)


def print_threads(chosen, results):
    """Prints the runs in two threads. Two processors that share one core slow each other down; preloads that share no data show by how
    much."""
    names = [variant.name for variant in chosen if not variant.rival and results.has("threads", variant.name)]
    rows = [[name, results.two_threads_against_one(name)] for name in names if name != REFERENCE]
    measure.print_table("`threads` over `pairs`, each as ratio to no preload", ["variant", "two against one"], rows)


def print_readings(library, quick, directory):
    """Prints what a reading of the counters costs, and returns its targets."""
    processes, readings = (2, 200) if quick else (7, 1000)
    results = {count: read_all(count, processes, readings, library, directory) for count in READING_THREADS}
    header = ["microseconds, median (quartiles)", *(f"threads: {count:,}" for count in READING_THREADS)]
    rows = [[text, *(results[count][kind] for count in READING_THREADS)] for kind, text in READINGS.items()]
    measure.print_table(f"Time of a reading: {processes} processes, {readings:,} readings of each kind", header, rows)
    most = results[READING_THREADS[-1]]
    return [Target(f"{READINGS[kind]}, 1,000 threads", limit, most[kind].median, " us") for kind, limit in (("warm", 25), ("cold", 25), ("thread", 1))]


def targets(results, counted):
    """Returns the targets that these runs can check."""
    found = []

    def instructions_at_most(limit, promise, name, floor):
        measured, below = counted.get(("pairs", name)), counted.get(("pairs", floor))
        if measured is not None and below is not None:
            found.append(Target(promise, limit, measured - below, gate=True))

    for name in (MALLOMETER, WITH_SITES):
        instructions_at_most(48, f"64 B pair, instructions over none: {name}", name, REFERENCE)
        for workload, limit in AIMS.items():
            if results.has(workload, name):
                ratio = results.ratio(workload, name).median
                found.append(Target(f"{workload}, time: {name}", limit, ratio, " x"))
        if results.has("sweep", name):
            worst = max(results.sizes(), key=lambda size: results.sweep_ratio(size, name))
            ratio = results.sweep_ratio(worst, name)
            found.append(Target(f"sweep, worst ratio, at {worst:,} bytes: {name}", 1.5, ratio, " x"))
            # If glibc maps each object, a pair takes 10 us, in which 40 ns are lost in the noise.
            unmapped = [size for size in results.sizes() if size < 1 << 25]
            worst = max(unmapped, key=lambda size: results.sweep_added(size, name))
            added = results.sweep_added(worst, name)
            found.append(Target(f"sweep up to 16 MiB, most time added, at {worst:,} bytes: {name}", 40, added, " ns"))
    if results.has("deep", EVERY_BY_POINTERS):
        nanoseconds = (results.ratio("deep", EVERY_BY_POINTERS).median - 1) * results.nanoseconds("deep", REFERENCE)
        found.append(Target("every allocation with 8 frames, time added", 100, nanoseconds, " ns"))
    if MALLOMETER in results.grown:
        # The limit is half a byte, because the resident set differs by some pages from run to run.
        found.append(Target("memory of a live object", 0.5, results.bytes_per_object(MALLOMETER), " B", gate=True))
    for name in (IS_DISABLED, IS_EXCLUDED):
        instructions_at_most(15, f"pair over forward only, instructions: {name}", name, FORWARD_ONLY)
    if results.has("threads", MALLOMETER) and results.has("pairs", MALLOMETER):
        # The ratio does not differ from 1 if 1 lies within the quartiles.
        lost = results.two_threads_against_one(MALLOMETER).low
        found.append(Target("time in two threads over time in one, lower quartile", 1.0, lost, " x"))
    return found


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bin/bench native", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds, few variants, shorter counts: 6 minutes")
    parser.add_argument("--rounds", type=int, help="rounds to run (9; 3 with --quick)")
    parser.add_argument("--workload", action="append", choices=WORKLOADS, help="only this one (repeatable)")
    parser.add_argument("--variant", action="append", help="only variants whose name holds this (repeatable)")
    parser.add_argument("--readings", action="store_true", help="only what reading the counters costs: 1 minute")
    parser.add_argument("--library", type=pathlib.Path, default=measure.LIBRARY, help="another libmallometer.so")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    rounds = arguments.rounds or (3 if arguments.quick else 9)
    lengths = (20_000, 60_000) if arguments.quick else (50_000, 250_000)
    workloads = arguments.workload or list(WORKLOADS)
    chosen = [variant for variant in variants(arguments.library.resolve())
              if variant.name == REFERENCE or any(part in variant.name for part in arguments.variant or [""])]
    if arguments.quick and not arguments.variant:
        chosen = [variant for variant in chosen if variant.name in QUICK]
    build()
    print(f"## bin/bench native\n\n{measure.describe_machine()}")
    read = []
    if arguments.readings or not (arguments.workload or arguments.variant):
        with tempfile.TemporaryDirectory(prefix="mallometer-bench-") as directory:
            read = print_readings(arguments.library.resolve(), arguments.quick, directory)
    if arguments.readings:
        measure.print_targets(read)
        return
    with tempfile.TemporaryDirectory(prefix="mallometer-bench-") as directory:
        results = time_all(chosen, workloads, rounds, directory)
        counting = [workload for workload in workloads if workload in COUNTED_BY_CALLGRIND]
        counted = count_all(chosen, counting, results.missing, lengths, directory)
    print_times(f"Steady: median of {rounds} paired ratios (quartiles)", chosen, workloads, results, results.ratio)
    print_times("The first operations of a process", chosen, workloads, results, results.ratio_of_first)
    if "sweep" in workloads:
        print_sweep(chosen, results)
    if counting:
        print_counts(chosen, counting, results, counted)
    if results.has("threads", MALLOMETER) and results.has("pairs", MALLOMETER):
        print_threads(chosen, results)
    checked = targets(results, counted) + read
    measure.print_targets(checked)
    if not all(target.is_met() for target in checked if target.gate):
        sys.exit("bin/bench native: a gate is missed")


if __name__ == "__main__":
    main()
