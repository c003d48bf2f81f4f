"""Prints the plain Prometheus rules as a PrometheusRule for Prometheus Operator.

    python3 dashboards/test/prometheusrule.py >dashboards/kubernetes/base/prometheusrule.yaml
"""

import pathlib
import sys

RULES = pathlib.Path(__file__).resolve().parents[1] / "prometheus"
HEAD = """\
# Generated from dashboards/prometheus by dashboards/test/prometheusrule.py.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: mallometer
spec:
  groups:
"""


def groups(path):
    """The groups of a rules file as text, comments and all, indented by two more."""
    lines = path.read_text(encoding="utf-8").splitlines()
    start = lines.index("groups:") + 1
    return "".join(f"  {line}".rstrip() + "\n" for line in lines[start:])


def generated():
    return HEAD + "".join(groups(RULES / name) for name in ("recording.yml", "alerts.yml"))


if __name__ == "__main__":
    sys.stdout.write(generated())
