#!/usr/bin/env python3
"""Takes the pictures in docs/images anew: the page, the flame graph and JConsole of bin/demo, which leaks 300 KB a second in a cgroup
of 512 MiB, at the world's pace, once the page names the suspect (about 5 minutes); with --dashboards also those of the dashboards, of
JVMs that are recorded for 10 minutes. Look at each picture afterwards. Needs what bin/demo builds, and `npm --prefix docs/site ci`.

    docs/site/pictures.py [--dashboards] [--into DIRECTORY]
"""

import argparse
import json
import pathlib
import subprocess
import sys

SITE = pathlib.Path(__file__).resolve().parent
ROOT = SITE.parents[1]
sys.path.insert(0, str(ROOT / "samples/leaky-service/e2e"))
from processes import Demo, get, wait_until  # noqa: E402

RATE = "300KB"
PATIENCE_SECONDS = 15 * 60
# The leak that is recorded, 1 MB a second as the demo's is, fills its limit within six minutes; then the next run is seen.
RECORDED_MINUTES = 10


def names_the_suspect(url):
    diagnosis = json.loads(get(f"{url}/diagnosis"))
    return diagnosis["state"] == "act" and "none of it accessed" in diagnosis["sentence"]


def of_the_demo(into):
    # The compiler that the tests switch off belongs to the picture.
    with Demo("--leak", "zlib", "--limit", "512", java_options="-XX:TieredStopAtLevel=4", **{"leaky.leaks.rate": RATE}) as demo:
        url = f"{demo.url}/actuator/nativememory"
        wait_until(lambda: names_the_suspect(url), PATIENCE_SECONDS, "the diagnosis names the suspect")
        for page, file, size in (
            ("page", "page.png", ("1280", "1000", "#hour")),
            ("flamegraph", "flamegraph.png", ("1400", "420")),
        ):
            subprocess.run(["node", SITE / "picture.mjs", f"{url}/{page}", into / file, *size], check=True)
        subprocess.run([SITE / "jconsole.sh", into / "jconsole.png", str(demo.jmx_port), "Diagnosis"], check=True)


def of_the_dashboards(into):
    recorded = ROOT / "dashboards/target/recorded"
    situations = ("--situation", "healthy", "--situation", "restarts-6m")
    minutes = ("--minutes", str(RECORDED_MINUTES))
    subprocess.run([ROOT / "dashboards/test/record.py", *situations, *minutes, "--keep", recorded], check=True)
    subprocess.run([ROOT / "dashboards/test/pictures.py", "--recorded", recorded, "--into", into], check=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--dashboards", action="store_true", help="those of the dashboards, too: 10 minutes more")
    arguments.add_argument("--into", type=pathlib.Path, default=ROOT / "docs/images")
    given = arguments.parse_args()
    into = given.into.resolve()
    into.mkdir(parents=True, exist_ok=True)
    of_the_demo(into)
    if given.dashboards:
        of_the_dashboards(into)


if __name__ == "__main__":
    main()
