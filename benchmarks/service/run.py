"""What mallometer does to a whole Spring Boot application: the sample without a leak, under its own load.

    run.py leaks [MINUTES]       whether it stays without a verdict of leak: 31 minutes
    run.py resident [MINUTES]    how much resident memory mallometer adds: an hour

For `leaks` it is scraped and looked at as services are. Prints the verdicts other than healthy once a minute; the exit code is 1 if
one of them was ever leak.

For `resident` it runs twice side by side. One process is preloaded and has everything on that the starter brings, and is scraped as
services are; the other has neither the library nor the starter's beans (mallometer.enabled=false). Heap and collector are fixed and
the heap is touched at the start, so that what differs is native memory. Prints both every ten minutes. The gate is the resident set
above 1.05 times that of the plain one, averaged over the last five minutes; the exit code is 1 if it is missed.
"""

import collections
import json
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
from processes import Demo, free_port, get

SERVICE = measure.ROOT / "samples/leaky-service/target"
OPTIONS = ("-Xms128m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:+AlwaysPreTouch", "-XX:ReservedCodeCacheSize=48m",
           "-Dspring.jmx.enabled=false")
SCRAPED_EVERY_SECONDS = 15
PATHS = ("prometheus", "health", "nativememory", "nativememory/sites", "nativememory/breakdown", "nativememory/leaks")
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
    sys.exit("benchmarks/service: the service does not answer")


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


def leaks(minutes):
    print(f"## A service that does not leak, {minutes:g} minutes\n\n{measure.describe_machine()}\n")
    called = {}
    # With the compiler that services have.
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


def main():
    questions = {"leaks": (leaks, 31), "resident": (resident, 60)}
    if len(sys.argv) < 2 or sys.argv[1] not in questions:
        sys.exit(__doc__)
    question, usual = questions[sys.argv[1]]
    sys.exit(question(float(sys.argv[2]) if len(sys.argv) > 2 else usual))


if __name__ == "__main__":
    main()
