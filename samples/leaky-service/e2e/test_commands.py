"""Tests the commands that a person types: bin/demo starts in time, stops without a trace and explains itself; bin/mallometer does not
disturb the program."""

import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import unittest

from processes import REPOSITORY, Demo, free_port, get, wait_until


def run(*command, **options):
    return subprocess.run(
        command, cwd=REPOSITORY, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, **options
    )


class DemoCommand(unittest.TestCase):
    def test_it_is_up_in_time_and_prints_where_and_ctrl_c_stops_it_without_a_trace(self):
        with Demo("--leak", "zlib", "--leak", "jna") as demo:
            print(f"bin/demo was up after {demo.start_seconds:.1f} s")
            self.assertLess(demo.start_seconds, Demo.START_SECONDS)
            for address in (f"{demo.url}/actuator/prometheus", f"jconsole 127.0.0.1:{demo.jmx_port}"):
                self.assertIn(address, demo.output())
            self.assertIn("mallometer_active", get(f"{demo.url}/actuator/prometheus"))
            leaks = get(f"{demo.url}/leaks")
            self.assertEqual(2, leaks.count('"on":true'), leaks)
            self.check_that_it_listens_on_the_loopback_interface_only(demo)
            self.assertEqual(0, demo.interrupt())
            self.assertEqual([], demo.left_behind())

    def test_even_sigkill_leaves_no_service_behind(self):
        with Demo() as demo:
            demo.stop(signal.SIGKILL)
            wait_until(lambda: not demo.left_behind(), 20, "the service is gone")

    def test_a_service_that_is_killed_is_told_in_one_sentence(self):
        with Demo() as demo:
            java = next(
                int(directory.name)
                for directory in pathlib.Path("/proc").glob("[0-9]*")
                if f"--server.port={demo.port}" in directory.joinpath("cmdline").read_text() and "java" in os.readlink(directory / "exe")
            )
            os.kill(java, signal.SIGKILL)
            self.assertEqual(1, demo.process.wait(30))
            end = demo.output().partition("Ctrl-C stops it.")[2].strip()
            self.assertRegex(end, r"\A[^\n]*the service ended by itself \(exit code 137\)\Z")

    def test_a_taken_port_is_named_in_one_line(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            for options in (("--port", port, "--jmx-port", free_port()), ("--port", free_port(), "--jmx-port", port)):
                refused = run("bin/demo", *map(str, options))
                self.assertEqual(1, refused.returncode)
                self.assertEqual(f"demo: port {port} is taken; choose another with --port or --jmx-port\n", refused.stderr)

    def test_nonsense_is_refused(self):
        for options in (("--port", "http"), ("--port", "65536"), ("--port",), ("--leak", "heap"), ("--fast",)):
            with self.subTest(options):
                refused = run("bin/demo", *options)
                self.assertNotEqual(0, refused.returncode)
                self.assertTrue(refused.stderr)

    def check_that_it_listens_on_the_loopback_interface_only(self, demo):
        ports = {f"{demo.port:04X}", f"{demo.jmx_port:04X}"}
        listening = {
            address
            for table in ("/proc/net/tcp", "/proc/net/tcp6")
            for _, address, _, state, *_ in map(str.split, pathlib.Path(table).read_text().splitlines()[1:])
            if state == "0A" and address.rpartition(":")[2] in ports
        }
        # The address 127.0.0.1 as IPv4, or mapped into IPv6.
        loopback = ("0100007F:", "0000000000000000FFFF00000100007F:")
        self.assertEqual(len(ports), len(listening))
        self.assertTrue(all(address.startswith(loopback) for address in listening), listening)


class Requirements(unittest.TestCase):
    NEEDS = ("sh:dash", "nosuch:one", "nosuch-too:one", "/nosuch/file:two", "libnosuch.so.1:three", "jdk-99:four", "import nosuch:five")

    def require(self, *before, apt_get):
        with tempfile.TemporaryDirectory() as programs:
            path = pathlib.Path(programs, "apt-get")
            path.write_text(f"#!/bin/sh\n{apt_get}\n")
            path.chmod(0o755)
            os.chmod(programs, 0o755)
            script = f"set -euo pipefail; PATH={programs}:$PATH; sudo() {{ return 1; }}; source bin/lib/requirements.sh; require \"$@\"; echo met"
            return run(*before, "bash", "-c", script, "command", *self.NEEDS)

    @unittest.skipUnless(os.geteuid() == 0, "becomes another user")
    def test_without_root_one_message_names_all_packages_and_the_command(self):
        done = self.require("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", apt_get="exit 1")
        self.assertEqual(1, done.returncode)
        self.assertEqual("", done.stdout)
        install = "apt-get update && apt-get install --no-install-recommends one two three four five"
        self.assertEqual(f"command: 5 packages are missing. Install them as root: {install}\n", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "installs as root")
    def test_all_packages_are_installed_at_once_and_the_steps_are_shown(self):
        done = self.require(apt_get='[ "$2" = update ] || echo "Setting up $* (1.0)"')
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stdout, r"^command: installing 5 packages: one two three four five\n(.*\n)*command: took \d+ s\nmet\n$")

    @unittest.skipUnless(os.geteuid() == 0, "installs as root")
    def test_a_package_that_is_not_there_is_named(self):
        done = self.require(apt_get='echo "E: Unable to locate package one" >&2; exit 100')
        self.assertEqual(1, done.returncode)
        self.assertIn("E: Unable to locate package one", done.stderr)
        self.assertIn("apt-get install --no-install-recommends one two", done.stderr)
        self.assertNotIn("met", done.stdout)


class MallometerCommand(unittest.TestCase):
    def test_a_command_keeps_its_process_id_and_its_exit_code(self):
        process = subprocess.Popen(
            ["bin/mallometer", "run", "--", "sh", "-c", "echo $$; exit 7"], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
        )
        self.assertEqual(f"{process.pid}\n", process.communicate(timeout=60)[0])
        self.assertEqual(7, process.returncode)

    def test_the_library_is_mapped_and_loaded_before_what_was_preloaded_already(self):
        command = ("bin/mallometer", "run", "--", "sh", "-c", "env; cat /proc/$$/maps")
        shown = run(*command, env=os.environ | {"LD_PRELOAD": "libm.so.6"}).stdout
        self.assertRegex(shown, r"(?m)^LD_PRELOAD=/.*/libmallometer\.so:libm\.so\.6$")
        self.assertRegex(shown, r"(?m) /.*/libmallometer\.so$")

    def test_the_library_can_be_extracted(self):
        with tempfile.TemporaryDirectory() as directory:
            shown = run("bin/mallometer", "extract", directory).stdout.strip()
            self.assertEqual(directory, os.path.dirname(shown))
            self.assertTrue(os.path.isfile(shown), shown)

    def test_nonsense_is_refused(self):
        for arguments in ((), ("run",), ("run", "--"), ("extract",), ("sing",)):
            with self.subTest(arguments):
                refused = run("bin/mallometer", *arguments)
                self.assertEqual(64, refused.returncode)
                self.assertTrue(refused.stderr)


if __name__ == "__main__":
    unittest.main()
