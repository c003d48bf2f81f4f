"""A row of the matrix: a program without mallometer, and the same program with it, which must not differ.

The exit code and the output must be equal, except for mallometer's own lines. The start may be later, within a bound: processes take turns,
and the quickest of each kind are compared, because other work of the machine only adds time. A row also has expectations: what mallometer
says, which is one line at most for the starter and for the agent, and what is observed of it while the program runs.
"""

import dataclasses
import os
import re

import launch
from launch import Failed

REAL = "real"
SIMULATED = "simulated"

PASSED = "passed"
FAILED = "FAILED"
NOT_RUN = "not run"

# The seconds by which a program may start later: this many for each of its JVMs, plus this share of its own start.
# docs/reference/compatibility.md promises it. The seconds hold for a machine with an idle processor; on a machine with more work than
# processors they are more. The cost of the start is measured elsewhere; here two rows run at the same time.
LATER_SECONDS = 0.3
LATER_SHARE = 0.25
TURNS = 3
MOST_TURNS = 10

# The fewest and the most lines of a JVM: one that goes on prints its line; one that ends soon may end before it does.
LASTING = (1, 1)
BRIEF = (0, 1)

# The mark between JVMs in the standard error of a script that starts several.
NEXT_JVM = "-- the next JVM"

OURS = re.compile(r"^mallometer: |^[A-Z]+ io\.mallometer\.")
OBSERVED = re.compile(r"^observed: ")

# Texts that differ between any two runs of a program.
VARIES = ((r"\b\d+(\.\d+)? (ms|milliseconds|seconds|s)\b", "some time"), (r"port(\(s\):)? \d+", "port"))

# The JVM's own message about the option that loads the agent.
PICKED_UP = re.compile(r"^Picked up JAVA_TOOL_OPTIONS: ")


@dataclasses.dataclass
class Row:
    """A row. Its fields, besides the topic, the name and the two programs:

    says: a regular expression for the one line of mallometer's; None if it is silent
    exit_code: of the plain program, which is to do its work
    proves: a regular expression for the plain program's output, as a proof that the place is what it is said to be
    jvms: for each JVM how many such lines it prints: LASTING, BRIEF, or another pair of the fewest and the most. A script
        marks where those of the next one begin
    acts: is called with each Process while it runs: what is done to both programs, and by observe if there is one
    observe: is called with the Process of mallometer's program while it runs, and returns what it saw
    waits: whether the programs say "ready" and wait for the end of their input
    how: real, or simulated with what stands for what
    counts: the names of the programs that count, as the preloaded probe tells
    idle: the names of the programs that have the library and do not count, as the preloaded probe tells
    compares_starts: whether the starts are compared, for which each program runs several times
    tolerates: regular expressions for lines of others that mallometer causes, each with the reason
    replaces: regular expressions for what differs between any two runs besides, with what is put in their place
    needs: functions that first make what the programs need, after what the programs themselves name
    """

    topic: str
    name: str
    plain: launch.Launch
    mallometer: launch.Launch
    says: str = None
    exit_code: int = 7
    proves: str = ""
    jvms: tuple = (LASTING,)
    acts: object = None
    observe: object = None
    waits: bool = True
    how: str = REAL
    counts: tuple = ()
    idle: tuple = ()
    compares_starts: bool = True
    tolerates: dict = dataclasses.field(default_factory=dict)
    replaces: tuple = ()
    needs: tuple = ()
    quick: bool = False

    def title(self):
        return f"{self.topic}: {self.name}"

    def all_needs(self):
        return self.plain.needs + self.mallometer.needs + self.needs

    def obstacle(self):
        for place in (self.plain.place, self.mallometer.place):
            obstacle = place.obstacle()
            if obstacle:
                return obstacle
        return ""


@dataclasses.dataclass
class Absent:
    """Says that something could not be obtained, or is not there to be run."""

    topic: str
    name: str
    reason: str
    verdict: str = "not available"
    quick: bool = False

    def title(self):
        return f"{self.topic}: {self.name}"


def without_jdk(topic, version):
    return Absent(topic, f"Java {version}", f"there is no JDK {version} here", NOT_RUN)


@dataclasses.dataclass
class Result:
    """The result of a row."""

    row: object
    verdict: str
    printed: str = ""
    trouble: str = ""
    plain_start: float = None
    start: float = None
    seconds: float = 0.0


def ours(outcome):
    return [line for line in outcome.errors + outcome.output if OURS.match(line)]


def theirs(lines, row):
    """Returns the lines that are left for the comparison."""
    dropped = [OURS, OBSERVED, PICKED_UP, *map(re.compile, row.tolerates)]
    kept = [line for line in lines if not any(pattern.search(line) for pattern in dropped)]
    for pattern, replacement in (*VARIES, *row.replaces):
        kept = [re.sub(pattern, replacement, line) for line in kept]
    return kept


