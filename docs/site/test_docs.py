"""Runs the commands of the pages as they stand there, and checks the other snippets as far as they can be checked without running
them. Also checks that pages do not contradict each other where that can be seen, and that they stay short.

A block of shell stands below one of these marks:

    <!-- run -->                              the commands end with 0
    <!-- run: prints "TEXT" -->               and one of the texts, separated by |, is in what they print
    <!-- run: exits 2, prints "TEXT" -->      the last command ends with 2
    <!-- run: bare, ... -->                   run by `bin/soak bare` only (testing/bare/run.py), in a Debian that has nothing
    <!-- run: bare, until "TEXT" -->          the commands do not end; what follows is run when they have printed the text
    <!-- not run here: REASON -->

A block of any language below `<!-- file: PATH -->` is a file of the reader's project, which `bin/soak bare` begins with.

localhost:8080 stands for an application with the starter, localhost:9464 for the agent, PID for a JVM that nobody prepared.
Needs what `bin/test` builds.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
import xml.dom.minidom

import reference
import yaml

REPOSITORY = reference.REPOSITORY
sys.path.insert(0, str(REPOSITORY / "samples/leaky-service/e2e"))
import processes  # noqa: E402

OF_TESTS = [REPOSITORY / "testing/junit/README.md", REPOSITORY / "testing/jmh/README.md"]
DOCUMENTATION = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md")), REPOSITORY / "spring-starter/README.md"]
DOCUMENTATION = [page for page in DOCUMENTATION if not {"node_modules", "target"} & set(page.parts)]
PAGES = [*DOCUMENTATION, *OF_TESTS]
MOST_PAGES, MOST_WORDS, MOST_LINES_OF_README = 40, 45_000, 60
BLOCK = re.compile(r"(?:^<!-- (?P<mark>[^>]*) -->\n)?^```(?P<language>\w+)\n(?P<body>.*?)^```", re.M | re.S)
RUN = re.compile(r'run(?:: (?P<bare>bare)?(?:, )?(?:exits (?P<code>\d+))?(?:, )?(?:prints "(?P<prints>[^"]*)")?(?:until "(?P<until>[^"]*)")?)?')
# A command line in a block or in backticks.
CALL = re.compile(r"(?:^(?: {4})?(?:\$ )?|`|&& )(?:bin/mallometer|java -jar [\w/.-]*mallometer-agent\.jar) ([a-z][^`\n]*)", re.M)
MALLOMETER = re.compile(r"<artifactId>(mallometer-[\w-]+)</artifactId>|io\.mallometer:(mallometer-[a-z][a-z-]*)")


# What a page shows of a program's output, and rows that a program writes.
QUOTED = re.compile(r"^```.*?^```|^    .*?$|<!-- The rows below .*?<!-- End of the rows", re.M | re.S)

NOT_RUN = re.compile(r"\b(?:not|never|nor) (?:run|ran|tried|tested|built|timed)\b|\b(?:no|neither) [\w' ]{1,40} (?:was|were) (?:run|tried|tested|applied|built|timed)\b", re.I)


def one_line(text):
    return re.sub(r"\s+", " ", text)


def blocks(page, language):
    """(mark, body) of each block in the language."""
    for each in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if each["language"] == language:
            yield each["mark"] or "", each["body"]


def commands():
    """(page, match of the mark, body) of each block that is run here."""
    for page in PAGES:
        for mark, body in blocks(page, "sh"):
            match = RUN.fullmatch(mark)
            if match and not match["bare"]:
                yield page, match, body


class Snippets(unittest.TestCase):
    def test_every_shell_block_is_run_or_says_why_not(self):
        for page in PAGES:
            for mark, body in blocks(page, "sh"):
                with self.subTest(page.name, block=body):
                    self.assertTrue(RUN.fullmatch(mark) or re.fullmatch(r"not run here: .{10,}", mark), mark)

    def test_xml_and_yaml_can_be_read(self):
        for page in PAGES:
            for _, body in blocks(page, "xml"):
                with self.subTest(page.name, block=body):
                    xml.dom.minidom.parseString(f"<all>{body}</all>")
            for _, body in blocks(page, "yaml"):
                with self.subTest(page.name, block=body):
                    list(yaml.safe_load_all(body))

    def test_every_artifact_on_a_page_is_installed_by_bin_build(self):
        modules = re.search(r"^modules=(.*)$", (REPOSITORY / "bin/build").read_text(), re.M).group(1).split(",")
        installed = {re.sub(r"<parent>.*?</parent>", "", (REPOSITORY / module / "pom.xml").read_text(), flags=re.S) for module in modules}
        installed = {re.search(r"<artifactId>(.*?)</artifactId>", pom).group(1) for pom in installed}
        published = set(re.findall(r"<artifactId>(mallometer-.*?)</artifactId>", (REPOSITORY / "bom/pom.xml").read_text()))
        self.assertEqual(published, installed)
        for page in PAGES:
            for names in MALLOMETER.findall(page.read_text(encoding="utf-8")):
                with self.subTest(page.name, names=names):
                    self.assertIn("".join(names), installed)

    def test_every_property_in_a_snippet_exists(self):
        known = {line.split(": ")[0] for line in reference.public("properties")}
        for page in PAGES:
            for _, body in blocks(page, "properties"):
                for name in re.findall(r"^(mallometer\.[\w.-]+)=", body, re.M):
                    with self.subTest(page.name, name=name):
                        self.assertTrue(name in known or any(name.startswith(k + ".") for k in known), f"{name} is no property")


class Reference(unittest.TestCase):
    def test_the_reference_is_what_the_code_generates_and_names_all_that_is_public(self):
        done = subprocess.run([sys.executable, "docs/site/reference.py"], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stdout))


def within(words, text):
    return re.search(rf"(?<![\w.]){re.escape(words)}(?![\w]|\.\d)", text) is not None


class Agreement(unittest.TestCase):
    """Facts that several pages state."""

    def test_figures_are_those_of_one_file(self):
        figures = json.loads((REPOSITORY / "benchmarks/figures.json").read_text(encoding="utf-8"))
        records = [REPOSITORY / "benchmarks/README.md", *(REPOSITORY / "benchmarks/results").glob("*.md")]
        measured = one_line("\n".join(record.read_text(encoding="utf-8") for record in records))
        texts = {page: one_line(page.read_text(encoding="utf-8")) for page in DOCUMENTATION}
        for each in figures:
            for page in each["quoted by"]:
                with self.subTest(page, figure=each["figure"]):
                    self.assertIn(each["text"], texts[REPOSITORY / page])
            for row in each["measured"]:
                with self.subTest(each["figure"], row=row):
                    self.assertIn(row, measured)
        known = {each["text"] for each in figures}
        for page in DOCUMENTATION:
            prose = one_line(QUOTED.sub("", page.read_text(encoding="utf-8")))
            for kind in (
                r"\d[\d.]* to [\d.]+ % more CPU time",
                r"\d+ to \d+ instructions more",
                r"\d\.\d+ times the time",
                r"[Hh]ealthy\*[^.]*? (\d+ to \d+ minutes)",
                r"\b\d+ of \d+\b",
            ):
                for found in re.findall(kind, prose):
                    with self.subTest(page.name, found=found):
                        self.assertTrue(
                            any(within(text, found) or within(found, text + " more CPU time") for text in known),
                            f"{found} is not in benchmarks/figures.json",
                        )

    def test_what_was_not_run_stands_in_one_section(self):
        for page in [*PAGES, REPOSITORY / "dashboards/README.md", REPOSITORY / "dashboards/kubernetes/README.md"]:
            text = re.sub(r"<!-- not run here:.*", "", QUOTED.sub("", page.read_text(encoding="utf-8")))
            sections = [section for section in re.split(r"^(?=#+ )", text, flags=re.M) if NOT_RUN.search(section)]
            with self.subTest(page.name, sections=[section.splitlines()[0] for section in sections]):
                self.assertLessEqual(len(sections), 1)

    def test_what_is_exposed_keeps_health(self):
        for page in PAGES:
            for exposed in re.findall(r"exposure\.include=([\w,]+)", page.read_text(encoding="utf-8")):
                with self.subTest(page.name, exposed=exposed):
                    self.assertIn("health", exposed.split(","))

    def test_commands_and_options_exist(self):
        public = set(reference.public("commands")) | {"mallometer generate-completion"}
        for page in PAGES:
            for line in CALL.findall(page.read_text(encoding="utf-8")):
                words = re.split(r"[;|<>()#]| -- ", line)[0].split()
                subcommand = f"mallometer {' '.join(words[:2])}"
                command = subcommand if len(words) > 1 and subcommand in public and words[1][0] != "-" else f"mallometer {words[0]}"
                for name in [command, *(f"{command} {word}" for word in words if re.fullmatch(r"--?[a-z][\w-]*", word))]:
                    with self.subTest(page.name, line=line):
                        self.assertTrue(name in public, name)

    def test_commands_that_need_a_process_get_one(self):
        for page in PAGES:
            for command, target in re.findall(r"mallometer(?:-agent\.jar)? (attach|detach|phase) +(\S+)", page.read_text(encoding="utf-8")):
                with self.subTest(page.name, command=command):
                    self.assertRegex(target, r"^(PID|\d+)\b", f"{command} refuses addresses")

    def test_parameters_stand_in_one_table(self):
        text = (REPOSITORY / "docs/reference/endpoints.md").read_text(encoding="utf-8")
        moments = re.search(r"^\| `at` \|.*$", text, re.M)[0]
        for name in reference.public("views and parameters"):
            if name.startswith("?at="):
                self.assertIn(f"`{name[4:]}`", moments)
        for page in DOCUMENTATION:
            for moment in re.findall(r"[?&]at=([\w-]+)", page.read_text(encoding="utf-8")):
                with self.subTest(page.name, moment=moment):
                    self.assertIn(f"`{moment}`", moments)

    def test_an_unknown_figure_has_one_name(self):
        for record, name, _, meaning, _ in reference.figures():
            with self.subTest(record, name=name):
                self.assertNotRegex(meaning, r"\bNaN\b|-1\b|infinite", "JSON and the MBeans have no such value")

    def test_a_label_has_the_values_of_every_page(self):
        listed = "|".join(f'"{reason}"' for reason in reference.exit_reasons())
        text = (REPOSITORY / "docs/explanation/diagnosis.md").read_text(encoding="utf-8")
        self.assertIn(f"{{reason={listed}}}", text.replace("\\|", "|"))
        meaning = next(meaning for record, name, _, meaning, _ in reference.figures() if (record, name) == ("PreviousRun", "reason"))
        self.assertEqual(reference.exit_reasons(), re.findall(r"\w+", meaning.split(": ")[1].replace(" or ", ", ")))

    def test_a_finding_has_one_of_the_topics_that_are_listed(self):
        rules = (reference.CORE / "internal/diagnosis/DiagnosisRules.java").read_text(encoding="utf-8")
        topics = set(re.findall(r'add(?:Finding|TooEarly|JudgedFrom)\(\s*"(\w+)"', rules)) | {re.search(r'HEAP = "(\w+)"', rules)[1]}
        meaning = next(meaning for record, name, _, meaning, _ in reference.figures() if (record, name) == ("Finding", "topic"))
        self.assertEqual(topics, set(re.findall(r"\w+", meaning.split(": ")[1].replace(" or ", ", "))))


class Length(unittest.TestCase):
    def test_the_documentation_stays_short(self):
        self.assertLessEqual(len(DOCUMENTATION), MOST_PAGES)
        self.assertLessEqual(sum(len(page.read_text(encoding="utf-8").split()) for page in DOCUMENTATION), MOST_WORDS)
        self.assertLessEqual(len((REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()), MOST_LINES_OF_README)


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        jar = next((REPOSITORY / "samples/leaky-service/target").glob("mallometer-leaky-service-*.jar"))
        cls.http, cls.agent = processes.free_port(), processes.free_port()
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        for folder in ("bin", "dashboards"):
            (cls.scratch / folder).symlink_to(REPOSITORY / folder)
        quiet = ("-Xmx96m", "-Xshare:auto", processes.QUIET_COMPILER)
        grow = (str(REPOSITORY / "samples/leaky-service/e2e/Grow.java"),)
        agent = f"-javaagent:{REPOSITORY}/metrics-bridge/agent/target/mallometer-agent.jar=port={cls.agent}"
        service = ("-jar", str(jar), f"--server.port={cls.http}", "--leaky.leaks.on=", "--management.endpoint.nativememory.access=unrestricted")
        cls.plain = cls.start(*quiet, *grow)
        cls.start(*quiet, agent, *grow)
        cls.start(*quiet, *service)
        processes.wait_until(lambda: processes.get(f"http://127.0.0.1:{cls.agent}/metrics"), 60, "the agent serves")
        diagnosis = f"http://127.0.0.1:{cls.http}/actuator/nativememory/diagnosis"
        processes.wait_until(lambda: "state" in processes.get(diagnosis), 60, "the service answers")
        processes.wait_until(lambda: "ACTIVE" in processes.get(diagnosis.removesuffix("/diagnosis")), 60, "the service counts")
        budget = diagnosis.replace("/diagnosis", "/budget")
        processes.wait_until(lambda: '"lines":[{' in processes.get(budget), 60, "the service has divided its resident set")

    @classmethod
    def start(cls, *arguments):
        with open(cls.scratch / "log", "ab") as log:
            process = subprocess.Popen([processes.JAVA, *arguments], stdin=subprocess.PIPE, stdout=log, stderr=log)
        cls.addClassCleanup(cls.end, process)
        return process

    @staticmethod
    def end(process):
        process.stdin.close()
        process.terminate()
        process.wait(30)

    def shell(self, body):
        text = re.sub(r"\bPID\b", str(self.plain.pid), body)
        text = text.replace("localhost:8080", f"127.0.0.1:{self.http}").replace("localhost:9464", f"127.0.0.1:{self.agent}")
        # `head` ends before a program that goes on to write, so pipefail would report the program.
        run = ["bash", "-eu", "-c", text]
        return subprocess.run(run, cwd=self.scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)

    def test_the_agent_allows_a_change_by_the_option_that_the_page_names(self):
        text = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `POST`?[^|]*?/nativememory/(\S+)` \|.*\| `(allow-\S+)` \|$", text, re.M)
        self.assertEqual({"trim", "owners/NUMBER", "leaks/NAME"}, {path for path, _ in rows})
        for path, option in rows:
            with self.subTest(path):
                asked = urllib.request.Request(f"http://127.0.0.1:{self.agent}/nativememory/{path}", method="POST", headers={"X-Mallometer": "1"})
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(asked, timeout=60)
                self.assertEqual(403, refused.exception.code)
                self.assertIn(option, refused.exception.read().decode())
                refused.exception.close()

    def test_commands_of_the_pages_do_what_the_pages_say(self):
        attached = False
        for page, expected, body in commands():
            with self.subTest(page.name, block=body):
                asks_pid = "bin/mallometer" in body and "PID" in body
                if asks_pid and not attached and "attach PID" not in body:
                    self.assertEqual(0, self.shell("bin/mallometer attach PID").returncode)
                attached = (attached or asks_pid) and "detach PID" not in body
                done, code = self.shell(body), int(expected["code"] or 0)
                if done.returncode != code:
                    state = self.shell("curl -sS localhost:8080/actuator/nativememory | head -c 2000; tail -n 20 log").stdout
                    self.fail(f"exit code {done.returncode} instead of {code}\n{done.stdout}\n{state}")
                if expected["prints"]:
                    self.assertTrue(any(text in done.stdout for text in expected["prints"].split("|")), done.stdout)


if __name__ == "__main__":
    unittest.main()
