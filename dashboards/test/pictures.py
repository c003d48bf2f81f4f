#!/usr/bin/env python3
"""Takes the pictures of the dashboards from what test/record.py recorded of real JVMs: Overview for some minutes of health, and for a leak, a
minute before the kernel kills it, and after; Fleet and Where over all situations. Drawn by Grafana's component library. Needs what
bin/test installs, and dashboards/check.sh run once.

    dashboards/test/pictures.py [--recorded DIRECTORY] [--theme dark] [--open] [--into DIRECTORY]
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request

TEST = pathlib.Path(__file__).resolve().parent
DASHBOARDS = TEST.parent
sys.path[:0] = [str(TEST), str(TEST / "scale")]
import simulate  # noqa: E402

SCRAPE_SECONDS = 15
MINUTE = 60
SHOWN_SECONDS = 8 * MINUTE
HEALTHY, LEAK = "healthy", "restarts-6m"
ALL = ".*"


def pictures(recorded):
    """Name, dashboard, job, and end of the shown time of each picture."""
    healthy, leak = (json.loads((recorded / f"{name}.json").read_text()) for name in (HEALTHY, LEAK))
    killed = next(event["at"] for event in leak["events"] if event["what"] == "killed")
    yield "overview-healthy", "overview", HEALTHY, healthy["ended"] - MINUTE
    yield "overview-leaking", "overview", LEAK, killed - 2 * MINUTE
    yield "overview-before-the-kill", "overview", LEAK, killed - MINUTE
    yield "overview-after-the-kill", "overview", LEAK, killed + 3 * MINUTE
    yield "fleet", "fleet", ALL, killed - MINUTE
    yield "where", "where", ALL, killed - MINUTE


def snapshot(recorded, directory):
    """A copy of the recorded data, what was not yet in blocks too, with what the recording rules make of it."""
    copy = directory / "copy/data"
    shutil.copytree(recorded / "data", copy, ignore=shutil.ignore_patterns("lock"))
    with simulate.prometheus(copy, "--web.enable-admin-api") as (url, _):
        asked = urllib.request.Request(f"{url}/api/v1/admin/tsdb/snapshot", method="POST")
        with urllib.request.urlopen(asked) as answer:
            name = json.load(answer)["data"]["name"]
    data = directory / "data"
    shutil.move(copy / "snapshots" / name, data)
    situations = [json.loads(file.read_text()) for file in recorded.glob("*.json")]
    start, end = min(one["began"] for one in situations), max(one["ended"] for one in situations)
    simulate.record(data, int(start), int(end))
    return data


def draw(url, dashboard, job, end, options, into):
    subprocess.run(
        ["node", "picture.mjs", url, "--to", str(int(end)), "--seconds", str(SHOWN_SECONDS), "--interval", str(SCRAPE_SECONDS)]
        + [*options, "--var", f"job={job}", "--var", "compare=5m", "--into", into]
        + [DASHBOARDS / f"grafana/mallometer-{dashboard}.json"],
        cwd=TEST / "render",
        check=True,
    )
    return into / f"mallometer-{dashboard}.png"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--recorded", type=pathlib.Path, default=DASHBOARDS / "target/recorded", help="where record.py left the series")
    arguments.add_argument("--theme", choices=("light", "dark"), default="light")
    arguments.add_argument("--open", action="store_true", help="with closed rows open")
    arguments.add_argument("--into", type=pathlib.Path, default=DASHBOARDS.parent / "docs/images")
    given = arguments.parse_args()
    options = ["--theme", given.theme] + ([] if given.open else ["--closed"])
    given.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        with simulate.prometheus(snapshot(given.recorded.resolve(), directory)) as (url, _):
            for name, dashboard, job, end in pictures(given.recorded):
                drawn = draw(url, dashboard, job, end, options, directory / "drawn")
                shutil.copy(drawn, given.into / f"dashboard-{name}.png")


if __name__ == "__main__":
    main()
