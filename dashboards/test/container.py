"""One container of a pod, as processes of this machine: the image of dashboards/kubernetes/image laid out in a directory, its
program as the init container, a program with the rendered environment, paths moved below a temporary directory.
"""

import contextlib
import functools
import os
import pathlib
import platform
import re
import socket
import subprocess
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
IMAGE = REPOSITORY / "dashboards/kubernetes/image"
PLATFORM = {"x86_64": "linux-x86-64", "aarch64": "linux-aarch64"}.get(platform.machine(), "none")
LIBRARY = REPOSITORY / f"interposer/target/native/{PLATFORM}/libmallometer.so"
AGENT = REPOSITORY / "metrics-bridge/agent/target/mallometer-agent.jar"
JAVA = os.path.join(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else "java"

# A container that sets none of this gets it from the component and from the chart's policy, which test_kubernetes.py checks.
VOLUME = "/mallometer"
ARGUMENTS = [VOLUME]
ENVIRONMENT = {
    "LD_PRELOAD": "/mallometer/libmallometer.so:",
    "MALLOMETER_ONLY": "java",
    "MALLOMETER_AGENT": "/mallometer/mallometer-agent.jar=port=9464",
    "MALLOMETER_RECORDING": "/mallometer/record/recording",
}


@functools.cache
def copier():
    """Returns the image's program, which takes the image's files from below the directory in which it is started."""
    with tempfile.TemporaryDirectory() as directory:
        program = pathlib.Path(directory, "mallometer-copy")
        command = ["gcc", "-std=gnu11", "-Os", "-static", "-s", '-DFILES="opt/mallometer"', "-o", program, IMAGE / "copy.c"]
        subprocess.run(command, check=True)
        return program.read_bytes()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Container:
    def __init__(self, test, environment, volume=VOLUME):
        if not (LIBRARY.exists() and AGENT.exists()) and os.environ.get("REQUIRE_AGENT") != "true":
            test.skipTest("library and agent are not built")
        self.test = test
        self.environment = environment
        self.mount = volume
        self.port = free_port()

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        self.root = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.root.chmod(0o755)
        self.volume = self.root / "volume"
        self.volume.mkdir()
        self.files = self.root / "opt"
        self._lay_out()
        return self

    def __exit__(self, *_):
        self.files_at_the_end = {str(path.relative_to(self.volume)) for path in self.volume.rglob("*")}
        self.stack.close()

    def _lay_out(self):
        """Lays out the image as lay-out.sh does, from the build for this machine."""
        (self.root / "bin").mkdir()
        (self.files / f"mallometer/{PLATFORM}").mkdir(parents=True)
        (self.files / "extension").mkdir()
        program = self.root / "bin/mallometer-copy"
        program.write_bytes(copier())
        program.chmod(0o755)
        (self.root / "bin/cp").symlink_to("mallometer-copy")
        (self.files / f"mallometer/{PLATFORM}/libmallometer.so").symlink_to(LIBRARY)
        (self.files / "mallometer/mallometer-agent.jar").symlink_to(AGENT)
        (self.files / "extension/libmallometer.so").symlink_to(LIBRARY)
        (self.files / "extension/mallometer.agent").symlink_to(AGENT)

    def moved(self, text):
        for path, elsewhere in ("/opt/extension", self.files / "extension"), (self.mount, self.volume):
            text = re.sub(rf"(?<![\w.-]){path}(?=[/\s:]|$)", str(elsewhere), text)
        return text.replace("9464", str(self.port)).replace("0.0.0.0", "127.0.0.1")

    def init(self, arguments, program="mallometer-copy", **options):
        """The init container; its failure would keep the application from starting."""
        command = [self.root / "bin" / program, *(self.moved(one) for one in arguments)]
        ended = subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=30, **options)
        self.test.assertEqual(0, ended.returncode, ended.stderr)
        return ended.stderr

    def variables(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.root), **{name: self.moved(value) for name, value in self.environment.items()}}

    def run(self, command, **options):
        """A program of the application from start to end."""
        return subprocess.run(command, env=self.variables(), capture_output=True, text=True, timeout=120, **options)

    def counts(self):
        """A JVM that waits: what it has mapped, and what it serves."""
        process = subprocess.Popen(
            [JAVA, "-XX:TieredStopAtLevel=1", str(HERE / "Hold.java")], env=self.variables(), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            scrape = self._scraped(process)
            return pathlib.Path(f"/proc/{process.pid}/maps").read_text(), scrape
        finally:
            process.stdin.close()
            process.wait(30)

    def _scraped(self, process):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
                    return answer.read().decode()
            except OSError:
                time.sleep(0.2)
        self.test.fail("the agent does not answer")
