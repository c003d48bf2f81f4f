import math
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "leaks")]

import stated

MIB = 2**20
LOST, LEAK, CACHE = "StatedLeaks.Handles", "StatedLeaks.Listeners", "StatedLookAlikes.HotCache"


def site(name, verdict, mib=0.0, half=0.0, evidence="slots", threshold="300"):
    kind, program = name.split(".")
    frames = [f"io.mallometer.benchmarks.leaks.{kind}${program}.step(Stated.java:1)"]
    return {"verdict": verdict, "evidence": evidence, "site": name, "frames": frames, "threshold": threshold,
            "bytes": str(mib * MIB), "low": str((mib - half) * MIB), "high": str((mib + half) * MIB)}


def moment(minute, *sites, cpu=0.0):
    truths = {LOST: "lost", LEAK: "leak", CACHE: "look_alike"}
    programs = {name: {"truth": truth} for name, truth in truths.items()}
    return {"age": 60.0 * minute, "judged": 9, "processSeconds": cpu, "stated": programs, "sites": list(sites)}


def search(minute, number, cpu):
    return {"age": 60.0 * minute, "search": number, "cpuSeconds": cpu}


def run(*lines, attached=False):
    """Each leaking program leaks 1 MiB a minute, and says so with each verdict."""
    truths = [{"age": line["age"], "leaked": {LOST: line["age"] / 60 * MIB, LEAK: line["age"] / 60 * MIB}} for line in lines if "sites" in line]
    return stated.Run([*truths, *lines], attached)


class StatedTest(unittest.TestCase):

    def test_minutes_of_each_stage_last_until_the_next_verdict(self):
        said = run(moment(0), moment(1, site(LEAK, "growing")), moment(2, site(LEAK, "unused", 1)), moment(3, site(LEAK, "unused", 1)), moment(4))
        self.assertEqual({"growing": 1, "unused": 2, "lost": 0, "leak": 0}, said.programs[LEAK].minutes)

    def test_a_gap_between_verdicts_counts_as_two_minutes(self):
        said = run(moment(1, site(LEAK, "growing")), moment(9))
        self.assertEqual(2, said.programs[LEAK].minutes["growing"])

    def test_lost_memory_is_told_apart_from_other_leaks(self):
        said = run(moment(1, site(LOST, "leak", 1, evidence="lost"), site(LEAK, "leak", 1)), moment(2))
        self.assertEqual({"lost": 1}, said.programs[LOST].first)
        self.assertEqual({"leak": 1}, said.programs[LEAK].first)

    def test_a_look_alike_and_a_stranger_that_are_called_leak_are_false(self):
        stranger = site(CACHE, "leak") | {"site": "inflateInit2_", "frames": ["libz.so inflateInit2_"]}
        found = stated.figures({"17": run(moment(1, site(CACHE, "leak"), stranger), moment(2))})
        self.assertEqual(["17 StatedLookAlikes.HotCache"], found.false_leaks)
        self.assertEqual(["17 inflateInit2_"], found.strangers)
        self.assertEqual(1, found.look_alikes)

    def test_a_leak_counts_as_found_if_it_is_called_so_within_35_minutes_of_its_begin(self):
        moments = [moment(1), *(moment(i) for i in range(2, 36)), moment(36, site(LEAK, "leak", 1)), moment(37, site(LOST, "leak", 1))]
        found = stated.figures({"17": run(*moments)})
        self.assertEqual((1, 2, 2), (found.in_time, found.late, found.leaks))

    def test_an_interval_is_compared_with_what_was_leaked_as_long_ago_as_the_idle_time_of_the_verdict(self):
        moments = [moment(i) for i in range(10)]
        found = stated.figures({"17": run(*moments, moment(10, site(LEAK, "unused", 4.8, 0.5)), moment(11, site(LEAK, "unused", 4.8, 0.5)))})
        # Five minutes ago there were 5 and 6 MiB.
        self.assertEqual((2, 1), (found.intervals, found.holding))
        self.assertAlmostEqual(0.96, found.unused_ratios[0])
        self.assertAlmostEqual(0.48, found.all_ratios[0])

    def test_lost_memory_is_compared_with_all_that_is_lost(self):
        found = stated.figures({"17": run(moment(9), moment(10, site(LOST, "leak", 9.9, 0.5, "lost", "NaN")))})
        self.assertEqual((1, 1), (found.intervals, found.holding))

    def test_intervals_of_several_sites_of_a_program_add_up_as_independent_ones(self):
        said = run(moment(9), moment(10, site(LEAK, "unused", 3, 0.3), site(LEAK, "unused", 2, 0.4)))
        minute, stage, value, low, high, truth = said.programs[LEAK].bytes[0]
        self.assertEqual((10, "unused", 5 * MIB, 0), (minute, stage, value, truth))
        self.assertAlmostEqual(4.5 * MIB, low)
        self.assertAlmostEqual(5.5 * MIB, high)

    def test_what_was_leaked_before_an_attach_is_left_out(self):
        self.assertEqual(5 * MIB, run(moment(4), moment(9), attached=True).programs[LEAK].leaked_at(9))
        self.assertEqual(9 * MIB, run(moment(4), moment(9)).programs[LEAK].leaked_at(9))

    def test_processor_time_of_searches_makes_up_for_those_that_the_log_lacks(self):
        said = run(moment(0), search(1, 1, 0.3), search(4, 4, 0.3), moment(10, cpu=60))
        self.assertAlmostEqual(2 * 0.6 / 600, said.search_share())
        self.assertAlmostEqual(0.1, said.processor)

    def test_bounds_of_shares_are_those_of_clopper_and_pearson(self):
        self.assertAlmostEqual(1 - 0.05 ** (1 / 88), stated.most(0, 88), 6)
        # From tables: one of ten.
        self.assertAlmostEqual(0.3942, stated.most(1, 10), 4)
        self.assertAlmostEqual(1 - 0.3942, stated.least(9, 10), 4)
        self.assertEqual(1, stated.most(3, 3))

    def test_the_verdict_of_a_program_that_has_not_leaked_yet_says_nothing_of_its_bytes(self):
        found = stated.figures({"17": run(moment(0, site(LEAK, "unused", 1, 0.1)), moment(1))})
        self.assertEqual(0, found.intervals)
        self.assertTrue(math.isnan(found.programs_holding))


if __name__ == "__main__":
    unittest.main()
