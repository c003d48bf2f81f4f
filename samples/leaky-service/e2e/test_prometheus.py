"""Tests the whole way from malloc to Prometheus and JMX: the demo runs under a real Prometheus through four phases, and PromQL
distinguishes them.

    quiet     little load, no leak
    busy      eight times the load, no leak
    leaking   the same load, the zlib leak on at a known rate
    stopped   the same load, the leak off again

The phases run once; each test queries Prometheus about them. A phase is judged at its end, when rates and gauges cover only that phase.

A second Prometheus scrapes the same demo as a cluster would: with the labels of a pod, kube-state-metrics, the alerts in fast motion, and
an Alertmanager that calls a webhook. A third one scrapes a JVM that has only the agent. A Grafana server is not run; its component library
draws the dashboards.
"""

import copy
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from processes import (
    JAVA,
    QUIET_COMPILER,
    REPOSITORY,
    Agent,
    Alertmanager,
    Demo,
    KubeStateMetrics,
    MemoryLimit,
    Prometheus,
    Webhook,
    get,
    post,
    wait_until,
)

DASHBOARDS = REPOSITORY / "dashboards"
sys.path[:0] = [str(DASHBOARDS), str(DASHBOARDS / "test")]
import expressions  # noqa: E402
import scaled  # noqa: E402

MIB = 1 << 20
LEAK_RATE = 4 * MIB
# The bytes per second that the compilers take while the service gets warm, on a busy machine.
COMPILERS = 0.25 * LEAK_RATE
QUIET_LOAD = 5
BUSY_LOAD = 40
WARM_UP_SECONDS = 20
PHASE_SECONDS = 15
POLL_SECONDS = 1
LIMIT = 512 * MIB
# The time scale of the alerts: ten minutes become three seconds.
TIME_SCALE = 200
# The alerts that fire once the leak is on. If NativeMemoryLeakSuspected is among them, the demo and every panel must have verdicts.
ALERTS_OF_A_LEAK = ["NativeMemoryLeakSuspected"]
# These alerts may fire in fast motion: in real time growth is not extrapolated so early and unused memory is no leak yet, and looking for
# leaks sixty times as often costs more than the target.
KILL = "NativeMemoryOOMKilled"
MAY_FIRE = {"NativeMemoryReachesLimitSoon", "NativeMemoryReachesLimitInADay", "NativeMemoryUnusedGrows", "MallometerOverTarget"}
LEAK_TIME_SCALE = 60
# On this scale, the memory that the JVM allocates during a minute of warm-up grows for an hour.
WARMING_JVM = "libjvm.so*"
POD = {"cluster": "test", "namespace": "shop", "pod": "leaky-service-1", "container": "app"}
# Metrics that exist only after a kill, while a process grows, or when it is half an hour old.
OF_WHAT_DID_NOT_HAPPEN = {"mallometer_previous_exit_timestamp_seconds", "mallometer_time_to_limit_seconds", "job_version:native_malloc_live_bytes:avg", "native_malloc_leak_unused_bytes"}
# The value of "Compare with" on the Fleet dashboard.
COMPARE = "10s"
SERIES_OF_A_PROCESS = 150
# The sampleLimit of the agent's monitor, which also covers the JVM's other series.
SERIES_OF_AN_AGENT = 500
# The seconds that rate() covers; a phase has to be longer.
WINDOW_SECONDS = 10


# The highest share of the resident set that may be unexplained.
UNEXPLAINED = 0.03


def check_breakdown(test, demo, tracked):
    """Waits until the service's memory is divided, and checks the parts."""
    answers = []

    def is_split():
        answers[:] = [json.loads(get(f"{demo.url}/actuator/nativememory/breakdown"))]
        return answers[0].get("totalBytes")

    wait_until(is_split, 30, "the resident set is split")
    parts = answers[0]["parts"]
    test.assertEqual(answers[0]["totalBytes"], sum(parts.values()))
    test.assertEqual(tracked, answers[0]["nativeMemoryTracking"])
    test.assertLessEqual(parts["unexplained"], UNEXPLAINED * answers[0]["totalBytes"], parts)
    for part in "java_heap", "metaspace", "code_cache", "thread_stacks", "malloc_live", "mapped_files":
        test.assertGreater(parts[part], MIB, parts)


