"""Tests that a row fails if mallometer makes a difference, and that processes that hang are ended."""

import contextlib
import io
import os
import time
import unittest
import unittest.mock

import launch
import places
import run
import table
from row import BRIEF, FAILED, LASTING, NEXT_JVM, NOT_RUN, PASSED, Absent, Result, Row, bound, judge

PROGRAM = 'printf "ready\\n"; cat >/dev/null; exit 7'


def script(text):
    return launch.Launch(("/bin/sh", "-c", text), {}, places.Here("/work"))


def verdict(mallometer, plain=PROGRAM, **expected):
    result = judge(Row("test", "row", script(plain), script(mallometer), **({"compares_starts": False} | expected)))
    return result.verdict, result.trouble


class JudgedRow(unittest.TestCase):
    def test_programs_that_do_the_same_pass(self):
        self.assertEqual((PASSED, ""), verdict(PROGRAM))

    def test_one_line_is_left_out_of_the_comparison(self):
        self.assertEqual((PASSED, ""), verdict("echo mallometer: counts >&2; " + PROGRAM, says="counts"))

    def test_another_exit_code_fails(self):
        self.assertEqual(FAILED, verdict(PROGRAM.replace("7", "6"))[0])

    def test_a_plain_program_that_does_not_work_fails(self):
        self.assertEqual(FAILED, verdict("exit 1", plain="exit 1", waits=False)[0])

    def test_another_output_fails(self):
        for stream in ("1", "2"):
            failed, trouble = verdict(f"echo WARNING >&{stream}; " + PROGRAM)
            self.assertEqual(FAILED, failed)
            self.assertIn("more ['WARNING'], less []", trouble)

    def test_a_line_that_is_missing_fails(self):
        failed, trouble = verdict("exit 7", plain="exit 7", waits=False, says="counts")
        self.assertEqual((FAILED, "there is no line /counts/"), (failed, trouble))

    def test_two_lines_fail(self):
        twice = "echo mallometer: counts >&2; echo mallometer: counts >&2; " + PROGRAM
        failed, trouble = verdict(twice, says="counts")
        self.assertEqual(FAILED, failed)
        self.assertIn("more than one line", trouble)

    def test_lines_are_counted_for_each_jvm(self):
        line, mark = "echo mallometer: counts >&2; ", f"echo '{NEXT_JVM}' >&2; "
        for script, jvms, expected in (
            (line + mark + line, (LASTING, LASTING), ""),
            (mark + line, (BRIEF, LASTING), ""),
            (mark + line, (LASTING, LASTING), "there is no line /counts/ of JVM 1"),
            (mark + line + line, (BRIEF, BRIEF), "more than one line of JVM 2"),
            (mark + line, (LASTING,), "2 JVMs instead of 1"),
        ):
            trouble = verdict(script + "exit 7", plain=mark + "exit 7", waits=False, says="counts", jvms=jvms)[1]
            self.assertEqual(expected, trouble.partition(":")[0])

    def test_a_word_too_many_fails(self):
        self.assertEqual(FAILED, verdict("echo mallometer: counts >&2; " + PROGRAM)[0])

    def test_a_program_that_does_not_count_fails(self):
        self.assertEqual(FAILED, verdict(PROGRAM, counts=("sh",))[0])

    def test_a_program_that_counts_although_it_is_off_fails(self):
        tell = "echo {} >&$ANYWHERE_PROBE; " + PROGRAM
        self.assertEqual(PASSED, verdict(tell.format("sh 0"), idle=("sh",))[0])
        self.assertEqual(FAILED, verdict(tell.format("sh 1"), idle=("sh",))[0])
        self.assertEqual(FAILED, verdict(PROGRAM, idle=("sh",))[0])

    def test_both_programs_get_what_is_done_to_them(self):
        done = []
        verdict(PROGRAM, acts=done.append)
        self.assertEqual(2, len(done))

    def test_a_slow_start_fails(self):
        with unittest.mock.patch("row.MOST_TURNS", 3), unittest.mock.patch("row.crowd", return_value=1):
            failed, trouble = verdict("sleep 1; " + PROGRAM, compares_starts=True)
        self.assertEqual(FAILED, failed)
        self.assertIn("it starts in 1.", trouble)

    def test_the_bound_of_a_start_is_the_documented_one(self):
        self.assertAlmostEqual(0.3 + 0.5, bound(plain_start=2, jvms=1, waiting=1))
        self.assertAlmostEqual(0.3, bound(plain_start=0, jvms=0, waiting=1))
        self.assertAlmostEqual(2 * 2 * 0.3, bound(plain_start=0, jvms=2, waiting=2))

    def test_what_cannot_be_run_is_not_passed(self):
        with unittest.mock.patch("places.Here.obstacle", return_value="needs root"):
            self.assertEqual((NOT_RUN, "needs root"), verdict(PROGRAM))

    def test_places_that_need_root_are_not_entered_without_it(self):
        places.refusal.cache_clear()
        with unittest.mock.patch("os.geteuid", return_value=1000):
            for place in (places.OtherRoot("/work", "/root-of-sid"), places.Confined("/work", ("noexec",))):
                self.assertIn("needs root", place.obstacle())
        places.refusal.cache_clear()

    def test_what_hangs_is_ended_with_all_that_it_started(self):
        hanging = "sleep 1000 & echo $! >&2; echo ready; wait"
        with unittest.mock.patch("launch.SECONDS", 1):
            failed, trouble = verdict(hanging)
        self.assertEqual(FAILED, failed)
        child = int(trouble.splitlines()[1])
        deadline = time.monotonic() + 60
        while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(os.path.exists(f"/proc/{child}"))
        self.assertEqual(set(), launch.Process.running)


