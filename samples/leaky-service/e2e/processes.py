"""The real programs that the end-to-end tests run: bin/demo and Prometheus, each on free ports of the loopback interface.

Both are context managers that end what they started and nothing else.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
# Without C2, whose own native memory comes and goes by many MiB while code is new.
QUIET_COMPILER = "-XX:TieredStopAtLevel=1"
JAVA = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def post(url):
    return json.loads(urllib.request.urlopen(urllib.request.Request(url, method="POST"), timeout=10).read())


def wait_until(condition, seconds, what):
    """Asks again and again; an OSError counts as no."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds} s: {what}")


class Demo:
    """bin/demo in a session of its own, so that whatever it leaves behind can be found."""

    START_SECONDS = 60

    def __init__(self, *arguments, java_options="", **properties):
        """Arguments of bin/demo, options of the JVM, and Spring properties."""
        self.port, self.jmx_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = tempfile.TemporaryFile("w+")
        began = time.monotonic()
        self.process = subprocess.Popen(
            ["bin/demo", "--port", str(self.port), "--jmx-port", str(self.jmx_port), *arguments],
            cwd=REPOSITORY,
            env=os.environ
            | {
                "SPRING_APPLICATION_JSON": json.dumps(properties),
                "JAVA_TOOL_OPTIONS": f"{QUIET_COMPILER} {java_options}".strip(),
            },
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # What runs in the background of a script is started with Ctrl-C ignored, and the script would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        try:
            wait_until(self._is_up_or_gone, self.START_SECONDS, "bin/demo is up")
            if self.process.poll() is not None:
                raise AssertionError("bin/demo ended")
        except AssertionError as failed:
            self.stop()
            raise AssertionError(f"{failed}\n{self.output()}") from failed
        self.start_seconds = time.monotonic() - began

    def _is_up_or_gone(self):
        return self.process.poll() is not None or "Ctrl-C stops it" in self.output()

    def output(self):
        self._log.seek(0)
        return self._log.read()

    def stop(self, signal_number=signal.SIGTERM):
        """Ends the script alone, as kill would; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        return self.process.wait(30)

    def interrupt(self):
        """Ctrl-C: the terminal signals the whole group; returns the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(30)

    def left_behind(self):
        """Command lines of processes that are still in the session."""
        found = []
        for directory in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                session = directory.joinpath("stat").read_text().rpartition(")")[2].split()[3]
                if int(session) == self.process.pid:
                    found.append(directory.joinpath("cmdline").read_text().replace("\0", " "))
            except OSError:
                pass
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self._log.close()


class Prometheus:
    """Debian's Prometheus, unprivileged, with its data in a temporary directory; scrapes one target every second."""

    def __init__(self, target_port):
        self.directory = tempfile.mkdtemp(prefix="prometheus-")
        configuration = pathlib.Path(self.directory, "prometheus.yml")
        configuration.write_text(
            f"""
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: leaky-service
    metrics_path: /actuator/prometheus
    static_configs: [{{targets: ["127.0.0.1:{target_port}"]}}]
"""
        )
        unprivileged = {}
        if os.geteuid() == 0:
            unprivileged = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            for path in (self.directory, configuration):
                shutil.chown(path, "nobody", "nogroup")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        with open(os.path.join(self.directory, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={configuration}",
                    f"--storage.tsdb.path={self.directory}/data",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                cwd=self.directory,
                stdout=log,
                stderr=subprocess.STDOUT,
                **unprivileged,
            )
        wait_until(lambda: get(f"{self.url}/-/ready"), 30, "Prometheus is ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        shutil.rmtree(self.directory)
