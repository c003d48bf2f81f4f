"""Writes the record of one run, in Markdown: the images, the checks with their results, the recipes with their output."""

import os
import pathlib
import re
import shlex
import subprocess
import time
import traceback

ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
SHOWN_LINES = 12


class LeftOut(Exception):
    """Says why a check cannot be made on this machine."""


class Record:
    """Collects results and writes the file anew after each, so that an interrupted run leaves what it has shown."""

    def __init__(self, path, head):
        self._path, self._head = pathlib.Path(path), head
        self._checks, self._recipes, self._tail = {}, {}, ""
        self.failed = 0

    def check(self, name, look):
        """Calls a function that returns what it saw, and takes an exception other than LeftOut for a failure. Returns whether the check
        passed."""
        began = time.monotonic()
        try:
            result, seen = "passed", look()
        except LeftOut as reason:
            result, seen = "left out", reason
        except Exception as failure:
            traceback.print_exc()
            result, seen = "**failed**", " ".join(str(failure).split())[-600:]
            self.failed += 1
        seconds = time.monotonic() - began
        print(f"{result.strip('*')}: {name} ({seconds:.0f} s): {seen}", flush=True)
        self._checks[name] = (f"| {name} | {result} | {seconds:.0f} | {str(seen).replace('|', '&#124;')} |")
        self._write()
        return result == "passed"

    def recipe(self, recipe):
        self._recipes[recipe.title] = recipe
        self._write()

    def finish(self, tail):
        """Appends the last section."""
        self._tail = tail
        self._write()

    def _write(self):
        checks = ["## Checks", "", "| check | result | seconds | seen |", "|---|---|---|---|", *self._checks.values(), ""]
        recipes = ["## Recipes", ""] + [str(recipe) for recipe in self._recipes.values()]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text("\n".join([self._head, *checks, *(recipes if self._recipes else []), self._tail]).rstrip() + "\n")


class Recipe:
    """Files and commands, which are run as they are written, and their output. `docker` runs in the engine's root, other commands here."""

    def __init__(self, engine, directory, java_home, title):
        self._engine, self._directory, self._java_home = engine, directory, java_home
        self.title, self._text = title, [f"### {title}", ""]

    def file(self, name, content):
        (self._directory / name).write_text(content)
        self._text += [f"`{name}`:", "", "```text", content.rstrip(), "```", ""]

    def run(self, command, prints="", seconds=0, shown=True):
        """Runs a command again and again until it ends with 0 and prints a text, for so many seconds. Returns its output, which the
        recipe has if it is shown."""
        deadline = time.monotonic() + seconds
        while True:
            code, output = self._once(command)
            if code == 0 and prints in output:
                break
            if time.monotonic() > deadline:
                raise AssertionError(f"{command}: exit code {code}, without {prints!r}: {output[-1500:]}")
            time.sleep(0.5)
        lines = output.rstrip().splitlines() if shown else []
        more = ["..."] if len(lines) > SHOWN_LINES else []
        self._text += ["```console", f"$ {command}", *lines[:SHOWN_LINES], *more, "```", ""]
        return output

    def _once(self, command):
        if command.startswith("docker "):
            done = self._engine.run(*shlex.split(command)[1:], directory=str(self._directory))
        else:
            path = f"{self._java_home}/bin:{os.environ['PATH']}"
            done = subprocess.run(["sh", "-c", command], cwd=self._directory, env=os.environ | {"PATH": path}, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL)
        return done.returncode, ESCAPES.sub("", done.stdout + done.stderr)

    def __str__(self):
        return "\n".join(self._text)
