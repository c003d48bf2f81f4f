#!/usr/bin/env python3
"""Runs the alerts over the recordings of real JVMs in prometheus/tests/recorded/ and compares when they fired with what a person would
have wanted, which wanted.yml beside them says. promtool evaluates the rules, once a minute.

    dashboards/test/recorded.py            prints what differs
    dashboards/test/recorded.py --table    prints when each alert fired and was over, as Markdown
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

import rules
import yaml

RECORDED = rules.RULES / "tests/recorded"
WANTED = RECORDED / "wanted.yml"
FIRING = re.compile(r"alertname: (\w+), time: (?:(\d+)h)?(?:(\d+)m)?\d*s?,")
EVENT = re.compile(r"([a-z]+) (-?[\d.]+)")
MOMENT = re.compile(r"(?P<event>[a-z]+)?(?P<sign>[+-]?)(?P<minutes>[\d.]+)?$")


class Recording:
    """One situation: its head's words, its events and its length in minutes."""

    def __init__(self, path):
        self.name, self.path = path.stem, path
        self.text = path.read_text(encoding="utf-8")
        head = [line[2:] for line in self.text.splitlines() if line.startswith("# ")]
        self.truth = head[0].partition(": ")[2].rstrip(".")
        self.events = [(what, float(minute)) for what, minute in EVENT.findall(next(line for line in head if line.startswith("Minutes: ")))]
        self.minutes = int(re.search(r"^# Length: (\d+) min", self.text, re.M)[1])

    def at(self, moment):
        """The minute of an event, of the first of its name, plus or minus some."""
        found = MOMENT.match(moment.replace(" ", ""))
        start = next((minute for what, minute in self.events if what == found["event"]), None) if found["event"] else 0
        if start is None:
            raise ValueError(f"{self.name} has no event '{found['event']}'")
        minutes = float(found["minutes"] or 0)
        return start - minutes if found["sign"] == "-" else start + minutes


def recordings():
    return [Recording(path) for path in sorted(RECORDED.glob("*.yml")) if path != WANTED]


def fired(recording, alerts=rules.RULES / "alerts.yml"):
    """When each alert fired: a list of first and last minute for each, by name. One that fires at the end has no last minute."""
    names = [alert["alert"] for alert in rules.alerts(rules.load(alerts))]
    text = recording.text.replace("../../alerts.yml", str(alerts)).replace("../../recording.yml", str(rules.RULES / "recording.yml"))
    lines = [text, "    alert_rule_test:"]
    for minute in range(1, recording.minutes + 1):
        for name in names:
            lines += [f"      - {{eval_time: {minute}m, alertname: {name}, exp_alerts: []}}"]
    with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        ran = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True, check=False)
    output = ran.stdout + ran.stderr
    minutes = {}
    for name, hours, rest in FIRING.findall(output):
        minutes.setdefault(name, []).append(60 * int(hours or 0) + int(rest or 0))
    if ran.returncode != 0 and not minutes:
        raise RuntimeError(f"{recording.name}: {output}")
    return {name: intervals(sorted(set(found)), recording.minutes) for name, found in minutes.items()}


def intervals(minutes, end):
    found = []
    for minute in minutes:
        if found and minute == found[-1][1] + 1:
            found[-1][1] = minute
        else:
            found.append([minute, minute])
    return [(first, None if last == end else last) for first, last in found]


def faults(recording, wanted, found):
    """What is missing, what comes at the wrong time, and what nobody wanted, one line each."""
    for name, moments in wanted.get("fires", {}).items():
        earliest, _, latest = (part.strip() for part in moments.partition(" to "))
        first = found[name][0][0] if name in found else None
        if first is None:
            yield f"{recording.name}: {name} does not fire"
        elif not recording.at(earliest) <= first <= recording.at(latest):
            yield f"{recording.name}: {name} fires in minute {first}, not from {earliest} to {latest}"
    for name in found.keys() - wanted.get("fires", {}).keys() - set(wanted.get("may", [])):
        yield f"{recording.name}: {name} fires in minute {found[name][0][0]}, and nobody wanted it"


def told(found):
    return ", ".join(f"{first} to {'the end' if last is None else last}" for first, last in found)


def table(recording, wanted, found):
    yield f"| {recording.name} | {recording.truth} | {wanted['person']} | " + (
        "<br>".join(f"{name}: {told(found[name])}" for name in sorted(found)) or "none"
    ) + " |"


def main(arguments):
    wanted = rules.load(WANTED)
    all_of_them = recordings()
    with concurrent.futures.ThreadPoolExecutor(2) as together:
        results = list(together.map(fired, all_of_them))
    found = [f"{name}: wanted, but not recorded" for name in wanted.keys() - {one.name for one in all_of_them}]
    if "--table" in arguments:
        print("| situation | what is so | a person wants | alerts: minutes in which they fired |\n|---|---|---|---|")
    for recording, result in zip(all_of_them, results, strict=True):
        if recording.name not in wanted:
            found.append(f"{recording.name}: recorded, but nobody says what is wanted")
            continue
        if "--table" in arguments:
            print(*table(recording, wanted[recording.name], result), sep="\n")
        found += faults(recording, wanted[recording.name], result)
    for fault in found:
        print(f"dashboards/prometheus/tests/recorded: {fault}", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
