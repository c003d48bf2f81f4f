"""Measures how mallometer affects whole services.

    run.py leaks [MINUTES]       whether the sample without a leak stays without a verdict of leak: 31 minutes
    run.py resident [MINUTES]    how much resident memory mallometer adds to it: an hour
    run.py broker JAVA_HOME...   whether a Kafka broker works and ends as without the agent: two minutes for each JDK
    run.py files JAVA_HOME...    how much of the page cache that a cgroup is charged for has a file: five minutes for each JDK

For `leaks` the sample is under its own load, scraped and looked at as services are. Prints the verdicts other than healthy once a
minute; the exit code is 1 if one of them was ever leak.

For `resident` it runs twice side by side. One process is preloaded and has everything on that the starter brings, and is scraped as
services are; the other has neither the library nor the starter's beans (mallometer.enabled=false). Heap and collector are fixed and
the heap is touched at the start, so that what differs is native memory. Prints both every ten minutes. The gate is the resident set
above 1.05 times that of the plain one, averaged over the last five minutes; the exit code is 1 if it is missed.

For `broker` an unmodified Kafka broker from Maven Central runs under bin/mallometer and the agent: one node, KRaft, on the loopback
address. It serves a producer that compresses with zstd, and is scraped and asked by process id meanwhile.

For `files` Kafka, Lucene and RocksDB from Maven Central write and read some 300 MB each, each in a memory cgroup of its own, preloaded and
attached. Files that other processes read before are charged to others, so only files below the program's own directory count as named, and
of these only the twenty that are listed. The gate is 95 % of the charge. Beside it stands what cachestat says of the same directory.
"""

import collections
import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "samples/leaky-service/e2e")]

import measure
from processes import Demo, MemoryLimit, free_port, get

SERVICE = measure.ROOT / "samples/leaky-service/target"
OPTIONS = ("-Xms128m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:+AlwaysPreTouch", "-XX:ReservedCodeCacheSize=48m",
           "-Dspring.jmx.enabled=false")
SCRAPED_EVERY_SECONDS = 15
PATHS = ("prometheus", "health", "nativememory", "nativememory/sites", "nativememory/breakdown", "nativememory/leaks")
PRINTED_EVERY_SECONDS = 600
AVERAGED_SECONDS = 300
MOST_MEBIBYTES = 16
MEBIBYTE = 1 << 20
KAFKA = ("org.apache.kafka:kafka_2.13:4.1.0", "org.apache.kafka:kafka-tools:4.1.0")
COMMAND = str(measure.ROOT / "bin/mallometer")
RECORDS = 200_000
STORES = ("org.apache.lucene:lucene-core:9.12.0", "org.rocksdb:rocksdbjni:9.8.4")
STORED_RECORDS = 300_000
LEAST_NAMED = 0.95
READ_AGAIN_SECONDS = 150
CALL_CACHESTAT = 451


# ---- The sample twice


