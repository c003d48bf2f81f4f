package io.mallometer.internal.leak;

import static io.mallometer.internal.leak.SimulatedKind.allTogether;
import static io.mallometer.internal.leak.SimulatedKind.atBirth;
import static io.mallometer.internal.leak.SimulatedKind.between;
import static io.mallometer.internal.leak.SimulatedKind.bursts;
import static io.mallometer.internal.leak.SimulatedKind.eachAfter;
import static io.mallometer.internal.leak.SimulatedKind.either;
import static io.mallometer.internal.leak.SimulatedKind.every;
import static io.mallometer.internal.leak.SimulatedKind.exactly;
import static io.mallometer.internal.leak.SimulatedKind.exponentially;
import static io.mallometer.internal.leak.SimulatedKind.falling;
import static io.mallometer.internal.leak.SimulatedKind.fine;
import static io.mallometer.internal.leak.SimulatedKind.forTheFirst;
import static io.mallometer.internal.leak.SimulatedKind.forever;
import static io.mallometer.internal.leak.SimulatedKind.foreverIfBornIn;
import static io.mallometer.internal.leak.SimulatedKind.leak;
import static io.mallometer.internal.leak.SimulatedKind.logNormally;
import static io.mallometer.internal.leak.SimulatedKind.phases;
import static io.mallometer.internal.leak.SimulatedKind.steady;
import static io.mallometer.internal.leak.SimulatedKind.untilRenewed;

import java.util.ArrayList;
import java.util.List;

/** The kinds of call sites that are simulated: leaks, and healthy kinds that look like leaks. */
final class SimulatedKinds {

  private static final double MINUTE = 60;

  private SimulatedKinds() {}

  private static final List<SimulatedKind> BY_HAND =
      List.of(
          leak("everything, fast", steady(0.05), forever(), atBirth()),
          leak("everything, twice a second", steady(2), forever(), atBirth()),
          leak("everything, one sample in four minutes", steady(1 / 240.0), forever(), atBirth()),
          leak(
              "a twentieth of short lives",
              steady(0.3),
              either(0.95, exponentially(2), forever()),
              atBirth()),
          leak(
              "a hundredth of short lives",
              steady(1),
              either(0.99, exponentially(2), forever()),
              atBirth()),
          leak(
              "used for ten minutes, then lost",
              steady(0.05),
              forever(),
              forTheFirst(10 * MINUTE, every(20))),
          leak("a batch each ten minutes", bursts(10 * MINUTE, 20, 0.5), forever(), atBirth()),
          leak("since half an hour", between(30 * MINUTE, 1e9, 0.05), forever(), atBirth()),
          leak("large and seldom", steady(1 / 240.0), forever(), atBirth()).of(300 << 10, 0.44),
          leak(
              "some found late and freed",
              steady(0.1),
              either(0.2, exponentially(MINUTE), forever()),
              atBirth()),
          leak(
              "slower and slower",
              falling(0.1, t -> Math.exp(-t / (60 * MINUTE))),
              forever(),
              atBirth()),
          leak(
                  "small objects in hot code",
                  steady(0.5),
                  either(0.97, exponentially(0.1), forever()),
                  atBirth())
              .of(40, 1 / 13_000.0),
          leak("over twenty stacks of one name", steady(1 / 600.0), forever(), atBirth()).over(20),
          leak(
                  "one of five hundred, over five stacks",
                  steady(2),
                  either(0.998, exponentially(0.05), forever()),
                  atBirth())
              .of(268_000, 0.4)
              .over(5),
          fine(
                  "eight caches of one name, each filled in two minutes",
                  between(0, 2 * MINUTE, 0.2),
                  forever(),
                  atBirth())
              .over(8, 10 * MINUTE),
          fine(
                  "twelve caches of one name, each filled in ten minutes",
                  between(0, 10 * MINUTE, 0.05),
                  forever(),
                  atBirth())
              .over(12, 10 * MINUTE),
          fine(
                  "forty tables of one name, one after the other",
                  between(0, MINUTE, 0.03),
                  forever(),
                  atBirth())
              .over(40, 2.5 * MINUTE),
          fine(
                  "six caches of one name, filled in turn and seldom read",
                  between(0, 5 * MINUTE, 0.1),
                  forever(),
                  every(20 * MINUTE))
              .over(6, 15 * MINUTE),
          fine("short lives", steady(1), exponentially(1), atBirth()),
          fine("five minutes, used", steady(0.05), exponentially(5 * MINUTE), every(30)),
          fine(
              "sessions of twenty minutes, idle",
              steady(0.05),
              exponentially(20 * MINUTE),
              atBirth()),
          fine("heavy tail of lives", steady(0.1), logNormally(60, 2), every(60)),
          fine("tables from the start, cold", between(0, 2 * MINUTE, 0.5), forever(), atBirth()),
          fine("tables from the start, used", between(0, 2 * MINUTE, 0.5), forever(), every(60)),
          fine("a cache that grows and is read", steady(0.05), forever(), every(5 * MINUTE)),
          fine(
              "a cache that grows and is seldom read", steady(0.05), forever(), every(20 * MINUTE)),
          fine(
              "the oldest replaced after a quarter of an hour",
              steady(0.05),
              logNormally(15 * MINUTE, 0.1),
              every(2 * MINUTE)),
          fine(
              "a pool that fills in ten minutes, cold",
              between(0, 10 * MINUTE, 0.1),
              forever(),
              atBirth()),
          fine(
              "a pool that wakes each ten minutes",
              between(0, 5 * MINUTE, 0.1),
              forever(),
              allTogether(10 * MINUTE)),
          fine("warming up like 1/t", falling(1, t -> Math.min(1, 20 / t)), forever(), atBirth()),
          fine(
              "warming up exponentially",
              falling(0.5, t -> Math.exp(-t / (4 * MINUTE))),
              forever(),
              atBirth()),
          fine(
              "idle until a timeout of ten minutes", steady(0.05), exactly(10 * MINUTE), atBirth()),
          fine(
              "idle until a timeout of twenty minutes",
              steady(0.05),
              exactly(20 * MINUTE),
              atBirth()),
          fine("a ring of objects", steady(0.1), exactly(8 * MINUTE), atBirth()),
          fine(
              "three phases that each make tables",
              phases(60, 0.5, 0, 15 * MINUTE, 35 * MINUTE),
              forever(),
              atBirth()),
          fine("renewed each twelve minutes", steady(0.1), untilRenewed(12 * MINUTE), atBirth()),
          fine(
              "statements, short and long",
              steady(0.5),
              either(0.9, exponentially(0.1), exponentially(30)),
              every(5)),
          fine("connections of half an hour", steady(0.02), exactly(30 * MINUTE), every(20)),
          fine("crumbs", steady(1 / 30.0), forever(), atBirth()).of(48, 1),
          fine(
                  "tables made once by each of forty stacks",
                  falling(0.01, t -> Math.min(1, 30 / t)),
                  forever(),
                  atBirth())
              .over(40));

