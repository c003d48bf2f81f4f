"""Observes a program while it runs: whether mallometer counts, and whether call sites have Java names."""

import pathlib
import re
import urllib.request

import launch
from launch import Failed

OLDEST_JAVA = 17

# What the starter logs if the library was preloaded.
STARTER_COUNTS = r"Native memory is counted since \S+Z \(preloaded\)"


def get(url):
    with urllib.request.urlopen(url, timeout=launch.SECONDS) as answer:
        return answer.read().decode()


def agent(method=""):
    """Reads from the agent, at the address in its line of output. `method` must be in the stack of a call site."""

    def observe(process):
        url = process.line(r"(http://\S+)/metrics").group(1)
        process.wait_for(lambda: counted(get(f"{url}/metrics")), "the agent's series count")
        if not method:
            return "counts"
        process.wait_for(lambda: method in get(f"{url}/nativememory/collapsed"), f"a call site with the Java method {method}")
        return f"counts, and a call site has {method}"

    return observe


def counted(series):
    found = re.search(r"^native_malloc_allocations_total(?:\{[^}]*\})? ([0-9.E]+)", series, re.M)
    return found and float(found.group(1)) > 0


def ask(process):
    """Makes the Spring application print the MBeans that the starter has registered."""
    process.say("observe")
    answer = process.wait_for(lambda: process.line(r"^observed: (.*)"), "an answer").group(1)
    process.lines["output"] = [line for line in process.lines["output"] if not line.startswith("observed: ")]
    return answer


def beans(method=""):
    """Checks that the MBeans count. `method` must be in the stack of a call site."""

    def observe(process):
        def seen():
            text = ask(process)
            return re.search(r"active=true allocations=[1-9]", text) and method in text

        process.wait_for(seen, f"the MBeans count{', and a call site has ' + method if method else ''}")
        return f"counts, and a call site has {method}" if method else "counts"

    return observe


def figures_of_the_kernel(process):
    """Checks that the MBeans show the resident set, which is in /proc, and no counts."""
    expected = r"^active=false allocations=null resident=[1-9]"
    process.wait_for(lambda: re.search(expected, ask(process)), f"the MBeans say {expected}")
    return "shows the resident set"


def no_beans(process):
    """Checks that the starter registered no MBean."""
    text = ask(process)
    if text != "no MBean":
        raise Failed(f"there are MBeans: {text}")
    return "no MBean of io.mallometer"


def never_loaded(prefix, file, ends=False):
    """Checks, by the JVM's log of classes, that no class of a package was loaded; for a program that ends, until its end."""

    def observe(process):
        if ends:
            process.wait_for(process.ended, "it ends")
        loaded = [line for line in pathlib.Path(file).read_text().splitlines() if f" {prefix}" in line]
        if loaded:
            raise Failed(f"classes were loaded: {loaded[:3]}")
        return f"{prefix}* never loaded"

    return observe
