"""The Kubernetes files: rendered by kustomize, valid for the schemas of their kinds, in step with what they are made from, and
one rendered container run as processes of this machine. Nothing is applied to a cluster.
"""

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

HERE = pathlib.Path(__file__).resolve().parent
DASHBOARDS = HERE.parent
REPOSITORY = DASHBOARDS.parent
KUBERNETES = DASHBOARDS / "kubernetes"
PLAIN = [KUBERNETES / "kyverno/policy.yaml", KUBERNETES / "opentelemetry/instrumentation.yaml"]
LIBRARY = REPOSITORY / "interposer/target/native/linux-x86-64/libmallometer.so"
AGENT = REPOSITORY / "metrics-bridge/agent/target/mallometer-agent.jar"
JAVA = os.path.join(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else "java"
# Components and replacements that put a value before another came with kustomize 4.5.
OLDEST_KUSTOMIZE = (4, 5)


def kustomize_is_missing():
    """The reason why nothing can be rendered, or None."""
    if not shutil.which("kubectl"):
        return "kubectl is not installed"
    shown = subprocess.run(["kubectl", "version", "--client"], capture_output=True, text=True).stdout
    version = re.search(r"Kustomize Version: v(\d+)\.(\d+)", shown)
    if not version or tuple(map(int, version.groups())) < OLDEST_KUSTOMIZE:
        return f"kubectl brings no kustomize of {OLDEST_KUSTOMIZE[0]}.{OLDEST_KUSTOMIZE[1]} or newer"
    return None


def rendered(directory):
    return subprocess.run(
        ["kubectl", "kustomize", directory], check=True, stdout=subprocess.PIPE, text=True, timeout=60
    ).stdout


def validated(text):
    """What the schemas say of the objects, and the objects."""
    answer = subprocess.run(
        ["node", "validate.mjs", "--print"], cwd=HERE / "kubernetes", input=text, capture_output=True, text=True, timeout=120
    )
    return answer.returncode, answer.stderr, json.loads(answer.stdout)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


REASON = kustomize_is_missing()
if REASON and os.environ.get("REQUIRE_KUSTOMIZE") == "true":
    raise AssertionError(REASON)


@unittest.skipIf(REASON, REASON)
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
        if not (LIBRARY.exists() and AGENT.exists()):
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
