"""The real programs that the end-to-end tests run: bin/demo, Prometheus and Alertmanager, and two small servers that stand for other parts
of a cluster. Each uses free ports of the loopback interface.

All of them are context managers that end the processes that they started, and no others.
"""

import contextlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
# An option without C2, whose own native memory changes by many MiB while code is new.
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
    """Waits until a condition is true; an OSError counts as false."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds} s: {what}")


class MemoryLimit:
    """A memory cgroup of version 1 or 2, if the machine allows one; otherwise no limit."""

    def __init__(self, limit_bytes):
        first = os.path.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes")
        root = "/sys/fs/cgroup/memory" if first else "/sys/fs/cgroup"
        self._directory = pathlib.Path(root, f"mallometer-e2e-{os.getpid()}-{id(self):x}")
        self.possible = False
        try:
            self._directory.mkdir()
            with open(self._directory / ("memory.limit_in_bytes" if first else "memory.max"), "r+", encoding="ascii") as file:
                file.write(str(limit_bytes))
            self.possible = True
        except OSError as refused:
            print(f"no memory cgroup: {refused}")

    def command(self, *command):
        """Returns the command that runs the given command under the limit."""
        if not self.possible:
            return list(command)
        return ["sh", "-c", f'echo $$ >{self._directory}/cgroup.procs && exec "$@"', "sh", *command]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.possible:
            wait_until(self._is_removed, 20, "the cgroup is empty")

    def _is_removed(self):
        self._directory.rmdir()
        return True


class Demo:
    """Runs bin/demo in a session of its own, so that processes that it leaves behind can be found."""

    START_SECONDS = 60

    def __init__(self, *arguments, java_options="", limit=None, goes_first=False, **properties):
        """Takes arguments of bin/demo, options of the JVM, a MemoryLimit, whether the demo's session has priority, and Spring
        properties."""
        self.port, self.jmx_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = tempfile.TemporaryFile("w+")
        began = time.monotonic()
        if "--limit" not in arguments:
            arguments += ("--limit", "none")
        if "--leak" not in arguments:
            arguments += ("--fixed",)
        command = ["bin/demo", "--port", str(self.port), "--jmx-port", str(self.jmx_port), *arguments]
        self.process = subprocess.Popen(
            limit.command(*command) if limit else command,
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
            preexec_fn=lambda: self._prepare(goes_first),
        )
        try:
            wait_until(self._is_up_or_gone, self.START_SECONDS, "bin/demo is up")
            if self.process.poll() is not None:
                raise AssertionError("bin/demo ended")
        except AssertionError as failed:
            self.stop()
            raise AssertionError(f"{failed}\n{self.output()}") from failed
        self.start_seconds = time.monotonic() - began

    @staticmethod
    def _prepare(goes_first):
        """Runs in the new session, before bin/demo."""
        # Background processes of a script ignore Ctrl-C from their start, and the script would inherit that.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if goes_first:
            # Linux first divides the processors among sessions, so even nice processes of another session take a full share. This
            # has no effect without CAP_SYS_NICE.
            with contextlib.suppress(OSError), open("/proc/self/autogroup", "wb", 0) as autogroup:
                autogroup.write(b"-10")

    def _is_up_or_gone(self):
        return self.process.poll() is not None or "Ctrl-C stops it" in self.output()

    def output(self):
        self._log.seek(0)
        return self._log.read()

    def stop(self, signal_number=signal.SIGTERM):
        """Ends only the script, as kill would; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        return self.process.wait(30)

    def interrupt(self):
        """Presses Ctrl-C, at which the terminal signals the whole group; returns the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(30)

    def left_behind(self):
        """Returns the command lines of processes that are still in the session."""
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


class Agent:
    """A JVM with only the library and the agent: without Spring Boot and Micrometer."""

    LIBRARY = REPOSITORY / "interposer/target/native/linux-x86-64/libmallometer.so"
    JAR = REPOSITORY / "metrics-bridge/agent/target/mallometer-agent.jar"

    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen(
            [JAVA, QUIET_COMPILER, f"-javaagent:{self.JAR}=port={self.port}", str(REPOSITORY / "samples/leaky-service/e2e/Grow.java")],
            env={"PATH": os.environ["PATH"], "LD_PRELOAD": str(self.LIBRARY)},
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until(self._is_up_or_gone, 40, "the agent answers")
            if self.process.poll() is not None:
                raise AssertionError("the JVM ended")
        except AssertionError:
            self.__exit__()
            raise

    def _is_up_or_gone(self):
        return self.process.poll() is not None or get(f"http://127.0.0.1:{self.port}/metrics")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def _unprivileged(directory):
    """Returns options of Popen for a server that needs no privilege, which gets the directory and its contents as its own."""
    if os.geteuid() != 0:
        return {}
    for path in (directory, *pathlib.Path(directory).iterdir()):
        shutil.chown(path, "nobody", "nogroup")
    return {"user": "nobody", "group": "nogroup", "extra_groups": []}


class _Server:
    """A server from Debian that runs unprivileged, with its files in a temporary directory."""

    def __init__(self, files, *command):
        """Takes contents by file name; the command may name {directory} and {address}."""
        self.directory = tempfile.mkdtemp(prefix="mallometer-")
        self.address = f"127.0.0.1:{free_port()}"
        self.url = f"http://{self.address}"
        for name, content in files.items():
            pathlib.Path(self.directory, name).write_text(content, encoding="utf-8")
        unprivileged = _unprivileged(self.directory)
        with open(os.path.join(self.directory, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [part.format(directory=self.directory, address=self.address) for part in command],
                cwd=self.directory,
                stdout=log,
                stderr=subprocess.STDOUT,
                **unprivileged,
            )
        try:
            wait_until(lambda: get(f"{self.url}/-/ready"), 30, f"{command[0]} is ready")
        except AssertionError as failed:
            log = pathlib.Path(self.directory, "log").read_text(encoding="utf-8")
            self.__exit__()
            raise AssertionError(f"{failed}\n{log}") from failed

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        shutil.rmtree(self.directory)


class Prometheus(_Server):
    """Scrapes the leaky service, or several, every second, and evaluates rules every second."""

    def __init__(self, *target_ports, labels=None, rules=None, alertmanager=None, kube_state_metrics=None, path="/actuator/prometheus",
                 jobs=None, interval="1s"):
        """Takes the labels of all targets, contents of rules files by name, the addresses of an Alertmanager and a kube-state-metrics, and
        the path of the targets' metrics; or the whole jobs, and how often they are scraped."""
        # The configuration is JSON, which is also YAML.
        jobs = jobs or [
            {
                "job_name": "leaky-service",
                "metrics_path": path,
                "static_configs": [{"targets": [f"127.0.0.1:{port}" for port in target_ports], "labels": labels or {}}],
            }
        ]
        if kube_state_metrics:
            # A cluster's Prometheus attaches the cluster's name to all series that it scrapes.
            cluster = {name: value for name, value in (labels or {}).items() if name == "cluster"}
            jobs.append(
                {
                    "job_name": "kube-state-metrics",
                    "honor_labels": True,
                    "static_configs": [{"targets": [kube_state_metrics], "labels": cluster}],
                }
            )
        configuration = {
            "global": {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval},
            "rule_files": list(rules or {}),
            "scrape_configs": jobs,
        }
        if alertmanager:
            configuration["alerting"] = {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]}
        super().__init__(
            {"prometheus.yml": json.dumps(configuration), **(rules or {})},
            "prometheus",
            "--config.file={directory}/prometheus.yml",
            "--storage.tsdb.path={directory}/data",
            "--web.listen-address={address}",
        )


