#!/usr/bin/env python3
"""Runs the alerts over the recordings of real JVMs in prometheus/tests/recorded/ and compares when they fired with what a person would
have wanted, which wanted.yml beside them says. promtool evaluates the rules, once a minute.

    dashboards/test/recorded.py            prints what differs, from docs/operation/alerts.md too
    dashboards/test/recorded.py --write    puts into docs/operation/alerts.md when each alert fired
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

import rules

RECORDED = rules.RULES / "tests/recorded"
WANTED = RECORDED / "wanted.yml"
DOCUMENT = rules.REPOSITORY / "docs/operation/alerts.md"
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
        self.wanted = {}
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


def fired(recording, changed=lambda alerts: alerts):
    """Returns the first and the last minute of each firing, by alert. An alert that fires at the end has no last minute."""
    with tempfile.TemporaryDirectory() as directory:
        alerts = pathlib.Path(directory, "alerts.yml")
        alerts.write_text(changed((rules.RULES / "alerts.yml").read_text(encoding="utf-8")), encoding="utf-8")
        names = [alert["alert"] for alert in rules.alerts(rules.load(alerts))]
        tests = [
            f"      - {{eval_time: {minute}m, alertname: {name}, exp_alerts: []}}"
            for minute in range(1, recording.minutes + 1)
            for name in names
        ]
        text = recording.text.replace("../../alerts.yml", str(alerts)).replace("../../recording.yml", str(rules.RULES / "recording.yml"))
        file = pathlib.Path(directory, "test.yml")
        file.write_text("\n".join([text + "    alert_rule_test:", *tests]) + "\n", encoding="utf-8")
        ran = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False)
    output = ran.stdout + ran.stderr
    minutes = {}
    for name, hours, rest in FIRING.findall(output):
        minutes.setdefault(name, set()).add(60 * int(hours or 0) + int(rest or 0))
    if ran.returncode != 0 and not minutes:
        raise RuntimeError(f"{recording.name}: {output}")
    return {name: intervals(sorted(found), recording.minutes) for name, found in minutes.items()}


def intervals(minutes, end):
    found = []
    for minute in minutes:
        if found and minute == found[-1][1] + 1:
            found[-1][1] = minute
        else:
            found.append([minute, minute])
    return [(first, None if last == end else last) for first, last in found]


def differences(recording, found):
    """Returns the missing, the mistimed and the unwanted alerts, one line each."""
    wanted = recording.wanted
    for name, moments in wanted.get("fires", {}).items():
        begins, _, ends = moments.partition(", over by ")
        earliest, _, latest = (part.strip() for part in begins.partition(" to "))
        first, last = found[name][0] if name in found else (None, None)
        if first is None:
            yield f"{recording.name}: {name} does not fire"
        elif not recording.at(earliest) <= first <= recording.at(latest):
            yield f"{recording.name}: {name} fires in minute {first}, not from {earliest} to {latest}"
        elif ends and not (recording.minutes if last is None else last) <= recording.at(ends):
            yield f"{recording.name}: {name} is not over by {ends}"
    for name in found.keys() - wanted.get("fires", {}).keys() - set(wanted.get("may", [])):
        yield f"{recording.name}: {name} fires in minute {found[name][0][0]}, and nobody wanted it"


def told(recording, found):
    """A row of the table."""
    fired = "<br>".join(
        f"{name} {', '.join(f'{first} to {recording.minutes if last is None else last}' for first, last in found[name])}"
        for name in sorted(found)
    )
    events = ", ".join(f"{what} {minute:g}" for what, minute in recording.events if what != "started")
    return f"| {recording.name} | {recording.truth} | {events} | {recording.wanted['person']} | {fired or 'nothing'} |"


def documented(rows):
    """The text of docs/operation/alerts.md with the rows as its table."""
    table = "\n".join(["| recording | situation | events, in minutes | a person wants | alerts, in minutes |", "|---|---|---|---|---|", *rows])
    text = DOCUMENT.read_text(encoding="utf-8")
    return re.sub(r"(<!-- table -->\n)(\|.*\n)*", lambda mark: f"{mark[1]}{table}\n", text, count=1)


def main(arguments):
    wanted = rules.load(WANTED)
    recorded = recordings()
    faults = [f"{name}: wanted, but not recorded" for name in wanted.keys() - {one.name for one in recorded}]
    faults += [f"{one.name}: recorded, but nobody says what is wanted" for one in recorded if one.name not in wanted]
    recorded = [one for one in recorded if one.name in wanted]
    with concurrent.futures.ThreadPoolExecutor(2) as together:
        results = list(together.map(fired, recorded))
    for recording, found in zip(recorded, results, strict=True):
        recording.wanted = wanted[recording.name]
        faults += differences(recording, found)
    text = documented([told(recording, found) for recording, found in zip(recorded, results, strict=True)])
    if "--write" in arguments:
        DOCUMENT.write_text(text, encoding="utf-8")
    elif text != DOCUMENT.read_text(encoding="utf-8"):
        faults.append("docs/operation/alerts.md tells otherwise: run recorded.py --write")
    for fault in faults:
        print(f"dashboards/prometheus/tests/recorded: {fault}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
