"""Which JDKs there are: here, and in the root directory of another Debian."""

import dataclasses
import pathlib
import re


@dataclasses.dataclass(frozen=True)
class Jdk:
    """A JDK; its home is a path in that root directory if it has one."""

    version: int
    home: str
    root: str = ""

    def java(self):
        return f"{self.home}/bin/java"

    def allow_native_access(self):
        """What the documentation asks for where JNA is on the class path: without it these JDKs print a warning."""
        return ("--enable-native-access=ALL-UNNAMED",) if self.version >= 24 else ()


def installed(root="", more=()):
    """By feature version; homes that are named come first."""
    found = {}
    for home in [*map(pathlib.Path, more), *sorted(pathlib.Path(f"{root}/usr/lib/jvm").glob("*"))]:
        if home.is_dir() and not home.is_symlink() and (home / "bin/javac").exists():
            inside = "/" + str(home.relative_to(root)) if root else str(home)
            version = feature(home)
            found.setdefault(version, Jdk(version, inside, root))
    return found


def feature(home):
    """Of the file "release", in which Java 8 would be 1.8.0; Debian's Java 8 has its version in its name only."""
    release = home / "release"
    text = release.read_text() if release.exists() else home.name
    return int(re.search(r'(?:JAVA_VERSION="(?:1\.)?|java-)(\d+)', text).group(1))
