#!/usr/bin/env python3
"""Whether the report on a killed JVM names the line that allocated in a burst, with its bytes, and its termination message.

Each row is a JVM in a memory cgroup of its own that allocates by Unsafe, direct buffers or inflaters until the kernel
kills it for the limit, or until this script sends SIGKILL in the middle of the burst. The line and the bytes of
`report RECORDING` are compared with the truth, which the JVM keeps in a mapped file. The termination message is right
if it names the line and was written in the last second before the end; bursts of a second or longer must leave one.
Needs root and memory cgroups.
"""

import argparse
import itertools
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
LIBRARY = REPOSITORY / "interposer/target/native/linux-x86-64/libmallometer.so"
AGENT = REPOSITORY / "metrics-bridge/agent/target/mallometer-agent.jar"
LINES = {"unsafe": "Buffers.grab", "direct": "Channels.open", "inflater": "ReportReader.read"}
USED_AT_REST_MIB = 110  # of a JVM with a heap of 32 MiB and the agent, about
SENTENCE = re.compile(r"in (?:the last )?([\d.]+) s(?:, [\d.]+ s before the end,)? (\S+) \(\S+\) allocated ([\d.]+) (\w+)(?: on (\S+?))?[ ;.]")
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
ACCEPTED_ERROR = 0.2
MESSAGE_BYTES = 1024
OLDEST_MESSAGE = 1.0  # seconds
LEAST_BURST_WITH_MESSAGE = 1.0  # seconds


class Cgroup:
    """A memory cgroup of version 1 or 2."""

    def __init__(self, name, limit):
        first = pathlib.Path("/sys/fs/cgroup/memory")
        self.version_1 = (first / "memory.limit_in_bytes").exists()
        self.path = (first if self.version_1 else pathlib.Path("/sys/fs/cgroup")) / name
        self.path.mkdir()
        (self.path / ("memory.limit_in_bytes" if self.version_1 else "memory.max")).write_text(str(limit))
        swap = self.path / ("memory.swappiness" if self.version_1 else "memory.swap.max")
        if swap.exists():
            swap.write_text("0")

    def command(self, words):
        return ["sh", "-c", f'echo $$ > {self.path}/cgroup.procs; exec "$@"', "sh", *words]

    def remove(self):
        for _ in range(100):
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.05)


def truth_of(file):
    return struct.unpack(">q", file.read_bytes()[:8])[0] if file.exists() and file.stat().st_size else 0


def kill_in_the_middle(process, truth, wanted):
    while process.poll() is None and truth_of(truth) < wanted:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)


def report_on(jdk, recording):
    return subprocess.run([f"{jdk}/bin/java", "-jar", str(AGENT), "report", str(recording)], capture_output=True, text=True,
                          check=False).stdout


def row(jdk, mode, kind, seconds, limit_mib, end, rest, folder):
    recording, truth, message = folder / "recording", folder / "truth", folder / "message"
    message.touch()
    room = (limit_mib - USED_AT_REST_MIB) << 20
    cgroup = Cgroup(f"mallometer-kills-{os.getpid()}-{folder.name}", limit_mib << 20)
    environment = {"PATH": "/usr/bin:/bin"}
    if mode == "preloaded":
        environment |= {"LD_PRELOAD": str(LIBRARY), "MALLOMETER_RECORDING": str(recording)}
    words = [f"{jdk}/bin/java", f"-javaagent:{AGENT}=port=0,recording={recording},termination-message={message}", "-Xmx32m", "-Xms32m", "-XX:+UseSerialGC",
             "-XX:MaxDirectMemorySize=2g", "-cp", str(folder.parent / "classes"), "Burst", kind, str(rest), str(seconds), str(room), str(truth)]
    try:
        with open(folder / "output", "w", encoding="utf-8") as output:
            process = subprocess.Popen(cgroup.command(words), env=environment, stdout=output, stderr=output)
            try:
                if end == "SIGKILL":
                    kill_in_the_middle(process, truth, room * 0.6)
                process.wait(rest + 30 + 3 * seconds)
            except subprocess.TimeoutExpired:
                print(f"row {folder.name} did not end", file=sys.stderr)
            finally:
                process.kill()
                process.wait()
                ended = time.time()
        report = report_on(jdk, recording)
    finally:
        cgroup.remove()
    (folder / "report").write_text(report, encoding="utf-8")
    return *judge(report, truth_of(truth), kind, end), judge_message(message, ended, kind)


def judge_message(message, ended, kind):
    """Returns the age of the message in seconds, or what is wrong with it."""
    text = message.read_text(encoding="ascii")
    if len(text) != MESSAGE_BYTES:
        return f"{len(text)} bytes"
    if f" {LINES[kind]} (" not in text:
        return text.strip()[:120]
    return max(0.0, ended - message.stat().st_mtime)


def is_current(age):
    return isinstance(age, float) and age <= OLDEST_MESSAGE


def judge(report, true_bytes, kind, end):
    """Returns what was named, the true and the stated bytes, and whether both are right."""
    said = re.search(r"^This process (.*)$", report, re.M)
    found = SENTENCE.search(said.group(1)) if said else None
    if not found:
        return "-", true_bytes, 0, False, said.group(1)[:90] if said else report[:90]
    stated = float(found.group(3)) * UNITS[found.group(4)]
    right = found.group(2) == LINES[kind] and true_bytes > 0 and abs(stated / true_bytes - 1) <= ACCEPTED_ERROR
    right = right and (end == "SIGKILL") == ("OOM-killed" not in said.group(1))
    return found.group(2), true_bytes, stated, right, said.group(1)[: found.end()]


