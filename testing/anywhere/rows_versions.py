"""A library of one version, and a program, an agent or a black box of the next or the one before."""

import gzip
import json
import pathlib

import observe
import workshop
from launch import Failed
from row import Row

TOPIC = "version"
PREVIOUS = workshop.REPOSITORY / "interposer/test/previous"


def rows(context):
    shop = context.workshop
    jdk = context.jdks[17]
    here = shop.here()
    plain = shop.java(jdk, here, "Work")

    yield Row(
        TOPIC,
        "library of the previous version, this agent",
        plain,
        shop.java(jdk, here, shop.agent(here), "Work").with_variables(LD_PRELOAD=str(PREVIOUS / "libmallometer.so")),
        says="counts native memory",
        observe=counts_and_says_what_it_lacks,
        quick=True,
    )

    probe = f"{shop.work}/probe-previous.so"
    yield Row(
        TOPIC,
        "this library, a program compiled with the header of the previous version",
        plain,
        plain.with_variables(LD_PRELOAD=f"{shop.work}/libmallometer.so:{probe}"),
        counts=("java",),
        needs=(lambda: shop.probe(PREVIOUS / "mallometer.h", probe),),
        quick=True,
    )

    box = pathlib.Path(shop.work, "previous.box")
    yield Row(
        TOPIC,
        "black box of the previous version, this agent",
        plain,
        shop.java(jdk, here, shop.agent(here, f"port=0,record={box}"), "Work").with_variables(**shop.preload(here)),
        says="counts native memory",
        observe=tells_the_last_life,
        tolerates={r" io\.mallometer\.internal\.text\.Log |^INFO: The previous run ": "how the previous run ended"},
        needs=(lambda: box.write_bytes(gzip.decompress((PREVIOUS / "box.gz").read_bytes())),),
        compares_starts=False,
        quick=True,
    )


def counts_and_says_what_it_lacks(process):
    counts = observe.agent("Work.keepDeflater")(process)
    url = process.line(r"(http://\S+)/metrics").group(1)
    missing = json.loads(observe.get(f"{url}/nativememory"))["mallometer"]["missing"]
    if not missing:
        raise Failed("it does not say which figures the library lacks")
    return f"{counts}; says which figures it lacks: {', '.join(missing)}"


def tells_the_last_life(process):
    ended = r"The previous run \(process \d+, .*\) (exited with code 7); malloc live (\S+ \S+),"
    process.wait_for(lambda: process.line(ended), f"a line that matches {ended}")
    return "says that the previous run {}, with {} live".format(*process.line(ended).groups())
