"""Places where a process runs: this system, the root directory of another Debian, or a confined place."""

import dataclasses
import functools
import os
import pathlib
import subprocess

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@functools.cache
def refusal(what, command):
    """Returns why a place cannot be entered, by trying it; empty if it can."""
    if os.geteuid() != 0:
        return f"{what} needs root"
    tried = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    return "" if tried.returncode == 0 else f"{what} is refused: {tried.stderr.strip()}"


def with_variables(variables, command):
    return ["env", *(f"{name}={value}" for name, value in variables.items()), *command]


@dataclasses.dataclass(frozen=True)
class Here:
    """This system."""

    work: str

    def enter(self, variables, command):
        return with_variables(variables, command)

    def obstacle(self):
        return ""


@dataclasses.dataclass(frozen=True)
class OtherRoot:
    """Another Debian, made by bin/lib/sid_root.sh, in which this repository has the same path as here."""

    work: str
    root: str

    def enter(self, variables, command):
        return [str(REPOSITORY / "bin/lib/in_root.sh"), self.root, *with_variables(variables, command)]

    def obstacle(self):
        return refusal("another root directory", ("unshare", "--mount", "true"))


@dataclasses.dataclass(frozen=True)
class Confined:
    """A root directory of its own with less in it than usual: programs/confine.sh."""

    host_work: str
    features: tuple = ()
    namespaces: tuple = ("--mount",)
    sandboxed: bool = False
    work: str = "/anywhere"

    def enter(self, variables, command):
        if self.sandboxed:
            inside = [f"{self.work}/sandbox", *(f"{name}={value}" for name, value in variables.items()), *command]
        else:
            inside = with_variables(variables, command)
        return [
            "unshare",
            *self.namespaces,
            str(PROGRAMS / "confine.sh"),
            self.host_work,
            *self.features,
            "--",
            *inside,
        ]

    def obstacle(self):
        return refusal("a namespace", tuple(self.enter({}, ["/bin/true"])))
