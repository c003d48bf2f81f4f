"""Rows on every Java from 8 to early access, with the library alone, the agent and the starter."""

import observe
from row import NOT_RUN, Absent, Row, without_jdk

TOPIC = "JDK"
VERSIONS = (8, 11, 17, 21, 25, 26, 27, 28)
QUICK = (17, 25)

TOO_OLD = r"needs Java 17 or newer, and this (JVM )?is Java {}"


def rows(context):
    for version in VERSIONS:
        jdk = context.other_jdks.get(version)
        if jdk:
            yield from of_jdk(context.workshop, jdk, context.place_of_other_root(), "Debian sid")
        else:
            reason = context.no_other_root or f"JDK {version} of Debian sid could not be installed"
            yield Absent(TOPIC, f"{version} on Debian sid", reason, NOT_RUN)
    for version in QUICK:
        if version in context.jdks:
            here = context.workshop.here()
            yield from of_jdk(context.workshop, context.jdks[version], here, "this system", quick=True)
        else:
            yield without_jdk(TOPIC, version)


def of_jdk(workshop, jdk, place, where, quick=False):
    java = jdk.version >= observe.OLDEST_JAVA
    name = f"{jdk.version} on {where}"
    plain = workshop.java(jdk, place, "Work")
    preloaded = plain.with_variables(**workshop.probed(place))
    yield Row(TOPIC, f"{name}, library alone", plain, preloaded, counts=("java",))
    agent = workshop.java(jdk, place, workshop.agent(place), "Work").with_variables(**workshop.preload(place))
    yield Row(
        TOPIC,
        f"{name}, agent",
        plain,
        agent,
        says="counts native memory" if java else TOO_OLD.format(jdk.version),
        observe=observe.agent("Work.keepDeflater") if java else None,
        quick=quick,
    )
    if quick:
        return
    boot = workshop.newest_boot() if java else "2.7.18"
    without = workshop.spring(jdk, place, boot, False, *jdk.allow_native_access())
    starter = workshop.spring(jdk, place, boot, True, *jdk.allow_native_access())
    yield Row(
        TOPIC,
        f"{name}, starter on Spring Boot {boot}",
        without,
        starter.with_variables(**workshop.preload(place)),
        says=observe.STARTER_COUNTS if java else TOO_OLD.format(f"(1.)?{jdk.version}"),
        observe=observe.beans("App.keepDeflaters") if java else observe.no_beans,
    )