class Service:
    def __init__(self, environment, *properties):
        self.port = free_port()
        jar = next(SERVICE.glob("mallometer-leaky-service-*.jar"))
        self.process = subprocess.Popen(
            ["java", *OPTIONS, "-jar", jar, f"--server.port={self.port}", *properties],
            env=measure.clean_environment(environment),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def resident_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024

    def scrape(self):
        get(f"http://127.0.0.1:{self.port}/actuator/prometheus")

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def wait_until_up(service):
    for _ in range(120):
        try:
            return service.scrape()
        except OSError:
            time.sleep(1)
    sys.exit("benchmarks/service: the service does not answer")


def watch(plain, ours, minutes):
    """Returns the mebibytes of both processes over the last minutes."""
    begin, printed, latest = time.monotonic(), 0, []
    while (age := time.monotonic() - begin) < minutes * 60:
        for service in (plain, ours):
            service.scrape()
        pair = plain.resident_bytes() / MEBIBYTE, ours.resident_bytes() / MEBIBYTE
        if age >= printed:
            printed += PRINTED_EVERY_SECONDS
            print(f"{age / 60:3.0f} min  plain {pair[0]:.1f} MiB, with mallometer {pair[1]:.1f} MiB", flush=True)
        if age >= minutes * 60 - AVERAGED_SECONDS:
            latest.append(pair)
        time.sleep(SCRAPED_EVERY_SECONDS)
    return (statistics.mean(of_one) for of_one in zip(*latest))


def resident(minutes):
    print(f"## Resident memory of a service, {minutes:g} minutes\n\n{measure.describe_machine()}\n")
    plain = Service({}, "--mallometer.enabled=false")
    ours = Service({"LD_PRELOAD": os.fspath(measure.existing(measure.LIBRARY, "none: built from interposer/"))})
    try:
        for service in (plain, ours):
            wait_until_up(service)
        if '"state":"ACTIVE"' not in get(f"http://127.0.0.1:{ours.port}/actuator/nativememory"):
            sys.exit("benchmarks/service: the service does not count")
        without, with_ours = watch(plain, ours, minutes)
    finally:
        plain.stop()
        ours.stop()
    more = with_ours - 1.05 * without
    print(f"\nAt the end plain {without:.1f} MiB, with mallometer {with_ours:.1f} MiB: {more:.1f} MiB above 1.05 x plain, "
          f"at most {MOST_MEBIBYTES}: {'met' if more <= MOST_MEBIBYTES else 'MISSED'}")
    return more > MOST_MEBIBYTES


# ---- The sample without a leak, looked at


def leaks(minutes):
    print(f"## A service that does not leak, {minutes:g} minutes\n\n{measure.describe_machine()}\n")
    called = {}
    # This uses the compiler that services have.
    with Demo(java_options="-XX:TieredStopAtLevel=4") as demo:
        begin = time.monotonic()
        printed = 0
        while (age := time.monotonic() - begin) < minutes * 60:
            answers = {path: get(f"{demo.url}/actuator/{path}") for path in PATHS}
            sites = json.loads(answers["nativememory/leaks"])
            for site in sites:
                if site["verdict"] == "leak":
                    called.setdefault(site["site"]["name"], f"after {age / 60:.0f} min: {site['sentence']}")
            if age >= printed * 60:
                printed += 1
                counts = collections.Counter(site["verdict"] for site in sites)
                seen = json.loads(answers["nativememory"])["observation"]
                print(f"{age / 60:3.0f} min  {dict(counts) or 'all healthy'}  observation {seen['state']}, {seen['epochs']} epochs, "
                      f"{seen['voidEpochs']} void, {seen['cpuSeconds']:.2f} s of processor time, {seen['placed']} objects placed", flush=True)
            time.sleep(SCRAPED_EVERY_SECONDS)
        for site in json.loads(get(f"{demo.url}/actuator/nativememory/leaks")):
            print(f"{site['verdict']}: {site['site']['name']}: {site['sentence']}")
    print(f"\n{len(called)} sites were ever taken for leaks")
    for site, said in called.items():
        print(f"- {site}, {said}")
    return bool(called)


# ---- A broker


def wait(what, seconds, condition):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"{what}: not within {seconds} s")
        time.sleep(0.1)


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def value(exposition, series):
    found = re.search(rf"^{re.escape(series)} (\S+)$", exposition, re.MULTILINE)
    return float(found[1]) if found else float("nan")


