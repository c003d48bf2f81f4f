"""The check of the dashboards finds the faults that it is there for."""

import copy
import re
import unittest

import dashboards

DIAGNOSIS_RULES = "metrics-bridge/core/src/main/java/io/mallometer/internal/diagnosis/DiagnosisRules.java"


class DashboardsCheck(unittest.TestCase):
    def test_the_dashboards_pass(self):
        loaded = dashboards.load()
        self.assertEqual(["mallometer-fleet", "mallometer-overview", "mallometer-where"], list(loaded))
        for name, dashboard in loaded.items():
            with self.subTest(name):
                self.assertEqual([], dashboards.faults(dashboard))

    def test_faults_are_found(self):
        self.assert_found(
            "mallometer-where",
            "Live memory by instance",
            lambda dashboard, _: dashboard["templating"]["list"].pop(2),
            lambda dashboard, _: dashboard["annotations"].update(list=[]),
            lambda dashboard, _: dashboard["links"].pop(0),
            lambda dashboard, _: dashboard.pop("__inputs"),
            lambda dashboard, _: dashboard["__requires"].pop(),
            lambda dashboard, _: dashboard["links"][1].update(url="https://mallometer.example/docs/runbooks/index.md"),
            lambda _, panel: panel.update(title=""),
            lambda _, panel: panel.update(title="Which instance grows?"),
            lambda _, panel: ask(panel, 'sum by (part) (native_memory_resident_bytes{instance=~"$shown"})'),
            lambda _, panel: panel.pop("description"),
            lambda _, panel: panel["fieldConfig"]["defaults"].pop("unit"),
            lambda _, panel: panel.update(targets=[]),
            lambda _, panel: panel["targets"][0].pop("legendFormat"),
            lambda _, panel: ask(panel, 'sum(rate(native_malloc_frees_total{instance=~"$shown"}[5m]))'),
            lambda _, panel: ask(panel, "sum(native_malloc_live_bytes)"),
            lambda _, panel: ask(panel, 'topk(10, native_malloc_live_bytes{instance=~"$shown"})'),
            lambda _, panel: ask(panel, 'native_malloc_live_bytes{instance=~"$instance"}'),
            lambda _, panel: ask(panel, 'native_malloc_alive_bytes{instance=~"$shown"}'),
            lambda _, panel: ask(panel, 'native_malloc_live_bytes{instance=~"$shown", part="malloc_live"}'),
            lambda _, panel: ask(panel, 'native_memory_resident_bytes{instance=~"$shown", part="malloc-alive"}'),
            lambda _, panel: panel["fieldConfig"]["defaults"].update(thresholds=thresholds("text", (1, "orange"))),
            lambda dashboard, _: dashboard["templating"]["list"][-1].update(allValue=".*"),
            lambda dashboard, _: dashboard["templating"]["list"][-1].update(query="label_values(mallometer_active, instance)"),
            lambda dashboard, _: dashboard["templating"]["list"].pop(),
            lambda dashboard, panel: dashboard["panels"].append(panel),
            lambda dashboard, panel: closed_row(dashboard).append(panel),
        )

    def test_more_than_one_instance_on_overview_is_found(self):
        self.assert_found(
            "mallometer-overview",
            "Memory by part",
            lambda dashboard, _: instance(dashboard).update(multi=True),
            lambda dashboard, _: instance(dashboard).update(includeAll=True),
            lambda dashboard, _: instance(dashboard).update(sort=1),
            lambda dashboard, _: instance(dashboard).update(query="label_values(mallometer_active, instance)"),
            lambda dashboard, _: instance(dashboard).update(current={"text": "a", "value": "a"}),
            lambda _, panel: ask(panel, 'sum(native_malloc_live_bytes{job=~"$job"})'),
            lambda dashboard, _: ask(closed_row(dashboard)[0], 'sum(native_malloc_live_bytes{job=~"$job"})'),
            lambda dashboard, _: dashboard["annotations"]["list"][0].update(expr='process_start_time_seconds{job=~"$job"}'),
        )

    def test_colours_of_a_verdict_that_the_diagnosis_does_not_give_are_found(self):
        self.assert_found(
            "mallometer-overview",
            "Diagnosis",
            lambda _, panel: panel["fieldConfig"]["defaults"].pop("thresholds"),
            lambda _, panel: panel["fieldConfig"]["defaults"].update(thresholds=thresholds("green")),
            lambda _, panel: panel["fieldConfig"]["defaults"].update(thresholds=thresholds("text", (3, "red"))),
            lambda _, panel: panel["fieldConfig"]["defaults"].update(thresholds=thresholds("text", (0, "green"))),
            lambda _, panel: panel["fieldConfig"]["defaults"].update(color={"mode": "fixed", "fixedColor": "green"}),
            lambda _, panel: panel["fieldConfig"]["defaults"]["mappings"][0]["options"]["4"].update(color="green"),
        )
        self.assert_found(
            "mallometer-overview",
            "Memory limit used",
            lambda _, panel: panel["fieldConfig"]["defaults"]["thresholds"]["steps"][2].update(value=0.98),
        )
        self.assert_found(
            "mallometer-fleet",
            "Instances by diagnosis",
            lambda _, panel: panel["targets"][0].update(expr=panel["targets"][3]["expr"]),
        )

    def test_no_part_has_the_colour_of_act(self):
        style = (dashboards.PAGE / "page.css").read_text()
        for act in re.findall(r"--alarm: (#\w{6});", style):
            for part, (_, colour) in dashboards.parts_of_page().items():
                apart = abs(dashboards.hue(colour) - dashboards.hue(act))
                self.assertGreaterEqual(min(apart, 360 - apart), dashboards.HUES_FROM_ACT, part)

    def test_shares_of_the_limit_have_colours_where_the_diagnosis_changes(self):
        rules = (dashboards.REPOSITORY / DIAGNOSIS_RULES).read_text()
        near, at = (float(re.search(rf"{name} = ([0-9.]+);", rules)[1]) for name in ("NEAR_THE_LIMIT", "AT_THE_LIMIT"))
        self.assertEqual([(near, "orange"), (at, "red")], dashboards.OF_LIMIT)
        panel = named(dashboards.load()["mallometer-overview"], "Memory limit used")
        steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
        self.assertEqual([(None, "text"), *dashboards.OF_LIMIT], [(step["value"], step["color"]) for step in steps])

    def assert_found(self, name, title, *changes):
        for change in changes:
            faulty = copy.deepcopy(dashboards.load()[name])
            change(faulty, named(faulty, title))
            self.assertNotEqual([], dashboards.faults(faulty), change.__code__.co_consts)


def named(dashboard, title):
    return next(panel for panel in dashboards.panels(dashboard) if panel["title"] == title)


def instance(dashboard):
    return next(one for one in dashboard["templating"]["list"] if one["name"] == "instance")


def closed_row(dashboard):
    return next(panel["panels"] for panel in dashboard["panels"] if panel.get("collapsed"))


def ask(panel, expression):
    panel["targets"][0]["expr"] = expression


def thresholds(first, *others):
    return {"steps": [{"value": value, "color": color} for value, color in [(None, first), *others]]}


if __name__ == "__main__":
    unittest.main()
