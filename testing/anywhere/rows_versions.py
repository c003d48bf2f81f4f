"""Rows with a library of another version than the agent."""

import pathlib

import workshop
from row import Row

TOPIC = "version"

ANOTHER = "#include \"mallometer.h\"\nuint32_t mallometer_abi_version(void) { return MALLOMETER_ABI_VERSION + 1; }\n"


def rows(context):
    shop = context.workshop
    jdk = context.jdks[17]
    here = shop.here()
    library = pathlib.Path(shop.work, "another", "libmallometer.so")

    yield Row(
        TOPIC,
        "library of another version, this agent",
        shop.java(jdk, here, "Work"),
        shop.java(jdk, here, shop.agent(here), "Work").with_variables(LD_PRELOAD=str(library)),
        says="the preloaded library has interface version [0-9a-f]+, but this bridge needs version [0-9a-f]+",
        needs=(lambda: compile_another(library),),
        quick=True,
    )


def compile_another(library):
    library.parent.mkdir(exist_ok=True)
    source = library.with_suffix(".c")
    source.write_text(ANOTHER)
    workshop.run("gcc", "-shared", "-fPIC", "-I", workshop.REPOSITORY / "interposer/include", "-o", library, source)
