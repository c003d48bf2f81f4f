#!/usr/bin/env python3
"""How much a fleet costs: fills a real Prometheus with the series of many synthetic instances, lets it compute the recording
rules over the whole time, and measures every rule and every panel as Grafana asks for it.

The series are those of the leaky service's scrape in names, labels and number, made up in value. What the Fleet dashboard and the
rules ask has a value every 30 s, as the monitors of dashboards/kubernetes scrape; rates that the other dashboards ask, every 30 s
of the last three hours; the rest, which only makes the index as large as it would be, every ten minutes. Rules are evaluated every
minute, as Prometheus does by default. Nothing is scraped. Needs prometheus and promtool; some 10 GB of disk and 10 GB of memory for
1,000 instances.

    dashboards/test/scale/simulate.py [--instances 1000] [--hours 6] [--keep DIRECTORY]

Prints tables in Markdown.
"""

import argparse
import contextlib
import itertools
import json
import math
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
DASHBOARDS = HERE.parents[1]
sys.path[:0] = [str(DASHBOARDS), str(HERE.parent)]
import expressions  # noqa: E402
import rules  # noqa: E402

MIB = 1 << 20
SCRAPE = 30
EVALUATION = 60
SELDOM = 600
INSTANCES_OF_A_JOB = 20
# The number of series in the leaky service's scrape, those of others included.
SERIES_OF_A_SCRAPE = 229
RATES_SECONDS = 3 * 3600
# The repetitions of a query; the fastest counts, because others on the machine disturbed it least.
ROUNDS = 3
# The width of a panel of half a screen.
POINTS = 800
RANGES = {"mallometer-overview": 3 * 3600, "mallometer-where": 3600, "mallometer-fleet": 6 * 3600}
PARTS = {
    "java_heap": 300, "metaspace": 60, "class_space": 8, "code_cache": 40, "thread_stacks": 10, "gc_and_jvm": 30,
    "direct_buffers": 20, "malloc_live": 100, "malloc_retained": 40, "mapped_files": 35, "shared_memory": 0,
    "mallometer": 7, "unexplained": 1,
}