class Broker:
    """A broker that formats its storage and starts, with arguments of the JVM before the class."""

    def __init__(self, java, path, directory, prefix, arguments):
        self.port, controller = free_port(), free_port()
        self.java, self.path = java, path
        properties = directory / "server.properties"
        properties.write_text(
            f"process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{controller}\n"
            f"listeners=PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller}\n"
            "controller.listener.names=CONTROLLER\noffsets.topic.replication.factor=1\n"
            f"log.dirs={directory}/logs\nlog.segment.bytes={64 << 20}\n"
        )
        self.tool("kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", str(properties))
        self.began = time.monotonic()
        # The output goes to a file, because nobody reads a pipe while the broker runs.
        self.log = open(directory / "log", "w+")
        self.process = subprocess.Popen(
            [*prefix, java, "-Xmx512m", *arguments, "-cp", path, "kafka.Kafka", str(properties)],
            stdout=self.log, stderr=subprocess.STDOUT,
        )

    def tool(self, *words):
        return subprocess.run(
            [self.java, "-Xmx256m", "-cp", self.path, *words], check=True, timeout=600, capture_output=True, text=True
        ).stdout

    def await_start(self):
        wait("the broker", 300, lambda: self.process.poll() is not None or listens(self.port))
        if self.process.poll() is not None:
            raise SystemExit(f"the broker ended:\n{self.text()}")
        return time.monotonic() - self.began

    def produce(self, size=500, compression="zstd", records=RECORDS):
        return self.tool(
            "org.apache.kafka.tools.ProducerPerformance", "--topic", "work", "--num-records", str(records),
            "--record-size", str(size), "--throughput", "-1", "--producer-props", f"bootstrap.servers=127.0.0.1:{self.port}",
            f"compression.type={compression}",
        ).strip().splitlines()[-1]

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        """Stops the broker. Returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


def plain(java, path):
    with tempfile.TemporaryDirectory() as directory, Broker(java, path, pathlib.Path(directory), [], []) as broker:
        seconds = broker.await_start()
        produced = broker.produce()
        return seconds, produced, broker.stop()


def under_the_agent(java, path):
    port = free_port()
    arguments = [f"-javaagent:{measure.AGENT}=port={port}"]
    prefix = [COMMAND, "run", "--"]
    with tempfile.TemporaryDirectory() as directory, Broker(java, path, pathlib.Path(directory), prefix, arguments) as broker:
        seconds = broker.await_start()
        produced = broker.produce()
        exposition = get(f"http://127.0.0.1:{port}/metrics")
        assert value(exposition, "mallometer_active") == 1, exposition
        wait("the split", 30, lambda: json.loads(get(f"http://127.0.0.1:{port}/nativememory/breakdown")).get("parts"))
        libraries = json.loads(get(f"http://127.0.0.1:{port}/nativememory/sites?group=library"))["groups"]
        report = subprocess.run(
            [COMMAND, "report", str(broker.process.pid), "--limit", "5"], check=True, timeout=120, capture_output=True, text=True
        ).stdout
        said = [line for line in broker.text().splitlines() if line.startswith("mallometer: ")]
        assert len(said) == 1 and "counts native memory" in said[0], said
        return seconds, produced, broker.stop(), exposition, libraries, report


def broker(*homes):
    path = measure.artifacts("kafka", KAFKA)
    for home in homes:
        java = str(pathlib.Path(home) / "bin/java")
        os.environ["JAVA_HOME"] = home
        version = subprocess.run([java, "-version"], capture_output=True, text=True).stderr.splitlines()[0]
        print(f"== {version}", flush=True)
        seconds, produced, code = plain(java, path)
        print(f"without: listens after {seconds:.1f} s; {produced}; exit code {code}", flush=True)
        seconds, produced, agents_code, exposition, libraries, report = under_the_agent(java, path)
        print(f"with:    listens after {seconds:.1f} s; {produced}; exit code {agents_code}")
        assert agents_code == code, "the broker ends otherwise than without the agent"
        for series in ("native_malloc_live_bytes", 'native_malloc_allocations_total{size="small",}'):
            print(f"{series} {value(exposition, series):.0f}")
        for group in libraries[:5]:
            print(f"{group['liveBytes']['value'] / 2**20:8.1f} MiB live  {group['allocatedBytes']['value'] / 2**20:10.1f} MiB allocated  {group['key']}")
        print(report, flush=True)
    return False


# ---- The page cache by file


class Range(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]


class Cached(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("cached", "dirty", "writeback", "evicted", "recently_evicted")]


def cached_bytes(directory):
    """Returns the cached bytes of all files below a directory; unknown before Linux 6.5."""
    libc, pages = ctypes.CDLL(None, use_errno=True), 0
    for path in directory.rglob("*"):
        try:
            with open(path, "rb") as file:
                result = Cached()
                if libc.syscall(CALL_CACHESTAT, file.fileno(), ctypes.byref(Range(0, 0)), ctypes.byref(result), 0) != 0:
                    return float("nan")
                pages += result.cached
        except (IsADirectoryError, FileNotFoundError):
            continue
    return pages * os.sysconf("SC_PAGESIZE")


def charged_bytes(process):
    """Returns the bytes that the process's memory cgroup is charged for pages of files, without shared memory."""
    lines = pathlib.Path(f"/proc/{process}/cgroup").read_text().splitlines()
    found = {controllers: path for _, controllers, path in (line.split(":", 2) for line in lines)}
    first = "memory" in found
    directory = pathlib.Path("/sys/fs/cgroup/memory" if first else "/sys/fs/cgroup").joinpath(found["memory" if first else ""].lstrip("/"))
    stat = {name: int(value) for name, value in map(str.split, (directory / "memory.stat").read_text().splitlines())}
    return stat["cache" if first else "file"] - stat["shmem"]


