"""How much resident memory mallometer adds to a service: the sample without a leak, under its own load, twice side by side.

One process is preloaded and has everything on that the starter brings, and is scraped as services are; the other has neither
the library nor the starter's beans (mallometer.enabled=false). Heap and collector are fixed and the heap is touched at the start, so
that what differs is native memory. Prints both every ten minutes. The gate is the resident set above 1.05 times that of the plain
one, averaged over the last five minutes; the exit code is 1 if it is missed.
"""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "samples/leaky-service/e2e")]

import measure
from processes import free_port, get

SERVICE = measure.ROOT / "samples/leaky-service/target"
OPTIONS = ("-Xms128m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:+AlwaysPreTouch", "-XX:ReservedCodeCacheSize=48m",
           "-Dspring.jmx.enabled=false")
SCRAPED_EVERY_SECONDS = 15
PRINTED_EVERY_SECONDS = 600
AVERAGED_SECONDS = 300
MOST_MEBIBYTES = 16
MEBIBYTE = 1 << 20


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
    sys.exit("benchmarks/resident: the service does not answer")


def watch(plain, ours, minutes):
    """Mebibytes of both over the last minutes."""
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


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    print(f"## Resident memory of a service, {minutes:g} minutes\n\n{measure.describe_machine()}\n")
    plain = Service({}, "--mallometer.enabled=false")
    ours = Service({"LD_PRELOAD": os.fspath(measure.existing(measure.LIBRARY, "none: built from interposer/"))})
    try:
        for service in (plain, ours):
            wait_until_up(service)
        if '"state":"ACTIVE"' not in get(f"http://127.0.0.1:{ours.port}/actuator/nativememory"):
            sys.exit("benchmarks/resident: the service does not count")
        without, with_ours = watch(plain, ours, minutes)
    finally:
        plain.stop()
        ours.stop()
    more = with_ours - 1.05 * without
    print(f"\nAt the end plain {without:.1f} MiB, with mallometer {with_ours:.1f} MiB: {more:.1f} MiB above 1.05 x plain, "
          f"at most {MOST_MEBIBYTES}: {'met' if more <= MOST_MEBIBYTES else 'MISSED'}")
    sys.exit(more > MOST_MEBIBYTES)


if __name__ == "__main__":
    main()