class Instance:
    """One process: its labels, and its values as functions of the time since the beginning."""

    def __init__(self, number, chance, start):
        job = f"service-{number // INSTANCES_OF_A_JOB}"
        self.labels = (
            f'cluster="c{number // INSTANCES_OF_A_JOB % 3}",namespace="team-{number // INSTANCES_OF_A_JOB % 25}",job="{job}",'
            f'application="{job}",instance="{job}-{number % INSTANCES_OF_A_JOB}",pod="{job}-{number % INSTANCES_OF_A_JOB}"'
        )
        self.base = chance.uniform(60, 300) * MIB
        # One in fifty grows; the others rise and fall.
        self.growth = chance.uniform(5, 40) * MIB / 3600 if chance.random() < 0.02 else 0
        self.wave = chance.uniform(0, 2 * math.pi)
        self.limit = chance.choice([768, 1024, 1536, 2048]) * MIB
        # One in ten was deployed in the last two hours.
        self.started = start + chance.randrange(14_400, 21_600) if chance.random() < 0.1 else start - 86_400
        self.arenas = chance.choice([4, 8, 16, 32])
        # Every fifth job rolls a new version out, one instance each quarter of an hour.
        rolls = number // INSTANCES_OF_A_JOB % 5 == 0
        self.released = start + 7200 + 900 * (number % INSTANCES_OF_A_JOB) if rolls else math.inf
        self.killed = number % 200 == 42
        self.start = start

    def live(self, age):
        return int(self.base * (1 + 0.05 * math.sin(age / 900 + self.wave)) + self.growth * age)

    def seconds_to_limit(self, age):
        return max(0, (self.limit - self.live(age) - 550 * MIB) / self.growth) if self.growth else math.inf

    def diagnosis(self, age):
        left = self.seconds_to_limit(age)
        return "act" if left < 1800 else "watch" if left < 86_400 else "healthy"

    def asked(self, age):
        """Series that dashboards and rules ask, as (name, further labels, value)."""
        live = self.live(age)
        released = self.start + age >= self.released
        started = self.released if released else self.started
        yield "mallometer_application_info", f'version="{"2.3.1" if released else "2.3.0"}"', 1
        for state in "act", "watch", "too_early", "healthy":
            yield "mallometer_diagnosis", f'state="{state}"', int(state == self.diagnosis(age))
        if self.growth:
            for bound, factor in ("lower", 0.8), ("estimate", 1), ("upper", 1.3):
                yield "mallometer_time_to_limit_seconds", f'bound="{bound}"', int(factor * self.seconds_to_limit(age))
        if self.killed:
            yield "mallometer_previous_exit_timestamp_seconds", 'reason="oom"', started - 5
        yield "native_malloc_live_bytes", "", live
        yield "native_malloc_live_objects", "", live // 180
        for part, size in PARTS.items():
            yield "native_memory_resident_bytes", f'part="{part}"', live if part == "malloc_live" else size * MIB
        yield "cgroup_memory_limit_bytes", "", self.limit
        yield "cgroup_memory_working_set_bytes", "", live + 550 * MIB
        for part in "this_process", "page_cache", "kernel", "tmpfs", "other_processes", "other":
            yield "cgroup_memory_charged_bytes", f'part="{part}"', 100 * MIB
        yield "native_allocator_trimmable_bytes", 'allocator="glibc"', 12 * MIB
        yield "native_allocator_arenas", 'allocator="glibc"', self.arenas
        yield "native_malloc_allocated_bytes_total", "", int(20 * MIB * age) + live
        yield "native_malloc_freed_bytes_total", "", int(20 * MIB * age)
        yield "mallometer_active", "", 1
        yield "mallometer_snapshot_age_seconds", "", 3
        yield "mallometer_overhead_seconds_total", "", age * 0.002
        yield "process_start_time_seconds", "", started
        yield "system_cpu_count", "", 2
        for pool, used, most in ("Eden", 40, -1), ("Survivor", 5, -1), ("Old", 120, 512 * MIB):
            yield "jvm_memory_used_bytes", f'area="heap",id="{pool}"', used * MIB
            yield "jvm_memory_max_bytes", f'area="heap",id="{pool}"', most

    def rates(self, age):
        """Counters that the Overview and Where dashboards ask."""
        for index in range(19):
            yield "native_malloc_request_size_bytes_bucket", f'le="{float(16 << index)}"', int(1000 * age) + index
        yield "native_malloc_request_size_bytes_bucket", 'le="+Inf"', int(1000 * age) + 20
        for size in "small", "large":
            yield "native_malloc_allocations_total", f'size="{size}"', int(1000 * age)
        for name in "frees", "failed", "huge", "large", "requested_bytes":
            yield f"native_malloc_{name}_total", "", int(100 * age)
        yield "native_allocator_trims_total", 'allocator="glibc"', 0
        yield "mallometer_samples_total", "", int(100 * age)
        for reason in "no_site", "not_followed", "no_path":
            yield "mallometer_samples_dropped_total", f'reason="{reason}"', 0
        for event in "max", "high", "oom", "oom_kill":
            yield "cgroup_memory_events_total", f'event="{event}"', 0

    def others(self, age):
        """The rest of a scrape."""
        for index in range(16):
            yield "native_malloc_site_live_bytes", f'site="com.example.Class{index}.method"', self.live(age) // 16
            yield "native_malloc_library_live_bytes", f'library="lib{index}.so"', self.live(age) // 16
        for name in "peak", "largest":
            yield f"native_malloc_{name}_bytes", "", 400 * MIB
        for name in "system", "used", "retained":
            yield f"native_allocator_{name}_bytes", 'allocator="glibc"', 200 * MIB
        yield "mallometer_build_info", 'version="0.1.0",allocator="glibc 2.36",mode="preloaded",accounting="chunk"', 1
        yield "mallometer_footprint_bytes", "", 11 * MIB
        yield "mallometer_overhead_target_ratio", "", 0.01
        for evidence in "lost", "outlasted", "known":
            leaks = int(self.growth > 0 and evidence == "outlasted")
            yield "native_malloc_leak_sites", f'verdict="leak",evidence="{evidence}"', leaks
        for verdict in "unused", "growing", "waits_for_gc", "pool":
            yield "native_malloc_leak_sites", f'verdict="{verdict}",evidence=""', 0
        for index in range(10):
            yield "native_malloc_leak_suspected_bytes", f'site="com.example.Class{index}.method"', MIB
            yield "native_malloc_leak_unused_bytes", f'site="com.example.Class{index}.method"', MIB
        yield "cgroup_memory_swap_bytes", "", 0
        yield "jvm_threads_live_threads", "", 60
        # Series that Spring Boot publishes itself.
        for index in range(79):
            yield "http_server_requests_seconds_count", f'uri="/{index}"', int(age)


