"""Checks that what is committed is what the code generates: the dashboards, and the rules for Prometheus Operator.

    npm --prefix dashboards/grafana run generate -- target
    python3 dashboards/test/generated.py dashboards/grafana/target
"""

import pathlib
import sys

import prometheusrule

DASHBOARDS = pathlib.Path(__file__).resolve().parents[1]
PROMETHEUS_RULE = DASHBOARDS / "kubernetes/base/prometheusrule.yaml"


def faults(generated, committed=DASHBOARDS / "grafana", prometheus_rule=PROMETHEUS_RULE):
    """Returns the differences, one line each."""
    fresh = {path.name: path.read_text() for path in pathlib.Path(generated).glob("mallometer-*.json")}
    known = {path.name: path.read_text() for path in committed.glob("mallometer-*.json")}
    found = [
        f"grafana/{name}: run 'npm run generate' and commit the result"
        for name in sorted(fresh.keys() | known.keys())
        if fresh.get(name) != known.get(name)
    ]
    if prometheus_rule.read_text() != prometheusrule.generated():
        found.append("kubernetes/base/prometheusrule.yaml: run test/prometheusrule.py and commit the result")
    return found


def main(generated):
    found = faults(generated)
    for fault in found:
        print(f"dashboards/{fault}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
