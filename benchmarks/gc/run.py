#!/usr/bin/env python3
"""Tests whether garbage that waits for a collection is recognized, and whether its amount is predicted.

    run.py [--seconds=N] [--jobs=N] [--programs=A,B] [--collectors=G1GC,SerialGC] RESULTS JAVA_HOME...

Runs each program under each collector and JDK, `jobs` JVMs at a time (two). RESULTS is a directory; a run whose record is there is not
repeated. Prints tables in Markdown. The exit status is 1 if a leak or a live cache is called waits_for_gc.

An amount is the last one stated before an old collection, or before the program's end, which collects. It is compared with the garbage at
that moment by the program's own count, if that is at least 128 sample intervals, and is right within 20 % of it.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure

CORE = measure.ROOT / "metrics-bridge/core/target/classes"
LIBRARIES = ("net.java.dev.jna:jna:${jna.version}", "org.jspecify:jspecify:${jspecify.version}")
# Options that make old collections come every 5 to 30 s. A young collection twice a second moves what is alive into the old generation.
YOUNG = ("-Xmx96m", "-Xmn8m", "-XX:MaxTenuringThreshold=0")
COLLECTORS = {
    "G1GC": (*YOUNG, "-XX:-G1UseAdaptiveIHOP", "-XX:InitiatingHeapOccupancyPercent=70"),
    "ParallelGC": YOUNG, "SerialGC": YOUNG,
    # This keeps soft references for some 50 s.
    "ZGC": ("-Xmx160m", "-XX:SoftRefLRUPolicyMSPerMB=400"),
}
# The programs by name: what they make, how they keep it, and whether the verdict waits_for_gc is right.
PROGRAMS = {
    "inflater kept 10 s": ("inflater", "aged", True), "deflater kept 10 s": ("deflater", "aged", True),
    "direct buffer kept 10 s": ("direct", "aged", True), "cleaner kept 10 s": ("cleaner", "aged", True),
    "owner kept 10 s": ("owner", "aged", True),
    "inflater kept 0.25 s": ("inflater", "short", True), "direct buffer kept 0.25 s": ("direct", "short", True),
    "inflater dropped": ("inflater", "dropped", True), "deflater dropped": ("deflater", "dropped", True),
    "direct buffer dropped": ("direct", "dropped", True),
    "direct buffers kept 30 s": ("direct", "lru", True),
    "inflater leaks": ("inflater", "leaked", False), "deflater leaks": ("deflater", "leaked", False),
    "direct buffer leaks": ("direct", "leaked", False), "one in two leaks": ("direct", "half", False),
    "one in ten leaks": ("direct", "tenth", False),
    "list is filled": ("deflater", "filled", False), "soft cache": ("direct", "soft", False),
    "weak cache": ("direct", "weak", True), "bounded cache closes": ("deflater", "bounded", False),
    "no collection": ("direct", "dropped", False),
}
# The bytes of one object: a thousandth of what 1,000 of them added to the live bytes of a process without other work.
SIZES = {"inflater": 7_280, "owner": 7_280, "deflater": 268_260, "cleaner": 268_260, "direct": 32_776}
SITE = re.compile(r"^site (?P<at>[\d.]+) (?P<verdict>\w+) (?P<answer>\w+) (?P<bytes>\d+) (?P<low>\d+) (?P<high>\d+) (?P<rate>\d+) "
                  r"(?P<old>\d+) (?P<since>[\d.]+|NaN) (?P<live>\d+) (?P<made>\d+) (?P<closed>\d+) (?P<dropped>\d+) (?P<collected>\d+) "
                  r"\| (?P<sentence>.*)$", re.MULTILINE)
END = re.compile(r"^end -?\d+ \d+ (?P<old>\d+)$", re.MULTILINE)
SAMPLE_INTERVAL = 8 << 10
LEAST_TRUTH = 128 * SAMPLE_INTERVAL
# An evaluation has an amount if the stacks with a stated amount have this share of its bytes.
MOST = 0.9


def classpath(classes):
    return f"{CORE}:{classes}:{measure.artifacts('gc', LIBRARIES)}"


def run(home, collector, program, seconds, classes, record):
    if record.exists():
        return
    what, how, _ = PROGRAMS[program]
    command = [f"{home}/bin/java", f"-XX:+Use{collector}", *COLLECTORS[collector], "-XX:MaxDirectMemorySize=1g",
               "-XX:+IgnoreUnrecognizedVMOptions", "--enable-native-access=ALL-UNNAMED", "-cp", classpath(classes),
               "Garbage", what, how, str(seconds)] + (["without collections"] if program == "no collection" else [])
    environment = dict(os.environ, LD_PRELOAD=str(measure.LIBRARY), MALLOMETER_OVERHEAD_TARGET="off",
                       MALLOMETER_SAMPLE_INTERVAL=str(SAMPLE_INTERVAL))
    text = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=seconds + 120, check=False).stdout
    record.with_suffix(".part").write_text(text)
    record.with_suffix(".part").rename(record)


class Evaluation:
    """One evaluation: the sums over the stacks that make the objects, and the program's own counts."""

    def __init__(self, stacks):
        self.stacks = stacks
        self.largest = max(stacks, key=lambda stack: float(stack["live"]))
        self.old = int(self.largest["old"])
        self.live = self.sum("live")
        made, closed, dropped, collected = (int(self.largest[name]) for name in ("made", "closed", "dropped", "collected"))
        self.objects, self.garbage = made - closed - collected, max(0, dropped - collected)
        told = [stack for stack in stacks if stack["answer"] == "old"]
        self.has_amount = sum(float(stack["live"]) for stack in told) > MOST * self.live
        self.waits = any(stack["verdict"] == "waits_for_gc" for stack in stacks)

    def sum(self, name):
        return sum(float(stack[name]) for stack in self.stacks)


