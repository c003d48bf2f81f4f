"""Tests that the checks of a bundle find what Central would refuse and what this project does not want, and that the BOM has every
published module. The bundle itself is made by bin/release.
"""

import hashlib
import json
import pathlib
import shutil
import tempfile
import unittest
import zipfile

import bundle

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>io.mallometer</groupId><artifactId>{name}</artifactId><version>1.0.0</version><packaging>{packaging}</packaging>
<name>n</name><description>d</description><url>https://u</url>
<licenses><license><name>Apache-2.0</name><url>https://l</url></license></licenses>
<developers><developer><name>a</name></developer></developers>
<scm><connection>scm:git:https://u</connection><url>https://u</url></scm>{more}</project>"""
MANAGED = "<dependencyManagement><dependencies>{}</dependencies></dependencyManagement>"
DEPENDENCY = "<dependency><groupId>io.mallometer</groupId><artifactId>{}</artifactId>{}</dependency>"
VERSION = "<version>1.0.0</version>"
PARTS = {"bomFormat": "CycloneDX", "components": []}


class Bundle(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        self.pom("mallometer-bom", "pom", MANAGED.format(DEPENDENCY.format("mallometer-agent", VERSION)))
        self.agent = self.pom("mallometer-agent", "jar")
        self.jar("", ["META-INF/LICENSE", "META-INF/NOTICE"])
        self.jar("-sources", ["A.java"])
        self.jar("-javadoc", ["index.html"])
        self.add(self.beside("-cyclonedx.json"), json.dumps(PARTS).encode())

    def pom(self, name, packaging, more=""):
        file = self.directory / "io/mallometer" / name / "1.0.0" / f"{name}-1.0.0.pom"
        self.add(file, POM.format(name=name, packaging=packaging, more=more).encode())
        return file

    def beside(self, ending):
        return self.agent.with_name(f"mallometer-agent-1.0.0{ending}")

    def jar(self, kind, names):
        file = self.beside(f"{kind}.jar")
        with zipfile.ZipFile(file, "w") as opened:
            for name in names:
                opened.writestr(name, "")
        self.add(file, file.read_bytes())

    @staticmethod
    def add(file, content):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        for suffix, digest in bundle.DIGESTS.items():
            pathlib.Path(f"{file}{suffix}").write_text(digest(content).hexdigest())
        pathlib.Path(f"{file}.asc").write_text(hashlib.sha256(content).hexdigest())

    @staticmethod
    def signed(file):
        return pathlib.Path(f"{file}.asc").read_text() == hashlib.sha256(file.read_bytes()).hexdigest()

    def faults(self):
        return list(bundle.faults(self.directory, self.signed))

    def assert_fault(self, expected):
        self.assertIn(expected, "\n".join(self.faults()))

    def test_nothing_is_wrong_with_a_whole_bundle(self):
        self.assertEqual([], self.faults())

    def test_an_empty_bundle_is_no_bundle(self):
        shutil.rmtree(self.directory / "io")
        self.assert_fault("has no POM")

    def test_what_a_jar_needs_beside_it(self):
        for ending in "-sources.jar", "-javadoc.jar", "-cyclonedx.json", ".jar":
            with self.subTest(ending):
                self.setUp()
                self.beside(ending).unlink()
                self.assert_fault(f"mallometer-agent-1.0.0{ending} is missing")

    def test_what_every_file_needs_beside_it(self):
        for suffix, said in (".asc", "no signature"), (".md5", "no md5"), (".sha1", "no sha1"):
            with self.subTest(suffix):
                self.setUp()
                pathlib.Path(f"{self.agent}{suffix}").unlink()
                self.assert_fault(f"mallometer-agent-1.0.0.pom has {said}")

    def test_a_file_that_was_changed_later(self):
        with self.beside(".jar").open("ab") as jar:
            jar.write(b" ")
        self.assert_fault("mallometer-agent-1.0.0.jar.sha1 is of another file")
        self.assert_fault("mallometer-agent-1.0.0.jar has a signature that does not hold")

    def test_what_a_pom_must_say(self):
        for part, said in (
            ("<description>d</description>", "says no description"),
            ("<scm><connection>scm:git:https://u</connection><url>https://u</url></scm>", "says no scm/url"),
            ("<developers><developer><name>a</name></developer></developers>", "says no developers/developer/name"),
        ):
            with self.subTest(said):
                self.setUp()
                self.add(self.agent, self.agent.read_bytes().replace(part.encode(), b""))
                self.assert_fault(said)

    def test_what_a_pom_must_not_say(self):
        for more, said in (
            ("<parent><artifactId>p</artifactId></parent>", "needs a parent"),
            ("<repositories/>", "names repositories"),
            ("<properties><a>${b}</a></properties>", "contains ${b}"),
            (f"<dependencies>{DEPENDENCY.format('x', '<version>1-SNAPSHOT</version>')}</dependencies>", "contains 1-SNAPSHOT"),
            (f"<dependencies>{DEPENDENCY.format('x', '')}</dependencies>", "gives no version for x"),
            (f"<dependencies>{DEPENDENCY.format('x', VERSION + '<scope>test</scope>')}</dependencies>", "needs x for tests"),
        ):
            with self.subTest(said):
                self.pom("mallometer-agent", "jar", more)
                self.assert_fault(said)

    def test_a_jar_without_licence(self):
        self.jar("", ["META-INF/NOTICE"])
        self.assert_fault("mallometer-agent-1.0.0.jar has no LICENSE")

    def test_a_jar_of_sources_without_any(self):
        self.jar("-sources", ["META-INF/MANIFEST.MF"])
        self.assert_fault("mallometer-agent-1.0.0-sources.jar is empty")

    def test_a_part_of_the_agent_that_the_notices_do_not_name(self):
        part = {"group": "org.nowhere", "name": "nothing-of-ours", "purl": "pkg:maven/a/b@1", "licenses": [{}]}
        self.add(self.beside("-cyclonedx.json"), json.dumps({**PARTS, "components": [part]}).encode())
        self.assert_fault("NOTICE does not name nothing-of-ours")

    def test_a_library_for_one_platform_only(self):
        agent = self.agent
        self.agent = self.pom("mallometer-interposer", "jar")
        file = self.agent.with_name("mallometer-interposer-1.0.0.jar")
        with zipfile.ZipFile(file, "w") as opened:
            opened.writestr("linux-x86-64/libmallometer.so", "built in /home/me/interposer/src")
        self.agent = agent
        self.assert_fault("mallometer-interposer-1.0.0.jar lacks linux-aarch64/libmallometer.so")
        self.assert_fault("linux-x86-64/libmallometer.so names the directory in which it was built")

    def test_an_artifact_that_the_bom_does_not_name(self):
        self.pom("mallometer-new", "pom")
        self.assert_fault("mallometer-bom does not name mallometer-new")


class Poms(unittest.TestCase):
    def modules(self, directory, inherited=False):
        """Returns the artifacts of a directory's module and of those in it, except what is not deployed."""
        pom = bundle.without_namespaces((directory / "pom.xml").read_text(encoding="utf-8"))
        skipped = (pom.findtext("properties/maven.deploy.skip") or str(inherited)).lower() == "true"
        names = set() if skipped else {pom.findtext("artifactId")}
        for module in pom.findall("modules/module"):
            names |= self.modules(directory / module.text, skipped)
        return names

    def test_the_bom_names_every_module_that_is_published(self):
        published = self.modules(bundle.REPOSITORY) - {"mallometer-parent", "mallometer-bom"}
        bom = bundle.without_namespaces((bundle.REPOSITORY / "bom/pom.xml").read_text(encoding="utf-8"))
        self.assertEqual(sorted(published), sorted(one.text for one in bom.findall(".//dependency/artifactId")))


if __name__ == "__main__":
    unittest.main()
