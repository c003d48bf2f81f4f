"""Tests that the tests which the documentation names as proof exist."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`(?:[a-z]\w*\.)*([A-Z]\w*Test)(?:\.([a-z]\w+))?`")
CTEST = re.compile(r"`([a-z]+(?:_[a-z0-9]+)*)`")
FEATURES = ROOT / "testing/published/features.md"
TABLES = ("## Tests and benchmarks", "## AllocMonitor and the interposer package")


def files(*patterns):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *patterns],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def rows(text, heading):
    """Returns the cells of the table that follows a heading, without its first two lines."""
    table = [line for line in text.split(heading, 1)[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def is_ctest(name, ctests):
    """Returns whether a test of this name is added, either under that name or in a loop whose variable is the end of the name."""
    if re.search(rf"\b{name}\b", ctests):
        return True
    parts = name.split("_")
    ends = ((f"{'_'.join(parts[:i])}_${{", "_".join(parts[i:])) for i in range(1, len(parts)))
    return any(begin in ctests and re.search(rf"\b{end}\b", ctests) for begin, end in ends)


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
        ctests = (ROOT / "interposer/test/CMakeLists.txt").read_text()
        without = []
        for heading in TABLES:
            for feature, _, proof in rows(FEATURES.read_text().split(heading, 1)[1].split("\n## ", 1)[0], "\n"):
                named = CTEST.findall(proof)
                if not (named or NAMED.search(proof)) or not all(is_ctest(name, ctests) for name in named):
                    without.append(feature)
        self.assertEqual([], without)


if __name__ == "__main__":
    unittest.main()
