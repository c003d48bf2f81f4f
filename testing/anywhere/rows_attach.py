"""Rows of a JVM that was started without the library: the agent and the starter attach it, also over other allocators and together with
other hooks.
"""

import functools
import glob
import pathlib
import zipfile

import observe
from row import NOT_RUN, Absent, Row, without_jdk
from workshop import run

TOPIC = "attached"
VERSIONS = (17, 21, 25, 26, 27, 28)
COUNTS = r"counts native memory .*\(attached\b"
STARTER = r"INFO .*Native memory is counted since .*\(attached\)"

ALLOCATORS = {
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "mimalloc": "libmimalloc.so.2*",
}
LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/local/lib")

PROFILER = "tools.profiler:async-profiler:4.1"

STARTS = {"^Profiling started": "the profiler says so"}

# What is missing at a place, and whether mallometer can attach there.
PLACES = {
    "uid 65534 without HOME": (("nobody",), {}, True),
    "read-only root": (("read-only",), {}, False),
    "hidepid, uid 65534": (("hidepid", "nobody"), {}, True),
    "no /proc": (("no-proc",), {}, False),
    "seccomp": ((), {"sandboxed": True}, True),
}


def rows(context):
    workshop = context.workshop
    yield from of_jdks(context)
    yield from of_boots(context)
    yield from beside_others(workshop, context.jdks[17])
    yield from confined(workshop, context.jdks[17])
    yield from switched_off(workshop, context.jdks[17])


def agent(workshop, jdk, place, name, says=COUNTS, seen=None, quick=False, before=(), after=(), needs=(), **variables):
    """Makes a row. `before` and `after` are options of the JVM before and after the agent's; variables are set for both programs."""
    plain = workshop.java(jdk, place, *before, *after, "Work").with_variables(**variables)
    attached = workshop.java(jdk, place, *before, workshop.agent(place), *after, "Work").with_variables(**variables)
    return Row(TOPIC, f"{name}, agent", plain, attached, says=says, observe=seen, quick=quick, needs=needs)


def of_jdks(context):
    workshop = context.workshop
    seen = observe.agent("Work.keepDeflater")
    for version in VERSIONS:
        jdk = context.other_jdks.get(version)
        if jdk:
            place = context.place_of_other_root()
            yield agent(workshop, jdk, place, f"Java {version} on Debian sid", seen=seen)
        else:
            reason = context.no_other_root or f"JDK {version} of Debian sid could not be installed"
            yield Absent(TOPIC, f"Java {version} on Debian sid", reason, NOT_RUN)
    for version in (17, 25):
        if version in context.jdks:
            here = workshop.here()
            yield agent(workshop, context.jdks[version], here, f"Java {version} on this system", seen=seen, quick=True)
        else:
            yield without_jdk(TOPIC, version)


def of_boots(context):
    workshop = context.workshop
    here = workshop.here()
    for boot in map(workshop.property, ("spring-boot-3.version", "spring-boot-4.0.version", "spring-boot-4.version")):
        for jdk in (context.jdks[version] for version in (17, 25) if version in context.jdks):
            allowed = jdk.allow_native_access()
            yield Row(
                TOPIC,
                f"Spring Boot {boot} on Java {jdk.version}, the dependency alone",
                workshop.spring(jdk, here, boot, False, *allowed),
                workshop.spring(jdk, here, boot, True, *allowed),
                says=STARTER,
                observe=observe.beans("App.keepDeflaters"),
            )


def beside_others(workshop, jdk):
    here = workshop.here()
    seen = observe.agent()
    for name, file in ALLOCATORS.items():
        found = [path for directory in LIBRARIES for path in glob.glob(f"{directory}/{file}")]
        if found:
            yield agent(workshop, jdk, here, f"over a preloaded {name}", seen=seen, LD_PRELOAD=found[0])
        else:
            yield Absent(TOPIC, f"over a preloaded {name}, agent", f"{file} is not installed", NOT_RUN)
    profiler = f"{workshop.work}/libasyncProfiler.so"
    options = f"start,nativemem=64k,file={workshop.work}/nativemem.collapsed"
    needs = (functools.partial(unpack_profiler, workshop, profiler),)
    before = agent(
        workshop,
        jdk,
        here,
        "async-profiler counts native memory before",
        seen=seen,
        before=(f"-agentpath:{profiler}={options}",),
        needs=needs,
    )
    before.tolerates = STARTS
    yield before

    def load(process):
        """Gives the program some load, after the agent has attached if there is one."""
        counted = seen(process) if process.line(r"^mallometer: ") else ""
        pid = str(process.process.pid)
        run(f"{jdk.home}/bin/jcmd", pid, "JVMTI.agent_load", profiler, options)
        process.wait_for(lambda: process.line("^Profiling started"), "the profiler has started")
        return counted and seen(process)

    after = agent(workshop, jdk, here, "async-profiler counts native memory after", seen=load, needs=needs)
    after.tolerates = STARTS
    after.acts = load
    yield after


def unpack_profiler(workshop, target):
    jars = workshop.jars("async-profiler", PROFILER)
    with zipfile.ZipFile(next(pathlib.Path(jars).glob("async-profiler-*.jar"))) as jar:
        pathlib.Path(target).write_bytes(jar.read("linux-x64/libasyncProfiler.so"))


def confined(workshop, jdk):
    for name, (features, more, counts) in PLACES.items():
        place = workshop.confined(jdk, *features, **more)
        variables = {"LD_LIBRARY_PATH": f"{jdk.home}/lib"} if "no-proc" in features else {}
        seen = observe.agent("Work.keepDeflater") if counts else None
        yield agent(workshop, jdk, place, name, COUNTS if counts else r"UNAVAILABLE \(", seen, **variables)


def switched_off(workshop, jdk):
    here = workshop.here()
    plain = workshop.java(jdk, here, "Work")
    attached = workshop.java(jdk, here, workshop.agent(here), "Work").with_variables(MALLOMETER_ATTACH="off")
    says = r"UNAVAILABLE \(not attached: MALLOMETER_ATTACH=off\): Start without MALLOMETER_ATTACH=off"
    yield Row(TOPIC, "MALLOMETER_ATTACH=off, agent", plain, attached, says=says, quick=True)
    boot = workshop.newest_boot()
    early = workshop.spring(jdk, here, boot, True, "-Dmallometer.attach=early").with_variables(MALLOMETER_ATTACH="off")
    yield Row(
        TOPIC,
        "MALLOMETER_ATTACH=off wins over mallometer.attach=early, starter",
        workshop.spring(jdk, here, boot, False),
        early,
        says=r"not counted: MALLOMETER_ATTACH=off, and the library is not preloaded\. ",
        observe=observe.figures_of_the_kernel,
    )
