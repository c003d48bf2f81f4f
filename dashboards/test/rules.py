"""Checks the Prometheus rules beyond what promtool looks at.

An alert is at fault if it lacks a severity, a keep_firing_for, a summary, a description with a number or a state, or a page
in docs/runbooks; a page if it does not begin with something to type, lacks a section, or does not show three commands with
what they answered; a document if a link in it leads nowhere; the tests if one of them does not show an alert both firing and
silent.
"""

import pathlib
import re

import yaml

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
RULES = REPOSITORY / "dashboards/prometheus"
SEVERITIES = {"critical", "warning", "info"}
PAGES = "docs/runbooks/"
# Alerts about all instances of a job.
OF_JOBS = {"MallometerAbsent", "NativeMemoryMoreSinceRelease"}
SECTIONS = ["What it means", "How sure it is", "Three commands", "What to do now", "What to do later"]
COMMAND = "    $ "
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# Folders besides docs whose README.md files are checked.
FOLDERS_WITH_READMES = ["dashboards", "testing", "samples", "benchmarks"]
# Folders of installed packages and of build output.
NOT_OURS = {"node_modules", "target"}
# A command has to come this early in a page.
LINES_BEFORE_A_COMMAND = 12


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def alerts(rules):
    """Every alert of a rules file."""
    return [rule for group in rules["groups"] for rule in group["rules"] if "alert" in rule]


def alert_faults(rules, repository=REPOSITORY):
    """Returns the faults of the alerts and of their runbooks, one line each."""
    found, addresses = [], set()
    for alert in alerts(rules):
        named = "$labels.job" if alert["alert"] in OF_JOBS else "$labels.instance"
        texts = alert.get("annotations", {})
        for what, holds in (
            ("has no severity", alert.get("labels", {}).get("severity") in SEVERITIES),
            ("has no keep_firing_for", "keep_firing_for" in alert),
            (f"has no summary that names {named}", named in texts.get("summary", "")),
            ("has no number in its description", re.search(r"\$value|\.Value|\.Labels|\| value\b", texts.get("description", ""))),
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
    found = []
    lines = page.read_text(encoding="utf-8").splitlines()
    if not any(line.startswith("    ") for line in lines[:LINES_BEFORE_A_COMMAND]):
        found.append(f"{page.name} does not begin with something to type")
    if [line[3:] for line in lines if line.startswith("## ")] != SECTIONS:
        found.append(f"{page.name} does not have the sections {', '.join(SECTIONS)}")
    shown = [lines[i : i + 2] for i, line in enumerate(lines) if line.startswith(COMMAND)]
    if len(shown) != 3 or not all(_is_output(after[-1]) for after in shown):
        found.append(f"{page.name} does not show three commands, each with what it answered")
    return found


def _is_output(line):
    return line.startswith("    ") and not line.startswith(COMMAND)


def anchors(document):
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", document, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def link_faults(document):
    """Links of a document to files or headings that do not exist."""
    found = []
    for target in LINK.findall(document.read_text(encoding="utf-8")):
        address, _, anchor = target.partition("#")
        if ":" in address:
            continue
        file = document.parent / address if address else document
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            found.append(f"{document.name} links to {target}, which does not exist")
    return found


def documents(repository=REPOSITORY):
    """The documents whose links are checked."""
    pages = set((repository / "docs").rglob("*.md"))
    pages |= {path for folder in FOLDERS_WITH_READMES for path in (repository / folder).rglob("README.md")}
    own = {path for path in pages if not NOT_OURS & set(path.relative_to(repository).parts)}
    return [repository / "README.md", *sorted(own)]


def test_faults(rules, tests):
    """Alerts that no test shows firing, or none silent."""
    shown = {(test["alertname"], bool(test["exp_alerts"])) for case in tests["tests"] for test in case["alert_rule_test"]}
    return [
        f"{alert['alert']} has no test that it {'fires' if firing else 'is silent'}"
        for alert in alerts(rules)
        for firing in (True, False)
        if (alert["alert"], firing) not in shown
    ]
