"""The check of the compose file finds the faults that it is there for."""

import copy
import unittest

import compose


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
