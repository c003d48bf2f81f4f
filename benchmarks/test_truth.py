import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "diagnosis")]

import truth
from programs import MIB, Situation

LEAK = Situation("leak", "leaks 6 MiB/min", 10, states=("watch", "act"), says=(r"Ring\.replace",), grows=("site",))


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


def faults(*records, situation=LEAK):
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


if __name__ == "__main__":
    unittest.main()
