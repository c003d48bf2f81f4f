#!/usr/bin/env python3
"""Compares rules by which the call site that pins most free memory is named, in a simulation.

Two call sites of 300 to 20,000 objects: A holds 70 to 98 % of the free memory, by all of its objects or only by its
latest, in equal or in very unequal pieces; C holds the rest. The sampler draws the k-th object of each with probability
4/k at most, and less where it has to save time. A rule sees the sums over samples, and all free memory, of which the
newer ones make use. Prints how often each rule names A (right), C (wrong), or none.
"""

import math
import random

TRIALS = 1500
FREE = 100.0


def samples(objects, share, beside):
    """(weight, free memory beside it) of each object that is drawn."""
    drawn = []
    for k in range(1, objects + 1):
        probability = min(1, 4 / k) * share
        if random.random() < probability:
            drawn.append((1 / probability, beside(k)))
    return drawn


def sums(drawn, scale):
    """Sum, its variance, the sum of squares, and how many samples lie beside free memory."""
    found = [(weight, scale * amount) for weight, amount in drawn if amount > 0]
    return (
        sum(w * x for w, x in found),
        sum(w * (w - 1) * x * x for w, x in found),
        sum((w * x) ** 2 for w, x in found),
        len(found),
    )


def trial():
    share = random.choice([1, 1, 1 / 2, 1 / 8, 1 / 64])
    objects_a, objects_c = (random.choice([300, 1000, 3000, 20000]) for _ in range(2))
    pins_a = max(1, int(objects_a * random.choice([1, 0.5, 0.2])))
    unequal = random.random() < 0.5
    pieces = {k: random.paretovariate(1.2) if unequal else 1 for k in range(objects_a - pins_a + 1, objects_a + 1)}
    of_c = random.choice([0.02, 0.1, 0.3])
    pins_c = max(1, int(objects_c * random.choice([1, 0.1, 0.01])))
    a = samples(objects_a, share, lambda k: pieces.get(k, 0))
    c = samples(objects_c, share, lambda k: 1 if k > objects_c - pins_c else 0)
    return {
        "A": sums(a, FREE * (1 - of_c) / sum(pieces.values())),
        "C": sums(c, FREE * of_c / pins_c),
    }


def low(value, variance):
    """The lower end of Estimate.java's interval."""
    if variance <= 0 or value <= 0:
        return value
    scale = variance / value
    degrees = 2 * value / scale
    spread = 2 / (9 * degrees)
    return scale / 2 * degrees * max(0, 1 - spread - 1.96 * math.sqrt(spread)) ** 3


def is_certain(sites, name):
    value, variance = sites[name][:2]
    total, all_variance = (sum(site[i] for site in sites.values()) for i in (0, 1))
    share = value / total
    spread = (variance * (1 - share) ** 2 + max(0, all_variance - variance) * share**2) / total**2
    return low(share, spread) >= 0.25 * share


def by_samples_alone(sites):
    """At least five samples beside free memory, worth four equal ones."""
    enough = [
        (value, name)
        for name, (value, _, squares, count) in sites.items()
        if value > 0 and count >= 5 and value * value >= 4 * squares and is_certain(sites, name)
    ]
    return max(enough)[1] if enough else "none"


def part_of_known_sum(fewest, part):
    """At least so many samples, and so much of all free memory."""

    def rule(sites):
        value, name = max((site[0], name) for name, site in sites.items())
        whole = max(FREE, sum(site[0] for site in sites.values()))
        enough = value > 0 and sites[name][3] >= fewest and value >= part * whole
        return name if enough and is_certain(sites, name) else "none"

    return rule


RULES = {
    "by samples alone": by_samples_alone,
    "3 samples, half (the rule)": part_of_known_sum(3, 0.5),
    "5 samples, half": part_of_known_sum(5, 0.5),
    "3 samples, two thirds": part_of_known_sum(3, 0.67),
}


def main():
    random.seed(5)
    trials = [trial() for _ in range(TRIALS)]
    print("| rule | right | wrong | none |\n|---|---|---|---|")
    for name, rule in RULES.items():
        named = [rule(sites) for sites in trials]
        print(f"| {name} | {named.count('A')} | {named.count('C')} | {named.count('none')} |")


if __name__ == "__main__":
    main()