  /** The healthy kinds whose objects are never freed and never used again. */
  static final List<SimulatedKind> MADE_ONCE =
      BY_HAND.stream()
          .filter(
              kind ->
                  List.of("a pool that fills in ten minutes, cold", "warming up like 1/t")
                      .contains(kind.name()))
          .toList();

  /**
   * The minutes after which objects of a healthy kind are used or freed. Until then they look like
   * a leak.
   */
  private static final int[] GAPS = {1, 3, 5, 8, 12, 15, 20, 25, 30};

  private static final int[] LONG_GAPS = {12, 30};

  static final List<SimulatedKind> ALL = all();

  private static List<SimulatedKind> all() {
    List<SimulatedKind> all = new ArrayList<>(BY_HAND);
    for (int minutes : GAPS) {
      double gap = minutes * MINUTE;
      String each = minutes + " min";
      all.add(fine("a timeout after " + each, steady(0.05), exactly(gap), atBirth()));
      all.add(
          fine(
              "some log out, others time out after " + each,
              steady(0.1),
              either(0.5, exponentially(gap / 6), exactly(gap)),
              atBirth()));
      all.add(fine("swapped each " + each, steady(0.05), untilRenewed(gap), atBirth()));
      all.add(fine("scanned each " + each, steady(0.05), forever(), allTogether(gap)));
      all.add(fine("used at random, each " + each, steady(0.05), forever(), every(gap)));
      all.add(fine("used each " + each, steady(0.05), forever(), eachAfter(gap)));
    }
    for (int minutes : LONG_GAPS) {
      double gap = minutes * MINUTE;
      String each = minutes + " min";
      all.add(
          fine(
              "some from the start stay, others time out after " + each,
              steady(0.05),
              foreverIfBornIn(2 * MINUTE, exactly(gap)),
              atBirth()));
      all.add(
          fine(
              "batches, each dropped after " + each,
              bursts(7 * MINUTE, 20, 0.5),
              exactly(gap),
              atBirth()));
      all.add(fine("a queue that drains in " + each, steady(0.1), exponentially(gap), atBirth()));
    }
    return all;
  }
}
