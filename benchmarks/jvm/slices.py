"""Ratios of paired turns, with intervals.

A turn of a part of the load is run twice, in the state to be measured and in the reference state, one after the other.
The logarithms of the ratios of such turns have a narrow middle and wide tails: a neighbour on the same core, an interrupt
or a collection hits one of the two. So the figure of a part is the interquartile mean of these logarithms, and that of the
whole load is the mean of its parts, weighted with the time that each takes. Costs that come in rare bursts lie in the tails
and would be cut off; the ratio of the sums has them, and a wider interval. Both are reported.

Intervals are percentiles of a bootstrap over pairs of slices, each with all of its turns, since turns of one slice are not
independent of each other.
"""

import dataclasses
import math
import random
import statistics

RESAMPLES = 1000
CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True)
class Turn:
    """What a turn took in the measured state and in the reference state."""

    pair: int
    part: str
    time: float
    reference: float


@dataclasses.dataclass(frozen=True)
class Ratio:
    """An estimate with its interval."""

    mid: float
    low: float
    high: float

    def __str__(self):
        return f"{self.mid:.3f} ({self.low:.3f}-{self.high:.3f})"


def interquartile_mean(values):
    ordered = sorted(values)
    cut = len(ordered) // 4
    return statistics.fmean(ordered[cut : len(ordered) - cut])


def by_part(turns):
    parts = {}
    for turn in turns:
        parts.setdefault(turn.part, []).append(turn)
    return parts


def middle(turns):
    """The interquartile mean of each part, weighted with the part's usual time."""
    total = weights = 0.0
    for of_part in by_part(turns).values():
        weight = len(of_part) * statistics.median(turn.reference for turn in of_part)
        total += weight * math.exp(interquartile_mean([math.log(turn.time / turn.reference) for turn in of_part]))
        weights += weight
    return total / weights


def of_sums(turns):
    return sum(turn.time for turn in turns) / sum(turn.reference for turn in turns)


def bootstrap(groups, estimate, seed=1):
    """The estimate of all groups' members together, and its interval if the groups had been others of their kind."""
    chance = random.Random(seed)
    estimates = []
    for _ in range(RESAMPLES):
        chosen = chance.choices(groups, k=len(groups))
        estimates.append(estimate([member for group in chosen for member in group]))
    estimates.sort()
    tail = round(RESAMPLES * (1 - CONFIDENCE) / 2)
    everything = [member for group in groups for member in group]
    return Ratio(estimate(everything), estimates[tail], estimates[-1 - tail])


def ratio(turns, estimate=middle):
    pairs = {}
    for turn in turns:
        pairs.setdefault(turn.pair, []).append(turn)
    return bootstrap(list(pairs.values()), estimate)


def ratio_of_runs(logarithms):
    """The mean of logarithms of ratios, one of each pair of processes."""
    return bootstrap([[one] for one in logarithms], lambda chosen: math.exp(statistics.fmean(chosen)))
