"""Finds out which of many kernels (pieces of a program) leak, by mallometer's verdicts and by the reports of other tools on the same
program.

One JVM runs the kernels of Leaking and Healthy side by side: some leak, others only look as if they did. Only the words `Leaking` and
`Healthy` in their names say which. A tool names a kernel if the kernel's class is in a stack that the tool reports. The JVM and its
libraries also allocate, so a report of none of the kernels is wrong as well.
"""

import argparse
import concurrent.futures
import dataclasses
import datetime
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure
from measure import Unavailable

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
CONVERTER = "tools.profiler:jfr-converter:4.2"
SHORTENED_MOMENTS = 6
KERNEL = re.compile(r"leaks[./](?:Leaks\$)?(StatedLeaks|StatedLookAlikes|Leaking|Losing|Healthy|LookAlikes)[$.](?!LookAlike\b)(\w+)")


def kernels(kind):
    """Returns the names of a list of kernels in their source."""
    file = HERE / f"{'Leaks' if kind in ('Leaking', 'Losing') else kind}.java"
    _, _, source = file.read_text().partition(f"class {kind} ")
    listed = source[source.index("ALL ="):source.index(");", source.index("ALL ="))]
    return [f"{kind}.{name or method}" for name, method in re.findall(r"(\w+)\.class|LookAlikes::(\w+)", listed)]


def kernel_of(stack):
    """Returns the kernel whose class is in the stack; "" if none is."""
    found = KERNEL.search(stack)
    return f"{found[1]}.{found[2]}" if found else ""


@dataclasses.dataclass
class Findings:
    """The report of a tool at the end of a run."""

    tool: str
    # The stacks or sites that the tool reports as leaks, by kernel; "" for those of no kernel.
    reported: dict
    # The number of all sites that it could have reported.
    sites: int
    # The minutes until the first report of a kernel, in the kernels' time.
    minutes: dict = dataclasses.field(default_factory=dict)
    # The verdicts other than leak and healthy, by kernel.
    others: dict = dataclasses.field(default_factory=dict)
    note: str = ""


# ---- Running --------------------------------------------------------------------------------------------


def java(version, home, arguments, options, directory):
    command = [home / "bin/java", "-Xmx256m", *measure.access_options(version), *options]
    command += [f"-Djava.io.tmpdir={directory}", "-cp", measure.CLASS_PATH]
    return command + ["io.mallometer.benchmarks.leaks.Kernels", arguments.minutes, arguments.scale, *arguments.kernel]


def run(command, environment, directory, arguments):
    measure.run(command, environment, directory, timeout=arguments.minutes * 60 / arguments.scale + 120)


def mallometer(version, home, arguments, directory):
    library = measure.existing(arguments.library, "none: built from interposer/")
    log = directory / "verdicts.jsonl"
    options = [f"-Dverdicts={log}"]
    if arguments.trace:
        options.append(f"-Dtrace={arguments.trace.resolve() / f'kernels-jdk{version}.jsonl.gz'}")
    run(java(version, home, arguments, options, directory), {"LD_PRELOAD": library, "MALLOMETER_ONLY": "java"}, directory, arguments)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    moments = [line for line in lines if "sites" in line]
    if not moments:
        raise Unavailable("there were no verdicts")
    first = {}
    for moment in moments:
        for site in moment["sites"]:
            if site["verdict"] == "leak":
                first.setdefault(kernel_of("\n".join(site["frames"])), moment["age"] / 60)
    findings = Findings("mallometer", {}, moments[-1]["judged"], first, note=moments[-1]["observation"])
    for site in moments[-1]["sites"]:
        kernel = kernel_of("\n".join(site["frames"]))
        if site["verdict"] == "leak":
            findings.reported.setdefault(kernel, []).append(f"{site['site']}: {site.get('sentence', '')}")
        else:
            findings.others.setdefault(kernel, set()).add(site["verdict"])
    return findings


