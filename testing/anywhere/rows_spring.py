"""Rows on Spring Boot before 3.5, and since 3.5, the first version that the starter supports."""

import observe
from row import Row, without_jdk

TOPIC = "Spring Boot"
BEFORE = ("2.7.18", "3.2.12", "3.4.13")
SINCE = ("spring-boot-3.version", "spring-boot-4.0.version", "spring-boot-4.version")

WARNINGS = {r"^WARNING: .*(native|restricted|Restricted|System::load)": "the JDK's warning, from JNA", "^$": "its end"}


def rows(context):
    workshop = context.workshop
    here = workshop.here()
    jdk = context.jdks[17]
    for boot in BEFORE:
        yield Row(
            TOPIC,
            f"{boot} on Java 17",
            workshop.spring(jdk, here, boot, False),
            workshop.spring(jdk, here, boot, True).with_variables(**workshop.preload(here)),
            says=f"Native memory is not shown: mallometer needs Spring Boot 3.5 or newer, and this is {boot}",
            observe=observe.no_beans,
        )
    if 25 not in context.jdks:
        yield without_jdk(TOPIC, 25)
    for boot in map(workshop.property, SINCE):
        for jdk in (context.jdks[version] for version in (17, 25) if version in context.jdks):
            allowed = jdk.allow_native_access()
            yield Row(
                TOPIC,
                f"{boot} on Java {jdk.version}",
                workshop.spring(jdk, here, boot, False, *allowed),
                workshop.spring(jdk, here, boot, True, *allowed).with_variables(**workshop.preload(here)),
                says=observe.STARTER_COUNTS,
                observe=observe.beans("App.keepDeflaters"),
            )
    yield from of_the_newest(context, workshop.newest_boot())


def of_the_newest(context, boot):
    workshop = context.workshop
    here = workshop.here()
    jdk = context.jdks[17]
    plain = workshop.spring(jdk, here, boot, False)
    starter = workshop.spring(jdk, here, boot, True)
    yield Row(
        TOPIC,
        f"{boot} on Java 17, started without the library",
        plain,
        starter,
        says=r"Native memory is counted since \S+Z \(attached\);(?: page at \S+;)? [\d.]+ MiB ± [\d.]+ ([KM]i)?B were allocated before",
        observe=observe.beans(),
    )
    yield Row(
        TOPIC,
        f"{boot} on Java 17, started without the library, MALLOMETER_ATTACH=off",
        plain,
        starter.with_variables(MALLOMETER_ATTACH="off"),
        says=r"MALLOMETER_ATTACH=off, and the library is not preloaded\. .* LD_PRELOAD=\S+/libmallometer\.so",
        observe=observe.figures_of_the_kernel,
    )
    yield Row(
        TOPIC,
        f"{boot} on Java 17, MALLOMETER_ENABLED=off",
        plain,
        starter.with_variables(MALLOMETER_ENABLED="off", **workshop.probed(here)),
        idle=("java",),
    )
    if 25 in context.jdks:
        jdk = context.jdks[25]
        yield Row(
            TOPIC,
            f"{boot} on Java 25, native access not allowed: the JDK prints its warning",
            workshop.spring(jdk, here, boot, False),
            workshop.spring(jdk, here, boot, True).with_variables(**workshop.preload(here)),
            says=observe.STARTER_COUNTS,
            observe=observe.beans(),
            tolerates=WARNINGS,
        )
