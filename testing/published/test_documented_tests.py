"""Whether the tests that the documentation names as proof exist."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`(?:[a-z]\w*\.)*([A-Z]\w*Test)(?:\.([a-z]\w+))?`")
COMPARED = ROOT / "docs/explanation/testing.md"


def files(*patterns):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *patterns],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def rows(text, heading):
    """The cells of the table that follows a heading, without its first two lines."""
    table = [line for line in text.split(heading, 1)[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


class DocumentedTestsTest(unittest.TestCase):
    def test_tests_that_are_named_exist(self):
        sources = {path.stem: path.read_text() for path in files("*Test.java")}
        unknown = []
        for page in files("*.md"):
            for name, method in NAMED.findall(page.read_text()):
                if name not in sources or method and f"void {method}(" not in sources[name]:
                    unknown.append(f"{page.relative_to(ROOT)}: {name}{'.' + method if method else ''}")
        self.assertEqual([], unknown)

    def test_each_feature_of_other_tools_has_a_proof(self):
        without = [row[0] for row in rows(COMPARED.read_text(), "## Beside what other tools offer") if not NAMED.search(row[2])]
        self.assertEqual([], without)


if __name__ == "__main__":
    unittest.main()
