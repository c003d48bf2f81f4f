"""Measures what mallometer adds to the start of a JVM: a program that prints a line, without and with the preload and the agent.

Each sample is the difference to plain in the same round: the time until the program's main method has printed its line, which is how long
the application waits; and the CPU time of all threads of the process until the agent has printed its line, too. `an agent that does
nothing` shows the cost of any agent to the JVM itself.

A second program does the same work in each run for nine seconds (FirstSeconds.java). The processor time of its process after
ten seconds, by thread, is compared with plain in the same round: it holds the bridge's start, its first two polls, and what
the JVM's compilers do with both.
"""

import argparse
import dataclasses
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure
from measure import Target

OPTIONS = ("-XX:+UseSerialGC", "-Xms256m", "-Xmx256m")
OPTIONS_SINCE_24 = ("--enable-native-access=ALL-UNNAMED",)

PROGRAM = """
public final class Hello {
  public static void main(String[] arguments) throws java.io.IOException {
    System.out.println("hello");
    System.in.read();
  }

  public static void premain(String options, java.lang.instrument.Instrumentation unused) {}
}
"""

REFERENCE = "plain"
PRELOAD = "preload"
EMPTY = "an agent that does nothing"
WITH_AGENT = "preload and agent"
WITH_SERVER = "preload, agent and port"
CONTROL = "plain, again"

PROGRAM_OF_SECONDS = "FirstSeconds"
SECONDS = 10
# Threads by the beginnings of their names. Threads that have ended are only in the sum of all.
THREADS = {
    "mallometer-start": ("mallometer-star",),
    "mallometer-poller": ("mallometer-poll",),
    "mallometer's others": ("mallometer",),
    "compilers": ("C1 ", "C2 "),
    "the program": ("java", "main"),
    "others": ("",),
}
ALL = "all"


@dataclasses.dataclass(frozen=True)
class Sample:
    cpu: float
    main: float
    counts: float


def compile_program(home, directory):
    """Returns the program's class path and a jar in which it is an agent, too."""
    source = directory / "Hello.java"
    source.write_text(PROGRAM)
    manifest = directory / "manifest"
    manifest.write_text("Premain-Class: Hello\n")
    subprocess.run([home / "bin/javac", "--release", "17", "-d", directory, source], check=True)
    jar = directory / "empty.jar"
    subprocess.run([home / "bin/jar", "cfm", jar, manifest, "-C", directory, "Hello.class"], check=True)
    return directory, jar


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def variants(library, empty):
    preload = {"LD_PRELOAD": str(library), "MALLOMETER_ONLY": "java"}
    return {
        REFERENCE: ((), {}),
        PRELOAD: ((), preload),
        EMPTY: ((f"-javaagent:{empty}",), {}),
        WITH_AGENT: ((f"-javaagent:{measure.AGENT}",), preload),
        WITH_SERVER: ((f"-javaagent:{measure.AGENT}=port={free_port()}",), preload),
        CONTROL: ((), {}),
    }