def unfreed(version, home, arguments, directory):
    """Reads async-profiler's leak mode: the memory that was allocated in the first nine tenths of the run and not freed."""
    recording, collapsed = directory / "profile.jfr", directory / "profile.txt"
    converter = measure.artifact(CONVERTER)
    options = [f"-agentpath:{measure.async_profiler()}=start,nativemem=512k,file={recording}"]
    run(java(version, home, arguments, options, directory), {}, directory, arguments)
    stacks = {}
    for mode in ("--leak", ""):
        command = [home / "bin/java", "-jar", converter, "--nativemem", *filter(None, [mode]), "-o", "collapsed"]
        subprocess.run([str(part) for part in (*command, recording, collapsed)], check=True, stdout=subprocess.DEVNULL)
        stacks[mode] = [line.rpartition(" ")[0] for line in collapsed.read_text().splitlines()]
    findings = Findings("async-profiler, leak mode", {}, len(stacks[""]))
    for stack in stacks["--leak"]:
        findings.reported.setdefault(kernel_of(stack), []).append(stack)
    return findings


def jemalloc(version, home, arguments, directory):
    """Reads jemalloc's dump at the end, which has all memory that is not freed. Its stacks end where Java begins, so it names no kernel."""
    environment = {"LD_PRELOAD": measure.existing(JEMALLOC, "libjemalloc2"),
                   "MALLOC_CONF": f"prof:true,prof_final:true,lg_prof_sample:19,prof_prefix:{directory}/heap"}
    run(java(version, home, arguments, [], directory), environment, directory, arguments)
    dumps = sorted(directory.glob("heap.*"), key=lambda dump: dump.stat().st_size)
    if not dumps:
        raise Unavailable("it wrote no dump")
    stacks = [line for line in dumps[-1].read_text().splitlines() if line.startswith("@")]
    return Findings("jemalloc, dump at the end", {"": stacks}, len(stacks), note="native frames only: no kernel can be named")


TOOLS = {"mallometer": mallometer, "unfreed": unfreed, "jemalloc": jemalloc}


# ---- Traces ---------------------------------------------------------------------------------------------


def shortened(moments, programs=()):
    """Returns the last moments, with the sites of which something is known then and whose stack has one of the programs.

    The first moment with a site has its names and frames.

    Names and frames of a site are in the first moment that has it.
    """
    known = {}
    for moment in moments:
        known.update((site["number"], site) for site in moment["sites"] if "frames" in site)
    named = set()
    for moment in moments[-SHORTENED_MOMENTS:]:
        kept = {number for number, site in known.items() if not programs or any(f"${program}" in str(site["frames"]) for program in programs)}
        objects = [row for row in moment["objects"] if row[0] in kept]
        uses = {number: use for number, use in moment["uses"].items() if int(number) in kept}
        observed = {row[0] for row in objects} | {int(number) for number in uses}
        sites = []
        for site in moment["sites"]:
            number = site["number"]
            if number in observed:
                sites.append(site if number in named else known[number] | site)
                named.add(number)
        yield moment | {"sites": sites, "objects": objects, "uses": uses}


def shorten(trace, short, *programs):
    """Shortens a trace, which tests judge again (RecordedKernelsTest). A whole trace of forty minutes takes 5 MB."""
    with gzip.open(trace, "rt") as lines:
        moments = [json.loads(line) for line in lines]
    text = "".join(json.dumps(moment, separators=(",", ":")) + "\n" for moment in shortened(moments, programs))
    with gzip.GzipFile(short, "wb", 9, mtime=0) as file:
        file.write(text.encode())


# ---- Tables ---------------------------------------------------------------------------------------------


