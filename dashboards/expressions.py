"""Runs every expression of Grafana dashboards against a live Prometheus.

An expression is at fault if Prometheus refuses it, if it finds nothing or only NaN, or if a series lacks a label that the
legend or a column shows. A dashboard that passes shows something in every panel, under the names that it promises.

Some series are there only where something else is: a memory limit, kube-state-metrics, a process that grows. An expression that
asks such a series may find nothing where nobody publishes it; not in a Prometheus that has it. A panel that says what it shows
instead of data may find nothing too, but not before it leaves out what is not above zero.

    python3 dashboards/expressions.py http://127.0.0.1:9090 dashboards/grafana/*.json
"""

import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

# The values that Grafana fills in at a scrape interval of a few seconds.
BUILT_IN_VARIABLES = {"__rate_interval": "20s", "__interval": "5s", "__range": "300s"}
# Series and labels that not every installation has.
OPTIONAL_SERIES = re.compile(
    r"kube_pod_\w+|cgroup_memory_limit_bytes|cgroup_memory_events_total|instance:memory_used:ratio|native_malloc_leak_\w+"
    r"|mallometer_time_to_limit_seconds|mallometer_previous_exit_timestamp_seconds|mallometer_application_info|job_version:\w+:\w+"
)
OPTIONAL_LABELS = {"cluster", "namespace", "application", "version"}
NOTHING_FOUND = {"no data", "only NaN"}

# A number is a group of label_replace.
VARIABLE = re.compile(r"\$\{(\w+)(?::\w+)?\}|\$([A-Za-z_]\w*)")
QUERY_RESULT = re.compile(r"query_result\((?P<expression>.+)\)$")
LABEL_VALUES = re.compile(r"label_values\((?P<series>.+),\s*(?P<label>\w+)\)$")
NOT_ZERO = re.compile(r"> 0\b")
LEGEND_LABEL = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def faults(prometheus, dashboard, **variables):
    """Returns the faults of the dashboard's expressions, one line each."""
    values = variable_values(prometheus, dashboard)
    found = [
        f"variable {name}: has no values" for name, value in values.items() if not value and name not in OPTIONAL_LABELS
    ]
    values = {name: value or ".*" for name, value in values.items()} | variables
    absent = _absent_series(prometheus, dashboard)
    for panel in panels(dashboard):
        labels = _column_labels(panel) - OPTIONAL_LABELS
        for target in panel.get("targets", []):
            shown = labels | (set(LEGEND_LABEL.findall(target.get("legendFormat", ""))) - OPTIONAL_LABELS)
            fault = _fault(prometheus, _substitute(target["expr"], values), shown)
            if fault in NOTHING_FOUND and "noValue" in panel["fieldConfig"]["defaults"]:
                fault = _fault(prometheus, _substitute(NOT_ZERO.sub("> -Inf", target["expr"]), values), shown)
            if fault in NOTHING_FOUND and absent.intersection(OPTIONAL_SERIES.findall(target["expr"])):
                continue
            if fault:
                found.append(f"{panel['title']}: {fault}: {target['expr']}")
    for annotation in dashboard["annotations"]["list"]:
        if "expr" in annotation:
            found += _refusal(prometheus, f"annotation {annotation['name']}", _substitute(annotation["expr"], values))
    return found


def skipped(prometheus, dashboard):
    """The optional series that the dashboard asks and nobody publishes."""
    return sorted(_absent_series(prometheus, dashboard))


def variable_values(prometheus, dashboard, time=None):
    """Returns the variables when everything is selected, as Grafana fills them in: all choices of each, the first choice of a
    single-choice one, or nothing if it offers nothing. Without a time in the dashboard, the time is now."""
    at = {"time": time} if time else {}
    values = BUILT_IN_VARIABLES | {"datasource": "prometheus"}
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "interval":
            values[variable["name"]] = variable["current"]["value"]
        if variable["type"] == "query":
            known = _choices(prometheus, variable, {name: value or ".*" for name, value in values.items()}, at)
            if not variable.get("multi"):
                values[variable["name"]] = known[0] if known else ""
                continue
            values[variable["name"]] = "|".join(re.escape(value).replace("\\", "\\\\") for value in known)
    return values


def panels(dashboard):
    """Every panel that is no row, those inside rows too."""
    for panel in dashboard["panels"]:
        yield from panel.get("panels", [])
        if panel["type"] != "row":
            yield panel


def query(prometheus, path, **parameters):
    """The data of an answer of Prometheus's HTTP API; raises ValueError with its message if it refuses."""
    try:
        with urllib.request.urlopen(f"{prometheus}/api/v1/{path}?{urllib.parse.urlencode(parameters)}") as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as refused:
        raise ValueError(json.load(refused)["error"]) from refused


def _choices(prometheus, variable, values, at):
    """Returns the choices of a query variable."""
    asked = _substitute(variable["query"], values)
    if wanted := QUERY_RESULT.match(asked):
        series = query(prometheus, "query", query=wanted["expression"], **at)["result"]
        # Grafana looks for the pattern in each series as text.
        texts = ["{" + ",".join(f'{name}="{value}"' for name, value in one["metric"].items()) + "}" for one in series]
        return [found[1] for text in texts if (found := re.search(variable["regex"].strip("/"), text))]
    wanted = LABEL_VALUES.match(asked)
    return query(prometheus, f"label/{wanted['label']}/values", **{"match[]": wanted["series"]})


def _absent_series(prometheus, dashboard):
    asked = {
        name
        for panel in panels(dashboard)
        for target in panel.get("targets", [])
        for name in OPTIONAL_SERIES.findall(target["expr"])
    }
    return {name for name in asked if not query(prometheus, "query", query=f"count({name})")["result"]}


def _column_labels(panel):
    """The labels that a table shows as columns."""
    return {
        name
        for transformation in panel.get("transformations", [])
        for name in transformation["options"].get("renameByName", {})
        if not name.startswith("Value")
    }


def _substitute(text, values):
    return VARIABLE.sub(lambda name: values.get(name[1] or name[2], name[0]), text)


def _fault(prometheus, expression, shown):
    try:
        series = query(prometheus, "query", query=expression)["result"]
    except ValueError as refused:
        return f"refused ({refused})"
    if not series:
        return "no data"
    if all(one["value"][1] == "NaN" for one in series):
        return "only NaN"
    missing = {label for label in shown for one in series if label not in one["metric"]}
    return f"no label {', '.join(sorted(missing))}" if missing else None


def _refusal(prometheus, name, expression):
    try:
        query(prometheus, "query", query=expression)
    except ValueError as refused:
        return [f"{name}: refused ({refused}): {expression}"]
    return []


def main(prometheus, *files):
    bad = False
    for file in files:
        with open(file, encoding="utf-8") as content:
            dashboard = json.load(content)
        for fault in faults(prometheus, dashboard):
            bad = True
            print(f"{file}: {fault}")
        for name in skipped(prometheus, dashboard):
            print(f"{file}: nobody publishes {name}; expressions that ask it may find nothing")
    return bad


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
