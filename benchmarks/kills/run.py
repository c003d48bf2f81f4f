#!/usr/bin/env python3
"""Tests whether the report on a killed JVM, and its termination message, name the line that allocated in a burst, with its bytes.

Each row is a JVM in a memory cgroup of its own that allocates by Unsafe, direct buffers, inflaters or a C function of
its own until the kernel kills it for the limit, or until this script sends SIGKILL in the middle of the burst. In every
second row another thread lets the JVM collect garbage. The line and the bytes of `report RECORDING` are compared with the
truth, which the JVM keeps in a mapped file. The termination message is right if it names the line and was written in the
last second before the end; bursts of a second or longer must leave one. Needs root, gcc and memory cgroups.
"""

import argparse
import concurrent.futures
import contextlib
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
# The arguments of java that run a command of the agent, with the options that bin/mallometer has.
AGENT_COMMAND = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", str(AGENT))
CRAC = REPOSITORY / "metrics-bridge/core/src/test/java/jdk/crac"
LINES = {"unsafe": "Buffers.grab", "direct": "Channels.open", "inflater": "ReportReader.read", "jni": "Frames.load"}
USED_AT_REST_MIB = 110  # about the use of a JVM with a heap of 32 MiB and the agent
SENTENCE = re.compile(r"in (?:the last )?([\d.]+) s(?:, [\d.]+ s before the end,)? (\S+) \(\S+\) allocated ([\d.]+) (\w+)(?: on (\S+?))?[ ;.]")
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
ACCEPTED_ERROR = 0.2
MESSAGE_BYTES = 1024
LONGEST_START = 60  # seconds
OLDEST_MESSAGE = 1.0  # seconds
LEAST_BURST_WITH_MESSAGE = 1.0  # seconds
# The native method of Frames in Burst.java: it allocates memory that nothing frees, as a decoder of pictures would. Without the variable
# the compiler would leave the allocation out.
FRAMES = """
#include <jni.h>
#include <stdlib.h>
#include <string.h>

static void *volatile latest;

JNIEXPORT void JNICALL Java_Frames_decode(JNIEnv *env, jclass type, jint bytes) {
  (void)env, (void)type;
  latest = malloc((size_t)bytes);
  if (latest) memset(latest, 1, (size_t)bytes);
}
"""


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


def await_word(word, process, output):
    deadline = time.monotonic() + LONGEST_START
    while process.poll() is None and word not in output.read_text(encoding="utf-8") and time.monotonic() < deadline:
        time.sleep(0.01)


def start(cgroup, words, output, environment=None):
    """Starts a program in a cgroup, and lets it begin its rest when mallometer counts, because a busy machine starts a JVM slowly."""
    with open(output, "w", encoding="utf-8") as file:
        process = subprocess.Popen(cgroup.command(words), env=environment, stdin=subprocess.PIPE, stdout=file, stderr=file)
    await_word("counts native memory", process, output)
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(b"begin\n")
    return process


def kill_in_the_middle(process, truth, wanted):
    while process.poll() is None and truth_of(truth) < wanted:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)


def report_on(jdk, recording):
    return subprocess.run([f"{jdk}/bin/java", *AGENT_COMMAND, "report", str(recording)], capture_output=True, text=True,
                          check=False).stdout


def java(jdk, folder, *options):
    """Returns the beginning of a command: a JVM with the agent whose files are in the folder."""
    agent = f"-javaagent:{AGENT}=port=0,recording={folder}/recording,termination-message={folder}/message"
    return [f"{jdk}/bin/java", agent, "-Xmx32m", "-Xms32m", "-XX:+UseSerialGC", *options, "-cp", str(folder.parent / "classes")]


def compile_programs(jdk, folder):
    classes = folder / "classes"
    classes.mkdir(parents=True, exist_ok=True)
    # This stands for CRaC's package, as far as the program calls it, because no JVM with CRaC is available.
    javac = [f"{jdk}/bin/javac", "-J-XX:TieredStopAtLevel=1", "-nowarn"]
    subprocess.run([*javac, "-d", folder / "crac", *CRAC.glob("*.java")], check=True)
    subprocess.run([*javac, "-cp", folder / "crac", "-d", classes, HERE / "Burst.java"], check=True, stderr=subprocess.DEVNULL)
    headers = [f"-I{jdk}/include", f"-I{jdk}/include/linux"]
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", *headers, "-o", folder / "libframes.so", "-x", "c", "-"], input=FRAMES, text=True, check=True)


