"""Measures mallometer's verdicts on forty programs that state the truth about themselves, in four JVMs side by side, each of which runs all
forty.

Eighteen programs leak, and twenty-two only look as if they did; StatedLeaks and StatedLookAlikes describe them. At every verdict each
program states how many bytes it has leaked, so that verdicts, times and intervals are compared with the truth. mallometer does not know
what was leaked before an attach, so that is not counted. A run whose log is in the directory LOGS is not repeated; the tables are made from
the log.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import math
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import measure
from run import kernel_of

LONGEST_TIMEOUT_MINUTES = 30
# The minutes within which a leak should get its verdict: the longest timeout and five minutes; and two more for the epochs and the
# evaluation's turn.
IN_TIME_MINUTES = LONGEST_TIMEOUT_MINUTES + 5
LATE_MINUTES = IN_TIME_MINUTES + 2
STAGES = ("growing", "unused", "lost", "leak")
LEAKS = ("leak", "lost")
# The longest gap between two verdicts that counts as such. Usually there are five seconds to a minute between them.
LONGEST_GAP_MINUTES = 2


@dataclasses.dataclass(frozen=True)
class Jvm:
    """How one of the JVMs is started."""

    version: int
    attached: bool
    heap: str
    live_mib: int
    threads: int = 0


JVMS = {
    "17-preloaded": Jvm(17, False, "256m", 64),
    "17-attached-threads": Jvm(17, True, "256m", 64, threads=100),
    "25-attached-large": Jvm(25, True, "1400m", 1024),
    "25-small": Jvm(25, False, "80m", 16),
}


# ---- What a log says ------------------------------------------------------------------------------------


@dataclasses.dataclass
class Program:
    """The verdicts on one program in one JVM."""

    truth: str
    # Pairs of minute and bytes.
    leaked: list
    minutes: dict = dataclasses.field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    first: dict = dataclasses.field(default_factory=dict)
    # Rows of minute, stage, estimate, its interval, and the truth: the bytes that were leaked long enough ago.
    bytes: list = dataclasses.field(default_factory=list)

    @property
    def leaks(self):
        return self.truth in LEAKS

    def leaked_at(self, minute):
        """Returns the bytes that had been leaked by then."""
        known = 0
        for then, leaked in self.leaked:
            if then > minute:
                break
            known = leaked
        return known

    def begin(self):
        """Returns the minute of the first leaked byte."""
        return next((minute for minute, leaked in self.leaked if leaked > 0), math.inf)

    def called_within(self, minutes):
        return min((self.first.get(stage, math.inf) for stage in LEAKS), default=math.inf) - self.begin() <= minutes


class Run:
    """One JVM's log: its programs, the sites of no program that got the verdict leak, and its searches."""

    def __init__(self, lines, attached):
        moments = [line for line in lines if "sites" in line]
        truths = [line for line in lines if "leaked" in line]
        self.searches = [line for line in lines if "search" in line]
        if not moments:
            raise measure.Unavailable("there were no verdicts")
        self.programs, self.strangers = {}, set()
        self.judged = max(moment["judged"] for moment in moments)
        self.minutes = (moments[-1]["age"] - moments[0]["age"]) / 60
        self.processor = (moments[-1]["processSeconds"] - moments[0]["processSeconds"]) / max(1e-9, 60 * self.minutes)
        for name, stated in moments[-1]["stated"].items():
            known = [(line["age"] / 60, line["leaked"].get(name, 0)) for line in truths]
            before = known[0][1] if attached else 0
            self.programs[name] = Program(stated["truth"], [(minute, leaked - before) for minute, leaked in known])
        ends = [moment["age"] / 60 for moment in moments[1:]] + [moments[-1]["age"] / 60]
        for moment, end in zip(moments, ends):
            self._hear(moment, min(end - moment["age"] / 60, LONGEST_GAP_MINUTES))

    def search_share(self):
        """Returns the CPU time of searches as a share of one processor; the log has the last search before each verdict."""
        if not self.searches:
            return 0.0
        skipped = self.searches[-1]["search"] / len(self.searches)
        return skipped * sum(search["cpuSeconds"] for search in self.searches) / max(1e-9, 60 * self.minutes)

    def _hear(self, moment, minutes):
        minute = moment["age"] / 60
        said = {}
        for site in moment["sites"]:
            name = kernel_of("\n".join(site["frames"]))
            if name in self.programs:
                said.setdefault(name, []).append(site)
            elif site["verdict"] == "leak":
                self.strangers.add(site["site"])
        for name, sites in said.items():
            self._note(self.programs[name], minute, minutes, sites)

    @staticmethod
    def _note(program, minute, minutes, sites):
        stages = {stage_of(site) for site in sites}
        for stage in stages & set(STAGES):
            program.minutes[stage] += minutes
            program.first.setdefault(stage, minute)
        suspected = [site for site in sites if site["verdict"] in ("leak", "unused")]
        if not program.leaks or not suspected:
            return
        # Estimates of several sites are independent.
        value, low, high = (sum(float(site[key]) for site in suspected) for key in ("bytes", "low", "high"))
        if len(suspected) > 1:
            low = value - math.hypot(*(float(site["bytes"]) - float(site["low"]) for site in suspected))
            high = value + math.hypot(*(float(site["high"]) - float(site["bytes"]) for site in suspected))
        thresholds = [float(site["threshold"]) for site in suspected if stage_of(site) != "lost"]
        known = [threshold for threshold in thresholds if math.isfinite(threshold)]
        age = max(known) / 60 if known and len(known) == len(suspected) else 0
        stage = next(stage for stage in ("lost", "leak", "unused") if stage in stages)
        if math.isfinite(value):
            program.bytes.append((minute, stage, value, low, high, program.leaked_at(minute - age)))


