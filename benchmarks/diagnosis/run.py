"""Records what mallometer diagnoses in a number of situations, when it does, and whether all outputs agree.

truth.py has the situations and the right diagnosis of each. Each situation runs in a JVM in a memory cgroup of its own; the JDKs take
turns. Every 15 seconds the outputs (faces) are read: page, health, series and MBean, and one of the commands in turn. The script prints
when each face showed which state, what the page said, where two faces disagreed at the same moment, and what was wrong from minute 5 on:
the state, the sentence, and the account compared with what the program planted. Everything that was read is in
benchmarks/target/diagnosis/, in one file for each situation; --table prints the tables of these files again. A situation whose file is
complete is not measured again without --again.
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import datetime
import gzip
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
from truth import COMMANDS, MIB, SITUATIONS, compile_programs, print_tables, read

ROOT = HERE.parents[1]
RESULTS = measure.TARGET / "diagnosis"
EVERY_SECONDS = 15
# The seconds between the starts of the first JVMs. A start takes most of the CPU time.
APART_SECONDS = 12
# The minutes at which the complete data of the page is recorded.
WHOLE_MINUTES = (3, 5, 9.5)
LOGGED = re.compile(r"Native memory, (act|watch): (.*)")
OOM_KILLED = -9
# Call sites with fewer live bytes at all times are not in the files for RecordedDiagnosisTest; the account has them under malloc without a
# sampled call site.
LEAST_BYTES = 32 << 10
SUSPECTED = ("LEAK", "UNUSED", "GROWING")


class Unlimited:
    possible = True

    @staticmethod
    def command(*command):
        return list(command)


class Beans:
    """A JVM that reads the MBeans of the others."""

    def __init__(self, class_path):
        self._process = subprocess.Popen([JAVA, "-Xmx32m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", class_path, "Situation$Inputs$Beans"],
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

    def __init__(self, situation, home, class_path, beans, arguments):
        self.arguments = arguments
        self.situation = situation
        self.java = str(home / "bin/java")
        self.agent = arguments.build / "metrics-bridge/agent/target/mallometer-agent.jar"
        self.class_path = class_path
        self.beans = beans
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="mallometer-diagnosis-"))
        self.file = arguments.results / f"{situation.file}.jsonl"
        self.records = self.file.open("w")
        self.whole = list(WHOLE_MINUTES)
        self.next_command = 0
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
        self.write(face="start", load=os.getloadavg()[0], jdk=pathlib.Path(self.java).parents[1].name, time=f"{datetime.datetime.now(datetime.timezone.utc):%H:%M:%S}")
        left = situation.minutes
        try:
            with MemoryLimit(situation.limit * MIB) if situation.limit else contextlib.nullcontext(Unlimited) as limit:
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
            self.write(face="complete")
        finally:
            self.records.close()
            shutil.rmtree(self.directory)

    def once(self, limit, minutes):
        """Runs the program once. Returns its exit code; None if it ran for the whole time."""
        self.began = time.monotonic()
        with open(self.directory / "log", "w+", encoding="utf-8") as log:
            self.logged = 0
            self.log = log
            self.process = subprocess.Popen(limit.command(*self.command()), cwd=self.arguments.build, stdin=subprocess.DEVNULL, stdout=log,
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
        command = [str(self.arguments.build / "bin/mallometer"), "run", "--", self.java, f"-Xmx{situation.heap}m", *situation.options]
        command += [f"-Dcom.sun.management.jmxremote.{option}" for option in (
            f"port={self.jmx_port}", f"rmi.port={self.jmx_port}", "host=127.0.0.1", "authenticate=false", "ssl=false")]
        command.append("-Djava.rmi.server.hostname=127.0.0.1")
        if situation.program:
            name, *minutes = situation.program
            if self.arguments.inputs:
                command.append(f"-Dinputs={self.arguments.results.resolve() / situation.file}")
            return [*command, "-XX:MaxDirectMemorySize=400m", f"-javaagent:{self.agent}=port={self.port},recording={record}", "-cp", self.class_path,
                    "Situation", name, *(minutes or ["0"]), str(self.directory / "file")]
        jar = next((self.arguments.build / "samples/leaky-service/target").glob("mallometer-leaky-service-*.jar"))
        return [*command, "-jar", str(jar), f"--server.port={self.port}", f"--mallometer.recording={record}", *situation.properties]

    # ---- Faces

    def ask(self):
        try:
            before = self.page()
            self.said("page", before)
            if self.arguments.page_only:
                return
            if not self.situation.program:
                self.compare("health", before, self.health)
            self.compare("series", before, self.series)
            self.compare("MBean", before, self.bean)
            if time.monotonic() < self.next_command:
                return
            self.next_command = time.monotonic() + self.arguments.command_seconds - 1
            command = COMMANDS[self.turn % len(COMMANDS)]
            self.turn += 1
            self.compare(command, self.page(), getattr(self, command))
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as failed:
            # The JVM is starting, or is being killed.
            self.write(face="failure", state=type(failed).__name__, sentence=str(failed))

    def page(self):
        overview = json.loads(get(f"{self.url}/nativememory/overview"))
        if self.whole and self.minute() >= self.whole[0]:
            self.whole.pop(0)
            self.write(face="overview", overview=overview, leaks=json.loads(get(f"{self.url}/nativememory/leaks")))
        return overview["diagnosis"]

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
        command = [JAVA, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", str(self.agent), *arguments, str(self.process.pid)]
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
        """Compares what a face says with what the page says before and after it: a command takes seconds, and each poll may change the
        diagnosis."""
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
                   contradiction=contradiction, account=diagnosis.get("account"), actions=diagnosis.get("actions"), named=diagnosis.get("named"))
        if face == "page" and diagnosis["state"] != self.printed:
            self.printed = diagnosis["state"]
            measure.progress(f"{self.situation.name}, {self.minute():.1f} min: {diagnosis['state']}: {diagnosis['sentence']}")

    def read_log(self):
        self.log.flush()
        lines = (self.directory / "log").read_text(encoding="utf-8", errors="replace").splitlines()
        for line in lines[self.logged:]:
            found = LOGGED.search(line)
            if line.startswith("planted\t"):
                _, milliseconds, *rows = line.split("\t")
                self.write(face="planted", time=int(milliseconds) / 1000, rows={name: int(count) for name, _, count in (row.rpartition("=") for row in rows)})
            elif found:
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
    """Returns a sentence without its figures, which change with each reading, and without the interval of a time of day, which is left out
    if it is short."""
    sentence = re.sub(r" \(\d\d:\d\d UTC to [^)]*\)", "", sentence)
    return re.sub(r"\d+(\.\d+)?( ?(B|KiB|MiB|GiB|%|s|min|h|days?|minutes?|hours?|seconds?))?", "#", sentence)


# ---- Files for RecordedDiagnosisTest


def shortened(recorded):
    """Returns the input without healthy verdicts and small sites, and with only the first stack of each site."""
    recorded["leaks"]["sites"] = [site for site in recorded["leaks"]["sites"] if site["verdict"] in SUSPECTED]
    sites = recorded["sites"]
    if sites:
        sites["groups"] = [{**group, "largest": group["largest"][:1]} for group in sites["groups"] if max(group["history"], default=0) >= LEAST_BYTES]
    return recorded


def write_fixtures(results, chosen, directory):
    """Writes files with the input of the rules, without the parts that they do not read, and with what is right at that minute."""
    for situation in chosen:
        for minute in (5, 9):
            file = results / f"{situation.file}-{minute}.json.gz"
            if not file.exists():
                continue
            with gzip.open(file) as stream:
                recorded = json.load(stream)
            fixture = {
                "truth": situation.truth,
                "states": situation.late if minute == 9 and situation.late else situation.states,
                "says": situation.says + situation.always_says,
                "alwaysSays": situation.always_says,
                "notSays": situation.not_says,
                "attributed": situation.attributed,
                "input": shortened(recorded),
            }
            with gzip.GzipFile(directory / file.name, "wb", 9, mtime=0) as stream:
                stream.write(json.dumps(fixture, separators=(",", ":")).encode())


def parse_arguments():
    parser = argparse.ArgumentParser(prog="benchmarks/diagnosis/run.py", description=__doc__.splitlines()[0])
    parser.add_argument("--situation", choices=[situation.name for situation in SITUATIONS], action="append", help="only this one (repeatable)")
    parser.add_argument("--minutes", type=float, help="at most so many for each situation")
    parser.add_argument("--together", type=int, default=4, help="how many JVMs at the same time (4)")
    parser.add_argument("--jdk", type=pathlib.Path, action="append", help="a JDK's directory (repeatable: by turns). Default: JAVA_HOME")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT, help="the built repository that is measured, if it is not this one")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, help="the directory of the results")
    parser.add_argument("--again", action="store_true", help="measure also what has a complete result")
    parser.add_argument("--command-seconds", type=float, default=EVERY_SECONDS, help=f"how often a command is asked ({EVERY_SECONDS})")
    parser.add_argument("--inputs", action="store_true", help="also keep what the rules read at minutes 3, 5 and 9")
    parser.add_argument("--fixtures", type=pathlib.Path, help="run nothing: make files for RecordedDiagnosisTest in this directory of what --inputs kept")
    parser.add_argument("--page-only", action="store_true", help="ask the page alone, which needs little of the machine")
    parser.add_argument("--table", action="store_true", help="only the tables of what was recorded before")
    return parser.parse_args()


def measure_all(arguments, chosen, homes):
    """Measures all situations. Returns the names of those that could not be measured."""
    arguments.results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mallometer-diagnosis-") as classes:
        class_path = compile_programs(homes[0], classes)
        beans = Beans(class_path)
        with concurrent.futures.ThreadPoolExecutor(arguments.together) as together:
            runs = {}
            for situation in chosen:
                home = homes[next(i for i, one in enumerate(SITUATIONS) if one.name == situation.name) % len(homes)]
                runs[situation] = together.submit(lambda one=situation, its=home: Run(one, its, class_path, beans, arguments).watch())
                if len(runs) < arguments.together:
                    time.sleep(APART_SECONDS)
        beans.close()
    failures = {situation.name: run.exception() for situation, run in runs.items() if run.exception()}
    for name, failure in failures.items():
        measure.progress(f"{name}: {failure!r}")
    return list(failures)


def main():
    arguments = parse_arguments()
    homes = arguments.jdk or [pathlib.Path(JAVA).resolve().parents[1]]
    chosen = [situation for situation in SITUATIONS if not arguments.situation or situation.name in arguments.situation]
    if arguments.fixtures:
        write_fixtures(arguments.results, chosen, arguments.fixtures)
        return
    print(f"## Diagnoses\n\n{measure.describe_machine()}")
    missing = [situation for situation in chosen if arguments.again or not any(
        record["face"] == "complete" for record in read(arguments.results, situation))]
    if arguments.minutes:
        missing = [dataclasses.replace(situation, minutes=min(situation.minutes, arguments.minutes)) for situation in missing]
    failures = [] if arguments.table or not missing else measure_all(arguments, missing, homes)
    sys.exit(bool(print_tables(arguments.results, chosen) or failures))


if __name__ == "__main__":
    main()
