"""Finds the JDKs of this system, and of the root directory of another Debian."""

import dataclasses
import pathlib
import re


@dataclasses.dataclass(frozen=True)
class Jdk:
    """A JDK. Its home is a path in the other root directory if it has one."""

    version: int
    home: str
    root: str = ""

    def java(self):
        return f"{self.home}/bin/java"

    def allow_native_access(self):
        """Returns the option that the documentation requires if JNA is on the class path: without it these JDKs print a warning."""
        return ("--enable-native-access=ALL-UNNAMED",) if self.version >= 24 else ()


def installed(root="", more=()):
    """Returns the JDKs by feature version; homes that are named come first."""
    found = {}
    for home in [*map(pathlib.Path, more), *sorted(pathlib.Path(f"{root}/usr/lib/jvm").glob("*"))]:
        if home.is_dir() and not home.is_symlink() and (home / "bin/javac").exists():
            inside = "/" + str(home.relative_to(root)) if root else str(home)
            version = feature(home)
            found.setdefault(version, Jdk(version, inside, root))
    return found


def feature(home):
    """Returns the feature version in the file "release", which is 1.8.0 for Java 8; Debian's Java 8 has its version only in its name."""
    release = home / "release"
    text = release.read_text() if release.exists() else home.name
    return int(re.search(r'(?:JAVA_VERSION="(?:1\.)?|java-)(\d+)', text).group(1))
