"""Rows in which mallometer is not allowed to count, or is told not to: it says why, and what to do."""

import socket

import observe
from row import REAL, Row, without_jdk

TOPIC = "refused"

# Sockets that keep ports taken until the run ends.
HELD = []

NATIVE_IMAGE = "-Dorg.graalvm.nativeimage.imagecode=runtime"
DENIED = "--illegal-native-access=deny"
FEW_MODULES = ("--limit-modules", "java.base,java.instrument")

FORBIDDEN = r"a security manager forbids .*java\.security\.AllPermission"
COUNTS = "counts native memory"


def rows(context):
    workshop = context.workshop
    yield from with_the_agent(workshop, context.jdks[17])
    yield from with_the_bridge(workshop, context.jdks[17])
    if 25 in context.jdks:
        yield from native_access(workshop, context.jdks[25])
    else:
        yield without_jdk(TOPIC, 25)


def agent(workshop, jdk, name, says, *words, options="port=0", seen=None, idle=(), **variables):
    """Makes a row. Words are options of the JVM for both programs; variables are set only with the agent."""
    here = workshop.here()
    injected = workshop.java(jdk, here, *words, workshop.agent(here, options), "Work")
    return Row(
        TOPIC,
        f"{name}, agent",
        workshop.java(jdk, here, *words, "Work"),
        injected.with_variables(**(workshop.preload(here) | variables)),
        says=says,
        observe=seen,
        idle=idle,
        quick=True,
    )


def with_the_agent(workshop, jdk):
    off = r"^mallometer: not started: MALLOMETER_ENABLED=off\. Start the application without this variable to use "
    here = workshop.here()
    plain = workshop.java(jdk, here, "Work")
    switched_off = {"MALLOMETER_ENABLED": "off"} | workshop.probed(here)
    yield agent(workshop, jdk, "MALLOMETER_ENABLED=off", off, idle=("java",), **switched_off)
    alone = plain.with_variables(**switched_off)
    yield Row(TOPIC, "MALLOMETER_ENABLED=off, library alone", plain, alone, idle=("java",), quick=True)

    unknown = r'not started: unknown option "prot"; the options are enabled, '
    yield agent(workshop, jdk, "an unknown option", unknown, options="prot=9464")

    yield agent(workshop, jdk, "a security manager", FORBIDDEN, *security_manager(workshop, "application"))
    all_allowed = security_manager(workshop, "everybody")
    seen = observe.agent("Work.keepDeflater")
    yield agent(workshop, jdk, "a security manager that allows all", COUNTS, *all_allowed, seen=seen)

    lacks = r"not started: the module java\.logging is missing\. Add --add-modules java\.logging,java\.management to "
    yield agent(workshop, jdk, "few modules", lacks, *FEW_MODULES)

    taken = socket.socket()
    HELD.append(taken)
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    port = taken.getsockname()[1]
    cannot = rf"{COUNTS} .*; cannot serve metrics on 127\.0\.0\.1:{port}: .*; choose another port, or port=0"
    yield agent(workshop, jdk, "a taken port", cannot, options=f"port={port}")

    absent = r"the library is not preloaded\): mallometer's command line \(attach PID\) starts counting; .*LD_PRELOAD=\S+/libmallometer\.so"
    yield agent(workshop, jdk, "not preloaded and attach=off", absent, options="port=0,attach=off", LD_PRELOAD="")


def with_the_bridge(workshop, jdk):
    here = workshop.here()

    def bridge(name, says, *words, how=REAL):
        return Row(
            TOPIC,
            f"{name}, bridge in a program",
            workshop.bridge(jdk, here, False, *words),
            workshop.bridge(jdk, here, True, *words).with_variables(**workshop.preload(here)),
            says=says,
            how=how,
        )

    yield bridge("a security manager", FORBIDDEN, *security_manager(workshop, "application"))
    image = r"a native image cannot read the library\): Run the application on a JVM"
    yield bridge("a native image", image, NATIVE_IMAGE, how=f"simulated: {NATIVE_IMAGE} in a JVM")


def security_manager(workshop, policy):
    """Returns options of the JVM; two equals signs leave out the JDK's own policy for applications."""
    file = f"{workshop.work}/programs/{policy}.policy"
    return ("-Djava.security.manager", f"-Djava.security.policy=={file}", f"-Danywhere.work={workshop.work}")


def native_access(workshop, jdk):
    here = workshop.here()
    says = r"native access is denied.* --enable-native-access=ALL-UNNAMED "
    yield agent(workshop, jdk, "native access denied on Java 25", says, DENIED)
    yield agent(
        workshop,
        jdk,
        "native access denied on Java 25 except to ALL-UNNAMED",
        COUNTS,
        DENIED,
        *jdk.allow_native_access(),
        seen=observe.agent("Work.keepDeflater"),
    )
    boot = workshop.newest_boot()
    yield Row(
        TOPIC,
        "native access denied on Java 25, starter",
        workshop.spring(jdk, here, boot, False, DENIED),
        workshop.spring(jdk, here, boot, True, DENIED).with_variables(**workshop.preload(here)),
        says=says,
    )