def stage_of(site):
    """Returns the verdict, in which lost memory is a verdict of its own."""
    return "lost" if site["verdict"] == "leak" and site["evidence"] == "lost" else site["verdict"]


# ---- Figures --------------------------------------------------------------------------------------------


def most(events, trials, error=0.05):
    """Returns the upper bound of a probability by Clopper and Pearson, one-sided."""
    if trials == 0 or events >= trials:
        return 1.0
    low, high = events / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        none_more = sum(math.comb(trials, i) * middle**i * (1 - middle) ** (trials - i) for i in range(events + 1))
        low, high = (middle, high) if none_more > error else (low, middle)
    return high


def least(events, trials, error=0.05):
    """Returns the lower bound of a probability by Clopper and Pearson, one-sided."""
    return 1 - most(trials - events, trials, error)


@dataclasses.dataclass
class Figures:
    """The figures of a table over some runs."""

    false_leaks: list
    look_alikes: int
    strangers: list
    in_time: int
    late: int
    lost: int
    leaks: int
    losing: int
    intervals: int
    holding: int
    programs_holding: float
    unused_ratios: list
    all_ratios: list
    search_shares: dict


def figures(runs):
    programs = [(f"{name} {program}", said) for name, run in runs.items() for program, said in run.programs.items()]
    leaking = [said for _, said in programs if said.leaks]
    innocent = [(name, said) for name, said in programs if not said.leaks]
    # Verdicts at which the true amount is still 0 say nothing about the ratio.
    told = [[row for row in said.bytes if row[5] > 0] for said in leaking]
    rows = [row for of_program in told for row in of_program]
    ratios = [row[2] / row[5] for row in rows]
    whole = [row[2] / said.leaked_at(row[0]) for said in leaking for row in said.bytes if said.leaked_at(row[0]) > 0]
    shares = [statistics.fmean(holds(row) for row in of_program) for of_program in told if of_program]
    return Figures(
        false_leaks=[name for name, said in innocent if any(stage in said.first for stage in LEAKS)],
        look_alikes=len(innocent),
        strangers=[f"{name} {site}" for name, run in runs.items() for site in sorted(run.strangers)],
        in_time=sum(said.called_within(IN_TIME_MINUTES) for said in leaking),
        late=sum(said.called_within(LATE_MINUTES) for said in leaking),
        lost=sum("lost" in said.first for said in leaking if said.truth == "lost"),
        leaks=len(leaking),
        losing=sum(said.truth == "lost" for said in leaking),
        intervals=len(rows),
        holding=sum(holds(row) for row in rows),
        programs_holding=statistics.fmean(shares) if shares else math.nan,
        unused_ratios=ratios,
        all_ratios=whole,
        search_shares={name: run.search_share() for name, run in runs.items()},
    )


