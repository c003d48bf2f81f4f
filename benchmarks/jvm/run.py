"""Measures what mallometer costs a JVM that works in native libraries, compared with NMT, async-profiler, jemalloc's profiler and
heaptrack.

The full run takes 35 minutes for each JDK on an idle machine, of which the ten rounds by process take 15; --quick takes 4.

One warm JVM does the same work with a tool on and off, in turns of 10 ms (Slices.java says why), and the CPU time of the working thread is
compared (measure.py says how). `off` is mallometer_disable(), so the preload's jump is in both states; its cost is `forward only` in
`bin/bench native`. The time of HotSpot's compilers and collector is not the thread's; the column `process` contains it. Threads that wake
every 5 to 15 s are in no slice: their share is measured over the last seconds, in which everything is on.

The method checks itself: off compared with off must be within 0.5 %, and a planted cost of 1 % must be found within 0.5 % and be
distinguished from 0. The command fails if it is not.

Tools that cannot be switched while the JVM runs are compared by process. That does not resolve differences of less than some percent.
"""

import argparse
import dataclasses
import math
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure
from measure import Target, Unavailable

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
HEAPTRACK = "/usr/lib/heaptrack/libheaptrack_preload.so"

# The repetitions of each part, which take about 10 ms. Unsafe alone is a small part of the whole, as in real programs.
PARTS = {
    "sqlite": 2_000,
    "zstd": 150,
    "rocksdb": 4_000,
    "deflate": 75,
    "direct": 3_000,
    "unsafe": 150_000,
}
LIBRARIES = ("jna", "sqlite-jdbc", "zstd-jni", "rocksdbjni", "slf4j-api")
TURN_MILLISECONDS, LONG_TURN_MILLISECONDS = 10, 200
# The milliseconds of a slice in each state.
SLICE_MILLISECONDS = 500
WARM_SECONDS = 6
TAIL_SECONDS = 60
QUICK_TAIL_SECONDS = 20
# The minutes in which call sites get their names and the JVM compiles.
SETTLING_MINUTES = 2
PAIRS, QUICK_PAIRS = 100, 30
PROCESSES = 10
# The slices of a process that is not switched.
PROCESS_PAIRS = 10
# Options with the serial collector and a fixed heap, so that little depends on the moment.
OPTIONS = ("-XX:+UseSerialGC", "-Xms256m", "-Xmx256m")
# Threads by the beginnings of their names.
THREADS = {
    "the work": ("java",),
    "collections": ("VM Thread", "GC "),
    "compilers": ("C1 ", "C2 "),
    "mallometer's own": ("mallometer",),
    "others": ("",),
}

SAME, PLANTED = "off against off", "planted cost of 1 %"
COUNTING = "library, no samples"
LIBRARY = "library"
EVERYTHING = "everything"
REFERENCE, CONTROL = "plain", "plain, again"


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    # Maps the name of a comparison to its two states; empty if nothing is switched.
    kinds: dict = dataclasses.field(default_factory=dict)
    tool: str = "none"
    # Each of these functions returns what it adds; it raises Unavailable if it cannot.
    options: object = lambda: ()
    environment: object = dict
    path: object = str
    # A text that the standard error must contain; otherwise something else was measured.
    evidence: str = ""
    # A file that must not be empty after the run.
    output: str = ""
    # The milliseconds of a turn. Tools that have to warm up after each switch need longer turns.
    turn: int = TURN_MILLISECONDS
    quick: bool = False


def variants(library):
    def preload():
        path = measure.existing(library, "none: built from interposer/")
        # Counting is off half of the time, but the sampler's account of time goes on; with half of the target, the share is the usual one.
        return {"LD_PRELOAD": path, "MALLOMETER_LOG": "info", "MALLOMETER_ONLY": "java",
                "MALLOMETER_OVERHEAD_TARGET": "0.25%"}

    def agent():
        return [f"-javaagent:{measure.existing(measure.AGENT, 'none: built by bin/bench')}"]

    def preloaded(name, quick, kinds, options=tuple, **more):
        return Variant(name, kinds, "mallometer", options, lambda: preload() | more, evidence="counting", quick=quick)

    def profiler(mode):
        name = f"async-profiler {mode}"
        return Variant(name, {name: (mode.replace(",", "+"), "off")}, "async-profiler",
                       path=measure.async_profiler, output="profile.jfr", turn=LONG_TURN_MILLISECONDS)

    def jemalloc():
        path = measure.existing(JEMALLOC, "libjemalloc2")
        return {"LD_PRELOAD": path, "MALLOC_CONF": "prof:true,prof_active:false,lg_prof_sample:19"}

    no_leaks = "everything but leak detection"
    profile = "jemalloc, its profiler"
    return [
        preloaded("the method itself", True,
                  {SAME: ("off", "off"), PLANTED: ("planted", "off"), COUNTING: ("counting", "off")}),
        preloaded(LIBRARY, True, {LIBRARY: ("on", "off")}),
        preloaded(EVERYTHING, True, {EVERYTHING: ("on", "off")}, agent),
        preloaded(no_leaks, False, {no_leaks: ("on", "off")}, agent, MALLOMETER_LEAKS="off"),
        profiler("nativemem=512k"),
        profiler("nativemem=512k,nofree"),
        Variant(profile, {profile: ("on", "off")}, "jemalloc", environment=jemalloc),
    ]


