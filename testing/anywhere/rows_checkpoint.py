"""Rows about checkpoints: which files and sockets mallometer has open, and that none is open while a checkpoint is taken, as far as the
interface of CRaC goes. The recording is mapped, and its file is not open. The package jdk.crac of the bridge's tests stands for CRaC,
because no JVM with CRaC is on Maven Central, in Debian or on npm. CRIU is in Debian, but does not support each kernel.
"""

import os
import pathlib
import re
import shutil
import subprocess

import observe
from row import Absent, Row

TOPIC = "checkpoint"

# A program that uses a channel for Unix-domain sockets, as the agent does for commands, has the random devices open. One socket is
# java.nio's own, which it uses to close others: any program that has used a channel for a socket has it.
OF_JAVA = r"/lib/modules$|\.jar$|^pipe:|^/dev/u?random$"

OF_NIO = 1
# The agent's socket for commands, and the files by which the library names methods that the JVM compiles.
FOR_COMMANDS = 1
FOR_METHODS = ("mem", "pagemap")
LISTENS = ("anon_inode:[eventpoll]", "anon_inode:[eventfd]")


def rows(context):
    shop = context.workshop
    jdk = context.jdks[17]
    here = shop.here()
    plain = shop.java(jdk, here, "Work")
    for name, options, sockets, more in (
        ("agent without a port", "", OF_NIO + FOR_COMMANDS, FOR_METHODS),
        ("agent with a port", "port=0", OF_NIO + FOR_COMMANDS + 1, (*LISTENS, *FOR_METHODS)),
        ("agent with a recording", f"recording={shop.work}/anywhere.recording", OF_NIO + FOR_COMMANDS, FOR_METHODS),
    ):
        yield Row(
            TOPIC,
            f"open files and sockets, {name}",
            plain,
            shop.java(jdk, here, shop.agent(here, options), "Work").with_variables(**shop.preload(here)),
            says="counts native memory",
            observe=open_files(sockets, more),
            compares_starts=False,
        )
    words = (shop.crac(here), "Checkpointed")
    yield Row(
        TOPIC,
        "open files and sockets at a checkpoint, agent with a port and a recording",
        shop.java(jdk, here, *words),
        shop.java(jdk, here, shop.agent(here, f"port=0,recording={shop.work}/checkpoint.recording"), *words).with_variables(
            **shop.preload(here)
        ),
        says="counts native memory",
        observe=checkpoint(OF_NIO + FOR_COMMANDS + 1, (*LISTENS, *FOR_METHODS)),
        how="simulated: a package jdk.crac that only calls the hooks",
        compares_starts=False,
    )
    yield Absent(TOPIC, "CRaC", "no JVM with CRaC is on Maven Central, in Debian or on npm")
    yield Absent(TOPIC, "CRIU", criu())


def open_files(sockets, more):
    """Checks that no more files are open than named. Files that are open for a moment may be seen, so it checks until they are gone."""

    def seen(process):
        found = process.wait_for(lambda: own(process.process.pid, sockets, more), f"no more is open than {sockets} sockets and {more}")
        return f"open: {', '.join(found)}"

    return seen


def checkpoint(sockets, more):
    """Checks that this much is open before and after a checkpoint, and nothing during it."""
    usual = open_files(sockets, more)

    def told(process, order):
        process.say(order)
        process.wait_for(lambda: process.line(f"^observed: {order}"), f"the program says {order}")

    def seen(process):
        usual(process)
        told(process, "checkpoint")
        meanwhile = open_files(OF_NIO, ())(process)
        told(process, "restore")
        return f"{meanwhile}; after the restore {usual(process)}, {observe.agent()(process)}"

    return seen


def own(process, sockets, more):
    """Returns what is open apart from the JVM's own files and the runner's pipes; None if that is not what is expected."""
    found = [each for each in targets(f"/proc/{process}/fd") if not re.search(OF_JAVA, each)]
    files = sorted(pathlib.Path(each).name for each in found if not each.startswith("socket:"))
    count = len(found) - len(files)
    return [f"{count} sockets", *files] if count == sockets and files == sorted(more) else None


def targets(directory):
    """Returns the targets of the descriptors from 3 on."""
    found = []
    for descriptor in os.listdir(directory):
        if int(descriptor) > 2:
            try:
                found.append(os.readlink(f"{directory}/{descriptor}"))
            except FileNotFoundError:
                continue
    return found


def criu():
    """Returns why no row takes a checkpoint by CRIU: what CRIU says of this kernel, if it is installed."""
    program = shutil.which("criu", path=os.environ["PATH"] + ":/usr/sbin")
    if not program:
        return "criu is not installed"
    checked = subprocess.run([program, "check"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    said = (checked.stdout + checked.stderr).strip() or f"exit code {checked.returncode}"
    return f"no row uses it; criu check says: {said.splitlines()[-1]}"
