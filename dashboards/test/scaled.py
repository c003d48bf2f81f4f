"""Rules whose time runs faster, so that a test sees in seconds what they would see in hours.

Every duration of a rules file is divided by a factor: for, keep_firing_for, ranges and offsets. Thresholds stay, the
horizons of projections among them.

    python3 dashboards/test/scaled.py 120 dashboards/prometheus/alerts.yml >fast.yml
"""

import re
import sys

MILLISECONDS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
DURATION = re.compile(r"(?P<before>\[|\boffset |\bfor: |\bkeep_firing_for: )(?P<number>\d+)(?P<unit>[smhd])\b")


def scaled(rules, factor):
    """The text of a rules file with its durations divided by a factor."""

    def shorter(duration):
        milliseconds = int(duration["number"]) * MILLISECONDS[duration["unit"]] // factor
        return f"{duration['before']}{milliseconds}ms"

    return DURATION.sub(shorter, rules)


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        sys.stdout.write(scaled(file.read(), int(sys.argv[1])))
