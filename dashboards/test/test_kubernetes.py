"""The Kubernetes files: rendered by kustomize, valid for the schemas of their kinds, in step with what they are made from, and
one rendered container run as processes of this machine. Nothing is applied to a cluster.
"""

import copy
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

import prometheusrule
import yaml

HERE = pathlib.Path(__file__).resolve().parent
DASHBOARDS = HERE.parent
REPOSITORY = DASHBOARDS.parent
KUBERNETES = DASHBOARDS / "kubernetes"
PLAIN = [KUBERNETES / "kyverno/policy.yaml", KUBERNETES / "opentelemetry/instrumentation.yaml"]
LIBRARY = REPOSITORY / "interposer/target/native/linux-x86-64/libmallometer.so"
AGENT = REPOSITORY / "metrics-bridge/agent/target/mallometer-agent.jar"
JAVA = os.path.join(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else "java"
# Of the version that check.sh installs, not one that the machine happens to have.
KUBECTL = HERE / "kubernetes/node_modules/.kubectl"


def rendered(directory):
    return subprocess.run(
        [KUBECTL, "kustomize", directory], check=True, stdout=subprocess.PIPE, text=True, timeout=60
    ).stdout


def by_name(objects):
    return {one["name"]: one for one in objects}


def validated(text):
    """What the schemas say of the objects, and the objects."""
    answer = subprocess.run(
        ["node", "validate.mjs", "--print"], cwd=HERE / "kubernetes", input=text, capture_output=True, text=True, timeout=120
    )
    return answer.returncode, answer.stderr, json.loads(answer.stdout)


def admitted(policy, pod):
    """The pod as the policy leaves it."""
    answer = subprocess.run(
        ["node", "policy.mjs"],
        cwd=HERE / "kubernetes",
        input=json.dumps({"policy": policy, "pod": pod}),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    return json.loads(answer.stdout)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipUnless(
    KUBECTL.exists() or os.environ.get("REQUIRE_KUSTOMIZE") == "true", "dashboards/check.sh has not installed kubectl"
)
class KubernetesFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = "---\n".join(
            [rendered(KUBERNETES / "base"), rendered(KUBERNETES / "example"), *(path.read_text() for path in PLAIN)]
        )
        cls.code, cls.complaints, objects = validated(cls.text)
        cls.objects = {(one["kind"], one["metadata"]["name"]): one for one in objects}

    def container(self, deployment):
        """The first container of a rendered Deployment, and its environment."""
        container = self.objects["Deployment", deployment]["spec"]["template"]["spec"]["containers"][0]
        return container, {one["name"]: one["value"] for one in container["env"]}

    def init_container(self, deployment="bare"):
        spec = self.objects["Deployment", deployment]["spec"]["template"]["spec"]
        return next(one for one in spec["initContainers"] if one["name"] == "mallometer")

    def test_every_object_is_valid(self):
        self.assertEqual("", self.complaints)
        self.assertEqual(0, self.code)
        self.assertEqual(10, len(self.objects))

    def test_misspelt_fields_are_found(self):
        faulty = self.text
        for right, wrong in (
            ("sampleLimit: 5000", "samplesLimit: 5000"),
            ("podMetricsEndpoints", "podMetricEndpoints"),
            ("keep_firing_for", "keepFiringFor"),
            ("initContainers:\n      - command", "initContainer:\n      - command"),
            ("mutate:", "mutates:"),
            ("extensions:", "extension:"),
        ):
            self.assertIn(right, faulty)
            faulty = faulty.replace(right, wrong)
        code, complaints, _ = validated(faulty)
        self.assertNotEqual(0, code)
        for kind in "ServiceMonitor", "PodMonitor", "PrometheusRule", "Deployment", "ClusterPolicy", "Instrumentation":
            self.assertIn(kind, complaints)

    def test_the_rules_are_those_of_prometheus(self):
        self.assertEqual(prometheusrule.generated(), (KUBERNETES / "base/prometheusrule.yaml").read_text())
        groups = self.objects["PrometheusRule", "mallometer"]["spec"]["groups"]
        self.assertEqual(4, len(groups))
        self.assertGreater(sum(len(group["rules"]) for group in groups), 25)

    def test_the_dashboards_are_those_of_grafana(self):
        for name in "mallometer-fleet", "mallometer-overview", "mallometer-where":
            shown = self.objects["ConfigMap", name]
            self.assertEqual("1", shown["metadata"]["labels"]["grafana_dashboard"])
            file = f"{name}.json"
            self.assertEqual((DASHBOARDS / "grafana" / file).read_text(), shown["data"][file])

    def test_scrapes_are_bounded(self):
        for monitor in ("ServiceMonitor", "mallometer-spring"), ("PodMonitor", "mallometer-agent"):
            self.assertGreater(self.objects[monitor]["spec"]["sampleLimit"], 0)

    def test_what_a_container_has_already_stays(self):
        container, environment = self.container("chained")
        self.assertEqual("/mallometer/libmallometer.so:libjemalloc.so.2", environment["LD_PRELOAD"])
        self.assertRegex(environment["JAVA_TOOL_OPTIONS"], "^-Xmx64m -javaagent:/mallometer/mallometer-agent.jar=")
        self.assertEqual(["/data", "/mallometer"], [mount["mountPath"] for mount in container["volumeMounts"]])

    def test_the_init_container_needs_no_privilege(self):
        context = self.init_container()["securityContext"]
        self.assertTrue(context["runAsNonRoot"] and context["readOnlyRootFilesystem"])
        self.assertFalse(context["allowPrivilegeEscalation"])
        self.assertEqual(["ALL"], context["capabilities"]["drop"])

    def test_the_policy_does_what_the_component_does(self):
        files, preload = self.objects["ClusterPolicy", "mallometer"]["spec"]["rules"]
        added = files["mutate"]["patchStrategicMerge"]["spec"]
        self.assertEqual([self.init_container()], added["initContainers"])
        container = preload["mutate"]["foreach"][0]["patchStrategicMerge"]["spec"]["containers"][0]
        # Without what the container had before.
        environment = {one["name"]: re.sub(r"\{\{ \w+ \}\}", "", one["value"]) for one in container["env"]}
        self.assertEqual(self.container("bare")[1], environment)

    def pod(self, deployment):
        """The pod that a rendered Deployment asks for."""
        return copy.deepcopy(self.objects["Deployment", deployment]["spec"]["template"])

    def without_mallometer(self, deployment):
        """The same pod without what the component added, but with the label that the policy asks for."""
        source = yaml.safe_load((KUBERNETES / f"example/{deployment}.yaml").read_text())["spec"]["template"]
        source["metadata"]["labels"]["mallometer"] = "agent"
        return source

    def test_the_policy_injects_as_the_component_does(self):
        policy = self.objects["ClusterPolicy", "mallometer"]
        for deployment in "bare", "chained":
            with self.subTest(deployment):
                injected, wanted = admitted(policy, self.without_mallometer(deployment)), self.pod(deployment)
                self.assertEqual(by_name(wanted["spec"]["initContainers"]), by_name(injected["spec"]["initContainers"]))
                self.assertEqual(by_name(wanted["spec"]["volumes"]), by_name(injected["spec"]["volumes"]))
                container, as_wanted = injected["spec"]["containers"][0], wanted["spec"]["containers"][0]
                self.assertEqual(by_name(as_wanted["env"]), by_name(container["env"]))
                self.assertCountEqual(as_wanted["volumeMounts"], container["volumeMounts"])

    def test_the_policy_injects_nothing_twice(self):
        policy = self.objects["ClusterPolicy", "mallometer"]
        operated = self.without_mallometer("bare")
        operated["spec"]["containers"][0]["env"] = self.objects["Instrumentation", "mallometer"]["spec"]["java"]["env"]
        for name, pod in (
            ("admitted again", admitted(policy, self.without_mallometer("chained"))),
            ("injected by the component", self.pod("bare")),
            ("injected by the component over an allocator", self.pod("chained")),
            ("injected by the OpenTelemetry Operator", operated),
        ):
            with self.subTest(name):
                self.assertEqual(pod, admitted(policy, pod))

    def test_the_policy_leaves_other_pods_alone(self):
        pod = self.without_mallometer("bare")
        del pod["metadata"]["labels"]["mallometer"]
        self.assertEqual(pod, admitted(self.objects["ClusterPolicy", "mallometer"], pod))

    def test_a_policy_without_preconditions_is_found(self):
        faulty = copy.deepcopy(self.objects["ClusterPolicy", "mallometer"])
        del faulty["spec"]["rules"][1]["mutate"]["foreach"][0]["preconditions"]
        once = admitted(faulty, self.without_mallometer("bare"))
        self.assertNotEqual(once, admitted(faulty, once))

    def test_a_rendered_container_counts_over_its_own_allocator(self):
        _, environment = self.container("chained")
        command = self.init_container("chained")["command"]
        maps, scrape, files = self.run_container(environment, command, "/mallometer", "/opt/mallometer")
        self.assertIn("libjemalloc", maps)
        self.assertRegex(scrape, r'mallometer_build\{[^}]*allocator="jemalloc')
        self.assertRegex(scrape, r"mallometer_active(\{\})? 1")
        self.assertIn("record/box", files)

    def test_a_container_counts_with_the_variables_of_the_opentelemetry_operator(self):
        java = self.objects["Instrumentation", "mallometer"]["spec"]["java"]
        mount = "/otel-auto-instrumentation-java-app/extensions"
        # What the operator's init container does with an extension.
        copy = ["cp", "-r", f"{java['extensions'][0]['dir']}/.", mount]
        environment = {one["name"]: one["value"] for one in java["env"]}
        _, scrape, _ = self.run_container(environment, copy, mount, java["extensions"][0]["dir"])
        self.assertRegex(scrape, r"mallometer_active(\{\})? 1")

    def run_container(self, environment, init, volume, image):
        """Runs an init container's command and a JVM with a container's environment, paths moved below a temporary directory;
        returns what the JVM mapped and served, and the files of the volume."""
        built = LIBRARY.exists() and AGENT.exists()
        if not built and os.environ.get("REQUIRE_AGENT") != "true":
            self.skipTest("library and agent are not built")
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            root.chmod(0o755)
            moved_image, moved_volume = root / "image", root / "volume"
            self.lay_out_image(moved_image)
            moved_volume.mkdir()
            port = free_port()

            def moved(text):
                for path, elsewhere in (image, moved_image), (volume, moved_volume):
                    text = re.sub(rf"{path}(?=[/\s]|$)", str(elsewhere), text)
                return text.replace("9464", str(port)).replace("0.0.0.0", "127.0.0.1")

            subprocess.run([moved(part) for part in init], check=True, timeout=30)
            process = subprocess.Popen(
                [JAVA, str(HERE / "Hold.java")],
                env={"PATH": os.environ["PATH"], **{name: moved(value) for name, value in environment.items()}},
                stdin=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            try:
                scrape = self.scraped(process, port)
                maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
            finally:
                process.stdin.close()
                process.wait(30)
            files = [str(path.relative_to(moved_volume)) for path in moved_volume.rglob("*")]
        return maps, scrape, files

    @staticmethod
    def lay_out_image(directory):
        directory.mkdir()
        shutil.copy(LIBRARY, directory)
        for name in "mallometer-agent.jar", "mallometer.agent":
            shutil.copy(AGENT, directory / name)

    def scraped(self, process, port):
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline and process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                    return answer.read().decode()
            except OSError:
                time.sleep(0.2)
        self.fail("the agent does not answer")


if __name__ == "__main__":
    unittest.main()
