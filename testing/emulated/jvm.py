"""Tests a JVM for another processor, under emulation, or on a Mac: it is counted, has a Java frame with a name, and is scraped.

    jvm.py JAVA LIBRARY AGENT [attached]

Without a word at the end the library is preloaded; with it the agent attaches the one that its jar carries, through JNA.
JAVA is started by its path, so the kernel must know how (bin/lib/with_aarch64.sh).
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
# The number of objects. With this many, the samples' estimate has a standard error of 4 %, and the bound of a fifth is five of these. That
# holds without a limit on the time of samples, which would thin out the samples of a burst.
KEPT = 1000
# The bytes that zlib allocates for a Deflater (deflate.h).
DEFLATER_BYTES = 268_000
LONGEST_SECONDS = 90
ON_MACOS = sys.platform == "darwin"


def number(series, pattern):
    found = re.search(rf"^{pattern} (\S+)$", series, re.MULTILINE)
    return float(found[1]) if found else 0.0


def holds(series, attached):
    bytes_kept = KEPT * DEFLATER_BYTES
    return {
        "it says how it counts": f'mode="{"attached" if attached else "preloaded"}"' in series,
        "the counter has what was kept": number(series, "native_malloc_allocated_bytes_total") > bytes_kept,
        "the line that keeps it has a name, and that much": 0.8 * bytes_kept
        < number(series, r'native_malloc_site_live_bytes\{site="Keeper\.keep",?\}') < 1.25 * bytes_kept,
        "the library that asked for it is known": number(
            series, r'native_malloc_library_live_bytes\{library="libz[^"]*",?\}') > 0.8 * bytes_kept,
    }


def scrape(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            return answer.read().decode()
    except OSError:
        return ""


def scrape_until(condition, port):
    """Scrapes until the condition holds; call sites are read every 15 seconds."""
    end = time.monotonic() + LONGEST_SECONDS
    series = scrape(port)
    while not condition(series) and time.monotonic() < end:
        time.sleep(1)
        series = scrape(port)
    return series


def main():
    java, library, agent = sys.argv[1:4]
    attached = sys.argv[4:] == ["attached"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOMETER_")}
    environment["MALLOMETER_OVERHEAD_TARGET"] = "off"
    if not attached:
        environment["DYLD_INSERT_LIBRARIES" if ON_MACOS else "LD_PRELOAD"] = library
    if ON_MACOS:
        environment["MALLOMETER_EXPERIMENTAL"] = "macos"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="mallometer-emulated-") as classes, tempfile.TemporaryFile("w+") as output:
        compiler = shutil.which("javac") or os.environ["JAVA_HOME"] + "/bin/javac"
        subprocess.run([compiler, "--release", "17", "-d", classes, HERE / "Keeper.java"], check=True)
        program = subprocess.Popen([java, "-XX:TieredStopAtLevel=1", f"-javaagent:{agent}=port={port}", "-Xmx64m", "-cp", classes, "Keeper",
                                    str(KEPT)],
                                   env=environment, stdin=subprocess.PIPE, stdout=output, stderr=output, text=True)
        try:
            scrape_until(lambda series: "mallometer_build_info" in series, port)
            program.stdin.write("\n")
            program.stdin.flush()
            series = scrape_until(lambda series: all(holds(series, attached).values()), port)
            checks = holds(series, attached)
            program.stdin.close()
            checks["it ends as it should"] = program.wait(60) == 0
        finally:
            program.kill()
        output.seek(0)
        said = output.read()
    for check, is_so in checks.items():
        print(f"{'ok' if is_so else 'FAILED'}: {check}")
    if not all(checks.values()):
        print(said, series, sep="\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
