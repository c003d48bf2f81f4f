"""What mallometer concludes in a number of situations, when, and whether all that show it say the same.

Each situation is a JVM in a memory cgroup of its own. Every 15 seconds its faces are asked: page, health, series and MBean, and one
of the commands in turn. Prints when each face showed which state, what the page said, and where two faces said different things at
the same moment. Everything that was said is in benchmarks/target/diagnosis/, one file a situation; --table prints those again.
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "samples/leaky-service/e2e")]

import measure
from processes import JAVA, MemoryLimit, free_port, get

ROOT = HERE.parents[1]
RESULTS = measure.TARGET / "diagnosis"
AGENT = ROOT / "metrics-bridge/agent/target/mallometer-agent.jar"
EVERY_SECONDS = 15
MIB = 1 << 20
LIMIT = 512
STATES = ("too_early", "healthy", "watch", "act")
FACES = ("page", "health", "report", "top", "leaks", "MBean", "log", "series")
COMMANDS = ("report", "top", "leaks")
LOGGED = re.compile(r"Native memory, (act|watch): (.*)")
OOM_KILLED = -9


@dataclasses.dataclass(frozen=True)
class Situation:
    name: str
    # What is so, in words.
    truth: str
    minutes: float
    # Arguments of Situation.java; empty for the service.
    program: tuple = ()
    properties: tuple = ()
    heap: int = 128
    # Of the JVM.
    options: tuple = ()
    # How many minutes it is watched for after each of so many restarts, if the kernel kills it.
    again: float = 0
    restarts: int = 1
    # What the page says from minute 5 on: one of these states, and each of these texts in the sentence.
    states: tuple = ()
    says: tuple = ()
    limited: bool = True


def leak(name, **other):
    return Situation(f"leak {name}", "leaks 1 MB/s until the kernel kills it; is started again", 14,
                     properties=(f"--leaky.leaks.on={name}", "--leaky.leaks.cap=1TB"), again=4, **other)


SITUATIONS = (
    Situation("healthy service", "does not leak", 60),
    Situation("slow leak", "zlib leaks 1 MiB/min", 40,
              properties=("--leaky.leaks.on=zlib", "--leaky.leaks.cap=1TB", f"--leaky.leaks.rate={MIB // 60}B")),
    Situation("read cache", "150 MiB within 20 min, each entry read every 30 s", 35, ("read-cache", "20"), heap=64),
    Situation("unread cache", "150 MiB within 20 min, never read", 35, ("unread-cache", "20"), heap=64),
    Situation("burst", "120 MiB from minute 4 to 5, kept and not used", 25, ("burst",), heap=64),
    Situation("heap", "a heap of at most 700 MiB grows 25 MiB/min", 25, ("heap",), heap=700, again=4),
    Situation("page cache", "writes and reads a file of 1 GiB, 8 MiB/s", 15, ("page-cache", "0"), heap=64),
    Situation("threads", "five threads a second never end", 10, ("threads",), heap=64, limited=False,
              states=("watch",), says=("threads/min", r"RepairTask\.execute")),
    Situation("bursts", "32 threads take small objects and free all of them; malloc keeps ever more", 10, ("bursts",), heap=64,
              states=("watch", "act"), says=("[Mm]alloc retain", "arenas")),
    Situation("realloc", "a buffer is doubled by realloc", 10, ("realloc",), heap=64, limited=False,
              states=("watch",), says=(r"Growing\.realloc \(Growing\.java:\d+\)",)),
    Situation("two leaks", "Deflaters are kept, 39 MiB/min, and records lost, 6.6 MiB/min", 10, ("two-leaks",), heap=64, limited=False,
              states=("act", "watch"), says=(r"Archive\.pack", r"Records\.read")),
    Situation("read-only mapping", "a file is mapped and read", 10, ("read-only-mapping",), heap=64,
              states=("healthy", "too_early"), says=("pages of file grew",)),
    Situation("classes", "a class is loaded ten times a second, and 10 KiB of heap kept", 10, ("classes",), heap=128, limited=False,
              states=("watch", "too_early"), says=()),
    leak("zlib"),
    leak("sqlite"),
    leak("zstd"),
    leak("jna"),
)


class Unlimited:
    possible = True

    @staticmethod
    def command(*command):
        return list(command)


class Beans:
    """One JVM that reads MBeans of others."""

    def __init__(self, classes):
        self._process = subprocess.Popen([JAVA, "-Xmx32m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", str(classes), "Beans"],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._lock = threading.Lock()

    def read(self, port):
        with self._lock:
            self._process.stdin.write(f"{port}\n")
            self._process.stdin.flush()
            return self._process.stdout.readline().rstrip("\n").split("\t", 1)

    def close(self):
        self._process.stdin.close()
        self._process.wait(10)


class Run:
    """One situation from its start to its end, with its restarts."""

    def __init__(self, situation, classes, beans, results=RESULTS, page_only=False):
        self.page_only = page_only
        self.situation = situation
        self.classes = classes
        self.beans = beans
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="mallometer-diagnosis-"))
        self.records = (results / f"{situation.name.replace(' ', '-')}.jsonl").open("w")
        self.port, self.jmx_port = free_port(), free_port()
        self.number = 0
        self.turn = 0
        self.logged = 0
        self.printed = ""
        actuator = "" if situation.program else "/actuator"
        self.url = f"http://127.0.0.1:{self.port}{actuator}"

    def watch(self):
        situation = self.situation
        measure.progress(f"{situation.name}, {datetime.datetime.now():%H:%M}")
        self.write(face="start", load=os.getloadavg()[0], time=f"{datetime.datetime.now(datetime.timezone.utc):%H:%M:%S}")
        left = situation.minutes
        try:
            with MemoryLimit(LIMIT * MIB) if situation.limited else contextlib.nullcontext(Unlimited) as limit:
                if not limit.possible:
                    raise measure.Unavailable("no memory cgroup can be made here")
                while left > 0 and self.number <= situation.restarts:
                    self.number += 1
                    code = self.once(limit, left)
                    if code is None:
                        break
                    measure.progress(f"{situation.name}: exit code {code}, {datetime.datetime.now():%H:%M}")
                    self.write(face="end", state="OOM kill" if code == OOM_KILLED else f"exit code {code}")
                    left = situation.again if code == OOM_KILLED else 0
        finally:
            self.records.close()
            shutil.rmtree(self.directory)

    def once(self, limit, minutes):
        """Returns the exit code; None if it ran for its time."""
        self.began = time.monotonic()
        with open(self.directory / "log", "w+", encoding="utf-8") as log:
            self.logged = 0
            self.log = log
            self.process = subprocess.Popen(limit.command(*self.command()), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT)
            try:
                next_poll = self.began
                while self.process.poll() is None and time.monotonic() - self.began < minutes * 60:
                    self.ask()
                    next_poll = max(next_poll + EVERY_SECONDS, time.monotonic())
                    while self.process.poll() is None and time.monotonic() < next_poll:
                        time.sleep(0.2)
                    self.read_log()
                return self.process.poll()
            finally:
                if self.process.poll() is None:
                    self.process.terminate()
                self.process.wait(30)

    def command(self):
        situation = self.situation
        record = self.directory / "recording"
        command = ["bin/mallometer", "run", "--", JAVA, f"-Xmx{situation.heap}m", *situation.options]
        command += [f"-Dcom.sun.management.jmxremote.{option}" for option in (
            f"port={self.jmx_port}", f"rmi.port={self.jmx_port}", "host=127.0.0.1", "authenticate=false", "ssl=false")]
        command.append("-Djava.rmi.server.hostname=127.0.0.1")
        if situation.program:
            name, *minutes = situation.program
            return [*command, "-XX:MaxDirectMemorySize=400m", f"-javaagent:{AGENT}=port={self.port},recording={record}", "-cp", str(self.classes),
                    "Situation", name, *(minutes or ["0"]), str(self.directory / "file")]
        jar = next((ROOT / "samples/leaky-service/target").glob("mallometer-leaky-service-*.jar"))
        return [*command, "-jar", str(jar), f"--server.port={self.port}", f"--mallometer.recording={record}", *situation.properties]

    # ---- Faces

    def ask(self):
        try:
            before = self.page()
            self.said("page", before)
            if self.page_only:
                return
            if not self.situation.program:
                self.compare("health", before, self.health)
            self.compare("series", before, self.series)
            self.compare("MBean", before, self.bean)
            command = COMMANDS[self.turn % len(COMMANDS)]
            self.turn += 1
            self.compare(command, self.page(), getattr(self, command))
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as failed:
            # It starts or is being killed.
            self.write(face="failure", state=type(failed).__name__, sentence=str(failed))

    def page(self):
        return json.loads(get(f"{self.url}/nativememory/overview"))["diagnosis"]

    def health(self):
        component = json.loads(get(f"{self.url}/health"))["components"]["nativeMemory"]
        return {"state": component["details"]["diagnosis"], "sentence": component["details"]["sentence"], "status": component["status"]}

    def series(self):
        text = get(f"{self.url}/metrics" if self.situation.program else f"{self.url}/prometheus")
        holds = re.findall(r'^mallometer_diagnosis\{[^}]*state="(\w+)"[^}]*\} 1\.0', text, re.M)
        seconds = dict(re.findall(r'^mallometer_time_to_limit_seconds\{[^}]*bound="(\w+)"[^}]*\} (\S+)', text, re.M))
        return {"state": ",".join(holds), "limit": seconds}

    def bean(self):
        state, sentence = self.beans.read(self.jmx_port)
        if not state:
            raise OSError(sentence)
        return {"state": state, "sentence": sentence}

    def run_command(self, *arguments):
        command = [JAVA, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", str(AGENT), *arguments, str(self.process.pid)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
        if ended.returncode != 0:
            raise OSError(f"{arguments[0]}: {ended.stderr.strip()}")
        return ended.stdout

    def report(self):
        text = self.run_command("report")
        found = re.search(r"^(act|watch|too early|healthy): (.*)$", text, re.M)
        return {"state": found[1].replace(" ", "_"), "sentence": found[2]} if found else {"state": "nothing"}

    def top(self):
        return {"state": self.run_command("top", "--count", "1").split()[1]}

    def leaks(self):
        sites = json.loads(self.run_command("leaks", "--json"))
        found = [site for site in sites if site["verdict"] in ("leak", "unused", "growing")]
        counts = {verdict: sum(site["verdict"] == verdict for site in found) for verdict in ("leak", "unused", "growing")}
        shown = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
        return {"state": shown or "none", "sentence": found[0]["sentence"] if found else "", "leaking": counts["leak"]}

    # ---- What they say

    def compare(self, face, before, answer):
        """What a face says against what the page says meanwhile: a command takes seconds, and each poll may say something else."""
        pages = [before]
        with concurrent.futures.ThreadPoolExecutor(1) as alone:
            asked = alone.submit(answer)
            while not concurrent.futures.wait([asked], 1).done:
                pages.append(self.page())
        said = asked.result()
        after = self.page()
        pages.append(after)
        wrong = ""
        if face == "leaks":
            if said["leaking"] and not {"act", "watch"} & {page["state"] for page in pages}:
                wrong = f"says leak, the page {after['state']}"
        elif said["state"] not in [page["state"] for page in pages]:
            wrong = f"says {said['state']}, the page {before['state']} and then {after['state']}"
        elif "sentence" in said and shape(said["sentence"]) not in [shape(page["sentence"]) for page in pages]:
            wrong = f"says \"{said['sentence']}\", the page \"{before['sentence']}\" and then \"{after['sentence']}\""
        elif face == "series" and bool(said["limit"]) not in [bool(page["limit"].get("seconds")) for page in pages]:
            wrong = f"time_to_limit_seconds {said['limit']}, the page {after['limit']}"
        if said.get("status", "UP") != "UP":
            wrong = f"status {said['status']}"
        self.said(face, said, wrong)

    def said(self, face, diagnosis, contradiction=""):
        self.write(face=face, state=diagnosis["state"], sentence=diagnosis.get("sentence", ""), limit=diagnosis.get("limit"),
                   contradiction=contradiction, account=diagnosis.get("account"), actions=diagnosis.get("actions"))
        if face == "page" and diagnosis["state"] != self.printed:
            self.printed = diagnosis["state"]
            measure.progress(f"{self.situation.name}, {self.minute():.1f} min: {diagnosis['state']}: {diagnosis['sentence']}")

    def read_log(self):
        self.log.flush()
        lines = (self.directory / "log").read_text(encoding="utf-8", errors="replace").splitlines()
        for line in lines[self.logged:]:
            found = LOGGED.search(line)
            if found:
                self.write(face="log", state=found[1], sentence=found[2])
            elif "mallometer" in line and re.search("WARN|ERROR|SEVERE|Exception", line):
                self.write(face="other log", sentence=line)
        self.logged = len(lines)

    def minute(self):
        return (time.monotonic() - self.began) / 60 if self.number else 0

    def write(self, **record):
        self.records.write(json.dumps({"run": self.number, "minute": round(self.minute(), 2), **record}) + "\n")
        self.records.flush()


def shape(sentence):
    """A sentence without its figures, which change with each reading, and the interval of a time of day, which may be too short to show."""
    sentence = re.sub(r" \(\d\d:\d\d UTC to [^)]*\)", "", sentence)
    return re.sub(r"\d+(\.\d+)?( ?(B|KiB|MiB|GiB|%|s|min|h|days?|minutes?|hours?|seconds?))?", "#", sentence)


# ---- Tables


def read(situation):
    file = RESULTS / f"{situation.name.replace(' ', '-')}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def changes(records, face):
    """The records of a face in which its state is not that of the one before."""
    changed, last = [], None
    for record in records:
        if record["face"] == "end":
            changed.append(record)
            last = None
        elif record["face"] == face and (record["run"], record["state"]) != last:
            changed.append(record)
            last = record["run"], record["state"]
    return changed


def cell(records, face):
    if not any(record["face"] == face for record in records):
        return "nothing" if face == "log" else "has none"
    return ", ".join(record["state"].replace("_", " ") + f" {record['minute']:.1f}" for record in changes(records, face))


def print_tables():
    known = {situation: records for situation in SITUATIONS if (records := read(situation))}
    rows, said, contradictions, wrong = [], [], [], []
    compared = 0
    for situation, records in known.items():
        rows.append([situation.name, situation.truth, *(cell(records, face) for face in FACES)])
        for record in changes(records, "page"):
            said.append([situation.name, f"{record['minute']:.1f}", record["state"].replace("_", " "), record.get("sentence", "")])
        last = [record for record in records if record["face"] == "page"][-1:]
        for record in last:
            said.append([situation.name, f"{record['minute']:.1f}, the last", record["state"].replace("_", " "), record["sentence"]])
        compared += sum("contradiction" in record and record["face"] != "page" for record in records)
        for record in records:
            if record.get("contradiction"):
                contradictions.append([situation.name, f"{record['minute']:.1f}", record["face"], record["contradiction"]])
        contradictions.extend(unlogged(situation, records))
        wrong.extend(wrong_at(situation, records))
    starts = [record for records in known.values() for record in records if record["face"] == "start"]
    loads = [record["load"] for record in starts]
    print(f"\nStarted between {min(record['time'] for record in starts)} and {max(record['time'] for record in starts)} UTC, at a load of "
          f"{min(loads):.1f} to {max(loads):.1f}. A number is the minute after the start of the JVM at which the face first showed the "
          f"state; page, health, MBean and series were asked every {EVERY_SECONDS} s, each command every {EVERY_SECONDS * len(COMMANDS)} s.")
    measure.print_table("What each face concluded, and when", ["situation", "what is so", *FACES], rows)
    measure.print_table("What the page said", ["situation", "minute", "state", "sentence"], said)
    measure.print_table(f"Contradictions at the same moment: {len(contradictions)} of {compared} comparisons",
                        ["situation", "minute", "face", "what"], contradictions)
    measure.print_table("From minute 5 on, what the page said that is not so", ["situation", "minute", "state", "sentence"], wrong)
    return contradictions + wrong


def unlogged(situation, records):
    """Changes for the worse that the page showed for a minute and the log does not have."""
    last = None
    for record in changes(records, "page"):
        worse = record["state"] in ("watch", "act") and (last is None or STATES.index(record["state"]) > STATES.index(last))
        last = record["state"] if record["state"] in STATES else None
        near = [line for line in records if line["face"] == "log" and (line["run"], line["state"]) == (record["run"], record["state"])
                and abs(line["minute"] - record["minute"]) <= 1]
        if worse and not near:
            yield [situation.name, f"{record['minute']:.1f}", "log", f"has no line for {record['state']}"]


def wrong_at(situation, records):
    """The minutes from 5 on at which the page said something else than what is so."""
    for record in records:
        if record["face"] == "page" and record["minute"] >= 5 and situation.states:
            missing = [text for text in situation.says if not re.search(text, record["sentence"])]
            if record["state"] not in situation.states or missing:
                yield [situation.name, f"{record['minute']:.1f}", record["state"].replace("_", " "), record["sentence"]]


def parse_arguments():
    parser = argparse.ArgumentParser(prog="benchmarks/diagnosis/run.py", description=__doc__.splitlines()[0])
    parser.add_argument("--situation", choices=[situation.name for situation in SITUATIONS], action="append", help="only this one (repeatable)")
    parser.add_argument("--minutes", type=float, help="at most so many for each situation")
    parser.add_argument("--together", type=int, default=8, help="how many JVMs at the same time (8)")
    parser.add_argument("--page-only", action="store_true", help="ask the page alone, which needs little of the machine")
    parser.add_argument("--table", action="store_true", help="only the tables of what was recorded before")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    print(f"## Diagnoses\n\n{measure.describe_machine()}")
    failures = []
    if not arguments.table:
        RESULTS.mkdir(parents=True, exist_ok=True)
        chosen = [situation for situation in SITUATIONS if not arguments.situation or situation.name in arguments.situation]
        if arguments.minutes:
            chosen = [dataclasses.replace(situation, minutes=min(situation.minutes, arguments.minutes)) for situation in chosen]
        with tempfile.TemporaryDirectory(prefix="mallometer-diagnosis-") as classes:
            subprocess.run([JAVA + "c", "-d", classes, *map(str, HERE.glob("*.java"))], check=True)
            beans = Beans(classes)
            with concurrent.futures.ThreadPoolExecutor(arguments.together) as together:
                runs = {situation: together.submit(lambda one=situation: Run(one, classes, beans, page_only=arguments.page_only).watch()) for situation in chosen}
            beans.close()
        for situation, run in runs.items():
            if run.exception():
                failures.append(situation.name)
                measure.progress(f"{situation.name}: {run.exception()!r}")
    sys.exit(bool(print_tables() or failures))


if __name__ == "__main__":
    main()
