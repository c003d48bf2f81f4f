"""Measures how exact the rates of leaks are after an attach, and under a preload, by the live memory of the process.

Growing.java allocates memory, waits for the attach, and leaks at known rates beside a pool that replaces its objects. Every 15 s the script
reads the agent's verdicts. A rate counts from the fifth minute on, if the site is a suspect. It is right if it is 0.67 to 1.5 times the
truth. The script also counts how often the pool was called growing, and the lines of the agent's log on calls that are not counted. Fails
if fewer than 95 % of the rates are right, the pool was called growing after an attach, or the log says that calls are not counted. Under a
preload the pool does grow, while it is filled.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "samples/leaky-service/e2e")]

import measure
from processes import free_port, get

CLASSES = measure.TARGET / "growth"
LEAK = re.compile(r'new Leak\("(\w+)", \S+, [^,]+, (\d+)\)')
TRUTH = {name: int(rate) * (1 << 20) * 60 for name, rate in LEAK.findall((HERE / "Growing.java").read_text())}
EVERY_SECONDS = 15
FIRST_SECONDS = 240


def verdicts(home, arguments, mib, directory):
    """Results: the rates of each leak as multiples of the truth, by name; the verdicts on the pool; and the log."""
    port = free_port()
    preload = arguments.preload
    options = f"port={port}" + ("" if arguments.preload else ",attach=off")
    command = [home / "bin/java", "-Xmx256m", f"-Djava.io.tmpdir={directory}", f"-javaagent:{arguments.agent}={options}",
               "-cp", CLASSES, "Growing", mib]
    environment = {"LD_PRELOAD": str(measure.LIBRARY), "MALLOMETER_ONLY": "java"} if arguments.preload else {}
    rates, pool = [], []
    with open(directory / "log", "w+", encoding="utf-8") as log:
        process = subprocess.Popen([str(part) for part in command], env=measure.clean_environment(environment), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            process.stdout.readline()
            if not arguments.preload:
                attach = [home / "bin/java", "-jar", arguments.agent, "attach", process.pid]
                log.write(measure.run(attach, {}, directory)[0])
                log.flush()
            process.stdin.write("\n")
            process.stdin.flush()
            begin = time.monotonic()
            while time.monotonic() - begin < arguments.minutes * 60 and process.poll() is None:
                time.sleep(EVERY_SECONDS)
                for site in json.loads(get(f"http://127.0.0.1:{port}/nativememory/leaks")):
                    name = site["site"]["name"].rpartition(".")[2]
                    if name == "pooled":
                        pool.append(site["verdict"])
                    rate = site["growth"]["bytesPerHour"]
                    told = isinstance(rate, (int, float)) and site["verdict"] in ("leak", "unused", "growing")
                    if name in TRUTH and told and time.monotonic() - begin >= FIRST_SECONDS:
                        rates.append((name, rate / TRUTH[name]))
        finally:
            process.kill()
            process.wait()
        log.seek(0)
        return rates, pool, log.read()


def row(home, arguments, mib):
    with tempfile.TemporaryDirectory(prefix="mallometer-growth-") as directory:
        rates, pool, log = verdicts(home, arguments, mib, pathlib.Path(directory))
    if not rates:
        raise measure.Unavailable(f"{mib} MiB: no rates. {log.strip()[-500:]}")
    if arguments.rates:
        for name, rate in rates:
            measure.progress(f"{mib} MiB, {name}: {rate:.2f}")
    found = [rate for _, rate in rates]
    right, grew, missed = sum(0.67 <= rate <= 1.5 for rate in found), pool.count("growing"), "Not every native allocation" in log
    line = (f"| {mib / 1024:.1f} GiB | {len(found)} | {right} | {sum(rate == 0 for rate in found)} "
            f"| {sum(0 < rate < 0.67 for rate in found)} | {sum(rate > 1.5 for rate in found)} "
            f"| {grew} of {len(pool)} | {'yes' if missed else 'no'} |")
    return line, right >= 0.95 * len(found) and (grew == 0 or arguments.preload) and not missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", type=pathlib.Path, default=measure.AGENT)
    parser.add_argument("--jdk", type=pathlib.Path, action="append", help="a JDK's directory; may be repeated. Default: JAVA_HOME")
    parser.add_argument("--minutes", type=float, default=12)
    parser.add_argument("--mib", type=float, nargs="+", default=[102, 1024, 4096], help="live memory at the attach")
    parser.add_argument("--preload", action="store_true", help="preload the library instead")
    parser.add_argument("--rates", action="store_true", help="print each rate")
    arguments = parser.parse_args()
    homes = arguments.jdk or [pathlib.Path(os.environ["JAVA_HOME"])]
    measure.compile_java(homes[0], [HERE / "Growing.java"], CLASSES)
    all_pass = True
    with concurrent.futures.ThreadPoolExecutor(len(arguments.mib)) as pool:
        for home in homes:
            print(f"\n{home.name}, {'preloaded' if arguments.preload else 'attached'}\n")
            print("| live at the attach | rates | right | 0 | below | above | pool called growing | calls missed, by the log |")
            print("|---|---|---|---|---|---|---|---|")
            for line, passes in pool.map(lambda mib: row(home, arguments, mib), arguments.mib):
                print(line, flush=True)
                all_pass = all_pass and passes
    return 0 if all_pass else 1


if __name__ == "__main__":
    sys.exit(main())
