"""Runs the repository's container files in a Docker engine of its own, and writes what it saw as a record in Markdown. Needs root.

    python3 testing/containers/run.py ENGINE_ROOT IMAGE_ROOT RECORD JAVA_HOME [RATE]

ENGINE_ROOT is a Debian with docker.io, for the emulated machine also with qemu, a kernel and cpio. IMAGE_ROOT is one with what the
Dockerfiles install, JAVA_HOME a JDK 25. Nothing of this system is changed, and nothing is left but the record (engine.py) and, with
CONTAINERS_PICTURES set to a directory, pictures there. Without RATE the demo leaks as slowly as docker-compose.yml says:
the alert of the verdict leak comes before the kill. With a RATE, such as 1MB, the kill comes sooner and that alert is not awaited.
"""

import os
import pathlib
import platform
import subprocess
import sys

import demo
import engine
import images
import machine
import ordinary
import recipes
from record import Record

REPOSITORY = images.REPOSITORY
KUBERNETES = "dashboards/kubernetes/image/Dockerfile"
OWN_PACE_SECONDS = 45 * 60
FAST_SECONDS = 20 * 60
NOT_RUN = """## Not run

- The real images of Temurin, Prometheus, Alertmanager, Grafana and distroless: no registry is asked. Grafana itself is not run, and
  Debian's Alertmanager has no page of its own.
- An API server, a kubelet and `kubectl debug`: the recipe starts the same kind of process, one with a mount namespace of its own in the
  process namespace of the target.
- The engine on another version of control groups than this machine mounts (above).
- An image for aarch64: only the processor of this machine was built for and run.
"""


def main():
    arguments = sys.argv[1:]
    # engine.isolated() puts the scratch directory first.
    if not pathlib.Path(arguments[0]).name.startswith("mallometer-containers-"):
        return engine.isolated(__file__, *arguments)
    scratch, engine_root, image_root, record, java_home, *rate = arguments
    with engine.Engine(engine_root, scratch) as docker:
        return checked(docker, image_root, Record(record, head(docker, rate)), java_home, rate[0] if rate else None)


def checked(docker, image_root, record, java_home, rate):
    repository = images.clone(docker)
    images.base(docker, image_root)
    images.stand_ins(docker, java_home)
    service = demo.Demo(docker, repository, rate)
    if not record.check("the demo's image is built", service.build):
        return 1
    record.check("every service of the compose file becomes healthy", service.healthy)
    record.check("user, root, capabilities, seccomp", service.confined)
    record.check("Prometheus scrapes the service", service.scraped)
    record.check("the rules are loaded", service.rules)
    # The service leaks meanwhile.
    of_images(docker, record)
    of_recipes(docker, repository, record, java_home)
    seconds = FAST_SECONDS if rate else OWN_PACE_SECONDS
    record.check("the verdict leak", lambda: service.verdict(seconds))
    if not rate:
        record.check("Alertmanager has the alert on the leak", lambda: service.leak_alert(seconds))
    record.check("the kernel kills the service at its limit", lambda: service.killed(seconds))
    record.check("the next start tells of the kill", service.sentence)
    record.check("Alertmanager has the alert on the kill", service.alert_after_the_kill)
    if "CONTAINERS_PICTURES" in os.environ:
        record.check("pictures of the pages after the kill", lambda: service.pictures(os.environ["CONTAINERS_PICTURES"]))
    service.down()
    record.finish(NOT_RUN)
    return int(record.failed > 0)


def of_images(docker, record):
    """An ordinary image, in which the application has the starter and nothing else was prepared."""
    confined = "uid 12345, no capability, read-only root, 256 MiB, default seccomp profile"
    try:
        those = ordinary.Ordinary(docker)
    except RuntimeError as failure:
        record.check("ordinary images are built", lambda: (_ for _ in ()).throw(failure))
        return
    record.check(f"an ordinary image: {confined}, /tmp:exec", lambda: those.counts("ordinary", "--tmpfs", "/tmp:exec"))
    record.check("an image like distroless, without a shell", lambda: those.counts("ordinary-distroless", "--tmpfs", "/tmp:exec"))


def of_recipes(docker, repository, record, java_home):
    if not record.check("the Kubernetes image is built", lambda: recipes.mallometer(docker, repository, KUBERNETES)):
        return
    if not record.check("an application is built", lambda: recipes.applications(docker, java_home)):
        return
    those = recipes.Recipes(docker, record, java_home)
    record.check("an existing image by COPY --from", those.copied_into_the_image)
    record.check("an existing image by a mounted volume", those.mounted_volume)
    record.check("an existing image in a compose file", those.compose_file)
    record.check("a termination message: bind-mounted file, another user, read-only root", those.termination_message)
    record.check("a /tmp that is noexec", those.noexec)
    record.check("docker exec on a JDK", those.executed_in_the_container)
    record.check("a process in the target's process namespace", those.beside_the_container)
    record.check("attach from the host", those.from_the_host)
    record.check("a kill on version 2 of control groups, in an emulated machine", lambda: machine.killed(docker))


def head(docker, rate):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()
    groups = 1 if pathlib.Path("/sys/fs/cgroup/memory").is_dir() else 2
    stand_ins = [f"| `{image}` | a stand-in: {what} |" for image, (_, what) in images.STAND_INS.items()]
    pace = f"The demo leaks {rate[0]} a second in place of the file's rate." if rate else "The demo leaks as the file says."
    return "\n".join([
        "# The container files in a Docker engine",
        "",
        f"Commit {commit}, {docker.versions()}, Linux {platform.release()}, control groups version {groups}. {pace}",
        "",
        "## Images",
        "",
        "| image | real or stand-in |",
        "|---|---|",
        "| the demo (`samples/leaky-service/Dockerfile`) | built from the file as it is |",
        f"| `{recipes.MALLOMETER}` (`{KUBERNETES}`) | built from the file as it is |",
        f"| `{images.BUILD_IMAGE}` | a stand-in: Debian 12 by debootstrap, with the packages and the Maven repository of this machine, since a build has no network |",
        *stand_ins,
        "",
    ])


if __name__ == "__main__":
    sys.exit(main())
