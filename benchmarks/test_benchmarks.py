"""Tests that the benchmarks judge invented measurements rightly."""

import contextlib
import dataclasses
import io
import json
import math
import pathlib
import random
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE / name) for name in ("leaks", "diagnosis"))]

import measure
import stated
import truth
from truth import Situation

pairs = measure.runner("pairs")
resident = measure.runner("resident")

MIB = 2**20


# ---- Ratios of turns


def turns(ratio, pairs=60, of_part=8, noise=0.03, seed=1):
    """Returns turns of two parts. In one of 20 turns, one of the two states takes up to twice as long, as beside a busy neighbour."""
    chance = random.Random(seed)

    def disturbed(time):
        burst = 1 + chance.random() if chance.random() < 0.05 else 1
        return time * burst * chance.lognormvariate(0, noise)

    return [measure.Turn(pair, part, disturbed(usual * ratio), disturbed(usual))
            for pair in range(pairs) for part, usual in (("long", 10e6), ("short", 5e6)) for _ in range(of_part)]


class SlicesTest(unittest.TestCase):
    def test_the_same_against_itself_is_within_half_a_percent(self):
        found = measure.ratio(turns(1.0))
        self.assertAlmostEqual(found.mid, 1.0, delta=0.005)
        self.assertLessEqual(found.low, 1.0)
        self.assertGreaterEqual(found.high, 1.0)

    def test_a_planted_percent_is_found_and_told_from_nothing(self):
        found = measure.ratio(turns(1.01))
        self.assertAlmostEqual(found.mid, 1.01, delta=0.005)
        self.assertGreater(found.low, 1.0)

    def test_one_percent_is_told_from_three(self):
        self.assertLess(measure.ratio(turns(1.01)).high, measure.ratio(turns(1.03, seed=2)).low)

    def test_the_interval_holds_the_truth_in_19_of_20_experiments(self):
        held = sum(found.low <= 1.02 <= found.high
                   for found in (measure.ratio(turns(1.02, pairs=20, of_part=2, seed=seed)) for seed in range(100)))
        self.assertGreaterEqual(held, 85)

    def test_more_noise_makes_a_wider_interval(self):
        quiet, loud = measure.ratio(turns(1.0)), measure.ratio(turns(1.0, noise=0.15))
        self.assertGreater(loud.high - loud.low, 2 * (quiet.high - quiet.low))

    def test_parts_count_with_the_time_they_take(self):
        of_long = [measure.Turn(pair, "long", 9.9, 9.0) for pair in range(4)]
        of_short = [measure.Turn(pair, "short", 1.0, 1.0) for pair in range(4)]
        self.assertAlmostEqual(measure.middle(of_long + of_short), 0.9 * 1.1 + 0.1 * 1.0)

    def test_the_middle_ignores_rare_bursts_and_the_sums_have_them(self):
        found = [measure.Turn(pair, "part", 3.0 if pair % 10 == 0 else 1.0, 1.0) for pair in range(100)]
        self.assertAlmostEqual(measure.middle(found), 1.0)
        self.assertAlmostEqual(measure.of_sums(found), 1.2)

    def test_the_interquartile_mean_by_hand(self):
        self.assertEqual(measure.interquartile_mean([100, 3, 1, 2, 4, -50, 5, 6]), 3.5)

    def test_runs_are_compared_by_the_mean_of_their_logarithms(self):
        found = measure.ratio_of_runs([0.0, 0.02, 0.01, 0.01])
        self.assertAlmostEqual(found.mid, 1.01005, places=4)


# ---- Programs that state their truth


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
    """Returns a run in which each leaking program leaks 1 MiB a minute and states that with each verdict."""
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
        # Five minutes before these verdicts, 5 and 6 MiB had been leaked.
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
        # The value for one of ten is taken from published tables.
        self.assertAlmostEqual(0.3942, stated.most(1, 10), 4)
        self.assertAlmostEqual(1 - 0.3942, stated.least(9, 10), 4)
        self.assertEqual(1, stated.most(3, 3))

    def test_the_verdict_of_a_program_that_has_not_leaked_yet_says_nothing_of_its_bytes(self):
        found = stated.figures({"17": run(moment(0, site(LEAK, "unused", 1, 0.1)), moment(1))})
        self.assertEqual(0, found.intervals)
        self.assertTrue(math.isnan(found.programs_holding))