class Alertmanager(_Server):
    """Reports to a webhook at once which alerts fire and which are resolved."""

    def __init__(self, webhook):
        route = {"receiver": "webhook", "group_by": ["..."], "group_wait": "0s", "group_interval": "1s"}
        receiver = {"name": "webhook", "webhook_configs": [{"url": webhook, "send_resolved": True}]}
        super().__init__(
            {"alertmanager.yml": json.dumps({"route": route, "receivers": [receiver]})},
            "prometheus-alertmanager",
            "--config.file={directory}/alertmanager.yml",
            "--storage.path={directory}/data",
            "--web.listen-address={address}",
            "--cluster.listen-address=",
        )


class _Stub:
    """A server in a thread of the test."""

    def __init__(self, handle):
        class Handler(http.server.BaseHTTPRequestHandler):
            def _answer(self):
                body = handle(self.rfile.read(int(self.headers.get("Content-Length", 0)))).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = _answer

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Webhook(_Stub):
    """Receives alerts from Alertmanager, and keeps them in the order of their arrival."""

    def __init__(self):
        self.alerts = []
        super().__init__(self._receive)
        self.url = f"http://{self.address}/"

    def _receive(self, body):
        self.alerts += json.loads(body)["alerts"]
        return ""

    def told(self, name, status):
        """Returns the alerts of a name that arrived as firing or as resolved."""
        return [alert for alert in self.alerts if alert["labels"]["alertname"] == name and alert["status"] == status]


class KubeStateMetrics(_Stub):
    """Answers like kube-state-metrics about a pod that was OOM-killed once, long ago, and of further kills."""

    def __init__(self, namespace, pod, container):
        self._restarts = 1
        labels = f'namespace="{namespace}",pod="{pod}",container="{container}"'
        super().__init__(
            lambda _: f"kube_pod_container_status_restarts_total{{{labels}}} {self._restarts}\n"
            f'kube_pod_container_status_last_terminated_reason{{{labels},reason="OOMKilled"}} 1\n'
        )

    def kill(self):
        self._restarts += 1
