#!/usr/bin/env python3
"""Measures how reliable @ExpectNoNativeGrowth is: in fresh JVMs, while stress-ng loads all processors.

Each JVM runs ten clean tests and ten that leak, two each by malloc through JNA, the same on another thread, zlib, zstd and direct buffers.
Prints, for each JDK, how many clean tests passed and how many leaks were found, with exact intervals of 95 %
(Clopper and Pearson).

    run.py [--jvms 50] [--minutes 0] JAVA_HOME...

The JDKs take turns. --minutes ends the runs after that time, even if --jvms are not reached; 0 sets no limit.
"""
import argparse
import math
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "testing/junit/target"


def binomial_tail(successes, trials, probability):
    """Returns the probability of at least this many successes."""
    return math.fsum(
        math.exp(
            math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
            + k * math.log(probability) + (trials - k) * math.log1p(-probability)
        )
        for k in range(successes, trials + 1)
    )


def bisect(below):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low


def interval(successes, trials):
    low = 0.0 if successes == 0 else bisect(lambda p: binomial_tail(successes, trials, p) < 0.025)
    high = 1.0 if successes == trials else bisect(lambda p: 1 - binomial_tail(successes + 1, trials, p) > 0.025)
    return low, high


def share(successes, trials):
    low, high = interval(successes, trials)
    return f"{successes} of {trials} ({100 * low:.2f} % to {100 * high:.2f} %)"


def run_jvm(home, class_path):
    output = subprocess.run(
        [f"{home}/bin/java", "--enable-native-access=ALL-UNNAMED", "-cp", class_path, "io.mallometer.junit.SoakMain"],
        capture_output=True, text=True, timeout=600, check=False,
    )
    found = re.findall(r"^(clean|leak) (\d+) of (\d+) failed$", output.stdout, re.M)
    wrong = re.findall(r"^WRONG .*$", output.stdout, re.M)
    return {kind: (int(failed), int(all_)) for kind, failed, all_ in found}, wrong, output.returncode


def version(home):
    return re.search(r'^JAVA_VERSION="(.*)"', (pathlib.Path(home) / "release").read_text(), re.M).group(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jvms", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("homes", nargs="+")
    given = parser.parse_args()
    class_path = f"{TESTS}/test-classes:{TESTS}/classes:" + (TESTS / "soak.classpath").read_text().strip()
    failed = False
    versions = {home: version(home) for home in given.homes}
    sums = {home: {"clean": [0, 0], "leak": [0, 0]} for home in given.homes}
    jvms = 0
    began = time.monotonic()
    stress = subprocess.Popen(
        ["nice", "-n", "10", "stress-ng", "--quiet", "--cpu", "0", "--vm", "1", "--vm-bytes", "256m"]
    )
    try:
        while jvms < given.jvms and (given.minutes == 0 or time.monotonic() - began < 60 * given.minutes):
            jvms += 1
            for home in given.homes:
                ended, wrong, code = run_jvm(home, class_path)
                for line in wrong:
                    print(f"JDK {versions[home]}, JVM {jvms}: {line}", file=sys.stderr, flush=True)
                if code != 0 or set(ended) != set(sums[home]) or any(all_ != 10 for _, all_ in ended.values()):
                    failed = True
                    print(f"JDK {versions[home]}, JVM {jvms}: exit {code}, {ended}", file=sys.stderr, flush=True)
                for kind, (count, all_) in ended.items():
                    sums[home][kind][0] += count
                    sums[home][kind][1] += all_
    finally:
        stress.terminate()
        stress.wait()
    print("| JDK | JVMs | clean tests that passed | leaks that were found |")
    print("|---|---|---|---|")
    for home in given.homes:
        clean, leaks = sums[home]["clean"], sums[home]["leak"]
        print(f"| {versions[home]} | {jvms} | {share(clean[1] - clean[0], clean[1])} | {share(leaks[0], leaks[1])} |")
        failed = failed or clean[0] > 0 or leaks[0] < leaks[1]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
