"""What reading the counters costs, in processes of 1, 100 and 1,000 live threads."""

import argparse
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import measure
from measure import Target

BUILD = measure.TARGET / "snapshot"
THREADS = (1, 100, 1000)
KINDS = {
    "warm": "mallometer_snapshot, back to back",
    "cold": "mallometer_snapshot, caches overwritten",
    "thread": "mallometer_thread_snapshot",
}


def read_once(threads, readings, library, directory):
    """One process. Returns its readings in microseconds, by kind."""
    environment = {"LD_PRELOAD": measure.existing(library, "none: built from interposer/")}
    output, _ = measure.run([BUILD / "snapshot", threads, readings], environment, directory)
    rows = (line.split() for line in output.splitlines())
    return {row[0]: [int(value) / 1000 for value in row[1:]] for row in rows}


def read_all(threads, processes, readings, library, directory):
    samples = {kind: [] for kind in KINDS}
    for _ in range(processes):
        for kind, values in read_once(threads, readings, library, directory).items():
            samples[kind] += values
    return {kind: measure.spread(values) for kind, values in samples.items()}


def parse_arguments():
    parser = argparse.ArgumentParser(prog="bin/bench snapshot", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer readings")
    parser.add_argument("--library", type=pathlib.Path, default=measure.LIBRARY, help="another libmallometer.so")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    processes, readings = (2, 200) if arguments.quick else (7, 1000)
    measure.compile_c(HERE / "snapshot.c", BUILD / "snapshot", "-pthread")
    print(f"## bin/bench snapshot\n\n{measure.describe_machine()}")
    with tempfile.TemporaryDirectory(prefix="mallometer-bench-") as directory:
        library = arguments.library.resolve()
        results = {count: read_all(count, processes, readings, library, directory) for count in THREADS}
    header = ["microseconds, median (quartiles)", *(f"threads: {count:,}" for count in THREADS)]
    rows = [[text, *(results[count][kind] for count in THREADS)] for kind, text in KINDS.items()]
    measure.print_table(f"Time of a reading: {processes} processes, {readings:,} readings of each kind", header, rows)
    most = results[THREADS[-1]]
    measure.print_targets([
        Target(f"{KINDS['warm']}, 1,000 threads", 25, most["warm"].median, " us"),
        Target(f"{KINDS['cold']}, 1,000 threads", 25, most["cold"].median, " us"),
        Target(f"{KINDS['thread']}, 1,000 threads", 1, most["thread"].median, " us"),
    ])


if __name__ == "__main__":
    main()
