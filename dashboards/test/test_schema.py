"""The committed dashboards are valid by Grafana's published schemas and panel models, and planted faults are found in each version."""

import copy
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import dashboards

SCHEMA = pathlib.Path(__file__).resolve().parent / "schema"
VERSIONS = ["11.0", "11.6", "12.4", "13.2"]
# The place of a planted value, the value, and the expected message (some versions do not know the option). A panel is named by its type.
PLANTED = [
    ([], "colour", "red", "'\"colour\"' does not exist"),
    ([], "schemaVersion", "39", "'string' is not assignable to type 'number'"),
    ([], "graphTooltip", 7, "'7' is not assignable"),
    (["templating", "list", 1], "refresh", 9, "'9' is not assignable"),
    (["annotations", "list", 0], "expression", "up", "'\"expression\"' does not exist"),
    (["links", 0], "type", "page", "'\"page\"' is not assignable"),
    (["links", 0], "placement", "above", "placement|above"),
    (["stat"], "type", "statistics", "no panel of type statistics"),
    (["stat"], "repeatDirection", "d", "'\"d\"' is not assignable"),
    (["row"], "folded", True, "'\"folded\"' does not exist"),
    (["stat", "options"], "colourMode", "value", "'\"colourMode\"' does not exist"),
    (["stat", "options"], "colorMode", "loud", "'\"loud\"' is not assignable"),
    (["stat", "options"], "percentChangeColorMode", "loud", "percentChangeColorMode|loud"),
    (["stat", "options", "reduceOptions"], "calc", [], "'\"calc\"' does not exist"),
    (["stat", "fieldConfig", "defaults"], "units", "bytes", "'\"units\"' does not exist"),
    (["stat", "fieldConfig", "defaults"], "custom", {"lineWidth": 1}, "is not assignable to type 'never'"),
    (["stat", "fieldConfig", "defaults", "thresholds"], "mode", "relative", "'\"relative\"' is not assignable"),
    (["timeseries", "options", "legend"], "placement", "left", "'\"left\"' is not assignable"),
    (["timeseries", "fieldConfig", "defaults", "custom"], "thickness", 1, "'\"thickness\"' does not exist"),
    (["timeseries", "fieldConfig", "defaults", "custom"], "lineWidth", "1", "'string' is not assignable"),
    (["timeseries", "targets", 0], "format", "series", "'\"series\"' is not assignable"),
    (["timeseries", "targets", 0], "query", "up", "'\"query\"' does not exist"),
    (["bargauge", "options"], "displayMode", "thin", "'\"thin\"' is not assignable"),
    (["heatmap", "options", "yAxis"], "units", "bytes", "'\"units\"' does not exist"),
    (["table", "options"], "cellHeight", "xl", "'\"xl\"' is not assignable"),
    (["table", "options"], "footer", "sum", "footer|'string' has no properties"),
    (["table", "transformations", 0], "id", "mix", "transformation mix is not known"),
]
OVERRIDES = [
    ("custom.lineStyles", {}, "'lineStyles' does not exist"),
    ("custom.lineStyle", {"fill": "dotted"}, "'\"dotted\"' is not assignable"),
    ("custom.stacking", {"mode": "normal", "by": "A"}, "'\"by\"' does not exist"),
    ("units", "bytes", "'units' does not exist"),
    ("decimals", "2", "'string' is not assignable"),
]


def example():
    """A committed dashboard with a panel of each type."""
    loaded = dashboards.load().values()
    whole = copy.deepcopy(next(iter(loaded)))
    every = [panel for dashboard in loaded for panel in unfolded(dashboard["panels"])]
    whole["panels"] = list({panel["type"]: panel for panel in every}.values())
    return whole


# The versions of Grafana that read a schema version.
READERS = {39: VERSIONS, 40: VERSIONS[1:], 41: VERSIONS[1:], 42: VERSIONS[2:], 43: []}


def unfolded(panels):
    for panel in panels:
        yield {**panel, "panels": []} if panel["type"] == "row" else panel
        yield from panel.get("panels", [])


def place(dashboard, path):
    for step in path:
        if isinstance(step, str) and step not in dashboard and "panels" in dashboard:
            dashboard = next(panel for panel in dashboard["panels"] if panel["type"] == step)
        else:
            dashboard = dashboard.setdefault(step, {}) if isinstance(dashboard, dict) else dashboard[step]
    return dashboard


def complaints(documents):
    """Returns the messages about each dashboard, and what else is said."""
    with tempfile.TemporaryDirectory() as directory:
        paths = [pathlib.Path(directory, f"{number}.json") for number in range(len(documents))]
        for path, document in zip(paths, documents):
            path.write_text(json.dumps(document))
        answer = subprocess.run(["node", SCHEMA / "validate.mjs", *paths], capture_output=True, text=True, timeout=240)
    lines = answer.stderr.splitlines()
    of_documents = [[line for line in lines if line.startswith(f"{path.name}: ")] for path in paths]
    return of_documents, [line for line in lines if not re.match(r"\d+\.json: ", line)]


@unittest.skipUnless(
    (SCHEMA / "node_modules").is_dir() or os.environ.get("REQUIRE_INSTALLED") == "true", "dashboards/check.sh has not installed Grafana's schemas"
)
class SchemaCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Checks all dashboards at once: to read the schemas takes the compiler seconds."""
        faulty = []
        for path, key, value, _ in PLANTED:
            faulty.append(example())
            place(faulty[-1], path)[key] = value
        for name, value, _ in OVERRIDES:
            override = {"matcher": {"id": "byName", "options": "x"}, "properties": [{"id": name, "value": value}]}
            faulty.append(example())
            place(faulty[-1], ["timeseries", "fieldConfig"])["overrides"] = [override]
        of_versions = [{**example(), "schemaVersion": one} for one in READERS]
        cls.committed = dashboards.load()
        cls.said, cls.said_besides = complaints([*cls.committed.values(), *faulty, *of_versions])

    def test_the_committed_dashboards_are_valid(self):
        self.assertEqual([], self.said_besides)
        self.assertEqual({name: [] for name in self.committed}, dict(zip(self.committed, self.said)))

    def test_planted_faults_are_found_in_every_version(self):
        for (*fault, expected), lines in zip([*PLANTED, *OVERRIDES], self.said[len(self.committed) :]):
            for version in VERSIONS:
                with self.subTest(fault=fault, version=version):
                    of_version = [line for line in lines if f": Grafana {version}: " in line]
                    self.assertEqual(1, len(of_version), of_version)
                    self.assertRegex(of_version[0], expected)

    def test_a_schema_version_that_a_version_does_not_read_is_found(self):
        for (schema_version, reading), lines in zip(READERS.items(), self.said[-len(READERS) :]):
            with self.subTest(schema_version):
                self.assertEqual(len(VERSIONS) - len(reading), len(lines), lines)


if __name__ == "__main__":
    unittest.main()
