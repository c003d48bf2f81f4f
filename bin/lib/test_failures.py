"""Tests that the last words of bin/test name what failed, over text of real runs."""

import subprocess
import tempfile
import unittest
from pathlib import Path

HARMLESS = """\
# *** WARNING: Non-forked runs may silently omit JVM options, mess up profilers, disable compiler hints, etc. ***
[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.008 s -- in io.mallometer.meter.TagValueTest
[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 12.19 s -- in io.mallometer.preload.ResidentStacksOfARealJvmTest
2026-11-29T16:26:07.356Z ERROR 6954 --- [           main] o.s.b.d.LoggingFailureAnalysisReporter   :
***************************
APPLICATION FAILED TO START
***************************
The property 'mallometer.poll-interval' must be at least 10ms, such as 90s, 45m or 2h, but is '0s'
Codec.java:7: error: ';' expected
1191/1269 Test #1333: attach_rewritten .....................................***Skipped   0.02 sec
 850/1269 Test  #981: leaks_smaller ........................................   Passed    1.03 sec
test_a_leak_reaches_the_webhook_as_alerts (test_prometheus.DemoUnderPrometheus.test_a_leak_reaches_the_webhook_as_alerts) ... ok
ok 1 - on Spring Boot 4.1 with Spring Security and a management port
not ok 2 - on a kernel that has it # SKIP there is none
   4.2 s  passed    JDK 17 under strace
"""

MAVEN = """\
[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 8.326 s <<< FAILURE! -- in io.mallometer.preload.DamagedDescriptionTest
[ERROR] io.mallometer.preload.DamagedDescriptionTest.aDamagedDescriptionEndsNoJvm -- Time elapsed: 8.325 s <<< FAILURE!
java.lang.AssertionError:

Expecting actual:
  "no method was named
"""

MAVENS_END = """\
[ERROR] Failures:\x20
[ERROR]   DamagedDescriptionTest.aDamagedDescriptionEndsNoJvm:41\x20
[ERROR] Tests run: 1741, Failures: 1, Errors: 0, Skipped: 2
[ERROR] There are test failures.
[ERROR]\x20
[ERROR] See /home/me/mallometer/metrics-bridge/core/target/surefire-reports for the individual test results.
[ERROR] -> [Help 1]
"""

# Each begins with the line that names the failure.
OTHERS = """\
[ERROR] io.mallometer.samples.leaky.PreloadedServiceIT -- Time elapsed: 0.035 s <<< ERROR!
[ERROR] /home/me/mallometer/metrics-bridge/core/src/main/java/io/mallometer/meter/Meter.java:[12,5] cannot find symbol
[ERROR] The forked VM terminated without properly saying goodbye. VM crash or System.exit called?
 851/1269 Test  #863: probes_heard_slots ...................................***Failed   30.38 sec
 852/1269 Test  #982: nonsense_is_said_and_ignored .........................***Failed  Required regular expression not found. 0.01 sec
1369/1369 Test #1377: object_graph .........................................***Timeout 300.01 sec
   3/1269 Test    #3: exact_counts_in_2_threads_run_1 ......................***Exception: SegFault  0.10 sec
   4/1269 Test    #4: peak_usable ..........................................***Not Run   0.00 sec
FAIL: test_the_documentation_stays_short (test_docs.Length.test_the_documentation_stays_short)
ERROR: setUpClass (test_prometheus.DemoUnderPrometheus)
not ok 3 - on Spring Boot 3.5
    not ok 1 - a row opens
✖ a row opens (12.5ms)
   4.2 s  FAILED    JDK 17 under strace
FAILED: the breakdown is right
  FAILED:
In bin/test line 12:
/home/me/mallometer/interposer/src/account/totals.c:10:5: error: expected ';'
make[2]: *** [test/CMakeFiles/peak.dir/build.make:76: test/CMakeFiles/peak.dir/peak.c.o] Error 1
""".splitlines()


def printed(function, log):
    with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
        file.write(log)
        file.flush()
        script = f"set -euo pipefail; source {Path(__file__).parent}/failures.sh; {function} {file.name}"
        return subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True).stdout


class FailuresTest(unittest.TestCase):
    def test_what_is_harmless_is_not_named(self):
        self.assertEqual("", printed("failing_lines", HARMLESS))

    def test_a_failed_test_of_maven_is_named_once_by_itself_and_once_with_its_line(self):
        lines = printed("failing_lines", HARMLESS + MAVEN + HARMLESS + MAVENS_END).splitlines()
        self.assertEqual([MAVEN.splitlines()[1], MAVENS_END.splitlines()[1]], lines)

    def test_every_tool_is_understood(self):
        for line in OTHERS:
            self.assertEqual(line + "\n", printed("failing_lines", HARMLESS + line + "\n" + HARMLESS), line)

    def test_excerpts_begin_at_the_failure(self):
        excerpt = printed("excerpts", HARMLESS * 20 + MAVEN + "\n" + HARMLESS * 20)
        self.assertTrue(excerpt.startswith("".join(line + "\n" for line in MAVEN.splitlines()[1:] if line)), excerpt)

    def test_where_no_failure_is_named_the_end_is_shown(self):
        end = "promtool: no such file\n"
        self.assertTrue(printed("excerpts", HARMLESS + end).endswith(end))

    def test_the_first_of_many_are_shown(self):
        many = "".join(f"FAIL: test_{number} (test_docs.Length)\n" + "line\n" * 30 for number in range(50))
        lines = printed("failing_lines", many).splitlines()
        self.assertEqual(("FAIL: test_39 (test_docs.Length)", "... and 10 more"), tuple(lines[-2:]))
        self.assertEqual(10 * 16 + 1, len(printed("excerpts", many).splitlines()))


if __name__ == "__main__":
    unittest.main()
