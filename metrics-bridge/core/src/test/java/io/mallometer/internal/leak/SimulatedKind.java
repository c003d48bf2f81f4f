package io.mallometer.internal.leak;

import java.util.Random;
import java.util.function.DoubleUnaryOperator;

/**
 * How a kind of call site behaves: when it is sampled, how long its objects live, and when they are
 * used. Times are seconds since observation began.
 *
 * @param name what it is
 * @param leaks whether it leaks
 * @param births when samples are born
 * @param life how long an object lives that was born at a time; infinite if it is never freed
 * @param use when an object is used after it was born
 * @param bytes of an object
 * @param probability with which an object is sampled
 * @param stacks how many call sites of one name it is spread over
 */
record SimulatedKind(
    String name,
    boolean leaks,
    Births births,
    Life life,
    Use use,
    long bytes,
    double probability,
    int stacks) {

  static final double NEVER = Double.POSITIVE_INFINITY;

  /** The next sample's birth after a time; {@link #NEVER} if there is none. */
  @FunctionalInterface
  interface Births {
    double after(double time, Random random);
  }

  /** How long an object lives. */
  @FunctionalInterface
  interface Life {
    double of(double birth, Random random);
  }

  /** The next use after a time of an object; {@link #NEVER} if there is none. */
  @FunctionalInterface
  interface Use {
    double after(double time, double birth, Random random);
  }

  static SimulatedKind leak(String name, Births births, Life life, Use use) {
    return new SimulatedKind(name, true, births, life, use, 4_096, 0.01, 1);
  }

  static SimulatedKind fine(String name, Births births, Life life, Use use) {
    return new SimulatedKind(name, false, births, life, use, 4_096, 0.01, 1);
  }

  SimulatedKind of(long size, double sampled) {
    return new SimulatedKind(name, leaks, births, life, use, size, sampled, stacks);
  }

  SimulatedKind over(int many) {
    return new SimulatedKind(name, leaks, births, life, use, bytes, probability, many);
  }

  // ---- Births

  /** So many a second, all the time. */
  static Births steady(double rate) {
    return (time, random) -> time + exponential(1 / rate, random);
  }

  /** So many a second between two times. */
  static Births between(double begin, double end, double rate) {
    return (time, random) -> {
      double next = Math.max(begin, time) + exponential(1 / rate, random);
      return next < end ? next : NEVER;
    };
  }

  /** Of so many a second those that a share, by time, lets through. */
  static Births falling(double rate, DoubleUnaryOperator share) {
    return (time, random) -> {
      double next = time;
      do {
        next += exponential(1 / rate, random);
      } while (next < 100_000 && random.nextDouble() > share.applyAsDouble(next));
      return next;
    };
  }

  /** So many a second in the first seconds of each period. */
  static Births bursts(double period, double length, double rate) {
    return (time, random) -> {
      double next = time + exponential(1 / rate, random);
      double into = next % period;
      return into < length ? next : next - into + period + random.nextDouble() * length / 10;
    };
  }

  /** So many a second for some seconds from each of these times on. */
  static Births phases(double length, double rate, double... begins) {
    return (time, random) -> {
      for (double begin : begins) {
        double next = Math.max(begin, time) + exponential(1 / rate, random);
        if (next < begin + length) {
          return next;
        }
      }
      return NEVER;
    };
  }

  // ---- Lives

  static Life forever() {
    return (birth, random) -> NEVER;
  }

  static Life exponentially(double mean) {
    return (birth, random) -> exponential(mean, random);
  }

  static Life logNormally(double median, double sigma) {
    return (birth, random) -> median * Math.exp(sigma * random.nextGaussian());
  }

  static Life exactly(double seconds) {
    return (birth, random) -> seconds * (1 + 0.01 * random.nextDouble());
  }

  /** Until the next multiple of a period, when all are given up. */
  static Life untilRenewed(double period) {
    return (birth, random) -> period - birth % period;
  }

  /** This one for a share of the objects, else the other. */
  static Life either(double share, Life one, Life other) {
    return (birth, random) ->
        random.nextDouble() < share ? one.of(birth, random) : other.of(birth, random);
  }

  // ---- Uses

  /** Only while it is made. */
  static Use atBirth() {
    return (time, birth, random) -> NEVER;
  }

  static Use every(double mean) {
    return (time, birth, random) -> time + exponential(mean, random);
  }

  /** Each object once in a period of its own, which begins when it is made. */
  static Use eachAfter(double period) {
    return (time, birth, random) -> time + period * (0.9 + 0.2 * random.nextDouble());
  }

  /** The whole pool, once in a period. */
  static Use allTogether(double period) {
    return (time, birth, random) -> time - time % period + period;
  }

  /** Like another one, and never after some time. */
  static Use forTheFirst(double seconds, Use use) {
    return (time, birth, random) -> {
      double next = use.after(time, birth, random);
      return next < birth + seconds ? next : NEVER;
    };
  }

  static double exponential(double mean, Random random) {
    return -mean * Math.log(1 - random.nextDouble());
  }
}
