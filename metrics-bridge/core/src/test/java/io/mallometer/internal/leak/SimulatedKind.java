package io.mallometer.internal.leak;

import java.util.Random;
import java.util.function.DoubleUnaryOperator;

/**
 * A kind of call site: when it is sampled, how long its objects live, and when they are used. Times
 * are seconds since observation began.
 *
 * @param name a description
 * @param leaks whether it leaks
 * @param births the times at which samples are born
 * @param life the lifetime of an object by the time of its birth; infinite if it is never freed
 * @param use the times at which an object is used after its birth
 * @param bytes the size of an object
 * @param probability the probability that an object is sampled
 * @param stacks the number of call sites of one name that share its objects
 * @param apart the seconds from the beginning of one of these call sites to that of the next
 */
record SimulatedKind(
    String name,
    boolean leaks,
    Births births,
    Life life,
    Use use,
    long bytes,
    double probability,
    int stacks,
    double apart) {

  static final double NEVER = Double.POSITIVE_INFINITY;

  /** Returns the next sample's birth after a time; {@link #NEVER} if there is none. */
  @FunctionalInterface
  interface Births {
    double after(double time, Random random);
  }

  /** Returns the lifetime of an object. */
  @FunctionalInterface
  interface Life {
    double of(double birth, Random random);
  }

  /** Returns the next use of an object after a time; {@link #NEVER} if there is none. */
  @FunctionalInterface
  interface Use {
    double after(double time, double birth, Random random);
  }

  static SimulatedKind leak(String name, Births births, Life life, Use use) {
    return new SimulatedKind(name, true, births, life, use, 4_096, 0.01, 1, 0);
  }

  static SimulatedKind fine(String name, Births births, Life life, Use use) {
    return new SimulatedKind(name, false, births, life, use, 4_096, 0.01, 1, 0);
  }

  SimulatedKind of(long size, double sampled) {
    return new SimulatedKind(name, leaks, births, life, use, size, sampled, stacks, apart);
  }

  SimulatedKind over(int many) {
    return over(many, 0);
  }

  SimulatedKind over(int many, double seconds) {
    return new SimulatedKind(name, leaks, births, life, use, bytes, probability, many, seconds);
  }

  /** Returns the births at one of the kind's stacks. */
  Births births(int stack) {
    double later = stack * apart;
    return (time, random) -> later + births.after(Math.max(0, time - later), random);
  }

  // ---- Births

  /** Returns births at random times with a constant rate per second. */
  static Births steady(double rate) {
    return (time, random) -> time + exponential(1 / rate, random);
  }

  /** Returns births at random times between two moments, with a constant rate per second. */
  static Births between(double begin, double end, double rate) {
    return (time, random) -> {
      double next = Math.max(begin, time) + exponential(1 / rate, random);
      return next < end ? next : NEVER;
    };
  }

  /**
   * Returns births at random times. The rate at a time is {@code rate} per second multiplied by the
   * share at this time.
   */
  static Births falling(double rate, DoubleUnaryOperator share) {
    return (time, random) -> {
      double next = time;
      do {
        next += exponential(1 / rate, random);
      } while (next < 100_000 && random.nextDouble() > share.applyAsDouble(next));
      return next;
    };
  }

  /** Returns births at random times in the first {@code length} seconds of each period. */
  static Births bursts(double period, double length, double rate) {
    return (time, random) -> {
      double next = time + exponential(1 / rate, random);
      double into = next % period;
      return into < length ? next : next - into + period + random.nextDouble() * length / 10;
    };
  }

  /** Returns births at random times in phases of equal length, which begin at the given times. */
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

  /**
   * Returns a life that ends at the next multiple of the period, so that all objects are freed
   * together.
   */
  static Life untilRenewed(double period) {
    return (birth, random) -> period - birth % period;
  }

  /**
   * Returns an infinite life for objects that are born in the first seconds, and another life for
   * later objects.
   */
  static Life foreverIfBornIn(double seconds, Life life) {
    return (birth, random) -> birth < seconds ? NEVER : life.of(birth, random);
  }

  /** Returns one life for a share of the objects, and another life for the rest. */
  static Life either(double share, Life one, Life other) {
    return (birth, random) ->
        random.nextDouble() < share ? one.of(birth, random) : other.of(birth, random);
  }

  // ---- Uses

  /** Returns a use in which no object is used after its birth. */
  static Use atBirth() {
    return (time, birth, random) -> NEVER;
  }

  static Use every(double mean) {
    return (time, birth, random) -> time + exponential(mean, random);
  }

  /** Returns a use in which each object is used about once per period, at a time of its own. */
  static Use eachAfter(double period) {
    return (time, birth, random) -> time + period * (0.9 + 0.2 * random.nextDouble());
  }

  /** Returns a use of all objects at the same time in each period. */
  static Use allTogether(double period) {
    return (time, birth, random) -> time - time % period + period;
  }

  /** Returns the given use, limited to the first seconds after the birth of each object. */
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
