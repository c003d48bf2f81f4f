"""What check.sh runs finds the faults that it is there for: other people's tools over files with planted faults, the
comparison of generated files, and the script that changes the address of the runbooks.
"""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import generated

DASHBOARDS = pathlib.Path(__file__).resolve().parents[1]
COMPOSE = DASHBOARDS.parent / "docker-compose.yml"
RUNBOOK = re.compile(r"(https?://[^\s\"']*)/docs/runbooks/")


def refused(*command):
    return subprocess.run(command, capture_output=True, timeout=60).returncode != 0


class Checks(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def planted(self, source, right, wrong):
        """A copy of a file beside copies of its neighbours, with a fault."""
        text = source.read_text()
        self.assertIn(right, text)
        for neighbour in source.parent.glob(f"*{source.suffix}"):
            shutil.copy(neighbour, self.directory)
        copy = self.directory / source.name
        copy.write_text(text.replace(right, wrong, 1))
        return copy

    def test_a_compose_file_that_is_not_valid_is_refused(self):
        file = self.planted(COMPOSE, "mem_limit:", "memory_limit:")
        self.assertTrue(refused("docker-compose", "--file", file, "config", "-q"))

    def test_a_compose_file_against_the_linters_rules_is_refused(self):
        lint = ["npm", "--prefix", DASHBOARDS / "grafana", "run", "--silent", "lint-compose", "--"]
        self.assertTrue(refused(*lint, self.planted(COMPOSE, "prom/prometheus:v3.13.2", "prom/prometheus:latest")))

    def test_a_prometheus_configuration_with_a_fault_is_refused(self):
        for right, wrong in (
            ("scrape_interval: 5s", "scrape_intervall: 5s"),
            ("- alerts.yml", "- alarms.yml"),
        ):
            file = self.planted(DASHBOARDS / "prometheus/prometheus.yml", right, wrong)
            self.assertTrue(refused("promtool", "check", "config", "--lint=all", "--lint-fatal", file), wrong)

    def test_a_rule_that_is_there_twice_is_refused(self):
        twice = "      - record: job:mallometer_active:sum\n        expr: sum without (instance, pod, node, endpoint) (mallometer_active)\n"
        file = self.planted(DASHBOARDS / "prometheus/recording.yml", twice, twice * 2)
        self.assertTrue(refused("promtool", "check", "config", "--lint=all", "--lint-fatal", file.with_name("prometheus.yml")))

    def test_an_alertmanager_configuration_with_a_fault_is_refused(self):
        file = self.planted(DASHBOARDS / "alertmanager/alertmanager.yml", "receiver: page", "receiver: pager")
        self.assertTrue(refused("amtool", "check-config", file))

    def test_generated_files_that_differ_are_found(self):
        overview = DASHBOARDS / "grafana/mallometer-overview.json"
        self.assertEqual([], generated.faults(overview.parent))
        self.planted(overview, "Native memory", "Foreign memory")
        self.assertEqual(1, len(generated.faults(self.directory)))
        (self.directory / "mallometer-overview.json").unlink()
        self.assertEqual(1, len(generated.faults(self.directory)))
        rule = self.planted(generated.PROMETHEUS_RULE, "> 0.9", "> 0.8")
        self.assertEqual(1, len(generated.faults(overview.parent, prometheus_rule=rule)))

    def test_the_runbooks_get_one_address_everywhere(self):
        shutil.copytree(DASHBOARDS, self.directory / "dashboards", ignore=shutil.ignore_patterns("node_modules", "target"))
        script = self.directory / "dashboards/runbooks.sh"
        for address in "https://wiki.example.org/mallometer", "http://127.0.0.1:8000":
            subprocess.run([script, f"{address}/"], check=True)
            for name in "alerts.yml", "prometheusrule.yaml", "mallometer-overview.json", "mallometer-fleet.json", "panels.ts":
                text = next(self.directory.rglob(name)).read_text()
                self.assertEqual({address}, set(RUNBOOK.findall(text)), name)
        self.assertTrue(refused(script, "javascript:alert(1)"))
        self.assertTrue(refused(script))


if __name__ == "__main__":
    unittest.main()