def judge(row):
    """Runs the programs in turns."""
    result = Result(row, PASSED)
    try:
        obstacle = row.obstacle()
        if obstacle:
            return Result(row, NOT_RUN, trouble=obstacle)
        for need in row.all_needs():
            need()
        plain = launch.run(row.plain, row.waits, row.acts)
        outcome = launch.run(row.mallometer, row.waits, observation(row))
        seen = [outcome.seen, "counts nothing" if row.idle else ""]
        result.printed = "; ".join(filter(None, ours(outcome) + seen))
        compare(row, plain, outcome)
        expect(row, outcome, observed=True)
        if row.compares_starts:
            result.plain_start, result.start = starts(row, plain, outcome)
    except Exception as failed:  # any exception: the other rows go on
        result.verdict, result.trouble = FAILED, str(failed) if isinstance(failed, Failed) else repr(failed)
    return result


def starts(row, plain, outcome):
    """Returns the quickest start of each kind. Takes more turns if the first ones look bad; more turns only make starts quicker."""
    plain_start, start = plain.started, outcome.started
    for turn in range(2, MOST_TURNS + 1):
        plain_start = min(plain_start, launch.run(row.plain, row.waits, row.acts).started)
        outcome = launch.run(row.mallometer, row.waits, row.acts)
        compare(row, plain, outcome)
        expect(row, outcome, observed=False)
        start = min(start, outcome.started)
        if turn >= TURNS and start - plain_start <= bound(plain_start, len(row.jvms), crowd()):
            return plain_start, start
    raise Failed(f"it starts in {start:.2f} s instead of {plain_start:.2f} s")


def bound(plain_start, jvms, waiting):
    """Returns how many seconds later a start may be."""
    return LATER_SECONDS * max(1, jvms) * waiting + LATER_SHARE * plain_start


def crowd():
    """Returns how many processes wait for each processor, at least one."""
    return max(1.0, os.getloadavg()[0] / os.cpu_count())


def observation(row):
    """Observes after mallometer's line was printed: a line that comes later than the program's end must not be missed."""
    if not row.waits:
        return row.observe or row.acts

    def observe(process):
        if row.says and row.jvms[0][0]:
            fewest = row.jvms[0][0]
            process.wait_for(lambda: process.count(OURS.pattern) >= fewest, f"{fewest} lines that match {row.says}")
        seen = row.observe or row.acts
        return seen(process) if seen else ""

    return observe


def compare(row, plain, outcome):
    if plain.exit_code != row.exit_code:
        said = "\n".join((plain.errors + plain.output)[-20:])
        raise Failed(f"the plain program ends with {plain.exit_code}, not with {row.exit_code}\n{said}")
    if plain.exit_code != outcome.exit_code:
        said = "\n".join((outcome.errors + outcome.output)[-20:])
        raise Failed(f"exit code {outcome.exit_code} instead of {plain.exit_code}\n{said}")
    if not re.search(row.proves, "\n".join(plain.output)):
        raise Failed(f"the plain program does not say /{row.proves}/: {plain.output}")
    for name in ("output", "errors"):
        before, after = theirs(getattr(plain, name), row), theirs(getattr(outcome, name), row)
        if before != after:
            more = [line for line in after if line not in before]
            less = [line for line in before if line not in after]
            raise Failed(f"its {name} differ: more {more}, less {less}")


def expect(row, outcome, observed):
    lines = ours(outcome)
    if row.says is None and lines:
        raise Failed(f"it is not silent: {lines[0]}")
    for line in lines:
        if not re.search(row.says, line):
            raise Failed(f"the line is not /{row.says}/: {line}")
    if row.says:
        count_lines(row, of_each_jvm(outcome), observed)
    for name in row.counts:
        if not any(program == name and allocations > 0 for program, allocations in outcome.counted):
            raise Failed(f"{name} does not count; what does: {outcome.counted}")
    for name in row.idle:
        allocations = [number for program, number in outcome.counted if program == name]
        if not allocations or any(allocations):
            raise Failed(f"{name} is not without counts: {outcome.counted}")


def of_each_jvm(outcome):
    """Returns the lines of each JVM. Lines in standard output are those of the last JVM."""
    found = [[]]
    for line in outcome.errors + outcome.output:
        if line == NEXT_JVM:
            found.append([])
        elif OURS.match(line):
            found[-1].append(line)
    return found


def count_lines(row, found, observed):
    """Checks the number of lines. A program that is not observed may end before its line."""
    if len(found) != len(row.jvms):
        raise Failed(f"{len(found)} JVMs instead of {len(row.jvms)}")
    for number, (lines, (fewest, most)) in enumerate(zip(found, row.jvms), 1):
        of_it = f" of JVM {number}" if len(row.jvms) > 1 else ""
        if len(lines) > most:
            raise Failed(f"more than one line{of_it}:\n" + "\n".join(lines))
        if observed and len(lines) < fewest:
            raise Failed(f"there is no line /{row.says}/{of_it}")