def processes(library):
    """Returns the variants that are compared by process, with fixed amounts of work."""

    def tracking(level):
        return lambda: [f"-XX:NativeMemoryTracking={level}"]

    def heaptrack():
        path = measure.existing(HEAPTRACK, "heaptrack")
        return {"LD_PRELOAD": path, "DUMP_HEAPTRACK_OUTPUT": "/dev/null"}

    ours = next(variant for variant in variants(library) if variant.name == EVERYTHING)
    usual = {"MALLOMETER_OVERHEAD_TARGET": "0.5%"}
    return [
        Variant(REFERENCE),
        Variant(CONTROL),
        Variant(EVERYTHING, options=ours.options, environment=lambda: ours.environment() | usual, evidence="counting"),
        Variant("NMT summary", options=tracking("summary")),
        Variant("NMT detail", options=tracking("detail")),
        Variant("heaptrack, output discarded", environment=heaptrack),
    ]


# ---- One run --------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Result:
    """The output of a JVM: the turns of each kind by thread and by process, and the seconds of threads in the tail."""

    times: dict = dataclasses.field(default_factory=dict)
    of_process: dict = dataclasses.field(default_factory=dict)
    tail: dict = dataclasses.field(default_factory=dict)
    # The seconds of threads of the whole process.
    threads: dict = dataclasses.field(default_factory=dict)


def class_path():
    """Returns the class path of the work, without mallometer's classes: the agent brings its own."""
    jars = (jar for name in LIBRARIES for jar in measure.LIBRARIES.glob(f"{name}-[0-9]*.jar"))
    return ":".join(map(str, (measure.CLASSES, *jars)))


def group_of(thread):
    return next(group for group, names in THREADS.items() if thread.startswith(names))


def in_groups(threads):
    seconds = dict.fromkeys(THREADS, 0.0)
    for name, spent in threads:
        seconds[group_of(name)] += spent
    return seconds


def run_slices(variant, version, home, parts, pairs, tail, directory, threads=None):
    kinds = list((variant.kinds or {"steady": ("on", "on")}).items())
    words = {
        "tool": variant.tool,
        "path": variant.path(),
        # On the command line, numbers stand for the names of kinds.
        "kinds": ",".join(f"{number}:{states[0]}:{states[1]}" for number, (_, states) in enumerate(kinds)),
        "parts": ",".join(f"{part}:{PARTS[part]}" for part in parts),
        "pairs": pairs,
        "turns": max(1, round(SLICE_MILLISECONDS / variant.turn / len(parts))),
        "turn": variant.turn if variant.kinds else 0,
        "warm": WARM_SECONDS,
        "tail": tail,
    }
    command = [home / "bin/java", *OPTIONS, *measure.access_options(version), *variant.options()]
    command += [f"-Djava.io.tmpdir={directory}", "-cp", class_path()]
    command += ["io.mallometer.benchmarks.jvm.Slices", *(f"{name}={value}" for name, value in words.items())]
    threads = threads or measure.ThreadTimes()
    output, errors = measure.run(command, variant.environment(), directory, timeout=7200, threads=threads)
    if variant.evidence not in errors:
        raise Unavailable(f"its standard error does not say {variant.evidence!r}")
    written = pathlib.Path(directory, variant.output)
    if variant.output and (not written.exists() or written.stat().st_size == 0):
        raise Unavailable(f"it wrote no {variant.output}")
    result = read(output, [name for name, _ in kinds], variant)
    result.threads = in_groups(threads.seconds.items())
    return result


def read(output, kinds, variant):
    result, tail = Result(), []
    for line in output.splitlines():
        words = line.split()
        if words[:1] == ["turn"]:  # profilers print there, too
            kind, pair, part = kinds[int(words[1])], int(words[2]), words[3]
            time, reference, all_time, all_reference, events, without = map(int, words[4:])
            check_events(variant, variant.kinds.get(kind), events, without)
            result.times.setdefault(kind, []).append(measure.Turn(pair, part, time, reference))
            result.of_process.setdefault(kind, []).append(measure.Turn(pair, part, all_time, all_reference))
        elif words[:2] == ["thread", "tail"]:
            tail.append((line.split(maxsplit=4)[4], int(words[2]) / 1e9))
    result.tail = in_groups(tail)
    return result


