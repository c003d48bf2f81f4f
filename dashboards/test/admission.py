"""The chart's MutatingAdmissionPolicy as a function from pods to pods: Helm renders it, an evaluator of CEL runs its expressions,
and the operations of its JSON patches are applied here. No API server takes part.
"""

import copy
import json
import pathlib
import subprocess

import yaml

HERE = pathlib.Path(__file__).resolve().parent
CHART = HERE.parent / "kubernetes/chart"
# The program that check.sh installs.
HELM = HERE / "kubernetes/node_modules/.helm"
WORKLOAD = {"namespace": "shop", "labels": {"app.kubernetes.io/name": "checkout"}}


def rendered(*options, **inject):
    """Returns the chart's objects as text, with the values of inject."""
    return subprocess.run(
        [HELM, "template", "app", CHART, "--namespace", "watched", *options, "--values", "-"],
        check=True,
        input=json.dumps({"inject": inject}),
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    ).stdout


def policy(**inject):
    objects = yaml.safe_load_all(rendered(workloads={"checkout": WORKLOAD}, **inject))
    return next(one for one in objects if one["kind"] == "MutatingAdmissionPolicy")


def evaluated(policy, pod):
    """Returns the evaluator's exit status, its messages, and the operations of the patch."""
    answer = subprocess.run(
        ["node", "admit.mjs"],
        cwd=HERE / "kubernetes",
        input=json.dumps({"policy": policy, "pod": pod}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    return answer.returncode, answer.stderr, json.loads(answer.stdout or "[]")


def admitted(policy, pod):
    """Returns the pod as the policy leaves it; a policy whose failurePolicy is Ignore leaves it as it is if an expression fails."""
    code, complaints, operations = evaluated(policy, pod)
    if code:
        assert policy["spec"]["failurePolicy"] == "Ignore", complaints
        return pod
    pod = copy.deepcopy(pod)
    for operation in operations:
        assert operation["op"] == "add", operation
        *parents, name = (step.replace("~1", "/").replace("~0", "~") for step in operation["path"][1:].split("/"))
        target = pod
        for step in parents:
            target = target[int(step)] if isinstance(target, list) else target[step]
        if isinstance(target, list):
            target.insert(len(target) if name == "-" else int(name), operation["value"])
        else:
            target[name] = operation["value"]
    return pod
