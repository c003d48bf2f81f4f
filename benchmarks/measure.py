"""Functions that all benchmarks share: they run commands, compare paired samples, and print tables.

The machines are shared and their speed drifts, so no result depends on a single time. Variants run in turn (A B C A B C ...), every sample
is divided by the reference sample of its own round, and the median of these ratios is reported with its quartiles. A reference that runs a
second time in each round shows the noise alone.
"""

import contextlib
import dataclasses
import datetime
import glob
import importlib.util
import math
import os
import pathlib
import platform
import random
import resource
import statistics
import subprocess
import sys
import threading
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = HERE / "target"
LIBRARY = ROOT / "interposer/target/native/linux-x86-64/libmallometer.so"
AGENT = ROOT / "metrics-bridge/agent/target/mallometer-agent.jar"
# The directories with the output of build().
CLASSES, LIBRARIES = TARGET / "classes", TARGET / "lib"
CLASS_PATH = f"{CLASSES}:{LIBRARIES}/*"
ASYNC_PROFILER_VERSION = "4.6"
# The number of draws of a bootstrap, and the confidence of its intervals.
RESAMPLES = 1000
CONFIDENCE = 0.95


class Unavailable(Exception):
    """Says that a variant cannot be measured here; the message has the reason."""


@dataclasses.dataclass(frozen=True)
class Spread:
    """A median and the quartiles of the same samples."""

    median: float
    low: float
    high: float

    def __str__(self):
        return f"{self.median:.2f} ({self.low:.2f}-{self.high:.2f})"


def spread(samples):
    if len(samples) < 2:
        return Spread(samples[0], samples[0], samples[0])
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Spread(median, low, high)


def clean_environment(extra):
    """Returns the environment without the caller's preloads and settings, which must not reach the measured program."""
    keep = ("PATH", "HOME", "LANG", "TMPDIR")
    return {name: os.environ[name] for name in keep if name in os.environ} | extra


