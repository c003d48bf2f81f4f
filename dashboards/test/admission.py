"""The chart's MutatingAdmissionPolicy as a function from pods to pods: Helm renders it, an evaluator of CEL runs its expressions,
and the operations of its JSON patches are applied here. No API server takes part.
"""

import atexit
import copy
import functools
import json
import pathlib
import subprocess
import threading

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


@functools.cache
def rendered_policy(**inject):
    return rendered(workloads={"checkout": WORKLOAD}, **inject)


def policy(**inject):
    objects = yaml.safe_load_all(rendered_policy(**inject))
    return next(one for one in objects if one["kind"] == "MutatingAdmissionPolicy")


@functools.cache
def started(script):
    """Starts a script of Node that answers each line of its input. The end of the input ends the script."""
    process = subprocess.Popen(["node", script], cwd=HERE / "kubernetes", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)
    return process


def answer(script, question):
    process = started(script)
    process.stdin.write(json.dumps(question) + "\n")
    process.stdin.flush()
    timer = threading.Timer(120, process.kill)
    timer.start()
    line = process.stdout.readline()
    timer.cancel()
    assert line, f"{script} ended with code {process.wait()}"
    return json.loads(line)


def evaluated(policy, pod):
    """Returns 0 if no expression fails, the evaluator's messages, and the operations of the patch."""
    of_policy = answer("admit.mjs", {"policy": policy, "pod": pod})
    return of_policy["code"], of_policy["complaints"], of_policy["operations"]


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