def run_once(version, home, classes, options, environment):
    command = [home / "bin/java", *OPTIONS, *(OPTIONS_SINCE_24 if version >= 24 else ()), *options]
    cpu, began = measure.children_cpu_seconds(), time.monotonic()
    with subprocess.Popen([*command, "-cp", classes, "Hello"], env=measure.clean_environment(environment),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        program.stdout.readline()
        main = time.monotonic() - began
        if str(measure.AGENT) in " ".join(options):
            line = program.stderr.readline()
            if "counts native memory" not in line:
                program.kill()
                raise SystemExit(f"bin/bench start: the agent does not count: {line}")
        counts = time.monotonic() - began
        program.stdin.close()
    return Sample(measure.children_cpu_seconds() - cpu, main, counts)


def thread_seconds(pid):
    """Returns the CPU seconds by kind of thread, and those of the process with the threads that have ended."""
    seconds = dict.fromkeys(THREADS, 0)
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            name, times = (task / "comm").read_text(), (task / "schedstat").read_text()
        except OSError:
            continue  # the thread has just ended
        kind = next(kind for kind, names in THREADS.items() if name.startswith(names))
        seconds[kind] += int(times.split()[0]) / 1e9
    _, _, after = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    ticks = sum(int(field) for field in after.split()[11:13])
    return seconds | {ALL: ticks / os.sysconf("SC_CLK_TCK")}


def run_seconds(version, home, classes, options, environment):
    command = [home / "bin/java", *OPTIONS, *(OPTIONS_SINCE_24 if version >= 24 else ()), *options]
    began = time.monotonic()
    with subprocess.Popen([*command, "-cp", classes, PROGRAM_OF_SECONDS], env=measure.clean_environment(environment),
                          stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        time.sleep(max(0, began + SECONDS - time.monotonic()))
        seconds = thread_seconds(program.pid)
        program.stdin.close()
    return seconds


def run_all_seconds(jdks, rounds, library, directory):
    """Returns, by JDK and variant, the seconds by kind of thread, one dictionary for each round."""
    home = next(iter(jdks.values()))
    source = HERE / f"{PROGRAM_OF_SECONDS}.java"
    subprocess.run([home / "bin/javac", "--release", "17", "-d", directory, source], check=True)
    chosen = {name: variant for name, variant in variants(library, "").items()
              if name in (REFERENCE, PRELOAD, WITH_AGENT, CONTROL)}
    samples = {}
    for number in range(rounds):
        measure.progress(f"first seconds, round {number + 1} of {rounds}")
        for version, home in jdks.items():
            for name, (options, environment) in chosen.items():
                seconds = run_seconds(version, home, directory, options, environment)
                samples.setdefault((version, name), []).append(seconds)
    return samples


def added_seconds(samples, version, name, kind):
    """Milliseconds more than plain."""
    pairs = zip(samples[version, name], samples[version, REFERENCE])
    return measure.spread([1e3 * (ours[kind] - plain[kind]) for ours, plain in pairs])


def print_seconds(version, rounds, samples):
    names = [name for known, name in samples if known == version]
    rows = [[kind, milliseconds(measure.spread([1e3 * one[kind] for one in samples[version, REFERENCE]])),
             *(milliseconds(added_seconds(samples, version, name, kind)) for name in names[1:])]
            for kind in (ALL, *THREADS)]
    title = f"JDK {version}: processor milliseconds of the first {SECONDS} seconds; plain, and more than plain, " \
            f"median of {rounds} pairs (quartiles)"
    measure.print_table(title, ["threads", *names], rows)


def run_all(jdks, rounds, library, directory):
    """Returns, by JDK and variant, the samples, one for each round."""
    classes, empty = compile_program(next(iter(jdks.values())), directory)
    samples = {}
    for number in range(rounds):
        measure.progress(f"round {number + 1} of {rounds}")
        for version, home in jdks.items():
            for name, (options, environment) in variants(library, empty).items():
                sample = run_once(version, home, classes, options, environment)
                samples.setdefault((version, name), []).append(sample)
    return samples


def added(samples, version, name, figure):
    """Milliseconds more than plain."""
    pairs = zip(samples[version, name], samples[version, REFERENCE])
    return measure.spread([1e3 * (getattr(ours, figure) - getattr(plain, figure)) for ours, plain in pairs])


def milliseconds(spread):
    return f"{spread.median:.0f} ({spread.low:.0f} to {spread.high:.0f})"


def print_jdk(version, rounds, samples):
    rows = []
    names = [name for known, name in samples if known == version]
    figures = [field.name for field in dataclasses.fields(Sample)]
    for name in names:
        if name == REFERENCE:
            spreads = [measure.spread([1e3 * getattr(one, figure) for one in samples[version, name]])
                       for figure in figures]
        else:
            spreads = [added(samples, version, name, figure) for figure in figures]
        rows.append([name, *map(milliseconds, spreads)])
    title = f"JDK {version}: milliseconds more than plain, median of {rounds} pairs (quartiles)"
    measure.print_table(title, ["start of a JVM", "processor time", "until main runs", "until the agent's line"], rows)


def targets(jdks, samples, seconds):
    until_main = [Target(f"JDK {version}, start with {name}, until main runs", 150,
                         added(samples, version, name, "main").median, " ms")
                  for version in jdks for name in (WITH_AGENT, WITH_SERVER)]
    start = [Target(f"JDK {version}, start with {WITH_AGENT}, processor time", 100,
                    added(samples, version, WITH_AGENT, "cpu").median, " ms", gate=True) for version in jdks]
    first = [Target(f"JDK {version}, first {SECONDS} seconds with {WITH_AGENT}, processor time", 400,
                    added_seconds(seconds, version, WITH_AGENT, ALL).median, " ms", gate=True) for version in jdks if seconds]
    return until_main + start + first


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bin/bench start", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="5 rounds")
    parser.add_argument("--rounds", type=int, help="rounds to run (21; 5 with --quick)")
    parser.add_argument("--seconds-rounds", type=int, help="rounds of the first seconds (10; 3 with --quick; 0 for none)")
    parser.add_argument("--jdk", type=int, action="append", help="only this version (repeatable; 17 and 25)")
    parser.add_argument("--library", type=pathlib.Path, default=measure.LIBRARY, help="another libmallometer.so")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    rounds = arguments.rounds or (5 if arguments.quick else 21)
    rounds_of_seconds = arguments.seconds_rounds
    if rounds_of_seconds is None:
        rounds_of_seconds = 3 if arguments.quick else 10
    jdks = measure.find_jdks(arguments.jdk or (17, 25))
    if not jdks:
        sys.exit("bin/bench start: no JDK 17 or 25 in JAVA_HOME, JDK_HOMES or /usr/lib/jvm")
    print(f"## bin/bench start\n\n{measure.describe_machine()}")
    with tempfile.TemporaryDirectory(prefix="mallometer-bench-") as directory:
        library = arguments.library.resolve()
        samples = run_all(jdks, rounds, library, pathlib.Path(directory))
        seconds = run_all_seconds(jdks, rounds_of_seconds, library, pathlib.Path(directory))
    for version in jdks:
        print_jdk(version, rounds, samples)
        if seconds:
            print_seconds(version, rounds_of_seconds, seconds)
    checked = targets(jdks, samples, seconds)
    measure.print_targets(checked)
    if not all(target.is_met() for target in checked if target.gate):
        sys.exit("bin/bench start: a gate is missed")


if __name__ == "__main__":
    main()
