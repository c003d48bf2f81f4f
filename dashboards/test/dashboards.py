"""Checks what a dashboard's JSON must have so that somebody who sees it for the first time can use it.

A panel is at fault without a title, a description that says what to conclude, a unit, or a legend; a rate that does not use
$__rate_interval; a ranking over time that is made anew at each moment; thresholds that a graph does not draw; a link to a
runbook that does not exist. A dashboard is at fault if it does not link to the others, or draws every instance of a fleet by
itself.

    python3 dashboards/test/dashboards.py        from the root of the repository
"""

import json
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DASHBOARDS = REPOSITORY / "dashboards/grafana"
VARIABLES = ["datasource", "cluster", "namespace", "job", "application", "instance"]
# Asks each instance only for what is recorded, and draws a few.
FLEET = "mallometer-fleet"
ANNOTATIONS = {"Starts", "Leaks"}
RUNBOOK = re.compile(r"docs/runbooks/(.*)$")
FIXED_RATE = re.compile(r"\b(?:rate|increase)\([^()]*\[(?!\$__rate_interval\])")
SHORTEST_DESCRIPTION = 30


def load():
    """The committed dashboards by name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(DASHBOARDS.glob("mallometer-*.json"))}


def faults(dashboard):
    """What is wrong with a dashboard, one line each."""
    found = []
    names = [variable["name"] for variable in dashboard["templating"]["list"]]
    if names[: len(VARIABLES)] != VARIABLES:
        found.append(f"variables {names}")
    if dashboard["uid"] != FLEET:
        found += _unbounded(dashboard)
    if not ANNOTATIONS <= {annotation["name"] for annotation in dashboard["annotations"]["list"]}:
        found.append("annotations are missing")
    if not any(link["type"] == "dashboards" and "mallometer" in link["tags"] for link in dashboard["links"]):
        found.append("no link to the other dashboards")
    found += _link_faults("dashboard", dashboard["links"])
    titles = [panel["title"] for panel in dashboard["panels"]]
    found += [f"two panels named {title}" for title in set(titles) if titles.count(title) > 1]
    for panel in dashboard["panels"]:
        if panel["type"] != "row":
            found += [f"{panel['title'] or 'a panel'}: {fault}" for fault in _panel_faults(panel)]
    return found


def _unbounded(dashboard):
    """Whether "All" can be more instances than somebody can look at."""
    shown = next((one for one in dashboard["templating"]["list"] if one["name"] == "shown"), None)
    if not shown or "allValue" in shown or not re.match(r"query_result\(topk\(", shown["query"]):
        yield "the number of shown instances has no bound"
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            if "$instance" in target["expr"]:
                yield f"{panel['title']}: asks every instance: {target['expr']}"


def _panel_faults(panel):
    if not panel["title"]:
        yield "no title"
    if len(panel.get("description", "")) < SHORTEST_DESCRIPTION:
        yield "no description"
    if not _has_unit(panel):
        yield "no unit"
    if not panel["targets"]:
        yield "asks nothing"
    if panel["type"] == "timeseries" and _has_thresholds(panel) and not _draws_thresholds(panel):
        yield "thresholds that are not drawn"
    for target in panel["targets"]:
        if panel["type"] != "table" and not target.get("legendFormat"):
            yield f"no legend: {target['expr']}"
        if FIXED_RATE.search(target["expr"]):
            yield f"a rate without $__rate_interval: {target['expr']}"
        if panel["type"] == "timeseries" and "topk(" in target["expr"] and "@ end()" not in target["expr"]:
            yield f"a ranking of each moment: {target['expr']}"
        if not re.search(r"\$(instance|shown|job)\b", target["expr"]):
            yield f"asks beyond what is selected: {target['expr']}"
    yield from _link_faults("", panel.get("links", []))


def _has_thresholds(panel):
    return len(panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [])) > 1


def _draws_thresholds(panel):
    return panel["fieldConfig"]["defaults"].get("custom", {}).get("thresholdsStyle", {}).get("mode", "off") != "off"


def _has_unit(panel):
    if panel["type"] == "heatmap":
        return "unit" in panel["options"]["yAxis"]
    overrides = [one["id"] for override in panel["fieldConfig"]["overrides"] for one in override["properties"]]
    return "unit" in panel["fieldConfig"]["defaults"] or (panel["type"] == "table" and "unit" in overrides)


def _link_faults(where, links):
    for link in links:
        page = RUNBOOK.search(link.get("url", ""))
        if page and not (REPOSITORY / "docs/runbooks" / page[1]).is_file():
            yield f"{where} link to a page that does not exist: {link['url']}".strip()


def main():
    found = [f"{name}: {fault}" for name, dashboard in load().items() for fault in faults(dashboard)]
    for fault in found:
        print(f"dashboards/grafana: {fault}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
