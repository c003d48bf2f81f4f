"""Implements bin/test --anywhere: runs mallometer in all environments in which it may be used, row by row.

Each file rows_*.py in this directory has a function rows(context), which yields the rows of a topic; see row.py.

    run.py [--quick] [--only REGEX] [--list] [--other-root ROOT]
    run.py --write [FILE] [--other-root ROOT]
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import importlib
import os
import pathlib
import re
import signal
import sys
import threading
import time

import jdks
import launch
import places
import row
import table
import workshop

# Rows of JDKs that sid has only for some months. With REQUIRE_ANYWHERE=true every other row that is not run fails.
MAY_BE_MISSING = re.compile(r"^(JDK: |attached: Java )(26|27|28) on Debian sid$")

PAGE = str(workshop.REPOSITORY / "docs/reference/compatibility.md")

# The seconds for the quick rows, which take less than a minute on two idle processors. They may take twice as long, and longer if more
# processes than that wait for each processor.
QUICK_SECONDS = 60

# The number of rows that run at the same time. With more, processes wait for each other, and starts look slow.
BESIDE = 2


@dataclasses.dataclass
class Context:
    """The things from which rows are made. The other JDKs are those of another Debian's root directory."""

    workshop: workshop.Workshop
    jdks: dict
    other_jdks: dict
    other_root: str
    no_other_root: str

    def place_of_other_root(self):
        return places.OtherRoot(str(self.workshop.work), self.other_root)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only rows that together take less than a minute")
    parser.add_argument("--only", default="", help="only rows whose title matches")
    parser.add_argument("--list", action="store_true", help="only say which rows there are")
    parser.add_argument("--other-root", default="", help="the root directory of a Debian with more JDKs")
    parser.add_argument(
        "--write", nargs="?", default="", const=PAGE, help="put the table into this file, between its two marks"
    )
    options = parser.parse_args(arguments)
    if options.write and (options.only or options.quick):
        parser.error("--write needs all rows: leave out --only and --quick")
    return options


def all_rows(context, options):
    for file in sorted(pathlib.Path(__file__).parent.glob("rows_*.py")):
        for each in importlib.import_module(file.stem).rows(context):
            if (each.quick or not options.quick) and re.search(options.only, each.title()):
                yield each


def judged(each):
    began = time.monotonic()
    result = row.Result(each, each.verdict, trouble=each.reason) if isinstance(each, row.Absent) else row.judge(each)
    result.seconds = time.monotonic() - began
    if result.verdict == row.NOT_RUN and os.environ.get("REQUIRE_ANYWHERE") == "true" and not MAY_BE_MISSING.search(each.title()):
        result.verdict, result.trouble = row.FAILED, f"it could not run: {result.trouble}"
    return result


def judge_all(rows):
    """Judges the rows in their order, and reports each as soon as it is done."""
    told = threading.Lock()

    def judge_and_tell(each):
        result = judged(each)
        with told:
            print(f"{result.seconds:6.1f} s  {result.verdict:8}  {each.title()}", flush=True)
            if result.trouble:
                print("            " + result.trouble.replace("\n", "\n            "), flush=True)
        return result

    pool = concurrent.futures.ThreadPoolExecutor(BESIDE)
    try:
        return list(pool.map(judge_and_tell, rows))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        launch.kill_all()


def make_needs(rows):
    """Makes what the rows need before the time counts, because jars may come from the network. If something cannot be made, its row fails
    later."""
    for each in rows:
        if isinstance(each, row.Row) and not each.obstacle():
            for need in each.all_needs():
                with contextlib.suppress(Exception):
                    need()


def too_slow(seconds):
    """Returns whether the quick rows took too long, and says so."""
    most = QUICK_SECONDS * max(2, row.crowd())
    verdict = row.FAILED if seconds > most else row.PASSED
    print(f"{seconds:6.1f} s  {verdict:8}  the quick rows together, which may take {most:.0f} s under this load")
    return verdict == row.FAILED


def main(arguments):
    options = parse(arguments)
    # If this process is killed from outside, its children are killed as after Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    homes = [os.environ.get("JAVA_HOME", ""), *os.environ.get("JDK_HOMES", "").split(":")]
    here = jdks.installed(more=filter(None, homes))
    if 17 not in here:
        sys.exit("run.py: there is no JDK 17")
    shop = workshop.Workshop(here[17].home)
    if not options.list:
        shop.prepare()
    root = options.other_root
    context = Context(
        shop, here, jdks.installed(root) if root else {}, root, "" if root else "needs the root directory of Debian sid"
    )
    rows = list(all_rows(context, options))
    if options.list:
        for each in rows:
            print(each.title())
        return 0
    try:
        if options.quick:
            make_needs(rows)
        began = time.monotonic()
        results = judge_all(rows)
        seconds = time.monotonic() - began
    finally:
        shop.clear()
    print()
    print(table.text(results))
    if options.write:
        table.write(pathlib.Path(options.write), results)
    if options.quick and too_slow(seconds):
        return 1
    return 1 if any(result.verdict == row.FAILED for result in results) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except launch.Failed as failed:
        sys.exit(f"run.py: {failed}")
