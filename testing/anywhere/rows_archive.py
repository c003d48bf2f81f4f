"""Rows with archives that make a start quicker: of class data on any JDK, and JDK 25's AOT cache. Both are made in a run with the library
and the starter, and used with the agent as well.

HotSpot makes no archive of class data in a run with any agent in Java: it says so and ends at the start. That row therefore compares with
an agent that does nothing. HotSpot makes the AOT cache even with an agent; without one it must be made with the module java.instrument,
which an agent adds.
"""

import dataclasses
import functools
import pathlib
import re
import zipfile

import observe
import workshop
from launch import Failed, run
from prepare import once
from row import LASTING, Row, without_jdk

TOPIC = "archive"

# The starter logs a line, and the agent prints one.
BOTH = ((2, 2),)
COUNTED = f"{observe.STARTER_COUNTS}|counts native memory"

# The two kinds of archives: options that make one, and options that use it.
WAYS = {
    "class data": (17, ("-XX:ArchiveClassesAtExit={}",), ("-XX:SharedArchiveFile={}",)),
    "AOT cache": (25, ("-XX:AOTCacheOutput={}", "--add-modules=java.instrument"), ("-XX:AOTCache={}",)),
}

# HotSpot says this if an archive is used and an agent, or --enable-native-access, adds a module to the run.
MISMATCH = {r"^\[[^]]*\]\[(error|warning)\]\[(cds|aot)\] (An error has occurred|Mismatched values|Disabling optimized)": "HotSpot's"}

# Lines of making the AOT cache: sizes, and classes that are left out.
MAKING = {r"^\[[^]]*\]\[(warning|info)\s*\]\[aot": "HotSpot's", "^AOTCache creation is complete": "HotSpot's, with a size"}

NOTHING = """public final class Nothing {
  public static void premain(String options) {}
}
"""


def rows(context):
    for version in (17, 25):
        if version not in context.jdks:
            yield without_jdk(TOPIC, version)
            continue
        for way, (since, making, using) in WAYS.items():
            if version >= since:
                yield from of_way(context.workshop, context.jdks[version], way, making, using)


def of_way(shop, jdk, way, making, using):
    here = shop.here()
    file = f"{shop.work}/{way.replace(' ', '-')}-{jdk.version}.archive"
    loaded = f"{file}.loaded"
    boot = shop.newest_boot()

    def spring(starter, *words):
        return in_jar(shop, shop.spring(jdk, here, boot, starter, *words, *jdk.allow_native_access()))

    def options(words, to=file):
        return tuple(word.format(to) for word in words)

    preload = shop.preload(here)
    made = once(functools.partial(make, shop, spring(True, *options(making)).with_variables(**preload), file))
    yield Row(
        TOPIC,
        f"{way} on JDK {jdk.version}, used with library, starter and agent",
        spring(False),
        spring(True, *options(using), f"-Xlog:class+load:file={loaded}", shop.agent(here)).with_variables(**preload),
        says=COUNTED,
        jvms=BOTH,
        observe=from_archive(loaded),
        tolerates=MISMATCH,
        needs=(made,),
    )
    nothing = f"-javaagent:{shop.work}/nothing.jar"
    refused = way == "class data"
    yield Row(
        TOPIC,
        f"{way} on JDK {jdk.version}, made in a run with an agent" + (": HotSpot refuses" if refused else ""),
        spring(False, *options(making, f"{file}.other"), nothing),
        spring(True, *options(making, f"{file}.agent"), shop.agent(here)).with_variables(**preload),
        says=None if refused else COUNTED,
        jvms=(LASTING,) if refused else BOTH,
        observe=None if refused else observe.beans("App.keepDeflaters"),
        waits=not refused,
        exit_code=1 if refused else 7,
        compares_starts=False,
        tolerates=MAKING,
        replaces=((r"archive\.(other|agent)", "archive"),),
        needs=(once(functools.partial(make_nothing, shop)),),
    )


def make_nothing(shop):
    """Makes an agent that does nothing."""
    jar(shop)
    directory = shop.work / "nothing"
    with shop._lock:
        directory.mkdir(exist_ok=True)
        (directory / "Nothing.java").write_text(NOTHING)
        (directory / "manifest").write_text("Premain-Class: Nothing\n")
        workshop.run(shop.java_home / "bin/javac", "--release", "17", "-d", directory, directory / "Nothing.java")
        workshop.run(shop.java_home / "bin/jar", "cfm", shop.work / "nothing.jar", directory / "manifest", "-C", directory, "Nothing.class")


def jar(shop):
    """Makes a jar, because HotSpot archives no class of a directory."""
    file = shop.work / "app.jar"
    with shop._lock:
        if not file.exists():
            with zipfile.ZipFile(file, "w") as archive:
                for each in sorted((shop.work / "app").rglob("*.class")):
                    archive.write(each, each.relative_to(shop.work / "app"))


def in_jar(shop, launch):
    command = tuple(word.replace(f"{shop.work}/app:", f"{shop.work}/app.jar:") for word in launch.command)
    return dataclasses.replace(launch, command=command)


def make(shop, launch, file):
    jar(shop)
    outcome = run(launch, True)
    if outcome.exit_code != 7 or not pathlib.Path(file).exists():
        raise Failed("no archive was made:\n" + "\n".join(outcome.errors[-20:]))


def from_archive(loaded):
    """Checks that the classes of mallometer came from the archive, and that it counts, in the starter as in the agent."""

    def seen(process):
        archived = re.findall(r" (io\.mallometer\.\S+) source: shared objects file", pathlib.Path(loaded).read_text())
        if len(archived) < 50:
            raise Failed(f"only {len(archived)} classes of mallometer came from the archive")
        if not process.line(observe.STARTER_COUNTS) or not process.line("counts native memory"):
            raise Failed("the starter or the agent printed no line")
        return observe.beans("App.keepDeflaters")(process) + "; " + observe.agent()(process)

    return seen