def check_events(variant, states, *counted):
    """Refuses a row if the library counted while it was off, or did not count while it was on."""
    if variant.tool == "mallometer":
        for state, events in zip(states, counted):
            if (events > 0) != (state in ("on", "counting")):
                raise Unavailable(f"the library counted {events} events in a turn while {state}")


# ---- All runs -------------------------------------------------------------------------------------------


def run_comparisons(chosen, version, home, arguments):
    """Returns the rows of the table, and the ratios by the name of the comparison."""
    rows, ratios = [], {}
    tail = QUICK_TAIL_SECONDS if arguments.quick else TAIL_SECONDS
    for variant in chosen:
        measure.progress(f"JDK {version}: {variant.name}")
        with tempfile.TemporaryDirectory(prefix="mallometer-bench-") as directory:
            try:
                pairs = arguments.pairs if variant.turn == TURN_MILLISECONDS else max(2, arguments.pairs // 4)
                result = run_slices(variant, version, home, arguments.part, pairs,
                                    tail if variant.name == EVERYTHING else 0, directory)
            except Unavailable as reason:
                rows.append([variant.name, f"not available: {reason}"])
                continue
        for kind, turns in result.times.items():
            parts = measure.by_part(turns)
            ratios[kind] = {"all": measure.ratio(turns)}
            ratios[kind] |= {part: measure.ratio(of_part) for part, of_part in parts.items()}
            own = result.tail["mallometer's own"]
            share = own / result.tail["the work"] if own else 0
            ratios[kind]["share"] = share
            rows.append([kind, ratios[kind]["all"], measure.ratio(turns, measure.of_sums),
                         measure.ratio(result.of_process[kind]), f"{share:.1%}" if share else "",
                         *(ratios[kind][part] for part in arguments.part)])
    return rows, ratios


def run_processes(chosen, version, home, arguments):
    """Returns, by variant, the logarithms of the ratios of its time to plain's and its threads' seconds, one for each round; and the
    reasons for variants that were not measured."""
    ratios, threads, missing = {}, {}, {}
    for number in range(arguments.processes):
        measure.progress(f"JDK {version}: processes, round {number + 1} of {arguments.processes}")
        plain = None
        for variant in chosen:
            if variant.name in missing:
                continue
            with tempfile.TemporaryDirectory(prefix="mallometer-bench-") as directory:
                try:
                    result = run_slices(variant, version, home, arguments.part, PROCESS_PAIRS, 0, directory)
                except Unavailable as reason:
                    missing[variant.name] = str(reason)
                    continue
            turns = result.times["steady"]
            usual = sum(measure.interquartile_mean([time for turn in of_part for time in (turn.time, turn.reference)])
                        for of_part in measure.by_part(turns).values())
            plain = plain or usual
            ratios.setdefault(variant.name, []).append(math.log(usual / plain))
            threads.setdefault(variant.name, []).append(result.threads)
    return ratios, threads, missing


def print_processes(title, chosen, ratios, threads, missing):
    rows = []
    for variant in chosen:
        if variant.name in missing:
            rows.append([variant.name, f"not available: {missing[variant.name]}"])
            continue
        of_all = threads[variant.name]
        medians = (measure.spread([one[group] for one in of_all]).median for group in THREADS)
        rows.append([variant.name, measure.ratio_of_runs(ratios[variant.name]), *(f"{one:.2f} s" for one in medians)])
    measure.print_table(title, ["by process", "the work, warm", *THREADS], padded(rows, 2 + len(THREADS)))


def padded(rows, columns):
    return [row + [""] * (columns - len(row)) for row in rows]


def gates(version, ratios):
    """Returns the targets that the method itself must meet."""
    found = []
    if SAME in ratios:
        found.append(Target(f"JDK {version}, {SAME}, distance from 1", 0.005, abs(ratios[SAME]["all"].mid - 1), gate=True))
    if PLANTED in ratios:
        planted = ratios[PLANTED]["all"]
        found.append(Target(f"JDK {version}, {PLANTED}, distance from 1.01", 0.005, abs(planted.mid - 1.01), gate=True))
        found.append(Target(f"JDK {version}, {PLANTED}, 1 over the lower end", 1, 1 / planted.low, gate=True))
    return found


def aims(version, ratios):
    found = []
    for name, limit in ((LIBRARY, 1.01), (EVERYTHING, 1.02)):
        if name in ratios:
            upper = ratios[name]["all"].high + ratios[name]["share"]
            found.append(Target(f"JDK {version}, {name} with its threads, upper end", limit, upper, " x"))
    if "unsafe" in ratios.get(LIBRARY, ()):
        found.append(Target(f"JDK {version}, Unsafe alone, {LIBRARY}", 1.10, ratios[LIBRARY]["unsafe"].mid, " x"))
    return found


def run_threads(jdks, library, seconds):
    """Prints the share of a processor that each thread of mallometer takes, minute by minute, because rare readings are unequally
    distributed."""
    variant = next(one for one in variants(library) if one.name == EVERYTHING)
    rows, found = [], []
    for version, home in jdks.items():
        measure.progress(f"JDK {version}: {seconds} s of work with {EVERYTHING}")
        with tempfile.TemporaryDirectory(prefix="mallometer-bench-") as directory:
            threads = measure.ThreadShares()
            run_slices(variant, version, home, list(PARTS), 1, seconds, directory, threads)
        own = {name: minutes for name, minutes in threads.minutes().items() if group_of(name) == "mallometer's own"}
        for name, minutes in sorted(own.items()):
            rows.append([version, name, *(f"{share:.2%}" for share in minutes)])
        steady = [sum(shares) for shares in zip(*own.values())][SETTLING_MINUTES:]
        if steady:
            found.append(Target(f"JDK {version}, its threads after {SETTLING_MINUTES} minutes, of a processor", 0.003,
                                sum(steady) / len(steady)))
    columns = max(map(len, rows), default=2) - 2
    measure.print_table("threads of mallometer, of a processor", ["JDK", "thread", *(f"min {i + 1}" for i in range(columns))],
                        padded(rows, columns + 2))
    measure.print_targets(found)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bin/bench jvm", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="30 pairs of slices, mallometer only: 4 minutes a JDK")
    parser.add_argument("--pairs", type=int, help=f"pairs of slices of half a second ({PAIRS}; {QUICK_PAIRS} with --quick)")
    parser.add_argument("--processes", type=int, default=PROCESSES, help=f"rounds by process ({PROCESSES}; 0: none)")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part of the load (repeatable)")
    parser.add_argument("--jdk", type=int, action="append", help="only this version (repeatable; 17 and 25)")
    parser.add_argument("--variant", action="append", help="only variants whose name holds this (repeatable)")
    parser.add_argument("--threads", type=int, metavar="SECONDS", help="only the time of mallometer's threads, by the minute")
    parser.add_argument("--library", type=pathlib.Path, default=measure.LIBRARY, help="another libmallometer.so")
    arguments = parser.parse_args()
    arguments.pairs = arguments.pairs or (QUICK_PAIRS if arguments.quick else PAIRS)
    arguments.part = arguments.part or list(PARTS)
    if arguments.quick:
        arguments.processes = 0
    return arguments


def main():
    arguments = parse_arguments()
    jdks = measure.find_jdks(arguments.jdk or (17, 25))
    if not jdks:
        sys.exit("bin/bench jvm: no JDK 17 or 25 in JAVA_HOME, JDK_HOMES or /usr/lib/jvm")
    library = arguments.library.resolve()

    def is_chosen(variant):
        return any(part in variant.name for part in arguments.variant or [""])

    switched = [variant for variant in variants(library)
                if is_chosen(variant) and (variant.quick or not arguments.quick)]
    by_process = [variant for variant in processes(library) if variant.name == REFERENCE or is_chosen(variant)]
    measure.build()
    if arguments.threads:
        return run_threads(jdks, library, arguments.threads)
    print(f"## bin/bench jvm\n\n{measure.describe_machine()}")
    must, may = [], []
    for version, home in jdks.items():
        rows, ratios = run_comparisons(switched, version, home, arguments)
        header = ["on against off", "all", "all, by sums", "process", "its threads", *arguments.part]
        title = f"JDK {version}: processor time, {arguments.pairs} pairs of slices (95 % interval)"
        measure.print_table(title, header, padded(rows, len(header)))
        if arguments.processes > 0:
            title = f"JDK {version}: {arguments.processes} rounds of processes"
            print_processes(title, by_process, *run_processes(by_process, version, home, arguments))
        must += gates(version, ratios)
        may += aims(version, ratios)
    measure.print_targets(must + may)
    print(f"\nload {measure.load()} at the end")
    if not all(gate.is_met() for gate in must):
        sys.exit("bin/bench jvm: the method does not find what is known; its figures cannot be trusted")


if __name__ == "__main__":
    main()