# ---- Diagnoses


GROWING = Situation("leak", "leaks 6 MiB/min", 10, states=("watch", "act"), says=(r"Ring\.replace",), grows=("site",))


def row(kind, mib, place=""):
    return {"kind": kind, "name": kind, "place": place, "growthBytes": mib * MIB, "bytesPerSecond": mib * MIB / 555}


def account(*rows):
    return {"from": "2026-01-01T12:00:00Z", "to": "2026-01-01T12:10:00Z", "rows": list(rows), "counts": [], "files": []}


def page(minute, state="watch", sentence="Ring.replace adds 6 MiB/min", rows=(row("site", 57.6, "Unseen.java:10"),), **other):
    return {"face": "page", "run": 1, "minute": minute, "state": state, "sentence": sentence, "account": account(*rows), "actions": [],
            "limit": {"source": "cgroup", "bytes": 512 * MIB, "usedBytes": 212 * MIB}, "named": ["Ring.replace"], **other}


def planted(name, mib_per_minute):
    start = truth.instant("2026-01-01T12:00:00Z")
    return [{"face": "planted", "run": 1, "time": start + second, "rows": {name: mib_per_minute * MIB * second // 60}} for second in range(0, 601, 5)]


def faults(*records, situation=GROWING):
    return [fault[2] for fault in truth.wrong(situation, list(records))]


class TruthTest(unittest.TestCase):

    def test_a_right_diagnosis_has_no_fault(self):
        self.assertEqual([], faults(page(5), page(10)))

    def test_a_state_counts_from_minute_5_on_and_healthy_at_once(self):
        self.assertEqual(["state too_early"], faults(page(4, "too_early"), page(5.2, "too_early"), page(10)))
        self.assertEqual(["healthy"], faults(page(4, "healthy"), page(5, named=[""])))

    def test_a_sentence_has_its_texts_and_at_most_25_words(self):
        self.assertEqual([r"no Ring\.replace"], faults(page(5, sentence="Memory grows")))
        self.assertEqual(["26 words"], faults(page(5, sentence="Ring.replace" + " grows" * 25)))

    def test_more_than_one_change_is_a_fault(self):
        self.assertEqual([], faults(page(2, "too_early"), page(4), page(5, "act")))
        self.assertIn("2 changes", faults(page(4), page(5, "act"), page(6))[0])

    def test_growth_without_a_row_is_a_fault(self):
        rows = row("site", 50, "Unseen.java:10"), row("unattributed", -3), row("sampling", 4)
        self.assertEqual(["not attributed or sampled 7.0 of at most 5.4 MiB"], faults(page(10, rows=rows)))
        self.assertEqual(["no row site grew"], faults(page(10, rows=(row("heap", 50),))))

    def test_a_row_is_compared_with_what_was_planted_between_the_means_of_both_ends(self):
        place = sorted(truth.places("Ring.replace"))[0]
        right = page(10, rows=(row("site", 55.5, place),))
        self.assertEqual([], faults(right, *planted("site:Ring.replace", 6)))
        wrong = page(10, rows=(row("site", 40, place),))
        self.assertEqual(["site:Ring.replace +40.0 instead of +55.5 MiB"], faults(wrong, *planted("site:Ring.replace", 6)))

    def test_a_forecast_is_compared_with_what_was_planted(self):
        place = sorted(truth.places("Ring.replace"))[0]
        rows = row("site", 55.5, place), row("heap", 0) | {"bytes": 128 * MIB}
        limit = {"source": "cgroup", "bytes": 512 * MIB, "usedBytes": 212 * MIB}
        right = page(10, rows=rows, limit=limit | {"seconds": 50 * 60})
        self.assertEqual([], faults(right, *planted("site:Ring.replace", 6)))
        wrong = page(10, rows=rows, limit=limit | {"seconds": 5 * 60})
        self.assertEqual(["limit in 5 min instead of 50 to 50"], faults(wrong, *planted("site:Ring.replace", 6)))


# ---- Pairs


PAIR = pairs.Pair(1, "ring", (), (), "a ring is lost", "site:Ring.replace", MIB, "by hand", says=(r"Ring\.replace",), not_says=("cache",))


def recorded(*records):
    return [{"face": "start", "jdk": "jdk-17", "load": 1.0}, {"face": "way", "state": "attached"}, *records]


def told(leaking, fixed=()):
    return pairs.describe(PAIR, {"leaking": recorded(*leaking), "fixed": recorded(*fixed)})[1]


class PairsTest(unittest.TestCase):

    def test_the_time_to_the_name_begins_with_the_attach(self):
        said = [page(4, sentence="Memory grows"), page(5), page(6)]
        self.assertEqual(5, told(said)["named"])
        self.assertEqual(4.5, told([{"face": "attach", "minute": 0.5}, *said])["named"])
        self.assertIsNone(told([page(5, "too_early")])["named"])

    def test_a_diagnosis_is_right_by_its_last_sentence_and_wrong_by_any_that_must_not_be_said(self):
        self.assertTrue(told([page(5), page(12)])["right"])
        self.assertFalse(told([page(5), page(12, sentence="Memory grows")])["right"])
        self.assertFalse(told([page(5, sentence="Ring.replace is a cache"), page(12)])["right"])

    def test_garbage_may_be_named_by_a_finding_that_tells_of_a_collection(self):
        garbage = dataclasses.replace(PAIR, garbage=True, states=("healthy",))
        said = [page(5, "healthy", "Memory grows little"), {"face": "findings", "minute": 6, "texts": ["Ring.replace waits"]}]
        self.assertEqual(6, pairs.minutes_to_name(garbage, said))
        self.assertFalse(pairs.right_at_end(garbage, said))
        self.assertTrue(pairs.right_at_end(garbage, [*said, {"face": "findings", "minute": 7, "texts": ["Ring.replace: a collection frees it"]}]))
        self.assertIsNone(pairs.minutes_to_name(PAIR, said))

    def test_an_amount_is_that_of_the_method_times_the_events(self):
        plan = planted(PAIR.row, 6)
        right = page(12, rows=(row("site", 55.5) | {"name": "Loads$Ring.replace"}, row("site", 9) | {"name": "Loads$Ring.replaced"}))
        self.assertTrue(told([right, *plan])["amounts"])
        self.assertFalse(told([page(12, rows=(row("site", 40) | {"name": "Loads$Ring.replace"},)), *plan])["amounts"])

    def test_only_the_row_of_a_pair_is_compared(self):
        with tempfile.TemporaryDirectory() as results:
            one = {"face": "planted", "run": 1, "time": 0, "rows": {PAIR.row: 3, "count:searches": 9}}
            pathlib.Path(results, "ring-leaking.jsonl").write_text(json.dumps(one))
            self.assertEqual([one | {"rows": {PAIR.row: 3 * MIB}}], pairs.read(pathlib.Path(results), PAIR, "leaking"))

    def test_the_table_of_products_has_their_states_and_alarms_and_the_bound_counts_the_twins_too(self):
        with tempfile.TemporaryDirectory() as directory, mock.patch.object(pairs, "RESULTS", pathlib.Path(directory)), mock.patch.object(pairs, "PAIRS", (PAIR,)):
            def printed(*said):
                for name, records in (("ring", recorded()), ("Kafka", recorded(*said))):
                    text = "\n".join(map(json.dumps, [*records, {"face": "complete"}]))
                    pathlib.Path(directory, f"{name}-fixed.jsonl").write_text(text)
                with contextlib.redirect_stdout(io.StringIO()) as output:
                    pairs.print_products(pathlib.Path(directory), 20)
                return output.getvalue()
            quiet = printed(page(1, "too_early"), page(5, "healthy"), page(6, "healthy", "Fine"))
            self.assertRegex(quiet, r"Kafka +\| 4.1.0 +\| 17 +\| attached \| 1 +\| too early 1.0, healthy 5.0 \| none +\| Fine")
            self.assertIn("Of 1 twins and 1 products, there was an alarm on 0 of 2, at most 78%.", quiet)
            self.assertIn("on 1 of 2.", printed(page(5)))

    def test_the_bound_of_no_alarm_on_28_is_ten_percent(self):
        self.assertEqual("0 of 28, at most 10%", pairs.bound(0, 28))

    def test_a_warning_and_a_verdict_of_a_leak_on_the_twin_are_alarms(self):
        self.assertFalse(told([page(5)], [page(5, "healthy")])["alarm"])
        self.assertTrue(told([page(5)], [page(5)])["alarm"])
        verdict = {"face": "verdicts", "minute": 5, "sites": [{"name": "Ring.replace", "verdict": "leak"}]}
        self.assertTrue(told([page(5)], [verdict])["alarm"])

    def test_precision_counts_warnings_and_recall_counts_pairs(self):
        found = {"named": 4, "right": True, "amounts": True, "warned": True, "alarm": False}
        missed = found | {"named": None, "right": False, "amounts": None, "warned": True, "alarm": True}
        self.assertEqual(["tuned", 2, "1 of 3", "1 of 2", "8.0", "12.0", 1, 0, 1, "1 of 1", "1 of 2"], pairs.sums("tuned", [found, missed], 12))


class ResidentSet(unittest.TestCase):
    """Rows of 200 MiB, 120 of them of a library that Java code called."""

    STACKS = [("[java_heap];libjvm.so!reserve", 60 * MIB), ("[malloc];[free or unsampled]", 20 * MIB),
              ("[mapped];Resident.main;Resident.mapByJna;libown.so!own_map", 120 * MIB)]

    def wrong(self, stacks, program="jna", how="preloaded", total=200 * MIB):
        return resident.judge("it", program, stacks, {resident.TOTAL: [total, total]}, how)[1]

    def test_rows_that_add_up_are_right(self):
        self.assertEqual(self.wrong(self.STACKS), [])

    def test_rows_that_lack_two_percent_are_wrong(self):
        self.assertRegex(self.wrong(self.STACKS, total=204 * MIB)[0], "-1.96 %")

    def test_unexplained_memory_is_wrong(self):
        self.assertRegex(self.wrong([*self.STACKS[1:], ("[unexplained]", 60 * MIB)])[0], "unexplained is 30.00 %")

    def test_another_amount_at_the_line_is_wrong(self):
        page = [("[java_heap]", 60 * MIB + 4096), self.STACKS[1], (self.STACKS[2][0], 120 * MIB - 4096)]
        self.assertRegex(self.wrong(page)[0], "mapped 125825024 bytes")
        self.assertRegex(self.wrong([*self.STACKS[:2], ("[mapped];libown.so!own_map", 120 * MIB)])[0], "mapped 0 bytes")

    def test_what_jemalloc_mapped_must_be_mallocs(self):
        pool = [*self.STACKS[:2], ("[mapped];com.shop.Cart.add;libjemalloc.so.2!pages_map", 120 * MIB)]
        self.assertRegex(self.wrong(pool, "netty-4.1", "jemalloc")[0], "bytes of jemalloc are mapped")

    def test_categories_are_compared_with_nmt(self):
        stacks = [("[code_cache];libjvm.so!reserve", 10 * MIB), ("[code_cache];libjvm.so!CodeHeap::reserve;libjvm.so!reserve", MIB),
                  ("[gc_and_jvm];libjvm.so!G1;libjvm.so!reserve", 3 * MIB), ("[mapped];Cart.open;liblmdb.so!map", 9 * MIB),
                  ("[mapped_files];libjvm.so!Metaspace::map;libjvm.so!reserve", 12 * MIB), ("[mapped_files];[libc.so.6]", MIB)]
        sums = {"code_cache": [11 * MIB] * 2, "class data archives": [12 * MIB] * 2, resident.JVM_ITSELF: [2 * MIB, 5 * MIB]}
        self.assertEqual(resident.compare("it", stacks, sums)[1], [])
        self.assertRegex(resident.compare("it", stacks, sums | {"code_cache": [14 * MIB] * 2})[1][0], "code_cache is -3072 KiB away")


if __name__ == "__main__":
    unittest.main()