def evaluations(text):
    """Returns the evaluations of a run, except those that report the same collections as the one before."""
    by_time = collections.defaultdict(list)
    for found in SITE.finditer(text):
        by_time[found["at"]].append(found.groupdict())
    told = {}
    for one in map(Evaluation, by_time.values()):
        told.setdefault((one.old, one.largest["since"]), one)
    return list(told.values())


def amounts(rows, size):
    """Returns the amounts that were stated last before each old collection: amount, low, high, and the garbage at that time, in bytes."""
    return [(before.sum("bytes"), before.sum("low"), before.sum("high"), size * before.garbage)
            for before, after in zip(rows, [*rows[1:], None])
            if before.has_amount and (after is None or after.old > before.old) and size * before.garbage >= LEAST_TRUTH]


class Outcome:
    """The result of a run."""

    def __init__(self, program, text):
        rows = evaluations(text)
        found = amounts(rows, SIZES[PROGRAMS[program][0]])
        self.count = len(found)
        self.right = sum(abs(amount - truth) <= 0.2 * truth for amount, _, _, truth in found)
        self.inside = sum(low <= truth <= high for _, low, high, truth in found)
        waits = next((one.old for one in rows if one.waits), None)
        self.wrong = waits is not None and not PROGRAMS[program][2]
        if not rows:
            self.cells = ["no site", "-", "-", "-"]
            self.sentence = (text.strip().splitlines() or ["no output"])[-1]
            return
        answer = next((one.old for one in rows if one.has_amount), None)
        ended = END.search(text)
        self.cells = [ended["old"] if ended else "-", "-" if answer is None else f"{answer}", "-" if waits is None else f"{waits}",
                      f"{self.right} of {self.count}" if found else "-"]
        self.sentence = max(reversed(rows), key=lambda one: (one.waits, one.has_amount)).largest["sentence"]


def main(arguments):
    seconds, jobs, programs, collectors = 180, 2, list(PROGRAMS), list(COLLECTORS)
    while arguments and arguments[0].startswith("--"):
        name, value = arguments.pop(0)[2:].split("=")
        if name == "seconds":
            seconds = int(value)
        elif name == "jobs":
            jobs = int(value)
        elif name == "programs":
            programs = value.split(",")
        else:
            collectors = value.split(",")
    if len(arguments) < 2:
        sys.exit(__doc__)
    results, homes = pathlib.Path(arguments[0]), arguments[1:]
    results.mkdir(parents=True, exist_ok=True)
    classes = results / "classes"
    measure.compile_java(homes[0], [HERE / "Garbage.java"], classes, classpath(classes))
    runs = [(home, collector, program, results / f"{pathlib.Path(home).name}-{collector}-{program.replace(' ', '_')}.txt")
            for home in homes for program in programs for collector in collectors]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda one: run(*one[:3], seconds, classes, one[3]), runs))
    return show(programs, collectors, homes, {one[:3]: Outcome(one[2], one[3].read_text()) for one in runs})


def totals(outcomes):
    return f"{sum(one.right for one in outcomes)} of {sum(one.count for one in outcomes)}"


def show(programs, collectors, homes, outcomes):
    names = [pathlib.Path(home).name for home in homes]
    print("| program | collector | " + " | ".join(f"{name}: old collections | amount after | waits_for_gc after | amounts within 20 %"
                                                 for name in names) + " |")
    print("|---|---|" + "---|" * 4 * len(homes))
    for program in programs:
        for collector in collectors:
            cells = [cell for home in homes for cell in outcomes[home, collector, program].cells]
            print(f"| {program} | {collector[:-2]} | " + " | ".join(cells) + " |")
    print("\n| amounts within 20 % | " + " | ".join(collector[:-2] for collector in collectors) + " | all |\n|" + "---|" * (len(collectors) + 2))
    for program in programs:
        row = [[outcomes[home, collector, program] for home in homes] for collector in collectors]
        if any(one.count for cell in row for one in cell):
            print(f"| {program} | " + " | ".join(totals(cell) for cell in row) + f" | {totals(sum(row, []))} |")
    every = list(outcomes.values())
    wrong = [key for key, one in outcomes.items() if one.wrong]
    print(f"\n{len(every)} runs, {len(wrong)} with a wrong verdict; {totals(every)} amounts within 20 %; "
          f"{sum(one.inside for one in every)} in their interval.\n")
    for program in programs:
        print(f"- {program}: {outcomes[homes[-1], collectors[0], program].sentence}")
    for _, collector, program in wrong:
        print(f"- {program} with {collector} is called waits_for_gc")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