class Run(unittest.TestCase):
    def test_quick_rows_that_are_slow_fail(self):
        for waiting, seconds in ((1, 120), (3, 180)):
            with unittest.mock.patch("row.crowd", return_value=waiting), contextlib.redirect_stdout(io.StringIO()) as said:
                self.assertFalse(run.too_slow(seconds))
                self.assertTrue(run.too_slow(seconds + 1))
            self.assertIn(f"{seconds + 1}.0 s  FAILED  ", said.getvalue())

    def test_the_table_says_how_much_later_programs_start(self):
        results = [
            Result(Row("JDK", str(number), None, None), PASSED, plain_start=1.0, start=start)
            for number, start in enumerate((1.6, 0.9, 1.1, None))
        ]
        said = "starts are 0.10 s later in the median row, and 0.60 s at most (JDK: 0); "
        self.assertEqual(said + "1 of 3 only met the bound because of the machine's load", table.later(results))

    def test_some_of_the_rows_are_not_written_as_the_table(self):
        for some in (("--only", "JDK"), ("--quick",)):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as said:
                run.parse(["--write", *some])
            self.assertIn("--write needs all rows", said.getvalue())

    def test_a_row_that_is_required_and_not_run_fails(self):
        sid = Absent("JDK", "21 on Debian sid", "it could not be installed", NOT_RUN)
        early = Absent("JDK", "28 on Debian sid", "it could not be installed", NOT_RUN)
        nowhere = Absent("system", "Windows", "there is no machine with it")
        for required, expected in (("true", FAILED), ("false", NOT_RUN)):
            with unittest.mock.patch.dict(os.environ, REQUIRE_ANYWHERE=required):
                result = run.judged(sid)
                self.assertEqual(expected, result.verdict)
                self.assertIn(f"1 rows: 1 {expected}", table.text([result]))
                self.assertIn("it could not be installed", table.markdown([result]))
                self.assertEqual(NOT_RUN, run.judged(early).verdict)
                self.assertEqual("not available", run.judged(nowhere).verdict)

    def test_lines_that_count_are_short_in_the_table(self):
        page = "http://127.0.0.1:9464/"
        for printed, expected in (
            (f"mallometer: 0.1.0 counts native memory (glibc 2.36); {page}metrics, page at {page}; counts, and a call site has A.b",
             "counts and names"),
            (f"mallometer: 0.1.0 counts native memory since 2026-11-30 01:24:37 UTC (attached; glibc 2.43); 20.1 MiB +/- 64.0 KiB were "
             f"allocated before the attach, page at {page}; counts", "attached, counts"),
            ("Native memory is counted since 2026-11-30T01:24:58Z (attached); 26.9 MiB were allocated before the attach. To count from the "
             "first instruction: LD_PRELOAD=/opt/libmallometer.so; counts", "attached, counts"),
            ("INFO io.mallometer.spring.CountingNotice Native memory is counted since 2026-11-30T01:26:42Z (preloaded)", "counts"),
            ("mallometer: UNAVAILABLE (not attached: MALLOMETER_ATTACH=off)", "UNAVAILABLE (not attached: MALLOMETER_ATTACH=off)"),
        ):
            self.assertEqual(expected, table.short(printed))


if __name__ == "__main__":
    unittest.main()
