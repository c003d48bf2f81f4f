"""Where mallometer is not allowed to count, or asked not to: it says why, and what to do."""

import socket

import observe
from row import Row

TOPIC = "refused"

# Sockets that keep a port taken until the run ends.
HELD = []

# The application may do everything, and what else is on the class path nothing, or everything as well.
POLICY = """grant codeBase "file:{classes}" {{ permission java.security.AllPermission; }};"""

NATIVE_IMAGE = "-Dorg.graalvm.nativeimage.imagecode=runtime"


def rows(context):
    yield from of_17(context.workshop, context.jdks[17])
    if 25 in context.jdks:
        yield from native_access_denied(context.workshop, context.jdks[25])


def of_17(workshop, jdk):
    here = workshop.here()
    preload = workshop.preload(here)

    def agent(name, says, *words, options="port=0", seen=None, **more):
        yield Row(
            TOPIC,
            f"{name}, agent",
            workshop.java(jdk, here, *words, "Work"),
            workshop.java(jdk, here, *words, workshop.agent(here, options), "Work").with_variables(**(preload | more)),
            says=says,
            observe=seen,
            quick=name == "MALLOMETER_ENABLED=off",
        )

    def bridge(name, says, *words, how="real"):
        yield Row(
            TOPIC,
            f"{name}, bridge in a program",
            workshop.bridge(jdk, here, False, *words),
            workshop.bridge(jdk, here, True, *words).with_variables(**preload),
            says=says,
            how=how,
        )

    yield from agent("MALLOMETER_ENABLED=off", r"^mallometer: not started: MALLOMETER_ENABLED=off$", MALLOMETER_ENABLED="off")
    yield from agent("an unknown option", r'not started: unknown option "prot"; there are port, ', options="prot=9464")
    manager = security_manager(workshop, "application", "classes/")
    says = r"a security manager forbids .*java\.security\.AllPermission"
    yield from agent("a security manager", says, *manager)
    yield from bridge("a security manager", says, *manager)
    manager = security_manager(workshop, "everybody", "-")
    yield from agent("a security manager that allows all", "counts native memory", *manager, seen=observe.agent("Work.keepDeflater"))
    yield from bridge(
        "native image", r"a native image cannot read the library; a JVM can", NATIVE_IMAGE, how=f"simulated: {NATIVE_IMAGE} in a JVM"
    )
    few = ("--limit-modules", "java.base,java.instrument")
    yield from agent("few modules", r"lacks the modules java\.logging,java\.management; add them by the option --add-modules", *few)
    taken = socket.socket()
    HELD.append(taken)
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    port = taken.getsockname()[1]
    yield from agent(
        "a taken port",
        rf"counts native memory .*; cannot serve metrics on 127\.0\.0\.1:{port}: .*; choose another port, or port=0",
        options=f"port={port}",
    )
    yield from agent(
        "the library is not preloaded", r"the library is not preloaded\): LD_PRELOAD=\S+/libmallometer\.so \S+java ", LD_PRELOAD=""
    )


def security_manager(workshop, name, classes):
    """Options of the JVM; two equals signs leave out the JDK's own policy for applications."""
    file = workshop.work / f"{name}.policy"
    file.write_text(POLICY.format(classes=f"{workshop.work}/{classes}"))
    return ("-Djava.security.manager", f"-Djava.security.policy=={file}")


def native_access_denied(workshop, jdk):
    here = workshop.here()
    denied = "--illegal-native-access=deny"
    says = r"native access is denied.* --enable-native-access=ALL-UNNAMED "
    boot = workshop.property("spring-boot-4.version")
    yield Row(
        TOPIC,
        "native access denied on Java 25, agent",
        workshop.java(jdk, here, denied, "Work"),
        workshop.java(jdk, here, denied, workshop.agent(here), "Work").with_variables(**workshop.preload(here)),
        says=says,
    )
    yield Row(
        TOPIC,
        "native access denied on Java 25, starter",
        workshop.spring(jdk, here, boot, False, denied),
        workshop.spring(jdk, here, boot, True, denied).with_variables(**workshop.preload(here)),
        says=says,
    )
    yield Row(
        TOPIC,
        "native access denied on Java 25 but to ALL-UNNAMED, agent",
        workshop.java(jdk, here, denied, *jdk.allow_native_access(), "Work"),
        workshop.java(jdk, here, denied, *jdk.allow_native_access(), workshop.agent(here), "Work").with_variables(
            **workshop.preload(here)
        ),
        says="counts native memory",
        observe=observe.agent("Work.keepDeflater"),
    )
