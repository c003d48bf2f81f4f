"""The Kubernetes files: rendered by kustomize, valid for the schemas of their kinds, in step with what they are made from, and
one rendered container run as processes of this machine. Nothing is applied to a cluster.
"""

import copy
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import admission
import yaml
from container import ARGUMENTS, ENVIRONMENT, VOLUME, Container

HERE = pathlib.Path(__file__).resolve().parent
DASHBOARDS = HERE.parent
KUBERNETES = DASHBOARDS / "kubernetes"
PAGE = DASHBOARDS.parent / "docs/start/kubernetes.md"
OPERATED = KUBERNETES / "opentelemetry/instrumentation.yaml"
# The tools that check.sh installs, not those of the machine.
KUBECTL = HERE / "kubernetes/node_modules/.kubectl"
HELM = admission.HELM
# The kinds of objects that a cluster needs once.
OF_CLUSTER = {"ConfigMap", "PodMonitor", "PrometheusRule", "ServiceMonitor"}


def rendered(directory):
    return subprocess.run(
        [KUBECTL, "kustomize", directory], check=True, stdout=subprocess.PIPE, text=True, timeout=60
    ).stdout


def by_name(objects):
    return {one["name"]: one for one in objects}


def validated(text):
    """Returns 0 if all objects are valid, the messages of the schemas about the objects, and the objects."""
    of_schemas = admission.answer("validate.mjs", text)
    return of_schemas["code"], of_schemas["complaints"], of_schemas["objects"]


def unrestricted(pod):
    """Returns the violations of the Pod Security Standard "restricted" in a pod's spec, by the rules that concern our additions."""
    of_pod = pod.get("securityContext", {})
    for container in [*pod.get("initContainers", []), *pod["containers"]]:
        own = container.get("securityContext", {})
        name = container["name"]
        if own.get("allowPrivilegeEscalation") is not False:
            yield f"{name} may gain privileges"
        if "ALL" not in own.get("capabilities", {}).get("drop", []) or own["capabilities"].get("add"):
            yield f"{name} keeps capabilities"
        if not own.get("runAsNonRoot", of_pod.get("runAsNonRoot")) or own.get("runAsUser", of_pod.get("runAsUser")) == 0:
            yield f"{name} may run as root"
        if own.get("seccompProfile", of_pod.get("seccompProfile", {})).get("type") not in ("RuntimeDefault", "Localhost"):
            yield f"{name} has no seccomp profile"
        if own.get("privileged") or any("hostPort" in port for port in container.get("ports", [])):
            yield f"{name} is privileged"
    allowed = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
    for volume in pod.get("volumes", []):
        if not set(volume) - {"name"} <= allowed:
            yield f"volume {volume['name']} is of a kind that is not allowed"
    if any(pod.get(name) for name in ("hostNetwork", "hostPID", "hostIPC")):
        yield "the pod uses the host's namespaces"


def containers_of(pod):
    return [*pod.get("initContainers", []), *pod["containers"]]


def not_started(pod):
    """Returns the containers that the kubelet refuses to start, because they run as root and must not."""
    of_pod = pod.get("securityContext", {})
    for container in containers_of(pod):
        context = of_pod | container.get("securityContext", {})
        if context.get("runAsNonRoot") and context.get("runAsUser") == 0:
            yield container["name"]


def quality_of_service(pod):
    """Returns Guaranteed if each container limits processor and memory and requests as much. A request is its limit by default."""
    figures = []
    for resources in (one.get("resources", {}) for one in containers_of(pod)):
        limits, requests = resources.get("limits", {}), resources.get("requests", {})
        figures += [(limits.get(kind), requests.get(kind, limits.get(kind))) for kind in ("cpu", "memory")]
    if all(limit and limit == request for limit, request in figures):
        return "Guaranteed"
    return "Burstable" if any(request for _, request in figures) else "BestEffort"


def without_quota(pod):
    """Returns the missing figures for which a quota on requests and limits of processor and memory rejects the pod."""
    for container in containers_of(pod):
        limits = container.get("resources", {}).get("limits", {})
        yield from (f"{container['name']} has no limit of {kind}" for kind in ("cpu", "memory") if kind not in limits)


