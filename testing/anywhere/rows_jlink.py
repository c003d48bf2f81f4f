"""Rows on runtimes that jlink made: with the modules that docs/reference/agent.md names, with further modules that show more, and with
fewer."""

import dataclasses
import functools

import observe
import workshop
from launch import Failed, Launch
from prepare import once
from row import Row, without_jdk

TOPIC = "jlink"

# The modules that docs/reference/agent.md names; java.base is always there.
NEEDED = ("java.instrument", "java.logging", "java.management", "jdk.management")
DOCUMENTATION = "docs/reference/agent.md"

COUNTS = r"counts native memory"
NOT_STARTED = r"not started: the module {} is missing\. Add --add-modules java\.logging,java\.management to the java command, or to the jlink command"
COARSER = r"counts native memory .*; the breakdown does not show the Java heap separately: the module jdk\.management is missing\. "


def rows(context):
    for version in (17, 25):
        if version in context.jdks:
            yield from of_jdk(context.workshop, context.jdks[version])
        else:
            yield without_jdk(TOPIC, version)


def of_jdk(shop, jdk):
    yield row(shop, jdk, "the modules that the documentation names", NEEDED, COUNTS, "port=0", observe.agent("Work.keepDeflater"))
    yield row(shop, jdk, "these and Flight Recorder", (*NEEDED, "jdk.jfr"), COUNTS, "port=0", observe.agent())
    for module, gone, says in (
        ("jdk.management", (), COARSER),
        ("java.management", ("jdk.management",), NOT_STARTED.format("java.management")),
        ("java.logging", (), NOT_STARTED.format("java.logging")),
    ):
        modules = tuple(each for each in NEEDED if each != module and each not in gone)
        seen = observe.agent("Work.keepDeflater") if says == COARSER else None
        yield row(shop, jdk, f"without {module}", modules, says, "port=0" if seen else "", seen)
    yield bridge(shop, jdk)


def row(shop, jdk, name, modules, says, options, seen=None):
    here = shop.here()
    runtime = directory(shop, jdk, modules)
    command = (f"{runtime}/bin/java", "-Xmx64m", "-cp", f"{here.work}/classes")
    plain = Launch((*command, "Work"), shop.private(here), here)
    agent = Launch((*command, shop.agent(here, options), "Work"), shop.private(here) | shop.preload(here), here)
    return Row(
        TOPIC,
        f"JDK {jdk.version}, {name}",
        plain,
        agent,
        says=says,
        observe=seen,
        needs=(once(functools.partial(make, jdk, modules, runtime)),),
    )


def bridge(shop, jdk):
    here = shop.here()
    modules = tuple(module for module in NEEDED if module != "java.instrument")
    runtime = directory(shop, jdk, modules)
    linked = dataclasses.replace(jdk, home=runtime)
    options = jdk.allow_native_access()
    return Row(
        TOPIC,
        f"JDK {jdk.version}, without java.instrument, bridge in a program",
        shop.bridge(linked, here, False, *options),
        shop.bridge(linked, here, True, *options).with_variables(**shop.preload(here)),
        says=r"ACTIVE \(preloaded\)$",
        needs=(once(functools.partial(make, jdk, modules, runtime)),),
    )


def directory(shop, jdk, modules):
    return shop.work / f"jlink-{jdk.version}-{'-'.join(modules)}"


def make(jdk, modules, runtime):
    documented = (workshop.REPOSITORY / DOCUMENTATION).read_text()
    if ",".join(NEEDED) not in documented:
        raise Failed(f"{DOCUMENTATION} does not name {','.join(NEEDED)}")
    workshop.run(f"{jdk.home}/bin/jlink", "--add-modules", ",".join(modules), "--output", runtime)
