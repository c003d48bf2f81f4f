"""Runs every expression of a Grafana dashboard against a live Prometheus.

An expression is at fault if Prometheus refuses it, if it finds nothing or only NaN, or if a series lacks a label that the
legend shows. A dashboard that passes shows something in every panel, under the names that its legends promise.

    python3 dashboards/expressions.py http://127.0.0.1:9090 dashboards/grafana/native-memory.json
"""

import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

# What Grafana puts in at a scrape interval of a few seconds.
BUILT_IN_VARIABLES = {"__rate_interval": "20s", "__interval": "5s", "__range": "300s"}

VARIABLE = re.compile(r"\$\{(\w+)(?::\w+)?\}|\$(\w+)")
LABEL_VALUES = re.compile(r"label_values\((?P<series>.+),\s*(?P<label>\w+)\)$")
LEGEND_LABEL = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def faults(prometheus, dashboard):
    """What is wrong with the dashboard's expressions, one line each; empty if nothing is."""
    values, found = _variable_values(prometheus, dashboard)
    for panel in _panels(dashboard["panels"]):
        for target in panel.get("targets", []):
            fault = _fault(prometheus, _substitute(target["expr"], values), target.get("legendFormat", ""))
            if fault:
                found.append(f"{panel['title']}: {fault}: {target['expr']}")
    return found


def expressions(dashboard):
    """Every expression, variables and all."""
    return [target["expr"] for panel in _panels(dashboard["panels"]) for target in panel.get("targets", [])]


def query(prometheus, path, **parameters):
    """The data of an answer of Prometheus's HTTP API; raises ValueError with its message if it refuses."""
    try:
        with urllib.request.urlopen(f"{prometheus}/api/v1/{path}?{urllib.parse.urlencode(parameters)}") as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as refused:
        raise ValueError(json.load(refused)["error"]) from refused


def _variable_values(prometheus, dashboard):
    values, found = dict(BUILT_IN_VARIABLES), []
    for variable in dashboard["templating"]["list"]:
        if variable["type"] != "query":
            continue
        wanted = LABEL_VALUES.match(_substitute(variable["query"], values))
        known = query(prometheus, f"label/{wanted['label']}/values", **{"match[]": wanted["series"]})
        if not known:
            found.append(f"variable {variable['name']}: has no values: {variable['query']}")
        values[variable["name"]] = "|".join(re.escape(value).replace("\\", "\\\\") for value in known)
    return values, found


def _substitute(text, values):
    return VARIABLE.sub(lambda name: values.get(name[1] or name[2], name[0]), text)


def _panels(panels):
    for panel in panels:
        yield panel
        yield from _panels(panel.get("panels", []))


def _fault(prometheus, expression, legend):
    try:
        series = query(prometheus, "query", query=expression)["result"]
    except ValueError as refused:
        return f"refused ({refused})"
    if not series:
        return "no data"
    if all(one["value"][1] == "NaN" for one in series):
        return "only NaN"
    missing = {label for label in LEGEND_LABEL.findall(legend) for one in series if label not in one["metric"]}
    return f"no label {', '.join(sorted(missing))}" if missing else None


def main(prometheus, *files):
    bad = False
    for file in files:
        with open(file, encoding="utf-8") as content:
            found = faults(prometheus, json.load(content))
        for fault in found:
            print(f"{file}: {fault}")
        bad = bad or bool(found)
    return bad


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
