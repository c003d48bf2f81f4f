"""Rows about operating systems and processors without a library: the JVM here gets the names that a JVM there would report.

Only these names are as they are there; the starter and the agent decide by them.
"""

import observe
from row import Absent, Row

TOPIC = "system"
SYSTEMS = {
    "Windows": ("-Dos.name=Windows 11", "windows x86-64"),
    "macOS": ("-Dos.name=Mac OS X", "macos x86-64"),
    "FreeBSD": ("-Dos.name=FreeBSD", "freebsd x86-64"),
    "RISC-V": ("-Dos.arch=riscv64", "linux riscv64"),
}

# With the name of another system, the JDK looks for parts of that system, for sockets and child processes, which are not in this one.
NO_SERVER = "-Dspring.main.web-application-type=none"

STANDS_FOR = "simulated: {} in a JVM on Linux x86-64"


def rows(context):
    workshop = context.workshop
    here = workshop.here()
    jdk = context.jdks[17]
    boot = workshop.newest_boot()
    for name, (option, platform) in SYSTEMS.items():
        how = STANDS_FOR.format(option)
        says = f"there is no library for {platform}"
        loaded = f"{workshop.work}/loaded-{name}"
        yield Row(
            TOPIC,
            f"{name}, agent",
            workshop.java(jdk, here, option, "Bridge"),
            workshop.java(jdk, here, option, logged(loaded + "-agent"), workshop.agent(here, ""), "Bridge"),
            says=rf"{says}\): Run the application in a Linux container for x86-64 or aarch64",
            observe=observe.never_loaded("com.sun.jna.", loaded + "-agent"),
            how=how,
        )
        if name in ("Windows", "macOS"):
            yield Row(
                TOPIC,
                f"{name}, starter",
                workshop.spring(jdk, here, boot, False, option, NO_SERVER),
                workshop.spring(jdk, here, boot, True, option, NO_SERVER, logged(loaded + "-starter")),
                says=rf"INFO .*{says}\. What to do: Run the application in a Linux container for x86-64 or aarch64",
                observe=observe.never_loaded("com.sun.jna.", loaded + "-starter"),
                how=how,
                quick=name == "Windows",
            )
            yield Row(
                TOPIC,
                f"{name}, tests of an application with the starter",
                workshop.spring_tests(jdk, here, False, option, NO_SERVER),
                workshop.spring_tests(jdk, here, True, option, NO_SERVER, logged(loaded + "-tests")),
                says=rf"INFO .*{says}",
                proves="1 tests successful",
                observe=observe.never_loaded("com.sun.jna.", loaded + "-tests", ends=True),
                waits=False,
                exit_code=0,
                how=how,
                compares_starts=False,
            )
    yield Absent(TOPIC, "Windows and macOS themselves", "there is no machine with either; see the simulated rows")


def logged(file):
    return f"-Xlog:class+load:file={file}"
