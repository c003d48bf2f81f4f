"""Rows on systems with less in them than usual, with the library alone, the agent and the starter. All are real: root directories, mounts,
users and filters of the kernel's, made for each process.
"""

import observe
from row import Row

TOPIC = "confined"

COUNTS = "counts native memory"

# The lines of the program without a framework about the child that it starts, and about the place.
STARTED = r"child: exit code 0\n"
REFUSED = r"child: .*Operation not permitted\n"
PROVES = r"(?s){}.*\nplace: {}$"

NOBODY = "user=nobody HOME=unset "
PROC = "/proc/self=exists /proc/1=exists"

# What is taken away at a place, how, and a text that proves it.
PLACES = {
    "uid 65534 without HOME": (("nobody",), {}, NOBODY + "/tmp=writable " + PROC),
    "read-only root": (("read-only",), {}, "user=root HOME=set /tmp=read-only " + PROC),
    "no /tmp": (("no-tmp",), {}, "user=root HOME=set /tmp=absent " + PROC),
    "read-only root without /tmp, uid 65534": (("read-only", "no-tmp", "nobody"), {}, NOBODY + "/tmp=absent " + PROC),
    "all writable directories are noexec": (("noexec",), {}, "user=root HOME=set /tmp=noexec " + PROC),
    "no /proc": (("no-proc",), {}, "user=root HOME=set /tmp=writable /proc/self=absent /proc/1=absent"),
    "hidepid, uid 65534": (("hidepid", "nobody"), {}, NOBODY + "/tmp=writable /proc/self=exists /proc/1=absent"),
    "seccomp": ((), {"sandboxed": True}, "user=root HOME=set /tmp=writable " + PROC),
}

# The JDK's launcher needs this to find its own libraries if there is no /proc.
LIBRARIES = "{}/lib"


def rows(context):
    workshop = context.workshop
    jdk = context.jdks[17]
    boot = workshop.newest_boot()
    for name, (features, more, proof) in PLACES.items():
        place = workshop.confined(jdk, *features, **more)
        proves = PROVES.format(REFUSED if more else STARTED, proof)
        variables = {"LD_LIBRARY_PATH": LIBRARIES.format(jdk.home)} if "no-proc" in features else {}
        preload = variables | workshop.preload(place)
        plain = workshop.java(jdk, place, "Work").with_variables(**variables)
        yield Row(
            TOPIC,
            f"{name}, library alone",
            plain,
            plain.with_variables(**workshop.probed(place)),
            counts=("java",),
            proves=proves,
        )
        yield Row(
            TOPIC,
            f"{name}, agent",
            plain,
            workshop.java(jdk, place, workshop.agent(place), "Work").with_variables(**preload),
            says=COUNTS,
            observe=observe.agent("Work.keepDeflater"),
            proves=proves,
            quick=True,
        )
        no_server = "-Dspring.main.web-application-type=none"
        yield Row(
            TOPIC,
            f"{name}, starter",
            workshop.spring(jdk, place, boot, False, no_server).with_variables(**variables),
            workshop.spring(jdk, place, boot, True, no_server).with_variables(**preload),
            # The time is in /proc.
            says=r"Native memory is counted \(preloaded\)" if "no-proc" in features else observe.STARTER_COUNTS,
            observe=observe.beans("App.keepDeflaters"),
        )
