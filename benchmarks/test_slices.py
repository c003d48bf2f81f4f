"""Whether the statistics find known ratios in made-up turns."""

import random
import unittest

import slices


def turns(ratio, pairs=60, of_part=8, noise=0.03, seed=1):
    """Two parts. Of each turn in 20 one of the two takes up to twice as long, as beside a busy neighbour."""
    chance = random.Random(seed)

    def disturbed(time):
        burst = 1 + chance.random() if chance.random() < 0.05 else 1
        return time * burst * chance.lognormvariate(0, noise)

    return [slices.Turn(pair, part, disturbed(usual * ratio), disturbed(usual))
            for pair in range(pairs) for part, usual in (("long", 10e6), ("short", 5e6)) for _ in range(of_part)]


class SlicesTest(unittest.TestCase):
    def test_the_same_against_itself_is_within_half_a_percent(self):
        found = slices.ratio(turns(1.0))
        self.assertAlmostEqual(found.mid, 1.0, delta=0.005)
        self.assertLessEqual(found.low, 1.0)
        self.assertGreaterEqual(found.high, 1.0)

    def test_a_planted_percent_is_found_and_told_from_nothing(self):
        found = slices.ratio(turns(1.01))
        self.assertAlmostEqual(found.mid, 1.01, delta=0.005)
        self.assertGreater(found.low, 1.0)

    def test_one_percent_is_told_from_three(self):
        self.assertLess(slices.ratio(turns(1.01)).high, slices.ratio(turns(1.03, seed=2)).low)

    def test_the_interval_holds_the_truth_in_19_of_20_experiments(self):
        held = sum(found.low <= 1.02 <= found.high
                   for found in (slices.ratio(turns(1.02, pairs=20, of_part=2, seed=seed)) for seed in range(100)))
        self.assertGreaterEqual(held, 85)

    def test_more_noise_makes_a_wider_interval(self):
        quiet, loud = slices.ratio(turns(1.0)), slices.ratio(turns(1.0, noise=0.15))
        self.assertGreater(loud.high - loud.low, 2 * (quiet.high - quiet.low))

    def test_parts_count_with_the_time_they_take(self):
        of_long = [slices.Turn(pair, "long", 9.9, 9.0) for pair in range(4)]
        of_short = [slices.Turn(pair, "short", 1.0, 1.0) for pair in range(4)]
        self.assertAlmostEqual(slices.middle(of_long + of_short), 0.9 * 1.1 + 0.1 * 1.0)

    def test_the_middle_ignores_rare_bursts_and_the_sums_have_them(self):
        found = [slices.Turn(pair, "part", 3.0 if pair % 10 == 0 else 1.0, 1.0) for pair in range(100)]
        self.assertAlmostEqual(slices.middle(found), 1.0)
        self.assertAlmostEqual(slices.of_sums(found), 1.2)

    def test_the_interquartile_mean_by_hand(self):
        self.assertEqual(slices.interquartile_mean([100, 3, 1, 2, 4, -50, 5, 6]), 3.5)

    def test_runs_are_compared_by_the_mean_of_their_logarithms(self):
        found = slices.ratio_of_runs([0.0, 0.02, 0.01, 0.01])
        self.assertAlmostEqual(found.mid, 1.01005, places=4)


if __name__ == "__main__":
    unittest.main()