class DemoWithTracking(unittest.TestCase):
    def test_the_breakdown_explains_the_resident_set_and_sigterm_stops_the_demo_without_a_trace(self):
        with Demo(
            java_options="-XX:NativeMemoryTracking=summary",
            **{"mallometer.poll-interval": f"{POLL_SECONDS}s", "leaky.load.reports-per-second": BUSY_LOAD},
        ) as demo:
            check_breakdown(self, demo, tracked=True)
            self.assertEqual(0, demo.stop(signal.SIGTERM))
            self.assertEqual([], demo.left_behind())


class DemoUnderPrometheus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.demo = cls.enterClassContext(
            Demo(
                **{
                    "leaky.leaks.rate": f"{LEAK_RATE}B",
                    "leaky.load.reports-per-second": BUSY_LOAD,
                    "mallometer.poll-interval": f"{POLL_SECONDS}s",
                    "mallometer.leak.time-scale": LEAK_TIME_SCALE,
                    "mallometer.leak.longest-timeout": "5m",
                    "mallometer.leak.acknowledged-sites": WARMING_JVM,
                },
                limit=cls.enterClassContext(MemoryLimit(LIMIT)),
                goes_first=True,
            )
        )
        rules = {name: (DASHBOARDS / "prometheus" / name).read_text() for name in ("recording.yml", "alerts.yml")}
        cls.prometheus = cls.enterClassContext(Prometheus(cls.demo.port, rules=rules))
        agent = cls.enterClassContext(Agent())
        cls.without_micrometer = cls.enterClassContext(Prometheus(agent.port, rules=rules, path="/metrics"))
        cls.webhook = cls.enterClassContext(Webhook())
        cls.kube_state_metrics = cls.enterClassContext(KubeStateMetrics(POD["namespace"], POD["pod"], POD["container"]))
        cls.cluster = cls.enterClassContext(
            Prometheus(
                cls.demo.port,
                labels=POD,
                rules={name: scaled.scaled(text, TIME_SCALE) for name, text in rules.items()},
                alertmanager=cls.enterClassContext(Alertmanager(cls.webhook.url)).address,
                kube_state_metrics=cls.kube_state_metrics.address,
            )
        )
        cls.phases = {}
        # The service warms up first, because class loading and compilation take native memory while its code is new.
        time.sleep(WARM_UP_SECONDS)
        cls._phase("quiet", f"/load?reportsPerSecond={QUIET_LOAD}")
        cls._phase("busy", f"/load?reportsPerSecond={BUSY_LOAD}")
        cls._phase("leaking", "/leaks/zlib?on=true")
        cls._phase("stopped", "/leaks/zlib?on=false")

    @classmethod
    def _phase(cls, name, change):
        state = post(cls.demo.url + change)
        began = time.time()
        time.sleep(PHASE_SECONDS)
        cls.phases[name] = (began, time.time(), state)

    def ask(self, expression, at):
        """Returns the only value of an expression at a time."""
        series = expressions.query(self.prometheus.url, "query", query=expression, time=at)["result"]
        self.assertEqual(1, len(series), f"{expression}: {series}")
        return float(series[0]["value"][1])

    def rate(self, counter, phase):
        """Returns how much a counter grew per second at the end of a phase, over all its series."""
        return self.ask(f"sum(rate({counter}[{WINDOW_SECONDS}s]))", self.phases[phase][1])

    def live_growth(self, phase):
        """Returns the bytes per second by which live memory grew in the last part of a phase."""
        return self.ask(f"deriv(native_malloc_live_bytes[{WINDOW_SECONDS}s])", self.phases[phase][1])

    def test_allocations_rise_with_load(self):
        rise = self.rate("native_malloc_allocations_total", "busy") / self.rate(
            "native_malloc_allocations_total", "quiet"
        )
        # The load is eight times as high. What does not depend on the load (scrapes, the JVM) makes the rise smaller.
        self.assertGreater(rise, BUSY_LOAD / QUIET_LOAD / 2)
        self.assertLess(rise, BUSY_LOAD / QUIET_LOAD * 1.5)

    def lasting_growth(self, phase):
        """Returns the bytes per second between the lowest live memory of two windows, because a compiler uses some MiB for a moment."""
        lowest, half = "min_over_time(native_malloc_live_bytes[{0}s]{1})", WINDOW_SECONDS // 2
        earlier = lowest.format(half, f" offset {half}s")
        return self.ask(f"({lowest.format(half, '')} - {earlier}) / {half}", self.phases[phase][1])

    def test_live_bytes_do_not_rise_with_load_alone(self):
        self.assertLess(abs(self.lasting_growth("quiet")), COMPILERS)
        self.assertLess(abs(self.lasting_growth("busy")), COMPILERS)

    def test_live_bytes_rise_at_the_rate_of_the_leak(self):
        self.assertAlmostEqual(LEAK_RATE, self.live_growth("leaking"), delta=0.2 * LEAK_RATE)

    def test_live_bytes_level_off_when_the_leak_stops(self):
        self.assertLess(abs(self.lasting_growth("stopped")), COMPILERS)

    def test_live_bytes_rise_by_what_the_service_lost(self):
        lost = self.phases["stopped"][2]["lostBytes"]
        began, ended = self.phases["busy"][1], self.phases["stopped"][1]
        rise = self.ask("native_malloc_live_bytes", ended) - self.ask("native_malloc_live_bytes", began)
        self.assertAlmostEqual(LEAK_RATE * PHASE_SECONDS, lost, delta=0.1 * LEAK_RATE * PHASE_SECONDS)
        self.assertAlmostEqual(lost, rise, delta=0.15 * lost)

    def test_the_histogram_agrees_with_the_counter(self):
        at = self.phases["busy"][1]
        counted = self.ask("sum(native_malloc_allocations_total)", at)
        # A poll may come between the two readings of one scrape.
        one_poll = POLL_SECONDS * self.rate("native_malloc_allocations_total", "busy")
        self.assertAlmostEqual(
            counted, self.ask("native_malloc_request_size_bytes_count", at), delta=2 * one_poll
        )
        self.assertLess(2 * one_poll, 0.1 * counted)

    def test_every_scrape_succeeded_and_was_fresh(self):
        at, whole = self.phases["stopped"][1], int(self.phases["stopped"][1] - self.phases["quiet"][0])
        self.assertEqual(1, self.ask(f"min_over_time(up[{whole}s])", at))
        self.assertEqual(1, self.ask(f"min_over_time(mallometer_active[{whole}s])", at))
        self.assertLess(self.ask(f"max_over_time(mallometer_snapshot_age_seconds[{whole}s])", at), 3 * POLL_SECONDS)

    def test_remote_jmx_shows_what_prometheus_shows(self):
        attributes = self.read_mbean()
        scraped = self.ask("native_malloc_live_bytes", time.time())
        self.assertEqual("true", attributes["Active"])
        self.assertAlmostEqual(scraped, int(attributes["LiveBytes"]), delta=0.05 * scraped)
        self.assertEqual(
            int(attributes["AllocationCount"]),
            int(attributes["SmallAllocationCount"]) + int(attributes["LargeAllocationCount"]),
        )

    def test_remote_jmx_counts_on(self):
        first = int(self.read_mbean()["AllocationCount"])
        time.sleep(2)
        self.assertGreater(int(self.read_mbean()["AllocationCount"]), first)

    def test_the_leaking_line_holds_what_the_service_lost(self):
        lost = self.phases["stopped"][2]["lostBytes"]
        site = "io.mallometer.samples.leaky.ReportArchive.pack"
        answer = json.loads(get(f"{self.demo.url}/actuator/nativememory/sites?group=site&limit=1"))
        first = answer["groups"][0]
        self.assertEqual(site, first["key"])
        live = first["liveBytes"]
        # The 95 % interval is 3.92 standard errors wide. Chance exceeds five standard errors once in two million runs.
        most = 0.1 * lost + 5 * (live["high"] - live["low"]) / 3.92
        self.assertLess(live["high"] - live["low"], 2 * lost)
        self.assertAlmostEqual(lost, live["value"], delta=most)
        meter = f'native_malloc_site_live_bytes{{site="{site}"}}'
        wait_until(
            lambda: expressions.query(self.prometheus.url, "query", query=meter, time=time.time())["result"],
            30,
            "the site is scraped",
        )
        self.assertAlmostEqual(lost, self.ask(meter, time.time()), delta=most)

    def test_the_flame_graph_shows_the_leaking_line(self):
        self.assertIn("ReportArchive.pack", get(f"{self.demo.url}/actuator/nativememory/flamegraph"))

    def test_the_breakdown_explains_the_resident_set(self):
        check_breakdown(self, self.demo, tracked=False)

    def test_the_endpoint_answers(self):
        self.assertIn("ACTIVE", get(f"{self.demo.url}/actuator/nativememory").upper())

    def test_a_leak_reaches_the_webhook_as_alerts(self):
        for name in ALERTS_OF_A_LEAK:
            with self.subTest(name):
                wait_until(lambda name=name: self.webhook.told(name, "firing"), 60, f"{name} fires")
                alert = self.webhook.told(name, "firing")[0]
                self.assertEqual(POD, {label: alert["labels"][label] for label in POD})
                self.assertRegex(alert["annotations"]["description"], r"\d")
                page = re.search("docs/runbooks/.*", alert["annotations"]["runbook_url"])[0]
                self.assertTrue((REPOSITORY / page).is_file(), page)

    def test_no_leak_is_suspected_until_it_is_on(self):
        # Alerts about growth fire for the start of the JVM in fast motion, because their thresholds are not scaled; this alert must not.
        wait_until(lambda: self.webhook.told("NativeMemoryLeakSuspected", "firing"), 60, "the leak is suspected")
        began = [alert["startsAt"] for alert in self.webhook.told("NativeMemoryLeakSuspected", "firing")]
        leaking = self.phases["leaking"][0]
        early = [start for start in began if datetime.datetime.fromisoformat(start).timestamp() < leaking]
        self.assertEqual([], early, f"the leak was on from {datetime.datetime.fromtimestamp(leaking)} on")

    def test_the_kill_that_the_cluster_tells_of_reaches_the_webhook_and_is_over(self):
        self.assertEqual([], self.webhook.told(KILL, "firing"))
        self.kube_state_metrics.kill()
        wait_until(lambda: self.webhook.told(KILL, "firing"), 30, "the kill is told")
        wait_until(lambda: self.webhook.told(KILL, "resolved"), 60, "the kill is over")
        self.assertEqual(POD, {label: self.webhook.told(KILL, "firing")[0]["labels"][label] for label in POD})

    def test_alerts_of_what_did_not_happen_are_silent(self):
        happened = {KILL, *MAY_FIRE, *ALERTS_OF_A_LEAK}
        self.assertEqual(set(), {alert["labels"]["alertname"] for alert in self.webhook.alerts} - happened)

    def test_no_rule_fails(self):
        for prometheus in self.prometheus, self.cluster:
            rules = [
                rule for group in expressions.query(prometheus.url, "rules")["groups"] for rule in group["rules"]
            ]
            self.assertGreater(len(rules), 20)
            self.assertEqual([], [rule for rule in rules if rule["health"] != "ok"])

    def test_every_expression_of_the_dashboards_finds_data(self):
        for name, dashboard in self.dashboards().items():
            with self.subTest(name):
                # The demo by itself has neither a cluster nor a memory limit.
                self.assertEqual([], expressions.faults(self.prometheus.url, dashboard, compare=COMPARE))
                self.assertEqual([], expressions.faults(self.cluster.url, dashboard, compare=COMPARE))
                unasked = [series for series in expressions.skipped(self.cluster.url, dashboard) if not self.is_awaited(series)]
                self.assertEqual([], unasked)

    def test_every_expression_finds_data_where_there_is_only_the_agent(self):
        for name, dashboard in self.dashboards().items():
            with self.subTest(name):
                self.assertEqual([], expressions.faults(self.without_micrometer.url, dashboard, compare=COMPARE))

    def test_faults_of_a_dashboard_are_found(self):
        for right, wrong in [
            ("native_malloc_live_bytes", "native_malloc_alive_bytes"),
            ("sum by (size)", "sum by (colour)"),
            ("sum(rate(", "sum(rate(("),
        ]:
            faulty = copy.deepcopy(self.dashboards()["mallometer-overview"])
            planted = [
                target
                for panel in expressions.panels(faulty)
                for target in panel["targets"]
                if right in target["expr"] and "cgroup" not in target["expr"]
            ]
            planted[0]["expr"] = planted[0]["expr"].replace(right, wrong)
            with self.subTest(wrong):
                self.assertEqual(1, len(expressions.faults(self.cluster.url, faulty)))

    def test_every_panel_is_drawn_and_what_cannot_be_is_reported(self):
        render = DASHBOARDS / "test/render"
        if not (render / "node_modules").is_dir() and os.environ.get("REQUIRE_CHROMIUM") != "true":
            self.skipTest("dashboards/check.sh has not installed what draws the dashboards")
        with tempfile.TemporaryDirectory() as directory:
            faulty = pathlib.Path(directory, "faulty.json")
            faulty.write_text(json.dumps(self.with_planted_faults()))
            dashboards = [DASHBOARDS / f"grafana/{name}.json" for name in self.dashboards()]
            drawn = subprocess.run(
                ["node", "picture.mjs", self.cluster.url, "--seconds", "60", "--interval", "1", "--var", f"compare={COMPARE}"]
                + self.what_may_be_absent()
                + [*dashboards, faulty],
                cwd=render,
                stdout=subprocess.PIPE,
                text=True,
                timeout=240,
            )
        for dashboard in dashboards:
            self.assertRegex(drawn.stdout, rf"{dashboard.name}: \d+ panels, 0 faults")
        for fault in "No data: no data", "Refused: .*parse error", "No such panel: no component draws pies":
            self.assertRegex(drawn.stdout, fault)
        self.assertNotIn("in time", drawn.stdout)
        self.assertNotEqual(0, drawn.returncode)

    def with_planted_faults(self):
        """Returns a dashboard of three panels, none of which can be drawn."""
        faulty = copy.deepcopy(self.dashboards()["mallometer-overview"])
        graph = next(panel for panel in faulty["panels"] if panel["type"] == "timeseries")
        faulty["panels"] = [copy.deepcopy(graph) for _ in range(3)]
        for panel, title, expression in zip(
            faulty["panels"], ["No data", "Refused", "No such panel"], ["alive", "sum(", "up"], strict=True
        ):
            panel["title"] = title
            panel["targets"] = [{"refId": "A", "expr": expression, "range": True}]
        faulty["panels"][2]["type"] = "pies"
        return faulty

    def test_a_process_has_at_most_150_series(self):
        own = 'count({job="leaky-service", __name__=~"(native|cgroup|mallometer)_.+"})'
        series = self.ask(own, self.phases["stopped"][1])
        print(f"{series:.0f} series of mallometer")
        self.assertLessEqual(series, SERIES_OF_A_PROCESS)

    def test_the_agent_serves_at_most_500_series(self):
        scraped = expressions.query(self.without_micrometer.url, "query", query="scrape_samples_scraped")["result"]
        series = float(scraped[0]["value"][1])
        print(f"{series:.0f} series of the agent")
        self.assertGreater(series, SERIES_OF_A_PROCESS / 2)
        self.assertLessEqual(series, SERIES_OF_AN_AGENT)

    def is_awaited(self, series):
        """Returns whether these series are of events that did not happen, or of leak verdicts that the demo does not reach yet."""
        if series in OF_WHAT_DID_NOT_HAPPEN:
            return True
        demanded = "NativeMemoryLeakSuspected" in ALERTS_OF_A_LEAK
        return series.startswith("native_malloc_leak_") and not demanded and not self.publishes(series)

    def what_may_be_absent(self):
        for absent in "native_malloc_leak_sites", "native_malloc_leak_suspected_bytes":
            if self.is_awaited(absent):
                return ["--absent", absent if absent.endswith("bytes") else "native_malloc_leak_"]
        return []

    def publishes(self, series):
        return bool(expressions.query(self.cluster.url, "query", query=f"count({series})")["result"])

    @staticmethod
    def dashboards():
        return {path.stem: json.loads(path.read_text()) for path in sorted((DASHBOARDS / "grafana").glob("mallometer-*.json"))}

    def read_mbean(self):
        output = subprocess.run(
            [JAVA, QUIET_COMPILER, REPOSITORY / "samples/leaky-service/e2e/ReadNativeMemory.java", f"127.0.0.1:{self.demo.jmx_port}"],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
        ).stdout
        return dict(line.split("=", 1) for line in output.splitlines() if "=" in line)


if __name__ == "__main__":
    unittest.main()
