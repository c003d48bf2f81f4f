"""Checks what a dashboard's JSON must have so that somebody who sees it for the first time can use it.

A panel is at fault without a title, which is no question, a description that says what to conclude, a unit, or a legend; a rate that does not use
$__rate_interval; a ranking over time that is made anew at each moment; thresholds that a graph does not draw; a link to a
runbook that does not exist; a series, a label or a label's value that mallometer does not publish; a colour of a verdict that
the diagnosis does not give; a part of memory whose name or colour is not that of the page. A dashboard is at fault if it does not link to the others, or draws every instance of a fleet by
itself. Overview asks one instance and nothing else.
"""

import colorsys
import json
import pathlib
import re

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DASHBOARDS = REPOSITORY / "dashboards/grafana"
VARIABLES = ["datasource", "cluster", "namespace", "job", "application", "instance"]
# The dashboard that asks only recorded series of each instance, and draws a few.
FLEET = "mallometer-fleet"
# The dashboard about one instance.
OVERVIEW = "mallometer-overview"
ONE = 'instance="$instance"'
ANNOTATIONS = {"Starts", "OOM kills", "Leaks"}
# The diagnosis's states as they read, and their colours, which nothing else has.
COLOURS = {"act": "red", "watch": "orange", "too early": "blue", "healthy": "green"}
NO_VERDICT = {"text", "transparent"}
# Grafana draws these green if they do not say otherwise.
GREEN_BY_DEFAULT = {"stat", "bargauge", "table"}
# The shares of the limit from which on the diagnosis is watch, and act.
OF_LIMIT = [(0.9, "orange"), (0.95, "red")]
PAGE = REPOSITORY / "metrics-bridge/core/src/main/resources/io/mallometer/page"
BY_PART = re.compile(r"\bby \(part\)")
# The least distance in degrees of a part's hue from that of act.
HUES_FROM_ACT = 15
STATE = re.compile(r'mallometer_diagnosis\{state="(\w+)"')
PUBLISHED = REPOSITORY / "docs/public-names.txt"
OWN_SERIES = re.compile(r"(?<![\w:])((?:native|cgroup|mallometer)_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
RUNBOOK = re.compile(r"docs/runbooks/(.*)$")
FIXED_RATE = re.compile(r"\b(?:rate|increase)\([^()]*\[(?!\$__rate_interval\])")
SHORTEST_DESCRIPTION = 30


def load():
    """The committed dashboards by name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(DASHBOARDS.glob("mallometer-*.json"))}


def _types(panels):
    return {panel["type"] for panel in panels if panel["type"] != "row"}.union(*(_types(panel.get("panels", [])) for panel in panels))


def faults(dashboard):
    """Returns the faults of a dashboard, one line each."""
    found = []
    names = [variable["name"] for variable in dashboard["templating"]["list"]]
    if names[: len(VARIABLES)] != VARIABLES:
        found.append(f"variables {names}")
    if dashboard["uid"] == OVERVIEW:
        found += _several(dashboard)
    elif dashboard["uid"] != FLEET:
        found += _unbounded(dashboard)
    required = {one["id"] for one in dashboard.get("__requires", [])}
    if "__inputs" not in dashboard or required != {"grafana", "prometheus"} | _types(dashboard["panels"]):
        found.append(f"__requires {sorted(required)}, or no __inputs")
    if not ANNOTATIONS <= {annotation["name"] for annotation in dashboard["annotations"]["list"]}:
        found.append("annotations are missing")
    if not any(link["type"] == "dashboards" and "mallometer" in link["tags"] for link in dashboard["links"]):
        found.append("no link to the other dashboards")
    found += _link_faults("dashboard", dashboard["links"])
    shown = list(panels(dashboard))
    titles = [panel["title"] for panel in shown]
    found += [f"two panels named {title}" for title in set(titles) if titles.count(title) > 1]
    published = _published()
    for panel in shown:
        faults_of_panel = [*_panel_faults(panel), *_colour_faults(panel), *_part_faults(panel), *_name_faults(panel, published)]
        found += [f"{panel['title'] or 'a panel'}: {fault}" for fault in faults_of_panel]
    return found


def panels(dashboard):
    """Every panel that is no row, those of closed rows too."""
    for panel in dashboard["panels"]:
        yield from panel.get("panels", [])
        if panel["type"] != "row":
            yield panel


def _several(dashboard):
    """Whether more than one instance is shown at once, or another than the worst at first."""
    instance = next((one for one in dashboard["templating"]["list"] if one["name"] == "instance"), None)
    if not instance or instance.get("multi") or instance.get("includeAll") or instance["current"]["value"]:
        yield "not one instance is chosen"
    elif instance["sort"] or not instance["query"].startswith("query_result(sort_desc(max by (instance) (4 * mallometer_diagnosis"):
        yield "the first instance is not the one with the most severe diagnosis"
    asked = [(panel["title"], target["expr"]) for panel in panels(dashboard) for target in panel.get("targets", [])]
    asked += [(one["name"], one["expr"]) for one in dashboard["annotations"]["list"] if "expr" in one]
    for title, expression in asked:
        if ONE not in expression:
            yield f"{title}: asks more than one instance: {expression}"


def _unbounded(dashboard):
    """Whether "All" can be more instances than somebody can look at."""
    shown = next((one for one in dashboard["templating"]["list"] if one["name"] == "shown"), None)
    if not shown or "allValue" in shown or not re.match(r"query_result\(topk\(", shown["query"]):
        yield "the number of shown instances has no bound"
    for panel in panels(dashboard):
        for target in panel.get("targets", []):
            if "$instance" in target["expr"]:
                yield f"{panel['title']}: asks every instance: {target['expr']}"


def _panel_faults(panel):
    if not panel["title"] or panel["title"].endswith("?"):
        yield "no title, or a question"
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
        if target.get("range") and FIXED_RATE.search(target["expr"]):
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


def _colour_faults(panel):
    """Whether something has a colour of a verdict that the diagnosis does not give."""
    defaults = panel["fieldConfig"]["defaults"]
    plain = defaults.get("color", {}).get("mode") == "fixed"
    if panel["type"] in GREEN_BY_DEFAULT and not plain and "thresholds" not in defaults:
        yield "is green whatever the diagnosis"
    if defaults.get("color", {}).get("fixedColor") in COLOURS.values():
        yield "a verdict's colour for all"
    expressions = {target["refId"]: target["expr"] for target in panel["targets"]}
    settings = [("", defaults)]
    for override in panel["fieldConfig"]["overrides"]:
        of = expressions.get(override["matcher"]["options"], "") if override["matcher"]["id"] == "byFrameRefID" else ""
        settings.append((of, {one["id"]: one["value"] for one in override["properties"]}))
    for of, setting in settings:
        steps = setting.get("thresholds", {}).get("steps", [])
        if steps and steps[0]["color"] not in NO_VERDICT:
            yield f"{steps[0]['color']} without a verdict"
        state = STATE.findall(of)
        for step in steps[1:]:
            allowed = {COLOURS[state[0].replace("_", " ")]} if len(state) == 1 else {COLOURS["watch"]}
            if step["color"] not in allowed and (step["value"], step["color"]) not in OF_LIMIT:
                yield f"{step['color']} from {step['value']} on is not what the diagnosis says"
        for mapping in setting.get("mappings", []):
            # A range has one result, between its bounds.
            for shown in [mapping["options"]["result"]] if mapping["type"] == "range" else mapping["options"].values():
                if shown["color"] != COLOURS.get(shown["text"], "text"):
                    yield f"{shown['text']} is {shown['color']}"


def parts_of_page():
    """The name and the colour of each part of memory on the page; the colours are those of the light theme."""
    script, style = ((PAGE / name).read_text() for name in ("page.js", "page.css"))
    table = {name: re.search(rf"const {name} = {{(.*?)}};", script, re.S)[1] for name in ("NAMES", "COLOURS")}
    names = dict(re.findall(r"'(\w+)': '([^']+)'", table["NAMES"]))
    colours = dict(re.findall(r"--part-(\d+): (#\w{6});", style))
    return {part: (names[part], colours[number]) for part, number in re.findall(r"'(\w+)': (\d+)", table["COLOURS"])}


def hue(colour):
    return 360 * colorsys.rgb_to_hls(*(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)))[0]


def _part_faults(panel):
    if not any(BY_PART.search(target["expr"]) for target in panel["targets"]):
        return
    overrides = {
        one["matcher"]["options"]: {each["id"]: each["value"] for each in one["properties"]}
        for one in panel["fieldConfig"]["overrides"]
        if one["matcher"]["id"] == "byName"
    }
    page = parts_of_page()
    for part in {value for labels in _published().values() for value in labels.get("part", ())}:
        shown = overrides.get(part, {})
        if (shown.get("displayName"), shown.get("color", {}).get("fixedColor")) != page[part]:
            yield f"{part} has another name or colour than on the page"


def _published():
    """The labels of each series that mallometer publishes, with the values they have; a star is any."""
    found = {}
    for line in PUBLISHED.read_text().splitlines():
        series = OWN_SERIES.match(line)
        if series:
            labels = found.setdefault(series[1], {})
            for label, _, value in MATCHER.findall(series[2] or ""):
                labels.setdefault(label, set()).add(value)
    return found


def _name_faults(panel, published):
    for target in panel["targets"]:
        for name, matchers in OWN_SERIES.findall(target["expr"]):
            if name not in published:
                yield f"nobody publishes {name}"
                continue
            for label, matches, value in MATCHER.findall(matchers):
                if label in VARIABLES or label == "instance" or value.startswith("$"):
                    continue
                known = published[name].get(label, set())
                if not known or (matches == "=" and "*" not in known and value not in known):
                    yield f"nobody publishes {name}{{{label}=\"{value}\"}}"


def _link_faults(where, links):
    for link in links:
        page = RUNBOOK.search(link.get("url", ""))
        if page and not (REPOSITORY / "docs/runbooks" / page[1]).is_file():
            yield f"{where} link to a page that does not exist: {link['url']}".strip()
