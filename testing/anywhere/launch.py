"""A process: how it is started, and what it did.

A process runs in a session of its own with a time limit. Processes that it leaves behind in that session are killed, so that nothing
outlives its row.
"""

import contextlib
import dataclasses
import os
import re
import select
import signal
import subprocess
import threading
import time

SECONDS = 90
READY = "ready"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

# The variables that a process inherits: only those that programs need, and none that could bring mallometer or options into a plain
# process.
INHERITED = ("PATH", "HOME", "LANG", "USER", "TERM")


class Failed(Exception):
    """Says that a row did not meet its expectation; the message has the reason."""


@dataclasses.dataclass(frozen=True)
class Launch:
    """A command, its variables, the place where it runs, and functions that make what it needs."""

    command: tuple
    variables: dict
    place: object
    needs: tuple = ()

    def with_variables(self, **variables):
        return dataclasses.replace(self, variables=self.variables | variables)

    def line(self):
        """Returns the words of the whole command. Variables are set for the program alone, not for the commands that lead to it."""
        return self.place.enter(self.variables, self.command)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a process. Times are in seconds after its start: of the line "ready", or else of its end."""

    exit_code: int
    output: list
    errors: list
    started: float
    counted: list
    seen: str = ""


class Process:
    """A running process, whose output is read as it comes."""

    running = set()

    def __init__(self, launch):
        self.lines = {"output": [], "errors": []}
        self.ready_after = None
        self._probe, probed = os.pipe()
        environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
        self._began = time.monotonic()
        self.process = subprocess.Popen(
            launch.with_variables(ANYWHERE_PROBE=str(probed)).line(),
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            pass_fds=[probed],
            start_new_session=True,
        )
        os.close(probed)
        Process.running.add(self)
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout, "output"), daemon=True),
            threading.Thread(target=self._read, args=(self.process.stderr, "errors"), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream, name):
        with contextlib.suppress(ValueError, OSError):
            for line in stream:
                if name == "output" and line.strip() == READY and self.ready_after is None:
                    self.ready_after = time.monotonic() - self._began
                self.lines[name].append(COLOUR.sub("", line.rstrip("\n")))

    def ended(self):
        return self.process.poll() is not None

    def wait_for(self, condition, what, seconds=SECONDS):
        """Waits until the condition returns a true value, and returns that value."""
        deadline = time.monotonic() + seconds
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > deadline:
                raise Failed(f"not within {seconds} s: {what}")
            time.sleep(0.05)

    def wait_until_ready(self):
        self.wait_for(lambda: self.ready_after is not None or self.ended(), "it is ready", SECONDS)
        if self.ready_after is None:
            raise Failed("it ended before it was ready")

    def line(self, pattern):
        """Returns the first line so far that matches; None if there is none."""
        for line in self.lines["errors"] + self.lines["output"]:
            found = re.search(pattern, line)
            if found:
                return found
        return None

    def count(self, pattern):
        """Returns the number of lines so far that match."""
        return sum(1 for line in self.lines["errors"] + self.lines["output"] if re.search(pattern, line))

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self):
        """Ends the input, and waits for the process."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            exit_code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed(f"it did not end within {SECONDS} s") from None
        after = time.monotonic() - self._began
        for reader in self._readers:
            reader.join(5)
        return exit_code, self.ready_after or after

    def counted(self):
        """Returns what the preloaded probe has written: a program and its allocations for each process that has ended."""
        text = b""
        while select.select([self._probe], [], [], 0)[0]:
            some = os.read(self._probe, 4096)
            if not some:
                break
            text += some
        return [(line.split()[0], int(line.split()[-1])) for line in text.decode().splitlines()]

    def kill(self):
        """Kills the remaining processes of the session."""
        Process.running.discard(self)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.close()
        os.close(self._probe)


def kill_all():
    """Kills all processes when a run is interrupted. The threads that wait for them then continue."""
    for process in list(Process.running):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.process.pid, signal.SIGKILL)


def run(launch, waits, observe=None):
    """Runs a process to its end.

    waits: whether it says when it is ready, and then waits for the end of its input
    observe: is called meanwhile with the Process, and returns what it saw, as text
    """
    process = Process(launch)
    try:
        if waits:
            process.wait_until_ready()
        seen = observe(process) if observe else ""
        exit_code, started = process.end()
        lines = process.lines
        return Outcome(exit_code, lines["output"], lines["errors"], started, process.counted(), seen or "")
    except Failed as failed:
        said = "\n".join((process.lines["errors"] + process.lines["output"])[-30:])
        raise Failed(f"{failed}\n{said}") from failed
    finally:
        process.kill()
