"""The comparison of recordings with what was wanted finds what is missing, late and unwanted."""

import types
import unittest

import recorded
import rules


def recording(wanted, events=(("started", 0.0), ("killed", 30.4))):
    one = types.SimpleNamespace(name="leak", events=list(events), wanted=wanted)
    one.minutes = 60
    one.at = lambda moment: recorded.Recording.at(one, moment)
    return one


class RecordedCheck(unittest.TestCase):
    def test_what_fires_in_time_is_right(self):
        wanted = {"fires": {"Killed": "killed to killed+3"}, "may": ["Leak"]}
        self.assertEqual([], list(recorded.differences(recording(wanted), {"Killed": [(31, None)], "Leak": [(3, 9)]})))
        self.assertEqual([], list(recorded.differences(recording(wanted), {"Killed": [(31, None)]})))

    def test_what_is_missing_early_or_late_is_found(self):
        wanted = {"fires": {"Killed": "killed-5 to killed+3"}}
        for found in {}, {"Killed": [(25, 26)]}, {"Killed": [(34, None)]}:
            self.assertEqual(1, len(list(recorded.differences(recording(wanted), found))), found)

    def test_what_is_not_over_in_time_is_found(self):
        wanted = {"fires": {"Killed": "killed to killed+3, over by killed+11"}}
        for last, faults in (41, 0), (42, 1), (None, 1):
            self.assertEqual(faults, len(list(recorded.differences(recording(wanted), {"Killed": [(31, last)]}))), last)

    def test_what_nobody_wanted_is_found(self):
        self.assertEqual(1, len(list(recorded.differences(recording({}), {"Leak": [(3, 9)]}))))

    def test_an_event_that_did_not_happen_is_told(self):
        with self.assertRaises(ValueError):
            list(recorded.differences(recording({"fires": {"Killed": "restarted to restarted+3"}}), {"Killed": [(3, 9)]}))

    def test_minutes_next_to_each_other_are_one_interval(self):
        self.assertEqual([(3, 5), (9, None)], recorded.intervals([3, 4, 5, 9, 10], 10))

    def test_an_alert_that_always_fires_is_found(self):
        self.assertLess(10, len(recorded.recordings()))
        shortest = min(recorded.recordings(), key=lambda one: one.minutes)
        shortest.wanted = rules.load(recorded.WANTED)[shortest.name]
        fired = recorded.fired(shortest, changed=lambda text: text.replace("expr: mallometer_active == 0", "expr: vector(1)"))
        self.assertRegex("\n".join(recorded.differences(shortest, fired)), r"^.*: MallometerInactive fires in minute \d+, and nobody wanted it$")


if __name__ == "__main__":
    unittest.main()
