"""The check of the dashboards finds the faults that it is there for."""

import copy
import unittest

import dashboards


class DashboardsCheck(unittest.TestCase):
    def test_the_dashboards_pass(self):
        loaded = dashboards.load()
        self.assertEqual(["mallometer-fleet", "mallometer-overview", "mallometer-where"], list(loaded))
        for name, dashboard in loaded.items():
            with self.subTest(name):
                self.assertEqual([], dashboards.faults(dashboard))

    def test_faults_are_found(self):
        for change in (
            lambda dashboard, _: dashboard["templating"]["list"].pop(2),
            lambda dashboard, _: dashboard["annotations"].update(list=[]),
            lambda dashboard, _: dashboard["links"].pop(0),
            lambda dashboard, _: dashboard["links"][1].update(url="https://mallometer.example/docs/runbooks/index.md"),
            lambda _, panel: panel.update(title=""),
            lambda _, panel: panel.pop("description"),
            lambda _, panel: panel["fieldConfig"]["defaults"].pop("unit"),
            lambda _, panel: panel.update(targets=[]),
            lambda _, panel: panel["targets"][0].pop("legendFormat"),
            lambda _, panel: panel["targets"][0].update(expr='sum(rate(x_total{instance=~"$shown"}[5m]))'),
            lambda _, panel: panel["targets"][0].update(expr="sum(native_malloc_live_bytes)"),
            lambda _, panel: panel["targets"][0].update(expr='topk(10, native_malloc_live_bytes{instance=~"$shown"})'),
            lambda _, panel: panel["targets"][0].update(expr='native_malloc_live_bytes{instance=~"$instance"}'),
            lambda _, panel: panel["fieldConfig"]["defaults"].update(thresholds={"steps": [{"value": None}, {"value": 1}]}),
            lambda dashboard, _: dashboard["templating"]["list"][-1].update(allValue=".*"),
            lambda dashboard, _: dashboard["templating"]["list"][-1].update(query="label_values(mallometer_active, instance)"),
            lambda dashboard, _: dashboard["templating"]["list"].pop(),
            lambda dashboard, panel: dashboard["panels"].append(panel),
            lambda _, panel: panel["links"][0].update(url="https://mallometer.example/docs/runbooks/leak.md"),
        ):
            faulty = copy.deepcopy(dashboards.load()["mallometer-overview"])
            change(faulty, next(panel for panel in faulty["panels"] if panel["title"] == "Native memory and the heap"))
            self.assertNotEqual([], dashboards.faults(faulty), change.__code__.co_consts)


if __name__ == "__main__":
    unittest.main()