class FilesOfTheChart(unittest.TestCase):
    def test_they_are_links(self):
        files = list((KUBERNETES / "chart/files").iterdir())
        self.assertTrue(files)
        self.assertEqual([], [file.name for file in files if not file.is_symlink()])


@unittest.skipUnless(
    KUBECTL.exists() or os.environ.get("REQUIRE_INSTALLED") == "true", "dashboards/check.sh has not installed kubectl"
)
class KubernetesFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = "---\n".join(
            [*(rendered(KUBERNETES / name) for name in ("base", "example")), OPERATED.read_text()]
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
        self.assertEqual(14, len(self.objects))

    def test_misspelt_fields_are_found(self):
        faulty = self.text
        for right, wrong in (
            ("sampleLimit: 5000", "samplesLimit: 5000"),
            ("podMetricsEndpoints", "podMetricEndpoints"),
            ("keep_firing_for", "keepFiringFor"),
            ("initContainers:\n      - args", "initContainer:\n      - args"),
            ("extensions:", "extension:"),
        ):
            self.assertIn(right, faulty)
            faulty = faulty.replace(right, wrong)
        code, complaints, _ = validated(faulty)
        self.assertNotEqual(0, code)
        for kind in "ServiceMonitor", "PodMonitor", "PrometheusRule", "Deployment", "Instrumentation":
            self.assertIn(kind, complaints)

    def test_the_rules_of_prometheus_are_there(self):
        groups = self.objects["PrometheusRule", "mallometer"]["spec"]["groups"]
        self.assertEqual(4, len(groups))
        self.assertGreater(sum(len(group["rules"]) for group in groups), 25)

    def test_the_dashboards_are_those_of_grafana(self):
        for name in "mallometer-fleet", "mallometer-overview", "mallometer-where":
            shown = self.objects["ConfigMap", name]
            self.assertEqual("1", shown["metadata"]["labels"]["grafana_dashboard"])
            self.assertEqual("mallometer", shown["metadata"]["annotations"]["grafana_folder"])
            file = f"{name}.json"
            self.assertEqual((DASHBOARDS / "grafana" / file).read_text(), shown["data"][file])

    def test_scrapes_are_bounded(self):
        for monitor in ("ServiceMonitor", "mallometer-spring"), ("PodMonitor", "mallometer-agent"):
            self.assertGreater(self.objects[monitor]["spec"]["sampleLimit"], 0)

    def test_a_container_gets_what_is_tried_without_a_cluster(self):
        container, environment = self.container("bare")
        self.assertEqual(ENVIRONMENT, environment)
        self.assertEqual([VOLUME], [mount["mountPath"] for mount in container["volumeMounts"]])
        self.assertEqual(ARGUMENTS, self.init_container()["args"])

    def test_what_a_container_has_already_stays(self):
        container, environment = self.container("chained")
        self.assertEqual("/mallometer/libmallometer.so:libjemalloc.so.2", environment["LD_PRELOAD"])
        self.assertEqual("-Xmx64m", environment["JAVA_TOOL_OPTIONS"])
        self.assertEqual(["/data", "/mallometer"], [mount["mountPath"] for mount in container["volumeMounts"]])

    def test_every_kind_that_asks_gets_it_and_no_other(self):
        for kind, name in ("StatefulSet", "store"), ("DaemonSet", "collector"), ("Job", "night"):
            with self.subTest(kind):
                pod = self.objects[kind, name]["spec"]["template"]
                self.assertEqual("true", pod["metadata"]["labels"]["mallometer.io/enabled"])
                self.assertEqual([self.init_container()], pod["spec"]["initContainers"])
                self.assertEqual(self.container("bare")[0]["env"], pod["spec"]["containers"][0]["env"])
                self.assertEqual(self.container("bare")[0]["volumeMounts"], pod["spec"]["containers"][0]["volumeMounts"])
        source = yaml.safe_load_all((KUBERNETES / "example/kinds.yaml").read_text())
        self.assertEqual(
            next(one for one in source if one["metadata"]["name"] == "unasked"), self.objects["Deployment", "unasked"]
        )

    def test_the_page_shows_a_kustomization_that_adds_mallometer(self):
        page = PAGE.read_text()
        shown = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n# \w+\.yaml\n(.*?)```", page, re.M | re.S)]
        kustomization, labelled = shown
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name).resolve()
            _, _, path = kustomization["components"][0].rpartition("//")
            kustomization["components"] = [os.path.relpath(DASHBOARDS.parent / path, directory)]
            (directory / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
            app = yaml.safe_load((KUBERNETES / "example/bare.yaml").read_text())
            app["metadata"]["labels"] = labelled["metadata"]["labels"]
            app["kind"] = labelled["kind"]
            (directory / "app.yaml").write_text(yaml.safe_dump(app))
            pod = yaml.safe_load(rendered(directory))["spec"]["template"]["spec"]
            self.assertEqual("registry.example.com/mallometer:0.1.0", pod["initContainers"][0]["image"])
            self.assertEqual(self.container("bare")[0], pod["containers"][0])

    def test_the_page_names_the_kinds_that_change_and_those_that_do_not(self):
        page = PAGE.read_text()
        changed, unchanged = (
            re.search(rf"^\| ([\w, ]+) \| {happens}", page, re.M)[1].split(", ") for happens in ("its pods start", "nothing, without")
        )
        for component in "component", "image-volume", "scraped":
            file = yaml.safe_load((KUBERNETES / component / "kustomization.yaml").read_text())
            targets = [one["target"] for one in file["patches"]]
            targets += [target["select"] for one in file["replacements"] for target in one["targets"]]
            with self.subTest(component):
                self.assertEqual(set(changed), {one["kind"] for one in targets})
        self.assertIn("CronJob", unchanged)

    def test_the_page_renders_no_component_by_itself(self):
        for page in PAGE, KUBERNETES / "README.md":
            for directory in re.findall(r"kubectl kustomize (dashboards/\S+)", page.read_text()):
                with self.subTest(directory):
                    self.assertNotEqual("", rendered(DASHBOARDS.parent / directory).strip())

    def test_a_pod_starts_as_it_did_without_mallometer(self):
        """The pod runs as root, has a quality of service and is under a quota."""
        source = yaml.safe_load((KUBERNETES / "example/guaranteed.yaml").read_text())["spec"]["template"]["spec"]
        self.assertEqual("Guaranteed", quality_of_service(source))
        pod = self.pod("guaranteed")["spec"]
        self.assertIn("mallometer", by_name(pod["initContainers"]))
        self.assertEqual([], list(not_started(pod)))
        self.assertEqual("Guaranteed", quality_of_service(pod))
        self.assertEqual([], list(without_quota(pod)))
        self.assertEqual(0, pod["securityContext"]["runAsUser"])
        self.assertEqual("Burstable", quality_of_service(self.pod("bare")["spec"]))

    def test_a_restricted_pod_stays_restricted(self):
        pod = copy.deepcopy(self.objects["Job", "night"]["spec"]["template"]["spec"])
        self.assertEqual([], list(unrestricted(pod)))
        del pod["initContainers"][0]["securityContext"]["capabilities"]
        self.assertEqual(["mallometer keeps capabilities"], list(unrestricted(pod)))

    def test_the_init_container_needs_no_privilege(self):
        alone = {"containers": [self.init_container()], "volumes": self.pod("bare")["spec"]["volumes"]}
        self.assertEqual([], list(unrestricted(alone)))
        self.assertTrue(self.init_container()["securityContext"]["readOnlyRootFilesystem"])
        self.assertEqual("IfNotPresent", self.init_container()["imagePullPolicy"])

    def test_the_agent_listens_to_others_only_where_it_is_scraped(self):
        self.assertNotIn("host=", self.container("bare")[1]["MALLOMETER_AGENT"])
        code, complaints, objects = validated(rendered(KUBERNETES / "example-scraped"))
        self.assertEqual((0, ""), (code, complaints))
        scraped = {one["kind"]: one for one in objects}
        pod = scraped["Deployment"]["spec"]["template"]
        environment = {one["name"]: one["value"] for one in pod["spec"]["containers"][0]["env"]}
        self.assertRegex(environment["MALLOMETER_AGENT"], "=port=9464,host=0.0.0.0$")
        for selector in (
            scraped["NetworkPolicy"]["spec"]["podSelector"],
            self.objects["PodMonitor", "mallometer-agent"]["spec"]["selector"],
        ):
            self.assertLessEqual(selector["matchLabels"].items(), pod["metadata"]["labels"].items())

    def test_an_image_volume_brings_the_agent_alone(self):
        code, complaints, objects = validated(rendered(KUBERNETES / "example-image-volume"))
        self.assertEqual((0, ""), (code, complaints))
        pod = objects[0]["spec"]["template"]["spec"]
        self.assertEqual(
            {"JAVA_TOOL_OPTIONS": "-Xmx64m -javaagent:/mallometer/opt/mallometer/mallometer-agent.jar=port=9464"},
            {one["name"]: one["value"] for one in pod["containers"][0]["env"]},
        )
        self.assertEqual(self.init_container()["image"], pod["volumes"][0]["image"]["reference"])
        self.assertNotIn("initContainers", pod)

    def test_values_for_helm_do_what_the_component_does(self):
        values = KUBERNETES / "helm/values.yaml"
        text = subprocess.run(
            [HELM, "template", "app", HERE / "kubernetes/chart", "--values", values],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
        ).stdout
        code, complaints, objects = validated(text)
        self.assertEqual((0, ""), (code, complaints))
        pod, wanted = objects[0]["spec"]["template"], self.pod("bare")
        self.assertEqual("true", pod["metadata"]["labels"]["mallometer.io/enabled"])
        for part in "initContainers", "volumes":
            self.assertEqual(wanted["spec"][part], pod["spec"][part])
        container, as_wanted = pod["spec"]["containers"][0], wanted["spec"]["containers"][0]
        self.assertEqual([{"name": "OWN", "value": "1"}, *as_wanted["env"]], container["env"])
        self.assertEqual(as_wanted["volumeMounts"], container["volumeMounts"])

    def test_the_chart_has_the_objects_of_base(self):
        code, complaints, objects = validated(admission.rendered("--set", "labels.release=prom"))
        self.assertEqual((0, ""), (code, complaints))
        found = {(one["kind"], one["metadata"]["name"]): one for one in objects}
        wanted = {name: one for name, one in self.objects.items() if name[0] in OF_CLUSTER}
        self.assertEqual(wanted.keys(), found.keys())
        for name, one in found.items():
            with self.subTest(name):
                self.assertEqual("watched", one["metadata"]["namespace"])
                for part in "spec", "data":
                    self.assertEqual(wanted[name].get(part), one.get(part))
                if "spec" in one:
                    self.assertEqual("prom", one["metadata"]["labels"]["release"])
                else:
                    self.assertEqual("1", one["metadata"]["labels"]["grafana_dashboard"])
                    self.assertEqual("mallometer", one["metadata"]["annotations"]["grafana_folder"])

    def test_parts_of_the_chart_can_be_left_out(self):
        for part, kinds in ("rules", {"PrometheusRule"}), ("monitors", {"PodMonitor", "ServiceMonitor"}), ("dashboards", {"ConfigMap"}):
            code, complaints, objects = validated(admission.rendered("--set", f"{part}.enabled=false"))
            self.assertEqual((0, ""), (code, complaints))
            self.assertEqual(OF_CLUSTER - kinds, {one["kind"] for one in objects})

    def test_the_policy_is_bound_to_the_named_workloads_alone(self):
        text = admission.rendered(workloads={"checkout": admission.WORKLOAD, "night": {"namespace": "batch"}})
        code, complaints, objects = validated(text)
        self.assertEqual((0, ""), (code, complaints))
        found = {(one["kind"], one["metadata"]["name"]): one for one in objects}
        spec = found["MutatingAdmissionPolicy", "mallometer"]["spec"]
        self.assertEqual("Ignore", spec["failurePolicy"])
        self.assertEqual(
            [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
            spec["matchConstraints"]["resourceRules"],
        )
        shop, batch = ({"matchLabels": {"kubernetes.io/metadata.name": name}} for name in ("shop", "batch"))
        for name, matched in (
            ("checkout", {"namespaceSelector": shop, "objectSelector": {"matchLabels": admission.WORKLOAD["labels"]}}),
            ("night", {"namespaceSelector": batch}),
        ):
            binding = found.pop(("MutatingAdmissionPolicyBinding", f"mallometer-{name}"))["spec"]
            self.assertEqual({"policyName": "mallometer", "matchResources": matched}, binding)
        self.assertNotIn("MutatingAdmissionPolicyBinding", {kind for kind, _ in found})
        _, complaints, _ = validated(text.replace("failurePolicy: Ignore", "failurePolicy: Pass").replace("policyName:", "policy:"))
        for name in "MutatingAdmissionPolicy mallometer:", "MutatingAdmissionPolicyBinding mallometer-checkout:":
            self.assertIn(name, complaints)

    def test_the_page_shows_values_that_add_mallometer(self):
        shown = yaml.safe_load(re.search(r"^```yaml\n# values\.yaml of the chart\n(.*?)```", PAGE.read_text(), re.M | re.S)[1])
        self.assertEqual(admission.WORKLOAD, shown["inject"]["workloads"]["checkout"])
        self.assertIn(shown["inject"]["image"], admission.rendered(**shown["inject"]))

    def test_a_workload_without_a_namespace_is_refused(self):
        with self.assertRaises(subprocess.CalledProcessError):
            admission.rendered(workloads={"everything": {}})

    def test_the_policy_does_to_a_pod_what_the_component_does(self):
        policy = admission.policy()
        for deployment in "bare", "chained", "guaranteed":
            with self.subTest(deployment):
                source = self.source(deployment)
                pod, wanted = admission.admitted(policy, source), self.pod(deployment)
                for template in pod, wanted:
                    for part in "initContainers", "containers", "volumes":
                        template["spec"][part] = by_name(template["spec"][part])
                    for container in template["spec"]["containers"].values():
                        container["env"] = by_name(container["env"])
                self.assertEqual(wanted, pod)
        # A pod of the API server has no labels if its template has none.
        pod = admission.admitted(policy, {"metadata": {}, "spec": source["spec"]})
        self.assertEqual({"mallometer.io/enabled": "true"}, pod["metadata"]["labels"])

    def test_the_policy_uses_the_image_that_is_named(self):
        pod = admission.admitted(admission.policy(image="registry.example.com/mallometer:1"), self.source("chained"))
        self.assertEqual(
            ["registry.example.com/mallometer:1", "registry.example.com/migrate:1"],
            sorted(one["image"] for one in pod["spec"]["initContainers"]),
        )

    def test_the_policy_changes_no_pod_twice_and_none_that_would_become_invalid(self):
        policy = admission.policy()
        unchanged = {"admitted before": admission.admitted(policy, self.source("chained")), "of the component": self.pod("chained")}
        for name, part, one in (
            ("a container", "containers", {"name": "mallometer", "image": "i"}),
            ("an init container", "initContainers", {"name": "mallometer", "image": "i"}),
            ("a volume", "volumes", {"name": "mallometer", "emptyDir": {}}),
        ):
            unchanged[name] = self.source("chained")
            unchanged[name]["spec"][part].append(one)
        unchanged["a mount"] = self.source("chained")
        unchanged["a mount"]["spec"]["containers"][0]["volumeMounts"].append({"name": "data", "mountPath": "/mallometer"})
        for name, pod in unchanged.items():
            with self.subTest(name):
                self.assertEqual((0, "", []), admission.evaluated(policy, pod))

    def test_the_policy_leaves_a_pod_that_its_expressions_fail_on(self):
        pod = {"metadata": {}, "spec": {"containers": []}}
        policy = admission.policy()
        self.assertNotEqual(0, admission.evaluated(policy, pod)[0])
        self.assertEqual(pod, admission.admitted(policy, pod))

    def test_the_policy_keeps_other_containers_and_references(self):
        pod = self.source("chained")
        first = pod["spec"]["containers"][0]
        reference = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
        first["env"] = [{"name": "LD_PRELOAD", "valueFrom": reference["valueFrom"]}, reference]
        second = {"name": "second", "image": "i", "env": [{"name": "LD_PRELOAD", "value": "other.so"}]}
        pod["spec"]["containers"].append(second)
        changed = admission.admitted(admission.policy(), pod)["spec"]["containers"]
        self.assertEqual(second, changed[1])
        self.assertEqual(reference, changed[0]["env"][0])
        self.assertEqual({"name": "LD_PRELOAD", "value": "/mallometer/libmallometer.so:"}, changed[0]["env"][1])

    def test_mixed_types_in_a_literal_are_found(self):
        """An API server refuses them, most evaluators do not."""
        policy = admission.policy()
        patch = policy["spec"]["mutations"][0]["jsonPatch"]
        self.assertIn('dyn("IfNotPresent")', patch["expression"])
        patch["expression"] = patch["expression"].replace('dyn("IfNotPresent")', '"IfNotPresent"')
        code, complaints, _ = admission.evaluated(policy, self.source("bare"))
        self.assertNotEqual(0, code)
        self.assertIn("a literal has elements of the types", complaints)

    def source(self, deployment):
        """The pod of an example before mallometer."""
        return yaml.safe_load((KUBERNETES / f"example/{deployment}.yaml").read_text())["spec"]["template"]

    def test_kube_prometheus_stack_finds_everything(self):
        code, complaints, objects = validated(rendered(KUBERNETES / "kube-prometheus-stack"))
        self.assertEqual((0, ""), (code, complaints))
        self.assertEqual(OF_CLUSTER, {one["kind"] for one in objects})
        for one in objects:
            self.assertEqual("kube-prometheus-stack", one["metadata"]["labels"]["release"])
            self.assertEqual("monitoring", one["metadata"]["namespace"])

    def test_the_network_policy_closes_one_port_to_all_but_monitoring(self):
        everybody, monitoring = yaml.safe_load((KUBERNETES / "scraped/networkpolicy.yaml").read_text())["spec"]["ingress"]
        self.assertNotIn("from", everybody)
        tcp = [(one["port"], one["endPort"]) for one in everybody["ports"] if one.get("protocol", "TCP") == "TCP"]
        self.assertEqual([(1, 9463), (9465, 65535)], tcp)
        self.assertEqual([{"port": 9464}], monitoring["ports"])

    def pod(self, deployment):
        """The pod that a rendered Deployment asks for."""
        return copy.deepcopy(self.objects["Deployment", deployment]["spec"]["template"])

    def test_a_rendered_container_counts_over_its_own_allocator(self):
        _, environment = self.container("chained")
        with Container(self, environment) as container:
            container.init(self.init_container("chained")["args"])
            maps, scrape = container.counts()
        self.assertIn("libjemalloc", maps)
        self.assertRegex(scrape, r'mallometer_build_info\{[^}]*allocator="jemalloc')
        self.assertRegex(scrape, r"mallometer_active(\{\})? 1")
        self.assertIn("record/recording", container.files_at_the_end)

    def test_a_container_counts_with_the_variables_of_the_opentelemetry_operator(self):
        java = self.objects["Instrumentation", "mallometer"]["spec"]["java"]
        mount = "/otel-auto-instrumentation-java-app/extensions"
        with Container(self, {one["name"]: one["value"] for one in java["env"]}, mount) as container:
            # The operator's init container does this with an extension.
            container.init(["-r", f"{java['extensions'][0]['dir']}/.", mount], "cp")
            _, scrape = container.counts()
        self.assertRegex(scrape, r"mallometer_active(\{\})? 1")


if __name__ == "__main__":
    unittest.main()
