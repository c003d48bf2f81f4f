"""Checks what every service of docker-compose.yml must have so that it can do no harm to the machine that it runs on.

A service is at fault if it keeps a capability, may gain privileges, can write to its root or to a directory of the repository,
has no memory limit, publishes a port beyond the loopback interface, is not pinned to a version, or has no health check.
"""

import pathlib
import re

import yaml

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
COMPOSE = REPOSITORY / "docker-compose.yml"
LOOPBACK = "127.0.0.1:"
PINNED = re.compile(r":v?\d+\.\d+\.\d+$")


def load():
    return yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))


def faults(compose):
    """Returns the faults, one line each."""
    return [f"{name} {fault}" for name, service in compose["services"].items() for fault in _faults(service)]


def _faults(service):
    if service.get("cap_drop") != ["ALL"] or "cap_add" in service:
        yield "keeps capabilities"
    if "no-new-privileges:true" not in service.get("security_opt", []):
        yield "may gain privileges"
    if service.get("read_only") is not True:
        yield "can write to its root"
    if "mem_limit" not in service:
        yield "has no memory limit"
    for port in service.get("ports", []):
        if not port.startswith(LOOPBACK):
            yield f"publishes {port}"
    for volume in service.get("volumes", []):
        if volume.startswith(".") and not volume.endswith(":ro"):
            yield f"can write to {volume}"
    if "build" not in service and not PINNED.search(service.get("image", "")):
        yield "has no version"
    if "healthcheck" not in service and not ("build" in service and _checks_itself(service["build"])):
        yield "has no health check"


def _checks_itself(build):
    return re.search(r"^HEALTHCHECK ", (REPOSITORY / build["dockerfile"]).read_text(encoding="utf-8"), re.MULTILINE)
