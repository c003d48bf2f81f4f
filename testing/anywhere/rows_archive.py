"""Archives that make a start quicker: of class data on any JDK, and JDK 25's AOT cache. Both are made in a run with the
library and the starter, and used with the agent besides.

HotSpot makes none in a run with an agent in Java; the rows show that it says so by itself and that the program runs on.
"""

import dataclasses
import functools
import pathlib
import re
import zipfile

import observe
from launch import Failed, run
from prepare import once
from row import Row

TOPIC = "archive"

# The two ways: options that make one, and options that use it.
WAYS = {
    "class data": (17, ("-XX:ArchiveClassesAtExit={}",), ("-XX:SharedArchiveFile={}",)),
    "AOT cache": (25, ("-XX:AOTCacheOutput={}",), ("-XX:AOTCache={}",)),
}

REFUSED = {
    r"^(OpenJDK 64-Bit Server VM )?[Ww]arning.*|^\[.*\]\[(warning|error|info) *\]\[(cds|aot)": "what HotSpot says of the archive",
    "^Error occurred|^Picked up |^Reading AOTConfiguration|^Temporary|^Launching child|^AOTCache|^Child process|^Recording": "the same",
}


def rows(context):
    for version in (17, 25):
        if version in context.jdks:
            for way, (since, making, using) in WAYS.items():
                if version >= since:
                    yield from of_way(context.workshop, context.jdks[version], way, making, using)


def of_way(shop, jdk, way, making, using):
    here = shop.here()
    file = f"{shop.work}/{way.replace(' ', '-')}-{jdk.version}.archive"
    loaded = f"{file}.loaded"
    boot = shop.property("spring-boot-4.version")

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
        says="counts native memory",
        observe=from_archive(loaded),
        needs=made,
    )
    yield Row(
        TOPIC,
        f"{way} on JDK {jdk.version}, asked for in a run with the agent",
        spring(False),
        spring(True, *options(making, f"{file}.refused"), shop.agent(here)).with_variables(**preload),
        says="counts native memory",
        may_be_silent=True,
        observe=observe.beans(),
        compares_starts=False,
        tolerates=REFUSED,
        needs=once(functools.partial(jar, shop)),
    )


def jar(shop):
    """HotSpot archives no class of a directory."""
    file = shop.work / "app.jar"
    with shop._lock:
        if not file.exists():
            with zipfile.ZipFile(file, "w") as archive:
                for each in sorted((shop.work / shop.app).rglob("*.class")):
                    archive.write(each, each.relative_to(shop.work / shop.app))


def in_jar(shop, launch):
    command = tuple(word.replace(f"{shop.work}/{shop.app}:", f"{shop.work}/app.jar:") for word in launch.command)
    return dataclasses.replace(launch, command=command)


def make(shop, launch, file):
    jar(shop)
    outcome = run(launch, True)
    if outcome.exit_code != 7 or not pathlib.Path(file).exists():
        raise Failed("no archive was made:\n" + "\n".join(outcome.errors[-20:]))


def from_archive(loaded):
    """The classes of mallometer came from the archive, and it counts, in the starter as in the agent."""

    def seen(process):
        archived = re.findall(r" (io\.mallometer\.\S+) source: shared objects file", pathlib.Path(loaded).read_text())
        if len(archived) < 50:
            raise Failed(f"only {len(archived)} classes of mallometer came from the archive")
        return observe.beans("App.keepDeflaters")(process) + "; " + observe.agent()(process)

    return seen
