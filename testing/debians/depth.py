"""Measures how deep the native stacks of two real libraries are, down to the Java method that called them.

    depth.py JAVA LIBRARY AGENT JAR...

Prints a line for each: its name, and the mean number of native frames, weighted by bytes. JARs: sqlite-jdbc, zstd-jni,
slf4j-api. JAVA may run in another root that sees these files at the same places (bin/lib/sid_root.sh).
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ("sqlite", "zstd")
LONGEST_SECONDS = 90


def depth(collapsed, name):
    """Returns the mean depth of the sites whose innermost frame is in the library. Frames without a library are Java's."""
    frames = bytes_ = 0
    for line in collapsed.splitlines():
        stack, value = line.rsplit(" ", 1)
        names = stack.split(";")
        if not re.search(rf"lib[^!]*{name}[^!]*\.so", names[-1]):
            continue
        native = next((i for i, frame in enumerate(reversed(names)) if ".so" not in frame), len(names))
        frames += native * int(value)
        bytes_ += int(value)
    return frames / bytes_ if bytes_ else 0.0


def get(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/nativememory/collapsed", timeout=30) as answer:
            return answer.read().decode()
    except OSError:
        return ""


def main():
    java, library, agent, *jars = sys.argv[1:]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOMETER_")}
    environment |= {"LD_PRELOAD": library, "MALLOMETER_SAMPLE_INTERVAL": "4k", "MALLOMETER_OVERHEAD_TARGET": "off"}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="mallometer-depth-") as classes:
        compiler = shutil.which("javac") or os.environ["JAVA_HOME"] + "/bin/javac"
        path = os.pathsep.join(jars)
        subprocess.run([compiler, "--release", "17", "-cp", path, "-d", classes, HERE / "Libraries.java"], check=True)
        program = subprocess.Popen([java, f"-javaagent:{agent}=port={port}", "-cp", os.pathsep.join([classes, path]),
                                    "Libraries"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        try:
            for line in program.stdout:
                if line == "ready\n":
                    break
            end = time.monotonic() + LONGEST_SECONDS
            found = {}
            while time.monotonic() < end and not (found and all(found.values())):
                collapsed = get(port)
                found = {name: depth(collapsed, name) for name in LIBRARIES}
                time.sleep(1)
            program.stdin.close()
            code = program.wait(60)
        finally:
            program.kill()
    for name in LIBRARIES:
        print(f"{name} {found.get(name, 0):.1f}")
    sys.exit(code != 0 or not all(found.values()))


if __name__ == "__main__":
    main()
