"""Makes files for RecordedDiagnosisTest of what run.py --inputs recorded: fixtures.py RESULTS DIRECTORY [PROGRAM...].

A file has the input of the rules, without what they do not read, and what is right at that minute.
"""

import gzip
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from programs import SITUATIONS

# Call sites that never held so much are left out; the account has them under malloc without a sampled call site.
LEAST_BYTES = 32 << 10
SUSPECTED = ("LEAK", "UNUSED", "GROWING")


def shortened(recorded):
    """The input without healthy verdicts, small sites, and all stacks of a site but the first."""
    recorded["leaks"]["sites"] = [site for site in recorded["leaks"]["sites"] if site["verdict"] in SUSPECTED]
    sites = recorded["sites"]
    if sites:
        sites["groups"] = [{**group, "largest": group["largest"][:1]} for group in sites["groups"] if max(group["history"], default=0) >= LEAST_BYTES]
    return recorded


def main():
    results, directory, *names = sys.argv[1:]
    for situation in SITUATIONS:
        for minute in (5, 9):
            file = pathlib.Path(results, f"{situation.file}-{minute}.json.gz")
            if not file.exists() or names and situation.name not in names:
                continue
            with gzip.open(file) as stream:
                recorded = json.load(stream)
            fixture = {
                "truth": situation.truth,
                "states": situation.late if minute == 9 and situation.late else situation.states,
                "says": situation.says + situation.always_says,
                "alwaysSays": situation.always_says,
                "notSays": situation.not_says,
                "attributed": situation.attributed,
                "input": shortened(recorded),
            }
            with gzip.GzipFile(pathlib.Path(directory, file.name), "wb", 9, mtime=0) as stream:
                stream.write(json.dumps(fixture, separators=(",", ":")).encode())


if __name__ == "__main__":
    main()
