"""The check of the compose file finds the faults that it is there for."""

import copy
import pathlib
import re
import unittest

import compose
import yaml

ALERTS = pathlib.Path(__file__).resolve().parents[1] / "prometheus/alerts.yml"
MIB = 1024 * 1024
# The resident set of the warm service, measured with -Xmx128m: 190 to 250 MiB.
WARM_BYTES = 250 * MIB
# The default of leak.longest-timeout (Setting.java): the verdict leak needs objects that outlast it.
LONGEST_TIMEOUT_SECONDS = 30 * 60
# The time until the application has started and the first objects are observed.
START_SECONDS = 120


class Story(unittest.TestCase):
    """A leak leads to the verdict and the alert, and then to the kill."""

    def setUp(self):
        self.app = compose.load()["services"]["app"]
        self.environment = self.app["environment"]

    def bytes_of(self, size):
        number, unit = re.fullmatch(r"(\d+)(k|m|KB|TB)", size).groups()
        return int(number) * {"k": 1024, "KB": 1024, "m": MIB, "TB": MIB * MIB}[unit]

    def test_the_leak_is_ended_by_the_kernel_at_the_limit(self):
        self.assertEqual(self.app["mem_limit"], self.app["memswap_limit"])
        self.assertGreater(self.bytes_of(self.environment["LEAKY_LEAKS_CAP"]), self.bytes_of(self.app["mem_limit"]))

    def test_the_verdict_and_the_alert_come_before_the_kill(self):
        rules = [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
        rule = next(one for one in rules if one.get("alert") == "NativeMemoryLeakSuspected")
        minutes = int(re.search(r"\[(\d+)m\]", rule["expr"])[1]) + int(re.fullmatch(r"(\d+)m", rule["for"])[1])
        verdict = START_SECONDS + 2 * LONGEST_TIMEOUT_SECONDS / self.environment["MALLOMETER_LEAK_TIME_SCALE"]
        room = self.bytes_of(self.app["mem_limit"]) - WARM_BYTES
        kill = room / self.bytes_of(self.environment["LEAKY_LEAKS_RATE"])
        self.assertLess(verdict + 60 * minutes, kill)
        self.assertLess(kill, 40 * 60)

    def test_what_is_left_of_the_run_is_on_a_volume(self):
        self.assertIn("record:/record", self.app["volumes"])
        self.assertTrue(self.environment["MALLOMETER_RECORDING"].startswith("/record/"))
        self.assertEqual("unless-stopped", self.app["restart"])


class ComposeCheck(unittest.TestCase):
    def test_the_compose_file_passes(self):
        self.assertEqual([], compose.faults(compose.load()))

    def test_a_fault_of_any_service_is_found(self):
        whole = compose.load()
        for name, service in whole["services"].items():
            for change in (
                lambda service: service.pop("cap_drop"),
                lambda service: service.update(cap_add=["NET_ADMIN"]),
                lambda service: service.pop("security_opt"),
                lambda service: service.update(read_only=False),
                lambda service: service.pop("mem_limit"),
                lambda service: service.update(ports=["9090:9090"]),
                lambda service: service.update(volumes=["./dashboards:/etc/dashboards"]),
                lambda service: (service.pop("build", None), service.update(image="prom/prometheus:latest")),
                lambda service: (service.pop("build", None), service.pop("healthcheck", None), service.update(image="a:1.2.3")),
            ):
                faulty = copy.deepcopy(whole)
                change(faulty["services"][name])
                with self.subTest(name, change=change.__code__.co_firstlineno):
                    self.assertNotEqual([], compose.faults(faulty))


if __name__ == "__main__":
    unittest.main()
