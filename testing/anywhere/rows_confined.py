"""Systems with less in them than usual, with the library alone, the agent and the starter. All are real: root
directories, mounts, users and filters of the kernel's, made for each process.
"""

import observe
from row import Row

TOPIC = "confined"

# The one sentence of the status, and what to do, where JNA finds no place to unpack its native part to.
NO_PLACE = (
    r"JNA cannot load its native part: /\S+ (does not exist|cannot be written to|is mounted noexec)\b.*"
    r" -Djna\.tmpdir=DIR .*, where DIR is a writable directory that is not mounted noexec"
)

COUNTS = "counts native memory"

# What the program without a framework says of the child that it starts, and of the place.
STARTED = r"child: exit code 0\n"
REFUSED = r"child: .*Operation not permitted\n"
PROVES = r"(?s){}.*\nplace: {}$"

NOBODY = "user=nobody HOME=unset "
PROC = "/proc/self=exists /proc/1=exists"

# What is taken away, how, whether mallometer can count there, and what proves it.
PLACES = {
    "uid 65534 without HOME": (("nobody",), {}, True, NOBODY + "/tmp=writable " + PROC),
    "read-only root": (("read-only",), {}, False, "user=root HOME=set /tmp=read-only " + PROC),
    "no /tmp": (("no-tmp",), {}, True, "user=root HOME=set /tmp=absent " + PROC),
    "read-only root without /tmp, uid 65534": (("read-only", "no-tmp", "nobody"), {}, False, NOBODY + "/tmp=absent " + PROC),
    "all writable directories are noexec": (("noexec",), {}, False, "user=root HOME=set /tmp=noexec " + PROC),
    "no /proc": (("no-proc",), {}, True, "user=root HOME=set /tmp=writable /proc/self=absent /proc/1=absent"),
    "hidepid, uid 65534": (("hidepid", "nobody"), {}, True, NOBODY + "/tmp=writable /proc/self=exists /proc/1=absent"),
    "seccomp": ((), {"sandboxed": True}, True, "user=root HOME=set /tmp=writable " + PROC),
}

# Without it the JDK's launcher does not find its own libraries where there is no /proc.
LIBRARIES = "{}/lib"


def rows(context):
    workshop = context.workshop
    jdk = context.jdks[17]
    boot = workshop.newest_boot()
    for name, (features, more, counts, proof) in PLACES.items():
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
            says=COUNTS if counts else NO_PLACE,
            observe=observe.agent("Work.keepDeflater") if counts else None,
            proves=proves,
            quick=True,
        )
        no_server = "-Dspring.main.web-application-type=none"
        yield Row(
            TOPIC,
            f"{name}, starter",
            workshop.spring(jdk, place, boot, False, no_server).with_variables(**variables),
            workshop.spring(jdk, place, boot, True, no_server).with_variables(**preload),
            says=None if counts else NO_PLACE,
            observe=observe.beans("App.keepDeflaters") if counts else None,
        )
