"""Runs a Docker engine of a Debian root, in namespaces of its own: mounts, processes, network, host name and IPC.

isolated() starts a program in such namespaces and removes what they leave: the scratch directory and the control groups. The
kernel ends every process of the namespaces, containers included, when the program ends or its parent is killed. Engine runs
dockerd there. Bridges, addresses and iptables rules belong to the network namespace and go with it.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAMESPACES = ("--mount", "--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc")
CONTROL_GROUPS = pathlib.Path("/sys/fs/cgroup")
# The engine's root is that of a whole mount namespace. With chroot alone, a container's namespace would keep this system's root
# below, and docker exec and health checks, which enter a namespace from outside, would land there.
ENTER = 'cd "$0" && pivot_root . mnt && umount -l /mnt && exec "$@"'
START_SECONDS = 60
REMOVE_SECONDS = 30


def isolated(program, *arguments):
    """Runs a Python program with a scratch directory as its first argument. Returns its exit code."""
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="mallometer-containers-", dir="/var/tmp"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    process = None
    try:
        # The kernel kills unshare when this process dies, and --kill-child then ends all processes of the namespaces.
        command = ["setpriv", "--pdeathsig", "KILL", "unshare", *NAMESPACES, sys.executable, program, scratch, *arguments]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        return process.wait()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        # A second signal would interrupt the clean-up.
        for each in signal.SIGTERM, signal.SIGINT:
            signal.signal(each, signal.SIG_IGN)
        if process:
            process.kill()
            process.wait()
        _remove(scratch)


def _remove(scratch):
    """Removes the directory and the control groups, once the last process of the namespaces has ended."""
    deadline = time.monotonic() + REMOVE_SECONDS
    groups = [group for group in CONTROL_GROUPS.glob(f"*/{scratch.name}")] + [CONTROL_GROUPS / scratch.name]
    while any(group.exists() for group in groups):
        for group in groups:
            for directory, _, _ in os.walk(group, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(directory)
        if time.monotonic() > deadline:
            raise TimeoutError(f"control groups are still in use: {groups}")
        time.sleep(0.1)
    shutil.rmtree(scratch)


class Engine:
    """Runs dockerd during a with block, and has commands that use it."""

    def __init__(self, root, scratch):
        self.root, self.scratch = pathlib.Path(root), pathlib.Path(scratch)
        self.log = self.scratch / "dockerd.log"

    def __enter__(self):
        self._mount()
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        with open(self.log, "wb") as log:
            command = ["dockerd", "--storage-driver", "overlay2", "--cgroup-parent", f"/{self.scratch.name}", "--log-level", "warn"]
            entered = ["unshare", "--mount", "sh", "-c", ENTER, self.root, *command]
            self.daemon = subprocess.Popen(entered, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not self.succeeds("version"):
            if self.daemon.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"dockerd does not answer:\n{self.log.read_text()}")
            time.sleep(0.2)
        return self

    def __exit__(self, *_):
        containers = self.docker("ps", "-aq").split()
        if containers:
            self.docker("rm", "-f", "-v", *containers)
        self.daemon.terminate()
        self.daemon.wait(60)

    def _mount(self):
        """Gives the root this system's processes, devices and control groups, and keeps what it writes in the scratch directory."""
        root, scratch = self.root, self.scratch

        def mount(*arguments):
            subprocess.run(["mount", *arguments], check=True)

        # pivot_root needs a mount point as the new root.
        mount("--bind", root, root)
        mount("-t", "proc", "proc", root / "proc")
        mount("-t", "sysfs", "sysfs", root / "sys")
        mount("--rbind", CONTROL_GROUPS, root / "sys/fs/cgroup")
        mount("--rbind", "/dev", root / "dev")
        mount("-t", "tmpfs", "tmpfs", root / "run")
        mount("-t", "tmpfs", "tmpfs", root / "tmp")
        for place in ("var/lib/docker", "var/lib/containerd", "etc/docker", "root"):
            (root / place).mkdir(parents=True, exist_ok=True)
            kept = scratch / place.replace("/", "-")
            kept.mkdir(parents=True)
            mount("--bind", kept, root / place)
        # Files of the scratch directory have the same path for the engine.
        (root / "run/scratch").mkdir()
        inside = root / scratch.relative_to("/")
        mount("-t", "tmpfs", "tmpfs", root / "var/tmp")
        inside.mkdir(parents=True)
        mount("--bind", scratch, inside)

    def docker(self, *arguments, directory="/", environment=None, standard_input=None, timeout=1800):
        """Runs docker and returns what it prints. A failure shows the end of both outputs."""
        done = self.run(*arguments, directory=directory, environment=environment, standard_input=standard_input, timeout=timeout)
        if done.returncode != 0:
            raise RuntimeError(f"docker {' '.join(map(str, arguments))}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
        return done.stdout

    def run(self, *arguments, directory="/", environment=None, standard_input=None, timeout=1800):
        """Runs docker and returns the completed process, with its output as text."""
        command = ["chroot", self.root, "sh", "-c", 'cd "$0" && exec docker "$@"', directory, *arguments]
        variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8", **(environment or {})}
        given = {"stdin": standard_input} if standard_input else {"stdin": subprocess.DEVNULL}
        return subprocess.run(command, env=variables, capture_output=True, text=True, errors="replace", timeout=timeout, **given)

    def succeeds(self, *arguments):
        return self.run(*arguments).returncode == 0

    def build(self, image, directory, file="Dockerfile", **contexts):
        """Builds an image from a directory of the scratch directory."""
        named = [f"--build-context={name}={path}" for name, path in contexts.items()]
        return self.docker("build", "--progress=plain", "--provenance=false", *named, "-t", image, "-f", f"{directory}/{file}", directory)

    def import_root(self, image, root):
        """Makes an image of one layer from the root of another Debian."""
        skipped = [f"--exclude=./{place}/*" for place in ("proc", "sys", "dev", "tmp", "var/cache/apt", "var/lib/apt/lists")]
        archive = subprocess.Popen(["tar", "-C", root, "--one-file-system", *skipped, "-c", "."], stdout=subprocess.PIPE)
        self.docker("import", "-", image, standard_input=archive.stdout)
        archive.stdout.close()
        if archive.wait() != 0:
            raise RuntimeError(f"tar of {root} failed")

    def versions(self):
        """The versions of the engine, its client, compose, the builder and runc."""
        told = self.docker("version", "--format", "Docker {{.Server.Version}}, containerd and runc: {{range .Server.Components}}{{.Name}} {{.Version}} {{end}}")
        compose = self.docker("compose", "version", "--short").strip()
        builder = re.search(r"\d+\.\d+\.\d+\S*", self.docker("buildx", "version"))
        return f"{told.strip()}, compose {compose}, buildx {builder[0] if builder else 'unknown'}"
