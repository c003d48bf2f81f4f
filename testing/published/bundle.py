"""Checks a bundle for Maven Central: a directory in a repository's layout, as bin/release makes it.

The rules are Central's own (a jar has sources and documentation, every file has checksums and a signature, a POM names what
it is, whose it is and where it comes from) and those of this project: POMs without parents and variables, one version,
licences in every jar, a list of what each jar is made of whose parts the notices name, a BOM that names everything.

    python3 testing/published/bundle.py DIRECTORY      exits with 1 and one line for each fault
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree
import zipfile

GROUP = "io.mallometer"
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BESIDE = (".asc", ".md5", ".sha1")
DIGESTS = {".md5": hashlib.md5, ".sha1": hashlib.sha1}
# The elements that a POM must have, as paths below its root.
SAID = [
    "modelVersion",
    "groupId",
    "artifactId",
    "version",
    "name",
    "description",
    "url",
    "licenses/license/name",
    "licenses/license/url",
    "developers/developer/name",
    "scm/connection",
    "scm/url",
]
PLATFORMS = ["linux-x86-64", "linux-aarch64"]
# Libraries that Gson names for compilers only; the agent leaves them out.
NOT_WITHIN = {"error_prone_annotations"}
# The names of parts in the notices, if they differ from the artifact's.
NOTED = {"jna": "Java Native Access", "jline-terminal": "JLine", "gson": "Gson", "jspecify": "JSpecify"}


def without_namespaces(text):
    root = xml.etree.ElementTree.fromstring(text)
    for element in root.iter():
        element.tag = element.tag.split("}")[-1]
    return root


def signed(file):
    """Returns whether a key of this user's keyring signed the file."""
    return subprocess.run(["gpg", "--batch", "--verify", f"{file}.asc", file], capture_output=True).returncode == 0


def faults(directory, is_signed=signed):
    """Returns what is wrong with a bundle, one line each."""
    directory = pathlib.Path(directory)
    files = sorted(one for one in directory.rglob("*") if one.is_file())
    poms = [one for one in files if one.suffix == ".pom"]
    if not poms:
        yield f"{directory} has no POM"
    for file in files:
        if file.suffix not in BESIDE:
            yield from _of_file(file, is_signed)
        elif not file.with_suffix("").exists():
            yield f"{file.name} belongs to nothing"
    published = {}
    for file in poms:
        pom = without_namespaces(file.read_text(encoding="utf-8"))
        published[pom.findtext("artifactId")] = pom
        yield from _of_pom(file, pom)
        if pom.findtext("packaging", "jar") != "pom":
            yield from _of_jars(file)
    yield from _of_versions(published)


def _of_file(file, is_signed):
    for suffix, digest in DIGESTS.items():
        beside = pathlib.Path(f"{file}{suffix}")
        if not beside.exists():
            yield f"{file.name} has no {suffix[1:]}"
        elif beside.read_text().split()[0] != digest(file.read_bytes()).hexdigest():
            yield f"{beside.name} is of another file"
    if not pathlib.Path(f"{file}.asc").exists():
        yield f"{file.name} has no signature"
    elif not is_signed(file):
        yield f"{file.name} has a signature that does not hold"


def _of_pom(file, pom):
    for path in SAID:
        if not (pom.findtext(path) or "").strip():
            yield f"{file.name} says no {path}"
    place = [*pom.findtext("groupId", "").split("."), pom.findtext("artifactId", ""), pom.findtext("version", "")]
    if list(file.parent.parts[-len(place):]) != place:
        yield f"{file.name} lies in another place than it says"
    if pom.find("parent") is not None:
        yield f"{file.name} needs a parent"
    if pom.find("repositories") is not None or pom.find("pluginRepositories") is not None:
        yield f"{file.name} names repositories"
    for text in (one.strip() for one in pom.itertext()):
        if "${" in text or text.endswith("-SNAPSHOT"):
            yield f"{file.name} contains {text}"
    for dependency in pom.iter("dependency"):
        if not dependency.findtext("version"):
            yield f"{file.name} gives no version for {dependency.findtext('artifactId')}"
        if dependency.findtext("scope") == "test":
            yield f"{file.name} needs {dependency.findtext('artifactId')} for tests"


def _of_jars(file):
    stem = file.with_suffix("").name
    for kind in "", "-sources", "-javadoc":
        jar = file.with_name(f"{stem}{kind}.jar")
        if not jar.exists():
            yield f"{jar.name} is missing"
            continue
        with zipfile.ZipFile(jar) as opened:
            names = opened.namelist()
            if kind == "":
                for licence in "LICENSE", "NOTICE":
                    if f"META-INF/{licence}" not in names:
                        yield f"{jar.name} has no {licence}"
                if "interposer" in stem:
                    yield from _of_libraries(jar, opened)
            elif not any(name.endswith((".java", ".h", ".html")) for name in names):
                yield f"{jar.name} is empty"
    yield from _of_parts(file.with_name(f"{stem}-cyclonedx.json"), "agent" in stem)


def _of_libraries(jar, opened):
    for platform in PLATFORMS:
        name = f"{platform}/libmallometer.so"
        if name not in opened.namelist():
            yield f"{jar.name} lacks {name}"
        elif b"/interposer/src" in opened.read(name):
            yield f"{name} names the directory in which it was built"


def _of_parts(file, bundled):
    """Checks the list of parts of an artifact; the notices must name the parts that a jar contains."""
    if not file.exists():
        yield f"{file.name} is missing"
        return
    parts = json.loads(file.read_text(encoding="utf-8"))
    if parts.get("bomFormat") != "CycloneDX":
        yield f"{file.name} is not CycloneDX"
    notices = (REPOSITORY / "NOTICE").read_text(encoding="utf-8")
    for part in parts.get("components", []):
        name = part["name"]
        if not part.get("purl"):
            yield f"{file.name} does not say where {name} comes from"
        if not part.get("licenses"):
            yield f"{file.name} gives no licence for {name}"
        if bundled and part.get("group") != GROUP and name not in NOT_WITHIN and NOTED.get(name, name) not in notices:
            yield f"NOTICE does not name {name}, which is in the jar"


def _of_versions(published):
    versions = {pom.findtext("version") for pom in published.values()}
    if len(versions) > 1:
        yield f"there are several versions: {', '.join(sorted(versions))}"
    if "mallometer-bom" not in published:
        yield "there is no mallometer-bom"
        return
    named = {one.findtext("artifactId") for one in published["mallometer-bom"].find("dependencyManagement").iter("dependency")}
    for name in sorted(set(published) - named - {"mallometer-bom"}):
        yield f"mallometer-bom does not name {name}"
    for name in sorted(named - set(published)):
        yield f"mallometer-bom names {name}, which is not published"


if __name__ == "__main__":
    found = list(faults(sys.argv[1]))
    print("\n".join(found) or "bundle: nothing is wrong")
    sys.exit(bool(found))