class Store:
    """Lucene or RocksDB, filled and open."""

    def __init__(self, name, java, path, directory, prefix, arguments):
        self.process = subprocess.Popen([*prefix, java, "-Xmx256m", *arguments, "-cp", path, "Stores", name, directory, str(STORED_RECORDS)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def fill(self):
        if self.process.stdout.readline().strip() != "filled":
            raise SystemExit(f"the store ended: {self.process.stderr.read()}")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.process.wait(60)


class FilledBroker(Broker):
    def fill(self):
        self.await_start()
        self.produce(1000, "none", STORED_RECORDS)


def next_reading(port):
    """Returns the next reading of the page cache by file; readings are a minute apart."""
    def read():
        return json.loads(get(f"http://127.0.0.1:{port}/nativememory/breakdown"))["pageCache"]
    before = read()["readingSeconds"]
    wait("a reading of files", READ_AGAIN_SECONDS, lambda: read()["readingSeconds"] != before)
    return read()


def named_files(name, java, path, preloaded):
    """Measures one program once, and returns a row of the table and whether the gate is met."""
    port = free_port()
    with tempfile.TemporaryDirectory(dir=measure.TARGET) as place, MemoryLimit(4 << 30) as limit:
        if not limit.possible:
            raise measure.Unavailable("no memory cgroup can be made here")
        # The program's libraries and the agent unpack their files there, too.
        arguments = [f"-Djava.io.tmpdir={place}", f"-javaagent:{measure.AGENT}=port={port}"]
        directory, prefix = pathlib.Path(place), limit.command(*([COMMAND, "run", "--"] if preloaded else []))
        opened = (FilledBroker(java, path, directory, prefix, arguments) if name == "kafka"
                  else Store(name, java, path, directory, prefix, arguments))
        with opened as program:
            program.fill()
            read = next_reading(port)
            charged, truth = charged_bytes(program.process.pid), cached_bytes(directory)
    own = sum(file["cachedBytes"] for file in read["cachedFiles"] if file["path"].startswith(place))
    kinds = ", ".join(f"{kind} {size / MEBIBYTE:.0f}" for kind, size in sorted(read["cachedByKind"].items(), key=lambda one: -one[1]))
    row = (f"| {name} | {'preloaded' if preloaded else 'attached'} | {charged / MEBIBYTE:.1f} | {own / MEBIBYTE:.1f} | {own / charged:.1%} | "
           f"{truth / MEBIBYTE:.1f} | {read['allCachedBytes'] / MEBIBYTE:.1f} ({kinds}) | {read['readingSeconds'] * 1e3:.1f} ms | {read['gaps'] or 'none'} |")
    return row, own >= LEAST_NAMED * charged


def files(*homes):
    classes = measure.TARGET / "stores"
    stores = measure.artifacts("stores", STORES)
    measure.compile_java(homes[0], [measure.ROOT / "testing/anywhere/Stores.java"], classes, stores)
    paths = {"kafka": measure.artifacts("kafka", KAFKA), "lucene": f"{classes}:{stores}", "rocksdb": f"{classes}:{stores}"}
    missed = False
    print("## The page cache by file\n")
    print(measure.describe_machine())
    print("\nMiB. `named`: the listed files below the program's directory; `cachestat`: all files there; `all`: with files that others read first.")
    for home in homes:
        java = str(pathlib.Path(home) / "bin/java")
        os.environ["JAVA_HOME"] = home
        version = subprocess.run([java, "-version"], capture_output=True, text=True).stderr.splitlines()[0]
        print(f"\n### {version}\n\n| program | library | charged | named | share | cachestat | all | a reading | what is missing |")
        print("|---|---|---|---|---|---|---|---|---|")
        for preloaded in (True, False):
            with concurrent.futures.ThreadPoolExecutor(len(paths)) as pool:
                asked = [pool.submit(named_files, name, java, path, preloaded) for name, path in paths.items()]
                for row, met in (one.result() for one in asked):
                    print(row, flush=True)
                    missed = missed or not met
    print(f"\nGate of {LEAST_NAMED:.0%}: {'MISSED' if missed else 'met'}")
    return missed


def main():
    questions = {"leaks": (leaks, 31), "resident": (resident, 60)}
    name, *rest = sys.argv[1:] or [""]
    lists = {"broker": broker, "files": files}
    if name in lists and rest:
        sys.exit(lists[name](*rest))
    if name not in questions:
        sys.exit(__doc__)
    question, usual = questions[name]
    sys.exit(question(float(rest[0]) if rest else usual))


if __name__ == "__main__":
    main()