def run(command, environment, directory, timeout=300, threads=None):
    """Runs a command; returns its standard output and its standard error. `threads` are ThreadTimes that observe it, if there are any."""
    with subprocess.Popen(
        [str(part) for part in command],
        env=clean_environment(environment),
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            with threads.of(process.pid) if threads else contextlib.nullcontext():
                output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as expired:
            process.kill()
            raise Unavailable(f"no end after {expired.timeout:.0f} s") from None
    if process.returncode != 0:
        last = (errors.strip() or "no message").splitlines()[-1]
        raise Unavailable(f"exit code {process.returncode}: {last}")
    return output, errors


class ThreadTimes:
    """The CPU seconds of a process's threads by name, each as of the last fifth of a second of its life."""

    PAUSE = 0.2

    def __init__(self):
        self.seconds = {}

    @contextlib.contextmanager
    def of(self, pid):
        ended, last = threading.Event(), {}
        looking = threading.Thread(target=self._look, args=(pid, ended, last))
        looking.start()
        try:
            yield
        finally:
            ended.set()
            looking.join()
            for name, seconds in last.values():
                self.seconds[name] = self.seconds.get(name, 0) + seconds

    def _look(self, pid, ended, last):
        tick = os.sysconf("SC_CLK_TCK")
        while not ended.wait(self.PAUSE):
            for task in glob.glob(f"/proc/{pid}/task/*/stat"):
                try:
                    before, _, after = pathlib.Path(task).read_text().rpartition(")")
                except OSError:
                    continue
                times = after.split()
                last[task] = (before.partition("(")[2], (int(times[11]) + int(times[12])) / tick)


class ThreadShares(ThreadTimes):
    """A measurement that also has, by thread name, the share of a processor in each whole minute."""

    PAUSE = 1

    def __init__(self):
        super().__init__()
        self.looks = []

    def _look(self, pid, ended, last):
        begin, spent = time.monotonic(), {}
        while not ended.wait(self.PAUSE):
            sums = {}
            for task in glob.glob(f"/proc/{pid}/task/*"):
                try:
                    name = pathlib.Path(task, "comm").read_text().strip()
                    spent[task] = name, int(pathlib.Path(task, "schedstat").read_text().split()[0]) / 1e9
                except OSError:
                    continue
            for name, seconds in spent.values():
                sums[name] = sums.get(name, 0) + seconds
            self.looks.append((time.monotonic() - begin, sums))
        last.update(spent)

    def minutes(self):
        """Returns the shares of each thread name, minute by minute."""
        shares, (since, before) = {}, (0, {})
        for at, sums in self.looks:
            if at - since >= 60:
                for name, seconds in sums.items():
                    shares.setdefault(name, []).append((seconds - before.get(name, 0)) / (at - since))
                since, before = at, sums
        most = max(map(len, shares.values()), default=0)
        return {name: [0.0] * (most - len(one)) + one for name, one in shares.items()}


def children_cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def compile_c(source, output, *options):
    output.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-O2", "-g1", "-Wall", "-Wextra", "-Werror", "-fno-builtin", f"-I{ROOT / 'interposer/include'}"]
    subprocess.run([*command, str(source), *options, "-o", str(output)], check=True)


def build():
    """Compiles the Java programs that pom.xml names, with the parts of the project that they need."""
    command = ["mvn", "-q", "-B", "-ntp", "-P", "soak", "-pl", "benchmarks", "-am", "package", "-DskipTests", "-Dnative.tests.skip=true"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)


def compile_java(home, sources, directory, class_path=""):
    """Compiles, for JDK 17, a program that needs nothing of the project."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    command = [pathlib.Path(home) / "bin/javac", "-nowarn", "--release", "17", "-cp", class_path, "-d", directory, *sources]
    if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        subprocess.run(command, check=True)


def fields(line):
    """Turns `a=1 b=2` into a dictionary of integers."""
    return {name: int(value) for name, value in (field.split("=") for field in line.split())}


def existing(path, package):
    if not pathlib.Path(path).exists():
        raise Unavailable(f"{path} is missing (Debian package {package})")
    return str(path)


fetching = threading.Lock()


def artifact(coordinates):
    """Returns the jar of group:name:version, which Maven fetches once."""
    with fetching:
        return fetched(coordinates)


def fetched(coordinates):
    group, name, version = coordinates.split(":")
    directory = TARGET / "rivals"
    jar = directory / f"{name}-{version}.jar"
    if jar.exists():
        return jar
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
    copy = ["mvn", "-q", "-B", goal, f"-Dartifact={group}:{name}:{version}", f"-DoutputDirectory={directory}"]
    if subprocess.run(copy, cwd=HERE, stdout=sys.stderr, check=False).returncode != 0:
        raise Unavailable(f"Maven cannot fetch {coordinates}")
    return jar


POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>io.mallometer</groupId>
    <artifactId>mallometer-parent</artifactId>
    <version>0.1.0-SNAPSHOT</version>
    <relativePath>../../../../pom.xml</relativePath>
  </parent>
  <artifactId>mallometer-benchmark-{name}</artifactId>
  <packaging>pom</packaging>
  <dependencies>{dependencies}</dependencies>
</project>
"""
DEPENDENCY = ("groupId", "artifactId", "version", "classifier")


def dependency(coordinates):
    return "<dependency>" + "".join(f"<{tag}>{part}</{tag}>" for tag, part in zip(DEPENDENCY, coordinates.split(":"))) + "</dependency>"


def artifacts(name, coordinates):
    """Returns the class path of artifacts and of all that they need, fetched by Maven once; versions may be properties of the project."""
    directory = TARGET / "artifacts" / name
    pom, class_path = directory / "pom.xml", directory / "class-path"
    text = POM.format(name=name, dependencies="".join(map(dependency, coordinates)))
    if not class_path.exists() or pom.read_text() != text:
        directory.mkdir(parents=True, exist_ok=True)
        class_path.unlink(missing_ok=True)
        pom.write_text(text)
        command = ["mvn", "-q", "-B", "-ntp", "-f", pom, "dependency:build-classpath", "-DincludeScope=runtime", f"-Dmdep.outputFile={class_path}"]
        subprocess.run(command, check=True, stdout=sys.stderr)
    return class_path.read_text().strip()


def async_profiler():
    """Returns the library that the Maven artifact of async-profiler contains."""
    library = TARGET / "rivals" / f"libasyncProfiler-{ASYNC_PROFILER_VERSION}.so"
    if library.exists():
        return str(library)
    with zipfile.ZipFile(artifact(f"tools.profiler:async-profiler:{ASYNC_PROFILER_VERSION}")) as jar, fetching:
        library.write_bytes(jar.read("linux-x64/libasyncProfiler.so"))
    return str(library)


def java_version(home):
    for line in (home / "release").read_text().splitlines():
        if line.startswith("JAVA_VERSION="):
            return int(line.split('"')[1].split(".")[0])
    raise Unavailable(f"{home} names no version")


def runner(folder):
    """Returns the run.py of a folder as a module."""
    name = f"run_{folder}"
    if name not in sys.modules:
        specification = importlib.util.spec_from_file_location(name, HERE / folder / "run.py")
        sys.modules[name] = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def access_options(version):
    """Returns the options that keep a JVM from printing warnings about JNI and Unsafe."""
    return ("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow") if version >= 24 else ()


def find_jdks(wanted):
    """Returns the homes by version of the JDKs in JAVA_HOME, JDK_HOMES and /usr/lib/jvm; the first of a version counts."""
    named = [os.environ.get("JAVA_HOME", ""), *os.environ.get("JDK_HOMES", "").split(":")]
    homes = [pathlib.Path(home) for home in named if home] + sorted(pathlib.Path("/usr/lib/jvm").glob("*"))
    found = {}
    for home in homes:
        if (home / "bin/java").exists() and (home / "release").exists():
            found.setdefault(java_version(home), home)
    return {version: found[version] for version in wanted if version in found}


def print_table(title, header, rows):
    """Prints a Markdown table, aligned so that it also reads well in a terminal."""
    cells = [list(map(str, row)) for row in (header, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print(f"\n### {title}\n\n" + "\n".join(lines), flush=True)


@dataclasses.dataclass(frozen=True)
class Target:
    """The highest value that a figure may have, and the measured one. The command fails if a gate is missed."""

    promise: str
    limit: float
    measured: float
    unit: str = ""
    gate: bool = False

    def is_met(self):
        return self.measured <= self.limit

    def row(self):
        verdict = "met" if self.is_met() else "MISSED"
        return [self.promise, "gate" if self.gate else "aim", f"{self.limit:g}{self.unit}", f"{self.measured:.4g}{self.unit}", verdict]


def print_targets(targets):
    if targets:
        print_table("Targets", ["figure", "", "at most", "measured", ""], [target.row() for target in targets])


def progress(text):
    print(text, file=sys.stderr, flush=True)


def load():
    return f"{os.getloadavg()[0]:.1f}"


def describe_machine():
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    libc = " ".join(platform.libc_ver())
    today = datetime.date.today().isoformat()
    system = f"{os.cpu_count()} processors, Linux {platform.release()}, {libc}"
    return f"{today}, {model}, {system}, load {load()} at the start"


# ---- Ratios of paired turns
#
# A turn of a part of the load is run twice, in the state to be measured and in the reference state, one after the other.
# The logarithms of the ratios of such turns have a narrow middle and wide tails: a neighbour on the same core, an interrupt
# or a collection hits one of the two. So the figure of a part is the interquartile mean of these logarithms, and that of the
# whole load is the mean of its parts, weighted with the time that each takes. Costs that come in rare bursts lie in the tails
# and would be cut off; the ratio of the sums has them, and a wider interval. Both are reported.
#
# Intervals are percentiles of a bootstrap over pairs of slices, each with all of its turns, since turns of one slice are not
# independent of each other.


@dataclasses.dataclass(frozen=True)
class Turn:
    """The times of a turn in the measured state and in the reference state."""

    pair: int
    part: str
    time: float
    reference: float


@dataclasses.dataclass(frozen=True)
class Ratio:
    """An estimate with its interval."""

    mid: float
    low: float
    high: float

    def __str__(self):
        return f"{self.mid:.3f} ({self.low:.3f}-{self.high:.3f})"


def interquartile_mean(values):
    ordered = sorted(values)
    cut = len(ordered) // 4
    return statistics.fmean(ordered[cut : len(ordered) - cut])


def by_part(turns):
    parts = {}
    for turn in turns:
        parts.setdefault(turn.part, []).append(turn)
    return parts


def middle(turns):
    """Returns the interquartile mean of each part, weighted with the part's usual time."""
    total = weights = 0.0
    for of_part in by_part(turns).values():
        weight = len(of_part) * statistics.median(turn.reference for turn in of_part)
        total += weight * math.exp(interquartile_mean([math.log(turn.time / turn.reference) for turn in of_part]))
        weights += weight
    return total / weights


def of_sums(turns):
    return sum(turn.time for turn in turns) / sum(turn.reference for turn in turns)


def bootstrap(groups, estimate, seed=1):
    """Returns the estimate over the members of all groups, and its interval, by drawing the groups anew."""
    chance = random.Random(seed)
    estimates = []
    for _ in range(RESAMPLES):
        chosen = chance.choices(groups, k=len(groups))
        estimates.append(estimate([member for group in chosen for member in group]))
    estimates.sort()
    tail = round(RESAMPLES * (1 - CONFIDENCE) / 2)
    everything = [member for group in groups for member in group]
    return Ratio(estimate(everything), estimates[tail], estimates[-1 - tail])


def ratio(turns, estimate=middle):
    pairs = {}
    for turn in turns:
        pairs.setdefault(turn.pair, []).append(turn)
    return bootstrap(list(pairs.values()), estimate)


def ratio_of_runs(logarithms):
    """Returns the mean of the logarithms of ratios, one for each pair of processes."""
    return bootstrap([[one] for one in logarithms], lambda chosen: math.exp(statistics.fmean(chosen)))