def holds(row):
    return row[3] <= row[5] <= row[4]


# ---- Tables ---------------------------------------------------------------------------------------------


def percent(share):
    return "unknown" if math.isnan(share) else f"{100 * share:.1f} %"


def median(values):
    return percent(statistics.median(values)) if values else "unknown"


def print_programs(name, run):
    rows = []
    for program, said in run.programs.items():
        first = [f"{said.first[stage]:.0f}" if stage in said.first else "" for stage in ("unused", "lost", "leak")]
        minutes = [f"{said.minutes[stage]:.0f}" if said.minutes[stage] else "" for stage in STAGES]
        last = said.bytes[-1] if said.bytes else None
        text = f"{last[2] / 2**20:.2f} ({last[3] / 2**20:.2f} to {last[4] / 2**20:.2f}) of {last[5] / 2**20:.2f}" if last else ""
        rows.append([program, said.truth, *minutes, *first, text])
    rows.sort(key=lambda row: (row[1] not in LEAKS, row[1], row[0]))
    header = ["program", "truth", *(f"min {stage}" for stage in STAGES), "unused at", "lost at", "leak at", "suspected MiB at last of truth"]
    measure.print_table(f"{name}: {run.minutes:.0f} minutes, {run.judged} call sites", header, rows)


def print_figures(found):
    rows = [
        ["look-alikes called leak", f"{len(found.false_leaks)} of {found.look_alikes}", f"at most {percent(most(len(found.false_leaks), found.look_alikes))}", ", ".join(found.false_leaks)],
        ["sites of no program called leak", len(found.strangers), "", ", ".join(found.strangers)],
        [f"leaks called so within {IN_TIME_MINUTES} minutes", f"{found.in_time} of {found.leaks}", f"at least {percent(least(found.in_time, found.leaks))}", ""],
        [f"within {LATE_MINUTES} minutes", f"{found.late} of {found.leaks}", f"at least {percent(least(found.late, found.leaks))}", ""],
        ["lost memory called lost", f"{found.lost} of {found.losing}", f"at least {percent(least(found.lost, found.losing))}", ""],
        ["intervals that hold the truth", f"{found.holding} of {found.intervals}", percent(found.holding / found.intervals) if found.intervals else "unknown", f"mean of programs: {percent(found.programs_holding)}"],
        ["suspected bytes of what is leaked that long, median", median(found.unused_ratios), "", ""],
        ["suspected bytes of all that is leaked, median", median(found.all_ratios), "", ""],
        ["searches, share of a processor", ", ".join(f"{name} {100 * share:.2f} %" for name, share in found.search_shares.items()), "", ""],
    ]
    measure.print_table("Forty programs", ["", "measured", "bound", ""], rows)


# ---- Running --------------------------------------------------------------------------------------------


def log_of(name, arguments):
    return arguments.logs / f"{name}.jsonl"


def listen(name, jvm, home, arguments):
    """Runs the forty programs in one JVM, unless a log of that run exists."""
    log = log_of(name, arguments)
    if log.exists():
        return
    part = log.with_suffix(".part")
    part.unlink(missing_ok=True)
    built = arguments.built
    options = [f"-Xmx{jvm.heap}", f"-DliveMiB={jvm.live_mib}", f"-Dthreads={jvm.threads}", "-XX:MaxDirectMemorySize=256m", f"-Dverdicts={part}"]
    if arguments.trace and jvm.live_mib > 16:
        # The smallest heap has no room for the recorder's text.
        options.append(f"-Dtrace={arguments.logs / name}.trace.jsonl.gz")
    environment = {}
    if jvm.attached:
        options.append("-DopenAfter=20")
    else:
        environment = {"LD_PRELOAD": measure.existing(built / "libmallometer.so", "see --copy"), "MALLOMETER_ONLY": "java"}
    options.extend(measure.access_options(jvm.version))
    with tempfile.TemporaryDirectory(prefix="mallometer-stated-") as directory:
        command = [home / "bin/java", *options, f"-Djava.io.tmpdir={directory}", "-cp", f"{built}/classes:{built}/lib/*"]
        command += ["io.mallometer.benchmarks.leaks.Kernels", arguments.minutes, 1, "Stated"]
        _, errors = measure.run(command, environment, directory, timeout=arguments.minutes * 60 + 300)
    log.with_suffix(".err").write_text(errors)
    part.rename(log)


