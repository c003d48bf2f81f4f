"""The checks of the rules find the faults that they are there for."""

import copy
import pathlib
import re
import subprocess
import tempfile
import unittest

import rules
import yaml

RECORDING = rules.load(rules.RULES / "recording.yml")
ALERTS = rules.load(rules.RULES / "alerts.yml")
TESTS = rules.load(rules.RULES / "tests/alerts.yml")


def changed(change):
    """The alerts after a change to the first of them."""
    faulty = copy.deepcopy(ALERTS)
    change(rules.alerts(faulty)[0])
    return faulty


def failing_expressions(recording):
    """The expressions that promtool's tests of these recording rules find at fault."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory)
        (path / "recording.yml").write_text(yaml.safe_dump(recording))
        tests = rules.load(rules.RULES / "tests/recording.yml") | {"rule_files": ["recording.yml"]}
        (path / "tests.yml").write_text(yaml.safe_dump(tests))
        answer = subprocess.run(["promtool", "test", "rules", path / "tests.yml"], capture_output=True, text=True)
        return set(re.findall(r'expr: "([\w:]+)"', answer.stdout + answer.stderr))


def tests_of(alert):
    """Returns the tests of an alert, the shortest first."""
    cases = [
        {**case, "alert_rule_test": kept}
        for case in TESTS["tests"]
        if (kept := [test for test in case["alert_rule_test"] if test["alertname"] == alert["alert"]])
    ]
    return sorted(cases, key=lambda case: max(minutes(test["eval_time"]) for test in case["alert_rule_test"]))


def minutes(duration):
    """Returns the minutes of a duration such as 2h30m."""
    return sum(int(number) * {"h": 60, "m": 1}[unit] for number, unit in re.findall(r"(\d+)([hm])", duration))


def promtool_accepts(alert, case):
    """Whether promtool's test of an alert passes."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory)
        (path / "alerts.yml").write_text(yaml.safe_dump({"groups": [{"name": "faulty", "rules": [alert]}]}))
        tests = {"rule_files": [str(rules.RULES / "recording.yml"), "alerts.yml"], "evaluation_interval": "1m", "tests": [case]}
        (path / "tests.yml").write_text(yaml.safe_dump(tests))
        return subprocess.run(["promtool", "test", "rules", path / "tests.yml"], capture_output=True).returncode == 0


class RulesCheck(unittest.TestCase):
    def test_the_rules_pass(self):
        self.assertEqual([], rules.alert_faults(ALERTS))
        self.assertEqual([], rules.test_faults(ALERTS, TESTS))

    def test_an_incomplete_alert_is_found(self):
        for change in (
            lambda alert: alert["labels"].pop("severity"),
            lambda alert: alert["labels"].update(severity="page"),
            lambda alert: alert.pop("keep_firing_for"),
            lambda alert: alert["annotations"].update(summary="something leaks"),
            lambda alert: alert["annotations"].update(description="something leaks"),
        ):
            self.assertEqual(1, len(rules.alert_faults(changed(change))))

    def test_a_page_that_does_not_exist_is_found(self):
        for address in ("https://mallometer.example/docs/runbooks/leak.md", "https://mallometer.example/docs/runbooks/", ""):
            faulty = changed(lambda alert, address=address: alert["annotations"].update(runbook_url=address))
            self.assertTrue(any("is not in" in fault for fault in rules.alert_faults(faulty)), address)

    def test_a_page_at_another_address_is_found(self):
        faulty = changed(lambda alert: alert["annotations"].update(runbook_url="http://else/docs/runbooks/stuck.md"))
        self.assertEqual(1, len(rules.alert_faults(faulty)))

    def test_a_summary_about_a_job_names_the_job(self):
        for alert in rules.alerts(ALERTS):
            of_job = alert["alert"] in rules.OF_JOBS
            other = "{{ $labels.instance }}" if of_job else "{{ $labels.job }}"
            one = {"groups": [{"rules": [{**alert, "annotations": {**alert["annotations"], "summary": other}}]}]}
            self.assertEqual(1, len(rules.alert_faults(one)), alert["alert"])

    def test_an_incomplete_page_is_found(self):
        whole = (rules.REPOSITORY / rules.PAGES / "stuck.md").read_text()
        for faulty in (
            "# Prose\n" + "One could look at many things.\n" * 20 + whole.split("\n", 1)[1],
            whole.replace("## How sure it is", "## Doubts"),
            whole.replace("    $ ", "    ", 1),
            re.sub(r"(\n    \$ .*)(\n    [^$].*)+", r"\1", whole, count=1),
        ):
            with tempfile.NamedTemporaryFile("w", suffix=".md") as page:
                page.write(faulty)
                page.flush()
                self.assertEqual(1, len(rules.page_faults(pathlib.Path(page.name))), faulty)

    def test_a_link_that_leads_nowhere_is_found(self):
        for document in rules.documents():
            self.assertEqual([], rules.link_faults(document))
        with tempfile.TemporaryDirectory() as directory:
            document = pathlib.Path(directory, "page.md")
            pathlib.Path(directory, "other.md").write_text("## The longest (timeout)\n")
            for target, faults in (
                ("other.md", 0),
                ("other.md#the-longest-timeout", 0),
                ("https://example.org/none.md", 0),
                ("none.md", 1),
                ("other.md#none", 1),
                ("#none", 1),
            ):
                document.write_text(f"See [this]({target}).\n")
                self.assertEqual(faults, len(rules.link_faults(document)), target)

    def test_the_links_of_every_folder_are_checked(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            checked = {"README.md", "docs/a/b.md", "benchmarks/README.md"}
            checked |= {f"{folder}/{place}README.md" for folder in ("dashboards", "testing", "samples") for place in ("", "a/")}
            passed_over = {"dashboards/node_modules/a/README.md", "samples/a/target/README.md"}
            for path in checked | passed_over:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text("See [this](none.md).\n")
            faulty = {str(document.relative_to(root)) for document in rules.documents(root) if rules.link_faults(document)}
            self.assertEqual(checked, faulty)

    def test_every_alert_is_listed(self):
        listed = (rules.REPOSITORY / rules.PAGES / "README.md").read_text()
        for alert in rules.alerts(ALERTS):
            page = alert["annotations"]["runbook_url"].rpartition("/")[2]
            self.assertRegex(listed, rf"\| \[{page}\]\({page}\) \|.*\b{alert['alert']}\b")

    def test_an_alert_without_a_test_is_found(self):
        untested = changed(lambda alert: alert.update(alert="Untested"))
        self.assertEqual(2, len(rules.test_faults(untested, TESTS)))

    def test_every_alert_that_never_fires_fails_its_tests(self):
        self._every_alert_with("vector(1) > 2")

    def test_every_alert_that_always_fires_fails_its_tests(self):
        self._every_alert_with('label_replace(label_replace(vector(1), "job", "shop", "", ""), "instance", "a", "", "")')

    def test_a_fault_of_any_recording_rule_fails_its_test(self):
        faulty, recorded = copy.deepcopy(RECORDING), set()
        for group in faulty["groups"]:
            for rule in group["rules"]:
                recorded.add(rule["record"])
                rule["expr"] = f"1e6 + ({rule['expr']})"
        self.assertEqual(recorded, failing_expressions(faulty))

    def _every_alert_with(self, expression):
        for alert in rules.alerts(ALERTS):
            faulty = {**alert, "expr": expression}
            with self.subTest(alert["alert"]):
                self.assertFalse(all(promtool_accepts(faulty, case) for case in tests_of(alert)))


if __name__ == "__main__":
    unittest.main()
