"""Checks the Prometheus rules beyond what promtool looks at.

An alert is at fault if it lacks a severity, a keep_firing_for, a summary, a description with a number or a state, or a page
in docs/runbooks; a page if it does not begin with something to type; the tests if one of them does not show an alert both
firing and silent.

    python3 dashboards/test/rules.py        from the root of the repository
"""

import pathlib
import re
import sys

import yaml

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
RULES = REPOSITORY / "dashboards/prometheus"
SEVERITIES = {"critical", "warning", "info"}
PAGES = "docs/runbooks/"
# A command has to come this early in a page.
LINES_BEFORE_A_COMMAND = 12


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def alerts(rules):
    """Every alert of a rules file."""
    return [rule for group in rules["groups"] for rule in group["rules"] if "alert" in rule]


def alert_faults(rules, repository=REPOSITORY):
    """What is wrong with the alerts and with the pages that they lead to, one line each."""
    found, addresses = [], set()
    for alert in alerts(rules):
        texts = alert.get("annotations", {})
        for what, holds in (
            ("has no severity", alert.get("labels", {}).get("severity") in SEVERITIES),
            ("has no keep_firing_for", "keep_firing_for" in alert),
            ("has no summary that names the instance", "$labels.instance" in texts.get("summary", "")),
            ("has no number in its description", re.search(r"\$value|\.Value|\.Labels", texts.get("description", ""))),
        ):
            if not holds:
                found.append(f"{alert['alert']} {what}")
        address, _, page = texts.get("runbook_url", "").rpartition(PAGES)
        addresses.add(address)
        found += [f"{alert['alert']}: {fault}" for fault in page_faults(repository / PAGES / page)]
    if len(addresses) > 1:
        found.append(f"the pages have several addresses: {', '.join(sorted(addresses))}")
    return found


def page_faults(page):
    if not page.is_file():
        return [f"{page.name or 'a page'} is not in {PAGES}"]
    lines = page.read_text(encoding="utf-8").splitlines()
    if not any(line.startswith("    ") for line in lines[:LINES_BEFORE_A_COMMAND]):
        return [f"{page.name} does not begin with something to type"]
    return []


def test_faults(rules, tests):
    """Alerts that no test shows firing, or none silent."""
    shown = {(test["alertname"], bool(test["exp_alerts"])) for case in tests["tests"] for test in case["alert_rule_test"]}
    return [
        f"{alert['alert']} has no test that it {'fires' if firing else 'is silent'}"
        for alert in alerts(rules)
        for firing in (True, False)
        if (alert["alert"], firing) not in shown
    ]


def main():
    rules = load(RULES / "alerts.yml")
    found = alert_faults(rules) + test_faults(rules, load(RULES / "tests/alerts.yml"))
    for fault in found:
        print(f"dashboards/prometheus: {fault}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
