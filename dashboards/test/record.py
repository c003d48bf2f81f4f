#!/usr/bin/env python3
"""Records what real JVMs publish in situations that the alerts have to tell apart, at the world's pace: each JVM in a memory cgroup of
512 MiB, scraped by a real Prometheus every 15 s, started again when the kernel has killed it. Needs memory cgroups, prometheus, and what
bin/test builds.

    dashboards/test/record.py [--situation NAME]... [--keep DIRECTORY]
    dashboards/test/record.py --write [DIRECTORY]

The first leaves all series in DIRECTORY (dashboards/target/recorded), which Prometheus can open for the pictures; the second makes
prometheus/tests/recorded/ of it: of each situation the series that the rules ask. Times are those since the beginning.
"""

import argparse
import concurrent.futures
import dataclasses
import datetime
import json
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DASHBOARDS = pathlib.Path(__file__).resolve().parents[1]
ROOT = DASHBOARDS.parent
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks/diagnosis"), str(ROOT / "samples/leaky-service/e2e"), str(DASHBOARDS)]
import expressions  # noqa: E402
from processes import JAVA, Prometheus  # noqa: E402
from run import Run  # noqa: E402
from truth import MIB, Situation, compile_programs  # noqa: E402

JDK = pathlib.Path(shutil.which(JAVA)).resolve().parents[1]
KEPT = DASHBOARDS / "target/recorded"
RECORDED = DASHBOARDS / "prometheus/tests/recorded"
SCRAPE_SECONDS = 15
HANG_SECONDS = 90
# Their values are times of day.
MOMENTS = ("process_start_time_seconds", "mallometer_previous_exit_timestamp_seconds")
METRIC = re.compile(r"\b((?:native|cgroup|mallometer|jvm|process|system)_\w+)\b(?!:)")


def leaking(name, mib_per_minute, **other):
    return Situation(
        name,
        f"zlib leaks {mib_per_minute} MiB/min until the kernel kills it; is started again",
        properties=("--leaky.leaks.on=zlib", "--leaky.leaks.cap=1TB", f"--leaky.leaks.rate={int(mib_per_minute * MIB / 60)}B"),
        restarts=20,
        **other,
    )


SITUATIONS = (
    Situation("healthy", "a service that does not leak", 68),
    leaking("restarts-6m", 60, minutes=45, again=45),
    leaking("restarts-15m", 19, minutes=52, again=52),
    leaking("leak-to-kill", 5.5, minutes=68, again=68),
    Situation("cache-5m", "a cache of 150 MiB that is read fills with a time constant of 5 min", 68, ("filling-cache", "5"), heap=64),
    Situation("cache-20m", "a cache of 150 MiB that is read fills with a time constant of 20 min", 68, ("filling-cache", "20"), heap=64),
    Situation("cache-60m", "a cache of 150 MiB that is read fills with a time constant of 60 min", 68, ("filling-cache", "60"), heap=64),
    Situation("unread-cache", "a cache of 150 MiB that nobody reads fills within 20 min", 68, ("unread-cache", "20"), heap=64),
    Situation("batch", "120 MiB are taken for 4 min of every 14, and given back", 45, ("batch", "10"), heap=64),
    Situation("page-cache", "writes and reads a file of 1 GiB, 8 MiB/s", 45, ("page-cache", "0"), heap=64),
    Situation("heap", "a heap of at most 700 MiB grows 25 MiB/min until the kernel kills it; is started again", 45, ("heap",), heap=700,
              again=45, restarts=20),
    Situation("pre-touched", "a heap of 300 MiB is touched at the start", 30, ("touched",), heap=300,
              options=("-XX:+AlwaysPreTouch", "-Xms300m")),
    Situation("deploy", "is stopped and started again in minute 20 and 40", 60),
    Situation("hang", f"hangs for {HANG_SECONDS} s in minute 20 and 40, so that scrapes fail", 60),
)


class Recorded(Run):
    """A situation whose faces nobody asks; only Prometheus does."""

    def __init__(self, situation, class_path, directory):
        super().__init__(situation, JDK, class_path, None, argparse.Namespace(build=ROOT, results=directory, inputs=False))
        self.events = []
        self.end = time.monotonic() + situation.minutes * 60

    def ask(self):
        """Disturbs it, where that is the situation."""
        minute = (time.monotonic() - self.first) / 60
        due = sum(event["what"] in ("stopped", "hangs") for event in self.events) * 20 + 20
        if self.situation.name == "deploy" and due <= minute < 45:
            self.event("stopped")
            self.process.terminate()
        if self.situation.name == "hang" and due <= minute < 45:
            self.event("hangs")
            self.process.send_signal(signal.SIGSTOP)
            time.sleep(HANG_SECONDS)
            self.process.send_signal(signal.SIGCONT)

    def read_log(self):
        pass

    def watch(self):
        self.first = time.monotonic()
        super().watch()

    def once(self, limit, minutes):
        self.event("started")
        code = super().once(limit, (self.end - time.monotonic()) / 60)
        if self.situation.name == "deploy" and code is not None and time.monotonic() < self.end:
            return self.once(limit, minutes)
        return code

    def write(self, **record):
        if record.get("face") == "end":
            self.event("killed" if record["state"] == "OOM kill" else record["state"])

    def event(self, what):
        self.events.append({"at": time.time(), "what": what})