def row(jdk, mode, kind, seconds, limit_mib, end, collections, rest, folder):
    folder.mkdir()
    recording, truth, message = folder / "recording", folder / "truth", folder / "message"
    message.touch()
    room = (limit_mib - USED_AT_REST_MIB) << 20
    cgroup = Cgroup(f"mallometer-kills-{os.getpid()}-{folder.name}", limit_mib << 20)
    environment = {"PATH": "/usr/bin:/bin"}
    if mode == "preloaded":
        environment |= {"LD_PRELOAD": str(LIBRARY), "MALLOMETER_RECORDING": str(recording)}
    words = [*java(jdk, folder, "-XX:MaxDirectMemorySize=2g", f"-Dframes.library={folder.parent}/libframes.so"),
             "Burst", kind, str(rest), str(seconds), str(room), str(truth), str(collections)]
    try:
        process = start(cgroup, words, folder / "output", environment)
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
    """Returns the named line, the true and the stated bytes, and whether both are right."""
    said = re.search(r"^This process (.*)$", report, re.M)
    found = SENTENCE.search(said.group(1)) if said else None
    if not found:
        return "-", true_bytes, 0, False, said.group(1)[:90] if said else report[:90]
    stated = float(found.group(3)) * UNITS[found.group(4)]
    right = found.group(2) == LINES[kind] and true_bytes > 0 and abs(stated / true_bytes - 1) <= ACCEPTED_ERROR
    right = right and (end == "SIGKILL") == ("OOM-killed" not in said.group(1))
    return found.group(2), true_bytes, stated, right, said.group(1)[: found.end()]


# ---- The sentence after each end


def detach(jdk, process, folder):
    subprocess.run([f"{jdk}/bin/java", *AGENT_COMMAND, "detach", str(process.pid)], check=True, stdout=subprocess.DEVNULL)
    if (folder / "message").stat().st_size:
        raise AssertionError("the message outlives the detach")
    process.terminate()


def copy(_jdk, process, folder):
    shutil.copy(folder / "recording", folder / "copy")
    process.kill()


def terminate(_jdk, process, _folder):
    process.terminate()


def kill(_jdk, process, _folder):
    process.kill()


# The ends: what the program does, what is done to it after it has written a word, the file for the report, and the expected text.
KILLED = "This process ended without an exit record at .* of the limit of 256 MiB"
ENDS = {
    "the kernel kills the JVM": ("burst", None, None, "recording", r"This process was OOM-killed at .*Buffers\.grab \(.* on http-8", True),
    "the kernel kills a child, the JVM exits": ("child", None, None, "recording", "This process exited with code 0 ", False),
    "SIGTERM": ("wait", "full", terminate, "recording", "This process exited with code 143 ", False),
    "the main method returns": ("return", None, None, "recording", "This process exited with code 0 ", False),
    "System.exit(3)": ("exit3", None, None, "recording", "This process exited with code 3 ", False),
    "crash": ("crash", None, None, "recording", KILLED, True),
    "SIGKILL by hand": ("wait", "full", kill, "recording", KILLED, True),
    "detach, then SIGTERM": ("wait", "full", detach, "recording", "This process exited with code 143 ", False),
    "checkpoint, which ends a process by SIGKILL": ("checkpoint", "prepared", kill, "recording", KILLED, False),
    "a copy from the middle of the run": ("wait", "full", copy, "copy", KILLED, True),
}


def end_once(jdk, rest, here, what, word, action, name):
    """Runs a program to its end. Returns the report on it, which reads the kernel's count of kills from the cgroup."""
    here.mkdir()
    (here / "message").touch()
    cgroup = Cgroup(f"mallometer-ends-{os.getpid()}-{here.name}", 256 << 20)
    burst = ["Burst", "unsafe", str(rest), "1", str(150 << 20), str(here / "truth"), "false"]
    program = burst if what == "burst" else ["Ends", what, str(rest), str(here / "message")]
    # The heap is touched at the start, so that it needs no more memory at the end.
    options = ["-XX:+AlwaysPreTouch", f"-XX:ErrorFile={here}/hs_err", "-XX:-CreateCoredumpOnCrash", f"-Xbootclasspath/a:{here.parent}/crac"]
    try:
        process = start(cgroup, [*java(jdk, here, *options), *program], here / "output")
        try:
            if word:
                await_word(word, process, here / "output")
                action(jdk, process, here)
            process.wait(90)
        finally:
            process.kill()
            process.wait()
        return report_on(jdk, here / name)
    finally:
        cgroup.remove()


