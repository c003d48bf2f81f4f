#!/usr/bin/env python3
"""Whether garbage that waits for a collection is recognized, and its amount predicted.

    run.py [--seconds=N] [--jobs=N] [--programs=A,B] [--collectors=G1GC,SerialGC] RESULTS JAVA_HOME...

Runs each program under each collector and JDK, `jobs` JVMs at a time (two). RESULTS is a directory: a run that is recorded there is not
repeated. Prints a table in Markdown. The exit status is 1 if a leak or a live cache is called waits_for_gc.
"""
import concurrent.futures
import os
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure

CORE = measure.ROOT / "metrics-bridge/core/target/classes"
LIBRARIES = ("net.java.dev.jna:jna:${jna.version}", "org.jspecify:jspecify:${jspecify.version}")
COLLECTORS = ("G1GC", "ZGC", "ParallelGC", "SerialGC")
# Name: what is made, how it is kept, and whether the verdict waits_for_gc is true.
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
SITE = re.compile(r"^site (?P<at>[\d.]+) (?P<verdict>\w+) (?P<answer>\w+) (?P<bytes>\d+) (?P<low>\d+) (?P<high>\d+) (?P<rate>\d+) "
                  r"(?P<old>\d+) (?P<since>[\d.]+|NaN) (?P<live>\d+) (?P<made>\d+) (?P<closed>\d+) (?P<dropped>\d+) (?P<collected>\d+) "
                  r"\| (?P<sentence>.*)$", re.MULTILINE)
LEAST_TRUTH = 1 << 20
# The right amounts and all of each run.
TOTALS = []


def classpath(classes):
    return f"{CORE}:{classes}:{measure.artifacts('gc', LIBRARIES)}"


def run(home, collector, program, seconds, classes, record):
    if record.exists():
        return
    what, how, _ = PROGRAMS[program]
    command = [f"{home}/bin/java", f"-XX:+Use{collector}", "-Xmx96m", "-XX:MaxDirectMemorySize=1g",
               # A young collection twice a second moves what it finds alive into the old generation.
               *([] if collector == "ZGC" else ["-Xmn8m", "-XX:MaxTenuringThreshold=0"]),
               "-XX:+IgnoreUnrecognizedVMOptions", "--enable-native-access=ALL-UNNAMED", "-cp", classpath(classes),
               "Garbage", what, how, str(seconds)] + (["without collections"] if program == "no collection" else [])
    environment = dict(os.environ, LD_PRELOAD=str(measure.LIBRARY), MALLOMETER_OVERHEAD_TARGET="off", MALLOMETER_SAMPLE_INTERVAL="32768")
    text = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=seconds + 120, check=False).stdout
    record.with_suffix(".part").write_text(text)
    record.with_suffix(".part").rename(record)


def objects(site):
    """Returns the objects that exist, and those of them that are garbage, by the program's own books."""
    made, closed, dropped, collected = (int(site[name]) for name in ("made", "closed", "dropped", "collected"))
    return made - closed - collected, max(0, dropped - collected)


def predictions(rows):
    """Returns the amounts stated last before each old collection, and what was garbage then, both in bytes.

    The books count objects. One has the bytes that the site had for each object, over all rows.
    """
    known = [site for site in rows if objects(site)[0] >= 100]
    if not known:
        return []
    size = statistics.median(float(site["live"]) / objects(site)[0] for site in known)
    found = []
    for before, after in zip(rows, rows[1:]):
        truth = size * objects(before)[1]
        if before["answer"] == "old" and int(after["old"]) > int(before["old"]) and truth >= LEAST_TRUTH:
            found.append((float(before["bytes"]), truth))
    return found


def row(program, text):
    by_time = {}
    for found in SITE.finditer(text):
        site = found.groupdict()
        if site["at"] not in by_time or float(site["live"]) > float(by_time[site["at"]]["live"]):
            by_time[site["at"]] = site
    rows = list(by_time.values())
    waits = [site for site in rows if site["verdict"] == "waits_for_gc"]
    amounts = predictions(rows)
    right = sum(abs(amount - truth) <= 0.2 * truth for amount, truth in amounts)
    wrong = bool(waits) and not PROGRAMS[program][2]
    if not rows:
        return ["-", "no site", "-", "-", "-", "-", (text.strip().splitlines() or ["no output"])[-1]], wrong
    last = rows[-1]
    existing, garbage = objects(last)
    TOTALS.append((right, len(amounts)))
    return [last["old"], last["verdict"], last["answer"], f"{garbage} of {existing}", waits[0]["old"] if waits else "-",
            f"{right} of {len(amounts)}" if amounts else "-", last["sentence"]], wrong


def main(arguments):
    seconds, jobs, programs, collectors = 180, 2, list(PROGRAMS), COLLECTORS
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
            for program in programs for collector in collectors for home in homes]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda one: run(*one[:3], seconds, classes, one[3]), runs))
    complaints = []
    print("| program | JDK | collector | old collections | last verdict | last answer | garbage at the end, by the program's books | "
          "collections until waits_for_gc | amounts within 20 % | sentence |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for home, collector, program, record in runs:
        columns, wrong = row(program, record.read_text())
        print("| " + " | ".join(map(str, (program, pathlib.Path(home).name, collector, *columns))) + " |", flush=True)
        if wrong:
            complaints.append(f"{program} with {collector} is called waits_for_gc")
    print(f"\n{sum(right for right, _ in TOTALS)} of {sum(count for _, count in TOTALS)} amounts are within 20 % of the program's books.")
    print("\n".join(["", *complaints]))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
