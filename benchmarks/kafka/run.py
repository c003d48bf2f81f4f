#!/usr/bin/env python3
"""An unmodified Kafka broker from Maven Central under bin/mallometer and the agent: one node, KRaft, on the loopback address.
It serves a producer that compresses with zstd, is scraped and asked by process id meanwhile, and ends as without the agent.

run.py JAVA_HOME...: once for each JDK. Needs the built agent; takes about a minute each."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure

BROKER = ("org.apache.kafka:kafka_2.13:4.1.0", "org.apache.kafka:kafka-tools:4.1.0")
COMMAND = str(measure.ROOT / "bin/mallometer")
RECORDS = 200_000


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
        return answer.read().decode()


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
    """Formats its storage and starts, with arguments of the JVM before the class."""

    def __init__(self, java, path, directory, prefix, arguments):
        self.port, controller = free_port(), free_port()
        self.java, self.path = java, path
        properties = directory / "server.properties"
        properties.write_text(
            f"process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{controller}\n"
            f"listeners=PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller}\n"
            "controller.listener.names=CONTROLLER\noffsets.topic.replication.factor=1\n"
            f"log.dirs={directory}/logs\n"
        )
        self.tool("kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", str(properties))
        self.began = time.monotonic()
        # A file, not a pipe: nobody reads while the broker runs.
        self.log = open(directory / "log", "w+")
        self.process = subprocess.Popen(
            [*prefix, java, "-Xmx512m", *arguments, "-cp", path, "kafka.Kafka", str(properties)],
            stdout=self.log, stderr=subprocess.STDOUT,
        )

    def tool(self, *words):
        return subprocess.run(
            [self.java, "-Xmx256m", "-cp", self.path, *words], check=True, timeout=120, capture_output=True, text=True
        ).stdout

    def await_start(self):
        wait("the broker", 90, lambda: self.process.poll() is not None or listens(self.port))
        if self.process.poll() is not None:
            raise SystemExit(f"the broker ended:\n{self.text()}")
        return time.monotonic() - self.began

    def produce(self):
        return self.tool(
            "org.apache.kafka.tools.ProducerPerformance", "--topic", "work", "--num-records", str(RECORDS),
            "--record-size", "500", "--throughput", "-1", "--producer-props", f"bootstrap.servers=127.0.0.1:{self.port}",
            "compression.type=zstd",
        ).strip().splitlines()[-1]

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        """Returns the exit code."""
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
        exposition = get(port, "/metrics")
        assert value(exposition, "mallometer_active") == 1, exposition
        wait("the split", 30, lambda: json.loads(get(port, "/nativememory/breakdown")).get("parts"))
        libraries = json.loads(get(port, "/nativememory/sites?group=library"))["groups"]
        report = subprocess.run(
            [COMMAND, "report", str(broker.process.pid), "--limit", "5"], check=True, timeout=120, capture_output=True, text=True
        ).stdout
        said = [line for line in broker.text().splitlines() if line.startswith("mallometer: ")]
        assert len(said) == 1 and "counts native memory" in said[0], said
        return seconds, produced, broker.stop(), exposition, libraries, report


def main():
    path = measure.artifacts("kafka", BROKER)
    for home in sys.argv[1:]:
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


if __name__ == "__main__":
    main()