def said_after(jdk, rest, here, end):
    """Returns the first sentence of the report and the message after an end, and whether they are as expected."""
    what, word, action, name, expected, has_message = ENDS[end]
    found = re.search(r"^This process .*$", end_once(jdk, rest, here, what, word, action, name), re.M)
    said = found.group() if found else "-"
    message = (here / "message").read_text(encoding="ascii").strip()
    return said, message, bool(re.match(expected, said)) and bool(message) == has_message


def ends(options, folder):
    """Prints the table of ends. Returns whether all are as expected."""
    print("\n## What is said after each end\n\n| end | report | termination message | as expected |\n|---|---|---|---|")
    passed = True
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        results = [pool.submit(said_after, options.jdk[0], options.rest, folder / f"end-{number}", end) for number, end in enumerate(ENDS)]
        for end, result in zip(ENDS, results):
            said, message, right = result.result()
            passed = passed and right
            print(f"| {end} | {said} | {message or 'empty'} | {'yes' if right else 'no'} |", flush=True)
    return passed


# ---- The rows


def cases(jdks, kills, sigkills):
    """Returns the rows: every combination in turn, with the ends spread over all of them."""
    combinations = itertools.cycle(itertools.product((0.1, 0.3, 1, 3, 10), LINES, ("attached", "preloaded"), jdks))
    limits = itertools.cycle((192, 256, 384, 512))
    for number in range(kills + sigkills):
        # 7 has no common divisor with the number of combinations, so that a few rows already have all values.
        for _ in range(7):
            seconds, kind, mode, jdk = next(combinations)
        yield jdk, mode, kind, seconds, next(limits), "SIGKILL" if number >= kills else "OOM kill", number % 2 == 1


def rows(options, folder):
    """Prints the table of kills. Returns whether enough rows are right."""
    print("| JDK | mode | allocates by | burst | collections | limit | end | line named | true | stated | right | message |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    all_cases = [(jdk, mode, kind, min(seconds, options.longest), *rest) for jdk, mode, kind, seconds, *rest in cases(options.jdk, options.kills, options.sigkills)]
    right = long = told = 0
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        results = [pool.submit(row, *case, options.rest, folder / str(number)) for number, case in enumerate(all_cases)]
        for (jdk, mode, kind, seconds, limit, end, collections), result in zip(all_cases, results):
            name, true_bytes, stated, is_right, said, age = result.result()
            right += is_right
            long += seconds >= LEAST_BURST_WITH_MESSAGE
            told += seconds >= LEAST_BURST_WITH_MESSAGE and is_current(age)
            print(f"| {pathlib.Path(jdk).name} | {mode} | {kind} | {seconds} s | {'yes' if collections else 'few'} | {limit} MiB | {end} | {name} |"
                  f" {true_bytes / 2**20:.0f} MiB | {stated / 2**20:.0f} MiB | {'yes' if is_right else 'no: ' + said} |"
                  f" {f'{age:.2f} s old' if isinstance(age, float) else 'no: ' + age} |", flush=True)
    print(f"\n{right} of {len(all_cases)} right; {told} of {long} bursts of a second or longer left a message of the last second that names the line")
    return right >= options.least * len(all_cases) and 0 < options.least * long <= told


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jdk", action="append", required=True, help="home of a JDK; may be repeated")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--sigkills", type=int, default=20)
    parser.add_argument("--rest", type=float, default=8, help="seconds between the start of a JVM and its burst")
    parser.add_argument("--longest", type=float, default=10, help="shortens longer bursts")
    parser.add_argument("--at-once", type=int, default=1, help="JVMs at a time")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for recordings and reports")
    parser.add_argument("--ends", action="store_true", help="prints what is said after each of ten ends, too")
    parser.add_argument("--least", type=float, default=0.95, help="the least share of right rows")
    options = parser.parse_args()
    folder = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="mallometer-kills-"))
    compile_programs(options.jdk[0], folder)
    passed = rows(options, folder) if options.kills + options.sigkills > 0 else True
    if options.ends:
        passed = ends(options, folder) and passed
    if not options.keep:
        shutil.rmtree(folder)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