def write_openmetrics(path, fleet, start, end):
    """All samples, and how many series one instance has."""
    series = set()
    with open(path, "w", encoding="ascii") as out:
        for when in range(start, end + 1, SCRAPE):
            age = when - start
            for instance in fleet:
                values = instance.asked(age)
                if end - when <= RATES_SECONDS:
                    values = itertools.chain(values, instance.rates(age))
                if (end - when) % SELDOM == 0:
                    values = itertools.chain(values, instance.others(age))
                for name, labels, value in values:
                    separator = "," if labels else ""
                    line = f"{name}{{{instance.labels}{separator}{labels}}}"
                    out.write(f"{line} {value} {when}\n")
                    if instance is fleet[0] and when == end:
                        series.add(line)
        out.write("# EOF\n")
    return len(series)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def prometheus(data, *options):
    """A Prometheus over the data, as its address and process; it scrapes nothing."""
    configuration = data.parent / "prometheus.yml"
    configuration.write_text("scrape_configs: []\n")
    address = f"127.0.0.1:{free_port()}"
    with open(data.parent / "log", "a", encoding="utf-8") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={configuration}",
                f"--storage.tsdb.path={data}",
                "--storage.tsdb.retention.time=10y",
                f"--web.listen-address={address}",
                *options,
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://{address}/-/ready"):
                break
            time.sleep(0.1)
        yield f"http://{address}", process
    finally:
        process.terminate()
        process.wait(60)


class Cost:
    """The costs of a query, or of several: time until the answer, CPU time of Prometheus, series of the answer."""

    def __init__(self, seconds=0.0, processor=0.0, series=0):
        self.seconds, self.processor, self.series = seconds, processor, series

    def __add__(self, other):
        return Cost(self.seconds + other.seconds, self.processor + other.processor, self.series + other.series)


