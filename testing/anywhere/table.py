"""Writes the results as a table: for a terminal, and in Markdown for docs/reference/compatibility.md."""

import collections
import os
import pathlib
import re
import statistics
import subprocess

import row

BEGIN = "<!-- The rows below are written by bin/test --anywhere --write. -->"
END = "<!-- End of the rows. -->"


def verdicts(results):
    counted = collections.Counter(result.verdict for result in results)
    ran = [result for result in results if result.verdict in (row.PASSED, row.FAILED)]
    simulated = sum(1 for result in ran if getattr(result.row, "how", "").startswith(row.SIMULATED))
    parts = [f"{count} {verdict}" for verdict, count in counted.items()]
    return f"{len(results)} rows: {', '.join(parts)}; {simulated} of those that ran are simulated"


def start(result):
    if result.start is None:
        return ""
    return f"{result.plain_start:.2f} s, {result.start:.2f} s"


def text(results):
    lines = []
    for result in results:
        lines.append(f"{result.verdict:8}  {start(result):16}  {result.row.title()}")
        if result.printed:
            lines.append(f"{'':28}  {result.printed}")
    return "\n".join(lines + [verdicts(results), later(results)])


def later(results):
    """Returns how much later programs started."""
    compared = [(result.start - result.plain_start, result) for result in results if result.start is not None]
    if not compared:
        return "no starts were compared"
    most, latest = max(compared, key=lambda each: each[0])
    median = statistics.median(seconds for seconds, _ in compared)
    above = sum(1 for seconds, each in compared if seconds > row.bound(each.plain_start, len(each.row.jvms), waiting=1))
    return (
        f"starts are {median:.2f} s later in the median row, and {most:.2f} s at most ({latest.row.title()}); "
        f"{above} of {len(compared)} only met the bound because of the machine's load"
    )


def escaped(printed):
    return printed.replace("|", "\\|").replace("<", "&lt;")


def neutral(printed, results):
    """Returns a text without the parts that depend on this machine and these programs: the directory of the run, ports, and most of a
    command."""
    works = {str(each.row.plain.place.work) for each in results if isinstance(each.row, row.Row)}
    for work in sorted(works, key=len, reverse=True):
        printed = printed.replace(work, "/opt")
    printed = re.sub(r"\S*/bin/java( -\S+)( .*)? (Work|Bridge|anywhere\.App)\b", r"java\1 ... \3", printed)
    return re.sub(r"127\.0\.0\.1:\d{4,5}", "127.0.0.1:9464", printed)


# How mallometer got into the program: the end of a row's title. Rows of one case that differ only in that become one row of the table.
WAY = re.compile(r"(.*)(?<! with library), ((?:library alone|agent|starter|bridge in a program|its own registry)\b.*)")
# Texts that are the same in most lines, and advice that other pages have.
SHORTER = (
    (r"[;,] page at http://[^\s;,]+(?=[;,.]|$)", ""),
    (r"(?:mallometer: \S+ counts native|Native) memory (?:is counted )?since [^(]*\(attached[^)]*\);.* the attach[^;]*", "counts, attached"),
    (r"mallometer: \S+ counts native memory \(([^)]*)\)(?:; http://\S+/metrics)?", "counts"),
    (r"Native memory is counted(?: since \S+Z)? \(preloaded\)", "counts"),
    (r"(?:counts; )?counts, and a call site has [\w.]+", "counts and names"),
    (r"counts; counts and names", "counts and names"),
    (r"counts, attached; counts", "attached, counts"),
    (r"counts, and says nothing", "counts, silent"),
    (r"counts(?:; counts)+$", "counts"),
    (r"mallometer: (not started|UNAVAILABLE)", r"\1"),
    (r"Native memory is not (counted|shown): ", r"not \1: "),
    (r"INFO io\.mallometer\.spring\.\w+ ", ""),
    (r"(UNAVAILABLE \(.*?\)): .*?(?=; com\.sun\.jna|$)", r"\1"),
    (r"\. (?:What to do|Add|Grant|Start|The application runs)\b.*?(?=; com\.sun\.jna|; no MBean|; counts|; http|$)", ""),
    (r"; the options are .*", ""),
    (r"(a security manager forbids it): access denied \([^()]*\)", r"\1"),
    (r"; choose another port, or port=0 for any that is free", ""),
    (r"; http://127\.0\.0\.1:9464/metrics", ""),
    (r"; com\.sun\.jna\.\* never loaded", ""),
)


def short(printed):
    for pattern, text in SHORTER:
        printed = re.sub(pattern, text, printed)
    return printed


def cases(entries):
    """Returns rows of (title, how, says). Cases of a topic with the same result become one row, and so do the ways of a case."""
    found = {}
    for title, how, says in entries:
        named = WAY.fullmatch(title)
        case, way = named.groups() if named else (title, "")
        simulated = "" if how in ("", "real") else f" ({how.split(':')[0]})"
        found.setdefault(case + simulated, {}).setdefault(short(says), []).append(way)
    same = {}
    for case, results in found.items():
        topic, _, name = case.partition(": ")
        parts = [": ".join(filter(None, (", ".join(filter(None, ways)), says))) for says, ways in results.items()]
        same.setdefault((topic, "<br>".join(parts)), []).append(name)
    return [f"| {topic}: {'; '.join(names)} | {result} |" for (topic, result), names in same.items()]


def markdown(results):
    entries = []
    for result in results:
        came = result.verdict if result.verdict != row.PASSED else ""
        detail = result.trouble.splitlines()[0] if result.trouble else neutral(result.printed, results)
        silent = "counts, and says nothing" if getattr(result.row, "counts", ()) else "says nothing"
        says = ": ".join(filter(None, (came, escaped(detail)))) or silent
        entries.append((result.row.title(), getattr(result.row, "how", ""), says))
    return "\n".join([f"{where()}: {verdicts(results)}; {later(results)}.", "", "| case | result |", "|---|---|", *cases(entries)])


def where():
    words = ("git", "describe", "--always", "--dirty", "--exclude=*")
    commit = subprocess.run(words, capture_output=True, text=True, timeout=30, cwd=pathlib.Path(__file__).parent)
    return f"Commit {commit.stdout.strip()}, Linux {os.uname().release}, {os.cpu_count()} processors"


def write(file, results):
    before, rest = file.read_text().split(BEGIN)
    after = rest.split(END)[1]
    file.write_text(f"{before}{BEGIN}\n\n{markdown(results)}\n\n{END}{after}")
