#!/usr/bin/env python3
"""Counts the comments of Java and C code that begin with a fragment ("Of all threads.", "Who is told of each poll.") instead of a sentence.

    testing/language/comments.py [--show MODULE]     prints the share of each module; --show prints each of these comments

A comment is a block, or line comments on consecutive lines. Its first word decides. The share of a module must not rise: CEILINGS has the
share that is allowed, in percent. Lower it when the share has fallen.
"""

import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CEILINGS = {
    "interposer": 0.2,
    "metrics-bridge/core": 0.6,
    "metrics-bridge/agent": 0.2,
    "spring-starter": 0.0,
    "testing": 0.0,
    "benchmarks": 1.0,
    "samples": 0.0,
    "docs": 0.0,
    "dashboards": 0.0,
}

GENERATED = {"target", "node_modules", "build"}
FRAGMENTS = frozenset("""
    what who whom whose whoever whatever which of by as in to from for than then that those these such same so none nothing nobody nor not or
    and but also here there where whence with without until till since before after beyond below above at on it they them one others other else
    only how many much more most least less few two three both each every all any some""".split())
TOKEN = re.compile(r"""
      "{3}.*?"{3} | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
    | /\*(?P<block>.*?)\*/
    | //(?P<lines>[^\n]*(?:\n[ \t]*//[^\n]*)*)""", re.DOTALL | re.VERBOSE)
MARGIN = re.compile(r"^[ \t]*(?:\*+|//+)?[-= \t]*", re.MULTILINE)
FIRST_WORDS = re.compile(r"(?:\{@\w+ )?([A-Za-z']+)(?:\s+([A-Za-z]+))?")
NO_PROSE = ("@", "SPDX", "clang-format", "language=")


def comments(code):
    """Returns the text of each comment, without its margin."""
    found = (token["block"] or token["lines"] or "" for token in TOKEN.finditer(code))
    return [text for text in (MARGIN.sub("", each).strip() for each in found) if text and not text.startswith(NO_PROSE)]


def is_fragment(comment):
    """Returns None for a comment that does not begin with a word."""
    words = FIRST_WORDS.match(comment)
    if not words:
        return None
    first, second = words[1].lower(), (words[2] or "").lower()
    return first in FRAGMENTS or (first, second) == ("the", "same")


def sources(module):
    for path in sorted((REPOSITORY / module).rglob("*")):
        if path.suffix in (".java", ".c", ".h", ".cc", ".cpp") and GENERATED.isdisjoint(path.relative_to(REPOSITORY).parts):
            yield path


def judged(module):
    """Yields whether a comment is a fragment, the file and the comment."""
    for path in sources(module):
        for comment in comments(path.read_text(errors="replace")):
            if (fragment := is_fragment(comment)) is not None:
                yield fragment, path, comment


def share(module):
    """Returns the number of fragments, the number of comments, and the share in percent with one digit."""
    fragments = [fragment for fragment, _, _ in judged(module)]
    return sum(fragments), len(fragments), round(100 * sum(fragments) / max(len(fragments), 1), 1)


def main(arguments):
    if arguments[:1] == ["--show"]:
        for fragment, path, comment in judged(arguments[1]):
            if fragment:
                print(f"{path.relative_to(REPOSITORY)}: {comment.splitlines()[0]}")
        return
    for module, ceiling in CEILINGS.items():
        print("%-22s %5d of %5d = %4.1f %%, at most %4.1f %%" % (module, *share(module), ceiling))


if __name__ == "__main__":
    main(sys.argv[1:])