# ---- The sentence after each end


def detach(jdk, process, _recording):
    subprocess.run([f"{jdk}/bin/java", "-jar", str(AGENT), "detach", str(process.pid)], check=True, stdout=subprocess.DEVNULL)
    process.terminate()


def copy(_jdk, process, recording):
    shutil.copy(recording, recording.with_name("copy"))
    process.kill()


ENDS = {  # what the program does, what is done to it, and the file to report on
    "the kernel kills the JVM": ("burst", None, "recording"),
    "the kernel kills a child, the JVM exits": ("child", None, "recording"),
    "SIGTERM": ("wait", lambda jdk, process, recording: process.terminate(), "recording"),
    "the main method returns": ("return", None, "recording"),
    "System.exit(3)": ("exit3", None, "recording"),
    "crash": ("crash", None, "recording"),
    "SIGKILL by hand": ("wait", lambda jdk, process, recording: process.kill(), "recording"),
    "detach, then SIGTERM": ("wait", detach, "recording"),
    "a copy from the middle of the run": ("wait", copy, "copy"),
}


def ends(jdk, rest, folder):
    """Prints the first sentence of the report, and the termination message, after each end."""
    print("| end | report | termination message |\n|---|---|---|")
    for number, (end, (what, action, name)) in enumerate(ENDS.items()):
        here = folder / str(number)
        here.mkdir()
        recording, message = here / "recording", here / "message"
        message.touch()
        cgroup = Cgroup(f"mallometer-ends-{os.getpid()}-{number}", 256 << 20)
        program = ["Burst", "unsafe", str(rest), "1", str(150 << 20), str(here / "truth")] if what == "burst" else ["Ends", what, str(rest)]
        words = [f"{jdk}/bin/java", f"-javaagent:{AGENT}=port=0,recording={recording},termination-message={message}", "-Xmx32m", "-Xms32m",
                 "-XX:+UseSerialGC", f"-XX:ErrorFile={here}/hs_err", "-XX:-CreateCoredumpOnCrash", "-cp", str(folder / "classes"), *program]
        try:
            with open(here / "output", "w", encoding="utf-8") as output:
                process = subprocess.Popen(cgroup.command(words), stdout=output, stderr=output)
            try:
                if action:
                    time.sleep(rest)
                    action(jdk, process, recording)
                process.wait(60)
            finally:
                process.kill()
                process.wait()
            said = re.search(r"^This process .*$", report_on(jdk, here / name), re.M)
        finally:
            cgroup.remove()
        print(f"| {end} | {said.group() if said else '-'} | {message.read_text(encoding='ascii').strip() or 'empty'} |", flush=True)


def cases(jdks, kills, sigkills):
    """Returns the rows: every combination in turn, the ends spread over all of them."""
    combinations = itertools.cycle(itertools.product((0.1, 0.3, 1, 3, 10), ("unsafe", "inflater", "direct"), ("attached", "preloaded"), jdks))
    limits = itertools.cycle((192, 256, 384, 512))
    for number in range(kills + sigkills):
        # 7 has no common divisor with the number of combinations, so few rows meet all values.
        for _ in range(7):
            seconds, kind, mode, jdk = next(combinations)
        yield jdk, mode, kind, seconds, next(limits), "SIGKILL" if number >= kills else "OOM kill"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jdk", action="append", required=True, help="home of a JDK; may be repeated")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--sigkills", type=int, default=20)
    parser.add_argument("--rest", type=float, default=8, help="seconds between the start of a JVM and its burst")
    parser.add_argument("--longest", type=float, default=10, help="leaves out longer bursts")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for recordings and reports")
    parser.add_argument("--ends", action="store_true", help="prints what is said after each of several ends instead")
    parser.add_argument("--least", type=float, default=0.95, help="the least share of right rows")
    options = parser.parse_args()
    folder = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="mallometer-kills-"))
    (folder / "classes").mkdir(parents=True, exist_ok=True)
    subprocess.run([f"{options.jdk[0]}/bin/javac", "-nowarn", "-d", str(folder / "classes"), str(HERE / "Burst.java"), str(HERE / "Ends.java")],
                   check=True, stderr=subprocess.DEVNULL)
    if options.ends:
        ends(options.jdk[0], options.rest, folder)
        return 0
    print("| JDK | mode | allocates by | burst | limit | end | line named | true | stated | right | message |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    right = rows = long = told = 0
    for number, (jdk, mode, kind, seconds, limit, end) in enumerate(cases(options.jdk, options.kills, options.sigkills)):
        if seconds > options.longest:
            seconds = options.longest
        here = folder / str(number)
        here.mkdir()
        name, true_bytes, stated, is_right, said, age = row(jdk, mode, kind, seconds, limit, end, options.rest, here)
        rows += 1
        right += is_right
        long += seconds >= LEAST_BURST_WITH_MESSAGE
        told += seconds >= LEAST_BURST_WITH_MESSAGE and is_current(age)
        print(f"| {pathlib.Path(jdk).name} | {mode} | {kind} | {seconds} s | {limit} MiB | {end} | {name} | {true_bytes / 2**20:.0f} MiB |"
              f" {stated / 2**20:.0f} MiB | {'yes' if is_right else 'no: ' + said} | {f'{age:.2f} s old' if isinstance(age, float) else 'no: ' + age} |", flush=True)
    print(f"\n{right} of {rows} right; {told} of {long} bursts of a second or longer left a message of the last second that names the line")
    if not options.keep:
        shutil.rmtree(folder)
    return 0 if right >= options.least * rows and 0 < options.least * long <= told else 1


if __name__ == "__main__":
    sys.exit(main())
