"""Measures when mallometer gives which verdict on kernels that leak and on look-alikes, in JVMs side by side in real time.

For each kernel it prints the first minute of each verdict, whether a leak was ever revoked, and for look-alikes whether a sentence was
untrue. `--lost` runs the kernels that lose memory for some minutes, under each JDK and collector.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import pathlib
import re
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import measure
from run import kernel_of, kernels

# Kernels whose memory Java still refers to, and kernels whose memory nothing refers to.
HELD = [f"Leaking.{name}" for name in ("Deflaters", "Inflaters", "ZstdContexts", "RocksOptions", "RocksIterators",
                                       "SqliteStatements", "DirectBuffers", "LostKeys")]
LOST = [f"Losing.{name}" for name in ("JnaBlocks", "ThroughWrapper", "ManySmall", "UnsafeBlocks", "CStrings", "ForgottenOnError",
                                       "ReplacedEntries", "ThreadBuffers", "GrownBuffers", "DroppedReadOptions")]
LOST_SLOWLY = [f"Leaking.{name}" for name in ("JnaBlocks", "ThroughWrapper", "SmallInHotCode", "LargeAndRare")]
# Kernels in which each object but the first is referred to by another lost object.
LOST_TOGETHER = ["Losing.DroppedZstdContexts", "Losing.DroppedLists"]
JVMS = {
    "eight that Java holds": HELD,
    "eight that are lost": LOST_SLOWLY + LOST[3:7],
    "one that Java holds": ["Leaking.Deflaters"],
    "one that is lost": ["Losing.JnaBlocks"],
    "look-alikes": kernels("LookAlikes") + kernels("Healthy"),
}
LOST_JVM = LOST + LOST_TOGETHER
LEAKING = {*kernels("Leaking"), *kernels("Losing")}
COLLECTORS = ("G1", "Z", "Parallel", "Serial")
STAGES = ("growing", "unused", "leak")
LOST_WITHIN_MINUTES = 6
# The longest random gap of look-alikes, in minutes.
LONGEST_GAP = 30
# The minutes by which a free may be late: dropped buffers wait for the collector, and a configuration is replaced when the next one is
# loaded.
LATE_MINUTES = 4
UNITS = {"s": 1 / 60, "min": 1, "h": 60}


class Kernel:
    """The verdicts on one kernel in one JVM."""

    def __init__(self):
        self.first = {}
        self.evidence = ""
        self.given_up = []
        self.leaks = False
        self.sentences = {}

    def hear(self, minute, sites):
        """Adds the verdicts of one evaluation."""
        for site in sites:
            verdict = site["verdict"]
            self.first.setdefault(verdict, minute)
            self.sentences[verdict] = site["sentence"]
            if verdict == "leak" and not self.evidence:
                self.evidence = site["evidence"]
        leaks = any(site["verdict"] == "leak" for site in sites)
        if self.leaks and not leaks:
            self.given_up.append(minute)
        self.leaks = leaks

    def minute(self, verdict):
        return f"{self.first[verdict]:.1f}" if verdict in self.first else ""


class Run:
    """One JVM: the verdicts on its kernels, and its searches."""

    def __init__(self, lines):
        self.kernels = collections.defaultdict(Kernel)
        self.untrue = []
        self.sentences = 0
        self.searches = [line for line in lines if "search" in line]
        moments = [line for line in lines if "search" not in line]
        if not moments:
            raise measure.Unavailable("there were no verdicts")
        self.observation = moments[-1]["observation"]
        self.judged = moments[-1]["judged"]
        for moment in moments:
            self._hear(moment)

    def _hear(self, moment):
        minute = moment["age"] / 60
        sites = collections.defaultdict(list)
        for site in moment["sites"]:
            sites[kernel_of("\n".join(site["frames"]))].append(site)
        for name in {*sites, *self.kernels}:
            self.kernels[name].hear(minute, sites[name])
        for name, said in sites.items():
            self.sentences += len(said) if name not in LEAKING else 0
            self.untrue.extend((name, minute, wrong) for site in said if (wrong := untruth(name, site["sentence"])))


def untruth(name, sentence):
    """Returns what a sentence says of a look-alike that is not true; "" if there is nothing."""
    if name in LEAKING:
        return ""
    if "no code can use or free them" in sentence or "beyond any timeout" in sentence:
        return sentence
    if "holds 0 B: " in sentence:
        return sentence
    look_alike = re.fullmatch(r"LookAlikes\.([a-z]+)(Random)?(\d+)", name)
    if not look_alike:
        return ""
    habit, at_random, gap = look_alike[1], bool(look_alike[2]), int(look_alike[3])
    idle = re.search(r"not accessed (?:since they were allocated, up to|for up to) (\d+) (s|min|h)", sentence)
    longest = LONGEST_GAP if at_random else gap
    if idle and int(idle[1]) * UNITS[idle[2]] > longest + LATE_MINUTES:
        return f"{idle[0]}, though each is used or freed after {longest} min"
    excluded = re.search(r"random use more often than every (\d+) (s|min|h) is excluded", sentence)
    # Only caches use their entries one by one at random.
    if excluded and at_random and habit == "cache" and int(excluded[1]) * UNITS[excluded[2]] > gap:
        return f"{excluded[0]}, though each is used every {gap} min"
    return ""


# ---- Running --------------------------------------------------------------------------------------------


def listen(name, home, names, arguments, options=()):
    """Runs kernels in one JVM, unless a log of that run exists."""
    with tempfile.TemporaryDirectory(prefix="mallometer-leaks-") as directory:
        log = (arguments.logs or pathlib.Path(directory)) / f"{name.replace(', ', '-').replace(' ', '-')}.jsonl"
        if not log.exists():
            part = log.with_suffix(".part")
            part.unlink(missing_ok=True)
            run(home, names, arguments, [*options, f"-Dverdicts={part}", f"-Djava.io.tmpdir={directory}"], directory)
            part.rename(log)
        return Run([json.loads(line) for line in log.read_text().splitlines()])


def run(home, names, arguments, options, directory):
    command = [home / "bin/java", f"-Xmx{arguments.heap}", f"-Dthreads={arguments.threads}", *measure.access_options(measure.java_version(home)),
               *options, "-cp", measure.CLASS_PATH]
    command += ["io.mallometer.benchmarks.leaks.Kernels", arguments.minutes, 1, *names]
    environment = {"LD_PRELOAD": measure.existing(arguments.library, "none: built from interposer/"), "MALLOMETER_ONLY": "java"}
    measure.run(command, environment, directory, timeout=arguments.minutes * 60 + 300)


def together(tasks, workers):
    """Returns the result of each task by its name, or the reason why there is none."""
    results = {}

    def guarded(task):
        try:
            return task()
        except measure.Unavailable as reason:
            return reason

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        futures = {name: pool.submit(guarded, task) for name, task in tasks.items()}
        for name, future in futures.items():
            results[name] = future.result()
            measure.progress(f"{time.strftime('%H:%M')}: {name}")
    return results


# ---- Tables ---------------------------------------------------------------------------------------------


def print_kernels(title, run, names):
    rows = []
    for name in names:
        kernel = run.kernels[name]
        last = kernel.sentences.get("leak") or kernel.sentences.get("unused") or kernel.sentences.get("growing", "")
        given_up = ", ".join(f"{minute:.0f}" for minute in kernel.given_up)
        rows.append([name, *(kernel.minute(stage) for stage in STAGES), kernel.evidence, given_up, last])
    measure.print_table(title, ["kernel", "growing", "unused", "leak", "evidence", "given up", "said at last"], rows)


def print_searches(runs):
    rows = []
    for name, run in runs.items():
        for search in run.searches:
            rows.append([name, f"{search['age'] / 60:.1f}", search["state"], f"{search['searched'] / 2**20:.0f} of {search['resident'] / 2**20:.0f} MiB",
                         f"{search['cpuSeconds']:.2f} s", f"{search['seconds']:.1f} s", f"{search['lost']} of {search['objects']}"])
    measure.print_table("Searches", ["JVM", "ended at minute", "state", "searched", "processor time", "took", "objects without an address"], rows)


def print_look_alikes(title, run, names):
    rows = []
    for name in names:
        kernel = run.kernels[name]
        if kernel.first:
            untrue = sum(1 for other, _, _ in run.untrue if other == name)
            stages = [kernel.minute(stage) for stage in (*STAGES[:2], "pool", "leak")]
            rows.append([name, *stages, untrue, kernel.sentences.get("leak") or kernel.sentences.get("unused", "")])
    measure.print_table(title, ["look-alike", "growing", "unused", "pool", "leak", "untrue", "said at last when unused"], rows)
    if run.untrue:
        measure.print_table(f"{title}: untrue sentences", ["look-alike", "minute", "what is not so"],
                            [(name, f"{minute:.0f}", wrong) for name, minute, wrong in run.untrue])


def print_times(runs):
    """Prints the median and the worst minute of each stage, over all kernels that leak."""
    rows = []
    for name, run in runs.items():
        leaking = JVMS.get(name.split(", ")[-1], LOST_JVM)
        row = [name]
        for stage in STAGES:
            minutes = [run.kernels[kernel].first[stage] for kernel in leaking if stage in run.kernels[kernel].first]
            row.append(f"{len(minutes)} of {len(leaking)}" + (f", {statistics.median(minutes):.1f} / {max(minutes):.1f}" if minutes else ""))
        rows.append(row)
    measure.print_table("Minutes to each stage: median / worst", ["JVM", *STAGES], rows)


def false_leaks(run, leaking):
    return [name or "(no kernel)" for name, kernel in run.kernels.items() if "leak" in kernel.first and name not in leaking]


# ---- Modes ----------------------------------------------------------------------------------------------


def stages(jdks, arguments):
    tasks = {}
    for version, home in jdks.items():
        for jvm, names in JVMS.items():
            name = f"JDK {version}, {jvm}"
            tasks[name] = functools.partial(listen, name, home, names, arguments)
    results = together(tasks, len(tasks))
    runs = {name: run for name, run in results.items() if isinstance(run, Run)}
    targets = []
    for name, reason in results.items():
        if name not in runs:
            print(f"\n{name}: not available: {reason}")
    leaking_runs = {name: run for name, run in runs.items() if not name.endswith("look-alikes")}
    print_times(leaking_runs)
    for name, run in leaking_runs.items():
        leaking = JVMS[name.split(", ")[-1]]
        print_kernels(f"{name}; {run.observation}", run, leaking)
        targets.append(measure.Target(f"{name}: given up while it leaks", 0, sum(len(run.kernels[kernel].given_up) for kernel in leaking)))
        targets.append(measure.Target(f"{name}: others called leak", 0, len(false_leaks(run, leaking))))
    for name, run in runs.items():
        if name not in leaking_runs:
            names = JVMS["look-alikes"]
            print_look_alikes(f"{name}; {len(names)} kernels, {run.judged} call sites; {run.observation}", run, names)
            targets.append(measure.Target(f"{name}: called leak", 0, len(false_leaks(run, []))))
            targets.append(measure.Target(f"{name}: untrue sentences", 0, len(run.untrue)))
            print(f"\nSaid of them: {run.sentences} sentences, {len(run.untrue)} of them untrue. Called leak: " + (", ".join(false_leaks(run, [])) or "none"))
    print_searches(runs)
    targets.append(measure.Target("JVMs without a result", 0, len(results) - len(runs)))
    return targets


def lost(jdks, arguments):
    tasks = {}
    for version, home in jdks.items():
        for collector in COLLECTORS:
            name = f"JDK {version}, {collector}"
            tasks[name] = functools.partial(listen, name, home, LOST_JVM, arguments, [f"-XX:+Use{collector}GC"])
    results = together(tasks, arguments.workers)
    runs = {name: run for name, run in results.items() if isinstance(run, Run)}
    rows, targets = [], []
    for name, run in results.items():
        if name not in runs:
            rows.append([name, f"not available: {run}"])
            continue
        in_time = [kernel for kernel in LOST if is_lost_in_time(run.kernels[kernel])]
        rows.append([name, f"{len(in_time)} of {len(LOST)}", *(run.kernels[kernel].minute("leak") for kernel in LOST_JVM), len(false_leaks(run, LOST_JVM))])
        targets.append(measure.Target(f"{name}: not found lost by minute {LOST_WITHIN_MINUTES}", len(LOST) // 10, len(LOST) - len(in_time)))
    rows = [row + [""] * (len(LOST_JVM) + 3 - len(row)) for row in rows]
    header = ["", f"by minute {LOST_WITHIN_MINUTES}", *(name.partition(".")[2] for name in LOST_JVM), "others called leak"]
    measure.print_table("First minute at leak, lost; the last two hold each other", header, rows)
    print_times(runs)
    print_searches(runs)
    targets.append(measure.Target("JVMs without a result", 0, len(results) - len(runs)))
    return targets


def is_lost_in_time(kernel):
    return kernel.evidence == "lost" and kernel.first["leak"] <= LOST_WITHIN_MINUTES


def parse_arguments():
    parser = argparse.ArgumentParser(prog="benchmarks/leaks/stages.py", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, help="55, or 7 with --lost")
    parser.add_argument("--jdk", type=int, action="append", help="only this version (repeatable)")
    parser.add_argument("--lost", action="store_true", help="kernels that lose memory, under each JDK and collector")
    parser.add_argument("--workers", type=int, default=2, help="so many JVMs at a time with --lost (2)")
    parser.add_argument("--threads", type=int, default=0, help="so many threads wait for work beside the kernels (0)")
    parser.add_argument("--heap", default="256m", help="-Xmx of each JVM (256m)")
    parser.add_argument("--library", type=pathlib.Path, default=measure.LIBRARY, help="another libmallometer.so")
    parser.add_argument("--logs", type=pathlib.Path, help="keep verdicts in this directory; what has a log there is not run again")
    arguments = parser.parse_args()
    if arguments.logs:
        arguments.logs = arguments.logs.resolve()
        arguments.logs.mkdir(parents=True, exist_ok=True)
    arguments.minutes = arguments.minutes or (7 if arguments.lost else 55)
    return arguments


def main():
    arguments = parse_arguments()
    jdks = measure.find_jdks(arguments.jdk or ((17, 21, 25, 26) if arguments.lost else (17, 25)))
    if not jdks:
        sys.exit("no JDK in JAVA_HOME, JDK_HOMES or /usr/lib/jvm")
    title = "Lost memory" if arguments.lost else "Stages of leaks and of look-alikes"
    print(f"## {title}: {arguments.minutes:g} minutes, {arguments.threads} waiting threads, heap of {arguments.heap}\n\n{measure.describe_machine()}", flush=True)
    targets = (lost if arguments.lost else stages)(jdks, arguments)
    measure.print_targets(targets)
    sys.exit(any(target.measured > target.limit for target in targets))


if __name__ == "__main__":
    main()
