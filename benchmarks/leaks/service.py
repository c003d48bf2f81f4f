"""Whether a whole Spring Boot application that does not leak stays without a verdict of leak.

The demo under its own load, scraped and looked at as services are. Prints the verdicts other than healthy once a minute; the
exit code is 1 if one of them was ever leak.
"""

import collections
import json
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "samples/leaky-service/e2e")]

import measure
from processes import Demo, get

SCRAPED_EVERY_SECONDS = 15
PATHS = ("prometheus", "health", "nativememory", "nativememory/sites", "nativememory/breakdown", "nativememory/leaks")


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 31
    print(f"## A service that does not leak, {minutes:g} minutes\n\n{measure.describe_machine()}\n")
    leaks = {}
    # With the compiler that services have.
    with Demo(java_options="-XX:TieredStopAtLevel=4") as demo:
        begin = time.monotonic()
        printed = 0
        while (age := time.monotonic() - begin) < minutes * 60:
            answers = {path: get(f"{demo.url}/actuator/{path}") for path in PATHS}
            sites = json.loads(answers["nativememory/leaks"])
            for site in sites:
                if site["verdict"] == "leak":
                    leaks.setdefault(site["site"]["name"], f"after {age / 60:.0f} min: {site['sentence']}")
            if age >= printed * 60:
                printed += 1
                counts = collections.Counter(site["verdict"] for site in sites)
                seen = json.loads(answers["nativememory"])["observation"]
                print(f"{age / 60:3.0f} min  {dict(counts) or 'all healthy'}  observation {seen['state']}, {seen['epochs']} epochs, "
                      f"{seen['voidEpochs']} void, {seen['cpuSeconds']:.2f} s of processor time, {seen['placed']} objects placed", flush=True)
            time.sleep(SCRAPED_EVERY_SECONDS)
        for site in json.loads(get(f"{demo.url}/actuator/nativememory/leaks")):
            print(f"{site['verdict']}: {site['site']['name']}: {site['sentence']}")
    print(f"\n{len(leaks)} sites were ever taken for leaks")
    for site, said in leaks.items():
        print(f"- {site}, {said}")
    sys.exit(bool(leaks))


if __name__ == "__main__":
    main()
