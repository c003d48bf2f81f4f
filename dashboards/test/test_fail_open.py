"""What a container of the component does when mallometer cannot: the application starts, and says and returns what it would
without. Real processes: the init container's program, and a JVM or another program with the rendered environment.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml
from container import ARGUMENTS, ENVIRONMENT, JAVA, LIBRARY, VOLUME, Container

KUBERNETES = pathlib.Path(__file__).resolve().parents[1] / "kubernetes"

PROGRAM = """
public class Program {
  public static void main(String[] arguments) {
    System.out.println("started " + arguments.length);
    System.exit(7);
  }
}
"""
# Other JDKs, if bin/lib/sid_root.sh has made them: directories named by the version.
OTHER_JDKS = pathlib.Path(
    os.environ.get("MALLOMETER_SID_ROOT", os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "mallometer/sid"))
    + ".jdks"
)


class FailsOpen(unittest.TestCase):
    environment = ENVIRONMENT
    mount = VOLUME
    agent = "mallometer-agent.jar"

    @classmethod
    def setUpClass(cls):
        # The directory is no private one of /tmp: other JDKs run in a root of their own, which has /tmp.
        cls.directory = pathlib.Path(tempfile.mkdtemp())
        cls.directory.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        (cls.directory / "Program.java").write_text(PROGRAM)
        javac = pathlib.Path(JAVA).with_name("javac") if os.sep in JAVA else "javac"
        subprocess.run([javac, "--release", "8", "-Xlint:-options", "-d", cls.directory, cls.directory / "Program.java"], check=True)

    def setUp(self):
        self.container = Container(self, self.environment, self.mount)
        self.container.__enter__()
        self.addCleanup(self.container.__exit__, None, None, None)

    def bring(self, **options):
        return self.container.init(ARGUMENTS, **options)

    def assert_starts(self, java=JAVA, said=None, **options):
        """The program starts and ends as always; what it says beside that is one line of the loader, the JVM or mallometer."""
        ended = self.container.run([java, "-cp", self.directory, "Program", "a"], **options)
        self.assertEqual((7, "started 1\n"), (ended.returncode, ended.stdout), ended.stderr)
        if said is not None:
            self.assertRegex(ended.stderr, said)
        return ended.stderr

    def test_with_all_in_its_place(self):
        self.bring()
        self.assert_starts(said="Picked up JAVA_TOOL_OPTIONS: -javaagent:.*" + self.agent)

    def test_the_files_are_missing(self):
        said = self.assert_starts(said=r"ld.so: object '.*libmallometer.so' .* cannot be preloaded .*: ignored")
        self.assertNotIn("javaagent", said)

    def test_the_agent_is_missing(self):
        self.bring()
        (self.container.volume / self.agent).unlink()
        self.assert_starts(said=r"mallometer: MALLOMETER_AGENT: .*: No such file or directory; the agent is not started")

    def test_the_agent_is_cut_off(self):
        self.bring()
        jar = (self.container.volume / self.agent).read_bytes()
        for length in 0, len(jar) // 2:
            with self.subTest(length):
                self.replace(self.agent, jar[:length])
                self.assertNotIn("javaagent", self.assert_starts(said="mallometer: MALLOMETER_AGENT: .*: the jar is incomplete; the agent is not started"))

    def test_a_jvm_without_instrumentation(self):
        self.bring()
        jlink = pathlib.Path(shutil.which(JAVA)).resolve().with_name("jlink")
        if not jlink.exists():
            self.skipTest("there is no jlink")
        image = self.directory / "image"
        command = [jlink, "-J-XX:TieredStopAtLevel=1", "--add-modules", "java.base", "--strip-debug", "--output", image]
        subprocess.run(command, check=True, capture_output=True)
        said = self.assert_starts(image / "bin/java", said="this JVM lacks the module java.instrument; the agent is not started")
        self.assertNotIn("javaagent", said)

    def test_the_library_is_missing(self):
        self.bring()
        (self.container.volume / "libmallometer.so").unlink()
        self.assertNotIn("javaagent", self.assert_starts())

    def test_the_library_is_of_another_processor(self):
        self.bring()
        library = bytearray(LIBRARY.read_bytes())
        # The e_machine of another processor than the two supported ones.
        library[18:20] = (22).to_bytes(2, "little")
        self.replace("libmallometer.so", library)
        self.assertNotIn("javaagent", self.assert_starts(said="cannot be preloaded"))

    def test_the_library_is_cut_off(self):
        self.bring()
        self.replace("libmallometer.so", LIBRARY.read_bytes()[:100])
        self.assert_starts(said="cannot be preloaded")

    def test_a_c_library_that_is_too_old_is_the_exception(self):
        """glibc refuses the program, not the library, which the page says first. The library asks for 2.17 at most."""
        self.bring()
        library = LIBRARY.read_bytes()
        newest = max(re.findall(rb"\0(GLIBC_2\.\d\d)\0", library))
        self.assertLessEqual(newest, b"GLIBC_2.17")
        # A version that no C library has; its hash stands in the table of versions that are needed.
        for name, other in (newest, b"GLIBC_2.99"), (hash_of(newest), hash_of(b"GLIBC_2.99")):
            library = library.replace(name, other)
        self.replace("libmallometer.so", library)
        ended = self.container.run(["true"])
        self.assertNotEqual(0, ended.returncode)
        self.assertRegex(ended.stderr, "version `GLIBC_2.99' not found")

    def test_no_jvm(self):
        self.bring()
        for command in ["sh", "-c", "echo started $#; exit 7"], [sys.executable, "-c", "print('started 0'); raise SystemExit(7)"]:
            with self.subTest(command[0]):
                ended = self.container.run(command)
                self.assertEqual((7, "started 0\n", ""), (ended.returncode, ended.stdout, ended.stderr))

    def test_a_jvm_that_is_too_old(self):
        self.bring()
        for version in 8, 11:
            java = OTHER_JDKS / str(version) / "bin/java"
            with self.subTest(version):
                if not java.exists() or os.geteuid() != 0:
                    self.skipTest(f"there is no JDK {version}")
                self.assert_starts(java, said="mallometer: .*17")

    def test_the_volume_cannot_be_written(self):
        self.container.volume.chmod(0o555)
        said = self.bring(user=65534, group=65534)
        self.assertRegex(said, "mallometer: .*libmallometer.so: Permission denied; the application starts without it")
        self.assert_starts()

    def test_the_recording_cannot_be_written(self):
        self.bring()
        (self.container.volume / "record").chmod(0o555)
        self.assert_starts(said="mallometer: .*Permission denied", user=65534, group=65534)

    def test_the_volume_is_full(self):
        """A file has its name only when it is complete."""
        if os.geteuid() != 0:
            self.skipTest("needs a small file system")
        full = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=100k none "$1" && "$0" "$1" && ls "$1"']
        ended = subprocess.run(
            [*full, self.container.root / "bin/mallometer-copy", self.container.volume],
            cwd=self.container.root,
            capture_output=True,
            text=True,
            timeout=30,
        )
        self.assertEqual((0, "record\n"), (ended.returncode, ended.stdout), ended.stderr)
        self.assertIn("No space left on device; the application starts without it", ended.stderr)

    def test_the_volume_cannot_be_executed_from(self):
        """The volume is mounted with noexec, like an image volume."""
        if os.geteuid() != 0:
            self.skipTest("needs a mount")
        self.bring()
        mount = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,bind,noexec "$0" && exec "$@"']
        ended = self.container.run([*mount, self.container.volume, JAVA, "-cp", self.directory, "Program", "a"])
        self.assertEqual((7, "started 1\n"), (ended.returncode, ended.stdout), ended.stderr)
        self.assertRegex(ended.stderr, "cannot be preloaded .failed to map segment from shared object.: ignored")

    def test_the_image_has_no_files(self):
        shutil.rmtree(self.container.files)
        self.assertRegex(self.bring(), "No such file or directory; the application starts without it")
        self.assert_starts()

    def replace(self, name, content):
        (self.container.volume / name).write_bytes(bytes(content))


class FailsOpenByTheOperator(FailsOpen):
    """Tests a container with the variables and files of the OpenTelemetry Operator, which has no recording.

    The tests of the library and of the loader are those of the component: they are not repeated here.
    """

    java = yaml.safe_load((KUBERNETES / "opentelemetry/instrumentation.yaml").read_text())["spec"]["java"]
    environment = {one["name"]: one["value"] for one in java["env"]}
    mount = "/otel-auto-instrumentation-java-app/extensions"
    agent = "mallometer.agent"
    test_a_jvm_without_instrumentation = None
    test_the_library_is_missing = None
    test_the_library_is_of_another_processor = None
    test_the_library_is_cut_off = None
    test_a_c_library_that_is_too_old_is_the_exception = None
    test_no_jvm = None
    test_the_recording_cannot_be_written = None
    test_the_volume_is_full = None
    test_the_volume_cannot_be_executed_from = None

    def bring(self, **options):
        return self.container.init(["-r", f"{self.java['extensions'][0]['dir']}/.", self.mount], "cp", **options)


def hash_of(name):
    """Returns the hash of a name in the tables of versions, by the System V ABI."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high if high else value
    return (value & 0xFFFFFFFF).to_bytes(4, "little")


if __name__ == "__main__":
    unittest.main()
