#!/usr/bin/env python3
"""Measures when a handler that keeps one Netty buffer in 50 is named, and whether a healthy handler becomes a suspect.

    run.py [--minutes=N] [--healthy-minutes=N] [--together=N] JAVA_HOME...

Runs a leaking handler over each version and kind of Netty's pools, and under Spring WebFlux, for 20 minutes; and for an hour
healthy ones, which keep a buffer for 2 and for 10 minutes; six JVMs at a time. Prints a table in Markdown. The exit status is 1
if a leaking handler is not named with its line, if more than two are named later than after five minutes, if one that ran for
20 minutes is no suspect at the end, if a healthy one is a suspect in the later half, or if the looks use more than 0.5 % of a
processor. One kept buffer is tracked in 64 s on average, so chance names one handler in forty later than five minutes.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure

NETTY = measure.ROOT / "metrics-bridge/core/target/netty"
MATRIX = measure.ROOT / "spring-starter/matrix"
BUILT = measure.TARGET / "pools"
SHADED = "grpc-shaded"
LEAKING = "leaking"
# The copy of Netty, the kind of the pool, and the sampling interval that it gets; Spring Boot brings its own copy.
CASES = (("4.1.121.Final", "pooled", ""), ("4.1.140.Final", "pooled", ""), ("4.1.140.Final", "adaptive", ""),
         ("4.2.20.Final", "pooled", ""), ("4.2.20.Final", "adaptive", ""), (SHADED, "pooled", ""),
         ("boot-3.5", "webflux", ""), ("boot-4.1", "webflux", ""), ("4.1.121.Final", "pooled", "16"))
HEALTHY = (("120", "4.1.121.Final", "pooled", ""), ("120", "4.2.20.Final", "adaptive", ""), ("600", "4.1.140.Final", "pooled", ""))
NAMED_SECONDS = 300
MOST_LATE = 2
SUSPECT_MINUTES = 20
MOST_PERCENT = 0.5
NOT_REACTIVE = re.compile(r"spring-webmvc|tomcat|spring-security|-security-|jersey|devtools|registry-otlp|-tests\.jar")
HEADER = ("| JDK | handler | Netty | pool | interval | minutes | named | first suspect | last suspect | looks, of a processor | longest look"
          " | poller, of a processor |")


def source(kind):
    return HERE / ("WebRequests.java" if kind == "webflux" else "Handler.java")


def kept_line(kind):
    lines = source(kind).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith("// KEEP"))


def web_class_path(boot):
    """Returns the class path of the matrix without servlets and security, with the jar of WebFlux that it leaves out."""
    entries = (MATRIX / boot / "target/page.classpath").read_text().strip().split(":")
    entries += [entry.replace("spring-web/", "spring-webflux/").replace("spring-web-", "spring-webflux-")
                for entry in entries if "/spring-web/" in entry]
    return [entry for entry in entries if not NOT_REACTIVE.search(entry)]


def compiled(netty, kind):
    """Compiles the program against a copy of Netty; returns the class path."""
    if kind == "webflux":
        libraries = web_class_path(netty)
    else:
        libraries = [str(jar) for jar in measure.LIBRARIES.glob("*.jar") if not jar.name.startswith("netty-")]
        libraries.append(str(NETTY / netty / "*"))
    classes = BUILT / netty
    if not classes.exists():
        sources = classes / "sources"
        sources.mkdir(parents=True)
        for name in {"Handler.java", source(kind).name}:
            text = (HERE / name).read_text()
            (sources / name).write_text(text.replace("io.netty", "io.grpc.netty.shaded.io.netty") if netty == SHADED else text)
        subprocess.run(["javac", "--release", "17", "-proc:none", "-nowarn", "-d", classes, "-cp", ":".join(libraries),
                        *sources.glob("*.java")], check=True)
    return ":".join([str(classes), *libraries])


def run(home, behaviour, case, minutes):
    netty, kind, interval = case
    command = [f"{home}/bin/java", "-Xmx128m", "-XX:MaxDirectMemorySize=300m", "-XX:+IgnoreUnrecognizedVMOptions",
               "--enable-native-access=ALL-UNNAMED", "-cp", compiled(netty, kind),
               "io.mallometer.benchmarks.pools.Handler", behaviour, kind, str(minutes), *filter(None, [interval])]
    return subprocess.run(command, env=dict(os.environ, LD_PRELOAD=str(measure.LIBRARY)), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60 * minutes + 300, check=False).stdout


def first(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return float(found.group(1)) if found else None


def seconds(value):
    return "never" if value is None else f"{value:.0f} s"


def figure(name, unit, digits, text):
    """Returns a figure of the last line; a dash if the program did not get there."""
    value = first(rf"{name}=([\d.]+)", text)
    return "-" if value is None else f"{value:.{digits}f}{unit}"


def suspected(text):
    """Returns the seconds at which the line of the store is a suspect."""
    return [float(found) for found in re.findall(r"^ *(\d+) s suspect: Buffers from \S*SessionStore\.keep ", text, re.MULTILINE)]


def named(kind, text):
    place = f"{source(kind).name}:{kept_line(kind)}"
    return first(rf"^ *(\d+) s held: .*SessionStore\.keep\({re.escape(place)}\)", text)


def judge(behaviour, kind, text, minutes):
    """Returns the columns of a row, and the list of what is wrong."""
    since = named(kind, text)
    suspect = suspected(text)
    percent = first(r"looks=([\d.]+)", text)
    wrong = []
    if behaviour == LEAKING and since is None:
        wrong.append("is not named")
    if behaviour == LEAKING and minutes >= SUSPECT_MINUTES and not any(second >= 60 * minutes - 120 for second in suspect):
        wrong.append("is no suspect at the end")
    if behaviour != LEAKING and any(second >= 30 * minutes for second in suspect):
        wrong.append("is a suspect")
    if percent is None or percent > MOST_PERCENT:
        wrong.append("uses too much of a processor, or did not end")
    return [str(minutes), seconds(since), seconds(suspect[0] if suspect else None), seconds(suspect[-1] if suspect else None),
            figure("looks", " %", 2, text), figure("longest-look", " ms", 0, text), figure("poller", " %", 2, text)], wrong


def late(rows):
    """Returns a fault if too many leaking handlers were named late."""
    times = [since for since in rows if since is not None and since > NAMED_SECONDS]
    return [f"{len(times)} leaking handlers are named later than after {NAMED_SECONDS} s"] if len(times) > MOST_LATE else []


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=int, default=SUSPECT_MINUTES)
    parser.add_argument("--healthy-minutes", type=int, default=60)
    parser.add_argument("--together", type=int, default=6)
    parser.add_argument("homes", nargs="+")
    options = parser.parse_args(arguments)
    # The long runs come first.
    tasks = [(home, healthy[0], healthy[1:], options.healthy_minutes) for home in options.homes for healthy in HEALTHY]
    tasks += [(home, LEAKING, case, options.minutes) for home in options.homes for case in CASES]
    for _, _, (netty, kind, _), _ in tasks:
        compiled(netty, kind)
    complaints, named_after = [], []
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    with concurrent.futures.ThreadPoolExecutor(options.together) as pool:
        for (home, behaviour, case, minutes), text in zip(tasks, pool.map(lambda task: run(*task), tasks)):
            name = (str(measure.java_version(pathlib.Path(home))), behaviour, *case)
            columns, wrong = judge(behaviour, case[1], text, minutes)
            if behaviour == LEAKING:
                named_after.append(named(case[1], text))
            print("| " + " | ".join([*name, *columns]) + " |", flush=True)
            complaints += [f"{' '.join(name)} {complaint}" for complaint in wrong]
    complaints += late(named_after)
    print("\n".join(["", *complaints]))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
