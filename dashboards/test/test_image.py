"""image/contents.py refuses an image that is not what the Dockerfile promises. Layouts are made here, without podman. And no
Dockerfile hides what BuildKit sets by itself.
"""

import contextlib
import hashlib
import io
import json
import pathlib
import re
import struct
import tarfile
import tempfile
import unittest

from image import contents

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# The variables that BuildKit sets before the first stage (docs.docker.com, "Automatic platform ARGs in the global scope").
OF_BUILDKIT = {side + part for side in ("BUILD", "TARGET") for part in ("PLATFORM", "OS", "OSVERSION", "ARCH", "VARIANT")}
X86_64, AARCH64 = 62, 183
EXPECTED = {"amd64": ("linux-x86-64", X86_64), "arm64": ("linux-aarch64", AARCH64)}


def elf(machine, dynamic=False):
    header = b"\x7fELF\x02\x01" + bytes(12) + struct.pack("<H", machine) + bytes(12) + struct.pack("<Q", 64) + bytes(14)
    return header + struct.pack("<HH", 56, 1) + bytes(6) + struct.pack("<I", 3 if dynamic else 1) + bytes(52)


def hidden(dockerfile):
    """Returns the variables of BuildKit that an ARG before the first stage makes empty (BuildKit 0.13)."""
    head = re.split(r"^FROM ", dockerfile, maxsplit=1, flags=re.M)[0]
    return {name for name in re.findall(r"^ARG\s+(\w+)", head, re.M) if name in OF_BUILDKIT}


class DockerfileTest(unittest.TestCase):
    def test_no_dockerfile_hides_what_buildkit_sets(self):
        files = [path for path in REPOSITORY.glob("[ds]*/**/*ile") if path.name == "Dockerfile"]
        self.assertGreaterEqual(len(files), 2)
        for path in files:
            with self.subTest(path):
                self.assertEqual(set(), hidden(path.read_text()))

    def test_no_file_that_the_build_reads_is_kept_from_the_engine(self):
        ignored = (REPOSITORY / ".dockerignore").read_text().split()
        poms = [path for path in REPOSITORY.glob("*/**/pom.xml") if not {"target", "node_modules"} & set(path.parts)]
        read = {path for pom in poms for path in re.findall(r"(?:\.\./)+(docs/[\w./-]+)", pom.read_text())}
        self.assertIn("docs/site/Settings.java", read)
        for path in read:
            self.assertFalse([one for one in ignored if path == one or path.startswith(one + "/")], path)

    def test_a_hidden_platform_is_found(self):
        self.assertEqual({"BUILDPLATFORM"}, hidden("ARG BUILDPLATFORM\nFROM --platform=$BUILDPLATFORM debian:12\nARG TARGETARCH\n"))

    def test_what_podman_is_told_is_an_argument_of_the_dockerfile(self):
        dockerfile = (REPOSITORY / "dashboards/kubernetes/image/Dockerfile").read_text()
        for path in "dashboards/test/image/build.sh", "dashboards/kubernetes/README.md":
            for name in re.findall(r"--build-arg (\w+)=", (REPOSITORY / path).read_text()):
                self.assertRegex(dockerfile, rf"(?m)^ARG {name}\b")


class ImageTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.user = "65534:65534"
        self.files = {
            processor: {
                "bin/mallometer-copy": elf(machine),
                "bin/cp": "mallometer-copy",
                "opt/mallometer/LICENSE": b"l",
                "opt/mallometer/NOTICE": b"n",
                "opt/mallometer/mallometer-agent.jar": b"j",
                "opt/mallometer/linux-x86-64/libmallometer.so": elf(X86_64),
                "opt/mallometer/linux-aarch64/libmallometer.so": elf(AARCH64),
                "opt/mallometer/libmallometer.so": f"{platform}/libmallometer.so",
                "opt/extension/libmallometer.so": "../mallometer/libmallometer.so",
                "opt/extension/mallometer.agent": "../mallometer/mallometer-agent.jar",
            }
            for processor, (platform, machine) in EXPECTED.items()
        }

    def blob(self, content):
        digest = hashlib.sha256(content).hexdigest()
        (self.directory / "layout/blobs/sha256").mkdir(parents=True, exist_ok=True)
        (self.directory / "layout/blobs/sha256" / digest).write_bytes(content)
        return {"digest": f"sha256:{digest}", "size": len(content)}

    def image(self, processor):
        layer = io.BytesIO()
        with tarfile.open(fileobj=layer, mode="w:gz") as archive:
            for name, content in self.files[processor].items():
                member = tarfile.TarInfo(name)
                if isinstance(content, str):
                    member.type, member.linkname = tarfile.SYMTYPE, content
                    archive.addfile(member)
                else:
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        config = {"User": self.user, "Entrypoint": ["mallometer-copy"]}
        image = self.blob(json.dumps({"architecture": processor, "os": "linux", "config": config}).encode())
        manifest = self.blob(json.dumps({"config": image, "layers": [self.blob(layer.getvalue())]}).encode())
        return manifest | {"platform": {"architecture": processor, "os": "linux"}}

    def said(self, *processors):
        images = self.blob(json.dumps({"manifests": [self.image(processor) for processor in processors]}).encode())
        (self.directory / "layout/index.json").write_text(json.dumps({"manifests": [images]}))
        (self.directory / "roots").mkdir()
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            contents.main(self.directory / "layout", self.directory / "roots")
        return said.getvalue()

    def refused(self, sentence, *processors):
        with self.assertRaises(SystemExit) as refusal:
            self.said(*processors or EXPECTED)
        self.assertIn(sentence, refusal.exception.code)

    def test_each_processor_has_a_line_with_its_size(self):
        self.assertRegex(self.said("amd64", "arm64"), r"linux/amd64: 0\.00 MiB in 6 files[^\n]*\nlinux/arm64: ")

    def test_an_image_for_one_processor_is_refused(self):
        self.refused("lists ['arm64']", "arm64")

    def test_a_library_for_another_processor_is_refused(self):
        self.files["arm64"]["opt/mallometer/linux-aarch64/libmallometer.so"] = elf(X86_64)
        self.refused("arm64: the library for linux-aarch64 is for another processor")

    def test_a_copier_that_needs_a_loader_is_refused(self):
        self.files["amd64"]["bin/mallometer-copy"] = elf(X86_64, dynamic=True)
        self.refused("amd64: the copier is not static")

    def test_a_link_to_the_other_processors_library_is_refused(self):
        self.files["arm64"]["opt/mallometer/libmallometer.so"] = "linux-x86-64/libmallometer.so"
        self.refused("arm64: opt/mallometer/libmallometer.so is not")

    def test_a_shell_a_jre_and_whatever_else_is_more_are_refused(self):
        self.files["amd64"]["bin/sh"] = elf(X86_64)
        self.refused("amd64: files more or less than expected: ['bin/sh']")

    def test_root_is_refused(self):
        self.user = "0"
        self.refused("runs as '0'")


if __name__ == "__main__":
    unittest.main()