def record(situations, keep):
    began, commit = time.time(), head()
    with tempfile.TemporaryDirectory() as classes:
        class_path = compile_programs(JDK, classes)
        runs = [Recorded(situation, class_path, pathlib.Path(classes)) for situation in situations]
        jobs = [
            {
                "job_name": run.situation.name,
                "metrics_path": "/metrics" if run.situation.program else "/actuator/prometheus",
                "static_configs": [
                    {
                        "targets": [f"127.0.0.1:{run.port}"],
                        "labels": {"namespace": "shop", "pod": f"{run.situation.name}-7d9f4c6b8-x2x{index}q", "container": "app"},
                    }
                ],
            }
            for index, run in enumerate(runs)
        ]
        with Prometheus(jobs=jobs, interval=f"{SCRAPE_SECONDS}s") as prometheus:
            with concurrent.futures.ThreadPoolExecutor(len(runs)) as together:
                watched = [together.submit(run.watch) for run in runs]
            for one in watched:
                one.result()
            ended = time.time()
            series = {
                run.situation.name: expressions.query(
                    prometheus.url, "query", query=f'{{job="{run.situation.name}"}}[{int(ended - began) + 60}s]', time=ended
                )["result"]
                for run in runs
            }
            prometheus.process.terminate()
            prometheus.process.wait(30)
            keep.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(keep / "data", ignore_errors=True)
            shutil.copytree(pathlib.Path(prometheus.directory, "data"), keep / "data")
    for run in runs:
        (keep / f"{run.situation.name}.json").write_text(
            json.dumps(
                {
                    **dataclasses.asdict(run.situation),
                    "command": shlex.join(["dashboards/test/record.py", *sys.argv[1:]]),
                    "commit": commit,
                    "began": began,
                    "ended": ended,
                    "events": run.events,
                    "series": series[run.situation.name],
                }
            )
        )


def head():
    """The commit, and whether something else is in the work tree."""
    described = ["git", "describe", "--always", "--exclude=*", "--dirty=, changed since"]
    return subprocess.run(described, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


# ---- Fixtures


def asked():
    """The names of all series that the rules ask."""
    rules = "".join((DASHBOARDS / f"prometheus/{name}.yml").read_text() for name in ("recording", "alerts"))
    return set(METRIC.findall(rules))


def number(value):
    """Returns a value with three decimals: bytes are whole, and seconds need no more."""
    return f"{float(value):.3f}".rstrip("0").rstrip(".")


def values(name, samples, began, slots):
    """The samples in promtool's notation, one for each scrape: a missing one ends the series, as a scrape that failed does."""
    at = [None] * slots
    for when, value in samples:
        slot = round((when - began) / SCRAPE_SECONDS)
        if 0 <= slot < slots:
            at[slot] = str(round(float(value) - began, 3)) if name in MOMENTS else number(value)
    out, before = [], None
    for value in at:
        text = value if value is not None else ("stale" if before not in (None, "stale", "_") else "_")
        if out and out[-1][0] == text and text != "stale":
            out[-1][1] += 1
        else:
            out.append([text, 1])
        before = text
    return " ".join(text if count == 1 else f"{text}x{count - 1}" if text != "_" else f"_x{count}" for text, count in out)


def absent(record, names):
    """Returns the series of mallometer that the rules ask and the recording does not have."""
    published = {one["metric"]["__name__"] for one in record["series"]}
    return sorted(name for name in names - published if name.startswith(("native_", "mallometer_")))


def write(kept):
    RECORDED.mkdir(exist_ok=True)
    names = asked() | {"up"}
    for file in sorted(kept.glob("*.json")):
        record = json.loads(file.read_text())
        began = min(one["values"][0][0] for one in record["series"] if one["metric"]["__name__"] == "up")
        slots = int((record["ended"] - began) // SCRAPE_SECONDS) + 1
        lines = [
            f"# {record['name']}: {record['truth']}.",
            f"# Recorded by {record['command']}",
            f"# on {datetime.datetime.fromtimestamp(began, datetime.timezone.utc):%F %H:%M} UTC at commit {record['commit']}, with a memory limit of 512 MiB and a",
            f"# scrape every {SCRAPE_SECONDS} s. Only what the rules ask. Times of day are told since the beginning.",
            f"# Asked, and not published: {', '.join(absent(record, names)) or 'nothing'}.",
            f"# Length: {(slots - 1) * SCRAPE_SECONDS // 60} min",
            "# Minutes: " + ", ".join(f"{event['what']} {(event['at'] - began) / 60:.1f}" for event in record["events"]),
            "rule_files:",
            "  - ../../recording.yml",
            "  - ../../alerts.yml",
            "evaluation_interval: 1m",
            "group_eval_order: [mallometer-instances, mallometer-jobs, mallometer-memory, mallometer-itself]",
            "tests:",
            f"  - name: {record['name']}",
            f"    interval: {SCRAPE_SECONDS}s",
            "    input_series:",
        ]
        for one in record["series"]:
            labels = dict(one["metric"])
            name = labels.pop("__name__")
            if name not in names or labels.get("area") == "nonheap":
                continue
            labels["instance"] = record["name"]
            text = ", ".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
            lines += [f"      - series: '{name}{{{text}}}'", f"        values: '{values(name, one['values'], began, slots)}'"]
        (RECORDED / f"{record['name']}.yml").write_text("\n".join(lines) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--situation", choices=[situation.name for situation in SITUATIONS], action="append", help="only this one (repeatable)")
    arguments.add_argument("--minutes", type=float, help="at most so many for each situation")
    arguments.add_argument("--keep", type=pathlib.Path, default=KEPT, help="where the series are left")
    arguments.add_argument("--write", action="store_true", help="only makes the tests' recordings of the series that were left there")
    given = arguments.parse_args()
    chosen = [situation for situation in SITUATIONS if not given.situation or situation.name in given.situation]
    if given.minutes:
        chosen = [dataclasses.replace(one, minutes=min(one.minutes, given.minutes), again=min(one.again, given.minutes)) for one in chosen]
    if given.write:
        write(given.keep)
    else:
        record(chosen, given.keep)


if __name__ == "__main__":
    main()