def print_findings(version, all_findings, chosen):
    leaking = [name for name in kernels("Leaking") if name in chosen]
    healthy = [name for name in kernels("Healthy") if name in chosen]
    rows = []
    for findings in all_findings:
        found = [name for name in leaking if name in findings.reported]
        wrong = [name for name in healthy if name in findings.reported]
        wrong_sites = sum(len(sites) for name, sites in findings.reported.items() if name not in leaking)
        share = f"{wrong_sites} of {findings.sites} ({100 * wrong_sites / max(1, findings.sites):.1f} %)"
        rows.append([findings.tool, f"{len(found)} of {len(leaking)}", f"{len(wrong)} of {len(healthy)}", share, findings.note])
    measure.print_table(f"JDK {version}", ["tool", "leaks found", "healthy reported", "sites reported wrongly", ""], rows)
    ours = [findings for findings in all_findings if findings.tool == "mallometer"]
    for findings in ours:
        rows = []
        for name in (*leaking, *healthy, ""):
            sites = findings.reported.get(name, [])
            verdicts = ", ".join([*(["leak"] if sites else []), *sorted(findings.others.get(name, []))]) or "healthy"
            minutes = f"{findings.minutes[name]:.0f}" if name in findings.minutes else ""
            rows.append([name or "(no kernel)", verdicts, minutes, sites[0] if sites else ""])
        measure.print_table(f"JDK {version}, verdicts", ["kernel", "verdict", "after minutes", "said"], rows)


def targets(version, all_findings, chosen):
    for findings in all_findings:
        if findings.tool != "mallometer":
            continue
        if not findings.sites:
            findings.sites = 1
            findings.reported = {"": ["nothing was judged"]}
        leaking = [name for name in kernels("Leaking") if name in chosen]
        missed = len([name for name in leaking if name not in findings.reported])
        wrong = sum(len(sites) for name, sites in findings.reported.items() if name not in leaking)
        yield measure.Target(f"JDK {version}, leaks missed", 0.05, missed / max(1, len(leaking)))
        yield measure.Target(f"JDK {version}, sites reported wrongly", 0.05, wrong / max(1, findings.sites))


def ask(tool, version, home, arguments):
    measure.progress(f"JDK {version}: {tool}, {datetime.datetime.now():%H:%M}")
    with tempfile.TemporaryDirectory(prefix="mallometer-leaks-") as directory:
        try:
            return TOOLS[tool](version, home, arguments, pathlib.Path(directory))
        except Unavailable as reason:
            return Findings(tool, {}, 0, note=f"not available: {reason}")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="benchmarks/leaks/run.py", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=40, help="of the kernels' time (40)")
    parser.add_argument("--scale", type=float, default=1, help="how many times faster that runs than the world's (1)")
    parser.add_argument("--jdk", type=int, action="append", help="only this version (repeatable; 17 and 25)")
    parser.add_argument("--tool", choices=TOOLS, action="append", help="only this one (repeatable)")
    parser.add_argument("--kernel", action="append", default=[], help="such as Leaking.Deflaters (repeatable; all)")
    parser.add_argument("--library", type=pathlib.Path, default=measure.LIBRARY, help="another libmallometer.so")
    parser.add_argument("--trace", type=pathlib.Path, help="a folder for what the verdicts were made of")
    parser.add_argument("--shorten", nargs="+", metavar=("TRACE SHORT", "PROGRAM"),
                        help="run nothing: write the last moments of a trace, of programs such as PartRead or of all")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if arguments.shorten:
        shorten(*arguments.shorten)
        return
    jdks = measure.find_jdks(arguments.jdk or (17, 25))
    if not jdks:
        sys.exit("no JDK 17 or 25 in JAVA_HOME, JDK_HOMES or /usr/lib/jvm")
    chosen = arguments.kernel = arguments.kernel or kernels("Leaking") + kernels("Healthy")
    print(f"## Leaks: {arguments.minutes:g} minutes, {arguments.scale:g} times as fast\n\n{measure.describe_machine()}")
    tools = arguments.tool or list(TOOLS)
    # In real time, a run hardly uses a processor.
    with concurrent.futures.ThreadPoolExecutor(max_workers=16 if arguments.scale == 1 else 1) as together:
        runs = {(version, tool): together.submit(ask, tool, version, home, arguments)
                for version, home in jdks.items() for tool in tools}
    all_targets = []
    for version in jdks:
        all_findings = [runs[version, tool].result() for tool in tools]
        print_findings(version, all_findings, chosen)
        all_targets.extend(targets(version, all_findings, chosen))
    measure.print_targets(all_targets)
    sys.exit(any(target.measured > target.limit for target in all_targets))


if __name__ == "__main__":
    main()