def processor_seconds(process):
    """Returns the CPU time of a process so far."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost_of(server, path, **parameters):
    """The fastest of some rounds."""
    url, process = server
    rounds = []
    for _ in range(ROUNDS):
        began, used = time.monotonic(), processor_seconds(process)
        result = expressions.query(url, path, **parameters)["result"]
        rounds.append(Cost(time.monotonic() - began, processor_seconds(process) - used, len(result)))
    return min(rounds, key=lambda cost: cost.seconds)


def substitute(expression, variables):
    return expressions.VARIABLE.sub(lambda name: variables[name[1] or name[2]], expression)


def interval(panel):
    """The shortest time between two points of a panel, in seconds."""
    minutes = re.fullmatch(r"(\d+)m", panel.get("interval", ""))
    return int(minutes[1]) * 60 if minutes else SCRAPE


def measure_panels(server, name, end):
    """Returns the cost of each panel: of all its queries, one after the other."""
    dashboard = json.loads((DASHBOARDS / f"grafana/{name}.json").read_text())
    length = RANGES[name]
    url, _ = server
    all_values = {one["name"]: one["allValue"] for one in dashboard["templating"]["list"] if one.get("allValue")}
    chosen = expressions.variable_values(url, dashboard, end) | all_values | {"compare": "1h"}
    for panel in expressions.panels(dashboard):
        step = max(interval(panel), math.ceil(length / POINTS))
        variables = {**chosen, "__rate_interval": f"{max(step, 4 * SCRAPE)}s", "__interval": f"{step}s", "__range": f"{length}s"}
        cost = Cost()
        for target in panel["targets"]:
            query = substitute(target["expr"], variables)
            if target.get("instant"):
                cost += cost_of(server, "query", query=query, time=end)
            else:
                cost += cost_of(server, "query_range", query=query, start=end - length, end=end, step=step)
        yield panel["title"], cost


def measure_rules(server, end):
    """Returns the cost of one evaluation of each rule."""
    for file in "recording.yml", "alerts.yml":
        for group in rules.load(rules.RULES / file)["groups"]:
            for rule in group["rules"]:
                yield rule.get("record") or rule["alert"], cost_of(server, "query", query=rule["expr"], time=end)


def resident(process):
    """Bytes of resident memory of a process."""
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) * 1024


def table(heading, rows):
    print(f"\n| {heading} | ms | processor ms | series |\n|---|---|---|---|")
    whole = Cost()
    for title, cost in rows:
        whole += cost
        print(f"| {title} | {cost.seconds * 1000:.0f} | {cost.processor * 1000:.0f} | {cost.series:,} |")
    print(f"| all | {whole.seconds * 1000:.0f} | {whole.processor * 1000:.0f} | {whole.series:,} |")
    sys.stdout.flush()


def say(text):
    print(text, file=sys.stderr, flush=True)


def levels(recording):
    """Rules in the order in which they can be evaluated: each list asks only what the lists before it record."""
    waiting = [rule for group in recording["groups"] for rule in group["rules"]]
    while waiting:
        unknown = {rule["record"] for rule in waiting}
        ready = [rule for rule in waiting if not any(re.search(rf"{name}\b", rule["expr"]) for name in unknown)]
        assert ready, waiting
        yield ready
        waiting = [rule for rule in waiting if rule not in ready]


def fill(directory, fleet, start, end):
    """The blocks of all samples and of the recorded series; returns how many series one instance has."""
    text, data = directory / "samples.txt", directory / "data"
    say("writing samples")
    series = write_openmetrics(text, fleet, start, end)
    assert series == SERIES_OF_A_SCRAPE, series
    say(f"making blocks of {text.stat().st_size / 1e9:.1f} GB of text")
    promtool = ["promtool", "tsdb", "create-blocks-from", "--max-block-duration=24h"]
    subprocess.run([*promtool, "openmetrics", text, data], check=True, stdout=subprocess.DEVNULL)
    text.unlink()
    say("recording rules")
    record(data, start, end)
    return series


def record(data, start, end):
    """Adds what the recording rules make of the data."""
    # Rules that ask what other rules record have it only after these were written.
    for recorded in levels(rules.load(rules.RULES / "recording.yml")):
        file, output = data.parent / "recording.yml", data.parent / "recorded"
        file.write_text(json.dumps({"groups": [{"name": "recorded", "rules": recorded}]}))
        with prometheus(data) as (url, _):
            subprocess.run(
                [
                    "promtool", "tsdb", "create-blocks-from", "rules", f"--start={start}", f"--end={end}",
                    f"--eval-interval={EVALUATION}s", f"--url={url}", f"--output-dir={output}", file,
                ],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        for block in output.iterdir():
            shutil.move(block, data / block.name)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--instances", type=int, default=1000)
    arguments.add_argument("--hours", type=int, default=6)
    arguments.add_argument("--keep", type=pathlib.Path, help="where to keep, or to find again, the filled database")
    given = arguments.parse_args()
    # On the hour and not near now: blocks, all of it.
    end = int(time.time()) // 7200 * 7200 - 7200
    start = end - given.hours * 3600
    chance = random.Random(1)
    fleet = [Instance(number, chance, start) for number in range(given.instances)]
    with contextlib.ExitStack() as stack:
        directory = given.keep or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        directory.mkdir(parents=True, exist_ok=True)
        if (directory / "filled").exists():
            start, end, series = json.loads((directory / "filled").read_text())
        else:
            series = fill(directory, fleet, start, end)
            (directory / "filled").write_text(json.dumps([start, end, series]))
        url, process = stack.enter_context(prometheus(directory / "data"))
        total = expressions.query(url, "query", query='count({__name__=~".+"})', time=end)["result"][0]["value"][1]
        print(f"{given.instances:,} instances with {series} series each; {int(total):,} series in all, recorded ones among them")
        say("measuring")
        server = url, process
        table("rule", sorted(measure_rules(server, end), key=lambda row: -row[1].seconds))
        for name in "mallometer-fleet", "mallometer-overview", "mallometer-where":
            table(f"panel of {name}", measure_panels(server, name, end))
        size = sum(path.stat().st_size for path in (directory / "data").rglob("*") if path.is_file())
        print(f"\nPrometheus: {resident(process) / 1e9:.1f} GB resident, {size / 1e6:.0f} MB on disk")


if __name__ == "__main__":
    main()