def run_all(chosen, arguments):
    homes = measure.find_jdks(sorted({jvm.version for jvm in chosen.values()}))
    missing = []

    def guarded(name):
        try:
            if JVMS[name].version not in homes and not log_of(name, arguments).exists():
                raise measure.Unavailable(f"no JDK {JVMS[name].version}")
            listen(name, JVMS[name], homes.get(JVMS[name].version), arguments)
        except measure.Unavailable as reason:
            missing.append(f"{name}: {reason}")
        measure.progress(f"{time.strftime('%H:%M')}: {name}")

    with concurrent.futures.ThreadPoolExecutor(len(JVMS)) as pool:
        list(pool.map(guarded, chosen))
    return missing


def copy_build(directory):
    """Copies what a run needs, so that a later build does not disturb it."""
    directory.mkdir(parents=True)
    shutil.copytree(measure.CLASSES, directory / "classes")
    shutil.copytree(measure.LIBRARIES, directory / "lib")
    shutil.copy(measure.existing(measure.LIBRARY, "none: built from interposer/"), directory)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="benchmarks/leaks/stated.py", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=50)
    parser.add_argument("--logs", type=pathlib.Path, default=measure.ROOT / "target/stated", help="logs; a run that has one is not repeated")
    parser.add_argument("--jvm", choices=JVMS, action="append", help="only this one (repeatable)")
    parser.add_argument("--trace", action="store_true", help="record in LOGS what the verdicts are made of, too")
    parser.add_argument("--copy", type=pathlib.Path, metavar="DIR", help="copy what is built there, and do no more")
    parser.add_argument("--built", type=pathlib.Path, metavar="DIR", help="run such a copy; without, one is made beside the logs")
    parser.add_argument("--table", action="store_true", help="run nothing: draw the tables from the logs that are there, ended or not")
    return parser.parse_args()


def load(path, attached):
    lines = path.read_text().splitlines()
    # The last line of a run that is going on may be incomplete.
    return Run([json.loads(line) for line in lines if line.endswith("}")], attached)


def main():
    arguments = parse_arguments()
    if arguments.copy:
        copy_build(arguments.copy)
        return 0
    arguments.logs = arguments.logs.resolve()
    arguments.logs.mkdir(parents=True, exist_ok=True)
    chosen = {name: jvm for name, jvm in JVMS.items() if name in (arguments.jvm or JVMS)}
    missing = []
    if not arguments.table:
        arguments.built = (arguments.built or arguments.logs / "built").resolve()
        if not arguments.built.exists():
            copy_build(arguments.built)
        missing = run_all(chosen, arguments)
    runs = {}
    for name, jvm in chosen.items():
        paths = [path for path in (log_of(name, arguments), log_of(name, arguments).with_suffix(".part")) if path.exists()]
        if paths:
            runs[name] = load(paths[0], jvm.attached)
    print(f"## Forty programs that state their truth\n\n{measure.describe_machine()}")
    for name, run in runs.items():
        print_programs(name, run)
    found = figures(runs)
    print_figures(found)
    for reason in missing:
        print(f"\nNot available: {reason}")
    measure.print_targets([
        measure.Target("called leak without one", 0, len(found.false_leaks) + len(found.strangers)),
        measure.Target(f"share of leaks not called so in {LATE_MINUTES} minutes", 0.05, 1 - found.late / max(1, found.leaks)),
        measure.Target("share of intervals without the truth", 0.07, 1 - found.holding / max(1, found.intervals)),
        measure.Target("JVMs without a result", 0, len(missing)),
    ])
    return int(bool(missing or found.false_leaks or found.strangers))


if __name__ == "__main__":
    sys.exit(main())
