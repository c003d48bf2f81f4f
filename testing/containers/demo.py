"""Tests docker-compose.yml as it is: it is built, becomes healthy, is scraped and is killed by the kernel, and afterwards the kill is
reported."""

import datetime
import json
import pathlib
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "samples/leaky-service/e2e"))
from processes import get, wait_until  # noqa: E402

SERVICES = ("app", "alertmanager", "prometheus", "grafana")
APP, PROMETHEUS, ALERTMANAGER = (f"http://127.0.0.1:{port}" for port in (18080, 9090, 9093))
START_SECONDS = 300
# The rules are evaluated every 15 s, and Alertmanager waits for 10 s before it shows a group.
ALERT_SECONDS = 180
CHROMIUM = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--virtual-time-budget=20000")
PICTURES = {
    "page": (f"{APP}/actuator/nativememory/page", "1440,2600"),
    "alertmanager": (f"{ALERTMANAGER}/api/v2/alerts", "1440,700"),
    "alerts": (f"{PROMETHEUS}/classic/alerts", "1440,1100"),
}


class Alerts(threading.Thread):
    """Reads Alertmanager every 5 s and keeps each alert by name, as first seen: a kill by the kernel ends the alert on what was filled."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seen = {}
        self._ended = threading.Event()

    def run(self):
        while not self._ended.wait(5):
            try:
                for alert in json.loads(get(f"{ALERTMANAGER}/api/v2/alerts")):
                    self.seen.setdefault(alert["labels"]["alertname"], alert)
            except (OSError, ValueError):
                # Alertmanager does not answer yet.
                continue

    def end(self):
        self._ended.set()
        self.join()


class Demo:
    """Runs the demo with a leak. A given rate replaces that of the file, so that the kernel's kill comes sooner."""

    def __init__(self, engine, repository, rate=None):
        self._engine, self._directory = engine, str(repository)
        self._files = ["-f", "docker-compose.yml"]
        self._alerts = Alerts()
        if rate:
            # This file is outside of the build's context.
            file = engine.scratch / "rate.yml"
            file.write_text(f"services:\n  app:\n    environment:\n      LEAKY_LEAKS_RATE: {rate}\n")
            self._files += ["-f", str(file)]

    def _compose(self, *arguments):
        return self._engine.docker("compose", "-p", "mallometer", *self._files, *arguments, directory=self._directory, environment={"LEAKS": "zlib"})

    def _inspect(self, service, what):
        return self._engine.docker("inspect", "-f", "{{" + what + "}}", f"mallometer-{service}-1").strip()

    def build(self):
        self._compose("build", "app")
        return "samples/leaky-service/Dockerfile, from a clone of the last commit"

    def healthy(self):
        self._compose("up", "-d", "--no-build")
        for service in SERVICES:
            wait_until(lambda service=service: self._inspect(service, ".State.Health.Status") == "healthy", START_SECONDS, f"{service} is healthy")
        self._started = timestamp(self._inspect("app", ".State.StartedAt"))
        self._alerts.start()
        return ", ".join(SERVICES)

    def confined(self):
        self._engine.docker("exec", "mallometer-app-1", "sh", "-c", "test $(id -un) = nobody && test -s /record/recording")
        for service in SERVICES:
            if self._engine.succeeds("exec", f"mallometer-{service}-1", "touch", "/etc/written"):
                raise AssertionError(f"{service} can write to its root")
            status = self._engine.docker("exec", f"mallometer-{service}-1", "cat", "/proc/self/status")
            for line in ("CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"):
                if line not in status:
                    raise AssertionError(f"{service} lacks {line}")
        return "app runs as nobody; all have a read-only root, no capability, no new privileges and the default seccomp profile"

    def scraped(self):
        wait_until(lambda: self._value("mallometer_active") == 1, 120, "Prometheus has mallometer_active 1")
        limit = self._value("cgroup_memory_limit_bytes")
        if limit != 512 << 20:
            raise AssertionError(f"the limit is {limit}")
        return "mallometer_active 1, cgroup_memory_limit_bytes 536870912"

    def rules(self):
        groups = json.loads(get(f"{PROMETHEUS}/api/v1/rules"))["data"]["groups"]
        wrong = [rule["name"] for group in groups for rule in group["rules"] if rule["health"] == "err"]
        names = [rule["name"] for group in groups for rule in group["rules"]]
        if wrong or "NativeMemoryLeakSuspected" not in names:
            raise AssertionError(f"wrong: {wrong}, of {names}")
        wait_until(lambda: "alertmanager:9093" in get(f"{PROMETHEUS}/api/v1/alertmanagers"), 60, "Prometheus knows Alertmanager")
        return f"{len(names)} rules, none with an error; Prometheus knows Alertmanager"

    def verdict(self, seconds):
        verdict = 'native_malloc_leak_sites{verdict="leak"} > 0'
        # A verdict of a run that the kernel has ended meanwhile counts, too.
        wait_until(lambda: self._value(f"count_over_time(({verdict})[2h:5s])"), seconds, "the verdict leak")
        named = self._query('topk(1, max_over_time(native_malloc_leak_suspected_bytes[2h]))')
        return f"verdict leak; most bytes: {named[0]['metric'].get('site')}" if named else "verdict leak"

    def killed(self, seconds):
        wait_until(lambda: int(self._inspect("app", ".RestartCount")) > 0, seconds, "the kernel kills the service")
        now = datetime.datetime.now(datetime.timezone.utc)
        events = self._engine.docker("events", "--since", "3h", "--until", now.isoformat(), "--format", "{{.Action}} {{.TimeNano}} {{.Actor.Attributes.exitCode}}",
                                     "--filter", "container=mallometer-app-1")
        ended = [line.split() for line in events.splitlines() if line.startswith("die ")]
        if not any(line.startswith("oom ") for line in events.splitlines()) or ended[0][2] != "137":
            raise AssertionError(f"not an OOM kill: {events}")
        self._ended = int(ended[0][1]) / 1e9
        return "the engine tells of oom and of exit code 137, and starts the container again"

    def sentence(self):
        wait_until(lambda: "The previous run" in self._log(), START_SECONDS, "the next start tells of the kill")
        line = next(line for line in self._log().splitlines() if "The previous run" in line)
        said = line[line.index("The previous run"):]
        if "killed" not in said:
            raise AssertionError(said)
        return said

    def _log(self):
        done = self._engine.run("logs", "mallometer-app-1")
        return done.stdout + done.stderr

    def alert_after_the_kill(self):
        alert = self._alert("NativeMemoryOOMKilled", ALERT_SECONDS)
        return f"{alert['annotations']['summary']}; it fires {timestamp(alert['startsAt']) - self._ended:.0f} s after the kill"

    def leak_alert(self, seconds):
        alert = self._alert("NativeMemoryLeakSuspected", seconds)
        minutes = (timestamp(alert["startsAt"]) - self._started) / 60
        state = alert["status"]["state"]
        return f"{alert['annotations']['summary']}; it fires {minutes:.1f} min after the start of the service, and Alertmanager's state of it is {state}"

    def _alert(self, name, seconds):
        wait_until(lambda: name in self._alerts.seen, seconds, f"Alertmanager has {name}; it had {sorted(self._alerts.seen)}")
        return self._alerts.seen[name]

    def pictures(self, directory):
        """Takes pictures, by this system's Chromium, of the pages that report the kill."""
        pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
        for name, (address, size) in PICTURES.items():
            file = pathlib.Path(directory, f"{name}.png")
            subprocess.run([*CHROMIUM, f"--window-size={size}", f"--screenshot={file}", address], capture_output=True, timeout=300, check=True)
        return ", ".join(PICTURES)

    def _query(self, expression):
        return json.loads(get(f"{PROMETHEUS}/api/v1/query?query={urllib.parse.quote(expression)}"))["data"]["result"]

    def _value(self, expression):
        found = self._query(expression)
        return float(found[0]["value"][1]) if found else None

    def down(self):
        self._alerts.end()
        self._compose("down", "-v", "--timeout", "10")


def timestamp(text):
    """Returns the seconds since 1970 of a time of Docker or Alertmanager."""
    # fromisoformat() of Python 3.9 does not accept nanoseconds and a Z.
    seconds, _, fraction = text.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat(seconds + "+00:00").timestamp() + float(f"0.{fraction or 0}")
