#!/usr/bin/env python3
"""When a handler that keeps one Netty buffer in 50 is named, and whether a healthy handler is a suspect.

    run.py [--minutes=N] JAVA_HOME...

Runs a leaking handler and two healthy ones, which keep a buffer for 2 and for 10 minutes, pooled and adaptive, on each JDK at
the same time, 40 minutes by default. Prints a table in Markdown. The exit status is 1 if a leaking handler is not named with its
line within five minutes or is no suspect at the end, if a healthy one is a suspect in the later half, or if the looks use more
than 0.5 % of a processor.
"""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure

SOURCE = HERE / "Handler.java"
NAMED_SECONDS = 300
BEHAVIOURS = ("leaking", "120", "600")
MOST_PERCENT = 0.5


def kept_line():
    lines = SOURCE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith("// KEEP"))


def version(home):
    return str(measure.java_version(pathlib.Path(home)))


def start(home, behaviour, kind, minutes):
    command = [f"{home}/bin/java", "-Xmx128m", "-XX:MaxDirectMemorySize=300m", "-XX:+IgnoreUnrecognizedVMOptions",
               "--enable-native-access=ALL-UNNAMED", "-cp", measure.CLASS_PATH,
               "io.mallometer.benchmarks.pools.Handler", behaviour, kind, str(minutes)]
    return subprocess.Popen(command, env=dict(os.environ, LD_PRELOAD=str(measure.LIBRARY)), stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def first(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return float(found.group(1)) if found else None


def seconds(value):
    return "never" if value is None else f"{value:.0f} s"


def suspected(text):
    """Returns the seconds at which the line of the store is a suspect."""
    return [float(found) for found in re.findall(r"^ *(\d+) s suspect: Buffers from \S*SessionStore\.keep ", text, re.MULTILINE)]


def judge(behaviour, text, minutes):
    """Returns the columns of a row, and what is wrong."""
    named = first(rf"^ *(\d+) s held: .*SessionStore\.keep\(Handler\.java:{kept_line()}\)", text)
    suspect = suspected(text)
    percent = first(r"looks=([\d.]+)", text)
    wrong = []
    if behaviour == "leaking" and (named is None or named > NAMED_SECONDS):
        wrong.append("is not named in time")
    if behaviour == "leaking" and not any(second >= 60 * minutes - 120 for second in suspect):
        wrong.append("is no suspect at the end")
    if behaviour != "leaking" and any(second >= 30 * minutes for second in suspect):
        wrong.append("is a suspect")
    if percent is None or percent > MOST_PERCENT:
        wrong.append("uses too much of a processor, or did not end")
    return [seconds(named), seconds(suspect[0] if suspect else None), seconds(suspect[-1] if suspect else None),
            "-" if percent is None else f"{percent:.2f} %"], wrong


def main(arguments):
    minutes = 40
    if arguments and arguments[0].startswith("--minutes="):
        minutes = int(arguments.pop(0).split("=")[1])
    if not arguments:
        sys.exit(__doc__)
    started = [((version(home), behaviour, kind), start(home, behaviour, kind, minutes))
               for home in arguments for behaviour in BEHAVIOURS for kind in ("pooled", "adaptive")]
    complaints = []
    print("| JDK | handler | pool | named | first suspect | last suspect | looks, of a processor |\n|---|---|---|---|---|---|---|")
    for name, process in started:
        text = process.communicate(timeout=60 * minutes + 120)[0]
        columns, wrong = judge(name[1], text, minutes)
        print("| " + " | ".join([*name, *columns]) + " |")
        complaints += [f"{' '.join(name)} {complaint}" for complaint in wrong]
    print("\n".join(["", *complaints]))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
