"""Shortens a trace of `run.py --trace` to its last moments and to the sites of which anything is known then.

    python3 benchmarks/leaks/shorten.py TRACE.jsonl.gz SHORT.jsonl.gz [PROGRAM...]

Where programs are named, such as PartRead, only sites with one of them in their stack are kept.
The tests of verdicts judge such traces again (RecordedKernelsTest). A whole one of forty minutes takes 5 MB.
"""

import gzip
import json
import sys

MOMENTS = 6


def shortened(moments, programs=()):
    """Names and frames of a site are in the first moment that has it."""
    known = {}
    for moment in moments:
        known.update((site["number"], site) for site in moment["sites"] if "frames" in site)
    named = set()
    for moment in moments[-MOMENTS:]:
        kept = {number for number, site in known.items() if not programs or any(f"${program}" in str(site["frames"]) for program in programs)}
        objects = [row for row in moment["objects"] if row[0] in kept]
        uses = {number: use for number, use in moment["uses"].items() if int(number) in kept}
        observed = {row[0] for row in objects} | {int(number) for number in uses}
        sites = []
        for site in moment["sites"]:
            number = site["number"]
            if number in observed:
                sites.append(site if number in named else known[number] | site)
                named.add(number)
        yield moment | {"sites": sites, "objects": objects, "uses": uses}


def main():
    with gzip.open(sys.argv[1], "rt") as lines:
        moments = [json.loads(line) for line in lines]
    text = "".join(json.dumps(moment, separators=(",", ":")) + "\n" for moment in shortened(moments, sys.argv[3:]))
    with gzip.GzipFile(sys.argv[2], "wb", 9, mtime=0) as short:
        short.write(text.encode())


if __name__ == "__main__":
    main()
